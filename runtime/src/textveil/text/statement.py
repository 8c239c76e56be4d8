"""The result of sanitizing a text, and its privacy statement (its guarantee) in figures and in words.

Privacy:
    A statement is a function of the output and of public parameters only. It counts only tokens that the output reveals
    anyway. It never counts changed, unknown or sensitive words: such a count would reveal more about the private text
    (docs/privacy.md).
"""

from collections.abc import Callable, Collection, Sequence
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
    from textveil.text.kept_words import KeptWords
    from textveil.text.marked_html import HtmlFragment
    from textveil.text.restore import Restorer
    from textveil.text.restored import Restored

#: Kinds of epsilon. Values of different kinds must not be compared, added, or printed in place of each other.
_TEXTS = load_data(STATEMENTS)
TEXTBOOK, CERTIFIED, PURE_LDP = "textbook metric DP", "certified metric DP", _TEXTS["words"]["epsilon_kind"]


class PrivacyGuarantee(Protocol):
    """Interface for the privacy guarantee of a mechanism (random function): privacy losses, and texts of statements."""

    @property
    def epsilon(self) -> Decimal | float:
        """Privacy loss per token. For metric differential privacy, the loss per unit of the distance of two words.

        The distances are scaled so that their median over pairs of words is 1.
        """
        ...

    @property
    def epsilon_kind(self) -> str:
        """Definition of privacy that ``epsilon`` follows: ``TEXTBOOK``, ``CERTIFIED`` or ``PURE_LDP``."""
        ...

    @property
    def losses(self) -> tuple[PrivacyLoss, ...]:
        """The privacy losses of one token, one for each definition of privacy that the mechanism satisfies."""
        ...

    def compute_spend(self, tokens: int) -> Spend:
        """Return the privacy loss of an output with this many tokens, to record in the privacy ledger (a file)."""
        ...

    def name_privacy_unit(self, terms: "PrivacyTerms") -> str:
        """Return the unit to which the epsilon of a statement applies, such as ``distinct randomized word``."""
        ...

    def list_figures(self, terms: "PrivacyTerms") -> dict[str, Any]:
        """Return the entries of a JSON privacy statement that are equal for all texts, such as the epsilon."""
        ...

    def list_totals(self, tokens: int, randomized_words: int) -> dict[str, Any]:
        """Return the entries of a JSON privacy statement that depend on the document, such as the number of tokens.

        Args:
            tokens: Number of tokens whose privacy loss counts.
            randomized_words: In the mode ``names``, the number of randomized words.
        """
        ...

    def list_unprotected(self, terms: "PrivacyTerms") -> tuple[str, ...]:
        """Return English sentences about the information that the output reveals in spite of the noise."""
        ...

    def summary(self, terms: "PrivacyTerms", tokens: int, randomized_words: int = 0) -> str:
        """Return the privacy guarantee of one document in full, as one English paragraph for the privacy statement.

        Args:
            terms: Mechanism and options of the call.
            tokens: Number of tokens whose privacy loss counts.
            randomized_words: In the mode ``names``, the number of randomized words.
        """
        ...

    def format_line(self, terms: "PrivacyTerms", tokens: int, randomized_words: int = 0) -> str:
        """Return the guarantee as one line: which parts of the text stay unchanged, are replaced or are randomized.

        For the arguments see ``summary``.
        """
        ...


