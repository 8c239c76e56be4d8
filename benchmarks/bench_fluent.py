"""What a base that follows the text changes: how it reads, what a server learns, what an attacker does, how fast it is.

    python benchmarks/bench_fluent.py BUNDLE --data DIR

Everything is trained and measured on parts of the train texts; no test set is read. Perplexity is that of a bigram
model of the corpus's own raw texts, over all pairs of neighbors with a drawn word and without a member of a kind.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import argparse
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "benchmarks" / "frontier"))

import attacks
import classify
import corpora
from candidates import Considered
from chain import Bigrams, posterior
from fluent import FluentRelease, of_fluent
from inversion import Inversion
from release import DRAWN, KIND, Reading, Release, Words, of_plan
from textveil import Sanitizer

CORPORA = ("ag", "trec", "sst2")
_DISCOUNT = 0.75
_TIMES = 3


def perplexity(model: Bigrams, reading: Reading, outputs: Any) -> float:
    """Returns the perplexity of neighbors of which one is drawn at least, and none a member of a kind."""
    drawn, kind = reading.role == DRAWN, reading.role == KIND
    pairs = (reading.document[1:] == reading.document[:-1]) & (drawn[1:] | drawn[:-1]) & ~(kind[1:] | kind[:-1])
    first, second = outputs[:-1][pairs], outputs[1:][pairs]
    given = [float(model.between(np.array([a]), np.array([b]))[0, 0]) for a, b in zip(first, second, strict=True)]
    return float(np.exp(-np.log(given).mean()))


def learned_attack(release: Release, known: attacks.Known, read: dict[str, Reading], asked: attacks.Asked) -> float:
    """Returns the share of known content words that the learned inversion names."""
    counted, weighed = read["train"].part(known.count), read["train"].part(known.tune)
    considered, bigrams = Considered(release, counted), Bigrams(counted, len(release.words.spelled))
    inversion = Inversion(counted, release.draw)

    def prepared(of: Reading) -> Any:
        outputs = release.draw(of)
        found = considered.of(of, outputs)
        if isinstance(release, FluentRelease):
            found = release.in_context(of, outputs, found)
        return outputs, found, posterior(bigrams, of, found)

    inversion.learn(weighed, *prepared(weighed))
    outputs, found, chained = prepared(read["test"])
    named = read["test"].word.copy()
    scores = inversion.scores(read["test"], outputs, found, chained)
    named[found.places] = found.words[np.arange(len(scores)), scores.argmax(axis=1)]
    return asked.shares(read["test"], named)["known"]


def words_per_second(sanitizer: Sanitizer, texts: list[str], **options: Any) -> float:
    """Returns words per second of processor time, from text to text, best of a few runs."""
    times = []
    for _ in range(_TIMES):
        start = time.process_time()
        sanitizer.sanitize_batch(texts, **options)
        times.append(time.process_time() - start)
    return sum(len(text.split()) for text in texts) / min(times)


def main() -> None:
    """Parses the command line and prints a table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("bundle", type=Path, help="a bundle with a table of contexts")
    parser.add_argument("--data", type=Path, default=ROOT / "data", help="folder of the data")
    parser.add_argument("--draws", type=int, default=3, help="draws for accuracy and perplexity")
    parser.add_argument("--speed", action="store_true", help="words per second alone")
    a = parser.parse_args()
    sanitizer, words = Sanitizer.load(a.bundle), Words()
    parts = {name: corpora.load(a.data, name, quick=True) for name in CORPORA}
    if a.speed:
        for name in CORPORA:
            texts = ["".join(cut) for cut in parts[name]["train"].cut]
            speeds = [words_per_second(sanitizer, texts, fluent=fluent) for fluent in (False, True)]
            print(f"{name}: {speeds[0]:,.0f} words/s, fluent {speeds[1]:,.0f}", flush=True)
        return
    plain = of_plan(words, sanitizer._plan({}))  # type: ignore[arg-type]
    read = {name: {which: plain.read(part.cut) for which, part in of.items()} for name, of in parts.items()}
    known = attacks.Known(parts["sst2"]["train"])
    function_words = frozenset(sanitizer._plan({}).rule.function_words)
    asked = {n: attacks.Asked(of["test"].cut, function_words, sanitizer.bundle.ids) for n, of in parts.items()}
    print("row, level: accuracy | unchanged | perplexity of ag; trec; sst2; known words that the attack on sst2 names")
    for epsilon in ("8", "10"):
        for fluent in (False, True):
            plan = sanitizer._plan({"epsilon": epsilon, "fluent": fluent})
            release = of_fluent(words, plan) if fluent else of_plan(words, plan)  # type: ignore[arg-type]
            cells = []
            for name in CORPORA:
                found = []
                for _ in range(a.draws):
                    train, test = (release.draw(read[name][which]) for which in ("train", "test"))
                    gold = [parts[name][which].labels for which in ("train", "test")]
                    score = classify.accuracy(read[name]["train"], train, gold[0], read[name]["test"], test, gold[1])
                    same = asked[name].shares(read[name]["test"], test)["known"]
                    model = Bigrams(read[name]["train"], len(words.spelled))
                    found.append((100 * score, 100 * same, perplexity(model, read[name]["test"], test)))
                cells.append(" | ".join(f"{value:,.1f}" for value in np.mean(found, axis=0)))
            attack = 100 * learned_attack(release, known, read["sst2"], asked["sst2"])
            print("fluent" if fluent else "plain", f"{epsilon}: {'; '.join(cells)}; {attack:.1f}", flush=True)


if __name__ == "__main__":
    main()
