/** Rule of the modes `words` and `all`: each token is kept, replaced or randomized (docs/format-staircase.md). */

import { ENGLISH, includesWord } from "../../bundle/rules.js";
import { CAPITALIZED, RECOGNIZED_ONLY } from "../../bundle/wordLists.js";
import { SHAPES } from "../../constants.js";
import { characters } from "../../data.js";
import { BundleDamaged } from "../../errors.js";
import { BLANK } from "../segmentation/characterClasses.js";
import { type Segmenter, STRING, WORD } from "../segmentation/segments.js";
import {
  applyCase,
  findCasePattern,
  findLastIndex,
  foldApostrophes,
  foldWord,
  isAscii,
  isLong,
  LOWER,
  TITLE,
  UPPER,
} from "../segmentation/words.js";
import { classifyShape } from "./shapes.js";

export const KEPT = 0;
export const REPLACED = 1;
export const RANDOMIZED = 2;

const { negation: NOT_CLITIC, negation_stems: auxiliaries } = ENGLISH.data.clitics;
const { clitics } = ENGLISH;
const APOSTROPHES = "'\u2019\u2018\u02bc\uff07";
const SENTENCE_ENDS = new RegExp(`[${characters.marks.sentence_ends}]`);
const LETTERS = /^[A-Za-z]+$/;

/** Decision of the rule on one token. */
export interface ClassifiedToken {
  readonly role: number;
  readonly case: number;
  /** Output of a kept token; look-up key of a randomized token, unless its input is `<unk>`. */
  readonly key: string | undefined;
  /** Index of the entity type of a replaced token. */
  readonly typeIndex: number;
  readonly spelling: string;
}

/** One entity type of the template. */
export interface EntityType {
  readonly name: string;
  readonly shape: string | null;
  readonly surrogates: readonly string[];
}

/** Entity types of a bundle in their public order; the first type that lists a word applies. */
export class EntityTypes {
  readonly entityTypes: readonly EntityType[];
  readonly #typeByShape = new Map<string, number>();
  /** Index of the type of each listed word; and its index in lower case where lists have it capitalized only. */
  readonly #typeByWord = new Map<string, number>();
  readonly #typeByLowerWord = new Map<string, number>();

  constructor(
    readonly functionWords: ReadonlyMap<string, boolean>,
    listedTypes: readonly {
      name: string;
      shape: string | null;
      entries: readonly string[];
      flags: readonly number[];
    }[],
    readonly segmenter: Segmenter,
  ) {
    const entityTypes: EntityType[] = [];
    listedTypes.forEach(({ name, shape, entries, flags }, typeIndex) => {
      entityTypes.push({
        name,
        shape,
        surrogates: entries.filter((_, index) => !((flags[index] ?? 0) & RECOGNIZED_ONLY)),
      });
      if (shape !== null) {
        this.#typeByShape.set(shape, typeIndex);
        return;
      }
      entries.forEach((entry, index) => {
        const isCapitalized = ((flags[index] ?? 0) & CAPITALIZED) !== 0;
        const first = this.#typeByWord.get(entry);
        if (first === undefined) {
          this.#typeByWord.set(entry, typeIndex);
          if (isCapitalized) this.#typeByLowerWord.set(entry, NONE);
        } else if (!isCapitalized && this.#typeByLowerWord.get(entry) === NONE) {
          this.#typeByLowerWord.set(entry, typeIndex);
        }
      });
    });
    this.entityTypes = entityTypes;
    if (
      this.#typeByShape.size > 0 &&
      (this.#typeByShape.size !== SHAPES.length || !SHAPES.every((s) => this.#typeByShape.has(s)))
    ) {
      throw new BundleDamaged("each shape of strings, such as email or date, needs an entity type: some are missing");
    }
  }

  /** Return the index of the type of a string; -1 if the bundle has no types by shape. */
  findStringType(string: string): number {
    return this.#typeByShape.size > 0 ? (this.#typeByShape.get(classifyShape(string, this.segmenter)) ?? NONE) : NONE;
  }

  /** Return the index of the first type that lists a word; -1 if none does. */
  findWordType(key: string, pattern: number): number {
    if (pattern === LOWER) {
      const typeIndex = this.#typeByLowerWord.get(key);
      if (typeIndex !== undefined) return typeIndex;
    }
    return this.#typeByWord.get(key) ?? NONE;
  }
}

const NONE = -1;

/** Rule under the options of one call. */
export class TemplateRule {
  readonly denied: ReadonlySet<string>;

