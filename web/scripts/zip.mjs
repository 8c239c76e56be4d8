/** Writes a zip archive, deflated as small as it gets: entries in order of names, without times, so that it is one file. */

import { deflateRawSync } from "node:zlib";

const [LOCAL, CENTRAL, END] = [0x04034b50, 0x02014b50, 0x06054b50];
const [VERSION, UTF8, DEFLATED] = [20, 0x0800, 8];
/** The first of January 1980. */
const DATE = 0x21;

/** The archive of files by name. */
export function zipped(files) {
  const parts = [];
  const central = [];
  let offset = 0;
  for (const [name, content] of [...files].sort(([one], [other]) => (one < other ? -1 : 1))) {
    const spelled = new TextEncoder().encode(name);
    const packed = deflateRawSync(content, { level: 9, memLevel: 9 });
    const common = (view, at) => {
      view.setUint16(at, VERSION, true);
      view.setUint16(at + 2, UTF8, true);
      view.setUint16(at + 4, DEFLATED, true);
      view.setUint16(at + 8, DATE, true);
      view.setUint32(at + 10, crc32(content), true);
      view.setUint32(at + 14, packed.length, true);
      view.setUint32(at + 18, content.length, true);
      view.setUint16(at + 22, spelled.length, true);
    };
    const local = new DataView(new ArrayBuffer(30));
    local.setUint32(0, LOCAL, true);
    common(local, 4);
    const entry = new DataView(new ArrayBuffer(46));
    entry.setUint32(0, CENTRAL, true);
    entry.setUint16(4, VERSION, true);
    common(entry, 6);
    entry.setUint32(42, offset, true);
    central.push(new Uint8Array(entry.buffer), spelled);
    parts.push(new Uint8Array(local.buffer), spelled, packed);
    offset += 30 + spelled.length + packed.length;
  }
  const end = new DataView(new ArrayBuffer(22));
  end.setUint32(0, END, true);
  end.setUint16(8, files.size, true);
  end.setUint16(10, files.size, true);
  end.setUint32(
    12,
    central.reduce((sum, part) => sum + part.length, 0),
    true,
  );
  end.setUint32(16, offset, true);
  return new Uint8Array(Buffer.concat([...parts, ...central, new Uint8Array(end.buffer)]));
}

const TABLE = Uint32Array.from({ length: 256 }, (_, number) => {
  let value = number;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? 0xedb88320 ^ (value >>> 1) : value >>> 1;
  return value;
});

function crc32(content) {
  let value = 0xffffffff;
  for (const byte of content) value = TABLE[(value ^ byte) & 0xff] ^ (value >>> 8);
  return (value ^ 0xffffffff) >>> 0;
}
