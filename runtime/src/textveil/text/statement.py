"""The promise of a release of text, in numbers and words, and the text that it is about.

A promise is a function of the output and of public parameters only. A statement counts what the skeleton shows anyway.
It never says how many words were changed, unknown or sensitive: that would be a second, unprotected release
(docs/privacy.md).
"""

from collections.abc import Collection
from dataclasses import KW_ONLY, dataclass, field
from decimal import Decimal
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from textveil.errors import OptionError
from textveil.release import Charge, KeptWords, Loss, Statement, counted

if TYPE_CHECKING:
    from textveil.text.restore import Restorer
    from textveil.text.restored import Restored

#: Kinds of epsilon. Two kinds are never compared, added or printed as one another.
TEXTBOOK, CERTIFIED, PURE_LDP = "textbook metric DP", "certified metric DP", "pure local DP"


class Promise(Protocol):
    """What a mechanism promises of one drawn token."""

    @property
    def epsilon(self) -> Decimal | float:
        """Loss per token; per unit of scaled distance for metric DP."""
        ...

    @property
    def epsilon_kind(self) -> str:
        """``TEXTBOOK``, ``CERTIFIED`` or ``PURE_LDP``."""
        ...

    @property
    def losses(self) -> tuple[Loss, ...]:
        """The losses of one token, each of its own kind."""
        ...

    def charge(self, tokens: int) -> Charge:
        """Returns what a ledger charges for so many tokens."""
        ...

    def unit(self, terms: "Terms") -> str:
        """Returns what one token is called."""
        ...

    def facts(self, terms: "Terms") -> dict[str, Any]:
        """Returns its figures, for JSON."""
        ...

    def totals(self, tokens: int, drawn: int) -> dict[str, Any]:
        """Returns the figures of a document of so many tokens and, on the rung names, drawn words, for JSON."""
        ...

    def not_protected(self, terms: "Terms") -> tuple[str, ...]:
        """Returns what the release shows in spite of the noise, in plain words."""
        ...

    def summary(self, terms: "Terms", tokens: int, drawn: int = 0) -> str:
        """Returns the promise in full, as one paragraph."""
        ...

    def line(self, terms: "Terms", tokens: int, drawn: int = 0) -> str:
        """Returns what is shown, replaced and drawn, in one short line."""
        ...


@dataclass(frozen=True, kw_only=True)
class Terms:
    """The parameters under which any number of texts is sanitized.

    Attributes:
        mechanism: Name of the mechanism.
        level: The epsilon that its level is called by, as it is typed; ``None`` for mechanisms that have none.
        promise: What it promises of one drawn token.
        protect: The rung of the ladder, ``"words"`` or ``"all"``; ``None`` for mechanisms that draw everything.
        consistent: Whether equal words of a document become equal words.
        consistent_cap: The most drawn words, names and numbers that a document may have with ``consistent``.
        case: ``"carry"`` or ``"drop"``.
        sanitize_punctuation: Whether punctuation is sanitized too, and white space is not passed through.
        bundle: Identity of the bundle.
    """

    mechanism: str
    level: str | None
    promise: Promise
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
    def unit(self) -> str:
        """What is charged."""
        return self.promise.unit(self)

    @property
    def not_protected(self) -> tuple[str, ...]:
        """What the release shows in spite of the noise, in plain words."""
        return self.promise.not_protected(self)

    @property
    def visible_parts(self) -> tuple[str, ...]:
        """What the text shows as it is: its skeleton."""
        parts = ["function words"] if self.protect == "words" else []
        parts += [] if self.sanitize_punctuation else ["punctuation and white space"]
        parts += ["case"] if self.case == "carry" and not self.sanitize_punctuation else []
        parts += ["kinds of names and numbers"] if self.protect is not None else []
        parts += ["the number and order of words"]
        parts += ["how many digits a short number has", "endings of words"] if self.protect == "names" else []
        parts += ["which words are equal"] if self.consistent else []
        return tuple(parts)

    def statement(self, tokens: int, drawn: int = 0) -> "PrivacyStatement":
        """Returns the promise for a text of so many tokens and, on the rung names, drawn words."""
        return PrivacyStatement(self, tokens, drawn)


