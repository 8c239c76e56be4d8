/**
 * Numbers in a line: which groups of digits form one number (pass 2). The rules read classes and gaps, but never the
 * values of digits. Only the number of a list item is compared with the number before it, and then it is kept.
 */

import { includesWord, type Rules } from "../../bundle/rules.js";
import { characters, type DateWords } from "../../data.js";
import { UPPER } from "../segmentation/words.js";
import {
  CLOSING_BRACKETS,
  DIGIT_GROUP,
  ENDS_IN_BLANK,
  type EntitySpan,
  LINE_BREAK,
  LIST_NUMBER_BLANKS,
  LIST_NUMBER_PREFIX,
  OPENING_BRACKET,
  SHORT_NUMBER_LAYOUTS,
  TYPES_WITH_PLUS,
} from "./entitySpans.js";
import { BESIDE_MONTH, CAPITALIZED, DIGITS, IBAN_GROUP, IBAN_HEAD, type NamesToken } from "./tokens.js";

const { gaps: data } = characters;
const ASCII_DIGITS = /^[0-9]+$/;
/** Number of a nested list item: `2.1`. */
const NESTED_NUMBER = /^[1-9][0-9]?(?:\.[1-9][0-9]?){1,3}$/;
/** Gaps between two years of a range. */
const YEAR_JOINS: ReadonlySet<string> = new Set([" - ", " \u2013 "]);

/** Words of some lines with the gaps before, between and after them, and the range of words of the current line. */
export interface TokenLine {
  readonly words: NamesToken[];
  readonly gaps: readonly string[];
  readonly start: number;
  readonly end: number;
}

/** Digits of a line that form one number, up to the word at `stop`. */
export interface NumberRange {
  readonly entityType: string;
  readonly layout: string;
  readonly stop: number;
}

const getWord = (line: TokenLine, index: number): NamesToken => line.words[index] as NamesToken;
const getGap = (line: TokenLine, index: number): string => line.gaps[index] ?? "";

/** Mark digits that a full stop or a word joins to a month, as in `3. Mai` and `5 de marzo de 2024`. */
export function markDigitsBesideMonths(
  line: TokenLine,
  { links, day_stop }: DateWords,
  hasReadableKey: (index: number) => boolean,
): void {
  for (let month = line.start; month < line.end; month++) {
    if (getWord(line, month).entityType !== "month") continue;
    const places = day_stop && getGap(line, month) === ". " ? [month - 1] : [];
    for (const step of [-1, 1]) {
      const [link, digits] = [month + step, month + 2 * step];
      const isSpaced = [link, link + 1].every((index) => getGap(line, index) === " ");
      if (digits < line.start || digits >= line.end || !isSpaced || !hasReadableKey(link)) continue;
      if (includesWord(links, getWord(line, link).key)) places.push(digits);
    }
    for (const place of places) {
      const word = line.words[place];
      if (place >= line.start && word?.tokenClass === DIGITS)
        line.words[place] = { ...word, flags: word.flags | BESIDE_MONTH };
    }
  }
}

/** Return whether a number may be an age or an area code. */
const isShortNumber = ({ entityType, layout }: NamesToken): boolean =>
  entityType === "number" && SHORT_NUMBER_LAYOUTS.has(layout);

/** Return the number that begins at `index` in a line. */
export function findNumber(
  line: TokenLine,
  index: number,
  rules: Rules,
  hasReadableKey: (index: number) => boolean,
): NumberRange {
  if (isShortNumber(getWord(line, index)) && isAge(line, index, rules, hasReadableKey))
    return { entityType: "age", layout: "", stop: index + 1 };
  const { entityType, layout } = getWord(line, index);
  if (isBesideMonth(line, index)) {
    const isDay = entityType === "number" && (layout === "1" || layout === "2");
    return { entityType: isDay ? "day" : entityType, layout: isDay ? "" : layout, stop: index + 1 };
  }
  const stop = findDigitsEnd(line, index);
  if (stop === index + 1 && beginsYearRange(line, index))
    return { entityType: "year-range", layout: getGap(line, stop), stop: stop + 1 };
  return stop === index + 1 ? { entityType, layout, stop } : { entityType: DIGIT_GROUP, layout: "", stop };
}

/**
 * Return the number of a list item at the beginning of the line, such as `[2, 1]` for `2.1`; empty if there is none. A
 * list begins with 1 or continues with the next number. A nested list continues at any level, or begins with 1 below the
 * last number.
 */
export function findListNumber(line: TokenLine, last: readonly number[]): readonly number[] {
  const index = line.start;
  const { tokenClass, entityType, text, flags } = getWord(line, index);
  if (flags & BESIDE_MONTH) return [];
  const isPlain = tokenClass === DIGITS && ASCII_DIGITS.test(text);
  if (isPlain) {
    if (text.length > 2 || (text !== "1" && text !== String((last[0] ?? 0) + 1))) return [];
  } else if ((entityType !== "number" && entityType !== "digits") || !NESTED_NUMBER.test(text)) {
    return [];
  }
  const before = getGap(line, index).replace(LIST_NUMBER_PREFIX, "");
  const gap = getGap(line, index + 1);
  const isMarked = /^[.)]/.test(gap) || (!isPlain && LIST_NUMBER_BLANKS.test(gap.charAt(0)));
  if (!isMarked || !LIST_NUMBER_BLANKS.test(gap) || !(before === "" || LINE_BREAK.test(before.slice(-1)))) return [];
  if (tokenClass === DIGITS && findDigitsEnd(line, index) > index + 1) return [];
  const found = text.split(".").map(Number);
  return isPlain || followsInList(found, last) ? found : [];
}

