"""Text bundles: folders with data for rewriting texts.

A text bundle has data of the mechanisms ``staircase`` and ``santext`` (random replacement of words), of the mode
``names`` (hiding of names and numbers), or of several of these.

``mechanism.json`` and the files that it lists determine the output distributions (docs/format.md). The manifest lists
every file with its size and hash, and states the license, the origin of the data and the certified epsilons of levels.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

from textveil.bundle.components import (
    NamesComponent,
    SanTextComponent,
    SanTextLevel,
    StaircaseComponent,
    StaircaseFiles,
    VocabularyFile,
    list_names_files,
    list_template_files,
    select_names_files,
)
from textveil.bundle.files import BundleBase, BundleFiles
from textveil.bundle.layout import (
    CERTIFICATE,
    CERTIFICATE_FORMAT,
    CERTIFICATE_VERSION,
    CHARACTERS,
    EMBEDDINGS,
    MANIFEST,
    MAX_SYMBOLS,
    MECHANISM_FILE,
    MEDIAN_DISTANCE,
    NAMES_MODE,
    RULES,
    STAIRCASE,
    STATISTICS,
    STATISTICS_FORMAT,
    STATISTICS_VERSION,
    TABLE,
    TABLE_MECHANISMS,
    VOCABULARY,
)
from textveil.bundle.parsers import parse_choice, parse_integer, parse_json, parse_object, parse_record
from textveil.errors import BundleDamaged, BundleVersion, UnknownMechanism

if TYPE_CHECKING:
    from textveil.bundle.names_files import NamesLists
    from textveil.mechanisms.baselines.table import SanTextTable
    from textveil.mechanisms.metric import WordMetric

#: Folder in the repository with a bundle of SanText, which the built-in bundle lacks.
SANTEXT_ARTIFACT = "artifacts/english-santext"

_MECHANISM_KEYS = {"vocabulary_size", "santext", "staircase", "template", "defaults", "files"}
_CertifiedEpsilons = dict[tuple[str, str], float | None]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TextBundle(BundleBase, SanTextComponent, StaircaseComponent, NamesComponent):
    """An opened text bundle: data folder with word lists and tables for rewriting texts.

    Attributes:
        mechanism_hash: SHA-256 of ``mechanism.json``. Certificates and statistics contain it to identify the mechanism.
        vocabulary_file: File with the symbols. A symbol is a word that can be an input or an output of a mechanism.
        characters_json: The bytes of ``characters.json``, the character classes for splitting a text.
        default_mechanism: Mechanism for calls that do not name one; empty if the bundle has no mechanism.
        certificate: The parsed certificate (``certificate.json``); ``None`` without this file.
        statistics: The parsed statistics of the levels (``statistics.json``); ``None`` without this file.
        certified_epsilons: Proven epsilons by the name of the level (set of parameters) and of the mechanism; ``None``
            if the bundle is not certified.

    Example:
        >>> from textveil.bundle import DEFAULT_BUNDLE, open_bundle
        >>> bundle = open_bundle(DEFAULT_BUNDLE, TextBundle)
        >>> bundle.mechanisms, bundle.default_mode
        (('staircase',), 'names')
        >>> bundle.vocabulary[bundle.symbol_ids["film"]]
        'film'
    """

    KIND: ClassVar[str] = "text"

    mechanism_hash: str
    vocabulary_file: VocabularyFile
    characters_json: bytes = field(repr=False)
    default_mechanism: str
    certificate: dict[str, Any] | None
    statistics: dict[str, Any] | None
    certified_epsilons: _CertifiedEpsilons

    @cached_property
    def vocabulary(self) -> list[str]:
        """Printed spelling of each symbol, most frequent first; empty without a mechanism.

        The id of a symbol is its index in this list. The first access parses the file.
        """
        return self.vocabulary_file.words_and_ids[0]

    @cached_property
    def symbol_ids(self) -> dict[str, int]:
        """Id of each spelling. Several spellings may have the same id."""
        return self.vocabulary_file.words_and_ids[1]

    @property
    def symbol_count(self) -> int:
        """Return the number of words in ``vocabulary``. It is also the id of ``<unk>``, the input for unknown words."""
        return len(self.vocabulary)

    @property
    def median_distance(self) -> float | None:
        """Return the median distance between the vectors of two words; ``None`` if the manifest lacks it.

        The epsilons of the mechanisms SanText and FBDD are per median distance. Divided by this distance, they are
        epsilons per unit of the original vectors, for display only. No privacy guarantee depends on the distance.
        """
        provenance: Any = self.manifest.get("provenance")
        value: Any = provenance.get(MEDIAN_DISTANCE) if isinstance(provenance, dict) else None
        return float(value) if type(value) in (int, float) and 0 < value < 1e300 else None

    @property
    def default_mode(self) -> str:
        """Return the protection mode (value of the option ``protect``) for calls that name no mode and no mechanism.

        Returns:
            ``names`` if the bundle (data folder) has the lists of this mode, otherwise the default mode of its
            staircase mechanism; an empty string if the default mechanism has no modes.
        """
        if self.names_files is not None:
            return NAMES_MODE
        return self.default_staircase_mode if self.default_mechanism == "staircase" else ""

    @property
    def mechanisms(self) -> tuple[str, ...]:
        """Return the names of the mechanisms (ways of randomizing words) for which the bundle has data."""
        return _list_mechanisms(self, self)

    def check_mechanism(self, mechanism: str) -> None:
        """Check that the bundle (data folder) has the data for a mechanism, such as ``santext``.

        All mechanisms except ``staircase`` use the data of SanText.

        Raises:
            UnknownMechanism: The bundle lacks the data. The message states which bundle has them.
        """
        available = ", ".join(self.mechanisms) or "the lists of the mode names"
        if self.language not in (None, "en") and not self.mechanisms:
            raise UnknownMechanism(
                f"the language {self.language} supports only the mode 'names': the modes 'words' and 'all' "
                "need --bundle with a staircase of that language (textveil-export staircase)"
            )
        if mechanism == "staircase" and self.staircase_files is None:
            raise UnknownMechanism(f"this bundle contains {available} only: use the built-in bundle")
        if mechanism != "staircase" and self.santext_table is None:
            raise UnknownMechanism(
                f"this bundle contains {available} only: use --bundle {SANTEXT_ARTIFACT} from the repository"
            )

    def get_names_lists(self) -> "NamesLists":
        """Return the word lists of the mode ``names``, which hides names. The first call parses the lists.

        Raises:
            UnknownMechanism: The bundle (data folder) has no such lists.
            BundleDamaged: A list is malformed. The message contains the file name and the line number.
        """
        if self.names_files is None:
            raise UnknownMechanism("this bundle has no lists for the mode names: use the built-in bundle")
        return self.names_files.lists

    @property
    def table(self) -> "SanTextTable":
        """Return the table of SanText (random replacement of words): similar words with scores, and possible outputs.

        Raises:
            UnknownMechanism: The bundle (data folder) has no SanText.
        """
        self.check_mechanism("santext")
        assert self.santext_table is not None
        return self.santext_table

    @property
    def metric(self) -> "WordMetric":
        """Return the object that computes distances between words, for SanText (random replacement of words).

        Raises:
            UnknownMechanism: The bundle (data folder) has no SanText.
        """
        self.check_mechanism("santext")
        assert self.santext_metric is not None
        return self.santext_metric

    def get_certified_epsilon(self, level: SanTextLevel, mechanism: str) -> float | None:
        """Return the epsilon that a certificate proves for a level of SanText; ``None`` without a certificate.

        Args:
            level: Name of the level (set of parameters for one epsilon).
            mechanism: Name of the mechanism, such as ``santext``.
        """
        return self.certified_epsilons[level.name, mechanism]


def parse_text_bundle(opened: BundleBase, contents: BundleFiles) -> TextBundle:
    """Parse a text bundle (data folder for rewriting texts) from the bytes of its files.

    Args:
        opened: Path, hash and manifest of the bundle.
        contents: Dictionary from each file name of the bundle to the bytes of the file.

    Raises:
        BundleDamaged: A file is malformed. Or the certificate proves a larger epsilon than the manifest or a level (set
            of parameters) of the bundle states.
        BundleTooLarge: A file is larger than allowed.
        BundleVersion: The certificate or the statistics have another version of their format.
    """
    definition = parse_json(contents[MECHANISM_FILE], MECHANISM_FILE)
    definition = parse_record(definition, _MECHANISM_KEYS | (definition.keys() & {"names"}), MECHANISM_FILE)
    parts = {part for part in ("santext", "staircase") if definition[part] is not None}
    lists = _list_word_files(definition, parts)
    _check_mechanism_files(definition, lists, opened.manifest["files"])
    if not opened.is_builtin:  # the tests of this package check the lists of the built-in bundle
        from textveil.bundle.word_lists import check_list_sizes, decode_list

        check_list_sizes(contents, lists)
        for name in lists:
            decode_list(contents, name)
    size = parse_integer(definition["vocabulary_size"], 0, MAX_SYMBOLS, MECHANISM_FILE)
    defaults = parse_record(definition["defaults"], {"mechanism"} | parts, MECHANISM_FILE)
    santext = _parse_santext(contents, definition) if "santext" in parts else SanTextComponent()
    staircase = StaircaseComponent(
        staircase_files=StaircaseFiles(contents.select_files([STAIRCASE, *lists]), definition)
        if "staircase" in parts
        else None
    )
    names = (
        select_names_files(contents, definition["names"], is_checked=opened.is_builtin)
        if "names" in definition
        else NamesComponent()
    )
    mechanism_hash = opened.manifest["files"][MECHANISM_FILE]["sha256"]
    certificate = _read_certificate(contents, mechanism_hash)
    bundle = TextBundle(
        **vars(opened),
        **vars(staircase),
        **vars(santext),
        **vars(names),
        mechanism_hash=mechanism_hash,
        vocabulary_file=VocabularyFile(contents.select_files([VOCABULARY] if parts else []), size),
        characters_json=contents[CHARACTERS],
        default_mechanism=_parse_default_mechanism(defaults["mechanism"], _list_mechanisms(staircase, santext)),
        certificate=certificate,
        statistics=_read_statistics(contents, mechanism_hash, santext),
        certified_epsilons=_read_certified_epsilons(opened.manifest, santext, certificate),
    )
    if not opened.is_builtin:  # the files of a foreign bundle are checked when it is opened, not at their first use
        _ = bundle.vocabulary, bundle.staircase_table
        from textveil.bundle.character_classes import parse_character_classes

        parse_character_classes(bundle.characters_json)
    return bundle


def _parse_santext(contents: Mapping[str, bytes], definition: dict[str, Any]) -> SanTextComponent:
    from textveil.bundle.santext_files import parse_santext

    return parse_santext(contents, definition)


def _list_mechanisms(staircase: StaircaseComponent, santext: SanTextComponent) -> tuple[str, ...]:
    return (("staircase",) if staircase.staircase_files is not None else ()) + (
        TABLE_MECHANISMS if santext.santext_levels else ()
    )


def _parse_default_mechanism(name: object, mechanisms: tuple[str, ...]) -> str:
    if mechanisms:
        return parse_choice(name, mechanisms, MECHANISM_FILE)
    if name is not None:
        raise BundleDamaged(f"{MECHANISM_FILE}: there is a default mechanism, but the bundle has no mechanism")
    return ""


def _list_word_files(definition: dict[str, Any], parts: set[str]) -> list[str]:
    """Return the file names of the word lists that the mechanisms of a bundle (data folder) use.

    Args:
        definition: The parsed ``mechanism.json``.
        parts: Names of the mechanisms of the bundle: ``staircase``, ``santext`` or both.

    Raises:
        BundleDamaged: The parts of ``mechanism.json`` are inconsistent.
    """
    if "staircase" in parts:
        return [VOCABULARY, *list_template_files(definition["template"])]
    if definition["template"] is not None:
        raise BundleDamaged(f"{MECHANISM_FILE}: has a template but no staircase")
    if not parts and "names" not in definition:
        raise BundleDamaged(f"{MECHANISM_FILE}: the bundle has neither a mechanism nor lists of the mode names")
    return [VOCABULARY] if parts else []


def _check_mechanism_files(definition: dict[str, Any], word_files: list[str], manifest_files: dict[str, Any]) -> None:
    """Check that ``mechanism.json`` and ``manifest.json`` of a bundle (data folder) list equal files and hashes.

    Raises:
        BundleDamaged: The manifest lacks one of the files, or states another hash for one of them.
    """
    required = [*word_files, CHARACTERS]
    if definition["santext"] is not None:
        required += [TABLE, EMBEDDINGS]
    if definition["staircase"] is not None:
        required += [STAIRCASE]
    if "names" in definition:
        # A list of an entity type may also belong to the template.
        names_files = [name for name in list_names_files(definition["names"]) if name not in word_files]
        required += [*names_files, *([RULES] if RULES in manifest_files else [])]
    elif RULES in manifest_files:
        raise BundleDamaged(f"{MANIFEST}: has an entry for rules.json, but none for the word lists of the mode 'names'")
    for name in required:
        if name not in manifest_files:
            raise BundleDamaged(f"{MANIFEST}: does not list {name!a}")
    if definition["files"] != {name: manifest_files[name]["sha256"] for name in required} or len(set(required)) != len(
        required
    ):
        raise BundleDamaged(f"{MECHANISM_FILE}: the file hashes differ from the files of this bundle")


def _read_certificate(contents: Mapping[str, bytes], mechanism_hash: str) -> dict[str, Any] | None:
    if CERTIFICATE not in contents:
        return None
    certificate = parse_json(contents[CERTIFICATE], CERTIFICATE)
    _check_header(certificate, CERTIFICATE, (CERTIFICATE_FORMAT, CERTIFICATE_VERSION), mechanism_hash)
    for mechanisms in parse_object(certificate.get("levels"), CERTIFICATE).values():
        for proven in parse_object(mechanisms, CERTIFICATE).values():
            if type(parse_object(proven, CERTIFICATE).get("epsilon_certified")) not in (int, float):
                raise BundleDamaged(f"{CERTIFICATE}: an epsilon is not a number")
    return certificate


def _read_statistics(
    contents: Mapping[str, bytes], mechanism_hash: str, santext: SanTextComponent
) -> dict[str, Any] | None:
    if STATISTICS not in contents:
        return None
    statistics = parse_json(contents[STATISTICS], STATISTICS)
    _check_header(statistics, STATISTICS, (STATISTICS_FORMAT, STATISTICS_VERSION), mechanism_hash)
    for level in santext.santext_levels:
        for mechanism in level.parameters:
            if not _get_nested(statistics, STATISTICS, "levels", level.name, mechanism):
                raise BundleDamaged(f"{STATISTICS}: the statistics of a mechanism of the bundle are missing")
    return statistics


def _check_header(header: dict[str, Any], name: str, expected_format: tuple[str, int], mechanism_hash: str) -> None:
    """Check that ``certificate.json`` or ``statistics.json`` has the expected format and belongs to this bundle.

    The file belongs to the bundle (data folder) if it contains the hash of the bundle's ``mechanism.json``.

    Args:
        header: The parsed file.
        name: Name of the file in error messages.
        expected_format: Name and version of the format.
        mechanism_hash: SHA-256 of ``mechanism.json``.

    Raises:
        BundleVersion: The file has another format or version.
        BundleDamaged: The file was made for another ``mechanism.json``.
    """
    if (header.get("format"), header.get("format_version")) != expected_format:
        raise BundleVersion(f"{name}: this package reads format version {expected_format[1]} only")
    if header.get("mechanism_hash") != mechanism_hash:
        raise BundleDamaged(f"{name}: belongs to another mechanism.json")


def _read_certified_epsilons(
    manifest: dict[str, Any], santext: SanTextComponent, certificate: dict[str, Any] | None
) -> _CertifiedEpsilons:
    epsilons: _CertifiedEpsilons = {}
    for level in santext.santext_levels:
        for mechanism in level.parameters:
            key = level.name, mechanism
            epsilons[key] = certified = _get_nested(manifest, MANIFEST, "levels", *key).get("epsilon_certified")
            if certified is None:
                continue
            if type(certified) not in (int, float) or not 0 < certified < 1e6 or certificate is None:
                raise BundleDamaged(f"{MANIFEST}: a certified epsilon is not a number, or there is no certificate")
            proven = _get_nested(certificate, CERTIFICATE, "levels", *key).get("epsilon_certified")
            if proven is None or certified < proven:
                raise BundleDamaged(f"{MANIFEST}: the epsilon of a level is smaller than its certified epsilon")
            epsilons[key] = float(certified)
    return epsilons


def _get_nested(entries: dict[str, Any], name: str, *keys: str) -> dict[str, Any]:
    """Return the object under nested keys; an empty object if a key is missing.

    Args:
        entries: The outermost object.
        name: Name of the file in error messages.
        keys: The keys, outermost first.
    """
    for key in keys:
        entries = parse_object(entries.get(key, {}), name)
    return entries
