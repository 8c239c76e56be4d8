/** Finds scripts, frames, handlers and addresses that run code, however a reply spells them. */

import { placeOfLast, WHITE } from "./words.js";

/** Characters that a browser drops from a scheme or Markdown from an address: controls, formats, the backslash. */
const DROPPED = new RegExp(
  "[\\0-\\x1f\\x7f-\\x9f\\\\\\xad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b-\\u200f\\u2028-\\u202e" +
    "\\u2060-\\u206f\\ufe00-\\ufe0f\\ufeff\\ufff9-\\ufffb\\u{e0000}-\\u{e0fff}]+",
  "gu",
);
const ZEROS = /(&#x?)0+/g;
const ENTITY =
  /&#x([0-9a-f]{1,6})(?:;|(?=[^0-9a-f;]))|&#([0-9]{1,7})(?:;|(?=[^0-9;]))|&(tab|newline|colon|lt|equals);/g;
const NAMED: Readonly<Record<string, string>> = { tab: "", newline: "", colon: ":", lt: "<", equals: "=" };
const ACTIVE = /<(?:script|style|iframe)|(?:java|vb)script:|data:(?:[a-z]+\/|[,;])/;
const HANDLER = /(?<![a-z0-9])on[a-z]{3,40} ?=/;
const BLANKS = new RegExp(`[${WHITE}]+`, "g");
const PLAIN = /^[ -[\]-~]*$/;
const TAIL = 64;
const LAST_POINT = 0x10ffff;

const decode = (_: string, hexadecimal?: string, decimal?: string, name?: string): string => {
  if (name !== undefined) return NAMED[name] ?? "";
  const code = hexadecimal === undefined ? Number(decimal) : Number.parseInt(hexadecimal, 16);
  return code < 0xd800 || (code >= 0xe000 && code <= LAST_POINT) ? String.fromCodePoint(code).toLowerCase() : "";
};

/** The last code points of a text. */
const tailOf = (text: string): string => text.slice(Math.max(0, placeOfLast(text, TAIL)));

/** Finds active content in a text that comes in parts. */
export class ActiveContentDetector {
  /** Whether the text has had any so far. */
  detected = false;
  #dense = "";
  #spaced = "";

  /** Reads more text. */
  feed(text: string): void {
    if (this.detected) return;
    const lower = text.toLowerCase();
    const plain = PLAIN.test(lower);
    let dense = this.#dense + lower;
    if (!plain) dense = dense.replace(DROPPED, "");
    if (dense.includes("&")) dense = dense.replace(ZEROS, "$1").replace(ENTITY, decode).replace(DROPPED, "");
    let spaced = this.#spaced + lower;
    if (!plain || spaced.includes("  ")) spaced = spaced.replace(BLANKS, " ");
    this.detected = ACTIVE.test(dense) || HANDLER.test(spaced);
    this.#dense = tailOf(dense);
    const tail = tailOf(spaced); // a handler is shorter: what a cut word begins with is none
    this.#spaced = tail.length < spaced.length ? `x${tail}` : tail;
  }
}
