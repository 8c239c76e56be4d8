/** Kinds of strings on the rung `names`: whatever is more than letters is of exactly one kind, told from it alone. */

import { type Characters, L, N } from "../characters.js";
import {
  DASH,
  DATE,
  DECADE,
  DIGIT_GROUPS,
  EMAIL,
  FILE,
  HASH,
  IBAN,
  IDENTIFIER_DIGITS,
  INWARD,
  IP,
  MAC,
  NUMBER,
  ORDINAL,
  OUTWARD,
  PATH,
  SEASON,
  SSN,
  TIME,
  TIMES,
  TLD,
  UUID,
  WITH_UNIT,
  YEARS_BETWEEN,
} from "../generated.js";
import { isAscii } from "../words.js";

/** A kind, and what the skeleton shows of its layout. */
export type Kind = readonly [kind: string, layout: string];

// Python's patterns, asked of ASCII alone but where it is said: there both languages read them alike.
const anyCase = (source: string): RegExp => new RegExp(source, "is");
const exact = (source: string): RegExp => new RegExp(source, "s");
const FIRST: readonly (readonly [string, RegExp])[] = [
  ["mac", anyCase(MAC)],
  ["ip", anyCase(IP)],
  ["time", anyCase(TIME)],
  ["date", exact(DATE)],
  ["ordinal", anyCase(ORDINAL)],
  ["decade", anyCase(DECADE)],
];
const [email, file, hash, uuid, withUnitPattern] = [EMAIL, FILE, HASH, UUID, WITH_UNIT].map(anyCase) as [
  RegExp,
  RegExp,
  RegExp,
  RegExp,
  RegExp,
];
const [path, number, groups, iban, ssn] = [PATH, NUMBER, DIGIT_GROUPS, IBAN, SSN].map(exact) as [
  RegExp,
  RegExp,
  RegExp,
  RegExp,
  RegExp,
];
const [time, decade, outward, inward] = [anyCase(TIME), anyCase(DECADE), anyCase(OUTWARD), anyCase(INWARD)];
const [times, years, dash] = [anyCase(TIMES), exact(YEARS_BETWEEN), new RegExp(DASH)];
const season = exact(SEASON);
const ENDING = /([ap])(\.?m)/i;
/** Bits of the halves of a postal code. */
export const OUTWARD_HALF = 512;
export const INWARD_HALF = 1024;
const YEAR = /^(?:1[5-9][0-9]{2}|20[0-9]{2})$/;
const WORDLIKE = /^[A-Za-z0-9_-]+$/;
const DOMAIN = new RegExp(`^(?:${TLD})$`);
const LETTERS = /^[a-z]{2,24}$/;
const LIKE_S = /\u017f/g;
const LIKE_K = /\u212a/g;
const LIKE_I = /[\u0130\u0131]/g;
const KEY_LENGTH = 12;
const CARD_DIGITS = 13;
const MOST_DECIMALS = 3;

/** Kinds of numbers. */
export const NUMBER_KINDS: ReadonlySet<string> = new Set("number year account digits phone card ssn".split(" "));

/** The kind and the layout of a string that is not of letters alone. */
export function stringKind(string: string, characters: Characters): Kind {
  if (!isAscii(string)) return beyondAscii(string, characters);
  if (string.includes("@")) return [string.startsWith("@") ? "handle" : email.test(string) ? "email" : "key", ""];
  if (string.startsWith("#")) return ["hashtag", ""];
  for (const [kind, pattern] of FIRST) {
    if (kind === "decade" && times.test(string)) return ["time", timeLayout(string)];
    if (pattern.test(string)) return [kind, kind === "time" ? timeLayout(string) : ""];
  }
  if (string.includes(".") || string.includes(":")) {
    if (isUrl(string, characters)) return ["url", ""];
    if (email.test(string)) return ["email", ""];
  }
  if (groups.test(string) || number.test(string)) return numberKind(string);
  if (file.test(string)) return ["file", ""];
  if (path.test(string)) return ["path", ""];
  if (email.test(string)) return ["email", ""];
  return [identifier(string), ""];
}

