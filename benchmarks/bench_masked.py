"""A masked language model as the base of a staircase: how it reads, what a server learns, what an attacker does.

    python benchmarks/bench_masked.py BUNDLE --data DIR

MiniLM learns from WikiText-2 and QNLI which word fits a slot (``frontier/masked.py``), in floating point and for this
measurement alone. Beside it stand the staircase as it is and ``--fluent``, on the same texts. Texts to learn from and
to attack are parts of the train texts; no test set is read. The attack is forward-backward, knows every context, and
the exact probabilities in it.
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
import masked
from bench_fluent import perplexity
from candidates import Considered
from chain import Bigrams, posterior
from fluent import of_fluent
from masked import MaskedRelease, SlotModel
from release import Reading, Release, Words, of_plan
from textveil import Sanitizer
from textveil.text import segments

CORPORA = ("trec", "sst2")
#: Texts that a classifier and the bigrams of the attacker learn from, and those that are measured on.
TRAIN, TEST = 2_000, 500
#: Share of the base that follows the model, and whether what came out before is read too.
BASES = ((0.5, False), (0.9, False), (0.9, True))


def public(data: Path, most: int) -> list[list[str]]:
    """Returns paragraphs of WikiText-2, and questions and sentences of QNLI, in random order."""
    cut = [p for name in corpora.FILES["wikitext"] for article in corpora.articles(data / name) for p in article]
    for line in (data / corpora.FILES["qnli"][0]).read_text("utf-8").splitlines()[1:]:
        cut += [segments(text) for text in line.split("\t")[1:3]]
    order = np.random.default_rng(0).permutation(len(cut))
    return [cut[number] for number in order[:most].tolist()]


def part(of: corpora.Part, count: int) -> corpora.Part:
    """Returns some texts, spread over the part."""
    rows = np.sort(np.random.default_rng(1).permutation(len(of.labels))[:count])
    return corpora.Part([of.cut[row] for row in rows.tolist()], of.labels[rows])


def named(release: Release, counted: Reading, target: Reading, outputs: Any, asked: attacks.Asked) -> float:
    """Returns the share of known content words that forward-backward names."""
    found = release.in_context(target, outputs, Considered(release, counted).of(target, outputs))
    scores = posterior(Bigrams(counted, len(release.words.spelled)), target, found)
    guess = target.word.copy()
    guess[found.places] = found.words[np.arange(len(scores)), scores.argmax(axis=1)]
    return asked.shares(target, guess)["known"]


def main() -> None:
    """Parses the command line, trains and prints a table."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("bundle", type=Path, help="a bundle with a table of contexts")
    parser.add_argument("--data", type=Path, default=ROOT / "data", help="folder of the data")
    parser.add_argument("--texts", type=int, default=3_000, help="public texts to learn from")
    parser.add_argument("--epsilon", default="10", help="level")
    a = parser.parse_args()
    sanitizer, words = Sanitizer.load(a.bundle), Words()
    plans = {fluent: sanitizer._plan({"epsilon": a.epsilon, "fluent": fluent}) for fluent in (False, True)}
    plain: Release = of_plan(words, plans[False])  # type: ignore[arg-type]
    follows = of_fluent(words, plans[True])  # type: ignore[arg-type]
    assert follows.fluent is not None
    law = follows.fluent.strict.plain
    function_words = frozenset(plans[False].rule.function_words)
    parts = {name: corpora.load(a.data, name, quick=True) for name in CORPORA}
    parts = {n: {"train": part(of["train"], TRAIN), "test": part(of["test"], TEST)} for n, of in parts.items()}
    read = {n: {which: follows.read(each.cut) for which, each in of.items()} for n, of in parts.items()}
    texts = follows.read(public(a.data, a.texts))

    symbols = np.flatnonzero(law.base > 0)
    of_symbol = np.full(follows.symbols + 1, -1)
    of_symbol[symbols] = np.arange(len(symbols))
    model = SlotModel(words.spelled, follows.printed[symbols], law.base[symbols])
    start = time.process_time()
    loss = masked.train(model, texts, of_symbol)
    print(f"{len(texts.word):,} words and marks, loss {loss:.2f}, {time.process_time() - start:.0f} s", flush=True)

    rows: dict[str, Release] = {"plain": plain, "fluent": follows}
    shared = vars(plain) | {"plain": law, "model": model}
    for weight, earlier in BASES:
        name = f"masked, {weight}, {'and what came out before' if earlier else 'what is visible'}"
        rows[name] = MaskedRelease(**shared, weight=weight, earlier=earlier)
    print("row: accuracy | unchanged | perplexity | known words named, of trec; sst2; drawn words a second")
    for label, release in rows.items():
        cells, seconds, drawn = [], 0.0, 0
        for name in CORPORA:
            found, gold = read[name], {which: each.labels for which, each in parts[name].items()}
            start = time.process_time()
            outputs = {which: release.draw(reading) for which, reading in found.items()}
            seconds += time.process_time() - start
            drawn += sum(int((reading.role == masked.DRAWN).sum()) for reading in found.values())
            score = classify.accuracy(
                found["train"], outputs["train"], gold["train"], found["test"], outputs["test"], gold["test"]
            )
            asked = attacks.Asked(parts[name]["test"].cut, function_words, sanitizer.bundle.ids)
            same = asked.shares(found["test"], outputs["test"])["known"]
            fits = perplexity(Bigrams(found["train"], len(words.spelled)), found["test"], outputs["test"])
            attack = named(release, found["train"], found["test"], outputs["test"], asked)
            cells.append(f"{100 * score:.1f} | {100 * same:.1f} | {fits:,.0f} | {100 * attack:.1f}")
        print(f"{label}: {'; '.join(cells)}; {drawn / seconds:,.0f}", flush=True)


if __name__ == "__main__":
    main()
