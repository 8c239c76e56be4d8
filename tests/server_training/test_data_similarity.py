"""Scored pairs: SICK and MedSTS."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textveil_training.data import ScoredPair
from textveil_training.data.similarity import SICK_LABELS, read_medsts, read_sick
from textveil_training.errors import (
    DataError,
    EmptyData,
    InvalidScore,
    MissingLabel,
    MissingText,
    UnknownLabel,
    WrongColumnCount,
    WrongLayout,
)

Write = Callable[..., Path]
Refuses = Callable[..., DataError]

SICK = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n"
cells = st.text(st.characters(exclude_characters="\t\n", exclude_categories=["Cs"])).filter(str.strip)
scores = st.integers(1000, 5000).map(lambda thousandths: thousandths / 1000)


def test_sick_with_the_line_ends_of_its_test_file(write: Write) -> None:
    path = write((SICK + "6\tno boy\ta kid\t3.3\tNEUTRAL\n8\ta\tb\t3\tENTAILMENT\n").replace("\n", "\r\n"))
    assert list(read_sick(path)) == [
        ScoredPair("no boy", "a kid", 3.3, "NEUTRAL"),
        ScoredPair("a", "b", 3.0, "ENTAILMENT"),
    ]


def test_medsts_has_no_header(write: Write) -> None:
    path = write("patient is well\tthe patient feels well\t4.5\na\tb\t0\n")
    assert list(read_medsts(path)) == [
        ScoredPair("patient is well", "the patient feels well", 4.5),
        ScoredPair("a", "b", 0.0),
    ]


@given(rows=st.lists(st.builds(ScoredPair, cells, cells, scores, st.sampled_from(SICK_LABELS)), min_size=1))
def test_sick_reads_what_is_written(tmp_path_factory: pytest.TempPathFactory, rows: list[ScoredPair]) -> None:
    path = tmp_path_factory.mktemp("sick") / "rows.txt"
    lines = [f"{i}\t{row.first}\t{row.second}\t{row.score}\t{row.label}\n" for i, row in enumerate(rows)]
    path.write_bytes((SICK + "".join(lines)).encode())
    assert list(read_sick(path)) == rows


@pytest.mark.parametrize(
    ("row", "kind"),
    [
        ("1\t{0}\t{0}\t3.5", WrongColumnCount),
        ("1\t{0}\t{0}\t3.5\tNEUTRAL\t", WrongColumnCount),
        ("1\t\t{0}\t3.5\tNEUTRAL", MissingText),
        ("1\t{0}\t \t3.5\tNEUTRAL", MissingText),
        ("1\t{0}\t{0}\t\tNEUTRAL", InvalidScore),
        ("1\t{0}\t{0}\t{0}\tNEUTRAL", InvalidScore),
        ("1\t{0}\t{0}\tnan\tNEUTRAL", InvalidScore),
        ("1\t{0}\t{0}\t0.9\tNEUTRAL", InvalidScore),
        ("1\t{0}\t{0}\t5.1\tNEUTRAL", InvalidScore),
        ("1\t{0}\t{0}\t3.5\t", MissingLabel),
        ("1\t{0}\t{0}\t3.5\t{0}", UnknownLabel),
        ("1\t{0}\t{0}\t3.5\tneutral", UnknownLabel),
    ],
)
def test_malformed_rows_of_sick(
    write: Write,
    refuses: Refuses,
    canary: str,
    row: str,
    kind: type[DataError],
) -> None:
    refuses(kind, read_sick(write(f"{SICK}0\ta\tb\t5\tNEUTRAL\n{row.format(canary)}\n")), 3)


@pytest.mark.parametrize(
    ("row", "kind"),
    [
        ("{0}\t{0}", WrongColumnCount),
        ("{0}\t\t1", MissingText),
        ("{0}\t{0}\t", InvalidScore),
        ("{0}\t{0}\tscore", InvalidScore),
        ("{0}\t{0}\t5.5", InvalidScore),
    ],
)
def test_malformed_rows_of_medsts(
    write: Write,
    refuses: Refuses,
    canary: str,
    row: str,
    kind: type[DataError],
) -> None:
    refuses(kind, read_medsts(write(f"a\tb\t5\n{row.format(canary)}\n")), 2)


def test_malformed_files(write: Write, refuses: Refuses, canary: str) -> None:
    refuses(EmptyData, read_sick(write("")))
    refuses(EmptyData, read_sick(write(SICK)))
    refuses(WrongLayout, read_sick(write(f"1\t{canary}\tb\t3\tNEUTRAL\n")), 1)
    refuses(EmptyData, read_medsts(write("")))
    refuses(InvalidScore, read_medsts(write("sentence1\tsentence2\tscore\n")), 1)
