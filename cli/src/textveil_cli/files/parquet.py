"""Parquet files: sanitize text columns batch by batch with pyarrow, and copy other columns."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from textveil.errors import DocumentTooLong, InputError

from textveil_cli.columns import ColumnSelection, describe_column_option, list_columns, suggest_column
from textveil_cli.errors import BadRow, ColumnError, ExtraMissing, FieldTooLong
from textveil_cli.files.blocks import DocumentGroup, RejectedRow, RewrittenDocuments, WithheldDocument

_BATCH_BYTES = 8_000_000
_BATCH_ROWS = 65_536


@dataclass(kw_only=True)
class ParquetBlock:
    """``DocumentBlock`` of the rows of one record batch.

    If a text of a row must not be written to the output, the whole row is removed from the batch.
    """

    batch: Any
    columns: list[int]
    document_sizes: list[int]
    document: str
    first_row: int
    cells: list[list[str | None]]
    privacy_units: list[str | None]
    output_columns: list[int] | None
    rejected: list[RejectedRow] = field(default_factory=list)

    @property
    def row_count(self) -> int:
        """Return the number of rows."""
        return self.batch.num_rows

    @property
    def texts(self) -> list[str]:
        """Return the texts of the cells to sanitize, in the order of the rows."""
        return [text for row in zip(*self.cells, strict=True) for text in row if text]

    def iterate_cells(self) -> Iterator[tuple[int, str]]:
        """Yield the row number and the column name of each text, in the order of ``texts``."""
        names = [self.batch.schema.field(place).name for place in self.columns]
        for number, row in enumerate(zip(*self.cells, strict=True), self.first_row):
            yield from ((number, name) for name, text in zip(names, row, strict=True) if text)

    @property
    def groups(self) -> list[DocumentGroup]:
        """Return the documents in groups, in order. Either all documents of a group are written, or none of them."""
        text_counts = [sum(1 for text in row if text) for row in zip(*self.cells, strict=True)]
        if self.document == "file":
            units = [unit for unit, texts in zip(self.privacy_units, text_counts, strict=True) if texts]
            return [DocumentGroup(tuple(dict.fromkeys(units)), 1)] if units else []
        return [
            DocumentGroup((scope,), 1 if self.document == "row" else texts)
            for scope, texts in zip(self.privacy_units, text_counts, strict=True)
            if texts
        ]

    def insert_texts(self, rewritten: RewrittenDocuments) -> Any:
        """Return the record batch, with each original text replaced by its sanitized text.

        Rows with a text that must not be written (a ``WithheldDocument``) are moved to ``rejected``.
        """
        import pyarrow

        remaining = iter(rewritten.texts)
        rows = [[next(remaining) if text else text for text in row] for row in zip(*self.cells, strict=True)]
        if not rewritten.is_complete:
            rows = self._reject_withheld_rows(rows)
        batch = self.batch
        for number, column_index in enumerate(self.columns):
            schema_field = batch.schema.field(column_index)
            column = pyarrow.array([row[number] for row in rows], pyarrow.large_string())
            if pyarrow.types.is_dictionary(schema_field.type):  # the old texts must not stay in the dictionary
                column = column.cast(schema_field.type.value_type).dictionary_encode()
            batch = batch.set_column(column_index, schema_field, column.cast(schema_field.type))
        return batch if self.output_columns is None else batch.select(self.output_columns).replace_schema_metadata()

    def _reject_withheld_rows(self, rows: list[list[Any]]) -> list[list[Any]]:
        """Move rows with a ``WithheldDocument`` (text not to be written) to ``rejected``; return the other rows."""
        is_released: list[bool] = []
        for number, row in enumerate(rows):
            withheld = next((text for text in row if isinstance(text, WithheldDocument)), None)
            is_released.append(withheld is None)
            if withheld is not None:
                raw = json.dumps(self.batch.slice(number, 1).to_pylist()[0], default=str, ensure_ascii=False)
                self.rejected.append(
                    RejectedRow(
                        number=self.first_row + number,
                        line=0,
                        reason=withheld.reason,
                        raw=raw.encode("utf-8", "replace"),
                        error=withheld.error,
                    )
                )
        import pyarrow

        self.batch = self.batch.filter(pyarrow.array(is_released))
        return [row for row, kept in zip(rows, is_released, strict=True) if kept]


class ParquetTable:
    """One Parquet file, open for reading.

    Args:
        file: The file, open for binary reading and seekable.
        name: Name of the file in errors.
        selection: The columns to sanitize, and those to omit.
        row_groups: Indices of the row groups to read, from 0; ``None`` for all.

    Raises:
        ExtraMissing: pyarrow is not installed.
        InputError: The file is not Parquet, or is damaged.
        ColumnError: A column is missing, appears twice, or has no texts.
    """

    def __init__(self, file: BinaryIO, name: str, selection: ColumnSelection, groups: range | None = None) -> None:
        pyarrow, parquet = _import_pyarrow()
        self._name, self._selection = name, selection
        try:
            self._file = parquet.ParquetFile(file, pre_buffer=False)
            self.schema = self._file.schema_arrow
        except (pyarrow.ArrowException, OSError, ValueError):
            raise InputError(f"{name}: not a Parquet file, or damaged") from None
        self._text_columns = [self._find_text_column(pyarrow, number) for number, _ in enumerate(selection.columns, 1)]
        privacy_unit_column = selection.privacy_unit_column
        self._privacy_unit_column = (
            None
            if privacy_unit_column is None
            else self._find_column(
                privacy_unit_column, describe_column_option("--privacy-unit-column", privacy_unit_column)
            )
        )
        left_out = [
            self._find_column(column, describe_column_option("--drop-column", column, number, len(selection.without)))
            for number, column in enumerate(selection.without, 1)
        ]
        self._output_columns = selection.list_output_columns(self._text_columns, left_out, len(self.schema))
        #: Names of the copied columns.
        self.copied = [
            name
            for place, name in enumerate(self.schema.names)
            if place not in self._text_columns and (self._output_columns is None or place in self._output_columns)
        ]
        metadata = self._file.metadata
        self._selected_groups = range(metadata.num_row_groups) if groups is None else groups
        #: Number of rows before the next block, out of all ``rows``.
        self.rows_read = sum(metadata.row_group(number).num_rows for number in range(self._selected_groups.start))
        self.rows = metadata.num_rows

    @property
    def row_groups(self) -> list[tuple[int, int]]:
        """Return for each row group of the file its number of rows and of uncompressed bytes."""
        metadata = [self._file.metadata.row_group(number) for number in range(self._file.metadata.num_row_groups)]
        return [(group.num_rows, group.total_byte_size) for group in metadata]

    def read_blocks(self) -> Iterator[ParquetBlock]:
        """Yield the rows in blocks: one block per record batch, or one block if the file is one document.

        Raises:
            DocumentTooLong: The file is one document, and longer than the limit of a row.
            InputError: The file is damaged.
            FieldTooLong: A text is longer than the limit.
            BadRow: A text is not UTF-8.
        """
        pyarrow, _ = _import_pyarrow()
        self._refuse_long_pages()
        batches: Iterator[Any] = self._file.iter_batches(
            self._compute_batch_rows(), row_groups=[*self._selected_groups], use_threads=False
        )
        if self._selection.document == "file":
            batches = self._join_batches(batches)
        while True:
            try:
                batch = next(batches, None)
                if batch is None:
                    return
                texts = [batch.column(place).to_pylist() for place in self._text_columns]
                privacy_units = self._read_privacy_units(batch)
            except (pyarrow.ArrowException, OSError):
                raise InputError(f"{self._name}: the Parquet file is damaged") from None
            except UnicodeDecodeError:
                raise BadRow(f"{self._name}, rows from {self.rows_read + 1:,} on: a text is not UTF-8") from None
            self._refuse_long(texts)
            text_counts = [sum(1 for text in row if text) for row in zip(*texts, strict=True)]
            document = self._selection.document
            document_sizes = [size for size in text_counts if size] if document == "row" else [1] * sum(text_counts)
            if document == "file":
                document_sizes = [sum(text_counts)] if any(text_counts) else []
            first_row, self.rows_read = self.rows_read + 1, self.rows_read + batch.num_rows
            yield ParquetBlock(
                batch=batch,
                columns=self._text_columns,
                document_sizes=document_sizes,
                document=document,
                first_row=first_row,
                cells=texts,
                privacy_units=privacy_units,
                output_columns=self._output_columns,
            )

    def _join_batches(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Yield one record batch with the rows of all batches, or none for an empty file."""
        pyarrow, _ = _import_pyarrow()
        parts, size = [], 0
        for batch in batches:
            size += batch.nbytes
            if size > self._selection.max_row:
                raise DocumentTooLong(
                    f"{self._name}: the file, as one document, exceeds four times --max-field-bytes: raise it"
                )
            parts.append(batch)
        yield from pyarrow.Table.from_batches(parts, self.schema).combine_chunks().to_batches()

    @contextmanager
    def open_batch_writer(self, file: BinaryIO) -> Iterator[Any]:
        """Yield a function that writes record batches with the columns, types and compression of the input.

        Metadata is copied too, unless the output omits columns, since metadata may describe the omitted columns.
        """
        pyarrow, parquet = _import_pyarrow()
        schema = self.schema
        if self._output_columns is not None:
            schema = pyarrow.schema([schema.field(column_index) for column_index in self._output_columns])
        compression = self._get_compression()
        uses_int96_times = any(
            self._file.schema.column(number).physical_type == "INT96" for number in range(len(self._file.schema))
        )
        with parquet.ParquetWriter(
            file, schema, compression=compression, use_deprecated_int96_timestamps=uses_int96_times
        ) as writer:
            yield writer.write_batch

    def _get_compression(self) -> Any:
        metadata = self._file.metadata
        if not metadata.num_row_groups:
            return "snappy"
        group = metadata.row_group(0)
        columns = [group.column(number) for number in range(group.num_columns)]
        return {column.path_in_schema: _COMPRESSIONS.get(column.compression, "snappy") for column in columns}

    def _find_text_column(self, pyarrow: Any, number: int) -> int:
        columns = self._selection.columns
        option = describe_column_option("--column", columns[number - 1], number, len(columns))
        position = self._find_column(columns[number - 1], option)
        arrow_type = self.schema.field(position).type
        arrow_type = arrow_type.value_type if pyarrow.types.is_dictionary(arrow_type) else arrow_type
        if not (
            pyarrow.types.is_string(arrow_type)
            or pyarrow.types.is_large_string(arrow_type)
            or _is_string_view(pyarrow, arrow_type)
        ):
            raise ColumnError(f"{self._name}: {option} is not a column of strings")
        return position

    def _find_column(self, column: str, option: str) -> int:
        """Return the position of a column.

        Raises:
            ColumnError: The column is missing or appears twice.
        """
        positions = self.schema.get_all_field_indices(column)
        if len(positions) != 1:
            hint = "" if positions else suggest_column(column, self.schema.names)
            listed = list_columns(self.schema.names)
            hint = f" ({listed}){hint}" if listed else hint
            raise ColumnError(f"{self._name}: {option} {'appears twice' if positions else 'is not'} in the file{hint}")
        return positions[0]

    def _read_privacy_units(self, batch: Any) -> list[str | None]:
        """Return for each row of a batch the person or group for whom its epsilon is recorded; "" for a null.

        If the run has no column with such names, the result is ``None`` for each row.
        """
        if self._privacy_unit_column is None:
            return [None] * batch.num_rows
        return ["" if value is None else str(value) for value in batch.column(self._privacy_unit_column).to_pylist()]

    def _compute_batch_rows(self) -> int:
        """Return how many rows to read per batch, so that a batch has about ``_BATCH_BYTES`` bytes."""
        size = sum(size for _, size in self.row_groups)
        return max(1, min(_BATCH_ROWS, _BATCH_BYTES * self.rows // max(1, size)))

    def _refuse_long_pages(self) -> None:
        """Raise ``FieldTooLong`` if the file's metadata declares texts above the limit, before reading them."""
        metadata = self._file.metadata
        names = set(self._selection.columns)
        for number in self._selected_groups:
            group = metadata.row_group(number)
            for column_index in range(group.num_columns):
                column = group.column(column_index)
                is_too_long = column.total_uncompressed_size > self._selection.max_field * max(1, column.num_values)
                if column.path_in_schema in names and is_too_long:
                    raise FieldTooLong(f"{self._name}: a text exceeds --max-field-bytes")

    def _refuse_long(self, texts: list[list[str | None]]) -> None:
        max_bytes = self._selection.max_field
        for column in texts:
            for number, text in enumerate(column, 1):
                if text and len(text) * 4 > max_bytes and len(text.encode()) > max_bytes:
                    raise FieldTooLong(f"{self._name}, row {self.rows_read + number}: a text exceeds --max-field-bytes")


_COMPRESSIONS = {
    "UNCOMPRESSED": "none",
    "SNAPPY": "snappy",
    "GZIP": "gzip",
    "BROTLI": "brotli",
    "ZSTD": "zstd",
    "LZ4": "lz4",
    "LZ4_RAW": "lz4",
}


def _is_string_view(pyarrow: Any, arrow_type: Any) -> bool:
    return hasattr(pyarrow.types, "is_string_view") and pyarrow.types.is_string_view(arrow_type)


def _import_pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise ExtraMissing("Parquet needs pyarrow: pip install 'textveil-cli[parquet]'") from None
    return pyarrow, parquet
