"""Print figures that pages quote in sentences, for the built-in staircase.

    python benchmarks/frontier/claims.py kept|articles|texts|paraphrases|spans|server [--data DIR] [--draws N]

The claims are:
- ``kept``: the share of randomized words, and of all words, that stay the same.
- ``articles``: the share of randomized words after *a* or *an*, and how often the output does not fit the article.
- ``texts``: how often three randomized words identify a text among 1,001 news.
- ``paraphrases``: how often an attacker who has a paraphrase of each sentence (SICK) identifies a sentence by its
randomized words.
- ``spans``: how many marked names have an unchanged word, in made-up sentences and posts, also in lower case.
- ``server``: how much better a classifier is if it reads each replaced name or number as its type, or uses mean vectors
besides TF-IDF.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import csv
import sys
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.svm import LinearSVC

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

from frontier import corpora, personal
from frontier.classify import STRENGTH, TfIdf, pearson
from frontier.rows import Releases
from report.frontier_rows import ROWS
from textveil.text import split_text
from textveil_training.attacks.words import KEPT, MARK, RANDOMIZED, SURROGATE, ReadElements, WordRelease, read_vectors

LEVELS = ("8", "10", "12")
TEXTS, FIRST_WORDS = 1_001, 3
VECTORS = ROOT / "artifacts" / "words" / "english-3-vectors.txt.gz"
WIDTH = 66
#: Further ways in which a server reads outputs; it has no mean vectors of sentence pairs.
READ = ("mean vectors", "kinds", "kinds and mean vectors")
_TINY = 1e-12
Array = NDArray[Any]


def spread(values: Sequence[float]) -> str:
    """Return the mean of shares and their standard deviation, in percent."""
    return f"{100 * np.mean(values):.1f} ± {100 * np.std(values, ddof=1) if len(values) > 1 else 0:.1f}"


def find_release(releases: Releases, name: str) -> WordRelease:
    """Return the mechanism of a table row, by the name of the row."""
    return releases.of(next(row for row in ROWS if row.name == name))


def find_words_release(releases: Releases, level: str) -> WordRelease:
    """Return the mechanism of the mode ``words`` at an epsilon."""
    return find_release(releases, f"shipped-{level}")


def measure_kept_words(releases: Releases, data: Path, draws: int) -> Iterator[str]:
    """Yield a line with the shares of unchanged words for each corpus and epsilon."""
    for name in ("ag", "trec", "sst2-whole", "sick"):
        cut = corpora.load(data, name, quick=False)["test"].cut
        for level in LEVELS:
            release = find_words_release(releases, level)
            reading = release.read(cut)
            drawn, words = reading.role == RANDOMIZED, reading.role != MARK
            same = [release.draw(reading) == reading.word for _ in range(draws)]
            told = spread([one[drawn].mean() for one in same]), spread([one[words].mean() for one in same])
            yield f"{name}, {level}: of drawn words {told[0]} % stay, of all words {told[1]} %"


def articles(releases: Releases, data: Path, draws: int) -> Iterator[str]:
    """Yield lines about the words after *a* and *an* in news."""
    release = find_words_release(releases, "10")
    cut = [text for part in corpora.load(data, "ag", quick=False).values() for text in part.cut]
    reading, spelled = release.read(cut), release.words.spellings
    after = np.zeros(len(reading.word), bool)
    article = np.isin(reading.word, [release.words.get_id(word) for word in ("a", "an")])
    after[1:] = article[:-1] & (reading.role[1:] == RANDOMIZED) & (reading.document[1:] == reading.document[:-1])
    outputs = [release.draw(reading)[after] for _ in range(draws)]
    vowel = np.array([word[:1] in "aeiou" for word in spelled])
    an = reading.word[np.flatnonzero(after) - 1] == release.words.get_id("an")
    yield f"{100 * after.sum() / (reading.role == RANDOMIZED).sum():.1f} % of drawn words follow a or an"
    yield f"of these {spread([(vowel[out] != an).mean() for out in outputs])} % do not fit it after the draw"


def likelihoods(release: WordRelease, inputs: Array, lower: bool, outputs: Array) -> Array:
    """Return the probabilities ``Pr[y | x]``, with a row for each input symbol and a column for each output symbol."""
    assert release.randomizers is not None
    channel = release.randomizers[int(lower)]
    symbols, at = np.unique(inputs, return_inverse=True)
    blocks = np.array_split(symbols, len(symbols) // 128 + 1)
    return np.concatenate([channel.rows(block)[:, outputs].astype(np.float32) for block in blocks])[at]


def symbols_of(release: WordRelease, outputs: Array) -> Array:
    """Return the symbol ids of output words, which are word ids."""
    symbol = np.full(len(release.words.spellings), release.symbols)
    symbol[release.printed] = np.arange(release.symbols)
    return symbol[outputs]


def find_first_randomized(reading: ReadElements, count: int, most: int) -> Array:
    """Return the positions of the first ``count`` randomized lower-case words in each document.

    Documents with fewer such words are left out, and at most ``most`` documents are used.
    """
    places = np.flatnonzero((reading.role == RANDOMIZED) & reading.lower)
    document = reading.document[places]
    starts = np.flatnonzero(np.r_[True, document[1:] != document[:-1]])
    enough = np.diff(np.r_[starts, len(document)]) >= count
    return places[starts[enough][:most, None] + np.arange(count)]


def texts(releases: Releases, data: Path, draws: int) -> Iterator[str]:
    """Yield for each epsilon how often the true text is the likeliest one among 1,001 news."""
    cut = corpora.load(data, "ag", quick=False)["test"].cut
    for level in LEVELS[:2]:
        release, shares = find_words_release(releases, level), []
        reading = release.read(cut)
        places = find_first_randomized(reading, FIRST_WORDS, TEXTS)
        for _ in range(draws):
            out = symbols_of(release, release.draw(reading))
            score = sum(
                np.log(likelihoods(release, reading.index[column], True, out[column]) + _TINY) for column in places.T
            )
            shares.append(float((np.argmax(score, axis=0) == np.arange(len(places))).mean()))
        yield f"{level}: {spread(shares)} % of {len(places)} news are named from {FIRST_WORDS} drawn words"


def paraphrases(releases: Releases, data: Path, draws: int) -> Iterator[str]:
    """Yield for each epsilon how often the true paraphrase is the likeliest one.

    The attacker uses the randomized words alone, or also the kept words.
    """
    pairs: dict[str, str] = {}
    for path in corpora.FILES["sick"]:
        with (data / path).open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
                if row["entailment_judgment"] == "ENTAILMENT" and float(row["relatedness_score"]) >= 4.5:
                    pairs.setdefault(row["sentence_A"], row["sentence_B"])
    chosen = {other: one for one, other in pairs.items()}  # each sentence once on each side
    sides = [[split_text(text) for text in side] for side in (chosen.values(), chosen)]
    for level in LEVELS[:2]:
        release, found = find_words_release(releases, level), []
        seen, had = (release.read(side) for side in sides)
        of_shown, of_text = (_count_kept_words(reading, len(release.words.spellings)) for reading in (had, seen))
        share = (of_shown / np.maximum(1, of_shown.sum(axis=1))).toarray()
        visible = np.log(share / 2 + share.mean(axis=0) / 2 + _TINY) @ of_text.T
        mine, other = (np.flatnonzero((reading.role == RANDOMIZED) & reading.lower) for reading in (seen, had))
        for _ in range(draws):
            out = symbols_of(release, release.draw(seen))[mine]
            of_word = likelihoods(release, had.index[other], True, out)
            member = sparse.csr_matrix((np.ones(len(other)), (had.document[other], np.arange(len(other)))))
            mean = member @ of_word / np.maximum(1, np.asarray(member.sum(axis=1)))
            score = np.log(mean / 2 + of_word.mean(axis=0) / 2 + _TINY)  # or any other word
            total = score @ sparse.csr_matrix((np.ones(len(mine)), (np.arange(len(mine)), seen.document[mine])))
            found.append(
                [(each.argmax(axis=0) == np.arange(total.shape[1])).mean() for each in (total, total + visible)]
            )
        drawn, both = map(spread, zip(*found, strict=True))
        yield f"{level}: {drawn} % of {len(chosen)} are named by who has a paraphrase, {both} % with visible words"


def _count_kept_words(reading: ReadElements, words: int) -> Any:
    """Return the number of occurrences of each kept word in each text, as a sparse matrix ``(texts, words)``."""
    at = np.flatnonzero(reading.role == KEPT)
    return sparse.csr_matrix((np.ones(len(at)), (reading.document[at], reading.word[at])), (reading.documents, words))


def spans(releases: Releases, data: Path, draws: int) -> Iterator[str]:
    """Yield lines with the share of spans (marked names) that have an unchanged word, by type of span."""
    called = {"person": "PERSON", "location": "GPE", "corporation": "ORGANIZATION"}
    for name, path in (("made-up", corpora.FILES["personal"][0]), ("posts", "wnut17/dev.jsonl")):
        records = corpora.personal(data / path)
        for record in records:
            record["spans"] = [span | {"type": called.get(span["type"], span["type"])} for span in record["spans"]]
        lower = [
            record | {"text": text} for record in records if len(text := record["text"].lower()) == len(record["text"])
        ]
        for written, of in (("as they are", records), ("in lower case", lower)):
            vocabulary = frozenset(releases.staircase.bundle.symbol_ids)
            found = personal.measure(find_words_release(releases, "10"), of, releases.function_words, vocabulary, draws)
            told = (f"{kind} {100 * sums['any'] / sums['spans']:.1f}" for kind, sums in sorted(found.items()))
            yield f"{name}, {written}, any word of a span out at 10, %: {', '.join(told)}"


def server(releases: Releases, data: Path, draws: int) -> Iterator[str]:
    """Yield scores of a classifier that reads names and numbers as their types, with and without mean vectors."""
    table = {word: np.array(numbers, np.float32) for word, numbers in read_vectors(VECTORS)}
    for name, law, level in product(("ag", "trec", "sst2-whole", "sick"), ("shipped", "krr-kinds"), LEVELS[1::-1]):
        parts = corpora.load(data, name, quick=False)
        release, rows = find_release(releases, f"{law}-{level}"), []
        readings = {part: release.read(texts_.cut) for part, texts_ in parts.items()}
        for _ in range(draws):
            outputs = {part: release.draw(reading) for part, reading in readings.items()}
            known = np.array([table.get(word, np.zeros(WIDTH)) for word in release.words.spellings])
            kinds = {
                part: np.where(reading.role == SURROGATE, len(known) + reading.index, outputs[part])
                for part, reading in readings.items()
            }
            means = {part: _means(readings[part], outputs[part], known) for part in parts}
            rows.append([])
            for words, more in product((outputs, kinds), (False, True)):
                if name == "sick":  # a pair of sentences, not a text
                    args = [(readings[part], words[part], parts[part].labels) for part in ("train", "test")]
                    rows[-1].append(pearson(*args[0], *args[1]))
                    continue
                tfidf = TfIdf.of(readings["train"], words["train"])
                x = {part: tfidf(readings[part], words[part]) for part in parts}
                if more:
                    x = {part: sparse.hstack([x[part], means[part]]).tocsr() for part in parts}
                model = LinearSVC(C=STRENGTH).fit(x["train"], parts["train"].labels)
                rows[-1].append(np.mean(model.predict(x["test"]) == parts["test"].labels))
        both = np.array(rows).T
        gains = (f"{how} {spread(got)}, gain {spread(got - both[0])}" for how, got in zip(READ, both[1:], strict=True))
        yield f"{name}, {law}-{level}: {spread(both[0])} as it is; {'; '.join(gains)}"


def _means(reading: ReadElements, outputs: Array, known: Array) -> Any:
    """Return the mean vector of the words of each output text, scaled to length 1."""
    words = np.flatnonzero(reading.role != MARK)
    member = sparse.csr_matrix(
        (np.ones(len(words)), (reading.document[words], outputs[words])), shape=(reading.documents, len(known))
    )
    mean = member @ (known - known[known.any(axis=1)].mean(axis=0) * known.any(axis=1, keepdims=True))
    return sparse.csr_matrix(mean / np.maximum(np.linalg.norm(mean, axis=1, keepdims=True), _TINY))


CLAIMS: dict[str, Callable[[Releases, Path, int], Iterator[str]]] = {
    "kept": measure_kept_words, "articles": articles, "texts": texts, "paraphrases": paraphrases, "spans": spans,
    "server": server,
}  # fmt: skip


def main() -> None:
    """Print the lines of a claim."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("claims", nargs="+", choices=CLAIMS)
    parser.add_argument("--data", type=Path, default=ROOT / "data", help="folder of the data")
    parser.add_argument("--draws", type=int, default=5)
    a = parser.parse_args()
    releases = Releases(None, None)
    for claim in a.claims:
        for line in CLAIMS[claim](releases, a.data, a.draws):
            print(f"{claim}: {line}", flush=True)


if __name__ == "__main__":
    main()
