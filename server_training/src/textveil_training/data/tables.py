"""Read a user's own CSV, TSV, JSON Lines or Parquet file, with columns that the user names.

The file's suffix decides its format. CSV is quoted as in RFC 4180; TSV is never quoted, as in published data sets. A
column has a name, or a number from 1 if the file has no header.
"""

import csv
import json
from collections.abc import Iterator
from pathlib import Path

from textveil.formatting import format_count
from textveil_cli.columns import suggest_column

from textveil_training.data.examples import LabeledExample
from textveil_training.data.rows import check_label, check_text, format_file_name, read_lines, split_columns
from textveil_training.data.skipped_rows import SkippedRows
from textveil_training.errors import (
    DataError,
    DataOptionError,
    EmptyData,
    FileLocation,
    InvalidJson,
    InvalidUtf8,
    MissingColumn,
    MissingExtra,
    MissingLabel,
    UnreadableFile,
    WrongColumnCount,
    WrongLayout,
)

ENDINGS = (".csv", ".tsv", ".txt", ".jsonl", ".ndjson", ".parquet")
JSON_ENDINGS = (".jsonl", ".ndjson")
#: Strings that statistics programs write for missing values, in lower case; they count as a missing label.
_NOT_A_LABEL = frozenset({"nan", "none", "null", "<na>"})

TextAndLabel = tuple[str, str | None]
"""A text and its label, or ``None`` if it has no label."""
CellsOrError = TextAndLabel | DataError
"""Text and label of a row, or the error if the row cannot be used."""
_Row = tuple[FileLocation, CellsOrError, str]
"""Location of a row, its content or error, and its raw text in the file."""


def read_table(
    path: Path, text: str, label: str | None, ending: str | None = None, skipped: SkippedRows | None = None
) -> Iterator[LabeledExample]:
    """Yield the rows of a table as examples, from one column or key with texts and one with labels.

    Args:
        path: A file whose name ends in one of ``ENDINGS``; ``.txt`` is TSV. A blank line of JSON Lines is an error.
        text: Name of the column or key with the texts, or its number from 1 in a CSV or TSV file without a header.
        label: Name or number of the column with the labels; ``None`` for texts without labels. A label that is a number
            is converted to a string.
        ending: Ending that determines the format; ``None`` for the ending of the file's name.
        skipped: Collector of bad rows; ``None`` makes a bad row an error.

    Raises:
        DataOptionError: The ending is not in ``ENDINGS``, or one column is given by name and the other by number.
        MissingColumn: The file has no such column, or two columns of that name.
        InvalidJson: A line is not a JSON object, or a value has another type or contains an unpaired UTF-16 surrogate.
        MissingText, MissingLabel: The text or the label of a row is empty, blank or NaN.
        MissingExtra: Parquet needs pyarrow.
        DataError: The file cannot be read, is empty or malformed.
    """
    ending = ending or path.suffix.lower()
    if ending not in ENDINGS:
        raise DataOptionError(
            f"the file name must end in {', '.join(ENDINGS)}: rename the file, or choose another format"
        )
    escaped = skipped is not None and not skipped.empty_alone
    if ending in JSON_ENDINGS:
        cells = _read_json_rows(path, text, label, escaped)
    elif ending == ".parquet":
        cells = _read_parquet_rows(path, text, label)
    else:
        cells = _read_delimited(path, text, label, escaped)
    for number, (location, text_and_label, raw) in enumerate(cells, 1):
        try:
            if isinstance(text_and_label, DataError):
                raise text_and_label
            value, label_text = check_text(text_and_label[0], location), text_and_label[1]
            if label_text is not None and ending not in JSON_ENDINGS and label_text.strip().lower() in _NOT_A_LABEL:
                raise MissingLabel("the label is missing", location)
            example = LabeledExample(
                texts=(value,), label="" if label_text is None else check_label(label_text, None, location)
            )
        except DataError as error:
            if skipped is None:
                raise
            skipped.add(error, number, raw)
        else:
            yield example


