/** Segmentation of text into gaps, words and strings (docs/format-staircase.md, "Segments"). */

import { ENGLISH, makeAlternatives } from "../../bundle/rules.js";
import { MAX_WORD_LENGTH } from "../../constants.js";
import {
  BLANK,
  BREAK,
  type CharacterClasses,
  CONNECTOR,
  CodePoints,
  END,
  FOLLOWER,
  HARD_BREAK,
  L,
  LETTER,
  M,
  MARK,
  MIDDLE,
  N,
} from "./characterClasses.js";
import { joinNumbers, type StringSpans } from "./numberGroups.js";
import { WHITE } from "./words.js";

export const GAP = 0;
export const WORD = 1;
export const STRING = 2;

const makePointSet = (characters: string): ReadonlySet<number> =>
  new Set([...characters].map((character) => character.codePointAt(0) ?? 0));
const OPENING = makePointSet("([{");
const CLOSING = makePointSet(")]}");
const BRACKETS = makePointSet("([{)]}");
const AT_SIGNS = makePointSet("@＠﹫");
const MOUTHS = makePointSet("/\\*");
const AFTER_EMOTICON = makePointSet(".,!?");
const HOST_ENDS = makePointSet("/?#:");
const [DOT, COLON, SEMICOLON, SLASH, BACKSLASH, PERCENT, HYPHEN, APOSTROPHE] = [...".:;/\\%-'"].map((character) =>
  character.charCodeAt(0),
) as [number, number, number, number, number, number, number, number];
const STRIPPED = new RegExp(`^[${WHITE}]+|[${WHITE}]+$`, "g");
/** Domains by their letters in lower case. */
const DOMAINS = [...ENGLISH.data.domains.all, ...ENGLISH.data.domains.words].map((domain) =>
  [...domain].map((letter) => letter.codePointAt(0) ?? 0),
);
const MAX_DOMAIN_LENGTH = 24;
/** ASCII texts of only these characters have no strings. */
const WITHOUT_STRINGS = /^[ \t-\rA-Za-z!"#&')*,\-?\]}]*$/;
/** Texts of ASCII words, single marks and blanks, for which a dot alone decides. */
const WORDS_AND_MARKS = /^[ \t-\rA-Za-z!"#&')*,\-?\]}.]*$/;
/** A clitic with its apostrophe, and the marks that may follow it before a blank. */
const LONE_CLITIC = new RegExp(`^.${makeAlternatives(ENGLISH.data.clitics.after.map((clitic) => clitic.slice(1)))}`);
const MAX_CLITIC_LENGTH = 3;
const AFTER_CLITIC = makePointSet('.,;:!?")');
const CURLY = 0x2019;
const DOTTED = /\.[A-Za-z]/;

/** Segmenter of texts by the character classes of one bundle. */
export class Segmenter {
  constructor(readonly characters: CharacterClasses) {}

  /**
   * Emit the type and the text of each segment, in order. A gap is one segment, but `:` and `;` are separate segments.
   * With `loneClitics`, a clitic after a blank (as in `they 're`) is a word with its apostrophe.
   */
  iterateSegments(text: string, emit: (kind: number, segment: string) => void, loneClitics = false): void {
    if (text === "") return;
    const codePoints = new CodePoints(text);
    const strings = this.findStrings(codePoints);
    let position = 0;
    for (let i = 0; i <= strings.length; i += 2) {
      const start = strings[i] ?? codePoints.length;
      this.#splitWordsAndGaps(codePoints, position, start, emit, loneClitics);
      position = strings[i + 1] ?? start;
      if (position > start) emit(STRING, codePoints.slice(start, position));
    }
  }

  /** Return the segments of a text, each with its type. */
  splitText(text: string): [number, string][] {
    const segments: [number, string][] = [];
    this.iterateSegments(text, (kind, segment) => segments.push([kind, segment]));
    return segments;
  }

  /** Strip blanks and a byte order mark from an entry of a user's list, and list its words and strings. */
  splitEntry(entry: string): [string, string[]] {
    const stripped = entry.replace(/^\ufeff/, "").replace(STRIPPED, "");
    return [stripped, this.splitText(stripped).flatMap(([kind, segment]) => (kind === GAP ? [] : [segment]))];
  }

  /** Return the end of the lone clitic that begins at an index; the index itself if none begins there. */
  #findLoneCliticEnd(text: CodePoints, index: number): number {
    const point = text.at(index);
    if ((point !== APOSTROPHE && point !== CURLY) || !this.characters.matches(text.at(index - 1), BLANK)) return index;
    const match = LONE_CLITIC.exec(text.slice(index, Math.min(index + MAX_CLITIC_LENGTH, text.length)));
    if (match === null) return index;
    const end = index + match[0].length;
    let after = end;
    while (AFTER_CLITIC.has(text.at(after))) after++;
    return after >= text.length || this.characters.matches(text.at(after), BLANK) ? end : index;
  }

  #splitWordsAndGaps(
    text: CodePoints,
    start: number,
    end: number,
    emit: (kind: number, segment: string) => void,
    loneClitics: boolean,
  ): void {
    let gap = start;
    for (let at = start; at < end; ) {
      const after = loneClitics
        ? Math.max(this.findWordEnd(text, at), this.#findLoneCliticEnd(text, at))
        : this.findWordEnd(text, at);
      if (after > at) {
        if (at > gap) emit(GAP, text.slice(gap, at));
        emit(after - at > MAX_WORD_LENGTH ? STRING : WORD, text.slice(at, after));
        gap = at = after;
        continue;
      }
      const point = text.at(at);
      if (point === COLON || point === SEMICOLON) {
        if (at > gap) emit(GAP, text.slice(gap, at));
        emit(GAP, text.slice(at, at + 1));
        gap = at + 1;
      }
      at++;
    }
    if (end > gap) emit(GAP, text.slice(gap, end));
  }

  isSolid(point: number): boolean {
    return point >= 0 && !this.characters.matches(point, BREAK | END);
  }

  /** Return the end of the letters and followers that begin at an index; the index itself without a letter. */
  #findLettersEnd(text: CodePoints, index: number): number {
    const { characters } = this;
    if (!characters.matches(text.at(index), LETTER)) return index;
    let at = index + 1;
    while (characters.matches(text.at(at), LETTER | FOLLOWER)) at++;
    return at;
  }

  /** Return whether the mark at an index, between letters, is the dot of a host. */
  #isDotOfHost(text: CodePoints, index: number): boolean {
    const { characters } = this;
    if (text.at(index) !== DOT || !characters.matches(text.at(index + 1), LETTER)) return false;
    let after = index + 2;
    while (characters.matches(text.at(after), FOLLOWER)) after++;
    return characters.matches(text.at(after), LETTER) || this.#isWww(text, index);
  }

  #isWww(text: CodePoints, index: number): boolean {
    const isW = (point: number): boolean => point === 0x77 || point === 0x57;
    return isW(text.at(index - 1)) && isW(text.at(index - 2)) && isW(text.at(index - 3));
  }

  /** Return the end of the ordinary word that begins at an index; the index itself if none begins there. */
  findWordEnd(text: CodePoints, index: number): number {
    const { characters } = this;
    let end = this.#findLettersEnd(text, index);
    while (
      end > index &&
      characters.matches(text.at(end), MIDDLE) &&
      characters.matches(text.at(end + 1), LETTER) &&
      !this.#isDotOfHost(text, end)
    ) {
      end = this.#findLettersEnd(text, end + 1);
    }
    return end;
  }

  /** Return the end of the bracketed word that begins at an index; the index itself if none begins there. */
  #findBracketedEnd(text: CodePoints, index: number): number {
    if (!OPENING.has(text.at(index)) || !this.isSolid(text.at(index - 1))) return index;
    const end = this.findWordEnd(text, index + 1);
    return end > index + 1 && CLOSING.has(text.at(end)) && this.isSolid(text.at(end + 1)) ? end + 1 : index;
  }

  /** Return the end of the emoticon that begins at an index; the index itself if none begins there. */
  findEmoticonEnd(text: CodePoints, index: number): number {
    const eyes = text.at(index);
    if (
      (eyes !== COLON && eyes !== SEMICOLON) ||
      !(index === 0 || this.characters.matches(text.at(index - 1), BLANK))
    ) {
      return index;
    }
    let mouth = index + 1;
    if (text.at(mouth) === APOSTROPHE) mouth++;
    if (text.at(mouth) === HYPHEN) mouth++;
    const nose = text.at(index + 1) === HYPHEN ? index + 2 : index + 1;
    const ends: number[] = [];
    let brackets = mouth;
    while (BRACKETS.has(text.at(brackets))) brackets++;
    if (brackets > mouth) ends.push(brackets);
    else if (MOUTHS.has(text.at(mouth))) ends.push(mouth + 1);
    const word = this.findWordEnd(text, nose);
    if (word > nose) {
      if (text.at(word) === COLON) ends.push(word + 1);
      ends.push(word);
    }
    for (const end of ends) {
      let after = end;
      while (AFTER_EMOTICON.has(text.at(after))) after++;
      if (after >= text.length || this.characters.matches(text.at(after), BLANK)) return end;
    }
    return index;
  }

  /** Return the end of the trigger of a string (except an emoticon) at an index; the index itself without one. */
  #findTriggerEnd(text: CodePoints, index: number): number {
    const { characters } = this;
    const point = text.at(index);
    const flags = characters.getFlags(point);
    if (flags & LETTER) return index;
    const afterLetter = characters.matches(text.at(index - 1), LETTER | FOLLOWER);
    if (!(flags & (BLANK | MARK | FOLLOWER)) || (flags & FOLLOWER && !afterLetter)) return index + 1;
    if (flags & BLANK) return index;
    if (AT_SIGNS.has(point) || point === BACKSLASH) return index + 1;
    if (point === PERCENT && characters.matches(text.at(index + 1), LETTER)) return index + 1;
    if (point === COLON) return text.at(index + 1) === SLASH && text.at(index + 2) === SLASH ? index + 3 : index;
    if (flags & CONNECTOR && afterLetter) {
      let end = index + 1;
      while (characters.matches(text.at(end), CONNECTOR)) end++;
      if (characters.matches(text.at(end), LETTER)) return end;
    }
    if (point === DOT) {
      return (afterLetter || this.#isWww(text, index)) && this.#isDotOfHost(text, index) ? index + 1 : index;
    }
    if (point === SLASH && !this.isSolid(text.at(index - 1))) {
      let end = index + 1;
      while (end < text.length && text.at(end) !== SLASH && !characters.matches(text.at(end), BREAK)) end++;
      if (end > index + 1 && text.at(end) === SLASH) return end + 1;
    }
    return this.#findBracketedEnd(text, index);
  }

  /** Return whether a segment is only white space and punctuation, and not an emoticon. */
  #isGap(text: CodePoints, start: number, end: number): boolean {
    for (let at = start; at < end; at++) if (!this.characters.matches(text.at(at), BLANK | MARK)) return false;
    return true;
  }

  /** Return whether a run contains a host, and so extends to a hard break. */
  #containsHost(run: CodePoints): boolean {
    const { characters } = this;
    if (AT_SIGNS.has(run.at(0)) || this.#isGap(run, 0, run.length)) return false;
    let forbidden = false;
    let hosted = false;
    for (let at = 0; at < run.length; at++) {
      const point = run.at(at);
      if (AT_SIGNS.has(point) || OPENING.has(point)) forbidden = true;
      if (point === COLON && run.at(at + 1) === SLASH && run.at(at + 2) === SLASH) return true;
      if (point !== DOT) continue;
      if (this.#isWww(run, at) && characters.matches(run.at(at + 1), L | N)) return true;
      hosted ||= characters.matches(run.at(at - 1), L | M | N) && this.#isHostEnd(run, at);
    }
    return hosted && !forbidden;
  }

  /** Return whether a dot precedes a domain, or letters and a character that follows a host. */
  #isHostEnd(run: CodePoints, dot: number): boolean {
    const { characters } = this;
    let end = dot + 1;
    while (end - dot <= MAX_DOMAIN_LENGTH + 1 && characters.matches(run.at(end), L)) end++;
    const length = end - dot - 1;
    if (length >= 2 && length <= MAX_DOMAIN_LENGTH && HOST_ENDS.has(run.at(end))) return true;
    return DOMAINS.some(
      (domain) =>
        domain.every((letter, index) => foldPoint(run.at(dot + 1 + index)) === letter) &&
        !characters.matches(run.at(dot + 1 + domain.length), L | M | N),
    );
  }

  #containsTrigger(run: CodePoints): boolean {
    for (let at = 0; at < run.length; at++) {
      if (this.#findTriggerEnd(run, at) > at || this.findEmoticonEnd(run, at) > at) return true;
    }
    return false;
  }

  /** Return the end of the text around `index` that has no blank or separating mark. */
  #findRunEnd(text: CodePoints, index: number): number {
    let end = index;
    for (;;) {
      const bracketedEnd = this.#findBracketedEnd(text, end);
      if (bracketedEnd > end) end = bracketedEnd;
      else if (end < text.length && !this.characters.matches(text.at(end), BREAK)) end++;
      else return end;
    }
  }

  /** Return a span without marks at its ends, and without `extraMarks` at its end. */
  #trimMarks(text: CodePoints, start: number, end: number, extraMarks = 0): [number, number] {
    const { characters } = this;
    let [first, last] = [start, end];
    while (first < last && characters.matches(text.at(first), END)) first++;
    while (
      first < last &&
      characters.matches(text.at(last - 1), END | extraMarks) &&
      !this.#isHardBreak(text.at(last - 1))
    )
      last--;
    return [first, last];
  }

  #isHardBreak(point: number): boolean {
    return this.characters.matches(point, HARD_BREAK);
  }

  /** Return the start and the end of every string of `text`, in order. No two strings touch. */
  findStrings(text: CodePoints): StringSpans {
    if (WITHOUT_STRINGS.test(text.text) || (WORDS_AND_MARKS.test(text.text) && !DOTTED.test(text.text))) return [];
    const spans = this.#findSingleStrings(text);
    return spans.length === 0 ? spans : joinNumbers(text, spans, this);
  }

  #findSingleStrings(text: CodePoints): StringSpans {
    const { characters } = this;
    const spans: StringSpans = [];
    let position = 0;
    for (let at = 0; at < text.length; ) {
      if (characters.matches(text.at(at), LETTER)) {
        at++;
        continue;
      }
      if (this.#findTriggerEnd(text, at) === at) {
        const emoticon = this.findEmoticonEnd(text, at);
        if (emoticon > at) {
          spans.push(at, emoticon);
          position = emoticon;
        }
        at = Math.max(at + 1, emoticon);
        continue;
      }
      let start = at;
      while (start > position && !characters.matches(text.at(start - 1), BREAK)) start--;
      let end = this.#findRunEnd(text, at);
      let [first, last] = this.#trimMarks(text, start, end);
      const run = new CodePoints(text.slice(first, last));
      if (this.#containsHost(run)) {
        while (end < text.length && !this.#isHardBreak(text.at(end))) end++;
        [first, last] = this.#trimMarks(text, start, end, BREAK);
        spans.push(first, last);
        end = last;
      } else if (this.#containsTrigger(run) && !this.#isGap(run, 0, run.length)) {
        spans.push(first, last);
        end = last;
      }
      position = at = end;
    }
    return spans;
  }

  /** Return whether a segment is a string: a token that is not a plain word. */
  isString(segment: string): boolean {
    const codePoints = new CodePoints(segment);
    if (this.#isGap(codePoints, 0, codePoints.length))
      return codePoints.length > 0 && this.findEmoticonEnd(codePoints, 0) === codePoints.length;
    return codePoints.length > MAX_WORD_LENGTH || this.#containsTrigger(codePoints);
  }

  /** Return whether a string is a URL or a domain name. */
  isUrl(string: CodePoints): boolean {
    const [start, end] = this.#trimMarks(string, 0, this.#findRunEnd(string, 0));
    return this.#containsHost(new CodePoints(string.slice(start, end)));
  }
}

/** Return the lower-case form of a code point, if that is one character; `s` for the long s. */
function foldPoint(point: number): number {
  if (point < 0x80) return point >= 0x41 && point <= 0x5a ? point + 32 : point;
  const folded = String.fromCodePoint(point).toLowerCase();
  if (point === 0x17f) return 0x73;
  return folded.length === 1 ? folded.charCodeAt(0) : point;
}
