"""Columns of a pandas frame: ``sanitize(frame["note"])``, ``frame.textveil.sanitize(columns=["note"])``."""

from collections.abc import Hashable
from pathlib import Path
from typing import Any, TypeVar, Unpack

from textveil.errors import ColumnError, ExtraMissing, InputError

from textveil_cli.console import closest
from textveil_cli.integrations.rewriter import Rewriter, Settings, named

try:
    import pandas
except ImportError as error:
    raise ExtraMissing.of("pandas", "pandas") from error

Data = TypeVar("Data")


def sanitize(
    data: Data,
    columns: Hashable | list[Any] = (),
    *more: Hashable,
    bundle: str | Path | None = None,
    **settings: Unpack[Settings],
) -> Data:
    """Returns a column with every cell sanitized, or a frame with columns sanitized. Nothing else changes.

    Index, name, type, missing cells and other columns stay. ``apply`` and ``map`` of pandas may call it too: for one
    cell it returns that cell, sanitized.

    Args:
        data: A column of strings and missing cells, a frame, or one cell.
        columns: Those columns of a frame that have texts, in one list; or the first of them.
        more: The others.
        bundle: Folder of a bundle; the built-in English one if left out.
        settings: What the bundle must be, and options as in ``Sanitizer.sanitize``: see ``Settings``.

    Returns:
        A new column or frame, or the text of a cell. What each cell is promised is in ``Rewriter(...).terms``: the same
        for all.

    Raises:
        ColumnError: Columns of a frame are not named, are not there or are there twice.
        InputError: A cell is neither a string nor missing, or ``data`` is none of the above.
        BundleError, OptionError: As ``Rewriter``.

    Privacy:
        Each cell is a document of its own, and its bound is about that cell alone. Which cells are missing shows, and
        so do their order and the other columns of the frame. ``map`` and ``apply`` of a *categorical* column make one
        call for all equal cells, which then shows too: give the column itself.
    """
    rewriter = Rewriter(bundle, **settings)
    if isinstance(data, pandas.DataFrame):
        return _frame(data, named(columns, more), rewriter)
    if more or not (isinstance(columns, tuple) and not columns):
        raise ColumnError("columns go with a frame: leave them out, or give the frame")
    if isinstance(data, pandas.Series):
        return _column(data, rewriter)
    if isinstance(data, str):
        return rewriter(data)
    if pandas.api.types.is_scalar(data) and pandas.isna(data) is True:
        return data
    raise InputError('a column, a frame with the names of its columns, or one text is wanted: frame["note"]')


def _frame(frame: pandas.DataFrame, names: tuple[Hashable, ...], rewriter: Rewriter) -> pandas.DataFrame:
    done = frame.copy()
    for number, name in enumerate(names, 1):
        if list(frame.columns).count(name) != 1:
            meant = closest(str(name), [str(column) for column in frame.columns])
            raise ColumnError(f"column {number} of {len(names)} that was named is not there, or more than once{meant}")
        column: Any = frame[name]
        done[name] = _column(column, rewriter)
    return done


def _column(column: pandas.Series, rewriter: Rewriter) -> pandas.Series:
    cells = rewriter.cells(column.astype(object).tolist(), column.isna().tolist())
    kept = None if isinstance(column.dtype, pandas.CategoricalDtype) else column.dtype
    return pandas.Series(cells, index=column.index, name=column.name, dtype=kept)


@pandas.api.extensions.register_dataframe_accessor("textveil")
@pandas.api.extensions.register_series_accessor("textveil")
class Accessor:
    """``series.textveil`` and ``frame.textveil``, once ``textveil_cli.integrations.pandas`` is imported.

    Args:
        data: The column or the frame.
    """

    def __init__(self, data: pandas.Series | pandas.DataFrame) -> None:
        self._data = data

    def sanitize(
        self,
        columns: Hashable | list[Any] = (),
        *more: Hashable,
        bundle: str | Path | None = None,
        **settings: Unpack[Settings],
    ) -> Any:
        """Returns the column, or the frame with the named columns, sanitized: ``sanitize`` of this module."""
        return sanitize(self._data, columns, *more, bundle=bundle, **settings)
