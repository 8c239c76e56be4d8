"""``Sanitizer``, the main class for applications, and ``PlanFactory``, which creates its plans.

A *plan* is an object that holds the checked options of a call and the lists and tables that they select. Calls with the
same options share one plan.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import cached_property, partial
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Unpack, cast, overload

from textveil.arguments import check_documents, wrap_texts
from textveil.bundle.defaults import DEFAULT_BUNDLE, DEFAULT_BUNDLE_ID
from textveil.bundle.files import ExpectedBundle
from textveil.bundle.open import open_bundle
from textveil.bundle.text_bundle import TextBundle
from textveil.errors import ContentHashMismatch, InputError, OptionError
from textveil.text.options import NAMES_OPTIONS, Options, check_options, make_cache_key
from textveil.text.statement import PrivacyTerms, Result, RewrittenDocument, SanitizedDocument

if TYPE_CHECKING:
    from textveil.mechanisms.distribution import OutputDistribution
    from textveil.text.explanation import ExplainedPiece
    from textveil.text.names.detector import SpanDetector
    from textveil.text.names.plan import NamesPlan, NamesPlanFactory
    from textveil.text.rewrite import RandomizingPlan
    from textveil.text.staircase_plans import StaircasePlanFactory
    from textveil.text.token_plans import TokenPlanFactory
    from textveil.text.unicode_compat import CharacterSwap

#: Largest number of keys in the cache of plans. Several keys may have the same plan.
_MAX_CACHED_PLANS = 32
#: Types of options whose values mean the same if they are equal and of the same type.
_PLAIN_TYPES = frozenset((str, bool, type(None)))


class Sanitizer:
    """Sanitizes texts, offline, with the mechanisms of one bundle (a folder of word lists, tables and settings).

    Mechanisms randomize words under local differential privacy. The mode ``names`` replaces names, numbers and unlisted
    words by random ones of the same type (*surrogates*). An instance holds no random state, so it is safe to share
    between threads and to use after a fork.

    Args:
        bundle: An opened bundle.
        detector: Optional second detector for the mode ``names``. It reads each output, and returns the start and the
            end of further spans to hide.

    >>> sanitizer = Sanitizer.load()
    >>> sanitizer.sanitize("I am Anna.", protect="names").text.startswith("I am ")
    True
    """

    def __init__(self, bundle: TextBundle, detector: "SpanDetector | None" = None) -> None:
        self.bundle = bundle
        self._factory = PlanFactory(bundle, detector)
        self._plans: dict[object, RandomizingPlan | NamesPlan] = {}

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for pickling without the cached plans: their options may contain private words."""
        return {**self.__dict__, "_plans": {}}

    @classmethod
    def load(cls, path: str | Path | None = None, **pins: Unpack[ExpectedBundle]) -> "Sanitizer":
        """Open a bundle (folder of lists and tables), check its files, and return a sanitizer that uses them.

        The check covers the hash and the structure of each file. The built-in bundle has files that only the mode
        ``names`` reads: they are checked when that mode is first used.

        Args:
            path: Folder of a bundle. If ``path`` is omitted, ``language`` selects an installed language pack. If
                ``language`` is omitted too, the built-in English bundle is opened, and its content hash is checked.
            pins: Expected content hash, signer or language (see ``ExpectedBundle``). ``language="es"`` opens the pack
                ``textveil-es``. ``language="es+en"`` joins two packs for mixed texts.

        Raises:
            BundleNotFound, BundleVersion, BundleDamaged, BundleTooLarge: The bundle is unusable.
            ContentHashMismatch, WrongSigner: The bundle is not the expected one.
            CryptoUnavailable: ``pins`` has a signer, and the extra ``crypto`` is not installed.
        """
        language = pins.get("language")
        if path is None and language is not None:
            return cls(_open_languages(language, pins))
        if path is None and pins.get("expect_id") is None:
            pins = {**pins, "expect_id": DEFAULT_BUNDLE_ID}
        return cls(open_bundle(DEFAULT_BUNDLE if path is None else Path(path), TextBundle, **pins))

    def sanitize(self, text: str, **options: Unpack[Options]) -> Result:
        """Sanitize one text, and return it with its privacy statement.

        The text is one document: equal words in the text can get equal outputs, and the statement covers all words of
        the text.

        Args:
            text: Any text.
            options: See ``Options``.

        Raises:
            OptionError: The bundle or the mechanism does not support the value of an option.
            InputError: ``text`` is not a string.

        Privacy:
            Every call draws new random outputs. Two outputs of the same text together reveal more than one.
        """
        if not isinstance(text, str):
            raise InputError("the text must be a string: for a list of texts use sanitize_batch")
        return self._sanitize_texts([(text,)], options)[0]

    def sanitize_batch(self, texts: Iterable[str], **options: Unpack[Options]) -> list[Result]:
        """Sanitize many texts. Each text is a document of its own, with its own statement.

        A batch randomizes the tokens of all texts together, and is many times faster than one call per text. For
        arguments, errors and privacy see ``sanitize``.

        Returns:
            One result for each text, in order.
        """
        return self._sanitize_texts(wrap_texts(texts), options)

    def sanitize_documents(
        self, documents: Sequence[Sequence[str]], **options: Unpack[Options]
    ) -> list[SanitizedDocument]:
        """Sanitize documents that consist of several texts, such as the cells of a row.

        With the option ``consistent``, equal words in all texts of a document get equal outputs, and the privacy loss
        of each distinct word counts once. Otherwise the outputs are those of ``sanitize_batch``, and the ``tokens`` of
        a document are the sum over its texts. For arguments, errors and privacy see ``sanitize``.

        Returns:
            One ``SanitizedDocument`` for each document, in order.
        """
        _, count_foreign, rewritten = self._rewrite(check_documents(documents), options)
        return [
            SanitizedDocument(
                [*texts],
                tokens,
                get_mapping=get_mapping,
                randomized_words=randomized,
                replaced_words=replaced,
                foreign_words=0 if count_foreign is None else min(tokens, sum(map(count_foreign, texts))),
            )
            for texts, tokens, get_mapping, randomized, replaced, _ in rewritten
        ]

    @overload
    def preview(
        self, text: str, *, explain: Literal[False] = ..., **options: Unpack[Options]
    ) -> list[tuple[str, str]]: ...

    @overload
    def preview(self, text: str, *, explain: Literal[True], **options: Unpack[Options]) -> "list[ExplainedPiece]": ...

    def preview(
        self, text: str, *, explain: bool = False, **options: Unpack[Options]
    ) -> "list[tuple[str, str]] | list[ExplainedPiece]":
        """Return how each part of a text would be treated, without sanitizing the text.

        The parts are tokens (such as words) and gaps (blanks and punctuation). The method draws no random numbers.

        Args:
            text: Any text.
            explain: Whether to return also the position of each part and the list or rule that decides its treatment
                (see ``ExplainedPiece``).
            options: See ``Options``.

        Returns:
            Pairs of a part of the text and its treatment. The treatment is ``"gap"`` for characters between tokens,
            ``"kept"`` (unchanged), ``"randomized"``, ``"unknown"`` (randomized, but not in the vocabulary), or the name
            of an entity type, for a part that is replaced. Under ``santext+`` a ``"randomized"`` word can by chance
            remain unchanged. With ``explain`` the result has an ``ExplainedPiece`` in place of each pair. The result is
            as private as the text.

        Raises:
            OptionError: The bundle or the mechanism does not support the value of an option.
            InputError: ``text`` is not a string.
        """
        if not isinstance(text, str):
            raise InputError("the text must be a string")
        plan, swap = self._get_plan(options), self._find_swap([[text]], options)
        if swap is not None:
            plan, text = self._get_plan(swap.replace_in_options(options)), swap.replace_characters(text)
        restore_characters = str if swap is None else swap.restore_characters
        if not explain:
            return [(restore_characters(piece), state) for piece, state in plan.preview(text)]
        return [replace(piece, text=restore_characters(piece.text)) for piece in _explain_pieces(plan, text)]

    def unknown_share(self, text: str, **options: Unpack[Options]) -> float:
        """Return the share of unknown words in a text, from 0 to 1.

        For modes that randomize words, this is the share of randomized words that are not in the vocabulary. The mode
        ``names`` has no vocabulary. There the result is the share of words that are on no list, among all words that
        are no names, numbers or other entities. A result above 0.5 can mean that the text is in another language. The
        result is 0 if the text has no such words.

        Privacy:
            The share depends on private words: do not publish it.
        """
        treated_parts = self.preview(text, **options)
        if self.terms(**options).mechanism == "names":
            words = [
                what for piece, what in treated_parts for _ in piece.split() if what in ("kept", "randomized", "word")
            ]
            return words.count("word") / max(1, len(words))
        treatments = [what for _, what in treated_parts if what in ("randomized", "unknown")]
        return treatments.count("unknown") / max(1, len(treatments))

    def terms(self, **options: Unpack[Options]) -> PrivacyTerms:
        """Return the privacy terms of calls with these options: mechanism, privacy guarantee and mode."""
        return self._get_plan(options).terms

    def canonical_options(self, **options: Unpack[Options]) -> dict[str, Any]:
        """Return all parameters that determine the output distribution, for example as the key of a cache.

        They include the content hash of the bundle (the folder with word lists and tables), the default values of
        omitted options, and the SHA-256 of ``key`` instead of ``key``.

        Privacy:
            The result contains the private words of ``deny`` and ``known``. Do not publish it.
        """
        plan = self._get_plan(options)
        list_options: dict[str, Any] = {
            name: sorted(options.get(name) or ()) for name in ("deny", "allow", "randomize")
        }
        list_options |= {"known": sorted(known)} if (known := options.get("known")) else {}
        list_options |= {"patterns": [*patterns.items()]} if (patterns := options.get("patterns")) else {}
        if (key := options.get("key")) is not None:
            list_options["key"] = sha256(key).hexdigest()
        return {**asdict(plan.terms), **list_options}

    def names_plan(self, **options: Unpack[Options]) -> "NamesPlan":
        """Return the plan (checked options with their word lists and rules) of the mode ``names``.

        Use it for operations that ``Sanitizer`` does not have, such as sanitizing a conversation.
        """
        return cast("NamesPlan", self._get_plan({**options, "protect": "names"}))

    def add_sampling_mode(self, options: Options) -> Options:
        """Return options that select a mode with randomized words, if the given ones select the default ``names``.

        Call this method before an operation that needs the output distribution of a word: the mode ``names`` has none.
        Options that state a mode or a mechanism are returned unchanged.

        >>> Sanitizer.load().add_sampling_mode({"epsilon": 8})
        {'epsilon': 8, 'protect': 'words'}
        """
        checked = check_options(options)
        mode = self.bundle.default_staircase_mode
        is_default = "protect" not in checked and "randomize" not in checked and selects_names(self.bundle, checked)
        return {**options, "protect": mode} if is_default and mode else options

    def distribution(self, word: str, **options: Unpack[Options]) -> "OutputDistribution":
        """Return the exact output distribution of one word: every output with its integer weight.

        Args:
            word: One word. A word that is not in the vocabulary has the distribution of ``<unk>``. Under the staircase
                mechanism the case of the word matters: in lower case more outputs are possible.
            options: As in ``sanitize``, except for the default of ``protect``: see ``add_sampling_mode``.

        Raises:
            OptionError: An option is not supported, the mechanism has no exact weights (``fbdd``), ``word`` is more
                than one token, or the staircase mechanism leaves ``word`` unchanged.
        """
        options = self.add_sampling_mode(options)
        plan, swap = self._get_plan(options), self._find_swap([[word]], options)
        if swap is not None:
            plan, word = self._get_plan(swap.replace_in_options(options)), swap.replace_characters(word)
        return plan.distribution(word)

    def distance(self, first: str, second: str) -> float:
        """Return the distance of two words. The privacy guarantee of the mechanism SanText refers to this distance.

        The distances are scaled so that their median over pairs of words is 1.

        Args:
            first: A word of the vocabulary, or any other word, which counts as ``<unk>``.
            second: Another word.

        Raises:
            OptionError: A word is more than one token.
            UnknownMechanism: The bundle has no tables for SanText, and so no distances.
        """
        return self.bundle.metric.compute_distance(self._find_symbol_id(first), self._find_symbol_id(second))

    def _sanitize_texts(self, documents: Sequence[tuple[str]], options: Options) -> list[Result]:
        """Sanitize documents that consist of one text each, and return one result for each."""
        terms, count_foreign, rewritten = self._rewrite(documents, options)
        results = list[Result]()
        for (text,), tokens, get_mapping, randomized, replaced, (outline,) in rewritten:
            foreign = 0 if count_foreign is None else min(tokens, count_foreign(text))
            counts = {"randomized_words": randomized, "replaced_words": replaced, "foreign_words": foreign}
            shared = {"terms": terms, "get_mapping": get_mapping, "outline": outline}
            results.append(Result(text=text, tokens=tokens, **counts, **shared))
        return results

    def _rewrite(
        self, documents: Sequence[Sequence[str]], options: Options
    ) -> tuple[PrivacyTerms, Callable[[str], int] | None, Iterable[RewrittenDocument]]:
        """Sanitize documents, and return them with their privacy terms and a function that counts foreign words.

        The result has three values: the terms (mechanism, guarantee and options); a function that returns the number of
        words of other languages in a sanitized text, or ``None`` if the options keep no such words; and the documents.

        Python's Unicode tables can differ from those of the bundle. Characters that differ are replaced before the
        rewriting, and restored after it (see ``unicode_compat``).
        """
        plan, swap = self._get_plan(options), self._find_swap(documents, options)
        facts = cast("NamesPlan", plan).facts if plan.terms.mechanism == "names" else None
        count_foreign: Callable[[str], int] | None = None
        if facts is not None:  # only then other languages' words are kept
            strings = facts.strings
            from textveil.text.kept_words import count_foreign_words  # lazy: most calls keep no such words

            count_foreign = partial(count_foreign_words, is_foreign=strings.is_foreign, find_common=strings.common.get)
        if swap is None:
            return plan.terms, count_foreign, plan.rewriter.rewrite(documents)
        rewriter = self._get_plan(swap.replace_in_options(options)).rewriter
        swapped = [[*map(swap.replace_characters, texts)] for texts in documents]
        return plan.terms, count_foreign, swap.restore_documents(rewriter.rewrite(swapped))

    def _find_swap(self, documents: Sequence[Sequence[str]], options: Options) -> "CharacterSwap | None":
        words = [found for name in ("deny", "allow", "known") if (found := options.get(name)) is not None]
        texts = [*chain(*words, *documents)]
        if all(map(str.isascii, texts)):
            return None
        from textveil.text.unicode_compat import find_swap  # ASCII texts do not need this import

        return find_swap(self.bundle.characters_json, texts)

    def _get_plan(self, options: Options) -> "RandomizingPlan | NamesPlan":
        # Options of plain values that were checked once need no further check. The types matter: 1 equals True.
        plain_key = tuple(options.items()) if _PLAIN_TYPES.issuperset(map(type, options.values())) else None
        plan = self._plans.get(plain_key)
        if plan is not None:
            return plan
        key = make_cache_key(options)
        plan = self._plans.get(key)
        if plan is None:
            plan = self._factory.make_plan(options)
            if len(self._plans) >= _MAX_CACHED_PLANS:
                self._plans.clear()
            self._plans[key] = plan
        if plain_key is not None:
            self._plans[plain_key] = plan
        return plan

    def _find_symbol_id(self, word: str) -> int:
        """Return the id by which the mechanism (random function) identifies a word; the same one for unknown words."""
        # The tokenizer splits some entries of the vocabulary, which therefore never occur as tokens.
        key = word if word in self.bundle.symbol_ids else self._factory.token_plans.rule.classify_alone(word).key
        return self.bundle.symbol_count if key is None else self.bundle.symbol_ids.get(key, self.bundle.symbol_count)


