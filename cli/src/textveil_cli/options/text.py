"""Options for replacing words in texts: bundle (folder with word lists and settings), mode, mechanism, epsilon."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

import typer
from textveil.bundle import MAX_BUNDLE_BYTES, ExpectedBundle, TextBundle
from textveil.errors import OptionError
from textveil.formatting import format_count
from textveil.text import DEFAULT_FACTS

from textveil_cli.console import print_message, read_word_list
from textveil_cli.console.own_types import parse_patterns, read_known_persons

if TYPE_CHECKING:
    from textveil.text import Options, Sanitizer

#: Entity types of the mode names. A test compares the list with the mode, which itself rejects an unknown type.
ENTITY_TYPES = (
    "account acronym age card city country date day decade email emoji file group handle hash hashtag iban id ip "
    "key letter mac month number number-word office ordinal organization other particle path person phone place "
    "postcode ssn state street symbol time title unit url weekday word year"
).split()

#: Help text of ``--facts`` without its default.
FACTS_HELP = (
    "Mode names: facts to keep besides common words. plain: terms, and numbers with a unit; useful: also headings, "
    "languages, ages below 90, years, amounts and products in use; public: also countries, companies and all products; "
    "none: no facts."
)

BundleArgument = Annotated[
    Path | None,
    typer.Argument(
        metavar="BUNDLE", help="Folder of the bundle, as with --bundle; default: the built-in English bundle."
    ),
]

PatternOption = Annotated[
    list[str] | None,
    typer.Option(
        "--pattern",
        metavar="NAME=REGEX",
        help="Mode names: regular expression of your own entity type, such as employee=EMP[0-9]{5}; repeatable. It "
        "matches whole words, and strings of the same form replace them.",
    ),
]
KnownOption = Annotated[
    Path | None,
    typer.Option(
        "--known",
        help="Mode names: file of persons whose names are always replaced, one person per line, with commas between"
        " spellings. All spellings of a person get the same surrogate.",
    ),
]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ExpectedBundleOptions:
    """Options that require a content hash, a signer or a maximum size of a bundle (folder with settings)."""

    heading: ClassVar[str] = "Bundle"
    expect_id: Annotated[
        str | None,
        typer.Option(help="Refuse the bundle unless this is its content hash, which the command textveil info prints."),
    ] = None
    signer: Annotated[
        str | None,
        typer.Option(
            metavar="KEY", help="Refuse the bundle unless it is signed with this public key (64 hexadecimal digits)."
        ),
    ] = None
    max_bundle_bytes: Annotated[
        int,
        typer.Option(
            min=1, show_default=False, help=f"Refuse a bundle of more bytes; {MAX_BUNDLE_BYTES:,} bytes if left out."
        ),
    ] = MAX_BUNDLE_BYTES

    @property
    def expected_bundle(self) -> ExpectedBundle:
        """Return the options as keyword arguments of functions that open a bundle, such as ``Sanitizer.load``."""
        return ExpectedBundle(expect_id=self.expect_id, signer=self.signer, max_bytes=self.max_bundle_bytes)

    @property
    def has_requirements(self) -> bool:
        """Return whether the user requires a content hash or a signer."""
        return self.expect_id is not None or self.signer is not None


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class BundleOptions:
    """Options for the bundle (folder with word lists and settings) of a command for texts."""

    heading: ClassVar[str] = "Bundle"
    bundle: Annotated[
        Path | None,
        typer.Option("--bundle", "-b", help="Folder of the bundle; default: the built-in English bundle."),
    ] = None
    language: Annotated[
        str | None,
        typer.Option(
            metavar="LANG",
            help="Language of the texts, such as es (install its pack textveil-es), or de+en for mixed texts. "
            "With --bundle: refuse a bundle of another language.",
        ),
    ] = None
    expected: ExpectedBundleOptions

    @property
    def expected_bundle(self) -> ExpectedBundle:
        """Return the required content hash, signer and language as keyword arguments of ``Sanitizer.load``."""
        expected = self.expected.expected_bundle
        return expected if self.language is None else {**expected, "language": self.language}

    def load_sanitizer(self, folder: Path | None = None) -> "Sanitizer":
        """Load a bundle, and check that it meets the requirements of the options.

        Args:
            folder: Folder of the bundle; ``None`` for that of ``--bundle``.

        Raises:
            BundleError: The bundle cannot be used, or does not match the expected content hash or signer.
        """
        from textveil.text import Sanitizer

        return Sanitizer.load(self.bundle if folder is None else folder, **self.expected_bundle)

    def select_folder(self, argument: Path | None) -> Path | None:
        """Return the folder of the bundle: the argument of the command if it is given, otherwise ``--bundle``.

        Raises:
            OptionError: Both are given.
        """
        if argument is not None and self.bundle is not None:
            raise OptionError("pass the bundle once: as argument or with --bundle")
        return self.bundle if argument is None else argument


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class EncoderOptions:
    """Options for the bundle (folder with a model) that a command uses to encode texts or to read encoded texts."""

    heading: ClassVar[str] = "Bundle"
    bundle: Annotated[
        Path | None,
        typer.Option(
            "--bundle",
            "-b",
            help="Folder of the encoder bundle; default in a checkout of the repository: the bundle in it.",
        ),
    ] = None
    expected: ExpectedBundleOptions


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class MechanismOptions:
    """Options for the mechanism that randomizes words, and for its epsilon."""

    heading: ClassVar[str] = "Mechanism and epsilon"
    mechanism: Annotated[
        Literal["staircase", "santext+", "santext", "fbdd", "krr", "random"] | None,
        typer.Option("--mechanism", "-m", help="Mechanism; default: that of the bundle."),
    ] = None
    epsilon: Annotated[
        str | None,
        typer.Option(
            "--epsilon",
            "-e",
            autocompletion=lambda: ["4", "6", "8", "10", "12"],
            help="Epsilon per randomized word, with --protect words or all: one that the command textveil levels "
            "lists (in the built-in bundle 4, 6, 8, 10 or 12); for krr and fbdd any number.",
        ),
    ] = None
    replacement_probability: Annotated[
        str | None,
        typer.Option(
            "--replacement-probability",
            "-p",
            help="santext+: probability that a common word is replaced, in (0, 1].",
        ),
    ] = None

    def make_keywords(self) -> dict[str, Any]:
        """Return the options as keyword arguments of ``Sanitizer.sanitize``.

        Raises:
            OptionError: The mechanism has no default epsilon, and ``--epsilon`` is missing.
        """
        if self.mechanism in ("krr", "fbdd") and self.epsilon is None:
            raise OptionError(f"--mechanism {self.mechanism} needs --epsilon: it has no default")
        return dict(vars(self))


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ProtectionOptions:
    """Options that decide which parts of a text are left unchanged."""

    heading: ClassVar[str] = "Protection"
    protect: Annotated[
        Literal["names", "words", "all"] | None,
        typer.Option(
            help="names (the default) keeps common words and public facts, and replaces all else by surrogates. words"
            " keeps function words and randomizes the others. all randomizes function words too. A bundle without"
            " lists for names uses the mode of its mechanism.",
        ),
    ] = None
    style: Annotated[
        Literal["surrogate", "tag"] | None,
        typer.Option(
            help="Mode names: replace by a surrogate of the same type (the default), or by a tag such as [city 1]."
        ),
    ] = None
    facts: Annotated[
        Literal["none", "plain", "useful", "public"] | None,
        typer.Option(help=f"{FACTS_HELP} Default: {DEFAULT_FACTS}."),
    ] = None
    keep: Annotated[
        list[str] | None,
        typer.Option(
            "--keep",
            metavar="TYPE",
            autocompletion=lambda: ENTITY_TYPES,
            help=(
                f"Mode names: keep words of this type that are on a public list; repeatable. "
                f"Types: {', '.join(ENTITY_TYPES[:-1])} and"
                f" {ENTITY_TYPES[-1]}."
            ),
        ),
    ] = None
    tag: Annotated[
        list[str] | None,
        typer.Option(
            "--tag",
            metavar="TYPE",
            autocompletion=lambda: ENTITY_TYPES,
            help="Mode names: replace this type by tags; repeatable.",
        ),
    ] = None
    drop: Annotated[
        list[str] | None,
        typer.Option(
            "--drop",
            metavar="TYPE",
            autocompletion=lambda: ENTITY_TYPES,
            help="Mode names: remove this type from the text; repeatable.",
        ),
    ] = None
    allow: Annotated[
        Path | None,
        typer.Option("--allow", help="Mode names: file of words to keep everywhere, one per line. The list is public."),
    ] = None
    randomize: Annotated[
        Path | None,
        typer.Option(
            "--randomize",
            help="Mode names: file of at least 100 words, one per line. Where one of them occurs in lower case, a "
            "random word of the file replaces it, at --epsilon. The list is public.",
        ),
    ] = None
    pattern: PatternOption = None
    known: KnownOption = None
    deny: Annotated[
        Path | None,
        typer.Option(
            "--deny",
            help="File of words that are never kept, one per line: treated as unknown (staircase), replaced "
            "(names) or sensitive (santext+).",
        ),
    ] = None
    sanitize_punctuation: Annotated[
        bool,
        typer.Option(
            "--sanitize-punctuation", help="Sanitize punctuation too; the output is in lower case with single spaces."
        ),
    ] = False

    def make_keywords(self) -> dict[str, Any]:
        """Return the options that differ from their defaults, as keyword arguments of ``Sanitizer.sanitize``.

        The word list ``deny`` is always included.

        Raises:
            InputError: A word list or the file of persons cannot be read.
            OptionError: A value of ``--pattern`` has another form than ``NAME=REGEX``.
        """
        own_options = {name: getattr(self, name) or None for name in ("style", "facts", "keep", "tag", "drop")}
        own_options["patterns"] = parse_patterns(self.pattern) if self.pattern else None
        own_options["known"] = None if self.known is None else read_known_persons(self.known)
        own_options["allow"] = read_word_list(self.allow, "--allow") or None
        own_options["randomize"] = None if self.randomize is None else read_word_list(self.randomize, "--randomize")
        punctuation = self.sanitize_punctuation or None
        denied = {"deny": read_word_list(self.deny, "--deny")}
        return denied | _drop_missing({"protect": self.protect, "sanitize_punctuation": punctuation, **own_options})


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SamplingOptions:
    """Options that decide whether equal words of a document, or of a corpus, get equal replacements."""

    heading: ClassVar[str] = "Randomization"
    consistent: Annotated[
        bool | None,
        typer.Option(
            "--consistent/--no-consistent",
            show_default=False,
            help="Replace equal words of a document by equal words, which reveals that they are equal. Mode "
            "names: on by default, for names and identifiers.",
        ),
    ] = None
    corpus_key: Annotated[
        Path | None,
        typer.Option(
            help="Mode names: replace equal names, addresses and ids of all documents by equal surrogates, under "
            "the key in this file (created if missing). Documents become linkable, anyone with the key can test "
            "guesses, and originals cannot be restored.",
        ),
    ] = None
    consistent_cap: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Maximum number for one document, 2,000 by default. Mode names: so many different names, numbers and "
            "words get surrogates, and tags replace those beyond. Other modes, with --consistent: a document with more "
            "words, names and numbers to replace is refused.",
        ),
    ] = None

    def make_keywords(self) -> dict[str, Any]:
        """Return the options that the user changed from their defaults, as keyword arguments of ``Sanitizer.sanitize``.

        Raises:
            OptionError: ``--corpus-key`` is combined with ``--consistent`` or ``--no-consistent``.
        """
        keywords: dict[str, Any] = {"consistent": self.consistent, "consistent_cap": self.consistent_cap}
        if self.corpus_key is not None:
            if self.consistent is not None:
                raise OptionError("--corpus-key cannot be combined with --consistent or --no-consistent")
            from textveil.storage import read_key

            keywords |= {"consistent": "corpus", "key": read_key(self.corpus_key, "the key of the corpus", create=True)}
        return _drop_missing(keywords)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class TextOptions:
    """All options of a command that replaces words in texts: mode, replacements and mechanism."""

    mechanism: MechanismOptions
    protection: ProtectionOptions
    sampling: SamplingOptions

    @property
    def is_consistent(self) -> bool:
        """Return whether equal words of a document get equal replacements; call ``resolve_mode`` first.

        In the mode 'names' the result is true, unless the user gave ``--no-consistent`` or ``--corpus-key``.
        """
        if self.sampling.corpus_key is not None:
            return False
        return self.sampling.consistent is True or (self.is_names_mode and self.sampling.consistent is None)

    @property
    def is_names_mode(self) -> bool:
        """Return whether the protection mode is 'names'; call ``resolve_mode`` first."""
        return self.protection.protect == "names"

    def resolve_mode(self, bundle: TextBundle) -> Self:
        """Return a copy of these options with the bundle's default mode, unless the user chose a mode or mechanism."""
        if self.protection.protect is not None or self.mechanism.mechanism is not None:
            return self
        mode: Any = bundle.default_mode or None
        return replace(self, protection=replace(self.protection, protect=mode))

    def report_list_entries(self, sanitizer: "Sanitizer", options: "Options", quiet: bool) -> None:
        """Print how many entries of the user's word lists have no effect or a side effect.

        The method also prints a hint if the lists of the language have no words for ``--facts``. The messages go to
        standard error, for the owner of the device. They contain counts and never an entry.

        Args:
            sanitizer: The sanitizer.
            options: Options of ``Sanitizer.sanitize``, with the word lists.
            quiet: Whether to print nothing.
        """
        randomized_words = options.get("randomize") or ()
        if (unknown := sum(word not in sanitizer.bundle.symbol_ids for word in randomized_words)) and not quiet:
            print_message(
                f"textveil: --randomize: the vocabulary lacks {format_count(unknown, 'word')} of the list: "
                "randomized, but never a replacement"
            )
        if quiet or not options.keys() & {"allow", "facts"}:
            return
        lists = sanitizer.bundle.get_names_lists()
        facts_level = options.get("facts", "none")
        if facts_level != "none" and not lists.has_fact_words:
            print_message("textveil: --facts acts as none: the lists of this language have no words for public facts")
        elif facts_level in ("useful", "public") and not lists.has_useful_words:
            print_message(
                "textveil: --facts acts as plain: the lists of this language have no words for more public facts"
            )
        entries = options.get("allow")
        if not entries:
            return
        entity_types = lists.members_by_type
        persons = entity_types["given"] | entity_types["family"]
        side_effects = {
            "{} names of persons (kept there too)": sum(entry.lower() in persons for entry in entries),
            "{} of several words (each word is kept alone too)": sum(len(entry.split()) > 1 for entry in entries),
            "{} with digits (replaced nevertheless)": sum(any(map(str.isdigit, entry)) for entry in entries),
        }
        remarks = [what.format(f"{count:,}") for what, count in side_effects.items() if count]
        if remarks:
            print_message(f"textveil: entries of --allow: {', '.join(remarks)}")

    def make_options(self) -> "Options":
        """Return the options of ``Sanitizer.sanitize``.

        Raises:
            InputError: A word list cannot be read.
            OptionError: Two options contradict each other.
        """
        return combine_options(self.mechanism, self.protection, self.sampling)


def combine_options(*groups: MechanismOptions | ProtectionOptions | SamplingOptions) -> "Options":
    """Merge the options of several groups into one ``Options`` dictionary for ``Sanitizer.sanitize``."""
    from textveil.text import Options

    return Options(**{name: value for group in groups for name, value in group.make_keywords().items()})  # type: ignore[typeddict-item]


def _drop_missing(options: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}
