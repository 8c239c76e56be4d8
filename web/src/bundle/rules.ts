/** Strict parser of the rules of a language for the mode `names`: words, patterns, surrogates (docs/format-rules.md). */

import {
  MAX_ELEMENTS,
  MAX_RULE_TEXT,
  MAX_RULE_WORDS,
  MAX_RULES_BYTES,
  MAX_SURROGATES,
  NUMBER_CLASSES,
} from "../constants.js";
import { type DateWords, rules as english, type FactWordKey, type PatternName, type RulesData } from "../data.js";
import { BundleDamaged, BundleTooLarge } from "../errors.js";
import { countCodePoints } from "../text/segmentation/characterClasses.js";
import { foldWord, isAscii } from "../text/segmentation/words.js";
import { type Json, parseArray, parseInteger, parseJson, parseObject, parseRecord, parseText } from "./json.js";
import { REPLY_MODEL, ReplyRules } from "./replyRules.js";

export const NUMBER_KEYS = Object.keys(NUMBER_CLASSES) as (keyof typeof NUMBER_CLASSES)[];

const setByList = new WeakMap<readonly string[], ReadonlySet<string>>();
const escapePattern = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");

/** Return whether a list of the rules contains a word. */
export function includesWord(list: readonly string[], word: string): boolean {
  let words = setByList.get(list);
  if (words === undefined) {
    words = new Set(list);
    setByList.set(list, words);
  }
  return words.has(word);
}

/** Return the text of a pattern, with each reference `{other}` replaced by the text of that pattern. */
export function expandPattern(patterns: RulesData["patterns"], name: PatternName): string {
  return patterns[name].text.replace(
    /\{([a-z_]+)\}/g,
    (_, reference: PatternName) => `(?:${patterns[reference].text})`,
  );
}

/** Return a pattern that matches any of several words. Without words it matches nothing. */
export const makeAlternatives = (words: readonly string[]): string =>
  `(?:${words.map(escapePattern).join("|") || "(?!)"})`;

/** Keys of a rules file for lists of words for public facts: those of English, and one that English lacks. */
const FACT_WORD_KEYS = [...Object.keys(english.optional?.facts ?? {}), "decimal_marks"] as FactWordKey[];

/** The name of a property for a key of a rules file: `nameLeads` for `name_leads`. */
type CamelCase<Key extends string> = Key extends `${infer First}_${infer Rest}`
  ? `${First}${Capitalize<CamelCase<Rest>>}`
  : Key;

/** Words for the rules about public facts. A set is empty if the rules lack it. */
export type FactWords = Readonly<Record<CamelCase<FactWordKey>, ReadonlySet<string>>>;

/** Date rules of a language without notations of its own. They also define the keys and types of date rules. */
const NO_DATES: DateWords = { links: [], lower_months: false, day_stop: false };

/** Rules of a language, prepared for fast lookups. */
export class Rules {
  /** All clitics that may follow a word, and for each clitic its letters after the apostrophe. */
  readonly clitics: readonly string[];
  readonly cliticPieces: readonly string[];
  readonly titleLayouts: ReadonlyMap<string, string>;
  /** Class (`NUMBER_CLASSES`) of each word of a spelled-out number, including the words that join two of its words. */
  readonly numberWords: ReadonlyMap<string, string>;
  readonly numberConnectors: ReadonlyMap<string, string>;
  readonly spelled: Readonly<Record<string, readonly string[]>>;
  readonly domain: RegExp;
  /** Pattern of a dash between two times. */
  readonly dash: RegExp;
  /** Words for the rules about public facts. */
  readonly facts: FactWords;
  /** Notations of dates with the name of a month. */
  readonly dates: DateWords;
  /** Rules about inflected and elided forms of surrogates in replies. */
  readonly replies: ReplyRules;
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
    this.facts = Object.fromEntries(
      FACT_WORD_KEYS.map((key) => [
        key.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase()),
        new Set(data.optional?.facts?.[key]),
      ]),
    ) as unknown as FactWords;
    this.dates = { ...NO_DATES, ...data.optional?.dates };
    this.replies = makeReplyRules(data);
  }

  /** Return a pattern that must match the whole string. */
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

