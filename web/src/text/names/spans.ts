/** Pass 2 of the mode `names`: kept words in context, and entity spans. It reads classes, case patterns and gaps. */

import { includesWord, type Rules } from "../../bundle/rules.js";
import { AFTER_TITLE, MIN_HEADLINE_WORDS, SPELLED_LETTERS } from "../../constants.js";
import { characters, types } from "../../data.js";
import { LOWER, TITLE } from "../segmentation/words.js";
import {
  CAPITALIZED_RUN,
  ENDS_BEFORE_WORD,
  type EntitySpan,
  LINE_BREAK,
  LONE_INITIAL,
  OPENING_MARKS,
  SENTENCE_END,
  type TextElement,
} from "./entitySpans.js";
import { hideCuedNames, isListedName } from "./nameCues.js";
import {
  findIbanEnd,
  findListNumber,
  findNumber,
  getGapBeforeDigits,
  includesSign,
  markDigitsBesideMonths,
  type TokenLine,
} from "./numbers.js";
import { APOSTROPHE } from "./spelledTokens.js";
import { INWARD_HALF, OUTWARD_HALF } from "./stringTypes.js";
import {
  addCommonNames,
  BEGINS_DOTTED_NAME,
  BEGINS_PLACE,
  BEGINS_UNIT,
  CAPITALIZED,
  CLITIC,
  DIGITS,
  dropNouns,
  findConnectorsEnd,
  findMemberEnd,
  findRunCase,
  INITIAL,
  INITIALS,
  isEmphasized,
  isNoun,
  KEPT,
  KEPT_AT_SENTENCE,
  KEPT_AT_START,
  KEPT_WITH_CAPITALS,
  LEGAL_FORM,
  mayBeginName,
  mayFollowInitials,
  NAME_AFTER_TITLE,
  NAME_FLAGS,
  type NamesToken,
  NUMBER_WORD,
  REPLACED,
  SURNAME,
} from "./tokens.js";

const { gaps: data } = characters;

/** Finder of entity spans in one text: its words, the gap before each, and the gap at its end. */
export class SpanFinder implements TokenLine {
  keptCount = 0;
  start = 0;
  end = 0;
  #hasLowerWord = false;
  /** Index of the first word after the last span. */
  #afterLastSpan = 0;
  #hasCapitals = false;
  #cue = "";
  /** Last kept number of a list. */
  #lastListNumber: readonly number[] = [];
  readonly #hidden: Uint8Array;
  /** Range of words that begin no part of an address. */
  #plainStart = 0;
  #plainEnd = 0;

  constructor(
    readonly words: NamesToken[],
    readonly gaps: string[],
    readonly isLetter: (text: string) => boolean,
    readonly rules: Rules,
  ) {
    this.#hidden = new Uint8Array(words.length);
  }

  /** Return kept texts and entity spans of a text whose JSON key is a `cue`, in a document with a capital or without. */
  iterateElements(hasCapitals: boolean, cue: string): TextElement[] {
    [this.#hasCapitals, this.#cue] = [hasCapitals, cue];
    const elements: TextElement[] = [""];
    const { words, gaps } = this;
    for (this.start = 0; this.start < words.length; this.start = this.end) {
      this.end = this.start + 1;
      while (this.end < words.length && !LINE_BREAK.test(gaps[this.end] ?? "")) this.end++;
      this.#appendLineElements(elements);
    }
    elements[elements.length - 1] = (elements[elements.length - 1] as string) + (gaps[words.length] ?? "");
    return elements;
  }

  #getWord(index: number): NamesToken {
    return this.words[index] as NamesToken;
  }

