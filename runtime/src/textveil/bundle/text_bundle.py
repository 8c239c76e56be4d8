"""A bundle on disk: opened strictly, every byte accounted for (docs/format.md).

``law.json`` and the files it names decide what the mechanism does; the SHA-256 of ``law.json`` is the bundle's
*identity*. ``manifest.json`` names every file with its size and hash, and carries what may be said about the
mechanisms without changing them: license, provenance, labels, a certificate.
"""

import re
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np

from textveil.bundle.files import MANIFEST, TEXT_BUNDLE, check_files, open_manifest, read_json, require_identity
from textveil.bundle.safetensors_reader import open_tensors
from textveil.errors import BundleDamaged, BundleVersion
from textveil.mechanisms.integer_sampling import MAX_TOTAL
from textveil.mechanisms.metric import Metric
from textveil.mechanisms.table import CAPPED, EXACT, LevelParameters, Table

FORMAT = TEXT_BUNDLE
TEXT_FORMAT_VERSION = 2
LAW, VOCABULARY = "law.json", "vocabulary.tsv"
CERTIFICATE, CERTIFICATE_FORMAT, CERTIFICATE_VERSION = "certificate.json", "textveil-certificate", 2
STATISTICS, STATISTICS_FORMAT, STATISTICS_VERSION = "statistics.json", "textveil-statistics", 1
TABLE, EMBEDDINGS = "table.safetensors", "embeddings.safetensors"
TOKEN_KINDS = ("word", "wordpiece")
TABLE_MECHANISMS = ("santext", "santext+")
TAILS = (CAPPED, EXACT)

_DECISIVE = (VOCABULARY, TABLE, EMBEDDINGS)
_DECIMAL = re.compile(r"[0-9]+(\.[0-9]+)?")
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
    """One privacy level: its name, and its parameters by mechanism and tail, the same ones for all levels."""

    name: str
    parameters: dict[tuple[str, str], LevelParameters]