function beyondAscii(string: string, characters: Characters): Kind {
  if (/[@＠]/.test(string)) return [/^[@＠]/.test(string) ? "handle" : "email", ""];
  if (string.startsWith("#")) return ["hashtag", ""];
  if (![...string].some((character) => characters.is(character.codePointAt(0) ?? 0, L | N))) return ["symbol", ""];
  if (string.includes(".") && isUrl(string, characters)) return ["url", ""];
  if (times.test(string)) return ["time", timeLayout(string)];
  return groups.test(string) ? numberKind(string) : ["key", ""];
}

/** The layout of a time, or of two with a dash between: zeros for digits, and `pm` for either ending. */
function timeLayout(string: string): string {
  const at = dash.exec(string);
  if (at !== null) return timeLayout(string.slice(0, at.index)) + at[0] + timeLayout(string.slice(at.index + 1));
  const ending = ENDING.exec(string);
  const clock = (ending === null ? string : string.slice(0, ending.index)).replace(/[0-9]/g, "0");
  const after = ending === null ? "" : `p${(ending[2] ?? "").toLowerCase()}`;
  return (clock === "00" ? "0" : clock) + (string.endsWith("M") ? after.toUpperCase() : after);
}

/** The pattern of a URL, in any case. */
function isUrl(string: string, characters: Characters): boolean {
  const low = string
    .replace(LIKE_S, "s")
    .replace(LIKE_K, "k")
    .replace(LIKE_I, "i")
    .replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
  if (low.includes("://") || /^(?:mailto|tel):/.test(low) || /^www\../s.test(low)) return true;
  const end = low.search(/[/:?#]/);
  const host = end < 0 ? low : low.slice(0, end);
  const labels = host.split(".");
  const last = labels.pop() ?? "";
  const fits = (label: string): boolean =>
    label !== "" && [...label].every((c) => c === "_" || c === "-" || characters.is(c.codePointAt(0) ?? 0, L | N));
  if (labels.length === 0 || !labels.every(fits)) return false;
  return DOMAIN.test(last) || (end >= 0 && low.charAt(end) !== ":" && LETTERS.test(last));
}

/** The kind of digits with marks between them, or of several such groups. */
export function numberKind(string: string): Kind {
  if (YEAR.test(string)) return ["year", ""];
  const range = years.exec(string);
  if (range !== null) return ["year-range", range[1] ?? ""];
  const [, year, mark = "", next] = season.exec(string) ?? [];
  if (year !== undefined && (Number(year) + 1) % 100 === Number(next)) return ["season", mark];
  const found = number.exec(string)?.groups;
  if (found !== undefined) return ofNumber(found.whole ?? "", found.mark ?? "", found.decimals ?? "");
  if (ssn.test(string)) return ["ssn", ""];
  const digits = string.replace(/[^0-9]/g, "").length;
  if (digits >= CARD_DIGITS) return ["card", ""];
  return digits >= IDENTIFIER_DIGITS ? ["phone", ""] : ["digits", string.replace(/[0-9]/g, "0")];
}

function ofNumber(whole: string, mark: string, decimals: string): Kind {
  const grouped = whole.includes(",");
  const digits = whole.replaceAll(",", "").length;
  if (digits >= IDENTIFIER_DIGITS && !grouped) return ["account", ""];
  const size = digits < 5 ? digits : digits < 7 ? 5 : digits < 10 ? 7 : 10;
  const rest = decimals === "" ? "" : mark + Math.min(MOST_DECIMALS, decimals.length);
  return ["number", `${size}${grouped ? "g" : ""}${rest}`];
}

function identifier(string: string): string {
  if (iban.test(string)) return "iban";
  if (uuid.test(string) || hash.test(string)) return "hash";
  return string.length >= KEY_LENGTH || !WORDLIKE.test(string) ? "key" : "id";
}

/** Which half of a postal code an identifier may be: a bit of its token, or 0. */
export function codeHalf(string: string): number {
  return outward.test(string) ? OUTWARD_HALF : inward.test(string) ? INWARD_HALF : 0;
}

/** A number and the unit that is written to it, as in `5kg`. */
export function withUnit(string: string): [string, string] | undefined {
  const match = isAscii(string) ? withUnitPattern.exec(string) : null;
  if (match === null || time.test(string) || decade.test(string)) return undefined;
  return [match[1] ?? "", match[2] ?? ""];
}
