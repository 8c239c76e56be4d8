/**
 * Merging of number words, and of names spelled letter by letter, into one token each (docs/names-rule.md, "Spelled
 * out").
 */

import { includesWord, type Rules } from "../../bundle/rules.js";
import { MAX_SPELLED, SPELLED_LETTERS, SPELLED_NUMBER } from "../../constants.js";
import { characters } from "../../data.js";
import { LOWER, TITLE, UPPER } from "../segmentation/words.js";
import {
  CAPITALIZED,
  CLITIC,
  DIGITS,
  INITIAL,
  INITIALS,
  KEPT,
  KEPT_WITH_CAPITALS,
  MIN_SPELLED,
  mayFollowInitials,
  type NamesToken,
  NUMBER_WORD,
  REPLACED,
} from "./tokens.js";

const [DIGIT_CLASS, LISTED_NUMBER, MULTIPLIER, DIGITS_CLASS] = ["d", "w", "x", "n"] as const;
const { gaps: data } = characters;
export const APOSTROPHE = new RegExp(`[${data.apostrophes.join("")}] *$`);
const BLANKS = new RegExp(`^[${data.blanks}]+|[${data.blanks}]+$`, "g");

/** Index of a token, and the class of its element. */
type SpelledElement = readonly [index: number, elementClass: string];

interface SpelledSpan {
  readonly entityType: string;
  readonly start: number;
  readonly stop: number;
  readonly elements: readonly SpelledElement[];
}

const CLOSES_BRACKET = /^\) ?$/;
const isSingle = (text: string): boolean => text.length === ((text.codePointAt(0) ?? 0) > 0xffff ? 2 : 1);

/** Merge each spelled number or name of a text into one token, in place. */
export function mergeSpelled(words: NamesToken[], gaps: string[], rules: Rules): void {
  for (const span of new SpelledSpanFinder(words, gaps, rules).iterateSpans().reverse()) {
    for (let first = span.elements.length - 1 - ((span.elements.length - 1) % MAX_SPELLED); first >= 0; ) {
      const elements = span.elements.slice(first, first + MAX_SPELLED);
      const start = elements[0]?.[0] ?? 0;
      const stop = span.elements[first + MAX_SPELLED]?.[0] ?? span.stop;
      const merged = mergeTokens(span.entityType, words, gaps, start, stop, elements, rules);
      words.splice(start, stop - start, merged);
      gaps.splice(start + 1, stop - start - 1);
      first -= MAX_SPELLED; // from the last one on: nothing moves before what was joined
    }
  }
}

function mergeTokens(
  entityType: string,
  words: readonly NamesToken[],
  gaps: readonly string[],
  start: number,
  stop: number,
  elements: readonly SpelledElement[],
  rules: Rules,
): NamesToken {
  const all = words.slice(start, stop);
  const text = all.map((word, at) => (at > 0 ? (gaps[start + at] ?? "") : "") + word.text).join("");
  const countedTokens = elements.map(([index]) => words[index] as NamesToken);
  const isLetters = entityType === SPELLED_LETTERS;
  return {
    tokenClass: REPLACED,
    text,
    key: all.map((word) => word.key).join(isLetters ? "" : " "),
    case: isLetters
      ? countedTokens.every((word) => word.case !== LOWER)
        ? UPPER
        : LOWER
      : findCase(countedTokens, rules),
    entityType,
    layout: isLetters ? String(elements.length) : elements.map(([, elementClass]) => elementClass).join(""),
    flags: 0,
  };
}

/** Return the case pattern of a number in words: that of its first word; capitals only if all words have them. */
function findCase(countedTokens: readonly NamesToken[], rules: Rules): number {
  const words = countedTokens.filter(
    (word) => !isSingle(word.text) && word.tokenClass !== DIGITS && !rules.numberConnectors.has(word.key),
  );
  if (words.length > 0 && words.every((word) => word.case === UPPER)) return UPPER;
  return countedTokens[0]?.case === LOWER ? LOWER : TITLE;
}

