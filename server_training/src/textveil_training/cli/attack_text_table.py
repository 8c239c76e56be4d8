"""Format the result of ``textveil-train attack text`` as a table for a terminal."""

from collections.abc import Mapping
from typing import Any

from textveil_training.terminal_tables import format_table

_TARGETED = {
    "targeted_top1": "contextual, guesses only never kept words",
    "targeted_context_free_top1": "output alone, guesses only never kept words",
}
_HEADER = ("attack", "what", "tokens", "rate", "+-", "never kept", "+-")
_PRIORS = ("Zipf prior", "the text's frequencies")
_NEAREST = {"top1": "nearest symbol", "top10": "among the ten nearest"}
_MASK = {
    "top1": "predicts the original",
    "first_piece": "predicts its first WordPiece",
    "clean_top1": "predicts it from the raw text",
    "defense": "defense rate (not predicted)",
}
_FREQUENT = {
    "top1": "most frequent word of the type",
    "unchanged": "output equals the original",
}
_WORDS = {
    "unchanged": "output equals the original",
    "bayes": "best guess without context",
    "trigrams": "trigrams, forward and backward",
    "network": "denoising network",
    "sum": "sum of these three",
}
_CONTEXTUAL = {
    "top1": "contextual Bayes",
    "top10": "among the ten likeliest",
    "prior_top1": "context alone",
    "context_free_top1": "output alone, same tokens",
    "tuned_top1": "context weighted, tuned on other texts",
}


def format_attack_table(result: Mapping[str, Any]) -> str:
    """Format the success rates of all finished attacks, with their standard errors, as a table.

    If the mechanism leaves some words unchanged, as SanText+ does, one column has the rates for all other words.

    Args:
        result: The entry ``result`` of the JSON record of a run.
    """
    rows: list[list[str]] = [list(_HEADER)]
    if "unchanged" in result:
        rows.append(_format_row("unchanged", "tokens whose output equals the original", result, "unchanged"))
    for attack, names in (
        ("nearest", _NEAREST),
        ("bayes", {}),
        ("repeated", {}),
        ("frequent", _FREQUENT),
        ("mask", _MASK),
    ):
        if (found := result.get(attack)) is not None:
            rows += [_format_row(attack, what, found, name) for name, what in names.items()]
            rows += (
                _format_bayes(found) if attack == "bayes" else _format_repeated(found) if attack == "repeated" else []
            )
    if (found := result.get("contextual")) is not None:
        rows += [_format_row("contextual", what, found, name) for name, what in _CONTEXTUAL.items()]
        if "sensitive" in found:
            rows += [_format_row("contextual", what, found, name) for name, what in _TARGETED.items()]
        for name in ("top1", "tuned_top1"):
            rows.append(_format_row("contextual", f"{_PRIORS[1]}: {_CONTEXTUAL[name]}", found["text_prior"], name))
    rows += _format_words(result.get("words", {}))
    return format_table(rows)


def _format_words(found: Mapping[str, Any]) -> list[list[str]]:
    """Format the results of the attack ``words`` as rows of a table.

    Each row has two rates: over all content words (not *the*, *of* and the like), and over those in the vocabulary.
    """
    content, known = ({**found.get(what, {})} for what in ("content", "known"))
    for part in (content, known):
        part["standard_errors"] = part.get("deviations")  # over draws, for all attacks use the same texts
    names = [name for name in _WORDS if name in content]
    rows = [_format_row("words", _WORDS[name], content | {"sensitive": known}, name) for name in names]
    if rows:
        what = f"of content words, and on the right of those in the vocabulary; +- over {found['draws']} draws:"
        rows.insert(0, ["words", what, "", "", "", "", ""])
    return rows


def _format_row(attack: str, what: str, found: Mapping[str, Any], name: str) -> list[str]:
    cells = [attack, what, f"{found['tokens']:,}"]
    for part in (found, found.get("sensitive")):
        if part is None or name not in part:
            cells += ["", ""]
            continue
        error = part["standard_errors"][name]
        cells += [f"{part[name]:.4f}", f"{error:.4f}" if error else ""]  # 0 for rates of 0 and 1
    return cells


def _format_bayes(found: Mapping[str, Any]) -> list[list[str]]:
    low, high = found["interval"]
    what = f"{_PRIORS[0]}: {found['draws']:,} draws, {low:.4f} to {high:.4f}"
    rows = [["bayes", what, "", f"{found['simulated']:.4f}", "", "", ""]]
    for prior, part in zip(_PRIORS, (found, found["text_prior"]), strict=True):
        rows.append(["bayes", f"{prior}: closed form", "", f"{part['closed_form']:.4f}", "", "", ""])
        rows.append(_format_row("bayes", f"{prior}: on the text", part["on_text"], "top1"))
    return rows


def _format_repeated(found: Mapping[str, Any]) -> list[list[str]]:
    rows: list[list[str]] = []
    for count, part in found.items():
        outputs = "1 output" if count == "1" else f"{count} outputs"
        for prior, rate in zip(_PRIORS, (part, part["text_prior"]), strict=True):
            rows.append(_format_row("repeated", f"{prior}: {outputs}", rate, "rate"))
    return rows
