"""No leak: what is unknown leaves nothing but its place, in whatever comes out of this package on any path.

A canary is a string that must never come out. It is planted in texts, files, options and errors; then every output,
message, log record, representation and file that a run leaves behind is searched for it.
"""

import errno
import itertools
import json
import logging
import os
import re
import shutil
import subprocess
import sys
import traceback
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO
from urllib.parse import unquote

import pytest
from forked import run_forked
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from textveil import Sanitizer, TextveilError
from textveil.errors import InputError, OptionError
from textveil.mechanisms import integer_sampling as sampling
from textveil.text import segmentation
from textveil.text.lexicon import Lexicon

CANARIES = (
    # rare names
    "Zorblaxia", "zorblaxia", "ZORBLAXIA", "McQuibblethwaite", "Zorblax-Quimbleton", "O'Zorblaxia", "O’Zorblaxia",
    "Zorblaxia’s", "zorblaxia's", "d'Zorblaxia", "Zorblax_Quimbleton", "ZorblaxQuimbleton", "Zorblàxïa", "Żorbłaxia",
    # names spelled with what hides in them
    "Zorb\u200blaxia", "Zorb\u00adlaxia", "Zorb\u200dlaxia", "Zorb\u200claxia", "Zorb\u2060laxia", "Zorb\ufefflaxia",
    "Zor\u0301b\u0308laxia", "Ｚｏｒｂｌａｘｉａ", "Zоrblaxia", "Ζorblaxia", "𝐙𝐨𝐫𝐛𝐥𝐚𝐱𝐢𝐚", "Zorb\u202elaxia",
    # known words spelled with what hides in them: common to the last letter, and still not to come out
    "the\u200band", "in\u00adside", "the\u2060", "tһe", "аnd", "bоston", "d\u043ector", "the\u200dand",
    # numbers
    "48213977", "4,821,397", "+1-617-555-0199", "078-05-1120", "1984-06-07", "$48,213.97", "٤٨٢١٣٩", "４８２１３９",
    "४८२१३", "½⅞", "①②③", "XⅧ", "10²³", "B2B48", "4️⃣8️⃣", "3.14159265", "48°12′", "0xDEADBEEF",
    # addresses, also of known words
    "doctor@boston.com", "the@and", "the.and@in.of", "@doctor", "@the", "@the_and", "zorblax@example.org",
    "zorblax+tag@example.org", "почта@пример.рф", "doctor％40boston", "doctor%40boston.com", "the%20and",
    "https://boston.com/doctor?name=the", "http://the.and/of", "www.the", "WWW.THE.COM", "boston.com/doctor",
    "the.and/of",
    "ftp://doctor:word@boston", "file:///home/doctor", "mailto:doctor@boston.com", "boston.doctor", "the.and", "::1",
    "user:secret@the", "doctor＠boston．com",
    # scripts and signs
    "жук", "доктор", "Δοκτώρ", "博士", "の", "طبيب", "רופא", "डॉक्टर", "หมอ", "의사", "Zorбlaxia",
    "🦄", "👩‍🚀", "🇨🇭", "☃", "❤️", "™", "€", "∑", "\u0007", "\x1b[31m", "\u200b", "\u202e", "\ue000", "\U0010ffff",
)  # fmt: skip

#: Common words are kept almost always: the lightest that SanText+ goes.
LIGHTEST = {"mechanism": "santext+", "replacement_probability": "1e-18"}
reading = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
SECRET = "Zorblaxia 48213977"


def options_of(sanitizer: Sanitizer) -> list[dict[str, object]]:
    """Every mechanism, at its lightest and at its strictest, in both modes."""
    first, last = sanitizer.bundle.levels[0].name, sanitizer.bundle.levels[-1].name
    laws: list[dict[str, object]] = [
        {},
        {"level": sanitizer.bundle.staircase_levels[-1].name, "visible": (), "kinds": False},
        {**LIGHTEST, "level": last},
        {**LIGHTEST, "level": first},
        {"mechanism": "santext", "level": last},
        *({"mechanism": "santext", "level": last, "tail": tail} for tail in sanitizer.bundle.tails),
        {"mechanism": "krr", "epsilon": 30},
        {"mechanism": "krr", "epsilon": "0.1"},
        {"mechanism": "random"},
    ]
    return [{**law, **mode} for law in laws for mode in ({}, {"sanitize_punctuation": True}, {"case": "drop"})]