def find_columns(path: Path, wanted: list[str]) -> tuple[list[int], int, bool]:
    """Find the positions of named or numbered columns in a CSV or TSV file.

    Args:
        path: The file.
        wanted: Names of columns, or their numbers from 1 for a file without a header.

    Returns:
        Positions of these columns from 0, the number of columns of the file, and whether the first row is a header.

    Raises:
        DataOptionError: Some columns are given by name and others by number.
        MissingColumn: The file has no such column, or two columns of that name.
        DataError: The file cannot be read, is empty, or its first row is malformed.
    """
    for location, row, _ in _read_rows(path):
        located = [_locate_columns(row, [name], location) for name in wanted]
        if len({header for _, header in located}) > 1:
            raise DataOptionError("give all columns by name, or all by number")
        return [places[0] for places, _ in located], len(row), located[0][1]
    raise EmptyData("the file has no row", FileLocation(format_file_name(path)))


def _locate_columns(row: list[str], wanted: list[str], location: FileLocation) -> tuple[list[int], bool]:
    """Find the positions of columns in the first row of a file.

    Args:
        row: Cells of the first row.
        wanted: Names of columns, or their numbers from 1.
        location: File and line of the row, for error messages.

    Returns:
        Positions from 0, and whether the row is a header.
    """
    numbered = [name.isascii() and name.isdecimal() and name not in row for name in wanted]
    if all(numbered):
        places = [int(name) - 1 for name in wanted]
        if not all(0 <= place < len(row) for place in places):
            raise MissingColumn(f"no column has that number: the rows have {len(row)} columns", location)
    elif any(numbered):
        raise DataOptionError("give both columns by name, or both by number")
    else:
        for option, name in zip(("text", "label"), wanted, strict=False):
            if row.count(name) != 1:
                found = "two columns" if name in row else "no column"
                meant = suggest_column(name, row) if found == "no column" else ""
                meant = "; separate cells by commas" if len(row) == 1 and set(row[0]) & {";", "\t"} else meant
                there = format_count(len(row), "column")
                raise MissingColumn(f"{found} of the name given for the {option} ({there}){meant}", location)
        places = [row.index(name) for name in wanted]
    if len(set(places)) < len(places):
        raise DataOptionError("text and label must be different columns")
    return places, not all(numbered)


def _read_delimited(path: Path, text: str, label: str | None, escaped: bool) -> Iterator[_Row]:
    columns: list[int] = []
    width = read = 0
    for location, row, raw in _read_rows(path, escaped):
        invalid = _find_utf8_error(raw, location)
        if not columns:
            width = len(row)
            columns, header = _locate_columns(row, [text] if label is None else [text, label], location)
            if header and invalid is not None:
                raise InvalidUtf8("the header is not UTF-8: save the file as UTF-8", location)
            if header:
                continue
        if invalid is not None:
            yield location, invalid, raw
        elif len(row) != width:
            yield location, WrongColumnCount(f"the row has {len(row)} columns instead of {width}", location), raw
        else:
            yield location, (row[columns[0]], None if label is None else row[columns[1]]), raw
        read += 1
    if not read:
        raise EmptyData("the file has no row", FileLocation(format_file_name(path)))


def _find_utf8_error(raw: str, location: FileLocation) -> InvalidUtf8 | None:
    """Return an error if a row, decoded with ``surrogateescape``, contains bytes that are not UTF-8, else ``None``."""
    return InvalidUtf8("not UTF-8", location) if any("\udc80" <= character <= "\udcff" for character in raw) else None


def _read_rows(path: Path, escaped: bool = False) -> Iterator[tuple[FileLocation, list[str], str]]:
    """Yield the rows of a CSV or TSV file: location, cells and raw text.

    Args:
        path: The file.
        escaped: Whether to decode bytes that are not UTF-8 with the error handler ``surrogateescape`` instead of
            raising an error.
    """
    if path.suffix.lower() == ".csv":
        return _read_csv_rows(path, escaped)
    lines = read_lines(path, escaped=escaped)
    return ((location, split_columns(line, line.count("\t") + 1, location), line) for location, line in lines)


