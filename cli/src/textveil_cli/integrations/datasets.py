"""Columns of a Hugging Face data set: ``sanitize(dataset, "note")``, or ``SanitizeColumns("note")`` for its ``map``.

``Dataset.map`` writes what it makes, untouched columns included, to a cache on the disk, and names it by a hash of the
pickled function. ``sanitize`` keeps the result in memory and needs no such hash. With ``map`` itself give
``keep_in_memory=True``, and ``batched=True``, which is faster; the function pickles without any text.
"""

import secrets
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar, Unpack

from textveil.errors import ColumnError, ExtraMissing, InputError

from textveil_cli.columns import list_columns, name_option, suggest_column
from textveil_cli.integrations.rewriter import Rewriter, Settings, named

try:
    from datasets import (  # pyright: ignore[reportMissingImports] - agrees with no pins of ours
        Dataset,
        DatasetDict,
        IterableDataset,
        IterableDatasetDict,
    )
except ImportError as error:
    raise ExtraMissing.of("datasets", "datasets") from error

Data = TypeVar("Data", Dataset, DatasetDict, IterableDataset, IterableDatasetDict)


class SanitizeColumns:
    """Sanitizes columns of a row, as ``map`` calls it, or of a batch of rows, as with ``batched=True``.

    Missing cells stay.

    Args:
        column: The columns, in one list; or the first of them.
        more: The others.
        bundle: Folder of a bundle; the built-in English one if left out.
        settings: What the bundle must be, and options as in ``Sanitizer.sanitize``: see ``Settings``.

    Raises:
        ColumnError: No column is named.
        BundleError, OptionError: As ``Rewriter``.
    """

    def __init__(
        self,
        column: str | list[str] | tuple[()] = (),
        *more: str,
        bundle: str | Path | None = None,
        **settings: Unpack[Settings],
    ) -> None:
        self.columns = named(column, more)
        self.rewriter = Rewriter(bundle, **settings)

    def __call__(self, rows: Mapping[str, Any], *more: Any) -> dict[str, Any]:
        """Returns the columns, sanitized: a text for a row, a list for a batch.

        Raises:
            ColumnError: A column is not there.
            InputError: A cell is neither a string nor missing, or ``map`` was told to give something else than rows
                with their names.
        """
        if more or not isinstance(rows, Mapping):
            raise InputError("rows need names: no input_columns, no with_indices, and with_format(None)")
        for number, name in enumerate(self.columns, 1):
            if name not in rows:
                option = name_option("column", str(name), number, len(self.columns))
                listed, meant = list_columns([*map(str, rows)]), suggest_column(str(name), [*map(str, rows)])
                where = f" ({listed}){meant}" if listed else meant
                raise ColumnError(f"{option} is not in the rows{where}")
        return {name: self._sanitized(rows[name]) for name in self.columns}

    def _sanitized(self, cells: Any) -> Any:
        if isinstance(cells, str) or not isinstance(cells, Iterable):
            return self.rewriter.cells([cells])[0]  # of one row
        return self.rewriter.cells(cells)


def sanitize(
    dataset: Data,
    column: str | list[str] | tuple[()] = (),
    *more: str,
    bundle: str | Path | None = None,
    **settings: Unpack[Settings],
) -> Data:
    """Returns a data set with columns sanitized, kept in memory. Nothing is written.

    Args:
        dataset: The data set, or a dictionary of several. One that is iterated over is sanitized while it is.
        column: The columns that have texts, in one list; or the first of them. All others stay as they are.
        more: The others.
        bundle: Folder of a bundle; the built-in English one if left out.
        settings: What the bundle must be, and options as in ``Sanitizer.sanitize``: see ``Settings``.

    Raises:
        ColumnError: No column is named, or one is not there.
        InputError: A cell is neither a string nor missing.
        BundleError, OptionError: As ``Rewriter``.

    Privacy:
        Each cell is a document of its own. Missing cells, other columns and the order of rows show. Every pass over an
        ``IterableDataset`` draws anew: it is one more release of the same texts.
    """
    rewrite = SanitizeColumns(column, *more, bundle=bundle, **settings)
    return _mapped(dataset, rewrite)


def _mapped(dataset: Any, rewrite: SanitizeColumns) -> Any:
    if isinstance(dataset, DatasetDict | IterableDatasetDict):
        return type(dataset)({name: _mapped(part, rewrite) for name, part in dataset.items()})
    if isinstance(dataset, IterableDataset):
        return dataset.map(rewrite, batched=True, features=dataset.features)
    if not isinstance(dataset, Dataset):
        raise InputError("a data set is wanted, or a dictionary of data sets: for one batch, call SanitizeColumns")
    return dataset.map(
        rewrite,
        batched=True,
        keep_in_memory=True,
        load_from_cache_file=False,
        new_fingerprint=secrets.token_hex(8),  # every run draws afresh: no two results are the same data
        desc="sanitizing",
    )