  constructor(
    readonly entityTypes: EntityTypes,
    readonly keepsFunctionWords: boolean,
    deny: Iterable<string>,
  ) {
    this.denied = new Set([...deny].flatMap((entry) => this.#listDeniedKeys(entry)));
  }

  /** Return the tokens of one segment that is not a gap: at least one, each with its spelling. */
  classifyToken(segmentType: number, segment: string, startsSentence: boolean): ClassifiedToken[] {
    const classified = this.#splitAndClassify(segmentType, segment, startsSentence);
    if (this.denied.size === 0) return classified;
    const [first, ...clitics] = classified as [ClassifiedToken, ...ClassifiedToken[]];
    const keys = clitics.map((token) => foldWord(token.spelling));
    let deniesAll = this.denied.has(foldWord(segment)) || keys.some((key) => this.denied.has(key));
    const deniesStem = this.denied.has(foldWord(first.spelling));
    deniesAll ||= deniesStem && keys.includes(NOT_CLITIC);
    if (deniesAll) return [makeRandomizedToken(first.case, undefined, segment)];
    return deniesStem ? [makeRandomizedToken(first.case, undefined, first.spelling), ...clitics] : classified;
  }

  #splitAndClassify(segmentType: number, segment: string, startsSentence: boolean): ClassifiedToken[] {
    if (segmentType === WORD && LETTERS.test(segment)) return [this.#classifyStem(segment, startsSentence)];
    if (isLong(segment)) return [makeRandomizedToken(LOWER, undefined, segment)];
    if (segmentType === STRING) {
      const typeIndex = this.entityTypes.findStringType(segment);
      return [
        typeIndex < 0 ? makeRandomizedToken(LOWER, undefined, segment) : makeReplacedToken(LOWER, typeIndex, segment),
      ];
    }
    const loneKey = foldWord(segment);
    if (
      this.keepsFunctionWords &&
      (segment.startsWith("'") || segment.startsWith("\u2019")) &&
      includesWord(clitics, loneKey)
    ) {
      // Behind a blank: no other word begins with an apostrophe.
      return [{ role: KEPT, case: LOWER, key: loneKey, typeIndex: NONE, spelling: segment }];
    }
    const cutClitics: string[] = [];
    let stem = segment;
    for (let index = findCliticStart(stem); index > 0; index = findCliticStart(stem)) {
      cutClitics.unshift(stem.slice(index));
      stem = stem.slice(0, index);
    }
    let first = this.#classifyStem(stem, startsSentence);
    const index = this.keepsFunctionWords ? findLastIndex(stem, NOT_CLITIC.length) : 0;
    if (
      index > 0 &&
      foldWord(stem.slice(index)) === NOT_CLITIC &&
      includesWord(auxiliaries, foldWord(stem.slice(0, index)))
    ) {
      const auxiliary = this.#classifyStem(stem.slice(0, index), startsSentence);
      if (auxiliary.role === KEPT) {
        first = auxiliary;
        cutClitics.unshift(stem.slice(index));
      } else {
        first = makeRandomizedToken(first.case, undefined, stem);
      }
    }
    const pattern = first.case === UPPER ? UPPER : LOWER;
    const role = this.keepsFunctionWords ? KEPT : RANDOMIZED;
    return [
      first,
      ...cutClitics.map(
        (spelling): ClassifiedToken => ({ role, case: pattern, key: foldWord(spelling), typeIndex: NONE, spelling }),
      ),
    ];
  }

  #classifyStem(stem: string, startsSentence: boolean): ClassifiedToken {
    const key = foldWord(stem);
    const pattern = findCasePattern(stem);
    const { entityTypes: lists } = this;
    const typeIndex = lists.findWordType(key, pattern);
    if (typeIndex >= 0) return makeReplacedToken(pattern, typeIndex, stem);
    const isNameLike = this.keepsFunctionWords ? lists.functionWords.get(key) : undefined;
    if (isNameLike === undefined) return makeRandomizedToken(pattern, key, stem);
    const normalized = isAscii(stem) ? stem : foldApostrophes(stem.normalize("NFKC"));
    const mayBeCapitalized = key === "i" || (startsSentence && !isNameLike);
    if (normalized === key || (mayBeCapitalized && normalized === applyCase(key, TITLE))) {
      return { role: KEPT, case: pattern, key, typeIndex: NONE, spelling: stem };
    }
    return makeRandomizedToken(pattern, undefined, stem);
  }

  /** Index of the type of punctuation marks, where these are sanitized. */
  get markType(): number {
    return this.entityTypes.entityTypes.length;
  }

  /** Return the surrogates of an entity type. */
  listSurrogates(typeIndex: number): readonly string[] {
    return this.entityTypes.entityTypes[typeIndex]?.surrogates ?? characters.marks.punctuation;
  }

  /** Return the name of an entity type. */
  getTypeName(typeIndex: number): string {
    return this.entityTypes.entityTypes[typeIndex]?.name ?? "punctuation mark";
  }

  #listDeniedKeys(entry: string): string[] {
    const [stripped, words] = this.entityTypes.segmenter.splitEntry(entry);
    return words.length === 0 ? [] : [foldWord(stripped), ...words.map(foldWord)];
  }
}

/** Make the token of a punctuation mark, where these are sanitized. */
export function makeMarkToken(rule: TemplateRule, mark: string): ClassifiedToken {
  return makeReplacedToken(LOWER, rule.markType, mark);
}

/** Return the marks of a gap. */
export function listMarks(gap: string, segmenter: Segmenter): string[] {
  return [...gap].filter((character) => !segmenter.characters.matches(character.codePointAt(0) ?? 0, BLANK));
}

/** Return whether a gap ends a sentence. */
export function endsSentence(gap: string): boolean {
  return SENTENCE_ENDS.test(gap);
}

const makeRandomizedToken = (pattern: number, key: string | undefined, spelling: string): ClassifiedToken => ({
  role: RANDOMIZED,
  case: pattern,
  key,
  typeIndex: NONE,
  spelling,
});

const makeReplacedToken = (pattern: number, typeIndex: number, spelling: string): ClassifiedToken => ({
  role: REPLACED,
  case: pattern,
  key: undefined,
  typeIndex,
  spelling,
});

/** Return the index of the clitic at the end of a word; 0 without one. */
function findCliticStart(word: string): number {
  for (const length of [2, 3]) {
    const index = findLastIndex(word, length);
    if (index > 0 && APOSTROPHES.includes(word.charAt(index)) && includesWord(clitics, foldWord(word.slice(index))))
      return index;
  }
  return 0;
}
