/** Detector of scripts, frames, event handlers and addresses that run code, in any spelling. */

import { findLastIndex, WHITE } from "./segmentation/words.js";

/** Characters that browsers remove from a scheme, or Markdown from an address: controls, formats, the backslash. */
const DROPPED = new RegExp(
  "[\\0-\\x1f\\x7f-\\x9f\\\\\\xad\\u034f\\u061c\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u200b-\\u200f\\u2028-\\u202e" +
    "\\u2060-\\u206f\\ufe00-\\ufe0f\\ufeff\\ufff9-\\ufffb\\u{e0000}-\\u{e0fff}]+",
  "gu",
);
const ZEROS = /(&#x?)0+/g;
const ENTITY =
  /&#x([0-9a-f]{1,6})(?:;|(?=[^0-9a-f;]))|&#([0-9]{1,7})(?:;|(?=[^0-9;]))|&(tab|newline|colon|lt|equals);/g;
const NAMED_ENTITIES: Readonly<Record<string, string>> = { tab: "", newline: "", colon: ":", lt: "<", equals: "=" };
const ACTIVE_CONTENT = /<(?:script|style|iframe)|(?:java|vb)script:(?! |$)|data:(?:[a-z]+\/|[,;])/;
/** Pattern of a scheme before a blank, and pattern of the text before a scheme that begins no address. */
const SCHEME_AS_TEXT = /(?:java|vb)script: /g;
const BEFORE_TEXT = /(?:^|[A-Za-z0-9_,.;:!?)*#>|-]) *$/;
/** Beginnings of the names of all events of HTML, SVG and browsers. */
const HANDLER = new RegExp(
  "(?<![a-z0-9])on(?:abort|active|activa|after|anim|auxclick|before|begin|blur|bounce|cancel|canplay|cell|change|click|close|closing|" +
    "command|connect|content|context|control|copy|cuechange|cut|data|dblclick|deactivate|device|dom|drag|drop|duration|" +
    "emptied|encrypted|end|error|filter|finish|focus|form|fullscreen|gamepad|gesture|got|hashchange|help|input|invalid|" +
    "key|language|layout|load|los|message|mouse|move|offline|online|open|orientation|page|paste|pause|play|pointer|" +
    "popstate|progress|property|rate|ready|reject|repeat|reset|resize|row|scroll|search|security|seek|select|show|slot|" +
    "snap|stalled|start|stop|storage|submit|suspend|text|time|toggle|touch|track|transition|unhandled|unload|volume|" +
    "waiting|webkit|wheel|zoom)[a-z]{0,32} ?=",
);
const BLANKS = new RegExp(`[${WHITE}]+`, "g");
const PLAIN = /^[ -[\]-~]*$/;
const TAIL_CHARACTERS = 64;
const LAST_CODE_POINT = 0x10ffff;

const decodeEntity = (_: string, hexadecimal?: string, decimal?: string, name?: string): string => {
  if (name !== undefined) return NAMED_ENTITIES[name] ?? "";
  const codePoint = hexadecimal === undefined ? Number(decimal) : Number.parseInt(hexadecimal, 16);
  return codePoint < 0xd800 || (codePoint >= 0xe000 && codePoint <= LAST_CODE_POINT)
    ? String.fromCodePoint(codePoint).toLowerCase()
    : "";
};

/** Return the last code points of a text. */
const getTail = (text: string): string => text.slice(Math.max(0, findLastIndex(text, TAIL_CHARACTERS)));

/** Detector of active content in a text that arrives in parts. */
export class ActiveContentDetector {
  /** Whether active content has been detected so far. */
  detected = false;
  #dense = "";
  #spaced = "";
  /** Last character, except blanks, before the stored text. */
  #precedingCharacter = "";

  /** Read the next part of the text. */
  feed(text: string): void {
    if (this.detected) return;
    const lower = text.toLowerCase();
    const plain = PLAIN.test(lower);
    let dense = this.#dense + lower;
    if (!plain) dense = dense.replace(DROPPED, "");
    if (dense.includes("&")) dense = dense.replace(ZEROS, "$1").replace(ENTITY, decodeEntity).replace(DROPPED, "");
    let spaced = this.#spaced + lower;
    if (!plain || spaced.includes("  ")) spaced = spaced.replace(BLANKS, " ");
    this.detected = ACTIVE_CONTENT.test(dense) || this.#hasScheme(dense) || HANDLER.test(spaced);
    this.#dense = getTail(dense);
    this.#precedingCharacter = (this.#precedingCharacter + dense.slice(0, dense.length - this.#dense.length))
      .replace(/ +$/, "")
      .slice(-1);
    const tail = getTail(spaced); // a handler is shorter: what a cut word begins with is none
    this.#spaced = tail.length < spaced.length ? `x${tail}` : tail;
  }

  /** Return whether a scheme with a space after it, such as `javascript: `, may begin an address. */
  #hasScheme(dense: string): boolean {
    return [...dense.matchAll(SCHEME_AS_TEXT)].some(
      ({ index }) => !BEFORE_TEXT.test(this.#precedingCharacter + dense.slice(0, index)),
    );
  }
}
