"""Output and spend of a long text are functions of its template: its division into chunks has no effect.

The division depends on hidden words, by their length. So every text is processed in chunks of many sizes and in one
piece, with samples that are a function of everything that decides their distribution; the outputs must be equal.
"""

from collections.abc import Callable, Iterator
from hashlib import sha256
from itertools import count, pairwise
from typing import Any

import numpy as np
import pytest
from textveil import Sanitizer
from textveil.errors import DocumentTooLong
from textveil.mechanisms import entropy
from textveil.mechanisms.staircase.slots import SlotStaircases
from textveil.text.rewrite import draws, rewriter
from textveil.text.rewrite.draws import TokenArrays
from textveil.text.segmentation import fold_word
from whole_texts import TEXTS, write_bundle

OPTIONS: list[dict[str, Any]] = [
    {},
    {"protect": "all"},
    {"sanitize_punctuation": True},
    {"deny": ["flu", "john's", "clinic"]},
    {"consistent": True, "consistent_cap": 10_000},
    {"consistent": True, "consistent_cap": 10_000, "protect": "all"},
    {"consistent": True, "consistent_cap": 10_000, "sanitize_punctuation": True},
]
#: Runs of mentions of every kind, gaps of many segments, equal words far apart, in all cases, and sentences that start.
TEXT = (
    "The doctor. The nurse, The zorblax! \n The John's: don't 5 5. Will ...The May may. THE\n\nA :) A zorblax; "
    + "Zorblax: flu : ; :: , clinic's cancer the was John 5 clinic "
    + "doctor nurse Clinic flu " * 10
    + "doctor:(nurse flu:)now and:*then* cat:/clinic. ;)flu :[[zorblax:((( Mark doctor :(the:) flu" * 2
    + ":;:;: the flu; it JOHN clinic's wouldn't've mark Mark. Doctor, zorblax doctor \u2028The 5"
)
LONG = "\n".join([*TEXTS[:8], TEXT, *TEXTS[10:14], TEXTS[23], TEXTS[27]])


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Sanitizer:
    return Sanitizer.load(write_bundle(tmp_path_factory.mktemp("toy") / "bundle"))


def number(*decides: object) -> int:
    return int.from_bytes(sha256(repr(decides).encode()).digest()[:8], "big")


