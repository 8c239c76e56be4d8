/** Shapes of strings (docs/format-staircase.md, "Shapes"): every string has exactly one. */

import { characters as data } from "../../data.js";
import { CodePoints, IN_NUMBERS, ND } from "../segmentation/characterClasses.js";
import type { Segmenter } from "../segmentation/segments.js";
import { isAscii } from "../segmentation/words.js";

const YEAR = /^(?:1[5-9][0-9]{2}|20[0-9]{2})$/;
const DATE = /^(?:00?([-/.‐‑–])00?\1(?:00|0000)|0000([-/.‐‑–])00?\2(?:00?))$/;
const YEARS = /^0000[-/‐‑–]0000$/;
const PHONE = /^\+?[0(][0() \u00a0\u2009\u202f./‐‑–-]*0$/;
const GROUPED = /[+() \u00a0\u2009\u202f‐‑–-]|[./].*[./]/;
const EMAIL = /^(?:[^@＠﹫]+[@＠﹫][^@＠﹫]*\.[^@＠﹫.]+|.+[([{]at[)\]}].+)$/s;
const TIME = /^(?:00?:00(?::00)?(?:[ap]\.?m)?|00?[ap]\.?m)$/i;
const ORDINAL = /^0+(?:,000)*(?:[sſ]t|nd|rd|th)$/i;
const PATH = /^(?:[/\\]|~[/\\]|[A-Za-z]:[/\\])/;
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
  if (EMAIL.test(string)) return "email";
  if (TIME.test(withZeros)) return "time";
  if (ORDINAL.test(withZeros)) return "ordinal-number";
  return PATH.test(string) ? "path" : "other";
}

function classifyNumericShape(string: string, withZeros: string, digits: number): string {
  if (isAscii(string) && YEAR.test(string)) return "year";
  if (DATE.test(withZeros)) return "date";
  const isPhone =
    digits >= MIN_PHONE_DIGITS &&
    digits <= MAX_PHONE_DIGITS &&
    PHONE.test(withZeros) &&
    GROUPED.test(withZeros) &&
    !YEARS.test(withZeros);
  return isPhone ? "phone" : "number";
}
