"""No randomized word affects the rest of the output, in any mode: the template is the same for all its replacements.

A randomized word is protected by the output distribution of its own mechanism alone. If a neighbor were kept, typed or
written differently because of its spelling, no epsilon would bound what the output reveals. So each text here is read
twice: as it is, and with other words in all of its randomized places, or in one of them.
"""

import random
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import pytest
from drawn_words import strict_words
from names_soup import GAPS, NAMES, SPELLED, STRINGS, parts_of, skeleton, soup
from planted import planted
from textveil import Sanitizer
from textveil.text import make_plan, segmentation
from textveil.text.names import read as read_module
from textveil.text.names.entity_types import EntityClassifier
from textveil.text.names.fact_places import LinePlaces
from textveil.text.names.lexicon import Lexicon
from textveil.text.names.plan import NamesPlanFactory
from textveil.text.names.rewrite import DocumentDraws
from textveil.text.names.spans import SpanFinder
from textveil.text.options import FACTS, NO_FACTS
from textveil.text.rewrite.cut import REPLACED, SegmentReader
from textveil.text.rewrite.draws import TokenArrays
from textveil.text.segmentation import find_case_pattern, split_text

#: Words that rules of some mode read where a mode keeps them: units, kin, titles, facts, function words, clitics.
READ_BY_RULES = """
year years old aged age room suite apt street book new north bank university president doctor captain mg kg born let
step version page minutes percent km days times password pin token code order zip mother wife met named python docker
kubernetes spanish english translate speak language january april million hundred first second half kowal zorbing the
""".split()
UNLISTED = "zorbing flimp kralls frobly quellx wozzle brandip".split()
COMMON = "he she the of and in at near to was said only works it's don't 7 12 1999".split()
WORDS = [*READ_BY_RULES, *UNLISTED]
SOURCES = (WORDS, COMMON, [*NAMES, *STRINGS, *SPELLED])
FRAMES = parts_of("""
he is 7 {0} old|in {0} 1999|the {0} 12 of May|12 {0} and 13 {0}|{0} Docker|use Docker {0}|Mr. {0} left|my {0} is 12
{0}: 12|{0}=bluehorse|new {0} is|{0} of Boston|Anna {0}|{0} 5|at least 5 {0}|translate into {0}|{0} and Spanish
step 3 {0}|{0}_total.py|in {0}, on the 12th|5 {0} 3|1. {0}|{0} x|two {0} three|{0}'s Anna|{0} 1961|a {0} b
He {0} AI.|{0} Python Django
{{"{0}": "bluehorse"}}|{{"pin": 4711, "note": "{0} is 12"}}|["{0}", "Anna {0}", 12]|// {0} 12
rose {0}|anna {0} left|martin {0}|new york {0}|the lodon {0}|{0} lodon|on may 5 {0}|st {0}|{0} street 5
""")
#: State of a word that the mechanism randomizes: listed in the vocabulary, or read as the symbol for all other words.
RANDOMIZED = ("randomized", "unknown")
BUNDLE = Sanitizer.load().bundle
NAMES_PLANS = NamesPlanFactory(BUNDLE)
LIST = [*dict.fromkeys([*strict_words(BUNDLE, 120), *READ_BY_RULES[:24]])]
OPTIONS: dict[str, dict[str, Any]] = {
    "words": {"protect": "words"},
    "words, consistent": {"protect": "words", "consistent": True},
    "words, denied": {"protect": "words", "deny": ["of", "years", "zorbing"]},
    "words, marks": {"protect": "words", "sanitize_punctuation": True},
    "all": {"protect": "all"},
    "all, consistent": {"protect": "all", "consistent": True},
    "all, denied": {"protect": "all", "deny": ["of", "years"]},
    "all, marks": {"protect": "all", "sanitize_punctuation": True},
    "words, least epsilon": {"protect": "words", "epsilon": 4},
    "all, consistent, marks": {"protect": "all", "consistent": True, "sanitize_punctuation": True},
    **{
        f"names, {facts}, {style}": {"protect": "names", "randomize": LIST, "facts": facts, **options}
        for facts in FACTS
        for style, options in {
            "surrogates": {},
            "tags": {"style": "tag"},
            "own words": {"deny": ["said", LIST[3]], "allow": [LIST[4], "docker"], "keep": ["country"]},
            "types": {"keep": ["month", "city"], "tag": ["person"], "drop": ["number"], "consistent": False},
            "own types": {"patterns": {"code": "[A-Z][0-9]{2}"}, "known": ["Anna Novak, Novak"], "consistent_cap": 5},
            "linked": {"consistent": "corpus", "key": bytes(16)},
        }.items()
    },
}
NAMES_OPTIONS = [name for name in OPTIONS if name.startswith("names")]


