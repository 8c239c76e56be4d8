/** Checks a chunk of running text, between two blanks: whether it can be nothing but words, numbers and their marks. */

import { size } from "./characters.js";
import { WORD_CHARACTERS } from "./generated.js";
import { bareName, HARMLESS } from "./regions.js";

/** Marks that may stand anywhere in a chunk, and signs of numbers. */
const MARKS = ",;!?()\"'*_-|$€£¥%#&+“”‘’„‚«»‹›¿¡–—…·،؛؟";
/** Most chunks: nothing but ASCII that may stand anywhere. */
const PLAIN = /^[A-Za-z0-9,;!?()"'*_|$%#+-]*$/;
/** Marks that end a sentence or a number, and behind which only marks follow. */
const DOTS = ".:。";
/** Marks behind a dot. */
const CLOSING = ",;!?)\"'*_-|“”‘’«»‹›–—…·،؛؟";
/** Spaces other than those that end a chunk: the category Zs. */
const SPACE = /^[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]$/;
/** A longer chunk is no word of a sentence. */
const MOST_CHARACTERS = 1024;
const LONGEST_TAG = 8;

const LETTER = /\p{L}/u;
const ADDRESS = /[/@:\\]|[\p{L}\p{N}_]\.[\p{L}\p{N}_]/u;

/** Whether readers may find an address in an original, which goes on with what stands behind it. */
export const isAddressLike = (original: string): boolean => ADDRESS.test(original) && LETTER.test(original);

/** First code point of each range of word characters, and the one behind its last, in turn. */
const BOUNDARIES: number[] = [];
for (const step of WORD_CHARACTERS.split(" ")) BOUNDARIES.push((BOUNDARIES.at(-1) ?? 0) + Number.parseInt(step, 36));

/** Whether a character is a letter, a combining mark or a decimal digit of Unicode 14, whatever the platform's is. */
export function isWordCharacter(character: string): boolean {
  const point = character.codePointAt(0) ?? 0;
  let [low, high] = [0, BOUNDARIES.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((BOUNDARIES[middle] ?? 0) <= point) low = middle + 1;
    else high = middle;
  }
  return low % 2 === 1;
}

/** A chunk of a reply that is read part by part. */
export class Chunk {
  /** Code points so far. */
  length = 0;
  /** Whether no surrogate of it may be restored as running text. */
  spoiled = false;
  /** The chunk as it is written, if somebody remembers it. */
  text = "";
  #ampersand = false;
  #dotted = false;
  #tag: string | undefined;

  /** Whether it has more than 1,024 code points. */
  get tooLong(): boolean {
    return this.length > MOST_CHARACTERS;
  }

  /** Keeps a part as it is written. */
  remember(text: string): void {
    if (!this.tooLong) this.text += text;
  }

  /** Reads a part without surrogates. */
  add(text: string): void {
    this.length += size(text);
    if (this.tooLong) this.spoiled = true;
    const busy = this.#dotted || this.#ampersand || this.#tag !== undefined;
    if (this.spoiled || (!busy && PLAIN.test(text))) return;
    for (const character of text) this.#addCharacter(character);
  }

  /** Reads a surrogate of so many code points, which counts as a letter. */
  addSurrogate(length: number): void {
    this.length += length;
    if (this.#dotted || this.#tag !== undefined || this.tooLong) this.spoiled = true;
  }

  /** Ends the chunk: an open tag of markup spoils it. */
  end(): void {
    this.spoiled ||= this.#tag !== undefined;
  }

  #addCharacter(character: string): void {
    if (this.#tag !== undefined) {
      if (character === ">") {
        this.spoiled ||= !HARMLESS.has(bareName(this.#tag));
        this.#tag = undefined;
      } else {
        this.#tag += character;
        this.spoiled ||= this.#tag.length > LONGEST_TAG;
      }
    } else if (this.#ampersand && (character === "#" || character === ";")) {
      this.spoiled = true; // an entity, which may stand for any character
    } else if (character === "<") {
      this.#tag = "";
    } else if (DOTS.includes(character)) {
      this.#dotted = true;
    } else if (this.#dotted) {
      this.spoiled ||= !(CLOSING.includes(character) || SPACE.test(character));
    } else if (character === "&") {
      this.#ampersand = true;
    } else if (!MARKS.includes(character)) {
      this.spoiled ||= !(isWordCharacter(character) || SPACE.test(character));
    }
  }
}
