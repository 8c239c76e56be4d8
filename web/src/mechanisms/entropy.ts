/** The only source of randomness: the cryptographic generator of the platform, without seed, state or buffer. */

import { MAX_WORDS } from "../constants.js";
import { EntropyFailed } from "../errors.js";

/** Function that returns `count` independent, uniform 64-bit words. */
export type RandomUint64 = (count: number) => BigUint64Array;

const WORD_BYTES = 8;
/** Maximum bytes of one call of `getRandomValues`. */
const MAX_CALL_BYTES = 65_536;
/** Minimum number of words to read at once, so that the probability of only zeros is at most 2^-256. */
const MIN_WORDS = 4;
const WORD_COUNT = 1n << 64n;
/** Words below this limit are accepted for every total below 2^53. */
const ALWAYS_ACCEPTED = WORD_COUNT - (1n << 53n);

/** Read random words from `crypto.getRandomValues`. */
export function readRandomUint64(count: number): BigUint64Array {
  const words = new BigUint64Array(Math.max(count, MIN_WORDS));
  const bytes = new Uint8Array(words.buffer);
  for (let start = 0; start < bytes.length; start += MAX_CALL_BYTES) {
    const block = bytes.subarray(start, Math.min(bytes.length, start + MAX_CALL_BYTES));
    let filled: unknown;
    try {
      filled = globalThis.crypto.getRandomValues(block);
    } catch {
      throw new EntropyFailed(
        "the operating system returned no random bytes; nothing was released: check /dev/urandom and its permissions",
      );
    }
    if (
      filled !== block ||
      !words.subarray(start / WORD_BYTES, start / WORD_BYTES + MIN_WORDS).some((word) => word !== 0n)
    ) {
      throw new EntropyFailed(
        "the operating system returned no random bytes; nothing was released: check /dev/urandom and its permissions",
      );
    }
  }
  return words.subarray(0, count);
}

/** Read random words until the word at each index is accepted. */
function drawAccepted(
  count: number,
  randomUint64: RandomUint64,
  isAccepted: (word: bigint, index: number) => boolean,
): BigUint64Array {
  const words = randomUint64(count);
  let rejected: number[] = [];
  for (let index = 0; index < count; index++) if (!isAccepted(words[index] ?? 0n, index)) rejected.push(index);
  for (let round = 1; rejected.length > 0; round++) {
    if (round >= MAX_WORDS) {
      throw new EntropyFailed(
        "the operating system's bytes are not random: nothing is released until its generator is repaired",
      );
    }
    const redrawn = randomUint64(rejected.length);
    rejected.forEach((index, number) => {
      words[index] = redrawn[number] ?? 0n;
    });
    rejected = rejected.filter((index) => !isAccepted(words[index] ?? 0n, index));
  }
  return words;
}

/** Sample `count` integers uniformly from 0 to `total` - 1. The total must be below 2^62. */
export function drawUniformBelow(total: bigint, count: number, randomUint64: RandomUint64): BigUint64Array {
  const last = WORD_COUNT - 1n - (WORD_COUNT % total);
  const words = drawAccepted(count, randomUint64, (word) => word <= last);
  for (let index = 0; index < count; index++) words[index] = (words[index] ?? 0n) % total;
  return words;
}

/** Sample one integer uniformly from 0 to `total` - 1 for each total. The totals must be below 2^53. */
export function drawUniformBelowEach(totals: ArrayLike<number>, randomUint64: RandomUint64): Float64Array {
  const count = totals.length;
  const words = drawAccepted(count, randomUint64, (word, index) => {
    return word < ALWAYS_ACCEPTED || word <= WORD_COUNT - 1n - (WORD_COUNT % BigInt(totals[index] ?? 1));
  });
  const integers = new Float64Array(count);
  for (let index = 0; index < count; index++) {
    integers[index] = Number((words[index] ?? 0n) % BigInt(totals[index] ?? 1));
  }
  return integers;
}
