"""AG news with person entities, and its layout in general."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textveil_training.data import AttributedText
from textveil_training.data.attributed import AG_LABELS, SEPARATOR, SPLITS, read_ag_entities, read_attributed
from textveil_training.errors import (
    DataError,
    DataOptionError,
    EmptyData,
    InvalidAttributes,
    MissingLabel,
    MissingSplit,
    MissingText,
    UnknownLabel,
    WrongColumnCount,
    WrongLayout,
)

Write = Callable[..., Path]
Refuses = Callable[..., DataError]

END = SEPARATOR + "\n"
GOOD = f"0\ta b\t0 1\n1\tc\t4\n{END}3\td\t2\n{END}2\te\t0\n{END}"
cells = st.text(st.characters(exclude_characters="\t\n", exclude_categories=["Cs"])).filter(str.strip)
entities = st.sets(st.integers(0, 4), min_size=1).map(lambda indices: tuple(sorted(indices)))
split_rows = st.lists(st.builds(AttributedText, cells, st.sampled_from(AG_LABELS), entities), min_size=1)


def test_the_three_splits(write: Write) -> None:
    path = write(GOOD)
    train = [AttributedText("a b", "0", (0, 1)), AttributedText("c", "1", (4,))]
    dev = [AttributedText("d", "3", (2,))]
    test = [AttributedText("e", "2", (0,))]
    assert list(read_ag_entities(path)) == train + dev + test
    for name, rows in zip(SPLITS, (train, dev, test), strict=True):
        assert list(read_ag_entities(path, name)) == rows


def test_the_last_separator_may_be_missing(write: Write) -> None:
    assert len(list(read_ag_entities(write(GOOD.removesuffix(END))))) == 4


@pytest.mark.slow
@given(splits=st.tuples(split_rows, split_rows, split_rows))
def test_what_is_written_is_read(
    tmp_path_factory: pytest.TempPathFactory,
    splits: tuple[list[AttributedText], ...],
) -> None:
    path = tmp_path_factory.mktemp("ag") / "rows.txt"
    lines: list[str] = []
    for rows in splits:
        lines += [f"{row.label}\t{row.text}\t{' '.join(map(str, row.attributes))}\n" for row in rows]
        lines.append(END)
    path.write_bytes("".join(lines).encode())
    for name, rows in zip(SPLITS, splits, strict=True):
        assert list(read_ag_entities(path, name)) == rows


@pytest.mark.parametrize(
    ("row", "kind"),
    [
        ("0\t{0}", WrongColumnCount),
        ("0\t{0}\t0\t", WrongColumnCount),
        ("", WrongColumnCount),
        ("=" * 19, WrongColumnCount),
        ("\t{0}\t0", MissingLabel),
        ("4\t{0}\t0", UnknownLabel),
        ("0\t \t0", MissingText),
        ("0\t{0}\t", InvalidAttributes),
        ("0\t{0}\t5", InvalidAttributes),
        ("0\t{0}\t-1", InvalidAttributes),
        ("0\t{0}\t1 0", InvalidAttributes),
        ("0\t{0}\t0 0", InvalidAttributes),
        ("0\t{0}\t00", InvalidAttributes),
        ("0\t{0}\t0,1", InvalidAttributes),
        ("0\t{0}\t{0}", InvalidAttributes),
    ],
)
def test_malformed_rows(write: Write, refuses: Refuses, canary: str, row: str, kind: type[DataError]) -> None:
    refuses(kind, read_ag_entities(write(f"0\ta\t0\n{row.format(canary)}\n{GOOD}")), 2)


@pytest.mark.parametrize("split", [None, *SPLITS])
def test_missing_splits(write: Write, refuses: Refuses, split: str | None) -> None:
    row = "0\ta\t0\n"
    refuses(MissingSplit, read_ag_entities(write(END), split), 1)
    if split in (None, "dev", "test"):
        refuses(MissingSplit, read_ag_entities(write(row + END), split))
        refuses(MissingSplit, read_ag_entities(write(row + END + END), split), 3)
    if split in (None, "test"):
        error = refuses(MissingSplit, read_ag_entities(write(row + END + row + END), split))
        assert str(error) == "rows.txt: the file has 2 of 3 splits"
    refuses(MissingSplit, read_ag_entities(write(row), split))
    refuses(EmptyData, read_ag_entities(write(""), split))


def test_rows_after_the_last_split(write: Write, refuses: Refuses, canary: str) -> None:
    refuses(WrongLayout, read_ag_entities(write(f"{GOOD}0\t{canary}\t0\n")), 8)
    refuses(MissingSplit, read_ag_entities(write(GOOD + END)), 8)


def test_an_unknown_split_is_refused_at_the_call(write: Write, canary: str) -> None:
    with pytest.raises(DataOptionError) as caught:
        read_ag_entities(write(GOOD), canary)
    assert canary not in str(caught.value)


def test_other_attributes_and_rows_without_any(write: Write, refuses: Refuses) -> None:
    path = write(f"5\ta\t\n{END}4\tb\t1\n{END}1\tc\t0 1\n{END}")
    rows = read_attributed(path, labels=None, attributes=("gender", "age"), allow_none=True)
    assert [row.attributes for row in rows] == [(), (1,), (0, 1)]
    refuses(InvalidAttributes, read_attributed(path, labels=None, attributes=("gender", "age")), 1)
    refuses(InvalidAttributes, read_attributed(path, labels=None, attributes=("gender",), allow_none=True), 3)