/** Return whether a nested number is the next one on its level, or the first one below the last number. */
function followsInList(found: readonly number[], last: readonly number[]): boolean {
  const level = found.length - 1;
  return found.every((number, at) => (at < level ? number === last[at] : number === (last[at] ?? 0) + 1));
}

/** Return the gap before digits, without a sign or bracket that may belong to the number. */
export function getGapBeforeDigits(line: TokenLine, index: number): string {
  return getGap(line, index).replace(/[+(]+$/, "");
}

/** Return whether the plus sign or opening bracket before the number at `index` belongs to the span of the number. */
export function includesSign(line: TokenLine, index: number, { entityType, text }: EntitySpan): boolean {
  const sign = getGap(line, index).slice(-1);
  const mayBegin = (sign === "+" && TYPES_WITH_PLUS.has(entityType)) || (sign === "(" && text.includes(")"));
  return mayBegin && !isBesideMonth(line, index) && isSeparateNumber(line, index);
}

/** Return whether a kept word before or after a number shows that it is an age. */
function isAge(line: TokenLine, index: number, rules: Rules, hasReadableKey: (index: number) => boolean): boolean {
  const { before, short, units, behind } = rules.data.ages;
  if (hasReadableKey(index - 1) && includesWord(before, getWord(line, index - 1).key))
    return getGapBeforeDigits(line, index) === " ";
  if (!hasReadableKey(index + 1) || ![" ", "-", ""].includes(getGap(line, index + 1))) return false;
  const unit = getWord(line, index + 1).key;
  if (includesWord(short, unit)) return true;
  if (!includesWord(units, unit) || !hasReadableKey(index + 2)) return false;
  return includesWord(behind, getWord(line, index + 2).key) && [" ", "-"].includes(getGap(line, index + 2));
}

/**
 * Return whether a year and the next word, also a year, form a range: `2021 - 2023`. The function reads the types only
 * of tokens that join no other digits, because then the types are public.
 */
function beginsYearRange(line: TokenLine, index: number): boolean {
  const after = index + 1;
  if (after >= line.end || !YEAR_JOINS.has(getGap(line, after)) || getWord(line, after).tokenClass !== DIGITS)
    return false;
  if (isBesideMonth(line, after) || findDigitsEnd(line, after) > after + 1) return false;
  return getWord(line, index).entityType === "year" && getWord(line, after).entityType === "year";
}

function isBesideMonth(line: TokenLine, index: number): boolean {
  if (getWord(line, index).flags & BESIDE_MONTH) return true;
  if (index > line.start && getWord(line, index - 1).entityType === "month") {
    const gap = getGapBeforeDigits(line, index);
    if (gap === " " || gap === ". ") return true;
  }
  return index + 1 < line.end && getWord(line, index + 1).entityType === "month" && line.gaps[index + 1] === " ";
}

/** Return whether digits would be a separate number without the sign or bracket directly before them. */
function isSeparateNumber(line: TokenLine, index: number): boolean {
  const rest = getGap(line, index).slice(0, -1);
  const first = index === line.start;
  if (!(rest === "" ? first : ENDS_IN_BLANK.test(rest))) return false;
  return first || getWord(line, index - 1).tokenClass !== DIGITS || !includesWord(data.joins_digits, rest);
}

/** Return the index after the last digits that form one number with the digits at `index`. */
function findDigitsEnd(line: TokenLine, index: number): number {
  let isOpen = getGap(line, index).endsWith("(") && isSeparateNumber(line, index);
  let end = index + 1;
  for (; joinsDigits(line, end); end++) {
    const gap = getGap(line, end);
    if (gap === OPENING_BRACKET) {
      if (isOpen || end > index + 1 || !opensAreaCode(line, index)) break;
      isOpen = true;
    } else if (CLOSING_BRACKETS.has(gap)) {
      if (!isOpen) break;
      isOpen = false;
    }
  }
  return end;
}

/** Return whether a number with an area code in brackets begins at `index`: `49 (30) 1234`. */
function opensAreaCode(line: TokenLine, index: number): boolean {
  if (!isShortNumber(getWord(line, index))) return false;
  let end = index + 2;
  for (; joinsDigits(line, end) && !CLOSING_BRACKETS.has(getGap(line, end)); end++) {
    if (getGap(line, end) === OPENING_BRACKET) return false;
  }
  return joinsDigits(line, end);
}

/** Return whether the digits at `index` belong to the digits before them. Digits of a date do not. */
function joinsDigits(line: TokenLine, index: number): boolean {
  if (
    index >= line.end ||
    getWord(line, index).tokenClass !== DIGITS ||
    !includesWord(data.joins_digits, getGap(line, index))
  )
    return false;
  return !isBesideMonth(line, index);
}

/** Return the index after an IBAN in groups that begins at `index`; 0 if none does. It has two more groups at least. */
export function findIbanEnd({ words, gaps, end }: TokenLine, index: number): number {
  if (!((words[index]?.flags ?? 0) & IBAN_HEAD)) return 0;
  let stop = index + 1;
  while (stop < end && gaps[stop] === " " && isIbanGroup(words[stop] as NamesToken, stop === index + 1)) stop++;
  if (stop < index + 3) return 0;
  const last = stop < end && gaps[stop] === " " ? words[stop] : undefined;
  return stop + (last?.tokenClass === DIGITS && SHORT_NUMBER_LAYOUTS.has(last.layout) ? 1 : 0);
}

function isIbanGroup(word: NamesToken, mayBeWord: boolean): boolean {
  if (word.tokenClass === DIGITS)
    return word.entityType === "year" || (word.entityType === "number" && word.layout === "4");
  if (word.tokenClass === CAPITALIZED) return mayBeWord && word.case === UPPER;
  return (word.flags & (IBAN_HEAD | IBAN_GROUP)) !== 0;
}
