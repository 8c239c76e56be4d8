"""Readers of lines, columns and fields."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textveil_training.data.rows import parse_score, read_lines
from textveil_training.errors import DataError, EmptyData, FileLocation, InvalidScore, InvalidUtf8, UnreadableFile

Write = Callable[..., Path]
Refuses = Callable[..., DataError]

content = st.text(st.characters(exclude_characters="\n\r\ufeff", exclude_categories=["Cs"]))


def texts(path: Path) -> list[str]:
    return [line for _, line in read_lines(path)]


def test_lines_are_numbered_from_one_and_name_the_file(write: Write) -> None:
    assert list(read_lines(write("a\nb\n"))) == [(FileLocation("rows.txt", 1), "a"), (FileLocation("rows.txt", 2), "b")]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("a\r\nb\r\n", ["a", "b"]),
        ("a\n\nb", ["a", "", "b"]),
        ("a\rb\x0bc\x0cd\x85e\u2028f\u2029g\n", ["a\rb\x0bc\x0cd\x85e\u2028f\u2029g"]),
        ("a\r\r\n", ["a\r"]),
        ("\ufeffa\n\ufeffb\n", ["a", "\ufeffb"]),
        ("\n", [""]),
    ],
)
def test_only_lf_and_cr_lf_end_a_line(write: Write, content: str, expected: list[str]) -> None:
    assert texts(write(content)) == expected


@given(lines=st.lists(content, min_size=1))
def test_what_is_written_is_read(tmp_path_factory: pytest.TempPathFactory, lines: list[str]) -> None:
    path = tmp_path_factory.mktemp("lines") / "rows.txt"
    for end in ("\n", "\r\n"):
        path.write_bytes("".join(line + end for line in lines).encode())
        assert texts(path) == lines


@given(
    prefix=st.text(st.characters(exclude_categories=["Cs"])), bad=st.sampled_from([b"\xff", b"\xc3(", b"\xed\xa0\x80"])
)
def test_the_offset_of_an_invalid_byte_is_its_place_in_the_file(
    tmp_path_factory: pytest.TempPathFactory, prefix: str, bad: bytes
) -> None:
    path = tmp_path_factory.mktemp("bytes") / "rows.txt"
    path.write_bytes(prefix.encode() + bad)
    with pytest.raises(InvalidUtf8) as caught:
        texts(path)
    assert caught.value.byte == len(prefix.encode())
    assert caught.value.location == FileLocation("rows.txt", prefix.count("\n") + 1)


def test_a_byte_order_mark_counts_in_the_offset(write: Write, refuses: Refuses, canary: str) -> None:
    error = refuses(InvalidUtf8, read_lines(write(b"\xef\xbb\xbf" + canary.encode() + b"\xff\n")), 1)
    assert isinstance(error, InvalidUtf8)
    assert error.byte == 3 + len(canary)
    assert f"byte {error.byte}" in str(error)


def test_an_empty_file_is_refused(write: Write, refuses: Refuses) -> None:
    refuses(EmptyData, read_lines(write("")))


def test_a_file_that_cannot_be_opened_is_not_named(tmp_path: Path, refuses: Refuses, canary: str) -> None:
    for path in (tmp_path / canary, tmp_path, tmp_path / (canary * 100), tmp_path / f"{canary}\0"):
        error = refuses(UnreadableFile, read_lines(path))
        assert tmp_path.name not in str(error)
    error = refuses(UnreadableFile, read_lines(tmp_path / canary))
    assert os.strerror(2) in str(error)


def test_a_file_name_cannot_break_the_line_of_a_message(write: Write) -> None:
    try:
        path = write(b"\xff", "a\nb\x1b.txt")
    except OSError:
        pytest.skip("this file system has no such file names")
    with pytest.raises(InvalidUtf8, match=r"^a\ufffdb\ufffd\.txt, line 1: "):
        texts(path)


@given(score=st.decimals(min_value=0, max_value=5, places=3))
def test_scores_in_range_are_read(score: object) -> None:
    assert parse_score(f"{score:f}", 0.0, 5.0, FileLocation("rows.txt", 1)) == float(f"{score:f}")


@pytest.mark.parametrize(
    "value", ["", " ", "nan", "inf", "-inf", "1e0", "1_0", " 3", "3 ", "3,5", "٣", "0x1", ".5", "5.01", "-1", "9" * 400]
)
def test_other_scores_are_refused(value: str) -> None:
    with pytest.raises(InvalidScore):
        parse_score(value, 0.0, 5.0, FileLocation("rows.txt", 1))


def test_a_reader_streams(write: Write) -> None:
    lines = read_lines(write(b"good\n\xff\n"))
    assert next(lines)[1] == "good"
    with pytest.raises(InvalidUtf8):
        next(lines)
