"""Describe FBDD, a mechanism that randomizes words: effect of each epsilon, and sampled outputs of a word."""

import json
from collections.abc import Callable
from typing import Any

import numpy as np
from textveil.bundle import TextBundle
from textveil.mechanisms import random_uint64
from textveil.mechanisms.baselines import (
    Fbdd,
    FbddStatistics,
    choose_output_words,
    count_likely_outputs,
    count_required,
    measure_fbdd,
    measure_neighbor_distances,
)
from textveil.text import Options, Sanitizer, format_epsilon, make_plan

#: Samples of one word in ``textveil inspect``.
WORD_DRAWS = 1000
_QUANTILES = (0.05, 0.5, 0.95)


def calibrate_fbdd(
    bundle: TextBundle,
    mechanisms: list[Fbdd],
    words: int,
    draws: int,
    eta: float,
    progress: Callable[[str, int, int], None] | None = None,
) -> dict[str, Any]:
    """Measure, with samples, how FBDD changes words at several epsilons, and the distances of similar words.

    Args:
        bundle: The bundle.
        mechanisms: One FBDD mechanism for each epsilon.
        words: Number of words to sample.
        draws: Number of samples of each word at each epsilon.
        eta: Share of the samples of a word that ``S_w`` ignores. ``S_w`` is the smallest number of different outputs
            that make up the other samples.
        progress: Called after each epsilon, with a stage, the number of finished epsilons and their total.

    Returns:
        A dictionary for JSON with the settings, the measurements at each epsilon, and the distance of each word to its
        first, second and further neighbors.

    Raises:
        OptionError: A number is out of range.
    """
    chosen = choose_output_words(mechanisms[0], words)
    rows = list[dict[str, Any]]()
    for number, fbdd in enumerate(mechanisms, 1):
        rows.append(_summarize(measure_fbdd(fbdd, chosen, draws, random_uint64, eta=eta), bundle.median_distance))
        if progress is not None:
            progress("sampling fbdd", number, len(mechanisms))
    distances = measure_neighbor_distances(mechanisms[0], chosen)
    return {
        "mechanism": "fbdd",
        "content_hash": bundle.content_hash,
        "outputs": len(mechanisms[0].outputs.ids),
        "dimension": int(bundle.metric.rows.shape[1]),
        "median_distance": bundle.median_distance,
        "words": len(chosen),
        "draws": draws,
        "eta": eta,
        "epsilons": rows,
        "neighbor_distances": {str(rank): _describe_values(values) for rank, values in distances.items()},
    }


def format_fbdd_table(found: dict[str, Any]) -> str:
    """Format the measurements of ``calibrate_fbdd`` as a table for a terminal."""
    unit = found["median_distance"]
    lines = [
        f"fbdd: {found['draws']:,} samples of each of {found['words']:,} words; {found['outputs']:,} outputs, "
        f"{found['dimension']} dimensions",
        f"{'epsilon':<9}{'vectors':>9}{'N_w mean':>10}{'5 %':>8}{'median':>8}{'95 %':>8}"
        f"{'S_w mean':>10}{'5 %':>8}{'median':>8}{'95 %':>8}",
    ]
    for row in found["epsilons"]:
        vectors = "-" if row["epsilon_vectors"] is None else f"{row['epsilon_vectors']:.4g}"
        unchanged, likely = row["unchanged"], row["likely_outputs"]
        lines.append(
            f"{row['epsilon']:<9.4g}{vectors:>9}{unchanged['mean']:>10.1%}"
            + "".join(f"{unchanged['quantiles'][str(q)]:>8.1%}" for q in _QUANTILES)
            + f"{likely['mean']:>10.1f}"
            + "".join(f"{likely['quantiles'][str(q)]:>8g}" for q in _QUANTILES)
        )
    shares = "all samples" if found["eta"] == 0 else f"{1 - found['eta']:g} of the samples"
    distances = ", ".join(
        f"{rank}: {entry['quantiles']['0.5']:.2f}" for rank, entry in found["neighbor_distances"].items()
    )
    return "\n".join(
        [
            *lines,
            "",
            "epsilon: textbook loss per unit of scaled distance, where 1 is the median distance of two words. vectors:",
            "the same per unit of distance of the original vectors"
            + (", which this bundle does not state." if unit is None else f", in which that median is {unit:.6g}."),
            "N_w: share of the samples that are the word itself. S_w: smallest number of words that make up",
            f"{shares}. Both are estimates, and change with each run.",
            f"Median distance to the neighbor of rank: {distances}.",
        ]
    )


