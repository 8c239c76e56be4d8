"""Options of the mode ``names`` for replacements, and its guarantee under them.

Replaced words reveal only the public template. Kept words have no bound.
"""

import math
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from textveil.formatting import format_count
from textveil.lazy import STATEMENTS, load_data
from textveil.release import UNBOUNDED_SPEND, PrivacyLoss, Spend
from textveil.text.options import CONSISTENT_CAP
from textveil.text.statement import PrivacyTerms

_TEXTS = load_data(STATEMENTS)["names"]
NOTION: str = _TEXTS["guarantee"]


@dataclass(frozen=True, kw_only=True)
class ReplacementStyle:
    """Options for the replacement of spans.

    Attributes:
        tags: Whether all types are written as tags, ``[city 1]``.
        consistent: Whether equal strings of a document get equal surrogates.
        keep: Types that are kept where a list has the string, or its shape gives the type.
        tag: Types that are written as tags, whatever the style of other types.
        drop: Types that are removed without a replacement.
        cap: Largest number of distinct strings of a document with surrogates of their own. Further strings become tags.
        linked: Whether equal strings of all documents under one key get equal surrogates.
    """

    tags: bool = False
    consistent: bool = True
    keep: frozenset[str] = frozenset()
    tag: frozenset[str] = frozenset()
    drop: frozenset[str] = frozenset()
    cap: int = CONSISTENT_CAP
    linked: bool = False

    @property
    def effective_cap(self) -> int | None:
        """The cap if one applies, else ``None``."""
        return self.cap if self.consistent and not (self.linked or self.tags) else None


@dataclass(frozen=True)
class RandomizedListFigures:
    """Data of a randomized list: number of words, epsilon per word, and gain of a guess.

    ``nats`` is epsilon per word. ``guess_gain`` is the factor by which a guess of a word improves.
    """

    words: int
    nats: Decimal
    guess_gain: float

    def __str__(self) -> str:
        return f"epsilon {self.nats.normalize():f}"


