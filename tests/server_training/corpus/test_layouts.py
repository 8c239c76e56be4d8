"""Every format keeps its labels, lines and layout, and no text stays unrewritten."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import pytest
from small_corpus import write_bundle
from textveil_cli.errors import BadRow
from textveil_training.corpus import sanitize_corpus
from textveil_training.corpus.layouts import plan_rewrite
from textveil_training.data import FormatName, ReadOptions, load_examples
from textveil_training.errors import DataError, DataOptionError, UnknownFormat

Write = Callable[..., Path]
Sanitized = Callable[..., bytes]

SPLIT = "=" * 20
SICK = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n"
SAMPLES = {
    "sst2": "sentence\tlabel\nthe zorblax film\t1\na doctor , said zorblax\t0\n",
    "qnli": "index\tquestion\tsentence\tlabel\n7\twho ?\tzorblax did .\tentailment\n8\ta\tzorblax\tnot_entailment\n",
    "sick": f"{SICK}12\tA dog runs\tzorblax sits\t2.10\tNEUTRAL\n3\tzorblax\tb\t5\tENTAILMENT\n",
    "medsts": "zorblax was seen\tthe patient\t2.50\nb\tc\t0\n",
    "ag-entities": f"0\tzorblax news\t0 2\n{SPLIT}\n1\tthe news\t4\n{SPLIT}\n3\tmore of zorblax\t1\n{SPLIT}\n",
    "trustpilot": f"5 stars\tzorblax\t\n{SPLIT}\n1\tthe news\t0\n{SPLIT}\n3\tmore\t0 1\n",
    "blog": f"0\tzorblax news\t0 1\n{SPLIT}\n1\tthe news\t\n{SPLIT}\n3\tmore of zorblax\t1\n",
    "tsv": 'good\t"the zorblax film\nbad\ta doctor , said zorblax"\n',
    "text": "the zorblax film\n\n  \t \na doctor,\tsaid zorblax\n",
    "wikitext": " \n = Zorblax = \n \n The film of zorblax is = good = . \n \n = = Second heading = = \n",
    "jsonl": '{"text": "the zorblax\\n\\tfilm \\u00e9", "label": 1, "n": 1.10, "id": [1e400, "\\u00e9"]}\n'
    '  {"label":"b"  , "text":"zorblax"} \n',
}


@pytest.fixture(scope="module")
def sanitized(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., bytes]:
    """Sanitizes one file over a bundle of ten words; gives what was written."""
    bundle = write_bundle(tmp_path_factory.mktemp("formats") / "bundle")

    def sanitize(path: Path, folder: Path, format_name: str, **options: Any) -> bytes:
        given = {"options": {"mechanism": "random"}, "bundle": bundle, "workers": 1}
        sanitize_corpus([path], folder, format_name, **{**given, **options})
        return (folder / path.name).read_bytes()

    return sanitize


def carried(content: bytes, name: str) -> list[object]:
    """Return everything except text by line: headers, other columns, separators and blank lines."""
    texts = {"sst2": {0}, "qnli": {1, 2}, "sick": {1, 2}, "medsts": {0, 1}}.get(name, {1})
    lines = content.decode().split("\n")
    if name in ("text", "wikitext"):
        return [bool(line.strip()) for line in lines]
    if name == "jsonl":
        return [json.loads(line) | {"text": ""} if line.strip() else line for line in lines]
    cells = [line.split("\t") for line in lines]
    header = int(name in ("sst2", "qnli", "sick"))
    return [
        [cell for place, cell in enumerate(row) if number < header or len(row) == 1 or place not in texts]
        for number, row in enumerate(cells)
    ]


def test_every_format_has_a_sample() -> None:
    assert {*SAMPLES, "table"} == set(get_args(FormatName))
    with pytest.raises(UnknownFormat):
        plan_rewrite("csv", Path("my.csv"), ("text",))
    with pytest.raises(
        DataOptionError, match=r"the file name must end in \.csv, \.tsv, \.txt, \.jsonl, \.ndjson, \.parquet: rename"
    ):
        plan_rewrite("table", Path("my.xlsx"), ("text",))


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
    assert after.startswith("\ufeff".encode()) == before.startswith("\ufeff".encode())
    marked = [found.removeprefix("\ufeff".encode()) for found in (after, before)]
    assert carried(marked[0], name) == carried(marked[1], name)
    labels = [(example.label, example.attributes) for example in load_examples(name, path)]
    assert [(e.label, e.attributes) for e in load_examples(name, tmp_path / "out" / path.name)] == labels


def test_headings_and_objects_keep_their_shape(write: Write, sanitized: Sanitized, tmp_path: Path) -> None:
    headings = sanitized(write(SAMPLES["wikitext"]), tmp_path / "wiki", "wikitext").decode().split("\n")
    assert headings[1].startswith(" = ")
    assert headings[1].endswith(" = ")
    assert headings[5].startswith(" = = ")
    rows = sanitized(write(SAMPLES["jsonl"]), tmp_path / "jsonl", "jsonl").decode().split("\n")
    assert rows[0].endswith(', "label": 1, "n": 1.10, "id": [1e400, "\\u00e9"]}')
    assert json.loads(rows[0])["text"].count("\n\t") == 1
    assert rows[1].startswith('  {"label":"b"  , "text":"')


def test_several_keys(write: Write, sanitized: Sanitized, tmp_path: Path) -> None:
    path = write('{"q": "zorblax", "text": "kept zorblax", "a.b": "why zorblax"}\n')
    row = json.loads(sanitized(path, tmp_path / "out", "jsonl", text_keys=("a.b", "q")))
    assert list(row) == ["q", "text", "a.b"]
    assert row["text"] == "kept zorblax"
    assert "zorblax" not in row["q"] + row["a.b"]


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


@pytest.mark.parametrize("name", [*TABLES, "my.parquet"])
def test_a_table_keeps_all_but_its_texts(sanitized: Sanitized, tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if name == "my.parquet":
        pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
        from pyarrow import parquet

        text, label = "text", "y"
        parquet.write_table(pyarrow.table({"y": ["a", "b"], "text": ["zorblax", "the zorblax"]}), path)
    else:
        content, text, label = TABLES[name]
        path.write_bytes(content.encode())
    after = sanitized(path, tmp_path / "out", "table", text_keys=(text,), label_key=label)
    options = ReadOptions(text_key=text, label_key=label)
    before, found = (list(load_examples("table", at, None, options)) for at in (path, tmp_path / "out" / name))
    assert [row.label for row in found] == [row.label for row in before]
    assert any("zorblax" in row.texts[0] for row in before)
    assert b"zorblax" not in after
    if name != "my.parquet":
        assert after.count(b"\n") == path.read_bytes().count(b"\n")


@pytest.mark.parametrize(
    ("content", "columns", "message"),
    [
        ("a,b\n1,2,3\n", ("a",), "3 columns instead of 2"),
        ('a,b\n"1"x,2\n', ("a",), r"my\.csv, line 2: the line is not valid CSV"),
        ('a,b\n"1,2\n', ("a",), r"my\.csv, line 2: the line is not valid CSV"),
        ("a,b\n1,2\n", ("a", "2"), "give all columns by name, or all by number|give both"),
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
    assert not (tmp_path / "out").exists()


def test_a_key_that_stands_twice_is_refused(write: Write, sanitized: Sanitized, tmp_path: Path, canary: str) -> None:
    """The reader takes the last one; the other would be carried."""
    with pytest.raises(BadRow) as caught:
        sanitized(write(f'{{"text": "{canary}", "text": "b"}}\n'), tmp_path / "out", "jsonl")
    assert canary not in f"{caught.value!s}{caught.value!r}"
    assert not list((tmp_path / "out").glob("*.txt"))


def test_sanitized_punctuation_keeps_rows(write: Write, sanitized: Sanitized, tmp_path: Path) -> None:
    for number, options in enumerate(
        [{"sanitize_punctuation": True}, {"sanitize_punctuation": True, "mechanism": "krr", "epsilon": "3"}]
    ):
        for name in ("sst2", "qnli", "blog", "jsonl", "text"):
            path = write(SAMPLES[name])
            after = sanitized(path, tmp_path / f"{name}{number}", name, options=options)
            labels = [example.label for example in load_examples(name, path)]
            assert [e.label for e in load_examples(name, tmp_path / f"{name}{number}" / path.name)] == labels
            assert after.count(b"\n") == path.read_bytes().count(b"\n")


def test_the_options_of_the_check_reach_the_reader(write: Write, sanitized: Sanitized, tmp_path: Path) -> None:
    path = write('{"text": "a", "label": 1}\n{"text": "b"}\n')
    assert len(list(load_examples("jsonl", path, None, ReadOptions(label_key=None)))) == 2
    sanitized(path, tmp_path / "out", "jsonl")
    with pytest.raises(DataError) as caught:
        sanitized(path, tmp_path / "other", "jsonl", label_key="label")
    assert str(caught.value) == "rows.txt, line 2: the label is missing"
    assert not (tmp_path / "other").exists()
