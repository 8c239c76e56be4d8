/** The forms in which a reply may mention what came out: plurals, grouped digits, phones and dates written otherwise. */

import { ENGLISH } from "./rules.js";
import type { Cutter } from "./segments.js";
import {
  capitalized,
  casePattern,
  inCase,
  isAscii,
  isUpper,
  keyOf,
  LOWER,
  placeOfLast,
  TITLE,
  UPPER,
  WHITE,
} from "./words.js";

/** What came out, and what stood there, each as it is spelled. */
export interface Pair {
  readonly output: string;
  readonly original: string;
  /** How many characters of the output stand for the original: the rest is context. All of them if 0. */
  readonly lead?: number;
  /** Whether it is too short to be told from other words where nothing else tells. */
  readonly weak?: boolean;
  /** The folded word or sign that must stand before a weak one. */
  readonly before?: string;
  /** What stood behind it, where `before` is what stood before it and a reply must quote both (`surroundings.ts`). */
  readonly after?: string;
}

/** A form of what came out: folded, and how it is written; nothing where it is as it came out. */
export interface Form {
  readonly text: string;
  readonly pair: Pair;
  readonly way: string;
}

type DateParts = readonly [year: number | undefined, month: number, day: number];

const NUMBER = /^(\p{Nd}{1,3}(?:,\p{Nd}{3})+|\p{Nd}+)(\.\p{Nd}+)?$/u;
const PHONE = /^([0-9]{3})-([0-9]{3})-([0-9]{4})$/;
const ISO = /^([0-9]{4})-([0-9][0-9]?)-([0-9][0-9]?)$/;
const DAY_FIRST = /^([0-9][0-9]?) ([A-Za-z]+)\.?(?: ([0-9]{4}))?$/;
const MONTH_FIRST = /^([A-Za-z]+)\.? ([0-9][0-9]?)(?:,? ([0-9]{4}))?$/;
const SIBILANT = /(?:s|x|z|ch|sh)$/;
const LETTERS = /^\p{L}+$/u;
const HAS_LETTER = /\p{L}/u;
const HAS_UPPER = /\p{Uppercase}/u;
const DECIMAL = /\p{Nd}/u;
const BLANKS = new RegExp(`[${WHITE}]+`, "g");
const OUTER_BLANKS = new RegExp(`^[${WHITE}]+|[${WHITE}]+$`, "g");
const SHORTEST_PLURAL = 3;
const TAG = /^\[([\p{L}\p{N}_-]+) (\p{Nd}+)\]$/u;
const NAME = /^(?=\p{Lu})\p{L}+\.*$/u;
const BLANK = new RegExp(`[${WHITE}]+`);
/** A tag without brackets: a reply may count things of its own so. */
export const BARE_TAG = "bare tag";
const BEFORE =
  /([\p{L}\p{N}_][\p{L}\p{N}_'\u2019]*)[^\p{L}\p{N}_$\u20ac\u00a3\u00a5#]{1,3}$|([$\u20ac\u00a3\u00a5#])$/u;
/** So much of a text is remembered for the words before a place. */
export const BEHIND = 48;

/** The word, or the sign of a currency or a number, right before the end of a text; folded. */
export function wordBefore(text: string): string {
  const found = BEFORE.exec([...text.slice(-2 * BEHIND)].slice(-BEHIND).join(""));
  return found === null ? "" : folded(found[1] ?? found[2] ?? "");
}
const { names: MONTHS, short } = ENGLISH.data.months;
const months = new Map([
  ...MONTHS.flatMap((name, place) => [name.slice(0, 3), name].map((one) => [one.toLowerCase(), place + 1] as const)),
  ...Object.entries(short),
]);

/** A text character by character: case folded, without differences of compatibility. */
export function folded(text: string): string {
  if (isAscii(text)) return text.toLowerCase();
  const decomposed = [...text.normalize("NFKD")].map(fold);
  return decomposed.join("").normalize("NFKD").replaceAll("\u2019", "'");
}

/** As case folding, where two characters are folded alike or not; a dotless i is no other letter in any case. */
const fold = (character: string): string =>
  character === "\u0131" ? character : character.toLowerCase().toUpperCase().toLowerCase();

/** The forms of what came out, first as it came. */
export function* formsOf(pair: Pair): Generator<Form> {
  const { output } = pair;
  yield { text: folded(output).replace(OUTER_BLANKS, "").replace(BLANKS, " "), pair, way: "" };
  if (pair.lead || pair.weak) return;
  const tag = TAG.exec(output);
  if (tag !== null) {
    const [, name = "", place = ""] = tag;
    for (const join of ["", "_", "-"]) yield { text: folded(`[${name}${join}${place}]`), pair, way: "tag" };
    for (const join of [" ", "", "_"]) {
      yield { text: folded(`(${name}${join}${place})`), pair, way: "tag" };
      yield { text: folded(`{${name}${join}${place}}`), pair, way: "tag" };
    }
    yield { text: folded(`${name} ${place}`), pair, way: BARE_TAG };
    return;
  }
  const words = output.split(" ");
  if (words.length > 1 && words.every((word) => NAME.test(word))) {
    for (const [way, text] of initialsOf(output)) yield { text: folded(text), pair, way };
  }
  const number = NUMBER.exec(output);
  const phone = PHONE.exec(output);
  const date = parsed(output);
  if (number !== null) {
    const whole = (number[1] ?? "").replaceAll(",", "");
    const decimals = number[2] ?? "";
    for (const written of new Set([whole, whole.startsWith("0") ? whole : grouped(whole)])) {
      yield { text: written + decimals, pair, way: "number" };
      if (decimals === "") yield { text: `${written}.00`, pair, way: "number" };
    }
  } else if (phone !== null) {
    const [, area, exchange, line] = phone;
    yield { text: `(${area}) ${exchange}-${line}`, pair, way: "phone" };
    for (const mark of [".", " ", ""]) yield { text: [area, exchange, line].join(mark), pair, way: "phone" };
  } else if (date !== undefined) {
    for (const [way, text] of writtenAs(date)) yield { text: folded(text), pair, way };
  } else if ([...output].length >= SHORTEST_PLURAL && LETTERS.test(output.replaceAll(" ", ""))) {
    for (const text of new Set([plural(output), `${output}s`])) yield { text: folded(text), pair, way: "plural" };
  }
}

/** The original of a form, written as the form is. */
export function originalOf(form: Form, written: string, cutter: Cutter): string {
  const { output: whole, original, lead = 0 } = form.pair;
  const output = lead > 0 ? [...whole].slice(0, lead).join("") : whole;
  if (form.way === "tag") return original;
  if (form.way.startsWith("initial")) {
    const shortened = initialsOf(original).get(form.way) ?? original;
    return isUpper(written) ? shortened.toUpperCase() : shortened;
  }
  if (form.way === "plural") return inCaseOf(written, plural(output), plural(original), cutter);
  if (form.way === "number") return asNumber(written, output, original);
  const date = form.way === "" ? undefined : parsed(original);
  return date === undefined ? inCaseOf(written, output, original, cutter) : (writtenAs(date).get(form.way) ?? original);
}

/** How replies write a person with initials, which belong to the person. */
function initialsOf(name: string): Map<string, string> {
  const words = name.split(BLANK).filter((word) => word !== "");
  if (words.length === 0) return new Map();
  const first = (words.length > 1 ? words.slice(0, -1) : words)
    .map((word) => [...word][0] ?? "")
    .filter((letter) => HAS_LETTER.test(letter))
    .map((letter) => letter.toUpperCase());
  const [given = "?", last = ""] = [first[0], words.at(-1)];
  const [all, tight] = first.length > 0 ? [first.join(". "), first.join(".")] : ["?", "?"];
  return new Map([
    ["initial", `${given}. ${last}`],
    ["initial without dot", `${given} ${last}`],
    ["initials", `${all}. ${last}`],
    ["initials without blanks", `${tight}. ${last}`],
    ["initial last", `${last}, ${given}.`],
    ["initial after Dear", `Dear ${given}.,`],
    ["initial after Hi", `Hi ${given}.,`],
  ]);
}

/** An original as it is spelled where its output is, else in the case in which that is written. */
function inCaseOf(written: string, output: string, original: string, cutter: Cutter): string {
  const [pattern, sent] = [casePattern(written), casePattern(output)];
  if (pattern === sent && HAS_UPPER.test(output)) return original;
  if (cutter.isString(original) || cutter.isString(output) || !HAS_LETTER.test(written) || written.startsWith("["))
    return original;
  const own = casePattern(original);
  const ownCase = pattern === TITLE && (sent === UPPER || inCase(keyOf(original), own) !== original);
  if (own === pattern || ownCase) return original;
  if (pattern === TITLE || original.includes(" ")) {
    return pattern === UPPER ? original.toUpperCase() : pattern === LOWER ? original : capitalized(original);
  }
  return inCase(keyOf(original), pattern);
}

function plural(word: string): string {
  const small = word.toLowerCase();
  let end = "s";
  if (SIBILANT.test(small)) {
    end = "es";
  } else if (word === small && small.endsWith("y") && !["", ..."aeiou"].includes(small.slice(-2, -1))) {
    return `${word.slice(0, -1)}ies`;
  }
  return word + (placeOfLast(word, 2) >= 0 && isUpper(word) ? end.toUpperCase() : end);
}

/** A whole number with commas and decimals where what is written has them and what came out has none. */
function asNumber(written: string, output: string, original: string): string {
  const own = NUMBER.exec(original);
  if (own === null || own[1]?.startsWith("0")) return original;
  let whole = (own[1] ?? "").replaceAll(",", "");
  if (written.includes(",")) whole = grouped(whole);
  else if (!output.includes(",")) whole = own[1] ?? "";
  return whole + (own[2] ?? (written.endsWith(".00") && !output.includes(".") ? ".00" : ""));
}

/** Digits of any script as ASCII digits: those of one script follow each other from 0 on. */
function plainDigits(text: string): string {
  return text.replace(/\p{Nd}/gu, (digit) => {
    const point = digit.codePointAt(0) ?? 0;
    let start = point;
    while (start > 0 && DECIMAL.test(String.fromCodePoint(start - 1))) start--;
    return String((point - start) % 10);
  });
}

function grouped(whole: string): string {
  const digits = plainDigits(whole).replace(/^0+(?=[0-9])/, "");
  return digits.replace(/\B(?=(?:[0-9]{3})+$)/g, ",");
}

/** Year, month and day of a date whose order is not in doubt. */
function parsed(text: string): DateParts | undefined {
  const plain = plainDigits(text);
  const iso = ISO.exec(plain);
  const dayFirst = DAY_FIRST.exec(plain);
  const monthFirst = MONTH_FIRST.exec(plain);
  let found: [string | undefined, number, number];
  if (iso !== null) found = [iso[1], Number(iso[2]), Number(iso[3])];
  else if (dayFirst !== null) found = [dayFirst[3], monthOf(dayFirst[2]), Number(dayFirst[1])];
  else if (monthFirst !== null) found = [monthFirst[3], monthOf(monthFirst[1]), Number(monthFirst[2])];
  else return undefined;
  const [year, month, day] = found;
  if (month < 1 || month > 12 || day < 1 || day > 31) return undefined;
  return [year === undefined ? undefined : Number(year), month, day];
}

const monthOf = (name = ""): number => months.get(name.toLowerCase()) ?? 0;

/** How a date is written, with a year and without. */
function writtenAs([year, month, day]: DateParts): Map<string, string> {
  const name = MONTHS[month - 1] ?? "";
  if (year === undefined) {
    return new Map([
      ["day first", `${day} ${name}`],
      ["month first", `${name} ${day}`],
    ]);
  }
  const two = (value: number): string => String(value).padStart(2, "0");
  return new Map([
    ["iso", `${String(year).padStart(4, "0")}-${two(month)}-${two(day)}`],
    ["day first", `${day} ${name} ${year}`],
    ["month first", `${name} ${day}, ${year}`],
    ["numeric", `${month}/${day}/${year}`],
    ["numeric, padded", `${two(month)}/${two(day)}/${year}`],
  ]);
}
