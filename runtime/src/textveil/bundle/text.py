"""Text bundles: staircase mechanism, SanText, lists of the mode ``names``, or several.

``law.json`` and the files that it lists determine the output distributions of the mechanisms (docs/format.md). The
manifest lists every file with its size and hash, and has license, provenance and the certified epsilons of levels.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar

from textveil.bundle.fields import an_object, integer, one_of, record
from textveil.bundle.files import Contents, parse_json
from textveil.bundle.layout import (
    CERTIFICATE,
    CERTIFICATE_FORMAT,
    CERTIFICATE_VERSION,
    CHARACTERS,
    EMBEDDINGS,
    LAW,
    MANIFEST,
    RULES,
    STAIRCASE,
    STATISTICS,
    STATISTICS_FORMAT,
    STATISTICS_VERSION,
    TABLE,
    TABLE_MECHANISMS,
    VOCABULARY,
)
from textveil.bundle.opened import Opened
from textveil.bundle.parts import MAX_SYMBOLS, Level, NamesPart, SanTextPart, StaircasePart, names_files, open_names
from textveil.bundle.staircase_files import list_files, open_staircase
from textveil.errors import BundleDamaged, BundleVersion, UnknownMechanism

if TYPE_CHECKING:
    from textveil.bundle.names_files import NamesLists
    from textveil.mechanisms.baselines.table import Table
    from textveil.mechanisms.metric import Metric

TOKEN_KINDS = ("word", "wordpiece")
#: Folder of SanText's tables, which the built-in bundle lacks.
SANTEXT_ARTIFACT = "artifacts/english-santext"

_LAW_KEYS = {"tokens", "symbols", "santext", "staircase", "skeleton", "defaults", "files"}
_Labels = dict[tuple[str, str], float | None]


@dataclass(frozen=True, kw_only=True, eq=False)
class TextBundle(Opened, SanTextPart, StaircasePart, NamesPart):
    """An opened text bundle with the data of its mechanisms.

    Attributes:
        law_identity: SHA-256 of ``law.json``; certificates and statistics refer to it.
        tokens: ``"word"`` or ``"wordpiece"``.
        vocabulary: Printed spelling of each symbol by id, most frequent first; empty without a mechanism.
        ids: Id by spelling, with merged spellings.
        characters_json: The bytes of ``characters.json``, the character classes.
        default_mechanism: Mechanism of a call without this option; empty if the bundle has no mechanism.
        certificate: The parsed certificate, or ``None``.
        statistics: The parsed statistics of the levels, or ``None``.
        labels: Certified epsilon by level and mechanism; ``None`` before certification.
    """

    KIND: ClassVar[str] = "text"

    law_identity: str
    tokens: str
    vocabulary: list[str]
    ids: dict[str, int]
    characters_json: bytes = field(repr=False)
    default_mechanism: str
    certificate: dict[str, Any] | None
    statistics: dict[str, Any] | None
    labels: _Labels

    @property
    def symbols(self) -> int:
        """Return the number of symbols, which is also the id of ``<unk>`` as an input."""
        return len(self.vocabulary)

    @property
    def mechanisms(self) -> tuple[str, ...]:
        """Return the names of the mechanisms whose tables the bundle has."""
        return _mechanisms(self, self)

    def require(self, mechanism: str) -> None:
        """Check that the bundle has the table of a mechanism.

        All mechanisms except ``staircase`` use SanText's table.

        Raises:
            UnknownMechanism: The bundle lacks the table. The message has a bundle with the table.
        """
        carries = ", ".join(self.mechanisms) or "the lists of the rung names"
        if mechanism == "staircase" and self.staircase is None:
            raise UnknownMechanism(f"this bundle carries {carries} only; the built-in one has it")
        if mechanism != "staircase" and self.santext_table is None:
            raise UnknownMechanism(
                f"this bundle carries {carries} only; the repository has tables of the others: "
                f"--bundle {SANTEXT_ARTIFACT}"
            )

    def require_names(self) -> "NamesLists":
        """Return the lists of the mode ``names``, which are parsed at the first use.

        Raises:
            UnknownMechanism: The bundle has no such lists.
            BundleDamaged: A list is malformed. The message has the file and the line.
        """
        if self.names is None:
            raise UnknownMechanism("this bundle has no lists for the rung names; the built-in one has them")
        return self.names.lists

    @property
    def table(self) -> "Table":
        """Return neighbors, scores and roles of SanText.

        Raises:
            UnknownMechanism: The bundle has no SanText.
        """
        self.require("santext")
        assert self.santext_table is not None
        return self.santext_table

    @property
    def metric(self) -> "Metric":
        """Return the distances of all inputs of SanText.

        Raises:
            UnknownMechanism: The bundle has no SanText.
        """
        self.require("santext")
        assert self.santext_metric is not None
        return self.santext_metric

    def certified_epsilon(self, level: Level, mechanism: str) -> float | None:
        """Return the manifest's certified epsilon of a level; ``None`` before certification."""
        return self.labels[level.name, mechanism]


