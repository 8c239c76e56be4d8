/** Fixed phrases, placeholders, labels, markers of choices and technical names, for the rules of `facts`. */

import { CENSUS, FUNCTION, NAME, RARE, START } from "../../bundle/namesFiles.js";
import type { FactWords } from "../../bundle/rules.js";
import { isDigit, isLower, TITLE } from "../segmentation/words.js";
import { CAPITALIZED_RUN, type EntitySpan } from "./entitySpans.js";
import { type LinePlaces, NUMERIC_TYPES } from "./factPlaces.js";
import type { FactStrings } from "./factStrings.js";
import { KEPT, type NamesToken } from "./tokens.js";

/** Largest number of words of a placeholder, and the gaps between them. */
const [MAX_PLACEHOLDER, INSIDE] = [6, new Set([" ", "-", "/", " / ", "'"])];
const [OPENING, CLOSING] = [/[[{<]["'*]?$/, /["'*]?[\]}>]/];
/** Marker and first word of a choice behind the first one; and the gap behind the marker of the first one. */
const [CHOICE, MARKER] = [/^[B-H][.] [A-Z][a-z]+$/, /^[.)] /];
/** Gaps before a short entry of a list, and behind it. */
const [BETWEEN, ENTRY_END] = [new Set([", ", "; "]), /^ ?[,.;)]/];
/** Determiners that may precede a name too: *the Kestrel*, *her Kestrel*. */
const ARTICLES: ReadonlySet<string> = new Set(["her", "his", "that", "the"]);
/** Number of items before a choice in which the marker of the first choice is searched. */
const MAX_CHOICES = 64;
/** A range of cells of a table. */
const CELLS = /^[A-Z]{1,2}[1-9][0-9]{0,2}:[A-Z]{1,2}[1-9][0-9]{0,2}$/;

/** Words before a weekday such as *Sun*, which may be a name. */
const WEEKDAY_LEADS: ReadonlySet<string> = new Set("on this next last every each until till".split(" "));

/** Rules of the option `facts` for words of letters, forms, lists and tables. */
export class LabelFacts {
  readonly #words: FactWords;
  readonly #beforeNames: ReadonlySet<string>;
  readonly #beforeValues: ReadonlySet<string>;

  constructor(readonly strings: FactStrings) {
    const { words } = strings;
    this.#words = words;
    this.#beforeNames = new Set([...words.secretWords, ...words.nameLeads, ...words.kin]);
    this.#beforeValues = new Set([...words.secretWords, ...words.addressWords]);
  }

  /** Return whether a weekday is no name in its place. A short form such as *Sun* needs a word such as *on*. */
  isWeekdayPlace(place: LinePlaces, index: number, text: string): boolean {
    if (place.hasCapitalBeside(index) || isNamePlace(place, index, this.#words)) return false;
    if (place.follows(index, this.#beforeNames) || followsRole(place, index, this.#words.roles)) return false;
    const isLed = place.getGap(index) === " " && WEEKDAY_LEADS.has(place.getWord(index - 1).toLowerCase());
    return text.length > 5 || isLed || [-1, 1].some((step) => place.getClass(index + step) === "weekday");
  }

  /** Return whether a word in lower case belongs to a fixed phrase: *et al.*, *co-workers*. */
  isKeptWord(place: LinePlaces, index: number, text: string): boolean {
    const { phrases } = this.#words;
    if (!this.strings.isShared(text)) return false;
    if (place.getGap(index) === " " && phrases.has(`${place.getWord(index - 1).toLowerCase()} ${text}`)) return true;
    return place.getGap(index + 1) === "-" && phrases.has(`${text}-`) && isLower(place.getWord(index + 1));
  }

  /** Return whether a string is a listed technical name, or a range of cells: *IPv4*, *B2:B10*. */
  isKeptString(place: LinePlaces, index: number, text: string): boolean {
    if (!this.strings.isUseful || place.follows(index, this.#beforeValues)) return false;
    return CELLS.test(text) || this.#isTechnical(text);
  }

  /** Return whether a capital letter labels a question or an answer: *Q: What is it?*. */
  isLabelLetter(place: LinePlaces, index: number, text: string): boolean {
    return place.getGap(index + 1).startsWith(":") && this.#words.phrases.has(`${text.toLowerCase()}:`);
  }

  #isTechnical(text: string): boolean {
    const word = text.toLowerCase();
    const hasForm = (text === text.toUpperCase() && text !== word) || !/^\p{L}+$/u.test(text);
    return hasForm && this.#words.technicalNames.has(word) && this.strings.isShared(word);
  }

  /** Return whether a span of capitalized words is a phrase, a placeholder, a label, a choice or a short name. */
  isKeptRun(place: LinePlaces, index: number, span: EntitySpan): boolean {
    const { strings } = this;
    const tokens = span.tokens.filter((token) => token.tokenClass !== KEPT);
    const [first, ...others] = tokens;
    if (first === undefined || !tokens.every(({ key }) => strings.isShared(key))) return false;
    if (isPlaceholder(place, index) && tokens.every(({ key }) => this.#isFormWord(key))) return true;
    if (this.#isPhrase(place, index, span.text)) return true;
    if (place.hasCapitalBeside(index) || place.follows(index, this.#beforeNames)) return false;
    if (tokens.length === 2 && CHOICE.test(span.text))
      return (strings.isStart(others) || strings.isFunctionWord(others)) && this.#isChoicePlace(place, index);
    if (tokens.length === span.tokens.length && this.#isPlainRun(place, index, tokens)) return true;
    if (tokens.length !== 1 || span.tokens.length !== 1) return false;
    if (strings.isUseful && this.#isTechnical(span.text)) return place.hasWordBeside(index, isLower);
    if (strings.isAcronym(span.text) && !followsPlate(place, index))
      return place.getGap(index + 1) === " " && strings.isNoun(place.getWord(index + 1));
    return first.case === TITLE && this.#isLabel(place, index, first.key);
  }

  /** Return whether plain words are behind a determiner (*a Guide*), or in their line in lower case too. */
  #isPlainRun(place: LinePlaces, index: number, tokens: readonly NamesToken[]): boolean {
    const { strings } = this;
    if (tokens.some(({ case: casing, key }) => casing !== TITLE || !strings.isPlainWord(key))) return false;
    if (tokens.some(({ text }) => strings.isCompany(text))) return false;
    if (tokens.length === 1 && place.followsWord(index, (word) => this.#isDeterminer(word.toLowerCase()))) return true;
    const near = new Set([...place.iterateLine(index)].map((at) => place.getWord(at)));
    return tokens.every(({ key }) => near.has(key));
  }

  #isDeterminer(word: string): boolean {
    return this.#words.determiners.has(word) && !ARTICLES.has(word);
  }

  /** Return whether a word may be a part of a placeholder: a word of forms, or a common word that is no name. */
  #isFormWord(key: string): boolean {
    return this.#words.fieldWords.has(key) || this.strings.isPlainWord(key);
  }

  /** Return whether a span is a fixed phrase, or the first word of one of which the rest is kept. */
  #isPhrase(place: LinePlaces, index: number, text: string): boolean {
    const { phrases } = this.#words;
    const [key, after] = [text.toLowerCase(), place.getGap(index + 1)];
    if (key.includes(" ") && phrases.has(key)) return true;
    if (after === " " && phrases.has(`${key} ${place.getWord(index + 1).toLowerCase()}`)) return true;
    if (place.hasCapitalBeside(index) || place.follows(index, this.#beforeNames)) return false;
    if (phrases.has(key)) return !(this.strings.getFlags(key) & (NAME | CENSUS));
    return after.startsWith(":") && phrases.has(`${key}:`);
  }

  /** Return whether a choice such as *B. Late hour* begins its line, or follows a choice *A* in it. */
  #isChoicePlace(place: LinePlaces, index: number): boolean {
    const isBeforeLower = place.getGap(index + 1) === " " && isLower(place.getWord(index + 1));
    if (!this.strings.isUseful && !isBeforeLower) return false;
    if (place.beginsLine(index)) return true;
    for (let at = index - 1; at >= 0 && at >= index - MAX_CHOICES && !place.hasBreak(at + 1); at--)
      if (place.getWord(at) === "A" && MARKER.test(place.getGap(at + 1))) return true;
    return false;
  }

  /** Return whether a word in Title case labels what follows, counts it, or begins a clause. */
  #isLabel(place: LinePlaces, index: number, key: string): boolean {
    const { strings } = this;
    const { counters, labelNouns, addressWords, fieldWords, startFollowers, determiners } = this.#words;
    const [before, after, next] = [place.getGap(index), place.getGap(index + 1), place.getWord(index + 1)];
    const flags = strings.getFlags(key);
    const isNumber = NUMERIC_TYPES.has(place.getClass(index + 1)) || (next !== "" && isDigit(next.charAt(0)));
    const isCounter = (counters.has(key) || labelNouns.has(key)) && !addressWords.has(key);
    if (after === " " && isNumber && isCounter && !strings.isPerson(key)) return true;
    const isField = fieldWords.has(key) && !(flags & NAME) && (isNumber || !(flags & CENSUS));
    if (after.startsWith(":") && (strings.isPlainWord(key) || isField)) return true;
    const isBeforeLower = after === " " && isLower(next);
    if (isBeforeLower && strings.isPlainWord(key) && (flags & (START | RARE)) === START) {
      if (place.getWord(index - 1) === "A" && (before === ". " || before === ") ")) return true;
      if (BETWEEN.has(before) && ENTRY_END.test(place.getGap(index + 2))) return place.getWord(index - 1) !== "";
    }
    if (strings.isPerson(key)) return false;
    const isBehindLower = isLower(place.getWord(index - 1));
    if (determiners.has(key) && isBehindLower && (before === " " || before === ") "))
      return isBeforeLower && strings.isNoun(next);
    if (!(flags & START) || flags & (NAME | RARE)) return false;
    if (strings.lists.getMembers("first-word").has(key) && isBehindLower && before === " ") return isBeforeLower;
    const isDeterminer = startFollowers.has(key) && (flags & FUNCTION) > 0;
    return place.beginsClause(index, isDeterminer ? undefined : startFollowers);
  }
}

/** Return whether the sentence before a mention ends in capitalized words, as in `I saw Anna. May I come?`. */
export function followsNamedSentence(place: LinePlaces, index: number): boolean {
  if (!/^[.!?] $/.test(place.getGap(index)) || place.getGap(index + 1) !== " ") return false;
  return place.getClass(index - 1) === CAPITALIZED_RUN || isLower(place.getWord(index - 1).slice(2));
}

/** Return whether a verb such as *may* is before a subject such as *I*, at the start of a sentence or clause. */
export function beginsQuestion(place: LinePlaces, index: number, { clauseSubjects }: FactWords): boolean {
  if (place.beginsClause(index, clauseSubjects)) return true;
  return clauseSubjects.has(place.getWord(index + 1).toLowerCase()) && followsNamedSentence(place, index);
}

/** Return whether a title is in a salutation without a name: `Dear Sir or Madam,`, `Dear Sir/Madam,`. */
export function isSalutation(place: LinePlaces, index: number): boolean {
  const [first, last] = [findTitleEnd(place, index, -1), findTitleEnd(place, index, 1)];
  if (place.getGap(first) !== " " || place.getWord(first - 1).toLowerCase() !== "dear") return false;
  return place.getGap(last + 1).startsWith(",") && !place.precedesName(last);
}

/** Return the index of the other title in one direction, behind *or* or a slash; `index` if there is none. */
function findTitleEnd(place: LinePlaces, index: number, step: number): number {
  const [gap, two] = [step > 0 ? index + 1 : index, index + 2 * step];
  if (place.getGap(gap) === "/" && place.getClass(index + step) === "title") return index + step;
  const isLinked = place.getWord(index + step) === "or" && place.getClass(two) === "title";
  return isLinked && place.getGap(gap) === " " && place.getGap(gap + step) === " " ? two : index;
}

/** Return whether a title or role precedes a mention, or a word of kinship follows it (`Anna's brother`). */
export function isNamePlace(place: LinePlaces, index: number, { roles, kin }: FactWords): boolean {
  if (["title", "office"].includes(place.getClass(index - 1))) return true;
  if ([" ", ". "].includes(place.getGap(index)) && roles.has(place.getWord(index - 1).toLowerCase())) return true;
  return place.getWord(index + 1) === "s" && kin.has(place.getWord(index + 2).toLowerCase());
}

/** Return whether a role and a verb such as *is* precede a mention, as in `my teacher is`. */
export const followsRole = (place: LinePlaces, index: number, roles: ReadonlySet<string>): boolean =>
  /^(?:are|be|became|is|s|was|were)$/.test(place.getWord(index - 1).toLowerCase()) && place.follows(index, roles);

/** Return whether an identifier is directly before a word, which may be the end of a license plate: `LB67 RTO`. */
export const followsPlate = (place: LinePlaces, index: number): boolean =>
  ["id", "key"].includes(place.getClass(index - 1)) && place.getGap(index) === " ";

/** Return whether a mention is in brackets with few words beside it: `[Name of Company]`, `{First Name}`. */
export const isPlaceholder = (place: LinePlaces, index: number): boolean =>
  findsBracket(place, index, -1) && findsBracket(place, index, 1);

function findsBracket(place: LinePlaces, index: number, step: number): boolean {
  for (let count = 0, at = index; count < MAX_PLACEHOLDER; count++, at += step) {
    if (at < 0 || at >= place.mentions.length) return false;
    const gap = place.getGap(step < 0 ? at : at + 1);
    if ((step < 0 ? OPENING : CLOSING).test(gap)) return true;
    if (!INSIDE.has(gap)) return false;
  }
  return false;
}
