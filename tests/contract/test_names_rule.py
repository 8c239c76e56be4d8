"""The runtime and a reader written from docs/names-rule.md give every text the same template."""

import json
import random
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
import reference_reader as reader
from drawn_words import close_words, strict_words
from names_texts import DOCUMENTS, OPTIONS, by_the_product, skeletons, texts_by_chance
from reference_reader import names_kinds, names_outputs, names_slots, names_tokens, names_words
from scripted import extreme_words
from small_names import write_names
from textveil.bundle import open_bundle
from textveil.bundle.defaults import DEFAULT_BUNDLE
from textveil.bundle.text_bundle import TextBundle

DATA = Path(__file__).parents[3] / "shared" / "data"
#: Texts that are drawn together.
DEAL = 50


class Both:
    """A bundle, opened by the product and by the second reader."""

    def __init__(self, folder: Path) -> None:
        self.product, self.document = open_bundle(folder, TextBundle), reader.open_bundle(folder)

    def templates(self, documents: list[list[str]], **options: Any) -> list[Any]:
        """Documents that the two read differently."""
        options = {"facts": "none", **options}
        ours = skeletons(self.product, documents, options)
        second = reader.read_names_templates(self.document, documents, options)
        return [texts for texts, one, other in zip(documents, ours, second, strict=True) if one != other]

    def outputs(self, documents: list[list[str]], options: dict[str, Any], label: str) -> tuple[Any, Any]:
        """Return the outputs of both readers for one batch."""
        words = extreme_words(label)
        second = reader.rewrite_names(self.document, documents, options, lambda count: list(islice(words, count)))
        return by_the_product(self.product, documents, options, extreme_words(label)), second


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Both:
    return Both(write_names(tmp_path_factory.mktemp("names") / "small"))


@pytest.fixture(scope="module")
def shipped() -> Both:
    return Both(DEFAULT_BUNDLE)


def deals(texts: Sequence[str]) -> Iterator[list[list[str]]]:
    """Documents of one to three texts, in batches."""
    documents, rest = [], list(texts)
    while rest:
        size = 1 + len(documents) % 3
        documents.append(rest[:size])
        rest = rest[size:]
    for start in range(0, len(documents), DEAL):
        yield documents[start : start + DEAL]


@pytest.mark.parametrize("options", OPTIONS, ids=range(len(OPTIONS)))
@pytest.mark.parametrize("which", ["small", "shipped"])
def test_cases_by_hand(which: str, options: dict[str, Any], request: pytest.FixtureRequest) -> None:
    ours, second = request.getfixturevalue(which).outputs(DOCUMENTS, options, "by hand")
    assert ours == second


@pytest.mark.slow
@pytest.mark.parametrize(("which", "seed"), [("small", 1), ("shipped", 2)])
@pytest.mark.parametrize("count", [700, pytest.param(2_000, marks=pytest.mark.full)])
def test_texts_by_chance(which: str, seed: int, count: int, request: pytest.FixtureRequest) -> None:
    both = request.getfixturevalue(which)
    texts = list(texts_by_chance(both.product.get_names_lists(), seed, count))
    for number, documents in enumerate(deals(texts)):
        ours, second = both.outputs(documents, OPTIONS[number % len(OPTIONS)], f"chance {number}")
        assert ours == second


@pytest.mark.slow
@pytest.mark.skipif(not DATA.is_dir(), reason="the corpora are not beside this checkout (shared/data)")
@pytest.mark.parametrize("step", [3, pytest.param(1, marks=pytest.mark.full)])
def test_lines_of_the_corpora(shipped: Both, step: int) -> None:
    texts = [json.loads(line)["text"] for line in _lines("wnut17/dev.jsonl", 1)]
    texts += [json.loads(line)["text"] for line in _lines("pii/records.jsonl", 2)]
    texts += [*_lines("sst2/train.tsv", 200), *_lines("ag_news/train.tsv", 40), *_lines("wikitext2/test.txt", 40)]
    texts += [*_lines("trec/train.txt", 30), *_lines("ag_private/ag_data.txt", 60), *_lines("qnli/dev.tsv", 30)]
    assert len(texts) > 1_500
    assert shipped.templates([[text] for text in texts[::step]]) == []


@pytest.mark.parametrize("number", range(2))
def test_words_of_a_list_that_are_drawn(shipped: Both, number: int) -> None:
    """In texts by chance every other word is of the list: frequent, rare, close to others, and in no vocabulary."""
    odd = ["let", "shirt", "mail", "book", "mg", "pm", "zorb", "new", "room", "years", "old", "born"]
    listed = [*dict.fromkeys([*strict_words(shipped.product, 120), *close_words(shipped.product, "nurse"), *odd])]
    options = [{}, {"epsilon": "4", "style": "tag", "deny": [listed[0], "of"], "allow": listed[:9]}][number]
    texts = texts_by_chance(shipped.product.get_names_lists(), 3 + number, 150)
    chance, drawn = random.Random(number), 0
    mixed = [re.sub("[a-z]{4,}", lambda word: chance.choice([word[0], *chance.choices(listed, k=2)]), t) for t in texts]
    mixed += ["the let's LET's x-shirt e-mail T-SHIRT 5mg 5pm x-ray new zorb in room 7, 5 years old"]
    for label, documents in enumerate(deals(mixed)):
        ours, second = shipped.outputs(documents, {"facts": "none", "randomize": listed, **options}, f"drawn {label}")
        assert ours == second
        drawn += str(second[1]).count("['word', 'drawn']")
    assert drawn > 150


def _lines(name: str, every: int) -> list[str]:
    return [line for line in (DATA / name).read_bytes().decode("utf-8", "replace").split("\n") if line.strip()][::every]


# --- a difference would be seen: faults that are planted into the second reader ------------------------------------


@pytest.mark.parametrize(
    ("module", "name", "changed"),
    [
        (names_slots, "SUFFIXES", set()),
        (names_slots, "JOINS", {" ", "-"}),
        (names_words, "DISGUISED", set()),
        (names_tokens, "JOINERS", set("-,;:!?/")),
        (names_tokens, "ONCE", "/"),
        (names_words, "DOTTED", {"st"}),
        (names_kinds, "AT_SENTENCE", "at-start"),
        (names_kinds, "ENDS", {}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_planted_fault_is_found(
    module: Any, name: str, changed: Any, small: Both, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, name, changed)
    assert small.templates(DOCUMENTS)


def test_a_planted_output_is_found(small: Both, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(names_outputs, "NEVER_CONSISTENT", set())
    ours, second = small.outputs([["Box 1234 and 1234."], *DOCUMENTS], {"facts": "none"}, "fault")
    assert ours[0] != second[0]
    assert ours[1] == second[1]


def test_the_second_reader_shares_no_code() -> None:
    folder = Path(reader.__file__).parent
    sources = [path.read_text("utf-8") for path in folder.glob("names*.py")]
    assert len(sources) == 11
    assert not [source for source in sources if re.search(r"(?m)^\s*(from|import) textveil", source)]
