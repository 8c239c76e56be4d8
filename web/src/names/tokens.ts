/** Pass 1 of the rung `names`: tokens of chunks, each from its own string and the options alone (docs/names-rule.md). */

import { EMPHASIS, FUNCTION, type NamesLists, OPENER, RARE, START, STRICT } from "../bundle/names.js";
import { BLANK, type Characters, L, M, MARK, N, ND, Points } from "../characters.js";
import { characters as data, types } from "../data.js";
import { anyOf, has, type Rules } from "../rules.js";
import { GAP as IS_GAP } from "../segments.js";
import {
  capitalized,
  casePattern,
  foldApostrophes,
  isAscii,
  isDigit,
  isLong,
  isUpper,
  keyOf,
  LOWER,
  TITLE,
  UPPER,
} from "../words.js";
import { cutEmoji, emojiKind } from "./emoji.js";
import { codeHalf, NUMBER_KINDS, stringKind, withUnit } from "./strings.js";

export const GAP = 0;
export const SHOWN = 1;
export const LOOSE = 2;
export const ALONE = 3;
export const DIGITS = 4;
export const CAPITAL = 5;
export const INITIAL = 6;

export const AT_START = 1;
export const AT_SENTENCE = 2;
export const EMPHATIC = 4;
export const UNIT = 8;
export const FIRST = 16;
export const CLITIC = 32;
export const DOTTED = 64;
export const NO_TITLE = 128;
export const FORM = 256;
export const NAMED = 2048;
export const NUMBER = 4096;
export const INITIALS = 8192;
/** The fewest number words or letters in a row that are one. */
export const LEAST_SPELLED = 3;
/** Kinds of shown words that may be a part of the name before them: any, and one that leads to more. */
export const NOUN = "noun";
export const NAME = "name";

/** One token. `kind`, `layout` and `bits` are of some classes alone. */
export interface Token {
  readonly cls: number;
  readonly text: string;
  readonly key: string;
  readonly case: number;
  readonly kind: string;
  readonly layout: string;
  readonly bits: number;
}

const token = (cls: number, text: string, key: string, pattern = LOWER, kind = "", layout = "", bits = 0): Token => ({
  cls,
  text,
  key,
  case: pattern,
  kind,
  layout,
  bits,
});
/** Whether initials may lead to a word: it has a capital, and is no function word. */
export const mayBeLed = (word: Token): boolean =>
  word.cls === CAPITAL && (word.bits & (AT_START | NO_TITLE)) !== AT_START;

const gap = (text: string): Token[] => (text === "" ? [] : [token(GAP, text, text)]);

