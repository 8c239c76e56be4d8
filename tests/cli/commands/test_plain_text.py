"""``textveil`` on plain text: inputs, options, JSON, and the stream of each output."""

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from textveil import Sanitizer

# --- inputs --------------------------------------------------------------------------------------------------------


def test_files(cli: Callable, note: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.txt"
    other.write_bytes(b"of the\n")
    ran = cli(note, other, note)
    assert ran.code == 0
    assert ran.out.count(b"\n") == 7
    assert re.fullmatch(rb"(\S+ \S+, \S+\.\n\n\S+ \S+\n)\S+ \S+\n(\S+ \S+, \S+\.\n\n\S+ \S+\n)", ran.out)
    said = ran.message.splitlines()
    assert [line.split(".")[0] for line in said] == [
        "textveil: input 1 of 3, note",
        "textveil: input 2 of 3, other",
        "textveil: input 3 of 3, note",
    ]


@pytest.mark.slow
def test_a_dash_is_standard_input(command: Callable, tiny_path: Path, note: Path) -> None:
    ran = command("sanitize", "--bundle", tiny_path, note, "-", stdin=b"of the\n")
    assert ran.code == 0
    assert ran.out.count(b"\n") == 4
    assert "standard input: 1 document" in ran.message
    assert "input 1 of 2, note.txt: 3 documents" in ran.message


@pytest.mark.parametrize(
    ("text", "pattern"),
    [
        ("", rb"\n"),
        ("   ", rb"   \n"),
        ("The doctor.", rb"\S+ \S+\.\n"),
        ("two\nlines", rb"\S+\n\S+\n"),
        ("-", rb"-\n"),
        ("--help", rb"--\S+\n"),
        ("\ud800", rb"\S+\n"),
    ],
)
def test_a_text_is_one_document(cli: Callable, text: str, pattern: bytes) -> None:
    ran = cli(f"--text={text}")
    assert ran.code == 0
    assert re.fullmatch(pattern, ran.out)
    assert ran.message.count("\n") == 1


def test_empty_inputs(cli: Callable, tmp_path: Path) -> None:
    empty = tmp_path / "empty.txt"
    empty.write_bytes(b"")
    ran = cli(empty)
    assert (ran.code, ran.out, ran.message) == (0, b"", "textveil: empty.txt: no documents\n")
    word = tmp_path / "word.txt"
    word.write_bytes(b"of")
    assert cli(word, empty, word).out.count(b"\n") == 1


def test_quiet(cli: Callable, note: Path) -> None:
    ran = cli("--quiet", note)
    assert (ran.code, ran.err) == (0, b"")
    assert cli("-q", "--text", "the").err == b""


def test_bad_bytes_are_named_and_earlier_lines_stay(cli: Callable, tmp_path: Path) -> None:
    path = tmp_path / "bad.txt"
    path.write_bytes(b"the doctor\nnurse\nzzz \xff canary\nof\n")
    ran = cli(path)
    assert ran.code == 1
    assert re.fullmatch(rb"\S+ \S+\n\S+\n", ran.out)
    remedy = "save it as UTF-8; --rejected-rows FILE skips rejected lines"
    assert ran.message == f"textveil: input: bad.txt: not UTF-8 at byte 21 ({remedy})\n"
    kept = cli("--rejected-rows", tmp_path / "kept", "-o", tmp_path / "out", path)
    assert (kept.code, (tmp_path / "out").read_bytes().count(b"\n")) == (0, 3)
    ran = cli("--json", path)
    assert [json.loads(line)["statement"]["tokens"] for line in ran.text.splitlines()] == [2, 1]


@pytest.mark.parametrize("name", ["missing.txt", "missing/x", "note.txt/x", "x" * 300, "new\nline"])
def test_inputs_that_cannot_be_read(cli: Callable, tmp_path: Path, note: Path, name: str) -> None:
    """A name with the ending of a file is printed; a string that may be a text is not."""
    ran = cli(note, tmp_path / name)
    assert ran.code == 1
    assert ran.out.count(b"\n") == 3
    shown = name == "missing.txt"
    assert f"textveil: input: input 2 of 2{', missing.txt' if shown else ''}: cannot read the file: " in ran.message
    assert ("(to pass a text, use --text)" in ran.message) != shown
    assert shown or f"2 of 2, {name}" not in ran.message


@pytest.mark.slow
def test_a_line_of_half_a_megabyte(cli: Callable, tmp_path: Path) -> None:
    path = tmp_path / "long.txt"
    path.write_bytes(b"the doctor, " * 43_000 + b"\nnurse\n")
    ran = cli(path, "--mechanism", "random")
    assert ran.code == 0
    assert ran.out.count(b"\n") == 2
    assert (
        "2 documents. Kept: punctuation. Randomized: 86,001 tokens, uniformly, independently of the text."
        in ran.message
    )


# --- JSON ----------------------------------------------------------------------------------------------------------


def test_json_lines(cli: Callable, tmp_path: Path, tiny: Sanitizer) -> None:
    path = tmp_path / "note.txt"
    path.write_bytes("The doctor\u2028“said”\n\nжук straße café\r\nlast".encode())
    ran = cli("--json", path)
    documents = [json.loads(line) for line in ran.text.removesuffix("\n").split("\n")]
    assert [document.keys() for document in documents] == [{"text", "statement"}] * 4
    assert [document["statement"]["tokens"] for document in documents] == [3, 0, 3, 1]
    assert documents[1]["text"] == ""
    assert documents[2]["text"].endswith("\r")
    assert "\u2028“" in documents[0]["text"]
    assert ran.out.endswith(b"}\n")
    for document in documents:
        statement = document["statement"]
        expected = tiny.terms().statement(statement["tokens"]).to_dict()
        assert statement == expected
        assert statement["epsilon_text"] == statement["tokens"] * statement["epsilon"]


def test_json_of_a_text(cli: Callable) -> None:
    ran = cli("--json", "--text", "two\nlines", "--mechanism", "krr", "--epsilon", "3.5")
    document = json.loads(ran.text)
    assert document["text"].count("\n") == 1
    statement = document["statement"]
    assert (statement["mechanism"], statement["level"], statement["epsilon"]) == ("krr", None, 3.5)
    assert (statement["epsilon_notion"], statement["tokens"]) == ("pure local DP", 2)


# --- options -------------------------------------------------------------------------------------------------------


def test_options_reach_the_library(cli: Callable, tmp_path: Path, tiny: Sanitizer) -> None:
    deny = tmp_path / "deny.txt"
    deny.write_bytes(b"\xef\xbb\xbfthe\r\n\r\n  And  \n")
    shared = ["--json", "--epsilon", "16", "-p", "1e-18", "--text", "the and of"]
    kept = json.loads(cli(*shared).text)
    assert kept["text"] == "the and of"
    assert kept["statement"]["level"] == "16"
    denied = json.loads(cli(*shared, "--deny", deny).text)
    outputs = set(tiny.distribution("zzz").words)
    first, second, third = denied["text"].split()
    assert {first, second} <= outputs
    assert third == "of"
    strict = json.loads(cli("--sanitize-punctuation", "--json", "--epsilon", "16.0", "--text", "The\n , OF").text)
    assert strict["text"] == strict["text"].lower()
    assert strict["text"].count(" ") == 2
    assert (strict["statement"]["sanitize_punctuation"], strict["statement"]["epsilon"]) == (True, 16)
    assert cli("-p", "1e-18", "-q", "--text", "THE Of").text == "THE Of\n"


@pytest.mark.parametrize(
    ("arguments", "code", "expected"),
    [
        (["--epsilon", "17"], "unknown-epsilon", "santext+ has the levels 4, 16"),
        (["-p", "canary"], "option", "must be a number"),
        (["-p", "0"], "option", "above 0 and at most 1"),
        (
            ["--mechanism", "santext", "-p", "0.3"],
            "option",
            "--replacement-probability and --deny work only with santext+",
        ),
        (["--deny", "canary"], "input", "--deny: no such file"),
        (["--bundle", "a canary"], "bundle-not-found", "there is no folder of that name"),
        (["--bundle", "canary" * 1000], "bundle-not-found", "there is no folder of that name"),
    ],
)
def test_named_errors(cli: Callable, arguments: list[str], code: str, expected: str) -> None:
    """Exit code 1; one line with the stable code; the value not repeated; no output."""
    for given_text in (["--text", "the doctor"], ["--text", ""]):
        ran = cli(*given_text, *arguments)
        assert (ran.code, ran.out) == (1, b"")
        assert ran.message.startswith(f"textveil: {code}: ")
        assert ran.message.count("\n") == 1
        assert expected in ran.message
        assert "canary" not in ran.message


def test_errors_come_before_input_is_read(cli: Callable, note: Path, tmp_path: Path) -> None:
    """An invalid option creates no file, not even an empty one."""
    target = tmp_path / "out.txt"
    empty = tmp_path / "empty.txt"
    empty.write_bytes(b"")
    for path in (note, empty):
        ran = cli(path, "-o", target, "--epsilon", "5")
        assert ran.code == 1
        assert "unknown-epsilon" in ran.message
        assert not target.exists()


# --- tags of several documents -------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_hint_for_tags_of_several_lines(command: Callable, here: Callable, tmp_path: Path) -> None:
    """Two persons of two lines are both [person 1], so a hint has the option with which they are not."""
    lines, table, out = tmp_path / "calls.txt", tmp_path / "calls.csv", tmp_path / "out.csv"
    lines.write_text("Anna Novak called.\nPeter Schulz left.\n")
    table.write_text("a,b\nAnna Novak,Peter Schulz\n")
    hint = "tags are numbered in each {0} anew, so [person 1] of two {0}s can be two persons: --document {1} "
    ran = here("sanitize", "--style", "tag", lines)
    assert ran.out == b"[person 1] called.\n[person 1] left.\n"
    assert hint.format("line", "file") in ran.message
    ran = here("sanitize", "--style", "tag", "--document", "file", lines)
    assert ran.out == b"[person 1] called.\n[person 2] left.\n"
    silent = [ran, here("sanitize", "--style", "tag", "--document", "line", lines), here("sanitize", lines)]
    silent.append(here("sanitize", "--style", "tag", "--quiet", lines))
    silent.append(command("sanitize", "--style", "tag", stdin=b"Anna Novak called.\nThe end.\n"))
    both = ("sanitize", "--style", "tag", "--column", "a", "--column", "b", table, "-o")
    silent += [here(*both[:5], table, "-o", out), here(*both, tmp_path / "b.csv", "--document", "row")]
    for ran in silent:
        assert ran.code == 0
        assert "numbered" not in ran.message
    assert hint.format("cell", "row") in here(*both, tmp_path / "c.csv").message


def test_a_key_makes_no_tags_equal(here: Callable, tmp_path: Path) -> None:
    """The same name is [person 1] and [person 2] of two documents, so no message states that a key links them."""
    lines, table, key = tmp_path / "calls.txt", tmp_path / "calls.csv", tmp_path / "c.key"
    lines.write_text("Peter Schulz met Anna Novak.\nAnna Novak left.\n")
    table.write_text("a\nPeter Schulz met Anna Novak.\nAnna Novak left.\n")
    hint = (
        "tags are numbered in each {0} anew, so [person 1] of two {0}s can be two persons: "
        "--corpus-key makes equal names equal with --style surrogate alone (--document {0} hides this hint)\n"
    )
    keyed, linked = ("sanitize", "--corpus-key", key), "Documents under one key are linked."
    for unit, inputs in (("line", (lines,)), ("cell", (table, "--column", "a"))):
        ran = here(*keyed, "--style", "tag", *inputs)
        assert ran.text.endswith("[person 1] met [person 2].\n[person 1] left.\n")
        assert hint.format(unit) in ran.message
        assert linked not in ran.message
        assert "numbered" not in here(*keyed, "--style", "tag", "--document", unit, *inputs).message
        surrogates = here(*keyed, *inputs).message
        assert linked in surrogates
        assert "numbered" not in surrogates
