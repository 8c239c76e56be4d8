"""What a rule of ``facts`` keeps depends on its own string and its place, never on a hidden string.

docs/proofs/names.md, "Facts". The texts are random mixtures of words, numbers and code; planted faults must be found.
"""

import random
import re
from collections.abc import Callable, Collection

import pytest
from fact_exchange import DENIED, LEVELS, make_plan, place_differs, write_soup
from names_soup import is_broken, law, pairs
from textveil import Sanitizer
from textveil.text.names import fact_date_ranges, fact_formulas, fact_identifiers, fact_labels, fact_numbers, facts
from textveil.text.names.fact_labels import LabelFacts
from textveil.text.names.fact_places import LinePlaces
from textveil.text.names.fact_products import ProductFacts

_VALUE = re.compile("[0-9]+(?:[.,:/-][0-9]+)*")


@pytest.fixture(scope="module")
def sanitizer() -> Sanitizer:
    return Sanitizer.load()


@pytest.mark.slow
@pytest.mark.parametrize("deny", [(), DENIED], ids=["none", "denied"])
@pytest.mark.parametrize("level", LEVELS)
def test_no_hidden_string_changes_what_is_kept(sanitizer: Sanitizer, level: str, deny: tuple[str, ...]) -> None:
    reader = make_plan(sanitizer, "none", deny).make_reader()
    assert not place_differs(make_plan(sanitizer, level, deny).facts, reader, 1, 200)


# --- whole texts


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS)
def test_members_in_all_hidden_spans_leave_the_template(sanitizer: Sanitizer, level: str) -> None:
    assert not is_broken(make_plan(sanitizer, level), 5, 1_000, write_soup)


@pytest.mark.full
@pytest.mark.parametrize("level", LEVELS)
def test_a_million_members_leave_the_template(sanitizer: Sanitizer, level: str) -> None:
    assert not is_broken(make_plan(sanitizer, level), 3, 333_334, write_soup)


