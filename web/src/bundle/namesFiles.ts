/** Reader of the lists of the mode `names`. */

import { COMMON_WORD_FLAGS, FACT_KINDS } from "../constants.js";
import { types } from "../data.js";
import { BundleDamaged } from "../errors.js";
import { M, N } from "../text/segmentation/characterClasses.js";
import type { Segmenter } from "../text/segmentation/segments.js";
import type { BundleBase } from "./open.js";
import { ENGLISH, RULES_FILE, type Rules, readRules } from "./rules.js";
import {
  CAPITALIZED,
  checkFolded,
  checkOrder,
  checkTrimmed,
  MEMBER_FLAGS,
  makeLineError,
  parseFlagged,
  readLines,
} from "./wordLists.js";

const COMMON = "common-words.txt";
const CAPITALS = "kept-capitals.txt";
const SYMBOLS = "kept-symbols.txt";
const nameTypeFile = (entityType: string): string => `entity.${entityType}.txt`;
const namePoolFile = (entityType: string): string => `surrogates.${entityType}.txt`;
const factFile = (kind: string): string => `facts.${kind}.txt`;
/** For kinds of fact lists with printed spellings: the required form of an entry, and the problem in the message. */
const FACT_FORMS: Readonly<Partial<Record<FactKind, readonly [RegExp, string]>>> = {
  capital: [/[A-Z]/, "has no capital of ASCII"],
  company: [/[A-Z]/, "has no capital of ASCII"],
  acronym: [/^[A-Z]{2,6}$/, "is not two to six capitals of ASCII"],
};
const NON_SYMBOL = /[\p{L}\p{M}\p{N}\p{Z}\p{Cc}\p{Cf}\p{Co}\u{1F1E6}-\u{1F1FF}\u{1F3FB}-\u{1F3FF}]/u;

const getFlag = (name: (typeof COMMON_WORD_FLAGS)[number]): number => 1 << COMMON_WORD_FLAGS.indexOf(name);
export const STRICT = getFlag("strict");
export const START = getFlag("start");
export const EMPHASIS = getFlag("emphasis");
export const RARE = getFlag("rare");
export const OPENER = getFlag("opener");
export const NAME = getFlag("name");
export const FUNCTION = getFlag("function");
export const CENSUS = getFlag("census");
export const NOUN = getFlag("noun");

/** Kind of a list of public facts. */
export type FactKind = (typeof FACT_KINDS)[number];

/** The entry `names` of `mechanism.json`. */
export interface NamesEntry {
  /** Names of the entity types that have a list of members. */
  readonly entityTypes: readonly string[];
  /** Names of the entity types that have a surrogate pool. */
  readonly poolTypes: readonly string[];
  /** Kinds of public facts that have a list. */
  readonly facts: readonly string[];
}

/** Return the names of all files that the entry `names` of `mechanism.json` requires. */
export function listNamesFiles({ entityTypes, poolTypes, facts }: NamesEntry): string[] {
  return [
    COMMON,
    CAPITALS,
    SYMBOLS,
    ...entityTypes.map(nameTypeFile),
    ...poolTypes.map(namePoolFile),
    ...facts.map(factFile),
  ];
}

/** Parsed and checked lists of the mode `names`. */
export class NamesLists {
  /** Flags of each common word, as bits. */
  readonly commonWords: ReadonlyMap<string, number>;
  readonly keptCapitals: ReadonlySet<string>;
  readonly keptSymbols: ReadonlySet<string>;
  readonly membersByType: ReadonlyMap<string, ReadonlySet<string>>;
  readonly surrogatePools: ReadonlyMap<string, readonly string[]>;
  /** Public facts of each kind: lookup keys for `term`, `language` and `foreign`, printed spellings for all others. */
  readonly factLists: Readonly<Record<FactKind, ReadonlySet<string>>>;
  /** Rules of the language of the bundle. A bundle without a rules file has the rules of English. */
  readonly rules: Rules;