def prints_kinds(options: dict[str, object]) -> bool:
    """Whether the options are those of the staircase, with kinds."""
    return options.get("mechanism") is None and bool(options.get("kinds", True))


def forms(canary: str, known: set[str]) -> set[str]:
    """A canary as it may be recognized: as it is, composed or not, and decoded where that is no chance find.

    ``™`` decoded stands in ``department``, and ``the%20and`` is two words that any text has.
    """
    certain = {canary, unicodedata.normalize("NFC", canary), unicodedata.normalize("NFD", canary)}
    decoded = {unquote(canary), unicodedata.normalize("NFKC", canary), unicodedata.normalize("NFKD", canary)}
    decoded = {form for form in decoded if len(form) > 5 and not known.issuperset(re.findall(r"\w+", form.casefold()))}
    return {form.casefold() for form in certain | decoded}


def leaks(text: str, canary: str, known: set[str]) -> list[str]:
    haystack = text.casefold()
    return [form for form in forms(canary, known) if form in haystack]


@pytest.fixture(scope="module")
def known(english: Sanitizer) -> set[str]:
    return set(english.bundle.ids)


@pytest.fixture(scope="module")
def alphabet(known: set[str]) -> set[str]:
    return {character for spelling in known for character in spelling}


@pytest.fixture(scope="module")
def of_kinds(english: Sanitizer) -> set[str]:
    """Characters of everything that the lists of kinds can print."""
    assert english.bundle.skeleton is not None
    entries = (line.partition("\t")[0] for kind in english.bundle.skeleton.kinds for line in kind.content.split("\n"))
    return {character for entry in entries for character in entry + entry.upper()}


# --- outputs -------------------------------------------------------------------------------------------------------


def test_the_canaries_are_worth_planting(english: Sanitizer, known: set[str]) -> None:
    assert len(CANARIES) == len(set(CANARIES)) > 100
    for canary in CANARIES:
        assert canary.casefold() not in known
        assert leaks(f"The {canary} said.", canary, known)
        assert not leaks("The nurse said.", canary, known)


@pytest.mark.slow
@pytest.mark.parametrize("around", ["{}", "The {} said.", "({})", "“{}”, {}", "the\t{}\r\n{}\n"])
@pytest.mark.parametrize("times", [2, pytest.param(5, marks=pytest.mark.full)])
def test_no_canary_comes_out(english: Sanitizer, known: set[str], around: str, times: int) -> None:
    """``::1`` is two marks and a number, which may become another number that begins with 1: a chance find."""
    texts = [around.replace("{}", canary) for canary in CANARIES]
    gaps = set(re.findall(r"\W", around))
    for options in options_of(english):
        for _ in range(times):
            for canary, result in zip(CANARIES, english.sanitize_batch(texts, **options), strict=True):
                found = [form for form in leaks(result.text, canary, known) if form not in gaps]
                found = [form for form in found if not (prints_kinds(options) and form == "::1")]
                assert not found, f"{canary!a} under {options}"


def test_nothing_but_the_vocabulary_comes_out(english: Sanitizer, known: set[str], of_kinds: set[str]) -> None:
    """Stronger than a search: apart from gaps, every printed word is of the vocabulary or of the list of a kind."""
    letters = {character for word in known for character in word + word.upper()} | {" "}
    text = " ".join(CANARIES)
    passed = {character for character in text if unicodedata.category(character)[0] == "P"}
    for options in options_of(english):
        out = english.sanitize(text, **options).text
        allowed = letters | of_kinds if prints_kinds(options) else letters
        assert set(out) <= allowed | (set() if options.get("sanitize_punctuation") else passed)


