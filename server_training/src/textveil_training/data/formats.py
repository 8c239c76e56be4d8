"""Define the data formats by name, and ``load_examples``, the only entry point to all readers.

The readers of plain text and WikiText are in this module; the others are in ``published`` and ``tables``.
"""

import os
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Literal

from textveil_training.data import tables
from textveil_training.data.examples import LabeledExample
from textveil_training.data.published import (
    GLUE_FILES,
    SECTIONS,
    DataFormat,
    ReadOptions,
    TabColumnLayout,
    read_tab_separated,
)
from textveil_training.data.rows import FilePath, format_file_name, read_lines
from textveil_training.errors import DataOptionError, EmptyData, FileLocation, MissingSplit, UnknownFormat


def read_text(path: FilePath) -> Iterator[LabeledExample]:
    """Yield the documents of a plain text file, one per line; blank lines are skipped.

    Raises:
        DataError: The file cannot be read, is not UTF-8, or contains no document.
    """
    has_document = False
    for _, line in read_lines(path):
        if line.strip():
            has_document = True
            yield LabeledExample(texts=(line,))
    if not has_document:
        raise EmptyData("the data have no document: check the file and --format", FileLocation(format_file_name(path)))


def read_wikitext(path: FilePath) -> Iterator[LabeledExample]:
    """Yield the lines of a WikiText file, each with one paragraph or heading (Merity et al. 2016).

    Blanks around each line are removed; ``<unk>`` and ``@-@`` stay.

    Args:
        path: A file of WikiText-2 or WikiText-103, raw or tokenized.

    Raises:
        DataError: The file cannot be read, is not UTF-8, or contains no document.
    """
    for document in read_text(path):
        yield LabeledExample(texts=(document.text.strip(),))


FormatName = Literal[
    "sst2", "qnli", "sick", "medsts", "ag-entities", "trustpilot", "blog", "tsv", "text", "wikitext", "jsonl", "table"
]

FORMATS: Mapping[FormatName, DataFormat] = {
    "sst2": DataFormat(
        title="GLUE SST-2 (Socher et al. 2013; Wang et al. 2019): sentence, label",
        columns=TabColumnLayout(names=("sentence", "label"), texts=(0,), label=1),
        labels=("0", "1"),  # negative, positive
        files=GLUE_FILES,
    ),
    "qnli": DataFormat(
        title="GLUE QNLI (Rajpurkar et al. 2016; Wang et al. 2019): index, question, sentence, label",
        columns=TabColumnLayout(names=("index", "question", "sentence", "label"), texts=(1, 2), label=3),
        labels=("entailment", "not_entailment"),
        files=GLUE_FILES,
    ),
    "sick": DataFormat(
        title="SICK (Marelli et al. 2014): pair_ID, sentence_A, sentence_B, relatedness_score, entailment_judgment",
        columns=TabColumnLayout(
            names=("pair_ID", "sentence_A", "sentence_B", "relatedness_score", "entailment_judgment"),
            texts=(1, 2),
            label=4,
            score=3,
            score_range=(1.0, 5.0),
        ),
        labels=("NEUTRAL", "ENTAILMENT", "CONTRADICTION"),
        files={"train": ("SICK_train.txt",), "dev": ("SICK_trial.txt",), "test": ("SICK_test_annotated.txt",)},
    ),
    # Wang et al. 2020, "MedSTS". The data are clinical notes and not public, so the tests use invented rows.
    "medsts": DataFormat(
        title="MedSTS: sentence1, sentence2, score, without a header",
        columns=TabColumnLayout(count=3, texts=(0, 1), score=2, score_range=(0.0, 5.0)),
    ),
    # Coavoux, Narayan and Cohen 2018 defined the task; the file is that of Lyu, He and Li 2020. It names neither topics
    # nor persons. The names here were inferred: every article with an index contains the surname for that index.
    "ag-entities": DataFormat(
        title="AG news with person entities: topic, text, indices; three splits in one file",
        columns=TabColumnLayout(count=3, label=0, texts=(1,), attribute_column=2),
        labels=("0", "1", "2", "3"),
        attributes=("George W. Bush", "John Kerry", "Yasser Arafat", "Tony Blair", "Ariel Sharon"),
        sections=SECTIONS,
    ),
    # Hovy, Johannsen and Søgaard 2015, and Schler, Koppel, Argamon and Pennebaker 2006, as Lyu et al. prepared them.
    # The layout is that of their published readers, and the tests use invented rows. Without an attribute the third
    # column is empty. The attribute names are those that the readers of Coavoux et al. assign to the indices.
    "trustpilot": DataFormat(
        title="Trustpilot with gender and age: rating, text, indices; three splits in one file",
        columns=TabColumnLayout(count=3, label=0, texts=(1,), attribute_column=2, allows_no_attribute=True),
        attributes=("female", "younger than 35"),
        sections=SECTIONS,
    ),
    "blog": DataFormat(
        title="blog posts with age and gender: topic, text, indices; three splits in one file",
        columns=TabColumnLayout(count=3, label=0, texts=(1,), attribute_column=2, allows_no_attribute=True),
        attributes=("in the tens", "female"),
        sections=SECTIONS,
    ),
    "tsv": DataFormat(title="label, text, without a header", columns=TabColumnLayout(count=2, label=0, texts=(1,))),
    "text": DataFormat(title="plain text, one document per line", read=lambda path, options: read_text(path)),
    "wikitext": DataFormat(
        title="WikiText, one paragraph or heading per line",
        read=lambda path, options: read_wikitext(path),
        files={
            "train": ("wiki.train.raw", "wiki.train.tokens", "train.txt"),
            "dev": ("wiki.valid.raw", "wiki.valid.tokens", "valid.txt"),
            "test": ("wiki.test.raw", "wiki.test.tokens", "test.txt"),
        },
    ),
    "jsonl": DataFormat(
        title="JSON Lines: an object per line, with a text and a label",
        read=lambda path, options: tables.read_table(Path(path), options.text_key, options.label_key, ".jsonl"),
        has_named_columns=True,
    ),
    "table": DataFormat(
        title="your own CSV, TSV, JSON lines or Parquet file, by its ending: columns by name or number",
        read=lambda path, options: tables.read_table(Path(path), options.text_key, options.label_key),
        has_named_columns=True,
    ),
}


