r"""Calibration of FBDD: how often a word stays itself, and how many words it becomes, at each epsilon.

    python benchmarks/calibrate_fbdd.py draw BUNDLE --epsilons 60,120,180

For a sample of words, each drawn 1,000 times (Feyisetan et al. 2020): ``N_w`` is the share of draws that return the
word itself, ``S_w`` the number of distinct outputs. One JSON record per epsilon is appended to a file as soon as it is
finished. How near the *other* outputs are:

    python benchmarks/calibrate_fbdd.py ranks BUNDLE --epsilons 70,120,150

Other dimensions do not need the published GloVe files: vectors in *GloVe's text format* are made from the rows of a
bundle by principal components, and a bundle is built from them:

    python benchmarks/calibrate_fbdd.py vectors BUNDLE pca50.txt --dimension 50
    textveil-export table --vectors pca50.txt --lists none --exponent 10 \
        --name "MiniLM words, PCA to 50 dimensions (GloVe format)" -o pca50

These are the same words and the same encoder with fewer dimensions. They are NOT GloVe vectors, and a figure drawn
from them is not a figure of the paper.
"""

import json
import sys
import time
from decimal import Decimal
from pathlib import Path
from typing import Annotated, Any

from measure import one_core

one_core()

import numpy as np
import typer
from numpy.typing import NDArray
from textveil.bundle import TextBundle, open_bundle
from textveil.mechanisms import random_uint64
from textveil.mechanisms.baselines import Fbdd

app = typer.Typer(add_completion=False, no_args_is_help=True, help="Calibration of FBDD.")
BundleFolder = Annotated[Path, typer.Argument(metavar="BUNDLE", help="Folder of a bundle with embedding rows.")]

_RESULTS = Path(__file__).parent / "results" / "fbdd_calibration.jsonl"
_QUANTILES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)
_DRAWS_AT_ONCE = 20_000


@app.command()
def draw(
    bundle: BundleFolder,
    epsilons: Annotated[str, typer.Option(help="Comma-separated, per unit of scaled distance.")],
    words: Annotated[int, typer.Option(min=1, help="Words, sampled from the possible outputs.")] = 1000,
    draws: Annotated[int, typer.Option(min=1, help="Draws per word.")] = 1000,
    output: Annotated[Path, typer.Option(help="Records are appended here.")] = _RESULTS,
) -> None:
    """Draw, and append one record per epsilon."""
    opened, mechanisms, ids = _sample(bundle, epsilons, words)
    for fbdd in mechanisms:
        start = time.perf_counter()
        unchanged, distinct = calibrate(fbdd, ids, draws)
        record = {
            "bundle": opened.manifest["name"],
            "identity": opened.identity,
            "vectors": opened.manifest["provenance"]["vectors"],
            "dimension": fbdd.outputs.rows.shape[1],
            "outputs": len(fbdd.outputs.ids),
            "epsilon": fbdd.epsilon,
            "words": len(ids),
            "draws": draws,
            "unchanged": _figures(unchanged / draws),
            "distinct": _figures(distinct),
            "seconds": round(time.perf_counter() - start, 1),
        }
        with output.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")
        print(
            f"{record['bundle']}, epsilon {fbdd.epsilon:g}: N mean {record['unchanged']['mean']:.3f}, "
            f"S mean {record['distinct']['mean']:.1f}"
        )


