/**
 * Tells by its surroundings whether a short surrogate in a reply is quoted from the sanitized text.
 *
 * A letter, a digit or a symbol in a reply may be the reply's own. So what stood before and behind such a surrogate in
 * the sanitized text is kept, and the original is put where the reply repeats enough of that. Surroundings are compared
 * without differences of case and of blanks.
 */

import { BEHIND, folded, type Pair } from "./forms.js";
import { isAscii, isDigit, WHITE } from "./words.js";

/** Characters of the sanitized text that are kept before and behind a surrogate. */
const MOST_BEFORE = 32;
const MOST_AFTER = 16;
/** Characters of a reply that are read behind a surrogate until its surroundings decide. */
export const AHEAD = 24;
/** Characters, blanks aside, that a reply must repeat; and how many a shared start or end of the whole text counts. */
const LEAST = 8;
const EDGE_COUNTS = 4;
/** Characters right beside a surrogate by which surroundings are looked up. */
const KEY = 4;
/** Surroundings with the same key that are compared. */
const MOST_ALIKE = 16;
/** The start or the end of the text; within surroundings every run of blanks is one space. */
const EDGE = "\n";
const BLANKS = new RegExp(`[${WHITE}][${WHITE}>]*`, "g");
const OUTER_BLANKS = new RegExp(`^[${WHITE}]+|[${WHITE}]+$`, "g");
const LEADING = new RegExp(`^[${WHITE}]+`);
const TRAILING = new RegExp(`[${WHITE}]+$`);
/** The end of a line, or a tab, as JSON and code write it: a word may begin behind it. */
const ESCAPE = /(?:^|[^\\])\\[nrt]$/u;
const INSIDE = /^[\p{L}\p{N}\p{M}]/u;
/** What an emoji begins and ends with: unlike a word it stands alone between letters. */
const EMOJI_EDGE = /(?:\ufe0f|[\u2600-\u27bf\u{1f000}-\u{1faff}])$/u;
const ALNUM = /^[\p{L}\p{N}]+$/u;
const LETTER = /^\p{L}/u;
const NUMBER = /^[\p{Nd}.,]+$/u;
const APOSTROPHES = "'\u2019";
const IN_NUMBERS = ".,:/-\u2013";

/** The first so many characters of a text, by code points. */
export const firstOf = (text: string, count: number): string[] => [...text.slice(0, 2 * count)].slice(0, count);
/** The last so many characters of a text, by code points. */
export const lastOf = (text: string, count: number): string[] => {
  const from = Math.max(0, text.length - 2 * count);
  return [...text.slice(from)].slice(-count);
};

/** Folds each character by itself, and makes every run of blanks one space. */
function foldSurroundings(characters: readonly string[]): string {
  const text = characters.join("");
  return (isAscii(text) ? text.toLowerCase() : characters.map(folded).join("")).replace(BLANKS, " ");
}

/** What is compared of the text before a surrogate; `isStart` if the whole text begins with it. */
export function cutBefore(text: string, isStart: boolean): string {
  const last = lastOf(text, BEHIND);
  const read = foldSurroundings(last);
  const whole = isStart && last.join("").length === text.length;
  return lastOf(whole ? EDGE + read.replace(LEADING, "") : read, MOST_BEFORE).join("");
}

/** What is compared of the text behind a surrogate; `isEnd` if the whole text ends with it. */
export function cutAfter(text: string, isEnd: boolean): string {
  const first = firstOf(text, AHEAD);
  const read = foldSurroundings(first);
  const whole = isEnd && first.join("").length === text.length;
  return firstOf(whole ? read.replace(TRAILING, "") + EDGE : read, MOST_AFTER).join("");
}

const compact = (text: string): string => text.replaceAll(" ", "");
export const foldOutput = (output: string): string => folded(output).replace(OUTER_BLANKS, "").replace(BLANKS, " ");

interface Entry {
  readonly before: readonly string[];
  readonly after: readonly string[];
  readonly text: string;
  readonly pair: Pair;
}

/** Finds surroundings of surrogates. */
export class QuotationIndex {
  readonly #sides = new Map<string, Entry[]>();
  readonly #outputs = new Set<string>();

