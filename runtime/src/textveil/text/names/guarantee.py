"""Options for replacements in the mode ``names``, and the privacy guarantee of the mode.

The sanitized text reveals the types, the case and the order of replaced entities, but not their text. It reveals all
unchanged words, so there is no bound on its privacy loss.
"""

import math
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from textveil.formatting import format_count
from textveil.lazy import STATEMENTS, load_data
from textveil.release import UNBOUNDED_SPEND, PrivacyLoss, Spend
from textveil.text.options import CONSISTENT_CAP, DEFAULT_FACTS, FACTS
from textveil.text.statement import PrivacyTerms

_TEXTS = load_data(STATEMENTS)["names"]
#: Types of which some strings are kept, by the value of the option that keeps the first of them. Their replaced spans
#: are tags in every style, since a reader could mistake a surrogate for a kept string.
_VALUE_TYPES = {
    "plain": frozenset("age day digits number year".split()),
    "useful": frozenset("decade group month number-word ordinal season time weekday year-range".split()),
    "public": frozenset(("country", "the-country")),
}
#: Layouts of plain numbers of five digits or more. Of these, the option ``facts`` keeps amounts of money alone, and
#: only from the value ``useful``.
LONG_NUMBERS = frozenset(("5", "7", "10"))
NOTION: str = _TEXTS["guarantee"]


def list_value_types(level: str) -> frozenset[str]:
    """Return the entity types, such as ages, with values that the option ``facts`` leaves unchanged.

    Example: with ``facts="useful"``, an age below 90 stays unchanged, and a larger one is replaced. So the type of ages
    is in the result.

    Args:
        level: Value of the option ``facts``.
    """
    return frozenset().union(*(_VALUE_TYPES.get(below, ()) for below in FACTS[: FACTS.index(level) + 1]))


@dataclass(frozen=True, kw_only=True)
class ReplacementStyle:
    """Options for the replacement of entities (names, numbers and others) in the mode ``names``.

    Attributes:
        tags: Whether tags such as ``[city 1]`` replace all entities.
        consistent: Whether equal entities of a document get equal surrogates (replacements).
        keep: Entity types that stay unchanged. This applies to entities whose type follows from a list or from their
            form.
        tag: Entity types that become tags, even if ``tags`` is false.
        drop: Entity types that are removed without a replacement.
        cap: Largest number of distinct strings of a document that get surrogates of their own. Further strings become
            tags.
        linked: Whether equal entities in different documents get equal surrogates, if the secret key is the same. The
            key selects no tags.
        value_tags: Entity types that become tags because the option ``facts`` leaves some of their values unchanged: a
            surrogate could be mistaken for such a value. Numbers with a layout (public form) in ``LONG_NUMBERS`` get
            surrogates nevertheless.
    """

    tags: bool = False
    consistent: bool = True
    keep: frozenset[str] = frozenset()
    tag: frozenset[str] = frozenset()
    drop: frozenset[str] = frozenset()
    cap: int = CONSISTENT_CAP
    linked: bool = False
    value_tags: frozenset[str] = frozenset()

    @property
    def effective_cap(self) -> int | None:
        """Largest number of distinct replaced strings of a document; ``None`` if there is no limit."""
        return self.cap if self.consistent and not (self.linked or self.tags) else None

    @property
    def links_documents(self) -> bool:
        """Whether outputs reveal which entities of different documents are equal.

        A secret key gives equal entities of all documents equal surrogates. But tags are numbered anew in each
        document: the value is false if all entities become tags.
        """
        return self.linked and not self.tags


@dataclass(frozen=True)
class RandomizedListFigures:
    """Numbers for privacy statements about the list of words that the option ``randomize`` sets.

    Attributes:
        words: Number of words of the list.
        nats: Epsilon per randomized word.
        guess_gain: Factor by which the random output raises an attacker's probability of guessing the word.
    """

    words: int
    nats: Decimal
    guess_gain: float

    def __str__(self) -> str:
        return f"epsilon {self.nats.normalize():f}"


