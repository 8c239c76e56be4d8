/** Classification of single words in the mode `names`: by the lists of a bundle and the options of a call. */

import {
  CENSUS,
  EMPHASIS,
  FUNCTION,
  NAME,
  type NamesLists,
  NOUN,
  OPENER,
  RARE,
  START,
  STRICT,
} from "../../bundle/namesFiles.js";
import { includesWord, type Rules } from "../../bundle/rules.js";
import { types } from "../../data.js";
import {
  capitalizeFirst,
  findCasePattern,
  foldApostrophes,
  foldWord,
  isAscii,
  isUpper,
  LOWER,
  TITLE,
  UPPER,
} from "../segmentation/words.js";
import {
  BEGINS_DOTTED_NAME,
  BEGINS_PLACE,
  BEGINS_UNIT,
  CAPITALIZED,
  CLITIC,
  ENDS_NAME,
  FIRST_NAME,
  INITIAL,
  KEPT,
  KEPT_AT_SENTENCE,
  KEPT_AT_START,
  KEPT_FOR_EMPHASIS,
  KEPT_NOUN,
  KEPT_WITH_CAPITALS,
  LEGAL_FORM,
  LISTED_PERSON,
  makeToken,
  NAME_AFTER_TITLE,
  NAME_ROLE,
  type NamesToken,
  NOUN_ROLE,
  NUMBER_WORD,
  REPLACED,
  SURNAME,
  SURNAME_PARTICLE,
} from "./tokens.js";

const MIN_LENGTH_WITH_ENDING = 5;
const LETTER = /^\p{L}/u;
const LOWER_LETTER = /^\p{Lowercase}/u;
/** Return the public ending of a word, such as `-tion`; empty if the word has none. */
export function findEnding(key: string, { data: { endings } }: Rules): string {
  const matches = (ending: string): boolean => key.endsWith(ending);
  if (key.length < MIN_LENGTH_WITH_ENDING || !isAscii(key) || endings.except.some(matches)) return "";
  return endings.kept.find(matches) ?? "";
}

/** Split a key into its stem and its longest clitic. */
function splitClitic(key: string, rules: Rules): [string, string] | undefined {
  // As Python's pattern, which takes as little of the stem as it can: the longest clitic at the end.
  const candidates = rules.clitics.filter((clitic) => key.endsWith(clitic) && key.length > clitic.length);
  const clitic = candidates.sort((first, second) => second.length - first.length)[0];
  return clitic === undefined ? undefined : [key.slice(0, -clitic.length), clitic];
}

/** Classifies every word, under the options of a call. */
export class Lexicon {
  readonly #rules: Rules;
  readonly #lowerCaseTypes = new Map<string, string>();
  readonly #capitalizedTypes = new Map<string, string>();

  constructor(
    readonly lists: NamesLists,
    readonly allowed: ReadonlySet<string>,
    readonly denied: ReadonlySet<string>,
  ) {
    this.#rules = lists.rules;
  }