class Bundle:
    """An opened bundle. Hashes and structure have been checked; arrays stay mapped on disk.

    Attributes:
        path: Its folder.
        identity: SHA-256 of ``law.json``, lower-case hexadecimal.
        manifest: The parsed manifest.
        tokens: ``"word"`` or ``"wordpiece"``.
        vocabulary: Symbols by id, most frequent first; the spelling that is printed.
        ids: Id by spelling, merged spellings included.
        table: Neighbors, scores and roles.
        metric: Distances of all inputs, or ``None`` where the bundle does not carry the embedding rows.
        levels: Privacy levels, strictest first.
        certificate: The parsed certificate, or ``None``.
        statistics: The parsed statistics of the levels, or ``None``.
    """

    def __init__(self, path: Path) -> None:
        """Opens the bundle in ``path``.

        Raises:
            BundleNotFound: There is no bundle there.
            WrongBundle: It is an encoder bundle.
            BundleVersion: It needs another version of this package.
            BundleDamaged: A file is missing, altered or malformed.
        """
        self.path = path
        self.manifest = open_manifest(path, FORMAT, TEXT_FORMAT_VERSION)
        try:
            check_files(path, self.manifest["files"], (LAW, VOCABULARY, TABLE))
            definition = read_json(path / LAW)
            if set(definition) != _LAW_KEYS:
                raise BundleDamaged(f"{LAW}: unknown or missing keys")
            decisive = {name: self.manifest["files"].get(name, {}).get("sha256") for name in _DECISIVE}
            if definition["files"] != {name: digest for name, digest in decisive.items() if digest is not None}:
                raise BundleDamaged(f"{LAW}: does not belong to the files beside it")
            self.identity: str = self.manifest["files"][LAW]["sha256"]
            self.tokens: str = definition["tokens"]
            self.vocabulary, self.ids = _read_vocabulary(path / VOCABULARY)
            self.table = Table.from_tensors(open_tensors(path / TABLE), definition)
            self.metric = _open_metric(path, definition)
            self.levels = tuple(self._level(entry) for entry in definition["levels"])
            self.certificate = self._read_certificate() if CERTIFICATE in self.manifest["files"] else None
            self.statistics = self._read_statistics() if STATISTICS in self.manifest["files"] else None
            self._certified = {level.name: self._labels(level) for level in self.levels}
            defaults = definition["defaults"]
            self.default_mechanism = str(defaults["mechanism"])
            self.default_tail = str(defaults["tail"])
            self.default_level = str(defaults["level"])
            self.default_replacement_probability = str(defaults["replacement_probability"])
        except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
            raise BundleDamaged("a key of the manifest or of law.json is missing or malformed") from error
        if self.tokens not in TOKEN_KINDS or len(self.vocabulary) != self.table.symbols or not self.levels:
            raise BundleDamaged(f"{LAW}: does not fit the vocabulary or has no levels")
        have = set(self.levels[0].parameters)
        if any(set(level.parameters) != have for level in self.levels):
            raise BundleDamaged(f"{LAW}: the levels have different mechanisms or tails")
        probability = self.default_replacement_probability
        if (
            set(defaults) != {"mechanism", "tail", "level", "replacement_probability"}
            or (self.default_mechanism, self.default_tail) not in have
            or not _DECIMAL.fullmatch(probability)
            or not 0 < Decimal(probability) <= 1
        ):
            raise BundleDamaged(f"{LAW}: a default is not supported")
        names = [level.name for level in self.levels]
        if self.default_level not in names or len(set(names)) != len(names):
            raise BundleDamaged("the default level is not a level of law.json, or a level occurs twice")

    def require_identity(self, expected: str) -> None:
        """Raises ``IdentityMismatch`` unless ``expected`` is this bundle's identity."""
        require_identity(self.identity, expected)

    @property
    def tails(self) -> tuple[str, ...]:
        """The tails that every level of this bundle has."""
        return tuple(tail for tail in TAILS if (self.default_mechanism, tail) in self.levels[0].parameters)

    def certified_epsilon(self, level: Level, mechanism: str, tail: str) -> float | None:
        """Returns the certified epsilon that the manifest carries for a level, or ``None`` before certification."""
        return self._certified[level.name][mechanism, tail]

    def _read_certificate(self) -> dict[str, Any]:
        certificate = self._read_record(CERTIFICATE, CERTIFICATE_FORMAT, CERTIFICATE_VERSION)
        for mechanisms in certificate["levels"].values():
            for proven in (proven for tails in mechanisms.values() for proven in tails.values()):
                if type(proven["epsilon_certified"]) not in (int, float):
                    raise BundleDamaged(f"{CERTIFICATE}: an epsilon is not a number")
        return certificate

    def _read_statistics(self) -> dict[str, Any]:
        statistics = self._read_record(STATISTICS, STATISTICS_FORMAT, STATISTICS_VERSION)
        for level in self.levels:
            for mechanism, tail in level.parameters:
                if not isinstance(statistics["levels"][level.name][mechanism][tail], dict):
                    raise BundleDamaged(f"{STATISTICS}: a mechanism has no statistics")
        return statistics

    def _read_record(self, name: str, wanted: str, version: int) -> dict[str, Any]:
        """A file about the finished table: of the right format, and of this very table."""
        record = read_json(self.path / name)
        if record.get("format") != wanted or record.get("format_version") != version:
            raise BundleVersion(f"{name}: this package reads format version {version} only")
        if record.get("identity") != self.identity:
            raise BundleDamaged(f"{name}: belongs to another table")
        return record

    def _labels(self, level: Level) -> dict[tuple[str, str], float | None]:
        labels = self.manifest.get("levels", {}).get(level.name, {})
        certified: dict[tuple[str, str], float | None] = {}
        for mechanism, tail in level.parameters:
            value = labels.get(mechanism, {}).get(tail, {}).get("epsilon_certified")
            if value is None:
                certified[mechanism, tail] = None
                continue
            if type(value) not in (int, float) or not 0 < value < 1e6 or self.certificate is None:
                raise BundleDamaged(f"{MANIFEST}: a certified epsilon is not a number, or there is no certificate")
            if value < self.certificate["levels"][level.name][mechanism][tail]["epsilon_certified"]:
                raise BundleDamaged(f"{MANIFEST}: a level is labeled with less than what was proven")
            certified[mechanism, tail] = float(value)
        return certified

    def _level(self, entry: dict[str, Any]) -> Level:
        if set(entry) != {"name", "laws"} or set(entry["laws"]) != set(TABLE_MECHANISMS):
            raise BundleDamaged(f"{LAW}: a level has unknown or missing keys")
        if not isinstance(entry["name"], str):
            raise BundleDamaged(f"{LAW}: the name of a level is not text")
        tails = list(entry["laws"][TABLE_MECHANISMS[0]])
        if not tails or any(set(entry["laws"][mechanism]) != set(tails) for mechanism in TABLE_MECHANISMS):
            raise BundleDamaged(f"{LAW}: the mechanisms of a level have different tails, or none")
        parameters = {
            (m, tail): self._level_parameters(m, tail, entry["laws"][m][tail])
            for m in TABLE_MECHANISMS
            for tail in tails
        }
        return Level(entry["name"], parameters)

    def _level_parameters(self, mechanism: str, tail: str, entry: dict[str, Any]) -> LevelParameters:
        if set(entry) != {"exponent", "weights", "base"} or tail not in TAILS:
            raise BundleDamaged(f"{LAW}: a level needs another version of this package")
        if not _DECIMAL.fullmatch(entry["exponent"]):
            raise BundleDamaged(f"{LAW}: an exponent is not a decimal number")
        if tail == EXACT and self.metric is None:
            raise BundleDamaged(f"{LAW}: an exact tail needs the embedding rows")
        parameters = self.table.level_parameters(tail, Decimal(entry["exponent"]), entry["weights"], entry["base"])
        self.table.base_measure(mechanism, parameters)  # checks it
        return parameters


def _open_metric(path: Path, definition: dict[str, Any]) -> Metric | None:
    grid, median, extra = (
        definition["grid"],
        definition["median_squared_distance"],
        definition["unknown_extra_squared_distance"],
    )
    if any(type(number) is not int for number in (grid, median, extra)) or min(grid, median) < 1 or extra < 0:
        raise BundleDamaged(f"{LAW}: the constants of the metric are out of range")
    if EMBEDDINGS not in definition["files"]:
        return None
    rows = open_tensors(path / EMBEDDINGS).get("rows")
    if rows is None or rows.dtype != np.int8 or rows.ndim != 2 or len(rows) != definition["symbols"] + 1:
        raise BundleDamaged(f"{EMBEDDINGS}: the rows do not fit the vocabulary")
    if max((rows.shape[1] * 255**2 + extra) * grid**2, median) >= MAX_TOTAL:  # beyond what scores are computed in
        raise BundleDamaged(f"{LAW}: the constants of the metric are out of range")
    return Metric(rows, grid, median, extra)


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
