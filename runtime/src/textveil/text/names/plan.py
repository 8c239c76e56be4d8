"""Plan of the mode ``names``: the checked options of a call, with the word lists and rules that they select."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import cached_property
from typing import TYPE_CHECKING, Any

from textveil.arguments import check_choice
from textveil.bundle.layout import MECHANISM_FILE
from textveil.bundle.names_files import NamesLists
from textveil.bundle.text_bundle import TextBundle
from textveil.errors import BundleDamaged, OptionError
from textveil.lazy import ENTITY_TYPES, load_data
from textveil.text import segmentation
from textveil.text.guarantees import round_guess_gain
from textveil.text.names.detector import SpanDetector
from textveil.text.names.entity_types import (
    PUBLIC_TYPE_NAMES,
    UNLISTED_TYPES,
    EntityClassifier,
    EntityMention,
)
from textveil.text.names.guarantee import (
    NamesGuarantee,
    RandomizedListFigures,
    ReplacementStyle,
    list_value_types,
)
from textveil.text.names.lexicon import Lexicon
from textveil.text.names.read import NamesReader, ReadingRules
from textveil.text.names.rewrite import NamesRewriter
from textveil.text.names.strict_rules import hide_context_words
from textveil.text.names.surrogates import SurrogatePools
from textveil.text.names.tokens import NamesToken
from textveil.text.options import (
    CONSISTENT_CAP,
    DEFAULT_FACTS,
    DEFAULT_STYLE,
    FACTS,
    NO_FACTS,
    PLAIN_FACTS,
)
from textveil.text.statement import PrivacyTerms

if TYPE_CHECKING:
    from textveil.text.names.facts import FactRules
    from textveil.text.names.own_types import OwnTypes
    from textveil.text.names.word_list import WordListRandomizer

STYLES = ("surrogate", "tag")
#: Lists that the mode requires.
REQUIRED_LISTS, REQUIRED_POOLS = (frozenset(load_data(ENTITY_TYPES)[name]) for name in ("lists", "pools"))
#: Minimum length in bytes of the key that links equal strings of a corpus.
MIN_KEY_BYTES = 16
_WORD_OR_GAP = re.compile(r"[^\W_]+(?:['\u2019\u2018][^\W_]+)*|[\W_]+")
_UNSUPPORTED_OPTIONS = ("replacement_probability", "sanitize_punctuation", "mechanism")


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class NamesPlan:
    """Checked options, word lists and rules with which the mode ``names`` sanitizes the texts of a call.

    Attributes:
        lists: The public word lists.
        surrogates: The surrogate pools (possible replacements) of all entity types.
        style: Options for the replacement of entities, such as surrogates or tags.
        facts_level: Value of the option ``facts``.
        terms: Mechanism, guarantee and options, as privacy statements describe them.
        allowed: Words of the option ``allow``, normalized, which stay unchanged.
        denied: Words of the option ``deny``, normalized, which are replaced.
        detector: Detector that hides further parts of the output, or ``None``.
        key: Secret key, with which equal entities in all documents get equal surrogates; or ``None``.
        randomizer: Randomizer for the words of the option ``randomize``, or ``None``.
        own_types: Entity types of the options ``patterns`` and ``known``, or ``None``.
        split: Always false: this mode never divides a document.
    """

    lists: NamesLists
    surrogates: SurrogatePools
    style: ReplacementStyle
    facts_level: str
    terms: PrivacyTerms
    allowed: frozenset[str] = field(repr=False)
    denied: frozenset[str] = field(repr=False)
    detector: SpanDetector | None
    key: bytes | None = field(repr=False)
    randomizer: "WordListRandomizer | None" = None
    own_types: "OwnTypes | None" = field(default=None, repr=False)
    split: bool = False

    @cached_property
    def _classifier(self) -> EntityClassifier:
        common = self.lists.common_words
        common = common.keys() - self.denied if self.denied else common
        unchanged_types = (
            self.style.keep | self.style.tag | self.style.drop | {*(("organization", "place") * self.style.tags)}
        )
        make_classifier = EntityClassifier
        if self.own_types is not None:
            from textveil.text.names.own_types import OwnEntityClassifier as make_classifier  # lazy, as below
        return make_classifier(
            self.lists.members_by_type, common, self.lists.rules, self.style.keep, unchanged_types, self.denied
        )

    @cached_property
    def facts(self) -> "FactRules | None":
        """Rules that leave public facts unchanged; ``None`` if the option ``facts`` is ``"none"``."""
        return self._make_facts()

    @cached_property
    def plan_without_options(self) -> "NamesPlan":
        """A copy of this plan without the options ``keep`` and ``facts``.

        If this plan leaves a word unchanged and the copy does not, one of these options leaves the word unchanged.
        """
        return replace(self, style=replace(self.style, keep=frozenset()), facts_level=NO_FACTS)

    @cached_property
    def _preview_facts(self) -> "FactRules | None":
        return self._make_facts(shows_errors=True)

    def _make_facts(self, shows_errors: bool = False) -> "FactRules | None":
        if self.facts_level == NO_FACTS:
            return None
        from textveil.text.names.facts import FactRules  # lazy: most calls keep no facts

        randomized = self.randomizer.ids if self.randomizer else ()
        hidden_types = self.style.tag | self.style.drop
        return FactRules(
            self.lists, self.facts_level, self.denied, randomized, hidden_types, shows_errors, self.style.tags
        )

    def corrects(self, word: str) -> bool:
        """Return whether a lower-case word has a typing error that the option ``facts`` corrects in some contexts."""
        return self.facts is not None and self.facts.corrects(word)

    @property
    def known_words(self) -> frozenset[str]:
        """All spellings of the option ``known`` that are a single word, normalized (lower case, NFKC)."""
        persons = None if self.own_types is None else self.own_types.persons
        return frozenset() if persons is None else persons.single_words

    @cached_property
    def _lexicon(self) -> Lexicon:
        return Lexicon(self.lists, self.allowed, self.denied, self.randomizer.ids if self.randomizer else ())

    @cached_property
    def reading_rules(self) -> ReadingRules:
        """The lexicon, the classifier and the rules that read texts. All calls with equal options share them."""
        return ReadingRules(
            lexicon=self._lexicon,
            classifier=self._classifier,
            rules=self.lists.rules,
            facts=self.facts,
            own_types=self.own_types,
        )

    @cached_property
    def rewriter(self) -> NamesRewriter:
        """The object that sanitizes documents. It stores no text between calls."""
        return NamesRewriter(
            self.reading_rules,
            self.surrogates,
            self.style,
            key=self.key,
            randomizer=self.randomizer,
            detector=self.detector,
        )

    def make_reader(self) -> NamesReader:
        """Create a reader, which splits the texts of one call into unchanged texts and detected entities."""
        return NamesReader(self.reading_rules)

    def hide_context_words(self, entries: Iterable[str | EntityMention]) -> Iterator[str | EntityMention]:
        """Yield the parts of a text, with an entity for each word that stays unchanged in this context only.

        Entities are replaced, so these words are replaced too.

        Args:
            entries: Unchanged texts and detected entities, in order.
        """
        return hide_context_words(entries, self._lexicon)

    def preview(self, text: str) -> list[tuple[str, str]]:
        """Return each part of a text with its treatment, such as ``kept`` or ``person``, but do not sanitize it."""
        return [(piece, state) for piece, state, _ in self.iterate_pieces(text)]

    def iterate_pieces(self, text: str) -> Iterator[tuple[str, str, EntityMention | None]]:
        """Yield each part of a text with its treatment (such as ``kept``) and its entity (``None`` if it has none)."""
        reader = NamesReader(replace(self.reading_rules, facts=self._preview_facts))
        for entry in reader.read_texts([text])[0].elements:
            if isinstance(entry, str):
                for piece in _WORD_OR_GAP.findall(entry):
                    yield piece, "kept" if piece[0].isalnum() else "gap", None
            else:
                is_randomized = entry.parts[0].is_randomized
                state = "randomized" if is_randomized else PUBLIC_TYPE_NAMES.get(entry.entity_type, entry.entity_type)
                yield entry.span.escaped_text or entry.span.text, state, entry

    def classify_word(self, word: str) -> Sequence[NamesToken]:
        """Return the tokens of a word without context: one token, or a stem and its clitic (``Anna`` and ``'s``)."""
        return self._lexicon.classify_word(word)

    def distribution(self, word: str) -> Any:
        """Return all possible outputs for a word of the option ``randomize``, with their probabilities.

        Raises:
            OptionError: The option ``randomize`` does not list the word. The output for other words depends on the
                context.
        """
        if self.randomizer is not None and word in self.randomizer.ids:
            from textveil.mechanisms.distribution import OutputDistribution
            from textveil.mechanisms.staircase import make_staircase_randomizer

            randomizer = make_staircase_randomizer(self.randomizer.staircase)
            return OutputDistribution.from_randomizer(self.randomizer.vocabulary, randomizer, self.randomizer.ids[word])
        raise OptionError("in the mode 'names' a word has no output distribution: use protect='words' or protect='all'")


class NamesPlanFactory:
    """Creates plans (checked options with their word lists) of the mode ``names`` for one bundle.

    All plans share the word lists and the possible replacements of the bundle.

    Args:
        bundle: A bundle (opened folder of lists and settings) with the lists of the mode.
        detector: Optional detector that hides further parts of the output.

    Raises:
        UnknownMechanism: The bundle has no lists for the mode.
        BundleDamaged: A list is missing or malformed.
    """

    def __init__(self, bundle: TextBundle, detector: SpanDetector | None = None) -> None:
        self._bundle, self._lists, self._detector = bundle, bundle.get_names_lists(), detector
        pools = REQUIRED_POOLS.union(f"word-{ending}" for ending in self._lists.rules.endings)
        for needed, lists in ((REQUIRED_LISTS, self._lists.members_by_type), (pools, self._lists.surrogate_pools)):
            if missing := sorted(needed - lists.keys()):
                raise BundleDamaged(f"{MECHANISM_FILE}: the list {missing[0]} of the mode 'names' is missing")
        self._surrogates = SurrogatePools(self._lists.surrogate_pools, self._lists.rules)

    def make_plan(self, options: Mapping[str, Any]) -> NamesPlan:
        """Create the plan for the options of a call, which ``options.check_options`` must have checked.

        Raises:
            OptionError: The mode does not support an option or its value.
        """
        unsupported = sorted(set(options).intersection(_UNSUPPORTED_OPTIONS))
        unsupported += ["epsilon without randomize"] if "epsilon" in options and "randomize" not in options else []
        if unsupported and "protect" not in options:
            raise OptionError(
                f"the default mode 'names' does not support {', '.join(unsupported)}: omit it, or use protect words "
                "or all"
            )
        if unsupported:
            raise OptionError(f"the mode 'names' does not support {', '.join(unsupported)}: omit it")
        own_types, surrogates = self._make_own_types(options)
        style = self._make_style(options, frozenset() if own_types is None else own_types.names)
        allowed, denied = _collect_keys(options.get("allow", ())), _collect_keys(options.get("deny", ()))
        facts_level = self._choose_facts(options)
        level, randomizer, list_figures = None, None, None
        if "randomize" in options:
            from textveil.text.names.word_list import WordListRandomizer  # lazy: surrogates need no staircase
            from textveil.text.staircase_plans import find_staircase_level

            self._bundle.check_mechanism("staircase")
            level = find_staircase_level(self._bundle, options.get("epsilon"))
            randomizer = WordListRandomizer.from_bundle(self._bundle, options["randomize"], denied, level)
            list_figures = RandomizedListFigures(
                len(randomizer.ids), level.epsilon, round_guess_gain(randomizer.staircase.guess_gain)
            )
        has_detector = self._detector is not None
        terms = PrivacyTerms(
            mechanism="names",
            level=level and f"{level.epsilon.normalize():f}",
            promise=NamesGuarantee(
                style=style,
                facts=facts_level,
                allow=bool(allowed),
                deny=bool(denied),
                also=has_detector,
                patterns=() if own_types is None else tuple(sorted(own_types.names)),
                known=own_types is not None and own_types.persons is not None,
                draw=list_figures,
            ),
            protect="names",
            consistent=style.consistent,
            consistent_cap=style.cap,
            sanitize_punctuation=False,
            bundle=self._bundle.content_hash,
        )
        return NamesPlan(
            lists=self._lists,
            surrogates=surrogates,
            style=style,
            facts_level=facts_level,
            terms=terms,
            allowed=allowed,
            denied=denied,
            detector=self._detector,
            key=options.get("key"),
            randomizer=randomizer,
            own_types=own_types,
        )

    def _make_own_types(self, options: Mapping[str, Any]) -> "tuple[OwnTypes | None, SurrogatePools]":
        """Return the entity types of the options ``patterns`` and ``known``, and replacements for all types."""
        patterns, known = options.get("patterns", {}), options.get("known", ())
        if not patterns and not known:
            return None, self._surrogates
        from textveil.text.names.own_types import OwnSurrogatePools, OwnTypes  # lazy: most calls have no own types

        own_types = OwnTypes(patterns, known, self._lists, self._surrogates.entity_types)
        return own_types, OwnSurrogatePools(self._surrogates, own_types) if patterns else self._surrogates

    def _make_style(self, options: Mapping[str, Any], own_names: frozenset[str]) -> ReplacementStyle:
        style, cap = options.get("style", DEFAULT_STYLE), options.get("consistent_cap", CONSISTENT_CAP)
        check_choice("style", style, STYLES)
        facts_level = self._choose_facts(options)
        types_by_option = {
            name: self._check_types(options.get(name, ()), own_names) for name in ("keep", "tag", "drop")
        }
        if any(
            types_by_option[one] & types_by_option[other]
            for one, other in (("keep", "tag"), ("keep", "drop"), ("tag", "drop"))
        ):
            raise OptionError("an entity type is in two of keep, tag and drop: leave it in one of them")
        if unlisted := ", ".join(sorted(types_by_option["keep"] & UNLISTED_TYPES)):
            raise OptionError(
                f"keep supports only types that a list or a pattern defines, not {unlisted}: keep single words with "
                "allow"
            )
        consistent, key = options.get("consistent", True), options.get("key")
        if (consistent == "corpus") != (key is not None):
            raise OptionError(
                'consistent="corpus" works only with a key, and key only with consistent="corpus": set the missing one'
            )
        if key is not None and len(key) < MIN_KEY_BYTES:
            raise OptionError(f"key must have at least {MIN_KEY_BYTES} bytes")
        return ReplacementStyle(
            tags=style == "tag",
            consistent=bool(consistent),
            cap=cap,
            linked=key is not None,
            value_tags=frozenset() if facts_level == NO_FACTS else list_value_types(facts_level),
            **types_by_option,
        )

    def _choose_facts(self, options: Mapping[str, Any]) -> str:
        """Return the value of the option ``facts``, or a stricter value if the language lacks some word lists.

        The values are ``none``, ``plain``, ``useful`` and ``public``, the strictest first. The result is ``none`` if
        the language has no lists of words for secrets and addresses, and one of the first two if it has no list of
        words before headings, such as *chapter*.

        Raises:
            OptionError: The option ``facts`` has no such value.
        """
        facts_level = options.get("facts", DEFAULT_FACTS)
        check_choice("facts", facts_level, FACTS)
        if not self._lists.has_fact_words:
            return NO_FACTS
        return facts_level if facts_level == NO_FACTS or self._lists.has_useful_words else PLAIN_FACTS

    def _check_types(self, entity_types: Collection[str], own_names: frozenset[str]) -> frozenset[str]:
        known = {PUBLIC_TYPE_NAMES.get(kind, kind) for kind in self._surrogates.entity_types} | own_names
        if not known.issuperset(entity_types):
            unknown = [kind for kind in entity_types if kind not in known]
            close = [(kind, found) for kind in unknown for found in get_close_matches(kind, known - {*entity_types}, 1)]
            for kind, found in close:
                raise OptionError(f"no such entity type: {kind}; did you mean {found}?")
            raise OptionError(f"no such entity type: choose among {', '.join(sorted(known))}")
        return frozenset(entity_types)


def _collect_keys(entries: Collection[str]) -> frozenset[str]:
    """Return the normalized spelling (lower case, NFKC) of all words in the entries of a user's list."""
    return frozenset(segmentation.fold_word(word) for entry in entries for word in segmentation.split_entry(entry)[1])
