/** Pass 3 of the mode `names`: the entity type of a span from its own string, and its parts. */

import type { NamesLists } from "../../bundle/namesFiles.js";
import { includesWord } from "../../bundle/rules.js";
import { AFTER_TITLE } from "../../constants.js";
import { types } from "../../data.js";
import { UPPER } from "../segmentation/words.js";
import { CAPITALIZED_RUN, DIGIT_GROUP, type EntitySpan, KNOWN_PERSON, LONE_INITIAL } from "./entitySpans.js";
import { mergeKeptMentions } from "./keptMentions.js";
import { makeKnownMention } from "./knownPersons.js";
import { findEnding } from "./lexicon.js";
import { classifyNumber } from "./stringTypes.js";
import {
  BEGINS_DOTTED_NAME,
  HOLDS_OWN,
  INITIAL,
  INITIALS,
  KEPT_AT_SENTENCE,
  type NamesToken,
  SURNAME,
} from "./tokens.js";

/** Part of a span that gets a surrogate of its own. */
export interface MentionPart {
  readonly entityType: string;
  readonly layout: string;
  readonly folded: string;
  readonly text: string;
}

/** Entity span with its type and parts, and its text without common words before the name of a person. */
export interface EntityMention {
  readonly entityType: string;
  readonly case: number;
  readonly parts: readonly MentionPart[];
  readonly span: EntitySpan;
  readonly nameText: string;
}

const MAX_ACRONYM_LENGTH = 5;
const MIN_COMMON_WORD_LENGTH = 4;
/** Types of surrogates for organizations and places in a document without capitals. */
const TYPES_WITHOUT_CAPITALS = new Map<string, string>(Object.entries(types.without_capitals));
const PUBLIC_TYPE_NAMES = new Map<string, string>(Object.entries(types.called));

/** Return the name of an entity type in options, tags and statements. */
export const getPublicType = (entityType: string): string => PUBLIC_TYPE_NAMES.get(entityType) ?? entityType;

/** Return a key that equal parts of mentions share. */
export const makeEqualityKey = (part: MentionPart): string => `${part.entityType}\0${part.layout}\0${part.folded}`;

/** Return whether a token of a name is an initial, or several initials with dots. */
const isInitial = (word: NamesToken): boolean => word.tokenClass === INITIAL || (word.flags & INITIALS) !== 0;

/** Changes a single family name to a first name if it was a first name earlier in the document. */
export class GivenNameLinker {
  readonly #given = new Set<string>();
  readonly #family = new Set<string>();

  /** Return an element. A single family name becomes a first name if the string was only a first name earlier. */
  linkNames(element: string | EntityMention): string | EntityMention {
    if (typeof element === "string" || !["person", "given", "family"].includes(element.entityType)) return element;
    const part = element.parts[0] as MentionPart;
    const isLinked = element.entityType === "family" && this.#given.has(part.folded) && !this.#family.has(part.folded);
    const linkedMention = isLinked
      ? { ...element, entityType: "given", parts: [{ ...part, entityType: "given" }] }
      : element;
    for (const { entityType, folded } of linkedMention.parts) {
      if (entityType !== "initial") (entityType === "given" ? this.#given : this.#family).add(folded);
    }
    return linkedMention;
  }
}

/** Assigns entity types to spans. */
export class EntityClassifier {
  constructor(
    readonly lists: NamesLists,
    readonly denied: ReadonlySet<string>,
    readonly keptTypes: ReadonlySet<string>,
    readonly unchangedTypes: ReadonlySet<string>,
  ) {}