@dataclass(frozen=True, kw_only=True)
class PrivacyTerms:
    """The part of a privacy statement that is equal for all texts of a call: mechanism, guarantee and options.

    Attributes:
        mechanism: Name of the mechanism.
        level: The epsilon, as typed by the user; ``None`` for mechanisms without a choice of epsilons.
        promise: Guarantee of the mechanism for one randomized token.
        protect: The mode; ``None`` for mechanisms that randomize every token.
        consistent: Whether equal words of a document get equal outputs.
        consistent_cap: With ``consistent``, the limit for the size of a document (see ``Options``).
        sanitize_punctuation: Whether punctuation is randomized too, and each white space becomes one blank.
        bundle: Content hash of the bundle (the folder with word lists, tables and settings).

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
        """Privacy loss per token. For metric differential privacy, the loss per unit of the distance of two words.

        The distances are scaled so that their median over pairs of words is 1.
        """
        return self.promise.epsilon

    @property
    def privacy_unit(self) -> str:
        """The unit to which the epsilon of a statement applies, in words, such as ``distinct randomized word``."""
        return self.promise.name_privacy_unit(self)

    @property
    def not_protected(self) -> tuple[str, ...]:
        """English sentences about the information that outputs reveal in spite of the noise."""
        return self.promise.list_unprotected(self)

    @property
    def revealed_parts(self) -> tuple[str, ...]:
        """Names of the parts of a text that the output reveals, such as unchanged words and punctuation."""
        names = ["function_words"] if self.protect == "words" else []
        names += [] if self.sanitize_punctuation else ["gaps", "case"]
        names += ["entity_types"] if self.protect is not None else []
        names += ["order"]
        names += ["digit_counts", "endings"] if self.protect == "names" else []
        names += ["equal_words"] if self.consistent else []
        return tuple(_TEXTS["revealed_parts"][name] for name in names)

    def statement(self, tokens: int, randomized_words: int = 0) -> "PrivacyStatement":
        """Return the privacy statement of one document.

        Args:
            tokens: Number of tokens whose privacy loss counts.
            randomized_words: In the mode ``names``, the number of randomized words.
        """
        return PrivacyStatement(self, tokens, randomized_words)


@dataclass(frozen=True)
class PrivacyStatement(ReleaseStatement):
    """Privacy statement of one sanitized document. It is safe to publish next to the output.

    The *template* of a text is what the output reveals of it: the unchanged words, gaps and case, and the types of
    replaced entities. If a mechanism randomizes every token, the template has only gaps, token boundaries and case
    patterns. For any two texts with the same template, the probabilities of any output differ by a factor of at most
    ``exp(s)``. Here ``s`` is the sum of the losses of the randomized tokens that differ between the two texts
    (docs/privacy.md). For texts with different templates there is no bound.

    Attributes:
        terms: Mechanism, epsilons and options.
        tokens: Number of tokens of the document whose privacy loss counts: all randomized tokens, or with
            ``consistent`` the distinct ones.
        randomized_words: In the mode ``names``, the number of words that the option ``randomize`` randomizes.

    Example:
        >>> from textveil import Sanitizer
        >>> statement = Sanitizer.load().sanitize("Anna moved to Lyon.", protect="words", epsilon=10).statement
        >>> statement.mechanism, statement.tokens, str(statement.terms.epsilon)
        ('staircase', 1, '10')
    """

    terms: PrivacyTerms
    tokens: int
    randomized_words: int = 0

    def __repr__(self) -> str:
        """Return the statement as one line.

        >>> from textveil import Sanitizer
        >>> repr(Sanitizer.load().sanitize("Anna paid.", protect="names").statement)[:31]
        '<PrivacyStatement: Kept: common'
        """
        return f"<{type(self).__name__}: {self.format_line()}>"

    def _repr_html_(self) -> str:
        """Return the statement as HTML for a notebook."""
        from textveil.text.marked_html import escape_html  # lazy: only notebooks need it

        items = "".join(f"<li>{escape_html(item)}</li>" for item in self.not_protected)
        return f"<p>{escape_html(self.summary())}</p><p>Not protected:</p><ul>{items}</ul>"

    @property
    def bundle_hash(self) -> str:
        """Content hash of the bundle (the folder with word lists, tables and settings)."""
        return self.terms.bundle

    @property
    def mechanism(self) -> str:
        """Name of the mechanism, such as ``staircase`` or ``names``."""
        return self.terms.mechanism

    @property
    def spend(self) -> Spend:
        """Privacy loss of this document, to record in the privacy ledger. Replaced tokens cost nothing."""
        return self.terms.promise.compute_spend(self.tokens)

    @property
    def losses(self) -> tuple[PrivacyLoss, ...]:
        """The privacy losses of one token, one for each definition of privacy that the mechanism satisfies."""
        return self.terms.promise.losses

    @property
    def not_protected(self) -> tuple[str, ...]:
        """English sentences about the information that the output reveals in spite of the noise."""
        return self.terms.not_protected

    @property
    def epsilon_document(self) -> Decimal | float:
        """Bound of the privacy loss of the document: ``epsilon`` times ``tokens``.

        The bound applies to two texts that differ in all counted tokens. For metric differential privacy the bound is
        this value times the distance of the words, in units of the median distance.
        """
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
        """Return the guarantee in full, as an English paragraph. There, ``d`` is the scaled distance of two words."""
        return self.terms.promise.summary(self.terms, self.tokens, self.randomized_words)

    def format_line(self) -> str:
        """Return one line for a terminal: which parts of the text stay unchanged, are replaced or are randomized."""
        return self.terms.promise.format_line(self.terms, self.tokens, self.randomized_words)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Result:
    """A sanitized text, with its mechanism, privacy guarantee and options.

    Attributes:
        text: The sanitized text.
        tokens: Number of tokens whose privacy loss counts: all randomized tokens, or with ``consistent`` the distinct
            ones. If a mechanism splits words into WordPieces, each WordPiece counts.
        terms: Mechanism, epsilons and options.
        get_mapping: With ``consistent``, a function that returns ``mapping``; otherwise ``None``. No ``repr`` and no
            pickle contains this function.
        randomized_words: In the mode ``names``, the number of words that the option ``randomize`` randomizes.
        replaced_words: In the mode ``names``, the number of replaced words that are on no list, without names and
            numbers.
        foreign_words: In the mode ``names``, the number of unchanged words that belong to other languages.
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
    get_mapping: "Callable[[], Restorer] | None" = field(default=None, repr=False, compare=False)
    randomized_words: int = 0
    replaced_words: int = 0
    foreign_words: int = 0
    outline: SpanOutline | None = field(default=None, repr=False, compare=False)

    def __str__(self) -> str:
        """Return the sanitized text alone, which is safe to send.

        >>> from textveil import Sanitizer
        >>> result = Sanitizer.load().sanitize("Anna paid.", protect="names")
        >>> str(result) == result.text
        True
        """
        return self.text

    def __repr__(self) -> str:
        """Return the length of the text and the mechanism as one line, without any word of the text."""
        level = "" if self.terms.level is None else f" {self.terms.level}"
        return f"<{type(self).__name__} of {format_count(len(self.text), 'character')}, {self.terms.mechanism}{level}>"

    @property
    def mapping(self) -> "Restorer | None":
        """The object that restores the original words in a reply; ``None`` without the option ``consistent``.

        The object can undo the protection, so no ``repr`` and no pickle contains it.
        """
        return None if self.get_mapping is None else self.get_mapping()

    @property
    def spans(self) -> tuple[ReplacedSpan, ...] | None:
        """The replaced parts of the output, in the mode ``names``; ``None`` in modes that do not record them.

        Each part has its original text if the result has a ``mapping``. After unpickling, no part has its original.
        """
        return None if self.outline is None else self.outline.list_spans()

    def _repr_html_(self) -> str:
        """Return the text as HTML for a notebook, with marks on its replaced parts and without originals."""
        return str(self.to_html())

    def to_html(self, *, show_originals: bool = False) -> "HtmlFragment":
        """Return the text as HTML for a notebook: replaced parts are marked with their entity type.

        In modes other than ``names``, and for results of another process, the text has no marks.

        >>> from textveil import Sanitizer
        >>> result = Sanitizer.load().sanitize("Zorblax Quibble paid.", protect="names")
        >>> "Zorblax" in str(result.to_html()), "Zorblax" in str(result.to_html(show_originals=True))
        (False, True)

        Args:
            show_originals: Whether each replaced part has its original before it, crossed out. Do not send such a view.
                A notebook saves the view in its file.

        Raises:
            OptionError: ``show_originals`` is true, and the result has no originals. Only results of the mode ``names``
                have originals, and only in the process that created them.
        """
        from textveil.text.marked_html import HtmlFragment, MarkedPiece, make_fragment  # lazy: only notebooks need it

        spans = self.spans
        if show_originals and (self.mapping is None or spans is None):
            raise OptionError(
                "this result has no originals: only results of the mode 'names' have originals, and only in the "
                "process that created them"
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
        """Counts of the words that the mode ``names`` left unchanged and replaced; ``None`` in other modes."""
        from textveil.text.kept_words import KeptWords  # lazy: other modes count no kept words

        words = KeptWords(self.tokens, self.replaced_words, self.foreign_words)
        return words if self.terms.mechanism == "names" else None

    @property
    def kept_share(self) -> float | None:
        """Share of words left unchanged by the mode ``names``, from 0 to 1; ``None`` in other modes and without words.

        Names, numbers and identifiers do not count. A share below 0.5 can mean that the text is in another language
        than the word lists. The share depends only on what the output reveals anyway.
        """
        return None if self.kept_words is None else self.kept_words.share

    @property
    def statement(self) -> PrivacyStatement:
        """Privacy statement of this text: mechanism, epsilon per word and in total, and unprotected information."""
        return self.terms.statement(self.tokens, self.randomized_words)

    def to_dict(self) -> dict[str, Any]:
        """Return a dictionary for JSON with the keys ``text`` and ``statement``.

        In the mode ``names`` it also has the key ``kept_word_share``.
        """
        share = {"kept_word_share": self.kept_share} if self.kept_words is not None else {}
        return {"text": self.text, **share, "statement": self.statement.to_dict()}

    def restore(
        self, reply: str, *, restore_places: Collection[str] | str = (), restore_hosts: Collection[str] = ()
    ) -> "Restored":
        """Put the original words back into a reply to the sanitized text, on this device.

        A surrogate (the replacement of an original word) is restored only if it has a single original, and only in
        running text: not in links, markup, code, math or JSON (docs/restoring.md).
        ``result.restore(reply, restore_places={"code"})`` restores code too.

        >>> from textveil import Sanitizer
        >>> result = Sanitizer.load().sanitize("Order 48213 is for Anna Novak.", protect="names")
        >>> restored = result.restore(result.text)
        >>> restored == "Order 48213 is for Anna Novak.", restored.report.not_restored
        (True, ())

        Args:
            reply: The whole reply.
            restore_places: Further places at which words are restored: any of ``code``, ``json`` and ``math``. The
                value ``all`` also permits links. Use ``all`` only for a reply that no program displays, and from which
                no program opens addresses.
            restore_hosts: Host names. Words in links to these hosts are restored.

        Returns:
            The restored reply, which can be used like a string. Its ``report`` lists the words that were not restored,
            with reasons.

        Raises:
            OptionError: The text was not sanitized with ``consistent``, the result comes from another process, or an
                option has an invalid value.
            InputError: The reply is not a string.
        """
        from textveil.text.restore_policy import RestorePolicy  # lazy: only restoring needs it

        policy = RestorePolicy.parse(restore_places, restore_hosts)
        if self.mapping is None:
            raise OptionError(
                "this result has no mapping: only results with consistent=True have one, and only in the process that "
                "created them"
            )
        return self.mapping.restore(reply, policy, self.text)

    def __reduce__(self) -> Any:
        counts = {
            "tokens": self.tokens,
            "randomized_words": self.randomized_words,
            "replaced_words": self.replaced_words,
            "foreign_words": self.foreign_words,
            "outline": self.outline,
        }
        factory = partial(type(self), text=self.text, terms=self.terms, **counts)
        return factory, ()  # the mapping stays in this process


@dataclass(frozen=True, slots=True)
class SanitizedDocument:
    """The sanitized texts of one document, and counts of its words, with the same meaning as in ``Result``."""

    texts: list[str]
    tokens: int
    _: KW_ONLY
    get_mapping: "Callable[[], Restorer] | None" = field(default=None, repr=False, compare=False)
    randomized_words: int = 0
    replaced_words: int = 0
    foreign_words: int = 0

    @property
    def mapping(self) -> "Restorer | None":
        """The object that restores the original words in replies about the document; see ``Result.mapping``."""
        return None if self.get_mapping is None else self.get_mapping()

    def __reduce__(self) -> Any:
        counts = {
            "randomized_words": self.randomized_words,
            "replaced_words": self.replaced_words,
            "foreign_words": self.foreign_words,
        }
        return partial(type(self), self.texts, self.tokens, **counts), ()  # the mapping stays in this process


class RewrittenDocument(NamedTuple):
    """A sanitized document, as the internal code of each mode returns it.

    Attributes:
        texts: The sanitized texts.
        tokens: Number of tokens whose privacy loss counts (``Result.tokens``).
        get_mapping: Function that returns the object that restores replies, always the same one; ``None`` if equal
            words do not get equal outputs. Private: the object can undo the protection.
        randomized_words: Number of words that the option ``randomize`` randomizes (``Result.randomized_words``).
        replaced_words: Number of replaced words that are on no list (``Result.replaced_words``).
        outlines: For each text the positions of its replaced parts; ``None`` for a text in which they are unknown.
    """

    texts: Sequence[str]
    tokens: int
    get_mapping: "Callable[[], Restorer] | None"
    randomized_words: int
    replaced_words: int
    outlines: "Sequence[SpanOutline | None]"
