/** Search for numbers in a reply that are neither surrogates nor numbers of the sanitized text. */

import { findLastIndex, WHITE } from "./segmentation/words.js";

/** A tag; a list mark at the start of a line; or a number, a date or a time in digits. */
const NUMBER = new RegExp(
  `\\[[a-z-]{1,40} [0-9]{1,9}\\]|\\n[ \\t]*\\p{Nd}{1,3}[.)](?=[${WHITE}]|$)|(?<![\\p{L}\\p{N}_.])(\\p{Nd}+(?:[.,:/-]\\p{Nd}+)*)(?![\\p{L}\\p{N}_])`,
  "gu",
);
const TAG = /\[[a-z-]{1,40} [0-9]{1,9}\]/g;
/** Start of a tag, up to its blank, at the end of a text. */
const OPEN_TAG = /\[[a-z-]{1,40} $/;
const PART = /\p{Nd}+(?:[.,]\p{Nd}+)*/gu;
/** Unfinished end of a text: the start of its last line, and its last characters without a blank. */
const OPEN = new RegExp(`(?:\\n[ \\t]*)?[^${WHITE}]*$`, "u");
/** Longer texts without a blank are shortened to this length. They contain no number. */
const MAX_RUN_CHARACTERS = 256;
const LONG_RUN = new RegExp(`(?<![^${WHITE}])[^${WHITE}]{${MAX_RUN_CHARACTERS + 1},}`, "gu");
const LONG_INDENT = new RegExp(`\\n[ \\t]{${MAX_RUN_CHARACTERS + 1},}`, "g");

/** Return the numbers of a text as strings, without commas between their digits and without the numbers of tags. */
export function findNumbers(text: string): Set<string> {
  return new Set([...text.replace(TAG, " ").matchAll(PART)].map(([part]) => part.replaceAll(",", "")));
}

/** Collects the numbers of a reply that arrives in parts, without the surrogates among them. */
export class NumberFinder {
  readonly #sanitized: string;
  readonly #numbers = new Set<string>();
  #open = "\n";

  constructor(sanitized: string) {
    this.#sanitized = sanitized;
  }

  /** Add the next part of the reply, which contains no surrogate. */
  feed(added: string): void {
    const text = (this.#open + added)
      .replace(LONG_RUN, "x".repeat(MAX_RUN_CHARACTERS + 1))
      .replace(LONG_INDENT, `\n${" ".repeat(MAX_RUN_CHARACTERS + 1)}`);
    const start = Math.max(0, findLastIndex(text, 3 * MAX_RUN_CHARACTERS));
    const openStart = start + (OPEN.exec(text.slice(start))?.index ?? text.length - start);
    const scanEnd = OPEN_TAG.exec(text.slice(0, openStart))?.index ?? openStart;
    this.#scan(text.slice(0, scanEnd));
    this.#open = text.slice(scanEnd);
  }

  /** End a number that is not complete, before a surrogate or at the end of the reply. */
  endText(): void {
    this.#scan(this.#open);
    this.#open = "";
  }

  #scan(text: string): void {
    for (const [, number] of text.matchAll(NUMBER)) if (number !== undefined) this.#numbers.add(number);
  }

  /** Return the collected numbers that are not in the sanitized text, each once, in order. */
  findUnknown(): string[] {
    if (this.#numbers.size === 0) return [];
    const knownNumbers = findNumbers(this.#sanitized);
    return [...this.#numbers].filter((number) => [...findNumbers(number)].some((part) => !knownNumbers.has(part)));
  }
}
