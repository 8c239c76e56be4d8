/** Divides text into gaps, words and strings (docs/format-staircase.md, "Segments"). */

import {
  BLANK,
  BREAK,
  type Characters,
  CONNECTOR,
  END,
  FOLLOWER,
  HARD_BREAK,
  L,
  LETTER,
  M,
  MARK,
  MIDDLE,
  N,
  Points,
} from "./characters.js";
import { LONGEST_WORD } from "./constants.js";
import { joined, type Spans } from "./numbers.js";
import { anyOf, ENGLISH } from "./rules.js";

export const GAP = 0;
export const WORD = 1;
export const STRING = 2;

const points = (characters: string): ReadonlySet<number> =>
  new Set([...characters].map((character) => character.codePointAt(0) ?? 0));
const OPENING = points("([{");
const CLOSING = points(")]}");
const BRACKETS = points("([{)]}");
const AT = points("@＠﹫");
const MOUTHS = points("/\\*");
const AFTER_EMOTICON = points(".,!?");
const HOST_ENDS = points("/?#:");
const [DOT, COLON, SEMICOLON, SLASH, BACKSLASH, PERCENT, HYPHEN, APOSTROPHE] = [...".:;/\\%-'"].map((character) =>
  character.charCodeAt(0),
) as [number, number, number, number, number, number, number, number];
/** Domains by their letters in lower case. */
const DOMAINS = [...ENGLISH.data.domains.all, ...ENGLISH.data.domains.words].map((domain) =>
  [...domain].map((letter) => letter.codePointAt(0) ?? 0),
);
const LONGEST_DOMAIN = 24;
/** ASCII texts without these have no strings. */
const PLAIN = /^[ \t-\rA-Za-z!"#&')*,\-?\]}]*$/;
/** A text of ASCII words, single marks and blanks: what begins a trigger is looked at closely elsewhere. */
const MARKED = /^[ \t-\rA-Za-z!"#&')*,\-?\]}.]*$/;
/** A clitic, apostrophe and all, that no letter prolongs; what may stand between it and a blank. */
const LONE_CLITIC = new RegExp(`^.${anyOf(ENGLISH.data.clitics.after.map((clitic) => clitic.slice(1)))}`);
const LONGEST_CLITIC = 3;
const AFTER_CLITIC = points('.,;:!?")');
const CURLY = 0x2019;
const DOTTED = /\.[A-Za-z]/;

/** Cuts texts by the classes of one bundle. */
export class Cutter {
  constructor(readonly characters: Characters) {}

  /**
   * Calls back with the kind and the string of each segment, in order. Gaps are whole but for `:` and `;`. With
   * `loneClitics`, a clitic behind a blank (`they 're`) is a word with its apostrophe.
   */
  cut(text: string, take: (kind: number, segment: string) => void, loneClitics = false): void {
    if (text === "") return;
    const read = new Points(text);
    const strings = this.strings(read);
    let position = 0;
    for (let i = 0; i <= strings.length; i += 2) {
      const start = strings[i] ?? read.length;
      this.#words(read, position, start, take, loneClitics);
      position = strings[i + 1] ?? start;
      if (position > start) take(STRING, read.slice(start, position));
    }
  }

  /** The segments of a text, each with its kind. */
  segments(text: string): [number, string][] {
    const found: [number, string][] = [];
    this.cut(text, (kind, segment) => found.push([kind, segment]));
    return found;
  }

  /** The end of the lone clitic that starts at a place; the place itself if there is none. */
  #loneCliticEnd(text: Points, place: number): number {
    const point = text.at(place);
    if ((point !== APOSTROPHE && point !== CURLY) || !this.characters.is(text.at(place - 1), BLANK)) return place;
    const found = LONE_CLITIC.exec(text.slice(place, Math.min(place + LONGEST_CLITIC, text.length)));
    if (found === null) return place;
    const end = place + found[0].length;
    let after = end;
    while (AFTER_CLITIC.has(text.at(after))) after++;
    return after >= text.length || this.characters.is(text.at(after), BLANK) ? end : place;
  }

  #words(
    text: Points,
    start: number,
    end: number,
    take: (kind: number, segment: string) => void,
    loneClitics: boolean,
  ): void {
    let gap = start;
    for (let at = start; at < end; ) {
      const after = loneClitics
        ? Math.max(this.wordEnd(text, at), this.#loneCliticEnd(text, at))
        : this.wordEnd(text, at);
      if (after > at) {
        if (at > gap) take(GAP, text.slice(gap, at));
        take(after - at > LONGEST_WORD ? STRING : WORD, text.slice(at, after));
        gap = at = after;
        continue;
      }
      const point = text.at(at);
      if (point === COLON || point === SEMICOLON) {
        if (at > gap) take(GAP, text.slice(gap, at));
        take(GAP, text.slice(at, at + 1));
        gap = at + 1;
      }
      at++;
    }
    if (end > gap) take(GAP, text.slice(gap, end));
  }

  isSolid(point: number): boolean {
    return point >= 0 && !this.characters.is(point, BREAK | END);
  }

  /** The end of a letter, and letters and followers behind it; the place itself if there is no letter. */
  #letters(text: Points, place: number): number {
    const { characters } = this;
    if (!characters.is(text.at(place), LETTER)) return place;
    let at = place + 1;
    while (characters.is(text.at(at), LETTER | FOLLOWER)) at++;
    return at;
  }

  /** Whether the mark at a place, between letters, is a dot that makes a string. */
  #isDotOfHost(text: Points, place: number): boolean {
    const { characters } = this;
    if (text.at(place) !== DOT || !characters.is(text.at(place + 1), LETTER)) return false;
    let after = place + 2;
    while (characters.is(text.at(after), FOLLOWER)) after++;
    return characters.is(text.at(after), LETTER) || this.#isWww(text, place);
  }

  #isWww(text: Points, place: number): boolean {
    const isW = (point: number): boolean => point === 0x77 || point === 0x57;
    return isW(text.at(place - 1)) && isW(text.at(place - 2)) && isW(text.at(place - 3));
  }

  /** The end of the ordinary word that starts at a place; the place itself if there is none. */
  wordEnd(text: Points, place: number): number {
    const { characters } = this;
    let end = this.#letters(text, place);
    while (
      end > place &&
      characters.is(text.at(end), MIDDLE) &&
      characters.is(text.at(end + 1), LETTER) &&
      !this.#isDotOfHost(text, end)
    ) {
      end = this.#letters(text, end + 1);
    }
    return end;
  }

  /** The end of the word in brackets that starts at a place; the place itself if there is none. */
  #bracketed(text: Points, place: number): number {
    if (!OPENING.has(text.at(place)) || !this.isSolid(text.at(place - 1))) return place;
    const end = this.wordEnd(text, place + 1);
    return end > place + 1 && CLOSING.has(text.at(end)) && this.isSolid(text.at(end + 1)) ? end + 1 : place;
  }

  /** The end of the emoticon that starts at a place; the place itself if there is none. */
  emoticonEnd(text: Points, place: number): number {
    const eyes = text.at(place);
    if ((eyes !== COLON && eyes !== SEMICOLON) || !(place === 0 || this.characters.is(text.at(place - 1), BLANK))) {
      return place;
    }
    let mouth = place + 1;
    if (text.at(mouth) === APOSTROPHE) mouth++;
    if (text.at(mouth) === HYPHEN) mouth++;
    const nose = text.at(place + 1) === HYPHEN ? place + 2 : place + 1;
    const ends: number[] = [];
    let brackets = mouth;
    while (BRACKETS.has(text.at(brackets))) brackets++;
    if (brackets > mouth) ends.push(brackets);
    else if (MOUTHS.has(text.at(mouth))) ends.push(mouth + 1);
    const word = this.wordEnd(text, nose);
    if (word > nose) {
      if (text.at(word) === COLON) ends.push(word + 1);
      ends.push(word);
    }
    for (const end of ends) {
      let after = end;
      while (AFTER_EMOTICON.has(text.at(after))) after++;
      if (after >= text.length || this.characters.is(text.at(after), BLANK)) return end;
    }
    return place;
  }

  /** The end of the trigger (but for an emoticon) that starts at a place; the place itself if there is none. */
  #trigger(text: Points, place: number): number {
    const { characters } = this;
    const point = text.at(place);
    const flags = characters.of(point);
    if (flags & LETTER) return place;
    const afterLetter = characters.is(text.at(place - 1), LETTER | FOLLOWER);
    if (!(flags & (BLANK | MARK | FOLLOWER)) || (flags & FOLLOWER && !afterLetter)) return place + 1;
    if (flags & BLANK) return place;
    if (AT.has(point) || point === BACKSLASH) return place + 1;
    if (point === PERCENT && characters.is(text.at(place + 1), LETTER)) return place + 1;
    if (point === COLON) return text.at(place + 1) === SLASH && text.at(place + 2) === SLASH ? place + 3 : place;
    if (flags & CONNECTOR && afterLetter) {
      let end = place + 1;
      while (characters.is(text.at(end), CONNECTOR)) end++;
      if (characters.is(text.at(end), LETTER)) return end;
    }
    if (point === DOT) {
      return (afterLetter || this.#isWww(text, place)) && this.#isDotOfHost(text, place) ? place + 1 : place;
    }
    if (point === SLASH && !this.isSolid(text.at(place - 1))) {
      let end = place + 1;
      while (end < text.length && text.at(end) !== SLASH && !characters.is(text.at(end), BREAK)) end++;
      if (end > place + 1 && text.at(end) === SLASH) return end + 1;
    }
    return this.#bracketed(text, place);
  }

  /** Whether a span is of blanks and marks alone. */
  #isGap(text: Points, start: number, end: number): boolean {
    for (let at = start; at < end; at++) if (!this.characters.is(text.at(at), BLANK | MARK)) return false;
    return true;
  }

  /** Whether a run, a text of its own, goes on to a hard break. */
  #namesHost(run: Points): boolean {
    const { characters } = this;
    if (AT.has(run.at(0)) || this.#isGap(run, 0, run.length)) return false;
    let forbidden = false;
    let hosted = false;
    for (let at = 0; at < run.length; at++) {
      const point = run.at(at);
      if (AT.has(point) || OPENING.has(point)) forbidden = true;
      if (point === COLON && run.at(at + 1) === SLASH && run.at(at + 2) === SLASH) return true;
      if (point !== DOT) continue;
      if (this.#isWww(run, at) && characters.is(run.at(at + 1), L | N)) return true;
      hosted ||= characters.is(run.at(at - 1), L | M | N) && this.#endsHost(run, at);
    }
    return hosted && !forbidden;
  }

  /** Whether a domain is behind a dot, or letters and what follows on a host. */
  #endsHost(run: Points, dot: number): boolean {
    const { characters } = this;
    let end = dot + 1;
    while (end - dot <= LONGEST_DOMAIN + 1 && characters.is(run.at(end), L)) end++;
    const length = end - dot - 1;
    if (length >= 2 && length <= LONGEST_DOMAIN && HOST_ENDS.has(run.at(end))) return true;
    return DOMAINS.some(
      (domain) =>
        domain.every((letter, place) => inAnyCase(run.at(dot + 1 + place)) === letter) &&
        !characters.is(run.at(dot + 1 + domain.length), L | M | N),
    );
  }

  #hasTrigger(run: Points): boolean {
    for (let at = 0; at < run.length; at++) {
      if (this.#trigger(run, at) > at || this.emoticonEnd(run, at) > at) return true;
    }
    return false;
  }

  /** The end of a run from a place on. */
  #runEnd(text: Points, place: number): number {
    let end = place;
    for (;;) {
      const further = this.#bracketed(text, end);
      if (further > end) end = further;
      else if (end < text.length && !this.characters.is(text.at(end), BREAK)) end++;
      else return end;
    }
  }

  /** A span without the ends at either side, and without more marks behind it. */
  #trimmed(text: Points, start: number, end: number, more = 0): [number, number] {
    const { characters } = this;
    let [first, last] = [start, end];
    while (first < last && characters.is(text.at(first), END)) first++;
    while (first < last && characters.is(text.at(last - 1), END | more) && !this.#isHard(text.at(last - 1))) last--;
    return [first, last];
  }

  #isHard(point: number): boolean {
    return this.characters.is(point, HARD_BREAK);
  }

  /** Start and end of the strings of a text, numbers in groups. */
  strings(text: Points): Spans {
    if (PLAIN.test(text.text) || (MARKED.test(text.text) && !DOTTED.test(text.text))) return [];
    const found = this.#single(text);
    return found.length === 0 ? found : joined(text, found, this);
  }

  #single(text: Points): Spans {
    const { characters } = this;
    const found: Spans = [];
    let position = 0;
    for (let at = 0; at < text.length; ) {
      if (characters.is(text.at(at), LETTER)) {
        at++;
        continue;
      }
      if (this.#trigger(text, at) === at) {
        const emoticon = this.emoticonEnd(text, at);
        if (emoticon > at) {
          found.push(at, emoticon);
          position = emoticon;
        }
        at = Math.max(at + 1, emoticon);
        continue;
      }
      let start = at;
      while (start > position && !characters.is(text.at(start - 1), BREAK)) start--;
      let end = this.#runEnd(text, at);
      let [first, last] = this.#trimmed(text, start, end);
      const run = new Points(text.slice(first, last));
      if (this.#namesHost(run)) {
        while (end < text.length && !this.#isHard(text.at(end))) end++;
        [first, last] = this.#trimmed(text, start, end, BREAK);
        found.push(first, last);
        end = last;
      } else if (this.#hasTrigger(run) && !this.#isGap(run, 0, run.length)) {
        found.push(first, last);
        end = last;
      }
      position = at = end;
    }
    return found;
  }

  /** Whether a segment is a string, and not a word or a gap. */
  isString(segment: string): boolean {
    const read = new Points(segment);
    if (this.#isGap(read, 0, read.length)) return read.length > 0 && this.emoticonEnd(read, 0) === read.length;
    return read.length > LONGEST_WORD || this.#hasTrigger(read);
  }

  /** Whether the run that a string starts with names a host. */
  isUrl(string: Points): boolean {
    const [start, end] = this.#trimmed(string, 0, this.#runEnd(string, 0));
    return this.#namesHost(new Points(string.slice(start, end)));
  }
}

/** A letter in lower case, where it has one that is one character; of what stands for another letter in any case, that. */
function inAnyCase(point: number): number {
  if (point < 0x80) return point >= 0x41 && point <= 0x5a ? point + 32 : point;
  const folded = String.fromCodePoint(point).toLowerCase();
  if (point === 0x17f) return 0x73;
  return folded.length === 1 ? folded.charCodeAt(0) : point;
}
