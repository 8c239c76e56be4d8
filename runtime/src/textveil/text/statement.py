"""Privacy guarantee of a release of text, in figures and in words, and the released text.

Privacy:
    A statement is a function of the output and of public parameters only. It counts tokens that the template reveals
    anyway, never how many words were changed, unknown or sensitive: such a count would be a second, unprotected release
    (docs/privacy.md).
"""

from collections.abc import Collection, Sequence
from dataclasses import KW_ONLY, dataclass, field
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from textveil.errors import OptionError
from textveil.formatting import format_count
from textveil.lazy import STATEMENTS, load_data
from textveil.release import PrivacyLoss, ReleaseStatement, Spend
from textveil.text.replaced_spans import ReplacedSpan, SpanOutline

if TYPE_CHECKING:
    from textveil.text.marked_html import HtmlFragment
    from textveil.text.restore import Restorer
    from textveil.text.restored import Restored

#: Kinds of epsilon. Values of different kinds must not be compared, added, or printed in place of each other.
_TEXTS = load_data(STATEMENTS)
TEXTBOOK, CERTIFIED, PURE_LDP = "textbook metric DP", "certified metric DP", _TEXTS["words"]["epsilon_kind"]
#: With fewer words that are neither names nor numbers (a text of 20 words has about 12), do not guess the language.
_MIN_WORDS = 12


class PrivacyGuarantee(Protocol):
    """Guarantee of a mechanism for one randomized token (interface)."""

    @property
    def epsilon(self) -> Decimal | float:
        """Loss per token; per unit of scaled distance for metric differential privacy."""
        ...

    @property
    def epsilon_kind(self) -> str:
        """``TEXTBOOK``, ``CERTIFIED`` or ``PURE_LDP``."""
        ...

    @property
    def losses(self) -> tuple[PrivacyLoss, ...]:
        """The losses of one token, each of its own kind."""
        ...

    def compute_spend(self, tokens: int) -> Spend:
        """Return how much ``tokens`` tokens spend in the privacy ledger."""
        ...

    def name_privacy_unit(self, terms: "PrivacyTerms") -> str:
        """Return the noun for a token that counts toward the spend, such as ``distinct randomized word``."""
        ...

    def list_figures(self, terms: "PrivacyTerms") -> dict[str, Any]:
        """Return the figures of the guarantee, for JSON."""
        ...

    def list_totals(self, tokens: int, randomized_words: int) -> dict[str, Any]:
        """Return the figures of one document, for JSON.

        Args:
            tokens: Number of tokens that count toward the spend.
            randomized_words: In the mode ``names``, the number of randomized words.
        """
        ...

    def list_unprotected(self, terms: "PrivacyTerms") -> tuple[str, ...]:
        """Return plain sentences about what the release reveals in spite of the noise."""
        ...

    def summary(self, terms: "PrivacyTerms", tokens: int, randomized_words: int = 0) -> str:
        """Return the full guarantee as one paragraph."""
        ...

    def format_line(self, terms: "PrivacyTerms", tokens: int, randomized_words: int = 0) -> str:
        """Return the guarantee as one line: the kept, replaced and randomized parts."""
        ...


