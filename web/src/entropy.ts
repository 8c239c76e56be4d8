/** The only source of randomness: the platform's generator for cryptography. No seed, no state, no buffer. */

import { MAX_WORDS } from "./constants.js";
import { EntropyFailed } from "./errors.js";

/** A source of that many independent, uniform 64-bit words. */
export type Words = (count: number) => BigUint64Array;

const WORD_BYTES = 8;
/** As many bytes as one call of `getRandomValues` may ask for. */
const MOST_BYTES = 65_536;
/** So many bytes are drawn at least, so that all of them are zero with a probability of 2^-256 alone. */
const LEAST_WORDS = 4;
const WORDS = 1n << 64n;
/** Words below are accepted whatever the total is, if that is below 2^53. */
const ACCEPTED = WORDS - (1n << 53n);

/** Draws words from `crypto.getRandomValues`. */
export function randomWords(count: number): BigUint64Array {
  const found = new BigUint64Array(Math.max(count, LEAST_WORDS));
  const bytes = new Uint8Array(found.buffer);
  for (let at = 0; at < bytes.length; at += MOST_BYTES) {
    const block = bytes.subarray(at, Math.min(bytes.length, at + MOST_BYTES));
    let drawn: unknown;
    try {
      drawn = globalThis.crypto.getRandomValues(block);
    } catch {
      throw new EntropyFailed("the operating system gives no random bytes: nothing is released");
    }
    if (
      drawn !== block ||
      !found.subarray(at / WORD_BYTES, at / WORD_BYTES + LEAST_WORDS).some((word) => word !== 0n)
    ) {
      throw new EntropyFailed("the operating system gives no random bytes: nothing is released");
    }
  }
  return found.subarray(0, count);
}

/** Draws one integer below each total, where `limits` says which words are accepted, and `remainders` makes them. */
function accepted(count: number, take: Words, isAccepted: (word: bigint, place: number) => boolean): BigUint64Array {
  const drawn = take(count);
  let waiting: number[] = [];
  for (let place = 0; place < count; place++) if (!isAccepted(drawn[place] ?? 0n, place)) waiting.push(place);
  for (let round = 1; waiting.length > 0; round++) {
    if (round >= MAX_WORDS) {
      throw new EntropyFailed(
        "the operating system's bytes are not random: nothing is released until its generator is repaired",
      );
    }
    const again = take(waiting.length);
    waiting.forEach((place, number) => {
      drawn[place] = again[number] ?? 0n;
    });
    waiting = waiting.filter((place) => !isAccepted(drawn[place] ?? 0n, place));
  }
  return drawn;
}

/** So many integers below one total, which is below 2^62. */
export function uniformBelow(total: bigint, count: number, take: Words): BigUint64Array {
  const last = WORDS - 1n - (WORDS % total);
  const drawn = accepted(count, take, (word) => word <= last);
  for (let place = 0; place < count; place++) drawn[place] = (drawn[place] ?? 0n) % total;
  return drawn;
}

/** An integer below each total; totals are below 2^53. */
export function uniformBelowEach(totals: ArrayLike<number>, take: Words): Float64Array {
  const count = totals.length;
  const drawn = accepted(count, take, (word, place) => {
    return word < ACCEPTED || word <= WORDS - 1n - (WORDS % BigInt(totals[place] ?? 1));
  });
  const found = new Float64Array(count);
  for (let place = 0; place < count; place++) {
    found[place] = Number((drawn[place] ?? 0n) % BigInt(totals[place] ?? 1));
  }
  return found;
}