@dataclass(frozen=True)
class PrivacyStatement(Statement):
    """The promise of one release. Safe to publish beside the output.

    For any two texts of the same skeleton, the probabilities of any output differ by a factor of at most ``exp`` of the
    sum of the losses of the drawn tokens in which they differ (docs/privacy.md). Where every token is drawn, the
    skeleton is gaps, token boundaries and case patterns. Texts of different skeletons have no bound.

    Attributes:
        terms: Mechanism, epsilons and options.
        tokens: Charged tokens of the document: all drawn ones; the distinct ones where draws are consistent.
        drawn: On the rung names: words of the list that are drawn.
    """

    terms: Terms
    tokens: int
    drawn: int = 0

    @property
    def identity(self) -> str:
        """Identity of the bundle."""
        return self.terms.bundle

    @property
    def mechanism(self) -> str:
        """Name of the mechanism."""
        return self.terms.mechanism

    @property
    def charge(self) -> Charge:
        """The loss of every charged token; replaced ones cost nothing."""
        return self.terms.promise.charge(self.tokens)

    @property
    def losses(self) -> tuple[Loss, ...]:
        """The losses of one token, each of its own kind."""
        return self.terms.promise.losses

    @property
    def not_protected(self) -> tuple[str, ...]:
        """What the release shows in spite of the noise, in plain words."""
        return self.terms.not_protected

    @property
    def epsilon_document(self) -> Decimal | float:
        """Sum of ``epsilon`` over all charged tokens: two texts that differ in every one of them."""
        return self.tokens * self.terms.epsilon

    def to_dict(self) -> dict[str, Any]:
        """Returns plain values for JSON."""
        terms = self.terms
        return {
            "mechanism": terms.mechanism,
            "level": terms.level,
            **terms.promise.facts(terms),
            **terms.promise.totals(self.tokens, self.drawn),
            "case": terms.case,
            "sanitize_punctuation": terms.sanitize_punctuation,
            "bundle": terms.bundle,
            "line": self.line(),
            "summary": self.summary(),
            "not_protected": list(terms.not_protected),
        }

    def summary(self) -> str:
        """Returns the promise in full, as one paragraph; ``d`` stands for the scaled distance of two words."""
        return self.terms.promise.summary(self.terms, self.tokens, self.drawn)

    def line(self) -> str:
        """Returns what is shown, replaced and drawn, in one short line for a terminal."""
        return self.terms.promise.line(self.terms, self.tokens, self.drawn)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Result:
    """A sanitized text and what it promises.

    Attributes:
        text: The sanitized text.
        tokens: How many tokens are charged: all that are drawn, pieces of words each; distinct ones after
            ``consistent`` draws.
        terms: Mechanism, epsilons and options.
        mapping: What restores words after ``consistent`` draws; else ``None``. It undoes the protection: it is in no
            ``repr`` and is left out of pickles.
        drawn: On the rung ``names``: how many words of the list are drawn (``--draw``).
        replaced_words: In the mode ``names``: how many words on no list are replaced; no names and numbers.
    """

    text: str
    tokens: int
    terms: Terms
    mapping: "Restorer | None" = field(default=None, repr=False, compare=False)
    drawn: int = 0
    replaced_words: int = 0

    def __str__(self) -> str:
        """Return the sanitized text: what may be sent, and nothing else.

        >>> from textveil import Sanitizer
        >>> result = Sanitizer.load().sanitize("Anna paid.", protect="names")
        >>> str(result) == result.text
        True
        """
        return self.text

    def __repr__(self) -> str:
        """Return the sizes and the mechanism on one line, without the text and the mapping."""
        level = "" if self.terms.level is None else f" {self.terms.level}"
        return f"<{type(self).__name__} of {counted(len(self.text), 'character')}, {self.terms.mechanism}{level}>"

    @property
    def kept_words(self) -> "KeptWords | None":
        """Return how many words the mode ``names`` kept and replaced; ``None`` in other modes."""
        return KeptWords(self.tokens, self.replaced_words) if self.terms.mechanism == "names" else None

    @property
    def kept_share(self) -> float | None:
        """Return the share of words that the mode ``names`` kept: below a half it may not be English.

        Names, numbers and identifiers are not counted. It follows from the template, which the output shows, so it
        reveals nothing more. ``None`` in other modes and without words.
        """
        return None if self.kept_words is None else self.kept_words.share

    @property
    def statement(self) -> PrivacyStatement:
        """Mechanism, epsilons, document total and what is not protected."""
        return self.terms.statement(self.tokens, self.drawn)

    def to_dict(self) -> dict[str, Any]:
        """Return the text and its statement as plain values for JSON, in the mode ``names`` with ``kept_share``."""
        share = {"kept_share": self.kept_share} if self.kept_words is not None else {}
        return {"text": self.text, **share, "statement": self.statement.to_dict()}

    def restore(
        self, reply: str, *, restore_places: Collection[str] | str = (), restore_hosts: Collection[str] = ()
    ) -> "Restored":
        """Return a reply about the sanitized text with its original words, on this device, and a report.

        Only words whose outputs stand for one original are restored, and only in running text: not in links, markup,
        code, math or JSON (docs/restoring.md). ``result.restore(reply, restore_places={"code"})`` restores code too.
        The result acts as its text; its ``report`` lists what was not restored, and why.

        >>> from textveil import Sanitizer
        >>> result = Sanitizer.load().sanitize("Order 48213 is for Anna Novak.", protect="names")
        >>> restored = result.restore(result.text)
        >>> restored == "Order 48213 is for Anna Novak.", restored.report.not_restored
        (True, ())

        Args:
            reply: The whole reply.
            restore_places: Places that are restored too: ``code``, ``json``, ``math``; or ``all``, for a reply that
                nothing displays or fetches.
            restore_hosts: Hosts in links to which words are restored.

        Raises:
            OptionError: The text was not sanitized with ``consistent``, the result comes from another process, or an
                option has a value that there is not.
            InputError: The reply is not a string.
        """
        from textveil.text.restore_policy import RestorePolicy  # who restores nothing does not load it

        policy = RestorePolicy.parse(restore_places, restore_hosts)
        if self.mapping is None:
            raise OptionError("there is no mapping: words are restored after consistent draws, in the same process")
        return self.mapping.restore(reply, policy, self.text)

    def __reduce__(self) -> Any:
        counts = {"tokens": self.tokens, "drawn": self.drawn, "replaced_words": self.replaced_words}
        known = partial(type(self), text=self.text, terms=self.terms, **counts)
        return known, ()  # the mapping stays in this process


@dataclass(frozen=True, slots=True)
class Document:
    """The texts of one document after the draw, the tokens charged for all of them, and the counts of ``Result``."""

    texts: list[str]
    tokens: int
    _: KW_ONLY
    drawn: int = 0
    replaced_words: int = 0
