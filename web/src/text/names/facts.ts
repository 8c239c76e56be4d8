/**
 * Facts of the mode `names`: spans that are kept because a public rule covers them (docs/names-rule.md).
 *
 * A mention becomes kept text if its string is in a public set of a rule, and its context (*place*) permits the rule.
 * The context never contains a replaced string. The rules for numbers run in a second round, which uses the kept text of
 * the first round.
 */

import type { NamesLists } from "../../bundle/namesFiles.js";
import type { FactWords } from "../../bundle/rules.js";
import { AFTER_TITLE, FACTS } from "../../constants.js";
import { splitIdentifier } from "../identifiers.js";
import { IS_TITLE, isAscii, isLower, LOWER, TITLE } from "../segmentation/words.js";
import { CAPITALIZED_RUN, type EntitySpan, LINE_BREAK, LONE_INITIAL } from "./entitySpans.js";
import { type EntityMention, getPublicType } from "./entityTypes.js";
import { CodeFacts } from "./factCodes.js";
import { followsUnit, isFormula, isListMarker, isVariable } from "./factFormulas.js";
import { IdentifierRules, isCodePlace, isCodeWord } from "./factIdentifiers.js";
import { beginsQuestion, followsPlate, followsRole, isNamePlace, isSalutation, LabelFacts } from "./factLabels.js";
import { isTimesSign, NumberFacts, precedesTelephone } from "./factNumbers.js";
import { LinePlaces, PRESENT } from "./factPlaces.js";
import { ProductFacts } from "./factProducts.js";
import { FactStrings } from "./factStrings.js";
import { correctWord } from "./factTypos.js";
import { findRunCase, HOLDS_OWN, KEPT, type NamesToken } from "./tokens.js";

/** @internal Value of the option. */
export type Facts = (typeof FACTS)[number];

/** Elements of a text: kept texts and mentions, in order. */
type Elements = readonly (string | EntityMention)[];

const splitWords = (words: string): ReadonlySet<string> => new Set(words.split(" "));

/**
 * Entity types of which some strings are kept, with the smallest value of the option that keeps some. Replaced mentions
 * of these types are always tags, because a reader could mistake a surrogate for a kept string.
 */
const VALUE_TYPES: Readonly<Record<Facts, string>> = {
  none: "",
  plain: "age day digits number year",
  useful: "decade group month number-word ordinal season time weekday year-range",
  public: "country the-country",
};

/** Maximum number of elements that are processed together. No rule assumes anything about the elements after these. */
const MAX_BATCH = 1 << 10;
/** Largest number of items between a word of a request, such as *translate*, and a language. */
const MAX_REQUEST = 12;
const STRINGS = splitWords("file path key id");
const COUNTRIES = splitWords("country the-country");
const SIZE = /^[0-9]{1,4}[x\u00d7][0-9]{1,4}$/;
/** Return the types of which a value of the option `facts` keeps some strings. */
export const listValueTypes = (level: Facts): ReadonlySet<string> =>
  new Set(FACTS.slice(0, FACTS.indexOf(level) + 1).flatMap((below) => VALUE_TYPES[below].split(" ").filter(Boolean)));

/** A rule: returns whether a mention is kept in its context. */
type Rule = (place: LinePlaces, index: number, mention: EntityMention) => boolean;

/** Treatment of typing errors: hidden like other words, corrected, or unchanged (for a preview). */
export type ErrorsShown = "hidden" | "corrected" | "unchanged";

/** Rules that keep public facts, for one value of the option `facts` and the options of a call. */
export class FactRules {
  readonly strings: FactStrings;
  readonly #identifiers: IdentifierRules;
  readonly #codes: CodeFacts;
  readonly #numbers: NumberFacts;
  readonly #labels: LabelFacts;
  readonly #products: ProductFacts;
  readonly #facts: FactWords;
  readonly #secret: ReadonlySet<string>;
  readonly #beforeNames: ReadonlySet<string>;
  readonly #beforeValues: ReadonlySet<string>;

  /**
   * @param level One of `FACTS`.
   * @param denied Keys of words that are always replaced.
   * @param hiddenTypes Public names of types that the options write as tags or remove.
   * @param onlyTags Whether all types are written as tags.
   */
  constructor(
    readonly lists: NamesLists,
    readonly level: Facts,
    readonly denied: ReadonlySet<string>,
    readonly hiddenTypes: ReadonlySet<string>,
    onlyTags: boolean,
  ) {
    this.strings = new FactStrings(lists, level, denied, onlyTags);
    this.#identifiers = new IdentifierRules(this.strings);
    this.#codes = new CodeFacts(lists.rules.facts);
    this.#numbers = new NumberFacts(this.strings, this.#codes);
    this.#labels = new LabelFacts(this.strings);
    this.#products = new ProductFacts(this.strings);
    const { facts } = lists.rules;
    this.#facts = facts;
    this.#secret = facts.secretWords;
    this.#beforeNames = new Set([...facts.secretWords, ...facts.nameLeads, ...facts.kin]);
    this.#beforeValues = new Set([...facts.secretWords, ...facts.addressWords]);
  }

