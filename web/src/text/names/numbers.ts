/**
 * Numbers in a line: which digits between gaps form one number. The rules read classes and gaps, never values of digits
 * (pass 2). Only the number of a list item is compared with its predecessor, and then it is kept.
 */

import { includesWord } from "../../bundle/rules.js";
import { characters } from "../../data.js";
import {
  CLOSING_BRACKETS,
  DIGIT_GROUP,
  ENDS_IN_BLANK,
  LINE_BREAK,
  LIST_NUMBER_BLANKS,
  LIST_NUMBER_PREFIX,
  OPENING_BRACKET,
  SHORT_NUMBER_LAYOUTS,
} from "./entitySpans.js";
import { DIGITS, type NamesToken } from "./tokens.js";

const { gaps: data } = characters;

/** Words of some lines, the gap before each and the gap at the end, and the range of words of the present line. */
export interface TokenLine {
  readonly words: readonly NamesToken[];
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

/** Return whether a number may be an age or an area code. */
export const isShortNumber = ({ entityType, layout }: NamesToken): boolean =>
  entityType === "number" && SHORT_NUMBER_LAYOUTS.has(layout);

/** Return the number that begins at an index. */
export function findNumber(line: TokenLine, index: number): NumberRange {
  const { entityType, layout } = getWord(line, index);
  if (isBesideMonth(line, index)) {
    const isDay = entityType === "number" && (layout === "1" || layout === "2");
    return { entityType: isDay ? "day" : entityType, layout: isDay ? "" : layout, stop: index + 1 };
  }
  const stop = findDigitsEnd(line, index);
  return stop === index + 1 ? { entityType, layout, stop } : { entityType: DIGIT_GROUP, layout: "", stop };
}

/**
 * Return the number of a list item at the beginning of the line; 0 if there is none. A list goes on with the number
 * after the last one, or begins with 1.
 */
export function findListNumber(line: TokenLine, last: number): number {
  const index = line.start;
  const { tokenClass, text } = getWord(line, index);
  if (tokenClass !== DIGITS || text.length > 2 || (text !== "1" && text !== String(last + 1))) return 0;
  const before = getGap(line, index).replace(LIST_NUMBER_PREFIX, "");
  const gap = getGap(line, index + 1);
  if (!/^[.)]/.test(gap) || !LIST_NUMBER_BLANKS.test(gap) || !(before === "" || LINE_BREAK.test(before.slice(-1))))
    return 0;
  return findDigitsEnd(line, index) > index + 1 ? 0 : Number(text);
}

/** Return the gap before digits, without signs that may belong to them. */
export function getGapBeforeDigits(line: TokenLine, index: number): string {
  return getGap(line, index).replace(/[+(]+$/, "");
}

/** Return whether a sign or an opening bracket before the number at an index may belong to it. */
export function mayHaveSign(line: TokenLine, index: number): boolean {
  return !isBesideMonth(line, index) && isSeparateNumber(line, index);
}

function isBesideMonth(line: TokenLine, index: number): boolean {
  if (index > line.start && getWord(line, index - 1).entityType === "month") {
    const gap = getGapBeforeDigits(line, index);
    if (gap === " " || gap === ". ") return true;
  }
  return index + 1 < line.end && getWord(line, index + 1).entityType === "month" && line.gaps[index + 1] === " ";
}

/** Return whether the gap before digits, without its final sign, joins nothing. */
function isSeparateNumber(line: TokenLine, index: number): boolean {
  const rest = getGap(line, index).slice(0, -1);
  const first = index === line.start;
  if (!(rest === "" ? first : ENDS_IN_BLANK.test(rest))) return false;
  return first || getWord(line, index - 1).tokenClass !== DIGITS || !includesWord(data.joins_digits, rest);
}

/** Return the end of the digit group that begins at an index. A bracket may open before it, or after short digits. */
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

/** Return whether digits are short, and a bracket after them has digits in it and after it. */
function opensAreaCode(line: TokenLine, index: number): boolean {
  if (!isShortNumber(getWord(line, index))) return false;
  let end = index + 2;
  for (; joinsDigits(line, end) && !CLOSING_BRACKETS.has(getGap(line, end)); end++) {
    if (getGap(line, end) === OPENING_BRACKET) return false;
  }
  return joinsDigits(line, end);
}

/** Return whether the digits at an index join the digits before them; digits next to a month never do. */
function joinsDigits(line: TokenLine, index: number): boolean {
  if (
    index >= line.end ||
    getWord(line, index).tokenClass !== DIGITS ||
    !includesWord(data.joins_digits, getGap(line, index))
  )
    return false;
  return !isBesideMonth(line, index);
}
