/**
 * Detection of quotations: whether a short surrogate in a reply is quoted from the sanitized text. A letter, a digit or
 * a symbol may belong to the reply itself. So the text before and after such a surrogate is stored, and the original is
 * restored only where the reply repeats enough of this text. The comparison ignores case and blanks.
 */

import { foldText, LOOKBEHIND_CHARACTERS, type SurrogatePair } from "./inflections.js";
import { isAscii, isDigit, WHITE } from "./segmentation/words.js";

/** Number of characters of the sanitized text that are stored before and after a surrogate. */
const MAX_BEFORE = 32;
const MAX_AFTER = 16;
/** Number of characters of a reply after a surrogate that are needed to compare its surroundings. */
export const LOOKAHEAD_CHARACTERS = 24;
/** Number of characters, without blanks, that a reply must repeat; and the weight of an equal start or end of the text. */
const MIN_SHARED = 8;
const EDGE_WEIGHT = 4;
/** Number of characters next to a surrogate that form the lookup key of its surroundings. */
const KEY_CHARACTERS = 4;
/** Maximum number of compared surroundings with the same key. */
const MAX_CANDIDATES = 16;
/** The start or the end of the text; within surroundings every run of blanks is one space. */
const EDGE_MARK = "\n";
const BLANKS = new RegExp(`[${WHITE}][${WHITE}>]*`, "g");
const OUTER_BLANKS = new RegExp(`^[${WHITE}]+|[${WHITE}]+$`, "g");
const LEADING = new RegExp(`^[${WHITE}]+`);
const TRAILING = new RegExp(`[${WHITE}]+$`);
/** Escape of a line end or a tab, after which a word may begin. */
const ESCAPE = /(?:^|[^\\])\\[nrt]$/u;
const INSIDE = /^[\p{L}\p{N}\p{M}]/u;
/** First and last characters of an emoji, which unlike a word is separate between letters. */
const EMOJI_EDGE = /(?:\ufe0f|[\u2600-\u27bf\u{1f000}-\u{1faff}])$/u;
const ALNUM = /^[\p{L}\p{N}]+$/u;
const LETTER = /^\p{L}/u;
const NUMBER = /^[\p{Nd}.,]+$/u;
const APOSTROPHES = "'\u2019";
/** Letters of a word such as `d'` before its apostrophe, and the most characters that are read for it. */
const CLITIC_LETTERS = /(?<![\p{L}\p{N}])[A-Za-z]{1,16}$/u;
const CLITIC_CHARACTERS = 17;
const NUMBER_JOINS = ".,:/-\u2013";

/** Return the first `count` code points of a text. */
export const getFirst = (text: string, count: number): string[] => [...text.slice(0, 2 * count)].slice(0, count);
/** Return the last `count` code points of a text. */
export const getLast = (text: string, count: number): string[] => {
  const from = Math.max(0, text.length - 2 * count);
  return [...text.slice(from)].slice(-count);
};

/** Convert text for comparison: fold each character, and replace consecutive blanks by one space. */
function foldSurroundings(characters: readonly string[]): string {
  const text = characters.join("");
  return (isAscii(text) ? text.toLowerCase() : characters.map(foldText).join("")).replace(BLANKS, " ");
}

/** Return the comparable form of the text before a surrogate; `isStart` if the whole text begins with it. */
export function cutBefore(text: string, isStart: boolean): string {
  const last = getLast(text, LOOKBEHIND_CHARACTERS);
  const folded = foldSurroundings(last);
  const whole = isStart && last.join("").length === text.length;
  return getLast(whole ? EDGE_MARK + folded.replace(LEADING, "") : folded, MAX_BEFORE).join("");
}

/** Return the comparable form of the text after a surrogate; `isEnd` if the whole text ends with it. */
export function cutAfter(text: string, isEnd: boolean): string {
  const first = getFirst(text, LOOKAHEAD_CHARACTERS);
  const folded = foldSurroundings(first);
  const whole = isEnd && first.join("").length === text.length;
  return getFirst(whole ? folded.replace(TRAILING, "") + EDGE_MARK : folded, MAX_AFTER).join("");
}

const removeBlanks = (text: string): string => text.replaceAll(" ", "");
/** Return the key of a surrogate in the index: folded, with single spaces. */
export const foldOutput = (output: string): string => foldText(output).replace(OUTER_BLANKS, "").replace(BLANKS, " ");

interface Surroundings {
  readonly before: readonly string[];
  readonly after: readonly string[];
  readonly text: string;
  readonly pair: SurrogatePair;
}

/** Index of the surroundings of surrogates: the texts before and after them in the sanitized text. */
export class QuotationIndex {
  readonly #candidates = new Map<string, Surroundings[]>();
  readonly #outputs = new Set<string>();

  constructor(pairs: Iterable<SurrogatePair>) {
    for (const pair of pairs) {
      const { before = "", after = "" } = pair;
      const output = foldOutput(pair.output);
      this.#outputs.add(output);
      const entry = { before: [...before].reverse(), after: [...after], text: after, pair };
      const keys = [
        makeSideKey(output, "before", getLast(removeBlanks(before), KEY_CHARACTERS)),
        makeSideKey(output, "after", getFirst(removeBlanks(after), KEY_CHARACTERS)),
      ];
      for (const key of keys) {
        const candidates = this.#candidates.get(key) ?? [];
        if (candidates.length < MAX_CANDIDATES) candidates.push(entry);
        this.#candidates.set(key, candidates);
      }
    }
  }

