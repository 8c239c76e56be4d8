"""A bundle on disk: opened strictly, every byte accounted for (docs/format.md).

``law.json`` and the files it names decide what the mechanism does; the SHA-256 of ``law.json`` is the bundle's
*identity*. ``manifest.json`` names every file with its size and hash, and carries what may be said about the law
without changing it: licence, provenance, labels, a certificate.
"""

import hashlib
import json
import re
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from textveil.errors import BundleDamaged, BundleNotFound, BundleVersion, IdentityMismatch
from textveil.table import LevelLaw, Table
from textveil.tensors import open_tensors, unique_keys

FORMAT = "textveil-bundle"
FORMAT_VERSION = 1
MANIFEST, LAW, VOCABULARY = "manifest.json", "law.json", "vocabulary.tsv"
CERTIFICATE, CERTIFICATE_FORMAT = "certificate.json", "textveil-certificate"
TABLE, EMBEDDINGS = "table.safetensors", "embeddings.safetensors"
TOKEN_KINDS = ("word", "wordpiece")
TABLE_MECHANISMS = ("santext", "santext+")

_DECISIVE = (VOCABULARY, TABLE, EMBEDDINGS)
_DECIMAL = re.compile(r"[0-9]+(\.[0-9]+)?")
_FILE_NAME = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9._-]*")
_LAW_KEYS = {
    "tokens",
    "symbols",
    "neighbours",
    "grid",
    "median_squared_distance",
    "unknown_extra_squared_distance",
    "levels",
    "defaults",
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
        embeddings: Embedding rows, shape ``(symbols + 1, dimension)``, the last one ``<unk>``, or ``None``.
        levels: Privacy levels, strictest first.
        certificate: The parsed certificate, or ``None``.
    """

    def __init__(self, path: Path) -> None:
        """Opens the bundle in ``path``.

        Raises:
            BundleNotFound: There is no bundle there.
            BundleVersion: It needs another version of this package.
            BundleDamaged: A file is missing, altered or malformed.
        """
        self.path = path
        try:
            found = (path / MANIFEST).is_file()
        except (OSError, ValueError):  # a name too long, or with a NUL
            found = False
        if not found:
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
            decisive = {name: self.manifest["files"].get(name, {}).get("sha256") for name in _DECISIVE}
            if law["files"] != {name: digest for name, digest in decisive.items() if digest is not None}:
                raise BundleDamaged(f"{LAW}: does not belong to the files beside it")
            self.identity: str = self.manifest["files"][LAW]["sha256"]
            self.tokens: str = law["tokens"]
            self.vocabulary, self.ids = _read_vocabulary(path / VOCABULARY)
            self.table = Table.from_tensors(open_tensors(path / TABLE), law)
            self.embeddings = _open_embeddings(path, self.table) if EMBEDDINGS in law["files"] else None
            self.levels = tuple(self._level(entry) for entry in law["levels"])
            self.certificate = self._read_certificate() if CERTIFICATE in self.manifest["files"] else None
            self._certified = {level.name: self._labels(level) for level in self.levels}
            defaults = law["defaults"]
            self.default_mechanism = str(defaults["mechanism"])
            self.default_level = str(defaults["level"])
            self.default_replacement_probability = str(defaults["replacement_probability"])
        except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
            raise BundleDamaged("a key of the manifest or the law is missing or malformed") from error
        if self.tokens not in TOKEN_KINDS or len(self.vocabulary) != self.table.symbols or not self.levels:
            raise BundleDamaged(f"{LAW}: does not fit the vocabulary or has no levels")
        probability = self.default_replacement_probability
        if (
            self.default_mechanism not in TABLE_MECHANISMS
            or not _DECIMAL.fullmatch(probability)
            or not 0 < Decimal(probability) <= 1
        ):
            raise BundleDamaged(f"{LAW}: a default is not supported")
        names = [level.name for level in self.levels]
        if self.default_level not in names or len(set(names)) != len(names):
            raise BundleDamaged("the default level is not a level of the law, or a level occurs twice")

    def require_identity(self, expected: str) -> None:
        """Raises ``IdentityMismatch`` unless ``expected`` is this bundle's identity."""
        if expected.strip().lower() != self.identity:
            raise IdentityMismatch(f"the bundle has another identity: {self.identity}")

    def certified_epsilon(self, level: Level, mechanism: str) -> float | None:
        """The certified epsilon that the manifest carries for a level, or ``None`` before certification."""
        return self._certified[level.name][mechanism]

    def _read_certificate(self) -> dict[str, Any]:
        certificate = _read_json(self.path / CERTIFICATE)
        if certificate.get("format") != CERTIFICATE_FORMAT or certificate.get("format_version") != 1:
            raise BundleVersion(f"{CERTIFICATE}: this package reads format version 1 only")
        if certificate.get("identity") != self.identity:
            raise BundleDamaged(f"{CERTIFICATE}: belongs to another table")
        for laws in certificate["levels"].values():
            if any(type(proven["epsilon_certified"]) not in (int, float) for proven in laws.values()):
                raise BundleDamaged(f"{CERTIFICATE}: an epsilon is not a number")
        return certificate

    def _labels(self, level: Level) -> dict[str, float | None]:
        labels = self.manifest.get("levels", {}).get(level.name, {})
        certified: dict[str, float | None] = {}
        for mechanism in level.laws:
            value = labels.get(mechanism, {}).get("epsilon_certified")
            if value is None:
                certified[mechanism] = None
                continue
            if type(value) not in (int, float) or not 0 < value < 1e6 or self.certificate is None:
                raise BundleDamaged(f"{MANIFEST}: a certified epsilon is not a number, or there is no certificate")
            if value < self.certificate["levels"][level.name][mechanism]["epsilon_certified"]:
                raise BundleDamaged(f"{MANIFEST}: a level is labelled with less than what was proven")
            certified[mechanism] = float(value)
        return certified

    def _level(self, entry: dict[str, Any]) -> Level:
        if set(entry) != {"name", "laws"} or set(entry["laws"]) != set(TABLE_MECHANISMS):
            raise BundleDamaged(f"{LAW}: a level has unknown or missing keys")
        if not isinstance(entry["name"], str):
            raise BundleDamaged(f"{LAW}: the name of a level is not text")
        return Level(entry["name"], {m: self._level_law(m, entry["laws"][m]) for m in TABLE_MECHANISMS})

    def _level_law(self, mechanism: str, entry: dict[str, Any]) -> LevelLaw:
        if set(entry) != {"exponent", "tail", "weights", "base"} or entry["tail"] != "capped":
            raise BundleDamaged(f"{LAW}: a level needs another version of this package")
        if not _DECIMAL.fullmatch(entry["exponent"]):
            raise BundleDamaged(f"{LAW}: an exponent is not a decimal number")
        law = self.table.level_law(Decimal(entry["exponent"]), entry["weights"], entry["base"])
        self.table.base_measure(mechanism, law)  # checks it
        return law

    def _check_files(self) -> None:
        files = self.manifest["files"]
        for required in (LAW, VOCABULARY, TABLE):
            if required not in files:
                raise BundleDamaged(f"{MANIFEST}: does not list {required}")
        for name, entry in files.items():
            if not _FILE_NAME.fullmatch(name) or name == MANIFEST:
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


def _open_embeddings(path: Path, table: Table) -> NDArray[np.int8]:
    rows = open_tensors(path / EMBEDDINGS).get("rows")
    if rows is None or rows.dtype != np.int8 or rows.ndim != 2 or len(rows) != table.symbols + 1:
        raise BundleDamaged(f"{EMBEDDINGS}: the rows do not fit the vocabulary")
    return rows


def _read_json(path: Path) -> dict[str, Any]:
    try:
        content = json.loads(path.read_bytes().decode("utf-8"), object_pairs_hook=unique_keys, parse_constant=_refuse)
    except (OSError, ValueError, RecursionError) as error:
        raise BundleDamaged(f"{path.name}: is not readable JSON") from error
    if not isinstance(content, dict):
        raise BundleDamaged(f"{path.name}: is not a JSON object")
    return content


def _refuse(constant: str) -> None:
    raise ValueError("NaN and Infinity are not JSON")


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
