/** JSON, read strictly: no repeated keys, and an integer is told from a number with a fraction or an exponent. */

import { MAX_JSON_BYTES, MAX_JSON_VALUES } from "../constants.js";
import { BundleDamaged, BundleTooLarge } from "../errors.js";

/** A number that is no integer as this format has them. */
export class Fraction {
  constructor(readonly value: number) {}
}

export type Json = null | boolean | number | bigint | string | Fraction | Json[] | JsonObject;
export type JsonObject = Map<string, Json>;

/** What a terminal obeys instead of printing. */
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
const MOST_DEPTH = 500;
const STRUCTURE = new Set([..."[{,:"].map((sign) => sign.charCodeAt(0)));

export function isPrintable(text: string): boolean {
  return !UNPRINTABLE.test(text) || !UNPRINTABLE_ALONE.test(text);
}

/** Text from UTF-8; damaged if it is none, or begins with a byte order mark. */
export function decoded(content: Uint8Array, name: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(content);
  } catch {
    throw new BundleDamaged(`${name}: is not UTF-8`);
  }
}

/** A JSON object. */
export function parseJson(content: Uint8Array, name: string, printable = true, most = MAX_JSON_BYTES): JsonObject {
  if (content.length > most) throw new BundleTooLarge(`${name}: has more than ${most.toLocaleString("en")} bytes`);
  let values = 0;
  for (const byte of content) if (STRUCTURE.has(byte)) values++;
  if (values > MAX_JSON_VALUES) {
    throw new BundleTooLarge(`${name}: has more than ${MAX_JSON_VALUES.toLocaleString("en")} values`);
  }
  const found = new Parser(content, name, printable).read();
  if (!(found instanceof Map)) throw new BundleDamaged(`${name}: is not a JSON object`);
  return found;
}

class Parser {
  #at = 0;
  readonly #text: string;

  constructor(
    content: Uint8Array,
    readonly name: string,
    readonly printable: boolean,
  ) {
    try {
      this.#text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(content);
    } catch {
      throw this.#damaged();
    }
  }

  read(): Json {
    const found = this.#value(0);
    this.#blanks();
    if (this.#at < this.#text.length) throw this.#damaged();
    return found;
  }

  #damaged(): BundleDamaged {
    return new BundleDamaged(`${this.name}: is not readable JSON`);
  }

  #blanks(): void {
    while (" \t\n\r".includes(this.#text.charAt(this.#at)) && this.#at < this.#text.length) this.#at++;
  }

  /** Whether a sign comes next; it is passed then. */
  #passes(sign: string): boolean {
    this.#blanks();
    if (!this.#text.startsWith(sign, this.#at)) return false;
    this.#at += sign.length;
    return true;
  }

  #need(sign: string): void {
    if (!this.#passes(sign)) throw this.#damaged();
  }

  #value(depth: number): Json {
    if (depth > MOST_DEPTH) throw this.#damaged();
    if (this.#passes("{")) return this.#object(depth);
    if (this.#passes("[")) return this.#array(depth);
    if (this.#passes('"')) return this.#string();
    if (this.#passes("true")) return true;
    if (this.#passes("false")) return false;
    if (this.#passes("null")) return null;
    NUMBER.lastIndex = this.#at;
    const match = NUMBER.exec(this.#text);
    if (match === null) throw this.#damaged();
    this.#at += match[0].length;
    const value = Number(match[0]);
    if (match[1] !== undefined || match[2] !== undefined) {
      if (!Number.isFinite(value)) throw this.#damaged();
      return new Fraction(value);
    }
    return Number.isSafeInteger(value) ? value : BigInt(match[0]);
  }

  #object(depth: number): JsonObject {
    const found: JsonObject = new Map();
    if (this.#passes("}")) return found;
    do {
      this.#need('"');
      const key = this.#string();
      this.#need(":");
      if (found.has(key)) throw this.#damaged();
      found.set(key, this.#value(depth + 1));
    } while (this.#passes(","));
    this.#need("}");
    return found;
  }

  #array(depth: number): Json[] {
    const found: Json[] = [];
    if (this.#passes("]")) return found;
    do found.push(this.#value(depth + 1));
    while (this.#passes(","));
    this.#need("]");
    return found;
  }

  #string(): string {
    let found = "";
    for (;;) {
      PLAIN.lastIndex = this.#at;
      const plain = PLAIN.exec(this.#text)?.[0] ?? "";
      found += plain;
      this.#at += plain.length;
      const sign = this.#text.charAt(this.#at++);
      if (sign === '"') break;
      if (sign !== "\\") throw this.#damaged();
      const escaped = this.#text.charAt(this.#at++);
      if (escaped === "u") {
        const digits = this.#text.slice(this.#at, this.#at + 4);
        if (!/^[0-9A-Fa-f]{4}$/.test(digits)) throw this.#damaged();
        found += String.fromCharCode(Number.parseInt(digits, 16));
        this.#at += 4;
      } else {
        const meant = ESCAPES[escaped];
        if (meant === undefined) throw this.#damaged();
        found += meant;
      }
    }
    if (this.printable && !isPrintable(found)) throw new BundleDamaged(`${this.name}: holds control characters`);
    return found;
  }
}

/** An object with exactly these keys. */
export function record(value: Json | undefined, keys: readonly string[], where: string): JsonObject {
  const found = anObject(value, where);
  if (found.size !== keys.length || !keys.every((key) => found.has(key))) {
    throw new BundleDamaged(`${where}: unknown or missing keys`);
  }
  return found;
}

export function anObject(value: Json | undefined, where: string): JsonObject {
  if (!(value instanceof Map)) throw new BundleDamaged(`${where}: a value is not an object`);
  return value;
}

export function anArray(value: Json | undefined, where: string, most = MAX_JSON_VALUES): Json[] {
  if (!Array.isArray(value)) throw new BundleDamaged(`${where}: a value is not an array`);
  if (value.length > most) {
    throw new BundleDamaged(`${where}: an array has more than ${most.toLocaleString("en")} values`);
  }
  return value;
}

export function integer(value: Json | undefined, least: number, most: number, where: string): number {
  if (typeof value !== "number" || value < least || value > most) {
    throw new BundleDamaged(`${where}: a number is not an integer, or out of range`);
  }
  return value;
}

export function aText(value: Json | undefined, where: string, pattern?: RegExp): string {
  if (typeof value !== "string" || (pattern !== undefined && !pattern.test(value))) {
    throw new BundleDamaged(`${where}: a value is not a string, or has the wrong form`);
  }
  return value;
}

export function oneOf(value: Json | undefined, allowed: readonly string[], where: string): string {
  const found = aText(value, where);
  if (!allowed.includes(found)) throw new BundleDamaged(`${where}: a value is not supported`);
  return found;
}
