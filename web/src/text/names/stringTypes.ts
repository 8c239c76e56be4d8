/**
 * Types of strings in the mode `names`: a string of more than letters has exactly one type, a function of it alone.
 */

import type { Rules } from "../../bundle/rules.js";
import { MIN_IDENTIFIER_DIGITS } from "../../constants.js";
import type { PatternName } from "../../data.js";
import { type CharacterClasses, L, N } from "../segmentation/characterClasses.js";
import { isAscii } from "../segmentation/words.js";
import { IBAN_GROUP, IBAN_HEAD } from "./tokens.js";

/** An entity type, and the layout that the template reveals. */
export type StringType = readonly [entityType: string, layout: string];

const FIRST_TYPES: readonly PatternName[] = ["mac", "ip", "time", "date", "ordinal", "decade"];
const AM_OR_PM = /([ap])(\.?m)/i;
/** Flags of the halves of a postal code. */
export const OUTWARD_HALF = 512;
export const INWARD_HALF = 1024;
const ASCII_DIGITS = /^[\x00-\x7f\u2010-\u2013]+$/;
const WORDLIKE = /^[A-Za-z0-9_-]+$/;
const LETTERS = /^[a-z]{2,24}$/;
const LIKE_S = /\u017f/g;
const LIKE_K = /\u212a/g;
const LIKE_I = /[\u0130\u0131]/g;
const MIN_KEY_LENGTH = 12;
const MIN_CARD_DIGITS = 13;
const MAX_DECIMALS = 3;

/** Types of numbers. */
export const NUMBER_TYPES: ReadonlySet<string> = new Set("number year account digits phone card ssn".split(" "));

/** Return the entity type and the layout of a string that is more than letters. */
export function classifyString(string: string, characters: CharacterClasses, rules: Rules): StringType {
  const matches = (name: PatternName): boolean => rules.getPattern(name).test(string);
  if (!isAscii(string)) return classifyNonAscii(string, characters, rules);
  if (string.includes("@")) return [string.startsWith("@") ? "handle" : matches("email") ? "email" : "key", ""];
  if (string.startsWith("#")) return ["hashtag", ""];
  for (const entityType of FIRST_TYPES) {
    if (entityType === "decade" && matches("time_range")) return ["time", makeTimeLayout(string, rules)];
    if (matches(entityType)) return [entityType, entityType === "time" ? makeTimeLayout(string, rules) : ""];
  }
  if (string.includes(".") || string.includes(":")) {
    if (isUrl(string, characters, rules)) return ["url", ""];
    if (matches("email")) return ["email", ""];
  }
  if (matches("digit_groups") || matches("number")) return classifyNumber(string, rules);
  for (const entityType of ["file", "path", "email"] as const) if (matches(entityType)) return [entityType, ""];
  return [classifyIdentifier(string, rules), ""];
}

function classifyNonAscii(string: string, characters: CharacterClasses, rules: Rules): StringType {
  if (/[@＠]/.test(string)) return [/^[@＠]/.test(string) ? "handle" : "email", ""];
  if (string.startsWith("#")) return ["hashtag", ""];
  if (![...string].some((character) => characters.matches(character.codePointAt(0) ?? 0, L | N))) return ["symbol", ""];
  if (string.includes(".") && isUrl(string, characters, rules)) return ["url", ""];
  if (!ASCII_DIGITS.test(string)) return ["key", ""];
  if (rules.getPattern("time_range").test(string)) return ["time", makeTimeLayout(string, rules)];
  return rules.getPattern("digit_groups").test(string) ? classifyNumber(string, rules) : ["key", ""];
}

/** Return the layout of a time, or of two with a dash between: zeros for digits, and `pm` for either ending. */
function makeTimeLayout(string: string, rules: Rules): string {
  const dash = rules.dash.exec(string);
  if (dash !== null) {
    return [string.slice(0, dash.index), string.slice(dash.index + dash[0].length)]
      .map((part) => makeTimeLayout(part, rules))
      .join(dash[0]);
  }
  const match = AM_OR_PM.exec(string);
  const clock = (match === null ? string : string.slice(0, match.index)).replace(/[0-9]/g, "0");
  const suffix = match === null ? "" : `p${(match[2] ?? "").toLowerCase()}`;
  return (clock === "00" ? "0" : clock) + (string.endsWith("M") ? suffix.toUpperCase() : suffix);
}

