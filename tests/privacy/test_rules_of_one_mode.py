"""Rules that the modes ``names`` and ``words`` cannot share, each with the texts that would tell a private string.

Where ``names`` reads a string that it keeps, or a type by context, ``words`` and ``all`` randomize the same string, or
join it to its neighbors (docs/decisions/0037-two-tokenizers.md).
"""

from typing import Any

import numpy as np
import pytest
from textveil import Sanitizer
from textveil.text import make_plan
from textveil.text.names.string_types import classify_string
from textveil.text.rewrite.cut import REPLACED, SegmentReader
from textveil.text.rewrite.draws import TokenArrays
from textveil.text.segmentation import split_text
from textveil.text.segmentation.segments import classify_shape
from textveil.text.token_rules import function_words

SANITIZER = Sanitizer.load()
#: Numbers of different size, form and sign. Each is one string of the shape ``number``.
NUMBERS = "7 70 70,000 007 3.14 $7 7% -7 $70,000.50 #7 7/8".split()


@pytest.mark.parametrize("number", ["$5", "50%", "8 1/3"])
def test_types_of_names_are_no_shapes(number: str) -> None:
    """A number and a code have one type of ``names``, but only the number joins the number before it."""
    code = "a%b"
    assert classify_string(number) == classify_string(code) == ("key", "")
    assert len(split_text(f"7 {number}")) == 1 < len(split_text(f"7 {code}"))
    assert classify_shape(number) != classify_shape(code)


def test_names_reads_the_word_before_a_sentence() -> None:
    """The word before a full stop decides; ``words`` randomizes that word, so it may read the gap alone."""
    states = {
        mode: [
            SANITIZER.preview(f"He paid {word}. House prices rose.", protect=mode)[6][1] for word in ("approx", "table")
        ]
        for mode in ("names", "words")
    }
    assert states["names"][0] != states["names"][1]
    assert states["words"][0] == states["words"][1]


def describe_numbers(options: dict[str, Any]) -> list[object]:
    """Return what the output of a text may depend on, for each number in the same place."""
    plan, found = make_plan(SANITIZER.bundle, **options), []
    for number in NUMBERS:
        reader = SegmentReader(plan)
        tokens = TokenArrays(plan, reader.read_texts([f"I owe him {number} now"]), reader.segments)
        order = tokens.in_text_order
        indices = np.where(tokens.roles == REPLACED, tokens.indices, -1)
        found.append([column[order].tolist() for column in (tokens.roles, tokens.cases, indices)])
    return found


@pytest.mark.parametrize("is_faulty", [False, True], ids=["", "with a fault"])
@pytest.mark.parametrize("options", [{"protect": "words"}, {"protect": "all"}, {"protect": "all", "consistent": True}])
def test_no_size_form_or_sign_of_a_number_comes_out(
    options: dict[str, Any], is_faulty: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Epsilon counts randomized words only: a kept form would tell 7 from 70,000 with certainty. Plant such a form."""
    if is_faulty:
        monkeypatch.setattr(
            function_words, "classify_shape", lambda string: "other" if "$" in string else classify_shape(string)
        )
    first, *others = describe_numbers(options)
    assert all(other == first for other in others) != is_faulty
