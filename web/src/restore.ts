/** Restores words on the device: a reply about a text that was rewritten consistently gets its words back. */

import { counted } from "./decimal.js";
import { InputError } from "./errors.js";
import { type Form, folded, formsOf, originalOf, type Pair } from "./forms.js";
import { MOST_BLANKS } from "./generated.js";
import type { Cutter } from "./segments.js";
import { isDigit, isLower, isUpper, keyOf, WHITE } from "./words.js";

const LIKE_A_TAG = new RegExp(`\\[(?=[\\p{L}\\p{N}_-]+[${WHITE}]+\\p{Nd})`, "gu");
/** Where a form may begin: at a word, or at a mark. */
const START = new RegExp(
  `(?:(?<![\\p{L}\\p{N}])|(?<=\\\\[nrt])(?<!\\\\\\\\[nrt]))[\\p{L}\\p{N}]|[^\\p{L}\\p{N}_${WHITE}]`,
  "gu",
);
/** The end of a line, or a tab, as JSON and code write it: a word may begin behind it. */
const ESCAPE = /(?:^|[^\\])\\[nrt]$/u;
/** What begins as JSON does: a reply, or a block of code of it; so much of it tells. */
const JSON_BEGINS = new RegExp(`^[${WHITE}]*(?:json[${WHITE}]+)?(?:\\{[${WHITE}]*["}]|\\[[${WHITE}]*[\\[{"])`, "iu");
const FENCE = "```";
const HEAD = 80;
const WHITE_ALONE = new RegExp(`^[${WHITE}]$`);
const BLANKS = new RegExp(`[${WHITE}][${WHITE}>]*`, "g");
const INSIDE = /^[\p{L}\p{N}\p{M}]/u;
const ALNUM = /^[\p{L}\p{N}]+$/u;
const LETTER = /^\p{L}/u;
const LETTERS = /^\p{L}+$/u;
const NUMBER = /^[\p{Nd}.,]+$/u;
const APOSTROPHES = "'\u2019";
const IN_NUMBERS = ".,:/-\u2013";
const FORMAT = "textveil-mapping";
const VERSION = 1;

const sizeAt = (text: string, place: number): number => ((text.codePointAt(place) ?? 0) > 0xffff ? 2 : 1);
const charAt = (text: string, place: number): string => text.slice(place, place + sizeAt(text, place));

/**
 * Puts the original words back where an output stands for one original only. It undoes the protection: who has it and
 * the rewritten text has the text.
 */
export class Restorer {
  readonly #cutter: Cutter;
  readonly #pairs = new Map<string, Pair>();
  readonly #ambiguous = new Map<string, Pair>();
  #forms: Map<string, Form | undefined> | undefined;
  #begins = new Set<string>();

