/** Reads the rules of a bundle's language, strictly (docs/format-rules.md). */

import { MAX_ELEMENTS, MAX_RULE_TEXT, MAX_RULE_WORDS, MAX_RULES_BYTES, MAX_SURROGATES } from "../constants.js";
import { rules as english, type PatternName, type RulesData } from "../data.js";
import { BundleDamaged, BundleTooLarge } from "../errors.js";
import { countCodePoints } from "../text/segmentation/characterClasses.js";
import { foldWord } from "../text/segmentation/words.js";
import { type Json, parseArray, parseInteger, parseJson, parseObject, parseRecord, parseText } from "./json.js";
import { expandPattern, NUMBER_KEYS, Rules } from "./languageRules.js";
import { parseFields, splitTemplate } from "./templates.js";

export const RULES_FILE = "rules.json";
const NAME = /^[a-z]+(?:_[a-z]+)*$/;
const LANGUAGE = /^[a-z]{2,3}(?:-[A-Za-z0-9]{2,8})*$/;
/** Patterns that Python and JavaScript match alike: pieces, most of them with a quantifier if need be. */
const PATTERN =
  /^(?:\((?:\?[:=!])?|\||(?:\)|\.|\[\^?(?:(?!&&|--|~~|\|\|)[^\\[\]^]|\\[\\/.()[\]{}*+?|^$-])+\]|\\[1-9](?![0-9])|\\[\\/.()[\]{}*+?|^$]|\{[a-z_]+\}|[^\\()[\]{}*+?|^$.\n])(?:(?:[*+?]|\{[0-9]{1,3}(?:,(?:[0-9]{1,3})?)?\})\??)?)*$/u;
