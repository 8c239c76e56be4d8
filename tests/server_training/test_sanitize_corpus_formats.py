"""Every format goes through with its labels, lines and layout, and no text is carried."""

import csv
import io
import json
import string
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_corpus import write_bundle
from textveil_training.corpus import sanitize_corpus
from textveil_training.corpus.csv_cells import cells, quoted
from textveil_training.corpus.layouts import cut_block, layout_of
from textveil_training.data import FormatName, ReadOptions, load
from textveil_training.errors import (
    DataError,
    DataOptionError,
    FileLocation,
    InvalidJson,
    UnknownFormat,
    UnreadableFile,
    WrongColumnCount,
)

Write = Callable[..., Path]
Sanitized = Callable[..., bytes]

SPLIT = "=" * 20
SICK = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n"
USER = {
    "gender": "F",
    "birth_year": "1990",
    "location": "zorblax town",
    "profile_text": "zorblax",
    "reviews": [
        {"date": "2014-03-04T01", "rating": "5", "title": "zorblax, great", "text": ["the hotel", None], "id": 4},
        {"date": "2014-03-05", "rating": 2, "title": "", "text": ["zorblax again"]},
    ],
}
SAMPLES = {
    "sst2": "sentence\tlabel\nthe zorblax film\t1\na doctor , said zorblax\t0\n",
    "qnli": "index\tquestion\tsentence\tlabel\n7\twho ?\tzorblax did .\tentailment\n8\ta\tzorblax\tnot_entailment\n",
    "sick": f"{SICK}12\tA dog runs\tzorblax sits\t2.10\tNEUTRAL\n3\tzorblax\tb\t5\tENTAILMENT\n",
    "medsts": "zorblax was seen\tthe patient\t2.50\nb\tc\t0\n",
    "ag-entities": f"0\tzorblax news\t0 2\n{SPLIT}\n1\tthe news\t4\n{SPLIT}\n3\tmore of zorblax\t1\n{SPLIT}\n",
    "trustpilot": f"5 stars\tzorblax\t\n{SPLIT}\n1\tthe news\t0\n{SPLIT}\n3\tmore\t0 1\n",
    "trustpilot-users": f"{json.dumps(USER)}\n{ {'gender': None, 'name': 'zorblax'} }\n{USER}\n",
    "blog": f"0\tzorblax news\t0 1\n{SPLIT}\n1\tthe news\t\n{SPLIT}\n3\tmore of zorblax\t1\n",
    "blog-topics": "3\t1\tm\t4711\tzorblax wrote\ta letter\nNone\t3\tf\t12\tzorblax was unsure\n",
    "tsv": "good\tthe zorblax film\nbad\ta doctor , said zorblax\n",
    "text": "the zorblax film\n\n  \t \na doctor,\tsaid zorblax\n",
    "wikitext": " \n = Zorblax = \n \n The film of zorblax is = good = . \n \n = = Second heading = = \n",
    "jsonl": '{"text": "the zorblax\\n\\tfilm \\u00e9", "label": 1, "n": 1.10, "id": [1e400, "\\u00e9"]}\n'
    '  {"label":"b"  , "text":"zorblax"} \n',
}
HEADERS = {"sst2": 1, "qnli": 1, "sick": 1}


@pytest.fixture(scope="module")
def sanitized(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., bytes]:
    """Sanitizes one file over a bundle of ten words; gives what was written."""
    bundle = write_bundle(tmp_path_factory.mktemp("formats") / "bundle")

    def sanitize(path: Path, folder: Path, format_name: str, **options: Any) -> bytes:
        given = {"options": {"mechanism": "random"}, "bundle": bundle, "workers": 1, "shard_lines": 2}
        sanitize_corpus([path], folder, format_name, **{**given, **options})
        return (folder / path.name).read_bytes()

    return sanitize


def cut(content: bytes, format_name: str) -> list[list[str]]:
    return cut_block(content, layout_of(format_name), "rows.txt", 1)


