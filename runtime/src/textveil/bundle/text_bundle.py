"""A bundle on disk: opened strictly, every byte accounted for (docs/format.md).

``law.json`` and the files it names decide what the mechanisms do. ``manifest.json`` names every file with its size and
hash, and carries license, provenance and the labels of levels. The *identity* of a bundle is the SHA-256 of its
manifest, so that it covers everything a promise is read from; in format version 2 it was that of ``law.json`` alone.
"""

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from textveil.bundle.files import (
    MANIFEST,
    MAX_BUNDLE_BYTES,
    TEXT_BUNDLE,
    open_manifest,
    parse_json,
    read_files,
    require_identity,
)
from textveil.bundle.lists import count_lists, read_list
from textveil.bundle.maker import require_maker
from textveil.bundle.pins import Pins, pin
from textveil.bundle.safetensors_reader import parse_tensors
from textveil.bundle.santext_files import (
    EMBEDDINGS,
    SANTEXT_KEYS,
    TABLE,
    TABLE_MECHANISMS,
    Level,
    open_santext,
)
from textveil.bundle.staircase_files import (
    CONTEXT,
    LAW,
    STAIRCASE,
    SkeletonFiles,
    check_default_level,
    open_context,
    read_skeleton,
    staircase_levels,
)
from textveil.errors import BundleDamaged, BundleVersion, OldFormat, UnknownMechanism
from textveil.mechanisms.baselines.table import Table
from textveil.mechanisms.metric import Metric
from textveil.mechanisms.staircase.context import ContextTable
from textveil.mechanisms.staircase.staircase import StaircaseLevel
from textveil.mechanisms.staircase.table import StaircaseTable

FORMAT = TEXT_BUNDLE
TEXT_FORMAT_VERSION = 3
#: Versions that this package reads.
READABLE = (2, 3)
VOCABULARY = "vocabulary.tsv"
#: What may stay visible under the staircase.
VISIBLE = ("function-words", "none")
CERTIFICATE, CERTIFICATE_FORMAT, CERTIFICATE_VERSION = "certificate.json", "textveil-certificate", 2
STATISTICS, STATISTICS_FORMAT, STATISTICS_VERSION = "statistics.json", "textveil-statistics", 1
TOKEN_KINDS = ("word", "wordpiece")

_OLD = (
    "a bundle of format version 2: its identity covers the table alone, not the labels of levels, the certificate, the "
    "license and where words and vectors come from"
)
_VERSION_2_KEYS = {"tokens", "symbols", "defaults", "files"} | SANTEXT_KEYS
_LAW_KEYS = {"tokens", "symbols", "santext", "staircase", "skeleton", "defaults", "files"}


