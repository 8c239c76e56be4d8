/** Limits and names of the format, equal to those of the Python package (tests/repo/test_web.py compares both). */

export const FORMAT = "textveil-bundle";
export const FORMAT_VERSION = 5;
export const MAX_BUNDLE_BYTES = 256_000_000;
export const MAX_JSON_BYTES = 2_000_000;
export const MAX_JSON_VALUES = 65_536;
export const MAX_RULES_BYTES = 65_536;
export const MAX_RULE_WORDS = 1024;
export const MAX_RULE_TEXT = 512;
export const MAX_ELEMENTS = 21;
export const MAX_SURROGATES = 1_099_511_627_776;
export const MAX_SYMBOLS = 2_147_483_648;
export const MAX_LEVELS = 64;
export const MAX_ENTITY_TYPES = 256;
export const MAX_LIST_ENTRIES = 327_680;
export const MAX_LIST_BYTES = 8_000_000;
export const MAX_LINE_BYTES = 4096;
export const BYTES_PER_ENTRY = 256;
export const BYTES_PER_LIST_BYTE = 16;
export const MAX_WORDS = 128;
export const MAX_EPSILON = 16;
export const MAX_LABELS = 256;
export const MAX_SENTENCE = 500;
export const MAX_DIMENSION = 4096;
export const MAX_PAIRS = 1_048_576;
export const MAX_CHARACTERS = 1_000_000;
export const HASH_DIGITS = 12;
export const CHARACTER_CLASSES = [
  "blank",
  "mark",
  "letter",
  "follower",
  "middle",
  "connector",
  "L",
  "M",
  "N",
  "Nd",
  "Sc",
] as const;
export const MODES = ["names", "words", "all"] as const;
export const STYLES = ["surrogate", "tag"] as const;
export const FACTS = ["none", "plain", "useful", "public"] as const;
export const DEFAULT_FACTS = "plain";
export const SHAPES = [
  "email",
  "url",
  "handle",
  "path",
  "date",
  "time",
  "phone",
  "year",
  "number",
  "ordinal-number",
  "other",
] as const;
export const COMMON_WORD_FLAGS = [
  "strict",
  "start",
  "emphasis",
  "opener",
  "name",
  "function",
  "rare",
  "census",
  "noun",
] as const;
/** Kinds of lists of public facts that this release reads. */
export const FACT_KINDS = ["term", "capital", "company", "acronym", "language", "foreign"] as const;
export const CONSISTENT_CAP = 2000;
export const MAX_BATCH_CHARACTERS = 1_048_576;
export const MAX_WHOLE_CHARACTERS = 131_072;
export const NAMES_BATCH_CHARACTERS = 32_768;
export const MAX_WORD_LENGTH = 1000;
export const MIN_HEADLINE_WORDS = 7;
export const MAX_CONNECTORS = 3;
export const MIN_IDENTIFIER_DIGITS = 7;
export const MIN_CONSISTENT_POOL = 200;
export const MAX_LISTED_NUMBERS = 20;
export const MAX_SPELLED = 12;
export const MAX_BLANKS = 6;
export const AFTER_TITLE = "<title>";
export const SPELLED_NUMBER = "spelled-number";
export const SPELLED_LETTERS = "spelled-letters";
export const EMOJI = "emoji";
export const KEYCAP = "keycap";
export const TONE_PLACEHOLDER = "x";
/** One-letter class of each kind of word that spelled-out numbers consist of, by the key in the rules file. */
export const NUMBER_CLASSES = { and: "a", digits: "d", multipliers: "x", point: "p", scales: "s" } as const;
/** Error messages that are equal in both packages. */
export const SHARED_MESSAGES = {
  noMechanism: "this bundle has only the lists of the mode 'names': use protect names",
  noNames: "this bundle has no lists for the mode names: use the built-in bundle",
  namesOnly: "{options}: only the mode 'names' supports this: use protect names",
  notOfNames: "the mode 'names' does not support {options}: omit it",
  notOfDefault: "the default mode 'names' does not support {options}: omit it, or use protect words or all",
  noTexts: "expected texts, got one value: put it in a list",
  noDocument: "expected the texts of a document, got one value: put it in a list",
  noDocuments: "expected documents, got one value: put it in a list",
} as const;
