"""Errors on columns name the wrong column and the header, and never a text or a row of data."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textveil_cli.columns import describe_column_option, list_columns, suggest_column

Here = Callable[..., Any]
SECRET = "Zqxwvina"


@pytest.mark.parametrize(
    ("typed", "names", "said"),
    [
        ("nte", ["id", "note"], "; did you mean note?"),
        ("NOTE", ["id", "Note"], "; did you mean Note?"),
        ("note ", ["id", "note"], "; did you mean note?"),
        ("message", ["id", "customer_message"], "; did you mean customer_message?"),
        ("customer", ["id", "customer_message"], "; did you mean customer_message?"),
        ("id,note", ["id", "note"], "; repeat the option for each column"),
        ("diagnosis", ["id", "note"], ""),
        ("x", ["xylophone"], ""),
        ("note", [], ""),
    ],
)
def test_near_misses_are_asked_for(typed: str, names: list[str], said: str) -> None:
    assert suggest_column(typed, names) == said


def test_at_most_twenty_names_are_listed_and_long_ones_cut() -> None:
    assert list_columns([f"c{number}" for number in range(20)]).endswith("c18, c19")
    assert list_columns([f"c{number}" for number in range(1_020)]).endswith("c18, c19 and 1,000 more")
    assert list_columns(["a" * 40]) == "a" * 29 + "…"


@pytest.mark.parametrize(
    "row",
    [
        ["17", SECRET],
        [SECRET, "2024-01-02"],
        [SECRET, ""],
        [SECRET, "he said that it was clean"],
        [SECRET, "a@b.example"],
        [SECRET, "+43 1 5550100"],
        [SECRET, "order 48213977"],
        [SECRET, "a\x1b[31mb"],
        [SECRET, "two\nlines"],
        [SECRET, "x" * 41],
        [],
    ],
)
def test_a_row_of_data_is_not_listed(row: list[str]) -> None:
    assert list_columns(row) == ""


@pytest.mark.parametrize("typed", ["my doctor said no again", "x" * 41, "a\nb", "", "12345678", "a@b.example"])
def test_what_may_be_a_text_is_not_named(typed: str) -> None:
    assert describe_column_option("--column", typed) == "--column"
    assert describe_column_option("--column", typed, 2, 3) == "--column 2 of 3"
    assert describe_column_option("--column", "note", 2, 3) == "--column note"


def test_the_command_lists_the_header_and_no_row_of_data(here: Here, bundle: Path, tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    for content, said in (
        (
            'id,"the, note",Kind of ticket\n1,a,b\n',
            "t.csv: --column nope is not in the header; use --no-header if the file has none; its cells are not "
            "listed, since one may be data",
        ),
        (
            "id,note,Kind of ticket\n1,a,b\n",
            "t.csv: --column nope is not in the header (id, note, Kind of ticket); did you",
        ),
        (
            f"17,{SECRET},{SECRET} Novak\n18,a,b\n",
            "t.csv: --column nope is not in the header; use --no-header if",
        ),
        (f"{SECRET},2024-01-02\n", "t.csv: --column nope is not in the header; use --no-header if the file has none"),
    ):
        table.write_text(content)
        for command in ("sanitize", "preview"):
            ran = here(command, "-b", bundle, table, "--column", "nope")
            assert (ran.code, ran.out) == (1, b"")
            assert f"textveil: column: {said}" in ran.message
            assert SECRET not in ran.message
            assert ran.message.count("\n") == 1


def test_a_key_that_a_row_lacks_is_named_with_those_it_has(here: Here, bundle: Path, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text('{"id": 1, "messages": [{"role": "user", "content": "the"}]}\n')
    for key, said in (
        ("message[].content", "(message is not among id, messages; did you mean messages?)"),
        ("messages[].cntent", "(cntent is not among role, content; did you mean content?)"),
    ):
        assert said in here("sanitize", "-b", bundle, path, "--key", key).message
    path.write_text(f'{{"{SECRET}, 12 March": 1}}\n')
    assert SECRET not in here("sanitize", "-b", bundle, path, "--key", "note").message
