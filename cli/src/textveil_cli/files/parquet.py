"""Parquet, by way of pyarrow: rewrite text columns batch by batch, and copy the others."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from textveil.errors import BadRow, ColumnError, ExtraMissing, FieldTooLong, InputError

from textveil_cli.columns import list_columns, name_option, suggest_column
from textveil_cli.files.rows import Bad, Drawn, Group, Withheld
from textveil_cli.files.selection import Selection

_BATCH_BYTES = 8_000_000
_BATCH_ROWS = 65_536


@dataclass(kw_only=True)
class ParquetBlock:
    """Rows that are rewritten together; see ``rows.Block``.

    Rows with a withheld text are removed from the batch.
    """

    batch: Any
    columns: list[int]
    sizes: list[int]
    by_row: bool
    first: int
    cells: list[list[str | None]]
    scopes: list[str | None]
    kept: list[int] | None
    bad: list[Bad] = field(default_factory=list)

    @property
    def count(self) -> int:
        """Return the number of rows."""
        return self.batch.num_rows

    @property
    def texts(self) -> list[str]:
        """Return the texts of all rows."""
        return [text for row in zip(*self.cells, strict=True) for text in row if text]

    @property
    def groups(self) -> list[Group]:
        """Return the groups of documents that are released together, in order."""
        found = [sum(1 for text in row if text) for row in zip(*self.cells, strict=True)]
        return [
            Group((scope,), 1 if self.by_row else texts)
            for scope, texts in zip(self.scopes, found, strict=True)
            if texts
        ]

    def finish(self, drawn: Drawn) -> Any:
        """Return the batch with its rewritten texts."""
        import pyarrow

        rest = iter(drawn.texts)
        rows = [[next(rest) if text else text for text in row] for row in zip(*self.cells, strict=True)]
        if not drawn.whole:
            rows = self._without_withheld(rows)
        batch = self.batch
        for number, place in enumerate(self.columns):
            kind = batch.schema.field(place)
            column = pyarrow.array([row[number] for row in rows], pyarrow.large_string())
            if pyarrow.types.is_dictionary(kind.type):  # the old texts must not stay in the dictionary
                column = column.cast(kind.type.value_type).dictionary_encode()
            batch = batch.set_column(place, kind, column.cast(kind.type))
        return batch if self.kept is None else batch.select(self.kept).replace_schema_metadata()

    def _without_withheld(self, rows: list[list[Any]]) -> list[list[Any]]:
        """Reject the rows that have a withheld text, and return the others."""
        whole: list[bool] = []
        for number, row in enumerate(rows):
            why = next((text for text in row if isinstance(text, Withheld)), None)
            whole.append(why is None)
            if why is not None:
                raw = json.dumps(self.batch.slice(number, 1).to_pylist()[0], default=str, ensure_ascii=False)
                self.bad.append(
                    Bad(
                        number=self.first + number,
                        line=0,
                        reason=why.reason,
                        raw=raw.encode("utf-8", "replace"),
                        error=why.error,
                    )
                )
        import pyarrow

        self.batch = self.batch.filter(pyarrow.array(whole))
        return [row for row, kept in zip(rows, whole, strict=True) if kept]


class ParquetTable:
    """One Parquet file, open for reading.

    Args:
        file: The file, open and seekable.
        name: Name of the file in errors.
        selection: Columns.
        groups: The row groups to read; all if left out.

    Raises:
        ExtraMissing: pyarrow is not installed.
        InputError: The file is not Parquet, or is damaged.
        ColumnError: A column is missing, appears twice, or has no texts.
    """

    def __init__(self, file: BinaryIO, name: str, selection: Selection, groups: range | None = None) -> None:
        pyarrow, parquet = _pyarrow()
        self._name, self._selection = name, selection
        try:
            self._file = parquet.ParquetFile(file, pre_buffer=False)
            self.schema = self._file.schema_arrow
        except (pyarrow.ArrowException, OSError, ValueError):
            raise InputError(f"{name}: not a Parquet file, or a damaged one") from None
        self._places = [self._place(pyarrow, number) for number, _ in enumerate(selection.columns, 1)]
        scope = selection.scope_column
        self._scope = None if scope is None else self._one(scope, name_option("--scope-column", scope))
        without = [
            self._one(column, name_option("--without-column", column, number, len(selection.without)))
            for number, column in enumerate(selection.without, 1)
        ]
        self._kept = selection.kept(self._places, without, len(self.schema))
        #: Names of the copied columns.
        self.copied = [
            name
            for place, name in enumerate(self.schema.names)
            if place not in self._places and (self._kept is None or place in self._kept)
        ]
        metadata = self._file.metadata
        self._groups = range(metadata.num_row_groups) if groups is None else groups
        #: Number of rows before the next block, out of all ``rows``.
        self.done = sum(metadata.row_group(number).num_rows for number in range(self._groups.start))
        self.rows = metadata.num_rows

    @property
    def groups(self) -> list[tuple[int, int]]:
        """Return rows and unpacked bytes of every row group of the file."""
        found = [self._file.metadata.row_group(number) for number in range(self._file.metadata.num_row_groups)]
        return [(group.num_rows, group.total_byte_size) for group in found]

    def blocks(self) -> Iterator[ParquetBlock]:
        """Yield the rows in blocks.

        Raises:
            InputError: The file is damaged.
            FieldTooLong: A text is longer than the limit.
            BadRow: A text is not UTF-8.
        """
        pyarrow, _ = _pyarrow()
        self._refuse_long_pages()
        batches = self._file.iter_batches(self._batch_rows(), row_groups=[*self._groups], use_threads=False)
        while True:
            try:
                batch = next(batches, None)
                if batch is None:
                    return
                texts = [batch.column(place).to_pylist() for place in self._places]
                scopes = self._scopes_of(batch)
            except (pyarrow.ArrowException, OSError):
                raise InputError(f"{self._name}: a damaged Parquet file") from None
            except UnicodeDecodeError:
                raise BadRow(f"{self._name}, rows from {self.done + 1:,} on: a text is not UTF-8") from None
            self._refuse_long(texts)
            found = [sum(1 for text in row if text) for row in zip(*texts, strict=True)]
            by_row = self._selection.document == "row"
            sizes = [size for size in found if size] if by_row else [1] * sum(found)
            first, self.done = self.done + 1, self.done + batch.num_rows
            yield ParquetBlock(
                batch=batch,
                columns=self._places,
                sizes=sizes,
                by_row=by_row,
                first=first,
                cells=texts,
                scopes=scopes,
                kept=self._kept,
            )

    @contextmanager
    def writer(self, file: BinaryIO) -> Iterator[Any]:
        """Yield a function that writes batches with the input's columns, types and compression.

        Metadata is copied too, unless columns are left out: it may describe them.
        """
        pyarrow, parquet = _pyarrow()
        schema = self.schema
        if self._kept is not None:
            schema = pyarrow.schema([schema.field(place) for place in self._kept])
        of_columns = self._codecs()
        old_times = any(
            self._file.schema.column(number).physical_type == "INT96" for number in range(len(self._file.schema))
        )
        with parquet.ParquetWriter(
            file, schema, compression=of_columns, use_deprecated_int96_timestamps=old_times
        ) as writer:
            yield writer.write_batch

    def _codecs(self) -> Any:
        metadata = self._file.metadata
        if not metadata.num_row_groups:
            return "snappy"
        group = metadata.row_group(0)
        columns = [group.column(number) for number in range(group.num_columns)]
        return {column.path_in_schema: _CODECS.get(column.compression, "snappy") for column in columns}

    def _place(self, pyarrow: Any, number: int) -> int:
        columns = self._selection.columns
        option = name_option("--column", columns[number - 1], number, len(columns))
        found = self._one(columns[number - 1], option)
        kind = self.schema.field(found).type
        kind = kind.value_type if pyarrow.types.is_dictionary(kind) else kind
        if not (pyarrow.types.is_string(kind) or pyarrow.types.is_large_string(kind) or _is_view(pyarrow, kind)):
            raise ColumnError(f"{self._name}: {option} has no texts")
        return found

    def _one(self, column: str, option: str) -> int:
        """Return the position of a column.

        Raises:
            ColumnError: The column is missing or appears twice.
        """
        found = self.schema.get_all_field_indices(column)
        if len(found) != 1:
            hint = "" if found else suggest_column(column, self.schema.names)
            listed = list_columns(self.schema.names)
            hint = f" ({listed}){hint}" if listed else hint
            raise ColumnError(f"{self._name}: {option} is {'twice' if found else 'not'} in the file{hint}")
        return found[0]

    def _scopes_of(self, batch: Any) -> list[str | None]:
        """Return the privacy unit of each row."""
        if self._scope is None:
            return [None] * batch.num_rows
        return ["" if value is None else str(value) for value in batch.column(self._scope).to_pylist()]

    def _batch_rows(self) -> int:
        """Return the number of rows for a batch of about ``_BATCH_BYTES`` bytes."""
        size = sum(size for _, size in self.groups)
        return max(1, min(_BATCH_ROWS, _BATCH_BYTES * self.rows // max(1, size)))

    def _refuse_long_pages(self) -> None:
        """Refuse texts that are too long by the file's metadata, before reading them."""
        metadata = self._file.metadata
        names = set(self._selection.columns)
        for number in self._groups:
            group = metadata.row_group(number)
            for place in range(group.num_columns):
                column = group.column(place)
                long = column.total_uncompressed_size > self._selection.max_field * max(1, column.num_values)
                if column.path_in_schema in names and long:
                    raise FieldTooLong(f"{self._name}: a text is longer than --max-field allows")

    def _refuse_long(self, texts: list[list[str | None]]) -> None:
        most = self._selection.max_field
        for column in texts:
            for number, text in enumerate(column, 1):
                if text and len(text) * 4 > most and len(text.encode()) > most:
                    raise FieldTooLong(
                        f"{self._name}, row {self.done + number}: a text is longer than --max-field allows"
                    )


_CODECS = {
    "UNCOMPRESSED": "none",
    "SNAPPY": "snappy",
    "GZIP": "gzip",
    "BROTLI": "brotli",
    "ZSTD": "zstd",
    "LZ4": "lz4",
    "LZ4_RAW": "lz4",
}


def _is_view(pyarrow: Any, kind: Any) -> bool:
    return hasattr(pyarrow.types, "is_string_view") and pyarrow.types.is_string_view(kind)


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise ExtraMissing("Parquet needs pyarrow: pip install 'textveil-cli[parquet]'") from None
    return pyarrow, parquet