@pytest.mark.slow
@settings(reading, max_examples=300)
@given(
    st.text(st.characters(categories=["L", "N", "S", "Cf", "Mn"]), min_size=6, max_size=20),
    st.sampled_from(["{}", "the {} and", "@{}", "{}@the", "{}.com/", "www.{}", "{}'s", "1{}"]),
)
def test_no_invented_word_comes_out(
    english: Sanitizer, alphabet: set[str], of_kinds: set[str], word: str, shape: str
) -> None:
    """Words of six characters and more that hold one of no word of the vocabulary."""
    unseen = [character for character in word if character.casefold() not in alphabet]
    for options in options_of(english)[1::6]:
        out = english.sanitize(shape.replace("{}", word), **options).text
        foreign = [character for character in unseen if not (prints_kinds(options) and character in of_kinds)]
        assert not any(character in out for character in foreign if unicodedata.category(character)[0] != "P")


def test_addresses_of_common_words_are_one_token(english: Sanitizer) -> None:
    for canary in ("the@and", "doctor@boston.com", "@the", "http://the.and/of", "www.the", "the.and/of", "the%20and"):
        result = english.sanitize(canary, **LIGHTEST)
        assert result.tokens == 1
        law = english.distribution(canary, **LIGHTEST)
        assert law.symbol == "<unk>"


@pytest.mark.slow
def test_the_law_of_a_canary_is_that_of_the_unknown(english: Sanitizer) -> None:
    """Not a draw but the exact law: every canary holds an unknown token, and none is among the outputs."""
    unknown = english.distribution("zzyzzx", **LIGHTEST)
    lexicon = Lexicon(english.bundle)
    for canary in CANARIES:
        segments = segmentation.segments(canary)
        tokens = [token for segment in segments for token in lexicon.word(segment).inputs]
        assert english.bundle.symbols in tokens, ascii(canary)
        assert canary.casefold() not in unknown.words
        if len(segments) == len(tokens) == 1:
            assert english.distribution(canary, **LIGHTEST) == unknown


def test_pieces_of_a_secret_are_never_kept(pieces: Sanitizer) -> None:
    """A word of several pieces is drawn piece by piece; a string, or what BERT cannot cut, is one unknown token."""
    common = pieces.sanitize("the", **LIGHTEST).text
    assert common == "the"
    for canary in ("zebra@the", "the@and", "Zorblaxia", "жук", "4821", "the.and/of", "🦄", "th\u200de"):
        result = pieces.sanitize(canary, **LIGHTEST)
        assert result.tokens == 1
        for _ in range(50):
            assert pieces.sanitize(canary, mechanism="krr", epsilon=30).text != canary


# --- what the library says -----------------------------------------------------------------------------------------


@pytest.fixture
def quiet(caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]) -> Callable[[], str]:
    """Everything that was logged or printed, at every level."""
    caplog.set_level(logging.NOTSET)
    return lambda: "".join(record.getMessage() for record in caplog.records) + "".join(capfd.readouterr())


def test_results_and_statements_do_not_tell(english: Sanitizer, known: set[str], quiet: Callable[[], str]) -> None:
    for canary, options in itertools.product(CANARIES[::7], options_of(english)[::4]):
        result = english.sanitize(f"the {canary} and", **options)
        statement = result.statement
        told = [repr(result), repr(statement), str(statement), statement.summary(), json.dumps(statement.to_dict())]
        told += [repr(english), repr(english.terms(**options)), str(result)]
        for said in told:
            assert not leaks(said, canary, known)
    assert quiet() == ""


def chain_of(error: BaseException) -> str:
    """What a traceback shows of an error and all its causes, source lines apart."""
    told, seen = [], error
    while seen is not None:
        told += [str(seen), repr(seen), *map(str, seen.args), *traceback.format_exception_only(seen)]
        seen = seen.__cause__ or (None if seen.__suppress_context__ else seen.__context__)  # type: ignore[assignment]
    return "\n".join(told)


