/**
 * Splitter of identifiers into words: `customer_id`, `getUserName`, `HTTPServer2` (docs/names-rule.md,
 * "Identifiers").
 */

const WORD =
  /[A-Z]{2,}s(?![a-z\u0080-\u{10ffff}])|[A-Z]+(?![a-z\u0080-\u{10ffff}])|[A-Z]?[a-z\u0080-\u{10ffff}]+|[0-9]+/gu;

const ENDS_IN_DIGITS = /^[A-Za-z][A-Za-z0-9_.-]*[0-9]{2}$/;

/** Return the words of an identifier, as written. */
export const splitIdentifier = (identifier: string): string[] => identifier.match(WORD) ?? [];

/** Return whether the letters around the first number of a string form words; random strings are such as `ear32i`. */
export function hasNumberedWord(text: string, ...words: readonly ReadonlySet<string>[]): boolean {
  const [, before = "", digits = "", after = ""] = /([A-Za-z]*)([0-9]+)([A-Za-z]*)/.exec(text) ?? [];
  if (before && after) return Math.min(before.length, after.length) > 3;
  if (digits.length !== 2 || before.length < 2 || before.length > 3) return true;
  return words.some((set) => set.has(before.toLowerCase()));
}

/** Return whether a string has two words or more and ends in two digits, as account names do: `blue_rider84`. */
export const isAccountName = (text: string): boolean =>
  ENDS_IN_DIGITS.test(text) && splitIdentifier(text).filter((word) => /[A-Za-z]{2}/.test(word)).length > 1;

/** Return the first index of each word of an identifier, and the index after its last character. */
export const iterateIdentifierWords = (identifier: string): [number, number][] =>
  [...identifier.matchAll(WORD)].map(({ 0: word, index }) => [index, index + word.length]);

/** First character of the scripts without blanks between words, and most characters of a listed word. */
const [FIRST_JOINED, MAX_JOINED] = ["\u2e80", 6];

/** Return whether a text consists of listed words without blanks between them, one of two characters or more. */
export function isJoinedText(text: string, words: ReadonlySet<string>, denied: ReadonlySet<string>): boolean {
  if (text < FIRST_JOINED) return false;
  const ends: (boolean | undefined)[] = [false]; // ends of sequences of words, and whether a word of them is long
  for (let end = 1; end <= text.length; end++)
    for (let start = Math.max(0, end - MAX_JOINED); start < end; start++) {
      const word = text.slice(start, end);
      if (ends[start] !== undefined && words.has(word) && !denied.has(word))
        ends[end] = ends[end] || ends[start] || end - start > 1;
    }
  return ends[text.length] === true;
}