const REFERENCE = /\{([a-z_]+)\}/g;
/** Groups of patterns whose parts the reader uses. */
const GROUPS: Readonly<Record<string, number>> = { number: 3, number_with_unit: 2, season: 3, year_range: 1 };
const GROUP = /\((?!\?)/;
const CLITIC = /^'\p{L}+$/u;
const NEGATION = /^(?:\p{L}*'\p{L}+)?$/u;
/** Objects with names of their own as keys, and lists whose words are spelled as printed. */
const OPEN = new Set(["names.titles", "months.short", "surrogates.choices"]);
const AS_PRINTED = new Set(["months.names", "names.no_legal_forms"]);

const makeError = (problem: string): BundleDamaged => new BundleDamaged(`${RULES_FILE}: ${problem}`);

/** Reads and checks rules: the keys and types of those of English. */
export function readRules(content: Uint8Array): Rules {
  const data = checkShape(parseJson(content, RULES_FILE, true, MAX_RULES_BYTES), english, []) as RulesData;
  for (const name of Object.keys(data.patterns)) checkPattern(data.patterns, name as PatternName);
  checkWords(data);
  checkSurrogates(data);
  return new Rules(data);
}

/** Returns a value as plain data, if it has the keys and types of another one. */
function checkShape(value: Json | undefined, model: unknown, path: readonly string[]): unknown {
  const where = path.join(".");
  if (Array.isArray(model)) {
    const words = parseArray(value, RULES_FILE, MAX_RULE_WORDS).map((word) => parseText(word, RULES_FILE));
    const folds = !AS_PRINTED.has(where) && !path.includes("surrogates");
    const fits = (word: string): boolean =>
      word !== "" && countCodePoints(word) <= MAX_RULE_TEXT && word === (folds ? foldWord(word) : word).trim();
    if (!words.every(fits) || new Set(words).size < words.length) {
      throw makeError(`${where}: a word is empty, too long, not folded or there twice`);
    }
    return words;
  }
  if (typeof model === "object" && model !== null) {
    const isOpen = OPEN.has(where);
    const entries = isOpen ? parseObject(value, RULES_FILE) : parseRecord(value, Object.keys(model), RULES_FILE);
    const first = Object.values(model)[0];
    return Object.fromEntries(
      [...entries].map(([key, entry]) => {
        if (isOpen && !NAME.test(key)) throw makeError(`${where}: a key is no name`);
        return [key, checkShape(entry, isOpen ? first : (model as Record<string, unknown>)[key], [...path, key])];
      }),
    );
  }
  if (typeof model === "number") return parseInteger(value, 1, 12, RULES_FILE);
  if (typeof model === "boolean") {
    if (typeof value !== "boolean") throw makeError("something is neither true nor false");
    return value;
  }
  const text = parseText(value, RULES_FILE);
  if (countCodePoints(text) > MAX_RULE_TEXT) {
    throw new BundleTooLarge(`${RULES_FILE}: ${where}: too long`);
  }
  return text;
}

/** Refuses a pattern beyond the subset that all readers match alike. */
function checkPattern(patterns: RulesData["patterns"], name: PatternName): void {
  const error = makeError(`patterns.${name}: not of the supported subset`);
  const { text } = patterns[name];
  if (!PATTERN.test(text)) throw error;
  for (const [, reference = ""] of text.matchAll(REFERENCE)) {
    const expanded = Object.hasOwn(patterns, reference) ? patterns[reference as PatternName].text : "(";
    if (GROUP.test(expanded) || expanded.search(REFERENCE) >= 0) throw error;
  }
  let groups: number;
  try {
    groups = (new RegExp(`${expandPattern(patterns, name)}|`, "su").exec("")?.length ?? 0) - 1;
  } catch {
    throw error;
  }
  const needed = GROUPS[name];
  if (needed !== undefined && groups !== needed) throw makeError(`patterns.${name}: needs ${needed} groups`);
}

function checkWords({ language, clitics, months, names }: RulesData): void {
  if (!LANGUAGE.test(language)) throw makeError("language: no language tag");
  if (clitics.before.length > 0) {
    throw makeError("clitics.before: this release reads none");
  }
  if (!clitics.after.every((clitic) => CLITIC.test(clitic)) || !NEGATION.test(clitics.negation)) {
    throw makeError("clitics: one is not an apostrophe and letters");
  }
  const layouts = Object.values(names.titles);
  const titles = layouts.flatMap(({ words }) => words);
  if (
    new Set(titles).size < titles.length ||
    !layouts.every((layout) => layout.words.includes(foldWord(layout.surrogate)))
  ) {
    throw makeError("names.titles: a title has two layouts, or a surrogate is none of its titles");
  }
  if (months.names.length !== 12) throw makeError("months.names: not twelve");
}

function checkSurrogates({ numbers, surrogates: { choices, templates } }: RulesData): void {
  const elements = [choices.letter ?? [], ...NUMBER_KEYS.map((key) => numbers[key].surrogates)];
  const lists = [...Object.values(choices), ...elements];
  if (!lists.every((list) => list.length > 0) || "given" in choices || "family" in choices) {
    throw makeError("surrogates: a list is empty or missing, or has the name of a pool");
  }
  if (elements.some((list) => list.length > MAX_ELEMENTS)) {
    throw new BundleTooLarge(`${RULES_FILE}: surrogates: an element of a spelled word has more than ${MAX_ELEMENTS}`);
  }
  const choicesAndPools = { ...choices, given: [""], family: [""] };
  for (const [entityType, template] of Object.entries(templates)) {
    const fields = parseFields(template, choicesAndPools);
    const count = fields.reduce((product, field) => product * field.count, 1);
    const text = splitTemplate(template).filter((_, index) => index % 2 === 0);
    if (count === 0 || text.some((part) => /[{}]/.test(part))) {
      throw makeError(`surrogates.templates.${entityType}: malformed, or a field is not there`);
    }
    if (count > MAX_SURROGATES) {
      throw new BundleTooLarge(`${RULES_FILE}: surrogates.templates.${entityType}: too many surrogates`);
    }
  }
}