function makeReplyRules({ clitics, optional }: RulesData): ReplyRules {
  try {
    return new ReplyRules({ ...optional?.replies, clitics: clitics.before });
  } catch (error) {
    throw makeError(`optional.replies.${(error as Error).message}`);
  }
}

/** Rules of English. */
export const ENGLISH = new Rules(english);

// Templates of surrogates

/** Pattern of a field: the name of a list, or a range of letters, of hexadecimal or of decimal numbers (with a step). */
const FIELD =
  /\{(?:([a-z]+)|([A-Za-z])-([A-Za-z])|0x([0-9a-f]{1,10})-0x([0-9a-f]{1,10})|([0-9]{1,12})-([0-9]{1,12})(?:\/([1-9][0-9]?))?)\}/;

type Choices = Readonly<Record<string, readonly string[]>>;

/** A field of a surrogate template: the number of its values, and a function that returns a value by its index. */
interface TemplateField {
  readonly count: number;
  readonly format: (index: number) => string;
}

/** ASCII letters, as in email addresses, for letters that NFKD does not decompose. */
const PLAIN_LETTERS: Readonly<Record<string, string>> = {
  ß: "ss",
  æ: "ae",
  œ: "oe",
  ø: "o",
  ł: "l",
  đ: "d",
  ð: "d",
  þ: "th",
  ı: "i",
};

/** Convert a name to lower case and ASCII letters, as in email addresses. Letters of other scripts are not changed. */
function removeAccents(name: string): string {
  const lower = name.toLowerCase();
  const letters = [...lower].map((letter) => PLAIN_LETTERS[letter] ?? letter).join("");
  const plain = letters.normalize("NFKD").replace(/\p{M}/gu, "");
  return isAscii(plain) ? plain : lower;
}

const FOLD_BY_POOL: Readonly<Record<string, (entry: string) => string>> = {
  given: removeAccents,
  family: (entry) => removeAccents(entry).replace(/[^\p{L}]/gu, ""),
};

function parseField(field: string, choices: Choices): TemplateField {
  const [, name, low, high, hex, to, first = "", last, step = "1"] = FIELD.exec(field) ?? [];
  if (name !== undefined) {
    const entries = Object.hasOwn(choices, name) ? (choices[name] ?? []) : [];
    return { count: entries.length, format: (index) => (FOLD_BY_POOL[name] ?? String)(entries[index] ?? "") };
  }
  const [radix, digits] = hex === undefined ? [10, first] : [16, hex];
  const start = low === undefined ? Number.parseInt(digits, radix) : low.charCodeAt(0);
  const end = high === undefined ? Number.parseInt(to ?? last ?? "", radix) : high.charCodeAt(0);
  return {
    count: Math.max(0, Math.floor((end - start) / Number(step)) + 1),
    format: (index) => {
      const value = start + Number(step) * index;
      return low === undefined ? value.toString(radix).padStart(digits.length, "0") : String.fromCharCode(value);
    },
  };
}

/** Split a surrogate template into alternating texts and fields. A malformed field is returned as text with a brace. */
export function splitTemplate(template: string): string[] {
  const parts: string[] = [];
  let rest = template;
  for (let match = FIELD.exec(rest); match !== null; match = FIELD.exec(rest)) {
    parts.push(rest.slice(0, match.index), match[0]);
    rest = rest.slice(match.index + match[0].length);
  }
  return [...parts, rest];
}

/** Parse the fields of a surrogate template. */
export const parseFields = (template: string, choices: Choices): TemplateField[] =>
  splitTemplate(template)
    .filter((_, index) => index % 2 === 1)
    .map((field) => parseField(field, choices));

/** Return the number of different surrogates of a template. */
export const countSurrogates = (template: string, choices: Choices): number =>
  parseFields(template, choices).reduce((product, field) => product * field.count, 1);

/** Return the surrogate of a template with a given index. The last field changes fastest. */
export function writeTemplate(template: string, choices: Choices, index: number): string {
  const parts = splitTemplate(template);
  let left = index;
  for (let index = parts.length - 2; index > 0; index -= 2) {
    const field = parseField(parts[index] ?? "", choices);
    parts[index] = field.format(left % field.count);
    left = Math.floor(left / field.count);
  }
  return parts.join("");
}

