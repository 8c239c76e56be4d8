"""Each replacement of an output is shown beside its own original."""

import pytest
from hypothesis import given
from strange_texts import reading, strange_texts
from textveil import Sanitizer
from textveil.text.explanation import ExplainedPiece
from textveil.text.marked_html import MarkedPiece
from textveil_cli.changes import TextExplainer, align_pieces, compare_words

OPTIONS = [
    {},
    {"facts": "none"},
    {"facts": "useful"},
    {"style": "tag"},
    {"drop": ["city"]},
    {"protect": "words"},
    {"protect": "all"},
    {"protect": "all", "sanitize_punctuation": True},
]


def read_original(pieces: list[MarkedPiece]) -> str:
    """Return the original text that aligned pieces show."""
    return "".join(piece.output if piece.treatment == "kept" else piece.original for piece in pieces)


def make_pieces(*parts: tuple[str, str]) -> list[ExplainedPiece]:
    return [ExplainedPiece(text=text, state=state, start=0, end=0, reason="") for text, state in parts]


@reading
@given(strange_texts)
@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_pieces_are_the_whole_text_and_the_whole_output(sanitizer: Sanitizer, options: dict, text: str) -> None:
    text = f"Ask Zorblax in Leeds, [chapter 3] don\u2019t. {text}"
    result = sanitizer.sanitize(text, **options)
    explainer = TextExplainer(sanitizer, options)  # type: ignore[arg-type]
    for pieces in (explainer.align(text, result.text), explainer.align_result(text, result)):
        assert "".join(piece.output for piece in pieces) == result.text
        assert read_original(pieces) == text


@pytest.mark.parametrize(
    ("parts", "output", "expected"),
    [
        (
            [("in", "kept"), (" ", "gap"), ("12", "day"), (" ", "gap"), ("March", "month"), (".", "gap")],
            "in [day 1] [month 1].",
            [("12", "[day 1]"), ("March", "[month 1]")],
        ),
        (
            [("NASA", "organization"), (" ", "gap"), ("a@b.example", "email")],
            "PUBLIC COMMITTEE c@d.example",
            [("NASA", "PUBLIC COMMITTEE"), ("a@b.example", "c@d.example")],
        ),
        (
            [("Anna Novak", "person"), (" ", "gap"), ("48213", "number")],
            "Mary Ann Jones 56804",
            [("Anna Novak", "Mary Ann Jones"), ("48213", "56804")],
        ),
        ([("from", "kept"), (" ", "gap"), ("Leeds", "city"), ("!", "gap")], "from !", [("Leeds", "")]),
    ],
)
def test_a_replacement_belongs_to_its_original(parts: list, output: str, expected: list) -> None:
    pieces = align_pieces(make_pieces(*parts), output)
    assert [(piece.original, piece.output) for piece in pieces if piece.treatment != "kept"] == expected


def test_known_positions_decide() -> None:
    parts = make_pieces(("Leeds", "city"), (" ", "gap"), ("Monday", "weekday"))
    pieces = align_pieces(parts, "Virginia Beach Friday", [(0, 14), (15, 21)])
    assert [piece.output for piece in pieces] == ["Virginia Beach", " ", "Friday"]


def test_positions_of_another_text_are_not_used() -> None:
    parts = make_pieces(("in", "kept"), (" ", "gap"), ("Leeds", "city"))
    for spans in ([(0, 2)], [(3, 8), (3, 8)], []):
        pieces = align_pieces(parts, "in Vienna", spans)
        assert [(piece.output, piece.original) for piece in pieces][-1] == ("Vienna", "Leeds")


def test_texts_without_common_parts_are_compared_by_words() -> None:
    pieces = align_pieces(make_pieces(("fine", "kept")), "good")
    assert pieces == [MarkedPiece("good", "changed", "fine")]
    assert compare_words("a b c", "a x c") == [
        MarkedPiece("a "),
        MarkedPiece("x", "changed", "b"),
        MarkedPiece(" c"),
    ]


def test_a_blank_inside_a_name_belongs_to_it() -> None:
    pieces = compare_words("ask Anna Novak now", "ask Mary Jones now")
    assert [(piece.original, piece.output) for piece in pieces if piece.treatment != "kept"] == [
        ("Anna Novak", "Mary Jones")
    ]


def test_a_long_text_of_many_replacements_ends() -> None:
    """Every blank is a possible end of every replacement."""
    parts = [part for _ in range(400) for part in (("Anna", "person"), (" ", "gap"))]
    output = "Mary Ann " * 400
    pieces = align_pieces(make_pieces(*parts), output)
    assert "".join(piece.output for piece in pieces) == output


@pytest.mark.parametrize("text", ["It costs $1,240 now.", "It costs 99.50 euros.", "Open 24/7."])
def test_a_report_counts_a_number_with_punctuation_as_one_word(text: str) -> None:
    explainer = TextExplainer(Sanitizer.load(), {"facts": "useful"})
    number = next(word for word in text.rstrip(".").split() if word[-1].isdigit()).lstrip("$")
    assert [number] == [token for token, _ in explainer.iterate_treatments(text) if token[0].isdigit()]
    assert [number] == [token for token, _, _ in explainer.iterate_reasons(text) if token[0].isdigit()]


def test_a_report_counts_replaced_and_kept_numbers_apart() -> None:
    words = [
        *TextExplainer(Sanitizer.load(), {"facts": "useful"}).iterate_treatments(
            "It costs $1,240. 17 days later it broke."
        )
    ]
    assert ("1,240", "kept") in words
    assert "17" in [token for token, _ in words]


def test_a_text_that_was_sent_as_it_is_has_no_marks() -> None:
    text = 'The order_no is "[number 1]", the customer [person 1].'
    explainer = TextExplainer(Sanitizer.load(), {"style": "tag", "facts": "useful"})
    assert any(piece.state not in ("kept", "gap") for piece in explainer.list_pieces(text))
    assert explainer.align(text, text) == [MarkedPiece(text)]
