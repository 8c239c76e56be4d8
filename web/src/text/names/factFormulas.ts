/** Letters and numbers of formulas, of source code and of lists of numbers, for the rules of `facts`. */

import { WHITE } from "../segmentation/words.js";
import { type LinePlaces, NUMERIC_TYPES } from "./factPlaces.js";

/** Marks of formulas and source code next to a letter, and next to a number. A bracket after a blank may enclose an age. */
const LETTER_MARK = /[=+*^<>()[\]{}|\u2264\u2265\u2260\u00d7\u2212]|(?:^|[ [(])--?$|^"/;
const NUMBER_MARK = /[=+*^<>[\]{}\u2264\u2265\u2260\u00d7\u2212]| \/ |^\($/;
const MINUS = /^ *[-\u2212] *$/;
const COMMA = /^ *[,;:] *$/;
/** A formula without blanks, a list of small numbers without blanks, and a variable with an index. */
const TERM = "(?:[A-Za-z]|[1-9]?[0-9]){1,2}";
const INDEXED = "[ac-dfh-kopqrt-vxyz][0-9]|[A-Za-z]_[0-9A-Za-z]";
const FORMULA = new RegExp(
  `^(?:${TERM}(?:[=+*^<>\u2264\u2265\u2212]${TERM})+|[1-9]?[0-9](?:,[1-9]?[0-9]){2,}|${INDEXED})$`,
);
/** A word after which a full stop ends a sentence. */
const LAST_WORD = /^[a-z]{3,}$/;
/** Gaps before and after the number of an entry in a list. */
const BEFORE_MARKER = /[.?!:;)"] [*(]{0,3}$/;
const AFTER_MARKER = new RegExp(`^(?:[.)]\\*{0,2}[${WHITE}]|- )`);
/** End of a sequence of numbers, and the largest number of entries that are read beside a number. */
const [AND_SO_ON, MAX_ENTRIES] = [/^[,;]? ?(?:\.\.\.|\u2026)/, 16];
const DIGITS = /^\p{Nd}+$/u;

/** Return whether a string is a formula of single letters and small numbers, a list, or an indexed variable: `k^2`, `1,2,3`, `x_2`. */
export const isFormula = (text: string): boolean => FORMULA.test(text);

/** Return whether a letter is an operand of a formula, a variable, or an option: `f(x)`, `n + 1`, `-v`. */
export function isVariable(place: LinePlaces, index: number): boolean {
  const [before, after] = [place.getGap(index), place.getGap(index + 1)];
  if (isUnitLetter(place, index)) return true;
  const isApart = (gap: string, at: number, gapAt: number): boolean =>
    LETTER_MARK.test(gap) || COMMA.test(gap) || MINUS.test(gap) || !place.isSymbol(at, gapAt);
  if (!LETTER_MARK.test(before) && !LETTER_MARK.test(after)) return false;
  return isApart(before, index - 1, index) && isApart(after, index + 1, index + 1);
}

/** Return whether a letter is one of the two of a unit behind a number: `10 m/s`. */
function isUnitLetter(place: LinePlaces, index: number): boolean {
  const first = place.getGap(index + 1) === "/" ? index : index - 1;
  if (first < 0 || place.getGap(first + 1) !== "/" || !["", " "].includes(place.getGap(first))) return false;
  const isLetter = first === index || place.getClass(first) === "letter" || place.getWord(first).length === 1;
  return isLetter && NUMERIC_TYPES.has(place.getClass(first - 1));
}

/** Return whether a kept unit, or a letter behind a number, and a slash precede a mention: `mg/dL`, `5 g/dL`. */
export function followsUnit(place: LinePlaces, index: number, units: ReadonlySet<string>): boolean {
  if (place.getGap(index) !== "/") return false;
  const isLetter = place.getClass(index - 1) === "letter" && NUMERIC_TYPES.has(place.getClass(index - 2));
  return isLetter || units.has(place.getWord(index - 1).toLowerCase());
}

/** Return whether a number is an operand of a formula or a value in source code: `x = 10`, `f(0)`, `n - 1`. */
export function isOperand(place: LinePlaces, index: number): boolean {
  const [before, after] = [place.getGap(index), place.getGap(index + 1)];
  const isDifference = place.getWord(index - 1).length === 1 && MINUS.test(before);
  const [isMarkedBefore, isMarkedAfter] = [NUMBER_MARK.test(before), NUMBER_MARK.test(after)];
  const hasVariable = after === "" && place.getWord(index + 1).length === 1; // a factor of a variable: `2x + 1`
  const isFactor = hasVariable && NUMBER_MARK.test(place.getGap(index + 2));
  if (!(isMarkedBefore || isMarkedAfter || isFactor || (isDifference && after.startsWith(")")))) return false;
  if (!(isMarkedBefore || isDifference || COMMA.test(before)) && place.isSymbol(index - 1, index)) return false;
  if (hasVariable) return isFactor || !place.isSymbol(index + 2, index + 2);
  return isMarkedAfter || COMMA.test(after) || !place.isSymbol(index + 1, index + 1);
}

/** Return whether a number or a letter marks an entry of a list, at the start of a line or a sentence: `2. Next`. */
export function isListMarker(place: LinePlaces, index: number): boolean {
  const before = place.getGap(index);
  if (!AFTER_MARKER.test(place.getGap(index + 1))) return false;
  if (place.beginsLine(index)) return true;
  return (!before.includes(".") || LAST_WORD.test(place.getWord(index - 1))) && BEFORE_MARKER.test(before);
}

/** Return whether a number is an entry of a list of numbers and letters: `[2, 4, k]`, `5, 14, 23, ...`. */
export function isListedNumber(place: LinePlaces, index: number): boolean {
  const [first, last] = [findListEnd(place, index, -1), findListEnd(place, index, 1)];
  if (first < 0 || last < 0 || first === last) return false;
  const after = place.getGap(last + 1);
  return (/[([{]$/.test(place.getGap(first)) && /^[)\]}]/.test(after)) || AND_SO_ON.test(after);
}

/** Return the index of the last entry of a list in a direction; -1 if the list is longer than 16 entries. */
function findListEnd(place: LinePlaces, index: number, step: number): number {
  for (let count = 0, at = index; count < MAX_ENTRIES; count++, at += step) {
    const following = at + step;
    if (following < 0 || following >= place.mentions.length) return at;
    if (!COMMA.test(place.getGap(step < 0 ? at : following))) return at;
    const word = place.getWord(following);
    const isEntry = word.length === 1 || DIGITS.test(word) || ["number", "letter"].includes(place.getClass(following));
    if (!isEntry) return at;
  }
  return -1;
}