  /** Return kept texts and mentions in turn, with kept mentions merged into the texts. */
  mergeKept(elements: readonly (string | EntityMention)[]): (string | EntityMention)[] {
    return mergeKeptMentions(elements, (mention) => this.#isKept(mention));
  }

  /** Return whether the option `keep` covers a mention. */
  #isKept({ entityType, span }: EntityMention): boolean {
    const { tokens } = span;
    const isOwn = tokens.length === 1 && tokens[0]?.entityType === entityType && tokens[0].layout !== "";
    if (!isOwn && tokens.some((word) => word.flags & HOLDS_OWN)) return false;
    const ownWords = isOwn ? span.text.toLowerCase().split(/[^a-z0-9]+/) : [];
    if (ownWords.some((word) => this.denied.has(word))) return false;
    const [phrase, publicType] = [joinKeys(span, 0), getPublicType(entityType)];
    if (!this.keptTypes.has(publicType) || tokens.some((word) => this.denied.has(word.key))) return false;
    if (entityType === "person" || entityType === "given" || entityType === "family") {
      return tokens.slice(this.#findNameStart(span)).every((word) => isInitial(word) || this.#isKeptName(word.key));
    }
    if (!types.whole.includes(entityType)) return entityType !== "word" || this.lists.commonWords.has(phrase);
    const [firstType, lastType] = [tokens[0], tokens[tokens.length - 1]].map((word) =>
      this.#findNameList(word?.key ?? ""),
    );
    const isPersonPair = tokens.length > 1 && firstType === "given" && (lastType === "given" || lastType === "family");
    if (span.precedingWord === AFTER_TITLE || (isPersonPair && !this.keptTypes.has("person"))) return false;
    return this.#isKeptName(phrase);
  }

  /** Return whether a name is listed, and only on lists of kept types. */
  #isKeptName(phrase: string): boolean {
    const entityTypes = types.whole
      .filter((entityType) => this.lists.getMembers(entityType).has(phrase))
      .map(getPublicType);
    if (this.lists.getMembers("particle").has(phrase) || includesWord(this.lists.rules.data.names.also_persons, phrase))
      entityTypes.push("person");
    return entityTypes.length > 0 && entityTypes.every((entityType) => this.keptTypes.has(entityType));
  }

  /** Assign an entity type to a span, and return the span as a mention. */
  classifySpan(span: EntitySpan, hasCapitals: boolean): EntityMention {
    if (span.entityType === DIGIT_GROUP) {
      const [entityType, layout] = classifyNumber(
        span.text.replace(/^[+(]+|[+(]+$/g, "").replace(/[^0-9]+/g, "-"),
        this.lists.rules,
      );
      return makeMention(span, entityType, layout);
    }
    if (span.entityType === LONE_INITIAL) return makeMention(span, "initial", "");
    if (span.entityType === KNOWN_PERSON) return makeKnownMention(span);
    const phrase = joinKeys(span, 0);
    if (span.entityType !== CAPITALIZED_RUN) {
      const listedType = !hasCapitals && span.entityType === "word" ? this.#findNameList(phrase) : "";
      if (listedType === "") return makeMention(span, span.entityType, span.layout);
      return makeMention(
        span,
        this.unchangedTypes.has(listedType) ? listedType : (TYPES_WITHOUT_CAPITALS.get(listedType) ?? listedType),
        "",
      );
    }
    let entityType = this.#findNameList(phrase);
    if (entityType === "")
      entityType = span.tokens.length > 1 ? this.#classifyRun(span) : this.#classifyWord(span, phrase);
    if (entityType === "family" && includesWord(this.lists.rules.data.names.place_prepositions, span.precedingWord))
      entityType = "city";
    const isName = entityType === "person" || entityType === "given" || entityType === "family";
    if (!isName)
      return makeMention(span, entityType, entityType === "word" ? findEnding(phrase, this.lists.rules) : "", phrase);
    let nameStart = this.#findNameStart(span);
    const first = this.#findCommonFirstName(span, nameStart);
    if (first < nameStart) [entityType, nameStart] = ["person", first];
    const parts =
      entityType === "person" ? this.#splitPersonName(span, nameStart) : [makePart(span, entityType, nameStart)];
    const casePattern = parts.every((part) => part.entityType === "initial") ? UPPER : span.case; // a word may be left out
    return { entityType, case: casePattern, parts, span, nameText: getTextFrom(span, nameStart) };
  }

  /** Return the first list of whole names that contains a phrase; empty if none does. */
  #findNameList(phrase: string): string {
    return types.whole.find((entityType) => this.lists.getMembers(entityType).has(phrase)) ?? "";
  }

  #classifyWord(span: EntitySpan, key: string): string {
    const personType = this.#isForeignGiven(key) ? "given" : "family";
    if (span.precedingWord === AFTER_TITLE) return personType;
    const length = [...key].length;
    const isCommon = this.lists.commonWords.has(key) && !this.denied.has(key);
    if (isCommon && length >= MIN_COMMON_WORD_LENGTH && !key.includes("'")) return "word";
    return span.case === UPPER && length <= MAX_ACRONYM_LENGTH ? "acronym" : personType;
  }

