"""What bundles are laid out by, for readers and writers: names of files and of what is in them (docs/format.md)."""

FORMAT, FORMAT_VERSION = "textveil-bundle", 4
MANIFEST, SIGNATURE, CARD = "manifest.json", "manifest.json.sig", "README.md"

# A bundle for text.
LAW, VOCABULARY, CHARACTERS = "law.json", "vocabulary.tsv", "characters.json"
STAIRCASE = "staircase.safetensors"
TABLE, EMBEDDINGS = "table.safetensors", "embeddings.safetensors"
#: Lists of the rung ``names``; two patterns for the name of a kind; and what a common word may be marked as, in order.
COMMON_WORDS, SHOWN_CAPITALS, SYMBOLS = "common-words.txt", "shown-capitals.txt", "symbols.txt"
NAMES_KIND, NAMES_POOL = "names.kind.{}.txt", "names.pool.{}.txt"
NAMES_MARKS = ("strict", "start", "emphasis", "opener", "name", "function", "rare")
CERTIFICATE, CERTIFICATE_FORMAT, CERTIFICATE_VERSION = "certificate.json", "textveil-certificate", 2
STATISTICS, STATISTICS_FORMAT, STATISTICS_VERSION = "statistics.json", "textveil-statistics", 1

TABLE_MECHANISMS = ("santext", "santext+")
#: The rung of the ladder for what law.json says may stay visible under the staircase.
RUNG_OF_VISIBLE = {"function-words": "words", "none": "all"}
#: Classes of ``characters.json``, by which text is cut: of what each is, in the notation of UTS #18.
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

# A bundle that releases vectors or indices.
MODEL, PIECES, CLASSIFIER = "model.onnx", "vocabulary.txt", "classifier.safetensors"
WORDS, ROWS, CODES, CHANNELS = "words.txt", "rows.safetensors", "codes.safetensors", "channels.safetensors"
#: What a server reads beside the manifest: ``P(label | index)`` of every channel, and decisions on held-out texts.
LABELS, HELD_OUT = "labels.safetensors", "held-out.json"
#: Public sentences that a device prints in the place of an index.
SENTENCES = "sentences.txt"
#: How an index bundle gets from a text to a vector.
STATIC, ONNX = "static", "onnx"
#: Codes are classes, or words of a codebook that was learned without labels.
DECISION, CODEBOOK = "decision", "codebook"
