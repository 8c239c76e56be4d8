"""Measure how often outputs are misleading: an opposite replaces a word, or an alarming word appears.

The script computes probabilities of opposites from the integers of the bundle, and counts alarming words in samples.

    python benchmarks/misleading.py --data DATA [--bundle BUNDLE] [--opposites FILE ...] [--alarming FILE ...]

Files of opposites have two words per line, or words, a tab and the opposites of all of them. Files of alarming words
have one word per line. The script adds no inflected forms, so the files must contain them. It always measures the lists
from which the built-in bundle was built. Other lists show gaps in these lists. A text is harmless if it has no word of
the list of alarming words. The script prints shares of train and test texts in percent, one line per corpus, epsilon
and list; for opposites also the shares that are due to neighbors alone (without the base weights), and those without
the longest line of a list (good and bad words).
"""

import argparse
import sys
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "benchmarks"))

from frontier import corpora
from textveil import Sanitizer
from textveil_training.attacks.words import RANDOMIZED, ReadElements, WordIds, WordRelease, make_word_release

WORDS = ROOT / "artifacts" / "words"
OPPOSITES, ALARMING = WORDS / "english-3-opposites.txt", WORDS / "alarming.txt"
LEVELS = ("10", "8")
CORPORA = ("ag", "sick", "trec", "sst2")


def read_lines(path: Path) -> list[str]:
    """Read the entries of a list, without comments."""
    return [line for line in path.read_text("utf-8").splitlines() if line and not line.startswith("# ")]


def pairs(path: Path, *, without_longest: bool = False) -> set[tuple[str, str]]:
    """Read pairs of opposites, in both orders."""
    lines = [line.split("\t") if "\t" in line else line.split() for line in read_lines(path)]
    sides = sorted(([side.split() for side in line] for line in lines), key=lambda two: len(two[0]) * len(two[1]))
    listed = sides[: len(sides) - without_longest]
    return {
        pair for one, other in listed for pair in (*product(one, other), *product(other, one)) if len(set(pair)) > 1
    }


def opposites(
    plan: Any, release: WordRelease, listed: set[tuple[str, str]], reading: ReadElements
) -> tuple[float, float]:
    """Return the mean probability that a text has a word replaced by an opposite: in total, and by neighbors alone."""
    ids, symbol = release.words.ids, {word: number for number, word in enumerate(release.printed.tolist())}
    of: dict[int, list[int]] = {}
    for one, other in listed:
        if one in ids and ids.get(other) in symbol:
            of.setdefault(ids[one], []).append(symbol[ids[other]])
    drawn = np.flatnonzero(reading.role == RANDOMIZED)
    keys = np.stack([reading.word[drawn], reading.index[drawn], reading.lower[drawn]])
    distinct, at = np.unique(keys, axis=1, return_inverse=True)
    chance = np.zeros((2, distinct.shape[1]))
    for number, (word, index, lower) in enumerate(distinct.T.tolist()):
        if word in of:
            channel, one = plan.mechanism.get_randomizer(lower=bool(lower)), np.array([index])
            (stored,), (budget,) = channel.staircase.distribute_budget(one)
            row = channel.compute_rows(one)[0][of[word]]
            chance[:, number] = row.sum(), row[np.isin(of[word], stored[budget > 0])].sum()
    none = [np.exp(np.bincount(reading.document[drawn], np.log1p(-each[at.ravel()]))) for each in chance]
    every, near = (float((1 - of_texts).sum() / reading.documents) for of_texts in none)
    return every, near


def alarms(words: WordIds, listed: set[str], reading: ReadElements, outputs: NDArray[Any]) -> float:
    """Return the share of harmless texts with an alarming word in their output."""
    known = [words.get_id(word) for word in listed]
    drawn = reading.role == RANDOMIZED
    had = np.unique(reading.document[np.isin(reading.word, known)])
    has = np.unique(reading.document[drawn][np.isin(outputs[drawn], known)])
    return len(np.setdiff1d(has, had)) / (reading.documents - len(had))


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--data", type=Path, default=ROOT / "data", help="folder of the data")
    parser.add_argument("--bundle", type=Path, help="bundle with a staircase; default: the built-in bundle")
    parser.add_argument("--opposites", type=Path, nargs="*", default=[], help="additional lists of opposites")
    parser.add_argument("--alarming", type=Path, nargs="*", default=[], help="additional lists of alarming words")
    parser.add_argument("--draws", type=int, default=2)
    a = parser.parse_args()
    sanitizer, words = Sanitizer.load(a.bundle), WordIds()
    lists = {path.name: pairs(path) for path in (OPPOSITES, *a.opposites)}
    lists[f"{OPPOSITES.name} without its longest line"] = pairs(OPPOSITES, without_longest=True)
    alarming = {path.name: set(read_lines(path)) for path in (ALARMING, *a.alarming)}
    for corpus, epsilon in product(CORPORA, LEVELS):
        parts = corpora.load(a.data, corpus, quick=False)
        plan: Any = sanitizer._get_plan({"mechanism": "staircase", "epsilon": epsilon, "protect": "words"})
        release = make_word_release(words, plan)
        reading = release.read([text for part in parts.values() for text in part.cut])
        drawn = [release.draw(reading) for _ in range(a.draws)]
        for name, listed in lists.items():
            every, near = (f"{100 * share:6.2f} %" for share in opposites(plan, release, listed, reading))
            print(f"{corpus:6}{epsilon:>4}  {every}  opposites, {name}, by neighbors alone {near}", flush=True)
        for name, alarms_ in alarming.items():
            share = np.mean([alarms(words, alarms_, reading, outputs) for outputs in drawn])
            print(f"{corpus:6}{epsilon:>4}  {100 * share:6.2f} %  alarms, {name}", flush=True)


if __name__ == "__main__":
    main()
