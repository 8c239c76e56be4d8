"""No text needs more memory than twelve times its bytes, for any repeated character and any options.

Options and characters are generated: the options of the command, and the classes of Unicode. Memory is counted by
``tracemalloc``, and work in calls of functions: neither depends on the machine.
"""

import sys
import time
import unicodedata
from itertools import cycle
from typing import Any

import pytest
import typer
from memory_of_lines import MOST, held, load_bundles, shrink
from signs import ASCII, BREAKS, CATEGORIES, GROUPS, JOINED, SIGNS, WORDS, run_of
from text_options import DRAWN, OTHER, TABLES, WRITTEN, ways
from textveil import Sanitizer
from textveil.errors import DocumentTooLong
from textveil_cli.main import app

WAYS = ways()
SIZES = 12_000, 36_000


@pytest.fixture(scope="module")
def bundles(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Sanitizer]:
    return load_bundles(tmp_path_factory.mktemp("small"))


@pytest.fixture(autouse=True)
def _small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    shrink(monkeypatch.setattr, segments=1 << 11)  # less than the shorter text has, and few chunks


def drawn(sanitizer: Sanitizer, content: bytes, options: dict[str, Any]) -> None:
    """Sanitizes a text that is read, or refuses it for what its skeleton has."""
    try:
        sanitizer.sanitize(content.decode("utf-8", "surrogatepass"), **options)
    except DocumentTooLong:
        assert options.get("consistent")


def content_of(sign: str, size: int) -> bytes:
    return run_of(sign, size).encode("utf-8", "surrogatepass")


def times_its_bytes(sanitizer: Sanitizer, sign: str, options: dict[str, Any]) -> float:
    """Return the peak memory of a text divided by its bytes, beyond that of a shorter text."""
    shorter, longer = (content_of(sign, size) for size in SIZES)
    less, more = (held(lambda content=content: drawn(sanitizer, content, options))[1] for content in (shorter, longer))
    return (more - less) / (len(longer) - len(shorter))


def bundles_of(options: dict[str, Any]) -> tuple[str, ...]:
    return ("words",) if "mechanism" in options else ("staircase",)


def too_much(bundles: dict[str, Sanitizer], way: str, signs: dict[str, str]) -> dict[str, float]:
    """Return the signs whose cost exceeds the limit."""
    options, found = WAYS[way], {}
    for bundle in bundles_of(options):
        drawn(bundles[bundle], b"The doctor's, a.\n", options)  # what is imported late, or kept for the next call
        for name, sign in signs.items():
            found[f"{bundle}: {name}"] = times_its_bytes(bundles[bundle], sign, options)
    return {name: times for name, times in found.items() if times > MOST}


def test_every_option_of_the_command_is_tried() -> None:
    command = typer.main.get_command(app).commands["sanitize"]  # type: ignore[attr-defined]
    there_are = {parameter.name for parameter in command.params} - {"help"}
    tried = [set(DRAWN), set(WRITTEN), TABLES, OTHER]
    assert there_are == set.union(*tried)
    assert len(there_are) == sum(map(len, tried))
    assert {name for way in WAYS.values() for name in way} == set(DRAWN)


def test_every_class_of_signs_is_tried() -> None:
    """All of ASCII, all general categories, all that UAX #29 tells apart beyond ASCII, and what grows."""
    assert set(ASCII.values()) == set(map(chr, range(128))) - {"\n"}
    assert {name[3:5] for name in CATEGORIES} == set(map(unicodedata.category, map(chr, range(sys.maxunicode + 1))))
    assert {name[3:].split(" ")[0] for name in BREAKS} >= {
        *("ALetter", "Extend", "ExtendNumLet", "Format", "Hebrew_Letter", "Katakana", "MidLetter", "MidNum"),
        *("MidNumLet", "Newline", "Numeric", "Regional_Indicator", "WSegSpace", "ZWJ", "Other"),
    }


#: Runs that have cost most: of marks, and of what stands between marks.
MARKS = ["ASCII: '\"'", "turns: .,", 'turns: " ', "categories: gc=Po U+00A1", "turns: :…"]
BETWEEN = ["turns: a,", "joined: U+FDFA apart", "ASCII: ':'", "words: clitics", "turns: (1"]


#: Under these the full run has a run of each sign, and under all a few of each group.
MOST_DIFFERENT = [
    "plain",
    "sanitize_punctuation True",
    "consistent True, consistent_cap 100000000, sanitize_punctuation True",
    "mechanism santext+",
    "mechanism santext+, sanitize_punctuation True",
]


