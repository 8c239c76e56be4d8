/** Tokens of the mode `names`, and their finite classes. */

import { includesWord } from "../../bundle/rules.js";
import { MAX_CONNECTORS } from "../../constants.js";
import { LOWER, TITLE, UPPER } from "../segmentation/words.js";

export const GAP = 0;
export const KEPT = 1;
export const KEPT_WITH_CAPITALS = 2;
export const REPLACED = 3;
export const DIGITS = 4;
export const CAPITALIZED = 5;
export const INITIAL = 6;

export const KEPT_AT_START = 1;
export const KEPT_AT_SENTENCE = 2;
export const KEPT_FOR_EMPHASIS = 4;
export const BEGINS_UNIT = 8;
export const BEGINS_PLACE = 16;
export const CLITIC = 32;
export const BEGINS_DOTTED_NAME = 64;
export const NAME_AFTER_TITLE = 128;
export const LEGAL_FORM = 256;
export const LISTED_PERSON = 2048;
/** A lower-case word on the list of first names; of function words only those that are also first names (`will`). */
export const FIRST_NAME = 2097152;
export const NAME_FLAGS = LISTED_PERSON | FIRST_NAME;
export const NUMBER_WORD = 4096;
export const INITIALS = 8192;
/** A match of a user's own entity type, or a string that contains such a match. No rule keeps it. */
export const HOLDS_OWN = 16384;
/** Digits that a rule of the language joins to a month, and a noun that is kept with a capital outside of names. */
export const BESIDE_MONTH = 32768;
export const KEPT_NOUN = 65536;
/** A common word that is also a family name, and is replaced before a comma and a name (`Hope, Daniel`). */
export const SURNAME = 131072;
/** A function word that is also a family name, and belongs to a name after it that is all of a quotation or a line. */
export const SURNAME_PARTICLE = 1048576;
/** A function word that is no family name, or a preposition before places: no part of a name in capitals (`AND`). */
export const ENDS_NAME = 4194304;
/** Groups of an account number: the first one (`DE44`), and a later one that has letters (`3M02`). */
export const IBAN_HEAD = 262144;
export const IBAN_GROUP = 524288;
/** Minimum number of consecutive number words or letters that are merged. */
export const MIN_SPELLED = 3;
/** Roles of kept words that may belong to the name before them: all nouns, and listed names. */
export const NOUN_ROLE = "noun";
export const NAME_ROLE = "name";

/** Token of the mode `names`. Only some classes use `entityType`, `layout` and `flags`. */
export interface NamesToken {
  readonly tokenClass: number;
  readonly text: string;
  readonly key: string;
  readonly case: number;
  readonly entityType: string;
  readonly layout: string;
  readonly flags: number;
}

/** Make a token; most fields have a default. */
export const makeToken = (
  tokenClass: number,
  text: string,
  key: string,
  pattern = LOWER,
  entityType = "",
  layout = "",
  flags = 0,
): NamesToken => ({
  tokenClass,
  text,
  key,
  case: pattern,
  entityType,
  layout,
  flags,
});
/** Return whether a word may follow initials, that is, is capitalized and not a function word. */
export const mayFollowInitials = (word: NamesToken): boolean =>
  word.tokenClass === CAPITALIZED && (word.flags & (KEPT_AT_START | NAME_AFTER_TITLE)) !== KEPT_AT_START;

/** Return the case pattern of a sequence of capitalized words: `UPPER` or `TITLE`. */
export const findRunCase = (tokens: readonly NamesToken[]): number =>
  tokens.some((word) => word.case !== UPPER && word.tokenClass === CAPITALIZED && word.entityType !== "particle")
    ? TITLE
    : UPPER;

/** Return whether a token is a common word in capitals that may be kept as emphasis, such as `NOT`. */
export const isEmphasized = (token: NamesToken): boolean =>
  token.case === UPPER && (token.flags & KEPT_FOR_EMPHASIS) !== 0;

/** Return whether a token is a noun that is kept with a capital outside of names, as in German. */
export const isNoun = (token: NamesToken): boolean => (token.flags & KEPT_NOUN) !== 0;

