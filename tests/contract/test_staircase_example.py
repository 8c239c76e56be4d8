"""The second reader reproduces the worked example of docs/format-staircase.md, number by number."""

import itertools
import re
from pathlib import Path

import pytest
import reference_reader as reader
from reference_reader.staircase import allowed_outputs, base_of, budget_of, deal, factor_of, total_of
from reference_reader.template import MEMBER, MENTION, TemplateReader, find_segments
from scripted import counted, scripted_words
from textveil import Sanitizer
from textveil.mechanisms import entropy

DOCS = Path(__file__).parents[2] / "docs"
BUNDLE = DOCS / "golden" / "staircase"
EXAMPLE = (DOCS / "format-staircase.md").read_text(encoding="utf-8").partition("## An example")[2]
TEXT, WRITTEN = re.findall(r"^> (.*)$", EXAMPLE, re.MULTILINE)
UNIT = 2**20


def rows(heading: str) -> list[list[str]]:
    """Return the rows of the table whose header begins so, without code marks."""
    lines = EXAMPLE[EXAMPLE.index(f"| {heading}") :].splitlines()
    table = itertools.takewhile(lambda line: line.startswith("|"), lines)
    return [[cell.strip().replace("`", "") for cell in line.strip("|").split("|")] for line in table][2:]


def test_the_template_is_that_of_the_page() -> None:
    bundle = reader.open_bundle(BUNDLE)
    assert bundle.staircase is not None
    rule = TemplateReader(bundle, {"protect": "words"})
    words = [segment for kind, segment in find_segments(TEXT) if kind != "gap"]
    tokens = [item for item in rule.read(TEXT) if isinstance(item, list)]
    found = rows("word | key")
    assert [row[0] for row in found] == words
    for (_, keys, told, cases), of_word in zip(found, tokens, strict=True):
        assert [token.case for token in of_word] == cases.split(", ")
        first = of_word[0]
        if first.role == MENTION:
            assert re.match(rf"randomized with symbol {first.symbol}\b", told)
            assert bundle.look_up(keys) == first.symbol
        elif first.role == MEMBER:
            assert f"replaced with the entity type {list(bundle.staircase.kinds)[first.kind]}" in told
        else:
            assert re.search(r"\bkept\b", told)
            assert [token.key for token in of_word] == keys.split(", ")


def test_the_numbers_of_one_word_are_those_of_the_page() -> None:
    bundle = reader.open_bundle(BUNDLE)
    staircase = bundle.staircase
    assert staircase is not None
    (level,) = (level for level in staircase.levels if level["epsilon"] == "8.5")
    outputs = sorted(allowed_outputs(staircase, True, True))
    base = base_of(staircase, set(outputs))
    mass = sum(base)
    dealt = dict(deal(staircase, level, base, bundle.look_up("doctor")))
    symbols, weights, sums, shares = rows("| `doctor`")
    assert symbols[1:] == list(map(str, outputs))
    assert weights[1:] == [str(base[y]) for y in outputs]
    assert sums[1:] == list(map(str, itertools.accumulate(base[y] for y in outputs)))
    assert shares[1:] == [str(dealt.get(y, 0)) for y in outputs]
    figures = {"S": mass, "H": budget_of(level, mass), "F": factor_of(level), "G S": UNIT * mass}
    for name, figure in (*figures.items(), ("G S + F H", total_of(level, mass))):
        assert f"`{name}` is {figure}" in EXAMPLE
    (u, whole, output) = re.findall(r"Had `u` been (\d+).*?is (\d+), and .*? that of `(\w+)`", EXAMPLE)[0]
    assert int(u) // UNIT == int(whole) < mass
    assert next(y for y, total in zip(outputs, sums[1:], strict=True) if int(total) > int(whole)) == bundle.ids[output]
    for word, first, u, second, w, step, output in rows("token | word of `u`"):
        below = max(1, mass - sum(a for _, a in deal(staircase, level, base, bundle.look_up(word))))
        assert int(first, 16) % total_of(level, mass) == int(u)
        assert int(second, 16) % below == int(w)
        v = (int(u) - UNIT * mass) // factor_of(level)
        assert (step, v) == ("2" if below < mass else "3", 0)
        assert output in bundle.ids


def test_both_readers_write_what_the_page_says(monkeypatch: pytest.MonkeyPatch) -> None:
    words = list(itertools.islice(scripted_words("example"), 8))
    drawn, members = rows("token | word of `u`"), rows("token | surrogates")
    told = [row[1] for row in drawn] + [row[3] for row in drawn] + [row[2] for row in members]
    assert told == [f"{word:016x}" for word in words]
    for _, outputs, word, place, output in members:
        assert outputs.split()[int(place)] == output
        assert int(word, 16) % len(outputs.split()) == int(place)
    source = iter(words)
    options = {"protect": "words", "epsilon": "8.5"}
    texts, mentions, taken = reader.rewrite_batch(
        reader.open_bundle(BUNDLE), [TEXT], options, lambda count: list(itertools.islice(source, count))
    )
    assert (texts, mentions, taken) == ([WRITTEN], [3], 8)
    monkeypatch.setattr(entropy, "random_uint64", counted(iter(words), []))
    assert Sanitizer.load(BUNDLE).sanitize(TEXT, protect="words", epsilon="8.5").text == WRITTEN