@dataclass(frozen=True, kw_only=True)
class PrivacyTerms:
    """Mechanism, guarantee and options that apply to all texts of a call.

    Attributes:
        mechanism: Name of the mechanism.
        level: The epsilon that selects the level, as typed; ``None`` for mechanisms without levels.
        promise: Guarantee of the mechanism for one randomized token.
        protect: The mode; ``None`` for mechanisms that randomize every token.
        consistent: Whether equal words of a document get equal outputs.
        consistent_cap: With ``consistent``, the largest number of randomized words, names and numbers of a document.
        sanitize_punctuation: Whether punctuation is sanitized too, and white space becomes single spaces.
        bundle: Content hash of the bundle.

    >>> from textveil import Sanitizer
    >>> Sanitizer.load().terms(protect="words").mechanism
    'staircase'
    """

    mechanism: str
    level: str | None
    promise: PrivacyGuarantee
    protect: str | None = None
    consistent: bool = False
    consistent_cap: int = 0
    sanitize_punctuation: bool
    bundle: str

    @property
    def epsilon(self) -> Decimal | float:
        """Loss per token; per unit of scaled distance for metric differential privacy."""
        return self.promise.epsilon

    @property
    def privacy_unit(self) -> str:
        """Noun for a token that counts toward the spend, such as ``distinct randomized word``."""
        return self.promise.name_privacy_unit(self)

    @property
    def not_protected(self) -> tuple[str, ...]:
        """Plain sentences about what the release reveals in spite of the noise."""
        return self.promise.list_unprotected(self)

    @property
    def revealed_parts(self) -> tuple[str, ...]:
        """The parts of the text that the output reveals, in words: its template."""
        names = ["function_words"] if self.protect == "words" else []
        names += [] if self.sanitize_punctuation else ["gaps", "case"]
        names += ["entity_types"] if self.protect is not None else []
        names += ["order"]
        names += ["digit_counts", "endings"] if self.protect == "names" else []
        names += ["equal_words"] if self.consistent else []
        return tuple(_TEXTS["revealed_parts"][name] for name in names)

    def statement(self, tokens: int, randomized_words: int = 0) -> "PrivacyStatement":
        """Return the privacy statement for one text.

        Args:
            tokens: Number of tokens that count toward the spend.
            randomized_words: In the mode ``names``, the number of randomized words.
        """
        return PrivacyStatement(self, tokens, randomized_words)


@dataclass(frozen=True)
class PrivacyStatement(ReleaseStatement):
    """Privacy statement of one release. It is safe to publish next to the output.

    For any two texts with the same template, the probabilities of any output differ by a factor of at most ``exp(s)``,
    where ``s`` is the sum of the losses of the randomized tokens in which the texts differ (docs/privacy.md). Where
    every token is randomized, the template consists of gaps, token boundaries and case patterns. For texts with
    different templates there is no bound.

    Attributes:
        terms: Mechanism, epsilons and options.
        tokens: Tokens of the document that count toward the spend: all randomized tokens; the distinct ones where
            outputs are consistent.
        randomized_words: In the mode ``names``, the number of words of the list that are randomized.

    Example:
        >>> from textveil import Sanitizer
        >>> statement = Sanitizer.load().sanitize("Anna moved to Lyon.", protect="words", epsilon=10).statement
        >>> statement.mechanism, statement.tokens, str(statement.terms.epsilon)
        ('staircase', 1, '10')
    """

    terms: PrivacyTerms
    tokens: int
    randomized_words: int = 0

    @property
    def bundle_hash(self) -> str:
        """Content hash of the bundle."""
        return self.terms.bundle

    @property
    def mechanism(self) -> str:
        """Name of the mechanism."""
        return self.terms.mechanism

    @property
    def spend(self) -> Spend:
        """Spend of the release in the privacy ledger; replaced tokens cost nothing."""
        return self.terms.promise.compute_spend(self.tokens)

    @property
    def losses(self) -> tuple[PrivacyLoss, ...]:
        """Losses of one token, each of its own kind."""
        return self.terms.promise.losses

    @property
    def not_protected(self) -> tuple[str, ...]:
        """Plain sentences about what the release reveals in spite of the noise."""
        return self.terms.not_protected

    @property
    def epsilon_document(self) -> Decimal | float:
        """``epsilon`` times ``tokens``: the bound for texts that differ in all of these tokens."""
        return self.tokens * self.terms.epsilon

    def to_dict(self) -> dict[str, Any]:
        """Return the statement as plain values for JSON."""
        terms = self.terms
        return {
            "mechanism": terms.mechanism,
            "level": terms.level,
            **terms.promise.list_figures(terms),
            **terms.promise.list_totals(self.tokens, self.randomized_words),
            "sanitize_punctuation": terms.sanitize_punctuation,
            "bundle": terms.bundle,
            "line": self.format_line(),
            "summary": self.summary(),
            "not_protected": list(terms.not_protected),
        }

    def summary(self) -> str:
        """Return the full guarantee as one paragraph; ``d`` is the scaled distance of two words."""
        return self.terms.promise.summary(self.terms, self.tokens, self.randomized_words)

    def format_line(self) -> str:
        """Return one line for a terminal: the kept, replaced and randomized parts."""
        return self.terms.promise.format_line(self.terms, self.tokens, self.randomized_words)


