/** Rules of a language for the mode `names`: words, patterns and surrogates. */

import { rules as english, type PatternName, type RulesData } from "./data.js";

/** Class of the elements of a number in words, by key in the data. */
export const NUMBER_CLASSES = { and: "a", digits: "d", multipliers: "x", point: "p", scales: "s" } as const;

const set = (words: readonly string[]): ReadonlySet<string> => new Set(words);
const escaped = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");

/** Returns the text of a pattern with the patterns that it names. */
export function expandPattern(patterns: RulesData["patterns"], name: PatternName): string {
  return patterns[name].text.replace(/\{([a-z_]+)\}/g, (_, of: PatternName) => `(?:${patterns[of].text})`);
}

/** Returns the pattern of one of several words, as Python writes it; of no word if there is none. */
export const anyOf = (words: readonly string[]): string => `(?:${words.map(escaped).join("|") || "(?!)"})`;

/** Rules as the readers ask for them. */
export class Rules {
  /** Clitics behind a word, and those with the negation. */
  readonly cliticsAfter: readonly string[];
  readonly clitics: readonly string[];
  readonly negation: string;
  readonly negationStems: ReadonlySet<string>;
  /** Letters of each clitic from the apostrophe on. */
  readonly cliticPieces: ReadonlySet<string>;
  readonly keptWhole: ReadonlySet<string>;
  readonly titleLayouts: ReadonlyMap<string, string>;
  readonly titles: readonly (readonly [layout: string, surrogate: string])[];
  readonly numberWords: ReadonlyMap<string, string>;
  readonly numberConnectors: ReadonlyMap<string, string>;
  readonly numberLetters: ReadonlySet<string>;
  readonly weakNumbers: ReadonlySet<string>;
  readonly spelled: Readonly<Record<string, readonly string[]>>;
  readonly agesBefore: ReadonlySet<string>;
  readonly agesBehind: ReadonlySet<string>;
  readonly agesShort: ReadonlySet<string>;
  readonly ageUnits: ReadonlySet<string>;
  readonly abbreviations: ReadonlySet<string>;
  readonly headlineWords: ReadonlySet<string>;
  readonly requests: ReadonlySet<string>;
  readonly verbs: ReadonlySet<string>;
  readonly alsoPersons: ReadonlySet<string>;
  readonly connectors: ReadonlySet<string>;
  readonly firstShortForms: ReadonlySet<string>;
  readonly nameLike: ReadonlySet<string>;
  readonly legalForms: ReadonlySet<string>;
  readonly noLegalForms: ReadonlySet<string>;
  readonly placePrepositions: ReadonlySet<string>;
  readonly suffixes: ReadonlySet<string>;
  readonly domain: RegExp;
  /** Finds a dash between two times. */
  readonly dash: RegExp;
  readonly #patterns = new Map<PatternName, RegExp>();

  constructor(readonly data: RulesData) {
    const { ages, clitics, names, numbers, sentences } = data;
    this.cliticsAfter = clitics.after;
    this.negation = clitics.negation;
    this.clitics = clitics.negation === "" ? clitics.after : [...clitics.after, clitics.negation];
    this.negationStems = set(clitics.negation_stems);
    this.cliticPieces = set(this.clitics.map((clitic) => clitic.slice(clitic.indexOf("'") + 1)));
    this.keptWhole = set(data.kept_whole);
    const titles = Object.entries(names.titles);
    this.titles = titles.map(([layout, { surrogate }]) => [layout, surrogate]);
    this.titleLayouts = new Map(titles.flatMap(([layout, { words }]) => words.map((word) => [word, layout] as const)));
    const keys = Object.keys(NUMBER_CLASSES) as (keyof typeof NUMBER_CLASSES)[];
    const words = (key: keyof typeof NUMBER_CLASSES): (readonly [string, string])[] =>
      numbers[key].words.map((word) => [word, NUMBER_CLASSES[key]]);
    this.numberWords = new Map(keys.filter((key) => key !== "and" && key !== "point").flatMap(words));
    this.numberConnectors = new Map([...words("and"), ...words("point")]);
    this.spelled = Object.fromEntries(keys.map((key) => [NUMBER_CLASSES[key], numbers[key].surrogates]));
    this.numberLetters = set(numbers.letters);
    this.weakNumbers = set(numbers.weak);
    this.agesBefore = set(ages.before);
    this.agesBehind = set(ages.behind);
    this.agesShort = set(ages.short);
    this.ageUnits = set(ages.units);
    this.abbreviations = set(sentences.abbreviations);
    this.headlineWords = set(sentences.headline_words);
    this.requests = set(sentences.requests);
    this.verbs = set([...sentences.requests, ...sentences.verbs]);
    this.alsoPersons = set(names.also_persons);
    this.connectors = set(names.connectors);
    this.firstShortForms = set(names.first_short_forms);
    this.nameLike = set(names.function_words);
    this.legalForms = set(names.legal_forms);
    this.noLegalForms = set(names.no_legal_forms);
    this.placePrepositions = set(names.place_prepositions);
    this.suffixes = set(names.suffixes);
    this.domain = new RegExp(`^${anyOf(data.domains.names)}$`);
    this.dash = new RegExp(data.patterns.dash.text, "su");
  }

  /** The pattern that a whole string has to match. */
  pattern(name: PatternName): RegExp {
    let found = this.#patterns.get(name);
    if (found === undefined) {
      const text = expandPattern(this.data.patterns, name);
      found = new RegExp(`^(?:${text})$`, this.data.patterns[name].any_case ? "isu" : "su");
      this.#patterns.set(name, found);
    }
    return found;
  }
}

/** Rules of English. */
export const ENGLISH = new Rules(english);
