/** Rules of a language for the mode `names`: words, patterns and surrogates. */

import { NUMBER_CLASSES } from "../constants.js";
import { rules as english, type PatternName, type RulesData } from "../data.js";

export const NUMBER_KEYS = Object.keys(NUMBER_CLASSES) as (keyof typeof NUMBER_CLASSES)[];

const setByList = new WeakMap<readonly string[], ReadonlySet<string>>();
const escapePattern = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");

/** Returns whether a list of the data has a word. */
export function includesWord(list: readonly string[], word: string): boolean {
  let words = setByList.get(list);
  if (words === undefined) {
    words = new Set(list);
    setByList.set(list, words);
  }
  return words.has(word);
}

/** Returns the text of a pattern with the patterns that it names. */
export function expandPattern(patterns: RulesData["patterns"], name: PatternName): string {
  return patterns[name].text.replace(
    /\{([a-z_]+)\}/g,
    (_, reference: PatternName) => `(?:${patterns[reference].text})`,
  );
}

/** Returns the pattern of one of several words, as Python writes it; of no word if there is none. */
export const makeAlternatives = (words: readonly string[]): string =>
  `(?:${words.map(escapePattern).join("|") || "(?!)"})`;

/** Rules as the readers ask for them. */
export class Rules {
  /** All clitics, and the letters of each from the apostrophe on. */
  readonly clitics: readonly string[];
  readonly cliticPieces: readonly string[];
  readonly titleLayouts: ReadonlyMap<string, string>;
  /** Class of the element by word of a number in words, and by word between two elements. */
  readonly numberWords: ReadonlyMap<string, string>;
  readonly numberConnectors: ReadonlyMap<string, string>;
  readonly spelled: Readonly<Record<string, readonly string[]>>;
  readonly domain: RegExp;
  /** Finds a dash between two times. */
  readonly dash: RegExp;
  readonly #compiledPatterns = new Map<PatternName, RegExp>();

  constructor(readonly data: RulesData) {
    const { clitics, names, numbers } = data;
    this.clitics = [...clitics.after, ...(clitics.negation === "" ? [] : [clitics.negation])];
    this.cliticPieces = this.clitics.map((clitic) => clitic.slice(clitic.indexOf("'") + 1));
    this.titleLayouts = new Map(
      Object.entries(names.titles).flatMap(([layout, { words }]) => words.map((word) => [word, layout] as const)),
    );
    const words = (...keys: (keyof typeof NUMBER_CLASSES)[]): ReadonlyMap<string, string> =>
      new Map(keys.flatMap((key) => numbers[key].words.map((word) => [word, NUMBER_CLASSES[key]] as const)));
    this.numberWords = words("digits", "multipliers", "scales");
    this.numberConnectors = words("and", "point");
    this.spelled = Object.fromEntries(NUMBER_KEYS.map((key) => [NUMBER_CLASSES[key], numbers[key].surrogates]));
    this.domain = new RegExp(`^${makeAlternatives([...data.domains.all, ...data.domains.names])}$`);
    this.dash = new RegExp(data.patterns.dash.text, "su");
  }

  /** The pattern that a whole string has to match. */
  getPattern(name: PatternName): RegExp {
    let compiled = this.#compiledPatterns.get(name);
    if (compiled === undefined) {
      const text = expandPattern(this.data.patterns, name);
      compiled = new RegExp(`^(?:${text})$`, this.data.patterns[name].any_case ? "isu" : "su");
      this.#compiledPatterns.set(name, compiled);
    }
    return compiled;
  }
}

/** Rules of English. */
export const ENGLISH = new Rules(english);