def describe_template(pieces: list[tuple[str, str]]) -> list[tuple[str, object]]:
    """Return all that an output reveals besides randomized outputs: states, kept texts, cases of randomized words."""
    template: list[tuple[str, object]] = []
    for piece, state in pieces:
        if state in RANDOMIZED:
            template.append(("randomized", find_case_pattern(piece)))
        else:
            template.append((state, piece))  # the strings of entities do not change between the two texts
    return template


def describe_document(name: str, texts: Sequence[str]) -> tuple[object, ...]:
    """Return the template of a document: that of each text, and what all texts together decide.

    In the mode ``names`` these are the public fields of spans, the counts, and the plan of draws and tags; in the other
    modes the role, the case and the entity type of each token.
    """
    plan = make_any_plan(name)
    previews = [describe_template(plan.preview(text)) for text in texts]
    if OPTIONS[name]["protect"] != "names":
        reader = SegmentReader(plan)
        tokens = TokenArrays(plan, reader.read_texts(texts), reader.segments, sizes=[len(texts)])
        indices = np.where(tokens.roles == REPLACED, tokens.indices, -1)
        order = tokens.in_text_order
        return previews, *(column[order].tolist() for column in (tokens.roles, tokens.cases, indices))
    read = plan.make_reader().read_texts(texts)
    draws = DocumentDraws(read, plan.style, plan.surrogates, plan.key)
    words = len(draws.randomized_words), [text.replaced_words for text in read]
    return previews, skeleton(read, are_names_linked=bool(plan.style.consistent)), draws.bounds, draws._draws, words


@cache
def make_any_plan(name: str) -> Any:
    """Return the plan of any mode. Each plan has ``preview``."""
    options = dict(OPTIONS[name])
    if options.pop("protect") == "names":
        return NAMES_PLANS.make_plan(options)
    return make_plan(BUNDLE, **OPTIONS[name])


@cache
def list_replacements(name: str) -> dict[int, tuple[str, ...]]:
    """Return for each case pattern the words that are randomized wherever they are."""
    plan = make_any_plan(name)
    candidates = LIST if OPTIONS[name]["protect"] == "names" else [*WORDS, *LIST, "a", "i", "x-ray"]
    fitting: dict[int, list[str]] = {}
    for word in candidates:
        for spelled in (word, word.title(), word.upper()):
            states = [plan.preview(frame.format(spelled)) for frame in ("{}", "he saw {} there")]
            alone, inside = states[0], [pair for pair in states[1] if pair[0] == spelled]
            if len(alone) == len(inside) == 1 and {alone[0][1], inside[0][1]} <= {*RANDOMIZED}:
                fitting.setdefault(find_case_pattern(spelled), []).append(spelled)
    return {case: tuple(words) for case, words in fitting.items()}


def replace_inputs(name: str, pieces: list[tuple[str, str]], chance: random.Random) -> str:
    """Return the text with other words in all randomized places, or in one."""
    replacements, written = list_replacements(name), list[str]()
    places = [index for index, (_, state) in enumerate(pieces) if state in RANDOMIZED]
    only = chance.choice(places) if places and chance.random() < 0.3 else None
    for index, (piece, _) in enumerate(pieces):
        words = replacements.get(find_case_pattern(piece), ())
        other = index in places and only in (None, index) and words and piece.isalpha()
        written.append(chance.choice(words) if other else piece)
    return "".join(written)


def iterate_texts(chance: random.Random, texts: int) -> list[str]:
    """Return texts with randomized words between kept words, names, numbers and code."""
    written = []
    for _ in range(texts):
        if chance.random() < 0.5:
            written.append(chance.choice(FRAMES).format(chance.choice(WORDS + LIST)))
        else:
            written.append(soup(chance, SOURCES, (6, 3, 4), GAPS))
    return written


