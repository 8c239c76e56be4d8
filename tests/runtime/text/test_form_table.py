"""The forms of a long mapping, which are made when a reply needs them, are those of a table that has all at once."""

import itertools
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from textveil.text import form_index, form_table
from textveil.text.form_table import FormTable
from textveil.text.inflections import TAG_NOTATIONS
from textveil.text.restore import Restorer
from textveil.text.restore_policy import EVERYWHERE_POLICY, PROSE_POLICY

PAIRS: list[tuple[object, ...]] = [
    ("[word 1]", "zorb"), ("[word 12]", "Quux"), ("[e-mail 3]", "a@b.org"), ("[e 4]", "Novak"), ("[Word 5]", "Ulm"),
    ("[word 6]", "one"), ("[word 6]", "two"), ("[word 12", "2", 0, True), ("[word 7]", "3", 0, False, "a ", " b"),
    ("[word 8]", "4", 0, True, "", ""), ("[a1 2]", "x"), ("[a 12]", "y"), ("[a-b 9]", "q"), ("[a_b 9]", "r"),
    ("[id 3]", "Nr"), ("[person 07]", "Ada"), ("[\u00f6rt 1]", "Graz"), ("word 1", "tie"), ("[e-mail-3]", "tie"),
    ("Don Gomez", "Anna Novak"), ("Gomez", "Novak"), ("Don", "Anna"), ("4718", "9300"), ("5,529", "1,200"),
    ("fly", "gnu"), ("1984-05-07", "2024-03-12"), ("833-555-0174", "+49 30 1"), ("7 chairs", "2", 1), ("Price", "Q"),
    ("Price", "Z"),
]  # fmt: skip
#: The tags, their notations and what is beside them.
TEXTS = [
    *(str(pair[0]) for pair in PAIRS),
    *(notation.format(*str(pair[0])[1:-1].split(" ")) for notation in TAG_NOTATIONS for pair in PAIRS[:16:2]),
    *("word 12", "[word 99]", "[word12", "(e-4)", "{e_4}", "dear d.", "gomezes", "flies", "4,718.00", "8335550174"),
    *("[word 1", "]", "[", "(", "{", " ", "e", "12", "-", "_", "wo", "d. gomez", "july", "5/7/1984", "x"),
]


@pytest.fixture
def defer(monkeypatch: pytest.MonkeyPatch) -> Callable[[bool], None]:
    """Return a function that sets whether mappings are long."""

    def set_deferred(is_deferred: bool) -> None:
        monkeypatch.setattr(form_table, "_MAX_COMPLETE", -1 if is_deferred else 1 << 30)

    return set_deferred


def make_table(pairs: list[tuple[object, ...]]) -> FormTable:
    """Return the table of some pairs."""
    single, ambiguous, quoted = Restorer(pairs)._sorted_pairs  # type: ignore[arg-type]
    return FormTable(single, ambiguous.values(), {pair.output for pair in quoted})


@pytest.mark.parametrize("skipped", range(len(PAIRS) + 1))
def test_each_form_is_found_by_its_text(skipped: int, defer: Callable[[bool], None]) -> None:
    pairs = PAIRS[:skipped] + PAIRS[skipped + 1 :]
    defer(False)
    complete = make_table(pairs)
    defer(True)
    deferred = make_table(pairs)
    assert not deferred.forms
    for text in [*complete.forms, *map(str.lower, TEXTS)]:
        assert deferred.get_form(text) == complete.get_form(text), text
        assert (text in complete.forms) == (text in deferred.forms or deferred.find_tag(text) is not None), text
        for end in range(1, len(text) + 1):
            assert deferred.is_prefix(text[:end]) or not complete.is_prefix(text[:end]), text[:end]


def test_tags_of_a_long_mapping_have_no_form_in_memory(defer: Callable[[bool], None]) -> None:
    defer(True)
    table = make_table([(f"[word {number}]", f"zorb{number}") for number in range(1, 100)])
    form = table.get_form("(word_42)")
    assert form is not None
    assert form[0].original == "zorb42"
    assert table.is_prefix("{word 9")
    assert not table.is_prefix("{word 123")
    assert not table.forms


class ObservedForms(dict[str, object]):
    """Forms that call a function before each look-up of a key and after each assignment, as another thread could."""

    def __init__(self, content: dict[str, object], other_thread: Callable[[], object]) -> None:
        super().__init__(content)
        self.other_thread = other_thread

    def __contains__(self, key: object) -> bool:
        is_contained = super().__contains__(key)
        self.other_thread()
        return is_contained

    def __setitem__(self, key: str, value: object) -> None:
        super().__setitem__(key, value)
        self.other_thread()


def test_threads_that_create_the_same_forms_find_them_all(defer: Callable[[bool], None]) -> None:
    defer(True)
    table = make_table(PAIRS)
    other_results = []

    def create_first() -> None:
        table._later = dict(table._later)
        other_results.append(table.get_form("gomez"))

    table._later = ObservedForms(table._later, create_first)  # type: ignore[assignment]
    form = table.get_form("gomez")
    assert form is not None
    assert other_results == [form]


def test_no_thread_finds_an_original_of_a_text_with_several_ones(defer: Callable[[bool], None]) -> None:
    """A text with two originals is also a form, a plural, of a pair with one original."""
    defer(True)
    table = make_table([("Zorb", "Ulm"), ("Zorbs", "Graz"), ("Zorbs", "Bern"), ("Zorbel", "Wien")])
    found = []
    table.forms = ObservedForms({}, lambda: found.append(dict.get(table.forms, "zorbs")))  # type: ignore[assignment]
    assert table.get_form("zorb") is not None
    assert "zorbs" in table.forms
    assert not any(found)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.sampled_from(PAIRS), unique=True),
    st.lists(st.sampled_from([*TEXTS, " a ", "s", "\n", ", "]), max_size=12),
    st.lists(st.integers(0, 120), max_size=12),
    st.sampled_from([EVERYWHERE_POLICY, PROSE_POLICY]),
)
def test_a_long_mapping_restores_what_a_short_one_does(
    pairs: list[tuple[object, ...]], parts: list[str], cuts: list[int], policy: object
) -> None:
    reply, found = "".join(parts), []
    places = sorted({0, len(reply), *(cut for cut in cuts if cut < len(reply))})
    with pytest.MonkeyPatch.context() as patch:
        for maximum in (-1, 1 << 30):
            patch.setattr(form_table, "_MAX_COMPLETE", maximum)
            restorer = Restorer(pairs)  # type: ignore[arg-type]
            whole = restorer.restore(reply, policy)  # type: ignore[arg-type]
            stream = restorer.open_stream(policy)  # type: ignore[arg-type]
            streamed = "".join(stream.feed(reply[a:b]) for a, b in itertools.pairwise(places))
            found.append((whole, whole.report, streamed + stream.close(), stream.report))
    assert found[0] == found[1]


@given(st.lists(st.text("ab]1", min_size=1, max_size=5), unique=True), st.text("ab]1", max_size=8))
def test_forms_that_begin_a_text_are_found_by_binary_search(forms: list[str], text: str) -> None:
    candidates = sorted(forms)
    expected = sorted(filter(text.startswith, candidates), key=len)
    assert form_index._find_beginnings(text, candidates) == expected