@pytest.mark.parametrize(
    "options",
    [
        {"mechanism": SECRET}, {"level": SECRET}, {"epsilon": SECRET}, {"mechanism": "krr", "epsilon": SECRET},
        {"case": SECRET}, {"replacement_probability": SECRET}, {"mechanism": "random", "deny": [SECRET]},
        {"deny": SECRET},
    ],
    ids=str,
)  # fmt: skip
def test_errors_about_options_do_not_tell(
    english: Sanitizer, options: dict[str, str], quiet: Callable[[], str]
) -> None:
    with pytest.raises(OptionError) as refused:
        english.sanitize(SECRET, **options)
    assert "orblaxia" not in chain_of(refused.value)
    assert "48213977" not in chain_of(refused.value)
    assert quiet() == ""


def test_errors_about_words_do_not_tell(english: Sanitizer) -> None:
    for call in (
        lambda: english.distribution(SECRET),
        lambda: english.distance(SECRET, "the"),
        lambda: english.distance("the", SECRET),
        lambda: english.sanitize(SECRET.encode()),  # type: ignore[arg-type]
        lambda: english.sanitize_batch(["the", SECRET, [SECRET]]),  # type: ignore[list-item]
        lambda: Sanitizer.load(SECRET),
        lambda: Sanitizer.load(expect_id=SECRET),
    ):
        with pytest.raises(TextveilError) as refused:
            call()
        assert "orblaxia" not in chain_of(refused.value)
        assert "48213977" not in chain_of(refused.value)


def test_bad_bytes_do_not_tell(tiny: Sanitizer, tmp_path: Path) -> None:
    from textveil.cli.sanitize import sanitize_lines

    path = tmp_path / "bad.txt"
    path.write_bytes(f"the\n{SECRET} ".encode() + b"\xff " + SECRET.encode())
    descriptor = os.open(path, os.O_RDONLY)
    try:
        with pytest.raises(InputError) as refused:
            for _ in sanitize_lines(tiny, descriptor, "input 1"):
                pass
    finally:
        os.close(descriptor)
    assert "orblaxia" not in chain_of(refused.value)
    assert refused.value.__cause__ is None  # a UnicodeDecodeError holds the whole input


# --- what the command says, and leaves -----------------------------------------------------------------------------


def everything_in(folder: Path) -> Iterator[tuple[str, bytes]]:
    for path in folder.rglob("*"):
        yield str(path.relative_to(folder)), path.read_bytes() if path.is_file() else b""