def test_every_format_has_a_layout_and_a_sample() -> None:
    assert {*SAMPLES, "table"} == set(get_args(FormatName))
    for name in SAMPLES:
        assert layout_of(name).headers == HEADERS.get(name, 0)
    with pytest.raises(UnknownFormat):
        layout_of("csv")
    for path in (None, Path("my.parquet"), Path("my.xlsx")):
        with pytest.raises(DataOptionError, match="of tables, csv"):
            layout_of("table", path=path)


@pytest.mark.parametrize("name", SAMPLES)
def test_the_texts_are_those_of_the_reader(write: Write, name: str) -> None:
    """What the reader calls text is cut out as text; rows that it passes over may add some."""
    content = SAMPLES[name]
    texts = [part for parts in cut(content.encode(), name) for part in parts[1::2]]
    if name == "trustpilot-users":
        assert texts == ["zorblax, great", "the hotel", ""] * 2
        return
    read = [text for example in load(name, write(content)) for text in example.texts]
    if name == "wikitext":
        texts, read = ["".join(texts).split()], ["".join(read).replace("=", "").split()]
        texts = [[word for word in texts[0] if word != "="]]
    if name == "blog-topics":
        texts = texts[:1]
    assert texts == read


@pytest.mark.slow
@pytest.mark.parametrize("end", ["\n", "\r\n", "no end", "mark"])
@pytest.mark.parametrize("name", SAMPLES)
def test_all_but_the_texts_is_carried(write: Write, sanitized: Sanitized, tmp_path: Path, name: str, end: str) -> None:
    content = SAMPLES[name].replace("\n", end if end == "\r\n" else "\n")
    content = content.removesuffix("\n") if end == "no end" else content
    path = write("\ufeff" * (end == "mark") + content)
    before = path.read_bytes()
    after = sanitized(path, tmp_path / "out", name)
    assert b"zorblax" not in after.lower()
    assert after.count(b"\n") == before.count(b"\n")
    assert after.count(b"\r\n") == before.count(b"\r\n")
    assert [parts[::2] for parts in cut(after, name)] == [parts[::2] for parts in cut(before, name)]
    labels = [(example.label, getattr(example, "attributes", None)) for example in load(name, path)]
    assert [(e.label, getattr(e, "attributes", None)) for e in load(name, tmp_path / "out" / path.name)] == labels


def test_the_published_lines_read_as_before(write: Write, sanitized: Sanitized, tmp_path: Path) -> None:
    lines = sanitized(write(SAMPLES["sick"]), tmp_path / "sick", "sick").decode().split("\n")
    assert lines[0] + "\n" == SICK
    assert lines[1].startswith("12\t")
    assert lines[1].endswith("\t2.10\tNEUTRAL")
    headings = sanitized(write(SAMPLES["wikitext"]), tmp_path / "wiki", "wikitext").decode().split("\n")
    assert [bool(line.strip()) for line in headings] == [False, True, False, True, False, True, False]
    assert headings[1].startswith(" = ")
    assert headings[1].endswith(" = ")
    assert headings[5].startswith(" = = ")
    assert len(headings[5].split()) >= 6
    rows = sanitized(write(SAMPLES["jsonl"]), tmp_path / "jsonl", "jsonl").decode().split("\n")
    assert rows[0].endswith(', "label": 1, "n": 1.10, "id": [1e400, "\\u00e9"]}')
    assert json.loads(rows[0])["text"].count("\n\t") == 1
    assert rows[1].startswith('  {"label":"b"  , "text":"')


def test_several_keys(write: Write, sanitized: Sanitized, tmp_path: Path) -> None:
    path = write('{"q": "zorblax", "text": "kept zorblax", "a": "why zorblax"}\n')
    row = json.loads(sanitized(path, tmp_path / "out", "jsonl", text_keys=("a", "q")))
    assert list(row) == ["q", "text", "a"]
    assert row["text"] == "kept zorblax"
    assert "zorblax" not in row["q"] + row["a"]