const { emoticon, entity, entity_name: entityName } = data.patterns;
const EMOTICONS = new RegExp(`^(?:${emoticon})$`);
const ENTITIES = new RegExp(`${entity}|${entityName}`, "g");
const BARE_ENTITY = /^[a-z]/;
const BY_NUMBER = /#[0-9]+;/;
const SIGNS = "$+<=>^`|~€£¥";
const SELECTOR = "\ufe0f";
const APOSTROPHES = "'’‘";
const PLAIN_MARKS = /[.,;:!?"')]+$/;
const JOINER = /^(?:[-\u2010-\u2015\u2026,;:!?/+*"“”«»()[\]{}\u2018\u2019'|]+|\.{2,}|\\)$/;
const INSIDE = new Set("-\u2010\u2011\u2012\u2013\u2014\u2015\u2026!+*\"“”«»()[]{}\u2018\u2019'");
const CODE_MARKS = /((?:<\/|\/>|[()[\]{}=<>;,|&*!"`])+)/;
const BRACKETS = /[()[\]{}=<>"`]/;
const WHOLE = /[@\uff20\\/]/;
const LONGEST_FORMATS = 40;
const FORMATS =
  /^(?:[!-/:-@[-`{-~]*?(?:%[-+#0]?(?:\.[0-9])?[A-Za-z](?![A-Za-z0-9])|\{(?::[<>^+-]?(?:\.[0-9])?[A-Za-z%]?)?\})){1,4}[!-/:-@[-`{-~]*$/;
const SHORT_NUMBER = /^[0-9]{1,4}$/;
const ASCII_LETTERS = /^[A-Za-z]+$/;
const SHORTEST_WITH_ENDING = 5;
/** The ending of a word that the skeleton shows; nothing where it has none. */
export function endingOf(key: string, { data: { endings } }: Rules): string {
  const ends = (ending: string): boolean => key.endsWith(ending);
  if (key.length < SHORTEST_WITH_ENDING || !isAscii(key) || endings.except.some(ends)) return "";
  return endings.kept.find(ends) ?? "";
}

/** What is before the clitic of a key, and the clitic, the first that fits. */
function splitClitic(key: string, rules: Rules): [string, string] | undefined {
  // As Python's pattern, which takes as little of the stem as it can: the longest clitic at the end.
  const fits = rules.clitics.filter((clitic) => key.endsWith(clitic) && key.length > clitic.length);
  const clitic = fits.sort((one, other) => other.length - one.length)[0];
  return clitic === undefined ? undefined : [key.slice(0, -clitic.length), clitic];
}

/** Reads chunks with the lists of a bundle, and the keys that a request allows and denies. */
export class Reader {
  readonly characters: Characters;
  readonly #rules: Rules;
  /** A clitic behind a blank, and the marks behind it. */
  readonly #loneClitic: RegExp;
  readonly #small = new Map<string, string>();
  readonly #capitalized = new Map<string, string>();
  readonly #known = new Map<string, readonly Token[]>();

  constructor(
    readonly lists: NamesLists,
    readonly allowed: ReadonlySet<string>,
    readonly denied: ReadonlySet<string>,
  ) {
    this.characters = lists.cutter.characters;
    this.#rules = lists.rules;
    const after = this.#rules.data.clitics.after.map((clitic) => clitic.slice(1));
    this.#loneClitic = new RegExp(`^(['\u2019\u2018]${anyOf(after)})([.,;:!?")]*)$`);
  }

  /** All tokens of a text. Each distinct chunk is read once in a call. */
  read(text: string, take: (found: Token) => void): void {
    const { characters } = this;
    let start = 0;
    while (start < text.length) {
      let end = start;
      const first = text.charCodeAt(start);
      const blank = characters.is(first, BLANK); // no blank is beyond 16 bits
      while (end < text.length && characters.is(text.charCodeAt(end), BLANK) === blank) end++;
      const part = text.slice(start, end);
      if (blank) {
        take(token(GAP, part, part));
      } else {
        let found = this.#known.get(part);
        if (found === undefined) {
          found = this.chunk(part);
          this.#known.set(part, found);
        }
        for (const one of found) take(one);
      }
      start = end;
    }
  }

  /** The tokens of a chunk. */
  chunk(chunk: string): Token[] {
    if (ASCII_LETTERS.test(chunk) || this.characters.all(chunk, L)) if (!isLong(chunk)) return this.word(chunk);
    if (EMOTICONS.test(chunk)) return gap(chunk);
    const lone = this.#loneClitic.exec(chunk);
    const [, text = "", tail = ""] = lone ?? [];
    if (lone !== null && !this.#isDenied(text.slice(1))) {
      return [token(SHOWN, text, keyOf(text)), ...gap(tail)];
    }
    const found: Token[] = [];
    let rest = chunk;
    if (chunk.includes("&") || chunk.includes(";")) {
      const parts = this.#entities(chunk);
      if (BY_NUMBER.test(parts.filter((_, place) => place % 2 === 0).join(""))) {
        return [token(ALONE, chunk, keyOf(chunk), LOWER, "key")];
      }
      rest = parts.pop() ?? "";
      parts.forEach((part, place) => {
        found.push(...(place % 2 ? gap(part) : this.#solid(part)));
      });
      const bare = rest.replace(PLAIN_MARKS, "");
      if (parts.length > 0 && has(this.#rules.cliticPieces, bare.toLowerCase())) {
        found.push(token(SHOWN, bare, bare.toLowerCase()));
        rest = rest.slice(bare.length);
      }
    }
    found.push(...this.#solid(rest));
    return found;
  }

  /** What is before the first entity, the entity, what is behind it, and so on. */
  #entities(chunk: string): string[] {
    const found: string[] = [];
    let rest = 0;
    ENTITIES.lastIndex = 0;
    for (let match = ENTITIES.exec(chunk); match !== null; match = ENTITIES.exec(chunk)) {
      if (BARE_ENTITY.test(match[0]) && this.#isWordBefore(chunk, match.index)) {
        ENTITIES.lastIndex = match.index + 1;
        continue;
      }
      found.push(chunk.slice(rest, match.index), match[0]);
      rest = ENTITIES.lastIndex;
    }
    return [...found, chunk.slice(rest)];
  }

  #isWordBefore(text: string, place: number): boolean {
    const before = [...text.slice(Math.max(0, place - 2), place)].pop();
    return before === "_" || (before !== undefined && this.characters.is(before.codePointAt(0) ?? 0, L | N));
  }

  /** The tokens of a part without entities: the lead, the core and the tail. */
  #solid(part: string): Token[] {
    if (part === "") return [];
    if (!isAscii(part)) {
      const pieces = cutEmoji(part);
      if (pieces.length > 1) {
        return pieces.flatMap((piece, place) => (place % 2 ? this.#emoji(piece) : this.#solid(piece)));
      }
    }
    if (part.length <= LONGEST_FORMATS && FORMATS.test(part)) return gap(part);
    const read = new Points(part);
    let start = 0;
    for (let length = this.#markAt(read, 0); length > 0; length = this.#markAt(read, start)) start += length;
    if (start === read.length) return gap(part);
    const lead = read.slice(0, start);
    let first = start;
    if (/[@＠\\]$/.test(lead) || (lead.endsWith("#") && !this.#isDigit(read.at(start)))) first -= 1;
    else if (lead.endsWith("/")) first -= lead.endsWith("~/") ? 2 : 1;
    let end = read.length;
    for (let length = this.#markBefore(read, first, end); length > 0 && end > first; ) {
      end -= length;
      length = end > first ? this.#markBefore(read, first, end) : 0;
    }
    return [...gap(read.slice(0, first)), ...this.#core(read.slice(first, end)), ...gap(read.slice(end, read.length))];
  }

  #emoji(sequence: string): Token[] {
    const [kind, layout] = emojiKind(sequence);
    return kind === "" ? gap(sequence) : [token(ALONE, sequence, sequence, LOWER, kind, layout)];
  }

  #isMark(point: number): boolean {
    return this.characters.is(point, MARK) || (point >= 0 && SIGNS.includes(String.fromCodePoint(point)));
  }

  #isSymbol(point: number): boolean {
    return point >= 0 && this.lists.symbols.has(String.fromCodePoint(point));
  }

  /** How long the mark at a place is; 0 where there is none. */
  #markAt(part: Points, place: number): number {
    const point = part.at(place);
    if (this.#isMark(point)) return 1;
    if (!this.#isSymbol(point)) return 0;
    return part.at(place + 1) === SELECTOR.charCodeAt(0) ? 2 : 1;
  }

  /** How long the mark is that ends at a place; 0 where there is none. */
  #markBefore(part: Points, start: number, end: number): number {
    const last = part.at(end - 1);
    if (this.#isMark(last) || this.#isSymbol(last)) return 1;
    const selected = last === SELECTOR.charCodeAt(0) && end - 2 >= start && this.#isSymbol(part.at(end - 2));
    return selected ? 2 : 0;
  }

  #isDigit(point: number): boolean {
    if (this.characters.is(point, ND)) return true;
    return point > 0x7f && !this.characters.is(point, L) && isDigit(String.fromCodePoint(point)); // such as ²
  }

  #hasDigit(text: string): boolean {
    return [...text].some((character) => this.#isDigit(character.codePointAt(0) ?? 0));
  }

  #isLetterAt(text: string, place: number): boolean {
    return place < text.length && this.characters.is(text.codePointAt(place) ?? -1, L);
  }

  /** Where letters end that begin at a place; the place itself where none do. */
  #lettersEnd(text: string, start: number, apostrophes: string): number {
    if (!this.#isLetterAt(text, start)) return start;
    let at = start;
    while (at < text.length) {
      const point = text.codePointAt(at) ?? 0;
      if (!this.characters.is(point, L | M) && !apostrophes.includes(text.charAt(at))) break;
      at += point > 0xffff ? 2 : 1;
    }
    return at;
  }

  #areLetters(text: string, apostrophes = APOSTROPHES): boolean {
    return text !== "" && this.#lettersEnd(text, 0, apostrophes) === text.length;
  }

  #core(core: string): Token[] {
    if (isLong(core)) return [token(ALONE, core, core, LOWER, "other")];
    if (this.#areLetters(core)) return this.word(core);
    const first = core.codePointAt(0) ?? 0;
    if (!this.characters.is(first, L) && !this.#isDigit(first)) return [this.#string(core)];
    const small = core.toLowerCase();
    if (
      isAscii(core) &&
      has(this.#rules.data.kept_whole, small) &&
      !small.split("-").some((part) => this.#isDenied(part))
    ) {
      return [token(SHOWN, core, small, casePattern(core))];
    }
    if (/^(?:\p{Lu}\.-?)+\p{Lu}$/u.test(core)) {
      return [token(CAPITAL, core, keyOf(core), UPPER, "", "", INITIALS)];
    }
    const plain = (mark: string): string[] | undefined => {
      const parts = core.split(mark);
      return parts.length > 1 && parts.every((part) => this.#areLetters(part, "")) ? parts : undefined;
    };
    if (plain("&") !== undefined) return [token(CAPITAL, core, keyOf(core), isUpper(core) ? UPPER : TITLE)];
    const words = plain(".");
    if (words !== undefined && !["url", "file"].includes(stringKind(core, this.characters, this.#rules)[0])) {
      const shown = words.map((word) => this.word(word));
      if (words.length >= LEAST_SPELLED && shown.every((tokens) => tokens.every((one) => one.bits & NUMBER))) {
        return shown.flatMap((tokens, place) => [...(place > 0 ? gap(".") : []), ...tokens]);
      }
      if (shown.every((tokens) => tokens.every((one) => one.cls === SHOWN || (one.bits & AT_START) !== 0))) {
        return shown.flatMap((tokens, place) => [
          ...(place > 0 ? gap(".") : []),
          ...tokens.map((one) => ({ ...one, cls: SHOWN, kind: "", bits: 0 })),
        ]);
      }
    }
    return this.#separatedAll(core) ?? this.#unseparated(core);
  }

  #unseparated(core: string): Token[] {
    const pieces = this.#cutCode(core);
    if (pieces !== undefined) return pieces.flatMap((piece) => this.#solid(piece));
    if (this.#hasDigit(core)) return this.#withDigits(core);
    return this.#joined(core) ?? [this.#string(core)];
  }

  /** A core cut at its marks of code; nothing if it has none, or is an address, a path or a file. */
  #cutCode(core: string): string[] | undefined {
    if (!BRACKETS.test(core)) return undefined;
    const pieces = core.split(CODE_MARKS);
    if (pieces.some((piece, place) => place % 2 === 0 && WHOLE.test(piece))) return undefined;
    const kind = stringKind(core, this.characters, this.#rules)[0];
    const last = pieces[pieces.length - 1] ?? "";
    const file = kind === "file" && (last.length < 2 || stringKind(last, this.characters, this.#rules)[0] !== "file");
    return file || kind === "url" || kind === "email" ? undefined : pieces;
  }

  /** The tokens of words and separators in turn; nothing if the core does not begin so. */
  #separatedAll(core: string): Token[] | undefined {
    let parts = this.#separated(core);
    if (parts === undefined) return undefined;
    const found: Token[] = [];
    let rest = core;
    for (; parts !== undefined; parts = this.#separated(rest)) {
      found.push(...this.#solid(parts[0]), ...gap(parts[1]));
      rest = parts[2];
    }
    found.push(...this.#solid(rest));
    return found;
  }

  #separated(core: string): [string, string, string] | undefined {
    let [end, lettered] = [0, false];
    while (end < core.length) {
      const point = core.codePointAt(end) ?? 0;
      const mark = core.charAt(end);
      if (mark === '"' && lettered) break;
      if (!this.characters.is(point, L | M) && !INSIDE.has(mark)) break;
      // Before the first letter there are marks alone.
      if (!lettered && this.characters.is(point, M)) return undefined;
      lettered ||= this.characters.is(point, L);
      end += point > 0xffff ? 2 : 1;
    }
    if (!lettered) return undefined;
    const separator = /^(?:"*[=,;|]+|"+:)/.exec(core.slice(end))?.[0];
    if (separator === undefined || end + separator.length === core.length) return undefined;
    return [core.slice(0, end), separator, core.slice(end + separator.length)];
  }

  /** Words, and the joiners between them; nothing if the core is anything else. */
  #joined(core: string): Token[] | undefined {
    if (core.replace(/[^/\\]/g, "").length > 1) return undefined;
    const found: Token[] = [];
    for (let place = 0; ; ) {
      const end = this.#lettersEnd(core, place, APOSTROPHES);
      if (end === place) return undefined;
      found.push(...this.word(core.slice(place, end)));
      if (end === core.length) return found;
      place = end;
      while (place < core.length && !this.#isLetterAt(core, place))
        place += (core.codePointAt(place) ?? 0) > 0xffff ? 2 : 1;
      const marks = core.slice(end, place);
      if (!JOINER.test(marks)) return undefined;
      found.push(...gap(marks));
    }
  }

  #withDigits(core: string): Token[] {
    const split = withUnit(core, this.#rules);
    if (split !== undefined && !this.#isDenied(split[1].toLowerCase())) {
      return [this.#number(split[0]), token(SHOWN, split[1], split[1].toLowerCase())];
    }
    const parts = core.split("-");
    const fits = parts.every((part) => SHORT_NUMBER.test(part) || this.#areLetters(part));
    if (parts.length > 1 && fits && parts.some((part) => !SHORT_NUMBER.test(part))) {
      const read = parts.map((part) => (SHORT_NUMBER.test(part) ? [this.#number(part)] : this.word(part)));
      const spelled = read.every((tokens) => tokens.every((one) => one.cls === DIGITS || one.bits & NUMBER));
      if (isCode(parts) && !spelled) return [this.#string(core)];
      return read.flatMap((tokens, place) => [...(place > 0 ? gap("-") : []), ...tokens]);
    }
    return [this.#string(core)];
  }

  #number(text: string): Token {
    const [kind, layout] = stringKind(text, this.characters, this.#rules);
    const digits = [...text].every((character) => this.#isDigit(character.codePointAt(0) ?? 0));
    const joins = digits || ["account", "digits", "phone", "card", "ssn"].includes(kind);
    return token(joins ? DIGITS : ALONE, text, text, LOWER, kind, layout);
  }

  #string(core: string): Token {
    const [kind, layout] = stringKind(core, this.characters, this.#rules);
    if (NUMBER_KINDS.has(kind)) return this.#number(core);
    return token(ALONE, core, keyOf(core), LOWER, kind, layout, kind === "id" ? codeHalf(core, this.#rules) : 0);
  }

  /** The tokens of a word of letters and apostrophes: one, or a stem and its clitic. */
  word(word: string): Token[] {
    const key = keyOf(word);
    if (key.includes("'") && !this.#isDenied(key) && !this.lists.common.has(key) && !this.allowed.has(key)) {
      const parts = splitClitic(key, this.#rules);
      if (parts !== undefined && parts[1] !== this.#rules.data.clitics.negation) {
        const letters = [...word];
        const end = letters.length - parts[1].length;
        const clitic = letters.slice(end).join("");
        // Of a clitic that is shown no letter is another one that looks like it.
        if (isAscii(letters.slice(end + 1).join(""))) {
          const pattern = letters.length > 2 && isUpper(word) ? UPPER : LOWER;
          return [this.#stem(letters.slice(0, end).join(""), parts[0]), token(SHOWN, clitic, parts[1], pattern)];
        }
      }
    }
    return [this.#stem(word, key)];
  }

  /** Whether a request denies a key, or what is before its clitic. */
  #isDenied(key: string): boolean {
    if (this.denied.size === 0 || this.denied.has(key) || !key.includes("'")) return this.denied.has(key);
    return this.#rules.clitics.some(
      (clitic) => key.length > clitic.length && key.endsWith(clitic) && this.denied.has(key.slice(0, -clitic.length)),
    );
  }

  #stem(stem: string, key: string): Token {
    const pattern = casePattern(stem);
    if (this.#isDenied(key)) return pattern === LOWER ? this.#unlisted(stem, key) : token(CAPITAL, stem, key, pattern);
    if (this.allowed.has(key) || this.lists.capitals.has(foldApostrophes(stem)))
      return token(SHOWN, stem, key, pattern);
    if (pattern === LOWER && stem === stem.toLowerCase()) return this.#lower(stem, key);
    return this.#capital(stem, key, pattern === LOWER ? TITLE : pattern);
  }

  #lower(stem: string, key: string): Token {
    const marks = foldApostrophes(stem) === key ? this.lists.common.get(key) : undefined;
    if (marks === undefined) {
      const kind = this.#firstKind(this.#small, key, [...types.any_case, ...types.lower_case]);
      const found = this.#unlisted(stem, key);
      const own = kind === "number-word" ? NUMBER : 0;
      return kind === "" ? found : { ...found, kind, layout: "", bits: (found.bits & NAMED) | own };
    }
    const number = this.#rules.numberWords.has(key) ? NUMBER : 0;
    if ((marks & (STRICT | FUNCTION)) === 0) {
      const found = this.#unlisted(stem, key);
      return { ...found, cls: LOOSE, bits: found.bits | number };
    }
    const bits = this.lists.kind("unit-word").has(key) ? UNIT : this.lists.kind("first-word").has(key) ? FIRST : 0;
    return token(SHOWN, stem, key, LOWER, this.#noun(key, marks), "", bits | number);
  }

  #isNamed(key: string): boolean {
    return this.lists.kind("given").has(key) || this.lists.kind("family").has(key);
  }

  /** A word in lower case that is replaced. */
  #unlisted(word: string, key: string): Token {
    if ([...word].length === 1) {
      return token(ALONE, word, key, LOWER, "letter", "", has(this.#rules.cliticPieces, key) ? CLITIC : 0);
    }
    return token(ALONE, word, key, LOWER, "word", endingOf(key, this.#rules), this.#isNamed(key) ? NAMED : 0);
  }

  /** The kind of a shown word: what it may be behind a name in lower case. Most verbs are none. */
  #noun(key: string, marks: number): string {
    const { sentences } = this.#rules.data;
    if (
      marks & (FUNCTION | OPENER) ||
      endingOf(key, this.#rules) !== "" ||
      key.endsWith("s") ||
      has(sentences.requests, key) ||
      has(sentences.verbs, key)
    )
      return "";
    return this.#isNamed(key) ? NAME : NOUN;
  }

  #capital(stem: string, key: string, pattern: number): Token {
    const rules = this.#rules;
    const marks = this.lists.common.get(key) ?? 0;
    if ([...stem].length === 1) return token(INITIAL, stem, key, TITLE, "", "", marks & FUNCTION ? AT_START : 0);
    let bits = 0;
    const spelled = foldApostrophes(stem);
    const plain = marks !== 0 && (spelled === key.toUpperCase() || spelled === capitalized(key));
    if (plain && !has(rules.data.names.function_words, key)) {
      const request = (marks & START) !== 0 && has(rules.data.sentences.requests, key);
      if (request || marks & (FUNCTION | OPENER)) bits |= AT_START;
      if ((request || marks & OPENER) && !(marks & FUNCTION)) bits |= NO_TITLE;
      const rare = (marks & RARE) !== 0 && pattern !== UPPER;
      if (marks & (START | FUNCTION | OPENER) && !rare) bits |= AT_SENTENCE;
      if (marks & EMPHASIS) bits |= EMPHATIC;
    }
    const kind = this.#firstKind(this.#capitalized, key, [...types.any_case, ...types.capitalized]);
    const number = kind === "number-word" || (kind === "" && plain && rules.numberWords.has(key)) ? NUMBER : 0;
    const layout = kind === "title" ? (rules.titleLayouts.get(key) ?? "") : "";
    if (kind !== "") return token(ALONE, stem, key, pattern, kind, layout, (bits & AT_SENTENCE) | number);
    bits |= number;
    if (has(rules.data.names.first_short_forms, key)) bits |= DOTTED;
    else if (has(rules.data.names.legal_forms, key) && !has(rules.data.names.no_legal_forms, stem)) bits |= FORM;
    return token(CAPITAL, stem, key, pattern, "", "", bits);
  }

  /** The first of some kinds that lists a key; nothing if none does. */
  #firstKind(known: Map<string, string>, key: string, kinds: readonly string[]): string {
    let found = known.get(key);
    if (found === undefined) {
      found = kinds.find((kind) => this.lists.kind(kind).has(key)) ?? "";
      known.set(key, found);
    }
    return found;
  }
}

/** Whether hyphens join letters and digits to a code: with a part in capitals, or digits between letters. */
function isCode(parts: readonly string[]): boolean {
  const kinds = parts.map((part) => (SHORT_NUMBER.test(part) ? "0" : isUpper(part) ? "A" : "a")).join("");
  return kinds.includes("A") || kinds.includes("a0a");
}

/** The keys of all words and strings of entries that a user allows or denies. */
export function keysOf(entries: readonly string[], lists: NamesLists): Set<string> {
  const found = new Set<string>();
  for (const entry of entries) {
    for (const [kind, segment] of lists.cutter.segments(entry.replace(/^\ufeff/, ""))) {
      if (kind !== IS_GAP) found.add(keyOf(segment));
    }
  }
  return found;
}