@pytest.mark.slow
@pytest.mark.parametrize("style", ["surrogate", "tag"])
def test_texts_of_one_template_have_one_output(
    sanitizer: Sanitizer, style: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = sanitizer.names_plan(protect="names", facts="useful", style=style)
    for texts, others in pairs(plan, 4, 300, write_soup):
        assert law(plan, [texts], monkeypatch) == law(plan, [others], monkeypatch)


@pytest.mark.parametrize("level", LEVELS)
def test_no_surrogate_is_a_kept_value(sanitizer: Sanitizer, level: str) -> None:
    """A reader could mistake it, and a reply with that value would be restored to something else."""
    chance, plan, found = random.Random(5), make_plan(sanitizer, level), 0
    for _ in range(300):
        text = write_soup(chance)
        (read,) = plan.make_reader().read_texts([text])
        kept = {value for e in read.elements if isinstance(e, str) for value in _VALUE.findall(e)}
        ((_, _, get_mapping, *_),) = plan.rewriter.rewrite([[text]])
        assert get_mapping is not None
        outputs = {str(pair[0]) for pair in get_mapping()._find_pairs()}
        assert kept.isdisjoint(outputs)
        found += len(kept) > 0 and len(outputs) > 0
    assert found > 50


# --- planted faults: each must be found


def _read_hidden_word(places: LinePlaces, index: int) -> str:
    mention = places.mentions[index] if 0 <= index < len(places.mentions) else None
    return mention.span.text if mention is not None else _get_word(places, index)


def _read_first_digit(places: LinePlaces, index: int) -> str:
    mention = places.mentions[index] if 0 <= index < len(places.mentions) else None
    return "" if mention is not None and mention.span.text[:1] in "12345" else _get_class(places, index)


def _read_length_before(places: LinePlaces, index: int, followers: Collection[str] | None) -> bool:
    mention = places.mentions[index - 1] if index > 0 else None
    return (mention is None or len(mention.span.text) % 2 > 0) and _begins_clause(places, index, followers)


def _read_string_beside(places: LinePlaces, index: int) -> bool:
    mention = places.mentions[index + 1] if index + 1 < len(places.mentions) else None
    return _is_error_place(places, index) or (mention is not None and len(mention.span.text) % 2 > 0)


def _read_hidden_line(places: LinePlaces, index: int) -> bool:
    return _is_bare_place(places, index) and all(
        mention is None or at == index or mention.span.text[:1] not in "zqw"
        for at, mention in enumerate(places.mentions[: index + 3])
    )


def _read_entry_beside(places: LinePlaces, index: int, leads: Collection[str]) -> bool:
    mention = places.mentions[index + 1] if index + 1 < len(places.mentions) else None
    return _is_heading_place(places, index, leads) and (mention is None or mention.span.text[-1:] not in "zqw")


def _read_hidden_beside(places: LinePlaces, index: int, is_listed: Callable[[str], bool]) -> bool:
    mentions = [places.mentions[at] for at in (index - 1, index + 1) if 0 <= at < len(places.mentions)]
    texts = [mention.span.text for mention in mentions if mention is not None]
    return _has_word_beside(places, index, is_listed) or any(text[-1:] in "aeioutr" for text in texts)


def _read_string_of_group(places: LinePlaces, index: int) -> bool:
    mention = places.mentions[index - 1] if index > 0 else None
    return _is_language_place(places, index) or (mention is not None and mention.span.text[-1:] in "hntk")


def _read_noun_before(places: LinePlaces, index: int) -> bool:
    mention = places.mentions[index - 1] if index > 0 else None
    return _is_noun_place(places, index) or (mention is not None and mention.span.text[-1:] in "aeioutrx")


def _read_string_behind_unit(places: LinePlaces, index: int, gap: int) -> bool:
    mention = places.mentions[index] if 0 <= index < len(places.mentions) else None
    return _is_hidden(places, index, gap) and (mention is None or mention.span.text[-1:] not in "zqw")


def _read_declared_word(places: LinePlaces, index: int) -> bool:
    mention = places.mentions[index + 1] if index + 1 < len(places.mentions) else None
    return _is_code_word(places, index) or (mention is not None and mention.span.text[-1:] in "aeioutrx")


_get_word, _get_class = LinePlaces.get_word, LinePlaces.get_class
_begins_clause, _is_error_place = LinePlaces.begins_clause, LinePlaces.is_error_place
_has_word_beside, _is_code_word = LinePlaces.has_word_beside, fact_identifiers.is_code_word
_is_language_place, _is_noun_place = LinePlaces.is_language_place, LinePlaces.is_noun_place
_is_hidden = LinePlaces.is_hidden
_is_bare_place, _is_heading_place = LinePlaces.is_bare_place, LinePlaces.is_heading_place


def _read_hidden_year(places: LinePlaces, index: int, range_words: Collection[str]) -> bool:
    mention = places.mentions[index + 1] if index + 1 < len(places.mentions) else None
    is_odd = mention is not None and mention.span.text[-1:] in "13579"
    return is_odd or _is_month_range(places, index, range_words)


def _list_hidden_words(places: LinePlaces, index: int, most: int) -> list[str]:
    mention = places.mentions[index - 1] if index > 0 else None
    is_odd = mention is not None and mention.span.text[-1:] in "aeioutrxmn"
    return ["error"] if is_odd else _list_words_before(places, index, most)


def _read_digits_beside(places: LinePlaces, index: int) -> bool:
    mention = places.mentions[index + 1] if index + 1 < len(places.mentions) else None
    return _is_times_sign(places, index) or (mention is not None and mention.span.text[-1:] in "13579")


def _read_digits_behind(places: LinePlaces, index: int) -> bool:
    mention = places.mentions[index + 1] if index + 1 < len(places.mentions) else None
    return _precedes_telephone(places, index) and mention is not None and mention.span.text[-1:] in "13579"


def _read_bracketed(places: LinePlaces, index: int) -> bool:
    mention = places.mentions[index + 1] if index + 1 < len(places.mentions) else None
    return _is_placeholder(places, index) or (mention is not None and mention.span.text[-1:] in "aeioutrxmn")


def _read_value_behind(labels: LabelFacts, places: LinePlaces, index: int, key: str) -> bool:
    mention = places.mentions[index + 1] if index + 1 < len(places.mentions) else None
    return _is_label(labels, places, index, key) and (mention is None or mention.span.text[-1:] not in "13579")


def _read_choice_before(labels: LabelFacts, places: LinePlaces, index: int) -> bool:
    mention = places.mentions[index - 1] if index > 0 else None
    return _is_choice_place(labels, places, index) and (mention is None or mention.span.text[-1:] not in "zqw")


def _read_phrase_before(labels: LabelFacts, places: LinePlaces, index: int, text: str) -> bool:
    mention = places.mentions[index - 1] if index > 0 else None
    return _is_phrase(labels, places, index, text) or (mention is not None and mention.span.text[-1:] in "aeioutrxmn")


def _read_list_entry(products: ProductFacts, places: LinePlaces, index: int) -> bool:
    mention = places.mentions[index - 1] if index > 0 else None
    return _is_product_place(products, places, index) and (mention is None or mention.span.text[-1:] not in "zqw")


def _read_letter_beside(places: LinePlaces, index: int) -> bool:
    mention = places.mentions[index + 1] if index + 1 < len(places.mentions) else None
    is_letter = mention is not None and mention.span.entity_type == "letter"
    return _is_single_letter(places, index) or (is_letter and mention is not None and mention.span.text in "xyk")


_is_placeholder, _is_label = fact_labels.is_placeholder, LabelFacts._is_label
_is_choice_place, _is_phrase = LabelFacts._is_choice_place, LabelFacts._is_phrase
_is_single_letter, _is_product_place = LinePlaces.is_single_letter, ProductFacts._is_product_place
_list_words_before = LinePlaces.list_words_before
_is_times_sign, _precedes_telephone = fact_numbers.is_times_sign, fact_numbers.precedes_telephone
_is_month_range = fact_date_ranges.is_month_range
FAULTS = {
    "a hidden year decides on a month": (fact_numbers, "is_month_range", _read_hidden_year),
    "a hidden word decides": (LinePlaces, "get_word", _read_hidden_word),
    "the digits of a neighbor decide": (LinePlaces, "get_class", _read_first_digit),
    "a hidden word decides on an error": (LinePlaces, "is_error_place", _read_string_beside),
    "a hidden word of the line decides on a bare number": (LinePlaces, "is_bare_place", _read_hidden_line),
    "a hidden entry decides on a list": (LinePlaces, "is_heading_place", _read_entry_beside),
    "a hidden word decides on a function word": (LinePlaces, "has_word_beside", _read_hidden_beside),
    "a hidden group decides on a language": (LinePlaces, "is_language_place", _read_string_of_group),
    "a hidden word decides on a noun": (LinePlaces, "is_noun_place", _read_noun_before),
    "a hidden word is declared": (facts, "is_code_word", _read_declared_word),
    "a hidden word counts as a word for an error": (LinePlaces, "list_words_before", _list_hidden_words),
    "a hidden word ends a placeholder": (fact_labels, "is_placeholder", _read_bracketed),
    "the digits of a number decide on its label": (LabelFacts, "_is_label", _read_value_behind),
    "a hidden word decides on a choice": (LabelFacts, "_is_choice_place", _read_choice_before),
    "a hidden word decides on a phrase": (LabelFacts, "_is_phrase", _read_phrase_before),
    "a hidden name decides on a company": (ProductFacts, "_is_product_place", _read_list_entry),
    "a hidden letter decides on the one before it": (LinePlaces, "is_single_letter", _read_letter_beside),
    "the digits of a number decide on a sign": (facts, "is_times_sign", _read_digits_beside),
}


def write_clause(chance: random.Random) -> str:
    """Return a word that may begin a clause, after a name or a kept word."""
    before = chance.choice(("Kowal", "zorblax", "Kowalska Zorblax", "it")) + chance.choice(
        (". ", "; ", ": ", ", ", " - ")
    )
    first, mark = chance.choice(("First", "Third", "Left", "Right", "Maintain")), chance.choice((" ", ", "))
    return f"{before}{first}{mark}{chance.choice(('of all', 'the plan', 'it was there'))}."


def write_letters(chance: random.Random) -> str:
    """Return single letters beside each other."""
    return f"it is {' '.join(chance.choices('xykb', k=chance.randint(1, 3)))} and the plan"


def write_numbered_label(chance: random.Random) -> str:
    """Return a label before a number that stays hidden."""
    return f"see {chance.choice(('Plan', 'Part', 'Weight:'))} {chance.randint(20_000, 99_999)} of it"


def write_choice(chance: random.Random) -> str:
    """Return a choice behind a name or a kept word."""
    return f"which? A. a plan of {chance.choice(('zorblax', 'Kowal', 'dogs'))} B. Difficult subject and C. Late hour"


def write_companies(chance: random.Random) -> str:
    """Return a list with a name that stays hidden and a company."""
    return f"it is like {chance.choice(('Zorblax', 'Kowal', 'Kowalska Zorblax'))}, Nokia of it"


#: Texts that show a fault which random mixtures of words show too rarely.
WRITERS = {
    "a clause begins by a hidden word": write_clause,
    "a hidden word decides on a choice": write_choice,
    "the digits of a number decide on its label": write_numbered_label,
    "a hidden name decides on a company": write_companies,
    "a hidden letter decides on the one before it": write_letters,
}


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_found(sanitizer: Sanitizer, fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    reader, rules = make_plan(sanitizer, "none", DENIED).make_reader(), make_plan(sanitizer, "useful", DENIED).facts
    write = WRITERS.get(fault, write_soup)
    owner, name, function = FAULTS[fault]
    assert not place_differs(rules, reader, 1, 40, write)
    monkeypatch.setattr(owner, name, function)
    assert place_differs(rules, reader, 1, 8_000, write)


def write_house(chance: random.Random) -> str:
    """Return a number with a letter beside words and names."""
    before, after = (chance.choice(("Kowal", "it is", "see", "zorblax")) for _ in range(2))
    return f"{before} {chance.choice(('14d', '27b', '10m', '5'))} {after}"


def write_formula(chance: random.Random) -> str:
    """Return a formula or a list of numbers, of which some stay hidden."""
    numbers = [chance.choice(("5", "12", "97", "4821", "x", "k")) for _ in range(4)]
    forms = (
        "{} = {} + {} * {}",
        "f({}, {}) - {} > {}",
        "[{}, {}, {}] and {}",
        "{}, {}, {}, {}, ...",
        "it is {}? {}. {} {}",
    )
    return chance.choice(forms).format(*numbers)


def _read_hidden_entry(places: LinePlaces, index: int) -> bool:
    mention = places.mentions[index + 1] if index + 1 < len(places.mentions) else None
    is_odd = mention is not None and mention.span.text[-1:] in "13579"
    return not is_odd and _is_listed_number(places, index)


def _read_hidden_operand(places: LinePlaces, index: int) -> bool:
    mention = places.mentions[index + 1] if index + 1 < len(places.mentions) else None
    is_odd = mention is not None and mention.span.text[-1:] in "13579"
    return not is_odd and _is_operand(places, index)


_is_listed_number, _is_operand = fact_formulas.is_listed_number, fact_formulas.is_operand


@pytest.mark.parametrize("name", ["is_listed_number", "is_operand"])
def test_no_hidden_number_decides_on_a_formula(
    sanitizer: Sanitizer, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader, rules = make_plan(sanitizer, "none").make_reader(), make_plan(sanitizer, "useful").facts
    assert not place_differs(rules, reader, 1, 400, write_formula)
    fault = _read_hidden_entry if name == "is_listed_number" else _read_hidden_operand
    monkeypatch.setattr(fact_numbers, name, fault)
    assert place_differs(rules, reader, 1, 400, write_formula)


def write_sentences(chance: random.Random) -> str:
    """Return two sentences, of which the first one may end in a hidden word."""
    before, after = chance.choice(("zorblax", "zorb", "box", "97")), chance.choice(("Maintain", "Structure"))
    return f"They saw the {before}. {after} the records of it."


def test_no_hidden_word_begins_a_clause(sanitizer: Sanitizer, monkeypatch: pytest.MonkeyPatch) -> None:
    reader, rules = make_plan(sanitizer, "none").make_reader(), make_plan(sanitizer, "plain").facts
    assert not place_differs(rules, reader, 1, 400, write_sentences)
    monkeypatch.setattr(LinePlaces, "begins_clause", _read_length_before)
    assert place_differs(rules, reader, 1, 400, write_sentences)


def test_no_hidden_street_decides_on_its_number(sanitizer: Sanitizer, monkeypatch: pytest.MonkeyPatch) -> None:
    reader, rules = make_plan(sanitizer, "none").make_reader(), make_plan(sanitizer, "useful").facts
    assert not place_differs(rules, reader, 1, 400, write_house)
    monkeypatch.setattr(LinePlaces, "is_hidden", _read_string_behind_unit)
    assert place_differs(rules, reader, 1, 400, write_house)


def write_label(chance: random.Random) -> str:
    """Return the label of a telephone number before a number or a name."""
    return f"it is here. Tel. {chance.choice(('555 0143', '020 7946 0957', 'Kowal', '5551'))} now"


def test_no_hidden_number_decides_on_its_label(sanitizer: Sanitizer, monkeypatch: pytest.MonkeyPatch) -> None:
    reader, rules = make_plan(sanitizer, "none").make_reader(), make_plan(sanitizer, "useful").facts
    assert not place_differs(rules, reader, 1, 100, write_label)
    monkeypatch.setattr(facts, "precedes_telephone", _read_digits_behind)
    assert place_differs(rules, reader, 1, 100, write_label)
