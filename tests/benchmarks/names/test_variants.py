"""Each variant makes its documented change, and its spans mark the same words as before."""

import pytest
from names.data import Row, Span
from names.variants import VARIANTS, with_errors
from names.words import WORD

ROWS = [
    Row("\u0130pek met Jonathan Stra\u00dfer in Heidelberg yesterday", (Span(0, 4, "PERSON"), Span(9, 26, "PERSON"))),
    Row("Nothing is marked here, nothing whatsoever", ()),
    Row("Wrote to Wilhelmina", (Span(9, 19, "PERSON"),), (Span(0, 5, "MISC"),)),
]


@pytest.mark.parametrize("variant", ["lower", "capitals"])
def test_case_moves_no_offset(variant: str) -> None:
    for before, after in zip(ROWS, VARIANTS[variant](ROWS), strict=True):
        assert len(after.text) == len(before.text)
        assert after.spans == before.spans
        changed = str.lower if variant == "lower" else str.upper
        assert changed(after.text) == changed(before.text)
    assert VARIANTS["lower"](ROWS)[0].text.startswith("\u0130pek met jonathan")
    assert VARIANTS["capitals"](ROWS)[0].text.endswith("STRA\u00dfER IN HEIDELBERG YESTERDAY")


def words(row: Row, span: Span) -> list[str]:
    return WORD.findall(row.text[span.start : span.end])


def test_errors_are_made_once_and_spans_move_along() -> None:
    assert VARIANTS["errors"](ROWS) == VARIANTS["errors"](ROWS)
    changed = 0
    for seed in range(300):
        for row in ROWS:
            after = with_errors(row, seed)
            before, now = WORD.findall(row.text), WORD.findall(after.text)
            assert len(before) == len(now)
            changed += sum(a != b for a, b in zip(before, now, strict=True))
            for old, new in zip((*row.spans, *row.unmasked), (*after.spans, *after.unmasked), strict=True):
                at = before.index(words(row, old)[0])
                assert words(after, new) == now[at : at + len(words(row, old))]
    long = sum(len(word) >= 4 for row in ROWS for word in WORD.findall(row.text))
    assert 0.05 < changed / (300 * long) < 0.12  # two equal letters that are swapped are not an error


def test_another_seed_makes_other_errors() -> None:
    assert len({with_errors(ROWS[0], seed).text for seed in range(30)}) > 5
