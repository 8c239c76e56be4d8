"""``Sanitizer``: replaces the words of a text by random ones. The one class that applications use."""

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
    """Rewrites text under local differential privacy, offline, with the mechanisms of one bundle.

    Safe to share between threads and to use after a fork: it holds no random state.

    Args:
        bundle: An opened bundle.
        also: On the rung names: reads each drawn output, and returns start and end of what else to hide in it.
    """

    def __init__(self, bundle: TextBundle, also: "Detector | None" = None) -> None:
        self.bundle = bundle
        self._makes = Plans(bundle, also)
        self._plans: dict[object, DrawPlan | NamesPlan] = {}

    def __getstate__(self) -> dict[str, Any]:
        """What another process gets: no options of earlier calls, which may name words that were denied."""
        return {**self.__dict__, "_plans": {}}

    @classmethod
    def load(cls, path: str | Path | None = None, **pins: Unpack[Pins]) -> "Sanitizer":
        """Opens a bundle: hashes and structure of every file are checked.

        Those of the built-in bundle that only the rung ``names`` reads are checked when it is first used.

        Args:
            path: Folder of a bundle; the built-in English one if left out (its identity is pinned).
            pins: What the bundle must be (``Pins``).

        Raises:
            BundleNotFound, BundleVersion, BundleDamaged, BundleTooLarge: The bundle cannot be used.
            IdentityMismatch, NotTheMaker: It is not the one expected.
            CryptoUnavailable: A maker is given, and the extra ``crypto`` is not installed.
        """
        if path is None and pins.get("expect_id") is None:
            pins = {**pins, "expect_id": DEFAULT_BUNDLE_ID}
        return cls(open_bundle(DEFAULT_BUNDLE if path is None else Path(path), TextBundle, **pins))

    def sanitize(self, text: str, **options: Unpack[Options]) -> Result:
        """Sanitizes one text. The text is one document; its statement covers all of its tokens.

        Args:
            text: Any string.
            options: See ``Options``.

        Returns:
            The sanitized text with its statement.

        Raises:
            OptionError: An option has a value that the bundle or the mechanism does not have.
            InputError: ``text`` is not a string.

        Privacy:
            Every call draws afresh: sanitizing the same text again is a second release and weakens the first.
        """
        if not isinstance(text, str):
            raise InputError("the text is not a string; sanitize_batch takes a list of texts")
        return self.sanitize_batch([text], **options)[0]

    def sanitize_batch(self, texts: Iterable[str], **options: Unpack[Options]) -> list[Result]:
        """Sanitizes many texts, each its own document with its own statement.

        All tokens of all texts are drawn together, which is many times faster than one call per text. Arguments,
        errors and privacy are those of ``sanitize``.
        """
        terms, rows = self._rewrite(texts_of(texts), options)
        return [
            Result(text=text, tokens=tokens, terms=terms, mapping=mapping, drawn=drawn, replaced_words=replaced)
            for (text,), tokens, mapping, drawn, replaced in rows
        ]

    def sanitize_documents(self, documents: Sequence[Sequence[str]], **options: Unpack[Options]) -> list[Document]:
        """Sanitizes documents that have several texts each, such as the cells of a row.

        With ``consistent``, equal words of all texts of a document become equal words and are charged once. Otherwise
        the texts are sanitized as ``sanitize_batch`` does, and a document is charged their sum. Arguments, errors and
        privacy are those of ``sanitize``.
        """
        _, rows = self._rewrite(lists_of_texts(documents), options)
        return [
            Document([*texts], tokens, drawn=drawn, replaced_words=replaced)
            for texts, tokens, _, drawn, replaced in rows
        ]

    def preview(self, text: str, **options: Unpack[Options]) -> list[tuple[str, str]]:
        """Returns what the skeleton of a text shows, piece by piece. Nothing is drawn and nothing is released.

        Returns:
            Each piece of the text with what becomes of it: ``"gap"``, ``"visible"``, the name of a kind, ``"drawn"``,
            or ``"unknown"``. Under ``santext+`` a word that is ``"drawn"`` may also be kept, by the coin. It is as
            private as the text.

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
        """Returns the share of a text's drawn words that the vocabulary lacks; 0 without mentions.

        On the rung ``names`` it is that of unlisted words among all but names, numbers and the like. It depends on the
        text and is for the device alone. Above a half the text may be in another language.
        """
        pieces = self.preview(text, **options)
        if self.terms(**options).mechanism == "names":
            words = [what for piece, what in pieces for _ in piece.split() if what in ("visible", "drawn", "word")]
            return words.count("word") / max(1, len(words))
        found = [what for _, what in pieces if what in ("drawn", "unknown")]
        return found.count("unknown") / max(1, len(found))

    def terms(self, **options: Unpack[Options]) -> Terms:
        """Returns what a call with these options promises per token. Nothing is drawn."""
        return self._plan(options).terms

    def canonical_options(self, **options: Unpack[Options]) -> dict[str, Any]:
        """Returns all that decides how a call with these options draws, the identity of the bundle included.

        Options that were left out have the values they resolve to. Denied words are in it: it is not to be published.
        """
        plan = self._plan(options)
        own: dict[str, Any] = {name: sorted(options.get(name) or ()) for name in ("deny", "allow", "draw")}
        if (key := options.get("key")) is not None:
            own["key"] = sha256(key).hexdigest()
        return {**asdict(plan.terms), "split": plan.split, **own}

    def names_plan(self, **options: Unpack[Options]) -> "NamesPlan":
        """Returns how the rung ``names`` rewrites under these options, for what draws more than a call."""
        return cast("NamesPlan", self._plan({**options, "protect": "names"}))

    def distribution(self, word: str, **options: Unpack[Options]) -> "Distribution":
        """Returns the exact output distribution of one word: every output with its integer weight. Nothing is drawn.

        Args:
            word: One word; one that is not in the vocabulary has the distribution of ``<unk>``. Under the staircase its
                case counts: in lower case more words may come out.
            options: As in ``sanitize``.

        Raises:
            OptionError: An option is not supported, the mechanism has no weights (``fbdd``), ``word`` is more than
                one token, or the staircase leaves it visible.
        """
        plan, swap = self._plan(options), self._swap([[word]], options)
        if swap is not None:
            plan, word = self._plan(swap.options(options)), swap.there(word)
        return plan.distribution(word)

    def distance(self, first: str, second: str) -> float:
        """Returns the distance of two words in the metric of the guarantee; 1 is the median over pairs of words.

        Raises:
            OptionError: A word is more than one token.
            UnknownMechanism: The bundle has no SanText, and so no metric.
        """
        return self.bundle.metric.distance(self._symbol(first), self._symbol(second))

    def _rewrite(self, documents: Sequence[Sequence[str]], options: Options) -> tuple[Terms, Iterable[Any]]:
        """What is promised, and what rewriters yield, read by the bundle's classes of characters."""
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
        from textveil.text.stand_ins import swap_of  # nothing of it for ASCII alone

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
        """A symbol as it is printed, also one that text cannot look up (a WordPiece with digits), or a word."""
        key = word if word in self.bundle.ids else self._makes.everything.rule.alone(word).key
        return self.bundle.symbols if key is None else self.bundle.ids.get(key, self.bundle.symbols)