def find_difference(name: str, seed: int, documents: int) -> tuple[list[str], list[str]] | None:
    """Return two documents with different templates that differ only in randomized words; ``None`` if there are none.

    A document has two texts. Words change in both, in one, or at one place.
    """
    plan, chance = make_any_plan(name), random.Random(seed)
    changed = 0
    texts = iter(iterate_texts(chance, 2 * documents))
    for document in zip(texts, texts, strict=True):
        pieces = [plan.preview(text) for text in document]
        other = [replace_inputs(name, part, chance) for part in pieces]
        if chance.random() < 0.3:
            kept = chance.randrange(2)
            other[kept] = document[kept]
        changed += other != [*document]
        if describe_document(name, other) != describe_document(name, document):
            return [*document], other
    assert changed > documents // 4, "too few documents have randomized words"
    return None


@pytest.mark.parametrize("name", OPTIONS)
def test_no_randomized_word_changes_the_rest(name: str) -> None:
    assert find_difference(name, 1, 50) is None


@pytest.mark.full
@pytest.mark.parametrize("name", OPTIONS)
def test_no_randomized_word_changes_the_rest_of_many_texts(name: str) -> None:
    assert find_difference(name, 2, 2_500) is None


def _join_with_units(text: str, **options: Any) -> list[str]:
    """Split a text into segments, and plant a fault: a number and a unit after it are one string."""
    segments, joined = split_text(text, **options), list[str]()
    for segment in segments:
        if segment in ("years", "days") and len(joined) > 1 and joined[-1] == " " and joined[-2].isdigit():
            joined[-2:] = [f"{joined[-2]} {segment}"]
        else:
            joined.append(segment)
    return joined


def _make_faulty_lexicon() -> Any:
    """Return the classification of words, with a fault: only half of a randomized list is looked up first."""
    change = (
        "if folded in self._randomized and case == LOWER:",
        "if folded in self._randomized and case == LOWER and folded > 'm':",
    )
    return planted(Lexicon.classify_stem, change)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in OPTIONS if not name.startswith("names")])
def test_the_search_finds_a_number_that_reads_its_neighbor(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(segmentation, "split_text", _join_with_units)
    assert find_difference(name, 3, 2_000) is not None


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES_OPTIONS)
def test_the_search_finds_a_word_that_is_classified_by_its_letters(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    list_replacements(name)
    monkeypatch.setattr(Lexicon, "classify_stem", _make_faulty_lexicon())
    assert find_difference(name, 3, 2_000) is not None


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in NAMES_OPTIONS if "surrogates" in name or "types" in name])
def test_the_search_finds_an_age_that_reads_a_randomized_unit(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    list_replacements(name)
    token = "self._words[index]"
    change = (f"return {token}.token_class", f"return {token}.layout == 'drawn' or {token}.token_class")
    monkeypatch.setattr(SpanFinder, "_has_readable_key", planted(SpanFinder._has_readable_key, change))
    assert find_difference(name, 3, 2_000) is not None


@pytest.mark.parametrize("is_faulty", [False, True], ids=["", "with a fault"])
def test_a_place_in_lower_case_has_no_type_by_a_randomized_word(
    is_faulty: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """*Little Rock* is a listed city. Plant a fault: the list is read for *little* and a randomized word behind it."""
    plan = NAMES_PLANS.make_plan({"randomize": [*dict.fromkeys([*LIST, "rock", "river"])], "facts": NO_FACTS})
    if is_faulty:
        change = ("all(token.layout != RANDOMIZED for token in tokens)", "True")
        monkeypatch.setattr(EntityClassifier, "classify_span", planted(EntityClassifier.classify_span, change))
    texts = [f"he saw little {word} today" for word in ("rock", "river")]
    first, second = (plan.make_reader().read_texts([text])[0].list_template() for text in texts)
    assert (first != second) == is_faulty


@pytest.mark.parametrize("facts", [facts for facts in FACTS if facts != NO_FACTS])
def test_the_search_finds_a_fact_that_reads_a_randomized_neighbor(facts: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name = f"names, {facts}, surrogates"
    list_replacements(name)
    change = ('texts.append("")', 'texts.append(element.span.text if element.parts[0].layout == "drawn" else "")')
    monkeypatch.setattr(LinePlaces, "__init__", planted(LinePlaces.__init__, change))
    assert find_difference(name, 3, 2_000) is not None


def test_the_search_finds_a_count_that_reads_randomized_words(monkeypatch: pytest.MonkeyPatch) -> None:
    """Plant a fault: a long randomized word counts as a replaced word."""
    name = "names, none, surrogates"
    change = ("not entry.parts[0].is_randomized", "len(entry.parts[0].text) > 6")
    monkeypatch.setattr(read_module, "_is_replaced_word", planted(read_module._is_replaced_word, change))
    assert find_difference(name, 3, 2_000) is not None
