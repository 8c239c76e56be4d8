"""Columns of a pandas frame: ``sanitize(frame["note"])``, or ``frame["note"].textveil.sanitize()``."""

from pathlib import Path
from typing import Unpack

from textveil.bundle.files import MAX_BUNDLE_BYTES
from textveil.errors import ExtraMissing
from textveil.integrations.rewriter import Rewriter
from textveil.text.options import Options

try:
    import pandas
except ImportError as error:
    raise ExtraMissing.of("pandas", "pandas") from error


def sanitize(
    series: pandas.Series,
    *,
    bundle: str | Path | None = None,
    expect_id: str | None = None,
    maker: str | None = None,
    max_bytes: int = MAX_BUNDLE_BYTES,
    **options: Unpack[Options],
) -> pandas.Series:
    """Returns a column with every cell sanitized. Index, name, type and missing cells stay.

    Args:
        series: Strings, and missing cells.
        bundle: Folder of a bundle; the built-in English one if left out.
        expect_id: The identity the bundle must have.
        maker: Public key of the maker who must have signed it.
        max_bytes: Most bytes of all its files together.
        options: As in ``Sanitizer.sanitize``.

    Returns:
        A new column. What each cell is promised is in ``Rewriter(...).terms``: the same for all.

    Raises:
        InputError: A cell is neither a string nor missing.
        BundleError, OptionError: As ``Rewriter``.

    Privacy:
        Each cell is a document of its own, and its bound is about that cell alone. Which cells are missing shows, and
        so do their order and the other columns of the frame.
    """
    rewriter = Rewriter(bundle, expect_id=expect_id, maker=maker, max_bytes=max_bytes, **options)
    cells = rewriter.cells(series.astype(object).tolist(), series.isna().tolist())
    kept = None if isinstance(series.dtype, pandas.CategoricalDtype) else series.dtype
    return pandas.Series(cells, index=series.index, name=series.name, dtype=kept)


@pandas.api.extensions.register_series_accessor("textveil")
class Accessor:
    """``series.textveil``, once ``textveil.integrations.pandas`` is imported.

    Args:
        series: The column.
    """

    def __init__(self, series: pandas.Series) -> None:
        self._series = series

    def sanitize(
        self,
        *,
        bundle: str | Path | None = None,
        expect_id: str | None = None,
        maker: str | None = None,
        max_bytes: int = MAX_BUNDLE_BYTES,
        **options: Unpack[Options],
    ) -> pandas.Series:
        """Returns the column with every cell sanitized: ``sanitize`` of this module."""
        return sanitize(self._series, bundle=bundle, expect_id=expect_id, maker=maker, max_bytes=max_bytes, **options)