  /** Return the tokens of a word of letters and apostrophes: one, or a stem and the clitics next to it. */
  classifyWord(word: string): NamesToken[] {
    const key = foldWord(word);
    if (key.includes("'") && !this.isDenied(key) && !this.lists.commonWords.has(key) && !this.allowed.has(key)) {
      const start = this.#findLeadingClitic(word, key);
      if (start > 0) {
        const pattern = word.charAt(0) === key.charAt(0) ? LOWER : TITLE;
        const clitic = makeToken(KEPT, word.slice(0, start), key.slice(0, start), pattern);
        return [clitic, ...this.classifyWord(word.slice(start))];
      }
      const parts = splitClitic(key, this.#rules);
      if (parts !== undefined && parts[1] !== this.#rules.data.clitics.negation) {
        const letters = [...word];
        const end = letters.length - parts[1].length;
        const clitic = letters.slice(end).join("");
        // Of a clitic that is shown no letter is another one that looks like it.
        if (isAscii(letters.slice(end + 1).join(""))) {
          const pattern = letters.length > 2 && isUpper(word) ? UPPER : LOWER;
          return [
            this.#classifyStem(letters.slice(0, end).join(""), parts[0]),
            makeToken(KEPT, clitic, parts[1], pattern),
          ];
        }
      }
    }
    return [this.#classifyStem(word, key)];
  }

  /**
   * Return the length of the clitic at the start of a word, with its apostrophe; 0 if there is none. A clitic with a
   * capital must precede a lower-case letter: `D'Angelo` is a name, and no part of it is kept.
   */
  #findLeadingClitic(word: string, key: string): number {
    const end = key.indexOf("'") + 1;
    const next = word.slice(end);
    if (next === "" || !includesWord(this.#rules.data.clitics.before, key.slice(0, end))) return 0;
    const letters = word.slice(0, end - 1);
    if (!isAscii(letters) || !LETTER.test(next)) return 0;
    const isLower = letters === letters.toLowerCase();
    const isTitle = letters.slice(1) === key.slice(1, end - 1) && LOWER_LETTER.test(next);
    return isLower || isTitle ? end : 0;
  }

  /** Return whether a call denies a key, or its stem before a clitic. */
  isDenied(key: string): boolean {
    if (this.denied.size === 0 || this.denied.has(key) || !key.includes("'")) return this.denied.has(key);
    return this.#rules.clitics.some(
      (clitic) => key.length > clitic.length && key.endsWith(clitic) && this.denied.has(key.slice(0, -clitic.length)),
    );
  }

  #classifyStem(stem: string, key: string): NamesToken {
    const pattern = findCasePattern(stem);
    if (this.isDenied(key))
      return pattern === LOWER ? this.#makeUnlistedToken(stem, key) : makeToken(CAPITALIZED, stem, key, pattern);
    if (this.allowed.has(key) || this.lists.keptCapitals.has(foldApostrophes(stem)))
      return makeToken(KEPT, stem, key, pattern);
    if (pattern === LOWER && stem === stem.toLowerCase()) return this.#classifyLower(stem, key);
    return this.#classifyCapitalized(stem, key, pattern === LOWER ? TITLE : pattern);
  }

  #classifyLower(stem: string, key: string): NamesToken {
    const wordFlags = foldApostrophes(stem) === key ? this.lists.commonWords.get(key) : undefined;
    if (wordFlags === undefined) {
      const months = this.#rules.dates.lower_months ? ["month"] : [];
      const lists = [...types.any_case, ...types.lower_case, ...months];
      const entityType = this.#findFirstList(this.#lowerCaseTypes, key, lists);
      const token = this.#makeUnlistedToken(stem, key);
      const numberFlag = entityType === "number-word" ? NUMBER_WORD : 0;
      return entityType === ""
        ? token
        : { ...token, entityType, layout: "", flags: (token.flags & LISTED_PERSON) | numberFlag };
    }
    const numberFlag = this.#rules.numberWords.has(key) ? NUMBER_WORD : 0;
    if ((wordFlags & (STRICT | FUNCTION)) === 0) {
      const token = this.#makeUnlistedToken(stem, key);
      return { ...token, tokenClass: KEPT_WITH_CAPITALS, flags: token.flags | numberFlag };
    }
    const flags = this.lists.getMembers("unit-word").has(key)
      ? BEGINS_UNIT
      : this.lists.getMembers("first-word").has(key)
        ? BEGINS_PLACE
        : 0;
    let person = this.#findPersonFlags(key);
    if (wordFlags & FUNCTION) person &= includesWord(this.#rules.data.names.function_words, key) ? FIRST_NAME : 0;
    return makeToken(KEPT, stem, key, LOWER, this.#findNounRole(key, wordFlags), "", flags | numberFlag | person);
  }

  #findPersonFlags(key: string): number {
    if (this.lists.getMembers("given").has(key)) return LISTED_PERSON | FIRST_NAME;
    return this.lists.getMembers("family").has(key) ? LISTED_PERSON : 0;
  }

  /** Create the token of a replaced lower-case word, with a flag if the word is a listed name of a person. */
  #makeUnlistedToken(word: string, key: string): NamesToken {
    if ([...word].length === 1) {
      return makeToken(
        REPLACED,
        word,
        key,
        LOWER,
        "letter",
        "",
        includesWord(this.#rules.cliticPieces, key) ? CLITIC : 0,
      );
    }
    return makeToken(REPLACED, word, key, LOWER, "word", findEnding(key, this.#rules), this.#findPersonFlags(key));
  }

  /**
   * Return the role of a kept word that may belong to a lower-case name before it (`martin short`); empty if it cannot.
   */
  #findNounRole(key: string, wordFlags: number): string {
    const { sentences } = this.#rules.data;
    if (
      wordFlags & (FUNCTION | OPENER) ||
      findEnding(key, this.#rules) !== "" ||
      key.endsWith("s") ||
      includesWord(sentences.requests, key) ||
      includesWord(sentences.verbs, key)
    )
      return "";
    return this.#findPersonFlags(key) ? NAME_ROLE : NOUN_ROLE;
  }

  #classifyCapitalized(stem: string, key: string, pattern: number): NamesToken {
    const rules = this.#rules;
    const wordFlags = this.lists.commonWords.get(key) ?? 0;
    if ([...stem].length === 1)
      return makeToken(INITIAL, stem, key, TITLE, "", "", wordFlags & FUNCTION ? KEPT_AT_START : 0);
    let flags = 0;
    const spelling = foldApostrophes(stem);
    const isPlainSpelling = wordFlags !== 0 && (spelling === key.toUpperCase() || spelling === capitalizeFirst(key));
    if (isPlainSpelling && !includesWord(rules.data.names.function_words, key)) {
      const isRequest = (wordFlags & START) !== 0 && includesWord(rules.data.sentences.requests, key);
      if (isRequest || wordFlags & (FUNCTION | OPENER)) flags |= KEPT_AT_START;
      if ((isRequest || wordFlags & OPENER) && !(wordFlags & FUNCTION)) flags |= NAME_AFTER_TITLE;
      const isRare = (wordFlags & RARE) !== 0 && pattern !== UPPER;
      if (wordFlags & (START | FUNCTION | OPENER) && !isRare) flags |= KEPT_AT_SENTENCE;
      if (wordFlags & EMPHASIS) flags |= KEPT_FOR_EMPHASIS;
      if (wordFlags & NOUN && pattern === TITLE) flags |= KEPT_NOUN;
      const isSurname = (wordFlags & NAME) !== 0 || ((wordFlags & CENSUS) !== 0 && !(flags & KEPT_AT_START));
      if (rules.facts.commaWords.has(key)) flags |= wordFlags & FUNCTION ? SURNAME_PARTICLE : 0;
      else if (isSurname) flags |= SURNAME;
      const isEnding = wordFlags & EMPHASIS && !(wordFlags & (NAME | CENSUS));
      if (wordFlags & FUNCTION && (isEnding || includesWord(rules.data.names.place_prepositions, key)))
        flags |= ENDS_NAME;
    }
    const entityType = this.#findFirstList(this.#capitalizedTypes, key, [...types.any_case, ...types.capitalized]);
    const numberFlag =
      entityType === "number-word" || (entityType === "" && isPlainSpelling && rules.numberWords.has(key))
        ? NUMBER_WORD
        : 0;
    const layout = entityType === "title" ? (rules.titleLayouts.get(key) ?? "") : "";
    if (entityType !== "")
      return makeToken(REPLACED, stem, key, pattern, entityType, layout, (flags & KEPT_AT_SENTENCE) | numberFlag);
    flags |= numberFlag;
    if (includesWord(rules.data.names.first_short_forms, key)) flags |= BEGINS_DOTTED_NAME;
    else if (includesWord(rules.data.names.legal_forms, key) && !includesWord(rules.data.names.no_legal_forms, stem))
      flags |= LEGAL_FORM;
    return makeToken(CAPITALIZED, stem, key, pattern, "", "", flags);
  }

  /** Return the first list that contains a key; empty if none does. */
  #findFirstList(typeByKey: Map<string, string>, key: string, lists: readonly string[]): string {
    let listName = typeByKey.get(key);
    if (listName === undefined) {
      listName = lists.find((entityType) => this.lists.getMembers(entityType).has(key)) ?? "";
      typeByKey.set(key, listName);
    }
    return listName;
  }
}

/** Return the keys of all words and strings of allowed or denied entries. */
export function collectKeys(entries: readonly string[], lists: NamesLists): Set<string> {
  return new Set(entries.flatMap((entry) => lists.segmenter.splitEntry(entry)[1].map(foldWord)));
}
