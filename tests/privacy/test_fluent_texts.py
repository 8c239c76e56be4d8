"""A base follows what is public alone: the skeleton, and what came out before in the same document.

What every mention was drawn in is compared with the context that anybody can read off the skeleton and the released
text. The check is also run with the faults that a developer is likely to plant, and must fail.
"""

from collections.abc import Callable, Iterator
from itertools import repeat
from typing import Any

import numpy as np
import pytest
from faulty_mentions import FAULTS as MENTION_FAULTS
from small_context import MARKS, random_context
from small_staircase import CASED_ROLES, CASED_WORDS, KINDS, WORDS, small_staircase
from textveil import Sanitizer
from textveil.errors import OptionError
from textveil.mechanisms import entropy
from textveil.mechanisms.staircase import FluentStaircase
from textveil.mechanisms.staircase.slots import FluentSlots
from textveil.text.rewrite import context as contexts_of
from textveil.text.rewrite.context import Layout
from textveil.text.rewrite.cut import DRAWN
from textveil.text.staircase_plans import StaircasePlans

OTHER, DRAWN_ELEMENT, FIRST_KIND = len(WORDS), len(WORDS) + 1, len(WORDS) + 2
FIRST_MARK = FIRST_KIND + len(KINDS) + 1
EDGE = FIRST_MARK + len(MARKS) + 1
MARK = CASED_WORDS.index("mark")
OPTIONS: list[dict[str, Any]] = [
    {},
    {"protect": "all"},
    {"case": "drop"},
    {"consistent": True},
    {"sanitize_punctuation": True},
]
TOKENS = (
    "the a was my Doctor doctor nurse flu mark Mark cancer clinic Zorblax zorblax qwyx John mary Monday b2b".split()
)
#: Whether it stands in slots of lower case alone, input, context and output of a draw.
Drawn = tuple[bool, int, tuple[int, ...], int]


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Sanitizer:
    context = random_context(1, weights=(1, 9, 40))
    return Sanitizer.load(small_staircase(tmp_path_factory.mktemp("small"), context=context))


@pytest.fixture(scope="module")
def cased(tmp_path_factory: pytest.TempPathFactory) -> Sanitizer:
    """A bundle whose outputs depend on the case of their slot: *mark* comes out in lower case alone."""
    context = random_context(2, weights=(1, 9, 40))
    folder = tmp_path_factory.mktemp("cased")
    return Sanitizer.load(small_staircase(folder, words=CASED_WORDS, roles=CASED_ROLES, context=context))


def stream(seed: int) -> Callable[[int], Any]:
    generator = np.random.Generator(np.random.Philox(seed))
    return lambda count: generator.integers(0, 1 << 64, count, dtype=np.uint64)


@pytest.fixture
def drawing(monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[list[str], list[Drawn]]]:
    """Sanitizes texts with a fixed stream; returns them, and all that is to be known of every draw, sorted."""

    def draw(sanitizer: Sanitizer, texts: list[str], seed: int, **options: Any) -> tuple[list[str], list[Drawn]]:
        seen: list[Drawn] = []
        real = FluentStaircase.draw

        def watched(self: FluentStaircase, inputs: Any, contexts: Any, random_uint64: Any) -> Any:
            outputs = real(self, inputs, contexts, random_uint64)
            of_lower_case = repeat(bool(self.plain.base[MARK]), len(inputs))
            seen.extend(
                zip(of_lower_case, inputs.tolist(), map(tuple, contexts.tolist()), outputs.tolist(), strict=True)
            )
            return outputs

        with monkeypatch.context() as patch:
            patch.setattr(entropy, "random_uint64", stream(seed))
            patch.setattr(FluentStaircase, "draw", watched)
            results = sanitizer.sanitize_batch(texts, fluent=True, **options)
        return [result.text for result in results], sorted(seen)

    return draw


def some_texts(seed: int, count: int = 6) -> list[str]:
    """Documents of words with marks right after some of them."""
    rng = np.random.default_rng(seed)
    texts = []
    for length in rng.integers(1, 14, count).tolist():
        words = rng.choice(TOKENS, length).tolist()
        marks = rng.choice(["", "", "", ",", ".", "…"], length).tolist()
        texts.append(" ".join(word + mark for word, mark in zip(words, marks, strict=True)))
    return texts