class Confined:
    """Runs the command in a process whose home, temporary folder and working folder are one empty place."""

    def __init__(self, root: Path) -> None:
        self.root = root
        for name in ("home", "tmp", "cwd", "out"):
            (root / name).mkdir()
        self.inputs = root.parent / f"{root.name}-inputs"
        self.inputs.mkdir()

    def file(self, name: str, content: bytes) -> Path:
        path = self.inputs / name
        path.write_bytes(content)
        return path

    def run(
        self,
        *arguments: str | Path,
        stdin: bytes = b"",
        stdout: IO[bytes] | None = None,
        code: str = "",
        alone: bool = False,
    ) -> tuple[int, str]:
        """The exit code, and everything that was printed or is left in a file or in a file's name.

        ``code`` runs first. With ``alone``, the command has an interpreter of its own, which takes a second.
        """
        temporary = str(self.root / "tmp")
        environment = {
            **os.environ,
            **dict.fromkeys(
                ("HOME", "USERPROFILE", "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR"), str(self.root / "home")
            ),
            **dict.fromkeys(("TMPDIR", "TEMP", "TMP"), temporary),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        words, cwd = list(map(str, arguments)), self.root / "cwd"
        if alone:
            done = subprocess.run(
                [sys.executable, "-m", "textveil", *words],
                input=stdin,
                capture_output=True,
                timeout=120,
                cwd=cwd,
                env=environment,
                check=False,
            )
        else:
            done = run_forked(words, cwd=cwd, environment=environment, stdin=stdin, stdout=stdout, before=code)
        left = [name.encode("utf-8", "replace") + content for name, content in everything_in(self.root)]
        said = b"\n".join([done.stdout or b"", done.stderr, *left])
        assert b"Traceback" not in done.stderr
        return done.returncode, said.decode("utf-8", "replace")


@pytest.fixture
def confined(tmp_path: Path) -> Confined:
    root = tmp_path / "root"
    root.mkdir()
    return Confined(root)


def hidden(said: str) -> bool:
    """Whether the secret, in any spelling, is nowhere in it."""
    return not any(part in said.casefold() for part in ("zorblax", "48213977", "orblaxia"))


GOOD = [
    ["sanitize"],
    ["sanitize", "--json"],
    ["sanitize", "--sanitize-punctuation"],
    ["sanitize", "-m", "krr", "-e", "30"],
    ["sanitize", "-p", "1e-18", "-m", "santext+", "-l", "weakest"],
    ["sanitize", "-o", "out.txt"],
]


@pytest.mark.slow
@pytest.mark.parametrize("arguments", GOOD, ids=" ".join)
def test_good_runs_leave_nothing(confined: Confined, arguments: list[str]) -> None:
    """Only the output, in the working folder if it was asked for there."""
    text = "\n".join(f"the {canary} said {SECRET}." for canary in CANARIES if "\n" not in canary)
    code, said = confined.run(*arguments, stdin=text.encode("utf-8"), alone=arguments == GOOD[0])
    assert code == 0
    assert hidden(said)
    names = sorted(name for name, _ in everything_in(confined.root))
    assert names == sorted(
        ["home", "tmp", "cwd", "out", *([os.path.join("cwd", "out.txt")] if "-o" in arguments else [])]
    )


@pytest.mark.slow
def test_a_text_and_a_word_on_the_command_line(confined: Confined) -> None:
    for arguments in (["sanitize", "--text", SECRET], ["inspect", "Zorblaxia"], ["inspect", "Zorblaxia", "--json"]):
        code, said = confined.run(*arguments)
        assert code == 0
        assert hidden(said)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([SECRET], 2),
        (["sanitize", f"--{SECRET}"], 2),
        (["sanitize", SECRET], 1),
        (["sanitize", "--text", SECRET, "--level", SECRET], 1),
        (["sanitize", "--text", SECRET, "--epsilon", SECRET], 1),
        (["sanitize", "--text", SECRET, "--mechanism", SECRET], 1),
        (["sanitize", "--text", SECRET, "--case", SECRET], 1),
        (["sanitize", "--text", SECRET, "-p", SECRET], 1),
        (["sanitize", "--text", SECRET, "--deny", SECRET], 1),
        (["sanitize", "--text", SECRET, "--bundle", SECRET], 1),
        (["sanitize", "--text", SECRET, "--expect-id", SECRET], 1),
        (["sanitize", "--text", SECRET, "-o", f"{SECRET}/out.txt"], 1),
        (["sanitize", "--text", SECRET, SECRET], 1),
        (["inspect", SECRET], 1),
        (["inspect", "the", SECRET], 2),
        (["inspect", "the", "-n", SECRET], 2),
        (["info", SECRET], 2),
        (["info", "--bundle", SECRET], 1),
    ],
    ids=lambda value: " ".join(value).replace(SECRET, "SECRET") if isinstance(value, list) else str(value),
)
def test_wrong_runs_do_not_tell(confined: Confined, tiny_path: Path, arguments: list[str], expected: int) -> None:
    if arguments[0] == "sanitize" and "--bundle" not in arguments:  # it is opened faster than the built-in one
        arguments = [*arguments, "--bundle", str(tiny_path)]
    code, said = confined.run(*arguments, alone=arguments == [SECRET])
    assert code == expected
    assert hidden(said)
    assert len(list(everything_in(confined.root))) == 4


@pytest.mark.slow
@pytest.mark.parametrize(
    ("broken", "output"),
    [(b"\xff", []), (b"\xc3", []), (b"\xed\xa0\x80", []), (b"\xff", ["-o", "out.txt"]), (b"\xff", ["--json"])],
    ids=str,
)
def test_bad_bytes_after_the_secret(confined: Confined, tiny_path: Path, broken: bytes, output: list[str]) -> None:
    content = f"the {SECRET}\n{SECRET} ".encode() + broken + f" {SECRET}\n{SECRET}\n".encode()
    for arguments, stdin in (([confined.file("in.txt", content)], b""), (["-"], content)):
        code, said = confined.run("sanitize", "--bundle", tiny_path, *output, *arguments, stdin=stdin)
        assert code == 1
        assert "not UTF-8 at byte" in said
        assert hidden(said)
        assert len(list(everything_in(confined.root))) == 4