class PlanFactory:
    """Creates plans: checks the options of a call, and selects the lists and tables of one bundle for them.

    Args:
        bundle: The bundle (opened folder of word lists, tables and settings).
        detector: Optional second detector for the outputs of the mode ``names``.
    """

    def __init__(self, bundle: TextBundle, detector: "SpanDetector | None" = None) -> None:
        self._bundle, self._detector = bundle, detector
        if not bundle.is_builtin:
            from textveil.text.unicode_compat import check_settled_characters

            check_settled_characters(bundle.characters_json)
        if not bundle.is_builtin and bundle.staircase_table is not None:  # check the lists of a foreign bundle at once
            _ = self.staircase_plans

    @cached_property
    def staircase_plans(self) -> "StaircasePlanFactory":
        """Factory of plans (checked options with their tables) for the staircase mechanism, created at first use."""
        from textveil.text.staircase_plans import StaircasePlanFactory

        return StaircasePlanFactory(self._bundle)

    @cached_property
    def token_plans(self) -> "TokenPlanFactory":
        """Factory of plans (checked options with their tables) for mechanisms that randomize every token."""
        from textveil.text.token_plans import TokenPlanFactory

        return TokenPlanFactory(self._bundle)

    @cached_property
    def names_plans(self) -> "NamesPlanFactory":
        """Factory of plans (checked options with their lists) for the mode ``names``, created at first use."""
        from textveil.text.names.plan import NamesPlanFactory

        return NamesPlanFactory(self._bundle, self._detector)

    def make_plan(self, options: Options) -> "RandomizingPlan | NamesPlan":
        """Check the options of a call, and create their plan (the options with the lists and tables they select).

        Raises:
            UnknownMechanism, UnknownLevel, OptionError: The bundle or the mechanism does not support the value of an
                option. The message lists the supported values.
        """
        checked = check_options(options)
        if selects_names(self._bundle, checked):
            return self.names_plans.make_plan(checked)
        return self.make_randomizing_plan(checked)

    def make_randomizing_plan(self, checked: dict[str, Any]) -> "RandomizingPlan":
        """Create the plan (options with their lists and tables) for a mode that randomizes words.

        The options must be checked, and may select any mode except ``names``.

        Raises:
            UnknownMechanism, UnknownLevel, OptionError: As in ``make_plan``.
        """
        if names_only := sorted(NAMES_OPTIONS.intersection(checked)):
            raise OptionError(f"{', '.join(names_only)}: only the mode 'names' supports this: use protect names")
        if not self._bundle.mechanisms and self._bundle.language not in (None, "en"):
            self._bundle.check_mechanism("staircase")  # names the language, and the next step
        if self._detector is not None:
            raise OptionError("an external detector works only with the mode 'names': use protect names")
        if checked.get("mechanism", self._bundle.default_mechanism) != "staircase":
            return self.token_plans.make_plan(checked)
        return self.staircase_plans.make_plan(checked)