  /** @internal */
  constructor(pairs: Iterable<readonly [output: string, original: string]>, cutter: Cutter) {
    this.#cutter = cutter;
    for (const [output, original] of pairs) {
      const key = keyOf(output);
      if (this.#ambiguous.has(key)) continue;
      const first = this.#pairs.get(key);
      if (first === undefined) {
        this.#pairs.set(key, { output, original });
      } else if (first.original !== original && keyOf(first.original) !== keyOf(original)) {
        this.#pairs.delete(key);
        this.#ambiguous.set(key, { output: first.output, original: "" });
      } else if (isUpper(first.original) && !isUpper(original)) {
        this.#pairs.set(key, { output, original }); // a heading in capitals, then the name
      }
    }
  }

  /** How many words it has. */
  get size(): number {
    return this.#pairs.size;
  }

  /** How many outputs stand for several originals, and are not restored. */
  get ambiguous(): number {
    return this.#ambiguous.size;
  }

  /** Shows no word. */
  toString(): string {
    return `<Restorer of ${counted(this.size, "word")}>`;
  }

  /** The mapping as JSON, to be kept on this device: it is as private as the text. */
  toText(): string {
    const originals = Object.fromEntries([...this.#pairs.values()].map((pair) => [pair.output, pair.original]));
    return `${JSON.stringify({ format: FORMAT, format_version: VERSION, originals })}\n`;
  }

  /** @internal */
  static fromText(content: string, cutter: Cutter): Restorer {
    let found: unknown;
    try {
      found = JSON.parse(content);
    } catch {
      found = undefined;
    }
    const { format, format_version: version, originals } = (found ?? {}) as Record<string, unknown>;
    const entries = typeof originals === "object" && originals !== null ? Object.entries(originals) : undefined;
    const sound = entries?.every((entry): entry is [string, string] => typeof entry[1] === "string");
    if (format !== FORMAT || version !== VERSION || entries === undefined || !sound) {
      throw new InputError("the mapping is not one that textveil has written");
    }
    return new Restorer(entries, cutter);
  }

  /**
   * Returns a reply with the original words in place of the outputs it mentions: as they came out, in the plural, in
   * another case, with clitics, with digits in groups, as a date in another order, and over the ends of lines.
   */
  restore(reply: string): string {
    if (typeof reply !== "string") throw new InputError("the reply is not a string");
    let written = "";
    let [done, position] = [0, 0];
    for (;;) {
      START.lastIndex = position;
      const place = START.exec(reply)?.index;
      if (place === undefined) return written + reply.slice(done);
      position = place + sizeAt(reply, place);
      const found = this.#longest(reply, place);
      if (found === undefined) continue;
      written += reply.slice(done, place) + this.#put(reply, place, found.end, found.form);
      done = position = found.end;
    }
  }

  /** All forms; nothing for one that stands for several originals. Where two pairs share one, that counts which came so. */
  #index(): Map<string, Form | undefined> {
    if (this.#forms !== undefined) return this.#forms;
    const found = new Map<string, Form | undefined>();
    for (const pair of this.#pairs.values()) {
      for (const form of formsOf(pair)) {
        const other = found.get(form.text);
        if (!found.has(form.text) || (other !== undefined && other.way !== "" && form.way === "")) {
          found.set(form.text, form);
        } else if (other === undefined || other.way !== "" || form.way === "") {
          const same = other !== undefined && keyOf(other.pair.original) === keyOf(pair.original);
          found.set(form.text, same ? other : undefined);
        }
      }
    }
    for (const pair of this.#ambiguous.values()) {
      for (const form of formsOf(pair)) if (form.way === "") found.set(form.text, undefined);
    }
    for (const text of found.keys()) for (let end = 1; end <= text.length; end++) this.#begins.add(text.slice(0, end));
    this.#forms = found;
    return found;
  }

  /** The longest form that begins at a place and ends where a word does. */
  #longest(text: string, place: number): { form: Form | undefined; end: number } | undefined {
    const forms = this.#index();
    const found: { form: Form | undefined; end: number }[] = [];
    let [read, blanks, at] = ["", 0, place];
    while (at < text.length) {
      const character = charAt(text, at);
      const white = WHITE_ALONE.test(character);
      if (blanks > 0 && (white || character === ">")) {
        if (++blanks > MOST_BLANKS) break;
        at += character.length;
        continue;
      }
      blanks = white ? 1 : 0;
      read += white ? " " : folded(character);
      if (!this.#begins.has(read)) break;
      at += character.length;
      if (forms.has(read)) found.push({ form: forms.get(read), end: at });
    }
    return found.reverse().find(({ end }) => standsAlone(text, place, end));
  }

  #put(reply: string, place: number, end: number, form: Form | undefined): string {
    const written = reply.slice(place, end);
    if (form === undefined) return written;
    if (LETTERS.test(written) && isLower(written) && !isLower(form.pair.output)) return written; // the reply's own
    let original = originalOf(form, written.replace(BLANKS, " "), this.#cutter);
    if (/["\\]/.test(original) && isInJson(reply.slice(0, place))) {
      original = original.replace(/["\\\u0000-\u001f]/g, (character) => JSON.stringify(character).slice(1, -1));
    }
    const blanks = written.match(BLANKS) ?? [];
    const words = original.split(" ");
    if (words.length !== 1 + blanks.length) return original;
    return words.map((word, place) => word + (blanks[place] ?? "")).join("");
  }
}

/** Whether what goes on behind a text is JSON: the reply itself, or the block of code that is open. */
function isInJson(before: string): boolean {
  const fence = before.lastIndexOf(FENCE);
  const block = fence < 0 ? before : before.slice(fence + FENCE.length);
  return JSON_BEGINS.test(block.replace(/^`+/, "").slice(0, HEAD));
}

/** Whether a form is not a part of a longer word or number. */
function standsAlone(text: string, place: number, end: number): boolean {
  const first = charAt(text, place);
  const last = text.charAt(end - 1);
  const number = NUMBER.test(text.slice(place, end));
  const mixed = !number && [...text.slice(place, end)].some(isDigit); // such as a key, which code may have after __
  const before = [...text.slice(Math.max(0, place - 4), place)].slice(-2);
  const after = [...text.slice(end, end + 4)].slice(0, 2);
  const [near = "", far = ""] = [before.at(-1), before.length > 1 ? before[0] : ""];
  const [next = "", further = ""] = after;
  if (first !== "[" && near !== "" && !ESCAPE.test(text.slice(Math.max(0, place - 3), place))) {
    if (INSIDE.test(near) || (LETTER.test(first) && APOSTROPHES.includes(near) && ALNUM.test(far))) return false;
    if (number && IN_NUMBERS.includes(near) && isDigit(far)) return false;
    if (near === "_" && next !== "_" && !mixed) return false;
  }
  if (last !== "]" && next !== "") {
    if (INSIDE.test(next) || (next === "_" && near !== "_" && !mixed)) return false;
    if (number && IN_NUMBERS.includes(next) && isDigit(further)) return false;
  }
  return true;
}

/** @internal A text that has no tags of ours with a blank in all that looks like one, so that it is not restored. */
export function notATag(text: string): string {
  return text.replace(LIKE_A_TAG, "[ ");
}
