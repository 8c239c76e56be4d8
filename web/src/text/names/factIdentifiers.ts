/** Rules of the option `facts` that cut identifiers: public words are kept, others are replaced. */

import type { Rules } from "../../bundle/rules.js";
import { iterateIdentifierWords, splitIdentifier } from "../identifiers.js";
import { findCasePattern, isUpper } from "../segmentation/words.js";
import { IDENTIFIER_PIECE } from "./entitySpans.js";
import type { EntityMention } from "./entityTypes.js";
import { beginsWithDigit, type FactStrings, PIECES } from "./factStrings.js";
import { findEnding } from "./lexicon.js";

/** Marks of source code; and marks that show that a string with a hidden word is an address or a secret. */
const CODE_MARKS = /[_.$:\\#]|\/.*\/|[a-z][A-Z]/;
const UNCUT_MARKS = /[@%&?]|:\/\//;
const ADDRESS_BEGINNINGS = new Set("http https www ftp mailto".split(" "));

/** Rules for strings such as `customer_id`. */
export class IdentifierRules {
  readonly #prefixes: ReadonlySet<string>;
  readonly #domains: ReadonlySet<string>;

  constructor(readonly strings: FactStrings) {
    const { domains } = strings.lists.rules.data;
    this.#prefixes = strings.words.namePrefixes;
    this.#domains = new Set([...domains.all, ...domains.names]);
  }

  /**
   * Split a string of source code that has some words that are not public. Each of these words becomes a mention.
   * Whether the string is split depends only on the string with `xxxx` in place of these words, so no hidden word
   * affects it. Return `undefined` if the string is not split.
   */
  cut(text: string): (string | EntityMention)[] | undefined {
    if (!PIECES.test(text) || UNCUT_MARKS.test(text)) return undefined;
    const hidden = iterateIdentifierWords(text).filter(([start, end]) => {
      const word = text.slice(start, end).toLowerCase();
      const isPublic = this.strings.isPiece(word) || this.#prefixes.has(word) || this.#domains.has(word);
      return !beginsWithDigit(word) && !isPublic;
    });
    if (hidden.some(([start, end]) => end - start < 2)) return undefined;
    let masked = text;
    for (const [start, end] of [...hidden].reverse())
      masked = masked.slice(0, start) + maskWord(text.slice(start, end)) + masked.slice(end);
    if (!this.#isCode(masked)) return undefined;
    const elements: (string | EntityMention)[] = [];
    let position = 0;
    for (const [start, end] of hidden) {
      elements.push(text.slice(position, start), makePiece(text.slice(start, end), this.strings.lists.rules));
      position = end;
    }
    return [...elements, text.slice(position)];
  }

  /** Return whether a string is source code, and not an address. */
  #isCode(masked: string): boolean {
    const words = splitIdentifier(masked);
    if (!this.strings.hasPlainDigits(words)) return false;
    const letters = words.filter((word) => !beginsWithDigit(word)).map((word) => word.toLowerCase());
    if (!letters.some((word) => word !== "xxxx" && word.length > 1)) return false;
    if (letters.some((word) => this.#prefixes.has(word)) || !CODE_MARKS.test(masked)) return false;
    return !this.#domains.has(letters.at(-1) ?? "") && !ADDRESS_BEGINNINGS.has(letters[0] ?? "");
  }
}

const maskWord = (word: string): string => (isUpper(word) ? "XXXX" : isUpper(word.charAt(0)) ? "Xxxx" : "xxxx");

/** Create the mention of a hidden word of an identifier. */
function makePiece(word: string, rules: Rules): EntityMention {
  const [folded, pattern] = [word.toLowerCase(), findCasePattern(word)];
  const layout = findEnding(folded, rules);
  return {
    entityType: "word",
    case: pattern,
    parts: [{ entityType: "word", layout, folded, text: word }],
    span: {
      entityType: IDENTIFIER_PIECE,
      case: pattern,
      layout,
      tokens: [],
      text: word,
      precedingWord: "",
      titleCaseWords: 0,
      endsInInitial: false,
    },
    nameText: word,
  };
}
