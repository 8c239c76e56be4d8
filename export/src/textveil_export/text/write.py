"""Write a text bundle (data folder for rewriting texts), and later add its certificate or statistics.

A bundle is written completely or not at all. A certificate or statistics are added to an existing bundle. They change
the bundle's content hash, since that hash covers every stated guarantee, but not the hash of ``mechanism.json``. The
writer first removes an old record from the manifest. So an interruption leaves a valid bundle without the record, never
a bundle with a partial or wrong record.
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
    """Write a text bundle to a hidden folder, check it with the code of devices, and rename it to the target.

    Args:
        contents: The bundle in memory.
        folder: Target folder. Its parent must exist.
        force: Whether to replace an existing bundle.

    Returns:
        The opened bundle, whatever its size. To open a bundle above the limit again, pass ``max_bytes`` to
        ``open_bundle``.

    Raises:
        WriteError: The target exists, or the disk is full or not writable. The target is unchanged.

    Example:
        >>> from decimal import Decimal
        >>> import numpy as np
        >>> from textveil_export.text import TextBundleRecipe, WordPolicy, WordVectors, build_text_bundle
        >>> words = ["the", "doctor", "nurse", "hospital", "market", "price"]
        >>> rows = np.random.default_rng(0).normal(size=(6, 8)).astype(np.float32)
        >>> vectors = WordVectors(words=words, vectors=rows, provenance={})
        >>> policy = WordPolicy(share=0.9, sensitive=frozenset(), allow=frozenset(), never_output=frozenset())
        >>> recipe = TextBundleRecipe(name="my-words", policy=policy, k=3, levels={"4": Decimal(2)})
        >>> write_bundle(build_text_bundle(vectors, recipe), Path("my-words")).symbol_count
        6
    """
    with stage_bundle_folder(folder, force=force) as partial:
        write_staged_files(contents, partial)
        size = max(MAX_BUNDLE_BYTES, sum(file.stat().st_size for file in partial.iterdir()))
        if (opened := open_bundle(partial, TextBundle, max_bytes=size)).names_files is not None:
            opened.get_names_lists()  # also checks the lists, which opening does not read
    return open_bundle(folder, TextBundle, max_bytes=size)


def write_certificate(
    bundle: TextBundle,
    certificates: Certificates,
    labels: dict[str, float] | None = None,
) -> TextBundle:
    """Write ``certificate.json`` into a bundle, and state the proven epsilon of each level in the manifest.

    Args:
        bundle: The certified bundle.
        certificates: Proven bounds by level name and mechanism; a level is one epsilon.
        labels: Epsilon to write for each level, by level name, at least the proven epsilon; ``None`` writes the proven
            ones.

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
        """State the epsilon of each level in the manifest, or remove these statements.

        The statements are valid only beside the file ``certificate.json``, which proves them.

        Args:
            manifest: Content of ``manifest.json``, changed in place.
            there: ``True`` to state the epsilons of a new certificate; ``False`` before the old certificate is removed.
        """
        _label_levels(manifest, certificates if there else None, labels)

    return _write_record(bundle, layout.CERTIFICATE, format_json(content), label)


def write_statistics(bundle: TextBundle, statistics: dict[str, Any]) -> TextBundle:
    """Write ``statistics.json`` (measured effects of each epsilon) into a bundle (data folder).

    Args:
        bundle: The measured bundle.
        statistics: Result of ``leakage.word_statistics.measure_statistics``.

    Returns:
        The bundle, opened again.

    Raises:
        WriteError: The disk is full or not writable.
    """
    text = format_json(_add_header(bundle, layout.STATISTICS_FORMAT, layout.STATISTICS_VERSION, statistics))
    # Write each array of numbers, a histogram, on one line.
    text = _NUMBERS.sub(lambda match: "[" + " ".join(match[1].split()) + "]", text)
    return _write_record(bundle, layout.STATISTICS, text, lambda manifest, there: None)


def write_staged_files(contents: TextContents, folder: Path) -> None:
    """Write all files of a bundle (data folder) into a hidden folder from ``stage_bundle_folder``."""
    entries: dict[str, dict[str, object]] = {}
    for name, tensors in contents.tensors.items():
        entries[name] = add_bundle_file(folder, name, save_tensors(tensors))
    for name, text in contents.texts.items():
        entries[name] = add_bundle_file(folder, name, text.encode())
    definition = {**contents.definition, "files": {name: entry["sha256"] for name, entry in entries.items()}}
    entries[layout.MECHANISM_FILE] = add_bundle_file(folder, layout.MECHANISM_FILE, format_json(definition).encode())
    table_bytes = {name: int(str(entries[name]["bytes"])) for name in contents.tensors}
    entries[layout.CARD] = add_bundle_file(folder, layout.CARD, format_text_card(contents, table_bytes).encode())
    add_bundle_file(folder, layout.MANIFEST, format_json({**contents.manifest, "files": entries}).encode())


def _add_header(bundle: TextBundle, name: str, version: int, content: dict[str, Any]) -> dict[str, Any]:
    """Return a certificate or statistics with a header: format, version, software and hash of ``mechanism.json``.

    Args:
        bundle: The bundle (data folder) that the record (certificate or statistics) describes.
        name: Format of the record.
        version: Version of this format.
        content: Entries of the record.
    """
    software = f"textveil-export {__version__}"
    return {
        "format": name,
        "format_version": version,
        "mechanism_hash": bundle.mechanism_hash,
        "software": software,
        **content,
    }


def _write_record(
    bundle: TextBundle, name: str, text: str, label: Callable[[dict[str, Any], bool], None]
) -> TextBundle:
    """Write a certificate or statistics (a record) into a bundle (data folder), and list it in the manifest.

    Args:
        bundle: The bundle.
        name: File name of the record.
        text: Content of the record.
        label: Function that changes the manifest. It is called with ``False`` before an old record is removed from the
            manifest, and with ``True`` when the new record is added.

    Returns:
        The bundle, opened again.
    """
    manifest = json.loads((bundle.path / layout.MANIFEST).read_text(encoding="utf-8"))
    data = text.encode()
    if manifest["files"].pop(name, None) is not None:
        label(manifest, False)
        replace_file(bundle.path / layout.MANIFEST, format_json(manifest))
    replace_file(bundle.path / name, text)
    manifest["files"][name] = {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}
    label(manifest, True)
    (bundle.path / layout.SIGNATURE).unlink(missing_ok=True)  # the old signature covers the old manifest
    replace_file(bundle.path / layout.MANIFEST, format_json(manifest))
    return open_bundle(bundle.path, TextBundle, max_bytes=bundle.max_bytes)


def _label_levels(manifest: dict[str, Any], certificates: Certificates | None, names: dict[str, float] | None) -> None:
    """Write the proven epsilons of a bundle into its manifest, or remove them from it.

    Args:
        manifest: Content of ``manifest.json``, changed in place.
        certificates: Proven bounds by level name and mechanism (a level is one epsilon); ``None`` removes the epsilons.
        names: Epsilon to write for each level, at least the proven one; ``None`` writes the proven epsilons.
    """
    manifest["epsilon_notion"] = "textbook" if certificates is None else "certified"
    for level, mechanisms in manifest["levels"].items():
        for mechanism, labels in mechanisms.items():
            labels["epsilon_certified"] = None
            if certificates is not None:
                proven = certificates[level][mechanism].epsilon_certified
                labels["epsilon_certified"] = proven if names is None else names[level]
