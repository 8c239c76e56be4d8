"""What the command line says about bundles, words and releases: text a person likes to read, or JSON."""

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import typer

from textveil.bundle import Bundle
from textveil.plan import Options, epsilon_text, label
from textveil.privacy import PrivacyStatement, Terms
from textveil.sanitizer import Result, Sanitizer

Write = Callable[[str], None]

_BAR_CELLS = 24
_PROGRESS_FROM_BYTES = 20_000_000


class Tally:
    """Adds up the statements of the documents of one input."""

    def __init__(self) -> None:
        self.documents = 0
        self.tokens = 0
        self.terms: Terms | None = None

    def add(self, results: Sequence[Result]) -> None:
        """Counts some results, all sanitised under the same terms."""
        self.documents += len(results)
        self.tokens += sum(result.tokens for result in results)
        self.terms = results[0].terms if results else self.terms

    def __str__(self) -> str:
        if self.terms is None:
            return "no documents"
        documents = "1 document" if self.documents == 1 else f"{self.documents:,} documents"
        return f"{documents}; {PrivacyStatement(self.terms, self.tokens).summary()}"


def information(bundle: Bundle, *, as_json: bool = False) -> str:
    """What a bundle is, what its levels promise and what they do not."""
    manifest = bundle.manifest
    levels = [
        {
            "name": level.name,
            "default": level.name == bundle.default_level,
            **{
                mechanism: {
                    "epsilon": label(bundle, level, mechanism)[0],
                    "epsilon_kind": label(bundle, level, mechanism)[1],
                    "epsilon_textbook": float(2 * level.laws[mechanism].exponent),
                    "epsilon_pure_ldp": _proven(bundle, level.name, mechanism, "epsilon_pure_ldp"),
                    "unchanged_median": _unchanged(manifest, level.name, mechanism),
                }
                for mechanism in level.laws
            },
        }
        for level in bundle.levels
    ]
    facts: dict[str, Any] = {
        "name": manifest.get("name"),
        "identity": bundle.identity,
        "licence": manifest.get("licence"),
        "attribution": manifest.get("attribution"),
        "tokens": bundle.tokens,
        "symbols": bundle.table.symbols,
        "neighbours": bundle.table.neighbours.shape[1],
        "default_mechanism": bundle.default_mechanism,
        "default_level": bundle.default_level,
        "replacement_probability": bundle.default_replacement_probability,
        "levels": levels,
    }
    if as_json:
        return json.dumps(facts, ensure_ascii=False)
    lines = [
        f"{facts['name']}: {facts['symbols']:,} {facts['tokens']}s, {facts['neighbours']} neighbours each",
        f"identity   {facts['identity']}",
        f"licence    {facts['licence']}. {facts['attribution']}",
        "",
        "level       epsilon  kind                 textbook  pure LDP  words unchanged (median)",
    ]
    for level in levels:
        law = level[bundle.default_mechanism]
        share = law["unchanged_median"]
        marker = "   default" if level["default"] else ""
        bar = "" if share is None else f"{share:6.1%}  {_bar(share)}"
        lines.append(
            f"{level['name']:<11} {epsilon_text(law['epsilon']):>7}  {law['epsilon_kind']:<20} "
            f"{law['epsilon_textbook']:>8.4g}  {_optional(law['epsilon_pure_ldp']):>8}  {bar}{marker}"
        )
    probability = float(bundle.default_replacement_probability)
    lines += [
        "",
        "Two sensitive words at distance d make any output likelier by a factor of at most exp(epsilon d), and,",
        "whatever their distance, exp(pure LDP). Distance 1 is the median of two words. With santext+ a common word is",
        f"kept with probability {1 - probability:g} and then reveals itself; against a common word the factor is "
        f"{1 / probability:.3g} times larger.",
        "Not protected: number and order of words, punctuation, case patterns, and sanitising the same text again.",
    ]
    return "\n".join(lines)


def inspection(sanitizer: Sanitizer, word: str, options: Options, count: int, *, as_json: bool = False) -> str:
    """The likeliest replacements of a word, with exact probabilities and distances."""
    law = sanitizer.distribution(word, **options)
    terms = sanitizer.terms(**options)
    rows = [
        {
            "word": output,
            "probability": share,
            "distance": sanitizer.distance(word, output) if sanitizer.bundle.embeddings is not None else None,
        }
        for output, share in law.likeliest(count)
    ]
    rest = max(0.0, 1 - sum(row["probability"] for row in rows))
    others = len(law.words) - len(rows)
    if as_json:
        return json.dumps(
            {
                "symbol": law.symbol,
                "statement": PrivacyStatement(terms, 1).to_dict(),
                "replacements": rows,
                "others": {"count": others, "probability": rest},
            },
            ensure_ascii=False,
        )
    header = law.symbol if law.symbol != "<unk>" else "<unk> (this word is not in the vocabulary)"
    width = max(len(row["word"]) for row in rows)
    lines = [header, PrivacyStatement(terms, 1).summary(), "", f"{'becomes':<{width}}  probability  distance"]
    for row in rows:
        distance = "" if row["distance"] is None else f"{row['distance']:8.2f}"
        lines.append(
            f"{row['word']:<{width}}  {row['probability']:>11.4%}  {distance}  {_bar(row['probability'])}".rstrip()
        )
    if others:
        lines.append(f"and {others:,} other words with {rest:.2%} in all")
    return "\n".join(lines)


@contextmanager
def progress_bar(size: int, quiet: bool) -> Iterator[Callable[[int], None]]:
    """A bar over the bytes of a large file: on standard error, only on a terminal that shows no data."""
    if quiet or size < _PROGRESS_FROM_BYTES or not sys.stderr.isatty() or sys.stdout.isatty():
        yield lambda consumed: None
        return
    with typer.progressbar(length=size, label="sanitising", file=sys.stderr) as bar:
        yield lambda consumed: bar.update(consumed - bar.pos)


def _proven(bundle: Bundle, level: str, mechanism: str, what: str) -> float | None:
    if bundle.certificate is None:
        return None
    value = bundle.certificate["levels"].get(level, {}).get(mechanism, {}).get(what)
    return float(value) if type(value) in (int, float) else None


def _optional(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _unchanged(manifest: dict[str, Any], level: str, mechanism: str) -> float | None:
    try:
        share = manifest["levels"][level][mechanism]["unchanged_median"]
    except (KeyError, TypeError):
        return None
    return float(share) if type(share) in (int, float) else None


def _bar(share: float) -> str:
    return "█" * round(share * _BAR_CELLS)