TABLES = {
    "my.csv": (
        'id,"the\ntext",y\n1,"zorblax, ""great""\nfilm",a\n\n2,zorblax,"b\n"\n3,"the, film",c\n',
        "the\ntext",
        "y",
    ),
    "numbered.csv": ("zorblax,a\r\nthe zorblax,b", "1", "2"),
    "my.tsv": ('y\ttext\na\tzorblax "film\nb\tthe, zorblax\n', "text", "y"),
    "my.txt": ("a\tzorblax film\nb\tthe zorblax\n", "2", "1"),
    "my.jsonl": ('{"y": "a", "body": "zorblax"}\n{"body": "the zorblax", "y": 2}\n', "body", "y"),
}


@pytest.mark.parametrize("shard_lines", [1, 2, 100])
@pytest.mark.parametrize("name", TABLES)
def test_a_table_keeps_all_but_its_texts(sanitized: Sanitized, tmp_path: Path, name: str, shard_lines: int) -> None:
    content, text, label = TABLES[name]
    path = tmp_path / name
    path.write_bytes(content.encode())
    given = {"text_keys": (text,), "label_key": label, "shard_lines": shard_lines}
    after = sanitized(path, tmp_path / "out", "table", **given)
    options = ReadOptions(text_key=text, label_key=label)
    read = [list(load("table", at, None, options)) for at in (path, tmp_path / "out" / name)]
    assert [row.label for row in read[1]] == [row.label for row in read[0]]
    assert any("zorblax" in row.texts[0] for row in read[0])
    assert b"zorblax" not in after
    texts = [part for parts in cut_block(path.read_bytes(), layout_of("table", (text,), path), name, 1)
             for part in parts[1::2]]  # fmt: skip
    assert texts == [row.texts[0] for row in read[0]]
    carried = [
        [parts[::2] for parts in cut_block(block, layout_of("table", (text,), at), name, 1)]
        for at, block in ((path, content.encode()), (tmp_path / "out" / name, after))
    ]
    assert carried[0] == carried[1]


@pytest.mark.parametrize(
    ("content", "columns", "message"),
    [
        ("a,b\n1,2,3\n", ("a",), "3 columns instead of 2"),
        ('a,b\n"1"x,2\n', ("a",), "no CSV"),
        ('a,b\n"1,2\n', ("a",), "no CSV"),
        ('a,b\n1"x,2\n', ("a",), "no CSV"),
        ("a,b\n1,2\n", ("a", "2"), "name all columns, or number all"),
        ("a,b\n1,2\n", ("c",), "no column of the name"),
        ("a,b\n ,2\n", ("a",), "the text is missing"),
        ("", ("a",), "empty"),
    ],
)
def test_a_table_that_cannot_be_cut_is_refused(
    sanitized: Sanitized, tmp_path: Path, content: str, columns: tuple[str, ...], message: str
) -> None:
    (tmp_path / "my.csv").write_text(content)
    with pytest.raises((DataError, DataOptionError), match=message):
        sanitized(tmp_path / "my.csv", tmp_path / "out", "table", text_keys=columns)


@given(st.lists(st.tuples(st.text('ab,"\n\r é'), st.text('xy,"\n\r')), min_size=1, max_size=4))
def test_cells_are_found_where_the_csv_module_finds_them(rows: list[tuple[str, str]]) -> None:
    for row in rows:
        written = io.StringIO()
        csv.writer(written).writerow(row)
        parts = cells(2, (1,))(written.getvalue().removesuffix("\r\n"), FileLocation("my.csv", 1))
        assert parts[1] == row[1]
        (again,) = csv.reader(io.StringIO(parts[0] + quoted(parts[1]) + parts[2], newline=""), strict=True)
        assert tuple(again) == row


def test_of_a_user_only_what_the_reader_uses_is_left(write: Write, sanitized: Sanitized, tmp_path: Path) -> None:
    first, second, third = (
        sanitized(write(SAMPLES["trustpilot-users"]), tmp_path / "out", "trustpilot-users").decode().split("\n")[:3]
    )
    assert second == "{}"
    for line in (first, third):
        user = json.loads(line)
        assert set(user) == {"gender", "birth_year", "reviews"}
        assert [set(review) for review in user["reviews"]] == [{"rating", "date", "title", "text"}]
        assert user["reviews"][0]["date"] == "2014-"
        assert len(user["reviews"][0]["text"]) == 2


