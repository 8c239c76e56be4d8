// What an engine without a browser around it lacks, for comparing engines: known "random" bytes among it. Never for use.
(() => {
  let state = [123456789, 362436069, 521288629, 88675123];
  /** Marsaglia's xorshift: the same bytes on every engine. */
  const next = () => {
    const [x, y, z, w] = state;
    const t = x ^ (x << 11);
    state = [y, z, w, (w ^ (w >>> 19) ^ t ^ (t >>> 8)) >>> 0];
    return state[3];
  };
  const getRandomValues = (array) => {
    const bytes = new Uint8Array(array.buffer, array.byteOffset, array.byteLength);
    for (let i = 0; i < bytes.length; i++) bytes[i] = next() >>> 8;
    return array;
  };

  const roots = [];
  for (let n = 2; roots.length < 64; n++) {
    if (!Array.from({ length: n - 2 }, (_, i) => i + 2).some((i) => n % i === 0))
      roots.push((Math.cbrt(n) % 1) * 2 ** 32);
  }
  const K = Uint32Array.from(roots);
  const H0 = [0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19];
  const turn = (x, by) => (x >>> by) | (x << (32 - by));
  /** SHA-256 (FIPS 180-4). */
  const sha256 = (message) => {
    const padded = new DataView(new ArrayBuffer((((message.length + 8) >> 6) + 1) * 64));
    new Uint8Array(padded.buffer).set(message);
    padded.setUint8(message.length, 0x80);
    padded.setUint32(padded.byteLength - 4, message.length * 8);
    const H = Uint32Array.from(H0);
    const W = new Uint32Array(64);
    for (let at = 0; at < padded.byteLength; at += 64) {
      for (let i = 0; i < 64; i++) {
        const [a, b] = [W[i - 15], W[i - 2]];
        W[i] =
          i < 16
            ? padded.getUint32(at + 4 * i)
            : W[i - 16] + (turn(a, 7) ^ turn(a, 18) ^ (a >>> 3)) + W[i - 7] + (turn(b, 17) ^ turn(b, 19) ^ (b >>> 10));
      }
      let [a, b, c, d, e, f, g, h] = H;
      for (let i = 0; i < 64; i++) {
        const one = (h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + K[i] + W[i]) | 0;
        const two = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
        [h, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + two) | 0];
      }
      [a, b, c, d, e, f, g, h].forEach((value, i) => {
        H[i] += value;
      });
    }
    const digest = new DataView(new ArrayBuffer(32));
    H.forEach((value, i) => {
      digest.setUint32(4 * i, value);
    });
    return digest.buffer;
  };

  /** Reads UTF-8 that is well formed, as the files of a bundle are. */
  class TextDecoder {
    decode(bytes) {
      const parts = [];
      let part = "";
      for (let i = 0; i < bytes.length; ) {
        const lead = bytes[i++];
        const more = lead < 0x80 ? 0 : lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
        let point = more === 0 ? lead : lead & (0x3f >> more);
        for (let k = 0; k < more; k++) point = (point << 6) | (bytes[i++] & 0x3f);
        part += String.fromCodePoint(point);
        if (part.length > 8000) {
          parts.push(part);
          part = "";
        }
      }
      return parts.join("") + part;
    }
  }

  Object.defineProperty(globalThis, "crypto", {
    value: { getRandomValues, subtle: { digest: async (_, m) => sha256(m) } },
  });
  globalThis.TextDecoder = TextDecoder;
})();
