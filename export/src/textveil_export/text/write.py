"""Writes text bundles: the bundle itself, and later its certificate and its statistics.

A bundle is there whole or not at all. A certificate or statistics are put into a bundle that is already there. Its
identity changes with them, since it covers what promises are read from; the hash of ``law.json`` stays. An old record
is first taken out of the manifest. An interruption therefore leaves a sound bundle without the record, never one with
half of it or with another bundle's.
"""

import hashlib
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from safetensors.numpy import save as save_tensors
from textveil import __version__
from textveil.bundle import MAX_BUNDLE_BYTES, TextBundle, layout, open_bundle

from textveil_export.bundle_files import add_bundle_file, format_json, replace_file, stage_bundle_folder
from textveil_export.certify.certificate import Certificates
from textveil_export.text.card import format_text_card
from textveil_export.text.contents import TextContents

_NUMBERS = re.compile(r"\[\s+(-?[\d.][^\[\]{}\"]*?)\s+\]")


def write_bundle(contents: TextContents, folder: Path, *, force: bool = False) -> TextBundle:
    """Writes, checks and publishes a bundle.

    Args:
        contents: The bundle in memory.
        folder: Where it goes. Its parent must exist.
        force: Replace a bundle that is already there.

    Returns:
        The bundle, opened from its place, however large it is. Who opens it again says ``max_bytes`` beyond the cap.

    Raises:
        WriteError: The target exists, or the disk is full or not writable. Nothing is left behind.
    """
    with stage_bundle_folder(folder, force=force) as partial:
        write_staged_files(contents, partial)
        size = max(MAX_BUNDLE_BYTES, sum(file.stat().st_size for file in partial.iterdir()))
        if (opened := open_bundle(partial, TextBundle, max_bytes=size)).names is not None:
            opened.require_names()  # reads the lists, which opening does not
    return open_bundle(folder, TextBundle, max_bytes=size)


def write_certificate(
    bundle: TextBundle,
    certificates: Certificates,
    labels: dict[str, float] | None = None,
) -> TextBundle:
    """Writes ``certificate.json`` and labels the levels with what was proven.

    Args:
        bundle: The bundle that was certified.
        certificates: By level name and mechanism.
        labels: What to call the levels by, by level name, no less than what was proven; the proven value
            itself if left out.

    Returns:
        The bundle, opened again.

    Raises:
        WriteError: The disk is full or not writable.
    """
    levels = {
        name: {mechanism: certificate.to_dict() for mechanism, certificate in mechanisms.items()}
        for name, mechanisms in certificates.items()
    }
    content = _add_header(bundle, layout.CERTIFICATE_FORMAT, layout.CERTIFICATE_VERSION, {"levels": levels})

    def label(manifest: dict[str, Any], there: bool) -> None:
        _label_levels(manifest, certificates if there else None, labels)

    return _write_record(bundle, layout.CERTIFICATE, format_json(content), label)


def write_statistics(bundle: TextBundle, statistics: dict[str, Any]) -> TextBundle:
    """Writes ``statistics.json``.

    Args:
        bundle: The bundle that was measured.
        statistics: What ``statistics.measure`` gives.

    Returns:
        The bundle, opened again.

    Raises:
        WriteError: The disk is full or not writable.
    """
    text = format_json(_add_header(bundle, layout.STATISTICS_FORMAT, layout.STATISTICS_VERSION, statistics))
    # Arrays of numbers are histograms: one line each.
    text = _NUMBERS.sub(lambda match: "[" + " ".join(match[1].split()) + "]", text)
    return _write_record(bundle, layout.STATISTICS, text, lambda manifest, there: None)


def write_staged_files(contents: TextContents, folder: Path) -> None:
    """Writes the files of a bundle into a folder of ``stage_bundle_folder``."""
    entries: dict[str, dict[str, object]] = {}
    for name, tensors in contents.tensors.items():
        entries[name] = add_bundle_file(folder, name, save_tensors(tensors))
    for name, text in contents.texts.items():
        entries[name] = add_bundle_file(folder, name, text.encode())
    law = {**contents.law, "files": {name: entry["sha256"] for name, entry in entries.items()}}
    entries[layout.LAW] = add_bundle_file(folder, layout.LAW, format_json(law).encode())
    table_bytes = {name: int(str(entries[name]["bytes"])) for name in contents.tensors}
    entries[layout.CARD] = add_bundle_file(folder, layout.CARD, format_text_card(contents, table_bytes).encode())
    add_bundle_file(folder, layout.MANIFEST, format_json({**contents.manifest, "files": entries}).encode())


def _add_header(bundle: TextBundle, name: str, version: int, content: dict[str, Any]) -> dict[str, Any]:
    software = f"textveil-export {__version__}"
    return {"format": name, "format_version": version, "identity": bundle.law_identity, "software": software, **content}


def _write_record(
    bundle: TextBundle, name: str, text: str, label: Callable[[dict[str, Any], bool], None]
) -> TextBundle:
    """Puts a file beside the manifest and lists it there; ``label`` adapts the manifest to its being there, or not."""
    manifest = json.loads((bundle.path / layout.MANIFEST).read_text(encoding="utf-8"))
    data = text.encode()
    if manifest["files"].pop(name, None) is not None:
        label(manifest, False)
        replace_file(bundle.path / layout.MANIFEST, format_json(manifest))
    replace_file(bundle.path / name, text)
    manifest["files"][name] = {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}
    label(manifest, True)
    (bundle.path / layout.SIGNATURE).unlink(missing_ok=True)  # it is of the manifest that was
    replace_file(bundle.path / layout.MANIFEST, format_json(manifest))
    return open_bundle(bundle.path, TextBundle, max_bytes=bundle.max_bytes)


def _label_levels(manifest: dict[str, Any], certificates: Certificates | None, names: dict[str, float] | None) -> None:
    manifest["label"] = "textbook" if certificates is None else "certified"
    for level, mechanisms in manifest["levels"].items():
        for mechanism, labels in mechanisms.items():
            labels["epsilon_certified"] = None
            if certificates is not None:
                proven = certificates[level][mechanism].epsilon_certified
                labels["epsilon_certified"] = proven if names is None else names[level]