  has(output: string): boolean {
    return this.#outputs.has(output);
  }

  /**
   * Return the pair whose surroundings a reply repeats best, on one side or both; `more` if later text decides. Both
   * sides are required if the surrogate is a part of a longer word, or has a pair without surroundings.
   */
  findQuotation(
    output: string,
    before: string,
    rest: string,
    isEnd: boolean,
    isSeparate: boolean,
  ): SurrogatePair | "more" | undefined {
    const after = cutAfter(rest, isEnd);
    const certain = after.replace(/ +$/, "");
    const isOpen = !isEnd && getFirst(rest, LOOKAHEAD_CHARACTERS).length < LOOKAHEAD_CHARACTERS;
    const key = getFirst(removeBlanks(after), KEY_CHARACTERS);
    if (isOpen && key.length < KEY_CHARACTERS) return "more";
    const candidates = [
      ...(this.#candidates.get(makeSideKey(output, "before", getLast(removeBlanks(before), KEY_CHARACTERS))) ?? []),
      ...(this.#candidates.get(makeSideKey(output, "after", key)) ?? []),
    ];
    const backwards = [...before].reverse();
    const forwards = [...after];
    let [best, bestStrength]: [SurrogatePair | undefined, number] = [undefined, 0];
    let originals = new Set<string>();
    for (const entry of candidates) {
      if (isOpen && entry.text.length > certain.length && entry.text.startsWith(certain)) return "more";
      const [left, right] = [countShared(backwards, entry.before), countShared(forwards, entry.after)];
      const strength = (entry.pair.weak && isSeparate) || (left > 0 && right > 0) ? left + right : 0;
      if (strength > bestStrength) [best, bestStrength, originals] = [entry.pair, strength, new Set()];
      if (strength === bestStrength) originals.add(entry.pair.original);
    }
    return bestStrength < MIN_SHARED || originals.size > 1 ? undefined : best;
  }
}

const makeSideKey = (output: string, side: string, key: readonly string[]): string =>
  `${output}\0${side}\0${key.join("")}`;

/** Return how many characters two texts next to a surrogate share, counted from the surrogate outward. */
function countShared(first: readonly string[], second: readonly string[]): number {
  const shortest = Math.min(first.length, second.length);
  let shared = 0;
  while (shared < shortest && first[shared] === second[shared]) shared++;
  const splitsWord = [first[shared], second[shared]].some((end) => end !== undefined && ALNUM.test(end));
  while (splitsWord && shared > 0 && ALNUM.test(first[shared - 1] ?? "")) shared--;
  let count = 0;
  for (const character of first.slice(0, shared))
    count += character === " " ? 0 : character === EDGE_MARK ? EDGE_WEIGHT : 1;
  return count;
}

/**
 * Return whether a part of a text is a whole word or number, not a part of a longer one. `clitics` are folded words
 * with their apostrophe, such as `d'`. They may precede a separate word directly.
 */
export function isSeparateWord(text: string, index: number, end: number, clitics?: ReadonlySet<string>): boolean {
  const first = String.fromCodePoint(text.codePointAt(index) ?? 0);
  const last = text.charAt(end - 1);
  const isNumber = NUMBER.test(text.slice(index, end));
  const hasDigits = !isNumber && [...text.slice(index, end)].some(isDigit); // such as a key, which code may have after __
  const before = [...text.slice(Math.max(0, index - 4), index)].slice(-2);
  const after = [...text.slice(end, end + 4)].slice(0, 2);
  const [previous = "", beforePrevious = ""] = [before.at(-1), before.length > 1 ? before[0] : ""];
  const [next = "", afterNext = ""] = after;
  if (first !== "[" && previous !== "" && !ESCAPE.test(text.slice(Math.max(0, index - 3), index))) {
    if (
      (INSIDE.test(previous) && !EMOJI_EDGE.test(first)) ||
      (LETTER.test(first) &&
        APOSTROPHES.includes(previous) &&
        ALNUM.test(beforePrevious) &&
        !clitics?.has(`${CLITIC_LETTERS.exec(text.slice(0, index - 1).slice(-CLITIC_CHARACTERS))?.[0].toLowerCase()}'`))
    )
      return false;
    if (isNumber && NUMBER_JOINS.includes(previous) && isDigit(beforePrevious)) return false;
    if (previous === "_" && next !== "_" && !hasDigits) return false;
  }
  if (last !== "]" && next !== "") {
    if (
      (INSIDE.test(next) && !(EMOJI_EDGE.test(text.slice(index, end)) && ALNUM.test(next))) ||
      (next === "_" && previous !== "_" && !hasDigits)
    )
      return false;
    if (isNumber && NUMBER_JOINS.includes(next) && isDigit(afterNext)) return false;
  }
  return true;
}
