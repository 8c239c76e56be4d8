"""``Sanitizer``, the main class for applications, and the factory of its plans."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict
from functools import cached_property
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack, cast

from textveil.bundle.defaults import DEFAULT_BUNDLE, DEFAULT_BUNDLE_ID
from textveil.bundle.open import open_bundle
from textveil.bundle.opened import Pins
from textveil.bundle.text import TextBundle
from textveil.errors import InputError, OptionError
from textveil.sequences import lists_of_texts, texts_of
from textveil.text.options import OF_NAMES, Options, cache_key, given
from textveil.text.rewrite import DrawPlan
from textveil.text.staircase_plans import StaircasePlans
from textveil.text.statement import Document, Result, Terms

if TYPE_CHECKING:
    from textveil.mechanisms.distribution import Distribution
    from textveil.text.names.also import Detector
    from textveil.text.names.plan import NamesPlan, NamesPlans
    from textveil.text.stand_ins import Swap
    from textveil.text.token_plans import TokenPlans

_MAX_PLANS = 16


class Sanitizer:
    """Sanitizer of texts, offline, with the mechanisms of one bundle.

    Mechanisms randomize words under local differential privacy; the mode ``names`` replaces words by random surrogates
    of their types. An instance holds no random state, so it is safe to share between threads and to use after a fork.

    Args:
        bundle: An opened bundle.
        also: Additional detector for the mode ``names``: reads each output, and returns start and end of further spans
            to hide.
    """

    def __init__(self, bundle: TextBundle, also: "Detector | None" = None) -> None:
        self.bundle = bundle
        self._makes = Plans(bundle, also)
        self._plans: dict[object, DrawPlan | NamesPlan] = {}

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for pickling, without the options of earlier calls.

        These options may contain denied words.
        """
        return {**self.__dict__, "_plans": {}}

    @classmethod
    def load(cls, path: str | Path | None = None, **pins: Unpack[Pins]) -> "Sanitizer":
        """Open a bundle, and check hashes and structure of its files.

        For the built-in bundle the files that only the mode ``names`` needs are checked at its first use.

        Args:
            path: Folder of a bundle; the built-in English bundle if omitted (with its content hash as expected hash).
            pins: Expected content hash or signer (``Pins``).

        Raises:
            BundleNotFound, BundleVersion, BundleDamaged, BundleTooLarge: The bundle is unusable.
            IdentityMismatch, NotTheMaker: The bundle is not the expected one.
            CryptoUnavailable: ``pins`` has a signer, and the extra ``crypto`` is not installed.
        """
        if path is None and pins.get("expect_id") is None:
            pins = {**pins, "expect_id": DEFAULT_BUNDLE_ID}
        return cls(open_bundle(DEFAULT_BUNDLE if path is None else Path(path), TextBundle, **pins))

    def sanitize(self, text: str, **options: Unpack[Options]) -> Result:
        """Sanitize one text. The text is one document; its statement covers all of its tokens.

        Args:
            text: Any string.
            options: See ``Options``.

        Returns:
            The sanitized text with its statement.

        Raises:
            OptionError: The bundle or the mechanism does not support the value of an option.
            InputError: ``text`` is not a string.

        Privacy:
            Every call samples anew: sanitizing the same text again is a second release and weakens the first.
        """
        if not isinstance(text, str):
            raise InputError("the text is not a string; sanitize_batch takes a list of texts")
        return self.sanitize_batch([text], **options)[0]

    def sanitize_batch(self, texts: Iterable[str], **options: Unpack[Options]) -> list[Result]:
        """Sanitize many texts, each its own document with its own statement.

        One batch randomizes all tokens of all texts together, many times faster than one call per text. Arguments,
        errors and privacy are those of ``sanitize``.
        """
        terms, rows = self._rewrite(texts_of(texts), options)
        return [
            Result(text=text, tokens=tokens, terms=terms, mapping=mapping, drawn=drawn, replaced_words=replaced)
            for (text,), tokens, mapping, drawn, replaced in rows
        ]

    def sanitize_documents(self, documents: Sequence[Sequence[str]], **options: Unpack[Options]) -> list[Document]:
        """Sanitize documents of several texts each, such as the cells of a row.

        With ``consistent``, equal words in all texts of a document get equal outputs and are charged once. Otherwise
        the result is that of ``sanitize_batch``, and a document is charged the sum of its texts. Arguments, errors and
        privacy are those of ``sanitize``.
        """
        _, rows = self._rewrite(lists_of_texts(documents), options)
        return [
            Document([*texts], tokens, drawn=drawn, replaced_words=replaced)
            for texts, tokens, _, drawn, replaced in rows
        ]

    def preview(self, text: str, **options: Unpack[Options]) -> list[tuple[str, str]]:
        """Return the tokens and gaps of a text with their treatment, without sampling or a release.

        Returns:
            Pairs of token and treatment: ``"gap"``, ``"visible"`` (kept), the name of an entity type, ``"drawn"``
            (randomized), or ``"unknown"``. Under ``santext+`` the coin may also keep a ``"drawn"`` word. The result is
            as private as the text.

        Raises:
            OptionError: As ``sanitize``.
            InputError: ``text`` is not a string.
        """
        if not isinstance(text, str):
            raise InputError("the text is not a string")
        plan, swap = self._plan(options), self._swap([[text]], options)
        if swap is None:
            return plan.preview(text)
        found = self._plan(swap.options(options)).preview(swap.there(text))
        return [(swap.back(piece), what) for piece, what in found]

    def unknown_share(self, text: str, **options: Unpack[Options]) -> float:
        """Return the share of a text's randomized words that the vocabulary lacks; 0 without any.

        In the mode ``names`` it is the share of unlisted words among all words except names, numbers and other
        entities. Above a half the text may be in another language.

        Privacy:
            The share depends on the hidden words: keep it on the device.
        """
        pieces = self.preview(text, **options)
        if self.terms(**options).mechanism == "names":
            words = [what for piece, what in pieces for _ in piece.split() if what in ("visible", "drawn", "word")]
            return words.count("word") / max(1, len(words))
        found = [what for _, what in pieces if what in ("drawn", "unknown")]
        return found.count("unknown") / max(1, len(found))

    def terms(self, **options: Unpack[Options]) -> Terms:
        """Return the privacy terms per token of a call with these options, without sampling."""
        return self._plan(options).terms

    def canonical_options(self, **options: Unpack[Options]) -> dict[str, Any]:
        """Return all parameters that determine the output distribution.

        The bundle's content hash is one of them. Omitted options have their default values; ``key`` becomes its
        SHA-256.

        Privacy:
            The result contains denied words. Do not publish it.
        """
        plan = self._plan(options)
        own: dict[str, Any] = {name: sorted(options.get(name) or ()) for name in ("deny", "allow", "draw")}
        if (key := options.get("key")) is not None:
            own["key"] = sha256(key).hexdigest()
        return {**asdict(plan.terms), "split": plan.split, **own}

    def names_plan(self, **options: Unpack[Options]) -> "NamesPlan":
        """Return the plan of the mode ``names`` under these options, for code beside ``sanitize``."""
        return cast("NamesPlan", self._plan({**options, "protect": "names"}))

    def distribution(self, word: str, **options: Unpack[Options]) -> "Distribution":
        """Return the exact output distribution of one word: every output with its integer weight.

        Args:
            word: One word. A word outside the vocabulary has the distribution of ``<unk>``. Under the staircase
                mechanism its case matters: in lower case more outputs are possible.
            options: As in ``sanitize``.

        Raises:
            OptionError: An option is not supported, the mechanism has no weights (``fbdd``), ``word`` is more than
                one token, or the staircase mechanism keeps it.
        """
        plan, swap = self._plan(options), self._swap([[word]], options)
        if swap is not None:
            plan, word = self._plan(swap.options(options)), swap.there(word)
        return plan.distribution(word)

    def distance(self, first: str, second: str) -> float:
        """Return the distance of two words in the metric of the guarantee.

        The median over pairs of words is 1.

        Raises:
            OptionError: A word is more than one token.
            UnknownMechanism: The bundle has no SanText, and so no metric.
        """
        return self.bundle.metric.distance(self._symbol(first), self._symbol(second))

    def _rewrite(self, documents: Sequence[Sequence[str]], options: Options) -> tuple[Terms, Iterable[Any]]:
        """Return the terms and the rows of a rewriter.

        Texts are read by the bundle's character classes (see ``stand_ins``).
        """
        plan, swap = self._plan(options), self._swap(documents, options)
        if swap is None:
            return plan.terms, plan.rewriter().rewrite(documents)
        found = self._plan(swap.options(options)).rewriter()
        return plan.terms, swap.rows(found.rewrite([[*map(swap.there, texts)] for texts in documents]))

    def _swap(self, documents: Sequence[Sequence[str]], options: Options) -> "Swap | None":
        words = [found for found in (options.get("deny"), options.get("allow")) if found is not None]
        texts = [*chain(*words, *documents)]
        if all(map(str.isascii, texts)):
            return None
        from textveil.text.stand_ins import swap_of  # ASCII texts do not need this import

        return swap_of(self.bundle.characters_json, texts)

    def _plan(self, options: Options) -> "DrawPlan | NamesPlan":
        key = cache_key(options)
        plan = self._plans.get(key)
        if plan is None:
            plan = self._makes.make(options)
            if len(self._plans) >= _MAX_PLANS:
                self._plans.clear()
            self._plans[key] = plan
        return plan

    def _symbol(self, word: str) -> int:
        """Return the input id of a symbol as printed, or of a word.

        A symbol may be one that no text yields, such as a WordPiece with digits.
        """
        key = word if word in self.bundle.ids else self._makes.everything.rule.alone(word).key
        return self.bundle.symbols if key is None else self.bundle.ids.get(key, self.bundle.symbols)