def _read_csv_rows(path: Path, escaped: bool) -> Iterator[tuple[FileLocation, list[str], str]]:
    """Yield for each CSV row the location of its last line, its cells and its raw text; skip blank lines."""
    name, lines = format_file_name(path), list[str]()

    def read() -> Iterator[str]:
        for _, line in read_lines(path, escaped=escaped):
            lines.append(line)
            yield f"{line}\n"

    reader = csv.reader(read(), strict=True)
    while True:
        try:
            row = next(reader, None)
            malformed = False
        except csv.Error:  # the message of csv.Error may contain content of the file
            row, malformed = None, True
        location = FileLocation(name, reader.line_num)
        if malformed:
            raise WrongLayout("the line is not valid CSV", location)
        if row is None:
            return
        if row:
            yield location, [cell.removesuffix("\n") for cell in row], "\n".join(lines)
        lines.clear()


def _read_json_rows(path: Path, text: str, label: str | None, escaped: bool) -> Iterator[_Row]:
    for location, line in read_lines(path, escaped=escaped):
        invalid = _find_utf8_error(line, location)
        try:
            row = None if invalid is not None else json.loads(line)
        except (ValueError, RecursionError):  # messages of the JSON parser contain the line
            row = None
        try:
            if invalid is not None:
                raise invalid
            if not isinstance(row, dict):
                raise InvalidJson("the line is not a JSON object", location)
            found = (
                _read_string(row, text, location),
                None if label is None else _read_string(row, label, location, (int,)),
            )
        except (InvalidJson, InvalidUtf8) as error:
            found = error
        yield location, found, line


def _read_string(row: dict[str, object], key: str, location: FileLocation, also: tuple[type, ...] = ()) -> str:
    """Return a value of a JSON object as a string; the result is empty if the key is missing.

    Args:
        row: The JSON object.
        key: Key of the value.
        location: File and line of the object, for error messages.
        also: Types other than strings that are converted to a string.
    """
    value = row.get(key)
    if value is None:
        return ""
    if isinstance(value, bool) or not isinstance(value, (str, *also)):
        raise InvalidJson(f"the {'label' if also else 'text'} must be a string", location)
    # JSON can escape half of a surrogate pair, which UTF-8 cannot encode and no tokenizer expects.
    if any("\ud800" <= character <= "\udfff" for character in str(value)):
        raise InvalidJson("a string has half of a surrogate pair: write valid Unicode", location)
    return str(value)


def _read_parquet_rows(path: Path, text: str, label: str | None) -> Iterator[_Row]:
    try:
        from pyarrow import parquet  # type: ignore[import-not-found]
    except ImportError as error:
        raise MissingExtra("Parquet needs pyarrow: pip install pyarrow") from error
    name = format_file_name(path)
    wanted = [text] if label is None else [text, label]
    table, names = None, None
    try:
        names = parquet.read_schema(path).names
        if all(names.count(column) == 1 for column in wanted):
            table = parquet.read_table(path, columns=wanted)
    except Exception:  # pyarrow's errors have no common base class, and their messages may contain the path
        table = None
    for option, column in zip(("text", "label"), wanted, strict=False):
        if names is not None and names.count(column) != 1:
            raise MissingColumn(
                f"the file has no column, or several, with the name given for the {option}", FileLocation(name)
            )
    if table is None:
        raise UnreadableFile("the file cannot be read as Parquet")
    cells = table.column(text).to_pylist()
    labels = table.column(label).to_pylist() if label is not None else [None] * len(cells)
    if not cells:
        raise EmptyData("the file has no row", FileLocation(name))
    for number, (cell, value) in enumerate(zip(cells, labels, strict=True), 1):
        given = None if label is None else "" if value is None else str(value)
        raw = json.dumps({text: cell, label: value}, default=str, ensure_ascii=False)
        yield FileLocation(name, number), (cell if isinstance(cell, str) else "", given), raw
