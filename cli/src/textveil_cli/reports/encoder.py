"""Describe encoder bundles (folders with a model for noisy vectors) and their guarantees."""

import json
from typing import Any

from textveil.bundle import VectorBundle
from textveil.mechanisms.noise import ReleaseParameters
from textveil.release import round_up
from textveil.vector import VectorStatement, make_vector_statement


def describe_encoder_bundle(bundle: VectorBundle, *, as_json: bool = False) -> str:
    """Describe an encoder bundle as text or JSON: properties, guarantee of each epsilon, and measurements."""
    manifest, default = bundle.manifest, bundle.default_level
    levels = [{"default": level == default, **_make_statement(bundle, level).to_dict()} for level in bundle.levels]
    parts = bundle.extractor
    facts: dict[str, Any] = {
        "name": manifest.get("name"),
        "content_hash": bundle.content_hash,
        "license": manifest.get("license"),
        "provenance": manifest.get("provenance"),
        "labels": manifest.get("labels"),
        "noise_mode": default.mode,
        "dimension": default.dimension,
        "grid_step": default.grid,
        "max_tokens": parts.max_tokens,
        "vocabulary_size": len(parts.vocabulary),
        "model_bytes": bundle.model_counts.byte_size,
        "operators": bundle.model_counts.operators,
        "measurements": manifest.get("measurements"),
        "epsilons": levels,
    }
    if as_json:
        return json.dumps(facts, ensure_ascii=False)
    labels = facts["labels"]
    lines = [
        f"{facts['name']}: an encoder, {default.mode}, vectors of length {default.dimension}",
        f"content hash  {bundle.content_hash}",
        f"license       {facts['license']}",
        f"model         {bundle.model_counts.byte_size / 1e6:.1f} MB; {facts['vocabulary_size']:,} pieces; at most "
        f"{parts.max_tokens} tokens",
        *([f"labels        {', '.join(map(str, labels))}"] if isinstance(labels, list) else []),
        "",
        "per text             per word, at word dropout",
        "epsilon  delta            0.1      0.3      0.5  noise per coordinate",
        *(_format_level(bundle, level) for level in bundle.levels),
    ]
    measured = list(_flatten_figures(facts["measurements"]))
    if measured:
        width = max(len(name) for name, _ in measured)
        lines += ["", "Measured:", *(f"  {name:<{width}}  {value}" for name, value in measured)]
    lines += ["", "Not protected:", *(f"  - {item}" for item in _make_statement(bundle, default).not_protected)]
    return "\n".join(lines)


def _make_statement(bundle: VectorBundle, parameters: ReleaseParameters, word_dropout: str = "0") -> VectorStatement:
    return make_vector_statement(parameters, word_dropout, bundle.content_hash)


def _format_level(bundle: VectorBundle, parameters: ReleaseParameters) -> str:
    words = [
        round_up(float(_make_statement(bundle, parameters, mu).per_word.epsilon), 3) for mu in ("0.1", "0.3", "0.5")
    ]
    noise = _make_statement(bundle, parameters).to_dict()["noise"].removesuffix(" on every coordinate")
    marker = "   default" if parameters == bundle.default_level else ""
    columns = "".join(f"{word:>9.3f}" for word in words)
    return f"{parameters.epsilon:>7}  {parameters.delta or '0':<8}{columns}  {noise}{marker}"


def _flatten_figures(value: object, name: str = "") -> list[tuple[str, str]]:
    """Convert nested measurements to pairs: the joined keys that lead to a value, and the value as text."""
    if isinstance(value, dict):
        return [line for key, inner in value.items() for line in _flatten_figures(inner, f"{name} {key}".strip())]
    if value is None:
        return []
    return [(name, json.dumps(value, ensure_ascii=False) if isinstance(value, list) else str(value))]
