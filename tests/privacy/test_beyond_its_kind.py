"""A listed name, a place or a number reveals only its type and its case, on every path of output.

Two texts that differ only in members of types must have equal outputs under one stream of random words. They have
members of every list of the built-in bundle, the shortest and the longest ones first, and strings of every shape.
"""

import asyncio
import csv
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, cast

import pytest
from faulty_kinds import CAPITAL, FAULTS
from kind_members import Pairs, Pool, pools
from mention_checks import stream
from textveil import Sanitizer
from textveil.mechanisms import entropy
from textveil.text.rewrite import rewriter
from textveil.text.segmentation import split_text
from textveil.text.token_rules import SHAPES
from textveil_cli.console import run
from textveil_cli.main import app

#: What comes out of some texts: anything that can be compared.
Way = Callable[[Sanitizer, list[str], Path], Any]


class Different(AssertionError):
    """Two texts of one skeleton came out differently."""


@pytest.fixture(scope="module")
def dealt(sanitizer: Sanitizer) -> list[Pool]:
    return pools(sanitizer._get_plan({"protect": "words"}).rule, seed=1)  # type: ignore[union-attr]


@pytest.fixture(scope="module")
def texts(dealt: list[Pool]) -> list[tuple[str, str]]:
    """Pairs of texts: short ones, and some with each member several times."""
    pairs = Pairs(dealt, seed=2)
    return [pairs.texts(len(dealt) * (1 if number % 5 else 6)) for number in range(10)]


@pytest.fixture(scope="module")
def long_texts(dealt: list[Pool]) -> list[tuple[str, str]]:
    """One pair of texts, both so long that they are drawn in chunks."""
    return [Pairs(dealt, seed=3, most=60).texts(6000)]


#: The mode whose entity types these tests compare.
PROTECT = "words"


def results(of: list[Any]) -> list[Any]:
    return [(result.text, result.statement.to_dict()) for result in of]


def batch(**options: Any) -> Way:
    all_options = cast("Any", {"protect": PROTECT, **options})
    return lambda sanitizer, texts, _: results(sanitizer.sanitize_batch(texts, **all_options))


def one_by_one(sanitizer: Sanitizer, texts: list[str], _: Path) -> Any:
    return results([sanitizer.sanitize(text, protect=PROTECT) for text in texts])


def documents(**options: Any) -> Way:
    """Documents of several texts."""

    def way(sanitizer: Sanitizer, texts: list[str], _: Path) -> Any:
        all_options = cast("Any", {"protect": PROTECT, **options})
        found = sanitizer.sanitize_documents([texts[:3], texts[3:4], texts[4:]], **all_options)
        return [(document.texts, document.tokens) for document in found]

    return way


def command(*arguments: str) -> Way:
    """Return a function that runs the command on a table or on lines."""

    def way(_: Sanitizer, texts: list[str], folder: Path) -> Any:
        given, out = folder / "given", folder / "out"
        with given.open("w", newline="", encoding="utf-8") as file:
            if "--csv" in arguments:
                csv.writer(file).writerows([("id", "note"), *enumerate(texts)])
            else:
                file.writelines(text.replace("\n", "!") + "\n" for text in texts)
        assert (
            run(app, "textveil", ["sanitize", "-q", "--protect", PROTECT, str(given), "-o", str(out), *arguments]) == 0
        )
        return out.read_bytes()

    return way


def served(sanitizer: Sanitizer, texts: list[str], _: Path) -> Any:
    """Call the application of ``textveil serve`` without a socket."""
    pytest.importorskip("starlette", reason="needs the extra serve: make integrations")
    from textveil_cli.serve import AccessRule, ServedReleases, make_app

    sanitize = partial(sanitizer.sanitize_batch, protect=PROTECT)
    releases = ServedReleases(sanitize=sanitize, sanitize_statement=sanitizer.terms(protect=PROTECT).statement(1))
    asked = make_app(releases, AccessRule(frozenset({"localhost"})))
    head = {"type": "http", "method": "POST", "path": "/sanitize", "scheme": "http", "query_string": b""}
    headers = [(b"host", b"localhost"), (b"content-type", b"application/json")]
    said: list[Any] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": json.dumps({"texts": texts[:8]}).encode()}

    async def send(message: Any) -> None:
        said.append(message.get("status") or message.get("body"))

    asyncio.run(asked({**head, "headers": headers, "raw_path": b"/sanitize"}, receive, send))
    assert said[0] == 200
    return said


