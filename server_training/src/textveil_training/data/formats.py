"""The formats by name, and ``load``: the only way to all readers."""

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from itertools import chain
from pathlib import Path
from typing import Literal

from textveil_training.data import attributed, demographic, glue, json_lines, plain, similarity, tables
from textveil_training.data.examples import Example
from textveil_training.data.rows import FilePath
from textveil_training.errors import DataOptionError, MissingSplit, UnknownFormat

FormatName = Literal[
    "sst2",
    "qnli",
    "sick",
    "medsts",
    "ag-entities",
    "trustpilot",
    "trustpilot-users",
    "blog",
    "blog-topics",
    "tsv",
    "text",
    "wikitext",
    "jsonl",
    "table",
]


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """The options that a caller may choose; each format takes some of these and refuses the others.

    Attributes:
        text_key: Key or column of the text (``jsonl``, ``table``).
        label_key: Key or column of the label, or None for texts without one (``jsonl``, ``table``).
        labels: The labels there are, or None to accept any (``tsv``, ``jsonl``).
        skip_headings: Pass over headings (``wikitext``).
    """

    text_key: str = "text"
    label_key: str | None = "label"
    labels: tuple[str, ...] | None = None
    skip_headings: bool = False


@dataclass(frozen=True, slots=True)
class Format:
    """One published format.

    Attributes:
        title: What it is, in a few words.
        read: Reads one file; its second argument is a split for formats with ``sections``, else None.
        labels: The labels in the order of their class ids, or None where the format does not fix them.
        attributes: Names of the private attributes, if any.
        sections: Names of the splits inside one file, if any.
        files: Names a split's file is published under, by split, for a folder of files.
        options: Names of the ``ReadOptions`` it takes.
    """

    title: str
    read: Callable[[FilePath, str | None, ReadOptions], Iterator[Example]]
    labels: tuple[str, ...] | None = None
    attributes: tuple[str, ...] = ()
    sections: tuple[str, ...] = ()
    files: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    options: frozenset[str] = frozenset()


_GLUE_FILES = {"train": ("train.tsv",), "dev": ("dev.tsv",)}

FORMATS: Mapping[FormatName, Format] = {
    "sst2": Format(
        title="GLUE SST-2: sentence, label",
        read=lambda path, split, options: glue.read_sst2(path),
        labels=glue.SST2_LABELS,
        files=_GLUE_FILES,
    ),
    "qnli": Format(
        title="GLUE QNLI: index, question, sentence, label",
        read=lambda path, split, options: glue.read_qnli(path),
        labels=glue.QNLI_LABELS,
        files=_GLUE_FILES,
    ),
    "sick": Format(
        title="SICK 2014: pair_ID, sentence_A, sentence_B, relatedness_score, entailment_judgment",
        read=lambda path, split, options: similarity.read_sick(path),
        labels=similarity.SICK_LABELS,
        files={
            "train": ("SICK_train.txt",),
            "dev": ("SICK_trial.txt",),
            "test": ("SICK_test_annotated.txt",),
        },
    ),
    "medsts": Format(
        title="MedSTS: sentence1, sentence2, score, without a header",
        read=lambda path, split, options: similarity.read_medsts(path),
    ),
    "ag-entities": Format(
        title="AG news with person entities: topic, text, indices; three splits in one file",
        read=lambda path, split, options: attributed.read_ag_entities(path, split),
        labels=attributed.AG_LABELS,
        attributes=attributed.AG_ENTITIES,
        sections=attributed.SPLITS,
    ),
    "trustpilot": Format(
        title="Trustpilot with gender and age: rating, text, indices; three splits in one file",
        read=lambda path, split, options: demographic.read_trustpilot(path, split),
        attributes=demographic.TRUSTPILOT_ATTRIBUTES,
        sections=attributed.SPLITS,
    ),
    "trustpilot-users": Format(
        title="Trustpilot as first published: one object per line for each user",
        read=lambda path, split, options: demographic.read_trustpilot_users(path),
        labels=demographic.TRUSTPILOT_LABELS,
        attributes=demographic.TRUSTPILOT_ATTRIBUTES,
    ),
    "blog": Format(
        title="blog posts with age and gender: topic, text, indices; three splits in one file",
        read=lambda path, split, options: demographic.read_blog(path, split),
        attributes=demographic.BLOG_ATTRIBUTES,
        sections=attributed.SPLITS,
    ),
    "blog-topics": Format(
        title="blog posts after topic modeling: topic, age group, gender, author, text",
        read=lambda path, split, options: demographic.read_blog_topics(path),
        labels=demographic.BLOG_LABELS,
        attributes=demographic.BLOG_ATTRIBUTES,
    ),
    "tsv": Format(
        title="label, text, without a header",
        read=lambda path, split, options: plain.read_labeled(path, options.labels),
        options=frozenset({"labels"}),
    ),
    "text": Format(
        title="plain text, one document per line",
        read=lambda path, split, options: plain.read_text(path),
    ),
    "wikitext": Format(
        title="WikiText, one paragraph or heading per line",
        read=lambda path, split, options: plain.read_wikitext(path, skip_headings=options.skip_headings),
        files={
            "train": ("wiki.train.raw", "wiki.train.tokens", "train.txt"),
            "dev": ("wiki.valid.raw", "wiki.valid.tokens", "valid.txt"),
            "test": ("wiki.test.raw", "wiki.test.tokens", "test.txt"),
        },
        options=frozenset({"skip_headings"}),
    ),
    "jsonl": Format(
        title="JSON Lines: an object per line, with a text and a label",
        read=lambda path, split, options: json_lines.read_json_lines(
            path, text_key=options.text_key, label_key=options.label_key, labels=options.labels
        ),
        options=frozenset({"text_key", "label_key", "labels"}),
    ),
    "table": Format(
        title="your own CSV, TSV, JSON lines or Parquet file, by its ending: columns by name or number",
        read=lambda path, split, options: tables.read_examples(Path(path), options.text_key, options.label_key),
        options=frozenset({"text_key", "label_key"}),
    ),
}


