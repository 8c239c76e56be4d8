"""How often what comes out misleads: texts in which a listed opposite stands in a word's place, or a word alarms.

    python benchmarks/misleading.py --data DATA [--bundle BUNDLE] [--opposites FILE ...] [--alarming FILE ...]

Files of opposites have two words a line, or words, a tab and words that are opposites of all of them; files of alarming
words one a line. Forms are not added: list them. The lists that the built-in bundle was made with are always measured;
others show what these lack. A text is harmless if it has no word of the list of alarming words.
Prints the shares of train and test texts in per cent, one line per corpus, level and list.
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
from textveil_training.attacks.words import DRAWN, Reading, Words, of_plan

WORDS = ROOT / "artifacts" / "words"
OPPOSITES, ALARMING = WORDS / "english-3-opposites.txt", WORDS / "alarming.txt"
LEVELS = ("10", "8")
CORPORA = ("ag", "sick", "trec", "sst2")


def read_lines(path: Path) -> list[str]:
    """Reads the entries of a list, without comments."""
    return [line for line in path.read_text("utf-8").splitlines() if line and not line.startswith("# ")]


def pairs(path: Path) -> set[tuple[str, str]]:
    """Reads pairs of opposites, in both orders."""
    found: set[tuple[str, str]] = set()
    for line in read_lines(path):
        one, other = (side.split() for side in line.split("\t")) if "\t" in line else ([word] for word in line.split())
        found.update(product(one, other), product(other, one))
    return {(one, other) for one, other in found if one != other}


def opposites(words: Words, listed: set[tuple[str, str]], reading: Reading, outputs: NDArray[Any]) -> float:
    """Returns the share of texts in which an opposite stands in a word's place."""
    known = [words.id(one) << 32 | words.id(other) for one, other in listed]
    drawn = reading.role == DRAWN
    wrong = np.isin(reading.word[drawn].astype(np.int64) << 32 | outputs[drawn], known)
    return len(np.unique(reading.document[drawn][wrong])) / reading.documents


def alarms(words: Words, listed: set[str], reading: Reading, outputs: NDArray[Any]) -> float:
    """Returns the share of harmless texts with an alarming word in what comes out."""
    known = [words.id(word) for word in listed]
    drawn = reading.role == DRAWN
    had = np.unique(reading.document[np.isin(reading.word, known)])
    has = np.unique(reading.document[drawn][np.isin(outputs[drawn], known)])
    return len(np.setdiff1d(has, had)) / (reading.documents - len(had))


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--data", type=Path, default=ROOT / "data", help="folder of the data")
    parser.add_argument("--bundle", type=Path, help="a bundle with a staircase; the built-in one if left out")
    parser.add_argument("--opposites", type=Path, nargs="*", default=[], help="more lists of opposites")
    parser.add_argument("--alarming", type=Path, nargs="*", default=[], help="more lists of alarming words")
    parser.add_argument("--draws", type=int, default=2)
    a = parser.parse_args()
    sanitizer, words = Sanitizer.load(a.bundle), Words()
    measures: dict[str, Any] = {f"opposites, {p.name}": (opposites, pairs(p)) for p in (OPPOSITES, *a.opposites)}
    measures |= {f"alarming, {p.name}": (alarms, set(read_lines(p))) for p in (ALARMING, *a.alarming)}
    for corpus, epsilon in product(CORPORA, LEVELS):
        parts = corpora.load(a.data, corpus, quick=False)
        plan: Any = sanitizer._plan({"mechanism": "staircase", "epsilon": epsilon, "protect": "words"})
        release = of_plan(words, plan)
        reading = release.read([text for part in parts.values() for text in part.cut])
        drawn = [release.draw(reading) for _ in range(a.draws)]
        for name, (measure, listed) in measures.items():
            share = np.mean([measure(words, listed, reading, outputs) for outputs in drawn])
            print(f"{corpus:6}{epsilon:>4}  {100 * share:6.2f} %  {name}", flush=True)


if __name__ == "__main__":
    main()
