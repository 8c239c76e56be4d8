/** Look-up keys of words, and case patterns. */

import { MAX_WORD_LENGTH } from "../../constants.js";
import { characters } from "../../data.js";
import { countCodePoints } from "./characterClasses.js";
import { decodeTable, isInTable } from "./codePointTables.js";

export const LOWER = 0;
export const TITLE = 1;
export const UPPER = 2;

const ASCII = /^[\0-\x7f]*$/;
const SMALL = /^[a-z]+$/;
const CAPITAL = /^[A-Z][a-z]*$/;
const NOT_LOWER = /[\p{Uppercase}\p{Lt}]/u;
const HAS_LOWER = /\p{Lowercase}/u;
const NOT_UPPER = /[\p{Lowercase}\p{Lt}]/u;
const HAS_UPPER = /\p{Uppercase}/u;
const DECIMAL = /^\p{Nd}$/u;
const DIGITS = decodeTable(characters.tables.digits);
const BEGINS_UPPER = /^[\p{Uppercase}\p{Lt}]/u;

/** White space of Python: blanks, and U+001C to U+001F. */
export const WHITE = "\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";

/** Return the index of the last `count` code points of a text; -1 if it has fewer. */
export function findLastIndex(text: string, count: number): number {
  let at = text.length;
  for (let left = count; left > 0; left--) {
    if (--at < 0) return -1;
    const isPair = (text.charCodeAt(at) & 0xfc00) === 0xdc00 && at > 0 && (text.charCodeAt(at - 1) & 0xfc00) === 0xd800;
    if (isPair) at--;
  }
  return at;
}

/** Return whether a text is ASCII. */
export function isAscii(text: string): boolean {
  return ASCII.test(text);
}

/** Return whether the Numeric_Type of a character is Decimal or Digit; JavaScript has no property for the second. */
export function isDigit(character: string): boolean {
  return DECIMAL.test(character) || isInTable(DIGITS, character);
}

/** Return whether a word is too long to be folded. */
export function isLong(word: string): boolean {
  return word.length > MAX_WORD_LENGTH && countCodePoints(word) > MAX_WORD_LENGTH;
}

/** Return a word with U+0027 for each apostrophe. */
export const foldApostrophes = (word: string): string => word.replace(/[\u2019\u2018\u02bc]/g, "'");

/** Return the lookup key of a word: NFKC, lower case, apostrophes as U+0027. Too long words are not changed. */
export function foldWord(word: string): string {
  if (isLong(word)) return word;
  return ASCII.test(word) ? word.toLowerCase() : foldApostrophes(word.normalize("NFKC").toLowerCase());
}

/** Text that Python's `str.istitle` accepts: each capital follows no letter, and each small letter follows a letter. */
export const IS_TITLE =
  /^[^\p{Uppercase}\p{Lt}\p{Lowercase}]*(?:[\p{Uppercase}\p{Lt}]\p{Lowercase}*(?:[^\p{Uppercase}\p{Lt}\p{Lowercase}]+|$))+$/u;

/** Return whether all cased characters of a text, at least one, are in lower case. */
export function isLower(text: string): boolean {
  return HAS_LOWER.test(text) && !NOT_LOWER.test(text);
}

/** Return whether all cased characters of a text, at least one, are in upper case. */
export function isUpper(text: string): boolean {
  return HAS_UPPER.test(text) && !NOT_UPPER.test(text);
}

/** Return the case pattern of a word: `LOWER`, `TITLE` or `UPPER`. */
export function findCasePattern(word: string): number {
  if (SMALL.test(word)) return LOWER;
  if (CAPITAL.test(word)) return TITLE;
  if (isLower(word)) return LOWER;
  if (isUpper(word) && countCodePoints(word) > 1) return UPPER;
  return BEGINS_UPPER.test(word) ? TITLE : LOWER;
}

/** Return a text with its first character in upper case. */
export function capitalizeFirst(text: string): string {
  const first = String.fromCodePoint(...(text === "" ? [] : [text.codePointAt(0) ?? 0]));
  return first.toUpperCase() + text.slice(first.length);
}

/** Write a lower-case word in a case pattern: `LOWER`, `TITLE` or `UPPER`. */
export function applyCase(word: string, pattern: number): string {
  return pattern === LOWER ? word : pattern === UPPER ? word.toUpperCase() : capitalizeFirst(word);
}
