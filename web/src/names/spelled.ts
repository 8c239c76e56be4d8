/** Numbers in words, and names spelled letter by letter, as one token each (docs/names-rule.md, "Spelled out"). */

import { MOST_SPELLED, SPELLED_LETTERS, SPELLED_NUMBER } from "../constants.js";
import { characters } from "../data.js";
import { has, type Rules } from "../rules.js";
import { LOWER, TITLE, UPPER } from "../words.js";
import {
  ALONE,
  CAPITAL,
  CLITIC,
  DIGITS,
  INITIAL,
  INITIALS,
  LEAST_SPELLED,
  LOOSE,
  mayBeLed,
  NUMBER,
  SHOWN,
  type Token,
} from "./tokens.js";

const [ONES, LISTED, TIMES, DIGITS_TOO] = ["d", "w", "x", "n"] as const;
const { gaps: data } = characters;
export const APOSTROPHE = new RegExp(`[${data.apostrophes.join("")}] *$`);
const BLANKS = new RegExp(`^[${data.blanks}]+|[${data.blanks}]+$`, "g");

/** A place, and the class of what counts there. */
type Element = readonly [place: number, of: string];

interface Span {
  readonly kind: string;
  readonly start: number;
  readonly stop: number;
  readonly elements: readonly Element[];
}

const isSingle = (text: string): boolean => text.length === ((text.codePointAt(0) ?? 0) > 0xffff ? 2 : 1);

/** Joins the words of a text in place; `gaps` are those before each and at the end. */
export function joinSpelled(words: Token[], gaps: string[], rules: Rules): void {
  for (const span of new Spelled(words, gaps, rules).spans().reverse()) {
    for (let first = span.elements.length - 1 - ((span.elements.length - 1) % MOST_SPELLED); first >= 0; ) {
      const elements = span.elements.slice(first, first + MOST_SPELLED);
      const start = elements[0]?.[0] ?? 0;
      const stop = span.elements[first + MOST_SPELLED]?.[0] ?? span.stop;
      const joined = join(span.kind, words, gaps, start, stop, elements, rules);
      words.splice(start, stop - start, joined);
      gaps.splice(start + 1, stop - start - 1);
      first -= MOST_SPELLED; // from the last one on: nothing moves before what was joined
    }
  }
}

function join(
  kind: string,
  words: readonly Token[],
  gaps: readonly string[],
  start: number,
  stop: number,
  elements: readonly Element[],
  rules: Rules,
): Token {
  const all = words.slice(start, stop);
  const text = all.map((word, at) => (at > 0 ? (gaps[start + at] ?? "") : "") + word.text).join("");
  const counted = elements.map(([place]) => words[place] as Token);
  const isLetters = kind === SPELLED_LETTERS;
  return {
    cls: ALONE,
    text,
    key: all.map((word) => word.key).join(isLetters ? "" : " "),
    case: isLetters ? (counted.every((word) => word.case !== LOWER) ? UPPER : LOWER) : caseOf(counted, rules),
    kind,
    layout: isLetters ? String(elements.length) : elements.map(([, of]) => of).join(""),
    bits: 0,
  };
}

/** The case of a number in words: that of its first word, but capitals only where all words have them. */
function caseOf(counted: readonly Token[], rules: Rules): number {
  const words = counted.filter(
    (word) => !isSingle(word.text) && word.cls !== DIGITS && !rules.numberConnectors.has(word.key),
  );
  if (words.length > 0 && words.every((word) => word.case === UPPER)) return UPPER;
  return counted[0]?.case === LOWER ? LOWER : TITLE;
}

/** Whether a token is a letter that stands alone, or initials with dots. */
function isLetter(word: Token): boolean {
  if (!isSingle(word.text)) return (word.bits & INITIALS) !== 0;
  const listed = word.cls === SHOWN || word.cls === LOOSE || word.cls === INITIAL;
  return listed || word.kind === "letter" || word.kind === "particle";
}

/** Finds what is joined in a text. */
class Spelled {
  constructor(
    readonly words: readonly Token[],
    readonly gaps: readonly string[],
    readonly rules: Rules,
  ) {}

