/** Options of a call, and their checks. */

import { CONSISTENT_CAP, FACTS, MODES, SHARED_MESSAGES, STYLES } from "../constants.js";
import { OptionError } from "../errors.js";
import { Decimal } from "../mechanisms/decimal.js";

/** Options of every call that sanitizes a text or describes a mechanism. All are optional. */
export interface Options {
  /** Protection mode. Default: `names`; if the bundle has no lists for it, the mode of the bundle's mechanism. */
  readonly protect?: "names" | "words" | "all" | undefined;
  /** Epsilon per randomized word, for the modes `words` and `all`. It must be one of the bundle's epsilons. */
  readonly epsilon?: number | string | undefined;
  /** Whether equal words of a document get equal outputs. Default: true in the mode `names`. */
  readonly consistent?: boolean | undefined;
  /** Maximum number of randomized words, names and numbers of a document with `consistent`; 2,000 by default. */
  readonly consistentCap?: number | undefined;
  /** Words that are never kept and are treated as unknown. */
  readonly deny?: Iterable<string> | undefined;
  /** Words that are always kept (`names`). The list is public and must not depend on private texts. */
  readonly allow?: Iterable<string> | undefined;
  /** Replace by surrogates of the same entity type, or by tags such as `[city 1]` (`names`). */
  readonly style?: "surrogate" | "tag" | undefined;
  /**
   * Public facts that are kept besides common words (`names`): `plain`, the default, keeps terms, and
   * numbers with a unit; `useful` also headings, languages, ages below 90, years and amounts; `public` also countries
   * and companies.
   */
  readonly facts?: "none" | "plain" | "useful" | "public" | undefined;
  /**
   * Entity types of your own, each with a pattern: `{ employee: "EMP[0-9]{5}" }` (`names`). A pattern is a subset of
   * regular expressions without backtracking, and matches whole words.
   */
  readonly patterns?: Readonly<Record<string, string>> | undefined;
  /**
   * Persons whose names are replaced wherever they occur, one a string: `"Daniel Keller, D. Keller, Dan"` (`names`). All
   * spellings of one person get one surrogate person.
   */
  readonly known?: Iterable<string> | undefined;
  /** Entity types that are kept (`names`). */
  readonly keep?: Iterable<string> | undefined;
  /** Entity types that are replaced by tags (`names`). */
  readonly tag?: Iterable<string> | undefined;
  /** Entity types that are removed (`names`). */
  readonly drop?: Iterable<string> | undefined;
  /**
   * Whether punctuation marks are replaced, case is dropped, and white space becomes single blanks (`words`, `all`).
   */
  readonly sanitizePunctuation?: boolean | undefined;
}

/** @internal The options that have a value, after all checks that need no bundle. */
export interface CheckedOptions {
  protect?: "names" | "words" | "all";
  epsilon?: number | string;
  consistent?: boolean;
  consistentCap?: number;
  deny?: string[];
  allow?: string[];
  style?: "surrogate" | "tag";
  facts?: "none" | "plain" | "useful" | "public";
  patterns?: ReadonlyMap<string, string>;
  known?: string[];
  keep?: string[];
  tag?: string[];
  drop?: string[];
  sanitizePunctuation?: boolean;
}

const SET_OPTIONS = ["deny", "allow", "keep", "tag", "drop", "known"] as const;
const FLAG_OPTIONS = ["consistent", "sanitizePunctuation"] as const;
const NAMES_ONLY = ["style", "facts", "keep", "tag", "drop", "allow", "patterns", "known"] as const;
const WORDS_ONLY = ["epsilon", "sanitizePunctuation"] as const;
const OPTION_NAMES: readonly string[] = [
  "protect",
  "epsilon",
  "consistent",
  "consistentCap",
  "deny",
  "allow",
  "style",
  "facts",
  "keep",
  "tag",
  "drop",
  "patterns",
  "known",
  "sanitizePunctuation",
];

/**
 * @internal Check the names and types of options, and return those that have a value. Messages contain no values.
 *
 * @param hasNames Whether the bundle has lists for the mode `names`, which is then the default.
 */
