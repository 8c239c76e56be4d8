"""GLUE: SST-2 and QNLI."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textveil_training.data import LabeledPair, LabeledText
from textveil_training.data.glue import QNLI_LABELS, SST2_LABELS, read_qnli, read_sst2
from textveil_training.errors import (
    DataError,
    EmptyData,
    InvalidUtf8,
    MissingLabel,
    MissingText,
    UnknownLabel,
    WrongColumnCount,
    WrongLayout,
)

Write = Callable[..., Path]
Refuses = Callable[..., DataError]

SST2 = "sentence\tlabel\n"
QNLI = "index\tquestion\tsentence\tlabel\n"
cells = st.text(st.characters(exclude_characters="\t\n", exclude_categories=["Cs"])).filter(str.strip)


def test_sst2(write: Write) -> None:
    path = write(SST2 + 'a "fine film\t1\nof saucy \t0\n')
    assert list(read_sst2(path)) == [LabeledText('a "fine film', "1"), LabeledText("of saucy ", "0")]


def test_qnli(write: Write) -> None:
    path = write(QNLI + "0\twho?\tshe did.\tentailment\r\n1\twho?\tit rained.\tnot_entailment\r\n")
    assert list(read_qnli(path)) == [
        LabeledPair("who?", "she did.", "entailment"),
        LabeledPair("who?", "it rained.", "not_entailment"),
    ]


@given(rows=st.lists(st.builds(LabeledText, cells, st.sampled_from(SST2_LABELS)), min_size=1))
def test_sst2_reads_what_is_written(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[LabeledText],
) -> None:
    path = tmp_path_factory.mktemp("sst2") / "rows.txt"
    path.write_bytes((SST2 + "".join(f"{row.text}\t{row.label}\n" for row in rows)).encode())
    assert list(read_sst2(path)) == rows


@given(rows=st.lists(st.builds(LabeledPair, cells, cells, st.sampled_from(QNLI_LABELS)), min_size=1))
def test_qnli_reads_what_is_written(
    tmp_path_factory: pytest.TempPathFactory,
    rows: list[LabeledPair],
) -> None:
    path = tmp_path_factory.mktemp("qnli") / "rows.txt"
    lines = [f"{index}\t{row.first}\t{row.second}\t{row.label}\n" for index, row in enumerate(rows)]
    path.write_bytes((QNLI + "".join(lines)).encode())
    assert list(read_qnli(path)) == rows


@pytest.mark.parametrize(
    ("row", "kind"),
    [
        ("{0}", WrongColumnCount),
        ("{0}\t1\t", WrongColumnCount),
        ("", WrongColumnCount),
        ("{0}\t", MissingLabel),
        ("{0}\t ", MissingLabel),
        ("\t1", MissingText),
        ("  \t1", MissingText),
        ("{0}\t2", UnknownLabel),
        ("{0}\t 1", UnknownLabel),
        ("1\t{0}", UnknownLabel),
    ],
)
def test_malformed_rows_of_sst2(
    write: Write,
    refuses: Refuses,
    canary: str,
    row: str,
    kind: type[DataError],
) -> None:
    refuses(kind, read_sst2(write(f"{SST2}good\t1\n{row.format(canary)}\ngood\t0\n")), 3)


@pytest.mark.parametrize(
    ("row", "kind"),
    [
        ("0\t{0}\t{0}", WrongColumnCount),
        ("0\t{0}\t{0}\tentailment\t", WrongColumnCount),
        ("0\t{0}\t{0}\t", MissingLabel),
        ("0\t\t{0}\tentailment", MissingText),
        ("0\t{0}\t\tentailment", MissingText),
        ("0\t{0}\t{0}\tEntailment", UnknownLabel),
    ],
)
def test_malformed_rows_of_qnli(
    write: Write,
    refuses: Refuses,
    canary: str,
    row: str,
    kind: type[DataError],
) -> None:
    refuses(kind, read_qnli(write(f"{QNLI}0\ta\tb\tentailment\n{row.format(canary)}\n")), 3)


def test_malformed_files(write: Write, refuses: Refuses, canary: str) -> None:
    for read in (read_sst2, read_qnli):
        refuses(EmptyData, read(write("")))
        refuses(WrongLayout, read(write(f"index\tsentence\n0\t{canary}\n")), 1)  # GLUE's test files
    refuses(EmptyData, read_sst2(write(SST2)))
    refuses(EmptyData, read_qnli(write(QNLI)))
    refuses(InvalidUtf8, read_sst2(write(SST2.encode() + canary.encode() + b"\xe9\t1\n")), 2)
