"""Privacy guarantee of a release of text, in figures and in words, and the released text.

Privacy:
    A statement is a function of the output and of public parameters only. It counts tokens that the template reveals
    anyway, never how many words were changed, unknown or sensitive: such a count would be a second, unprotected release
    (docs/privacy.md).
"""

from collections.abc import Collection
from dataclasses import KW_ONLY, dataclass, field
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from textveil.errors import OptionError
from textveil.lazy import STATEMENTS, load_data
from textveil.release import KeptWords, PrivacyLoss, ReleaseStatement, Spend, format_count

if TYPE_CHECKING:
    from textveil.text.restore import Restorer
    from textveil.text.restored import Restored

#: Kinds of epsilon. Values of two kinds must not be compared, added or printed as one another.
_TEXTS = load_data(STATEMENTS)
TEXTBOOK, CERTIFIED, PURE_LDP = "textbook metric DP", "certified metric DP", _TEXTS["words"]["epsilon_kind"]


class PrivacyGuarantee(Protocol):
    """Interface of a mechanism's guarantee for one randomized token."""

    @property
    def epsilon(self) -> Decimal | float:
        """Loss per token; per unit of scaled distance for metric DP."""
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
        """Return the spend in the privacy ledger for ``tokens`` tokens."""
        ...

    def name_privacy_unit(self, terms: "PrivacyTerms") -> str:
        """Return the name of the privacy unit, such as ``token``."""
        ...

    def list_figures(self, terms: "PrivacyTerms") -> dict[str, Any]:
        """Return the figures of the guarantee, for JSON."""
        ...

    def list_totals(self, tokens: int, randomized_words: int) -> dict[str, Any]:
        """Return the figures of one document, for JSON.

        Args:
            tokens: Number of charged tokens.
            randomized_words: In the mode ``names``, the number of randomized words.
        """
        ...

    def list_unprotected(self, terms: "PrivacyTerms") -> tuple[str, ...]:
        """Return plain sentences on the information that the release reveals in spite of the noise."""
        ...

    def summary(self, terms: "PrivacyTerms", tokens: int, randomized_words: int = 0) -> str:
        """Return the full guarantee as one paragraph."""
        ...

    def format_line(self, terms: "PrivacyTerms", tokens: int, randomized_words: int = 0) -> str:
        """Return one short line on the kept, replaced and randomized parts."""
        ...


