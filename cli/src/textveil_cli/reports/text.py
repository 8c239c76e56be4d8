"""Describe text bundles (folders with word lists and settings), their epsilons, and replacements of a word."""

import json
from dataclasses import asdict
from typing import Any

from textveil.bundle import TextBundle
from textveil.bundle.layout import TABLE_MECHANISMS
from textveil.release import round_up
from textveil.text import LevelSummary, Options, Sanitizer, format_epsilon, summarize_levels

from textveil_cli.reports.names import describe_names_lists, format_names_table
from textveil_cli.reports.staircase import describe_staircase, format_staircase_table

_BAR_CELLS = 24
_VECTORS_WIDTH = 9
_COLUMN_EXPLANATION = (
    "same: probability that a word is replaced by itself: 5 % quantile over words, median, 95 % quantile, maximum.",
    "entropy: median min-entropy in nats of the output of a word. 1 release, 10 releases: probability that a sensitive",
    "word is guessed from this many independent releases, by a reader who knows this bundle and word frequencies; a",
    "reader who uses the context guesses more. For santext+ all figures concern sensitive words: the epsilon does not",
    "change the probability that a common word is kept, and a kept word is revealed.",
)


def describe_text_bundle(bundle: TextBundle, *, as_json: bool = False) -> str:
    """Describe a text bundle (data folder for rewriting texts) as text or JSON: its guarantees and their limits."""
    manifest = bundle.manifest
    level_summaries = {mechanism: summarize_levels(bundle, mechanism) for mechanism in TABLE_MECHANISMS}
    levels = [
        {
            "default": level.name == bundle.default_level,
            **{mechanism: _describe_level(of[number]) for mechanism, of in level_summaries.items()},
        }
        for number, level in enumerate(bundle.santext_levels)
    ]
    facts: dict[str, Any] = {
        "name": manifest.get("name"),
        "content_hash": bundle.content_hash,
        "license": manifest.get("license"),
        "attribution": manifest.get("attribution"),
        "vocabulary_size": bundle.symbol_count,
        "default_mechanism": bundle.default_mechanism or None,
        "staircase": None if bundle.staircase_table is None else describe_staircase(bundle),
        "names": None if bundle.names_files is None else describe_names_lists(bundle),
        "median_distance": bundle.median_distance,
        "neighbors_per_word": bundle.table.neighbors.shape[1] if bundle.santext_levels else None,
        "default_table_mechanism": bundle.default_table_mechanism,
        "replacement_probability": bundle.default_replacement_probability,
        "epsilons": levels,
    }
    if as_json:
        return json.dumps(facts, ensure_ascii=False)
    tables = f"{facts['vocabulary_size']:,} words; {', '.join(bundle.mechanisms)}"
    lines = [
        f"{facts['name']}: {tables if bundle.mechanisms else 'lists of the mode names'}",
        f"content hash  {facts['content_hash']}",
        f"license       {_format_license(facts['license'], facts['attribution'])}",
    ]
    if bundle.mechanisms:
        lines += ["", format_levels_table(bundle)]
    if bundle.names_files is not None:
        lines += ["", *format_names_table(bundle)]
    if not bundle.santext_levels:
        return "\n".join(lines)
    probability = float(bundle.default_replacement_probability)
    lines += [
        "",
        "SanText: for two sensitive words at distance d the probability of any output differs by a factor of at most",
        "exp(epsilon d), and at most exp(pure LDP) for any distance. Distance 1 is the median over pairs of words"
        + ("." if bundle.median_distance is None else f":\n{bundle.median_distance:.6g} in units of the vectors."),
        f"With santext+ a common word is kept with probability {1 - probability:g} and is then revealed: no bound.",
        f"Against a common word the factor is {round_up(1 / probability, 2):g} times larger.",
        "Not protected: number and order of words, punctuation, case patterns. Names in the vocabulary are randomized",
        "like other words. Each further release of a word, also within a text, reveals more. The text as a whole is",
        "not protected.",
    ]
    return "\n".join(lines)


def format_levels_table(bundle: TextBundle, *, as_json: bool = False) -> str:
    """Return a table with a row for each epsilon of each mechanism: guarantees and effects; the default is first."""
    mechanisms = sorted(TABLE_MECHANISMS, key=lambda mechanism: mechanism != bundle.default_table_mechanism)
    if not bundle.santext_levels:
        bundle.check_mechanism("staircase")
        return json.dumps(describe_staircase(bundle)) if as_json else "\n".join(format_staircase_table(bundle))
    tables = [summarize_levels(bundle, mechanism) for mechanism in mechanisms]
    if as_json:
        return json.dumps([asdict(level) for levels in tables for level in levels], ensure_ascii=False)
    lines: list[str] = [] if bundle.staircase_table is None else [*format_staircase_table(bundle), ""]
    width = 0 if bundle.median_distance is None else _VECTORS_WIDTH
    for levels in tables:
        measures = levels[0].measures
        prior_guess = (
            "" if measures is None else f"; guessed without a release: {measures.recovery_without_release:.1%}"
        )
        default_mark = " (the default)" if levels[0].mechanism == bundle.default_mechanism else ""
        vectors = "" if levels[0].epsilon_vectors is None else "vectors"
        lines += [
            f"{levels[0].mechanism}{default_mark}{prior_guess}",
            f"{'epsilon':<9}{'notion':<9}{'nominal':>9}{vectors:>{width}}"
            f"{'pure LDP':>9}{'same 5 %':>10}{'median':>8}"
            f"{'95 %':>7}{'max':>7}{'entropy':>9}{'1 release':>11}{'10 releases':>12}",
            *map(_format_level, levels),
            "",
        ]
    if bundle.median_distance is not None:
        lines += [
            "vectors: nominal epsilon per unit of distance of the original vectors, in which the median distance of",
            f"two words is {bundle.median_distance:.6g}. If a level has this number as its name, it selects the level.",
            "",
        ]
    if bundle.statistics is None:
        lines += ["This bundle has no statistics: add them with textveil-export statistics."]
        return "\n".join(lines)
    return "\n".join([*lines, *_COLUMN_EXPLANATION])


