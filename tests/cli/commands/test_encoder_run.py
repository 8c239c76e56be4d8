"""``textveil encode`` writes a line for each row of a table, and takes no table for plain text."""

from collections.abc import Callable
from pathlib import Path

import pytest
from textveil import Ledger


@pytest.fixture
def encode(here: Callable, index_bundle: Path) -> Callable:
    """``textveil encode`` with a small index."""
    return lambda *arguments: here("encode", "-b", index_bundle, *arguments)


def test_a_table_is_no_plain_text(encode: Callable, tmp_path: Path) -> None:
    for name, content, flag in (
        ("t.txt", "id,note\n1,doctor\n2,nurse\n", "looks like CSV, and every cell would be rewritten: use --csv"),
        ("t.txt", '{"note": "doctor"}\n', "--jsonl --key NAME"),
    ):
        (tmp_path / name).write_text(content)
        ran = encode(tmp_path / name)
        assert (ran.code, ran.out) == (1, b"")
        assert flag in ran.message
        assert len(encode(tmp_path / name, "--plain").text.splitlines()) == content.count("\n")


def test_each_row_gives_a_line(encode: Callable, tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text('id,note\n1,doctor\n2,\n\n3,"nurse, and\nflu"\n')
    ran = encode("--csv", "-c", "note", table, "--ledger", tmp_path / "ledger")
    assert (ran.code, len(ran.text.splitlines())) == (0, 3), "an empty cell is an empty text"
    assert "3 documents" in ran.message
    assert Ledger(tmp_path / "ledger").list_accounts()[0][1] == 3
    (tmp_path / "t.jsonl").write_text('{"by": {"note": "doctor"}}\n{"by": {"note": null}}\n')
    assert len(encode("--jsonl", "--key", "by.note", tmp_path / "t.jsonl").text.splitlines()) == 2
    (tmp_path / "t.tsv").write_text("a\tb\nc\td\n")
    assert len(encode("--tsv", "--no-header", "-c", "2", tmp_path / "t.tsv").text.splitlines()) == 2


def test_each_row_of_parquet(encode: Callable, tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    parquet.write_table(pyarrow.table({"note": ["doctor", None, "nurse"]}), tmp_path / "t.parquet")
    assert len(encode("--parquet", "-c", "note", tmp_path / "t.parquet").text.splitlines()) == 3


@pytest.mark.parametrize(
    ("content", "options", "said"),
    [
        ("id,note\n1,a,b\n", ["-c", "note"], "bad-row: t.csv, row 1 (line 2): 3 cells"),
        (
            "id,note\n1,a\n",
            ["-c", "a secret where a column belongs"],
            "column: t.csv: --column is not in the header (id, note)",
        ),
        (
            "id,note\n1,a\n",
            ["-c", "note", "--text", "secret"],
            "--text cannot be combined with a table, --column or --key",
        ),
    ],
)
def test_what_does_not_fit(encode: Callable, tmp_path: Path, content: str, options: list[str], said: str) -> None:
    (tmp_path / "t.csv").write_text(content)
    ran = encode("--csv", *options, *([] if "--text" in options else [tmp_path / "t.csv"]))
    assert (ran.code, ran.out) == (1, b"")
    assert said in ran.message
    assert "secret" not in ran.message


def test_a_row_with_several_texts(encode: Callable, tmp_path: Path) -> None:
    (tmp_path / "t.jsonl").write_text('{"note": ["doctor", "nurse"]}\n')
    ran = encode("--jsonl", "--key", "note[]", tmp_path / "t.jsonl")
    assert "row 1 (line 1): the key has several texts, but this command writes one line per row" in ran.message


@pytest.mark.slow
def test_a_bundle_is_named_either_way(here: Callable, index_bundle: Path) -> None:
    for command in ("info", "verify"):
        first, second = here(command, index_bundle), here(command, "--bundle", index_bundle)
        assert (first.code, first.out) == (second.code, second.out)
        assert first.code == 0
        assert "pass the bundle once" in here(command, index_bundle, "--bundle", index_bundle).message


def test_what_is_encoded_is_not_written_like_another_format(encode: Callable, tmp_path: Path) -> None:
    for name, options, fits in (
        ("a.tsv", [], True),
        ("a.txt", [], True),
        ("a", [], True),
        ("a.csv", [], False),
        ("a.parquet", [], False),
        ("a.tsv.gz", [], False),
        ("a.jsonl", ["--json"], True),
        ("a.tsv", ["--json"], False),
    ):
        ran = encode("--text", "doctor", *options, "-o", tmp_path / name)
        assert (ran.code == 0) == fits, name
        assert ("--output" in ran.message) != fits
