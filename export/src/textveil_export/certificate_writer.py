"""Puts a certificate into a bundle. At every moment in between, what lies there is a sound bundle."""

import hashlib
import json
import os
import secrets
from pathlib import Path
from typing import Any

from textveil.bundle import CERTIFICATE, CERTIFICATE_FORMAT, MANIFEST, Bundle

from textveil_export import __version__
from textveil_export.build import to_json
from textveil_export.certify import LevelCertificate
from textveil_export.errors import WriteError


def write_certificate(
    bundle: Bundle,
    certificates: dict[str, dict[str, LevelCertificate]],
    labels: dict[str, float] | None = None,
) -> Bundle:
    """Writes ``certificate.json`` and labels the levels with what was proven. The identity stays.

    An old certificate is first taken out of the manifest, so that an interruption leaves a bundle without a
    certificate, never one with half of it or with another's.

    Args:
        bundle: The bundle that was certified.
        certificates: By level name and mechanism.
        labels: What to call the levels by, no less than what was proven; the proven value itself if left out.

    Returns:
        The bundle, opened again.

    Raises:
        WriteError: The disk is full or not writable.
    """
    manifest = json.loads((bundle.path / MANIFEST).read_text(encoding="utf-8"))
    content = {
        "format": CERTIFICATE_FORMAT,
        "format_version": 1,
        "identity": bundle.identity,
        "software": f"textveil-export {__version__}",
        "levels": {
            name: {mechanism: certificate.to_dict() for mechanism, certificate in laws.items()}
            for name, laws in certificates.items()
        },
    }
    data = to_json(content).encode()
    try:
        if manifest["files"].pop(CERTIFICATE, None) is not None:
            _label(manifest, None, None)
            _replace(bundle.path / MANIFEST, to_json(manifest).encode())
        _replace(bundle.path / CERTIFICATE, data)
        manifest["files"][CERTIFICATE] = {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}
        _label(manifest, certificates, labels)
        _replace(bundle.path / MANIFEST, to_json(manifest).encode())
    except OSError as error:
        raise WriteError(f"the certificate cannot be written: {os.strerror(error.errno or 0)}") from error
    return Bundle(bundle.path)


def _label(
    manifest: dict[str, Any],
    certificates: dict[str, dict[str, LevelCertificate]] | None,
    names: dict[str, float] | None,
) -> None:
    manifest["label"] = "textbook" if certificates is None else "certified"
    for name, laws in manifest["levels"].items():
        for mechanism, labels in laws.items():
            labels["epsilon_certified"] = None
            if certificates is not None:
                proven = certificates[name][mechanism].epsilon_certified
                labels["epsilon_certified"] = proven if names is None else names[name]


def _replace(path: Path, data: bytes) -> None:
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with temporary.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)