def get_format(format_name: str) -> DataFormat:
    """Return the data format with a name.

    Raises:
        UnknownFormat: There is no format of that name.
    """
    for name, data_format in FORMATS.items():
        if name == format_name:
            return data_format
    raise UnknownFormat(f"the format must be one of {', '.join(FORMATS)}")


def list_splits(format_name: str, path: FilePath) -> tuple[str, ...]:
    """List the splits at a path: those inside the file, or those of the files in a folder.

    Returns:
        The names in the format's order; empty for a single file of a format that has a separate file for each split.

    Raises:
        UnknownFormat: There is no format of that name.
        MissingSplit: The path is a folder that contains none of the format's files.
    """
    known = get_format(format_name)
    if known.sections:
        return known.sections
    if not (known.files and os.path.isdir(path)):
        return ()
    splits = tuple(split for split in known.files if _find_split_file(known, path, split) is not None)
    if not splits:
        raise MissingSplit(
            "the folder has no file of this format with its published name: check the folder and --format"
        )
    return splits


def list_files(format_name: str, path: FilePath) -> list[Path]:
    """List all files that ``load_examples`` reads for the splits at a path.

    Raises:
        UnknownFormat: There is no format of that name.
    """
    data_format = get_format(format_name)
    if data_format.sections or not (data_format.files and os.path.isdir(path)):
        return [Path(path)]
    return [file for split in data_format.files if (file := _find_split_file(data_format, path, split)) is not None]


def load_examples(
    format_name: str, path: FilePath, split: str | None = None, options: ReadOptions | None = None
) -> Iterator[LabeledExample]:
    """Yield the examples of a file or folder in one of the formats of ``FORMATS``.

    Args:
        format_name: A key of ``FORMATS``.
        path: A file; or, for formats with one file per split, a folder with these files under their published names.
        split: ``train``, ``dev`` or ``test``, for a folder or a file with several splits; ``None`` for all of them.
            (The files of SICK call the dev split ``trial``, and those of WikiText call it ``valid``.)
        options: Column names, for formats that need them; ``None`` for the defaults.

    Returns:
        An iterator over the examples in the order of the file. It reads rows, and raises their errors, only during
        iteration.

    Raises:
        UnknownFormat: There is no format of that name.
        DataOptionError: The format has no split of that name, its single files have no splits, or it does not accept
            one of the options.
        MissingSplit: The data lack the split.
        DataError: During iteration: the file cannot be read or is malformed.

    Example:
        >>> from pathlib import Path
        >>> _ = Path("train.tsv").write_text("sentence\\tlabel\\nA warm film\\t1\\n")
        >>> [example.text for example in load_examples("sst2", "train.tsv")]
        ['A warm film']
    """
    data_format = get_format(format_name)
    chosen = ReadOptions() if options is None else options
    if not data_format.has_named_columns and chosen != ReadOptions():
        raise DataOptionError("this format has no keys: omit the keys of text and label")
    if split is not None and split not in (data_format.sections or data_format.files):
        names = ", ".join(data_format.sections or data_format.files) or "none"
        raise DataOptionError(f"no such split; this format has the splits {names}")
    if data_format.sections:
        return read_tab_separated(data_format, path, split)
    if not (data_format.files and os.path.isdir(path)):
        if split is not None:
            raise DataOptionError("a single file of this format is one split: to choose a split, pass the folder")
        return _read_file(data_format, path, chosen)
    wanted = list_splits(format_name, path) if split is None else (split,)
    files = [file for name in wanted if (file := _find_split_file(data_format, path, name)) is not None]
    if not files:
        raise MissingSplit("the folder has no file of this split with its published name: check the folder")
    return chain.from_iterable(_read_file(data_format, file, chosen) for file in files)


def _read_file(data_format: DataFormat, path: FilePath, options: ReadOptions) -> Iterator[LabeledExample]:
    return read_tab_separated(data_format, path) if data_format.read is None else data_format.read(path, options)


def _find_split_file(data_format: DataFormat, folder: FilePath, split: str) -> Path | None:
    candidates = (Path(folder) / name for name in data_format.files[split])
    return next((file for file in candidates if file.is_file()), None)
