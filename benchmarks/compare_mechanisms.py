"""What certified calibration buys: mechanisms at equal certified epsilon, and at equal pure LDP level.

    python benchmarks/compare_mechanisms.py BUNDLE --sst2 FOLDER -o benchmarks/results/compare_english.jsonl

For every mechanism one record is written as soon as it is measured; a second run goes on where the first one stopped.
All are SanText's (every word drawn, mechanism ``santext``) on the same vocabulary and metric:

* textbook: the full mechanism, its epsilon by SanText's own analysis (alpha = epsilon / 2; pure LDP: 2 alpha times the
  diameter);
* full, q = 1: the full mechanism, exponent calibrated on the finished integers;
* full: the same with the base measure flattened (``--flatten-to``);
* k-RR: k-ary randomized response; its metric epsilon is its pure LDP level over the smallest distance.
"""

import argparse
import json
import math
from collections.abc import Iterator, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import torch
from textveil.bundle import TextBundle, open_bundle
from textveil.mechanisms import Integers, random_uint64
from textveil.mechanisms.baselines import SANTEXT_OUTPUT, RandomizedResponse, SanText
from textveil.text import is_gap, make_plan, segments
from textveil_export.certify import AllScores, pure_ldp_levels
from textveil_export.progress import no_progress
from textveil_export.text import Setting, by_certified_epsilon, flat_base, in_steps, level_parameters
from textveil_training.data import load

CERTIFIED, PURE = "certified", "pure LDP"
TRAINING_SENTENCES = 20_000
NAMES = ("textbook", "full, q = 1", "full", "k-RR")
_PURE_TOLERANCE = 0.02
AnyMechanism = SanText | RandomizedResponse


