"""Files in parts: together the parts are the file, cut where rows end, and each is rewritten by itself."""

import csv
import gzip
import io
import json
import os
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textveil import Sanitizer
from textveil.errors import OptionError
from textveil_cli.errors import BadRow, ColumnError, FileChanged
from textveil_cli.file_shards import get_shard_path, sanitize_shard, split_file
from textveil_cli.files import BlockSanitizer, ColumnSelection, RejectedRowsFile, SourceFile, get_file_version
from textveil_cli.files.blocks import NO_TEXTS, RewrittenDocuments


class Upper(BlockSanitizer):
    """Writes every text in capitals, so that outputs can be told from inputs."""

    def __init__(self):
        pass

    def sanitize_blocks(self, steps):
        for step, work in steps:
            yield (
                step,
                NO_TEXTS
                if work is None
                else RewrittenDocuments([t.upper() for t in work.texts], [1] * len(work.document_sizes)),
            )


def source_of(path, target=None):
    return SourceFile(path=path, name=path.name, target=target, size=path.stat().st_size)


def rewritten(path, selection, size, folder, quarantine=None):
    """Return the shards of a file, and the bytes of their outputs."""
    parts, outputs = [*split_file(source_of(path), selection, size)], []
    for part in parts:
        target = get_shard_path(folder, path.name, part.number)
        sanitize_shard(
            source_of(path, target), part, get_file_version(path.stat()), selection, Upper(), rejected_rows=quarantine
        )
        outputs.append(target.read_bytes())
    return parts, outputs


CELLS = st.text("ab,\"\n '", max_size=12)


@given(
    st.lists(st.tuples(CELLS, CELLS), max_size=20), st.integers(1, 80), st.booleans(), st.sampled_from(["\n", "\r\n"])
)
def test_parts_of_csv_together_are_the_file(tmp_path_factory, rows, size, mark, end):
    folder = tmp_path_factory.mktemp("parts")
    written = io.StringIO()
    csv.writer(written, lineterminator=end).writerows([("id", "note"), *rows])
    head = b"\xef\xbb\xbf" if mark else b""
    path = folder / "t.csv"
    path.write_bytes(head + written.getvalue().encode())
    parts, outputs = rewritten(path, ColumnSelection(format="csv", columns=("note",)), size, folder)
    heading = head + b"id,note" + end.encode()
    assert all(output.startswith(heading) for output in outputs)
    read = [
        row for output in outputs for row in csv.reader(io.StringIO(output.removeprefix(heading).decode(), newline=""))
    ]
    expected = [*csv.reader(io.StringIO(written.getvalue(), newline=""))][1:]
    assert read == [[row[0], row[1].upper()] if row else [] for row in expected]
    assert [part.start for part in parts[1:]] == [part.stop for part in parts[:-1]]
    assert sum(part.size for part in parts) == path.stat().st_size - parts[0].head


@given(st.lists(st.text('ab" é', max_size=12)), st.integers(1, 80))
def test_parts_of_json_lines_together_are_the_file(tmp_path_factory, texts, size):
    folder = tmp_path_factory.mktemp("parts")
    path = folder / "t.jsonl"
    path.write_text("".join(json.dumps({"n": n, "text": text}) + "\n" for n, text in enumerate(texts)), "utf-8")
    _, outputs = rewritten(path, ColumnSelection(format="jsonl", columns=("text",)), size, folder)
    read = [json.loads(line) for line in b"".join(outputs).splitlines()]
    assert read == [{"n": n, "text": text.upper()} for n, text in enumerate(texts)]


def test_the_first_part_is_there_before_the_rest_was_read(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b"note\n" + b"a cell\n" * 1_000_000)
    read = []
    original = os.read

    def counting(descriptor, size):
        chunk = original(descriptor, size)
        read.append(len(chunk))
        return chunk

    os.read = counting
    try:
        parts: Any = split_file(source_of(path), ColumnSelection(format="csv", columns=("note",)), 100_000)
        next(parts)
    finally:
        os.read = original
    parts.close()
    assert sum(read) < path.stat().st_size / 4


