/** Public sets of strings for the rules of `facts`: terms, capitals, words of headings, plurals. */

import { CENSUS, FUNCTION, NAME, type NamesLists, OPENER, RARE, START, STRICT } from "../../bundle/namesFiles.js";
import type { FactWords } from "../../bundle/rules.js";
import { FACTS } from "../../constants.js";
import { hasNumberedWord, isAccountName, isJoinedText, splitIdentifier } from "../identifiers.js";
import { capitalizeFirst, isAscii, isLower, TITLE, UPPER } from "../segmentation/words.js";
import type { Facts } from "./facts.js";
import { CAPITALIZED, MIN_SPELLED, type NamesToken } from "./tokens.js";

/** Endings of plurals and the endings of their singulars. */
const PLURALS = [
  ["ies", "y"],
  ["ches", "ch"],
  ["shes", "sh"],
  ["xes", "x"],
  ["sses", "ss"],
  ["s", ""],
] as const;
/**
 * Minimum number of letters: of a kept single word in Title case, of a term in Title case, and of a word after an
 * elision.
 */
const [MIN_HEADING, MIN_TERM, MIN_ELIDED] = [4, 3, 3];
/** Words of a list without blanks, the marks between them, and the most characters of such a list. */
const MAX_LIST_CHARACTERS = 1 << 12;
const WORD_LIST = /^[a-z]{2,}(?:[,;|/][a-z]{2,})+$/;
const LIST_MARK = /[,;|/]/;
/** Letters in a row, of which Python's `str.title` capitalizes the first. */
const CASED = /[\p{Lowercase}\p{Uppercase}\p{Lt}]+/gu;
/** Units that are written with a capital. */
const CASED_UNITS: ReadonlySet<string> = new Set([
  ..."BPM D DPI FPS GB GHz GPa GW GWh Gbps GiB Hz K KB Kbps KiB MB MHz MJ MPH MPa MW MWh Mbps MeV MiB PB PSI".split(
    " ",
  ),
  ..."RPM TB THz TiB Wh cL dB dBi dBm dL eV hPa kA kB kHz kJ kN kPa kV kW kWh keV mA mAh mL mM mV mmHg pH".split(" "),
  "\u03bcL",
]);
/** The name of a user in a path, as in `/home/ling/notes.txt`. */
export const HOME_FOLDER = /(?:^|:)(?:[/\\](?:home|Users)|\\users)[/\\]([^/\\]+)/;
/** Printable ASCII characters, of which identifiers consist. */
export const PIECES = /^[\x20-\x7e]+$/;
const CAMEL = /[a-z][A-Z]|[A-Z]{2}[a-z]/;
/** First group of an IBAN in groups of four, or of a number plate: `GB29`, `YA25`. In lower case, of an IBAN of SEPA. */
const FIRST_GROUP =
  /^(?:[A-Z]{2}|ad|at|be|bg|ch|cy|cz|de|dk|ee|es|fi|fr|gb|gr|hr|hu|ie|is|it|li|lt|lu|lv|mc|mt|nl|no|pl|pt|ro|se|si|sk|sm)[0-9]{2}$/;
/** Common words that are also names and are frequent in identifiers. They are kept next to a piece that is no name. */
const SHARED_PIECES = new Set("black fields long max page price white".split(" "));
/** Numbers of three digits that are kept in identifiers. */
const ROUND = new Set("100 200 256 404 500 512".split(" "));
export const beginsWithDigit = (piece: string): boolean => /^[0-9]/.test(piece);
const PERSON_LISTS = ["given", "family", "given-abroad"];
const PLACE_LISTS = "street-word firm-word city country state place particle title group".split(" ");

/** Words of the lists of a bundle in lower case: all surrogates, and the terms that are written with a capital. */
interface ListedWords {
  readonly surrogates: ReadonlySet<string>;
  /** Surrogates for unlisted words that are in no other surrogate pool. */
  readonly poolWords: ReadonlySet<string>;
  readonly spelled: ReadonlySet<string>;
  /** Companies, products and other listed terms with a capital. */
  readonly names: ReadonlySet<string>;
}

const wordsByLists = new WeakMap<NamesLists, ListedWords>();

