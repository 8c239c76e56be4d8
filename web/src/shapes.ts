/** The shape of a string (docs/format-staircase.md, "Shapes"): every one of up to 1,000 code points is of exactly one. */

import { IN_NUMBERS, ND, Points } from "./characters.js";
import { characters as data } from "./data.js";
import type { Cutter } from "./segments.js";
import { isAscii } from "./words.js";

const YEAR = /^(?:1[5-9][0-9]{2}|20[0-9]{2})$/;
const DATE = /^(?:00?([-/.‐‑–])00?\1(?:00|0000)|0000([-/.‐‑–])00?\2(?:00?))$/;
const YEARS = /^0000[-/‐‑–]0000$/;
const PHONE = /^\+?[0(][0() \u00a0\u2009\u202f./‐‑–-]*0$/;
const GROUPED = /[+() \u00a0\u2009\u202f‐‑–-]|[./].*[./]/;
const EMAIL = /^(?:[^@＠﹫]+[@＠﹫][^@＠﹫]*\.[^@＠﹫.]+|.+[([{]at[)\]}].+)$/s;
const TIME = /^(?:00?:00(?::00)?(?:[ap]\.?m)?|00?[ap]\.?m)$/i;
const ORDINAL = /^0+(?:,000)*(?:[sſ]t|nd|rd|th)$/i;
const PATH = /^(?:[/\\]|~[/\\]|[A-Za-z]:[/\\])/;
const LEAST_DIGITS = 7;
const MOST_DIGITS = 15;

/** The shape of a string. */
export function shapeOf(string: string, cutter: Cutter): string {
  const { characters } = cutter;
  let bare = "";
  let digits = 0;
  let numeric = true;
  for (const character of string) {
    const flags = characters.of(character.codePointAt(0) ?? 0);
    if (flags & ND) digits++;
    bare += flags & ND ? "0" : character;
    numeric &&= (flags & IN_NUMBERS) !== 0 || data.gaps.between_numbers.includes(character);
  }
  if (numeric && digits > 0) return shapeOfNumber(string, bare, digits);
  if ("@＠﹫".includes(string.charAt(0))) return "handle";
  const read = new Points(string);
  if ((string.includes(".") || string.includes("://")) && cutter.isUrl(read)) return "url";
  if (EMAIL.test(string)) return "email";
  if (TIME.test(bare)) return "time";
  if (ORDINAL.test(bare)) return "ordinal-number";
  return PATH.test(string) ? "path" : "other";
}

function shapeOfNumber(string: string, bare: string, digits: number): string {
  if (isAscii(string) && YEAR.test(string)) return "year";
  if (DATE.test(bare)) return "date";
  const isPhone =
    digits >= LEAST_DIGITS && digits <= MOST_DIGITS && PHONE.test(bare) && GROUPED.test(bare) && !YEARS.test(bare);
  return isPhone ? "phone" : "number";
}
