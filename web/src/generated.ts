// Written by web/scripts/generate.py from the Python package. Do not edit: change it there.
export const DEFAULT_BUNDLE_ID = "3f9daf421f04150899ef79547c859d62be1bc1f8b4fab5fe798614ce7ca307ce";
export const FORMAT = "textveil-bundle";
export const FORMAT_VERSION = 4;
export const MAX_BUNDLE_BYTES = 256000000;
export const MAX_JSON_BYTES = 2000000;
export const MAX_JSON_VALUES = 65536;
export const MAX_SYMBOLS = 2147483648;
export const MAX_LEVELS = 64;
export const MAX_KINDS = 256;
export const MAX_ENTRIES = 262144;
export const MAX_LIST_BYTES = 8000000;
export const MAX_LINE_BYTES = 4096;
export const BYTES_OF_AN_ENTRY = 256;
export const BYTES_OF_A_BYTE = 16;
export const MAX_WORDS = 128;
export const MAX_EPSILON = 16;
export const CHARACTER_CLASSES = ["blank", "mark", "letter", "follower", "middle", "connector", "L", "M", "N", "Nd", "Sc"] as const;
export const RUNGS = ["names", "words", "all"] as const;
export const CASES = ["carry", "drop"] as const;
export const STYLES = ["surrogate", "tag"] as const;
export const CONSISTENT_CAP = 2000;
export const BATCH_CHARACTERS = 1048576;
export const LONG_CHARACTERS = 131072;
export const NAMES_BATCH = 32768;
export const LONGEST_WORD = 1000;
export const AUXILIARIES = ["ai", "am", "are", "ca", "could", "dare", "did", "do", "does", "had", "has", "have", "is", "may", "might", "must", "need", "ought", "sha", "should", "was", "were", "wo", "would"] as const;
export const CLITICS = ["'d", "'ll", "'m", "'re", "'s", "'ve", "n't"] as const;
export const MARKS = [".", ",", ";", ":", "!", "?", "-", "(", ")", "'", "\""] as const;
export const SENTENCE_ENDS = "\n\u000b\f\r!.?\u0085\u2028\u2029";
export const HARD = "\"\u201c\u201d\u201e\u00ab\u00bb";
export const SOFT = "\u2039\u203a()[]{};\u2014\u2026";
export const ENDS = ".,:!?'\u2018\u2019*_";
export const BETWEEN = "() \u00a0\u2009\u202f";
export const TOP_LEVEL = ["com", "org", "net", "io", "gov", "edu", "mil", "int", "info", "biz", "co", "uk", "de", "fr", "nl", "eu", "ru", "ch", "au", "ca", "jp", "cn", "br", "es", "pl", "se", "dk", "app", "dev", "xyz", "museum", "\u0440\u0444"] as const;
export const SHAPES = ["email", "url", "handle", "path", "date", "time", "phone", "year", "number", "ordinal-number", "other"] as const;
export const NAMES_MARKS = ["strict", "start", "emphasis", "opener", "name", "function"] as const;
export const CLOSED_KINDS = ["weekday", "month", "title", "group"] as const;
export const NAMES_KINDS = ["city", "country", "family", "firm-word", "first-word", "given", "group", "institution-word", "month", "number-word", "office", "organization", "particle", "place", "place-word", "state", "street-word", "the-country", "title", "unit-word", "weekday"] as const;
export const NAMES_POOLS = ["acronym", "city", "country", "family", "given", "group", "month", "number-word", "office", "organization", "particle", "place", "state", "street", "the-country", "title", "unit", "weekday", "word", "word-ed", "word-ing", "word-ly", "word-s"] as const;
export const ANY_CASE = ["weekday", "number-word", "group"] as const;
export const LOWER_KINDS = ["particle"] as const;
export const CAPITALIZED = ["month", "title", "office"] as const;
export const ENDINGS = ["ing", "ed", "ly", "s"] as const;
export const LETTER_CLITICS = "dmst";
export const BEGIN_NAMES = ["ft", "mt", "st"] as const;
export const NAME_LIKE = ["am", "may", "mine", "us", "will"] as const;
export const SHOWN_WHOLE = ["a.m", "e-book", "e-books", "e-mail", "e-mails", "e.g", "i.e", "p.m", "t-shirt", "t-shirts", "u-turn", "x-ray", "x-rays"] as const;
export const CLITIC_PIECES = ["d", "ll", "m", "re", "s", "t", "ve"] as const;
export const EMOTICON = "^(?:[:;=]['\\u2019]?-?(?:[)(\\]\\[}{|/*]+|D+|[PpOo])|<3|\\^_*\\^|-_+-|:'\\(|\\\\o/|[oO]_[oO])$";
export const ENTITY = "&(?:amp|quot|lt|gt|nbsp|apos|mdash|ndash|hellip);|(?:quot|amp|lt|gt);|(?:&amp;|&)?#(?:3[3-9]|4[0-7]|58|59|6[0-4]|9[1-6]|12[3-6]|14[5-8]|15[01]|160|82(?:1[12]|1[67]|2[0126]|30));";
export const DRAWN = "drawn";
export const LINE_BREAKS = "\n\u000b\f\r\u0085\u2028\u2029";
export const ENDS_SENTENCE = "!.?\u2026\u3002";
export const OPENS = "\n\u000b\f\r!\"(*.:;>?[{|~\u0085\u00ab\u00bb\u2013\u2014\u2018\u201c\u201d\u2022\u2026\u2028\u2029\u3002";
export const SUFFIXES = ["area", "backed", "based", "born", "bound", "led", "like", "made", "owned", "related", "run", "speaking", "style", "wide"] as const;
export const JOINS = [" ", " & ", "-", "\u00a0", "\u2010", "\u2011"] as const;
export const JOINS_INITIALS = [".", ". "] as const;
export const ABBREVIATIONS = ["approx", "dept", "est", "etc", "feat", "fig", "inc", "incl", "ltd", "no", "st", "vol", "vs"] as const;
export const YEARS = ["month", "months", "week", "weeks", "year", "years", "yr", "yrs"] as const;
export const LONG_HEADLINE = 7;
export const SMALL = ["a", "after", "an", "and", "as", "at", "but", "by", "for", "from", "in", "into", "is", "it", "its", "nor", "of", "on", "or", "over", "the", "to", "up", "via", "vs", "with"] as const;
export const CONNECTORS = ["of", "the"] as const;
export const MOST_CONNECTORS = 3;
export const JOINS_DIGITS = [" ", " (", ")", ") ", "-", "\u00a0", "\u2013"] as const;
export const WHOLE = ["given", "family", "country", "the-country", "state", "city", "organization", "place"] as const;
export const LAST = [["firm-word", "organization"], ["institution-word", "organization"], ["street-word", "street"], ["place-word", "place"]] as const;
export const PLACE_BEFORE = ["at", "from", "in", "near"] as const;
export const TITLE_BEFORE = "<title>";
export const TLD = "com|org|net|io|gov|edu|mil|int|info|biz|co|uk|de|fr|nl|eu|ru|ch|au|ca|jp|cn|br|es|it|pl|se|no|dk|us|me|tv|app|dev|ai|xyz|online|site|gl|ly";
export const MAC = "^(?:[0-9a-f]{2}(?:[:-][0-9a-f]{2}){5})$";
export const IP = "^(?:\\d{1,3}(?:\\.\\d{1,3}){3}(?::\\d+)?(?:/\\d+)?|(?=.*[0-9])(?:[0-9a-f]{0,4}:){3,}[0-9a-f]{0,4})$";
export const TIME = "^(?:\\d{1,2}:\\d\\d(?::\\d\\d)?(?:[ap]\\.?m)?|\\d{1,2}(?:\\.\\d\\d)?[ap]\\.?m)$";
export const DATE = "^(?:\\d\\d?([-/.\u2010-\u2013])\\d\\d?\\1(?:\\d\\d|\\d{4})|\\d{4}([-/.\u2010-\u2013])\\d\\d?\\2\\d\\d?)$";
export const ORDINAL = "^(?:\\d+(?:,\\d{3})*(?:st|nd|rd|th))$";
export const DECADE = "^(?:(?:1[5-9]|20)?\\d0['\\u2019]?s)$";
export const EMAIL = "^(?:[^@]+@[^@]*\\.[^@.]+|[^()\\[\\]{}]+[(\\[{]at[)\\]}].+)$";
export const FILE = "^(?:[^/\\\\]+\\.(?:pdf|docx?|xlsx?|pptx?|csv|tsv|txt|md|rtf|odt|html?|xml|json|ya?ml|zip|gz|tar|rar|7z|exe|py|js|ts|java|cpp|jpe?g|png|gif|svg|bmp|mp3|mp4|mov|avi|wav|log|sql|db|cfg|conf|ini|key|pem))$";
export const PATH = "^(?:[/~\\\\].*|[A-Za-z]:[/\\\\].*|.*\\\\.*|[^/]+(?:/[^/]+){2,}/?)$";
export const NUMBER = "^(?:(?<whole>\\d{1,3}(?:,\\d{3})+|\\d*)(?:(?<mark>[.,])(?<decimals>\\d+))?)$";
export const DIGIT_GROUPS = "^(?:\\d+(?:(?:[./]|[-\u2010\u2011\u2012\u2013])\\d+)*)$";
export const IBAN = "^(?:[A-Z]{2}\\d{2}[A-Z0-9]{8,30})$";
export const UUID = "^(?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$";
export const HASH = "^(?:(?=.*\\d)(?=.*[a-f])[0-9a-f]{8,})$";
export const SSN = "^(?:\\d{3}[-\u2010\u2011\u2012\u2013]\\d\\d[-\u2010\u2011\u2012\u2013]\\d{4})$";
export const WITH_UNIT = "^(?:([0-9]+(?:[.,][0-9]+)?)(km|cm|mm|nm|kg|mg|g|ml|l|lbs?|oz|ft|in|mph|kmh|hz|khz|mhz|ghz|kb|mb|gb|tb|k|m|mn|bn|b|x|px|p|hrs?|h|mins?|min|secs?|s|ms|d|w|y|yrs?|yo|c|f|v|kw|mw|mah|am|pm))$";
export const IDENTIFIER_DIGITS = 7;
export const CALLED = {"given": "person", "family": "person", "initial": "person", "the-country": "country", "digits": "number"} as const;
export const NUMBERS = ["age", "date", "day", "decade", "digits", "initial", "letter", "number", "ordinal", "time", "title", "year"] as const;
export const SMALLEST_CONSISTENT = 200;
export const INITIALS = "BCDEFGHJKLMNOPRSTVW";
export const LETTERS = "bcdefghjklmnpqrtvwxyz";
export const WRITTEN_SMALL = ["group", "number-word", "particle", "unit", "word"] as const;
export const NETS = ["192.0.2", "198.51.100", "203.0.113"] as const;
export const DOMAINS = ["example.com", "example.org", "example.net"] as const;
export const WHOLES = {"0": [0, 1], "1": [1, 9], "2": [10, 90], "3": [100, 900], "4": [2100, 7900], "5": [10000, 90000], "7": [1000000, 9000000], "10": [1000000000, 9000000000]} as const;
export const UNREADABLE = "(unreadable)";
export const MONTHS = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"] as const;
export const MOST_BLANKS = 6;
export const BEHIND = 48;
export const NUMERIC_DIGITS = [178, 179, 185, 185, 4969, 4977, 6618, 6618, 8304, 8304, 8308, 8313, 8320, 8329, 9312, 9320, 9332, 9340, 9352, 9360, 9450, 9450, 9461, 9469, 9471, 9471, 10102, 10110, 10112, 10120, 10122, 10130, 68160, 68163, 69216, 69224, 69714, 69722, 127232, 127242] as const;
export const FOLDS = "\u00dfss \u0345\u03b9 \u03c2\u03c3 \u13a0\u13a0 \u13a1\u13a1 \u13a2\u13a2 \u13a3\u13a3 \u13a4\u13a4 \u13a5\u13a5 \u13a6\u13a6 \u13a7\u13a7 \u13a8\u13a8 \u13a9\u13a9 \u13aa\u13aa \u13ab\u13ab \u13ac\u13ac \u13ad\u13ad \u13ae\u13ae \u13af\u13af \u13b0\u13b0 \u13b1\u13b1 \u13b2\u13b2 \u13b3\u13b3 \u13b4\u13b4 \u13b5\u13b5 \u13b6\u13b6 \u13b7\u13b7 \u13b8\u13b8 \u13b9\u13b9 \u13ba\u13ba \u13bb\u13bb \u13bc\u13bc \u13bd\u13bd \u13be\u13be \u13bf\u13bf \u13c0\u13c0 \u13c1\u13c1 \u13c2\u13c2 \u13c3\u13c3 \u13c4\u13c4 \u13c5\u13c5 \u13c6\u13c6 \u13c7\u13c7 \u13c8\u13c8 \u13c9\u13c9 \u13ca\u13ca \u13cb\u13cb \u13cc\u13cc \u13cd\u13cd \u13ce\u13ce \u13cf\u13cf \u13d0\u13d0 \u13d1\u13d1 \u13d2\u13d2 \u13d3\u13d3 \u13d4\u13d4 \u13d5\u13d5 \u13d6\u13d6 \u13d7\u13d7 \u13d8\u13d8 \u13d9\u13d9 \u13da\u13da \u13db\u13db \u13dc\u13dc \u13dd\u13dd \u13de\u13de \u13df\u13df \u13e0\u13e0 \u13e1\u13e1 \u13e2\u13e2 \u13e3\u13e3 \u13e4\u13e4 \u13e5\u13e5 \u13e6\u13e6 \u13e7\u13e7 \u13e8\u13e8 \u13e9\u13e9 \u13ea\u13ea \u13eb\u13eb \u13ec\u13ec \u13ed\u13ed \u13ee\u13ee \u13ef\u13ef \u13f0\u13f0 \u13f1\u13f1 \u13f2\u13f2 \u13f3\u13f3 \u13f4\u13f4 \u13f5\u13f5 \u13f8\u13f0 \u13f9\u13f1 \u13fa\u13f2 \u13fb\u13f3 \u13fc\u13f4 \u13fd\u13f5 \u1c80\u0432 \u1c81\u0434 \u1c82\u043e \u1c83\u0441 \u1c84\u0442 \u1c85\u0442 \u1c86\u044a \u1c87\u0463 \u1c88\ua64b \u1e9ess \uab70\u13a0 \uab71\u13a1 \uab72\u13a2 \uab73\u13a3 \uab74\u13a4 \uab75\u13a5 \uab76\u13a6 \uab77\u13a7 \uab78\u13a8 \uab79\u13a9 \uab7a\u13aa \uab7b\u13ab \uab7c\u13ac \uab7d\u13ad \uab7e\u13ae \uab7f\u13af \uab80\u13b0 \uab81\u13b1 \uab82\u13b2 \uab83\u13b3 \uab84\u13b4 \uab85\u13b5 \uab86\u13b6 \uab87\u13b7 \uab88\u13b8 \uab89\u13b9 \uab8a\u13ba \uab8b\u13bb \uab8c\u13bc \uab8d\u13bd \uab8e\u13be \uab8f\u13bf \uab90\u13c0 \uab91\u13c1 \uab92\u13c2 \uab93\u13c3 \uab94\u13c4 \uab95\u13c5 \uab96\u13c6 \uab97\u13c7 \uab98\u13c8 \uab99\u13c9 \uab9a\u13ca \uab9b\u13cb \uab9c\u13cc \uab9d\u13cd \uab9e\u13ce \uab9f\u13cf \uaba0\u13d0 \uaba1\u13d1 \uaba2\u13d2 \uaba3\u13d3 \uaba4\u13d4 \uaba5\u13d5 \uaba6\u13d6 \uaba7\u13d7 \uaba8\u13d8 \uaba9\u13d9 \uabaa\u13da \uabab\u13db \uabac\u13dc \uabad\u13dd \uabae\u13de \uabaf\u13df \uabb0\u13e0 \uabb1\u13e1 \uabb2\u13e2 \uabb3\u13e3 \uabb4\u13e4 \uabb5\u13e5 \uabb6\u13e6 \uabb7\u13e7 \uabb8\u13e8 \uabb9\u13e9 \uabba\u13ea \uabbb\u13eb \uabbc\u13ec \uabbd\u13ed \uabbe\u13ee \uabbf\u13ef";
export const STATEMENT = {"visible": {"functionWords": "function words", "gaps": "punctuation and white space", "case": "case", "kinds": "kinds", "order": "the number and order of words", "equal": "which mentions are equal"}, "pure": "pure local DP", "notion": "local differential privacy per drawn mention between texts of the same skeleton, against someone who knows every other word", "consistentNotion": "local differential privacy per distinct drawn word of a document between texts of the same skeleton, against someone who knows every other word", "unit": "drawn mention", "consistentUnit": "distinct drawn word", "notProtected": ["visible as they are: {visible}", "the bound is about one word, for someone who knows every other word; who only knows the language learns about a word from the words around it too", "the text as a whole: the sum over its mentions bounds next to nothing", "roughly what each drawn word means: it is drawn from its neighborhood most of the time", "repetition: the same text or word sanitized again is a second release, and weakens the first"], "habits": "the habits of its author, negation, tense and gender: function words show them", "cipher": "a cipher: repeated words can be counted, and guessed by their pattern", "summary": "{nats} nats per {unit}. Visible as they are: {visible}. A listed name or a number: nothing beyond its kind. An unknown string: nothing beyond being unknown, and that only within the {nats} nats. Any other word, to someone who knows all the rest: odds times at most {odds}. Whole text: {nats} x {mentions} = {document} nats: no protection of the text as a whole.", "lines": {"words": "Shown: function words. Replaced: names, numbers. {words} drawn at {nats} nats{each}. The text as a whole is not protected.", "wordsBare": "Shown: function words. Replaced: names, numbers, punctuation. {words} drawn at {nats} nats{each}. The text as a whole is not protected.", "all": "Shown: punctuation. Replaced: names, numbers. {words} drawn at {nats} nats{each}. The text as a whole is not protected.", "allBare": "Shown: the number and order of words. Replaced: names, numbers, punctuation. {words} drawn at {nats} nats{each}. The text as a whole is not protected."}, "other": "other word", "otherDistinct": "other distinct word"} as const;
export const NAMES_STATEMENT = {"kind": "none on shown words", "notion": "0 nats between texts of the same skeleton: what comes out for what is replaced is drawn without looking at it; no bound on what is shown", "unit": "shown word", "line": "Shown: words on a public list{more}. {drawn}Replaced without a look: all others. What is shown can still tell whom the text is about.", "keptKind": ", the kind ", "keptKinds": ", the kinds ", "allowedMore": ", allowed words", "summary": "{line} What is replaced tells its kind, its case, a short number's layout and which strings are equal, and nothing else: 0 nats between texts that show the same. No number of nats bounds what is shown: {shown} here.", "notProtected": ["every word that is shown, and who or what it tells the text is about: a story can be recognized without a name", "of what is replaced: its kind, its case, how many digits a short number has, the ending of a word, and its place", "which words are replaced: whoever has the bundle can tell each of them from the shown ones", "a name that is also a common word in lower case", "the habits of its author"], "kept": "kinds that are kept: {kinds}", "allowed": "words of the user's own list, wherever they stand", "equal": "which strings of a document are equal"} as const;
export const INDEX_STATEMENT = {"kindOfText": "one of {sentences} public sentences, not the author's words", "summary": "{released}, channel {channel}: epsilon {epsilon} for any two texts", "indices": "one of {indices} indices", "guess": "a right guess of the text's code becomes at most {gain} times likelier, on average", "fixed": "the sentences were fixed before the text: none is a paraphrase, and one of a wrong class reads as well", "notProtected": ["that a text was encoded, and with what parameters", "encoding the same text again: each release is drawn afresh, and their epsilons add up", "to whoever can time the device: how long the text is"]} as const;
export const MAX_CODES = 256;
export const MAX_SENTENCE = 500;
export const MAX_DIMENSION = 4096;
export const MAX_PAIRS = 1048576;
export const MAX_CHARACTERS = 1000000;
export const IDENTITY_DIGITS = 12;
export const DEFAULT_ENCODER_ID = "682b3e1cc9ae6cd73e354197d85834ddf9834f253e343003788192fa1d3d4803";
export const INDEX_TOKEN_CLITIC = "^(?:(.+?)(n't|'(?:s|m|d|re|ve|ll)))$";
/** Base of all named errors. ``code`` is stable across versions and safe to log. */
export class TextveilError extends Error {
  override readonly name: string = "TextveilError";
  readonly code: string = "textveil";
}
/** A bundle cannot be used. */
export class BundleError extends TextveilError {
  override readonly name: string = "BundleError";
  override readonly code: string = "bundle";
}
/** There is no bundle at the given place. */
export class BundleNotFound extends BundleError {
  override readonly name: string = "BundleNotFound";
  override readonly code: string = "bundle-not-found";
}
/** A file of the bundle is missing, truncated, altered or malformed. */
export class BundleDamaged extends BundleError {
  override readonly name: string = "BundleDamaged";
  override readonly code: string = "bundle-damaged";
}
/** A file of the bundle, or all of them, are larger than the caller allows, or than a reader can hold. */
export class BundleTooLarge extends BundleError {
  override readonly name: string = "BundleTooLarge";
  override readonly code: string = "bundle-too-large";
}
/** The bundle is of another version of the format than this release reads. */
export class BundleVersion extends BundleError {
  override readonly name: string = "BundleVersion";
  override readonly code: string = "bundle-version";
}
/** A bundle of another kind than is needed: for text, of vectors or of an index. */
export class WrongBundle extends BundleError {
  override readonly name: string = "WrongBundle";
  override readonly code: string = "bundle-kind";
}
/** The bundle is sound, but not the one the caller asked for. */
export class IdentityMismatch extends BundleError {
  override readonly name: string = "IdentityMismatch";
  override readonly code: string = "bundle-identity";
}
/** An option has a value that this bundle or mechanism does not support. */
export class OptionError extends TextveilError {
  override readonly name: string = "OptionError";
  override readonly code: string = "option";
}
/** No mechanism has that name. */
export class UnknownMechanism extends OptionError {
  override readonly name: string = "UnknownMechanism";
  override readonly code: string = "unknown-mechanism";
}
/** The bundle has no such privacy level. */
export class UnknownLevel extends OptionError {
  override readonly name: string = "UnknownLevel";
  override readonly code: string = "unknown-level";
}
/** The library that runs encoders is not installed, or is a version that is not known to stay offline. */
export class EncoderUnavailable extends TextveilError {
  override readonly name: string = "EncoderUnavailable";
  override readonly code: string = "encoder-unavailable";
}
/** The input cannot be read as text. */
export class InputError extends TextveilError {
  override readonly name: string = "InputError";
  override readonly code: string = "input";
}
/** A document has more drawn words, names and numbers than consistent draws allow. */
export class DocumentTooLong extends InputError {
  override readonly name: string = "DocumentTooLong";
  override readonly code: string = "document-too-long";
}
/** The operating system gives no random bytes, too few, or such that no draw comes of them. Nothing was released. */
export class EntropyFailed extends TextveilError {
  override readonly name: string = "EntropyFailed";
  override readonly code: string = "entropy";
}