def calibrate(fbdd: Fbdd, ids: NDArray[np.intp], draws: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """How many of the draws return each word unchanged, and how many distinct outputs it has; shapes ``(words,)``."""
    unchanged, distinct = np.empty(len(ids), dtype=np.int64), np.empty(len(ids), dtype=np.int64)
    words_at_once = max(1, _DRAWS_AT_ONCE // draws)
    start = time.perf_counter()
    for first in range(0, len(ids), words_at_once):
        part = slice(first, first + words_at_once)
        drawn = fbdd.draw(np.repeat(ids[part], draws), random_uint64).reshape(-1, draws)
        unchanged[part] = (drawn == ids[part, None]).sum(axis=1)
        distinct[part] = 1 + (np.diff(np.sort(drawn, axis=1), axis=1) != 0).sum(axis=1)
        done = min(first + words_at_once, len(ids))
        left = (time.perf_counter() - start) * (len(ids) - done) / done
        print(
            f"\repsilon {fbdd.epsilon:g}: {done} of {len(ids)} words, {left:,.0f} s left  ",
            end="\n" if done == len(ids) else "",
            file=sys.stderr,
            flush=True,
        )
    return unchanged, distinct


@app.command()
def ranks(
    bundle: BundleFolder,
    epsilons: Annotated[str, typer.Option(help="Comma-separated, per unit of scaled distance.")],
    words: Annotated[int, typer.Option(min=1, help="Words, sampled from the possible outputs.")] = 100,
    draws: Annotated[int, typer.Option(min=1, help="Draws per word.")] = 200,
) -> None:
    """Print how many of the changed outputs are among the nearest words, and how many are far."""
    _, mechanisms, ids = _sample(bundle, epsilons, words)
    outputs = mechanisms[0].outputs.ids
    for fbdd in mechanisms:
        drawn = fbdd.draw(np.repeat(ids, draws), random_uint64).reshape(-1, draws)
        nearer = []  # for every changed output, how many outputs are nearer to the word, the word itself among them
        for (_, (squared,)), own, row in zip(fbdd.metric.squared_to_all(ids, block=1), ids, drawn, strict=True):
            nearer.append(np.searchsorted(np.sort(squared[outputs]), squared[row[row != own]]))
        counted = np.concatenate(nearer)
        print(
            f"epsilon {fbdd.epsilon:g}: unchanged {1 - len(counted) / drawn.size:.1%}; of the others, in the 10 "
            f"nearest {(counted <= 10).mean():.1%}, beyond the 1,000 nearest {(counted > 1000).mean():.1%}"
        )


def _sample(bundle: Path, epsilons: str, words: int) -> tuple[TextBundle, list[Fbdd], NDArray[np.intp]]:
    opened = open_bundle(bundle, TextBundle)
    mechanisms = [Fbdd.of(opened.table, opened.metric, Decimal(epsilon)) for epsilon in epsilons.split(",")]
    # Which words are looked at is fixed; what is drawn for them is not.
    return opened, mechanisms, np.random.default_rng(0).permutation(mechanisms[0].outputs.ids)[:words]


def _figures(values: NDArray[Any]) -> dict[str, Any]:
    quantiles = zip(map(str, _QUANTILES), np.quantile(values, _QUANTILES).tolist(), strict=True)
    return {"mean": float(values.mean()), "quantiles": dict(quantiles)}


@app.command()
def vectors(
    bundle: BundleFolder,
    output: Annotated[Path, typer.Argument(metavar="FILE", help="Text file in GloVe's format.")],
    dimension: Annotated[int, typer.Option(min=1, help="How many principal components.")],
) -> None:
    """Write the words of a bundle in GloVe's text format, their vectors reduced to principal components."""
    opened = open_bundle(bundle, TextBundle)
    rows = opened.metric.rows[:-1].astype(np.float64)
    rows -= rows.mean(axis=0)
    variances, axes = np.linalg.eigh(rows.T @ rows)
    reduced = rows @ axes[:, ::-1][:, :dimension] / 127
    with output.open("w", encoding="utf-8") as file:
        for word, vector in zip(opened.vocabulary, reduced, strict=True):
            file.write(f"{word} {' '.join(f'{number:.5f}' for number in vector)}\n")
    share = variances[::-1][:dimension].sum() / variances.sum()
    print(
        f"{output}: {reduced.shape[1]} principal components of {opened.manifest['name']} ({share:.1%} of the variance) "
        "in GloVe's text format. These are not GloVe vectors."
    )


if __name__ == "__main__":
    app()