/** Drop the leading nouns of a group, but not those that a hyphen joins to a name (`Feldhockey-Bundesliga`). */
export function dropNouns(
  words: readonly NamesToken[],
  gaps: readonly string[],
  group: readonly number[],
): readonly number[] {
  let count = group.findIndex((index) => !isNoun(words[index] as NamesToken));
  if (count < 0) return [];
  while (count > 0 && gaps[group[count] ?? 0] === "-") count--;
  return group.slice(count);
}

/**
 * Return whether the first word of a group is a function word that may belong to a name: `Van`, `El`. A name must follow
 * directly: no noun that is kept, and not only words in capitals that are kept as emphasis.
 */
export function mayBeginName(words: readonly NamesToken[], gaps: readonly string[], group: readonly number[]): boolean {
  const rest = group.slice(1);
  if (rest.length === 0 || !((words[group[0] ?? 0] as NamesToken).flags & SURNAME_PARTICLE)) return false;
  if (dropNouns(words, gaps, rest).length < rest.length) return false;
  return rest.some((index) => !isEmphasized(words[index] as NamesToken));
}

/**
 * Return the index after the connectors with which a run may go on (`of` in `Bank of America`); `index` if none follow.
 * A word in Title case for a group of people may precede them, as in `Sociedad Chilena de Ostrander`: it is a part of
 * that name. A blank follows each word, but for an elision (`d'`), which the next word follows directly.
 */
export function findConnectorsEnd(
  words: readonly NamesToken[],
  gaps: readonly string[],
  index: number,
  end: number,
  connectors: readonly string[],
): number {
  const inside = words[index] as NamesToken;
  const isGroup = inside.tokenClass === REPLACED && inside.entityType === "group" && inside.case === TITLE;
  const first = isGroup ? index + 1 : index;
  let after = first;
  let joins = " ";
  const continues = (): boolean => after < end && (gaps[after] === " " || gaps[after] === joins);
  while (continues() && after - first < MAX_CONNECTORS) {
    const word = words[after] as NamesToken;
    if (word.tokenClass !== KEPT || word.case !== LOWER || !includesWord(connectors, word.key)) break;
    joins = word.key.endsWith("'") ? "" : " ";
    after++;
  }
  return after > first && continues() ? after : index;
}

/**
 * Return which capitalized words of a headline are replaced, names that are common words included. A list of persons is
 * a headline too. So a common word is replaced if it is a surname and precedes a replaced word, if it is between two
 * replaced words, or if it follows a replaced word and ends the sequence of joined words. In the latter two cases it
 * does not count as replaced for the words beside it, and must not be a function word such as `AND`. `isJoined` has for
 * each word whether it is joined to the one before.
 */
export function addCommonNames(
  isReplaced: readonly boolean[],
  isJoined: readonly boolean[],
  words: readonly NamesToken[],
): boolean[] {
  const names = [...isReplaced];
  const hasFlag = (number: number, flag: number) => ((words[number]?.flags ?? 0) & flag) > 0;
  for (let number = names.length - 2; number >= 0; number--)
    if (isJoined[number + 1] && names[number + 1] && hasFlag(number, SURNAME)) names[number] = true;
  return names.map((replaced, number) => {
    const followsName = isJoined[number] && names[number - 1] && !hasFlag(number, ENDS_NAME);
    return replaced || (followsName === true && (!isJoined[number + 1] || names[number + 1] === true));
  });
}

/** Return the index after a word of a name and after the lower-case words that hyphens join to it. */
export function findMemberEnd(
  words: readonly NamesToken[],
  gaps: readonly string[],
  start: number,
  end: number,
  suffixes: readonly string[],
): number {
  let index = start + 1;
  for (; index < end && gaps[index] === "-"; index++) {
    const { tokenClass, case: pattern, key, entityType } = words[index] as NamesToken;
    if (pattern !== LOWER || (tokenClass !== KEPT && tokenClass !== KEPT_WITH_CAPITALS && tokenClass !== REPLACED))
      break;
    if (tokenClass === KEPT && includesWord(suffixes, key)) break;
    if (tokenClass === REPLACED && entityType !== "word") break;
  }
  return index;
}

/** Make the token of a gap; none for an empty text. */
export const makeGapToken = (text: string): NamesToken[] => (text === "" ? [] : [makeToken(GAP, text, text)]);