@dataclass(frozen=True, kw_only=True)
class PrivacyTerms:
    """Parameters under which any number of texts is sanitized.

    Attributes:
        mechanism: Name of the mechanism.
        level: The epsilon that selects the level, as typed; ``None`` for mechanisms without levels.
        promise: Guarantee of the mechanism for one randomized token.
        protect: The mode; ``None`` for mechanisms that randomize every token.
        consistent: Whether equal words of a document get equal outputs.
        consistent_cap: With ``consistent``, the most randomized words, names and numbers that a document may have.
        case: ``"carry"`` or ``"drop"``.
        sanitize_punctuation: Whether punctuation is sanitized too, and white space is not passed through.
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
    case: str
    sanitize_punctuation: bool
    bundle: str

    @property
    def epsilon(self) -> Decimal | float:
        """Loss per token; per unit of scaled distance for metric DP."""
        return self.promise.epsilon

    @property
    def privacy_unit(self) -> str:
        """Name of the privacy unit."""
        return self.promise.name_privacy_unit(self)

    @property
    def not_protected(self) -> tuple[str, ...]:
        """Plain sentences on the information that the release reveals in spite of the noise."""
        return self.promise.list_unprotected(self)

    @property
    def revealed_parts(self) -> tuple[str, ...]:
        """Parts of the text that the output reveals: its template."""
        names = ["function_words"] if self.protect == "words" else []
        names += [] if self.sanitize_punctuation else ["gaps"]
        names += ["case"] if self.case == "carry" and not self.sanitize_punctuation else []
        names += ["entity_types"] if self.protect is not None else []
        names += ["order"]
        names += ["digit_counts", "endings"] if self.protect == "names" else []
        names += ["equal_words"] if self.consistent else []
        return tuple(_TEXTS["revealed_parts"][name] for name in names)

    def statement(self, tokens: int, randomized_words: int = 0) -> "PrivacyStatement":
        """Return the privacy statement for one text.

        Args:
            tokens: Number of charged tokens.
            randomized_words: In the mode ``names``, the number of randomized words.
        """
        return PrivacyStatement(self, tokens, randomized_words)


@dataclass(frozen=True)
class PrivacyStatement(ReleaseStatement):
    """Privacy statement of one release. It is safe to publish beside the output.

    For any two texts of the same template, the probabilities of any output differ by a factor of at most ``exp`` of the
    sum of the losses of the randomized tokens in which they differ (docs/privacy.md). Where every token is randomized,
    the template is gaps, token boundaries and case patterns. Texts of different templates have no bound.

    Attributes:
        terms: Mechanism, epsilons and options.
        tokens: Charged tokens of the document: all randomized tokens; the distinct ones where outputs are consistent.
        randomized_words: In the mode ``names``, the number of words of the list that are randomized.

    Example:
        >>> from textveil import Sanitizer
        >>> statement = Sanitizer.load().sanitize("Anna moved to Lyon.", epsilon=10).statement
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
        """Privacy loss of all charged tokens; replaced tokens cost nothing."""
        return self.terms.promise.compute_spend(self.tokens)

    @property
    def losses(self) -> tuple[PrivacyLoss, ...]:
        """Losses of one token, each of its own kind."""
        return self.terms.promise.losses

    @property
    def not_protected(self) -> tuple[str, ...]:
        """Plain sentences on the information that the release reveals in spite of the noise."""
        return self.terms.not_protected

    @property
    def epsilon_document(self) -> Decimal | float:
        """Sum of ``epsilon`` over all charged tokens: the bound for texts that differ in all."""
        return self.tokens * self.terms.epsilon

    def to_dict(self) -> dict[str, Any]:
        """Return the statement as plain values for JSON."""
        terms = self.terms
        return {
            "mechanism": terms.mechanism,
            "level": terms.level,
            **terms.promise.list_figures(terms),
            **terms.promise.list_totals(self.tokens, self.randomized_words),
            "case": terms.case,
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
        """Return one short line for a terminal on the kept, replaced and randomized parts."""
        return self.terms.promise.format_line(self.terms, self.tokens, self.randomized_words)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Result:
    """A sanitized text and its privacy terms.

    Attributes:
        text: The sanitized text.
        tokens: Number of charged tokens: all randomized tokens, each piece of a word counted; distinct tokens with
            ``consistent``.
        terms: Mechanism, epsilons and options.
        mapping: Mapping that restores words, with ``consistent``; else ``None``. It undoes the protection: no ``repr``
            and no pickle contains it.
        randomized_words: In the mode ``names``: number of words of the list that are randomized (``--randomize``).
        replaced_words: In the mode ``names``: number of replaced words that are on no list, without names and numbers.

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
    def kept_words(self) -> "KeptWords | None":
        """Numbers of words that the mode ``names`` kept and replaced; ``None`` in other modes."""
        return KeptWords(self.tokens, self.replaced_words) if self.terms.mechanism == "names" else None

    @property
    def kept_share(self) -> float | None:
        """Share of words that the mode ``names`` kept: below a half the text may not be English.

        Names, numbers and identifiers do not count. The share follows from the template, which the output reveals, so
        it reveals nothing more. ``None`` in other modes and without words.
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
        restore_places={"code"})`` restores code too. The result acts as its text; its ``report`` lists the words that
        were not restored, with reasons.

        >>> from textveil import Sanitizer
        >>> result = Sanitizer.load().sanitize("Order 48213 is for Anna Novak.", protect="names")
        >>> restored = result.restore(result.text)
        >>> restored == "Order 48213 is for Anna Novak.", restored.report.not_restored
        (True, ())

        Args:
            reply: The whole reply.
            restore_places: Additional regions to restore: ``code``, ``json``, ``math``; or ``all``, for a reply that
                nothing displays or fetches.
            restore_hosts: Hosts; words in links to these hosts are restored.

        Raises:
            OptionError: The text was not sanitized with ``consistent``, the result comes from another process, or an
                option has an invalid value.
            InputError: The reply is not a string.
        """
        from textveil.text.restore_policy import RestorePolicy  # lazy: only restoring needs it

        policy = RestorePolicy.parse(restore_places, restore_hosts)
        if self.mapping is None:
            raise OptionError("there is no mapping: restoring needs the option consistent, and the same process")
        return self.mapping.restore(reply, policy, self.text)

    def __reduce__(self) -> Any:
        counts = {
            "tokens": self.tokens,
            "randomized_words": self.randomized_words,
            "replaced_words": self.replaced_words,
        }
        factory = partial(type(self), text=self.text, terms=self.terms, **counts)
        return factory, ()  # the mapping stays in this process


@dataclass(frozen=True, slots=True)
class SanitizedDocument:
    """Sanitized texts of one document, with its charged tokens and the counts of ``Result``."""

    texts: list[str]
    tokens: int
    _: KW_ONLY
    randomized_words: int = 0
    replaced_words: int = 0