def _sample() -> list[Any]:
    """Every way with one sign: of a mark where marks are drawn. All but the most different are for the full run."""
    marks, between = cycle(MARKS), cycle(BETWEEN)
    found: list[Any] = []
    for way, options in WAYS.items():
        drawn = "sanitize_punctuation" in options
        rest = () if way in MOST_DIFFERENT else (pytest.mark.full,)
        found.append(pytest.param(way, next(marks if drawn else between), marks=rest))
    return found


@pytest.mark.full
@pytest.mark.parametrize("sign", ["1(", "(1", '"'])
@pytest.mark.parametrize(
    "options", [{"protect": "words"}, {"mechanism": "krr", "epsilon": 4}, {"mechanism": "santext+"}], ids=str
)
def test_no_text_costs_more_beside_what_comes_out(english: Sanitizer, options: dict[str, Any], sign: str) -> None:
    """With the bundle that ships, whose words are longer than marks: a mark that is drawn becomes a whole word."""
    given: Any = {**options, "sanitize_punctuation": True}
    english.sanitize(sign, **given)
    text = sign * (400_000 // len(sign))
    out, most = held(lambda: english.sanitize(text, **given).text)
    assert most <= MOST * len(text) + sys.getsizeof(out) + 16_000_000


@pytest.mark.slow
@pytest.mark.parametrize(("way", "sign"), _sample())
def test_no_text_costs_more(bundles: dict[str, Sanitizer], way: str, sign: str) -> None:
    assert too_much(bundles, way, {sign: SIGNS[sign]}) == {}


FEW = {name: sign for each in GROUPS.values() for name, sign in [*each.items()][:: max(1, len(each) // 12)]}


@pytest.mark.full
@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize("way", MOST_DIFFERENT)
def test_no_text_of_any_sign_costs_more(bundles: dict[str, Sanitizer], way: str, group: str) -> None:
    assert too_much(bundles, way, GROUPS[group]) == {}


@pytest.mark.full
@pytest.mark.parametrize("way", WAYS)
def test_no_text_of_any_option_costs_more(bundles: dict[str, Sanitizer], way: str) -> None:
    assert too_much(bundles, way, {**FEW, **JOINED, **WORDS}) == {}


# --- work ----------------------------------------------------------------------------------------------------------


def calls(sanitizer: Sanitizer, content: bytes, options: dict[str, Any]) -> int:
    """How many functions are called for a text."""
    count = 0

    def counted(frame: object, event: str, argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(counted)
    try:
        drawn(sanitizer, content, options)
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.slow
@pytest.mark.parametrize("way", MOST_DIFFERENT)
def test_a_longer_text_takes_as_much_more_work(bundles: dict[str, Sanitizer], way: str) -> None:
    """Four times as long, four times the calls, and some for what is drawn anew at random."""
    for bundle in bundles_of(WAYS[way]):
        for sign in ('"', ":a", "(1"):
            drawn(bundles[bundle], content_of(sign, 100), WAYS[way])
            short, long = (calls(bundles[bundle], content_of(sign, size), WAYS[way]) for size in (6_000, 24_000))
            assert long <= 6 * short, (bundle, sign)


#: Bytes of the shorter text, and how much longer the other is: what is quadratic takes 64 times as long, and more than
#: three times the limit.
SHORT, TIMES, SLOWER = 200_000, 8, 24


@pytest.mark.full
@pytest.mark.parametrize("way", MOST_DIFFERENT)
def test_no_sign_takes_more_than_linear_time(
    bundles: dict[str, Sanitizer], way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Processor time, with room for a busy machine. What seems slow is measured again."""
    monkeypatch.undo()
    slow = {}
    for bundle in bundles_of(WAYS[way]):
        for name, sign in {**FEW, **JOINED, **WORDS}.items():
            spent: list[float] = []
            for _ in range(3):
                spent = []
                for size in (SHORT, TIMES * SHORT):
                    content = content_of(sign, size)
                    start = time.process_time()
                    drawn(bundles[bundle], content, WAYS[way])
                    spent.append(time.process_time() - start)
                if spent[1] <= max(0.5, SLOWER * spent[0]):
                    break
            else:
                slow[f"{bundle}: {name}"] = spent
    assert slow == {}