function collectWords(lists: NamesLists): ListedWords {
  let words = wordsByLists.get(lists);
  if (words === undefined) {
    const { capital, acronym, company } = lists.factLists;
    const fold = (entries: Iterable<string>): Set<string> =>
      new Set([...entries].filter(isAscii).map((entry) => entry.toLowerCase()));
    // replies never have a particle restored
    const pools = [...lists.surrogatePools].filter(([name]) => name !== "particle");
    const collect = (ofWords: boolean): Set<string> => {
      const chosen = pools.filter(([name]) => /^(word|acronym)/.test(name) === ofWords);
      return new Set(chosen.flatMap(([, entries]) => entries.map((entry) => entry.toLowerCase())));
    };
    const [poolWords, others] = [collect(true), collect(false)];
    words = {
      surrogates: new Set([...poolWords, ...others]),
      poolWords: new Set(
        [...poolWords].filter((word) => !others.has(word) && !lists.rules.facts.institutionEnds.has(word)),
      ),
      spelled: fold([...capital, ...acronym]),
      names: fold([...capital, ...company]),
    };
    wordsByLists.set(lists, words);
  }
  return words;
}

const makeTitle = (key: string): string => key.replace(CASED, capitalizeFirst);

/** Sets of public strings for one value of the option `facts`. */
export class FactStrings {
  readonly words: FactWords;
  readonly isUseful: boolean;
  readonly isPublic: boolean;

  constructor(
    readonly lists: NamesLists,
    level: Facts,
    /** Keys of words that are always replaced. */
    readonly denied: ReadonlySet<string>,
    /** Whether all types are written as tags, so that no word becomes a surrogate from the pools of words. */
    readonly onlyTags: boolean,
  ) {
    this.words = lists.rules.facts;
    const number = FACTS.indexOf(level);
    [this.isUseful, this.isPublic] = [number >= 2, number >= 3];
  }

  /** Return whether a word is a surrogate. No rule keeps such a word, because restoring would replace it in a reply. */
  isSurrogate(word: string): boolean {
    return collectWords(this.lists).surrogates.has(word) && !this.#isPoolWord(word);
  }