@dataclass(frozen=True, kw_only=True)
class NamesGuarantee:
    """Guarantee of the mode ``names``.

    Two texts with one template have the same output distribution: a privacy loss of 0. Texts with different templates
    have no bound, so a text has no finite epsilon, and statements give none.

    Attributes:
        style: Options for the replacement of spans.
        allow: Whether words of the user's own list are kept.
        deny: Whether words of the user's own list are replaced.
        also: Whether an outside detector hides further parts of the output.
        draw: Data of the randomized words of a public list, or ``None``.
    """

    style: ReplacementStyle
    allow: bool = False
    deny: bool = False
    also: bool = False
    draw: RandomizedListFigures | None = None

    @property
    def epsilon(self) -> float:
        """Epsilon as in ``PrivacyGuarantee.epsilon``: infinite, since no bound holds for all pairs of texts."""
        return math.inf

    @property
    def epsilon_kind(self) -> str:
        """Implementation of ``PrivacyGuarantee.epsilon_kind``."""
        return _TEXTS["epsilon_kind"]

    @property
    def losses(self) -> tuple[PrivacyLoss, ...]:
        """Implementation of ``PrivacyGuarantee.losses``: none is finite."""
        return ()

    def compute_spend(self, tokens: int) -> Spend:
        """Return the spend as in ``PrivacyGuarantee.compute_spend``: no finite one bounds kept words."""
        return UNBOUNDED_SPEND

    def name_privacy_unit(self, terms: PrivacyTerms) -> str:
        """Return the unit as in ``PrivacyGuarantee.name_privacy_unit``."""
        return _TEXTS["unit"]

    def list_figures(self, terms: PrivacyTerms) -> dict[str, Any]:
        """Return the facts as in ``PrivacyGuarantee.list_figures``; ``epsilon_text`` is null, never 0."""
        draw = self.draw
        return {
            "protect": terms.protect,
            "epsilon_text": None,
            "epsilon_notion": self.epsilon_kind,
            "guarantee": NOTION if draw is None else f"{NOTION}; {draw} for each randomized word that differs",
            "style": "tag" if self.style.tags else "surrogate",
            "consistent": "corpus" if self.style.linked else self.style.consistent,
            "consistent_cap": self.style.effective_cap,
            "keep": sorted(self.style.keep),
            "tag": sorted(self.style.tag),
            "drop": sorted(self.style.drop),
            "allow": self.allow,
            "deny": self.deny,
            "also": self.also,
            "randomize": draw
            and {"words": draw.words, "epsilon_per_word": float(draw.nats), "guess_gain": draw.guess_gain},
        }

    def list_totals(self, tokens: int, randomized_words: int) -> dict[str, Any]:
        """Return the totals as in ``PrivacyGuarantee.list_totals``."""
        return {"kept_words": tokens} | ({} if self.draw is None else {"randomized_words": randomized_words})

    def list_unprotected(self, terms: PrivacyTerms) -> tuple[str, ...]:
        """Return the exclusions as in ``PrivacyGuarantee.list_unprotected``."""
        items = [*_TEXTS["not_protected"]]
        if self.style.keep:
            items.append(_TEXTS["not_protected_types"].format(types=", ".join(sorted(self.style.keep))))
        if self.allow:
            items.append(_TEXTS["not_protected_allowed"])
        if self.draw is not None:
            items.append("of a randomized word: that it is on the list, and what the words around it reveal about it")
        if self.style.linked:
            items.append("which replaced words of all documents under one key are equal; the key undoes the protection")
        elif self.style.consistent:
            items.append(_TEXTS["not_protected_equal"])
        return tuple(items)

    def format_line(self, terms: PrivacyTerms, tokens: int, randomized_words: int = 0) -> str:
        """Return the privacy statement as in ``PrivacyGuarantee.format_line``."""
        kept_types = sorted(self.style.keep)
        kept_phrase = (
            _TEXTS["kept_types" if len(kept_types) > 1 else "kept_type"].format(types=", ".join(kept_types))
            if kept_types
            else ""
        )
        kept_phrase += _TEXTS["kept_allowed"] if self.allow else ""
        linked_phrase = " Documents under one key are linked." if self.style.linked else ""
        draw = self.draw
        randomized_phrase = ""
        if draw is not None:
            randomized_phrase = (
                f"Randomized: {format_count(randomized_words, 'word')} of a public list of {draw.words:,}, "
                f"{draw} per word. "
            )
        return (
            _TEXTS["line"].format(more=kept_phrase, randomized=randomized_phrase, replacements=self._replacement_phrase)
            + linked_phrase
        )

    @property
    def _replacement_phrase(self) -> str:
        """Description of the replacement of a word that is neither kept nor randomized."""
        style = self.style
        types_by_treatment = {"tags": () if style.tags else style.tag, "removed": style.drop}
        exceptions = "; ".join(
            f"{way}: {', '.join(sorted(kinds))}" for way, kinds in types_by_treatment.items() if kinds
        )
        return _TEXTS["by_tags" if style.tags else "by_surrogates"] + (f" ({exceptions})" if exceptions else "")

    def summary(self, terms: PrivacyTerms, tokens: int, randomized_words: int = 0) -> str:
        """Return the summary as in ``PrivacyGuarantee.summary``: one paragraph."""
        equality_phrase, kept_phrase = (
            _TEXTS["revealed_equal"] if self.style.consistent else "",
            format_count(tokens, _TEXTS["unit"]),
        )
        cap_phrase = (
            "" if self.style.effective_cap is None else _TEXTS["cap"].format(cap=f"{self.style.effective_cap:,}")
        )
        return (
            _TEXTS["summary"].format(
                line=self.format_line(terms, tokens, randomized_words), equal=equality_phrase, kept=kept_phrase
            )
            + cap_phrase
        )
