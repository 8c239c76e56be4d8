/**
 * Splitter of identifiers into words: `customer_id`, `getUserName`, `HTTPServer2` (docs/names-rule.md,
 * "Identifiers").
 */

const WORD =
  /[A-Z]{2,}s(?![a-z\u0080-\u{10ffff}])|[A-Z]+(?![a-z\u0080-\u{10ffff}])|[A-Z]?[a-z\u0080-\u{10ffff}]+|[0-9]+/gu;

/** Return the words of an identifier, as written. */
export const splitIdentifier = (identifier: string): string[] => identifier.match(WORD) ?? [];

/** Return the first index of each word of an identifier, and the index after its last character. */
export const iterateIdentifierWords = (identifier: string): [number, number][] =>
  [...identifier.matchAll(WORD)].map(({ 0: word, index }) => [index, index + word.length]);
