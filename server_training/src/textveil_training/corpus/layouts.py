"""Where in a line of each format the texts are: what is sanitized, and what is carried through as it is.

A layout cuts a line into parts, alternately something carried and a text, so that the sanitized line is the same
line with other texts. Only the texts are sanitized: labels, scores, numbers, attributes and keys nobody named are
released as they are.
"""

import json
import re
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from json.decoder import JSONDecoder, scanstring  # type: ignore[attr-defined]  # not in the stubs
from pathlib import Path

from textveil_training.corpus.csv_cells import Cut, cells, quoted
from textveil_training.data.attributed import SEPARATOR
from textveil_training.data.demographic import first_review, user_object
from textveil_training.data.formats import format_named
from textveil_training.data.plain import is_heading
from textveil_training.data.rows import split_columns
from textveil_training.data.tables import ENDINGS, columns_of
from textveil_training.errors import (
    DataOptionError,
    FileLocation,
    InvalidJson,
    UnreadableFile,
    WrongColumnCount,
)

_BYTE_ORDER_MARK = "\ufeff"
_BLANKS = re.compile(r"[ \t\n\r]*")
_DECODER = JSONDecoder()
_HEADING = re.compile(r"(\s*(?:=\s+)+)(.*?)((?:\s+=)+\s*)", re.DOTALL)


def _as_it_is(text: str) -> str:
    return text