WAYS: dict[str, Way] = {
    "sanitize": one_by_one,
    "sanitize_batch": batch(),
    "all words drawn": batch(protect="all"),
    "punctuation": batch(sanitize_punctuation=True),
    "consistent": batch(consistent=True),
    "sanitize_documents": documents(),
    "consistent documents": documents(consistent=True),
    "a table": command("--csv", "--column", "note"),
    "a table, consistent": command("--csv", "--column", "note", "--consistent", "--document", "cell"),
    "lines": command("--plain"),
    "serve": served,
}
LONG: dict[str, Way] = {
    "a long text": batch(),
    "a long text, consistent": batch(consistent=True, consistent_cap=100_000),
    "a long line": command("--plain"),
}
#: A way in which case does not show, so that no capital can.
NO_CASE = {"punctuation"}


@pytest.fixture
def compare(
    sanitizer: Sanitizer,
    texts: list[tuple[str, str]],
    long_texts: list[tuple[str, str]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Callable[..., None]:
    """Assert that a way of rewriting gives the same outputs as the others, for given or usual texts."""
    monkeypatch.setattr(Sanitizer, "load", lambda *given, **more: sanitizer)

    def check(name: str, most: int = 100, pairs: list[tuple[str, str]] | None = None) -> None:
        found = []
        for side in zip(*(pairs or (long_texts if name in LONG else texts)[:most]), strict=True):
            monkeypatch.setattr(entropy, "random_uint64", stream(7))
            sanitizer._plans.clear()
            found.append({**WAYS, **LONG}[name](sanitizer, list(side), tmp_path))
        if found[0] != found[1]:
            raise Different(name)  # to show where would take longer than to find it

    return check


def test_members_of_every_list_and_shape_are_compared(sanitizer: Sanitizer, dealt: list[Pool]) -> None:
    kinds = sanitizer._get_plan({"protect": "words"}).rule.listed_types.entity_types  # type: ignore[union-attr]
    assert {pool.kind.name for pool in dealt} == {kind.name for kind in kinds}
    assert {pool.kind.shape for pool in dealt} == {*SHAPES, None}
    lengths = [len(member) for pool in dealt for member in pool.odd]
    assert (min(lengths), max(lengths) > 300) == (1, True)
    assert any("'" in member for pool in dealt for member in pool.odd if pool.kind.shape is None)


def test_the_texts_have_one_skeleton(
    sanitizer: Sanitizer, texts: list[tuple[str, str]], long_texts: list[tuple[str, str]]
) -> None:
    plan: Any = sanitizer._get_plan({"protect": "words"})
    for one, other in [*texts, *long_texts]:
        assert plan.rule.list_template(split_text(one)) == plan.rule.list_template(split_text(other))
        assert one != other
    for text in long_texts[0]:
        assert len(text) > rewriter.MAX_WHOLE_CHARACTERS
        assert len(split_text(text)) > 1 << 15  # more than one chunk has


@pytest.mark.parametrize("way", [*WAYS, *LONG])
def test_members_of_a_kind_come_out_alike(way: str, compare: Callable[..., None]) -> None:
    compare(way)


@pytest.mark.parametrize("way", [way for way in (*WAYS, "a long text", "a long line") if way not in NO_CASE])
def test_a_capital_that_long_members_lose_is_seen_in_every_way(
    way: str, compare: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    for owner, name, faulty in FAULTS[CAPITAL]():
        monkeypatch.setattr(owner, name, faulty)
    with pytest.raises(Different):
        compare(way, most=2)


#: The way in which a fault is seen, if it is not the first one.
SEEN = {
    "members are equal by their first letter": "consistent",
    "a long text takes more random words for long members": "a long text",
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_seen(fault: str, compare: Callable[..., None], monkeypatch: pytest.MonkeyPatch) -> None:
    for owner, name, faulty in FAULTS[fault]():
        monkeypatch.setattr(owner, name, faulty)
    with pytest.raises(Different):
        compare(SEEN.get(fault, "sanitize_batch"), most=4)
