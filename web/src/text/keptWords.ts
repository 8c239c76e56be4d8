/** Numbers of kept and of replaced words, and the warning that a text may be in another language than the bundle. */

/** With fewer words that are neither names nor numbers, the language is not guessed. */
const MIN_WORDS = 12;
const WORD = /(?:(?!\p{Nd})[\p{L}\p{N}])+/gu;

/** Numbers of words in a text: names, numbers and identifiers are in none of them. */
export interface KeptWords {
  readonly kept: number;
  /** Number of replaced words that are on no list. */
  readonly replaced: number;
  /** Number of kept words that belong to other languages. */
  readonly foreign: number;
}

/** Count the words of an output that belong to other languages. The result depends on the output alone. */
export function countForeignWords(output: string, isForeign: (word: string) => boolean): number {
  return [...output.toLowerCase().matchAll(WORD)].filter(([word]) => isForeign(word)).length;
}

/**
 * Return the warning that a text may be in another language than the bundle; undefined if at least half of its words
 * are kept and belong to no other language, or if it has few words.
 */
export function describeLanguage({ kept, replaced, foreign }: KeptWords): string | undefined {
  const [words, own] = [kept + replaced, kept - foreign];
  if (words < MIN_WORDS || 2 * own >= words) return undefined;
  const share = (100 * own) / words;
  const floor = Math.floor(share);
  const rounded = share - floor === 0.5 ? floor + (floor % 2) : Math.round(share); // as Python rounds
  const treatment = foreign > 0 ? "were replaced or belong to other languages" : "were replaced";
  return `${100 - rounded} % of the words ${treatment}: the text may not be in the language of the bundle`;
}