def test_strict_and_dropped_case_keep_rows(write: Write, sanitized: Sanitized, tmp_path: Path) -> None:
    for number, options in enumerate(
        [{"sanitize_punctuation": True}, {"case": "drop", "mechanism": "krr", "epsilon": "3"}]
    ):
        for name in ("sst2", "qnli", "blog-topics", "jsonl", "text"):
            path = write(SAMPLES[name])
            after = sanitized(path, tmp_path / f"{name}{number}", name, options=options)
            labels = [example.label for example in load(name, path)]
            assert [e.label for e in load(name, tmp_path / f"{name}{number}" / path.name)] == labels
            assert after.count(b"\n") == path.read_bytes().count(b"\n")


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(st.characters(codec="utf-8")),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(string.ascii_letters), inner, max_size=3),
    max_leaves=6,
)
keys = st.text(st.characters(codec="utf-8"), max_size=4)


@given(st.dictionaries(keys, values), keys, st.text(st.characters(codec="utf-8")), st.sampled_from([None, 1, "\t"]))
def test_members_are_found_where_they_are(row: dict[str, Any], key: str, text: str, indent: Any) -> None:
    row |= {key: text}
    for ascii_only in (True, False):
        line = json.dumps(row, ensure_ascii=ascii_only, indent=indent).replace("\n", " ")
        parts = layout_of("jsonl", [key]).cut(line, FileLocation("rows.txt", 1))
        assert parts[1] == text
        changed = parts[0] + json.dumps("other") + parts[2]
        assert json.loads(changed) == row | {key: "other"}
        assert line.startswith(parts[0])
        assert line.endswith(parts[2])


@given(st.text(string.printable, max_size=12) | values.map(json.dumps), st.integers(0, 12))
def test_an_object_is_what_the_decoder_takes_for_one(line: str, cut_at: int) -> None:
    for candidate in (line, line[:cut_at], line + "}"):
        try:
            is_object = isinstance(json.loads(candidate), dict)
        except ValueError:
            is_object = False
        cut_row = layout_of("jsonl", ["no such key"]).cut
        if is_object:
            assert cut_row(candidate, FileLocation("rows.txt", 1)) == [candidate]
            continue
        with pytest.raises(InvalidJson) as caught:
            cut_row(candidate, FileLocation("rows.txt", 1))
        assert caught.value.__context__ is None


@pytest.mark.parametrize(
    ("name", "line", "kind"),
    [
        ("jsonl", '{"text": "quokkasecret", "text": "b"}', InvalidJson),
        ("jsonl", '{"text": ["quokkasecret"], "text": "b"}', InvalidJson),
        ("jsonl", '["quokkasecret"]', InvalidJson),
        ("trustpilot-users", "quokkasecret", InvalidJson),
        ("blog-topics", "1\t1\tm\tquokkasecret", WrongColumnCount),
        ("sst2", "header\nquokkasecret", WrongColumnCount),
        ("sst2", "header\nquokkasecret\t1\t2", WrongColumnCount),
    ],
)
def test_a_line_that_cannot_be_cut(name: str, line: str, kind: type[DataError], canary: str) -> None:
    """The reader refuses most of these before; a repeated key it takes, and one of the values would be carried."""
    with pytest.raises(kind) as caught:
        cut(line.encode(), name)
    assert canary not in f"{caught.value!s}{caught.value!r}"
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


def test_bytes_that_changed_to_no_text(canary: str) -> None:
    with pytest.raises(UnreadableFile) as caught:
        cut(b"\xff" + canary.encode(), "text")
    assert caught.value.__context__ is None


def test_the_options_of_the_check_reach_the_reader(write: Write, sanitized: Sanitized, tmp_path: Path) -> None:
    path = write('{"text": "a", "label": 1}\n{"text": "b"}\n')
    assert len(list(load("jsonl", path, None, ReadOptions(label_key=None)))) == 2
    sanitized(path, tmp_path / "out", "jsonl")
    with pytest.raises(DataError) as caught:
        sanitized(path, tmp_path / "other", "jsonl", label_key="label")
    assert str(caught.value) == "rows.txt, line 2: the label is missing"
    assert not (tmp_path / "other").exists()