def _json_string(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


@dataclass(frozen=True)
class Layout:
    """How the lines of a format are cut.

    Attributes:
        cut: Turns a line without its end, and its location, into an odd number of parts: carried, text, carried, ...,
            carried. It raises ``DataError`` for a line that is no row of the format.
        headers: Rows at the beginning of a file that are carried whole.
        encode: How a text is written into a line.
        quoted: Whether a row goes on in the next line while a quote is open (CSV).
    """

    cut: Cut
    headers: int = 0
    encode: Callable[[str], str] = _as_it_is
    quoted: bool = False


def layout_of(format_name: str, text_keys: Collection[str] = ("text",), path: Path | None = None) -> Layout:
    """Returns the layout of a format of ``data.FORMATS``.

    Args:
        format_name: Its name.
        text_keys: Keys or columns of the texts (``jsonl``, ``table``).
        path: The file: the layout of a ``table`` depends on its ending and its first row.

    Raises:
        UnknownFormat: There is none of that name.
        DataOptionError: Files of this format are not rewritten.
        DataError: The columns of a table are not found; see ``tables.columns_of``.
    """
    format_named(format_name)
    if format_name == "table":
        return _table_layout(path, text_keys)
    if format_name == "jsonl":
        return Layout(_json_members(frozenset(text_keys)), encode=_json_string)
    return _LAYOUTS[format_name]


def cut_block(block: bytes, layout: Layout, file_name: str, first_line: int) -> list[list[str]]:
    """Cuts consecutive lines of a file.

    Args:
        block: The bytes of whole lines.
        layout: Layout of their format.
        file_name: What errors call the file.
        first_line: Number of the first of them in the file, from 1.

    Returns:
        The parts of each line. A byte order mark and the line's end are carried.

    Raises:
        DataError: A line is no row of the format.
    """
    try:
        text = block.decode("utf-8")
    except UnicodeDecodeError:
        text = None
    if text is None:  # the reader has seen the whole file before
        raise UnreadableFile("the file was changed while it was read", FileLocation(file_name))
    mark = _BYTE_ORDER_MARK if first_line == 1 and text.startswith(_BYTE_ORDER_MARK) else ""
    cut = []
    for number, row in _rows(text.removeprefix(mark), first_line, quoted=layout.quoted):
        content = row.removesuffix("\n").removesuffix("\r") if row.endswith("\n") else row
        parts = [content] if number <= layout.headers else layout.cut(content, FileLocation(file_name, number))
        parts[-1] += row[len(content) :]
        cut.append(parts)
    if cut:
        cut[0][0] = mark + cut[0][0]
    return cut


def _rows(text: str, first_line: int, *, quoted: bool) -> Iterator[tuple[int, str]]:
    """The rows of a block with their ends, and the line that each begins on."""
    row, begins = "", first_line
    for number, line in enumerate(text.split("\n"), first_line):
        row += line
        if number == first_line + text.count("\n"):  # what follows the last line end: nothing, or a line without one
            break
        row += "\n"
        if not (quoted and row.count('"') % 2):
            yield begins, row
            row, begins = "", number + 1
    if row:
        yield begins, row


def _columns(count: int, *texts: int) -> Cut:
    """Rows of ``count`` columns; ``texts`` are the indices of those that are texts."""

    def cut(line: str, location: FileLocation) -> list[str]:
        return _parts(split_columns(line, count, location), texts)

    return cut


def _parts(row: list[str], texts: Collection[int]) -> list[str]:
    parts: list[str] = []
    carried = ""
    for index, column in enumerate(row):
        if index:
            carried += "\t"
        if index in texts:
            parts += [carried, column]
            carried = ""
        else:
            carried += column
    return [*parts, carried]


def _table_layout(path: Path | None, columns: Collection[str]) -> Layout:
    """Returns the layout of a user's own file. See ``layout_of``."""
    ending = "" if path is None else path.suffix.lower()
    if path is None or ending not in ENDINGS or ending == ".parquet":
        raise DataOptionError(
            "of tables, csv, tsv, txt, jsonl and ndjson are rewritten here (Parquet: textveil sanitize)"
        )
    if ending in (".jsonl", ".ndjson"):
        return Layout(_json_members(frozenset(columns)), encode=_json_string)
    places, width, header = columns_of(path, list(columns))
    if ending == ".csv":
        return Layout(cells(width, places), int(header), quoted, quoted=True)
    return Layout(_columns(width, *places), int(header))


def _attributed(line: str, location: FileLocation) -> list[str]:
    """``label<TAB>text<TAB>indices``, and lines of equals signs between splits."""
    if line.strip() == SEPARATOR:
        return [line]
    return _parts(split_columns(line, 3, location), (1,))


def _blog_topics(line: str, location: FileLocation) -> list[str]:
    """Five columns, the last of which is a text that may hold tabs. Rows that the reader passes over are texts too."""
    row = line.split("\t", 4)
    if len(row) != 5:
        raise WrongColumnCount(f"the row has {len(row)} columns instead of 5", location)
    return _parts(row, (4,))


def _text(line: str, location: FileLocation) -> list[str]:
    return ["", line, ""] if line.strip() else [line]


def _wikitext(line: str, location: FileLocation) -> list[str]:
    """A paragraph, or a heading whose equals signs are carried."""
    if not line.strip():
        return [line]
    heading = _HEADING.fullmatch(line) if is_heading(line) else None
    return ["", line, ""] if heading is None else list(heading.groups())


def _trustpilot_user(line: str, location: FileLocation) -> list[str]:
    """The parts of a user that the reader uses: gender, year of birth, and the first review.

    All else that is known of a user (name, place, profile, other reviews) is left out, and so is a user whom the
    reader passes over: ``{}`` stands in the place.
    """
    user = user_object(line)
    if user is None:
        raise InvalidJson("the line is not an object in JSON or in Python's notation", location)
    if first_review(user, location) is None:
        return ["{}"]
    review = user["reviews"][0]
    texts = [text or "" for text in review["text"]]
    written = json.dumps(review["date"].partition("-")[0] + "-")
    about = f'{{"gender": {json.dumps(user["gender"])}, "birth_year": {json.dumps(user["birth_year"])}'
    start = f'{about}, "reviews": [{{"rating": {json.dumps(review["rating"])}, "date": {written}, "title": '
    parts = [start, review.get("title") or ""]
    for number, text in enumerate(texts):
        parts += [", " if number else ', "text": [', text]
    return [*parts, ("" if texts else ', "text": [') + "]}]}"]


def _json_members(text_keys: frozenset[str]) -> Cut:
    """Objects; the values of some keys are texts, the others stay byte for byte."""

    def cut(line: str, location: FileLocation) -> list[str]:
        spans = _member_spans(line)
        if spans is None:
            raise InvalidJson("the line is not a JSON object", location)
        found = [(value, start, end) for key, value, start, end in spans if key in text_keys]
        if len(found) != len({key for key, *_ in spans if key in text_keys}):
            raise InvalidJson("a key of a text stands twice", location)
        parts: list[str] = []
        position = 0
        for value, start, end in found:
            if not isinstance(value, str):
                raise InvalidJson("the text is not a string", location)
            parts += [line[position:start], value]
            position = end
        return [*parts, line[position:]]

    return cut


def _member_spans(line: str) -> list[tuple[str, object, int, int]] | None:
    """Key, value, and where the value begins and ends, of every member of the object; None if it is none."""
    try:
        position = _after(line, 0, "{")
        if line[position] == "}":
            return None if line[position + 1 :].strip(" \t\n\r") else []
        spans = []
        while True:
            key, position = scanstring(line, _after(line, position, '"', blanks=False), True)
            start = _after(line, position, ":")
            value, end = _DECODER.raw_decode(line, start)
            spans.append((key, value, start, end))
            position = _skip(line, end)
            if line[position] == "}":
                return None if line[position + 1 :].strip(" \t\n\r") else spans
            position = _after(line, position, ",")
    except (ValueError, IndexError, RecursionError):  # their messages and arguments hold the line
        return None


def _after(line: str, position: int, mark: str, *, blanks: bool = True) -> int:
    """Where what follows a mark begins, after blanks."""
    position = _skip(line, position)
    if line[position] != mark:
        raise ValueError
    return _skip(line, position + 1) if blanks else position + 1


def _skip(line: str, position: int) -> int:
    match = _BLANKS.match(line, position)
    return position if match is None else match.end()


_LAYOUTS = {
    "sst2": Layout(_columns(2, 0), headers=1),
    "qnli": Layout(_columns(4, 1, 2), headers=1),
    "sick": Layout(_columns(5, 1, 2), headers=1),
    "medsts": Layout(_columns(3, 0, 1)),
    "ag-entities": Layout(_attributed),
    "trustpilot": Layout(_attributed),
    "trustpilot-users": Layout(_trustpilot_user, encode=_json_string),
    "blog": Layout(_attributed),
    "blog-topics": Layout(_blog_topics),
    "tsv": Layout(_columns(2, 1)),
    "text": Layout(_text),
    "wikitext": Layout(_wikitext),
}