class Plans:
    """Factory of the plans of one bundle.

    Args:
        bundle: The bundle.
        also: Additional detector for the outputs of the mode ``names``.
    """

    def __init__(self, bundle: TextBundle, also: "Detector | None" = None) -> None:
        self._bundle, self._also = bundle, also
        if not bundle.is_builtin:
            from textveil.text.stand_ins import require_settled

            require_settled(bundle.characters_json)
        if bundle.staircase is not None and not bundle.is_builtin:  # check the lists of a foreign bundle at once
            _ = self.staircase

    @cached_property
    def staircase(self) -> StaircasePlans:
        """Factory of staircase plans."""
        return StaircasePlans(self._bundle)

    @cached_property
    def everything(self) -> "TokenPlans":
        """Factory of plans that randomize every token; lazy, since the staircase needs none of it."""
        from textveil.text.token_plans import TokenPlans

        return TokenPlans(self._bundle)

    @cached_property
    def names(self) -> "NamesPlans":
        """Factory of plans of the mode ``names``; lazy, since other modes need none of it."""
        from textveil.text.names.plan import NamesPlans

        return NamesPlans(self._bundle, self._also)

    def make(self, options: Options) -> "DrawPlan | NamesPlan":
        """Return the plan for the options of a call.

        Raises:
            UnknownMechanism, UnknownLevel, OptionError: The bundle or the mechanism does not support the value of an
                option; the message lists the supported values.
        """
        found = given(options)
        return self.names.plan(found) if _of_names(found) else self.drawn(found)

    def drawn(self, found: dict[str, Any]) -> DrawPlan:
        """Return the plan for checked options of every mode but ``names``."""
        if own := sorted(OF_NAMES.intersection(found)):
            raise OptionError(f"{', '.join(own)}: only with protect names")
        if self._also is not None:
            raise OptionError("outside detectors read outputs of the rung names alone (protect names)")
        if found.get("mechanism", self._bundle.default_mechanism) != "staircase":
            return self.everything.plan(found)
        return self.staircase.plan(found)


def _of_names(found: dict[str, Any]) -> bool:
    return found.get("protect") == "names" and found.get("mechanism", "staircase") == "staircase"


def make_plan(bundle: TextBundle, **options: Unpack[Options]) -> DrawPlan:
    """Return the plan that options select in a bundle, for code that analyzes sampling.

    See ``Plans.make``.

    Raises:
        OptionError: Also for the mode ``names``, which samples no symbols.
    """
    found = given(options)
    if _of_names(found):
        raise OptionError("the rung names has members of kinds, and no mechanism that draws symbols")
    return Plans(bundle).drawn(found)
