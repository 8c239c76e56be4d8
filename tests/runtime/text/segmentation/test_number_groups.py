"""No string shows which one of its shape it is: in all short texts every string is replaced by others of its shape."""

import re

import pytest
from exchanged import BRACKETS, MARKS, MEMBERS, MORE, QUOTES, TOKENS, Cut, Search, every, kind_of
from textveil.text.segmentation import segments, split_text
from textveil.text.segmentation.segments import _NumberJoiner

#: Too long for each push: `make nightly` runs these tests.
pytestmark = pytest.mark.full

#: Parts, how many of them a text has, and how many texts are left out after each one.
SOME = [
    (BRACKETS, 4, 1),
    (BRACKETS, 8, 4001),
    (MARKS, 3, 1),
    (MARKS, 6, 2003),
    (MORE, 4, 307),
    (TOKENS, 2, 1),
    (TOKENS, 4, 401),
    (QUOTES, 4, 1),
]
MANY = [
    (BRACKETS, 6, 1),
    (BRACKETS, 10, 5003),
    (MARKS, 4, 1),
    (MARKS, 7, 1009),
    (MORE, 3, 1),
    (TOKENS, 3, 1),
    (TOKENS, 5, 1009),
]


@pytest.mark.parametrize("kind", MEMBERS)
def test_members_are_strings_of_their_kind(kind: str) -> None:
    for member in MEMBERS[kind].split("|"):
        assert split_text(member) == [member]
        assert kind_of(member) == kind


def look_at_some(cut: Cut = split_text) -> Search:
    search = Search(cut)
    for parts, length, step in SOME:
        search.look(every(parts, length, step))
    return search


def test_no_string_of_a_short_text_shows_what_it_is() -> None:
    assert look_at_some().pairs > 30_000


@pytest.mark.full
@pytest.mark.parametrize(("parts", "length", "step"), MANY)
def test_no_string_of_many_short_texts_shows_what_it_is(parts: list[str], length: int, step: int) -> None:
    Search().look(every(parts, length, step))


#: Texts that once were cut by what a number or a name looks like.
FOUND = [
    "12 34_(030) 1234567",
    "12 (34)_(030) 1234567",
    "12 (34)_030 1234567",
    "(x)030 1234567",
    "(x)(030) 1234567",
    '1 (2)"q r"@x.y',
    '"cat "q r"@x.y"@h',
    '"cat q@x.y"@h',
]


@pytest.mark.parametrize("text", FOUND)
def test_what_was_found_is_not_found_again(text: str) -> None:
    Search().look(iter([text]))


# --- planted faults -------------------------------------------------------------------------------------------------

real_touched, real_mark = segments._would_touch, _NumberJoiner._read_mark


def any_word_in_brackets(text: str, place: int) -> bool:
    """Plant a fault: a bracket after a word in brackets joins nothing, even if a number would not touch the word."""
    return re.search(r"[(\[{]\w+[)\]}]$", text[: place + 1]) is not None or real_touched(text, place)


def few_wait(self: _NumberJoiner, place: int) -> object:
    """Where three brackets, blanks and strings wait, nothing is joined any more."""
    if self._text[place] != ")" and len(self._open) + len(self._starts) + self._blank >= 3:
        return self.release_pending()
    return real_mark(self, place)


def quoted_names(text: str) -> list[str]:
    """Plant a fault: a quotation before an at sign is one string with it."""
    parts = re.split(r'("(?![\s@])[^"\n]+(?<!\s)"@[^\s"()]+)', text)
    return [part for n, cut in enumerate(parts) for part in ([cut] if n % 2 else split_text(cut))]


def brackets_at_the_end(text: str) -> list[str]:
    """``1 (2)`` is a string, unless a number in its place would touch what comes after it."""
    groups = re.compile(r"(\d+ \(\d+\))(?![._:]*[^\s._:()\"])")
    parts = groups.split(text)
    return [part for n, cut in enumerate(parts) for part in ([cut] if n % 2 else split_text(cut))]


CHANGES: dict[str, tuple[object, str, object]] = {
    "brackets join what they touch": (segments, "_would_touch", lambda text, place: False),
    "marks are not looked through": (
        segments,
        "_would_touch",
        lambda text, place: text[place : place + 1] not in (".", "_", ":") and real_touched(text, place),
    ),
    "every word in brackets touches": (segments, "_would_touch", any_word_in_brackets),
    "only a few numbers wait": (_NumberJoiner, "_read_mark", few_wait),
}


@pytest.mark.parametrize("fault", CHANGES)
def test_a_rule_that_shows_a_string_is_found(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(*CHANGES[fault])
    with pytest.raises(AssertionError):
        look_at_some()


@pytest.mark.parametrize("cut", [quoted_names, brackets_at_the_end])
def test_strings_that_show_are_found(cut: Cut) -> None:
    with pytest.raises(AssertionError):
        look_at_some(cut)
