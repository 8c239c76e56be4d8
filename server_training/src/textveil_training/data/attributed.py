"""Texts with a class and private attributes, three splits in one file: AG news with its person entities.

Coavoux, Narayan and Cohen 2018, "Privacy-preserving Neural Representations of Text" (EMNLP), made the task:
news articles, a topic to predict, and the five persons named most often as what an attacker infers. Lyu, He
and Li 2020, "Differentially Private Representation for NLP" (Findings of EMNLP), published the file read
here.
"""

from collections.abc import Collection, Iterator, Sequence

from textveil_training.data.examples import AttributedText
from textveil_training.data.rows import (
    FilePath,
    file_name,
    label_field,
    read_lines,
    split_columns,
    text_field,
)
from textveil_training.errors import DataOptionError, FileLocation, InvalidAttributes, MissingSplit, WrongLayout

SPLITS = ("train", "dev", "test")
SEPARATOR = "=" * 20

AG_LABELS = ("0", "1", "2", "3")
"""Topics. Coavoux et al. list World, Entertainment, Sports and Business in this order; the file itself names
none, and what it has under 1 reads mostly like news of the United States' elections."""

AG_ENTITIES = ("George W. Bush", "John Kerry", "Yasser Arafat", "Tony Blair", "Ariel Sharon")
"""Persons, by index. The file names none: these are read off its articles. Every article that has an index
holds that surname; some that hold the surname lack the index, since the annotation is by entity and not by
string."""


def read_ag_entities(path: FilePath, split: str | None = None) -> Iterator[AttributedText]:
    """Streams AG news with person entities, ``topic<TAB>text<TAB>indices``.

    See ``read_attributed`` for the layout. Every article names at least one of the five persons.

    Args:
        path: The published ``ag_data.txt``.
        split: ``train``, ``dev`` or ``test``; None for all three in this order.

    Raises:
        DataError: As ``read_attributed``.
    """
    return read_attributed(path, labels=AG_LABELS, attributes=AG_ENTITIES, split=split)


def read_attributed(
    path: FilePath,
    *,
    labels: Collection[str] | None,
    attributes: Sequence[str],
    allow_none: bool = False,
    split: str | None = None,
) -> Iterator[AttributedText]:
    """Streams ``label<TAB>text<TAB>indices``, where a line of 20 equals signs ends a split.

    The third column holds the indices of the attributes that are present, ascending and separated by blanks
    (``0 2 3``). The splits are train, dev and test in this order; the published file has a separator after
    the last one too. The code of Lyu et al. reads its Trustpilot and blog data in the same layout, with two
    attributes.

    Rows are checked up to the end of the wanted split.

    Args:
        path: A UTF-8 text file.
        labels: The labels there are, or None to accept any.
        attributes: The attributes' names; their number is what bounds an index.
        allow_none: Whether the third column may be empty.
        split: ``train``, ``dev`` or ``test``; None for all three.

    Raises:
        DataOptionError: ``split`` is none of the three names (at the call, not at the first example).
        MissingSplit: The file has fewer than three splits, or one of them is empty.
        WrongLayout: There are rows after the third split.
        InvalidAttributes: The third column is no such list, or is empty and ``allow_none`` is false.
        DataError: The file cannot be read or is empty, or a row has another number of columns, no text, no
            label or an unknown one.
    """
    if split is not None and split not in SPLITS:
        raise DataOptionError(f"the named splits of this format are: {', '.join(SPLITS)}")
    indices = {str(index): index for index in range(len(attributes))}
    return _rows(path, labels, indices, allow_none, split)


def _rows(
    path: FilePath,
    labels: Collection[str] | None,
    indices: dict[str, int],
    allow_none: bool,
    split: str | None,
) -> Iterator[AttributedText]:
    finished = 0  # splits whose separator has been seen
    rows = 0  # of the current split
    for location, line in read_lines(path):
        if line.strip() == SEPARATOR:
            if rows == 0:
                raise MissingSplit("a split ends here that holds no row", location)
            if finished < len(SPLITS) and SPLITS[finished] == split:
                return
            finished += 1
            rows = 0
            continue
        if finished == len(SPLITS):
            raise WrongLayout(f"there is a row after the last of the {len(SPLITS)} splits", location)
        example = _example(line, labels, indices, allow_none, location)
        rows += 1
        if split is None or split == SPLITS[finished]:
            yield example
    found = finished + (rows > 0)
    if found < len(SPLITS):
        raise MissingSplit(f"the file has {found} of {len(SPLITS)} splits", FileLocation(file_name(path)))


def _example(
    line: str, labels: Collection[str] | None, indices: dict[str, int], allow_none: bool, location: FileLocation
) -> AttributedText:
    label, text, listed = split_columns(line, 3, location)
    present = tuple(indices.get(index, -1) for index in listed.split())
    if -1 in present or list(present) != sorted(set(present)):
        raise InvalidAttributes(f"column 3 does not list ascending indices below {len(indices)}", location)
    if not present and not allow_none:
        raise InvalidAttributes("column 3 is empty", location)
    return AttributedText(text_field(text, location), label_field(label, labels, location), present)