class KeptWords(NamedTuple):
    """Counts of kept words and of replaced words that are on no list, in one text or several.

    Names, numbers, identifiers and words of the option ``randomize`` are in neither count. The output reveals the
    template, and both counts follow from the template, so they reveal nothing more (docs/proofs/names.md).

    >>> KeptWords(5, 25).may_be_foreign
    True
    """

    kept: int = 0
    replaced: int = 0

    @property
    def share(self) -> float | None:
        """``kept / (kept + replaced)``, rounded to three decimals; ``None`` without words."""
        words = self.kept + self.replaced
        return round(self.kept / words, 3) if words else None

    @property
    def may_be_foreign(self) -> bool:
        """Whether the text may be in another language.

        It may be if less than half of its counted words are kept, and it has at least 12 of them.
        """
        words = self.kept + self.replaced
        return words >= _MIN_WORDS and 2 * self.kept < words


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Result:
    """A sanitized text and its privacy terms.

    Attributes:
        text: The sanitized text.
        tokens: Number of tokens that count toward the spend: all randomized tokens, where each WordPiece of a word
            counts; only distinct tokens with ``consistent``.
        terms: Mechanism, epsilons and options.
        mapping: Mapping that restores words, with ``consistent``; else ``None``. It undoes the protection: no ``repr``
            and no pickle contains it.
        randomized_words: In the mode ``names``, the number of words that a list of the user randomizes
            (``--randomize``).
        replaced_words: In the mode ``names``, the number of replaced words that are on no list, without names and
            numbers.
        outline: In the mode ``names``, positions and types from which ``spans`` is computed; ``None`` if the replaced
            parts are unknown.

    >>> from textveil import Sanitizer
    >>> result = Sanitizer.load().sanitize("Anna paid.", protect="names")
    >>> result.statement.mechanism
    'names'
    """

    text: str
    tokens: int
    terms: PrivacyTerms
    mapping: "Restorer | None" = field(default=None, repr=False, compare=False)
    randomized_words: int = 0
    replaced_words: int = 0
    outline: SpanOutline | None = field(default=None, repr=False, compare=False)

    def __str__(self) -> str:
        """Return the sanitized text, which is safe to send, and nothing else.

        >>> from textveil import Sanitizer
        >>> result = Sanitizer.load().sanitize("Anna paid.", protect="names")
        >>> str(result) == result.text
        True
        """
        return self.text

    def __repr__(self) -> str:
        """Return the sizes and the mechanism on one line, without the text and the mapping."""
        level = "" if self.terms.level is None else f" {self.terms.level}"
        return f"<{type(self).__name__} of {format_count(len(self.text), 'character')}, {self.terms.mechanism}{level}>"

    @property
    def spans(self) -> tuple[ReplacedSpan, ...] | None:
        """The replaced parts of the text, in the mode ``names``; ``None`` if they are unknown.

        They have the originals where there is a mapping; pickles have none.
        """
        return None if self.outline is None else self.outline.list_spans()

    def _repr_html_(self) -> str:
        """Return the text as HTML for a notebook, with marks on its replaced parts; never an original."""
        return str(self.to_html())

    def to_html(self, *, show_originals: bool = False) -> "HtmlFragment":
        """Return a view of the text that notebooks display: replaced parts are marked with their entity type.

        The marks are those of the mode ``names``. In the other modes, and for results of another process, the text has
        no marks.

        >>> from textveil import Sanitizer
        >>> result = Sanitizer.load().sanitize("Zorblax Quibble paid.", protect="names")
        >>> "Zorblax" in str(result.to_html()), "Zorblax" in str(result.to_html(show_originals=True))
        (False, True)

        Args:
            show_originals: Whether each replaced part has its original before it, crossed out. Do not send such a view;
                a notebook saves it in its file.

        Raises:
            OptionError: ``show_originals`` is true, and the result has no originals, as ``restore``.
        """
        from textveil.text.marked_html import HtmlFragment, MarkedPiece, make_fragment  # lazy: only notebooks need it

        spans = self.spans
        if show_originals and (self.mapping is None or spans is None):
            raise OptionError(
                "this result has no originals: only results of the mode names have them, in the process that made them"
            )
        pieces, position = list[MarkedPiece](), 0
        for start, end, entity_type, original in spans or ():
            pieces.append(MarkedPiece(self.text[position:start]))
            pieces.append(MarkedPiece(self.text[start:end], entity_type, original if show_originals else ""))
            position = end
        pieces.append(MarkedPiece(self.text[position:]))
        line = ("" if spans is not None else "Not marked: replaced words. ") + self.statement.format_line()
        return HtmlFragment(make_fragment(pieces, line, show_originals=show_originals))

    @property
    def kept_words(self) -> "KeptWords | None":
        """Numbers of words that the mode ``names`` kept and replaced; ``None`` in other modes."""
        return KeptWords(self.tokens, self.replaced_words) if self.terms.mechanism == "names" else None

    @property
    def kept_share(self) -> float | None:
        """Share of words that the mode ``names`` kept. Below a half the text may not be English.

        Names, numbers and identifiers do not count. The output reveals the template, and the share follows from it, so
        the share reveals nothing more. ``None`` in other modes and without words.
        """
        return None if self.kept_words is None else self.kept_words.share

    @property
    def statement(self) -> PrivacyStatement:
        """Privacy statement: mechanism, epsilons, document total and unprotected information."""
        return self.terms.statement(self.tokens, self.randomized_words)

    def to_dict(self) -> dict[str, Any]:
        """Return text, statement and (mode ``names``) ``kept_word_share`` as plain values for JSON."""
        share = {"kept_word_share": self.kept_share} if self.kept_words is not None else {}
        return {"text": self.text, **share, "statement": self.statement.to_dict()}

    def restore(
        self, reply: str, *, restore_places: Collection[str] | str = (), restore_hosts: Collection[str] = ()
    ) -> "Restored":
        """Return a reply about the sanitized text with the original words, and a report.

        Restoring happens on this device. It restores only words whose outputs have one original, and only in running
        text: not in links, markup, code, math or JSON (docs/restoring.md). ``result.restore(reply,
        restore_places={"code"})`` restores code too. The result acts like its text. Its ``report`` lists the words that
        were not restored, with reasons.

        >>> from textveil import Sanitizer
        >>> result = Sanitizer.load().sanitize("Order 48213 is for Anna Novak.", protect="names")
        >>> restored = result.restore(result.text)
        >>> restored == "Order 48213 is for Anna Novak.", restored.report.not_restored
        (True, ())

        Args:
            reply: The whole reply.
            restore_places: Additional regions to restore: any of ``code``, ``json`` and ``math``; or ``all``, which
                also permits links. Use ``all`` only for a reply that no program displays and whose addresses none
                fetches.
            restore_hosts: Hosts. Words in links to these hosts are restored.

        Raises:
            OptionError: The text was not sanitized with ``consistent``, the result comes from another process, or an
                option has an invalid value.
            InputError: The reply is not a string.
        """
        from textveil.text.restore_policy import RestorePolicy  # lazy: only restoring needs it

        policy = RestorePolicy.parse(restore_places, restore_hosts)
        if self.mapping is None:
            raise OptionError(
                "this result has no mapping: only results of consistent=True have one, in the process that made them"
            )
        return self.mapping.restore(reply, policy, self.text)

    def __reduce__(self) -> Any:
        counts = {
            "tokens": self.tokens,
            "randomized_words": self.randomized_words,
            "replaced_words": self.replaced_words,
            "outline": self.outline,
        }
        factory = partial(type(self), text=self.text, terms=self.terms, **counts)
        return factory, ()  # the mapping stays in this process


@dataclass(frozen=True, slots=True)
class SanitizedDocument:
    """The sanitized texts of one document, and the counts of ``Result``."""

    texts: list[str]
    tokens: int
    _: KW_ONLY
    randomized_words: int = 0
    replaced_words: int = 0


class RewrittenDocument(NamedTuple):
    """A sanitized document, as the rewriter of each mode yields it.

    Attributes:
        texts: Its sanitized texts.
        tokens: ``Result.tokens``.
        mapping: Restores replies; ``None`` if outputs are not consistent. Private: it undoes the protection.
        randomized_words: ``Result.randomized_words``.
        replaced_words: ``Result.replaced_words``.
        outlines: Outline of each text; ``None`` for a text without one.
    """

    texts: Sequence[str]
    tokens: int
    mapping: "Restorer | None"
    randomized_words: int
    replaced_words: int
    outlines: "Sequence[SpanOutline | None]"