  #getGap(index: number): string {
    return this.gaps[index] ?? "";
  }

  #appendLineElements(elements: TextElement[]): void {
    const { gaps } = this;
    if (this.rules.dates.links.length > 0 || this.rules.dates.day_stop)
      markDigitsBesideMonths(this, this.rules.dates, (index) => this.#hasReadableKey(index));
    const capitalized = this.#findCapitalized();
    this.#hasLowerWord = false;
    for (let index = this.start; index < this.end && !this.#hasLowerWord; index++) {
      this.#hasLowerWord = gaps[index] !== "-" && this.#isLowerWord(this.#getWord(index));
    }
    if (capitalized.length > 0) this.#hideCapitalized(capitalized);
    this.#hideSurnames(capitalized);
    hideCuedNames(this, this.#hidden, this.#hasCapitals, this.rules.facts, this.#cue);
    let keptText = elements.pop() as string;
    for (let index = this.start; index < this.end; ) {
      const word = this.#getWord(index);
      keptText += gaps[index] ?? "";
      let span: EntitySpan;
      if ((index === this.start && this.#continuesList()) || this.#isKept(index)) {
        this.keptCount++;
        keptText += word.text;
        index++;
        continue;
      }
      if (this.#hidden[index] && word.tokenClass < CAPITALIZED) {
        span = this.#makeSpan("word", index, index + 1, LOWER, word.layout);
      } else if (word.tokenClass === KEPT && !this.#hidden[index]) {
        const end = this.#findAddressEnd(index);
        span = this.#makeSpan(word.flags & BEGINS_UNIT && end === index + 1 ? "unit" : "word", index, end);
      } else if (this.#hidden[index]) {
        span = this.#makeRun(index);
      } else if (word.flags & OUTWARD_HALF && this.#isInwardCode(index + 1)) {
        span = this.#makeSpan("postcode", index, index + 2);
      } else if (findIbanEnd(this, index) > 0) {
        span = this.#makeSpan("iban", index, findIbanEnd(this, index));
      } else if (word.tokenClass === DIGITS) {
        span = this.#makeNumberSpan(index);
        const sign = keptText.slice(-1);
        if (span.text.startsWith("\0")) {
          span.text = sign + span.text.slice(1);
          keptText = keptText.slice(0, -1);
        }
      } else {
        span = this.#makeSpan(word.entityType, index, index + 1, word.case, word.layout);
      }
      if (span.tokens.length === 1 && span.entityType === "word" && !this.#hasCapitals) this.#hideNextNoun(index);
      elements.push(keptText, span);
      keptText = "";
      index += span.tokens.length;
      this.#afterLastSpan = index;
    }
    elements.push(keptText);
  }

  #makeSpan(
    entityType: string,
    start: number,
    end: number,
    pattern = LOWER,
    layout = "",
    runFields: Partial<Pick<EntitySpan, "precedingWord" | "titleCaseWords" | "endsInInitial">> = {},
  ): EntitySpan {
    let text = this.#getWord(start).text;
    for (let index = start + 1; index < end; index++) text += this.#getGap(index) + this.#getWord(index).text;
    const tokens = this.words.slice(start, end);
    return {
      entityType,
      case: pattern,
      layout,
      tokens,
      text,
      precedingWord: "",
      titleCaseWords: 0,
      endsInInitial: false,
      ...runFields,
    };
  }

  /** Return the indices of capitalized words of the line, with particles that precede one. */
  #findCapitalized(): number[] {
    const capitalized: number[] = [];
    for (let index = this.end - 1; index >= this.start; index--) {
      let word = this.#getWord(index);
      if (word.tokenClass === REPLACED && word.entityType === "particle") {
        const precedesName =
          index + 1 < this.end &&
          this.#getWord(index + 1).tokenClass >= CAPITALIZED &&
          includesWord(data.joins, this.#getGap(index + 1));
        word = precedesName ? { ...word, tokenClass: CAPITALIZED } : { ...word, entityType: "word" };
        this.words[index] = word;
      }
      if (word.tokenClass >= CAPITALIZED) capitalized.push(index);
      if (word.tokenClass === CAPITALIZED && word.flags & LEGAL_FORM) this.#attachFullStop(index);
    }
    return capitalized.reverse();
  }

  /** Move the full stop after a legal form (`Inc.`) into its token, unless the stop ends a sentence. */
  #attachFullStop(index: number): void {
    const gap = this.#getGap(index + 1);
    const after = this.words[index + 1];
    const isInsideSentence =
      after !== undefined && after.case === LOWER && after.tokenClass !== DIGITS && after.tokenClass !== CAPITALIZED;
    if (gap === ". " ? !isInsideSentence : !/^\.[,)]/.test(gap)) return;
    const word = this.#getWord(index);
    this.words[index] = { ...word, text: `${word.text}.` };
    this.gaps[index + 1] = gap.slice(1);
  }

  /** Hide the word after a lower-case name, which may be a part of it (`martin short`). */
  #hideNextNoun(index: number): void {
    const after = index + 1;
    if (!isListedName(this.#getWord(index)) || after >= this.end || this.gaps[after] !== " ") return;
    const word = this.#getWord(after);
    if (
      word.tokenClass === KEPT &&
      word.case === LOWER &&
      (word.flags & ~(NUMBER_WORD | NAME_FLAGS)) === 0 &&
      word.entityType !== ""
    ) {
      this.#hidden[after] = 1;
    }
  }

  /** Return whether a word is the second half of a postal code, after a blank. */
  #isInwardCode(index: number): boolean {
    return index < this.end && this.gaps[index] === " " && (this.#getWord(index).flags & INWARD_HALF) !== 0;
  }

  /** Return whether a word is a lower-case word that does not occur in headlines. */
  #isLowerWord(word: NamesToken): boolean {
    if (word.case !== LOWER) return false;
    if (word.tokenClass === KEPT)
      return (
        !includesWord(this.rules.data.sentences.headline_words, word.key) &&
        this.isLetter(word.key) &&
        !word.key.endsWith("'")
      );
    return (
      word.tokenClass === KEPT_WITH_CAPITALS ||
      (word.tokenClass === REPLACED && includesWord(types.headline, word.entityType))
    );
  }

  /** Return whether the word at `index` is kept in its context. */
  #isKept(index: number): boolean {
    const word = this.#getWord(index);
    if (this.#hidden[index]) return false;
    if (word.tokenClass === KEPT) return word.flags === 0 || this.#findAddressEnd(index) === index;
    if (word.tokenClass === REPLACED) return word.flags !== 0 && this.#isCommonInContext(index);
    return word.tokenClass >= CAPITALIZED || (word.tokenClass === KEPT_WITH_CAPITALS && this.#hasCapitals);
  }

  /** Return whether a word is listed and kept. Only then may a decision depend on the word itself. */
  #hasReadableKey(index: number): boolean {
    if (index < this.start || index >= this.end) return false;
    return this.#getWord(index).tokenClass === KEPT && !this.#hidden[index] && this.#findAddressEnd(index) === index;
  }

  /** Return whether a word with an entity type is only a common word in its context. */
  #isCommonInContext(index: number): boolean {
    const word = this.#getWord(index);
    if (word.flags & CLITIC) return APOSTROPHE.test(this.#getGap(index));
    if ((word.entityType !== "title" && word.entityType !== "office") || !(word.flags & KEPT_AT_SENTENCE)) return false;
    if (!this.#startsSentence(index)) return false;
    const after = index + 1;
    return after === this.words.length || this.#getGap(after) !== " " || this.#getWord(after).tokenClass < CAPITALIZED;
  }

  /** Return whether a word that may begin a sentence, such as `Hope`, is a first name here. */
  #isFirstName(index: number): boolean {
    const { flags } = this.#getWord(index);
    if (!(flags & KEPT_AT_START) || !(flags & SURNAME)) return false;
    const after = index + 1;
    return !(this.#hasReadableKey(after) && this.#getGap(after) === " " && this.#getWord(after).case === LOWER);
  }

  #followsBreak(index: number): boolean {
    if (index === 0) return true;
    const gap = this.#getGap(index);
    const takesNoun =
      this.#getWord(index).flags & NAME_AFTER_TITLE &&
      this.#getWord(index - 1).entityType === "title" &&
      gap.includes(".");
    return !takesNoun && (gap.includes(" - ") || OPENING_MARKS.test(gap));
  }

  #startsSentence(index: number): boolean {
    if (index === 0) return true;
    const gap = this.#getGap(index);
    const before = this.#getWord(index - 1);
    if (!ENDS_BEFORE_WORD.test(gap)) return false;
    if (!SENTENCE_END.test(gap)) {
      const feeds = gap.split("\n").length - 1;
      return feeds > 1 || (feeds === 1 && this.#getGap(index + 1).startsWith(":"));
    }
    const isListed = before.tokenClass === KEPT || (before.tokenClass === KEPT_WITH_CAPITALS && this.#hasCapitals);
    if (!this.#hidden[index - 1] && isListed)
      return [...before.key].length >= 2 && !includesWord(this.rules.data.sentences.abbreviations, before.key);
    return (
      !gap.includes(".") ||
      (before.tokenClass !== INITIAL && !["title", "letter", SPELLED_LETTERS].includes(before.entityType))
    );
  }

  #isTitleCase(index: number): boolean {
    return this.#getWord(index).tokenClass === CAPITALIZED && this.#getWord(index).case === TITLE;
  }

  /** Mark the capitalized words of a line that are replaced, and lower-case words that a hyphen joins to them. */
  #hideCapitalized(capitalized: readonly number[]): void {
    const titleCaseWords = capitalized.filter((index) => this.#isTitleCase(index)).length;
    if (!this.#hasLowerWord && (titleCaseWords === 0 || titleCaseWords >= MIN_HEADLINE_WORDS)) {
      this.#hideInHeadline(capitalized);
      return;
    }
    let first = 0;
    for (let last = 1; last <= capitalized.length; last++) {
      const [begin = 0, before = 0, next = 0] = [capitalized[first], capitalized[last - 1], capitalized[last]];
      const isJoinedToRun =
        last < capitalized.length && this.#findMemberEnd(before) === next && this.#joinsRun(next, begin);
      if (!isJoinedToRun) {
        this.#hideGroup(capitalized.slice(first, last));
        first = last;
      }
    }
  }

  /** Mark the capitalized words of a headline that are replaced. Words that may begin a sentence are kept. */
  #hideInHeadline(capitalized: readonly number[]): void {
    const isReplaced = capitalized.map(
      (index) =>
        !(this.#getWord(index).flags & (KEPT_AT_START | KEPT_AT_SENTENCE)) ||
        this.#followsParticleOrInitials(index) ||
        this.#followsTitle(index) ||
        this.#isFirstName(index),
    );
    const isJoined = capitalized.map((index, number) => {
      const isNext = number > 0 && this.#findMemberEnd(capitalized[number - 1] ?? 0) === index;
      return isNext && includesWord(data.joins, this.#getGap(index));
    });
    const words = capitalized.map((index) => this.#getWord(index));
    const hidden = addCommonNames(isReplaced, isJoined, words);
    for (const index of capitalized.filter((_, number) => hidden[number])) this.#hideMember(index);
  }

  /** Mark common words that are family names before a comma and a name, where they open an entry: `Hope, Daniel`. */
  #hideSurnames(capitalized: readonly number[]): void {
    for (const index of capitalized) {
      const after = index + 1;
      if (!(this.#getWord(index).flags & SURNAME) || after >= this.end || this.#getGap(after) !== ", ") continue;
      const precedesName = this.#hidden[after] || this.#getWord(after).entityType === "title";
      if (precedesName && (this.#followsBreak(index) || this.#startsSentence(index))) this.#hidden[index] = 1;
    }
  }

  /** Return whether a capitalized word follows a particle or initials, and so is no word of a headline. */
  #followsParticleOrInitials(index: number): boolean {
    if (index === 0) return false;
    const [before, gap] = [this.#getWord(index - 1), this.#getGap(index)];
    if (before.flags & INITIALS || before.tokenClass === INITIAL) {
      const joins = includesWord(data.joins_initials, gap) || (gap === " " && before.flags & INITIALS);
      const mayBeHidden = includesWord(data.joins, this.#getGap(index - 1)) || this.#followsTitle(index - 1);
      const isLed = (index > 1 && mayBeHidden) || before.flags !== KEPT_AT_START;
      return Boolean(joins) && isLed && mayFollowInitials(this.#getWord(index));
    }
    return before.entityType === "particle" && before.tokenClass === CAPITALIZED;
  }

  /** Return the index after a word of a run (name) and after lower-case words that hyphens join to it. */
  #findMemberEnd(index: number): number {
    return findMemberEnd(this.words, this.gaps, index, this.end, this.rules.data.names.suffixes);
  }

  #hideMember(index: number): void {
    this.#hidden.fill(1, index, this.#findMemberEnd(index));
  }

  #hideGroup(group: readonly number[]): void {
    const first = group[0] ?? 0;
    const word = this.#getWord(first);
    let indices = group;
    const isName = this.#isFirstName(first) || this.#isWholeName(group);
    if (!isName && word.flags & KEPT_AT_START && this.#followsBreak(first)) {
      indices = group.slice(1);
    } else if (!isName && word.flags & KEPT_AT_SENTENCE && word.case === TITLE && this.#startsSentence(first)) {
      const rest = group.slice(1).map((index) => this.#getWord(index));
      indices = rest.every((token) => isEmphasized(token) || isNoun(token)) ? [] : group;
    }
    if (!this.#followsTitle(first)) indices = dropNouns(this.words, this.gaps, indices);
    if (indices.some((index) => !isEmphasized(this.#getWord(index)))) for (const at of indices) this.#hideMember(at);
  }

  /** Return whether a particle opens a name that is all of a quotation or line: `"El Brezo"`, `Van Bondt`. */
  #isWholeName(group: readonly number[]): boolean {
    if (!mayBeginName(this.words, this.gaps, group)) return false;
    const after = this.#findMemberEnd(group[group.length - 1] ?? 0);
    const marks = this.#getGap(group[0] ?? 0).slice(-1) + this.#getGap(after).slice(0, 1);
    return !this.#hasLowerWord || (marks.length === 2 && [...marks].every((mark) => data.quotes.includes(mark)));
  }

  /** Return whether a word follows a title, so that even a common noun is a name: `Frau Freund`. */
  #followsTitle(index: number): boolean {
    return index > 0 && this.#getWord(index - 1).entityType === "title" && [" ", ". "].includes(this.#getGap(index));
  }

  /** Return whether the gap before the word at `after` joins it to the run (name) that begins at `first`. */
  #joinsRun(after: number, first: number): boolean {
    const gap = this.#getGap(after);
    const before = this.#getWord(after - 1);
    if (includesWord(data.joins, gap) || (before.tokenClass === INITIAL && includesWord(data.joins_initials, gap)))
      return true;
    if (includesWord(data.joins_forms, gap) && this.#getWord(after).flags & LEGAL_FORM) return true;
    if (gap === ". " && before.flags & INITIALS && mayFollowInitials(this.#getWord(after))) return true;
    return gap === ". " && after - 1 === first && (before.flags & BEGINS_DOTTED_NAME) !== 0;
  }

  /** Return the span of the run that begins at an index. */
  #makeRun(start: number): EntitySpan {
    let end = this.#findMemberEnd(start);
    let first = start; // what stands together begins anew behind connectors
    for (let after = this.#findNextMember(end, first); after >= 0; after = this.#findNextMember(end, first)) {
      first = after === end ? first : after;
      end = this.#findMemberEnd(after);
    }
    const tokens = this.words.slice(start, end);
    const last = tokens[tokens.length - 1] as NamesToken;
    const isLone = tokens.length === 1 && last.tokenClass === INITIAL;
    let titleCaseWords = 0;
    if (!this.#hasLowerWord)
      for (let index = start; index < end; index++) if (this.#isTitleCase(index)) titleCaseWords++;
    return this.#makeSpan(isLone ? LONE_INITIAL : CAPITALIZED_RUN, start, end, findRunCase(tokens), "", {
      precedingWord: this.#findPrecedingWord(start),
      titleCaseWords,
      endsInInitial: last.tokenClass === INITIAL && !isLone,
    });
  }

  /** Return the key of the word before a run, if it may be read. */
  #findPrecedingWord(start: number): string {
    if (start === 0) return "";
    const last = this.#getWord(start - 1);
    const gap = this.#getGap(start);
    if (last.tokenClass === KEPT && gap === " " && start > this.#afterLastSpan) return last.key;
    return last.entityType === "title" && (gap === " " || gap === ". ") ? AFTER_TITLE : "";
  }

  /** Return the index of the next member of a run; -1 at its end. */
  #findNextMember(index: number, start: number): number {
    if (index >= this.end || !this.#joinsRun(index, start)) return -1;
    if (this.#hidden[index]) return index;
    if (this.gaps[index] !== " ") return -1;
    const after = findConnectorsEnd(this.words, this.gaps, index, this.end, this.rules.data.names.connectors);
    return after > index && after < this.end && this.#hidden[after] ? after : -1;
  }

  /** Return the end of the part of an address that begins at a kept word; `index` if no such part begins. */
  #findAddressEnd(index: number): number {
    const { flags } = this.#getWord(index);
    let after = index + 1;
    if (flags === 0 || after >= this.end) return index;
    if (this.#getWord(after).tokenClass === DIGITS && flags & BEGINS_UNIT) {
      const gap = getGapBeforeDigits(this, after);
      return gap === " " || includesWord(data.joins_initials, gap) ? after : index;
    }
    if (this.#hasCapitals || (index >= this.#plainStart && index < this.#plainEnd)) return index;
    while (this.#getWord(after - 1).flags & BEGINS_PLACE && after < this.end && this.gaps[after] === " ") {
      const word = this.#getWord(after);
      if (word.tokenClass === KEPT_WITH_CAPITALS || (word.tokenClass === REPLACED && word.entityType === "word"))
        return after + 1;
      after++;
    }
    [this.#plainStart, this.#plainEnd] = [index, after];
    return index;
  }

  /** Return the span of the digits at an index; its text begins with U+0000 if it includes the sign before it. */
  #makeNumberSpan(index: number): EntitySpan {
    const { entityType, layout, stop } = findNumber(this, index, this.rules, (at) => this.#hasReadableKey(at));
    const span = this.#makeSpan(entityType, index, stop, LOWER, layout);
    if (includesSign(this, index, span)) span.text = `\0${span.text}`;
    return span;
  }

  /** Return whether the first word of the line is the next number of a list, or 1, which is kept. */
  #continuesList(): boolean {
    const number = findListNumber(this, this.#lastListNumber);
    if (number.length > 0) this.#lastListNumber = number;
    return number.length > 0;
  }
}
