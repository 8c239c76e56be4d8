"""Formats of tab-separated columns are read as written, and malformed rows are named."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from textveil_training.data import FORMATS, FormatName, LabeledExample, load_examples
from textveil_training.data.published import SECTIONS, SEPARATOR
from textveil_training.errors import (
    DataError,
    EmptyData,
    InvalidAttributes,
    InvalidScore,
    MissingLabel,
    MissingSplit,
    MissingText,
    UnknownLabel,
    WrongColumnCount,
    WrongLayout,
)

Write = Callable[..., Path]
Refuses = Callable[..., DataError]

SST2, QNLI = "sentence\tlabel\n", "index\tquestion\tsentence\tlabel\n"
SICK = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n"
END = SEPARATOR + "\n"
AG = f"0\ta b\t0 1\n1\tc\t4\n{END}3\td\t2\n{END}2\te\t0\n{END}"
GOOD = {
    "sst2": (SST2, "good\t1\n"),
    "qnli": (QNLI, "0\ta\tb\tentailment\n"),
    "sick": (SICK, "0\ta\tb\t5\tNEUTRAL\n"),
    "medsts": ("", "a\tb\t5\n"),
    "ag-entities": ("", "0\ta\t0\n"),
    "tsv": ("", "ham\ta\n"),
}

cells = st.text(st.characters(exclude_characters="\t\n", exclude_categories=["Cs"])).filter(str.strip)
one, two = st.tuples(cells), st.tuples(cells, cells)
scores = st.integers(1000, 5000).map(lambda thousandths: thousandths / 1000)
indices = st.sets(st.integers(0, 4), min_size=1).map(lambda found: tuple(sorted(found)))


def lines_of(name: FormatName, rows: list[LabeledExample]) -> str:
    """Return the rows of a format in the syntax of its files."""
    columns, lines = FORMATS[name].columns, []
    assert columns is not None
    for row in rows:
        cells = ["0"] * columns.width
        for place, text in zip(columns.texts, row.texts, strict=True):
            cells[place] = text
        if columns.label is not None:
            cells[columns.label] = row.label
        if columns.score is not None:
            cells[columns.score] = str(row.score)
        if columns.attribute_column is not None:
            cells[columns.attribute_column] = " ".join(map(str, row.attributes))
        lines.append("\t".join(cells) + "\n")
    return "".join(lines)


JUDGMENTS = ("NEUTRAL", "ENTAILMENT", "CONTRADICTION")
EXAMPLES = {
    "sst2": st.builds(LabeledExample, texts=one, label=st.sampled_from(("0", "1"))),
    "qnli": st.builds(LabeledExample, texts=two, label=st.sampled_from(("entailment", "not_entailment"))),
    "sick": st.builds(LabeledExample, texts=two, label=st.sampled_from(JUDGMENTS), score=scores),
    "medsts": st.builds(LabeledExample, texts=two, score=scores),
    "tsv": st.builds(LabeledExample, texts=one, label=cells),
}
ATTRIBUTED = st.builds(LabeledExample, texts=one, label=st.sampled_from("0123"), attributes=indices)


@pytest.mark.parametrize("name", EXAMPLES)
@given(data=st.data())
def test_what_is_written_is_read(
    tmp_path_factory: pytest.TempPathFactory, name: FormatName, data: st.DataObject
) -> None:
    rows: list[LabeledExample] = data.draw(st.lists(EXAMPLES[name], min_size=1))
    path = tmp_path_factory.mktemp("rows") / "rows.txt"
    header = "\t".join(FORMATS[name].columns.names)  # type: ignore[union-attr]
    lines = lines_of(name, rows)
    assume("\r\n" not in lines)  # which ends a line as well
    path.write_bytes(((header + "\n" if header else "\ufeff") + lines).encode())
    assert list(load_examples(name, path)) == rows


@pytest.mark.slow
@given(splits=st.tuples(*[st.lists(ATTRIBUTED, min_size=1)] * 3))
def test_splits_in_one_file_are_read(
    tmp_path_factory: pytest.TempPathFactory, splits: tuple[list[LabeledExample], ...]
) -> None:
    path = tmp_path_factory.mktemp("ag") / "rows.txt"
    path.write_bytes("".join(lines_of("ag-entities", rows) + END for rows in splits).encode())
    for name, rows in zip(SECTIONS, splits, strict=True):
        assert list(load_examples("ag-entities", path, name)) == rows


def test_quotes_are_characters_and_line_ends_may_be_those_of_windows(write: Write) -> None:
    assert list(load_examples("sst2", write(SST2 + 'a "fine film\t1\n"of saucy \t0\n'))) == [
        LabeledExample(texts=('a "fine film',), label="1"),
        LabeledExample(texts=('"of saucy ',), label="0"),
    ]
    path = write((SICK + "6\tno boy\ta kid\t3.3\tNEUTRAL\n").replace("\n", "\r\n"))
    assert list(load_examples("sick", path)) == [LabeledExample(texts=("no boy", "a kid"), label="NEUTRAL", score=3.3)]


@pytest.mark.parametrize(
    ("name", "row", "kind"),
    [
        ("sst2", "{0}", WrongColumnCount),
        ("sst2", "{0}\t1\t", WrongColumnCount),
        ("sst2", "", WrongColumnCount),
        ("sst2", "{0}\t", MissingLabel),
        ("sst2", "{0}\t ", MissingLabel),
        ("sst2", "  \t1", MissingText),
        ("sst2", "{0}\t2", UnknownLabel),
        ("sst2", "{0}\t 1", UnknownLabel),
        ("sst2", "1\t{0}", UnknownLabel),
        ("qnli", "0\t{0}\t{0}\tentailment\t", WrongColumnCount),
        ("qnli", "0\t\t{0}\tentailment", MissingText),
        ("qnli", "0\t{0}\t\tentailment", MissingText),
        ("qnli", "0\t{0}\t{0}\tEntailment", UnknownLabel),
        ("sick", "1\t{0}\t{0}\t3.5", WrongColumnCount),
        ("sick", "1\t{0}\t \t3.5\tNEUTRAL", MissingText),
        ("sick", "1\t{0}\t{0}\t{0}\tNEUTRAL", InvalidScore),
        ("sick", "1\t{0}\t{0}\tnan\tNEUTRAL", InvalidScore),
        ("sick", "1\t{0}\t{0}\t0.9\tNEUTRAL", InvalidScore),
        ("sick", "1\t{0}\t{0}\t5.1\tNEUTRAL", InvalidScore),
        ("sick", "1\t{0}\t{0}\t3.5\t", MissingLabel),
        ("sick", "1\t{0}\t{0}\t3.5\tneutral", UnknownLabel),
        ("medsts", "{0}\t{0}\t", InvalidScore),
        ("medsts", "{0}\t{0}\t5.5", InvalidScore),
        ("ag-entities", "0\t{0}", WrongColumnCount),
        ("ag-entities", "=" * 19, WrongColumnCount),
        ("ag-entities", "4\t{0}\t0", UnknownLabel),
        ("ag-entities", "0\t \t0", MissingText),
        ("ag-entities", "0\t{0}\t", InvalidAttributes),
        ("ag-entities", "0\t{0}\t5", InvalidAttributes),
        ("ag-entities", "0\t{0}\t-1", InvalidAttributes),
        ("ag-entities", "0\t{0}\t1 0", InvalidAttributes),
        ("ag-entities", "0\t{0}\t0 0", InvalidAttributes),
        ("ag-entities", "0\t{0}\t00", InvalidAttributes),
        ("ag-entities", "0\t{0}\t{0}", InvalidAttributes),
        ("tsv", "spam\t{0}\t{0}", WrongColumnCount),
        ("tsv", "\t{0}", MissingLabel),
        ("tsv", "spam\t", MissingText),
    ],
)
def test_malformed_rows(
    write: Write, refuses: Refuses, canary: str, name: str, row: str, kind: type[DataError]
) -> None:
    header, good = GOOD[name]
    path = write(f"{header}{good}{row.format(canary)}\n{good}")
    refuses(kind, load_examples(name, path), 2 + bool(header))


def test_malformed_files(write: Write, refuses: Refuses, canary: str) -> None:
    for name, (header, _) in GOOD.items():
        refuses(EmptyData, load_examples(name, write("")))
        if header:
            refuses(EmptyData, load_examples(name, write(header)))
            refuses(WrongLayout, load_examples(name, write(f"index\tsentence\n0\t{canary}\n")), 1)  # GLUE's test files


def test_splits_and_what_follows_them(write: Write, refuses: Refuses, canary: str) -> None:
    assert len(list(load_examples("ag-entities", write(AG.removesuffix(END))))) == 4
    refuses(WrongLayout, load_examples("ag-entities", write(f"{AG}0\t{canary}\t0\n")), 8)
    refuses(MissingSplit, load_examples("ag-entities", write(AG + END)), 8)


@pytest.mark.parametrize("split", [None, *SECTIONS])
def test_missing_splits(write: Write, refuses: Refuses, split: str | None) -> None:
    row = "0\ta\t0\n"
    refuses(MissingSplit, load_examples("ag-entities", write(END), split), 1)
    if split in (None, "dev", "test"):
        refuses(MissingSplit, load_examples("ag-entities", write(row + END), split))
        refuses(MissingSplit, load_examples("ag-entities", write(row + END + END), split), 3)
    if split in (None, "test"):
        error = refuses(MissingSplit, load_examples("ag-entities", write(row + END + row + END), split))
        assert str(error) == "rows.txt: the file has 2 of 3 splits: it is incomplete"
    refuses(MissingSplit, load_examples("ag-entities", write(row), split))
    refuses(EmptyData, load_examples("ag-entities", write(""), split))


@pytest.mark.parametrize("name", ["trustpilot", "blog"])
def test_two_attributes_or_none(write: Write, refuses: Refuses, name: str) -> None:
    path = write(f"5 stars\ta\t\n{END}4\tb\t1\n{END}1\tc\t0 1\n{END}")
    assert [row.attributes for row in load_examples(name, path)] == [(), (1,), (0, 1)]
    refuses(InvalidAttributes, load_examples(name, write(f"5\ta\t2\n{END}")), 1)


def read_like_the_authors(path: Path, attributes: int) -> list[list[tuple[str, str, tuple[int, ...]]]]:
    """Read a file by the rules of data_utils.py of the authors' repository (xlhex/dpnlp), written anew.

    A line loses its leading blanks and has three columns; a line of 20 equals signs ends a split; an attribute is
    present if its number is in the last column.
    """
    splits: list[list[tuple[str, str, tuple[int, ...]]]] = [[]]
    for line in path.read_text("utf-8").split("\n")[:-1]:
        line = line.lstrip()
        if line.strip() == END.strip():
            splits.append([])
            continue
        label, text, listed = line.split("\t")
        splits[-1].append((label, text, tuple(n for n in range(attributes) if str(n) in listed.strip())))
    return splits


@pytest.mark.parametrize(
    ("name", "file"), [("trustpilot", "tp_us.txt"), ("trustpilot", "tp_uk.txt"), ("blog", "blog_data.txt")]
)
def test_the_authors_files_are_read_as_their_own_code_reads_them(tmp_path: Path, name: str, file: str) -> None:
    """Rows as the public files have them: ratings or topics, quotation marks, both attributes, one, or none."""
    rows = ['5\tArrived early, "as promised" .\t0 1', "1\tnever again !\t", "4\tok\t1", "2\tlate , twice\t0"]
    content = "\n".join([*rows, END.strip(), *rows[:2], END.strip(), *rows[2:], END.strip()]) + "\n"
    path = tmp_path / file
    path.write_text(content, "utf-8")
    theirs = read_like_the_authors(path, 2)
    for split, wanted in zip(SECTIONS, theirs, strict=False):
        ours = [(row.label, row.text, row.attributes) for row in load_examples(name, path, split)]
        assert ours == wanted