def describe_word(sanitizer: Sanitizer, word: str, options: Options, count: int, *, as_json: bool = False) -> str:
    """Return a list of the most probable replacements of a word, with exact probabilities and distances."""
    options = sanitizer.add_sampling_mode(options)
    distribution = sanitizer.distribution(word, **options)
    terms = sanitizer.terms(**options)
    rows = [
        {
            "word": output,
            "probability": share,
            "distance": _compute_distance(sanitizer, distribution.symbol, output),
        }
        for output, share in distribution.list_likeliest(count)
    ]
    remaining_probability = max(0.0, 1 - sum(row["probability"] for row in rows))
    is_entity = (
        terms.protect is not None
        and distribution.symbol != "<unk>"
        and distribution.symbol not in sanitizer.bundle.symbol_ids
    )
    statement = terms.statement(0 if is_entity else 1)  # a surrogate of an entity type is not a randomized word
    other_words = len(distribution.words) - len(rows)
    if as_json:
        return json.dumps(
            {
                "token": distribution.symbol,
                "statement": statement.to_dict(),
                "replacements": rows,
                "other_replacements": {"count": other_words, "probability": remaining_probability},
            },
            ensure_ascii=False,
        )
    header = distribution.symbol
    if header == "<unk>":
        header += " (this word is not in the vocabulary)"
    elif is_entity:
        header += " (sampled from the public list of this type, independently of the word)"
    width = max(len("replacement"), *(len(row["word"]) for row in rows))
    lines = [header, statement.format_line(), "", f"{'replacement':<{width}}  probability  distance"]
    for row in rows:
        distance = "" if row["distance"] is None else f"{row['distance']:8.2f}"
        bar = "█" * round(row["probability"] * _BAR_CELLS)
        lines.append(f"{row['word']:<{width}}  {row['probability']:>11.4%}  {distance}  {bar}".rstrip())
    if other_words:
        lines.append(f"and {other_words:,} other words with total probability {remaining_probability:.2%}")
    return "\n".join(lines)


def _compute_distance(sanitizer: Sanitizer, symbol: str, output: str) -> float | None:
    """Return the distance of the vectors of two vocabulary entries.

    The result is ``None`` if an entry has no vector: in a bundle without word vectors, and for entries that stand for
    unknown words or for an entity type such as numbers.
    """
    vocabulary = sanitizer.bundle.symbol_ids
    if not sanitizer.bundle.santext_levels or symbol not in vocabulary or output not in vocabulary:
        return None
    return sanitizer.distance(symbol, output)


def format_bound(value: float | None) -> str:
    """Format a bound, such as an epsilon, with two decimals, rounded up so that the bound stays true."""
    return "-" if value is None else f"{round_up(value, 2):.2f}"


def format_rate(value: float) -> str:
    """Format a rate to a tenth of a percent; values close to 1 become ``>99.9%`` instead of ``100.0%``.

    A rate of 100% would be wrong, since a guess of a word is never certain.
    """
    text = f"{value:.1%}"
    return ">99.9%" if text == "100.0%" else text


def _format_license(*parts: object) -> str:
    """Join a license and an attribution into one text; a part that the bundle does not contain is omitted."""
    return ". ".join(str(part) for part in parts if part) or "not stated"


def _describe_level(summary: LevelSummary) -> dict[str, Any]:
    return {
        "epsilon": summary.epsilon,
        "epsilon_kind": summary.epsilon_kind,
        "epsilon_textbook": summary.epsilon_textbook,
        "epsilon_vectors": summary.epsilon_vectors,
        "epsilon_pure_ldp": summary.epsilon_pure_ldp,
        "unchanged_median": None if summary.measures is None else summary.measures.unchanged,
    }


def _format_level(summary: LevelSummary) -> str:
    vectors = "" if summary.epsilon_vectors is None else f"{summary.epsilon_vectors:>{_VECTORS_WIDTH}.4g}"
    line = (
        f"{format_epsilon(summary.epsilon):<9}{summary.epsilon_kind.split()[0]:<9}"
        f"{summary.epsilon_textbook:>9.4g}{vectors}{format_bound(summary.epsilon_pure_ldp):>9}"
    )
    measures = summary.measures
    if measures is None:
        line += f"{'-':>10}{'-':>8}{'-':>7}{'-':>7}{'-':>9}{'-':>11}{'-':>12}"
    else:
        line += (
            f"{measures.unchanged_low:>10.1%}{measures.unchanged:>8.1%}{measures.unchanged_high:>7.1%}{measures.unchanged_most:>7.1%}"
            f"{measures.min_entropy:>9.2f}{format_rate(measures.recovery[1].rate):>11}{format_rate(measures.recovery[10].rate):>12}"
        )
    return line + ("  default" if summary.default else "")
