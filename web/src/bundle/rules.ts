/** Reads the rules of a bundle's language, strictly (docs/format-rules.md). */

import { size } from "../characters.js";
import { MAX_ELEMENTS, MAX_RULE_TEXT, MAX_RULE_WORDS, MAX_RULES_BYTES, MAX_SURROGATES } from "../constants.js";
import { rules as english, type PatternName, type RulesData } from "../data.js";
import { BundleDamaged, BundleTooLarge } from "../errors.js";
import { fieldsOf, partsOf } from "../names/templates.js";
import { expandPattern, NUMBER_KEYS, Rules } from "../rules.js";
import { keyOf } from "../words.js";
import { anArray, anObject, aText, integer, type Json, parseJson, record } from "./json.js";

export const RULES = "rules.json";
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

const damaged = (what: string): BundleDamaged => new BundleDamaged(`${RULES}: ${what}`);

/** Reads and checks rules: the keys and types of those of English. */
export function readRules(content: Uint8Array): Rules {
  const parsed = parseJson(content, RULES, true, MAX_RULES_BYTES);
  if (parsed.has("optional")) anObject(parsed.get("optional"), RULES);
  parsed.delete("optional"); // rules of later releases; without them fewer words are kept
  const found = shaped(parsed, english, []) as RulesData;
  for (const name of Object.keys(found.patterns)) checkPattern(found.patterns, name as PatternName);
  checkWords(found);
  checkSurrogates(found);
  return new Rules(found);
}

/** Returns a value as plain data, if it has the keys and types of another one. */
function shaped(value: Json | undefined, like: unknown, path: readonly string[]): unknown {
  const where = path.join(".");
  if (Array.isArray(like)) {
    const words = anArray(value, RULES, MAX_RULE_WORDS).map((word) => aText(word, RULES));
    const folds = !AS_PRINTED.has(where) && !path.includes("surrogates");
    const fits = (word: string): boolean =>
      word !== "" && size(word) <= MAX_RULE_TEXT && word === (folds ? keyOf(word) : word).trim();
    if (!words.every(fits) || new Set(words).size < words.length) {
      throw damaged(`${where}: a word is empty, too long, not folded or there twice`);
    }
    return words;
  }
  if (typeof like === "object" && like !== null) {
    const open = OPEN.has(where);
    const entries = open ? anObject(value, RULES) : record(value, Object.keys(like), RULES);
    const first = Object.values(like)[0];
    return Object.fromEntries(
      [...entries].map(([key, entry]) => {
        if (open && !NAME.test(key)) throw damaged(`${where}: a key is no name`);
        return [key, shaped(entry, open ? first : (like as Record<string, unknown>)[key], [...path, key])];
      }),
    );
  }
  if (typeof like === "number") return integer(value, 1, 12, RULES);
  if (typeof like === "boolean") {
    if (typeof value !== "boolean") throw damaged("a value is not a boolean");
    return value;
  }
  const text = aText(value, RULES);
  if (size(text) > MAX_RULE_TEXT) {
    throw new BundleTooLarge(`${RULES}: ${where}: too long`);
  }
  return text;
}

/** Refuses a pattern beyond the subset that all readers match alike. */
function checkPattern(patterns: RulesData["patterns"], name: PatternName): void {
  const wrong = damaged(`patterns.${name}: not of the supported subset`);
  const { text } = patterns[name];
  if (!PATTERN.test(text)) throw wrong;
  for (const [, of = ""] of text.matchAll(REFERENCE)) {
    const named = Object.hasOwn(patterns, of) ? patterns[of as PatternName].text : "(";
    if (GROUP.test(named) || named.search(REFERENCE) >= 0) throw wrong;
  }
  let groups: number;
  try {
    groups = (new RegExp(`${expandPattern(patterns, name)}|`, "su").exec("")?.length ?? 0) - 1;
  } catch {
    throw wrong;
  }
  const needed = GROUPS[name];
  if (needed !== undefined && groups !== needed) throw damaged(`patterns.${name}: needs ${needed} groups`);
}

function checkWords({ language, clitics, months, names }: RulesData): void {
  if (!LANGUAGE.test(language)) throw damaged("language: no language tag");
  if (clitics.before.length > 0) {
    throw damaged("clitics.before: this release reads none");
  }
  if (!clitics.after.every((clitic) => CLITIC.test(clitic)) || !NEGATION.test(clitics.negation)) {
    throw damaged("clitics: one is not an apostrophe and letters");
  }
  const layouts = Object.values(names.titles);
  const titles = layouts.flatMap(({ words }) => words);
  if (new Set(titles).size < titles.length || !layouts.every((of) => of.words.includes(keyOf(of.surrogate)))) {
    throw damaged("names.titles: a title has two layouts, or a surrogate is none of its titles");
  }
  if (months.names.length !== 12) throw damaged("months.names: not twelve");
}

function checkSurrogates({ numbers, surrogates: { choices, templates } }: RulesData): void {
  const elements = [choices.letter ?? [], ...NUMBER_KEYS.map((key) => numbers[key].surrogates)];
  const lists = [...Object.values(choices), ...elements];
  if (!lists.every((list) => list.length > 0) || "given" in choices || "family" in choices) {
    throw damaged("surrogates: a list is empty or missing, or has the name of a pool");
  }
  if (elements.some((list) => list.length > MAX_ELEMENTS)) {
    throw new BundleTooLarge(`${RULES}: surrogates: an element of a spelled word has more than ${MAX_ELEMENTS}`);
  }
  const known = { ...choices, given: [""], family: [""] };
  for (const [kind, template] of Object.entries(templates)) {
    const fields = fieldsOf(template, known);
    const count = fields.reduce((product, field) => product * field.count, 1);
    const text = partsOf(template).filter((_, place) => place % 2 === 0);
    if (count === 0 || text.some((part) => /[{}]/.test(part))) {
      throw damaged(`surrogates.templates.${kind}: malformed, or a field is not there`);
    }
    if (count > MAX_SURROGATES) {
      throw new BundleTooLarge(`${RULES}: surrogates.templates.${kind}: too many surrogates`);
    }
  }
}
