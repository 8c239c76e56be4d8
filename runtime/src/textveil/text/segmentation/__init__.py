"""Tokenizer of the modes that randomize words (``protect="words"`` and ``"all"``).

docs/format-staircase.md has the definitions. The mode ``names`` has its own tokenizer,
``textveil.text.names.tokenizer``. Terms:

- *segment*: a token or a gap. The segments of a text, joined, are the text.
- *gap*: white space and punctuation between tokens.
- *word*: a token of ordinary letters.
- *string*: a token that is not a plain word, such as a number, an email address, a URL or an emoticon.
- *chunk*: text between blanks.
- *key*, or *lookup key*: the form of a word in lists and vocabularies: NFKC, lower case, plain apostrophes. To *fold* a
  word is to make its key.
- *clitic*: an ending, such as ``'s`` or ``n't``, that counts as a separate word.
"""

from textveil.bundle.word_lists import APOSTROPHES, fold_apostrophes
from textveil.text.segmentation.patterns import MAX_WORD_LENGTH
from textveil.text.segmentation.segments import (
    begins_sentence,
    is_gap,
    is_string,
    iterate_split_text,
    split_entry,
    split_text,
)
from textveil.text.segmentation.words import (
    AUXILIARIES,
    BYTE_ORDER_MARK,
    CLITICS,
    LOWER,
    NOT_CLITIC,
    TITLE,
    UPPER,
    apply_case,
    clitic_pattern,
    find_case_pattern,
    fold_word,
    is_folded,
    split_clitic,
)

__all__ = [
    "APOSTROPHES",
    "AUXILIARIES",
    "BYTE_ORDER_MARK",
    "CLITICS",
    "LOWER",
    "MAX_WORD_LENGTH",
    "NOT_CLITIC",
    "TITLE",
    "UPPER",
    "apply_case",
    "begins_sentence",
    "clitic_pattern",
    "find_case_pattern",
    "fold_apostrophes",
    "fold_word",
    "is_folded",
    "is_gap",
    "is_string",
    "iterate_split_text",
    "split_clitic",
    "split_entry",
    "split_text",
]
