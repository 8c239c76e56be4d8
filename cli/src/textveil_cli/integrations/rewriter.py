"""``Rewriter``: a sanitizer with its options fixed, which other libraries may call, copy and pickle."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Unpack

import numpy as np
from textveil.bundle import MAX_BUNDLE_BYTES, Pins
from textveil.errors import ColumnError, InputError
from textveil.sequences import in_order
from textveil.text import Options, Result, Sanitizer, Terms


class Settings(Options, Pins, total=False):
    """Everything that a sanitizer is told but its folder and its texts: options, and what the bundle must be.

    Keys:
        expect_id: The identity the bundle must have.
        maker: Public key of the maker who must have signed it.
        max_bytes: Most bytes of all its files together.
    """


class Rewriter:
    """Rewrites texts with one bundle and one set of options.

    A pickle holds the folder and the identity of the bundle, and the options. It holds no text, and another bundle
    in that folder is refused where it is unpickled. Safe to share between threads.

    Args:
        bundle: Folder of a bundle; the built-in English one if left out.
        settings: What the bundle must be, and options as in ``Sanitizer.sanitize``: see ``Settings``.
            Denied words are in pickles, and not in ``repr``.

    Raises:
        BundleError: The bundle cannot be used, or is not the one expected.
        OptionError: An option has a value that the bundle or the mechanism does not have.

    Privacy:
        Every text is a document of its own, with the guarantee of ``Sanitizer.sanitize``. Every call draws afresh:
        rewriting a text again is a second release.
    """

    def __init__(self, bundle: str | Path | None = None, **settings: Unpack[Settings]) -> None:
        self._folder = None if bundle is None else str(bundle)
        pins: Any = {name: value for name, value in settings.items() if name in Pins.__annotations__}
        options: Any = {name: value for name, value in settings.items() if name not in pins}
        self._options: Options = options
        self._sanitizer = loaded(self._folder, **pins)
        self._sanitizer.terms(**self._options)  # options are checked before there is any text

    def __call__(self, text: str) -> str:
        """Returns one text, rewritten.

        Raises:
            InputError: ``text`` is not a string.
        """
        if not isinstance(text, str):
            raise InputError("the text is not a string: give one text, or a column to cells")
        return self._sanitizer.sanitize(text, **self._options).text

    def results(self, texts: Iterable[str]) -> list[Result]:
        """Returns texts, rewritten, each with its statement.

        Raises:
            InputError: One of them is not a string, or one string, a row or a table came in place of texts.
        """
        return self._sanitizer.sanitize_batch(texts, **self._options)

    def cells(self, cells: Iterable[Any], missing: Sequence[bool] | None = None) -> list[Any]:
        """Returns the cells of a column, rewritten; what is missing stays as it is.

        Args:
            cells: Strings, and whatever stands for a missing one.
            missing: Which cells are missing; those that are ``None`` or NaN if left out.

        Raises:
            InputError: A cell is neither a string nor missing, or one string, a row or a table came in place of cells.
        """
        cells = in_order(cells, "cells")
        missing = list(map(_is_missing, cells)) if missing is None else missing
        if len(missing) != len(cells):
            raise InputError("cells and missing do not have the same length")
        for number, (cell, gone) in enumerate(zip(cells, missing, strict=True), 1):
            if not gone and not isinstance(cell, str):
                raise InputError(f"cell {number} of {len(cells)} is not a string: convert the column first")
        texts = [cell for cell, gone in zip(cells, missing, strict=True) if not gone]
        results = iter(self.results(texts))
        return [cell if gone else next(results).text for cell, gone in zip(cells, missing, strict=True)]

    def preview(self, text: str) -> list[tuple[str, str]]:
        """Returns what the skeleton of a text shows: ``Sanitizer.preview``. Nothing is drawn."""
        return self._sanitizer.preview(text, **self._options)

    @property
    def terms(self) -> Terms:
        """What a text is promised per token: the same for all texts."""
        return self._sanitizer.terms(**self._options)

    def __repr__(self) -> str:
        terms = self.terms
        epsilon = "" if terms.level is None else f", epsilon {terms.level}"
        return f"<{type(self).__name__} {terms.mechanism}{epsilon}, bundle {terms.bundle[:12]}>"

    def __reduce__(self) -> Any:
        bundle = self._sanitizer.bundle
        return _again, (self._folder, bundle.same, bundle.pinned, self._options)


def named(columns: Any, more: Sequence[Any] = ()) -> tuple[Any, ...]:
    """Returns the columns that somebody named, one by one or in one list; ``()`` stands for none.

    Raises:
        ColumnError: None is named.
    """
    several = isinstance(columns, list) or (isinstance(columns, tuple) and not columns)
    found = (*(columns if several else [columns]), *more)
    if not found:
        raise ColumnError("no column is named: name those that have texts")
    return found


def _is_missing(cell: Any) -> bool:
    return cell is None or (isinstance(cell, float | np.floating) and bool(cell != cell))


@lru_cache(maxsize=4)
def loaded(
    folder: str | None,
    expect_id: str | None = None,
    maker: str | None = None,
    max_bytes: int = MAX_BUNDLE_BYTES,
    pinned: bool | None = None,
) -> Sanitizer:
    """Returns the sanitizer of a bundle, the same one for all who ask."""
    sanitizer = Sanitizer.load(folder, expect_id=expect_id, maker=maker, max_bytes=max_bytes)
    return sanitizer if pinned is None else Sanitizer(replace(sanitizer.bundle, pinned=pinned))


def _again(folder: str | None, pins: Pins, pinned: bool, options: Options) -> Rewriter:
    """Opens the same bundle. It is pinned so that it is the same; statements say whether its user pinned it."""
    again = object.__new__(Rewriter)
    again._folder, again._options = folder, options
    again._sanitizer = loaded(folder, **pins, pinned=pinned)
    return again
