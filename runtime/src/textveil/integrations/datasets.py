"""Columns of a Hugging Face data set: ``sanitize(dataset, "note")``, or ``SanitizeColumns("note")`` for its ``map``.

``Dataset.map`` writes what it makes, untouched columns included, to a cache on the disk, and names it by a hash of the
pickled function. ``sanitize`` keeps the result in memory and needs no such hash. With ``map`` itself give
``batched=True, keep_in_memory=True``; the function pickles without any text.
"""

import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Unpack

from textveil.bundle.files import MAX_BUNDLE_BYTES
from textveil.errors import ExtraMissing
from textveil.integrations.rewriter import Rewriter
from textveil.text.options import Options

try:
    from datasets import Dataset  # pyright: ignore[reportMissingImports] - agrees with no pins of ours
except ImportError as error:
    raise ExtraMissing.of("datasets", "datasets") from error


class SanitizeColumns:
    """Sanitizes columns of a batch of rows, as ``map`` with ``batched=True`` calls it. Missing cells stay.

    Args:
        columns: The columns.
        bundle: Folder of a bundle; the built-in English one if left out.
        expect_id: The identity the bundle must have.
        maker: Public key of the maker who must have signed it.
        max_bytes: Most bytes of all its files together.
        options: As in ``Sanitizer.sanitize``.

    Raises:
        BundleError, OptionError: As ``Rewriter``.
    """

    def __init__(
        self,
        *columns: str,
        bundle: str | Path | None = None,
        expect_id: str | None = None,
        maker: str | None = None,
        max_bytes: int = MAX_BUNDLE_BYTES,
        **options: Unpack[Options],
    ) -> None:
        self.columns = columns
        self.rewriter = Rewriter(bundle, expect_id=expect_id, maker=maker, max_bytes=max_bytes, **options)

    def __call__(self, batch: Mapping[str, Sequence[Any]]) -> dict[str, list[Any]]:
        """Returns the columns, sanitized.

        Raises:
            InputError: A cell is neither a string nor missing.
        """
        return {name: self.rewriter.cells(batch[name]) for name in self.columns}


def sanitize(
    dataset: Dataset,
    *columns: str,
    bundle: str | Path | None = None,
    expect_id: str | None = None,
    maker: str | None = None,
    max_bytes: int = MAX_BUNDLE_BYTES,
    **options: Unpack[Options],
) -> Dataset:
    """Returns a data set with columns sanitized, kept in memory. Nothing is written.

    Args:
        dataset: The data set.
        columns: The columns that have texts. All other columns stay as they are.
        bundle: Folder of a bundle; the built-in English one if left out.
        expect_id: The identity the bundle must have.
        maker: Public key of the maker who must have signed it.
        max_bytes: Most bytes of all its files together.
        options: As in ``Sanitizer.sanitize``.

    Raises:
        InputError: A cell is neither a string nor missing.
        BundleError, OptionError: As ``Rewriter``.

    Privacy:
        Each cell is a document of its own. Missing cells, other columns and the order of rows show.
    """
    rewrite = SanitizeColumns(*columns, bundle=bundle, expect_id=expect_id, maker=maker, max_bytes=max_bytes, **options)
    return dataset.map(
        rewrite,
        batched=True,
        keep_in_memory=True,
        load_from_cache_file=False,
        new_fingerprint=secrets.token_hex(8),  # every run draws afresh: no two results are the same data
        desc="sanitizing",
    )