  #classifyRun(span: EntitySpan): string {
    const first = span.tokens[0] as NamesToken;
    const last = span.tokens[span.tokens.length - 1] as NamesToken;
    if (first.entityType === "particle") return "family";
    const nameStart = this.#findNameStart(span);
    const personType = nameStart < span.tokens.length - 1 ? "person" : "given";
    const endType = this.#findEndType(span, nameStart);
    if (span.precedingWord === AFTER_TITLE) {
      const mayBePerson = last.flags & SURNAME || this.#findNameList(last.key) !== "";
      return endType === "" || mayBePerson ? personType : endType;
    }
    const entityType = endType || (first.flags & BEGINS_DOTTED_NAME ? "place" : this.#findEndWordType(first.key));
    if (entityType !== "") return this.#isPersonBeforePlace(span, nameStart) ? "person" : entityType;
    const firstOfName = span.tokens[nameStart] as NamesToken;
    if (isInitial(firstOfName) || this.lists.getMembers("given").has(firstOfName.key)) return personType;
    const isPair = span.tokens.length - nameStart === 2 && this.#findNameList(last.key) === "family";
    if (isPair && ["", "family"].includes(this.#findNameList(firstOfName.key))) return "person";
    const isForeignGiven = this.#isForeignGiven(firstOfName.key);
    if (!isForeignGiven && includesWord(this.lists.rules.data.names.place_prepositions, span.precedingWord))
      return "city";
    if (this.#namesOrganization(span, nameStart)) return "organization";
    return isForeignGiven || personType === "person" ? personType : "family";
  }

  /** Return whether a name is a first name and a family name that also ends places: *Joy Field*. */
  #isPersonBeforePlace({ tokens, precedingWord }: EntitySpan, nameStart: number): boolean {
    const [first, last, ...others] = tokens.slice(nameStart);
    if (first === undefined || last === undefined || others.length > 0) return false;
    const { rules } = this.lists;
    if (includesWord(rules.data.names.place_prepositions, precedingWord) || rules.facts.streetLeads.has(precedingWord))
      return false;
    if (!this.#isGiven(first) || !["", "given", "family"].includes(this.#findNameList(first.key))) return false;
    const isSurname = this.lists.getMembers("family").has(last.key) || (last.flags & SURNAME) > 0;
    return isSurname && this.#findEndWordType(last.key) === "place";
  }

  /** Return whether a sequence of capitalized words has a word that is no part of a person's name. */
  #namesOrganization(span: EntitySpan, nameStart: number): boolean {
    const tokens = span.tokens.slice(nameStart);
    const listedTypes = tokens.map((word) => this.#findNameList(word.key));
    if (span.text.includes("&") || (tokens.length === 1 && listedTypes[0] === "city")) return true;
    const isForeignGiven = this.#isForeignGiven((tokens[0] as NamesToken).key);
    // Behind a first name that is no place, one common word may be a family name.
    const mayBeCommon = isForeignGiven && tokens.length === 2 && ["", "family"].includes(listedTypes[0] ?? "");
    const [first] = tokens;
    const isUnlisted = tokens.length === 2 && listedTypes[0] === "" && !this.#isCommon((first as NamesToken).key);
    return tokens.some((word, index) => {
      const entityType = listedTypes[index] ?? "";
      if ((isForeignGiven && index === 0) || word.entityType === "particle" || isInitial(word)) return false;
      if (this.lists.getMembers("particle").has(tokens[index - 1]?.key ?? "")) return false; // El-Sayed
      const isAcronym = word.case === UPPER && span.case !== UPPER;
      if (this.#findEndWordType(word.key) !== "" || includesWord(types.no_persons, entityType) || isAcronym)
        return true;
      const isSurname = mayBeCommon || (isUnlisted && (word.flags & SURNAME) > 0);
      return this.#isCommon(word.key) && entityType !== "given" && entityType !== "family" && !isSurname;
    });
  }

  /** Return the type of a run by its last word. Some words of institutions do not count after a single first name. */
  #findEndType(span: EntitySpan, nameStart: number): string {
    const key = (span.tokens[span.tokens.length - 1] as NamesToken).key;
    const isPair =
      span.tokens.length === 2 && this.lists.getMembers("given").has((span.tokens[nameStart] as NamesToken).key);
    const isInstitution = this.lists.rules.facts.institutionEnds.has(key) && !isPair;
    return this.#findEndWordType(key) || (isInstitution ? "organization" : "");
  }

  #findEndWordType(key: string): string {
    return types.last.find(([list]) => this.lists.getMembers(list).has(key))?.[1] ?? "";
  }

  #isCommon(key: string): boolean {
    return this.lists.commonWords.has(key) && !this.denied.has(key);
  }

  #isForeignGiven(key: string): boolean {
    return this.lists.getMembers(types.first_names_only).has(key);
  }

