"""Columns of a frame."""

from collections.abc import Callable

import pytest
from canaries import SECRET

pandas = pytest.importorskip("pandas", reason="needs the extra pandas: make integrations")

from textveil.errors import InputError, OptionError
from textveil.integrations.pandas import sanitize


@pytest.mark.parametrize("kind", ["str", "string", "object", "category"])
def test_index_name_type_and_missing_cells_stay(kind: str) -> None:
    column = pandas.Series(["The of", None, f"and {SECRET} said"], index=[7, 3, 5], name="note", dtype=kind)
    done = sanitize(column, level="strongest")
    assert list(done.index) == [7, 3, 5]
    assert done.name == "note"
    assert kind == "category" or done.dtype == column.dtype
    assert list(done.isna()) == [False, True, False]
    assert done[7] == "The of"
    assert done[5].startswith("and ")
    assert "Zorblax" not in done[5]
    assert column[5] == f"and {SECRET} said"


def test_the_accessor_is_the_function() -> None:
    column = pandas.Series(["The of", "and not"])
    assert list(column.textveil.sanitize(level="strongest")) == ["The of", "and not"]
    with pytest.raises(OptionError):
        column.textveil.sanitize(level="nothing")


def test_empty_columns() -> None:
    assert len(sanitize(pandas.Series([], dtype="str"))) == 0
    assert sanitize(pandas.Series([None, None], dtype="object")).isna().all()


def test_what_is_no_text_is_named_by_its_place() -> None:
    with pytest.raises(InputError, match=r"^cell 2 of 2 is not a string$"):
        sanitize(pandas.Series(["The", 48213977], dtype="object"))


def test_nothing_is_kept_of_a_column() -> None:
    assert sanitize(pandas.Series([f"and {SECRET}"])).attrs == {}


@pytest.mark.full
def test_the_example_runs(example: Callable[[str], str]) -> None:
    said = example("with_pandas.py")
    assert said.count("Name: note") == 1
    assert "stars" in said
