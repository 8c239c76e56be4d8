/** The files of a zip archive in memory: a bundle in one file. Stored or deflated entries, no encryption, no Zip64. */

import { BundleDamaged, BundleError, BundleTooLarge } from "../errors.js";

const END = 0x06054b50;
const CENTRAL = 0x02014b50;
const LOCAL = 0x04034b50;
const [END_BYTES, CENTRAL_BYTES, LOCAL_BYTES, LONGEST_COMMENT] = [22, 46, 30, 0xffff];
const [STORED, DEFLATED] = [0, 8];
const ENCRYPTED = 1;

interface Entry {
  method: number;
  packed: number;
  size: number;
  offset: number;
}

const damaged = (): BundleDamaged => new BundleDamaged("the archive is truncated, altered, or of another format");

/** An archive: names of files, each without the folder that all may be in. */
export class Zip {
  readonly #entries = new Map<string, Entry>();
  readonly #view: DataView;

  constructor(readonly content: Uint8Array) {
    this.#view = new DataView(content.buffer, content.byteOffset, content.byteLength);
    try {
      this.#read();
    } catch (error) {
      throw error instanceof RangeError ? damaged() : error; // a place outside of the archive
    }
  }

  #read(): void {
    const view = this.#view;
    let end = this.content.length - END_BYTES;
    while (end >= 0 && end >= this.content.length - END_BYTES - LONGEST_COMMENT && view.getUint32(end, true) !== END) {
      end--;
    }
    if (end < 0 || view.getUint32(end, true) !== END) throw damaged();
    let at = view.getUint32(end + 16, true);
    for (let left = view.getUint16(end + 10, true); left > 0; left--) {
      if (view.getUint32(at, true) !== CENTRAL || view.getUint16(at + 8, true) & ENCRYPTED) throw damaged();
      const [name, extra, comment] = [28, 30, 32].map((place) => view.getUint16(at + place, true)) as [
        number,
        number,
        number,
      ];
      const bytes = this.content.subarray(at + CENTRAL_BYTES, at + CENTRAL_BYTES + name);
      const spelled = String.fromCharCode(...bytes).replace(/^.*\//, "");
      if (this.#entries.has(spelled) && spelled !== "") throw damaged();
      this.#entries.set(spelled, {
        method: view.getUint16(at + 10, true),
        packed: view.getUint32(at + 20, true),
        size: view.getUint32(at + 24, true),
        offset: view.getUint32(at + 42, true),
      });
      at += CENTRAL_BYTES + name + extra + comment;
    }
  }

  /** A file of at most so many bytes; nothing if there is none of that name. */
  async file(name: string, most: number): Promise<Uint8Array | undefined> {
    const entry = this.#entries.get(name);
    if (entry === undefined) return undefined;
    if (entry.size > most) throw new BundleTooLarge(`${name}: has more bytes than it may have`);
    if (entry.offset + LOCAL_BYTES > this.content.length) throw damaged();
    const view = this.#view;
    if (view.getUint32(entry.offset, true) !== LOCAL) throw damaged();
    const start =
      entry.offset + LOCAL_BYTES + view.getUint16(entry.offset + 26, true) + view.getUint16(entry.offset + 28, true);
    const packed = this.content.subarray(start, start + entry.packed);
    const found = entry.method === DEFLATED ? await inflated(packed, entry.size) : packed;
    const known = entry.method === DEFLATED || entry.method === STORED;
    if (!known || packed.length !== entry.packed || found.length !== entry.size) throw damaged();
    return found;
  }
}

/** What deflated bytes are, if they are no more than so many. */
async function inflated(packed: Uint8Array, size: number): Promise<Uint8Array> {
  const stream = inflater();
  const found = new Uint8Array(size);
  let at = 0;
  try {
    const writer = stream.writable.getWriter();
    writer.write(packed as Uint8Array<ArrayBuffer>).catch(() => {}); // what goes wrong is read below
    writer.close().catch(() => {});
    const reader = stream.readable.getReader();
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      if (at + next.value.length > size) {
        await reader.cancel();
        throw damaged();
      }
      found.set(next.value, at);
      at += next.value.length;
    }
  } catch {
    throw damaged();
  }
  return found.subarray(0, at);
}

function inflater(): DecompressionStream {
  try {
    return new DecompressionStream("deflate-raw");
  } catch {
    throw new BundleError('the archive cannot be read: DecompressionStream("deflate-raw") is missing (give its files)');
  }
}
