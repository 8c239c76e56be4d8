/** Forms in which a reply may mention a surrogate, and the original in the same form. */

import type { ReplyRules } from "../bundle/replyRules.js";
import { ENGLISH } from "../bundle/rules.js";
import type { Segmenter } from "./segmentation/segments.js";
import {
  applyCase,
  capitalizeFirst,
  findCasePattern,
  findLastIndex,
  foldWord,
  isAscii,
  isUpper,
  LOWER,
  TITLE,
  UPPER,
  WHITE,
} from "./segmentation/words.js";

/** A surrogate of a sanitized text and the original that it replaces. */
export interface SurrogatePair {
  readonly output: string;
  readonly original: string;
  /** Number of characters of the output that the original replaces; the rest is context. 0 means all characters. */
  readonly lead?: number;
  /** Whether the output is too short to be recognized without its context. */
  readonly weak?: boolean;
  /** Folded word or sign that must precede a weak output. */
  readonly before?: string;
  /** Text after the output. If it is set, a reply must quote it and the text `before` (`quotations.ts`). */
  readonly after?: string;
}

/** Form of a surrogate: its folded text and its notation, which is empty for the unchanged surrogate. */
export interface SurrogateForm {
  readonly text: string;
  readonly pair: SurrogatePair;
  readonly notation: string;
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
const MIN_PLURAL_LENGTH = 3;
const TAG = /^\[([\p{L}\p{N}_-]+) (\p{Nd}+)\]$/u;
const NAME = /^(?=\p{Lu})\p{L}+\.*$/u;
const BLANK = new RegExp(`[${WHITE}]+`);
/** Notation of a tag without brackets, such as `city 1`. A reply may use the same words for a count of its own. */
export const BARE_TAG = "bare tag";
/** Prefixes of notations that a language adds: before the name of an inflection, and before an elided word. */
const INFLECTION = "inflection ";
const ELISION = "elision ";
const WORD_IN_FORM = /^\p{L}+(?:\s|['\u2019])/u;
const WORD_BEFORE =
  /([\p{L}\p{N}_][\p{L}\p{N}_'\u2019]*)[^\p{L}\p{N}_$\u20ac\u00a3\u00a5#]{1,3}$|([$\u20ac\u00a3\u00a5#])$/u;
/** Number of stored characters before the current index. */
export const LOOKBEHIND_CHARACTERS = 48;

/** Return the folded word, currency sign or number sign at the end of `text`; empty if there is none. */
export function findWordBefore(text: string): string {
  const match = WORD_BEFORE.exec([...text.slice(-2 * LOOKBEHIND_CHARACTERS)].slice(-LOOKBEHIND_CHARACTERS).join(""));
  return match === null ? "" : foldText(match[1] ?? match[2] ?? "");
}
const { names: MONTHS, short: shortMonths } = ENGLISH.data.months;
const monthByName = new Map([
  ...MONTHS.flatMap((name, index) =>
    [name.slice(0, 3), name].map((spelling) => [spelling.toLowerCase(), index + 1] as const),
  ),
  ...Object.entries(shortMonths),
]);

/** Return `text` in the form in which replies are searched: case folded, in NFKD, with plain apostrophes. */
export function foldText(text: string): string {
  if (isAscii(text)) return text.toLowerCase();
  const decomposed = [...text.normalize("NFKD")].map(foldCharacter);
  return decomposed.join("").normalize("NFKD").replaceAll("\u2019", "'");
}

/** Fold the case of a character; a dotless i equals no other letter. */
const foldCharacter = (character: string): string =>
  character === "\u0131" ? character : character.toLowerCase().toUpperCase().toLowerCase();

/** Split an elided form into the word before the surrogate, and the surrogate. */
export function splitElision(written: string): [before: string, name: string] {
  const before = WORD_IN_FORM.exec(written)?.[0] ?? "";
  return [before, written.slice(before.length)];
}

/** Return whether a form is an inflection by the rules of a language pack. */
export const isInflection = ({ notation }: SurrogateForm): boolean => notation.startsWith(INFLECTION);

/** Return whether a form contains the word before the surrogate, as in `d'Anna`. */
export const isElision = ({ notation }: SurrogateForm): boolean => notation.startsWith(ELISION);

/**
 * Yield the forms of a surrogate, the unchanged surrogate first. The rules of a language add inflections, and forms that
 * include the word before the surrogate if the original changes this word: `de Keller` becomes `d'Anna`.
 */
export function* iterateForms(pair: SurrogatePair, rules: ReplyRules): Generator<SurrogateForm> {
  const { output } = pair;
  yield { text: foldText(output).replace(OUTER_BLANKS, "").replace(BLANKS, " "), pair, notation: "" };
  if (pair.lead || pair.weak) return;
  const tag = TAG.exec(output);
  if (tag !== null) {
    const [, name = "", index = ""] = tag;
    for (const join of ["", "_", "-"]) yield { text: foldText(`[${name}${join}${index}]`), pair, notation: "tag" };
    for (const join of [" ", "", "_"]) {
      yield { text: foldText(`(${name}${join}${index})`), pair, notation: "tag" };
      yield { text: foldText(`{${name}${join}${index}}`), pair, notation: "tag" };
    }
    yield { text: foldText(`${name} ${index}`), pair, notation: BARE_TAG };
    return;
  }
  const words = output.split(" ");
  if (words.length > 1 && words.every((word) => NAME.test(word))) {
    for (const [notation, text] of writeInitials(output)) yield { text: foldText(text), pair, notation };
  }
  yield* iterateLanguageForms(pair, rules);
  const number = NUMBER.exec(output);
  const phone = PHONE.exec(output);
  const date = parseDate(output);
  if (number !== null) {
    const whole = (number[1] ?? "").replaceAll(",", "");
    const decimals = number[2] ?? "";
    for (const digits of new Set([whole, whole.startsWith("0") ? whole : groupDigits(whole)])) {
      yield { text: digits + decimals, pair, notation: "number" };
      if (decimals === "") yield { text: `${digits}.00`, pair, notation: "number" };
    }
  } else if (phone !== null) {
    const [, area, exchange, line] = phone;
    yield { text: `(${area}) ${exchange}-${line}`, pair, notation: "phone" };
    for (const mark of [".", " ", ""]) yield { text: [area, exchange, line].join(mark), pair, notation: "phone" };
  } else if (date !== undefined) {
    for (const [notation, text] of formatDate(date)) yield { text: foldText(text), pair, notation };
  } else if ([...output].length >= MIN_PLURAL_LENGTH && LETTERS.test(output.replaceAll(" ", ""))) {
    for (const text of new Set([makePlural(output), `${output}s`]))
      yield { text: foldText(text), pair, notation: "plural" };
  }
}

/** Yield the forms that the rules of a language add: inflections, and elisions such as `d'Anna`. */
function* iterateLanguageForms(pair: SurrogatePair, rules: ReplyRules): Generator<SurrogateForm> {
  const { output, original } = pair;
  if ([...output].length >= MIN_PLURAL_LENGTH && LETTERS.test(output.replaceAll(" ", ""))) {
    for (const name of rules.listInflections(output)) {
      yield { text: foldText(rules.inflect(output, name)), pair, notation: INFLECTION + name };
    }
  }
  if (rules.elisions.size === 0) return;
  const needed = rules.isElidedBefore(original);
  if (needed === undefined || rules.isElidedBefore(output) === needed) return;
  const folded = foldText(output);
  for (const [clitic, words] of rules.elisions) {
    if (needed) {
      for (const word of words) yield { text: `${word} ${folded}`, pair, notation: ELISION + clitic };
    } else if (words.length === 1) {
      yield { text: clitic + folded, pair, notation: `${ELISION}${words[0]} ` };
    }
  }
}

/** Return the original in the same form as the surrogate in the reply. */
export function inflectOriginal(form: SurrogateForm, written: string, segmenter: Segmenter, rules: ReplyRules): string {
  const { output: whole, original, lead = 0 } = form.pair;
  const output = lead > 0 ? [...whole].slice(0, lead).join("") : whole;
  if (isInflection(form)) {
    const name = form.notation.slice(INFLECTION.length);
    return matchCase(written, rules.inflect(output, name), rules.inflect(original, name), segmenter);
  }
  if (isElision(form)) {
    const [before, name] = splitElision(written);
    const word = form.notation.slice(ELISION.length);
    const isCapital = /^\p{Uppercase}/u.test(before);
    const inCapitals = findLastIndex(name, 2) >= 0 && isUpper(name);
    const cased = !isCapital ? word : inCapitals ? word.toUpperCase() : capitalizeFirst(word);
    return cased + matchCase(name, output, original, segmenter);
  }
  if (form.notation === "tag") return original;
  if (form.notation.startsWith("initial")) {
    const shortened = writeInitials(original).get(form.notation) ?? original;
    return isUpper(written) ? shortened.toUpperCase() : shortened;
  }
  if (form.notation === "plural") return matchCase(written, makePlural(output), makePlural(original), segmenter);
  if (form.notation === "number") return matchNumberNotation(written, output, original);
  const date = form.notation === "" ? undefined : parseDate(original);
  return date === undefined
    ? matchCase(written, output, original, segmenter)
    : (formatDate(date).get(form.notation) ?? original);
}

/** Return a name in each notation with initials, such as `"initial": "A. Novak"`. */
function writeInitials(name: string): Map<string, string> {
  const words = name.split(BLANK).filter((word) => word !== "");
  if (words.length === 0) return new Map();
  const initials = (words.length > 1 ? words.slice(0, -1) : words)
    .map((word) => [...word][0] ?? "")
    .filter((letter) => HAS_LETTER.test(letter))
    .map((letter) => letter.toUpperCase());
  const [firstInitial = "?", lastName = ""] = [initials[0], words.at(-1)];
  const [spacedInitials, joinedInitials] = initials.length > 0 ? [initials.join(". "), initials.join(".")] : ["?", "?"];
  return new Map([
    ["initial", `${firstInitial}. ${lastName}`],
    ["initial without dot", `${firstInitial} ${lastName}`],
    ["initials", `${spacedInitials}. ${lastName}`],
    ["initials without blanks", `${joinedInitials}. ${lastName}`],
    ["initial last", `${lastName}, ${firstInitial}.`],
    ["initial after Dear", `Dear ${firstInitial}.,`],
    ["initial after Hi", `Hi ${firstInitial}.,`],
  ]);
}

/** Return the original in the same case as the surrogate in the reply. */
function matchCase(written: string, output: string, original: string, segmenter: Segmenter): string {
  const [pattern, sentPattern] = [findCasePattern(written), findCasePattern(output)];
  if (pattern === sentPattern && HAS_UPPER.test(output)) return original;
  if (
    segmenter.isString(original) ||
    segmenter.isString(output) ||
    !HAS_LETTER.test(written) ||
    written.startsWith("[")
  )
    return original;
  const originalPattern = findCasePattern(original);
  const keepsOriginal =
    pattern === TITLE && (sentPattern === UPPER || applyCase(foldWord(original), originalPattern) !== original);
  if (originalPattern === pattern || keepsOriginal) return original;
  if (pattern === TITLE || original.includes(" ")) {
    return pattern === UPPER ? original.toUpperCase() : pattern === LOWER ? original : capitalizeFirst(original);
  }
  return applyCase(foldWord(original), pattern);
}

function makePlural(word: string): string {
  const lower = word.toLowerCase();
  let end = "s";
  if (SIBILANT.test(lower)) {
    end = "es";
  } else if (word === lower && lower.endsWith("y") && !["", ..."aeiou"].includes(lower.slice(-2, -1))) {
    return `${word.slice(0, -1)}ies`;
  }
  return word + (findLastIndex(word, 2) >= 0 && isUpper(word) ? end.toUpperCase() : end);
}

/** Return the original number in the same notation as its surrogate in the reply. */
function matchNumberNotation(written: string, output: string, original: string): string {
  const originalNumber = NUMBER.exec(original);
  if (originalNumber === null || originalNumber[1]?.startsWith("0")) return original;
  let whole = (originalNumber[1] ?? "").replaceAll(",", "");
  if (written.includes(",")) whole = groupDigits(whole);
  else if (!output.includes(",")) whole = originalNumber[1] ?? "";
  return whole + (originalNumber[2] ?? (written.endsWith(".00") && !output.includes(".") ? ".00" : ""));
}

/** Return a text with ASCII digits in place of digits of any script. */
function convertDigits(text: string): string {
  return text.replace(/\p{Nd}/gu, (digit) => {
    const point = digit.codePointAt(0) ?? 0;
    let start = point;
    while (start > 0 && DECIMAL.test(String.fromCodePoint(start - 1))) start--;
    return String((point - start) % 10);
  });
}

function groupDigits(whole: string): string {
  const digits = convertDigits(whole).replace(/^0+(?=[0-9])/, "");
  return digits.replace(/\B(?=(?:[0-9]{3})+$)/g, ",");
}

/** Return year, month and day of a date in an unambiguous order. */
function parseDate(text: string): DateParts | undefined {
  const ascii = convertDigits(text);
  const iso = ISO.exec(ascii);
  const dayFirst = DAY_FIRST.exec(ascii);
  const monthFirst = MONTH_FIRST.exec(ascii);
  let fields: [string | undefined, number, number];
  if (iso !== null) fields = [iso[1], Number(iso[2]), Number(iso[3])];
  else if (dayFirst !== null) fields = [dayFirst[3], findMonth(dayFirst[2]), Number(dayFirst[1])];
  else if (monthFirst !== null) fields = [monthFirst[3], findMonth(monthFirst[1]), Number(monthFirst[2])];
  else return undefined;
  const [year, month, day] = fields;
  if (month < 1 || month > 12 || day < 1 || day > 31) return undefined;
  return [year === undefined ? undefined : Number(year), month, day];
}

const findMonth = (name = ""): number => monthByName.get(name.toLowerCase()) ?? 0;

/** Return a date in each notation. */
function formatDate([year, month, day]: DateParts): Map<string, string> {
  const name = MONTHS[month - 1] ?? "";
  if (year === undefined) {
    return new Map([
      ["day first", `${day} ${name}`],
      ["month first", `${name} ${day}`],
    ]);
  }
  const padTwo = (value: number): string => String(value).padStart(2, "0");
  return new Map([
    ["iso", `${String(year).padStart(4, "0")}-${padTwo(month)}-${padTwo(day)}`],
    ["day first", `${day} ${name} ${year}`],
    ["month first", `${name} ${day}, ${year}`],
    ["numeric", `${month}/${day}/${year}`],
    ["numeric, padded", `${padTwo(month)}/${padTwo(day)}/${year}`],
  ]);
}