class Comparison:
    """One vocabulary: its table, the classifier's data, and the measurements of a mechanism."""

    def __init__(self, bundle: TextBundle, sst2: Path, flatten_to: float) -> None:
        self.flatten_to = flatten_to
        self.bundle, self.metric = bundle, bundle.metric
        self.every = AllScores.of(self.metric)
        self.outputs = np.flatnonzero(bundle.table.roles & SANTEXT_OUTPUT)
        ranks = np.arange(len(self.every.scores)) + 2.7
        self.prior = (1 / ranks) / (1 / ranks).sum()  # Zipf-Mandelbrot over the ranks, <unk> last
        rows = self.metric.rows.astype(np.float32)
        self.unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        self.sets = {name: self._sentences(sst2, name) for name in ("train", "dev")}

    def _sentences(self, folder: Path, name: str) -> tuple[list[Integers], np.ndarray]:
        plan = make_plan(self.bundle, mechanism="random")
        sentences, labels = [], []
        for example in load("sst2", folder, name):
            words = [segment for segment in segments(example.text) if not is_gap(segment)]
            pieces = [piece for word in words for piece in plan.rule.tokens(word, starts_sentence=False)]
            tokens = [plan.symbol(token) for _, token in pieces]
            sentences.append(np.array(tokens, dtype=np.int64))
            labels.append(int(example.label))
            if name == "train" and len(labels) == TRAINING_SENTENCES:
                break
        return sentences, np.array(labels)

    def measure(self, mechanism: AnyMechanism | None) -> dict[str, float]:
        """Unchanged share, Bayes recovery, mean cosine, SST-2 accuracy; of unsanitized text for ``None``."""
        record: dict[str, float] = {"sst2": self.accuracy(mechanism)}
        if mechanism is not None:
            record |= self.distributions(mechanism)
        return record

    def distributions(self, mechanism: AnyMechanism) -> dict[str, float]:
        """Statistics of the whole matrix of probabilities, a block of rows at a time."""

        def of_block(block: Any) -> tuple[np.ndarray, np.ndarray, float]:
            p = self._probabilities(mechanism, block)
            inside = np.isin(block, self.outputs)
            cosine = float(self.prior[block] @ (p * (self.unit[block] @ self.unit[:-1].T)).sum(axis=1))
            return (p * self.prior[block][:, None]).max(axis=0), p[inside, block[inside]], cosine

        found = self.every.each("", of_block, no_progress)
        best = np.max([largest for largest, _, _ in found], axis=0)
        unchanged, cosine = [share for _, share, _ in found], sum(value for _, _, value in found)
        shares = np.concatenate(unchanged)
        return {
            "unchanged_median": float(np.median(shares)),
            "unchanged_mean": float(shares.mean()),
            "rarely_unchanged": float((shares < 0.01).mean()),
            "bayes": float(best.sum()),
            "cosine": cosine,
        }

    def _probabilities(self, mechanism: AnyMechanism, block: Any) -> np.ndarray:
        channel = mechanism.channel_on(self.every) if isinstance(mechanism, SanText) else mechanism.channel
        return channel.rows(block)

    def accuracy(self, mechanism: AnyMechanism | None) -> float:
        """SST-2 dev accuracy of a logistic regression on mean word vectors, trained and tested on sanitized text."""
        features, labels = {}, {}
        for name, (sentences, gold) in self.sets.items():
            inputs = np.concatenate(sentences)
            outputs = inputs if mechanism is None else mechanism.draw(inputs, random_uint64)
            lengths = np.array([len(sentence) for sentence in sentences])
            vectors = np.zeros((len(sentences), self.unit.shape[1]), dtype=np.float32)
            np.add.at(vectors, np.repeat(np.arange(len(sentences)), lengths), self.unit[outputs])
            features[name] = torch.from_numpy(vectors / np.maximum(lengths, 1).astype(np.float32)[:, None])
            labels[name] = torch.from_numpy(gold).float()
        center, scale = features["train"].mean(0), features["train"].std(0) + 1e-6
        features = {name: (value - center) / scale for name, value in features.items()}
        weight = torch.zeros(features["train"].shape[1] + 1, requires_grad=True)
        optimizer = torch.optim.LBFGS([weight], max_iter=60, line_search_fn="strong_wolfe")

        def loss() -> torch.Tensor:
            optimizer.zero_grad()
            logits = features["train"] @ weight[1:] + weight[0]
            value = torch.nn.functional.binary_cross_entropy_with_logits(logits, labels["train"])
            value = value + 1e-3 * (weight[1:] ** 2).sum()
            value.backward()
            return value

        optimizer.step(loss)
        with torch.no_grad():
            guess = (features["dev"] @ weight[1:] + weight[0]) > 0
        return float((guess == labels["dev"].bool()).float().mean())

    # Mechanisms at a target.

    def finished(self, setting: Setting) -> SanText:
        """The integer mechanism of a setting."""
        parameters = level_parameters(self.bundle.table, setting, self.every.largest)
        return SanText.of(self.bundle.table, self.metric, "santext", parameters)

    def pure(self, mechanism: SanText) -> float:
        """The pure LDP level."""
        return pure_ldp_levels([mechanism.channel_on(self.every)])[0][0]

    def at_certified(self, name: str, targets: Sequence[float]) -> list[tuple[AnyMechanism, float]]:
        """A mechanism with each of these certified epsilons, and its exponent."""
        if name == "textbook":
            return [(self.finished(Setting(Decimal(str(target)) / 2)), target / 2) for target in targets]
        if name == "k-RR":
            near = min(int(np.sort(self.every.scores[block], axis=1)[:, 1].min()) for block in self.every.blocks(512))
            epsilons = [Decimal(str(target)) * near / self.metric.grid for target in targets]
            return [(RandomizedResponse.of(self.bundle.table, e), float(e)) for e in epsilons]
        settings = by_certified_epsilon(
            self.bundle.table,
            self.metric,
            {str(target): Decimal(str(target)) for target in targets},
            mechanisms=["santext"],
            flatten_to=self.flatten_to if name == "full" else None,
            every=self.every,
        )
        return [
            (self.finished(setting), float(setting.exponent))
            for setting in (settings[str(target), "santext"] for target in targets)
        ]

    def at_pure(self, name: str, targets: Sequence[float]) -> list[tuple[AnyMechanism, float]]:
        """A mechanism with each of these pure LDP levels, and its exponent."""
        return [self._at_pure(name, target) for target in targets]

    def _at_pure(self, name: str, target: float) -> tuple[AnyMechanism, float]:
        if name == "k-RR":
            return RandomizedResponse.of(self.bundle.table, Decimal(str(target))), target
        if name == "textbook":  # what SanText's analysis gives for any two words: 2 alpha times the diameter
            alpha = Decimal(str(round(target / 2 / (self.every.largest / self.metric.grid), 4)))
            return self.finished(Setting(alpha)), float(alpha)
        alpha, base = target / 1.2, None
        mechanism: Any = None
        for step in range(8):
            if name == "full" and step < 2:
                q = flat_base(self.every, self.outputs, alpha, flatten_to=self.flatten_to)
                base = in_steps(q, self.outputs, self.bundle.symbols, 255 if self.flatten_to == 1 else 1023)
            mechanism = self.finished(Setting(Decimal(str(round(alpha, 4))), base))
            found = self.pure(mechanism)
            if target - _PURE_TOLERANCE <= found <= target:
                break
            alpha *= (target - _PURE_TOLERANCE / 2) / found
        return mechanism, alpha


