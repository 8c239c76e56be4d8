"""Sanitizer with fixed options, which other libraries can call, copy and pickle."""

import os
import sys
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, Unpack, overload

import numpy as np
from textveil.arguments import list_items
from textveil.bundle import MAX_BUNDLE_BYTES, ExpectedBundle
from textveil.errors import InputError, LanguageWarning, OptionError
from textveil.text import KeptWords, Options, PrivacyTerms, Result, Sanitizer
from textveil.text.restore import Restorer

from textveil_cli.console import KeptWordsTally
from textveil_cli.errors import ColumnError


class SanitizerSettings(Options, ExpectedBundle, total=False):
    """Keyword arguments of ``ConfiguredSanitizer``: requirements on the bundle, and all options of ``Options``.

    A *bundle* is a folder with word lists and settings.

    Keys:
        expect_id: Required content hash of the bundle.
        signer: Public key of the required signer of the bundle.
        max_bytes: Maximum total bytes of the bundle's files.
        language: Language of the texts; its language pack must be installed.
    """


class ConfiguredSanitizer:
    """Function object that sanitizes texts with one bundle (folder with word lists and settings) and fixed options.

    A pickle contains the folder and the content hash of the bundle, and the options. It contains no text. If the folder
    contains another bundle, unpickling raises an error. Several threads may use one object.

    >>> from textveil_cli.integrations import ConfiguredSanitizer
    >>> sanitizer = ConfiguredSanitizer(protect="names", style="tag")
    >>> sanitizer("Please call Anna Novak.")
    'Please call [person 1].'
    >>> sanitizer.sanitize_cells(["Anna Novak called.", None])
    ['[person 1] called.', None]

    Args:
        bundle: Folder of the bundle; default: the built-in English bundle.
        settings: Requirements on the bundle (see ``SanitizerSettings``), and options of ``Sanitizer.sanitize``. Words
            of ``deny`` are in pickles, but not in ``repr``.

    Raises:
        BundleError: The bundle is unusable, or does not meet the requirements.
        OptionError: An option has a value that the bundle or the mechanism does not support.

    Privacy:
        Every text is a separate document, with the guarantee of ``Sanitizer.sanitize``. Every call samples new
        replacements. Therefore two outputs of the same text reveal more than one output does.
    """

    def __init__(self, bundle: str | Path | None = None, **settings: Unpack[SanitizerSettings]) -> None:
        self._folder = None if bundle is None else str(bundle)
        expected: Any = {name: value for name, value in settings.items() if name in ExpectedBundle.__annotations__}
        options: Any = {name: value for name, value in settings.items() if name not in expected}
        self._options: Options = options
        self._sanitizer = load_sanitizer(self._folder, **expected)
        self._sanitizer.terms(**self._options)  # check options before there is any text

    def __call__(self, text: str) -> str:
        """Return the sanitized form of a text.

        Raises:
            InputError: ``text`` is not a string.
        """
        if not isinstance(text, str):
            raise InputError("the text must be a string; for a column use sanitize_cells")
        return self._sanitizer.sanitize(text, **self._options).text

    def sanitize_texts(self, texts: Iterable[str]) -> list[Result]:
        """Return the sanitized form of several texts, each with its privacy statement (what the output reveals).

        Raises:
            InputError: An entry is not a string, or ``texts`` is one string, a row or a table.
        """
        return self._sanitizer.sanitize_batch(texts, **self._options)

    def sanitize_cells(self, cells: Iterable[Any], missing: Sequence[bool] | None = None) -> list[Any]:
        """Sanitize all texts in the cells of a column, and return the cells; missing cells stay unchanged.

        If most words are replaced, issue a ``LanguageWarning`` that the texts may be in another language.

        Args:
            cells: Strings, and any values that represent missing cells.
            missing: Whether each cell is missing; by default, ``None`` and NaN are missing.

        Raises:
            InputError: A cell is neither a string nor missing, or ``cells`` is one string, a row or a table.
        """
        cells = list_items(cells, "cells")
        missing = check_cells(cells, missing)
        texts = [cell for cell, is_missing in zip(cells, missing, strict=True) if not is_missing]
        sanitized = self.sanitize_texts(texts)
        self._warn_about_language(sanitized)
        results = iter(sanitized)
        return [cell if is_missing else next(results).text for cell, is_missing in zip(cells, missing, strict=True)]

    def sanitize_rows(
        self, columns: Sequence[Iterable[Any]], missing: Sequence[Sequence[bool]] | None = None
    ) -> list[list[Any]]:
        """Sanitize all texts in several columns, so that equal names in one row get equal replacements.

        The result is that of the option ``--document row``: in all cells of a row, ``[person 1]`` is the same person.

        >>> from textveil_cli.integrations import ConfiguredSanitizer
        >>> sanitizer = ConfiguredSanitizer(style="tag")
        >>> sanitizer.sanitize_rows([["Anna Novak called."], ["Ask Peter Schulz or Anna Novak."]])
        [['[person 1] called.'], ['Ask [person 2] or [person 1].']]

        Args:
            columns: The cells of each column: strings, and any values that represent missing cells.
            missing: Whether each cell of each column is missing; by default, ``None`` and NaN are missing.

        Raises:
            InputError: A cell is neither a string nor missing, or the columns have different lengths.
            OptionError: The option ``consistent`` is false, so that equal words get independent replacements.
        """
        cells, rows = self._list_filled_cells("row", columns, missing)
        self._replace_documents(cells, rows)
        return cells

    def sanitize_columns(
        self,
        columns: Sequence[Iterable[Any]],
        missing: Sequence[Sequence[bool]] | None = None,
        save_mapping: Callable[[Restorer], None] = lambda mapping: None,
    ) -> list[list[Any]]:
        """Sanitize all texts in several columns as one document: equal names in all cells get equal replacements.

        The result is that of the option ``--document file``.

        >>> from textveil_cli.integrations import ConfiguredSanitizer
        >>> sanitizer = ConfiguredSanitizer(style="tag")
        >>> sanitizer.sanitize_columns([["Anna Novak called.", "Ask Peter Schulz or Anna Novak."]])
        [['[person 1] called.', 'Ask [person 2] or [person 1].']]

        Args:
            columns: The cells of each column, as in ``sanitize_rows``.
            missing: Whether each cell of each column is missing; by default, ``None`` and NaN are missing.
            save_mapping: Called with the mapping (from replacements to original words) of the document.

        Raises:
            InputError, OptionError: As in ``sanitize_rows``.
        """
        cells, rows = self._list_filled_cells("frame", columns, missing)
        for document in self._replace_documents(cells, [[place for row in rows for place in row]]):
            if document.mapping is not None:
                save_mapping(document.mapping)
        return cells

    def _list_filled_cells(
        self, unit: str, columns: Sequence[Iterable[Any]], missing: Sequence[Sequence[bool]] | None
    ) -> tuple[list[list[Any]], list[list[tuple[int, int]]]]:
        """Return the cells of each column, and for each row the column and the row of each cell that is not missing.

        Args:
            unit: Which cells form a document, for errors.
            columns: The cells of each column.
            missing: Whether each cell of each column is missing.
        """
        terms = self._sanitizer.terms(**self._options)
        if self._options.get("consistent", terms.mechanism == "names") is False:
            raise OptionError(
                f'document="{unit}" needs consistent=True: without it every cell is randomized independently'
            )
        cells = [[*list_items(column, "cells")] for column in columns]
        if len({*map(len, cells)}) > 1:
            raise InputError("the columns must have the same length")
        masks = [check_cells(of_one, mask) for of_one, mask in zip(cells, missing or [None] * len(cells), strict=True)]
        filled = [
            [(column, number) for column, is_missing in enumerate(row) if not is_missing]
            for number, row in enumerate(zip(*masks, strict=True))
        ]
        return cells, [row for row in filled if row]

    def _replace_documents(self, cells: list[list[Any]], documents: list[list[tuple[int, int]]]) -> list[Any]:
        """Replace cells by their sanitized texts, and return the sanitized documents.

        Args:
            cells: The cells of each column.
            documents: For each document the column and the row of each of its cells.
        """
        texts = [[cells[column][row] for column, row in places] for places in documents]
        sanitized = self._sanitizer.sanitize_documents(texts, **self._options)
        self._warn_about_language(sanitized)
        for places, document in zip(documents, sanitized, strict=True):
            for (column, row), text in zip(places, document.texts, strict=True):
                cells[column][row] = text
        return sanitized

    def _warn_about_language(self, results: Sequence[Any]) -> None:
        if self.terms.mechanism != "names":
            return
        tally = KeptWordsTally()
        tally.add_words(KeptWords(one.tokens, one.replaced_words, one.foreign_words) for one in results)
        hint = tally.describe_language(is_english=self._sanitizer.bundle.is_builtin, option="language=")
        if hint:
            warnings.warn(f"textveil: {hint}", LanguageWarning, stacklevel=_count_own_frames() + 1)

    @overload
    def preview(self, text: str, *, explain: Literal[False] = ...) -> list[tuple[str, str]]: ...

    @overload
    def preview(self, text: str, *, explain: Literal[True]) -> list[Any]: ...

    def preview(self, text: str, *, explain: bool = False) -> list[tuple[str, str]] | list[Any]:
        """Return how ``sanitize`` would treat each part of a text: leave it unchanged or replace it.

        The parts are tokens (words, numbers, punctuation marks) and the gaps between them. No replacement is sampled.

        Args:
            text: Any text.
            explain: Whether the result also has the position of each token or gap, and the reason for its treatment.
        """
        if explain:
            return self._sanitizer.preview(text, explain=True, **self._options)
        return self._sanitizer.preview(text, **self._options)

    @property
    def terms(self) -> PrivacyTerms:
        """Return the privacy guarantee per token (mode, epsilon and delta), which is the same for all texts."""
        return self._sanitizer.terms(**self._options)

    def __repr__(self) -> str:
        terms = self.terms
        epsilon = "" if terms.level is None else f", epsilon {terms.level}"
        return f"<{type(self).__name__} {terms.mechanism}{epsilon}, bundle {terms.bundle[:12]}>"

    def __reduce__(self) -> Any:
        bundle = self._sanitizer.bundle
        return _unpickle_sanitizer, (self._folder, bundle.expected_bundle, bundle.is_expected, self._options)