export function checkOptions(options: Options, hasNames: boolean): CheckedOptions {
  refuseUnknownOptions(options, OPTION_NAMES);
  const valueByName: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(options))
    if (value !== undefined && value !== null) valueByName[name] = value;
  for (const name of SET_OPTIONS) {
    const value = valueByName[name];
    if (value === undefined) continue;
    const words = isCollection(value) ? [...value] : [undefined];
    if (!words.every((word) => typeof word === "string"))
      throw new OptionError(`${name} must be a collection of words`);
    valueByName[name] = words;
  }
  const { patterns } = valueByName;
  if (patterns !== undefined) {
    const entries = typeof patterns === "object" && !isCollection(patterns) ? Object.entries(patterns as object) : [];
    const isMapping = typeof patterns === "object" && !isCollection(patterns);
    if (!isMapping || !entries.every(([, pattern]) => typeof pattern === "string"))
      throw new OptionError("patterns must be a mapping of names of types to patterns");
    valueByName.patterns = new Map(entries);
  }
  for (const name of FLAG_OPTIONS) {
    if (!["undefined", "boolean"].includes(typeof valueByName[name]))
      throw new OptionError(`${name} must be true or false`);
  }
  for (const [name, values] of [
    ["protect", MODES],
    ["style", STYLES],
    ["facts", FACTS],
  ] as const) {
    const value = valueByName[name];
    if (value !== undefined && !(values as readonly unknown[]).includes(value)) {
      const suggestion = suggestChoice(String(value), values);
      throw new OptionError(`${name} must be one of ${values.join(", ")}${suggestion && `; ${suggestion}`}`);
    }
  }
  checkEpsilonType(valueByName.epsilon);
  const checked = valueByName as CheckedOptions;
  const isDefault = checked.protect === undefined && hasNames;
  if (isDefault) checked.protect = "names";
  const otherOptions = checked.protect === "names" ? WORDS_ONLY : NAMES_ONLY;
  const unsupported = otherOptions.filter((name) => name in valueByName);
  if (unsupported.length > 0) {
    const { namesOnly, notOfNames, notOfDefault } = SHARED_MESSAGES;
    const message = isDefault ? notOfDefault : checked.protect === "names" ? notOfNames : namesOnly;
    throw new OptionError(message.replace("{options}", unsupported.sort().join(", ")));
  }
  return checked;
}

/** @internal Throw an error for an unknown option. It suggests the option with the most similar name. */
export function refuseUnknownOptions(options: object, choices: readonly string[]): void {
  const typed = typeof options === "object" && options !== null ? Object.keys(options) : [""];
  const unknown = typed.find((name) => !choices.includes(name));
  if (unknown === undefined) return;
  const unused = choices.filter((choice) => !typed.includes(choice));
  throw new OptionError(`unknown option: ${suggestChoice(unknown, unused) || `choose among ${choices.join(", ")}`}`);
}

/** Return the choice that shares the most pairs of letters as a question; empty if none shares half of them. */
function suggestChoice(typed: string, choices: readonly string[]): string {
  const listPairs = (name: string) => [...name].map((letter, start) => letter + name[start + 1]);
  const pairs = listPairs(typed.slice(0, 99));
  let [question, highest] = ["", 0.5];
  for (const choice of choices) {
    const shared = listPairs(choice).filter((pair) => pairs.includes(pair)).length;
    const similarity = (2 * shared) / (typed.length + choice.length);
    if (similarity > highest) [question, highest] = [`did you mean ${choice}?`, similarity];
  }
  return question;
}

/** @internal Check that an epsilon is a number or text. */
export function checkEpsilonType(epsilon: unknown): void {
  if (!["undefined", "number", "string"].includes(typeof epsilon)) {
    throw new OptionError("epsilon must be a number, or its digits as a string");
  }
}

/** @internal Return whether a value is a collection. A string is not a collection. */
export function isCollection(value: unknown): value is Iterable<unknown> {
  return typeof value === "object" && value !== null && Symbol.iterator in value;
}

/** @internal Parse an epsilon as a decimal number. */
export function parseEpsilon(value: number | string): Decimal {
  const decimal = Decimal.parse(String(value));
  if (decimal === undefined) throw new OptionError("epsilon is missing or not a number");
  return decimal;
}

/** @internal Return the cap of consistent outputs. */
export function parseCap(checked: CheckedOptions): number {
  const cap = checked.consistentCap ?? CONSISTENT_CAP;
  if (!Number.isSafeInteger(cap) || cap < 1) {
    throw new OptionError("consistentCap must be an integer, at least 1");
  }
  return cap;
}
