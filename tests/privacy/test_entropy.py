"""The operating system's generator is the only source of chance, and each word of it is used once, in a known order.

Outputs must be a function of text, options and the bytes of ``os.urandom``, and of nothing else: not of a seed, a
clock, the order of a set, or what the process drew before. And the order is part of the format (docs/format.md,
"Drawing"), since readers in other languages must give the same outputs from the same bytes: the coins of the common
words first, in order; then one word for every token that is not kept, in order; then, as long as there are rejected
words, a new one for each rejected position, in order; where the tail is exact, the same for the thresholds of the
tokens that were dealt to it, and then all of it again for those that were not accepted. A reader that draws a coin for
a token that has none, or mixes coins and draws, gives the same distribution and other outputs; here that is a failure.
"""

import ast
import os
import subprocess
import sys
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import accumulate, islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import small_bundles
import textveil
from defined_weights import defined_weights, outputs
from hypothesis import given
from hypothesis import strategies as st
from textveil import Sanitizer
from textveil.bundle.text_bundle import Bundle
from textveil.errors import EntropyFailed
from textveil.mechanisms import entropy
from textveil.mechanisms.table import CAPPED, EXACT, KEPT

SOURCES = sorted(Path(textveil.__file__).parent.rglob("*.py"))
UNKNOWN = "quokka"


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    vectors = small_bundles.scattered(18, 6, seed=41)
    return small_bundles.small_bundle(
        tmp_path_factory.mktemp("bundles") / "bundle", vectors, k=6, exponents=("4",), tails=(CAPPED, EXACT)
    )


