"""Compare the probabilities of SanText with the authors' code, for all words of SST-2 that have GloVe vectors.

    git clone https://github.com/xiangyue9607/SanText
    python benchmarks/santext/against_authors.py --santext SanText --vectors glove.6B.50d.txt --sst2 dev.tsv

Only the function ``cal_probability`` of the clone's ``SanText.py`` is executed, so the packages that the clone needs
are not required. The words are all words of the ``--sst2`` file that have a vector. ``textveil`` computes the
distribution of outputs for each word from a bundle, which this script builds with ``textveil-export table --epsilon``.
The result is the mean and the largest total variation between the two distributions over all words, and the largest
difference of a probability.
"""

import argparse
import ast
import json
import sys
import tempfile
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parents[2]
EPSILONS = ("1", "2", "3", "4")


def load_published_function(clone: Path) -> Any:
    """Return the function ``cal_probability`` of the authors' repository."""
    from scipy.special import softmax
    from sklearn.metrics.pairwise import euclidean_distances

    source = clone / "SanText.py"
    try:
        tree = ast.parse(source.read_text(encoding="utf-8"))
    except OSError:
        raise SystemExit(f"{source} is missing: clone https://github.com/xiangyue9607/SanText first") from None
    functions: list[ast.stmt] = [
        node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "cal_probability"
    ]
    if len(functions) != 1:
        raise SystemExit(f"{source} has no function cal_probability")
    names: dict[str, Any] = {"softmax": softmax, "euclidean_distances": euclidean_distances}
    exec(compile(ast.Module(functions, []), str(source), "exec"), names)
    return names["cal_probability"]


def read_words(path: Path) -> list[str]:
    """Return the distinct words of SST-2's sentences, most frequent first."""
    from collections import Counter

    lines = path.read_text(encoding="utf-8").splitlines()
    if not lines or lines[0].split("\t") != ["sentence", "label"]:
        raise SystemExit(f"{path.name}: the header must be sentence<TAB>label, as in GLUE's SST-2")
    return [word for word, _ in Counter(" ".join(line.split("\t")[0] for line in lines[1:]).split()).most_common()]


def build_bundle(words: list[str], vectors: NDArray[np.float32], share: float, folder: Path) -> Any:
    """Return a sanitizer whose bundle has SanText and SanText+ for the given words at the paper's epsilons."""
    from textveil import Sanitizer
    from textveil_export.text import TextBundleRecipe, WordPolicy, WordVectors, build_text_bundle, write_bundle

    policy = WordPolicy(share=share, sensitive=frozenset(), allow=frozenset(), never_output=frozenset())
    recipe = TextBundleRecipe(name="comparison", policy=policy, vector_epsilons=tuple(map(Decimal, EPSILONS)))
    source = WordVectors(words=words, vectors=vectors, provenance={"vectors": "GloVe 6B, 50 dimensions"})
    return Sanitizer.load(write_bundle(build_text_bundle(source, recipe), folder).path)


def compute_probabilities(sanitizer: Any, mechanism: str, level: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the probability of each output word for each input word, and a mask of the words that can be outputs."""
    from textveil.mechanisms.baselines import SanText

    bundle = sanitizer.bundle
    parameters = bundle.santext_levels[level].parameters[mechanism]
    randomizer = SanText.from_table(bundle.table, bundle.metric, mechanism, parameters).randomizer
    rows = randomizer.compute_rows(np.arange(bundle.symbol_count))
    return rows[:, randomizer.output_ids], randomizer.output_ids


def main() -> None:
    """Print one record for each epsilon and mechanism."""
    parser = argparse.ArgumentParser(description="Compare SanText with its authors' code.")
    parser.add_argument("--santext", type=Path, required=True, help="clone of xiangyue9607/SanText")
    parser.add_argument("--vectors", type=Path, required=True, help="GloVe text file")
    parser.add_argument("--sst2", type=Path, required=True, help="dev.tsv or train.tsv of GLUE's SST-2")
    parser.add_argument("-o", "--output", type=Path)
    options = parser.parse_args()
    published = load_published_function(options.santext)
    from textveil_export.text import read_vectors

    found = read_vectors(options.vectors, 400_000)
    position = {word: number for number, word in enumerate(found.words)}
    words = [word for word in read_words(options.sst2) if word in position]
    if len(words) < 2:
        raise SystemExit(f"{options.sst2.name} and {options.vectors.name} have fewer than two common words")
    vectors = found.vectors[[position[word] for word in words]]
    records = []
    with tempfile.TemporaryDirectory() as folder:
        for mechanism, share in (("santext", 1.0), ("santext+", 0.9)):
            sanitizer = build_bundle(words, vectors, share, Path(folder) / mechanism)
            order = [words.index(word) for word in sanitizer.bundle.vocabulary]  # near-duplicates are one word
            rows = vectors[order].astype(np.float64)
            for level, epsilon in enumerate(EPSILONS):
                ours, outputs = compute_probabilities(sanitizer, mechanism, level)
                theirs = published(rows, rows[outputs], epsilon=float(epsilon))
                variation = np.abs(ours - theirs).sum(axis=1) / 2
                record = {
                    "mechanism": mechanism,
                    "epsilon": epsilon,
                    "words": len(order),
                    "outputs": len(outputs),
                    "median_distance": sanitizer.bundle.median_distance,
                    "total_variation_mean": float(variation.mean()),
                    "total_variation_largest": float(variation.max()),
                    "largest_difference": float(np.abs(ours - theirs).max()),
                }
                records.append(json.dumps(record))
                print(records[-1], flush=True)
    if options.output is not None:
        options.output.write_text("\n".join(records) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
