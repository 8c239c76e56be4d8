"""A bundle on disk: opened strictly, every byte accounted for (docs/format.md).

``law.json`` and the files it names decide what the mechanism does; the SHA-256 of ``law.json`` is the bundle's
*identity*. ``manifest.json`` names every file with its size and hash, and carries what may be said about the law
without changing it: licence, provenance, labels, a certificate.
"""

import hashlib
import json
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textveil.errors import BundleDamaged, BundleNotFound, BundleVersion, IdentityMismatch
from textveil.table import LevelLaw, Table
from textveil.tensors import open_tensors

FORMAT = "textveil-bundle"
FORMAT_VERSION = 1
MANIFEST, LAW, VOCABULARY = "manifest.json", "law.json", "vocabulary.tsv"
TABLE, EMBEDDINGS = "table.safetensors", "embeddings.safetensors"
TOKEN_KINDS = ("word", "wordpiece")
TABLE_MECHANISMS = ("santext", "santext+")

_LAW_KEYS = {
    "tokens",
    "symbols",
    "neighbours",
    "grid",
    "median_squared_distance",
    "unknown_extra_squared_distance",
    "levels",
    "files",
}


@dataclass(frozen=True)
class Level:
    """One privacy level: a name and the law of each mechanism at that level."""

    name: str
    laws: dict[str, LevelLaw]


class Bundle:
    """An opened bundle. Hashes and structure have been checked; arrays stay mapped on disk.

    Attributes:
        path: Its folder.
        identity: SHA-256 of ``law.json``, lower-case hexadecimal.
        manifest: The parsed manifest.
        tokens: ``"word"`` or ``"wordpiece"``.
        vocabulary: Symbols by id, most frequent first; the spelling that is printed.
        ids: Id by spelling, merged spellings included.
        table: Neighbours, scores and roles.
        levels: Privacy levels, strictest first.
    """

    def __init__(self, path: Path) -> None:
        """Opens the bundle in ``path``.

        Raises:
            BundleNotFound: There is no bundle there.
            BundleVersion: It needs another version of this package.
            BundleDamaged: A file is missing, altered or malformed.
        """
        self.path = path
        if not (path / MANIFEST).is_file():
            raise BundleNotFound("no bundle at the given path (a bundle is a folder with a manifest.json)")
        self.manifest = _read_json(path / MANIFEST)
        if self.manifest.get("format") != FORMAT:
            raise BundleDamaged(f"{MANIFEST}: not a {FORMAT}")
        if self.manifest.get("format_version") != FORMAT_VERSION:
            raise BundleVersion(f"{MANIFEST}: this package reads format version {FORMAT_VERSION} only")
        try:
            self._check_files()
            law = _read_json(path / LAW)
            if set(law) != _LAW_KEYS:
                raise BundleDamaged(f"{LAW}: unknown or missing keys")
            if not set(law["files"]) <= {VOCABULARY, TABLE, EMBEDDINGS} or any(
                self.manifest["files"][name]["sha256"] != digest for name, digest in law["files"].items()
            ):
                raise BundleDamaged(f"{LAW}: does not belong to the files beside it")
            self.identity: str = self.manifest["files"][LAW]["sha256"]
            self.tokens: str = law["tokens"]
            self._has_embeddings = EMBEDDINGS in law["files"]
            self.vocabulary, self.ids = _read_vocabulary(path / VOCABULARY)
            self.table = Table.from_tensors(open_tensors(path / TABLE), law)
            self.levels = tuple(
                Level(entry["name"], {m: self._level_law(entry["laws"][m]) for m in TABLE_MECHANISMS})
                for entry in law["levels"]
            )
            defaults = self.manifest["defaults"]
            self.default_mechanism: str = defaults["mechanism"]
            self.default_level: str = defaults["level"]
            self.default_replacement_probability: str = defaults["replacement_probability"]
        except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
            raise BundleDamaged("a key of the manifest or the law is missing or malformed") from error
        if self.tokens not in TOKEN_KINDS or len(self.vocabulary) != self.table.symbols or not self.levels:
            raise BundleDamaged(f"{LAW}: does not fit the vocabulary or has no levels")
        if self.default_level not in [level.name for level in self.levels]:
            raise BundleDamaged(f"{MANIFEST}: the default level is not a level of the law")

    def require_identity(self, expected: str) -> None:
        """Raises ``IdentityMismatch`` unless ``expected`` is this bundle's identity."""
        if expected.strip().lower() != self.identity:
            raise IdentityMismatch(f"the bundle has another identity: {self.identity}")

    @cached_property
    def embeddings(self) -> NDArray[np.int8] | None:
        """Embedding rows, shape ``(symbols + 1, dimension)``, the last one ``<unk>``; ``None`` if not carried."""
        if not self._has_embeddings:
            return None
        rows = open_tensors(self.path / EMBEDDINGS).get("rows")
        if rows is None or rows.dtype != np.int8 or rows.ndim != 2 or len(rows) != self.table.symbols + 1:
            raise BundleDamaged(f"{EMBEDDINGS}: the rows do not fit the vocabulary")
        return rows

    def certified_epsilon(self, level: Level, mechanism: str) -> float | None:
        """The certified epsilon that the manifest carries for a level, or ``None`` before certification."""
        labels = self.manifest.get("levels", {}).get(level.name, {}).get(mechanism, {})
        value = labels.get("epsilon_certified")
        return None if value is None else float(value)

    def _level_law(self, entry: dict[str, Any]) -> LevelLaw:
        if set(entry) != {"exponent", "tail", "weights", "base"} or entry["tail"] != "capped":
            raise BundleDamaged(f"{LAW}: a level needs another version of this package")
        try:
            exponent = Decimal(entry["exponent"])
        except InvalidOperation as error:
            raise ValueError("exponent") from error
        return self.table.level_law(exponent, entry["weights"], entry["base"])

    def _check_files(self) -> None:
        files = self.manifest["files"]
        for required in (LAW, VOCABULARY, TABLE):
            if required not in files:
                raise BundleDamaged(f"{MANIFEST}: does not list {required}")
        for name, entry in files.items():
            if Path(name).name != name or name in (".", "..", MANIFEST) or "\\" in name:
                raise BundleDamaged(f"{MANIFEST}: lists a file outside the bundle")
            path = self.path / name
            try:
                if path.stat().st_size != entry["bytes"]:
                    raise BundleDamaged(f"{name}: has another size than the manifest says")
                with path.open("rb") as file:
                    digest = hashlib.file_digest(file, "sha256").hexdigest()
            except OSError as error:
                raise BundleDamaged(f"{name}: cannot be read") from error
            if digest != entry["sha256"]:
                raise BundleDamaged(f"{name}: does not match its hash")


def _read_json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_bytes().decode("utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise BundleDamaged(f"{path.name}: is not readable JSON") from error
    if not isinstance(content, dict):
        raise BundleDamaged(f"{path.name}: is not a JSON object")
    return content


def _read_vocabulary(path: Path) -> tuple[list[str], dict[str, int]]:
    lines = path.read_bytes().decode("utf-8").split("\n")
    if lines.pop() != "" or not lines:
        raise BundleDamaged(f"{path.name}: the last line is incomplete")
    ids: dict[str, int] = {}
    spellings = 0
    for index, line in enumerate(lines):
        for spelling in line.split("\t"):
            ids[spelling] = index
            spellings += 1
    if len(ids) != spellings or "" in ids:
        raise BundleDamaged(f"{path.name}: a spelling is empty or occurs twice")
    return [line.partition("\t")[0] for line in lines], ids