  #isPoolWord(word: string): boolean {
    return this.onlyTags && collectWords(this.lists).poolWords.has(word);
  }

  getFlags(word: string): number {
    return this.lists.commonWords.get(word) ?? 0;
  }

  isPerson(word: string): boolean {
    return PERSON_LISTS.some((list) => this.lists.getMembers(list).has(word));
  }

  #isPlace(word: string): boolean {
    return PLACE_LISTS.some((list) => this.lists.getMembers(list).has(word));
  }

  /** Return whether a word is on a list of persons, places or titles. */
  isListedName(word: string): boolean {
    return this.isPerson(word) || this.#isPlace(word);
  }

  #isFree(word: string): boolean {
    return !this.isPerson(word) && !this.isSurrogate(word) && !this.denied.has(word);
  }

  #isListedTerm(word: string): boolean {
    const isListed =
      this.lists.factLists.term.has(word) ||
      collectWords(this.lists).spelled.has(word) ||
      this.words.identifierPieces.has(word);
    return isListed && this.#isFree(word);
  }

  /** Return whether a lower-case word is a listed term, or a word of another language that is kept. */
  isTerm(word: string): boolean {
    const isListed = this.words.roles.has(word) || this.#isPoolWord(word);
    return this.#isListedTerm(word) || this.#isForeign(word) || (isListed && this.#isFree(word));
  }

  #isForeign(word: string): boolean {
    const isListed = this.lists.factLists.foreign.has(word) || this.words.foreignWords.has(word);
    return (isListed || isJoinedText(word, this.words.joinedWords, this.denied)) && this.#isFree(word);
  }

  /** Return whether a key such as *l'image* consists of an elided word and a word that is no name. */
  isElided(key: string): boolean {
    const mark = key.indexOf("'");
    const rest = key.slice(mark + 1);
    if (mark < 0 || !this.words.elisions.has(key.slice(0, mark)) || [...rest].length < MIN_ELIDED) return false;
    if (this.#isForeign(rest)) return true;
    const flags = this.getFlags(rest);
    return flags !== 0 && !(flags & (NAME | CENSUS)) && !this.isPerson(rest) && !this.denied.has(rest);
  }

  /** Return whether a word belongs to another language, and is not one of the common words. */
  isForeignWord(word: string): boolean {
    return this.#isForeign(word) && !this.lists.commonWords.has(word);
  }

  /** Return whether a function word of another language is also a name of a person, such as *una*. */
  isLinked(word: string): boolean {
    return this.words.foreignWords.has(word) && this.#isSharedName(word);
  }

  /** Return whether a word of source code is also a name of a person, such as *val*. */
  isCodeName(word: string): boolean {
    return this.words.identifierPieces.has(word) && this.#isSharedName(word);
  }

  #isSharedName(word: string): boolean {
    return this.isPerson(word) && this.isShared(word);
  }

  /** Return whether a string is a listed company or product that the value of `facts` does not keep. */
  isCompany(text: string): boolean {
    return !this.isPublic && this.lists.factLists.company.has(text);
  }

  /** Return whether a string is a unit of measurement with a capital letter, such as `kWh`. */
  isUnit(text: string): boolean {
    return CASED_UNITS.has(text) && this.words.units.has(text.toLowerCase());
  }

  /** Return whether a capital letter is the sign of a temperature scale, as in `37.5 °C`. */
  isDegree(text: string): boolean {
    return (text === "C" || text === "F") && !this.denied.has(text.toLowerCase());
  }

  /** Return whether a string is a capital letter from A to Z that `facts` may keep. */
  isLabelLetter(text: string): boolean {
    return this.isUseful && text.length === 1 && isAscii(text) && !this.denied.has(text.toLowerCase());
  }

  /** Return whether a span is a noun in Title case and a capital letter, such as *Plan B*. */
  isLabeledNoun(tokens: readonly NamesToken[]): boolean {
    const [noun, label] = tokens;
    if (noun === undefined || label === undefined || tokens.length !== 2) return false;
    if (noun.case !== TITLE || !this.isLabelLetter(label.text)) return false;
    return this.words.labelNouns.has(noun.key) && this.isShared(noun.key);
  }

  /** Return whether a word is a listed noun that may also be a part of a name, such as *van*. */
  isDetermined(text: string): boolean {
    const word = text.toLowerCase();
    const hasCase = text === word || (this.isUseful && text === word.toUpperCase());
    return hasCase && this.words.determinedNouns.has(word) && this.isShared(word);
  }

  /** Return whether a word in lower case may precede the name of a language: `brazilian`. */
  isVariety(word: string): boolean {
    return this.isUseful && this.words.languageVarieties.has(word) && !this.denied.has(word);
  }

  /** Return whether the short form of a country may precede the name of a language, as in `US English`. */
  isCountryVariety(text: string): boolean {
    const word = text.toLowerCase();
    return text !== word && text === text.toUpperCase() && this.isVariety(word) && this.isShared(word);
  }

  /** Return whether a text is a listed constant, type or class of programming languages: `True`, `NULL`. */
  isCodeConstant(text: string): boolean {
    const word = text.toLowerCase();
    const isSpelled = text === makeTitle(word) || text === word.toUpperCase();
    return isSpelled && this.words.codeConstants.has(word) && this.isShared(word);
  }

  /** Return whether the name of a group in Title case is a common word that may begin a sentence: *Left*. */
  beginsAsGroup(text: string): boolean {
    const word = text.toLowerCase();
    const flags = this.getFlags(word);
    if (text !== makeTitle(word) || !this.words.starts.has(word)) return false;
    return (flags & START) > 0 && !(flags & (NAME | CENSUS | RARE));
  }

  /** Return whether a word of `starts` may begin a sentence before any word: *Bank transfer*. */
  isPlainStart(word: string): boolean {
    const flags = this.getFlags(word);
    return (flags & STRICT) > 0 && !(flags & (NAME | RARE)) && !this.isPerson(word) && this.isShared(word);
  }

  /** Return whether the name of a month may be an auxiliary verb at the start of a sentence: *May I*. */
  isAuxiliary(text: string): boolean {
    const word = text.toLowerCase();
    const isVerb = this.words.starts.has(word) && (this.getFlags(word) & FUNCTION) > 0 && !this.denied.has(word);
    return text === makeTitle(word) && isVerb && (this.isUseful || this.onlyTags);
  }

  /** Return whether a string is a unit or a scale of temperature that is written with a capital. */
  isCasedUnit(text: string): boolean {
    return CASED_UNITS.has(text) || text === "C" || text === "F";
  }

  /** Return whether a kept word is the plural of a common noun. */
  isPlural(word: string): boolean {
    if (this.words.plurals.has(word)) return true;
    if (!word.endsWith("s") || !isLower(word) || [...word].length < 4 || this.words.notPlurals.has(word)) return false;
    if (this.getFlags(word) & (FUNCTION | OPENER)) return false;
    return PLURALS.some(
      ([end, single]) => word.endsWith(end) && this.lists.commonWords.has(word.slice(0, -end.length) + single),
    );
  }

  /** Return whether a word may be between a number and a counted noun, as in `three large boxes`. */
  isAdjective(word: string): boolean {
    const flags = this.getFlags(word);
    return flags > 0 && isLower(word) && (flags & (FUNCTION | OPENER | NAME)) === 0;
  }

  /** Return whether a kept word in lower case may be a noun: a common word that is no function word. */
  isNoun(word: string): boolean {
    const flags = this.getFlags(word);
    return flags > 0 && isLower(word) && !(flags & FUNCTION);
  }

  /** Return whether a string is a listed acronym that is no name. */
  isAcronym(text: string): boolean {
    return this.#isListedAcronym(text) && this.#isPublicCapital(text);
  }

  #isListedAcronym(text: string): boolean {
    const isInPool = this.lists.surrogatePools.get("acronym")?.includes(text) ?? false;
    return this.lists.factLists.acronym.has(text) || (isInPool && this.#isPoolWord(text.toLowerCase()));
  }

  /** Return whether a lower-case word may be kept as a part of an identifier. */
  isPiece(word: string): boolean {
    if (!this.#isFree(word)) return false;
    const flags = this.getFlags(word);
    if (flags !== 0) return (flags & NAME) === 0;
    return word.length === 1 || this.words.identifierPieces.has(word) || this.isTerm(word);
  }

  /** Return whether a lower-case word may be kept in the path of an address of the web. */
  isPathWord(word: string): boolean {
    return this.isPiece(word) && !(this.getFlags(word) & CENSUS);
  }

  /** Return whether a word in lower case is a listed company, product or other term with a capital. */
  isPublicName(word: string): boolean {
    return this.isPublic && collectWords(this.lists).names.has(word) && this.#isFree(word);
  }

  /** Return whether a word is neither denied nor a surrogate. */
  isShared(word: string): boolean {
    return !this.denied.has(word) && !this.isSurrogate(word);
  }

  /** Return whether a long string without blanks consists of common lower-case words with marks between them. */
  isWordList(text: string): boolean {
    if (text.length > MAX_LIST_CHARACTERS || !WORD_LIST.test(text)) return false;
    return text.split(LIST_MARK).every((word) => this.lists.commonWords.has(word) && !this.denied.has(word));
  }

  /** Return whether all words of a span are on public lists of capitalized words, with the same spelling. */
  isPublicRun(tokens: readonly NamesToken[]): boolean {
    return tokens.length > 0 && tokens.every(({ text }) => this.#isPublicCapital(text));
  }

  #isPublicCapital(text: string): boolean {
    const { capital, company } = this.lists.factLists;
    const lower = text.toLowerCase();
    const isListed = capital.has(text) || this.#isListedAcronym(text) || (this.isPublic && company.has(text));
    const isPlural = text.endsWith("s") && this.#isListedAcronym(text.slice(0, -1));
    if (!(isListed && !this.isSurrogate(lower)) && !isPlural) return false;
    return !this.denied.has(lower) && !this.isPerson(lower);
  }

  /** Return whether a word in Title case or in capitals is the label of a telephone number, such as *Tel*. */
  isLabel(text: string): boolean {
    const word = text.toLowerCase();
    const isSpelled = text === makeTitle(word) || text === word.toUpperCase();
    return isSpelled && this.words.phoneLabels.has(word) && this.isShared(word);
  }

  /** Return whether a span is a part of a sentence in capitals, as in `PLEASE HELP, THIS IS URGENT`. */
  isSentence(tokens: readonly NamesToken[]): boolean {
    const marks = tokens.map(({ key }) => this.getFlags(key));
    if (tokens.length < 2 || tokens.some((token) => token.case !== UPPER || !this.#isHeadingWord(token.key)))
      return false;
    return marks.some((mark) => mark & FUNCTION) && marks.every((mark) => !(mark & (CENSUS | RARE)) || mark & FUNCTION);
  }

  /** Return whether a span is a single function word that is not also a name, such as *We*. */
  isFunctionWord([first, ...others]: readonly NamesToken[]): boolean {
    if (first === undefined || others.length > 0 || [...first.text].length < 2) return false;
    const { key, text } = first;
    const flags = this.getFlags(key);
    if (!(flags & FUNCTION) || flags & (NAME | CENSUS)) return false;
    return text === key.toUpperCase() || text === makeTitle(key);
  }

  /** Return whether a span is a single word that may begin a sentence, and is no name. */
  isStart([token, ...others]: readonly NamesToken[]): boolean {
    if (token === undefined || others.length > 0 || token.tokenClass !== CAPITALIZED || token.case !== TITLE)
      return false;
    const { key, text } = token;
    const length = [...key].length;
    if (this.#isListedTerm(key)) return length >= MIN_TERM && text === makeTitle(key);
    return this.#isHeadingWord(key) && !(this.getFlags(key) & CENSUS) && length >= MIN_HEADING;
  }

  /** Return whether a common word is also a family name, even a rare one. */
  isSurname(word: string): boolean {
    return (this.getFlags(word) & (NAME | CENSUS)) > 0;
  }

  /** Return whether a common word is rare in English texts. */
  isRare(word: string): boolean {
    return (this.getFlags(word) & RARE) > 0;
  }

  /**
   * Return whether a span of capitalized words may be a heading. It must consist of common words and terms that are not
   * names of persons or places. If it has several words, at least one of them often begins sentences, at least one is
   * not a name in a census, and the last one is not a word of institutions.
   */
  isHeading(tokens: readonly NamesToken[]): boolean {
    if (tokens.some((token) => token.tokenClass !== CAPITALIZED || (token.case !== TITLE && token.case !== UPPER)))
      return false;
    if (!tokens.every((token) => this.#isHeadingWord(token.key) || this.#isTitleTerm(token))) return false;
    const flags = tokens.map(({ key }) => this.getFlags(key));
    if (tokens.length === 1) {
      const { key = "" } = tokens[0] ?? {};
      if ((flags[0] ?? 0) & CENSUS || [...key].length < MIN_HEADING) return false;
      if (this.#isListedTerm(key)) return true;
      const isPlain = !this.isCompany(tokens[0]?.text ?? "") && !this.words.addressWords.has(key);
      if (isPlain && !((flags[0] ?? 0) & RARE)) return true;
    }
    const last = tokens[tokens.length - 1]?.key ?? "";
    const mayBePerson = flags.every((mask) => (mask & CENSUS) > 0);
    if (tokens.length > 1 && (mayBePerson || this.#endsInstitution(last))) return false;
    return flags.some((mask) => (mask & (START | OPENER)) > 0 && (mask & RARE) === 0);
  }

  /** Return whether a common word of four letters or more is no name of a person or place, even a rare one. */
  isPlainWord(word: string): boolean {
    return [...word].length >= MIN_HEADING && this.#isHeadingWord(word) && !(this.getFlags(word) & CENSUS);
  }

  #endsInstitution(key: string): boolean {
    return this.lists.getMembers("institution-word").has(key) || this.words.institutionEnds.has(key);
  }

  #isTitleTerm({ key, text }: NamesToken): boolean {
    return this.#isPublicCapital(text) || (this.#isListedTerm(key) && text === makeTitle(key));
  }

  #isHeadingWord(word: string): boolean {
    const flags = this.getFlags(word);
    return flags !== 0 && !(flags & NAME) && !this.isPerson(word) && !this.denied.has(word) && !this.#isPlace(word);
  }

  /** Return whether a word such as `getValue` or `HttpClient` is a plain identifier. */
  isCamel(text: string): boolean {
    return /^[A-Za-z]+$/.test(text) && CAMEL.test(text) && this.isPlain(text);
  }

  /**
   * Return whether all pieces of a string such as `customer_id` are public words. The string may have one group of
   * digits: one or two digits, or a round number. The result is false if the string may begin an IBAN or a number plate,
   * or may spell a number, and for an account name.
   */
  isPlain(text: string): boolean {
    if (
      !PIECES.test(text) ||
      /[@%&]/.test(text) ||
      HOME_FOLDER.test(text) ||
      FIRST_GROUP.test(text) ||
      isAccountName(text)
    )
      return false;
    const pieces = splitIdentifier(text);
    if (!this.hasPlainDigits(pieces) || this.hasSpelledNumber(pieces)) return false;
    const { identifierPieces, labelNouns } = this.words;
    if (pieces.some(beginsWithDigit) && !hasNumberedWord(text, identifierPieces, labelNouns)) return false;
    const words = pieces.filter((piece) => !beginsWithDigit(piece)).map((piece) => piece.toLowerCase());
    if (words.length > 1 && words.some((word) => this.words.namePrefixes.has(word))) return false;
    const others = words.filter((word) => !this.isPiece(word));
    if (!words.some((word) => word.length > 1 && !others.includes(word))) return false;
    return others.every((word) => SHARED_PIECES.has(word) && this.isShared(word));
  }

  /** Return whether pieces of an identifier may spell a number, such as `five_five_oh_one`. */
  hasSpelledNumber(pieces: readonly string[]): boolean {
    const { numberWords } = this.lists.rules;
    return (
      pieces.filter((piece) => beginsWithDigit(piece) || numberWords.has(piece.toLowerCase())).length >= MIN_SPELLED
    );
  }

  /** Return whether pieces have at most one group of digits: one or two digits, or a round number. */
  hasPlainDigits(pieces: readonly string[]): boolean {
    const digits = pieces.filter(beginsWithDigit);
    return digits.length <= 1 && digits.every((piece) => piece.length <= 2 || ROUND.has(piece));
  }
}
