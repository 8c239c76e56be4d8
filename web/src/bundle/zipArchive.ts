/** Reader of zip archives in memory. Entries are stored or deflated; encryption and Zip64 are not supported. */

import { BundleDamaged, BundleError, BundleTooLarge } from "../errors.js";

const END = 0x06054b50;
const CENTRAL = 0x02014b50;
const LOCAL = 0x04034b50;
const [END_BYTES, CENTRAL_BYTES, LOCAL_BYTES, MAX_COMMENT_BYTES] = [22, 46, 30, 0xffff];
const [STORED, DEFLATED] = [0, 8];
const ENCRYPTED = 1;

interface ZipEntry {
  method: number;
  packed: number;
  size: number;
  offset: number;
}

const makeError = (): BundleDamaged => new BundleDamaged("the archive is truncated, altered, or of another format");

/** Zip archive; file names omit the common folder. */
export class ZipArchive {
  readonly #entries = new Map<string, ZipEntry>();
  readonly #view: DataView;

  constructor(readonly content: Uint8Array) {
    this.#view = new DataView(content.buffer, content.byteOffset, content.byteLength);
    try {
      this.#readDirectory();
    } catch (error) {
      throw error instanceof RangeError ? makeError() : error; // a place outside of the archive
    }
  }

  #readDirectory(): void {
    const view = this.#view;
    let end = this.content.length - END_BYTES;
    while (
      end >= 0 &&
      end >= this.content.length - END_BYTES - MAX_COMMENT_BYTES &&
      view.getUint32(end, true) !== END
    ) {
      end--;
    }
    if (end < 0 || view.getUint32(end, true) !== END) throw makeError();
    let position = view.getUint32(end + 16, true);
    for (let left = view.getUint16(end + 10, true); left > 0; left--) {
      if (view.getUint32(position, true) !== CENTRAL || view.getUint16(position + 8, true) & ENCRYPTED)
        throw makeError();
      const [name, extra, comment] = [28, 30, 32].map((index) => view.getUint16(position + index, true)) as [
        number,
        number,
        number,
      ];
      const bytes = this.content.subarray(position + CENTRAL_BYTES, position + CENTRAL_BYTES + name);
      const fileName = String.fromCharCode(...bytes).replace(/^.*\//, "");
      if (this.#entries.has(fileName) && fileName !== "") throw makeError();
      this.#entries.set(fileName, {
        method: view.getUint16(position + 10, true),
        packed: view.getUint32(position + 20, true),
        size: view.getUint32(position + 24, true),
        offset: view.getUint32(position + 42, true),
      });
      position += CENTRAL_BYTES + name + extra + comment;
    }
  }

  /** Return a file of at most `maxBytes` bytes; `undefined` if the archive has no such file. */
  async readFile(name: string, maxBytes: number): Promise<Uint8Array | undefined> {
    const entry = this.#entries.get(name);
    if (entry === undefined) return undefined;
    if (entry.size > maxBytes) throw new BundleTooLarge(`${name}: is larger than allowed`);
    if (entry.offset + LOCAL_BYTES > this.content.length) throw makeError();
    const view = this.#view;
    if (view.getUint32(entry.offset, true) !== LOCAL) throw makeError();
    const start =
      entry.offset + LOCAL_BYTES + view.getUint16(entry.offset + 26, true) + view.getUint16(entry.offset + 28, true);
    const packed = this.content.subarray(start, start + entry.packed);
    const content = entry.method === DEFLATED ? await inflate(packed, entry.size) : packed;
    const isKnownMethod = entry.method === DEFLATED || entry.method === STORED;
    if (!isKnownMethod || packed.length !== entry.packed || content.length !== entry.size) throw makeError();
    return content;
  }
}

/** Decompress deflated bytes to exactly `size` bytes. */
async function inflate(packed: Uint8Array, size: number): Promise<Uint8Array> {
  const stream = createInflater();
  const content = new Uint8Array(size);
  let position = 0;
  try {
    const writer = stream.writable.getWriter();
    writer.write(packed as Uint8Array<ArrayBuffer>).catch(() => {}); // what goes wrong is read below
    writer.close().catch(() => {});
    const reader = stream.readable.getReader();
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      if (position + next.value.length > size) {
        await reader.cancel();
        throw makeError();
      }
      content.set(next.value, position);
      position += next.value.length;
    }
  } catch {
    throw makeError();
  }
  return content.subarray(0, position);
}

function createInflater(): DecompressionStream {
  try {
    return new DecompressionStream("deflate-raw");
  } catch {
    throw new BundleError(
      'the archive cannot be read, since DecompressionStream("deflate-raw") is missing: pass its files instead',
    );
  }
}