  #word(place: number): Token {
    return this.words[place] as Token;
  }

  /** What is joined, from left to right; numbers come before letters. */
  spans(): Span[] {
    const found: Span[] = [];
    const numbers = this.words.some((word) => (word.bits & NUMBER) !== 0);
    let [position, tried, triedLetters] = [0, 0, 0];
    for (let place = 0; place < this.words.length; place++) {
      // A letter that is plainly shown begins nothing: one behind it does.
      const word = this.#word(place);
      if (place < position || (word.cls === SHOWN && word.bits === 0 && word.case === LOWER)) continue;
      let span: Span | undefined;
      if (numbers && place >= tried && this.#element(place) !== "") [span, tried] = this.#number(place);
      if (span === undefined && place >= triedLetters && this.#isElement(place)) {
        let start = place;
        while (start > position && this.#isElement(start - 1) && this.#joins(start, data.joins_letters)) start--;
        [span, triedLetters] = this.#letters(start);
      }
      if (span !== undefined) {
        found.push(span);
        position = span.stop;
      }
    }
    return found;
  }

  #element(place: number): string {
    const word = this.#word(place);
    if (word.bits & NUMBER)
      return word.kind === "number-word" ? LISTED : (this.rules.numberWords.get(word.key) ?? LISTED);
    if (this.#isDigits(place)) return DIGITS_TOO;
    return has(this.rules.data.numbers.letters, word.key) && isLetter(word) ? ONES : "";
  }

  /** Whether a token is digits without a unit behind them. */
  #isDigits(place: number): boolean {
    return this.#word(place).cls === DIGITS && (place + 1 === this.words.length || this.gaps[place + 1] !== "");
  }

  #number(start: number): [Span | undefined, number] {
    const elements: [number, string][] = [[start, this.#element(start)]];
    let place = start + 1;
    for (; place < this.words.length; place++) {
      const before = this.#word(place - 1).cls === DIGITS;
      if (before && this.#isDigits(place) && has(data.joins_digits, this.gaps[place] ?? "")) {
        elements.push([place, ""]); // of one group
        continue;
      }
      if (!this.#joins(place, data.joins_spelled)) break;
      const of = this.#element(place);
      if (of !== "") {
        const last = elements[elements.length - 1]?.[1] ?? "";
        elements.push([place, of === DIGITS_TOO && (last === "" || last === of) ? "" : of]);
      } else if (this.#connects(place)) {
        elements.push([place, this.rules.numberConnectors.get(this.#word(place).key) as string]);
        elements.push([place + 1, this.#element(place + 1)]);
        place++;
      } else break;
    }
    while (elements[elements.length - 1]?.[1] === TIMES) elements.pop();
    const count = elements.filter(([, of]) => of !== "" && of !== "a" && of !== "p").length;
    const strong = elements.some(
      ([at]) => (this.#word(at).bits & NUMBER) !== 0 && !has(this.rules.data.numbers.weak, this.#word(at).key),
    );
    if (count < LEAST_SPELLED || !strong) return [undefined, place];
    const counted = elements.filter(([, of]) => of !== "");
    const classed = counted.map(([at, of]): Element => [at, of === DIGITS_TOO ? ONES : of]);
    const last = elements[elements.length - 1]?.[0] ?? start;
    return [{ kind: SPELLED_NUMBER, start, stop: last + 1, elements: classed }, place];
  }

  /** Whether a word stands between two elements. */
  #connects(place: number): boolean {
    const word = this.#word(place);
    const after = place + 1;
    if (word.cls !== SHOWN || word.case !== LOWER || !this.rules.numberConnectors.has(word.key)) return false;
    return after < this.words.length && this.#joins(after, data.joins_spelled) && this.#element(after) !== "";
  }

  #isElement(place: number): boolean {
    const word = this.#word(place);
    const gap = this.gaps[place] ?? "";
    if (word.bits & CLITIC && APOSTROPHE.test(gap)) return false;
    const inside = gap === "." || (this.gaps[place + 1] === "." && place + 1 < this.words.length);
    const dotted = inside && word.cls === SHOWN; // a word of several: old.a, but not the last one of a text
    return isLetter(word) && !dotted && (gap !== "" || place === 0); // 5s
  }

  #letters(start: number): [Span | undefined, number] {
    let place = start;
    while (
      place < this.words.length &&
      this.#isElement(place) &&
      (place === start || this.#joins(place, data.joins_letters))
    ) {
      place++;
    }
    let stop = place;
    const leads = this.#leads(place);
    while (
      leads &&
      stop > start &&
      this.#word(stop - 1).case !== LOWER &&
      has(data.joins_names, this.gaps[stop] ?? "")
    ) {
      stop--; // initials of a name
    }
    if (stop - start < LEAST_SPELLED) return [undefined, place];
    const elements = this.words.slice(start, stop).map((_, at): Element => [start + at, ""]);
    return [{ kind: SPELLED_LETTERS, start, stop, elements }, place];
  }

  /** Whether initials before a place are of the name that begins there, perhaps with particles. */
  #leads(from: number): boolean {
    const gap = this.gaps[from] ?? "";
    if (from === this.words.length || !has(data.joins_names, gap)) return false;
    const first = this.#word(from);
    if (mayBeLed(first) || (first.cls === CAPITAL && !gap.includes("."))) return true;
    for (let place = from; this.words[place]?.kind === "particle"; place++) {
      const after = this.words[place + 1];
      if (after === undefined || !has(data.joins, this.gaps[place + 1] ?? "")) return false;
      if (after.cls === CAPITAL || after.cls === INITIAL) return true;
    }
    return false;
  }

  /** Whether the gap before a token has blanks, at most one mark and at most one line end. */
  #joins(place: number, marks: readonly string[]): boolean {
    let gap = this.gaps[place] ?? "";
    if (gap === " " || gap === "-") return true;
    if (this.#word(place).cls === DIGITS) gap = gap.replace(/[+(]+$/, "");
    if (gap === ".") return true;
    const rest = gap.replace(BLANKS, "");
    return gap !== "" && (rest === "" || marks.includes(rest)) && gap.split("\n").length < 3;
  }
}
