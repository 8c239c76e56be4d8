"""Describe the file formats of published data sets, and read those with columns separated by tabs.

Cells are never quoted. Some formats have train, dev and test in one file, in this order, with a line of 20 equals signs
after each.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from textveil_training.data.examples import LabeledExample
from textveil_training.data.rows import (
    FilePath,
    check_label,
    check_text,
    format_file_name,
    parse_score,
    read_lines,
    split_columns,
)
from textveil_training.errors import EmptyData, FileLocation, InvalidAttributes, MissingSplit, WrongLayout

SECTIONS = ("train", "dev", "test")
SEPARATOR = "=" * 20
#: File names of GLUE's splits with labels. GLUE's published test files have no labels and another header.
GLUE_FILES = {"train": ("train.tsv",), "dev": ("dev.tsv",)}


@dataclass(frozen=True, slots=True, kw_only=True)
class TabColumnLayout:
    """Meaning of each column of a tab-separated file, counted from 0.

    Attributes:
        names: Column names in the header; empty for a file without a header.
        count: Number of columns of a file without a header.
        texts: Columns of the texts, one or two.
        label: Column of the label, or ``None``.
        score: Column of the score of a pair, or ``None``.
        score_range: The smallest and the largest possible score.
        attribute_column: Column of the private attributes, or ``None``. A cell has ascending indices, separated by
            blanks.
        allows_no_attribute: Whether a text may have no attribute.
    """

    names: tuple[str, ...] = ()
    count: int = 0
    texts: tuple[int, ...]
    label: int | None = None
    score: int | None = None
    score_range: tuple[float, float] = (0.0, 0.0)
    attribute_column: int | None = None
    allows_no_attribute: bool = False

    @property
    def width(self) -> int:
        """Number of columns."""
        return len(self.names) or self.count


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """Column names, for formats whose columns have no fixed names.

    Attributes:
        text_key: Name of the key or column of the text.
        label_key: Name of the key or column of the label; ``None`` for texts without labels.
    """

    text_key: str = "text"
    label_key: str | None = "label"


@dataclass(frozen=True, slots=True, kw_only=True)
class DataFormat:
    """Description of the file format of one data set.

    Attributes:
        title: Description in a few words.
        columns: Columns of the format; ``None`` for a format with its own reader.
        read: Function that reads one file, for a format with its own reader.
        labels: The labels in the order of their class ids; ``None`` if each file has its own labels.
        attributes: Names of the private attributes; empty for a format without attributes.
        sections: Names of the splits inside one file; empty for a format with one split per file.
        files: For a format with one file per split: the published file names of each split.
        has_named_columns: Whether the caller must name the columns of text and label.
    """

    title: str
    columns: TabColumnLayout | None = None
    read: Callable[[FilePath, ReadOptions], Iterator[LabeledExample]] | None = None
    labels: tuple[str, ...] | None = None
    attributes: tuple[str, ...] = ()
    sections: tuple[str, ...] = ()
    files: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    has_named_columns: bool = False


def read_tab_separated(data_format: DataFormat, path: FilePath, section: str | None = None) -> Iterator[LabeledExample]:
    """Check and yield the rows of a tab-separated file, up to the end of the requested section.

    Args:
        data_format: A format with columns.
        path: A UTF-8 text file.
        section: Name of a section of the file (train, dev or test); ``None`` for all sections.

    Raises:
        WrongLayout: The first line is not the header, or there are rows after the last section.
        MissingSplit: The file has fewer sections than the format, or one of them is empty.
        DataError: The file cannot be read or is empty; or a row has another number of columns, no text, no label or an
            unknown one, a score out of range, or a malformed list of attributes.
    """
    columns = data_format.columns
    assert columns is not None
    lines = read_lines(path)
    if columns.names:
        location, line = next(lines)  # read_lines raises EmptyData for an empty file
        if line.split("\t") != list(columns.names):
            raise WrongLayout(f"the first line is not the header ({', '.join(columns.names)})", location)
    finished = rows = 0  # number of complete sections, and of rows in the current one
    for location, line in lines:
        if data_format.sections and line.strip() == SEPARATOR:
            if rows == 0:
                raise MissingSplit("a split of the file has no row", location)
            if data_format.sections[finished : finished + 1] == (section,):
                return
            finished, rows = finished + 1, 0
            continue
        if data_format.sections and finished == len(data_format.sections):
            raise WrongLayout(
                f"the file has a row after its last split (number {finished}): use the published file",
                location,
            )
        example = _parse_example(data_format, columns, split_columns(line, columns.width, location), location)
        rows += 1
        if section is None or section == data_format.sections[finished]:
            yield example
    if data_format.sections and finished + (rows > 0) < len(data_format.sections):
        raise MissingSplit(
            f"the file has {finished + (rows > 0)} of {len(data_format.sections)} splits: it is incomplete",
            FileLocation(format_file_name(path)),
        )
    if not data_format.sections and rows == 0:
        raise EmptyData("the file has no row after its header", FileLocation(format_file_name(path)))


def _parse_example(
    data_format: DataFormat, columns: TabColumnLayout, row: list[str], location: FileLocation
) -> LabeledExample:
    texts = tuple(check_text(row[place], location) for place in columns.texts)
    score = None if columns.score is None else parse_score(row[columns.score], *columns.score_range, location)
    present = (
        ()
        if columns.attribute_column is None
        else _parse_attributes(row[columns.attribute_column], data_format, columns, location)
    )
    label = "" if columns.label is None else check_label(row[columns.label], data_format.labels, location)
    return LabeledExample(texts=texts, label=label, score=score, attributes=present)


def _parse_attributes(
    listed: str, data_format: DataFormat, columns: TabColumnLayout, location: FileLocation
) -> tuple[int, ...]:
    names = [str(index) for index, _ in enumerate(data_format.attributes)]
    words = listed.split()
    present = [names.index(word) for word in words if word in names]
    if len(present) < len(words) or present != sorted(set(present)):
        raise InvalidAttributes(
            f"column {(columns.attribute_column or 0) + 1} does not list ascending indices below {len(names)}", location
        )
    if not present and not columns.allows_no_attribute:
        raise InvalidAttributes(f"column {(columns.attribute_column or 0) + 1} is empty", location)
    return tuple(present)