def selects_names(bundle: TextBundle, checked: Mapping[str, Any]) -> bool:
    """Return whether the options of a call select the mode ``names``.

    If the option ``protect`` is omitted, the option ``mechanism`` determines the mode. If both are omitted, the default
    mode of the bundle applies.

    Args:
        bundle: The bundle (folder of lists and settings), which states the default mode.
        checked: Options without ``None`` values (see ``check_options``).
    """
    if "protect" not in checked:
        return "mechanism" not in checked and bundle.default_mode == "names"
    return checked["protect"] == "names" and checked.get("mechanism", "staircase") == "staircase"


def _open_languages(language: str, pins: ExpectedBundle) -> TextBundle:
    """Open the packs of a tag such as ``"es"`` or ``"es+en"`` (``"en"`` is built in), and join their word lists.

    Raises:
        OptionError: ``language`` is not a language tag, or ``pins`` requires a signer of several packs.
        BundleNotFound: A pack is not installed.
        ContentHashMismatch: The joined packs have another content hash than the expected one.
    """
    from textveil.bundle.languages import BUILTIN_LANGUAGE, find_language_pack, join_bundles, split_languages

    languages = split_languages(language)
    folders = [DEFAULT_BUNDLE if one == BUILTIN_LANGUAGE else find_language_pack(one) for one in languages]
    if len(languages) == 1:
        return open_bundle(folders[0], TextBundle, **pins)
    if pins.get("signer") is not None:
        raise OptionError("signer works only with a single language: omit signer, or load one language")
    own = ExpectedBundle(max_bytes=pins["max_bytes"]) if "max_bytes" in pins else ExpectedBundle()
    bundles = [
        open_bundle(folder, TextBundle, **{**own, "language": one})
        for folder, one in zip(folders, languages, strict=True)
    ]
    bundle, expected = join_bundles(bundles), pins.get("expect_id")
    if expected is not None and expected.strip().lower() != bundle.content_hash:
        raise ContentHashMismatch(
            f"the packs of {language} together have the content hash {bundle.content_hash}, not the expected one: "
            "install the expected packs, or correct --expect-id"
        )
    return replace(bundle, language=language, is_expected=expected is not None)