class Plans:
    """Makes the plans of one bundle.

    Args:
        bundle: The bundle.
        also: Hides more of what came out on the rung names.
    """

    def __init__(self, bundle: TextBundle, also: "Detector | None" = None) -> None:
        self._bundle, self._also = bundle, also
        if not bundle.is_builtin:
            from textveil.text.stand_ins import require_settled

            require_settled(bundle.characters_json)
        if bundle.staircase is not None and not bundle.is_builtin:  # what its lists hold is looked at once
            _ = self.staircase

    @cached_property
    def staircase(self) -> StaircasePlans:
        """Makes plans of the staircase."""
        return StaircasePlans(self._bundle)

    @cached_property
    def everything(self) -> "TokenPlans":
        """Makes plans that draw everything; who draws by the staircase imports none of their mechanisms."""
        from textveil.text.token_plans import TokenPlans

        return TokenPlans(self._bundle)

    @cached_property
    def names(self) -> "NamesPlans":
        """Makes plans of the rung names; who draws words imports none of its rules."""
        from textveil.text.names.plan import NamesPlans

        return NamesPlans(self._bundle, self._also)

    def make(self, options: Options) -> "DrawPlan | NamesPlan":
        """Resolves options.

        Raises:
            UnknownMechanism, UnknownLevel, OptionError: An option has a value that the bundle or the mechanism does
                not have; the message lists those it has.
        """
        found = given(options)
        return self.names.plan(found) if _of_names(found) else self.drawn(found)

    def drawn(self, found: dict[str, Any]) -> DrawPlan:
        """Resolves options of every rung but names."""
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
    """Resolves options against a bundle, for whoever looks at draws: see ``Plans.make``.

    Raises:
        OptionError: Also for the rung names, which draws no symbols.
    """
    found = given(options)
    if _of_names(found):
        raise OptionError("the rung names has members of kinds, and no mechanism that draws symbols")
    return Plans(bundle).drawn(found)
