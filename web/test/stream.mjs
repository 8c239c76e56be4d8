/** Scripted random words, as the golden vectors have them. */

import { createHash } from "node:crypto";

/** The concatenation of SHA-256 of `LABEL:0`, `LABEL:1` and so on, as little-endian words. */
export function words(label) {
  const taken = { count: 0 };
  let block = new BigUint64Array(0);
  const take = (count) => {
    const found = new BigUint64Array(count);
    for (let place = 0; place < count; place++, taken.count++) {
      if (taken.count % 4 === 0) {
        const digest = createHash("sha256")
          .update(`${label}:${taken.count / 4}`, "ascii")
          .digest();
        block = new BigUint64Array(digest.buffer.slice(digest.byteOffset, digest.byteOffset + 32));
      }
      found[place] = block[taken.count % 4];
    }
    return found;
  };
  return { take, taken };
}

/** One word again and again. */
export function oneWord(hexadecimal) {
  const taken = { count: 0 };
  const word = BigInt(`0x${hexadecimal}`);
  const take = (count) => {
    taken.count += count;
    return new BigUint64Array(count).fill(word);
  };
  return { take, taken };
}
