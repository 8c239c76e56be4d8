"""Sanitize columns of Hugging Face data sets, with ``sanitize`` or ``SanitizeColumns``.

``sanitize(dataset, "note")`` returns a data set in memory. ``SanitizeColumns("note")`` is a function for
``Dataset.map``. ``map`` writes its result, including unchanged columns, to a cache on disk, unless you pass
``keep_in_memory=True``. The name of the cache file is a hash of the pickled function; the pickle contains no text.
``batched=True`` is faster.
"""

import secrets
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar, Unpack

from textveil.arguments import check_choice
from textveil.errors import InputError

from textveil_cli.columns import describe_column_option, list_columns, suggest_column
from textveil_cli.errors import ColumnError, ExtraMissing
from textveil_cli.integrations.configured_sanitizer import ConfiguredSanitizer, SanitizerSettings, collect_columns

try:
    from datasets import (  # pyright: ignore[reportMissingImports] - agrees with no pins of ours
        Dataset,
        DatasetDict,
        IterableDataset,
        IterableDatasetDict,
    )
except ImportError as error:
    raise ExtraMissing.from_extra("datasets", "datasets") from error

Data = TypeVar("Data", Dataset, DatasetDict, IterableDataset, IterableDatasetDict)


class SanitizeColumns:
    """Function object for ``Dataset.map`` that sanitizes columns of a row (or of a batch of rows, if ``batched=True``).

    Missing cells stay unchanged.

    >>> from textveil_cli.integrations.datasets import SanitizeColumns
    >>> sanitize_columns = SanitizeColumns("note", protect="names", style="tag")
    >>> sanitize_columns({"id": [1, 2], "note": ["Anna Novak called.", None]})
    {'note': ['[person 1] called.', None]}

    Args:
        column: The first column, or a list of all columns.
        more: The other columns.
        bundle: Folder of a bundle (word lists and settings); default: the built-in English bundle.
        document: Which cells form one document; equal names in one document get equal surrogates (replacements). With
            ``"cell"`` each cell is a document, with ``"row"`` the selected cells of a row.
        settings: Requirements on the bundle (see ``SanitizerSettings``), and options of ``Sanitizer.sanitize``.

    Raises:
        ColumnError: No column is given.
        BundleError, OptionError: See ``ConfiguredSanitizer``.
    """

    def __init__(
        self,
        column: str | list[str] | tuple[()] = (),
        *more: str,
        bundle: str | Path | None = None,
        document: str = "cell",
        **settings: Unpack[SanitizerSettings],
    ) -> None:
        check_choice("document", document, ("cell", "row"))
        self.columns, self.document = collect_columns(column, more), document
        self.sanitizer = ConfiguredSanitizer(bundle, **settings)

    def __call__(self, rows: Mapping[str, Any], *more: Any) -> dict[str, Any]:
        """Return a dictionary of the sanitized columns.

        For one row the values are texts; for a batch of rows the values are lists of texts.

        Raises:
            ColumnError: A column does not exist.
            InputError: A cell is neither a string nor missing, or ``rows`` is not a dictionary from column names to
                cells, because ``map`` was called with other arguments.
        """
        if more or not isinstance(rows, Mapping):
            raise InputError(
                "rows must be dictionaries: call with_format(None), then call map without the arguments "
                "input_columns and with_indices"
            )
        for number, name in enumerate(self.columns, 1):
            if name not in rows:
                option = describe_column_option("column", str(name), number, len(self.columns))
                listed, suggestion = list_columns([*map(str, rows)]), suggest_column(str(name), [*map(str, rows)])
                where = f" ({listed}){suggestion}" if listed else suggestion
                raise ColumnError(f"{option} is not in the rows{where}")
        names = [name for name in rows if name in self.columns]  # the command reads a row in this order too
        is_row = all(_is_cell(rows[name]) for name in names)
        columns = [[rows[name]] if _is_cell(rows[name]) else rows[name] for name in names]
        if self.document == "row":
            sanitized = self.sanitizer.sanitize_rows(columns)
        else:
            sanitized = [self.sanitizer.sanitize_cells(cells) for cells in columns]
        by_name = dict(zip(names, sanitized, strict=True))
        return {name: by_name[name][0] if is_row else by_name[name] for name in self.columns}


def _is_cell(cells: Any) -> bool:
    """Return whether the value of a column is the cell of one row, rather than a list of cells (a batch of rows)."""
    return isinstance(cells, str) or not isinstance(cells, Iterable)


def sanitize(
    dataset: Data,
    column: str | list[str] | tuple[()] = (),
    *more: str,
    bundle: str | Path | None = None,
    document: str = "cell",
    **settings: Unpack[SanitizerSettings],
) -> Data:
    """Return a copy of a data set with sanitized columns, in memory, without writing cache files.

    Args:
        dataset: The data set, or a dictionary of several. An iterable data set is sanitized during iteration.
        column: The first column with texts, or a list of all of them. Other columns stay unchanged.
        more: The other columns with texts.
        bundle: Folder of a bundle (word lists and settings); default: the built-in English bundle.
        document: Which cells are one document: ``"cell"`` or ``"row"`` (see ``SanitizeColumns``).
        settings: Requirements on the bundle (see ``SanitizerSettings``), and options of ``Sanitizer.sanitize``.

    Raises:
        ColumnError: No column is given, or a column does not exist.
        InputError: A cell is neither a string nor missing.
        BundleError, OptionError: See ``ConfiguredSanitizer``.

    Privacy:
        Each cell is a document; with ``document="row"`` the selected cells of a row are one document. The output
        reveals which cells are missing, other columns, and the order of rows. Every pass over an ``IterableDataset``
        samples new replacements; the outputs of two passes together reveal more than one.
    """
    sanitize_columns = SanitizeColumns(column, *more, bundle=bundle, document=document, **settings)
    return _map_dataset(dataset, sanitize_columns)


def _map_dataset(dataset: Any, sanitize_columns: SanitizeColumns) -> Any:
    if isinstance(dataset, DatasetDict | IterableDatasetDict):
        return type(dataset)({name: _map_dataset(part, sanitize_columns) for name, part in dataset.items()})
    if isinstance(dataset, IterableDataset):
        return dataset.map(sanitize_columns, batched=True, features=dataset.features)
    if not isinstance(dataset, Dataset):
        raise InputError("dataset must be a data set or a dictionary of data sets; for one batch, call SanitizeColumns")
    return dataset.map(
        sanitize_columns,
        batched=True,
        keep_in_memory=True,
        load_from_cache_file=False,
        new_fingerprint=secrets.token_hex(8),  # every run samples anew: no two results are the same data
        desc="sanitizing",
    )
