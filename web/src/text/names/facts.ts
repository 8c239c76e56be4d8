/**
 * Facts of the mode `names`: spans that are kept because a public rule covers them (docs/names-rule.md).
 *
 * A mention of a text becomes kept text if its own string is in a public set of the rule, and its *place* allows the
 * rule. A place never depends on a string that is replaced. The rules for numbers run in a second round, which reads the
 * kept text of the first round.
 */

import { CENSUS, FUNCTION, NAME, type NamesLists, OPENER, RARE, START } from "../../bundle/namesFiles.js";
import type { FactWords, Rules } from "../../bundle/rules.js";
import { AFTER_TITLE, FACTS } from "../../constants.js";
import { iterateIdentifierWords, splitIdentifier } from "../identifiers.js";
import {
  capitalizeFirst,
  findCasePattern,
  isAscii,
  isLower,
  isUpper,
  LOWER,
  TITLE,
  UPPER,
} from "../segmentation/words.js";
import { CAPITALIZED_RUN, type EntitySpan, LINE_BREAK } from "./entitySpans.js";
import { type EntityMention, getPublicType } from "./entityTypes.js";
import { LinePlaces, NUMERIC_TYPES } from "./factPlaces.js";
import { findEnding } from "./lexicon.js";
import { CAPITALIZED, findRunCase, HOLDS_OWN, KEPT, type NamesToken } from "./tokens.js";

/** @internal Value of the option. */
export type Facts = (typeof FACTS)[number];

/** Elements of a text: kept texts and mentions, in order. */
type Elements = readonly (string | EntityMention)[];

const splitWords = (words: string): ReadonlySet<string> => new Set(words.split(" "));

/**
 * Types of which some strings are kept, by the value of the option that keeps the first of them. Their replaced spans
 * are tags in every style, since a reader could mistake a surrogate for a kept string.
 */
const VALUE_TYPES: Readonly<Record<Facts, string>> = {
  none: "",
  plain: "digits number year",
  useful: "age day decade group month ordinal season time weekday year-range",
  public: "country the-country",
};

/** Number of elements that are read together at most. Nothing is kept on account of what may follow a cut. */
const MAX_BATCH = 1 << 10;
const DAYS = splitWords("day ordinal date");
const DATES = splitWords("month day date year year-range season");
const STRINGS = splitWords("file path key id");
/** Endings of plurals and the endings of their singulars. */
const PLURALS = [
  ["ies", "y"],
  ["ches", "ch"],
  ["shes", "sh"],
  ["xes", "x"],
  ["sses", "ss"],
  ["s", ""],
] as const;
/** Fewest letters of a single word in Title case that is kept. */
const MIN_HEADING = 4;
const [MAX_BARE, MAX_AGE, MAX_ORDINAL] = [89, 89, 99];
const ASCII_DIGITS = /^[0-9]+$/;
const COUNTED = /^(?:[0-9]{1,4}|[0-9]{1,3}(?:,[0-9]{3}){1,3}|[0-9]{1,4}\.[0-9]{1,2})$/;
const CAMEL = /[a-z][A-Z]/;
const DECIMAL = /^[0-9]{1,3}\.[0-9]{1,4}$/;
const COUNTRIES = splitWords("country the-country");
const RANGE = /^[0-9]{1,3}[-\u2013][0-9]{1,3}$/;
const RATING = /^[0-9]{1,2}(?:\.5)?\/(?:5|10|100)$/;
const SIZE = /^[0-9]{1,4}[x\u00d7][0-9]{1,4}$/;
const PIECES = /^[\x20-\x7e]+$/;
/** Text that Python's `str.istitle` accepts: each capital follows no letter, and each small letter follows a letter. */
const IS_TITLE =
  /^[^\p{Uppercase}\p{Lt}\p{Lowercase}]*(?:[\p{Uppercase}\p{Lt}]\p{Lowercase}*(?:[^\p{Uppercase}\p{Lt}\p{Lowercase}]+|$))+$/u;
