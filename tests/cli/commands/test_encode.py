"""``textveil encode``: texts and files in, a line for each document out, and errors with names."""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from processes import TIMEOUT
from small_encoders import DIMENSION, LINE, pinned


@pytest.mark.slow
def test_standard_input_to_standard_output(command: Callable, tiny_encoder: Path) -> None:
    ran = command("encode", *pinned(tiny_encoder), stdin=b"The doctor,\r\n\r\n  zzz\nlast line")
    assert ran.code == 0
    assert re.fullmatch(LINE * 4, ran.out)
    assert ran.message == (
        "textveil: standard input: 4 documents; l1, 4 coordinates: epsilon 4 for the whole text (any two texts)\n"
    )


def test_a_text(encode: Callable) -> None:
    for text in ("The doctor said.", "", "two\nlines", "-", "--help", "\ud800", "of " * 1000):
        ran = encode(f"--text={text}")
        assert ran.code == 0
        assert re.fullmatch(LINE, ran.out)
        assert ran.message.splitlines()[0].startswith("textveil: l1, ")
        cut = ["textveil: private, for this device only: 1 truncated to the model's maximum length"]
        assert ran.message.splitlines()[1:] == (cut if len(text) > 1000 else [])


def test_files_and_json(encode: Callable, note: Path) -> None:
    ran = encode("--json", "--epsilon", "8", "--word-dropout", "0.3", note, note)
    assert ran.code == 0
    documents = [json.loads(line) for line in ran.text.splitlines()]
    assert len(documents) == 6
    for document in documents:
        assert document.keys() == {"vector", "integers", "statement"}
        assert [number / 64 for number in document["integers"]] == document["vector"]
        assert len(document["vector"]) == DIMENSION
        assert document["statement"]["epsilon_text"] == 8
        assert document["statement"]["word_dropout"] == "0.3"
        assert document["statement"] == documents[0]["statement"]
    assert [line.split(";")[0] for line in ran.message.splitlines()] == [
        "textveil: input 1 of 2, note.txt: 3 documents",
        "textveil: input 2 of 2, note.txt: 3 documents",
    ]
    assert "for two texts that differ in one token (word dropout 0.3)" in ran.message


def test_an_output_file(encode: Callable, note: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.tsv"
    target.write_bytes(b"old")
    ran = encode("-q", "-o", target, note)
    assert (ran.code, ran.out, ran.err) == (0, b"", b"")
    assert re.fullmatch(LINE * 3, target.read_bytes())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["note.txt", "out.tsv"]


def test_an_empty_file(encode: Callable, tmp_path: Path) -> None:
    (tmp_path / "empty").write_bytes(b"")
    ran = encode(tmp_path / "empty")
    assert (ran.code, ran.out, ran.message) == (0, b"", "textveil: empty: no documents\n")


@pytest.mark.parametrize(
    ("arguments", "code", "expected"),
    [
        (["--epsilon", "5"], "unknown-epsilon", "has the levels (epsilon of the whole text) 1, 4, 8"),
        (["--word-dropout", "1"], "option", "word dropout"),
        (
            ["--expect-id", "x"],
            "bundle-content-hash",
            "not the expected one: get the expected bundle, or correct --expect-id",
        ),
        (["--text", "x", "file"], "option", "use either"),
    ],
)
def test_named_errors(encode: Callable, arguments: list[str], code: str, expected: str) -> None:
    ran = encode(*arguments)
    assert (ran.code, ran.out) == (1, b"")
    assert ran.message.startswith(f"textveil: {code}: ")
    assert expected in ran.message


def test_options_are_checked_before_a_file_is_touched(encode: Callable, tmp_path: Path) -> None:
    ran = encode("--epsilon", "5", "-o", tmp_path / "out", tmp_path / "missing")
    assert "unknown-epsilon" in ran.message
    assert list(tmp_path.iterdir()) == []


def test_a_bundle_of_the_other_kind(here: Callable, tiny_path: Path, tiny_encoder: Path) -> None:
    ran = here("encode", "--bundle", tiny_path, "--text", "x")
    assert ran.message.startswith("textveil: bundle-type: this bundle sanitizes text")
    for arguments in (["sanitize", "--text", "x"], ["inspect", "x"], ["levels"]):
        ran = here(*arguments, "--bundle", tiny_encoder)
        assert (ran.code, ran.out) == (1, b"")
        assert ran.message.startswith("textveil: bundle-type: this bundle releases vectors")


@pytest.mark.slow
def test_without_onnxruntime(command: Callable, tiny_encoder: Path) -> None:
    """A process of its own in which there is none: encoding names the extra, and the rest works."""
    block = (
        "import sys; sys.modules['onnxruntime'] = None; sys.argv[0] = 'textveil'\n"
        "from textveil_cli.main import main; main()"
    )
    for arguments, code in ((["encode", "--text", "x"], 1), (["info"], 0), (["sanitize", "--text", "the"], 0)):
        bundle = {"encode": pinned(tiny_encoder), "info": ["--bundle", str(tiny_encoder)]}.get(arguments[0], [])
        done = subprocess.run([sys.executable, "-c", block, *arguments, *bundle], capture_output=True, timeout=TIMEOUT)
        assert done.returncode == code
        if code:
            assert done.stderr.decode() == (
                "textveil: encoder-unavailable: encoding needs onnxruntime: "
                "install textveil with the extra encoder (in a clone: pip install './runtime[encoder]')\n"
            )