class Generator:
    """A scripted ``os.urandom``: 64-bit words in a given order, and a record of what was asked for."""

    def __init__(self, words: Iterator[int]) -> None:
        self.words = words
        self.asked: list[int] = []

    def __call__(self, count: int) -> bytes:
        assert count % entropy.WORD_BYTES == 0
        if count:
            self.asked.append(count // entropy.WORD_BYTES)
        return b"".join(next(self.words).to_bytes(8, "little") for _ in range(count // entropy.WORD_BYTES))


def mixed_words(seed: int) -> Iterator[int]:
    """Words that are often rejected: one in four is among the largest there are."""
    chance = np.random.default_rng(seed)
    while True:
        word = int(chance.integers(0, 2**64, dtype=np.uint64))
        yield 2**64 - 1 - word % 8 if word % 4 == 0 else word


# The order, by hand.


def law_by_hand(bundle: Bundle, mechanism: str, tail: str, x: int) -> tuple[int, list[tuple[int, int]]]:
    """The tail of one row, and its blocks of integers in their order: stored words nearest first, then all by id."""
    if mechanism == "random":
        return 1, [(y, 1) for y in outputs(bundle, "santext")]
    law = bundle.levels[0].parameters[mechanism, tail]
    assert law.base is None
    weights = defined_weights(bundle, mechanism, replace(law, tail=CAPPED))[x]
    last = int(law.weights[bundle.table.scores[x, -1]])
    stored = [(y, max(0, weights[y] - last)) for y in bundle.table.neighbors[x].tolist()]
    return last, stored + [(y, last) for y in outputs(bundle, mechanism)]


def uniform_by_hand(totals: list[int], words: Iterator[int], taken: list[int]) -> list[int]:
    """One integer below each total, and how many words each round of them takes."""
    drawn = [0] * len(totals)
    waiting = list(range(len(totals)))
    while waiting:
        taken.append(len(waiting))
        for i in waiting:
            drawn[i] = next(words)
        waiting = [i for i in waiting if drawn[i] > 2**64 - 1 - 2**64 % totals[i]]
    return [word % total for word, total in zip(drawn, totals, strict=True)]


def drawn_by_hand(
    bundle: Bundle, tokens: list[int], words: Iterator[int], options: dict[str, Any], deny: set[int]
) -> tuple[list[int], list[int]]:
    """Outputs of one batch and how many words each step takes: docs/format.md, "Drawing", in plain Python."""
    mechanism, tail = options["mechanism"], options.get("tail", CAPPED)
    laws = {x: law_by_hand(bundle, mechanism, tail, x) for x in set(tokens)}
    result = list(tokens)
    waiting = list(range(len(tokens)))
    taken: list[int] = []
    if mechanism == "santext+":
        probability = options.get("replacement_probability", bundle.default_replacement_probability)
        threshold = -(-Fraction(probability) * 2**64 // 1)
        coins = [
            i for i, x in enumerate(tokens) if x < bundle.symbols and bundle.table.roles[x] & KEPT and x not in deny
        ]
        kept = {i for i in coins if next(words) >= threshold}
        waiting = [i for i in waiting if i not in kept]
        taken.append(len(coins))
    if tail == EXACT:
        exact_weights = defined_weights(bundle, mechanism, bundle.levels[0].parameters[mechanism, EXACT])
    while waiting:
        rows = [laws[tokens[i]] for i in waiting]
        totals = [sum(size for _, size in blocks) for _, blocks in rows]
        in_tail = []
        uniforms = uniform_by_hand(totals, words, taken)
        for i, (weight, blocks), uniform in zip(waiting, rows, uniforms, strict=True):
            ends = list(accumulate(size for _, size in blocks))
            place = bisect_right(ends, uniform)
            result[i] = blocks[place][0]
            if place >= bundle.table.neighbors.shape[1]:
                in_tail.append((i, weight))
        if tail != EXACT:
            break
        thresholds = uniform_by_hand([weight for _, weight in in_tail], words, taken)
        waiting = [
            i
            for (i, _), threshold in zip(in_tail, thresholds, strict=True)
            if threshold >= exact_weights[tokens[i]][result[i]]
        ]
    return result, [count for count in taken if count]


CALLS: list[dict[str, Any]] = [
    {"mechanism": "santext"},
    {"mechanism": "random"},
    {"mechanism": "santext+"},
    {"mechanism": "santext+", "replacement_probability": "0.8"},
    {"mechanism": "santext+", "replacement_probability": "1"},
    {"mechanism": "santext+", "deny": True},
    {"mechanism": "santext", "tail": "exact"},
    {"mechanism": "santext+", "tail": "exact", "replacement_probability": "0.8"},
]


@pytest.mark.slow
@pytest.mark.parametrize("options", CALLS, ids=str)
@given(tokens=st.lists(st.integers(0, 18), max_size=12), cut=st.integers(0, 12), seed=st.integers(0, 2**32))
def test_the_order_of_words(bundle: Bundle, tokens: list[int], cut: int, seed: int, options: dict[str, Any]) -> None:
    """Two texts in one batch against the format's own words, with many rejected words and coins of all kinds."""
    spelled = [*bundle.vocabulary, UNKNOWN]
    common = [x for x in range(bundle.symbols) if bundle.table.roles[x] & KEPT]
    denied = {common[0], common[-1]} if "deny" in options else set()
    call = {**options, "deny": [spelled[x] for x in sorted(denied)]} if denied else options
    texts = [" ".join(spelled[x] for x in part) for part in (tokens[:cut], tokens[cut:])]

    generator = Generator(mixed_words(seed))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "urandom", generator)
        results = Sanitizer(bundle).sanitize_batch(texts, **call)

    expected, taken = drawn_by_hand(bundle, tokens, mixed_words(seed), options, denied)
    assert generator.asked == taken
    assert [word for result in results for word in result.text.split()] == [spelled[y] for y in expected]
    assert [result.tokens for result in results] == [len(text.split()) for text in texts]


def test_words_in_fixed_numbers(bundle: Bundle, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same in numbers: five tokens, two coins, one word kept, two words rejected, one of them twice."""
    roles = bundle.table.roles
    common = [word for word, role in zip(bundle.vocabulary, roles, strict=True) if role & KEPT]
    other = [word for word, role in zip(bundle.vocabulary, roles, strict=True) if not role & KEPT]
    text = " ".join([other[0], common[0], UNKNOWN, common[1], other[1]])
    last = 2**64 - 1
    generator = Generator(iter([0, last, 1, 2, last, last, 3, last, 4]))
    monkeypatch.setattr(os, "urandom", generator)
    result = Sanitizer(bundle).sanitize(text, mechanism="santext+")
    assert generator.asked == [2, 4, 2, 1]
    assert result.text.split()[3] == common[1]
    assert next(generator.words, None) is None


def test_a_long_text_takes_every_word_once(bundle: Bundle, monkeypatch: pytest.MonkeyPatch) -> None:
    """A text drawn in several batches asks for one coin per common token and one word per token that is not kept.

    Words below ``2**62`` are never rejected, and half of them are below the threshold of p = 1/8.
    """
    common = next(word for word, role in zip(bundle.vocabulary, bundle.table.roles, strict=True) if role & KEPT)
    sensitive = bundle.vocabulary[outputs(bundle, "santext+")[0]]
    count = 150_000
    asked: list[int] = []
    chance = np.random.default_rng(5)

    def generator(size: int) -> bytes:
        asked.append(size // 8)
        return chance.integers(0, 2**62, size // 8, dtype=np.uint64).astype("<u8").tobytes()

    monkeypatch.setattr(os, "urandom", generator)
    text = f"{common} {sensitive} " * count
    result = Sanitizer(bundle).sanitize(text, mechanism="santext+", replacement_probability="0.125")
    written = result.text.split()
    kept = written.count(common)
    assert result.tokens == len(written) == 2 * count
    assert count // 3 < kept < 2 * count // 3
    assert len(asked) > 2
    assert sum(asked) == count + 2 * count - kept


# The source.


def test_words_are_the_bytes_of_the_system(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "urandom", lambda count: bytes(range(count)))
    assert [hex(word) for word in entropy.random_uint64(2).tolist()] == ["0x706050403020100", "0xf0e0d0c0b0a0908"]
    assert len(entropy.random_uint64(0)) == 0


def test_nothing_is_drawn_without_a_source(bundle: Bundle, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the system has no generator there is no second best: the call fails."""

    def absent(count: int) -> bytes:
        raise NotImplementedError("no source of entropy")

    monkeypatch.setattr(os, "urandom", absent)
    with pytest.raises(EntropyFailed):
        Sanitizer(bundle).sanitize(" ".join(bundle.vocabulary))


@pytest.mark.parametrize("given", [b"", b"\0" * 8, b"\0" * 7, None, "text", bytearray(10**6)], ids=repr)
@pytest.mark.parametrize("mechanism", ["santext+", "santext", "krr", "random", "fbdd"])
def test_a_short_read_releases_nothing(
    bundle: Bundle, monkeypatch: pytest.MonkeyPatch, given: object, mechanism: str
) -> None:
    """Eight bytes for many words would be spread over all of them: every token would become the same word."""
    monkeypatch.setattr(os, "urandom", lambda count: given[:20] if isinstance(given, bytearray) else given)
    epsilon = {"epsilon": 4} if mechanism in ("krr", "fbdd") else {}
    with pytest.raises(EntropyFailed) as caught:
        Sanitizer(bundle).sanitize(" ".join(bundle.vocabulary), mechanism=mechanism, **epsilon)
    assert "nothing is released" in str(caught.value)


@pytest.mark.parametrize("error", [OSError(5, "secret"), ValueError("secret"), MemoryError(), RuntimeError()], ids=repr)
def test_an_error_of_the_source_is_named(bundle: Bundle, monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def failing(count: int) -> bytes:
        raise error

    monkeypatch.setattr(os, "urandom", failing)
    with pytest.raises(EntropyFailed, match="no random bytes"):
        entropy.random_uint64(3)


_CHILD = """
import os, sys
counter = iter(range(1, 10**6))
os.urandom = lambda count: b"".join((next(counter) * 0x9E3779B97F4A7C15 % 2**64).to_bytes(8, "little")
                                    for _ in range(count // 8))
from pathlib import Path
from textveil import Sanitizer
sanitizer = Sanitizer.load(Path(sys.argv[1]))
texts = [" ".join(sanitizer.bundle.vocabulary[i::3]) + " quokka, Unseen" for i in range(3)] * 40
calls = [{"mechanism": name, "tail": tail} for name in ("santext", "santext+") for tail in ("capped", "exact")]
for options in (*calls, {"mechanism": "krr", "epsilon": 3}, {"mechanism": "random"}):
    for result in sanitizer.sanitize_batch(texts, **options):
        print(result.text)
"""


def test_the_same_bytes_give_the_same_text_in_every_process(bundle: Bundle) -> None:
    """Two processes with other hash seeds: no set, no dictionary of hashes and no address decides anything."""
    printed = [
        subprocess.run(
            [sys.executable, "-c", _CHILD, str(bundle.path)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert printed[0] == printed[1]
    assert len(set(printed[0].split(b"\n"))) > 450


# The code.

_MODULES = {"random", "secrets", "uuid", "_random", "numpy.random", "ssl"}
_NAMES = {
    "random": {"np", "numpy"},  # the attribute, of these names only
    "urandom": None,
    "getrandom": None,
    "default_rng": None,
    "RandomState": None,
    "SystemRandom": None,
    "getrandbits": None,
    "import_module": None,
    "__import__": None,
    "exec": None,
    "eval": None,
}


def sources_of_chance(code: str) -> list[str]:
    """Every name in some source text that gives random numbers, or could hide one that does."""
    seen = []
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            seen += [alias.name for alias in node.names if alias.name in _MODULES]
        elif isinstance(node, ast.ImportFrom):
            full = [f"{node.module}.{alias.name}" for alias in node.names]
            seen += [name for name in (node.module, *full) if name in _MODULES]
            seen += [alias.name for alias in node.names if alias.name in _NAMES and alias.name != "random"]
        elif isinstance(node, ast.Attribute) and node.attr in _NAMES:
            owners = _NAMES[node.attr]
            if owners is None or (isinstance(node.value, ast.Name) and node.value.id in owners):
                seen.append(node.attr)
        elif isinstance(node, ast.Name) and node.id in _NAMES and _NAMES[node.id] is None:
            seen.append(node.id)
    return seen


#: What is no noise and takes chance too: keys and nonces of the ledger, tokens of the service and of a cluster, the
#: name of a result.
NO_NOISE = {
    "cluster.py": ["secrets"],
    "integrations/datasets.py": ["secrets"],
    "ledger/crypto.py": ["urandom"],
    "ledger/keys.py": ["urandom"],
    "ledger/ledger.py": ["urandom"],
    "serve/run.py": ["secrets", "ssl"],
}


def test_the_package_names_one_source() -> None:
    """``os.urandom``, once, in ``entropy.py``, for all that is drawn."""
    assert len(SOURCES) > 10
    found = {_place(path): sources_of_chance(path.read_text(encoding="utf-8")) for path in SOURCES}
    assert {place: seen for place, seen in found.items() if seen} == {"mechanisms/entropy.py": ["urandom"], **NO_NOISE}


def _place(path: Path) -> str:
    return path.relative_to(Path(textveil.__file__).parent).as_posix()


def test_temporary_files_are_the_only_other_use_of_chance() -> None:
    """``tempfile`` draws names of files; it is imported where files are written, and nowhere else."""
    named = [_place(path) for path in SOURCES if "tempfile" in path.read_text(encoding="utf-8")]
    assert sorted(named) == ["bundle/atomic.py", "cluster.py", "files/quarantine.py"]


@pytest.mark.parametrize(
    "code",
    [
        "import random",
        "import random as r",
        "from random import choice",
        "import numpy.random",
        "from numpy import random",
        "from numpy.random import default_rng",
        "import numpy as np\nnp.random.rand()",
        "import secrets",
        "from os import urandom",
        "import os\nos.getrandom(8)",
        "def f():\n    import uuid\n    return uuid.uuid4()",
        "__import__('random')",
        "import importlib\nimportlib.import_module('random')",
    ],
)
def test_other_sources_would_be_seen(code: str) -> None:
    assert sources_of_chance(code)


def test_words_are_never_used_twice(bundle: Bundle, monkeypatch: pytest.MonkeyPatch) -> None:
    """Between two calls nothing is kept back: the second starts with the first byte that the first left."""
    sensitive = [bundle.vocabulary[y] for y in outputs(bundle, "santext+")]
    stream = list(islice(mixed_words(9), 500))

    def run(texts: list[list[str]], patch: Callable[..., None]) -> tuple[list[str], int]:
        generator = Generator(iter(stream))
        patch(os, "urandom", generator)
        sanitizer = Sanitizer(bundle)
        written = [sanitizer.sanitize(" ".join(text), mechanism="santext+").text for text in texts]
        return written, sum(generator.asked)

    both, taken_by_both = run([sensitive, sensitive], monkeypatch.setattr)
    first, taken_by_first = run([sensitive], monkeypatch.setattr)
    stream = stream[taken_by_first:]
    second, taken_by_second = run([sensitive], monkeypatch.setattr)
    assert both == first + second
    assert taken_by_both == taken_by_first + taken_by_second