def elements(sanitizer: Sanitizer, text: str, released: str, **options: Any) -> Iterator[tuple[int, str, int, str]]:
    """The element of every word and mark as the skeleton shows it, its string, its input (-1), and what came out."""
    bare, names, words = options.get("sanitize_punctuation", False), list(KINDS), sanitizer.bundle.vocabulary
    outputs = iter(released.split())
    for word in text.split():
        stem, mark = word.rstrip(",.…"), word[len(word.rstrip(",.…")) :]
        output = next(outputs).lower()
        (what,) = {what for piece, what in sanitizer.preview(f"doctor {stem}", **options) if piece == stem}
        symbol = words.index(stem.lower()) if stem.lower() in words and stem.lower() != "my" else len(WORDS)
        shown = {"visible": symbol, "drawn": DRAWN_ELEMENT, "unknown": DRAWN_ELEMENT}.get(what)
        shown = FIRST_KIND + names.index(what) if shown is None else shown
        inputs = {"drawn": symbol, "unknown": len(WORDS)}.get(what, -1)
        yield shown, stem, inputs, output if bare else output[: len(output) - len(mark)]
        if mark and bare:
            yield FIRST_KIND + len(KINDS), mark, -1, next(outputs)
        elif mark:
            yield FIRST_MARK + (MARKS.index(mark) if mark in MARKS else len(MARKS)), mark, -1, mark


def expected(sanitizer: Sanitizer, texts: list[str], released: list[str], **options: Any) -> list[Drawn]:
    """What is to be known of every draw, read off the skeletons and the released texts."""
    words, cases = sanitizer.bundle.vocabulary, not (options.get("case") or options.get("sanitize_punctuation"))
    plain = {name: value for name, value in options.items() if name in ("protect", "sanitize_punctuation")}
    found: list[Drawn] = []
    for text, after in zip(texts, released, strict=True):
        line = list(elements(sanitizer, text, after, **plain))
        met: set[str] = set()
        for place, (_, word, inputs, output) in enumerate(line):
            if inputs < 0 or (options.get("consistent") and word.lower() in met):
                continue
            met.add(word.lower())
            equal = [other for _, other, of, _ in line if of >= 0 and other.lower() == word.lower()]
            lower = all(map(str.islower, equal if options.get("consistent") else [word])) if cases else True
            around = [line[at][0] if 0 <= (at := place + by) < len(line) else EDGE for by in (-2, -1, 1, 2)]
            if place and line[place - 1][2] >= 0:
                around[1] = words.index(line[place - 1][3])
            may_mark = StaircasePlans(sanitizer.bundle).outputs(protect=options.get("protect", "words"), lower=lower)
            found.append((bool(may_mark[MARK]), inputs, tuple(around), words.index(output)))
    return sorted(found)


def check_contexts(sanitizer: Sanitizer, drawing: Callable[..., Any]) -> None:
    for number, options in enumerate(OPTIONS):
        for seed in range(8):
            texts = some_texts(100 * number + seed)
            if options.get("protect") == "all":
                texts = [text.replace("my", "was") for text in texts]
            released, seen = drawing(sanitizer, texts, seed, **options)
            assert seen == expected(sanitizer, texts, released, **options), options


@pytest.mark.parametrize("bundle", ["small", "cased"])
def test_contexts_are_what_the_released_text_shows(
    request: pytest.FixtureRequest, drawing: Callable[..., Any], bundle: str
) -> None:
    """And the outputs are those of the slots that the text shows."""
    check_contexts(request.getfixturevalue(bundle), drawing)


# --- planted faults ------------------------------------------------------------------------------------------------


def _layout(change: Callable[[Any, Any, Layout], Layout]) -> tuple[object, str, Any]:
    real = Layout.of.__func__  # type: ignore[attr-defined]
    return Layout, "of", classmethod(lambda cls, read, at: change(read.plan, read, real(cls, read, at)))


def _inputs_shown(plan: Any, read: Any, layout: Layout) -> Layout:
    """Drawn mentions stand in the skeleton by their inputs: the one before and those after are seen."""
    tokens = np.where(layout.token >= 0, layout.token, 0)
    drawn = (layout.token >= 0) & (read.roles[tokens] == DRAWN)
    return Layout(np.where(drawn, read.indices[tokens], layout.shown), layout.document, layout.token)


def _one_document(plan: Any, read: Any, layout: Layout) -> Layout:
    return Layout(layout.shown, np.zeros_like(layout.document), layout.token)


def _kinds_by_spelling(plan: Any, read: Any, layout: Layout) -> Layout:
    odd = np.array([len(part) % 2 for part in read.known.numbers])[read.segments][read.part_of]
    tokens = np.where(layout.token >= 0, layout.token, 0)
    kind = (layout.token >= 0) & (layout.shown >= FIRST_KIND) & (layout.shown < FIRST_MARK) & (odd[tokens] == 1)
    return Layout(np.where(kind, OTHER, layout.shown), layout.document, layout.token)


def _surroundings(change: Callable[[Any, Any], Any]) -> tuple[object, str, Any]:
    """What stands around draws is a function of their inputs too."""
    real = FluentSlots.draw

    def draw(self: FluentSlots, inputs: Any, slots: Any, random_uint64: Any) -> Any:
        class Changed:
            lower, whole = slots.lower, slots.whole

            def around(self, elements: Any) -> Any:
                return change(np.minimum(inputs, len(WORDS) - 1), slots.around(elements))

        return real(self, inputs, Changed(), random_uint64)

    return FluentSlots, "draw", draw