def read_text(opened: Opened, contents: Contents) -> TextBundle:
    """Parse a text bundle from the bytes of its files.

    Raises:
        BundleDamaged: A file is malformed, or a certified epsilon is below the proven one.
        BundleTooLarge: A file is larger than allowed.
        BundleVersion: The certificate or the statistics have another version of their format.
    """
    law = parse_json(contents[LAW], LAW)
    law = record(law, _LAW_KEYS | (law.keys() & {"names"}), LAW)
    tokens = one_of(law["tokens"], TOKEN_KINDS, LAW)
    parts = {part for part in ("santext", "staircase") if law[part] is not None}
    lists = _lists(law, parts)
    _check_deciding(law, lists, opened.manifest["files"])
    if not opened.is_builtin:  # the tests of this package check the lists of the built-in bundle
        from textveil.bundle.lists import count_lists, read_list

        count_lists(contents, lists)
        for name in lists:
            read_list(contents, name)
    vocabulary, ids = _read_vocabulary(contents[VOCABULARY].decode("utf-8")) if parts else ([], {})
    if integer(law["symbols"], 0, MAX_SYMBOLS, LAW) != len(vocabulary):
        raise BundleDamaged(f"{LAW}: does not fit the vocabulary")
    defaults = record(law["defaults"], {"mechanism"} | parts, LAW)
    if "staircase" in parts and tokens != "word":
        raise BundleDamaged(f"{LAW}: the staircase is for words")
    santext = _santext(contents, law) if "santext" in parts else SanTextPart()
    staircase = open_staircase(contents, law) if "staircase" in parts else StaircasePart()
    names = open_names(contents, law["names"], checked=opened.is_builtin) if "names" in law else NamesPart()
    law_identity = opened.manifest["files"][LAW]["sha256"]
    certificate = _read_certificate(contents, law_identity)
    bundle = TextBundle(
        **vars(opened),
        **vars(staircase),
        **vars(santext),
        **vars(names),
        law_identity=law_identity,
        tokens=tokens,
        vocabulary=vocabulary,
        ids=ids,
        characters_json=contents[CHARACTERS],
        default_mechanism=_default_mechanism(defaults["mechanism"], _mechanisms(staircase, santext)),
        certificate=certificate,
        statistics=_read_statistics(contents, law_identity, santext),
        labels=_read_labels(opened.manifest, santext, certificate),
    )
    if not opened.is_builtin:
        from textveil.bundle.characters import read_characters

        read_characters(bundle.characters_json)
    return bundle


def _santext(contents: Mapping[str, bytes], law: dict[str, Any]) -> SanTextPart:
    from textveil.bundle.santext_files import open_santext

    return open_santext(contents, law)


def _mechanisms(staircase: StaircasePart, santext: SanTextPart) -> tuple[str, ...]:
    return (("staircase",) if staircase.staircase is not None else ()) + (TABLE_MECHANISMS if santext.levels else ())


def _default_mechanism(named: object, mechanisms: tuple[str, ...]) -> str:
    if mechanisms:
        return one_of(named, mechanisms, LAW)
    if named is not None:
        raise BundleDamaged(f"{LAW}: a default without a mechanism")
    return ""


def _lists(law: dict[str, Any], parts: set[str]) -> list[str]:
    """Return the names of the word lists of the bundle's mechanisms.

    Raises:
        BundleDamaged: The parts of ``law.json`` are inconsistent.
    """
    if "staircase" in parts:
        return [VOCABULARY, *list_files(law["skeleton"])]
    if law["skeleton"] is not None:
        raise BundleDamaged(f"{LAW}: a skeleton without a staircase")
    if not parts and "names" not in law:
        raise BundleDamaged(f"{LAW}: neither a mechanism nor the lists of the rung names")
    return [VOCABULARY] if parts else []


