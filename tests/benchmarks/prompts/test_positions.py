"""Damage and leak are counted by position, not by searching the output."""

from pathlib import Path

import pytest
from prompts.positions import count_marked, count_prompts, find_unit, mark, read_function_words
from prompts.prompts import Prompt, is_measured

FUNCTION_WORDS = frozenset(("the", "of"))


def hide(*words: str):
    """Return a tool that hides the first occurrence of each word."""
    return lambda text: bytearray(
        1 - byte for byte in mark(len(text), [(text.index(w), text.index(w) + len(w)) for w in words if w in text])
    )


def test_words_and_numbers_outside_of_units_are_damage() -> None:
    prompt = Prompt("pupa-1", "The age of Anna Weber is 42, not 43.", ("anna weber",))
    counts = count_prompts([prompt], hide("Anna Weber", "42", "age"), FUNCTION_WORDS)
    assert (counts["words"], counts["words_changed"]) == (3, 1)  # age, is, not
    assert (counts["numbers"], counts["numbers_changed"]) == (2, 1)
    assert (counts["units"], counts["units_whole"], counts["untouched"]) == (1, 0, 0)
    assert (counts["unit_words"], counts["unit_words_stay"]) == (2, 0)


def test_a_unit_that_stays_at_one_of_its_places_stays_whole() -> None:
    prompt = Prompt("pupa-1", "anna met Anna", ("Anna", "absent", " "))
    counts = count_prompts([prompt], hide("Anna"), FUNCTION_WORDS)
    assert (counts["units"], counts["units_whole"]) == (1, 1)
    assert counts["unit_words_stay"] == 1


def test_a_prompt_without_damage_is_untouched_though_its_unit_is_hidden() -> None:
    prompts = [Prompt("pupa-1", "greet Anna", ("anna",)), Prompt("arena-1", "greet", ())]
    assert count_prompts(prompts, hide("Anna"), FUNCTION_WORDS)["untouched"] == 2


def test_a_unit_is_found_between_other_words_only() -> None:
    assert find_unit("Ann", "anna and ann, ann") == [(9, 12), (14, 17)]
    assert find_unit("a+b", "a+b") == [(0, 3)]


def test_prompts_without_a_mask_are_skipped() -> None:
    counts = count_prompts([Prompt("arena-1", "greet")], lambda _: None, FUNCTION_WORDS)
    assert (counts["prompts"], counts["skipped"], counts["words"]) == (1, 1, 0)


def test_marked_words_count_by_type_and_titles_not_at_all() -> None:
    row = {
        "text": "Dr Anna Weber of Oslo mailed http://a.example the list",
        "spans": [
            {"start": 0, "end": 2, "type": "TITLE"},
            {"start": 3, "end": 13, "type": "PERSON"},
            {"start": 17, "end": 21, "type": "GPE"},
        ],
    }
    counts = count_marked([row], hide("Anna", "list"), FUNCTION_WORDS)
    assert counts["types"] == {
        "GPE": {"words": 1, "words_stay": 1, "spans": 1, "spans_whole": 1},
        "PERSON": {"words": 2, "words_stay": 1, "spans": 1, "spans_whole": 0},
    }
    assert (counts["others"], counts["others_changed"]) == (2, 1)  # mailed, list


@pytest.mark.parametrize(("text", "measured"), [("abc", True), ("x" * 6000, False), ("привет", False)])
def test_measured_prompts_are_short_and_in_latin_letters(text: str, measured: bool) -> None:
    assert is_measured(Prompt("arena-1", text)) is measured


def test_function_words_are_the_first_column(tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_text("the\tmark\nof\n", "utf-8")
    assert {"the", "of"} <= read_function_words(tmp_path / "list.txt")
