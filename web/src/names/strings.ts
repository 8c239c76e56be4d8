/** Kinds of strings on the rung `names`: whatever is more than letters is of exactly one kind, told from it alone. */

import { type Characters, L, N } from "../characters.js";
import { IDENTIFIER_DIGITS } from "../constants.js";
import type { PatternName } from "../data.js";
import type { Rules } from "../rules.js";
import { isAscii } from "../words.js";

/** A kind, and what the skeleton shows of its layout. */
export type Kind = readonly [kind: string, layout: string];

const FIRST: readonly PatternName[] = ["mac", "ip", "time", "date", "ordinal", "decade"];
const ENDING = /([ap])(\.?m)/i;
/** Bits of the halves of a postal code. */
export const OUTWARD_HALF = 512;
export const INWARD_HALF = 1024;
const ASCII_DIGITS = /^[\x00-\x7f\u2010-\u2013]+$/;
const WORDLIKE = /^[A-Za-z0-9_-]+$/;
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
export function stringKind(string: string, characters: Characters, rules: Rules): Kind {
  const fits = (name: PatternName): boolean => rules.pattern(name).test(string);
  if (!isAscii(string)) return beyondAscii(string, characters, rules);
  if (string.includes("@")) return [string.startsWith("@") ? "handle" : fits("email") ? "email" : "key", ""];
  if (string.startsWith("#")) return ["hashtag", ""];
  for (const kind of FIRST) {
    if (kind === "decade" && fits("time_range")) return ["time", timeLayout(string, rules)];
    if (fits(kind)) return [kind, kind === "time" ? timeLayout(string, rules) : ""];
  }
  if (string.includes(".") || string.includes(":")) {
    if (isUrl(string, characters, rules)) return ["url", ""];
    if (fits("email")) return ["email", ""];
  }
  if (fits("digit_groups") || fits("number")) return numberKind(string, rules);
  for (const kind of ["file", "path", "email"] as const) if (fits(kind)) return [kind, ""];
  return [identifier(string, rules), ""];
}

function beyondAscii(string: string, characters: Characters, rules: Rules): Kind {
  if (/[@＠]/.test(string)) return [/^[@＠]/.test(string) ? "handle" : "email", ""];
  if (string.startsWith("#")) return ["hashtag", ""];
  if (![...string].some((character) => characters.is(character.codePointAt(0) ?? 0, L | N))) return ["symbol", ""];
  if (string.includes(".") && isUrl(string, characters, rules)) return ["url", ""];
  if (!ASCII_DIGITS.test(string)) return ["key", ""];
  if (rules.pattern("time_range").test(string)) return ["time", timeLayout(string, rules)];
  return rules.pattern("digit_groups").test(string) ? numberKind(string, rules) : ["key", ""];
}

/** The layout of a time, or of two with a dash between: zeros for digits, and `pm` for either ending. */
function timeLayout(string: string, rules: Rules): string {
  const at = rules.dash.exec(string);
  if (at !== null) {
    return [string.slice(0, at.index), string.slice(at.index + at[0].length)]
      .map((part) => timeLayout(part, rules))
      .join(at[0]);
  }
  const ending = ENDING.exec(string);
  const clock = (ending === null ? string : string.slice(0, ending.index)).replace(/[0-9]/g, "0");
  const after = ending === null ? "" : `p${(ending[2] ?? "").toLowerCase()}`;
  return (clock === "00" ? "0" : clock) + (string.endsWith("M") ? after.toUpperCase() : after);
}

/** The pattern of a URL, in any case. */
function isUrl(string: string, characters: Characters, rules: Rules): boolean {
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
  return rules.domain.test(last) || (end >= 0 && low.charAt(end) !== ":" && LETTERS.test(last));
}

/** The kind of digits with marks between them, or of several such groups. */
export function numberKind(string: string, rules: Rules): Kind {
  if (rules.pattern("year").test(string)) return ["year", ""];
  const range = rules.pattern("year_range").exec(string);
  if (range !== null) return ["year-range", range[1] ?? ""];
  const [, year, mark = "", next] = rules.pattern("season").exec(string) ?? [];
  if (/^[0-9]+ [0-9]+$/.test(`${year} ${next}`) && (Number(year) + 1) % 100 === Number(next)) return ["season", mark];
  const found = rules.pattern("number").exec(string);
  if (found !== null && ".,".includes(found[2] ?? "")) return ofNumber(found[1] ?? "", found[2] ?? "", found[3] ?? "");
  if (rules.pattern("ssn").test(string)) return ["ssn", ""];
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

function identifier(string: string, rules: Rules): string {
  const fits = (name: PatternName): boolean => rules.pattern(name).test(string);
  if (fits("iban")) return "iban";
  if (fits("uuid") || fits("hash")) return "hash";
  return string.length >= KEY_LENGTH || !WORDLIKE.test(string) ? "key" : "id";
}

/** Which half of a postal code an identifier may be: a bit of its token, or 0. */
export function codeHalf(string: string, rules: Rules): number {
  if (rules.pattern("postcode_start").test(string)) return OUTWARD_HALF;
  return rules.pattern("postcode_end").test(string) ? INWARD_HALF : 0;
}

/** A number and the unit that is written to it, as in `5kg`. */
export function withUnit(string: string, rules: Rules): [string, string] | undefined {
  const fits = (name: PatternName): boolean => rules.pattern(name).test(string);
  const match = isAscii(string) ? rules.pattern("number_with_unit").exec(string) : null;
  if (match === null || fits("time") || fits("decade")) return undefined;
  return [match[1] ?? "", match[2] ?? ""];
}