def _count_own_frames() -> int:
    """Count the stack frames inside this package, so that a warning can name the source line of the caller."""
    folder, frame, count = os.path.dirname(__file__), sys._getframe(1), 1
    while frame.f_back is not None and frame.f_back.f_code.co_filename.startswith(folder):
        frame, count = frame.f_back, count + 1
    return count


def collect_columns(columns: Any, more: Sequence[Any] = ()) -> tuple[Any, ...]:
    """Convert the arguments of a function, single columns or one list of columns, to a tuple of columns.

    Args:
        columns: The first column, or a list of all columns; ``()`` if the caller passes none.
        more: The other columns.

    Raises:
        ColumnError: The caller passes no column.
    """
    is_list = isinstance(columns, list) or (isinstance(columns, tuple) and not columns)
    collected = (*(columns if is_list else [columns]), *more)
    if not collected:
        raise ColumnError("column is missing: pass the columns that have texts")
    return collected


def check_cells(cells: Sequence[Any], missing: Sequence[bool] | None, column: str | None = None) -> Sequence[bool]:
    """Return whether each cell of a column is missing, after a check that all others are strings.

    Args:
        cells: The cells of one column.
        missing: Whether each cell is missing; with ``None``, cells that are ``None`` or NaN are missing.
        column: Name of the column for the error message.

    Raises:
        InputError: A cell is neither a string nor missing.
    """
    missing = list(map(_is_missing, cells)) if missing is None else missing
    if len(missing) != len(cells):
        raise InputError("cells and missing must have the same length")
    for number, (cell, is_missing) in enumerate(zip(cells, missing, strict=True), 1):
        if not is_missing and not isinstance(cell, str):
            where = f" of the column {column}" if column else ""
            raise InputError(f"cell {number} of {len(cells)}{where} must be a string: convert the column first")
    return missing