def run(
    bundle: Path,
    sst2: Path,
    output: Path,
    certified: Sequence[float],
    pure: Sequence[float],
    flatten_to: float = 1.0,
) -> None:
    """Measures everything that the output does not have yet."""
    done = {(r["criterion"], r["target"], r["mechanism"]) for r in records(output)} if output.exists() else set()
    comparison = Comparison(open_bundle(bundle, TextBundle), sst2, flatten_to)
    with output.open("a", encoding="utf-8") as file:

        def write(record: dict[str, Any]) -> None:
            file.write(json.dumps(record) + "\n")
            file.flush()
            print(record, flush=True)

        if ("none", 0, "unsanitized") not in done:
            write({"criterion": "none", "target": 0, "mechanism": "unsanitized", **comparison.measure(None)})
        for criterion, targets in ((CERTIFIED, certified), (PURE, pure)):
            for name in NAMES:
                left = [target for target in targets if (criterion, target, name) not in done]
                at = comparison.at_certified if criterion == CERTIFIED else comparison.at_pure
                for target, (mechanism, parameter) in zip(left, at(name, left) if left else [], strict=True):
                    level = (
                        comparison.pure(mechanism)
                        if not isinstance(mechanism, RandomizedResponse)
                        else _response_level(mechanism)
                    )
                    write(
                        {
                            "criterion": criterion,
                            "target": target,
                            "mechanism": name,
                            "parameter": round(parameter, 4),
                            "pure_ldp": round(level, 3),
                            **comparison.measure(mechanism),
                        }
                    )


def _response_level(mechanism: RandomizedResponse) -> float:
    return math.log((mechanism.tail + mechanism.excess) / mechanism.tail)


def records(path: Path) -> Iterator[dict[str, Any]]:
    """The records of a file."""
    with path.open(encoding="utf-8") as file:
        yield from map(json.loads, file)


def main() -> None:
    """Parses the command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("bundle", type=Path, nargs="?", help="a bundle with SanText")
    parser.add_argument("--sst2", type=Path, help="folder with train.tsv and dev.tsv of SST-2 (GLUE)")
    parser.add_argument("-o", "--output", type=Path, help="records, one JSON object a line")
    parser.add_argument("--certified", type=float, nargs="*", default=[10, 12, 14])
    parser.add_argument("--pure", type=float, nargs="*", default=[10, 12])
    parser.add_argument("--flatten-to", type=float, default=1.0, help="as for textveil-export table")
    arguments = parser.parse_args()
    if not (arguments.bundle and arguments.sst2 and arguments.output):
        parser.error("BUNDLE, --sst2 and --output are needed")
    a = arguments
    run(a.bundle, a.sst2, a.output, a.certified, a.pure, a.flatten_to)


if __name__ == "__main__":
    main()