  constructor(
    opened: BundleBase,
    entry: NamesEntry,
    readonly segmenter: Segmenter,
  ) {
    this.rules = opened.hashes.has(RULES_FILE) ? readRules(opened.getFile(RULES_FILE)) : ENGLISH;
    const common = parseFlagged(opened, COMMON, COMMON_WORD_FLAGS);
    checkOrder(COMMON, common.entries);
    checkFolded(COMMON, common.entries);
    this.commonWords = new Map(common.entries.map((word, index) => [word, common.flags[index] ?? 0]));
    const membersByType = new Map<string, ReadonlySet<string>>();
    for (const entityType of entry.entityTypes) {
      const name = nameTypeFile(entityType);
      const { entries, flags } = parseFlagged(opened, name, MEMBER_FLAGS);
      checkOrder(name, entries);
      checkFolded(name, entries);
      membersByType.set(entityType, new Set(entries));
      const isClosed = types.closed.includes(entityType);
      if (
        isClosed &&
        entries.some((word, index) => !((flags[index] ?? 0) & CAPITALIZED) && this.commonWords.has(word))
      ) {
        throw new BundleDamaged(
          `${COMMON}: a word is also a ${entityType}, and the mode names replaces each ${entityType}: remove the word`,
        );
      }
    }
    this.membersByType = membersByType;
    this.keptCapitals = new Set(parseSorted(opened, CAPITALS));
    const symbols = parseSorted(opened, SYMBOLS);
    symbols.forEach((symbol, index) => {
      const isSymbol = [...symbol].length === 1 && !NON_SYMBOL.test(symbol);
      if (!isSymbol || segmenter.characters.allMatch(symbol, M | N))
        throw makeLineError(SYMBOLS, index, "is not a single symbol");
    });
    this.keptSymbols = new Set(symbols);
    this.surrogatePools = new Map(
      entry.poolTypes.map((entityType) => {
        const lines = readLines(opened, namePoolFile(entityType), false);
        checkTrimmed(namePoolFile(entityType), lines);
        if (new Set(lines).size < lines.length)
          throw new BundleDamaged(`${namePoolFile(entityType)}: an entry occurs twice`);
        return [entityType, lines];
      }),
    );
    this.factLists = Object.fromEntries(
      FACT_KINDS.map((kind) => [kind, entry.facts.includes(kind) ? parseFacts(opened, kind) : new Set()]),
    ) as Record<FactKind, Set<string>>;
    for (const [required, present] of [
      [types.lists, membersByType],
      [[...types.pools, ...this.rules.data.endings.kept.map((ending) => `word-${ending}`)].sort(), this.surrogatePools],
    ] as const) {
      const missing = required.find((entityType) => !present.has(entityType));
      if (missing !== undefined) throw new BundleDamaged(`mechanism.json: the mode names lacks the list ${missing}`);
    }
  }

  /**
   * Whether the rules list words before secrets and words in addresses. Without these words no public facts are kept:
   * the rules for public facts would also keep passwords and numbers of addresses.
   */
  get hasFactWords(): boolean {
    const { secretWords, addressWords } = this.rules.facts;
    return secretWords.size > 0 && addressWords.size > 0;
  }

  /**
   * Whether the rules list words before headings. Without these words no public facts beyond those of `plain` are kept:
   * the other rules read words of English.
   */
  get hasUsefulWords(): boolean {
    return this.rules.facts.headingLeads.size > 0;
  }

  /** Return the listed names of an entity type. */
  getMembers(name: string): ReadonlySet<string> {
    return this.membersByType.get(name) ?? new Set();
  }
}

function parseFacts(opened: BundleBase, kind: FactKind): Set<string> {
  const name = factFile(kind);
  const lines = parseSorted(opened, name);
  const form = FACT_FORMS[kind];
  if (form === undefined) checkFolded(name, lines);
  const invalid = form === undefined ? -1 : lines.findIndex((line) => !form[0].test(line));
  if (form !== undefined && invalid >= 0) throw makeLineError(name, invalid, form[1]);
  return new Set(lines);
}

function parseSorted(opened: BundleBase, name: string): string[] {
  const lines = readLines(opened, name, false);
  checkOrder(name, lines);
  checkTrimmed(name, lines);
  return lines;
}