def format_named(format_name: str) -> Format:
    """Returns the format of that name.

    Raises:
        UnknownFormat: There is none.
    """
    for name, known in FORMATS.items():
        if name == format_name:
            return known
    raise UnknownFormat(f"the formats are {', '.join(FORMATS)}")


def available_splits(format_name: str, path: FilePath) -> tuple[str, ...]:
    """Returns the names of the splits at a path: those inside the file, or those of the files in a folder.

    Returns:
        The names in the format's order; nothing for a single file of a format that keeps each split in a
        file.

    Raises:
        UnknownFormat: There is no format of that name.
        MissingSplit: The path is a folder that holds none of the format's files.
    """
    known = format_named(format_name)
    if known.sections:
        return known.sections
    if not (known.files and os.path.isdir(path)):
        return ()
    splits = tuple(split for split in known.files if _file_of(known, path, split) is not None)
    if not splits:
        raise MissingSplit("the folder holds no file of this format under its published name")
    return splits


def files_of(format_name: str, path: FilePath) -> list[Path]:
    """Finds the files that ``load`` reads at a path, all splits: the path itself, or those of the format in a folder.

    Raises:
        UnknownFormat: There is no format of that name.
    """
    known = format_named(format_name)
    if known.sections or not (known.files and os.path.isdir(path)):
        return [Path(path)]
    return [file for split in known.files if (file := _file_of(known, path, split)) is not None]


def load(
    format_name: str, path: FilePath, split: str | None = None, options: ReadOptions | None = None
) -> Iterator[Example]:
    """Streams the examples of a file, or of a folder of files, in one of the formats of ``FORMATS``.

    Args:
        format_name: A key of ``FORMATS``.
        path: A file. For formats whose splits are files of their own it may be a folder that holds them under
            their published names.
        split: ``train``, ``dev`` or ``test``, for a folder or a file with several splits; None for everything
            there. (SICK calls its dev split trial, WikiText valid.)
        options: What else to choose, or None for the defaults.

    Returns:
        The examples in the order of the file. Rows are read, and errors in them raised, as one iterates.

    Raises:
        UnknownFormat: There is no format of that name.
        DataOptionError: The format has no split of that name, does not name splits within a single file, or
            does not take one of the options.
        MissingSplit: The data lack the split.
        DataError: While iterating: the file cannot be read or is malformed; see the readers.
    """
    known = format_named(format_name)
    chosen = ReadOptions() if options is None else options
    _check_options(known, chosen)
    if split is not None and split not in (known.sections or known.files):
        names = ", ".join(known.sections or known.files) or "none"
        raise DataOptionError(f"the named splits of this format are: {names}")
    if known.sections:
        return known.read(path, split, chosen)
    if not (known.files and os.path.isdir(path)):
        if split is not None:
            raise DataOptionError("a single file of this format is one split; name a split with the folder")
        return known.read(path, None, chosen)
    wanted = available_splits(format_name, path) if split is None else (split,)
    found = [file for name in wanted if (file := _file_of(known, path, name)) is not None]
    if not found:
        raise MissingSplit("the folder has no file of this split under its published name")
    return chain.from_iterable(known.read(file, None, chosen) for file in found)


def _file_of(known: Format, folder: FilePath, split: str) -> Path | None:
    candidates = (Path(folder) / name for name in known.files[split])
    return next((file for file in candidates if file.is_file()), None)


def _check_options(known: Format, options: ReadOptions) -> None:
    for option in fields(options):
        if option.name not in known.options and getattr(options, option.name) != option.default:
            raise DataOptionError(f"this format does not take the option {option.name}")