// Rules files

export const RULES_FILE = "rules.json";
const NAME = /^[a-z]+(?:_[a-z]+)*$/;
const LANGUAGE = /^[a-z]{2,3}(?:-[A-Za-z0-9]{2,8})*$/;
/** The regular expressions that Python and JavaScript match in the same way: parts with optional quantifiers. */
const PATTERN =
  /^(?:\((?:\?[:=!])?|\||(?:\)|\.|\[\^?(?:(?!&&|--|~~|\|\|)[^\\[\]^]|\\[\\/.()[\]{}*+?|^$-])+\]|\\[1-9](?![0-9])|\\[\\/.()[\]{}*+?|^$]|\{[a-z_]+\}|[^\\()[\]{}*+?|^$.\n])(?:(?:[*+?]|\{[0-9]{1,3}(?:,(?:[0-9]{1,3})?)?\})\??)?)*$/u;
const REFERENCE = /\{([a-z_]+)\}/g;
/** Required number of capturing groups of the patterns whose groups the code uses. */
const GROUPS: Readonly<Record<string, number>> = { number: 3, number_with_unit: 2, season: 3, year_range: 1 };
const GROUP = /\((?!\?)/;
const LEADING_CLITIC = /^[a-z]+'$/;
const CLITIC = /^'\p{L}+$/u;
const NEGATION = /^(?:\p{L}*'\p{L}+)?$/u;
/** Objects that may have any keys; and lists whose words are printed spellings instead of lookup keys. */
const OPEN = new Set([
  "names.titles",
  "months.short",
  "surrogates.choices",
  "optional.replies.inflections",
  "optional.replies.word_inflections",
]);
const AS_PRINTED = new Set(["months.names", "names.no_legal_forms"]);

const makeError = (problem: string): BundleDamaged => new BundleDamaged(`${RULES_FILE}: ${problem}`);

/** Parse and check a rules file, which must have the keys and types of the rules of English. */
export function readRules(content: Uint8Array): Rules {
  const parsed = parseJson(content, RULES_FILE, true, MAX_RULES_BYTES);
  const optional = parsed.has("optional") ? parseObject(parsed.get("optional"), RULES_FILE) : undefined;
  parsed.delete("optional"); // without these rules fewer words are kept
  const { optional: _, ...model } = english;
  const required = checkShape(parsed, model, []) as RulesData;
  const listed = optional?.has("facts") ? parseObject(optional.get("facts"), RULES_FILE) : new Map<string, Json>();
  const facts = Object.fromEntries(
    FACT_WORD_KEYS.flatMap((key) =>
      listed.has(key) ? [[key, checkShape(listed.get(key), [], ["optional", "facts", key]) as string[]]] : [],
    ),
  );
  const written = optional?.has("dates") ? parseObject(optional.get("dates"), RULES_FILE) : new Map<string, Json>();
  const dates = Object.fromEntries(
    Object.entries(NO_DATES).flatMap(([key, model]) =>
      written.has(key) ? [[key, checkShape(written.get(key), model, ["optional", "dates", key])]] : [],
    ),
  );
  const sent = optional?.has("replies") ? parseObject(optional.get("replies"), RULES_FILE) : new Map<string, Json>();
  const replies = Object.fromEntries(
    Object.entries(REPLY_MODEL).flatMap(([key, model]) =>
      sent.has(key) ? [[key, checkShape(sent.get(key), model, ["optional", "replies", key])]] : [],
    ),
  );
  const own = { ...(optional?.has("dates") ? { dates } : {}), ...(optional?.has("replies") ? { replies } : {}) };
  const data: RulesData = { ...required, optional: { facts, ...own } };
  for (const name of Object.keys(data.patterns)) checkPattern(data.patterns, name as PatternName);
  checkWords(data);
  checkSurrogates(data);
  return new Rules(data);
}

/** Check that a parsed value has the keys and types of `model`, and return the value as plain data. */
function checkShape(value: Json | undefined, model: unknown, path: readonly string[]): unknown {
  const where = path.join(".");
  if (Array.isArray(model)) {
    const words = parseArray(value, RULES_FILE, MAX_RULE_WORDS).map((word) => parseText(word, RULES_FILE));
    const folds = !AS_PRINTED.has(where) && !path.includes("surrogates");
    const fits = (word: string): boolean =>
      word !== "" && countCodePoints(word) <= MAX_RULE_TEXT && word === (folds ? foldWord(word) : word).trim();
    if (!words.every(fits) || new Set(words).size < words.length) {
      throw makeError(`${where}: a word is empty, too long, not in lower case, or occurs twice`);
    }
    return words;
  }
  if (typeof model === "object" && model !== null) {
    const isOpen = OPEN.has(where);
    const entries = isOpen ? parseObject(value, RULES_FILE) : parseRecord(value, Object.keys(model), RULES_FILE);
    const first = Object.values(model)[0];
    return Object.fromEntries(
      [...entries].map(([key, entry]) => {
        if (isOpen && !NAME.test(key))
          throw makeError(`${where}: a key must consist of lower-case letters, digits and underscores`);
        return [key, checkShape(entry, isOpen ? first : (model as Record<string, unknown>)[key], [...path, key])];
      }),
    );
  }
  if (typeof model === "number") return parseInteger(value, 1, 12, RULES_FILE);
  if (typeof model === "boolean") {
    if (typeof value !== "boolean") throw makeError("a value is not a boolean");
    return value;
  }
  const text = parseText(value, RULES_FILE);
  if (countCodePoints(text) > MAX_RULE_TEXT) {
    throw new BundleTooLarge(`${RULES_FILE}: ${where}: too long`);
  }
  return text;
}

/** Check that Python and JavaScript match a pattern in the same way, and that it has the required groups. */
function checkPattern(patterns: RulesData["patterns"], name: PatternName): void {
  const error = makeError(`patterns.${name}: uses syntax that is not supported (docs/format-rules.md)`);
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
  if (!LANGUAGE.test(language)) throw makeError("language: is not a language tag such as en");
  if (!clitics.before.every((clitic) => LEADING_CLITIC.test(clitic))) {
    throw makeError("clitics.before: each clitic must be letters a to z followed by an apostrophe");
  }
  if (!clitics.after.every((clitic) => CLITIC.test(clitic)) || !NEGATION.test(clitics.negation)) {
    throw makeError("clitics: each clitic after a word must be an apostrophe followed by letters");
  }
  const layouts = Object.values(names.titles);
  const titles = layouts.flatMap(({ words }) => words);
  if (
    new Set(titles).size < titles.length ||
    !layouts.every((layout) => layout.words.includes(foldWord(layout.surrogate)))
  ) {
    throw makeError("names.titles: a title is in two groups, or the surrogate of a group is not one of its titles");
  }
  if (months.names.length !== 12) throw makeError("months.names: must have twelve different entries");
}

function checkSurrogates({ numbers, surrogates: { choices, templates } }: RulesData): void {
  const elements = [choices.letter ?? [], ...NUMBER_KEYS.map((key) => numbers[key].surrogates)];
  const lists = [...Object.values(choices), ...elements];
  if (!lists.every((list) => list.length > 0) || "given" in choices || "family" in choices) {
    throw makeError("surrogates: a list is empty or missing, or has the name of a pool");
  }
  if (elements.some((list) => list.length > MAX_ELEMENTS)) {
    throw new BundleTooLarge(
      `${RULES_FILE}: surrogates: a number word or letter has more than ${MAX_ELEMENTS} surrogates`,
    );
  }
  const choicesAndPools = { ...choices, given: [""], family: [""] };
  for (const [entityType, template] of Object.entries(templates)) {
    const fields = parseFields(template, choicesAndPools);
    const count = fields.reduce((product, field) => product * field.count, 1);
    const text = splitTemplate(template).filter((_, index) => index % 2 === 0);
    if (count === 0 || text.some((part) => /[{}]/.test(part))) {
      throw makeError(`surrogates.templates.${entityType}: malformed, or uses an undefined field`);
    }
    if (count > MAX_SURROGATES) {
      throw new BundleTooLarge(`${RULES_FILE}: surrogates.templates.${entityType}: too many surrogates`);
    }
  }
}
