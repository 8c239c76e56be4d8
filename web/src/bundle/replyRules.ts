/** Rules of a language about inflected and elided forms of a surrogate in a reply (docs/format-rules.md). */

import { isLower, isUpper } from "../text/segmentation/words.js";

/** The object `optional.replies` of a rules file, with the additional list `clitics`. */
export interface ReplyData {
  readonly clitics?: readonly string[];
  readonly elisions?: readonly string[];
  readonly inflections?: Readonly<Record<string, readonly string[]>>;
  readonly silent_letters?: readonly string[];
  readonly vowels?: readonly string[];
  readonly word_inflections?: Readonly<Record<string, readonly string[]>>;
}

/** Keys of `optional.replies`, each with an example of the type of its value. */
export const REPLY_MODEL = {
  elisions: [],
  inflections: { plural: [] },
  silent_letters: [],
  vowels: [],
  word_inflections: { plural: [] },
} as const satisfies ReplyData;
const SAVED_MODEL: ReplyData = { clitics: [], ...REPLY_MODEL };
const PATTERNS = {
  clitics: /^[a-z]+'$/,
  elisions: /^[a-z]+'(?: \p{L}+)+$/u,
  silent_letters: /^\p{L}$/u,
  vowels: /^\p{L}$/u,
} as const;
const ENDINGS = /^(?:\p{L}+ )?\p{L}*'?\p{L}*$/u;

type Endings = readonly (readonly [ending: string, replacement: string])[];

/**
 * The inflected and elided forms of surrogates that a reply in a language may contain. English needs none of these
 * rules, because `text/inflections.ts` recognizes English plurals in replies of any language.
 */
export class ReplyRules {
  /** The data without empty values. */
  readonly data: ReplyData;
  /** Short words with an apostrophe, such as `d'`, that may precede a surrogate. */
  readonly clitics: ReadonlySet<string>;
  /** For each clitic that abbreviates another word, the spellings of that word; `d'`, for example, abbreviates `de`. */
  readonly elisions: ReadonlyMap<string, readonly string[]>;
  readonly #endings: ReadonlyMap<string, Endings>;
  readonly #names: readonly string[];

  /** @throws Error An entry is malformed. The message contains the key of the entry. */
  constructor(data: ReplyData) {
    this.data = Object.fromEntries(
      (Object.keys(SAVED_MODEL) as (keyof ReplyData)[]).flatMap((key) =>
        Object.keys(data[key] ?? []).length > 0 ? [[key, data[key]]] : [],
      ),
    );
    for (const [key, pattern] of Object.entries(PATTERNS)) {
      checkEntries(this.data[key as keyof typeof PATTERNS] ?? [], pattern, key);
    }
    this.clitics = new Set(this.data.clitics);
    this.elisions = new Map(
      (this.data.elisions ?? []).map((entry) => {
        const [clitic = "", ...words] = entry.split(" ");
        return [clitic, words];
      }),
    );
    const { inflections = {}, word_inflections: ofWords = {} } = this.data;
    if (Object.keys(ofWords).some((name) => Object.hasOwn(inflections, name))) {
      throw new Error("word_inflections: an inflection has the same name as an entry of inflections: rename it");
    }
    const parse = (key: string, rows: Readonly<Record<string, readonly string[]>>): [string, Endings][] =>
      Object.entries(rows).map(([name, entries]) => [name, parseEndings(entries, key)]);
    this.#endings = new Map([...parse("inflections", inflections), ...parse("word_inflections", ofWords)]);
    this.#names = Object.keys(inflections);
  }

  /** Return the inflections of a surrogate. Those in `word_inflections` apply only to surrogates in lower case. */
  listInflections(output: string): readonly string[] {
    return isLower(output) ? [...this.#endings.keys()] : this.#names;
  }

  /** Return the inflected form of a word: replace its ending by the first matching rule of the inflection `name`. */
  inflect(word: string, name: string): string {
    const characters = [...word];
    for (const [ending, replacement] of this.#endings.get(name) ?? []) {
      const stem = characters.length - [...ending].length;
      if (stem > 0 && characters.slice(stem).join("").toLowerCase() === ending) {
        const isCapitals = characters.length > 1 && isUpper(word);
        return characters.slice(0, stem).join("") + (isCapitals ? replacement.toUpperCase() : replacement);
      }
    }
    return word;
  }

  /** Return whether a clitic before this word loses its last vowel; `undefined` if this is not certain. */
  isElidedBefore(word: string): boolean | undefined {
    const letter = [...([...word][0] ?? "").normalize("NFKD").toLowerCase()][0] ?? "";
    if (!/^\p{L}$/u.test(letter) || this.data.silent_letters?.includes(letter)) return undefined;
    return this.data.vowels?.includes(letter) ?? false;
  }
}

/** Empty rules, such as those of English. */
export const NO_REPLY_RULES = new ReplyRules({});

/** Parse the reply rules of a saved mapping. Return `undefined` if they are malformed. */
export function parseReplyRules(data: unknown): ReplyRules | undefined {
  const isObject = (value: unknown): value is Record<string, unknown> =>
    typeof value === "object" && value !== null && !Array.isArray(value);
  const isList = (value: unknown): boolean => Array.isArray(value) && value.every((entry) => typeof entry === "string");
  const fits = ([key, value]: [string, unknown]): boolean => {
    const model = Object.hasOwn(SAVED_MODEL, key) ? SAVED_MODEL[key as keyof ReplyData] : undefined;
    if (model === undefined) return false;
    return Array.isArray(model) ? isList(value) : isObject(value) && Object.values(value).every(isList);
  };
  if (!isObject(data) || !Object.entries(data).every(fits)) return undefined;
  try {
    return new ReplyRules(data as ReplyData);
  } catch {
    return undefined;
  }
}

/** Join the reply rules of several languages. */
export function joinReplyData(all: readonly ReplyData[]): ReplyData {
  const joined: Record<string, unknown> = {};
  for (const [number, data] of all.entries()) {
    for (const [key, value] of Object.entries(data)) {
      const earlier = joined[key];
      joined[key] = Array.isArray(value)
        ? [...new Set([...((earlier as string[] | undefined) ?? []), ...value])]
        : {
            ...(earlier as object | undefined), // languages may give different inflections the same name
            ...Object.fromEntries(Object.entries(value).map(([name, rows]) => [name + "_next".repeat(number), rows])),
          };
    }
  }
  return joined;
}

function checkEntries(entries: readonly string[], pattern: RegExp, key: string): void {
  if (!entries.every((entry) => pattern.test(entry))) throw new Error(`${key}: an entry is malformed`);
}

/** Parse rows such as `z ces` (replace the ending `z` by `ces`) and `s` (append `s` to all other words). */
function parseEndings(rows: readonly string[], key: string): Endings {
  checkEntries(rows, ENDINGS, key);
  return rows.map((row) => {
    const [first = "", second] = row.split(" ");
    return second === undefined ? ["", first] : [first, second];
  });
}