def test_a_damaged_bundle_does_not_tell(confined: Confined, tiny_path: Path) -> None:
    bundle = confined.inputs / SECRET
    shutil.copytree(tiny_path, bundle)
    (bundle / "law.json").write_bytes(b"{" + SECRET.encode())
    code, said = confined.run("sanitize", "--bundle", bundle, "--text", SECRET)
    assert code == 1
    assert "bundle-damaged" in said
    assert hidden(said)


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize(
    "arguments", [["sanitize"], ["sanitize", "--json"], ["sanitize", "--text", SECRET]], ids=" ".join
)
def test_a_full_disk_does_not_tell(confined: Confined, arguments: list[str]) -> None:
    with open("/dev/full", "wb") as full:
        code, said = confined.run(*arguments, stdin=SECRET.encode(), stdout=full)
    assert code == 1
    assert "standard output cannot be written" in said
    assert hidden(said)


def test_a_disk_that_fills_up_does_not_tell(confined: Confined) -> None:
    fail = f"import os\ndef fail(number):\n    raise OSError({errno.ENOSPC}, {SECRET!r}, {SECRET!r})\nos.fsync = fail\n"
    code, said = confined.run("sanitize", "-o", "out.txt", stdin=SECRET.encode(), code=fail)
    assert code == 1
    assert "textveil: output: the output file cannot be written: " in said
    assert hidden(said)
    assert len(list(everything_in(confined.root))) == 4


BROKEN = {
    "the draw": "from textveil.mechanisms import integer_sampling\ninteger_sampling.draw = fail",
    "the segments": "from textveil.text import segmentation\nsegmentation.segments = fail",
    "the entropy": "import os\nos.urandom = fail",
    "the look-up": "from textveil.text.lexicon import Lexicon\nLexicon.word = fail",
    "the writing": "from textveil.text.lexicon import Lexicon\nLexicon.write = fail",
    "the statement": "from textveil.text.statement import PrivacyStatement\nPrivacyStatement.summary = fail",
    "the bundle": "from textveil.mechanisms.table import Table\nTable.from_tensors = fail",
}
ERRORS = (
    ValueError(SECRET),
    KeyError(SECRET),
    RuntimeError(SECRET),
    OSError(errno.EIO, SECRET, SECRET),
    MemoryError(SECRET),
    RecursionError(SECRET),
    AssertionError(SECRET),
    UnicodeEncodeError("utf-8", SECRET, 0, 1, SECRET),
)


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_internal_errors_do_not_tell(
    here: Callable, tiny_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, tmp_path: Path
) -> None:
    """A bug of ours, or of a library, whose message holds the text."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))

    def fail(*arguments: object, **options: object) -> None:
        raise error

    monkeypatch.setattr(sampling, "draw", fail)
    for output in ([], ["--json"], ["-o", tmp_path / "out.txt"]):
        ran = here("sanitize", "--bundle", tiny_path, "--text", SECRET, *output)
        assert ran.code == 1
        assert hidden(ran.text + ran.message)
        assert ran.message.count("\n") == 1
        assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize("place", BROKEN.values(), ids=BROKEN.keys())
def test_internal_errors_anywhere_do_not_tell(confined: Confined, tiny_path: Path, place: str) -> None:
    code = f"def fail(*arguments, **options):\n    raise ValueError({SECRET!r}) from KeyError({SECRET!r})\n{place}"
    ended, said = confined.run("sanitize", "--bundle", tiny_path, "-o", "out.txt", stdin=SECRET.encode(), code=code)
    assert ended == 1
    assert hidden(said)
    assert len(list(everything_in(confined.root))) == 4