class Bundle:
    """An opened bundle. Hashes and structure have been checked; all of it is in memory.

    Attributes:
        path: Its folder.
        max_bytes: The cap that it was opened with.
        version: Its format version.
        identity: SHA-256 of ``manifest.json``, lower-case hexadecimal; of ``law.json`` in version 2.
        law_identity: SHA-256 of ``law.json``: what certificates and statistics are about.
        manifest: The parsed manifest.
        manifest_sha256: SHA-256 of ``manifest.json``.
        pinned: Whether the caller named this identity or its maker: only then are its certified labels more than a
            claim of whoever wrote the folder.
        tokens: ``"word"`` or ``"wordpiece"``.
        vocabulary: Symbols by id, most frequent first; the spelling that is printed.
        ids: Id by spelling, merged spellings included.
        levels: Privacy levels of SanText, strictest first; none where the bundle has no SanText.
        staircase: Neighbors and base of the staircase, or ``None``.
        staircase_levels: Levels of the staircase, strictest first.
        context: What the base makes of a context, or ``None`` where it cannot follow the text.
        skeleton: What the rule of the skeleton is made from, or ``None``.
        default_mechanism: The mechanism of a call that names none.
        default_table_mechanism, default_level, default_replacement_probability: The same for SanText.
        default_staircase_level, default_visible: The same for the staircase.
        certificate: The parsed certificate, or ``None``.
        statistics: The parsed statistics of the levels, or ``None``.
    """

    def __init__(
        self,
        path: Path,
        *,
        expect_id: str | None = None,
        maker: str | None = None,
        max_bytes: int = MAX_BUNDLE_BYTES,
    ) -> None:
        """Opens the bundle in ``path``.

        Args:
            path: Its folder.
            expect_id: The identity it must have.
            maker: Public key of the maker who must have signed it, 64 hexadecimal digits.
            max_bytes: Most bytes of all its files together.

        Raises:
            BundleNotFound: There is no bundle there.
            WrongBundle: It is an encoder bundle.
            BundleVersion: It needs another version of this package.
            BundleDamaged: A file is missing, altered or malformed.
            BundleTooLarge: The files are larger than allowed.
            IdentityMismatch, NotTheMaker: It is not the one expected.
        """
        self.path, self.max_bytes = path, max_bytes
        self.manifest, self.manifest_sha256 = open_manifest(path, FORMAT, READABLE)
        self.pinned = False
        try:
            self.version: int = self.manifest["format_version"]
            contents = read_files(path, self.manifest["files"], (LAW, VOCABULARY), max_bytes)
            definition = parse_json(contents[LAW], LAW)
            self.law_identity: str = self.manifest["files"][LAW]["sha256"]
            self.identity = self.manifest_sha256 if self.version > 2 else self.law_identity
            if self.version == 2:
                definition = _as_version_3(definition)
            if set(definition) != _LAW_KEYS:
                raise BundleDamaged(f"{LAW}: unknown or missing keys")
            self._check_decisive(definition)
            self.tokens: str = definition["tokens"]
            count_lists(contents, _lists(definition))
            self.vocabulary, self.ids = _read_vocabulary(read_list(contents, VOCABULARY))
            symbols = definition["symbols"]
            if type(symbols) is not int or symbols != len(self.vocabulary) or self.tokens not in TOKEN_KINDS:
                raise BundleDamaged(f"{LAW}: does not fit the vocabulary")
            parts = {part for part in ("santext", "staircase") if definition[part] is not None}
            if set(definition["defaults"]) != {"mechanism"} | parts:
                raise BundleDamaged(f"{LAW}: unknown or missing defaults")
            self._open_santext(definition, contents)
            self._open_staircase(definition, contents)
            self.default_mechanism = str(definition["defaults"]["mechanism"])
            self.certificate = self._read_certificate(contents[CERTIFICATE]) if CERTIFICATE in contents else None
            self.statistics = self._read_statistics(contents[STATISTICS]) if STATISTICS in contents else None
            self._certified = {level.name: self._labels(level) for level in self.levels}
        except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
            raise BundleDamaged("a key of the manifest or of law.json is missing or malformed") from error
        if self.default_mechanism not in self.mechanisms:
            raise BundleDamaged(f"{LAW}: the default mechanism is not one of the bundle's")
        if self.version == 2:
            warnings.warn(_OLD, OldFormat, stacklevel=2)
        pin(self, expect_id, maker)

    @property
    def same(self) -> Pins:
        """What another process demands, so that it opens this very bundle and no other."""
        return Pins(expect_id=self.identity, max_bytes=self.max_bytes)

    @property
    def symbols(self) -> int:
        """Number of symbols; also the id of ``<unk>`` as an input."""
        return len(self.vocabulary)

    @property
    def mechanisms(self) -> tuple[str, ...]:
        """The mechanisms that this bundle carries tables of."""
        return (("staircase",) if self.staircase is not None else ()) + (TABLE_MECHANISMS if self.levels else ())

    @property
    def table(self) -> Table:
        """Neighbors, scores and roles of SanText.

        Raises:
            UnknownMechanism: The bundle has none.
        """
        if self._table is None:
            raise UnknownMechanism(f"this bundle carries {', '.join(self.mechanisms)} only")
        return self._table

    @property
    def metric(self) -> Metric:
        """Distances of all inputs of SanText.

        Raises:
            UnknownMechanism: The bundle has none.
        """
        if self._metric is None:
            raise UnknownMechanism(f"this bundle carries {', '.join(self.mechanisms)} only")
        return self._metric

    def _check_decisive(self, definition: dict[str, Any]) -> None:
        """Refuses a definition whose files are not those that the manifest lists with their hashes."""
        named = _lists(definition)
        if definition["santext"] is not None:
            named += [TABLE, EMBEDDINGS]
        if definition["staircase"] is not None:
            named += [STAIRCASE, *([CONTEXT] if CONTEXT in self.manifest["files"] else [])]
        listed = self.manifest["files"]
        for name in named:
            if name not in listed:
                raise BundleDamaged(f"{MANIFEST}: does not list {name!a}")
        if definition["files"] != {name: listed[name]["sha256"] for name in named} or len(set(named)) != len(named):
            raise BundleDamaged(f"{LAW}: does not belong to the files beside it")

    def _open_santext(self, definition: dict[str, Any], contents: Mapping[str, bytes]) -> None:
        part = open_santext(contents, definition)
        self._table, self._metric, self.levels = part.table, part.metric, part.levels
        self.default_table_mechanism, self.default_level = part.mechanism, part.level
        self.default_replacement_probability = part.replacement_probability

    def _open_staircase(self, definition: dict[str, Any], contents: Mapping[str, bytes]) -> None:
        constants, skeleton = definition["staircase"], definition["skeleton"]
        self.staircase: StaircaseTable | None = None
        self.staircase_levels: tuple[StaircaseLevel, ...] = ()
        self.context: ContextTable | None = None
        self.skeleton: SkeletonFiles | None = None
        self.default_staircase_level = self.default_visible = ""
        if constants is None:
            if skeleton is not None:
                raise BundleDamaged(f"{LAW}: a skeleton without a staircase")
            return
        if self.tokens != "word":
            raise BundleDamaged(f"{LAW}: the staircase is for words")
        self.staircase = StaircaseTable.from_tensors(parse_tensors(contents[STAIRCASE], STAIRCASE), self.symbols)
        self.staircase_levels = staircase_levels(self.staircase, constants)
        self.skeleton = read_skeleton(contents, skeleton)
        if CONTEXT in definition["files"]:
            kinds, vocabulary = len(self.skeleton.kinds), definition["files"][VOCABULARY]
            self.context = open_context(contents[CONTEXT], self.staircase, self.staircase_levels, kinds, vocabulary)
        defaults = definition["defaults"]["staircase"]
        self.default_staircase_level, self.default_visible = str(defaults["level"]), str(defaults["visible"])
        if set(defaults) != {"level", "visible"} or self.default_visible not in VISIBLE:
            raise BundleDamaged(f"{LAW}: a default is not supported")
        check_default_level([level.name for level in self.staircase_levels], self.default_staircase_level)

    def require_identity(self, expected: str) -> None:
        """Raises ``IdentityMismatch`` unless ``expected`` is this bundle's identity, which is pinned then."""
        require_identity(self.identity, expected)
        self.pinned = self.version > 2  # the identity of version 2 does not cover the labels

    def require_maker(self, key: str) -> None:
        """Raises ``NotTheMaker`` unless the owner of this public key signed the bundle, which is pinned then."""
        require_maker(self.path, self.manifest_sha256, key)
        self.pinned = True

    def certified_epsilon(self, level: Level, mechanism: str) -> float | None:
        """Returns the certified epsilon that the manifest carries for a level, or ``None`` before certification."""
        return self._certified[level.name][mechanism]

    def _read_certificate(self, content: bytes) -> dict[str, Any]:
        certificate = self._read_record(content, CERTIFICATE, CERTIFICATE_FORMAT, CERTIFICATE_VERSION)
        for mechanisms in certificate["levels"].values():
            for proven in mechanisms.values():
                if type(proven["epsilon_certified"]) not in (int, float):
                    raise BundleDamaged(f"{CERTIFICATE}: an epsilon is not a number")
        return certificate

    def _read_statistics(self, content: bytes) -> dict[str, Any]:
        statistics = self._read_record(content, STATISTICS, STATISTICS_FORMAT, STATISTICS_VERSION)
        for level in self.levels:
            for mechanism in level.parameters:
                if not isinstance(statistics["levels"][level.name][mechanism], dict):
                    raise BundleDamaged(f"{STATISTICS}: a mechanism has no statistics")
        return statistics

    def _read_record(self, content: bytes, name: str, wanted: str, version: int) -> dict[str, Any]:
        """A file about the finished table: of the right format, and of this very table."""
        record = parse_json(content, name)
        if record.get("format") != wanted or record.get("format_version") != version:
            raise BundleVersion(f"{name}: this package reads format version {version} only")
        if record.get("identity") != self.law_identity:
            raise BundleDamaged(f"{name}: belongs to another table")
        return record

    def _labels(self, level: Level) -> dict[str, float | None]:
        labels = self.manifest.get("levels", {}).get(level.name, {})
        certified: dict[str, float | None] = {}
        for mechanism in level.parameters:
            value = labels.get(mechanism, {}).get("epsilon_certified")
            if value is None:
                certified[mechanism] = None
                continue
            if type(value) not in (int, float) or not 0 < value < 1e6 or self.certificate is None:
                raise BundleDamaged(f"{MANIFEST}: a certified epsilon is not a number, or there is no certificate")
            if value < self.certificate["levels"][level.name][mechanism]["epsilon_certified"]:
                raise BundleDamaged(f"{MANIFEST}: a level is labeled with less than what was proven")
            certified[mechanism] = float(value)
        return certified


