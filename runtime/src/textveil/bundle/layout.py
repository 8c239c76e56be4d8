"""File names, keys and constants of the formats of bundles (data folders), for readers and writers.

docs/format.md defines the formats.
"""

#: Entry of ``provenance`` in the manifest: median distance of two words in units of the original vectors.
MEDIAN_DISTANCE = "median_distance"
FORMAT, FORMAT_VERSION = "textveil-bundle", 5
#: Maximum number of bytes of a line of a word list.
MAX_LINE_BYTES = 1 << 12
#: Maximum number of symbols (words of the vocabulary) of a bundle, of levels (epsilons) of a mechanism, and of entity
#: types of a template.
MAX_SYMBOLS, MAX_LEVELS, MAX_ENTITY_TYPES = 1 << 31, 64, 256
MANIFEST, SIGNATURE, CARD = "manifest.json", "manifest.json.sig", "README.md"

# Text bundles.
MECHANISM_FILE, VOCABULARY, CHARACTERS = "mechanism.json", "vocabulary.tsv", "characters.json"
STAIRCASE = "staircase.safetensors"
TABLE, EMBEDDINGS = "table.safetensors", "embeddings.safetensors"
#: Lists of the mode ``names``, and flags of common words in the order of bits (``COMMON_WORD_FLAGS``).
COMMON_WORDS, KEPT_CAPITALS, SYMBOLS = "common-words.txt", "kept-capitals.txt", "kept-symbols.txt"
#: Rules of the language of the mode ``names``; a bundle without this file has those of English.
RULES = "rules.json"
#: File names with a placeholder. List of the known strings of an entity type (such as all listed cities), for all
#: modes; list of the surrogates (replacements) of an entity type, for the mode ``names``; list of the surrogates for a
#: shape of strings (such as ``email``), for the modes ``words`` and ``all``.
ENTITY_LIST, SURROGATE_POOL, SHAPE_POOL = "entity.{}.txt", "surrogates.{}.txt", "shape.{}.txt"
#: Optional lists of public facts, and the kinds that this release reads: lookup keys of terms, of names of
#: languages and of frequent words of other languages; printed spellings of terms with a capital, of companies and
#: their products, and of acronyms.
FACT_LIST = "facts.{}.txt"
FACT_KINDS = ("term", "capital", "company", "acronym", "language", "foreign")
COMMON_WORD_FLAGS = ("strict", "start", "emphasis", "opener", "name", "function", "rare", "census", "noun")
CERTIFICATE, CERTIFICATE_FORMAT, CERTIFICATE_VERSION = "certificate.json", "textveil-certificate", 3
STATISTICS, STATISTICS_FORMAT, STATISTICS_VERSION = "statistics.json", "textveil-statistics", 2

TABLE_MECHANISMS = ("santext", "santext+")
#: The mode that needs only word lists. It is the default of every bundle that has these lists.
NAMES_MODE = "names"
#: Modes of the staircase mechanism: ``words`` keeps function words, ``all`` keeps no word.
STAIRCASE_MODES = ("words", "all")
#: Character classes of ``characters.json``, which the tokenizer uses. Each is defined in the notation of UTS #18.
CHARACTER_CLASSES = {
    "blank": r"\p{White_Space}",
    "mark": r"\p{P}",
    "letter": r"[\p{L}&&\p{Word_Break=ALetter}]",
    "follower": r"[[\p{Word_Break=Extend}\p{Word_Break=Format}\p{Word_Break=ZWJ}]--\p{S}]",
    "middle": r"[\p{Word_Break=MidLetter}\p{Word_Break=MidNumLet}]",
    "connector": r"\p{Pc}",
    "L": r"\p{L}",
    "M": r"\p{M}",
    "N": r"\p{N}",
    "Nd": r"\p{Nd}",
    "Sc": r"\p{Sc}",
}

# Bundles for releasing vectors or class labels.
MODEL, PIECES, CLASSIFIER = "model.onnx", "vocabulary.txt", "classifier.safetensors"
WORDS, ROWS, LABEL_CLASSIFIER, RANDOMIZERS = (
    "words.txt",
    "rows.safetensors",
    "label-classifier.safetensors",
    "randomizers.safetensors",
)
#: Files for the server: for every randomizer, the probability of each true label given the released label; and counts
#: of the labels that the model assigned to held-out texts.
LABEL_PROBABILITIES, HELD_OUT = "label-probabilities.safetensors", "held-out.json"
#: Public sentences, one of which a device releases in place of a class label.
SENTENCES = "sentences.txt"
#: Kinds of extractors (functions from a text to a vector) of a label bundle.
STATIC, ONNX = "static", "onnx"
#: Meaning of the released labels: class labels, or labels of clusters that were trained without class labels.
CLASS_LABELS, CLUSTER_LABELS = "class", "cluster"
