"""A reader written from docs/format.md alone and the runtime reproduce the golden vectors exactly.

The reader shares no code with the runtime, so where they agree on random texts the document describes the runtime.
"""

import json
import shutil
import unicodedata
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import replace
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import reference_reader as reader
import regex
from hypothesis import given, settings
from hypothesis import strategies as st
from planted import planted
from reference_reader import draws
from scripted import counted, extreme_words, scripted_words
from textveil import Sanitizer

GOLDEN = Path(__file__).parents[2] / "docs" / "golden"
CASES = json.loads((GOLDEN / "vectors.json").read_text(encoding="utf-8"))
BUNDLES = ("words",)
FILES = (
    "mechanism.json",
    "characters.json",
    "vocabulary.tsv",
    "table.safetensors",
    "embeddings.safetensors",
    "README.md",
)


@lru_cache
def reader_bundle(name: str) -> Any:
    """Open a golden bundle by the second reader."""
    return reader.open_bundle(GOLDEN / name)


@lru_cache
def runtime_bundle(name: str) -> Sanitizer:
    """Open a golden bundle by the runtime."""
    return Sanitizer.load(GOLDEN / name)


#: Options whose name in the golden vectors, a part of the format, is not the library's.
OPTION_NAMES = {"strict": "sanitize_punctuation"}


def ask_reader(bundle: str, texts: list[str], options: dict[str, Any], stream: Iterator[int]) -> tuple:
    """Return outputs, token counts and consumed random words of the second reader."""
    return draws.sanitize_batch(reader_bundle(bundle), texts, options, lambda number: list(islice(stream, number)))


def ask_runtime(bundle: str, texts: list[str], options: dict[str, Any], stream: Iterator[int]) -> tuple:
    """Return the same of the runtime."""
    sanitizer, consumed = runtime_bundle(bundle), []
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setattr("textveil.mechanisms.entropy.random_uint64", counted(stream, consumed))
        results = sanitizer.sanitize_batch(
            texts, **{OPTION_NAMES.get(name, name): value for name, value in options.items()}
        )
    return [result.text for result in results], [result.tokens for result in results], sum(consumed)


def assert_agreement(bundle: str, texts: list[str], options: dict[str, Any], label: str) -> None:
    """Reader and runtime give the same from the same random words."""
    expected = ask_reader(bundle, texts, options, extreme_words(label))
    assert ask_runtime(bundle, texts, options, extreme_words(label)) == expected


@pytest.mark.parametrize("ask", [ask_reader, ask_runtime])
@pytest.mark.parametrize("case", CASES, ids=[case["random_label"] for case in CASES])
def test_golden_vectors_are_reproduced(ask: Any, case: dict[str, Any]) -> None:
    outputs, tokens, consumed = ask(
        case["bundle"], case["texts"], case["options"], scripted_words(case["random_label"])
    )
    assert outputs == case["outputs"]
    assert tokens == case["tokens"]
    assert consumed == case["random_words"]


DRAW_FAULTS = {
    "after a rejection only the tail is drawn again": (
        "tail, excesses = rows[i]",
        "tail, excesses = rows[i]\n            if len(pending) < len(inputs):\n                "
        "u = sum(excess for _, excess in excesses) + u % (tail * cumulative[-1])",
    ),
    "a stored word takes no threshold": (
        "if found is None:",
        "if found is None and outputs[i] not in [y for y, _ in excesses]:",
    ),
    "thresholds are below the total": ("rows[i][0] for i in in_tail", "totals[i] for i in in_tail"),
    "whatever is dealt to the tail is drawn again": ("if t >= law.weight", "if i or t >= law.weight"),
    "whatever is dealt to the tail is kept": ("if law.weight is None:", "if True:"),
}


def no_weight_past_the_end(bundle: Any, mechanism: str, options: dict[str, Any]) -> Any:
    law = FIND_LAW(bundle, mechanism, options)
    if law.weight is None:
        return law
    names = {law["weights"] for level in bundle.law["levels"] for law in level["parameters"].values()}
    shortest = min(len(bundle.arrays[name].values) for name in names)
    past = lambda x, y: reader.score(bundle, x, y) >= shortest  # noqa: E731
    return replace(law, weight=lambda x, y: 1 if past(x, y) else law.weight(x, y))


