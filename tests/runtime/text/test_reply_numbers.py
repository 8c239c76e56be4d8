"""Numbers of a reply that are not in the sanitized text are reported, for any division of the reply."""

import random

import pytest
from textveil.text.reply_numbers import NumberFinder


def find_in_pieces(text: str, size: int) -> tuple[str, ...]:
    finder = NumberFinder()
    for at in range(0, len(text), size):
        finder.feed(text[at : at + size])
    finder.end_text()
    return finder.find_unknown()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("It is 12 of 1,250.", ("12", "1,250")),
        ("1. One\n 2) Two, 3. three\n4.5 kg", ("3", "4.5")),
        ("on 2024-05-06 at 10:30, x7 7x a_8 v.9", ("2024-05-06", "10:30")),
        ("(5)" + "x" * 252 + " 6", ("5", "6")),
        ("(5)" + "x" * 254 + " 6", ("6",)),  # a run of 257 characters
        ("a\n" + " " * 300 + "7. Seven " + "8" * 300, ()),
    ],
)
def test_numbers_do_not_depend_on_how_a_reply_is_cut(text: str, found: tuple[str, ...]) -> None:
    assert all(find_in_pieces(text, size) == found for size in (1, 2, 3, 7, 100, 1000))


@pytest.mark.slow
def test_numbers_of_random_replies_do_not_depend_on_how_they_are_cut() -> None:
    chance = random.Random(1)
    parts = ["1", "23.", "4)", "\n", " ", "\t", "x" * 250, "(", ":", "-", ",", "٣", "a", "_", " " * 300, "\u2003"]
    for _ in range(400):
        text = "".join(chance.choices(parts, k=chance.randint(1, 40)))
        whole = find_in_pieces(text, len(text))
        assert all(find_in_pieces(text, size) == whole for size in (1, 3, 64))