@pytest.fixture
def told(toy: Sanitizer, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Replace each sample by a function of its input, its slots and its number, and return the outputs."""

    def draw_by_place(self: Any, inputs: Any, slots: Any, random_uint64: Any) -> np.ndarray:
        decides = zip(slots.is_lower.tolist(), inputs.tolist(), map(next, [drawn] * len(inputs)), strict=True)
        return np.array([number(*one) % toy.bundle.symbol_count for one in decides], dtype=np.int64)

    def below(totals: Any, random_uint64: Any) -> np.ndarray:
        return np.array([number(next(of_kinds)) % total for total in totals.tolist()], dtype=np.int64)

    drawn: Iterator[int] = count()
    of_kinds: Iterator[int] = count()

    def release(texts: list[str], chunk: int | None, **options: Any) -> Any:
        nonlocal drawn, of_kinds
        drawn, of_kinds = count(), count()
        with monkeypatch.context() as patch:
            patch.setattr(SlotStaircases, "draw_symbols", draw_by_place)
            patch.setattr(draws, "draw_uniform_below", below)
            patch.setattr(rewriter, "MAX_WHOLE_CHARACTERS", 10**9 if chunk is None else 1)
            patch.setattr(rewriter, "BLOCK_SEGMENTS", chunk)
            if len(texts) > 1:
                return toy.sanitize_documents([texts], **options)
            (result,) = toy.sanitize_batch(texts, **options)
            originals = (
                {}
                if result.mapping is None
                else {output: pair.original for output, pair in result.mapping._sorted_pairs[0].items()}
            )
            return result.text, result.tokens, {output: fold_word(original) for output, original in originals.items()}

    return release


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize(
    ("text", "chunks"),
    [
        pytest.param(TEXT, (2, 7, 50), id="one text"),
        pytest.param(LONG, (1, 4, 33, 64, 301), id="many texts", marks=pytest.mark.full),
    ],
)
def test_chunks_do_not_show(
    told: Callable[..., Any], options: dict[str, Any], text: str, chunks: tuple[int, ...]
) -> None:
    whole = told([text], None, **options)
    for chunk in chunks:
        assert told([text], chunk, **options) == whole, chunk


@pytest.mark.parametrize("options", [options for options in OPTIONS if options.get("consistent")], ids=str)
def test_chunks_of_a_document_of_several_texts_do_not_show(told: Callable[..., Any], options: dict[str, Any]) -> None:
    texts = [*TEXTS[:3], "", "zorblax", *TEXTS[9:11], "the Flu", TEXT[-100:]]
    whole = told(texts, None, **options)
    for chunk in (5, 64):
        assert told(texts, chunk, **options) == whole, chunk


@pytest.mark.parametrize("texts", [[TEXT], ["the flu", TEXT, "John"]], ids=["text", "texts"])
def test_a_document_is_refused_however_it_is_cut(told: Callable[..., Any], texts: list[str]) -> None:
    def is_refused(cap: int, chunk: int | None) -> bool:
        try:
            told(texts, chunk, consistent=True, consistent_cap=cap)
        except DocumentTooLong:
            return True
        return False

    cap = next(cap for cap in range(1, 200) if not is_refused(cap, None))
    for chunk in (3, 50):
        assert is_refused(cap - 1, chunk)
        assert not is_refused(cap, chunk)


# --- two texts of one skeleton, as they are cut ---------------------------------------------------------------------

SHORT_AND_LONG: list[dict[str, Any]] = [
    {},
    {"sanitize_punctuation": True},
    {"protect": "all"},
    {"consistent": True, "consistent_cap": 10**6},
]


@pytest.mark.parametrize("options", SHORT_AND_LONG, ids=str)
def test_the_length_of_hidden_words_does_not_show(
    toy: Sanitizer, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any]
) -> None:
    """One of the two texts is processed in one piece, the other one in two chunks."""
    monkeypatch.setattr(entropy, "random_uint64", lambda size: np.full(size, 3**40, np.uint64))
    unknown = [f"{a}{b}" for a in "qxz" for b in "bcdfghjklm"] * 100
    sentences = "{0} {1} doctor, the flu. {1}: John {0} nurse "
    texts = [
        "".join(sentences.format(one + more, other + more) for one, other in pairwise(unknown)) for more in ("", "wwww")
    ]
    assert len(texts[0]) < rewriter.MAX_WHOLE_CHARACTERS < len(texts[1])
    short, long = (toy.sanitize(text, **options) for text in texts)
    assert (short.text, short.tokens) == (long.text, long.tokens)


# --- planted faults ------------------------------------------------------------------------------------------------


def _without(name: str) -> tuple[object, str, Any]:
    """Plant a fault: a chunk lacks one part of the carried state."""

    def told_less(*given: Any, **more: Any) -> draws.CarriedState:
        return draws.CarriedState(**{**_names(given), **more, name: getattr(draws.NO_CARRIED_STATE, name)})

    return rewriter, "CarriedState", told_less


def _names(given: tuple[Any, ...]) -> dict[str, Any]:
    return dict(zip(("before", "earlier"), given, strict=False))


list_earlier_draws = TokenArrays.list_earlier_draws
FAULTS: dict[str, tuple[object, str, Any]] = {
    "a chunk starts a text": _without("before"),
    "equal words of two chunks are drawn apart": _without("earlier"),
    "the count begins anew": (
        TokenArrays,
        "list_earlier_draws",
        lambda *given: draws.EarlierDraws(0, list_earlier_draws(*given).values),
    ),
    "slots are those of the chunk": (rewriter, "_find_lower_case_draws", lambda *given: None),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_seen(told: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, fault: str) -> None:
    monkeypatch.setattr(*FAULTS[fault])

    def answer(options: dict[str, Any], chunk: int | None) -> Any:
        try:
            return told([TEXT], chunk, **options)
        except (IndexError, DocumentTooLong) as error:
            return type(error)

    options: list[dict[str, Any]] = [*OPTIONS[::-1], {"consistent": True, "consistent_cap": 50}]
    assert any(answer(one, None) != answer(one, 7) for one in options)