/** Letters in a row, of which Python's `str.title` capitalizes the first. */
const CASED = /[\p{Lowercase}\p{Uppercase}\p{Lt}]+/gu;
/** Marks of source code; and marks that strings with a hidden word have only in addresses and secrets. */
const CODE_MARKS = /[_.$:\\#]|\/.*\/|[a-z][A-Z]/;
const UNCUT_MARKS = /[@%&?]|:\/\//;
const ROUND = splitWords("100 200 256 404 500 512");
const CURRENCY = /[$\u20ac\u00a3\u00a5]$/;
const ADDRESS_BEGINNINGS = splitWords("http https www ftp mailto");
const PLACE_LISTS = "street-word firm-word city country state place particle title group".split(" ");

/** Return the types of which a value of the option `facts` keeps some strings. */
export const listValueTypes = (level: Facts): ReadonlySet<string> =>
  new Set(FACTS.slice(0, FACTS.indexOf(level) + 1).flatMap((below) => VALUE_TYPES[below].split(" ").filter(Boolean)));

/** Words of the lists of a bundle in lower case: all surrogates, and the terms that are written with a capital. */
interface ListedWords {
  readonly surrogates: ReadonlySet<string>;
  readonly spelled: ReadonlySet<string>;
}

const wordsByLists = new WeakMap<NamesLists, ListedWords>();

function collectWords(lists: NamesLists): ListedWords {
  let words = wordsByLists.get(lists);
  if (words === undefined) {
    const { capital, acronym } = lists.factLists;
    const pools = [...lists.surrogatePools.values()].flat();
    words = {
      surrogates: new Set(pools.map((entry) => entry.toLowerCase())),
      spelled: new Set([...capital, ...acronym].filter(isAscii).map((entry) => entry.toLowerCase())),
    };
    wordsByLists.set(lists, words);
  }
  return words;
}

const beginsWithDigit = (piece: string): boolean => /^[0-9]/.test(piece);

/** Public rules of one value of the option `facts`, under the options of a call. */
export class FactRules {
  readonly #facts: FactWords;
  readonly #isUseful: boolean;
  readonly #isPublic: boolean;
  readonly #secret: ReadonlySet<string>;
  readonly #beforeNames: ReadonlySet<string>;
  readonly #beforeValues: ReadonlySet<string>;
  readonly #domains: ReadonlySet<string>;

  /**
   * @param level One of `FACTS`.
   * @param denied Keys of words that are always replaced.
   * @param hiddenTypes Public names of types that the options write as tags or remove.
   */
  constructor(
    readonly lists: NamesLists,
    readonly level: Facts,
    readonly denied: ReadonlySet<string>,
    readonly hiddenTypes: ReadonlySet<string>,
  ) {
    const { facts, data } = lists.rules;
    this.#facts = facts;
    const number = FACTS.indexOf(level);
    [this.#isUseful, this.#isPublic] = [number >= 2, number >= 3];
    this.#secret = facts.secretWords;
    this.#beforeNames = new Set([...facts.secretWords, ...facts.nameLeads, ...facts.kin]);
    this.#beforeValues = new Set([...facts.secretWords, ...facts.addressWords]);
    this.#domains = new Set([...data.domains.all, ...data.domains.names]);
  }

  /** Words of the bundle's lists. No rule keeps a surrogate. */
  get #listed(): ListedWords {
    return collectWords(this.lists);
  }

  #getFlags(word: string): number {
    return this.lists.commonWords.get(word) ?? 0;
  }

  #isPerson(word: string): boolean {
    return ["given", "family", "given-abroad"].some((list) => this.lists.getMembers(list).has(word));
  }

  // Sets of strings

  /** Return whether a lower-case word is a listed term. */
  isTerm(word: string): boolean {
    const isExcluded = this.#isPerson(word) || this.#listed.surrogates.has(word) || this.denied.has(word);
    const { term, foreign } = this.lists.factLists;
    const isListed = term.has(word) || this.#listed.spelled.has(word) || (this.#isUseful && foreign.has(word));
    return isListed && !isExcluded;
  }

  /**
   * Return whether all pieces of a string such as `customer_id` are public words. It has at most one group of digits:
   * one or two digits, or a round number.
   */
  isPlainIdentifier(text: string): boolean {
    if (!PIECES.test(text) || /[@%&]/.test(text)) return false;
    const pieces = splitIdentifier(text);
    if (!this.#hasPlainDigits(pieces)) return false;
    const words = pieces.filter((piece) => !beginsWithDigit(piece)).map((piece) => piece.toLowerCase());
    if (words.length > 1 && words.some((word) => this.#facts.namePrefixes.has(word))) return false;
    return words.some((word) => word.length > 1) && words.every((word) => this.#isPiece(word));
  }

  /** Return whether pieces have at most one group of digits: one or two digits, or a round number. */
  #hasPlainDigits(pieces: readonly string[]): boolean {
    const digits = pieces.filter(beginsWithDigit);
    return digits.length <= 1 && digits.every((piece) => piece.length <= 2 || ROUND.has(piece));
  }

  /**
   * Return the pieces of source code of which some words are not public; `undefined` if the string is not cut. Whether
   * it is cut follows from the string with `xxxx` in the place of each word that is not public, so no hidden word
   * affects it. Each of these words is a mention of its own.
   */
  cutIdentifier(text: string): (string | EntityMention)[] | undefined {
    if (!PIECES.test(text) || UNCUT_MARKS.test(text)) return undefined;
    const hidden = iterateIdentifierWords(text).filter(([start, end]) => {
      const word = text.slice(start, end).toLowerCase();
      const isPublic = this.#isPiece(word) || this.#facts.namePrefixes.has(word) || this.#domains.has(word);
      return !beginsWithDigit(word) && !isPublic;
    });
    if (hidden.some(([start, end]) => end - start < 2)) return undefined;
    let masked = text;
    for (const [start, end] of [...hidden].reverse())
      masked = masked.slice(0, start) + maskWord(text.slice(start, end)) + masked.slice(end);
    if (!this.#isCode(masked)) return undefined;
    const elements: (string | EntityMention)[] = [];
    let position = 0;
    for (const [start, end] of hidden) {
      elements.push(text.slice(position, start), makePiece(text.slice(start, end), this.lists.rules));
      position = end;
    }
    return [...elements, text.slice(position)];
  }

  /** Return whether a string without its hidden words is source code, and not an address. */
  #isCode(masked: string): boolean {
    const words = splitIdentifier(masked);
    if (!this.#hasPlainDigits(words)) return false;
    const letters = words.filter((word) => !beginsWithDigit(word)).map((word) => word.toLowerCase());
    if (!letters.some((word) => word !== "xxxx" && word.length > 1)) return false;
    if (letters.some((word) => this.#facts.namePrefixes.has(word)) || !CODE_MARKS.test(masked)) return false;
    return !this.#domains.has(letters.at(-1) ?? "") && !ADDRESS_BEGINNINGS.has(letters[0] ?? "");
  }

  #isPiece(word: string): boolean {
    if (this.denied.has(word) || this.#isPerson(word) || this.#listed.surrogates.has(word)) return false;
    const flags = this.#getFlags(word);
    if (flags !== 0) return (flags & NAME) === 0;
    return word.length === 1 || this.#facts.identifierPieces.has(word) || this.isTerm(word);
  }

  /**
   * Return the roles at the beginning of a run with the blank after them, and the span of the rest: in *Patient Anna
   * Novak* the first word is a role. Return `undefined` without one, and if nothing but a single initial follows.
   */
  #splitRoles(span: EntitySpan): [string, EntitySpan] | undefined {
    const { tokens, text } = span;
    const end = tokens.findIndex((token) => token.case !== TITLE || !this.#facts.roles.has(token.key));
    const count = end < 0 ? tokens.length : end;
    const lead = tokens
      .slice(0, count)
      .map((token) => `${token.text} `)
      .join("");
    const rest = tokens.slice(count);
    if (lead === "" || !text.startsWith(lead) || rest.length === 0) return undefined;
    if (rest.length === 1 && [...(rest[0]?.text ?? "")].length === 1) return undefined;
    const restSpan = {
      ...span,
      text: text.slice(lead.length),
      tokens: rest,
      case: findRunCase(rest),
      precedingWord: tokens[count - 1]?.key ?? "",
      titleCaseWords: Math.max(0, span.titleCaseWords - count),
    };
    return [lead, restSpan];
  }

  /** Return whether all words of a run of capitals are listed with this spelling. */
  isPublicRun(mention: EntityMention): boolean {
    const tokens = mention.span.tokens.filter((token) => token.tokenClass !== KEPT);
    return tokens.length > 0 && tokens.every(({ text }) => this.#isPublicCapital(text));
  }

  #isPublicCapital(text: string): boolean {
    const { capital, acronym, company } = this.lists.factLists;
    const isListed = capital.has(text) || acronym.has(text) || (this.#isPublic && company.has(text));
    if (isListed && !this.#listed.surrogates.has(text.toLowerCase())) return !this.denied.has(text.toLowerCase());
    const isCamel = /^[A-Za-z]+$/.test(text) && CAMEL.test(text) && (this.#isPublic || /^[a-z]/.test(text));
    return isCamel && this.isPlainIdentifier(text);
  }

  /**
   * Return whether all words of a run in Title case are common words that name no person and no place. At least one of
   * them begins sentences. The others may be words of institutions and firms.
   */
  isTitleCase(mention: EntityMention): boolean {
    const words = mention.span.tokens.filter((token) => token.tokenClass !== KEPT);
    if (words.some((token) => token.tokenClass !== CAPITALIZED || (token.case !== TITLE && token.case !== UPPER)))
      return false;
    const keys = words.map(({ key }) => key);
    const flags = keys.map((key) => this.#getFlags(key));
    if (!keys.every((key) => this.#isHeadingWord(key))) return false;
    const [first = ""] = keys;
    if (keys.length === 1 && ((flags[0] ?? 0) & CENSUS || [...first].length < MIN_HEADING)) return false;
    return flags.some((mask) => (mask & (START | OPENER)) > 0 && (mask & RARE) === 0);
  }

  /** Return whether a run is one function word that names nobody, such as *We*. */
  #isFunctionWord([first, ...others]: readonly NamesToken[]): boolean {
    if (first === undefined || others.length > 0 || [...first.text].length < 2) return false;
    const { key, text } = first;
    const flags = this.#getFlags(key);
    if (!(flags & FUNCTION) || flags & (NAME | CENSUS)) return false;
    return text === key.toUpperCase() || text === key.replace(CASED, capitalizeFirst);
  }

  #isHeadingWord(word: string): boolean {
    const flags = this.#getFlags(word);
    if (flags === 0 || flags & NAME) return false;
    const isPlace = PLACE_LISTS.some((list) => this.lists.getMembers(list).has(word));
    return !this.#isPerson(word) && !this.denied.has(word) && !isPlace;
  }

  /** Return whether a kept word is the plural of a common noun. */
  isPlural(word: string): boolean {
    if (!word.endsWith("s") || !isLower(word) || [...word].length < 4 || this.#facts.notPlurals.has(word)) return false;
    if (this.#getFlags(word) & (FUNCTION | OPENER)) return false;
    return PLURALS.some(
      ([end, single]) => word.endsWith(end) && this.lists.commonWords.has(word.slice(0, -end.length) + single),
    );
  }

  /** Return whether a word may stand between a number and the noun that it counts. */
  isAdjective(word: string): boolean {
    const flags = this.#getFlags(word);
    return flags > 0 && isLower(word) && (flags & (FUNCTION | OPENER | NAME)) === 0;
  }

  /** Return whether no rule may keep the value of a JSON key: it names a secret, or has a hidden word. */
  namesSecret(elements: Elements): boolean {
    const texts = elements.filter((element) => typeof element === "string");
    if (texts.length < elements.length) return true;
    return splitIdentifier(texts.join("")).some((word) => this.#secret.has(word.toLowerCase()));
  }

  // Places

  /**
   * Return the elements of a text, in which the mentions that a rule covers are kept text, and the number of their
   * tokens.
   */
  keepFacts(
    elements: Elements,
    classifySpan: (span: EntitySpan) => EntityMention,
  ): { elements: (string | EntityMention)[]; keptCount: number } {
    const found: (string | EntityMention)[] = [];
    let batch: (string | EntityMention)[] = [];
    let [isCut, begun, keptCount, wordBefore] = [false, false, 0, ""];
    const keepBatch = (cutAfter: boolean): void => {
      const place = new LinePlaces(batch, this.#facts, isCut, cutAfter, wordBefore);
      keptCount += this.#keepInLines(place, classifySpan);
      for (const element of place.listElements()) {
        const last = found.at(-1);
        if (typeof element === "string" && typeof last === "string") found[found.length - 1] = last + element;
        else found.push(element);
      }
      if (!cutAfter) wordBefore = place.lastWord;
      [batch, isCut, begun] = [[], cutAfter, false];
    };
    for (const element of elements) {
      let rest = element;
      if (typeof rest === "string" && begun) {
        let end = rest.length;
        while (end > 0 && !LINE_BREAK.test(rest.charAt(end - 1))) end--;
        if (end > 0) {
          batch.push(rest.slice(0, end));
          keepBatch(false);
          rest = rest.slice(end);
        }
      }
      batch.push(rest);
      begun ||= typeof rest !== "string";
      if (batch.length >= MAX_BATCH) keepBatch(true);
    }
    keepBatch(false);
    return { elements: found, keptCount };
  }

  /** Keep the mentions of some lines that a rule covers, cut identifiers, and return the number of kept tokens. */
  #keepInLines(place: LinePlaces, classifySpan: (span: EntitySpan) => EntityMention): number {
    let keptCount = 0;
    const rules = [
      (index: number, mention: EntityMention): boolean => this.#isKeptWord(place, index, mention),
      (index: number, mention: EntityMention): boolean => this.#isKeptNumber(place, index, mention),
    ];
    for (const covers of rules) {
      const found = [...place.mentions.entries()].filter(
        ([index, mention]) => mention !== undefined && this.#mayKeep(mention) && covers(index, mention),
      );
      keptCount += place.keep(found.map(([index]) => index));
    }
    for (const [index, mention] of place.mentions.entries()) {
      if (mention === undefined || !this.#mayKeep(mention)) continue;
      const split = mention.span.entityType === CAPITALIZED_RUN ? this.#splitRoles(mention.span) : undefined;
      if (split !== undefined) place.pieces.set(index, [split[0], classifySpan(split[1])]);
      if (!STRINGS.has(mention.span.entityType)) continue;
      const pieces = place.follows(index, this.#secret) ? undefined : this.cutIdentifier(mention.span.text);
      if (pieces !== undefined) place.pieces.set(index, pieces);
    }
    return keptCount;
  }

  #mayKeep({ entityType, span }: EntityMention): boolean {
    return (
      !this.hiddenTypes.has(getPublicType(entityType)) &&
      !span.tokens.some(({ key, flags }) => this.denied.has(key) || flags & HOLDS_OWN)
    );
  }

  #isKeptWord(place: LinePlaces, index: number, mention: EntityMention): boolean {
    const { span } = mention;
    const { entityType, text } = span;
    if (entityType === "word") return span.case === LOWER && this.isTerm(text) && !place.follows(index, this.#secret);
    if (STRINGS.has(entityType)) {
      if (SIZE.test(text)) return this.#isUseful && !place.follows(index, this.#beforeValues);
      return !place.follows(index, this.#secret) && this.isPlainIdentifier(text);
    }
    const lower = text.toLowerCase();
    if (entityType === CAPITALIZED_RUN) {
      const isStart = IS_TITLE.test(text) && this.#facts.starts.has(lower);
      if (isStart && place.beginsSentence(index, this.#facts.startFollowers)) return true;
      if (this.#isFunctionWord(span.tokens) && !place.hasCapitalBeside(index)) return true;
    }
    if (entityType === "letter") return isAscii(text) && place.isSingleLetter(index);
    if (!this.#isUseful) return false;
    if (entityType === CAPITALIZED_RUN) {
      const { roles, kin, headingLeads } = this.#facts;
      if (place.isNamePlace(index, roles, kin) || place.follows(index, this.#beforeNames)) return false;
      if (this.isPublicRun(mention)) return true;
      if (this.#isPublic && COUNTRIES.has(mention.entityType) && span.precedingWord !== AFTER_TITLE) return true;
      return this.isTitleCase(mention) && (span.tokens.length > 1 || place.isHeadingPlace(index, headingLeads));
    }
    if (entityType === "group") return this.lists.factLists.language.has(lower) && place.isLanguagePlace(index);
    return entityType === "weekday" && !place.hasCapitalBeside(index);
  }

  #isKeptNumber(place: LinePlaces, index: number, mention: EntityMention): boolean {
    const { entityType, text } = mention.span;
    if (entityType === "month") return this.#isUseful && place.isMonthPlace(index) && !place.hasInSentence(index, DAYS);
    if (!NUMERIC_TYPES.has(entityType)) return false;
    if (entityType === "age") return this.#isUseful && isAtMost(text, MAX_AGE);
    if (place.follows(index, this.#beforeValues) || place.getGap(index).endsWith("#") || place.precedesCapital(index))
      return false;
    const neighbors = place.countNeighbors(index);
    if (neighbors > 1) return false;
    if (entityType === "number" || entityType === "year" || entityType === "digits") {
      const form = entityType === "digits" ? RANGE : COUNTED;
      if (form.test(text) && this.#isCounted(place, index)) return true;
      if (entityType === "digits" && neighbors === 0 && RATING.test(text)) return true;
    }
    const otherDays = new Set([...DAYS].filter((day) => day !== entityType));
    if (!this.#isUseful || place.hasCapitalBeside(index) || place.hasInSentence(index, otherDays)) return false;
    if (entityType === "year" || mention.entityType === "year-range")
      return neighbors === 0 || place.hasOnlyYearsBeside(index);
    if (neighbors > 0 || place.hasInSentence(index, DATES)) return false;
    if (entityType === "number") {
      const isBare = (text.length <= 2 && isAtMost(text, MAX_BARE)) || DECIMAL.test(text);
      return isBare && place.isBetweenWords(index);
    }
    if (entityType === "ordinal")
      return isAtMost(text.slice(0, -2), MAX_ORDINAL) && this.isAdjective(place.getWord(index + 1));
    return entityType === "time" || entityType === "decade";
  }

  /** Return whether a number is counted, or is the first of two: `20 to 35 hours`. */
  #isCounted(place: LinePlaces, index: number): boolean {
    if (this.#counts(place, index) || (this.#isUseful && this.#isAmount(place, index))) return true;
    return (
      this.#facts.rangeWords.has(place.getWord(index + 1)) &&
      ["number", "year"].includes(place.getClass(index + 2)) &&
      this.#counts(place, index + 2)
    );
  }

  /** Return whether a number counts or measures what is named beside it. */
  #counts(place: LinePlaces, index: number): boolean {
    const { units, currencies, counters } = this.#facts;
    const [gap, after] = [place.getGap(index + 1), place.getWord(index + 1)];
    if (/^ *%/.test(gap)) return true;
    if (["", " ", "-"].includes(gap) && (units.has(after) || units.has(after.toLowerCase())))
      return !place.isAge(index + 1);
    if ((gap === " " || gap === "-") && !currencies.has(after)) {
      if (this.isPlural(after) && !place.isAge(index + 1)) return true;
      const second = place.getWord(index + 2);
      if (
        place.getGap(index + 2) === " " &&
        this.isAdjective(after) &&
        this.isPlural(second) &&
        !currencies.has(second)
      )
        return !place.isAge(index + 2);
    }
    return place.getGap(index) === " " && counters.has(place.getWord(index - 1).toLowerCase());
  }

  #isAmount(place: LinePlaces, index: number): boolean {
    return (
      CURRENCY.test(place.getGap(index)) ||
      (place.getGap(index + 1) === " " && this.#facts.currencies.has(place.getWord(index + 1).toLowerCase()))
    );
  }
}

const isAtMost = (digits: string, most: number): boolean => ASCII_DIGITS.test(digits) && Number(digits) <= most;

const maskWord = (word: string): string => (isUpper(word) ? "XXXX" : isUpper(word.charAt(0)) ? "Xxxx" : "xxxx");

/** Return a word of an identifier as a mention. */
function makePiece(word: string, rules: Rules): EntityMention {
  const [folded, pattern] = [word.toLowerCase(), findCasePattern(word)];
  const layout = findEnding(folded, rules);
  return {
    entityType: "word",
    case: pattern,
    parts: [{ entityType: "word", layout, folded, text: word }],
    span: {
      entityType: "word",
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
