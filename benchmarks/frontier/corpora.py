"""Load labeled texts, split into tokens, and hold out a part of train for development."""

import csv
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from names.utility import maximal
from numpy.typing import NDArray
from textveil.text import split_text
from textveil_training.attacks.words import choose_held_out_rows, find_near_texts

#: Files below the data folder that each part of the benchmark reads.
FILES = {
    "sst2": ("sst2/train.tsv", "sst2/dev.tsv"),
    "sst2-whole": ("sst2/train.tsv", "sst2/dev.tsv"),
    "trec": ("trec/train.txt", "trec/test.txt"),
    "ag": ("ag_news/train.tsv", "ag_news/test.tsv"),
    "sick": ("sick/SICK_train.txt", "sick/SICK_test_annotated.txt"),
    "wikitext": ("wikitext2/valid.txt", "wikitext2/test.txt"),
    "personal": ("pii/records.jsonl",),
}
_NOT, _CLITIC = re.compile(r"(?<=[a-z])n't\b"), re.compile(r"(?<=[a-z])('s|'re|'ve|'ll|'d|'m)\b")
#: Invented sentences, which every row releases once.
SAMPLES = (
    "Hi, I'm Maria Lopez and my card was charged twice on Monday.",
    "The nurse said my blood pressure is too high and I should rest.",
    "Please send the signed contract to our office in Denver before 5 March.",
    "My brother lost his job at Microsoft and can't pay the rent.",
    "We loved the small hotel, but the food was not good at all.",
)
#: Rows of train on which ``--quick`` trains, and rows on which it measures.
QUICK_TRAIN, QUICK_TEST = 12_000, 1_000


@dataclass(frozen=True)
class Part:
    """Texts with their labels.

    Attributes:
        cut: Tokens and gaps of each text. In SICK the two sentences of a pair are adjacent texts.
        labels: Class of each text, or score of each pair.
    """

    cut: list[list[str]]
    labels: NDArray[Any]


def find_missing_files(data: Path, name: str) -> list[str]:
    """Return the missing files of a corpus."""
    return [path for path in FILES[name] if not (data / path).is_file()]


def load(data: Path, name: str, *, quick: bool) -> dict[str, Part]:
    """Read train and test of a corpus; with ``quick``, take both of them from train.

    The train file of SST-2 also has phrases of its sentences. The name ``sst2-whole`` excludes rows that are part of
    another row.
    """
    readers = {"sst2": _sst2, "sst2-whole": _sst2, "trec": _trec, "ag": _ag, "sick": _sick}
    first, second = FILES[name]
    train = readers[name](data / first)
    if name == "sst2-whole":
        rows = maximal(["".join(cut) for cut in train.cut])
        train = Part([train.cut[row] for row in rows], train.labels[rows])
    if quick:
        kept, held_out = _inside(train, name)
        return {"train": kept, "test": held_out}
    return {"train": train, "test": readers[name](data / second)}


def _inside(train: Part, name: str) -> tuple[Part, Part]:
    step = 2 if name == "sick" else 1
    held_out = choose_held_out_rows(train.cut[::step], QUICK_TEST)
    texts = train.cut
    chosen = np.zeros(len(train.labels), dtype=bool)
    chosen[held_out] = True
    free = ~chosen & ~find_near_texts(texts, [texts[row] for row in held_out]) if name.startswith("sst2") else ~chosen
    rest = np.flatnonzero(free)[:QUICK_TRAIN]

    def part(rows: NDArray[Any]) -> Part:
        return Part([texts[row * step + n] for row in rows.tolist() for n in range(step)], train.labels[rows])

    return part(rest), part(held_out)


def _sst2(path: Path) -> Part:
    rows = [line.split("\t") for line in path.read_text("utf-8").strip().split("\n")[1:]]
    return Part([split_text(text.strip()) for text, _ in rows], np.array([int(label) for _, label in rows]))


def _trec(path: Path) -> Part:
    rows = [line.split(" ", 1) for line in path.read_text("latin-1").strip().split("\n")]
    return Part([split_text(text) for _, text in rows], np.array([int(label) for label, _ in rows]))


def _ag(path: Path) -> Part:
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    names = sorted({row[-1] for row in rows})
    labels = np.array([names.index(row[-1]) for row in rows])
    return Part([split_text("\t".join(row[:-1])) for row in rows], labels)


def _sick(path: Path) -> Part:
    with path.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))
    texts = [split_text(row[name]) for row in rows for name in ("sentence_A", "sentence_B")]
    return Part(texts, np.array([float(row["relatedness_score"]) for row in rows]))


def articles(path: Path) -> list[list[list[str]]]:
    """Read a WikiText file: the tokens and gaps of each paragraph of each article."""
    found: list[list[list[str]]] = []
    for line in path.read_text("utf-8").splitlines():
        text = line.strip().replace(" @-@ ", "-").replace(" @,@ ", ",").replace(" @.@ ", ".").replace("<unk>", "")
        if text.startswith("= ") and not text.startswith("= ="):
            found.append([])
        elif text and not text.startswith("=") and found:
            found[-1].append(split_text(text))
    return found


def prior(data: Path) -> list[list[str]]:
    """Read further texts of an attacker, public film reviews; the result is empty if there are none.

    The files are ``reviews/*.txt``, with one review per line.
    """
    files = sorted((data / "reviews").glob("*.txt"))
    return [split_text(as_in_sst2(line)) for path in files for line in path.open(encoding="utf-8")]


def as_in_sst2(text: str) -> str:
    """Write a text as in SST-2: in lower case, with separate clitics, and names in place of brackets."""
    text = _NOT.sub(r" n't", text.replace("\u2019", "'").lower())
    text = _CLITIC.sub(r" \1", text).replace("(", " -lrb- ").replace(")", " -rrb- ")
    return " ".join(text.split())


def personal(path: Path) -> list[dict[str, Any]]:
    """Read sentences with marked personal data, from JSON lines."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]
