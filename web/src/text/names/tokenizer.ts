/**
 * Pass 1 of the mode `names`: tokens of chunks, each from its own string and the options alone (docs/names-rule.md).
 */

import type { NamesLists } from "../../bundle/namesFiles.js";
import { includesWord, makeAlternatives, type Rules } from "../../bundle/rules.js";
import { characters as data } from "../../data.js";
import { BLANK, type CharacterClasses, CodePoints, L, M, MARK, N, ND } from "../segmentation/characterClasses.js";
import {
  findCasePattern,
  foldWord,
  isAscii,
  isDigit,
  isLong,
  isUpper,
  LOWER,
  TITLE,
  UPPER,
} from "../segmentation/words.js";
import { classifySequence, splitAtEmoji } from "./emoji.js";
import type { Lexicon } from "./lexicon.js";
import { classifyString, findGroupFlags, NUMBER_TYPES, splitUnit } from "./stringTypes.js";
import {
  CAPITALIZED,
  DIGITS,
  GAP,
  INITIALS,
  KEPT,
  KEPT_AT_START,
  MIN_SPELLED,
  makeGapToken,
  makeToken,
  type NamesToken,
  NUMBER_WORD,
  REPLACED,
} from "./tokens.js";

const { emoticon, redirection, entity, entity_name: entityName } = data.patterns;
/** Emoticons, and redirections of a shell: `2>&1`. */
const MARK_CHUNK = new RegExp(`^(?:${emoticon}|${redirection})$`);
const ENTITIES = new RegExp(`${entity}|${entityName}`, "g");
const BARE_ENTITY = /^[a-z]/;
const NUMERIC_ENTITY = /#[0-9]+;/;
const SIGNS = "$+<=>^`|~€£¥";
const EMOJI_SELECTOR = "\ufe0f";
const APOSTROPHES = "'’‘";
const PLAIN_MARKS = /[.,;:!?"')]+$/;
const JOINER = /^(?:[-\u2010-\u2015\u2026,;:!?/+*"“”«»()[\]{}\u2018\u2019'|]+|\.{2,}|\\)$/;
const WORD_INNER_MARKS = new Set("-\u2010\u2011\u2012\u2013\u2014\u2015\u2026!+*\"“”«»()[]{}\u2018\u2019'");
const CODE_MARKS = /((?:<\/|\/>|[()[\]{}=<>;,|&*!"`])+)/;
/** A mark of Chinese or Japanese, or a full-width mark, which no blank follows. */
const WIDE_MARK = /([\u3001\u3002\u3008-\u3011\u3014-\u3017\uff01\uff08\uff09\uff0c\uff1a\uff1b\uff1f])/;
const BRACKETS = /[()[\]{}=<>"`]/;
/** An object and its method, as letters with dots between them. */
const METHOD = /^([A-Za-z]+(?:\.[A-Za-z]+)*)\.([a-z]+)$/;
const WHOLE_CHUNK_MARKS = /[@\uff20\\/]/;
/** Marks of an address with more than a host, and the beginning of a host that does not affect where a chunk is cut. */
const [ADDRESS_MARKS, WWW] = [/[:?#]/, /^(?:www\.)+/i];
const MAX_FORMATS_LENGTH = 40;
/**
 * Width of a conversion. It excludes widths that form an escape of an address together with the next letter, as in
 * `%4A`.
 */
const WIDTH = "(?:0[1-9]|1[0-9]|[1-9](?=\\.[0-9]|[G-Zg-z])|[1235](?=d))?(?:\\.[0-9])?";
const BESIDE_FORMAT = "(?:[!-/:-@[-`{-~]|(?<=\\\\)[nrt])*";
/** Conversions of format strings. Between them there may be marks and escapes of blanks such as `\n`, but no blanks. */
const FORMATS = new RegExp(
  `^(?:${BESIDE_FORMAT}?(?:%[-+#0]?${WIDTH}[A-Za-z](?![A-Za-z0-9])|\\{(?::[<>^+-]?${WIDTH}[A-Za-z%]?)?\\})){1,4}` +
    `${BESIDE_FORMAT}$`,
);
const isFormat = (part: string): boolean => part.length <= MAX_FORMATS_LENGTH && FORMATS.test(part);
const IN_VALUE = '[^,;|=/\\\\:@\uff20\ufe6b#?&~<>(){}[\\]"`]';
/** A value of a table row, a separator, and the rest of the chunk, as in `34,Boston` or `a@x.org;250.00`. */
const VALUE = new RegExp(
  `^("*(?:${IN_VALUE}|(?<=\\d)[:/](?=\\d)|,(?=.*[;|]))+(?:@${IN_VALUE}+)?)("*(?:[;|]+|,+(?!.*[;|])))(.+)$`,
  "s",
);
/** Text with commas that is no number and no list of small numbers. */
const ROW = /^(?!(?:[1-9]?\d,)+[1-9]?\d$).*?(?:(?<!\d),|,(?!\d)|,(?!\d{3}(?!\d)).*,|,.*,(?!\d{3}(?!\d)))/s;
const SHORT_NUMBER = /^[0-9]{1,4}$/;
const ASCII_LETTERS = /^[A-Za-z]+$/;
/** Splits chunks into tokens. */
export class ChunkTokenizer {
  readonly lists: NamesLists;
  readonly characters: CharacterClasses;
  readonly #rules: Rules;
  /** A clitic after or before a blank, and the marks after it. */
  readonly #loneClitic: RegExp;
  readonly #tokensByChunk = new Map<string, readonly NamesToken[]>();

  constructor(readonly lexicon: Lexicon) {
    const { lists } = lexicon;
    this.lists = lists;
    this.characters = lists.segmenter.characters;
    this.#rules = lists.rules;
    const after = this.#rules.data.clitics.after.map((clitic) => clitic.slice(1));
    const before = this.#rules.data.clitics.before.map((clitic) => clitic.slice(0, -1));
    this.#loneClitic = new RegExp(
      `^(['\u2019\u2018]${makeAlternatives(after)}|${makeAlternatives(before)}['\u2019\u2018](?=$))([.,;:!?")]*)$`,
    );
  }

  /** Emit all tokens of a text. Each distinct chunk is tokenized once in a call. */
  tokenize(text: string, emit: (token: NamesToken) => void): void {
    const { characters } = this;
    let start = 0;
    while (start < text.length) {
      let end = start;
      const first = text.charCodeAt(start);
      const isBlank = characters.matches(first, BLANK); // no blank is beyond 16 bits
      while (end < text.length && characters.matches(text.charCodeAt(end), BLANK) === isBlank) end++;
      const chunk = text.slice(start, end);
      if (isBlank) {
        emit(makeToken(GAP, chunk, chunk));
      } else {
        let tokens = this.#tokensByChunk.get(chunk);
        if (tokens === undefined) {
          tokens = this.tokenizeChunk(chunk);
          this.#tokensByChunk.set(chunk, tokens);
        }
        for (const token of tokens) emit(token);
      }
      start = end;
    }
  }

  /** Return the tokens of a chunk. */
  tokenizeChunk(chunk: string): NamesToken[] {
    if (ASCII_LETTERS.test(chunk) || this.characters.allMatch(chunk, L))
      if (!isLong(chunk)) return this.lexicon.classifyWord(chunk);
    if (MARK_CHUNK.test(chunk)) return makeGapToken(chunk);
    const loneClitic = this.#loneClitic.exec(chunk);
    const [, text = "", tail = ""] = loneClitic ?? [];
    if (loneClitic !== null && !this.lexicon.isDenied(text.replace(/['\u2019\u2018]/g, ""))) {
      return [makeToken(KEPT, text, foldWord(text)), ...makeGapToken(tail)];
    }
    const tokens: NamesToken[] = [];
    let rest = chunk;
    if (/[&;>]/.test(chunk)) {
      const parts = this.#splitAtEntities(chunk);
      if (NUMERIC_ENTITY.test(parts.filter((_, index) => index % 2 === 0).join(""))) {
        return [makeToken(REPLACED, chunk, foldWord(chunk), LOWER, "key")];
      }
      rest = parts.pop() ?? "";
      parts.forEach((part, index) => {
        tokens.push(...(index % 2 ? makeGapToken(part) : this.#tokenizeWithoutEntities(part)));
      });
      const withoutMarks = rest.replace(PLAIN_MARKS, "");
      if (parts.length > 0 && includesWord(this.#rules.cliticPieces, withoutMarks.toLowerCase())) {
        tokens.push(makeToken(KEPT, withoutMarks, withoutMarks.toLowerCase()));
        rest = rest.slice(withoutMarks.length);
      }
    }
    tokens.push(...this.#tokenizeWithoutEntities(rest));
    return tokens;
  }

  /** Split a chunk at its HTML entities. The result alternates between texts and entities, with texts at both ends. */
  #splitAtEntities(chunk: string): string[] {
    const parts: string[] = [];
    let position = 0;
    ENTITIES.lastIndex = 0;
    for (let match = ENTITIES.exec(chunk); match !== null; match = ENTITIES.exec(chunk)) {
      if (BARE_ENTITY.test(match[0]) && this.#isWordBefore(chunk, match.index)) {
        ENTITIES.lastIndex = match.index + 1;
        continue;
      }
      parts.push(chunk.slice(position, match.index), match[0]);
      position = ENTITIES.lastIndex;
    }
    return [...parts, chunk.slice(position)];
  }

  #isWordBefore(text: string, index: number): boolean {
    const before = [...text.slice(Math.max(0, index - 2), index)].pop();
    return before === "_" || (before !== undefined && this.characters.matches(before.codePointAt(0) ?? 0, L | N));
  }

  /** Return the tokens of a chunk that contains no HTML entity such as `&amp;`. */
  #tokenizeWithoutEntities(part: string): NamesToken[] {
    if (part === "") return [];
    if (!isAscii(part)) {
      const parts = splitAtEmoji(part);
      if (parts.length > 1) {
        return parts.flatMap((part, index) =>
          index % 2 ? this.#tokenizeEmoji(part) : this.#tokenizeWithoutEntities(part),
        );
      }
    }
    const parts = [""];
    part.split(WIDE_MARK).forEach((piece, index) => {
      if (index % 2 && this.characters.matches(piece.charCodeAt(0), MARK)) parts.push(piece, "");
      else parts.push(`${parts.pop()}${piece}`);
    });
    if (parts.length > 1)
      return parts.flatMap((part, index) => (index % 2 ? makeGapToken(part) : this.#tokenizeWithoutEntities(part)));
    if (isFormat(part)) return makeGapToken(part);
    const codePoints = new CodePoints(part);
    let start = 0;
    for (let length = this.#measureMarkAt(codePoints, 0); length > 0; length = this.#measureMarkAt(codePoints, start))
      start += length;
    if (start === codePoints.length) return makeGapToken(part);
    const lead = codePoints.slice(0, start);
    let first = start;
    if (/[@＠\\]$/.test(lead) || (lead.endsWith("#") && !this.#isDigit(codePoints.at(start)))) first -= 1;
    else if (lead.endsWith("/")) first -= lead.endsWith("~/") ? 2 : 1;
    let end = codePoints.length;
    for (let length = this.#measureMarkBefore(codePoints, first, end); length > 0 && end > first; ) {
      end -= length;
      length = end > first ? this.#measureMarkBefore(codePoints, first, end) : 0;
    }
    return [
      ...makeGapToken(codePoints.slice(0, first)),
      ...this.#tokenizeCore(codePoints.slice(first, end)),
      ...makeGapToken(codePoints.slice(end, codePoints.length)),
    ];
  }

  #tokenizeEmoji(sequence: string): NamesToken[] {
    const [entityType, layout] = classifySequence(sequence);
    return entityType === ""
      ? makeGapToken(sequence)
      : [makeToken(REPLACED, sequence, sequence, LOWER, entityType, layout)];
  }

  #isMark(point: number): boolean {
    return this.characters.matches(point, MARK) || (point >= 0 && SIGNS.includes(String.fromCodePoint(point)));
  }

  #isSymbol(point: number): boolean {
    return point >= 0 && this.lists.keptSymbols.has(String.fromCodePoint(point));
  }

  /** Return the length of the mark at an index; 0 without one. */
  #measureMarkAt(part: CodePoints, index: number): number {
    const point = part.at(index);
    if (this.#isMark(point)) return 1;
    if (!this.#isSymbol(point)) return 0;
    return part.at(index + 1) === EMOJI_SELECTOR.charCodeAt(0) ? 2 : 1;
  }

  /** Return the length of the mark that ends at an index; 0 if no mark ends there. */
  #measureMarkBefore(part: CodePoints, start: number, end: number): number {
    const last = part.at(end - 1);
    if (this.#isMark(last) || this.#isSymbol(last)) return 1;
    const selected = last === EMOJI_SELECTOR.charCodeAt(0) && end - 2 >= start && this.#isSymbol(part.at(end - 2));
    return selected ? 2 : 0;
  }

  #isDigit(point: number): boolean {
    if (this.characters.matches(point, ND)) return true;
    return point > 0x7f && !this.characters.matches(point, L) && isDigit(String.fromCodePoint(point)); // such as ²
  }

  #hasDigit(text: string): boolean {
    return [...text].some((character) => this.#isDigit(character.codePointAt(0) ?? 0));
  }

  #isLetterAt(text: string, index: number): boolean {
    return index < text.length && this.characters.matches(text.codePointAt(index) ?? -1, L);
  }

  /** Return the end of the letters that begin at an index; the index itself if no letter begins there. */
  #findLettersEnd(text: string, start: number, apostrophes: string): number {
    if (!this.#isLetterAt(text, start)) return start;
    let at = start;
    while (at < text.length) {
      const point = text.codePointAt(at) ?? 0;
      if (!this.characters.matches(point, L | M) && !apostrophes.includes(text.charAt(at))) break;
      at += point > 0xffff ? 2 : 1;
    }
    return at;
  }

  #areLetters(text: string, apostrophes = APOSTROPHES): boolean {
    return text !== "" && this.#findLettersEnd(text, 0, apostrophes) === text.length;
  }

  #tokenizeCore(core: string): NamesToken[] {
    if (isLong(core)) return [makeToken(REPLACED, core, core, LOWER, "other")];
    if (this.#areLetters(core)) return this.lexicon.classifyWord(core);
    const first = core.codePointAt(0) ?? 0;
    if (!this.characters.matches(first, L) && !this.#isDigit(first)) return [this.#makeStringToken(core)];
    const lower = core.toLowerCase();
    if (
      isAscii(core) &&
      includesWord(this.#rules.data.kept_whole, lower) &&
      ![lower, ...lower.split(/[-/&]/)].some((part) => this.lexicon.isDenied(part))
    ) {
      return [makeToken(KEPT, core, lower, findCasePattern(core))];
    }
    if (/^(?:\p{Lu}\.-?)+\p{Lu}$/u.test(core)) {
      return [makeToken(CAPITALIZED, core, foldWord(core), UPPER, "", "", INITIALS)];
    }
    const splitIfLetters = (mark: string): string[] | undefined => {
      const parts = core.split(mark);
      return parts.length > 1 && parts.every((part) => this.#areLetters(part, "")) ? parts : undefined;
    };
    if (splitIfLetters("&") !== undefined)
      return [makeToken(CAPITALIZED, core, foldWord(core), isUpper(core) ? UPPER : TITLE)];
    const words = splitIfLetters(".");
    if (words !== undefined && !["url", "file"].includes(classifyString(core, this.characters, this.#rules)[0])) {
      const wordTokens = words.map((word) => this.lexicon.classifyWord(word));
      if (
        words.length >= MIN_SPELLED &&
        wordTokens.every((tokens) => tokens.every((token) => token.flags & NUMBER_WORD))
      ) {
        return wordTokens.flatMap((tokens, index) => [...(index > 0 ? makeGapToken(".") : []), ...tokens]);
      }
      if (
        wordTokens.every((tokens) =>
          tokens.every((token) => token.tokenClass === KEPT || (token.flags & KEPT_AT_START) !== 0),
        )
      ) {
        return wordTokens.flatMap((tokens, index) => [
          ...(index > 0 ? makeGapToken(".") : []),
          ...tokens.map((token) => ({ ...token, tokenClass: KEPT, entityType: "", flags: 0 })),
        ]);
      }
    }
    return this.#tokenizeSeparated(core) ?? this.#tokenizeUnseparated(core);
  }

  #tokenizeUnseparated(core: string): NamesToken[] {
    const parts = this.#splitAtCodeMarks(core);
    if (parts !== undefined) return this.#splitMethods(parts).flatMap((part) => this.#tokenizeWithoutEntities(part));
    if (this.#hasDigit(core)) return this.#tokenizeWithDigits(core);
    return this.#tokenizeJoinedWords(core) ?? [this.#makeStringToken(core)];
  }

  /** Split a chunk of source code at its punctuation marks. */
  #splitAtCodeMarks(core: string): string[] | undefined {
    if (!BRACKETS.test(core)) return undefined;
    const parts = core.split(CODE_MARKS);
    if (parts.some((part, index) => index % 2 === 0 && WHOLE_CHUNK_MARKS.test(part) && !isFormat(part)))
      return undefined;
    // Hosts with and without `www.` have one class: otherwise the split would reveal which of them the text has.
    const whole = ADDRESS_MARKS.test(parts[0] ?? "") ? core : core.replace(WWW, "");
    const entityType = classifyString(whole, this.characters, this.#rules)[0];
    const last = parts[parts.length - 1] ?? "";
    const isFile =
      entityType === "file" && (last.length < 2 || classifyString(last, this.characters, this.#rules)[0] !== "file");
    return isFile || entityType === "url" || entityType === "email" ? undefined : parts;
  }

  /**
   * Return pieces of source code, and split a call such as `xs.add(` if its method is a common word. The decision
   * depends only on the form of the text before the dot.
   */
  #splitMethods(parts: readonly string[]): string[] {
    return parts.flatMap((part, index) => {
      const method = parts[index + 1]?.startsWith("(") ? METHOD.exec(part) : null;
      if (method === null) return [part];
      const [, owner = "", name = ""] = method;
      const [token, ...others] = this.#tokenizeWithoutEntities(part);
      if (token?.entityType !== "key" || others.length > 0) return [part];
      const [word, ...rest] = this.lexicon.classifyWord(name);
      return word?.tokenClass === KEPT && word.flags === 0 && rest.length === 0 ? [owner, ".", name] : [part];
    });
  }

  /** Return the tokens of text with separators, such as `user=name`: words, separators and the last part. */
  #tokenizeSeparated(core: string): NamesToken[] | undefined {
    const tokens: NamesToken[] = [];
    const isRow = ROW.test(core);
    let rest = core;
    for (;;) {
      const parts =
        this.#splitAtSeparator(rest) ?? (isRow || /[;|]/.test(rest) ? VALUE.exec(rest)?.slice(1) : undefined);
      if (parts === undefined) break;
      const [value = "", separator = ""] = parts;
      tokens.push(...this.#tokenizeWithoutEntities(value), ...makeGapToken(separator));
      rest = parts[2] ?? "";
    }
    return rest === core ? undefined : [...tokens, ...this.#tokenizeWithoutEntities(rest)];
  }

  #splitAtSeparator(core: string): [string, string, string] | undefined {
    let [end, hasLetter] = [0, false];
    while (end < core.length) {
      const point = core.codePointAt(end) ?? 0;
      const mark = core.charAt(end);
      if (mark === '"' && hasLetter) break;
      if (!this.characters.matches(point, L | M) && !WORD_INNER_MARKS.has(mark)) break;
      // Before the first letter there are marks alone.
      if (!hasLetter && this.characters.matches(point, M)) return undefined;
      hasLetter ||= this.characters.matches(point, L);
      end += point > 0xffff ? 2 : 1;
    }
    if (!hasLetter) return undefined;
    const separator = /^(?:"*[=,;|]+|"+:)/.exec(core.slice(end))?.[0];
    if (separator === undefined || end + separator.length === core.length) return undefined;
    return [core.slice(0, end), separator, core.slice(end + separator.length)];
  }

  /** Return the tokens of words and the marks that join them; `undefined` for any other core. */
  #tokenizeJoinedWords(core: string): NamesToken[] | undefined {
    if (core.replace(/[^/\\]/g, "").length > 1) return undefined;
    const tokens: NamesToken[] = [];
    for (let index = 0; ; ) {
      let end = this.#findLettersEnd(core, index, APOSTROPHES);
      if (end === index) return undefined;
      while (APOSTROPHES.includes(core.charAt(end - 1))) end--; // these are marks, as in `'name':value`
      tokens.push(...this.lexicon.classifyWord(core.slice(index, end)));
      if (end === core.length) return tokens;
      index = end;
      while (index < core.length && !this.#isLetterAt(core, index))
        index += (core.codePointAt(index) ?? 0) > 0xffff ? 2 : 1;
      const marks = core.slice(end, index);
      if (!JOINER.test(marks)) return undefined;
      tokens.push(...makeGapToken(marks));
    }
  }

  #tokenizeWithDigits(core: string): NamesToken[] {
    const numberAndUnit = splitUnit(core, this.#rules);
    if (numberAndUnit !== undefined && !this.lexicon.isDenied(numberAndUnit[1].toLowerCase())) {
      return [
        this.#makeNumberToken(numberAndUnit[0]),
        makeToken(KEPT, numberAndUnit[1], numberAndUnit[1].toLowerCase()),
      ];
    }
    const parts = core.split("-");
    const areParts = parts.every((part) => SHORT_NUMBER.test(part) || this.#areLetters(part));
    if (parts.length > 1 && areParts && parts.some((part) => !SHORT_NUMBER.test(part))) {
      const partTokens = parts.map((part) =>
        SHORT_NUMBER.test(part) ? [this.#makeNumberToken(part)] : this.lexicon.classifyWord(part),
      );
      const areNumbers = partTokens.every((tokens) =>
        tokens.every((token) => token.tokenClass === DIGITS || token.flags & NUMBER_WORD),
      );
      if (isCode(parts) && !areNumbers) return [this.#makeStringToken(core)];
      return partTokens.flatMap((tokens, index) => [...(index > 0 ? makeGapToken("-") : []), ...tokens]);
    }
    return [this.#makeStringToken(core)];
  }

  #makeNumberToken(text: string): NamesToken {
    const [entityType, layout] = classifyString(text, this.characters, this.#rules);
    const isDigits = [...text].every((character) => this.#isDigit(character.codePointAt(0) ?? 0));
    const joinsDigits = isDigits || ["account", "digits", "phone", "card", "ssn"].includes(entityType);
    return makeToken(joinsDigits ? DIGITS : REPLACED, text, text, LOWER, entityType, layout);
  }

  #makeStringToken(core: string): NamesToken {
    const [entityType, layout] = classifyString(core, this.characters, this.#rules);
    if (NUMBER_TYPES.has(entityType)) return this.#makeNumberToken(core);
    return makeToken(
      REPLACED,
      core,
      foldWord(core),
      LOWER,
      entityType,
      layout,
      entityType === "id" ? findGroupFlags(core, this.#rules) : 0,
    );
  }
}

/** Return whether letters and digits with hyphens between them are an identifier, such as `AB-12`. */
function isCode(parts: readonly string[]): boolean {
  const entityTypes = parts.map((part) => (SHORT_NUMBER.test(part) ? "0" : isUpper(part) ? "A" : "a")).join("");
  const words = parts.filter((part) => !SHORT_NUMBER.test(part) && [...part].length > 1);
  const isAccountName = words.length > 1 && /^\d{4}$/.test(parts[parts.length - 1] ?? "");
  return entityTypes.includes("A") || entityTypes.includes("a0a") || isAccountName;
}
