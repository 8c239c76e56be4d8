/**
 * Places of the facts: what stands around a mention, as the rules of `facts` may read it. A place is the kept text
 * around a mention, and the classes of the mentions beside it. It has no string of a mention.
 */

import type { FactWords } from "../../bundle/rules.js";
import { isDigit, isLower, WHITE } from "../segmentation/words.js";
import { CAPITALIZED_RUN, DIGIT_GROUP, LINE_BREAK, LONE_INITIAL } from "./entitySpans.js";
import type { EntityMention } from "./entityTypes.js";

/** A word of kept text, in the letters of Latin scripts. */
const WORD = /[0-9A-Za-z\u00c0-\u024f]+(?:['\u2019][0-9A-Za-z\u00c0-\u024f]+)*/g;
const SENTENCE_END = new RegExp(`[.!?]['")\u201d]*[${WHITE}]`);
/** Number of items of a sentence that are read in each direction. */
const MAX_SENTENCE = 64;
/** A word after which a full stop ends a sentence. */
const LAST_WORD = /^[a-z]{3,}$/;
/** Marks between a word and a bare number: blanks, marks of source code, a colon, and the end of a sentence. */
const BARE_GAP = /^(?:[ ([{"']{1,3}|-|_\{?|\^\{?| ?[:=<>!+*/&|]{1,3} ?\(?|[.?!:;)] ?\(?)$/;
/** Marks that separate the entries of a list, and so a capital from the one beside it. */
const LIST_GAP = /[,;:|/()[\]"\n\u2022\u201c\u201d]/;
/** Marks of source code behind and before a name, and words before one. */
const CODE_AFTER = /^(?: ?(?:[-+*/|&<>=!]?=|::|;|\(|\[|\)(?:[;:,.) \n]|$)|<)|\.$|[,}\]](?=\n)| [{}])/;
const CODE_BEFORE = /(?:(?:[.=(<[{]|::|[=<>] |->|[ (]-)|^-)$/;
const CALL = /^(?:[([][(["'&*-]{0,3}|\.)$/;
const ASSIGNMENT = /^ ?[:?]?=(?!=)/;
const CODE_WORDS: ReadonlySet<string> = new Set([
  ..."async await class const def double extends float function implements import int interface let".split(" "),
  ..."new private public raise return self static string struct this throw var void".split(" "),
]);
/** Words between the names of several languages, and the largest number of names that are read before one. */
const [LANGUAGE_LINKS, MAX_LANGUAGES] = [new Set(["and", "or"]), 8];
const BE: ReadonlySet<string> = new Set("are be became is s was were".split(" "));
/** Marks before the first word of a line; and marks that end a clause, before its first word. */
const LIST_MARK = /^[-*#>\u2022\xb7\u2013\u2014+ \t"'\u201c(]*$/;
const CLAUSE_END =
  /^(?:[:;]|[.,:;!?)"\u201d]? [-*\u2022\u2013\u2014|\u25aa\u25cf\u25cb\u25e6\u2192\u2713\uf0b7\xb7]) ["'(\u201c]?$/;
/** Types of spans by class. The class is all that a place reads of a mention beside it. */
export const NUMERIC_TYPES: ReadonlySet<string> = new Set([
  ..."number year digits account phone card ssn time date day decade ordinal age season year-range".split(" "),
  ...["spelled-number", "number-word", DIGIT_GROUP],
]);
const CAPITAL: ReadonlySet<string> = new Set([CAPITALIZED_RUN, LONE_INITIAL, "title", "office"]);

const hasBreak = (gap: string): boolean => LINE_BREAK.test(gap);

/** Words and mentions of some lines, with the gaps between them. */
export class LinePlaces {
  /** The gap before each item, and the gap at the end. */
  readonly gaps: string[] = [];
  /** For each item its mention; `undefined` for a kept word. */
  readonly mentions: (EntityMention | undefined)[] = [];
  /** Mentions that are cut: the index of each with its pieces. */
  readonly pieces = new Map<number, readonly (string | EntityMention)[]>();
  readonly #words: string[] = [];

  constructor(
    elements: readonly (string | EntityMention)[],
    readonly factWords: FactWords,
    /** Whether the line begins before the first element. */
    readonly cutBefore: boolean,
    /** Whether the line goes on after the last element. */
    readonly cutAfter: boolean,
    /** The last kept word of the lines before. */
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

  /** Turn mentions into kept words with the given texts, and return how many tokens these have. */
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

  /** Return the kept word at an index; an empty string for a mention, and outside of the lines. */
  getWord(index: number): string {
    return this.#words[index] ?? "";
  }

  #getLower(index: number): string {
    return this.getWord(index).toLowerCase();
  }

  /** Return the provisional type of the mention at an index; an empty string for a kept word. */
  getClass(index: number): string {
    return this.mentions[index]?.span.entityType ?? "";
  }

  #isOutside(index: number): boolean {
    return index < 0 || index >= this.#words.length;
  }

  /**
   * Return whether one of the words is among the items before an index, three or `most`. Of an earlier line only the
   * last word counts, and only for the first item of a line.
   */
  follows(index: number, words: ReadonlySet<string>, most = 3): boolean {
    for (let at = index; at > index - most; at--) {
      if (at === 0) return this.cutBefore || words.has(this.wordBefore.toLowerCase());
      if (words.has(this.#getLower(at - 1))) return true;
      if (hasBreak(this.getGap(at))) return false;
    }
    return false;
  }

  /** The last kept word; empty if a mention stands there. */
  get lastWord(): string {
    return this.#words.at(-1) ?? this.wordBefore;
  }

  /** Return how many other numbers of a line no separating word stands between, 2 at most. */
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

  /** Return the index of the next number in a direction; -1 if a word or the end of the line is between. */
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

  /** Return whether each number that no word separates from a year is a year too. */
  hasOnlyYearsBeside(index: number): boolean {
    return [-1, 1].every((step) => {
      const at = this.#findJoinedNumber(index, step);
      return at < 0 || ["year", "year-range"].includes(this.getClass(at));
    });
  }

  /** Return the items of the line of an item in both directions, at most 64 in each. */
  *#iterateLine(index: number): Generator<number> {
    for (const step of [-1, 1]) {
      let at = index;
      while (Math.abs(at - index) < MAX_SENTENCE && !hasBreak(this.getGap(step < 0 ? at : at + 1))) {
        at += step;
        if (this.#isOutside(at)) break;
        yield at;
      }
    }
  }

  /** Return whether no slot stands beside a word, and its line has more kept words than slots. */
  isErrorPlace(index: number): boolean {
    if (this.getClass(index - 1) !== "" || this.getClass(index + 1) !== "") return false;
    let kept = 0;
    for (const at of this.#iterateLine(index)) kept += this.mentions[at] === undefined ? 1 : -1;
    return kept > 1;
  }

  /** Return whether a month stands before a year, or behind a word such as *in*, with no number beside it. */
  isMonthPlace(index: number): boolean {
    const precedesYear = ["year", "year-range"].includes(this.getClass(index + 1));
    if (precedesYear && [" ", ", "].includes(this.getGap(index + 1))) return !this.#isValue(index - 1);
    const isPlace = this.factWords.monthLeads.has(this.#getLower(index - 1)) && this.getGap(index) === " ";
    return isPlace && !this.#isValue(index + 1);
  }

  /** Return whether a number or a replaced capital stands at an index. */
  #isValue(index: number): boolean {
    return !this.#isOutside(index) && (this.#isNumber(index) || CAPITAL.has(this.getClass(index)));
  }

  /** Return whether a replaced capital follows a number directly, with no sign of per cent between. */
  precedesCapital(index: number): boolean {
    const gap = this.getGap(index + 1);
    return CAPITAL.has(this.getClass(index + 1)) && !hasBreak(gap) && !gap.startsWith("%");
  }

  /** Return whether a replaced capital stands directly before or after a mention. */
  hasCapitalBeside(index: number): boolean {
    return CAPITAL.has(this.getClass(index - 1)) || CAPITAL.has(this.getClass(index + 1));
  }

  /** Return whether no letter and no mention stands directly before or after a letter. */
  isSingleLetter(index: number): boolean {
    return [index - 1, index + 1].every(
      (at) => this.#isOutside(at) || (this.getWord(at).length !== 1 && this.mentions[at] === undefined),
    );
  }

  /**
   * Return whether kept words stand directly before and after a number, or the text ends after it. Between the word
   * before and the number is a blank, a mark of source code, a colon or the end of a sentence.
   */
  isBarePlace(index: number): boolean {
    const [before, word] = [this.getGap(index), this.getWord(index - 1)];
    if (word === "" || !BARE_GAP.test(before) || word.toLowerCase() === "at") return false; // he lives at 14
    if (/^[.?!:;)]/.test(before) && !LAST_WORD.test(word)) return false;
    const isLast = index + 1 === this.#words.length && !this.cutAfter;
    return (isLast || this.getWord(index + 1) !== "") && this.#hasLowerWord(index);
  }

  #hasLowerWord(index: number): boolean {
    for (const at of this.#iterateLine(index)) if (isLower(this.getWord(at))) return true;
    return false;
  }

  /** Return whether a title or a role precedes a run, or a word of kinship follows it. */
  isNamePlace(index: number, roles: ReadonlySet<string>, kin: ReadonlySet<string>): boolean {
    if (["title", "office"].includes(this.getClass(index - 1))) return true;
    if ([" ", ". "].includes(this.getGap(index)) && roles.has(this.#getLower(index - 1))) return true;
    return this.getWord(index + 1) === "s" && kin.has(this.#getLower(index + 2));
  }

  /** Return whether a role and a verb such as *is* precede a run, as in `my teacher is`. */
  followsRole(index: number, roles: ReadonlySet<string>): boolean {
    return BE.has(this.#getLower(index - 1)) && this.follows(index, roles);
  }

  /**
   * Return whether one of some words precedes a mention, or it stands neither in a clause nor beside a capital. It
   * stands in a clause if a blank and a kept word in lower case precede it.
   */
  isHeadingPlace(index: number, leads: ReadonlySet<string>): boolean {
    const before = this.getGap(index) === " " ? this.getWord(index - 1) : "";
    return leads.has(before.toLowerCase()) || !(isLower(before) || this.#hasJoinedCapital(index));
  }

  /** Return whether a replaced capital stands beside a mention, with no mark of a list between. */
  #hasJoinedCapital(index: number): boolean {
    const isJoined = (at: number, gap: number): boolean =>
      CAPITAL.has(this.getClass(at)) && !LIST_GAP.test(this.getGap(gap));
    return isJoined(index - 1, index) || isJoined(index + 1, index + 1);
  }

  /** Return whether a mention begins a sentence, and a comma or one of the words follows it. */
  beginsSentence(index: number, followers: ReadonlySet<string>): boolean {
    const after = this.getGap(index + 1);
    if (!after.startsWith(", ") && !(after === " " && followers.has(this.getWord(index + 1)))) return false;
    return this.#beginsLine(index) || this.#endsSentence(index);
  }

  /**
   * Return whether a mention begins a sentence or a clause, and one of the words follows it; without words any word in
   * lower case.
   */
  beginsClause(index: number, followers: ReadonlySet<string> | undefined): boolean {
    const following = this.getWord(index + 1);
    if (this.getGap(index + 1) !== " " || !(followers === undefined ? isLower(following) : followers.has(following)))
      return false;
    if (this.#beginsLine(index) || this.#endsSentence(index)) return true;
    if (CLAUSE_END.test(this.getGap(index)) && this.getWord(index - 1) !== "") return true;
    const before = this.getClass(index - 1);
    return (NUMERIC_TYPES.has(before) || before === "word") && SENTENCE_END.test(this.getGap(index));
  }

  #beginsLine(index: number): boolean {
    const before = this.getGap(index);
    if (index === 0) return !this.cutBefore && LIST_MARK.test(before.slice(before.lastIndexOf("\n") + 1));
    return hasBreak(before);
  }

  /** Return whether a sentence ends before an item, with a kept word of three small letters or more. */
  #endsSentence(index: number): boolean {
    return SENTENCE_END.test(this.getGap(index)) && LAST_WORD.test(this.getWord(index - 1));
  }

  /** Return whether a number stands directly before a unit. */
  followsNumber(index: number): boolean {
    return ["", " ", "-"].includes(this.getGap(index)) && NUMERIC_TYPES.has(this.getClass(index - 1));
  }

  /** Return whether a number and the sign of degrees precede a mention directly. */
  followsDegrees(index: number): boolean {
    return /^ *\u00b0 *$/.test(this.getGap(index)) && NUMERIC_TYPES.has(this.getClass(index - 1));
  }

  /** Return whether marks of source code stand directly beside a mention. */
  isCodePlace(index: number): boolean {
    const before = this.getGap(index);
    if (CODE_AFTER.test(this.getGap(index + 1)) || CODE_BEFORE.test(before)) return true;
    return before === " " && CODE_WORDS.has(this.getWord(index - 1));
  }

  /** Return whether a word is called or indexed, has a member, or declares the word behind it. */
  isCodeWord(index: number): boolean {
    if (index + 1 >= this.#words.length) return false;
    const after = this.getGap(index + 1);
    return CALL.test(after) || (after === " " && ASSIGNMENT.test(this.getGap(index + 2)));
  }

  /** Return whether a kept word of a list stands before or after a mention, with a blank between. */
  hasWordBeside(index: number, isListed: (word: string) => boolean): boolean {
    if (this.getGap(index) === " " && isListed(this.getWord(index - 1))) return true;
    return this.getGap(index + 1) === " " && isListed(this.getWord(index + 1));
  }

  /** Return whether a word stands where names of languages stand. */
  isLanguagePlace(index: number): boolean {
    const isPair = this.getClass(index - 1) === "group" && this.getGap(index) === " ";
    if (this.#followsLanguageLead(isPair ? index - 1 : index)) return true;
    return this.factWords.languageNouns.has(this.#getLower(index + 1));
  }

  /** Return whether a word such as *in* precedes an index, or other groups in a list behind one. */
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

  /** Return whether a mention may be the country of a language, as in `in US English`: a group without noun follows. */
  isVarietyPlace(index: number): boolean {
    if (this.getClass(index + 1) !== "group" || this.getGap(index + 1) !== " ") return false;
    const [next, { startFollowers, languageNouns }] = [this.getWord(index + 2), this.factWords];
    const isLast = index + 2 >= this.#words.length;
    const isEnd = isLast ? !this.cutAfter : this.getGap(index + 2) !== " ";
    return (isEnd || startFollowers.has(next) || languageNouns.has(next)) && this.#followsLanguageLead(index);
  }

  /** Return whether a kept word of a list and a blank precede a mention. */
  followsWord(index: number, isListed: (word: string) => boolean): boolean {
    return this.getGap(index) === " " && isListed(this.getWord(index - 1));
  }

  /**
   * Return whether a determiner, and at most two kept words in lower case, precede a mention, as in `the white van`. No
   * mention follows behind a blank.
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

  /** Return whether a unit of time is that of an age: `47 years of age`. */
  isAge(index: number): boolean {
    const [first, second] = [this.#getLower(index + 1), this.#getLower(index + 2)];
    return this.factWords.ageEnds.has(first) || (first === "of" && second === "age");
  }

  /** Return whether another mention of the types stands near a mention in its sentence. */
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