def _is_missing(cell: Any) -> bool:
    return cell is None or (isinstance(cell, float | np.floating) and bool(cell != cell))


@lru_cache(maxsize=4)
def load_sanitizer(
    folder: str | None,
    expect_id: str | None = None,
    signer: str | None = None,
    max_bytes: int = MAX_BUNDLE_BYTES,
    pinned: bool | None = None,
    language: str | None = None,
) -> Sanitizer:
    """Return the sanitizer of a bundle; calls with equal arguments return the same object.

    Args:
        folder: Folder of the bundle; ``None`` for the built-in English bundle.
        expect_id: Required content hash; ``None`` for any.
        signer: Public key of the required signer; ``None`` for any.
        max_bytes: Maximum total bytes of the bundle's files.
        pinned: Whether the user required the content hash; privacy statements report this.
        language: Language of the texts; ``None`` for that of the bundle.
    """
    expected = ExpectedBundle(expect_id=expect_id, signer=signer, max_bytes=max_bytes, language=language)
    sanitizer = Sanitizer.load(folder, **expected)
    return sanitizer if pinned is None else Sanitizer(replace(sanitizer.bundle, is_expected=pinned))


def _unpickle_sanitizer(
    folder: str | None, expected: ExpectedBundle, pinned: bool, options: Options
) -> ConfiguredSanitizer:
    """Create a ``ConfiguredSanitizer`` from the values in a pickle; ``pickle`` calls this function.

    Args:
        folder: Folder of the bundle.
        expected: Requirements on the bundle, with its content hash, so that the folder must still have the same bundle.
        pinned: Whether the user had required the content hash; privacy statements report this.
        options: Options of ``Sanitizer.sanitize``.
    """
    sanitizer = object.__new__(ConfiguredSanitizer)
    sanitizer._folder, sanitizer._options = folder, options
    sanitizer._sanitizer = load_sanitizer(folder, **expected, pinned=pinned)
    return sanitizer