/** Return whether a token is a single letter, or initials with dots. */
function isLetter(word: NamesToken): boolean {
  if (!isSingle(word.text)) return (word.flags & INITIALS) !== 0;
  const isListed = word.tokenClass === KEPT || word.tokenClass === KEPT_WITH_CAPITALS || word.tokenClass === INITIAL;
  return isListed || word.entityType === "letter" || word.entityType === "particle";
}

/** Finder of the spans of spelled tokens in a text. */
class SpelledSpanFinder {
  constructor(
    readonly words: readonly NamesToken[],
    readonly gaps: readonly string[],
    readonly rules: Rules,
  ) {}

  #getWord(index: number): NamesToken {
    return this.words[index] as NamesToken;
  }

  /** Yield the spans to merge, from left to right. Numbers have precedence over letters. */
  iterateSpans(): SpelledSpan[] {
    const spans: SpelledSpan[] = [];
    const hasNumbers = this.words.some((word) => (word.flags & NUMBER_WORD) !== 0);
    let [position, numbersTriedTo, lettersTriedTo] = [0, 0, 0];
    for (let index = 0; index < this.words.length; index++) {
      // A letter that is plainly shown begins nothing: one behind it does.
      const word = this.#getWord(index);
      if (index < position || (word.tokenClass === KEPT && word.flags === 0 && word.case === LOWER)) continue;
      let span: SpelledSpan | undefined;
      if (hasNumbers && index >= numbersTriedTo && this.#classifyElement(index) !== "")
        [span, numbersTriedTo] = this.#findNumber(index);
      if (span === undefined && index >= lettersTriedTo && this.#isLetterElement(index)) {
        let start = index;
        while (start > position && this.#isLetterElement(start - 1) && this.#isJoined(start, data.joins_letters))
          start--;
        [span, lettersTriedTo] = this.#findLetters(start);
      }
      if (span !== undefined) {
        spans.push(span);
        position = span.stop;
      }
    }
    return spans;
  }

  #classifyElement(index: number): string {
    const word = this.#getWord(index);
    if (word.flags & NUMBER_WORD)
      return word.entityType === "number-word"
        ? LISTED_NUMBER
        : (this.rules.numberWords.get(word.key) ?? LISTED_NUMBER);
    if (this.#isDigits(index)) return DIGITS_CLASS;
    return includesWord(this.rules.data.numbers.letters, word.key) && isLetter(word) ? DIGIT_CLASS : "";
  }

  /** Return whether a token consists of digits without a unit directly after them. */
  #isDigits(index: number): boolean {
    return (
      this.#getWord(index).tokenClass === DIGITS && (index + 1 === this.words.length || this.gaps[index + 1] !== "")
    );
  }

  #opensBracket(index: number): boolean {
    return this.#isDigits(index) && (this.gaps[index] ?? "").endsWith("(");
  }

  #findNumber(start: number): [SpelledSpan | undefined, number] {
    const elements: [number, string][] = [[start, this.#classifyElement(start)]];
    let [index, isOpen] = [start + 1, this.#opensBracket(start)];
    for (; index < this.words.length; index++) {
      // Whether a gap joins must not depend on digits or words around it: a bracket that closes ends a number, but where
      // it may be inside of one group of digits, `(555) 123`.
      const closes = isOpen && this.#isDigits(index) && CLOSES_BRACKET.test(this.gaps[index] ?? "");
      if (!closes && !this.#isJoined(index, data.joins_spelled)) break;
      const elementClass = this.#classifyElement(index);
      if (elementClass !== "") {
        const last = elements[elements.length - 1]?.[1] ?? "";
        elements.push([
          index,
          elementClass === DIGITS_CLASS && (last === "" || last === elementClass) ? "" : elementClass,
        ]);
      } else if (this.#isConnector(index)) {
        elements.push([index, this.rules.numberConnectors.get(this.#getWord(index).key) as string]);
        elements.push([index + 1, this.#classifyElement(index + 1)]);
        index++;
        isOpen = false;
      } else break;
      isOpen = this.#opensBracket(index) || (isOpen && this.#isDigits(index) && !closes);
    }
    while (elements[elements.length - 1]?.[1] === MULTIPLIER) elements.pop();
    const count = elements.filter(
      ([, elementClass]) => elementClass !== "" && elementClass !== "a" && elementClass !== "p",
    ).length;
    const hasNumberWord = elements.some(
      ([at]) =>
        (this.#getWord(at).flags & NUMBER_WORD) !== 0 &&
        !includesWord(this.rules.data.numbers.weak, this.#getWord(at).key),
    );
    if (count < MIN_SPELLED || !hasNumberWord) return [undefined, index];
    const countedElements = elements.filter(([, elementClass]) => elementClass !== "");
    const classified = countedElements.map(
      ([at, elementClass]): SpelledElement => [at, elementClass === DIGITS_CLASS ? DIGIT_CLASS : elementClass],
    );
    const last = elements[elements.length - 1]?.[0] ?? start;
    return [{ entityType: SPELLED_NUMBER, start, stop: last + 1, elements: classified }, index];
  }

  /** Return whether a word such as *and* connects two parts of a spelled number. */
  #isConnector(index: number): boolean {
    const word = this.#getWord(index);
    const after = index + 1;
    if (word.tokenClass !== KEPT || word.case !== LOWER || !this.rules.numberConnectors.has(word.key)) return false;
    return (
      after < this.words.length && this.#isJoined(after, data.joins_spelled) && this.#classifyElement(after) !== ""
    );
  }

  #isLetterElement(index: number): boolean {
    const word = this.#getWord(index);
    const gap = this.gaps[index] ?? "";
    if (word.flags & CLITIC && APOSTROPHE.test(gap)) return false;
    const isBesideDot = gap === "." || (this.gaps[index + 1] === "." && index + 1 < this.words.length);
    const isDotted = isBesideDot && word.tokenClass === KEPT; // a word of several: old.a, but not the last one of a text
    return isLetter(word) && !isDotted && (gap !== "" || index === 0); // 5s
  }

  #findLetters(start: number): [SpelledSpan | undefined, number] {
    let index = start;
    while (
      index < this.words.length &&
      this.#isLetterElement(index) &&
      (index === start || this.#isJoined(index, data.joins_letters))
    ) {
      index++;
    }
    let stop = index;
    const precedesName = this.#precedesName(index);
    while (
      precedesName &&
      stop > start &&
      this.#getWord(stop - 1).case !== LOWER &&
      includesWord(data.joins_names, this.gaps[stop] ?? "")
    ) {
      stop--; // initials of a name
    }
    if (stop - start < MIN_SPELLED) return [undefined, index];
    const elements = this.words.slice(start, stop).map((_, at): SpelledElement => [start + at, ""]);
    return [{ entityType: SPELLED_LETTERS, start, stop, elements }, index];
  }

  /** Return whether a name, or a particle of a name, begins at an index. Initials before it are part of it. */
  #precedesName(from: number): boolean {
    const gap = this.gaps[from] ?? "";
    if (from === this.words.length || !includesWord(data.joins_names, gap)) return false;
    const first = this.#getWord(from);
    if (mayFollowInitials(first) || (first.tokenClass === CAPITALIZED && !gap.includes("."))) return true;
    for (let index = from; this.words[index]?.entityType === "particle"; index++) {
      const after = this.words[index + 1];
      if (after === undefined || !includesWord(data.joins, this.gaps[index + 1] ?? "")) return false;
      if (after.tokenClass === CAPITALIZED || after.tokenClass === INITIAL) return true;
    }
    return false;
  }

  /** Return whether a token is joined to the token before it, as the letters of `k-o-v` are. */
  #isJoined(index: number, marks: readonly string[]): boolean {
    let gap = this.gaps[index] ?? "";
    if (gap === " " || gap === "-" || marks.includes(gap)) return true;
    if (this.#getWord(index).tokenClass === DIGITS) gap = gap.replace(/[+(]+$/, "");
    if (gap === ".") return true;
    const rest = gap.replace(BLANKS, "");
    return gap !== "" && (rest === "" || marks.includes(rest)) && gap.split("\n").length < 3;
  }
}