def _check_deciding(law: dict[str, Any], lists: list[str], listed: dict[str, Any]) -> None:
    """Check that ``law.json`` lists all files of its mechanisms with the manifest's hashes.

    Raises:
        BundleDamaged: The manifest lacks one of the files, or the two lists differ.
    """
    named = [*lists, CHARACTERS]
    if law["santext"] is not None:
        named += [TABLE, EMBEDDINGS]
    if law["staircase"] is not None:
        named += [STAIRCASE]
    if "names" in law:
        named += [*names_files(law["names"]), *([RULES] if RULES in listed else [])]
    elif RULES in listed:
        raise BundleDamaged(f"{MANIFEST}: lists rules without the lists of the rung names")
    for name in named:
        if name not in listed:
            raise BundleDamaged(f"{MANIFEST}: does not list {name!a}")
    if law["files"] != {name: listed[name]["sha256"] for name in named} or len(set(named)) != len(named):
        raise BundleDamaged(f"{LAW}: does not belong to the files beside it")


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


def _read_certificate(contents: Mapping[str, bytes], law_identity: str) -> dict[str, Any] | None:
    if CERTIFICATE not in contents:
        return None
    certificate = parse_json(contents[CERTIFICATE], CERTIFICATE)
    _check_heading(certificate, CERTIFICATE, (CERTIFICATE_FORMAT, CERTIFICATE_VERSION), law_identity)
    for mechanisms in an_object(certificate.get("levels"), CERTIFICATE).values():
        for proven in an_object(mechanisms, CERTIFICATE).values():
            if type(an_object(proven, CERTIFICATE).get("epsilon_certified")) not in (int, float):
                raise BundleDamaged(f"{CERTIFICATE}: an epsilon is not a number")
    return certificate


def _read_statistics(contents: Mapping[str, bytes], law_identity: str, santext: SanTextPart) -> dict[str, Any] | None:
    if STATISTICS not in contents:
        return None
    statistics = parse_json(contents[STATISTICS], STATISTICS)
    _check_heading(statistics, STATISTICS, (STATISTICS_FORMAT, STATISTICS_VERSION), law_identity)
    for level in santext.levels:
        for mechanism in level.parameters:
            if not _at(statistics, STATISTICS, "levels", level.name, mechanism):
                raise BundleDamaged(f"{STATISTICS}: a mechanism has no statistics")
    return statistics


def _check_heading(record: dict[str, Any], name: str, wanted: tuple[str, int], law_identity: str) -> None:
    """Raise an error unless a file has the expected format and belongs to this ``law.json``.

    Raises:
        BundleVersion: The file has another format or version.
        BundleDamaged: The file belongs to another table.
    """
    if (record.get("format"), record.get("format_version")) != wanted:
        raise BundleVersion(f"{name}: this package reads format version {wanted[1]} only")
    if record.get("identity") != law_identity:
        raise BundleDamaged(f"{name}: belongs to another table")


def _read_labels(manifest: dict[str, Any], santext: SanTextPart, certificate: dict[str, Any] | None) -> _Labels:
    labels: _Labels = {}
    for level in santext.levels:
        for mechanism in level.parameters:
            place = level.name, mechanism
            labels[place] = label = _at(manifest, MANIFEST, "levels", *place).get("epsilon_certified")
            if label is None:
                continue
            if type(label) not in (int, float) or not 0 < label < 1e6 or certificate is None:
                raise BundleDamaged(f"{MANIFEST}: a certified epsilon is not a number, or there is no certificate")
            proven = _at(certificate, CERTIFICATE, "levels", *place).get("epsilon_certified")
            if proven is None or label < proven:
                raise BundleDamaged(f"{MANIFEST}: a level is labeled with less than what was proven")
            labels[place] = float(label)
    return labels


def _at(entries: dict[str, Any], name: str, *keys: str) -> dict[str, Any]:
    """Return the object under nested keys; an empty one if a key is missing."""
    for key in keys:
        entries = an_object(entries.get(key, {}), name)
    return entries