def _input_before() -> tuple[object, str, Any]:
    """The word before a mention is the one that the user wrote, not the one that came out."""

    def change(inputs: Any, found: Any) -> Any:
        known, contexts = len(found.made), found.contexts.copy()
        told = found.before >= known
        contexts[told, 1] = inputs[found.before[told] - known]
        return found._replace(contexts=contexts, before=np.full_like(found.before, -1))

    return _surroundings(change)


def _runs_on() -> tuple[object, str, Any]:
    """The draw before a mention is looked at across the end of a document."""
    real = contexts_of.draw_before
    return contexts_of, "draw_before", lambda places, documents, *of: real(places, 0 * documents, *of)


def _own_word() -> tuple[object, str, Any]:
    """What follows is the word itself."""

    def change(inputs: Any, found: Any) -> Any:
        contexts = found.contexts.copy()
        contexts[:, 2] = inputs
        return found._replace(contexts=contexts)

    return _surroundings(change)


FAULTS: dict[str, Callable[[], tuple[object, str, Any]]] = {
    "a base from a drawn input before": _input_before,
    "a base from a drawn input after": lambda: _layout(_inputs_shown),
    "a context of the word itself": _own_word,
    "a kind is seen by its spelling": lambda: _layout(_kinds_by_spelling),
    "the skeleton of the next document is seen": lambda: _layout(_one_document),
    "what was drawn is kept for the next document": _runs_on,
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_seen(
    small: Sanitizer, drawing: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    monkeypatch.setattr(*FAULTS[fault]())
    with pytest.raises(AssertionError):
        check_contexts(small, drawing)


@pytest.mark.parametrize(
    "fault", [fault for fault in MENTION_FAULTS if "have the outputs" in fault or "a slot" in fault]
)
def test_a_planted_fault_of_slots_is_seen(
    cased: Sanitizer, drawing: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    for owner, name, faulty in MENTION_FAULTS[fault]():
        monkeypatch.setattr(owner, name, faulty)
    with pytest.raises(AssertionError):
        check_contexts(cased, drawing)


# --- what follows from it ------------------------------------------------------------------------------------------


def test_nothing_is_carried_from_one_document_to_the_next(small: Sanitizer, drawing: Callable[..., Any]) -> None:
    _, together = drawing(small, ["doctor", "nurse doctor", "doctor"], 1)
    assert sum(context == (EDGE,) * 4 for _, _, context, _ in together) == 2


def test_spellings_and_drawn_words_elsewhere_do_not_change_a_draw(
    small: Sanitizer, drawing: Callable[..., Any]
) -> None:
    """With one stream, a mention comes out alike whatever strings of the same kind and case stand after it."""
    for seed in range(30):
        pairs = ["the doctor zorblax, was john flu", "the doctor qwyx, was mary cancer"]
        first, second = (drawing(small, [text], seed)[0][0].split() for text in pairs)
        assert first[:5] == second[:5]


def test_a_long_run_of_drawn_words_is_drawn_side_by_side(small: Sanitizer, drawing: Callable[..., Any]) -> None:
    """Every 32nd word of a run is drawn as if the one before were not known."""
    released, seen = drawing(small, ["doctor " * 100], 1)
    assert [context[1] for _, _, context, _ in seen].count(DRAWN_ELEMENT) == 3
    words = released[0].split()
    after = sorted(WORDS.index(word) for place, word in enumerate(words[:-1], 1) if place % 32)
    assert sorted(context[1] for _, _, context, _ in seen if context[1] < len(WORDS)) == after


def test_a_gap_is_one_element_however_it_is_cut(small: Sanitizer, drawing: Callable[..., Any]) -> None:
    for gap in (" (", ' ("', " ( : ", " (; . "):
        _, seen = drawing(small, [f"the{gap}doctor"], 1)
        assert [context for _, _, context, _ in seen] == [(0, FIRST_MARK + MARKS.index("("), EDGE, EDGE)]


def test_a_text_without_a_mention_and_an_empty_one(small: Sanitizer) -> None:
    assert [small.sanitize(text, fluent=True).text for text in ("", " .", "the a", "was")] == ["", " .", "the a", "was"]


def test_statement_and_distribution(small: Sanitizer) -> None:
    plain, fluent = small.sanitize("a doctor").statement, small.sanitize("a doctor", fluent=True).statement
    assert plain.losses == fluent.losses
    assert fluent.to_dict()["fluent"] is True
    assert "for no more nats" in fluent.summary()
    assert any(said.startswith("what fits") for said in fluent.not_protected)
    assert small.distribution("doctor", fluent=True).weights != small.distribution("doctor").weights


def test_a_bundle_without_contexts_refuses_by_name(tmp_path: Any) -> None:
    plain = Sanitizer.load(small_staircase(tmp_path / "plain"))
    with pytest.raises(OptionError, match=r"no context\.safetensors"):
        plain.sanitize("doctor", fluent=True)
