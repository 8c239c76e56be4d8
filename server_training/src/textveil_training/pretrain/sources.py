"""Where the public texts come from: several files or folders, each in a format of its own."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from textveil_training.data import FORMATS, ReadOptions, available_splits, format_named, load
from textveil_training.errors import DataOptionError, MissingSplit


@dataclass(frozen=True, slots=True)
class Source:
    """One file or folder.

    Attributes:
        path: File or folder.
        format_name: A key of ``data.FORMATS``.
        splits: Splits of it that are read; None for a single file without any.
    """

    path: Path = field(repr=False)
    format_name: str
    splits: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class Texts:
    """The texts that were read.

    Attributes:
        texts: All texts, those of a pair each for itself.
        described: Format, split, number and hash of each part, for a record.
    """

    texts: tuple[str, ...] = field(repr=False)
    described: tuple[dict[str, object], ...]


def parse_source(given: str) -> Source:
    """Reads ``PATH:FORMAT`` or ``PATH:FORMAT:SPLIT+SPLIT``.

    Without a split it is ``train`` where the data have named splits: dev and test of a task are never taken unless
    they are named.

    Raises:
        DataOptionError: There is no format of that name, or none at all.
        MissingSplit: No split is named, and there is no ``train``.
    """
    path, _, last = given.rpartition(":")
    if last in FORMATS:
        return _source(path, last, None)
    path, _, name = path.rpartition(":")
    if name in FORMATS and path:
        return _source(path, name, tuple(last.split("+")))
    raise DataOptionError(f"data are given as PATH:FORMAT or PATH:FORMAT:SPLIT; the formats are {', '.join(FORMATS)}")


def _source(path: str, format_name: str, splits: tuple[str, ...] | None) -> Source:
    if not path:
        raise DataOptionError("data are given as PATH:FORMAT or PATH:FORMAT:SPLIT")
    if splits is None:
        there = available_splits(format_name, path)
        if there and "train" not in there:
            raise MissingSplit(f"there is no train split; name one of {', '.join(there)} after the format")
        splits = ("train",) if there else None
    return Source(Path(path), format_name, splits)


def as_written(text: str) -> str:
    """Returns WikiText as it was before its tokenization: ``@-@`` is a hyphen, and a word they replaced is left out.

    ``<unk>`` stands for one word in twenty there; kept, it would be what the model learns best.
    """
    for mark in "-,.":
        text = text.replace(f" @{mark}@ ", mark)
    return " ".join(text.replace("<unk>", " ").split())


def read_texts(sources: Sequence[Source], text_key: str = "text") -> Texts:
    """Reads all sources to their ends.

    Args:
        sources: Files and folders to read.
        text_key: Key of the text (``jsonl``).

    Raises:
        DataError: A file cannot be read or is malformed; see the readers.
    """
    texts: list[str] = []
    described: list[dict[str, object]] = []
    for source in sources:
        keyed = format_named(source.format_name).keyed
        options = ReadOptions(text_key=text_key, label_key=None) if keyed else ReadOptions()
        for split in source.splits or (None,):
            rows = load(source.format_name, source.path, split, options)
            found = [text for row in rows for text in row.texts]
            if source.format_name == "wikitext":
                found = [as_written(text) for text in found]
            digest = hashlib.sha256()
            for text in found:
                digest.update(text.encode("utf-8", "surrogatepass") + b"\n")
            entry = {"format": source.format_name, "split": split, "texts": len(found), "sha256": digest.hexdigest()}
            described.append(entry)
            texts += found
    return Texts(tuple(texts), tuple(described))
