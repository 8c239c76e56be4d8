/**
 * Rules of the option `facts` for source code. They cut identifiers: public words are kept, others are replaced. They
 * also find the marks of source code next to a mention.
 */

import type { Rules } from "../../bundle/rules.js";
import { isAccountName, iterateIdentifierWords, splitIdentifier } from "../identifiers.js";
import { findCasePattern, isUpper, LOWER } from "../segmentation/words.js";
import { IDENTIFIER_PIECE } from "./entitySpans.js";
import type { EntityMention } from "./entityTypes.js";
import type { LinePlaces } from "./factPlaces.js";
import { beginsWithDigit, type FactStrings, HOME_FOLDER, PIECES } from "./factStrings.js";
import { findEnding } from "./lexicon.js";

/** Marks of source code; and marks that show that a string with a hidden word is an address or a secret. */
const CODE_MARKS = /[_.$:\\#]|\/.*\/|[a-z][A-Z]/;
const UNCUT_MARKS = /[@%&?]|:\/\//;
/** An address of the web: scheme and host; and a path without a query. */
const ADDRESS = /^((?:https?:\/\/)?[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+(?::[0-9]{1,5})?)((?:\/[A-Za-z0-9._-]+)*)$/;
const SCHEME = /^https?:\/\//;
/** Words of a path before the name of a person. */
const PROFILE_WORDS = new Set([
  ..."account accounts author authors by in member members people person".split(" "),
  ..."profile profiles staff team user users".split(" "),
]);
/** Words of hosts beside the name of a company: `www.reuters.com`. */
const HOST_WORDS = new Set(
  "api app blog cloud com de dev developer docs en help io net org raw support wiki www".split(" "),
);
/** Smallest number of letters of a public word in a path. */
const MIN_PATH_WORD = 3;
/** Marks of source code behind and before a name, and words before one. */
const CODE_AFTER = /^(?: ?(?:[-+*/|&<>=!]?=|::|;|\(|\[|\)(?:[;:,.) \n]|$)|<)|\.$|[,}\]](?=\n)| [{}])/;
const CODE_BEFORE = /(?:(?:[.=(<[{]|::|[=<>] |->|[ (]-)|^-)$/;
const CALL = /^(?:[([][(["'&*-]{0,3}|\.)$/;
const ASSIGNMENT = /^ ?[:?]?=(?!=)/;
const CODE_WORDS: ReadonlySet<string> = new Set([
  ..."async await class const def double extends float function implements import int interface let".split(" "),
  ..."new private public raise return self static string struct this throw var void".split(" "),
]);
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
    const home = HOME_FOLDER.exec(text);
    const userEnd = home === null ? 0 : home.index + home[0].length;
    const userStart = userEnd - (home?.[1] ?? "").length;
    const hidden = iterateIdentifierWords(text).filter(([start, end]) => {
      const word = text.slice(start, end).toLowerCase();
      const isDomain = this.#domains.has(word) && !this.strings.denied.has(word);
      if (start >= userStart && start < userEnd) return !beginsWithDigit(word);
      return !beginsWithDigit(word) && !(this.strings.isPiece(word) || this.#prefixes.has(word) || isDomain);
    });
    // A tag after a backslash would begin a formula.
    if (hidden.some(([start, end]) => end - start < 2 || text[start - 1] === "\\")) return undefined;
    let masked = text;
    for (const [start, end] of [...hidden].reverse())
      masked = masked.slice(0, start) + maskWord(text.slice(start, end)) + masked.slice(end);
    if (!this.#isCode(masked)) return undefined;
    return this.#hideWords(text, hidden);
  }

  #hideWords(text: string, hidden: readonly (readonly [number, number])[]): (string | EntityMention)[] {
    const elements: (string | EntityMention)[] = [];
    let position = 0;
    for (const [start, end] of hidden) {
      elements.push(text.slice(position, start), makePiece(text.slice(start, end), this.strings.lists.rules));
      position = end;
    }
    return [...elements, text.slice(position)];
  }

  /**
   * Split an address of the web into a hidden host, and the public and hidden words of its path. The decision to split
   * depends only on the path with `xxxx` in place of each hidden word. A public host, as in `docs.github.com`, is kept.
   */
  cutAddress(text: string): (string | EntityMention)[] | undefined {
    const match = ADDRESS.exec(text);
    if (match === null || !this.strings.isUseful) return undefined;
    const [, host = "", path = ""] = match;
    const isPublic = this.#isPublicHost(host);
    if (path === "") return isPublic ? [text] : undefined;
    const spans = iterateIdentifierWords(path);
    const words = spans.map(([start, end]) => path.slice(start, end).toLowerCase());
    const isBlocked = words.some((word) => this.#prefixes.has(word) || PROFILE_WORDS.has(word));
    if (isBlocked || !this.strings.hasPlainDigits(words)) return undefined;
    const kept = this.#findPathWords(path);
    const keptWords = words.filter((_, index) => kept.has(spans[index]?.[0] ?? -1));
    if (!keptWords.some((word) => word.length >= MIN_PATH_WORD) || this.strings.hasSpelledNumber(keptWords))
      return undefined;
    const hidden = spans.filter(([start]) => !kept.has(start) && !beginsWithDigit(path.slice(start)));
    if (hidden.some(([start, end]) => end - start < 2)) return undefined;
    return [...(isPublic ? [host] : ["", makeHost(host)]), ...this.#hideWords(path, hidden)];
  }

  /**
   * Return the beginnings of the words of a path that are kept. A public word that a census also lists as a name is kept
   * only beside another public word of the same segment.
   */
  #findPathWords(path: string): ReadonlySet<number> {
    const kept = new Set<number>();
    for (const { 0: segment, index } of path.matchAll(/[^/]+/g)) {
      const getWord = ([start, end]: readonly number[]): string => segment.slice(start, end).toLowerCase();
      const found = iterateIdentifierWords(segment).filter((span) => this.strings.isPiece(getWord(span)));
      const plain = found.filter((span) => this.strings.isPathWord(getWord(span)));
      const isNamed = plain.every(([start, end]) => end - start < MIN_PATH_WORD);
      for (const [start] of isNamed ? plain : found) kept.add(index + start);
    }
    return kept;
  }

  /**
   * Return whether a host consists of the name of a public company or product and of parts such as `www`. No word of it
   * may be denied.
   */
  #isPublicHost(host: string): boolean {
    if (splitIdentifier(host).some((word) => this.strings.denied.has(word.toLowerCase()))) return false;
    const labels = host.toLowerCase().replace(SCHEME, "").split(".");
    const names = labels.filter((label) => !HOST_WORDS.has(label));
    return names.length === 1 && names[0] === labels.at(-2) && this.strings.isPublicName(names[0] ?? "");
  }

  /** Return whether a string is source code, and not an address. */
  #isCode(masked: string): boolean {
    const words = splitIdentifier(masked);
    if (!this.strings.hasPlainDigits(words) || this.strings.hasSpelledNumber(words) || isAccountName(masked))
      return false;
    const letters = words.filter((word) => !beginsWithDigit(word)).map((word) => word.toLowerCase());
    if (!letters.some((word) => word !== "xxxx" && word.length > 1)) return false;
    if (letters.some((word) => this.#prefixes.has(word)) || !CODE_MARKS.test(masked)) return false;
    return !this.#domains.has(letters.at(-1) ?? "") && !ADDRESS_BEGINNINGS.has(letters[0] ?? "");
  }
}

/** Return whether marks of source code, or a word such as *class*, are next to a mention. */
export function isCodePlace(place: LinePlaces, index: number): boolean {
  const before = place.getGap(index);
  if (CODE_AFTER.test(place.getGap(index + 1)) || CODE_BEFORE.test(before)) return true;
  return before === " " && CODE_WORDS.has(place.getWord(index - 1));
}

/** Return whether a word is used as a name in source code. */
export function isCodeWord(place: LinePlaces, index: number): boolean {
  if (index + 1 >= place.mentions.length) return false;
  const after = place.getGap(index + 1);
  return CALL.test(after) || (after === " " && ASSIGNMENT.test(place.getGap(index + 2)));
}

const maskWord = (word: string): string => (isUpper(word) ? "XXXX" : isUpper(word.charAt(0)) ? "Xxxx" : "xxxx");

/** Create the mention of a hidden word of an identifier. */
const makePiece = (word: string, rules: Rules): EntityMention =>
  makeMention(word, "word", findCasePattern(word), findEnding(word.toLowerCase(), rules));

/** Create the mention of a hidden host of an address. */
const makeHost = (host: string): EntityMention => makeMention(host, "url", LOWER, "");

function makeMention(word: string, entityType: string, pattern: number, layout: string): EntityMention {
  return {
    entityType,
    case: pattern,
    parts: [{ entityType, layout, folded: word.toLowerCase(), text: word }],
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