@dataclass(frozen=True, kw_only=True)
class NamesGuarantee:
    """Privacy guarantee of the mode ``names``.

    The template of a text has the unchanged words, and the types of the replaced entities. Two texts with the same
    template have the same output distribution: a privacy loss of 0. The privacy loss between texts with different
    templates has no bound. So a text has no finite epsilon.

    Attributes:
        style: Options for the replacement of entities, such as surrogates or tags.
        facts: Value of the option ``facts``: which public facts are left unchanged.
        allow: Whether the option ``allow`` adds words that are left unchanged.
        deny: Whether the option ``deny`` adds words that are always replaced.
        also: Whether a second detector hides further parts of the output.
        patterns: Names of the entity types of the option ``patterns``. Tags and statements contain these names.
        known: Whether the option ``known`` lists persons.
        draw: Size, epsilon and effect of the word list of the option ``randomize``; ``None`` without this option.
    """

    style: ReplacementStyle
    facts: str = DEFAULT_FACTS
    allow: bool = False
    deny: bool = False
    also: bool = False
    patterns: tuple[str, ...] = ()
    known: bool = False
    draw: RandomizedListFigures | None = None

    @property
    def epsilon(self) -> float:
        """Infinity, since the privacy loss between two arbitrary texts has no finite bound."""
        return math.inf

    @property
    def epsilon_kind(self) -> str:
        """Words of the privacy statement in place of a kind of epsilon: none bounds what kept words reveal."""
        return _TEXTS["epsilon_kind"]

    @property
    def losses(self) -> tuple[PrivacyLoss, ...]:
        """An empty tuple, since the privacy loss between two arbitrary texts has no finite bound."""
        return ()

    def compute_spend(self, tokens: int) -> Spend:
        """Return the privacy loss to record in the privacy ledger: an unbounded one, since words stay unchanged."""
        return UNBOUNDED_SPEND

    def name_privacy_unit(self, terms: PrivacyTerms) -> str:
        """Return ``kept word``, the unit in which privacy statements of this mode count words."""
        return _TEXTS["unit"]

    def list_figures(self, terms: PrivacyTerms) -> dict[str, Any]:
        """Return the parts of a JSON privacy statement that do not depend on a text, such as the options of the call.

        The value of ``epsilon_text`` is null, never 0, because the privacy loss of a text has no finite bound.
        """
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
            "facts": self.facts,
            "allow": self.allow,
            "deny": self.deny,
            "also": self.also,
            **({"patterns": [*self.patterns]} if self.patterns else {}),
            **({"known": True} if self.known else {}),
            "randomize": draw
            and {"words": draw.words, "epsilon_per_word": float(draw.nats), "guess_gain": draw.guess_gain},
        }

    def list_totals(self, tokens: int, randomized_words: int) -> dict[str, Any]:
        """Return the entries of a JSON privacy statement that depend on the document.

        They are ``kept_words``, the number of unchanged words, and with the option ``randomize`` also
        ``randomized_words``.
        """
        return {"kept_words": tokens} | ({} if self.draw is None else {"randomized_words": randomized_words})

    def list_unprotected(self, terms: PrivacyTerms) -> tuple[str, ...]:
        """Return English sentences about the information that the output still reveals, such as unchanged words."""
        items = [*_TEXTS["not_protected"], *self._list_fact_texts("not_protected_facts")]
        if self.style.keep:
            items.append(_TEXTS["not_protected_types"].format(types=", ".join(sorted(self.style.keep))))
        if self.allow:
            items.append(_TEXTS["not_protected_allowed"])
        if self.patterns:
            items.append(_TEXTS["not_protected_patterns"].format(types=", ".join(self.patterns)))
        if self.known:
            items.append(_TEXTS["not_protected_known"])
        if self.draw is not None:
            items.append(_TEXTS["not_protected_randomized"])
        if self.style.links_documents:
            items.append(_TEXTS["not_protected_linked"])
        elif self.style.consistent:
            items.append(_TEXTS["not_protected_equal"])
        return tuple(items)

    def format_line(self, terms: PrivacyTerms, tokens: int, randomized_words: int = 0) -> str:
        """Return one line for the privacy statement: which words stay unchanged, are replaced or are randomized."""
        kept_types = sorted(self.style.keep)
        kept_phrase = "".join(self._list_fact_texts("kept_facts"))
        if kept_types:
            kept_phrase += _TEXTS["kept_types" if len(kept_types) > 1 else "kept_type"].format(
                types=", ".join(kept_types)
            )
        kept_phrase += _TEXTS["kept_allowed"] if self.allow else ""
        linked_phrase = _TEXTS["linked"] if self.style.links_documents else ""
        draw = self.draw
        randomized_phrase = ""
        if draw is not None:
            randomized_phrase = _TEXTS["randomized"].format(
                count=format_count(randomized_words, "word"), words=f"{draw.words:,}", loss=draw
            )
        return (
            _TEXTS["line"].format(
                more=kept_phrase,
                randomized=randomized_phrase,
                replacements=self._replacement_phrase,
            )
            + linked_phrase
        )

    def _list_fact_texts(self, name: str) -> list[str]:
        """Return the sentences of a privacy statement on the public facts that stay unchanged, such as weekdays.

        The result has the sentences for the value of the option ``facts``, and those for all stricter values.

        Args:
            name: Key of the sentences in ``data/statements.json``.
        """
        return [_TEXTS[name][level] for level in FACTS[1 : FACTS.index(self.facts) + 1]]

    @property
    def _replacement_phrase(self) -> str:
        """Phrase for privacy statements: whether tags, or other words of the same type, replace the words."""
        style = self.style
        types_by_treatment = {"tags": () if style.tags else style.tag, "removed": style.drop}
        exceptions = "; ".join(
            f"{way}: {', '.join(sorted(kinds))}" for way, kinds in types_by_treatment.items() if kinds
        )
        return _TEXTS["by_tags" if style.tags else "by_surrogates"] + (f" ({exceptions})" if exceptions else "")

    def summary(self, terms: PrivacyTerms, tokens: int, randomized_words: int = 0) -> str:
        """Return one English paragraph for the privacy statement: the guarantee, and what the output reveals."""
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
            + "".join(self._list_fact_texts("facts"))
            + _TEXTS["facts_end"].get(self.facts, "")
        )