def _as_version_3(definition: dict[str, Any]) -> dict[str, Any]:
    """Returns the definition of a version 2 bundle, which has SanText alone, as version 3 has it."""
    if set(definition) != _VERSION_2_KEYS:
        raise BundleDamaged(f"{LAW}: unknown or missing keys")
    defaults = definition["defaults"]
    return {
        **{key: definition[key] for key in ("tokens", "symbols", "files")},
        "santext": {key: definition[key] for key in SANTEXT_KEYS},
        "staircase": None,
        "skeleton": None,
        "defaults": {"mechanism": defaults["mechanism"], "santext": defaults},
    }


def _lists(definition: dict[str, Any]) -> list[str]:
    """The files of a bundle that are lists of words."""
    if definition["staircase"] is None:
        return [VOCABULARY]
    skeleton = definition["skeleton"]
    return [VOCABULARY, skeleton["function_words"], *(kind["file"] for kind in skeleton["kinds"])]


def _read_vocabulary(text: str) -> tuple[list[str], dict[str, int]]:
    lines = text.split("\n")
    if lines.pop() != "" or not lines:
        raise BundleDamaged(f"{VOCABULARY}: the last line is incomplete")
    ids = dict(zip(lines, range(len(lines)), strict=True))
    spellings = len(lines)
    printed = lines
    if several := [index for index, line in enumerate(lines) if "\t" in line]:
        printed = list(lines)
        for index in several:
            ids.pop(lines[index], None)
            printed[index], *_ = found = lines[index].split("\t")
            spellings += len(found) - 1
            ids.update(dict.fromkeys(found, index))
    if len(ids) != spellings or "" in ids:
        raise BundleDamaged(f"{VOCABULARY}: a spelling is empty or occurs twice")
    return printed, ids
