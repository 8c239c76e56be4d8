/** Strict JSON parser, which rejects repeated keys and distinguishes integers from other numbers. */

import { MAX_JSON_BYTES, MAX_JSON_VALUES } from "../constants.js";
import { BundleDamaged, BundleTooLarge } from "../errors.js";

/** A number with a fraction or an exponent. It is not accepted where the format requires an integer. */
export class Fraction {
  constructor(readonly value: number) {}
}

/** A parsed JSON value. */
export type Json = null | boolean | number | bigint | string | Fraction | Json[] | JsonObject;
/** A parsed JSON object: its values by key. */
export type JsonObject = Map<string, Json>;

/** Characters that a terminal executes instead of printing. */
const UNPRINTABLE = /[\0-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]/;
const UNPRINTABLE_ALONE =
  /[\0-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/;
const NUMBER = /-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?/y;
const PLAIN = /[^"\\\0-\x1f]*/y;
const ESCAPES: Readonly<Record<string, string>> = {
  '"': '"',
  "\\": "\\",
  "/": "/",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
};
const MAX_DEPTH = 500;
const STRUCTURE = new Set([..."[{,:"].map((sign) => sign.charCodeAt(0)));

/** Return whether a text has no control characters and no characters that change the writing direction. */
export function isPrintable(text: string): boolean {
  return !UNPRINTABLE.test(text) || !UNPRINTABLE_ALONE.test(text);
}

/** Decode UTF-8. Throw an error for invalid bytes and for a byte order mark. */
export function decodeUtf8(content: Uint8Array, name: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(content);
  } catch {
    throw new BundleDamaged(`${name}: is not UTF-8`);
  }
}

/** Parse the bytes of a file as a JSON object, with limits on bytes and values. */
export function parseJson(content: Uint8Array, name: string, printable = true, maxBytes = MAX_JSON_BYTES): JsonObject {
  if (content.length > maxBytes)
    throw new BundleTooLarge(`${name}: has more than ${maxBytes.toLocaleString("en")} bytes`);
  let values = 0;
  for (const byte of content) if (STRUCTURE.has(byte)) values++;
  if (values > MAX_JSON_VALUES) {
    throw new BundleTooLarge(`${name}: has more than ${MAX_JSON_VALUES.toLocaleString("en")} values`);
  }
  const parsed = new JsonParser(content, name, printable).parseDocument();
  if (!(parsed instanceof Map)) throw new BundleDamaged(`${name}: is not a JSON object`);
  return parsed;
}

class JsonParser {
  #position = 0;
  readonly #text: string;

  constructor(
    content: Uint8Array,
    readonly name: string,
    readonly printable: boolean,
  ) {
    try {
      this.#text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(content);
    } catch {
      throw this.#makeError();
    }
  }

  parseDocument(): Json {
    const value = this.#parseValue(0);
    this.#skipBlanks();
    if (this.#position < this.#text.length) throw this.#makeError();
    return value;
  }

  #makeError(): BundleDamaged {
    return new BundleDamaged(`${this.name}: is not readable JSON`);
  }

  #skipBlanks(): void {
    while (" \t\n\r".includes(this.#text.charAt(this.#position)) && this.#position < this.#text.length)
      this.#position++;
  }

  /** Consume a sign if it comes next, and return whether it did. */
  #acceptSign(sign: string): boolean {
    this.#skipBlanks();
    if (!this.#text.startsWith(sign, this.#position)) return false;
    this.#position += sign.length;
    return true;
  }

  #requireSign(sign: string): void {
    if (!this.#acceptSign(sign)) throw this.#makeError();
  }

  #parseValue(depth: number): Json {
    if (depth > MAX_DEPTH) throw this.#makeError();
    if (this.#acceptSign("{")) return this.#parseObject(depth);
    if (this.#acceptSign("[")) return this.#parseArray(depth);
    if (this.#acceptSign('"')) return this.#parseString();
    if (this.#acceptSign("true")) return true;
    if (this.#acceptSign("false")) return false;
    if (this.#acceptSign("null")) return null;
    NUMBER.lastIndex = this.#position;
    const match = NUMBER.exec(this.#text);
    if (match === null) throw this.#makeError();
    this.#position += match[0].length;
    const value = Number(match[0]);
    if (match[1] !== undefined || match[2] !== undefined) {
      if (!Number.isFinite(value)) throw this.#makeError();
      return new Fraction(value);
    }
    return Number.isSafeInteger(value) ? value : BigInt(match[0]);
  }

  #parseObject(depth: number): JsonObject {
    const entries: JsonObject = new Map();
    if (this.#acceptSign("}")) return entries;
    do {
      this.#requireSign('"');
      const key = this.#parseString();
      this.#requireSign(":");
      if (entries.has(key)) throw this.#makeError();
      entries.set(key, this.#parseValue(depth + 1));
    } while (this.#acceptSign(","));
    this.#requireSign("}");
    return entries;
  }

  #parseArray(depth: number): Json[] {
    const values: Json[] = [];
    if (this.#acceptSign("]")) return values;
    do values.push(this.#parseValue(depth + 1));
    while (this.#acceptSign(","));
    this.#requireSign("]");
    return values;
  }

  #parseString(): string {
    let decoded = "";
    for (;;) {
      PLAIN.lastIndex = this.#position;
      const plain = PLAIN.exec(this.#text)?.[0] ?? "";
      decoded += plain;
      this.#position += plain.length;
      const sign = this.#text.charAt(this.#position++);
      if (sign === '"') break;
      if (sign !== "\\") throw this.#makeError();
      const escaped = this.#text.charAt(this.#position++);
      if (escaped === "u") {
        const digits = this.#text.slice(this.#position, this.#position + 4);
        if (!/^[0-9A-Fa-f]{4}$/.test(digits)) throw this.#makeError();
        decoded += String.fromCharCode(Number.parseInt(digits, 16));
        this.#position += 4;
      } else {
        const meant = ESCAPES[escaped];
        if (meant === undefined) throw this.#makeError();
        decoded += meant;
      }
    }
    if (this.printable && !isPrintable(decoded)) throw new BundleDamaged(`${this.name}: contains control characters`);
    return decoded;
  }
}

/** Check that a parsed JSON value is an object with exactly the given keys, and return it. */
export function parseRecord(value: Json | undefined, keys: readonly string[], where: string): JsonObject {
  const entries = parseObject(value, where);
  if (entries.size !== keys.length || !keys.every((key) => entries.has(key))) {
    throw new BundleDamaged(`${where}: unknown or missing keys`);
  }
  return entries;
}

/** Check that a parsed JSON value is an object with any keys, and return it. */
export function parseObject(value: Json | undefined, where: string): JsonObject {
  if (!(value instanceof Map)) throw new BundleDamaged(`${where}: a value is not an object`);
  return value;
}

/** Check that a parsed JSON value is an array of at most `maxValues` values, and return it. */
export function parseArray(value: Json | undefined, where: string, maxValues = MAX_JSON_VALUES): Json[] {
  if (!Array.isArray(value)) throw new BundleDamaged(`${where}: a value is not an array`);
  if (value.length > maxValues) {
    throw new BundleDamaged(`${where}: an array has more than ${maxValues.toLocaleString("en")} values`);
  }
  return value;
}

/** Check that a parsed JSON value is an integer from `minimum` to `maximum`, and return it. */
export function parseInteger(value: Json | undefined, minimum: number, maximum: number, where: string): number {
  if (typeof value !== "number" || value < minimum || value > maximum) {
    throw new BundleDamaged(`${where}: a number is not an integer, or out of range`);
  }
  return value;
}

/** Check that a parsed JSON value is a string that `pattern` (if given) matches, and return it. */
export function parseText(value: Json | undefined, where: string, pattern?: RegExp): string {
  if (typeof value !== "string" || (pattern !== undefined && !pattern.test(value))) {
    throw new BundleDamaged(`${where}: a value is not a string, or has the wrong form`);
  }
  return value;
}

/** Check that a parsed JSON value is one of the strings `allowed`, and return it. */
export function parseChoice(value: Json | undefined, allowed: readonly string[], where: string): string {
  const choice = parseText(value, where);
  if (!allowed.includes(choice)) throw new BundleDamaged(`${where}: a value is not one of the allowed strings`);
  return choice;
}
