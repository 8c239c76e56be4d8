/**
 * Splitter of identifiers into words: `customer_id`, `getUserName`, `HTTPServer2` (docs/names-rule.md,
 * "Identifiers").
 */

const WORD =
  /[A-Z]{2,}s(?![a-z\u0080-\u{10ffff}])|[A-Z]+(?![a-z\u0080-\u{10ffff}])|[A-Z]?[a-z\u0080-\u{10ffff}]+|[0-9]+/gu;

const ENDS_IN_DIGITS = /^[A-Za-z][A-Za-z0-9_.-]*[0-9]{2}$/;

/** Return the words of an identifier, as written. */
export const splitIdentifier = (identifier: string): string[] => identifier.match(WORD) ?? [];

/** Return whether a string has two words or more and ends in two digits, as account names do: `blue_rider84`. */
export const isAccountName = (text: string): boolean =>
  ENDS_IN_DIGITS.test(text) && splitIdentifier(text).filter((word) => /[A-Za-z]{2}/.test(word)).length > 1;

/** Return the first index of each word of an identifier, and the index after its last character. */
export const iterateIdentifierWords = (identifier: string): [number, number][] =>
  [...identifier.matchAll(WORD)].map(({ 0: word, index }) => [index, index + word.length]);
