"""Every division of the input bytes gives the same documents, and invalid bytes are located exactly."""

import codecs
import os
import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from textveil.errors import InputError
from textveil_cli.console import read_lines, text_io

reading = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])


def through(folder: Path, content: bytes, read_bytes: int = 1 << 20) -> tuple[list[str], bytes, list[int], str | None]:
    """Documents, the bytes that they were, bytes consumed after each block, and the error."""
    path = folder / "input"
    path.write_bytes(content)
    descriptor = os.open(path, os.O_RDONLY)
    texts: list[str] = []
    written, consumed = b"", []
    error = None
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(text_io, "_READ_BYTES", read_bytes)
            for block, ended, offset in read_lines(descriptor, "input 1"):
                texts += block
                written += "\n".join(block).encode() + (b"\n" if ended else b"")
                consumed.append(offset)
    except InputError as caught:
        error = str(caught)
    finally:
        os.close(descriptor)
    return texts, written, consumed, error


@pytest.mark.parametrize(
    ("content", "documents", "ended"),
    [
        (b"", [], False),
        (b"\n", [""], True),
        (b"\n\n", ["", ""], True),
        (b"the doctor", ["the doctor"], False),
        (b"the doctor\n", ["the doctor"], True),
        (b"the\ndoctor", ["the", "doctor"], False),
        (b"the\r\ndoctor\r\n", ["the\r", "doctor\r"], True),
        (b"the\rdoctor\n", ["the\rdoctor"], True),
        (b" \n\t\n", [" ", "\t"], True),
        (codecs.BOM_UTF8, [], False),
        (codecs.BOM_UTF8 + b"\n", [""], True),
        (codecs.BOM_UTF8 + b"the\n", ["the"], True),
        (b"the\n" + codecs.BOM_UTF8 + b"a\n", ["the", "\ufeffa"], True),
        (codecs.BOM_UTF8 * 2 + b"a", ["\ufeffa"], False),
        ("a\u2028b\x85c\x0bd\n".encode(), ["a\u2028b\x85c\x0bd"], True),
        (b"the\0of\n", ["the\0of"], True),
    ],
)
@pytest.mark.parametrize("read_bytes", [1, 2, 3, 1 << 20])
def test_a_line_is_a_document(
    tmp_path: Path, content: bytes, documents: list[str], ended: bool, read_bytes: int
) -> None:
    texts, written, consumed, error = through(tmp_path, content, read_bytes)
    assert error is None
    assert texts == documents
    assert written == "\n".join(documents).encode() + (b"\n" if ended else b"")
    assert consumed == sorted(set(consumed))
    if documents:
        assert consumed[-1] == len(content)


BYTES = [
    b"\n",
    b"\r",
    b" ",
    b"the",
    b"doctor",
    b"\xc3\xa9",
    b"\xf0\x9f\x98\x80",
    b"\xff",
    b"\xc3",
    b"\xed\xa0\x80",
    b"\xef\xbb\xbf",
    b"\0",
]
contents = st.binary(max_size=60) | st.lists(st.sampled_from(BYTES), max_size=25).map(b"".join)


@settings(reading, max_examples=500)
@given(contents, st.integers(1, 30))
@example(b"the\n\xff\n", 1)
@example(b"the\nof\xc3\n\xa9", 2)
@example(b"\xef\xbb\xbf\xff", 1)
@example(b"\xef\xbb", 1)
@example(b"the\n\xf0\x9f\x98", 4)
def test_any_bytes_in_any_portions(tmp_path: Path, content: bytes, read_bytes: int) -> None:
    """Whole lines before the first invalid byte are written, and nothing after it; the message has its offset."""
    bad = None
    try:
        content.decode("utf-8")
    except UnicodeDecodeError as error:
        bad = error.start
    is_wide = b"\0" in content[: content.find(b"\n") + 1 or None][:2]
    bad = 0 if is_wide else bad
    good = content if bad is None else content[: content.rfind(b"\n", 0, bad) + 1]
    text = good.removeprefix(codecs.BOM_UTF8).decode("utf-8")
    documents = text.removesuffix("\n").split("\n") if text else []

    texts, written, _, error = through(tmp_path, content, read_bytes)
    assert texts == documents
    assert written == "\n".join(documents).encode() + (b"\n" if text.endswith("\n") else b"")
    said = None if error is None else re.sub(r"( \(|: the file).*", "", error)
    assert said == (None if bad is None else f"input 1: not UTF-8 at byte {bad}")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf_16_is_named(tmp_path: Path, encoding: str) -> None:
    texts, written, _, error = through(tmp_path, "the canary\nof\n".encode(encoding), 1 << 20)
    assert (texts, written) == ([], b"")
    assert error == "input 1: not UTF-8 at byte 0: the file is UTF-16 or not text; save it as UTF-8"


def test_a_directory_cannot_be_read(tmp_path: Path) -> None:
    descriptor = os.open(tmp_path, os.O_RDONLY)
    try:
        with pytest.raises(InputError, match=r"^input 7: cannot read the file$"):
            list(read_lines(descriptor, "input 7"))
    finally:
        os.close(descriptor)


def test_lines_are_answered_as_they_come() -> None:
    receiver, sender = os.pipe()
    try:
        stream = read_lines(receiver, "standard input")
        for number in range(1, 4):
            os.write(sender, b"the doctor\n" * number)
            results, ended, _ = next(stream)
            assert (len(results), ended) == (number, True)
        os.write(sender, b"no end")
        os.close(sender)
        sender = -1
        results, ended, consumed = next(stream)
        assert (len(results), ended, consumed) == (1, False, 6 * 11 + 6)
        assert next(stream, None) is None
    finally:
        os.close(receiver)
        if sender >= 0:
            os.close(sender)


@pytest.mark.slow
@pytest.mark.parametrize("times", [40_000, pytest.param(240_000, marks=pytest.mark.full)])
def test_a_long_line_in_small_portions(tmp_path: Path, times: int) -> None:
    """One and five megabytes."""
    content = b"the doctor said, zzz. " * times
    texts, written, consumed, error = through(tmp_path, content, 1 << 16)
    assert (len(texts), error, consumed) == (1, None, [len(content)])
    assert written.count(b", ") >= times
