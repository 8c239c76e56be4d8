/**
 * Context of mentions for the rules of the option `facts`: the kept text around a mention, and the classes of the
 * mentions next to it. The context never contains the string of a mention.
 */

import type { FactWords } from "../../bundle/rules.js";
import { isDigit, isLower, WHITE } from "../segmentation/words.js";
import { CAPITALIZED_RUN, DIGIT_GROUP, LINE_BREAK, LONE_INITIAL } from "./entitySpans.js";
import type { EntityMention } from "./entityTypes.js";

/** A word of kept text, in the letters of Latin scripts. */
const WORD = /[0-9A-Za-z\u00c0-\u024f]+(?:['\u2019][0-9A-Za-z\u00c0-\u024f]+)*/g;
const SENTENCE_END = new RegExp(`[.!?]['")\u201d]*[${WHITE}]`);
/** Maximum number of items of a sentence that a rule reads in each direction. */
const MAX_SENTENCE = 64;
/** A word after which a full stop ends a sentence. */
const LAST_WORD = /^[a-z]{3,}$/;
/** Gaps that may be between a word and a bare number: blanks, marks of source code, a colon, the end of a sentence. */
const BARE_GAP = /^(?:[ ([{"']{1,3}|-|_\{?|\^\{?| ?[:=<>!+*/&|]{1,3} ?\(?|[.?!:;)] ?\(?)$/;
/** Marks that separate the entries of a list, so that the capitalized words on both sides are unrelated. */
const LIST_GAP = /[,;:|/()[\]"\n\u2022\u201c\u201d]/;
/** Words between the names of several languages, and the largest number of names that are read before one. */
const [LANGUAGE_LINKS, MAX_LANGUAGES] = [new Set(["and", "or"]), 8];
/** Words at the end of a range of dates; the dash of a range. */
export const PRESENT: ReadonlySet<string> = new Set("current currently date now ongoing present today".split(" "));
const DASH = /^ ?[-\u2013\u2014] ?$/;
/** Words for a secret that have another meaning before a verb, such as *code*; and such verbs. */
const USED = /^(?:code|key|session|token)s?$/;
const USES =
  /^(?:compiles|crashes|did|does|expires|failed|fails|had|has|have|lasts|loads|needs|prints|raises?|ran|return|returned|returns|runs?|takes?|throws?|took|used?|uses|works?)$/;
/** Marks before the first word of a line; and marks that end a clause, before its first word. */
const LIST_MARK = /^[-*#>\u2022\xb7\u2013\u2014+ \t"'\u201c(]*$/;
const CLAUSE_END =
  /^(?:(?:[)\]"\u201d]?[:;]|[\]"\u201d],|[.,:;!?)"\u201d]? [-*\u2022\u2013\u2014|\u25aa\u25cf\u25cb\u25e6\u2192\u2713\uf0b7\xb7]) ["'(\u201c]?|,? ["'\u201c\u2018])$/;
/** Entity types by class. Rules read only the class of a mention next to another mention. */
export const NUMERIC_TYPES: ReadonlySet<string> = new Set([
  ..."number year digits account phone card ssn time date day decade ordinal age season year-range".split(" "),
  ...["spelled-number", "number-word", DIGIT_GROUP],
]);
const CAPITAL: ReadonlySet<string> = new Set([CAPITALIZED_RUN, LONE_INITIAL, "title", "office"]);

const hasBreak = (gap: string): boolean => LINE_BREAK.test(gap);

/** Items (kept words and mentions) of some lines, with the gaps between them. */
export class LinePlaces {
  /** The gap before each item, and the gap at the end. */
  readonly gaps: string[] = [];
  /** For each item its mention; `undefined` for a kept word. */
  readonly mentions: (EntityMention | undefined)[] = [];
  /** For the index of a mention that a rule has split: the kept texts and mentions in its place. */
  readonly pieces = new Map<number, readonly (string | EntityMention)[]>();
  readonly #words: string[] = [];

  constructor(
    elements: readonly (string | EntityMention)[],
    readonly factWords: FactWords,
    /** Whether the line begins before the first element. */
    readonly cutBefore: boolean,
    /** Whether the line continues after the last element. */
    readonly cutAfter: boolean,
    /** The last kept word of the earlier lines. */
    readonly wordBefore: string,
  ) {
    let gap = "";
    for (const element of elements) {
      if (typeof element !== "string") {
        this.#append(gap, "", element);
        gap = "";
        continue;
      }
      let position = 0;
      for (const { 0: word, index } of element.matchAll(WORD)) {
        this.#append(gap + element.slice(position, index), word, undefined);
        [gap, position] = ["", index + word.length];
      }
      gap += element.slice(position);
    }
    this.gaps.push(gap);
  }

  #append(gap: string, word: string, mention: EntityMention | undefined): void {
    this.gaps.push(gap);
    this.#words.push(word);
    this.mentions.push(mention);
  }

  /** Turn mentions into kept words, and return the number of tokens of these mentions. */
  keep(texts: ReadonlyMap<number, string>): number {
    let count = 0;
    for (const [index, text] of texts) {
      count += (this.mentions[index] as EntityMention).span.tokens.length;
      [this.#words[index], this.mentions[index]] = [text, undefined];
    }
    return count;
  }

  /** Return kept texts and mentions in turn. */
  listElements(): (string | EntityMention)[] {
    const elements: (string | EntityMention)[] = [];
    let kept = "";
    this.#words.forEach((word, index) => {
      kept += this.getGap(index);
      const mention = this.mentions[index];
      for (const piece of mention === undefined ? [word] : (this.pieces.get(index) ?? [mention])) {
        if (typeof piece === "string") {
          kept += piece;
        } else {
          elements.push(kept, piece);
          kept = "";
        }
      }
    });
    return [...elements, kept + this.getGap(this.#words.length)];
  }

  getGap(index: number): string {
    return this.gaps[index] ?? "";
  }

  /** Return whether the gap at an index has a line break. */
  hasBreak(index: number): boolean {
    return hasBreak(this.getGap(index));
  }

  /** Return the kept word at an index; empty for a mention, and for an index outside of the lines. */
  getWord(index: number): string {
    return this.#words[index] ?? "";
  }

  #getLower(index: number): string {
    return this.getWord(index).toLowerCase();
  }

  /** Return the entity type that pass 2 gave the mention at an index; empty for a kept word. */
  getClass(index: number): string {
    return this.mentions[index]?.span.entityType ?? "";
  }

  #isOutside(index: number): boolean {
    return index < 0 || index >= this.#words.length;
  }

  /**
   * Return whether one of `words` is among the last `most` items of the same line before an index. At the start of the
   * first line, the last kept word of the earlier lines counts too.
   */
  follows(index: number, words: ReadonlySet<string>, most = 3): boolean {
    for (let at = index; at > index - most; at--) {
      if (at === 0) return this.cutBefore || words.has(this.wordBefore.toLowerCase());
      const before = this.#getLower(at - 1).split(" ");
      if (before.some((word) => words.has(word)) && !this.#isUsed(at, index)) return true;
      if (hasBreak(this.getGap(at))) return false;
    }
    return false;
  }

  /** Return whether a word before `at`, such as *code*, names no secret, since a verb or *of length* follows it. */
  #isUsed(at: number, index: number): boolean {
    const verb = this.getWord(at);
    if (!USES.test(verb) && !(verb === "of" && this.getWord(at + 1) === "length")) return false;
    return USED.test(this.#getLower(at - 1)) && this.gaps.slice(at, index + 1).every((gap) => gap === " ");
  }

  /**
   * Return the words of up to `most` items before an index, the nearest first, in lower case; "" for a mention. They are
   * those that `follows` compares; the list is empty if the beginning of the line is unknown.
   */
  listWordsBefore(index: number, most: number): string[] {
    const found: string[] = [];
    for (let at = index; at > index - most; at--) {
      if (at === 0) return this.cutBefore ? [] : [...found, this.wordBefore.toLowerCase()];
      found.push(
        ...this.#getLower(at - 1)
          .split(" ")
          .reverse(),
      );
      if (hasBreak(this.getGap(at))) break;
    }
    return found;
  }

  /** The last item if it is a kept word; empty if it is a mention. */
  get lastWord(): string {
    return this.#words.at(-1)?.split(" ").at(-1) ?? this.wordBefore;
  }

  /** Count the other numbers of a line that belong together with the number at an index, up to 2. */
  countNeighbors(index: number): number {
    let count = 0;
    for (const step of [-1, 1]) {
      let at = index;
      while (count < 2) {
        at = this.#findJoinedNumber(at, step);
        if (at < 0) break;
        count++;
      }
    }
    return count;
  }

  /** Return the index of the next number that no word separates from an index; -1 if there is none. */
  #findJoinedNumber(index: number, step: number): number {
    let at = index;
    while (true) {
      const gap = this.getGap(step < 0 ? at : at + 1);
      at += step;
      if (hasBreak(gap)) return -1;
      if (this.#isOutside(at)) return (step < 0 ? this.cutBefore : this.cutAfter) ? index : -1; // counts as many numbers
      if (this.#isNumber(at)) return at;
      if (this.getWord(at) !== "" && !this.factWords.joiningWords.has(this.#getLower(at))) return -1;
    }
  }

  #isNumber(index: number): boolean {
    const [first = ""] = this.getWord(index);
    return (
      NUMERIC_TYPES.has(this.getClass(index)) ||
      (first !== "" && isDigit(first)) ||
      this.factWords.numberWords.has(this.#getLower(index))
    );
  }

  /** Return whether all numbers next to a year are years too; numbers after a separating word do not count. */
  hasOnlyYearsBeside(index: number): boolean {
    return [-1, 1].every((step) => {
      const at = this.#findJoinedNumber(index, step);
      return at < 0 || ["year", "year-range"].includes(this.getClass(at));
    });
  }

  /** Yield the indices of the other words and mentions of a line, outward from an index. */
  *iterateLine(index: number): Generator<number> {
    for (const step of [-1, 1]) {
      let at = index;
      while (Math.abs(at - index) < MAX_SENTENCE && !hasBreak(this.getGap(step < 0 ? at : at + 1))) {
        at += step;
        if (this.#isOutside(at)) break;
        yield at;
      }
    }
  }

  /** Return whether a typing error may be corrected at an index. */
  isErrorPlace(index: number): boolean {
    if (this.getClass(index - 1) !== "" || this.getClass(index + 1) !== "") return false;
    let kept = 0;
    for (const at of this.iterateLine(index)) kept += this.mentions[at] === undefined ? 1 : -1;
    return kept > 1;
  }

  /** Return whether a month may be kept at an index. */
  isMonthPlace(index: number): boolean {
    const precedesYear = ["year", "year-range"].includes(this.getClass(index + 1));
    if (precedesYear && [" ", ", "].includes(this.getGap(index + 1))) return !this.#isValue(index - 1);
    const isPlace = this.factWords.monthLeads.has(this.#getLower(index - 1)) && this.getGap(index) === " ";
    return isPlace && !this.#isValue(index + 1);
  }

  /**
   * Return whether a month with a year begins or ends a range: `June 2022 - Present`, `May 2019 to June 2020`. A month
   * in such a range is not a part of a name, whatever word precedes it.
   */
  isMonthRange(index: number): boolean {
    if (this.getClass(index + 1) !== "year" || ![" ", ", "].includes(this.getGap(index + 1))) return false;
    const after = this.#findRangeEnd(index + 1);
    if (["month", "year"].includes(this.getClass(after)) || PRESENT.has(this.#getLower(after))) return true;
    return [index - 1, index - 2].some(
      (at) => this.getClass(at) === "year" && this.getClass(at - 1) === "month" && this.#findRangeEnd(at) === index,
    );
  }

  /** Return whether a year and a dash precede a mention: `2022 - Present`. */
  endsYearRange(index: number): boolean {
    return this.getClass(index - 1) === "year" && DASH.test(this.getGap(index));
  }

  /** Return the index of the item that ends the range of the year at an index; -1 if there is no range. */
  #findRangeEnd(index: number): number {
    const gap = this.getGap(index + 1);
    if (DASH.test(gap)) return index + 1;
    const isRange = gap === " " && this.factWords.rangeWords.has(this.#getLower(index + 1));
    return isRange && this.getGap(index + 2) === " " ? index + 2 : -1;
  }

  /** Return whether the item at an index is a number or a mention of capitalized words. */
  #isValue(index: number): boolean {
    return !this.#isOutside(index) && (this.#isNumber(index) || CAPITAL.has(this.getClass(index)));
  }

  /** Return whether capitalized words directly follow a number, without a percent sign between them. */
  precedesCapital(index: number): boolean {
    const gap = this.getGap(index + 1);
    return CAPITAL.has(this.getClass(index + 1)) && !hasBreak(gap) && !gap.startsWith("%");
  }

  /** Return whether one kept letter directly follows a number: a unit, or a part of a house number (`27b`). */
  hasLetter(index: number): boolean {
    return this.getGap(index + 1) === "" && this.getWord(index + 1).length === 1;
  }

  /** Return whether an item of a line is replaced text, but neither a number nor a date. */
  isHidden(index: number, gap: number): boolean {
    if (this.#isOutside(index)) return index < 0 ? this.cutBefore : this.cutAfter;
    const entityType = this.getClass(index);
    return entityType !== "" && !NUMERIC_TYPES.has(entityType) && !hasBreak(this.getGap(gap));
  }

  /** Return whether a comma and a mention with a capital follow a mention, as in `Price, Anna`. */
  precedesName(index: number): boolean {
    return this.gaps[index + 1] === ", " && CAPITAL.has(this.getClass(index + 1));
  }

  /** Return whether the item before or after a mention is a mention of capitalized words. */
  hasCapitalBeside(index: number): boolean {
    return CAPITAL.has(this.getClass(index - 1)) || CAPITAL.has(this.getClass(index + 1));
  }

  /** Return whether a letter is isolated: it has no single letter and no mention directly beside it. */
  isSingleLetter(index: number): boolean {
    return [index - 1, index + 1].every(
      (at) => this.#isOutside(at) || (this.getWord(at).length !== 1 && this.mentions[at] === undefined),
    );
  }

  /** Return whether an item of a line is a single letter, a number or a mention, or is unknown. */
  isSymbol(index: number, gap: number): boolean {
    if (this.#isOutside(index)) return index < 0 ? this.cutBefore : this.cutAfter;
    const word = this.getWord(index);
    return (word.length < 2 || isDigit(word.charAt(0))) && !hasBreak(this.getGap(gap));
  }

  /**
   * Return whether a bare number may be kept at an index: a kept word is directly before it, and a kept word or the end
   * of the text directly after it. Only a blank, marks of source code, a colon or the end of a sentence may be between.
   */
  isBarePlace(index: number): boolean {
    const [before, word] = [this.getGap(index), this.getWord(index - 1)];
    if (word === "" || !BARE_GAP.test(before) || word.toLowerCase() === "at") return false; // he lives at 14
    if (/^[.?!:;)]/.test(before) && !LAST_WORD.test(word)) return false;
    const isLast = index + 1 === this.#words.length && !this.cutAfter;
    return (isLast || this.getWord(index + 1) !== "") && this.#hasLowerWord(index);
  }

  #hasLowerWord(index: number): boolean {
    for (const at of this.iterateLine(index)) if (isLower(this.getWord(at))) return true;
    return false;
  }

  /**
   * Return whether a mention may be a heading: a word of `leads` precedes the mention, or the mention is neither in a
   * clause nor next to a capitalized mention. It is in a clause if a kept lower-case word and a blank precede it.
   */
  isHeadingPlace(index: number, leads: ReadonlySet<string>): boolean {
    const before = this.getGap(index) === " " ? this.getWord(index - 1) : "";
    return leads.has(before.toLowerCase()) || !(isLower(before) || this.#hasJoinedCapital(index));
  }

  /** Return whether a mention of capitalized words is next to a mention and not separated by a list mark. */
  #hasJoinedCapital(index: number): boolean {
    const isJoined = (at: number, gap: number): boolean =>
      CAPITAL.has(this.getClass(at)) && !LIST_GAP.test(this.getGap(gap));
    return isJoined(index - 1, index) || isJoined(index + 1, index + 1);
  }

  /** Return whether a mention begins a sentence, and a comma or a word of `followers` comes after it. */
  beginsSentence(index: number, followers: ReadonlySet<string>): boolean {
    const after = this.getGap(index + 1);
    if (!after.startsWith(", ") && !(after === " " && this.#isWordOf(index + 1, followers))) return false;
    return this.beginsLine(index) || this.#endsSentence(index);
  }

  /**
   * Return whether a mention begins a sentence or a clause, and a word of `followers` follows it. If `followers` is
   * undefined, any lower-case word may follow.
   */
  beginsClause(index: number, followers: ReadonlySet<string> | undefined): boolean {
    const isFollower =
      followers === undefined ? isLower(this.getWord(index + 1)) : this.#isWordOf(index + 1, followers);
    if (this.getGap(index + 1) !== " " || !isFollower) return false;
    if (this.beginsLine(index) || this.#endsSentence(index)) return true;
    const [before, gap] = [this.getClass(index - 1), this.getGap(index)];
    const isNumber = NUMERIC_TYPES.has(before);
    if (index > 0 && ![LONE_INITIAL, "title", "office"].includes(before) && CLAUSE_END.test(gap)) return true;
    // an entry of a table: `Sales $ 500 Variable expenses`
    if (isNumber && gap === " ") return !this.factWords.addressWords.has(this.getWord(index + 1));
    return (isNumber || before === "word") && SENTENCE_END.test(gap);
  }

  #isWordOf(index: number, words: ReadonlySet<string>): boolean {
    const word = this.getWord(index);
    return words.has(word) || (word === "I" && words.has("i"));
  }

  /** Return whether an item begins a line, behind marks of a list. */
  beginsLine(index: number): boolean {
    const before = this.getGap(index);
    if (index === 0) return !this.cutBefore && LIST_MARK.test(before.slice(before.lastIndexOf("\n") + 1));
    return hasBreak(before);
  }

  /** Return whether a sentence ends before an item with a word of at least three lower-case letters. */
  #endsSentence(index: number): boolean {
    return SENTENCE_END.test(this.getGap(index)) && LAST_WORD.test(this.getWord(index - 1));
  }

  /** Return whether a number directly precedes the word or mention at an index. */
  followsNumber(index: number): boolean {
    return ["", " ", "-"].includes(this.getGap(index)) && NUMERIC_TYPES.has(this.getClass(index - 1));
  }

  /** Return whether a number and the sign of degrees directly precede a mention. */
  followsDegrees(index: number): boolean {
    return /^ *\u00b0 *$/.test(this.getGap(index)) && NUMERIC_TYPES.has(this.getClass(index - 1));
  }

  /** Return whether a kept word of a list is next to a mention, with a blank between them. */
  hasWordBeside(index: number, isListed: (word: string) => boolean): boolean {
    if (this.getGap(index) === " " && isListed(this.getWord(index - 1))) return true;
    return this.getGap(index + 1) === " " && isListed(this.getWord(index + 1));
  }

  /** Return whether the words next to a mention show that it is the name of a language: `in Spanish`. */
  isLanguagePlace(index: number): boolean {
    const isPair = this.getClass(index - 1) === "group" && this.getGap(index) === " ";
    if (this.#followsLanguageLead(isPair ? index - 1 : index)) return true;
    return this.factWords.languageNouns.has(this.#getLower(index + 1));
  }

  /** Return whether a word such as *in* precedes an index. */
  #followsLanguageLead(index: number): boolean {
    for (let count = 0; count < MAX_LANGUAGES; count++) {
      let [at, gap] = [index - 1, this.getGap(index)];
      const word = this.#getLower(at);
      if (gap === " " && this.factWords.languageLeads.has(word)) return true;
      if (gap === " " && LANGUAGE_LINKS.has(word)) [at, gap] = [at - 1, this.getGap(at)];
      else if (gap !== ", ") return false;
      if (this.getClass(at) !== "group" || (gap !== " " && gap !== ", ")) return false;
      index = this.getClass(at - 1) === "group" && this.getGap(at) === " " ? at - 1 : at;
    }
    return false;
  }

  /** Return whether a mention may be the country in the name of a language: `in US English`. */
  isVarietyPlace(index: number): boolean {
    if (this.getClass(index + 1) !== "group" || this.getGap(index + 1) !== " ") return false;
    const [next, { startFollowers, languageNouns }] = [this.getWord(index + 2), this.factWords];
    const isLast = index + 2 >= this.#words.length;
    const isEnd = isLast ? !this.cutAfter : this.getGap(index + 2) !== " ";
    return (isEnd || startFollowers.has(next) || languageNouns.has(next)) && this.#followsLanguageLead(index);
  }

  /** Return whether a kept word of a list precedes a mention, with a blank between them. */
  followsWord(index: number, isListed: (word: string) => boolean): boolean {
    return this.getGap(index) === " " && isListed(this.getWord(index - 1));
  }

  /**
   * Return whether a determiner and at most two kept lower-case words precede a mention, as in `the white van`, and no
   * mention follows after a blank.
   */
  isNounPlace(index: number): boolean {
    if (this.getGap(index + 1) === " " && this.getClass(index + 1) !== "") return false;
    for (let at = index; at > index - 3; at--) {
      const word = this.getWord(at - 1);
      if (this.getGap(at) !== " " || word === "") return false;
      if (this.factWords.determiners.has(word.toLowerCase())) return true;
      if (!isLower(word)) return false;
    }
    return false;
  }

  /** Return whether the words after a unit of time show that it measures an age: `47 years of age`. */
  isAge(index: number): boolean {
    const [first, second] = [this.#getLower(index + 1), this.#getLower(index + 2)];
    return this.factWords.ageEnds.has(first) || (first === "of" && second === "age");
  }

  /** Return whether the sentence of a mention has another mention of one of the types. */
  hasInSentence(index: number, types: ReadonlySet<string>): boolean {
    for (const step of [-1, 1]) {
      for (let at = index; Math.abs(at - index) < MAX_SENTENCE; ) {
        const gap = this.getGap(step < 0 ? at : at + 1);
        at += step;
        if (SENTENCE_END.test(gap) || hasBreak(gap)) break;
        if (this.#isOutside(at)) {
          if (step < 0 ? this.cutBefore : this.cutAfter) return true;
          break;
        }
        if (types.has(this.getClass(at))) return true;
      }
    }
    return false;
  }
}