def test_rows_are_numbered_as_in_the_whole_file(tmp_path):
    path = tmp_path / "t.csv"
    lines = ["id,note", *(f"{n},word" for n in range(50)), '7,"two\nlines"', "ragged", "9,word"]
    path.write_text("\n".join(lines) + "\n", "utf-8")
    with pytest.raises(BadRow, match=r"t\.csv, row 52 \(line 54\)"):
        rewritten(path, ColumnSelection(format="csv", columns=("note",)), 40, tmp_path)
    quarantine = RejectedRowsFile(tmp_path / "bad", resume=False)
    parts, outputs = rewritten(path, ColumnSelection(format="csv", columns=("note",)), 40, tmp_path, quarantine)
    assert len(parts) > 5
    assert b"ragged" not in b"".join(outputs)
    (bad,) = map(json.loads, (tmp_path / "bad").read_text("utf-8").splitlines())
    assert (bad["file"], bad["row"], bad["line"]) == ("t.csv", 52, 54)


def test_a_packed_file_is_one_part(tmp_path):
    path = tmp_path / "t.csv.gz"
    path.write_bytes(gzip.compress(b"note\n" + b"word\n" * 1000, mtime=0))
    parts, outputs = rewritten(path, ColumnSelection(format="csv", columns=("note",)), 10, tmp_path)
    assert len(parts) == 1
    assert gzip.decompress(outputs[0]) == b"note\n" + b"WORD\n" * 1000
    assert (tmp_path / "t-00000.csv.gz").exists()


def test_parquet_is_cut_between_row_groups(tmp_path):
    pyarrow = pytest.importorskip("pyarrow", reason="needs pyarrow")
    from pyarrow import parquet

    path = tmp_path / "t.parquet"
    table = pyarrow.table({"n": range(100), "note": [f"word {n}" if n % 7 else None for n in range(100)]})
    parquet.write_table(table, path, row_group_size=10)
    parts = [*split_file(source_of(path), ColumnSelection(format="parquet", columns=("note",)), 1)]
    assert [(part.start, part.stop, part.rows) for part in parts] == [(n, n + 1, 10 * n) for n in range(10)]
    rewritten(path, ColumnSelection(format="parquet", columns=("note",)), 1, tmp_path)
    read = pyarrow.concat_tables(parquet.read_table(tmp_path / f"t-{n:05}.parquet") for n in range(10))
    assert read.column("n").to_pylist() == [*range(100)]
    assert read.column("note").to_pylist() == [f"WORD {n}" if n % 7 else None for n in range(100)]
    assert len([*split_file(source_of(path), ColumnSelection(format="parquet", columns=("note",)))]) == 1


def test_an_empty_file_is_one_part(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b"note\n")
    assert rewritten(path, ColumnSelection(format="csv", columns=("note",)), 10, tmp_path)[1] == [b"note\n"]
    path.write_bytes(b"")
    with pytest.raises(ColumnError):
        list(split_file(source_of(path), ColumnSelection(format="csv", columns=("note",)), 10))


def test_a_file_that_changed_since_is_refused(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b"note\nword\n")
    (part,) = split_file(source_of(path), ColumnSelection(format="csv", columns=("note",)))
    version = get_file_version(path.stat())
    path.write_bytes(b"note\nother words\n")
    with pytest.raises(FileChanged):
        sanitize_shard(
            source_of(path, tmp_path / "out"), part, version, ColumnSelection(format="csv", columns=("note",)), Upper()
        )
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    "selection",
    [
        ColumnSelection(format="csv", columns=("note",), document="key", document_key="id"),
        ColumnSelection(format="csv", columns=("1",), header=False),
        ColumnSelection(format="jsonl", columns=("text",), allow_missing=True),
        ColumnSelection(format="lines", document="file"),
    ],
)
def test_what_needs_the_whole_file_is_refused(tmp_path, selection):
    path = tmp_path / "t"
    path.write_bytes(b"")
    with pytest.raises(OptionError):
        next(split_file(source_of(path), selection))


def test_a_part_is_drawn_by_the_sanitizer(tmp_path):
    path = tmp_path / "t.csv"
    path.write_bytes(b"id,note\n1,doctor doctor doctor doctor\n")
    (part,) = split_file(source_of(path), ColumnSelection(format="csv", columns=("note",)))
    target = tmp_path / "out.csv"
    drawer = BlockSanitizer(Sanitizer.load(), None, {}, 1)
    counts = sanitize_shard(
        source_of(path, target),
        part,
        get_file_version(path.stat()),
        ColumnSelection(format="csv", columns=("note",)),
        drawer,
    )
    assert (counts.rows, counts.documents, counts.tokens) == (1, 1, 4)
    assert target.read_bytes().startswith(b"id,note\n1,")