  constructor(pairs: Iterable<Pair>) {
    for (const pair of pairs) {
      const { before = "", after = "" } = pair;
      const output = foldOutput(pair.output);
      this.#outputs.add(output);
      const entry = { before: [...before].reverse(), after: [...after], text: after, pair };
      const keys = [
        sideKey(output, "before", lastOf(compact(before), KEY)),
        sideKey(output, "after", firstOf(compact(after), KEY)),
      ];
      for (const key of keys) {
        const alike = this.#sides.get(key) ?? [];
        if (alike.length < MOST_ALIKE) alike.push(entry);
        this.#sides.set(key, alike);
      }
    }
  }

  has(output: string): boolean {
    return this.#outputs.has(output);
  }

  /**
   * The pair whose surroundings a reply repeats best, one side of them or both; `more` where more of the reply decides.
   *
   * It must repeat both sides if the surrogate is a part of a longer word, or has a pair that counts anywhere.
   */
  find(output: string, before: string, rest: string, isEnd: boolean, isAlone: boolean): Pair | "more" | undefined {
    const after = cutAfter(rest, isEnd);
    const known = after.replace(/ +$/, "");
    const isOpen = !isEnd && firstOf(rest, AHEAD).length < AHEAD;
    const key = firstOf(compact(after), KEY);
    if (isOpen && key.length < KEY) return "more";
    const alike = [
      ...(this.#sides.get(sideKey(output, "before", lastOf(compact(before), KEY))) ?? []),
      ...(this.#sides.get(sideKey(output, "after", key)) ?? []),
    ];
    const backwards = [...before].reverse();
    const forwards = [...after];
    let [best, most]: [Pair | undefined, number] = [undefined, 0];
    let originals = new Set<string>();
    for (const entry of alike) {
      if (isOpen && entry.text.length > known.length && entry.text.startsWith(known)) return "more";
      const [left, right] = [match(backwards, entry.before), match(forwards, entry.after)];
      const strength = (entry.pair.weak && isAlone) || (left > 0 && right > 0) ? left + right : 0;
      if (strength > most) [best, most, originals] = [entry.pair, strength, new Set()];
      if (strength === most) originals.add(entry.pair.original);
    }
    return most < LEAST || originals.size > 1 ? undefined : best;
  }
}

const sideKey = (output: string, side: string, key: readonly string[]): string => `${output}\0${side}\0${key.join("")}`;

/** How many characters two surroundings share from the surrogate on, in whole words and without blanks. */
function match(one: readonly string[], other: readonly string[]): number {
  const shortest = Math.min(one.length, other.length);
  let shared = 0;
  while (shared < shortest && one[shared] === other[shared]) shared++;
  const isCut = [one[shared], other[shared]].some((end) => end !== undefined && ALNUM.test(end));
  while (isCut && shared > 0 && ALNUM.test(one[shared - 1] ?? "")) shared--;
  let count = 0;
  for (const character of one.slice(0, shared)) count += character === " " ? 0 : character === EDGE ? EDGE_COUNTS : 1;
  return count;
}

/** Whether a form is not a part of a longer word or number. */
export function standsAlone(text: string, place: number, end: number): boolean {
  const first = String.fromCodePoint(text.codePointAt(place) ?? 0);
  const last = text.charAt(end - 1);
  const number = NUMBER.test(text.slice(place, end));
  const mixed = !number && [...text.slice(place, end)].some(isDigit); // such as a key, which code may have after __
  const before = [...text.slice(Math.max(0, place - 4), place)].slice(-2);
  const after = [...text.slice(end, end + 4)].slice(0, 2);
  const [near = "", far = ""] = [before.at(-1), before.length > 1 ? before[0] : ""];
  const [next = "", further = ""] = after;
  if (first !== "[" && near !== "" && !ESCAPE.test(text.slice(Math.max(0, place - 3), place))) {
    if (
      (INSIDE.test(near) && !EMOJI_EDGE.test(first)) ||
      (LETTER.test(first) && APOSTROPHES.includes(near) && ALNUM.test(far))
    )
      return false;
    if (number && IN_NUMBERS.includes(near) && isDigit(far)) return false;
    if (near === "_" && next !== "_" && !mixed) return false;
  }
  if (last !== "]" && next !== "") {
    if (
      (INSIDE.test(next) && !(EMOJI_EDGE.test(text.slice(place, end)) && ALNUM.test(next))) ||
      (next === "_" && near !== "_" && !mixed)
    )
      return false;
    if (number && IN_NUMBERS.includes(next) && isDigit(further)) return false;
  }
  return true;
}