def describe_fbdd_word(sanitizer: Sanitizer, word: str, options: Options, count: int, *, as_json: bool) -> str:
    """Sample FBDD many times with one word, and list its most frequent outputs as text or JSON.

    Args:
        sanitizer: Sanitizer of the bundle.
        word: One word.
        options: Options of FBDD.
        count: Number of outputs to list.
        as_json: Whether the result is JSON.

    Raises:
        OptionError: An option is not supported, or ``word`` is more than one token.
    """
    bundle, terms = sanitizer.bundle, sanitizer.terms(**options)
    symbol = sanitizer.distribution(word, **{**options, "mechanism": "random", "epsilon": None}).symbol
    own = bundle.symbol_ids.get(symbol, bundle.symbol_count)
    fbdd: Any = make_plan(bundle, **options).mechanism
    outputs = fbdd.sampler.draw_symbols(np.full(WORD_DRAWS, own), random_uint64)
    found, counts = np.unique(outputs, return_counts=True)
    order = np.lexsort((found, -counts))[:count]
    rows = [
        {
            "word": bundle.vocabulary[int(found[place])],
            "share": int(counts[place]) / WORD_DRAWS,
            "distance": bundle.metric.compute_distance(own, int(found[place])),
        }
        for place in order
    ]
    statement = terms.statement(1)
    unchanged = float(np.count_nonzero(outputs == own) / WORD_DRAWS)
    likely = count_likely_outputs(outputs, count_required(WORD_DRAWS, 0.0))
    distances = {
        rank: float(values[0]) for rank, values in measure_neighbor_distances(fbdd.sampler, np.array([own])).items()
    }
    if as_json:
        return json.dumps(
            {
                "token": symbol,
                "statement": statement.to_dict(),
                "draws": WORD_DRAWS,
                "unchanged": unchanged,
                "likely_outputs": likely,
                "neighbor_distances": {str(rank): distance for rank, distance in distances.items()},
                "sampled_replacements": rows,
            },
            ensure_ascii=False,
        )
    width = max(len("replacement"), *(len(str(row["word"])) for row in rows))
    header = symbol + (" (this word is not in the vocabulary)" if symbol == "<unk>" else "")
    lines = [
        header,
        statement.format_line(),
        "",
        f"{WORD_DRAWS:,} samples, so the shares are estimates: N_w {unchanged:.1%}, S_w {likely} distinct words",
        "distance to the neighbor of rank " + ", ".join(f"{rank}: {d:.2f}" for rank, d in distances.items()),
        "",
        f"{'replacement':<{width}}  {'share':>7}  distance",
    ]
    lines += [f"{row['word']:<{width}}  {row['share']:>7.1%}  {row['distance']:8.2f}" for row in rows]
    if len(found) > len(rows):
        lines.append(f"and {len(found) - len(rows):,} other words")
    return "\n".join(lines)


def _summarize(found: FbddStatistics, unit: float | None) -> dict[str, Any]:
    """Convert the measurements of FBDD at one epsilon to a dictionary for JSON.

    The keys are ``epsilon`` (per median distance), ``epsilon_vectors`` (per unit of the vectors, ``None`` if the unit
    is unknown), ``unchanged`` (probability that a word stays) and ``likely_outputs`` (numbers of different outputs).

    Args:
        found: The measurements.
        unit: Median distance of two words, to convert epsilon to the unit of the vectors; ``None`` if unknown.
    """
    return {
        "epsilon": float(format_epsilon(found.epsilon)),
        "epsilon_vectors": None if unit is None else found.epsilon / unit,
        "unchanged": _describe_values(found.unchanged),
        "likely_outputs": _describe_values(found.likely_outputs),
    }


def _describe_values(values: Any) -> dict[str, Any]:
    """Return ``mean``, and ``quantiles`` by name from ``min`` to ``max``, as a dictionary for JSON.

    Each quantile is one of the values.
    """
    quantiles = np.quantile(values, (0, *_QUANTILES, 1), method="inverted_cdf").tolist()
    names = ("min", *map(str, _QUANTILES), "max")
    return {"mean": float(np.mean(values)), "quantiles": dict(zip(names, quantiles, strict=True))}