  /**
   * Split a greeting and roles at the beginning of a span from the rest, as *Patient* in *Patient Anna Novak*. Return
   * them with the blank after them, and the span of the rest; `undefined` without them or if only an initial follows.
   */
  #splitRoles(span: EntitySpan): [string, EntitySpan] | undefined {
    const { tokens, text } = span;
    const { phrases, roles } = this.#facts;
    const isPhrase = (size: number): boolean =>
      phrases.has(
        tokens
          .slice(0, size)
          .map(({ key }) => key)
          .join(" "),
      );
    let count = [3, 2, 1].find((size) => size < tokens.length && isPhrase(size)) ?? 0;
    for (; count < tokens.length; count++) {
      const token = tokens[count];
      if (token === undefined || token.case === LOWER || !roles.has(token.key)) break;
    }
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
      titleCaseWords: Math.max(
        0,
        span.titleCaseWords - tokens.slice(0, count).filter((token) => token.case === TITLE).length,
      ),
    };
    return [lead, restSpan];
  }

  /** Return whether a JSON key indicates a secret, or has a hidden word, so that no rule may keep its value. */
  namesSecret(elements: Elements): boolean {
    const texts = elements.filter((element) => typeof element === "string");
    if (texts.length < elements.length) return true;
    return splitIdentifier(texts.join("")).some((word) => this.#secret.has(word.toLowerCase()));
  }

  // Places

  /**
   * Return the elements of a text after changing the mentions that a rule covers to kept text, and the number of tokens
   * of these mentions.
   */
  keepFacts(
    elements: Elements,
    classifySpan: (span: EntitySpan) => EntityMention,
    errorsShown: ErrorsShown,
  ): { elements: (string | EntityMention)[]; keptCount: number } {
    const found: (string | EntityMention)[] = [];
    let batch: (string | EntityMention)[] = [];
    let [isCut, begun, keptCount, wordBefore] = [false, false, 0, ""];
    const keepBatch = (cutAfter: boolean): void => {
      const place = new LinePlaces(batch, this.#facts, isCut, cutAfter, wordBefore);
      keptCount += this.#keepInLines(place, classifySpan, errorsShown);
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

  /** In some lines, keep the mentions that a rule covers and split identifiers; return the number of kept tokens. */
  #keepInLines(place: LinePlaces, classifySpan: (span: EntitySpan) => EntityMention, errorsShown: ErrorsShown): number {
    let keptCount = 0;
    const keep = (rule: Rule, write = (text: string): string => text): void => {
      const found = [...place.mentions.entries()].filter(
        ([index, mention]) => mention !== undefined && this.#mayKeep(mention) && rule(place, index, mention),
      );
      keptCount += place.keep(new Map(found.map(([index, mention]) => [index, write(mention?.span.text ?? "")])));
    };
    keep((...at) => this.#isKeptWord(...at));
    keep((...at) => this.#isLinked(...at));
    if (errorsShown !== "hidden" && this.strings.isUseful) {
      const correct = (text: string): string => (errorsShown === "unchanged" ? text : correctWord(text, this.strings));
      keep((...at) => this.#isCorrected(...at), correct);
    }
    keep((...at) => this.#isKeptCapital(...at));
    keep((...at) => this.#numbers.isKeptUnit(...at));
    keep((...at) => this.#numbers.isKept(...at));
    for (const [index, mention] of place.mentions.entries()) {
      if (mention === undefined || !this.#mayKeep(mention)) continue;
      const split = mention.span.entityType === CAPITALIZED_RUN ? this.#splitRoles(mention.span) : undefined;
      if (split !== undefined) place.pieces.set(index, [split[0], classifySpan(split[1])]);
      const { entityType, text } = mention.span;
      if ((entityType !== "url" && !STRINGS.has(entityType)) || place.follows(index, this.#secret)) continue;
      const pieces = entityType === "url" ? this.#identifiers.cutAddress(text) : this.#identifiers.cut(text);
      if (pieces !== undefined) place.pieces.set(index, pieces);
    }
    return keptCount;
  }

  #mayKeep({ entityType, span }: EntityMention): boolean {
    return (
      span.precedingWord !== AFTER_TITLE && // also if `keep` leaves the title unchanged
      !this.hiddenTypes.has(getPublicType(entityType)) &&
      !span.tokens.some(({ key, flags }) => this.denied.has(key) || flags & HOLDS_OWN)
    );
  }

  /** Return whether a rule keeps a lower-case word, a letter, a string, a unit, a function word or a weekday. */
  #isKeptWord(place: LinePlaces, index: number, { span }: EntityMention): boolean {
    const { entityType, text } = span;
    const { strings } = this;
    if (entityType === "word") {
      const isWord =
        strings.isTerm(text) ||
        strings.isElided(span.tokens[0]?.key ?? "") ||
        (strings.isCodeName(text) && isCodeWord(place, index)) ||
        (strings.isDetermined(text) && place.isNounPlace(index) && !this.#facts.kin.has(place.getWord(index - 1))) ||
        (this.#facts.units.has(text) && followsUnit(place, index, this.#facts.units)) ||
        this.#labels.isKeptWord(place, index, text) ||
        this.#products.isKeptWord(place, index, text);
      return span.case === LOWER && isWord && !place.follows(index, this.#secret);
    }
    if (STRINGS.has(entityType)) {
      if (SIZE.test(text) || this.#isFormula(text))
        return strings.isUseful && !place.follows(index, this.#beforeValues);
      if (this.#labels.isKeptString(place, index, text)) return true;
      if (strings.isUseful && this.#codes.isKeptString(place, index, text))
        return text !== text.toUpperCase() || strings.isPlain(text);
      return !place.follows(index, this.#secret) && this.strings.isPlain(text);
    }
    if (entityType === "other") return !place.follows(index, this.#secret) && strings.isWordList(text);
    if (entityType === "letter") {
      if (text === "x" && isTimesSign(place, index)) return !place.follows(index, this.#beforeValues);
      if (!isAscii(text)) return false;
      return place.isSingleLetter(index) || (isVariable(place, index) && !place.follows(index, this.#beforeValues));
    }
    if (entityType === LONE_INITIAL) {
      if (strings.isDegree(text) && place.followsDegrees(index)) return true;
      if (this.#labels.isLabelLetter(place, index, text) && !place.hasCapitalBeside(index)) return true;
      return strings.isLabelLetter(text) && this.#isLabelPlace(place, index);
    }
    if (entityType === CAPITALIZED_RUN) {
      if (strings.isUnit(text)) return place.followsNumber(index) || followsUnit(place, index, this.#facts.units);
      if (strings.isCountryVariety(text) && place.isVarietyPlace(index)) return true;
      if (strings.isDetermined(text) && place.isNounPlace(index)) return !place.follows(index, this.#beforeNames);
      if (strings.isLabel(text) && precedesTelephone(place, index)) return !place.follows(index, this.#beforeNames);
      if (strings.isLabeledNoun(span.tokens))
        return !place.hasCapitalBeside(index) && !place.follows(index, this.#beforeNames);
      if (strings.isFunctionWord(span.tokens) && !place.hasCapitalBeside(index)) return true;
      return this.#labels.isKeptRun(place, index, span);
    }
    if (entityType === "month") return strings.isAuxiliary(text) && beginsQuestion(place, index, this.#facts);
    if (entityType === "title") return strings.onlyTags && /^(?:sir|madam)$/i.test(text) && isSalutation(place, index);
    if (
      entityType === "group" &&
      this.lists.factLists.language.has(text.toLowerCase()) &&
      place.isLanguagePlace(index) &&
      (strings.isUseful ||
        (strings.onlyTags &&
          place.listWordsBefore(index, MAX_REQUEST).some((word) => this.#facts.requestWords.has(word))))
    )
      return true;
    if (!strings.isUseful) return false;
    if (entityType === "group" && strings.beginsAsGroup(text)) {
      const { startFollowers } = this.#facts;
      return place.beginsSentence(index, startFollowers) || place.beginsClause(index, startFollowers);
    }
    return entityType === "weekday" && this.#labels.isWeekdayPlace(place, index, text);
  }
  #isFormula(text: string): boolean {
    return isFormula(text) && ![...text.toLowerCase()].some((letter) => this.denied.has(letter));
  }

  /** Return whether a capital letter is a variable, or labels the noun before it: `train B`, `vitamin C`. */
  #isLabelPlace(place: LinePlaces, index: number): boolean {
    if (place.getGap(index + 1).startsWith(")") && isListMarker(place, index)) return true;
    if (place.hasCapitalBeside(index) || place.follows(index, this.#beforeNames)) return false;
    if (place.follows(index, this.#beforeValues)) return false;
    return isVariable(place, index) || place.followsWord(index, (word) => this.#facts.labelNouns.has(word));
  }

  /** Return whether a word is kept because of a kept word next to it. */
  #isLinked(place: LinePlaces, index: number, { span }: EntityMention): boolean {
    if (span.entityType === "group") return this.#isLanguagePart(place, index, span.text.toLowerCase());
    if (span.entityType !== "word" || span.case !== LOWER || !this.strings.isLinked(span.text)) return false;
    const isForeign = (word: string): boolean => this.strings.isForeignWord(word);
    return !place.follows(index, this.#secret) && place.hasWordBeside(index, isForeign);
  }

  /** Return whether a group is a language after a kept country (*US English*), or a variety before a kept language. */
  #isLanguagePart(place: LinePlaces, index: number, word: string): boolean {
    const { strings } = this;
    const { language } = this.lists.factLists;
    const isCountry = (before: string): boolean => strings.isCountryVariety(before);
    if (language.has(word) && place.followsWord(index, isCountry)) return strings.isUseful;
    const next = place.getWord(index + 1);
    const isLanguage = IS_TITLE.test(next) && language.has(next.toLowerCase());
    return strings.isVariety(word) && isLanguage && place.getGap(index + 1) === " ";
  }

  /** Return whether a mention is a typing error that may be corrected in its context. */
  #isCorrected(place: LinePlaces, index: number, { span }: EntityMention): boolean {
    if (span.entityType !== "word" || span.case !== LOWER || !place.isErrorPlace(index)) return false;
    return !place.follows(index, this.#beforeNames) && correctWord(span.text, this.strings) !== "";
  }

  /** Return whether a word is a typing error that these rules correct in some contexts. */
  corrects(word: string): boolean {
    return this.strings.isUseful && correctWord(word, this.strings) !== "";
  }

  /** Return whether a span has words such as `HttpClient`, and all its other words may be in headings. */
  #isCode(tokens: readonly NamesToken[]): boolean {
    const others = tokens.filter(({ text }) => !this.strings.isCamel(text) || this.strings.isCompany(text));
    return others.length < tokens.length && (others.length === 0 || this.strings.isHeading(others));
  }

  /** Return whether a rule keeps a span of capitalized words. */
  #isKeptCapital(place: LinePlaces, index: number, mention: EntityMention): boolean {
    const { span } = mention;
    if (span.entityType !== CAPITALIZED_RUN) return false;
    const { strings } = this;
    const { roles, starts, startFollowers, headingLeads } = this.#facts;
    const tokens = span.tokens.filter((token) => token.tokenClass !== KEPT);
    const isStart = IS_TITLE.test(span.text) && starts.has(span.text.toLowerCase());
    const isListed = strings.isSurname(span.text.toLowerCase()) && place.precedesName(index);
    if (isStart && !isListed && place.beginsSentence(index, startFollowers)) return true;
    if (isStart && strings.isAuxiliary(span.text) && beginsQuestion(place, index, this.#facts)) return true;
    if (isStart && strings.isPlainStart(span.text.toLowerCase()) && place.beginsClause(index, undefined))
      return !place.follows(index, this.#beforeNames);
    const isConstant = strings.isCodeConstant(span.text) && isCodePlace(place, index);
    if (isConstant && !place.follows(index, this.#secret)) return true;
    const isPresent = IS_TITLE.test(span.text) && PRESENT.has(span.text.toLowerCase());
    if (isPresent && strings.isUseful && strings.isShared(span.text.toLowerCase()) && place.endsYearRange(index))
      return true;
    if (isNamePlace(place, index, this.#facts) || place.follows(index, this.#beforeNames)) return false;
    if (followsRole(place, index, roles) || followsPlate(place, index)) return false;
    const first = tokens[0]?.key ?? "";
    // In Patient Summer and Kind Regards Summer the rest may be a name.
    if (tokens.length > 1 && (roles.has(first) || this.#splitRoles(span) !== undefined)) return false;
    if (strings.isStart(tokens) && place.beginsClause(index, strings.isRare(first) ? startFollowers : undefined))
      return true;
    if (this.#isCode(tokens)) {
      const isKept = strings.isUseful && (isLower(span.text.charAt(0)) || strings.isPublic);
      const isErrorClass = tokens.length === 1 && /(?:Error|Exception|Warning)$/.test(span.text);
      if (isKept || isErrorClass || isCodePlace(place, index)) return true;
    }
    if (strings.isSentence(tokens)) return true;
    if (!strings.isUseful || tokens.length === 0) return false;
    const isName =
      strings.isPublicRun(tokens) ||
      (tokens.length === span.tokens.length && this.#products.isKeptRun(place, index, tokens)) ||
      (strings.isPublic && COUNTRIES.has(mention.entityType) && span.precedingWord !== AFTER_TITLE);
    if (isName) return strings.isPublic || !IS_TITLE.test(span.text) || !this.#products.isAddressed(place, index);
    const isPhrase = span.tokens.length > 1;
    if (!strings.isHeading(tokens) || this.#products.isPartyPlace(place, index, isPhrase)) return false;
    return isPhrase || place.isHeadingPlace(index, headingLeads);
  }
}