def _explain_pieces(plan: "RandomizingPlan | NamesPlan", text: str) -> "Iterator[ExplainedPiece]":
    """Yield the parts of a text, each with its treatment (such as ``kept``), its position and the reason."""
    if plan.terms.mechanism == "names":
        from textveil.text.names.explanation import explain_preview

        return explain_preview(cast("NamesPlan", plan), text)
    from textveil.text.explanation import explain_function_words

    return explain_function_words(plan.preview(text))


def make_plan(bundle: TextBundle, **options: Unpack[Options]) -> "RandomizingPlan":
    """Create a plan (checked options with their tables) for code that analyzes a mechanism.

    The plan randomizes words. If the options have no mode, the plan has the mode of the bundle's mechanism. For other
    errors see ``PlanFactory.make_plan``.

    Raises:
        OptionError: The options select the mode ``names``, which does not sample words of a vocabulary.

    >>> make_plan(Sanitizer.load().bundle, protect="words").terms.mechanism
    'staircase'
    """
    checked = check_options(options)
    if "protect" in checked and selects_names(bundle, checked):
        raise OptionError(
            "the mode 'names' randomizes no words, so this operation does not exist for it: use protect='words' or "
            "protect='all'"
        )
    return PlanFactory(bundle).make_randomizing_plan(checked)