def no_base_measure(bundle: Any, mechanism: str, options: dict[str, Any]) -> Any:
    described = deepcopy(bundle.law)
    for level in described["levels"]:
        for law in level["parameters"].values():
            law["base"] = None
    return FIND_LAW(replace(bundle, law=described), mechanism, options)


FIND_LAW, SANITIZE_BATCH = reader.find_law, reader.sanitize_batch

#: What a reader may get wrong: a function of the reader's draws, and another one that is wrong in one step.
FAULTS: dict[str, tuple[str, Callable[..., Any]]] = {
    **{fault: ("draw", planted(draws.draw, change)) for fault, change in DRAW_FAULTS.items()},
    "a score past the end has no weight": ("find_law", no_weight_past_the_end),
    "the base measure is not used": ("find_law", no_base_measure),
    "a coin is tossed for denied words": (
        "sanitize_batch",
        lambda bundle, texts, options, words: SANITIZE_BATCH(
            bundle, texts, {key: value for key, value in options.items() if key != "deny"}, words
        ),
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_the_golden_vectors_see_a_fault(fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(draws, *FAULTS[fault])
    assert any(
        ask_reader(case["bundle"], case["texts"], case["options"], scripted_words(case["random_label"]))
        != (case["outputs"], case["tokens"], case["random_words"])
        for case in CASES
    )


@pytest.mark.parametrize("name", BUNDLES)
def test_the_table_follows_from_the_embeddings(name: str) -> None:
    bundle = reader_bundle(name)
    stored = zip(bundle.arrays["neighbors"].rows(), bundle.arrays["scores"].rows(), strict=True)
    for x, (neighbors, scores) in enumerate(stored):
        assert reader.recompute_row(bundle, x) == list(zip(neighbors, scores, strict=True))


@pytest.mark.parametrize("file", FILES)
@pytest.mark.parametrize("name", BUNDLES)
def test_the_reader_refuses_a_damaged_file(name: str, file: str, tmp_path: Path) -> None:
    shutil.copytree(GOLDEN / name, tmp_path / name)
    content = bytearray((GOLDEN / name / file).read_bytes())
    content[len(content) // 2] ^= 1
    (tmp_path / name / file).write_bytes(content)
    with pytest.raises(ValueError, match="hash"):
        reader.open_bundle(tmp_path / name)


# Rules that random texts meet seldom: WB7a does not make an apostrophe a letter, WB3c needs nothing before the joiner,
# every character of a gap is a word of its own in strict mode, and denied texts are cut into tokens like any other.
CORNERS = [
    (["א'_", "א'’n", "א''s", "א'.a", "א':z", "א'\u066b", "א'\u0605", "א'א", 'א"א', "א'\"א"], {}),
    (["\u200d⌚", "\n\u200d⌚\u200d⌚", "\u0301\u200d⌚", "a\u200d⌚", "1\u200d⌚"], {}),
    (["__ the", "a ://", "@@ ¿¡"], {"strict": True}),
    (["the a of do don't can clean"], {"deny": ["don't", "A, the", "naïve"], "replacement_probability": "0.001"}),
]


@pytest.mark.parametrize(("texts", "options"), CORNERS)
@pytest.mark.parametrize("bundle", BUNDLES)
def test_reader_and_runtime_agree_on_rare_rules(bundle: str, texts: list[str], options: dict[str, Any]) -> None:
    for label in "abcd":
        for text in texts:
            assert_agreement(bundle, [text], options, label)


@lru_cache(1 << 16)
def has_settled_case(character: str) -> bool:
    """Whether Python's Unicode tables and those of `regex`, which may be newer, agree on its case."""
    python = character.islower(), character.isupper(), character.istitle() and not character.isupper()
    newer = (bool(regex.match(rf"\p{{{name}}}", character)) for name in ("Lowercase", "Uppercase", "Lt"))
    return python == tuple(newer)


@lru_cache(1 << 16)
def is_old(character: str) -> bool:
    """Whether it is in every Unicode since 3.2, of one category: tokenizers of WordPieces have tables of their own."""
    category = unicodedata.category(character)
    unchanged = category == unicodedata.ucd_3_2_0.category(character) and regex.match(rf"\p{{{category}}}", character)
    return category != "Cn" and bool(unchanged) and has_settled_case(character)


VOCABULARY = """
the a of and to said do can doctor nurse patient hospital boston london clean naïve dirty tell him her visit see doctors
nurses unclean don't bos bostons docs ton dot s t unknown O'Neill rock'n'roll thes cleanclean
"""
TRICKY = """
bob@x.org mailto:a.b@c.de @ @@ http://a.b/c(d)?e=1. HTTPS://X.Y :// www.x.org WWW. .com/x Boston.com/ a.b:c e.g./x %41
%fF %4 100% 24/11 3.14 1 ٣ ½ Ⅷ ² x1 1x 10,000.50 $5.00 v2 doctor.nurse the.x/y ...1... '1' *a1* (see:www.y) «1»
' ’ ‘ '' n't N'T 's ’S 're 've 'll 'd 'm DON’T can't x's s's Nurse’s DOCTOR'S o' 'the' cleann't
. , ; : ! ? - — – … ( ) [ ] { } < > « » ‹ › “ ” „ " _ __ * # & + = ~ ^ ` | / \\ · ‿ ։ ، 、 。 ， （ § © €
日本 豈 カタ ー ｶﾞ ひら 한국 א ב שלום א' א" ג'ירפה กข مرحبا हिन्दी ΑΣ Σ σς İ ı ß ẞ ﬁ ǅ Ǆ ª ⅷ ⓐ Ａ ｄｏｃｔｏｒ ＠ ㎏
😀 👩‍⚕️ 👨‍👩‍👧 🇩🇪 🇩 ☺ ❤️ 👍🏽 é É \u0301 e\u0301 \u0308 \ufe0f \u200d \u200b \u00ad \ufeff \u2060 \0 \x01
"""
BLANKS = [" ", "  ", "\t", "\n", "\r\n", "\r", "\x0b", "\x1f", "\x85", "\u00a0", "\u2007", "\u2028", "\u3000"]
CASED = [change(word) for word in VOCABULARY.split() for change in (str, str.title, str.upper, str.swapcase)]
FRAGMENTS = [*CASED, *TRICKY.split(), *BLANKS, "x" * 101]
fragments = st.lists(st.one_of(st.sampled_from(FRAGMENTS), st.sampled_from(TRICKY.split())), max_size=12)
composed = st.one_of(fragments.map("".join), fragments.map(" ".join))
random_texts = st.one_of(st.text(), composed, st.tuples(composed, st.text(max_size=5), composed).map("".join))


def random_options() -> st.SearchStrategy[dict[str, Any]]:
    """Options of every mechanism."""
    shown = {"strict": st.booleans()}
    level = {"epsilon": st.sampled_from(["6", "11"])}
    kept = {
        "replacement_probability": st.sampled_from(["0.001", "0.25", "0.5", "0.999999", "1"]),
        "deny": st.lists(st.one_of(st.sampled_from(CASED), fragments.map("".join)), max_size=3),
    }
    epsilon = st.sampled_from(["0.1", "2.5", "7.25", "30"])
    return st.one_of(
        st.fixed_dictionaries({}, optional={**shown, **level, **kept}),
        st.fixed_dictionaries({"mechanism": st.just("santext"), "epsilon": st.sampled_from([6, "11"])}, optional=shown),
        st.fixed_dictionaries({"mechanism": st.just("santext+")}, optional={**shown, **level, **kept}),
        st.fixed_dictionaries({"mechanism": st.just("krr"), "epsilon": epsilon}, optional=shown),
        st.fixed_dictionaries({"mechanism": st.just("random")}, optional=shown),
    )


def only(keep: Any) -> Any:
    """Return a function that removes the characters of a text for which `keep` is false."""
    return lambda text: "".join(filter(keep, text))


@pytest.mark.slow
@settings(max_examples=500, deadline=None)
@given(
    st.lists(random_texts.map(only(has_settled_case)), min_size=1, max_size=3), random_options(), st.integers(0, 999)
)
def test_reader_and_runtime_agree_on_words(texts: list[str], options: dict[str, Any], label: int) -> None:
    assert_agreement("words", texts, options, str(label))
