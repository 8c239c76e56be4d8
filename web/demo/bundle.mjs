// The bundle that the page and the examples carry: the built-in one as a zip archive, and its identity.
import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { crc32, deflateRawSync } from "node:zlib";

const FOLDER = new URL("../../artifacts/english-v4/", import.meta.url);
const DEFLATED = 8;
/** 1980-01-01, the first day that an archive can name: equal files make equal archives. */
const DATE = 0x21;

const small = (...values) => Buffer.from(Uint16Array.from(values).buffer);
const large = (...values) => Buffer.from(Uint32Array.from(values).buffer);

/** Returns an archive of files by name. */
function zipped(files) {
  const parts = [];
  const central = [];
  let offset = 0;
  for (const [name, bytes] of files) {
    const spelled = Buffer.from(name);
    const packed = deflateRawSync(bytes, { level: 9 });
    const entry = [
      small(20, 0, DEFLATED, 0, DATE),
      large(crc32(bytes), packed.length, bytes.length),
      small(spelled.length, 0),
    ];
    const local = Buffer.concat([large(0x04034b50), ...entry, spelled, packed]);
    central.push(Buffer.concat([large(0x02014b50), small(20), ...entry, small(0, 0, 0), large(0, offset), spelled]));
    parts.push(local);
    offset += local.length;
  }
  const list = Buffer.concat(central);
  const end = [large(0x06054b50), small(0, 0, central.length, central.length), large(list.length, offset), small(0)];
  return Buffer.concat([...parts, list, ...end]);
}

/** Returns the name of the archive, its bytes, and the identity of the bundle in it. */
export async function packed() {
  const names = (await readdir(FOLDER)).sort();
  const files = await Promise.all(names.map(async (name) => [name, await readFile(new URL(name, FOLDER))]));
  const manifest = new Map(files).get("manifest.json");
  return {
    name: "english-v4.zip",
    bytes: zipped(files),
    identity: createHash("sha256").update(manifest).digest("hex"),
  };
}
