"""Puts what was found out about a table into its bundle: a certificate, statistics.

The identity stays. At every moment in between, what lies there is a sound bundle: an old record is first taken out of
the manifest, so that an interruption leaves a bundle without it, never one with half of it or with another's.
"""

import hashlib
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from textveil.atomic import atomic_output
from textveil.bundle import (
    CERTIFICATE,
    CERTIFICATE_FORMAT,
    CERTIFICATE_VERSION,
    STATISTICS,
    STATISTICS_FORMAT,
    STATISTICS_VERSION,
    Bundle,
)
from textveil.bundle_files import MANIFEST
from textveil.errors import OutputError

from textveil_export import __version__
from textveil_export.certify.certificate import Certificates
from textveil_export.errors import WriteError
from textveil_export.text.build import to_json

_NUMBERS = re.compile(r"\[\s+(-?[\d.][^\[\]{}\"]*?)\s+\]")


def write_certificate(
    bundle: Bundle,
    certificates: Certificates,
    labels: dict[str, dict[str, float]] | None = None,
) -> Bundle:
    """Writes ``certificate.json`` and labels the levels with what was proven.

    Args:
        bundle: The bundle that was certified.
        certificates: By level name, mechanism and tail.
        labels: What to call the levels by, by tail and level name, no less than what was proven; the proven value
            itself if left out.

    Returns:
        The bundle, opened again.

    Raises:
        WriteError: The disk is full or not writable.
    """
    levels = {
        name: {
            mechanism: {tail: certificate.to_dict() for tail, certificate in tails.items()}
            for mechanism, tails in laws.items()
        }
        for name, laws in certificates.items()
    }
    content = _headed(bundle, CERTIFICATE_FORMAT, CERTIFICATE_VERSION, {"levels": levels})

    def label(manifest: dict[str, Any], there: bool) -> None:
        _label(manifest, certificates if there else None, labels)

    return _write(bundle, CERTIFICATE, to_json(content), label)


def write_statistics(bundle: Bundle, statistics: dict[str, Any]) -> Bundle:
    """Writes ``statistics.json``.

    Args:
        bundle: The bundle that was measured.
        statistics: What ``statistics.measure`` gives.

    Returns:
        The bundle, opened again.

    Raises:
        WriteError: The disk is full or not writable.
    """
    text = to_json(_headed(bundle, STATISTICS_FORMAT, STATISTICS_VERSION, statistics))
    # Arrays of numbers are histograms: one line each.
    text = _NUMBERS.sub(lambda match: "[" + " ".join(match[1].split()) + "]", text)
    return _write(bundle, STATISTICS, text, lambda manifest, there: None)


def _headed(bundle: Bundle, name: str, version: int, content: dict[str, Any]) -> dict[str, Any]:
    software = f"textveil-export {__version__}"
    return {"format": name, "format_version": version, "identity": bundle.identity, "software": software, **content}


def _write(bundle: Bundle, name: str, text: str, label: Callable[[dict[str, Any], bool], None]) -> Bundle:
    """Puts a file beside the manifest and lists it there; ``label`` adapts the manifest to its being there, or not."""
    manifest = json.loads((bundle.path / MANIFEST).read_text(encoding="utf-8"))
    data = text.encode()
    try:
        if manifest["files"].pop(name, None) is not None:
            label(manifest, False)
            _replace(bundle.path / MANIFEST, to_json(manifest))
        _replace(bundle.path / name, text)
        manifest["files"][name] = {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}
        label(manifest, True)
        _replace(bundle.path / MANIFEST, to_json(manifest))
    except OutputError as error:
        raise WriteError(f"{name}: {error}") from error
    return Bundle(bundle.path)


def _label(
    manifest: dict[str, Any], certificates: Certificates | None, names: dict[str, dict[str, float]] | None
) -> None:
    manifest["label"] = "textbook" if certificates is None else "certified"
    for level, mechanisms in manifest["levels"].items():
        for mechanism, tails in mechanisms.items():
            for tail, labels in tails.items():
                labels["epsilon_certified"] = None
                if certificates is not None:
                    proven = certificates[level][mechanism][tail].epsilon_certified
                    labels["epsilon_certified"] = proven if names is None else names[tail][level]


def _replace(path: Path, text: str) -> None:
    with atomic_output(path) as write:
        write(text)