/** Return whether a string is a URL, in any case. */
function isUrl(string: string, characters: CharacterClasses, rules: Rules): boolean {
  const folded = string
    .replace(LIKE_S, "s")
    .replace(LIKE_K, "k")
    .replace(LIKE_I, "i")
    .replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
  if (folded.includes("://") || /^(?:mailto|tel):/.test(folded) || /^www\../s.test(folded)) return true;
  const end = folded.search(/[/:?#]/);
  const host = end < 0 ? folded : folded.slice(0, end);
  const labels = host.split(".");
  const last = labels.pop() ?? "";
  const matches = (label: string): boolean =>
    label !== "" && [...label].every((c) => c === "_" || c === "-" || characters.matches(c.codePointAt(0) ?? 0, L | N));
  if (labels.length === 0 || !labels.every(matches)) return false;
  return rules.domain.test(last) || (end >= 0 && folded.charAt(end) !== ":" && LETTERS.test(last));
}

/** Return the type of digits with marks between them, or of several such groups. */
export function classifyNumber(string: string, rules: Rules): StringType {
  if (rules.getPattern("year").test(string)) return ["year", ""];
  const range = rules.getPattern("year_range").exec(string);
  if (range !== null) return ["year-range", range[1] ?? ""];
  const [, year, mark = "", next] = rules.getPattern("season").exec(string) ?? [];
  if (/^[0-9]+ [0-9]+$/.test(`${year} ${next}`) && (Number(year) + 1) % 100 === Number(next)) return ["season", mark];
  const match = rules.getPattern("number").exec(string);
  if (match !== null && ".,".includes(match[2] ?? ""))
    return classifyPlainNumber(match[1] ?? "", match[2] ?? "", match[3] ?? "");
  if (rules.getPattern("ssn").test(string)) return ["ssn", ""];
  const digits = string.replace(/[^0-9]/g, "").length;
  if (digits >= MIN_CARD_DIGITS) return ["card", ""];
  return digits >= MIN_IDENTIFIER_DIGITS ? ["phone", ""] : ["digits", string.replace(/[0-9]/g, "0")];
}

function classifyPlainNumber(whole: string, mark: string, decimals: string): StringType {
  const group = whole.includes(",") ? "g" : whole.includes(".") ? "p" : "";
  const digits = whole.replace(/[^0-9]/g, "").length;
  if (digits >= MIN_IDENTIFIER_DIGITS && group === "") return ["account", ""];
  const size = digits < 5 ? digits : digits < 7 ? 5 : digits < 10 ? 7 : 10;
  const rest = decimals === "" ? "" : mark + Math.min(MAX_DECIMALS, decimals.length);
  return ["number", `${size}${group}${rest}`];
}

function classifyIdentifier(string: string, rules: Rules): string {
  const matches = (name: PatternName): boolean => rules.getPattern(name).test(string);
  if (matches("iban")) return "iban";
  if (matches("uuid") || matches("hash")) return "hash";
  return string.length >= MIN_KEY_LENGTH || !WORDLIKE.test(string) ? "key" : "id";
}

/** Return flags of a string that may be one group of a British postal code (`SW1A 1AA`) or of an IBAN. */
export function findGroupFlags(string: string, rules: Rules): number {
  let flags = 0;
  if (/^[0-9A-Z]{4}$/.test(string)) flags = /^[A-Z]{2}[0-9]{2}$/.test(string) ? IBAN_HEAD : IBAN_GROUP;
  if (rules.getPattern("postcode_start").test(string)) return flags | OUTWARD_HALF;
  return rules.getPattern("postcode_end").test(string) ? flags | INWARD_HALF : flags;
}

/** Split a number and the unit directly after it, as in `5kg`; return `undefined` if there is no unit. */
export function splitUnit(string: string, rules: Rules): [string, string] | undefined {
  const matches = (name: PatternName): boolean => rules.getPattern(name).test(string);
  const match = isAscii(string) ? rules.getPattern("number_with_unit").exec(string) : null;
  if (match === null || matches("time") || matches("decade")) return undefined;
  return [match[1] ?? "", match[2] ?? ""];
}
