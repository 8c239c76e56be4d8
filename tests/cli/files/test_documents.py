"""Cells of one document get equal outputs for equal words, which are spent once."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from textveil import Sanitizer
from textveil.errors import DocumentTooLong
from textveil_cli.files.blocks import TOO_LONG, sanitize_block

NAMES = ["Anna", "Peter", "Maria", "Thomas"]


def release(here: Callable, path: Path, out: Path, *arguments: str) -> tuple[list[list[str]], dict]:
    """Rewrites columns a and b of a table; returns its rows, and what is said of them."""
    ran = here("sanitize", "--protect", "words", "--csv", "-c", "a", "-c", "b", path, "-o", out, "--json", *arguments)
    assert ran.code == 0, ran.message
    rows = [line.split(",") for line in out.read_text("utf-8").splitlines()[1:]]
    return rows, json.loads(ran.text)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Two people with three rows each; words of a person come back in other cells and rows."""
    path = tmp_path / "t.csv"
    rows = [f"{person},{NAMES[person]} {NAMES[person]},{NAMES[person]} paid" for person in (0, 0, 0, 1, 1, 1)]
    path.write_text("id,a,b\n" + "\n".join(rows) + "\n", "utf-8")
    return path


def test_a_cell_a_row_a_key(here: Callable, table: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    by_cell, said = release(here, table, out, "--consistent", "--document", "cell")
    assert all(len(set(a.split())) == 1 for _, a, _ in by_cell)
    assert (said["documents"], said["document_unit"]) == (12, "cell")
    by_row, said = release(here, table, out, "--consistent", "--document", "row")
    assert all(len({*a.split(), b.split()[0]}) == 1 for _, a, b in by_row)
    assert (said["documents"], said["rows"]) == (6, 6)
    by_key, said = release(here, table, out, "--consistent", "--document-key", "id")
    assert said["documents"] == 2
    for person in "01":
        names = {name for one, a, b in by_key if one == person for name in (*a.split(), b.split()[0])}
        assert len(names) == 1
        assert len({b.split()[1] for one, _, b in by_key if one == person}) == 1
    assert said["tokens"] == 2, "paid, once for each person; names are kinds"
    assert said["max_tokens"] == 1


def test_a_cell_alone_is_the_default_without_consistent_draws(here: Callable, table: Path, tmp_path: Path) -> None:
    _, said = release(here, table, tmp_path / "out.csv")
    assert (said["documents"], said["tokens"]) == (12, 6)
    ran = here("sanitize", "--protect", "words", "--csv", "-c", "a", "--consistent", table)
    assert "needs --document cell, row or file, or --document-key" in ran.message


def test_a_key_that_comes_back(here: Callable, tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(b"id,a\n1,x\n2,y\n1,z\n")
    arguments = ["sanitize", "--csv", "-c", "a", "--consistent", "--document-key", "id", path]
    ran = here(*arguments)
    assert ran.code == 1
    assert ran.message.endswith(
        "textveil: bad-row: t.csv, row 3 (line 4): the document has earlier rows that are not adjacent: sort the rows "
        "by --document-key (the output ends before this row; --rejected-rows FILE skips rejected rows)\n"
    )
    assert here(*arguments, "-o", tmp_path / "out.csv", "--rejected-rows", tmp_path / "kept").code == 0
    assert (tmp_path / "out.csv").read_bytes().count(b"\n") == 3
    assert json.loads((tmp_path / "kept").read_text())["raw"] == "1,z\n"
    assert "--document-key no is not in the header (id, a)" in here(*arguments[:-2], "no", path).message


def test_keys_of_json_lines(here: Callable, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    rows = [
        {"thread": {"id": 1}, "text": "Anna paid"},
        {"thread": {"id": 1}, "text": "Anna"},
        {"thread": {"id": "1"}, "text": "Anna"},
    ]
    path.write_text("\n".join(map(json.dumps, rows)) + "\n")
    out = tmp_path / "out.jsonl"
    ran = here("sanitize", "--jsonl", "--key", "text", "--consistent", "--document-key", "thread.id", path, "-o", out)
    assert ran.code == 0, ran.message
    texts = [json.loads(line)["text"] for line in out.read_text("utf-8").splitlines()]
    assert texts[0].split()[0] == texts[1]
    assert "3 rows, 2 documents" in ran.message
    path.write_text('{"text": "x"}\n')
    assert "the row lacks the key of --document-key" in here(
        "sanitize", "--jsonl", "--key", "text", "--consistent", "--document-key", "thread.id", path
    ).message  # fmt: skip


def test_documents_that_are_too_long(here: Callable, tmp_path: Path) -> None:
    """They cause an error, or go to the rejected rows; the others are rewritten."""
    path, out, kept = tmp_path / "t.csv", tmp_path / "out.csv", tmp_path / "kept"
    path.write_bytes(b'id,a,b\n1,the invoice,"x"\n2,doctor nurse invoice,"y"\n3,nurse,z\n')
    arguments = [
        *"sanitize --protect words --csv -c a --consistent --document cell --consistent-cap 2".split(),
        path,
        "-o",
        out,
    ]
    ran = here(*arguments)
    assert ran.message.endswith(
        "t.csv, row 2 (line 3): the document has more randomized words, names and numbers than --consistent-cap "
        "allows (--rejected-rows FILE skips rejected rows)\n"
    )
    assert not out.exists()
    ran = here(*arguments, "--rejected-rows", kept)
    assert ran.code == 0
    assert "textveil: 1 file, 2 rows, 2 texts with at most 1 distinct randomized word" in ran.message
    assert [line.split(",")[0] for line in out.read_text().splitlines()] == ["id", "1", "3"]
    assert json.loads(kept.read_text())["raw"] == '2,doctor nurse invoice,"y"\n'


def test_documents_of_several_texts(english: Sanitizer) -> None:
    documents = [["Anna paid the invoice", "Anna: the invoice"], [], [""], ["the invoice", "", "invoice"]]
    drawn = english.sanitize_documents(documents, protect="words", consistent=True)
    assert [len(one.texts) for one in drawn] == [2, 0, 1, 3]
    assert [one.tokens for one in drawn] == [2, 0, 0, 1], "Anna is a kind"
    first, second = drawn[0].texts
    assert first.split()[0] == second.split()[0].rstrip(":")
    assert first.split()[3] == second.split()[2]
    assert drawn[3].texts[0].split()[1] == drawn[3].texts[2]
    plain = english.sanitize_documents(documents, protect="words")
    assert [one.tokens for one in plain] == [3, 0, 0, 2], "every mention is drawn and charged"
    assert english.sanitize_documents([], protect="words", consistent=True) == []


def test_texts_of_a_document_each_begin_a_sentence(english: Sanitizer) -> None:
    """As the same text alone does: what is a name is classified as if the cell stood alone."""
    texts = ["Will paid.", "Mark left", "May I go"]
    alone = [english.preview(text, protect="words") for text in texts]
    (joined,) = english.sanitize_documents([texts], protect="words", consistent=True)
    for shown, text in zip(alone, joined.texts, strict=True):
        words = [piece for piece, what in shown if what == "kept"]
        assert [word for word in text.replace(".", "").split() if word in words] == words


def test_long_documents_one_by_one(english: Sanitizer) -> None:
    options = {"protect": "words", "consistent": True, "consistent_cap": 2}
    drawn = sanitize_block(english, ["doctor nurse", "doctor", "nurse invoice", "doctor"], [1, 2, 1], options)  # type: ignore[arg-type]
    texts, tokens = drawn.texts, drawn.tokens
    assert tokens == [2, TOO_LONG, 1]
    assert [text is TOO_LONG for text in texts] == [False, True, True, False]
    with pytest.raises(DocumentTooLong):
        english.sanitize_documents([["doctor", "nurse invoice"]], **options)  # type: ignore[arg-type]