  #isGiven(word: NamesToken): boolean {
    return this.lists.getMembers("given").has(word.key) || this.#isForeignGiven(word.key);
  }

  /** Return the index of the word at which a person's name begins among capitalized words. */
  #findNameStart(span: EntitySpan): number {
    for (let index = 0; index < span.tokens.length; index++) {
      const word = span.tokens[index] as NamesToken;
      const isInitialWord = isInitial(word);
      if (this.#isGiven(word) || (isInitialWord && index < span.tokens.length - 1)) return index;
      if (!(word.flags & KEPT_AT_SENTENCE)) return isInitialWord || span.precedingWord === AFTER_TITLE ? 0 : index;
    }
    return 0;
  }

  /** Return the index of a common word that is the first name before a family name: *we hired Blessing Okoro*. */
  #findCommonFirstName(span: EntitySpan, nameStart: number): number {
    const begin = span.tokens[nameStart] as NamesToken;
    if (this.#isGiven(begin) || isInitial(begin)) return nameStart;
    const surname = span.tokens.findIndex((word) => word.flags & SURNAME);
    return span.precedingWord ? 0 : surname < 0 || surname > nameStart ? nameStart : surname;
  }

  /** Split a person's name into parts: initials, given names, and a family name at the end. */
  #splitPersonName(span: EntitySpan, nameStart: number): MentionPart[] {
    const parts: MentionPart[] = [];
    for (let index = nameStart; index < span.tokens.length; index++) {
      const word = span.tokens[index] as NamesToken;
      if (word.tokenClass === INITIAL || (isInitial(word) && index < span.tokens.length - 1)) {
        parts.push({ entityType: "initial", layout: "", folded: word.key, text: word.text });
      } else if (index === span.tokens.length - 1 || (index > nameStart && !this.#isGiven(word))) {
        parts.push(makePart(span, "family", index));
        break;
      } else {
        parts.push({ entityType: "given", layout: "", folded: word.key, text: word.text });
      }
    }
    return parts;
  }
}

function makeMention(span: EntitySpan, entityType: string, layout: string, folded?: string): EntityMention {
  const phrase = span.tokens.length === 1 ? (span.tokens[0] as NamesToken).key : span.text.toLowerCase();
  const part: MentionPart = { entityType, layout, folded: folded ?? phrase, text: span.text };
  return { entityType, case: span.case, parts: [part], span, nameText: span.text };
}

const joinKeys = (span: EntitySpan, nameStart: number): string =>
  span.tokens
    .slice(nameStart)
    .map((word) => word.key)
    .join(" ");

/** Create the part of a mention from the word with index `nameStart` to the end of the span. */
const makePart = (span: EntitySpan, entityType: string, nameStart: number): MentionPart => ({
  entityType,
  layout: "",
  folded: joinKeys(span, nameStart),
  text: getTextFrom(span, nameStart),
});

/** Return the text of a span from the word with index `nameStart` to the end. */
function getTextFrom(span: EntitySpan, nameStart: number): string {
  let end = 0;
  for (const word of span.tokens.slice(0, nameStart)) end = span.text.indexOf(word.text, end) + word.text.length;
  return span.text.slice(span.text.indexOf((span.tokens[nameStart] as NamesToken).text, end));
}
