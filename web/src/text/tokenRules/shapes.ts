/** Shapes of strings (docs/format-staircase.md, "Shapes"): every string has exactly one. */

import { ENGLISH } from "../../bundle/rules.js";
import { characters as data } from "../../data.js";
import { CodePoints, IN_NUMBERS, ND } from "../segmentation/characterClasses.js";
import type { Segmenter } from "../segmentation/segments.js";
import { isAscii } from "../segmentation/words.js";

const YEARS = new RegExp(`^(?:${data.patterns.digit_years})$`);
const PHONE = new RegExp(`^(?:${data.patterns.phone_number})$`);
const GROUPED = new RegExp(data.patterns.number_with_groups);
const MIN_PHONE_DIGITS = 7;
const MAX_PHONE_DIGITS = 15;

/** Return the shape of a string. */
export function classifyShape(string: string, segmenter: Segmenter): string {
  const { characters } = segmenter;
  let withZeros = "";
  let digits = 0;
  let isNumeric = true;
  for (const character of string) {
    const flags = characters.getFlags(character.codePointAt(0) ?? 0);
    if (flags & ND) digits++;
    withZeros += flags & ND ? "0" : character;
    isNumeric &&= (flags & IN_NUMBERS) !== 0 || data.gaps.between_numbers.includes(character);
  }
  if (isNumeric && digits > 0) return classifyNumericShape(string, withZeros, digits);
  if ("@＠﹫".includes(string.charAt(0))) return "handle";
  const codePoints = new CodePoints(string);
  if ((string.includes(".") || string.includes("://")) && segmenter.isUrl(codePoints)) return "url";
  if (":;".includes(string.charAt(0)) && segmenter.findEmoticonEnd(codePoints, 0) === codePoints.length) return "other";
  // Patterns of English, which decide the types of strings in the mode `names` too. None depends on values of digits.
  if (ENGLISH.getPattern("email").test(string)) return "email";
  if (ENGLISH.getPattern("time").test(withZeros)) return "time";
  if (ENGLISH.getPattern("ordinal").test(withZeros)) return "ordinal-number";
  return ENGLISH.getPattern("path").test(string) ? "path" : "other";
}

function classifyNumericShape(string: string, withZeros: string, digits: number): string {
  if (isAscii(string) && ENGLISH.getPattern("year").test(string)) return "year";
  if (ENGLISH.getPattern("date").test(withZeros)) return "date";
  const isPhone =
    digits >= MIN_PHONE_DIGITS &&
    digits <= MAX_PHONE_DIGITS &&
    PHONE.test(withZeros) &&
    GROUPED.test(withZeros) &&
    !YEARS.test(withZeros);
  return isPhone ? "phone" : "number";
}
