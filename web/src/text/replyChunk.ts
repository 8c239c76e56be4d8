/** Check whether a chunk of a reply (the characters between two blanks) consists only of words, numbers and marks. */

import { characters } from "../data.js";
import { isBareTag, MAX_TAG_LENGTH } from "./harmlessTags.js";
import { countCodePoints } from "./segmentation/characterClasses.js";
import { decodeTable, isInTable } from "./segmentation/codePointTables.js";

/** Marks that are harmless anywhere in a chunk, and signs of numbers. */
const HARMLESS_MARKS = ",;!?()\"'*_-|~$€£¥%#&+“”‘’„‚«»‹›¿¡‐\u2011–—…·،؛؟，、！？；：（）「」『』《》〈〉【】〔〕";
/** Most chunks: only harmless ASCII. */
const PLAIN = /^[A-Za-z0-9,;!?()"'*_|~$%#+-]*$/;
/** Marks that end a sentence or a number; only marks may follow them. */
const END_MARKS = ".:。";
/** Marks that may follow an end mark. */
const CLOSING = ",;!?)\"'*_-|~“”‘’«»‹›–—…·،؛؟，、！？；：）」』》〉】〕";
/** Marks that a backslash may escape. */
const ESCAPED = "*_-!#+~|()";
/** Characters that join a symbol to the next, or choose how it looks. */
const JOINERS = "\ufe0f\u200d";
const REFERENCE = /^\^?[A-Za-z0-9]{1,8}$/;
/** Spaces other than those that end a chunk: the category Zs. */
const SPACE = /^[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000]$/;
/** Maximum length of a chunk of a sentence. */
const MAX_CHUNK_CHARACTERS = 1024;

const LETTER = /\p{L}/u;
const ADDRESS = /[/@:\\]|[\p{L}\p{N}_]\.[\p{L}\p{N}_]/u;

/** Return whether a program may find an address in `original`, or in `original` with the text after it. */
export const isAddressLike = (original: string): boolean => ADDRESS.test(original) && LETTER.test(original);

const WORD_BOUNDARIES = decodeTable(characters.tables.word_characters);
const SYMBOL_BOUNDARIES = decodeTable(characters.tables.symbols);

/** Return whether a character is a letter, a combining mark or a decimal digit of Unicode 14, on every platform. */
export const isWordCharacter = (character: string): boolean => isInTable(WORD_BOUNDARIES, character);

/** Return whether a character is a symbol that, like a letter, may be next to words. */
const isSymbol = (character: string): boolean => character > "\x7f" && isInTable(SYMBOL_BOUNDARIES, character);

/** State of the check of one chunk of a reply, which arrives in parts. */
export class ReplyChunk {
  /** Number of code points so far. */
  length = 0;
  /** Whether the chunk follows a tab, which some programs remove from an address. */
  followsTab = false;
  /** Whether no surrogate of this chunk may be restored as running text. */
  spoiled = false;
  /** The chunk as written, if it is stored. */
  text = "";
  #ampersand = false;
  #dotted = false;
  #symbol = false;
  #last = "";
  /** Number of stars and underscores after the only colon of the chunk; -1 where none can end a label. */
  #label = 0;
  /** Open angle bracket or bracket, and the text after it. */
  #opener = "";
  #open = "";

  /** Whether the chunk has more than 1,024 code points. */
  get isTooLong(): boolean {
    return this.length > MAX_CHUNK_CHARACTERS;
  }

  /** Store a part of the chunk as written. */
  storeText(text: string): void {
    if (!this.isTooLong) this.text += text;
  }

  /** Add a part of the chunk that contains no surrogate. */
  addText(text: string): void {
    this.length += countCodePoints(text);
    if (this.isTooLong) this.spoiled = true;
    const hasOpenMark = this.#dotted || this.#ampersand || this.#opener !== "" || this.#symbol;
    const followsSlash = this.#last === "/" || this.#last === "\\";
    if (this.spoiled || (!hasOpenMark && !followsSlash && PLAIN.test(text))) {
      this.#last = text.slice(-1) || this.#last;
      return;
    }
    for (const character of text) {
      this.#addCharacter(character);
      this.#last = character;
    }
  }

  /** Read a surrogate of `length` code points, which counts as one letter. */
  addSurrogate(length: number): void {
    this.length += length;
    this.#endLabel();
    if (this.#dotted || this.#opener !== "" || this.#last === "\\" || this.isTooLong) this.spoiled = true;
    this.#symbol = false;
    this.#last = "a";
  }

  /** End the chunk, and update `spoiled`. */
  end(): void {
    const openTag = this.#opener === "<" && !isBareTag(this.#open);
    this.spoiled ||= this.#last === "/" || this.#opener === "[" || openTag;
  }

  /** Accept a colon as the end of a bold label, as in `**Name:**`, so that text may follow it. */
  #endLabel(): void {
    if (!this.#dotted || this.#label < 2) return;
    this.#dotted = false;
    this.#label = -1;
  }

  #addCharacter(character: string): void {
    const symbol = this.#symbol;
    const last = this.#last;
    this.#symbol = false;
    if (this.#opener !== "") {
      this.#addInside(character);
    } else if ((last === "\\" && !ESCAPED.includes(character)) || (last === "/" && !isWordCharacter(character))) {
      this.spoiled = true;
    } else if (this.#ampersand && (character === "#" || character === ";")) {
      this.spoiled = true; // an entity, which may stand for any character
    } else if (character === "<" || character === "[") {
      this.#opener = character;
      this.#open = "";
    } else if (END_MARKS.includes(character)) {
      this.#label = character === ":" && !this.#dotted && this.#label === 0 ? 0 : -1;
      this.#dotted = true;
    } else if (character === "*" || character === "_") {
      if (this.#dotted && this.#label >= 0) this.#label++;
    } else if (isSymbol(character) || (symbol && JOINERS.includes(character))) {
      this.#symbol = true;
    } else if (this.#dotted) {
      if (isWordCharacter(character)) this.#endLabel();
      this.spoiled ||= this.#dotted && !(CLOSING.includes(character) || SPACE.test(character));
    } else if (character === "&") {
      this.#ampersand = true;
    } else if (character === "/" && last === "") {
      this.#opener = character;
    } else if (character === "/") {
      this.spoiled ||= this.#label < 0 || this.followsTab || !isWordCharacter(last);
    } else if (!HARMLESS_MARKS.includes(character) && character !== "\\") {
      this.spoiled ||= !(isWordCharacter(character) || SPACE.test(character));
    }
  }

  /** Add a character after an opening `<`, `[` or `/` that is not yet closed. */
  #addInside(character: string): void {
    const opener = this.#opener;
    if (opener === "/") {
      this.spoiled ||= character !== ">";
      this.#opener = "";
    } else if (character !== (opener === "<" ? ">" : "]")) {
      this.#open += character;
      this.spoiled ||= this.#open.length > MAX_TAG_LENGTH;
    } else {
      this.spoiled ||= !(opener === "<" ? isBareTag(this.#open) : REFERENCE.test(this.#open));
      this.#opener = "";
    }
  }
}
