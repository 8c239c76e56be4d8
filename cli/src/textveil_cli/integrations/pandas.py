"""Sanitize text columns of pandas data frames.

Use ``sanitize(frame["note"])`` or ``frame.textveil.sanitize(column=["note"])``.
"""

from collections.abc import Collection, Hashable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict, TypeVar, Unpack

from textveil.arguments import check_choice, refuse_unknown_options
from textveil.bundle import MAX_BUNDLE_BYTES
from textveil.errors import InputError, OptionError
from textveil.storage import read_key
from textveil.text.restore import Restorer

from textveil_cli.columns import describe_column_option, list_columns, suggest_column
from textveil_cli.console import read_word_list
from textveil_cli.console.mapping_files import write_mapping
from textveil_cli.console.own_types import read_known_persons
from textveil_cli.errors import ColumnError, ExtraMissing
from textveil_cli.integrations.configured_sanitizer import ConfiguredSanitizer, check_cells, collect_columns

try:
    import pandas
except ImportError as error:
    raise ExtraMissing.from_extra("pandas", "pandas") from error

Data = TypeVar("Data")
Columns = Hashable | list[Any]
#: A list of words, or a file with one word a line, as for the command.
WordsOrFile = Collection[str] | str | Path


class CommandOptions(TypedDict, total=False):
    """Options of ``sanitize``, with the same names as those of the command ``textveil sanitize``.

    Keys:
        bundle: Folder of a bundle (word lists and settings); default: the built-in English bundle.
        expect_id: Required content hash of the bundle.
        signer: Public key of the required signer of the bundle.
        max_bundle_bytes: Maximum total bytes of the bundle's files.
        language: Language of the texts; its language pack must be installed.
        mechanism, epsilon, replacement_probability: The mechanism that randomizes words, and its privacy parameters
            (``Options``).
        protect, style, facts, keep, tag, drop: Which words are left unchanged, and how others are replaced
            (``Options``).
        allow, randomize, deny: Words, or a file with one word per line.
        patterns: Entity types of your own, each with a regular expression (``Options``).
        known: Persons, one per string (``Options``), or a file with one person per line.
        sanitize_punctuation, consistent, consistent_cap: How words are randomized (``Options``).
        corpus_key: File of a key; with it, equal names in all cells get equal surrogates (replacements), in the mode
            'names'.
        document: Which cells form one document; equal names in one document get equal surrogates. With ``"cell"``, the
            default, each cell is a document; with ``"row"`` the selected cells of a row; with ``"frame"`` all selected
            cells of the frame or column.
        save_mapping: With ``document="frame"``, a file for the mapping, with which ``textveil restore`` and
            ``textveil.text.restore.Restorer`` put original words back into a reply about the frame. Only its owner can
            read the file.
        drop_column: Columns of a frame that the output omits.
        drop_other_columns: Whether the output has only the sanitized columns.
    """

    bundle: str | Path | None
    expect_id: str | None
    signer: str | None
    max_bundle_bytes: int
    language: str | None
    mechanism: str | None
    epsilon: float | str | None
    replacement_probability: float | str | None
    protect: str | None
    style: str
    facts: str
    keep: Collection[str]
    tag: Collection[str]
    drop: Collection[str]
    allow: WordsOrFile
    randomize: WordsOrFile
    deny: WordsOrFile
    patterns: Mapping[str, str]
    known: WordsOrFile
    sanitize_punctuation: bool
    consistent: bool
    consistent_cap: int
    corpus_key: str | Path
    document: str
    save_mapping: str | Path
    drop_column: Columns
    drop_other_columns: bool


def sanitize(data: Data, column: Columns = (), *more: Hashable, **options: Unpack[CommandOptions]) -> Data:
    """Return a column with every cell sanitized, or a frame with some columns sanitized.

    Index, name, type, missing cells and other columns stay unchanged. For a single cell the function returns the
    sanitized cell, so that you can pass it to ``apply`` and ``map`` of pandas.

    >>> import pandas
    >>> from textveil_cli.integrations.pandas import sanitize
    >>> frame = pandas.DataFrame({"id": [1, 2], "note": ["Anna Novak called.", "Ask Peter Schulz."]})
    >>> sanitize(frame, "note", protect="names", style="tag")["note"].tolist()
    ['[person 1] called.', 'Ask [person 1].']

    Args:
        data: A Series of strings and missing cells, a DataFrame (then ``column`` is required), or one cell.
        column: The first column with texts of a frame, or a list of all of them.
        more: The other columns with texts.
        options: Options with the names of the command; see ``CommandOptions``.

    Returns:
        A new column or frame, or the text of a cell. All cells have the same guarantee, which
        ``ConfiguredSanitizer(...).terms`` describes.

    Raises:
        ColumnError: No column of a frame is given, or a column does not exist or exists twice.
        InputError: A cell is neither a string nor missing, or ``data`` has another type.
        BundleError, OptionError: See ``ConfiguredSanitizer``.

    Privacy:
        Each cell is a separate document, or with ``document="row"`` the selected cells of a row, and with
        ``document="frame"`` all selected cells. The output reveals which names of a document are equal. A bound such as
        epsilon applies to one document only. The output reveals which cells are missing, the order of
        cells, and the other columns of the frame. ``map`` and ``apply`` of a *categorical* column make one call for all
        equal cells, so the output reveals which cells are equal; pass the column itself instead.
    """
    refuse_unknown_options(options, ("column", *CommandOptions.__annotations__))
    document, mapping_file = options.get("document", "cell"), options.get("save_mapping")
    check_choice("document", document, ("cell", "row", "frame"))
    if mapping_file is not None and (document != "frame" or "corpus_key" in options):
        raise OptionError('save_mapping needs document="frame", and works without corpus_key')
    if not isinstance(data, pandas.DataFrame | pandas.Series) and document == "frame":
        raise OptionError('document="frame" needs a DataFrame or a Series')
    sanitizer = _make_sanitizer(options)
    documents = _Documents(sanitizer, document, None if mapping_file is None else Path(mapping_file))
    drop_column, drop_other_columns = options.get("drop_column", ()), options.get("drop_other_columns", False)
    if isinstance(data, pandas.DataFrame):
        names = collect_columns(column, more)
        return _sanitize_frame(data, names, documents, drop_column, drop_other_columns)
    if (
        more
        or not all(isinstance(columns, tuple) and not columns for columns in (column, drop_column))
        or drop_other_columns
    ):
        raise ColumnError("column= needs a DataFrame: pass the DataFrame, or omit column=")
    if isinstance(data, pandas.Series):
        columns: list[Any] = _sanitize_columns([data], documents)
        return columns[0]
    if isinstance(data, str):
        return sanitizer(data)
    if pandas.api.types.is_scalar(data) and pandas.isna(data) is True:
        return data
    raise InputError('data must be a Series such as frame["note"], a DataFrame together with column=, or a string')


def _make_sanitizer(options: CommandOptions) -> ConfiguredSanitizer:
    """Convert options with the names of the command ``textveil sanitize`` to a ``ConfiguredSanitizer``."""
    handled_here = (
        *("bundle", "max_bundle_bytes", "corpus_key", "document", "save_mapping"),
        *("drop_column", "drop_other_columns"),
    )
    settings: dict[str, Any] = {name: value for name, value in options.items() if name not in handled_here}
    for name in ("allow", "randomize", "deny"):
        if isinstance(file := settings.get(name), str | Path):
            settings[name] = read_word_list(Path(file), name)
    if isinstance(file := settings.get("known"), str | Path):
        settings["known"] = read_known_persons(Path(file), "known")
    if "corpus_key" in options:
        if "consistent" in options:
            raise OptionError("corpus_key and consistent exclude each other: omit consistent")
        key = read_key(Path(options["corpus_key"]), "the key of the corpus", create=True)
        settings |= {"consistent": "corpus", "key": key}
    max_bytes = options.get("max_bundle_bytes", MAX_BUNDLE_BYTES)
    return ConfiguredSanitizer(options.get("bundle"), max_bytes=max_bytes, **settings)


def _sanitize_frame(
    frame: pandas.DataFrame,
    names: tuple[Hashable, ...],
    documents: "_Documents",
    drop_column: Columns,
    drop_other_columns: bool,
) -> pandas.DataFrame:
    omitted = collect_columns(drop_column) if drop_column != () and drop_column != [] else ()
    if drop_other_columns and omitted:
        raise OptionError("drop_column and drop_other_columns exclude each other: omit one of them")
    if any(name in omitted for name in names):
        raise OptionError("a column is in both column and drop_column: name it only once")
    for option, option_columns in (("column", names), ("drop_column", omitted)):
        for number, name in enumerate(option_columns, 1):
            _check_single_column(frame, name, describe_column_option(option, str(name), number, len(option_columns)))
    sanitized: Any = frame[[*names]].copy() if drop_other_columns else frame.drop(columns=[*omitted])
    ordered = sorted(names, key=list(frame.columns).index)  # the command reads the cells of a row in this order too
    columns: list[Any] = [frame[name] for name in ordered]
    for name, column in zip(ordered, _sanitize_columns(columns, documents), strict=True):
        sanitized[name] = column
    return sanitized


def _check_single_column(frame: pandas.DataFrame, name: Hashable, option: str) -> None:
    """Raise ``ColumnError`` unless a frame has exactly one column with a given name.

    The error lists the existing columns.
    """
    columns = [str(column) for column in frame.columns]
    count = list(frame.columns).count(name)
    if count == 1:
        return
    listed = list_columns(columns)
    where = "the frame" + (f" ({listed})" if listed else "")
    hint = "" if count else suggest_column(str(name), columns)
    raise ColumnError(f"{option} is {'not' if not count else 'more than once'} in {where}{hint}")


@dataclass(frozen=True, repr=False)
class _Documents:
    """Sanitizer of a data frame, and its options for documents (cells that are sanitized together).

    Attributes:
        sanitizer: Sanitizer with the options of the call.
        unit: Cells that form a document, such as ``cell``, ``row`` or ``frame``.
        mapping_file: File for the mapping from surrogates to originals; ``None`` for no file.
    """

    sanitizer: ConfiguredSanitizer
    unit: str
    mapping_file: Path | None

    def save_mapping(self, mapping: Restorer) -> None:
        """Write a mapping (from surrogates to originals) to the file that the user chose, if any."""
        if self.mapping_file is not None:
            write_mapping(self.mapping_file, "save_mapping", mapping)


def _sanitize_columns(columns: list[pandas.Series], documents: _Documents) -> list[pandas.Series]:
    """Sanitize all texts in some columns of a data frame, and return the new columns."""
    sanitizer = documents.sanitizer
    cells = [column.astype(object).tolist() for column in columns]
    missing = [column.isna().tolist() for column in columns]
    for column, of_one, mask in zip(columns, cells, missing, strict=True):
        check_cells(of_one, mask, None if column.name is None else str(column.name))
    if documents.unit == "row":
        cells = sanitizer.sanitize_rows(cells, missing)
    elif documents.unit == "frame":
        cells = sanitizer.sanitize_columns(cells, missing, documents.save_mapping)
    else:
        cells = [sanitizer.sanitize_cells(of_one, mask) for of_one, mask in zip(cells, missing, strict=True)]
    return [
        pandas.Series(
            of_one,
            index=column.index,
            name=column.name,
            dtype=None if isinstance(column.dtype, pandas.CategoricalDtype) else column.dtype,
        )
        for column, of_one in zip(columns, cells, strict=True)
    ]


@pandas.api.extensions.register_dataframe_accessor("textveil")
@pandas.api.extensions.register_series_accessor("textveil")
class TextveilAccessor:
    """Accessor of pandas for ``series.textveil`` and ``frame.textveil``. Import this module to register it.

    >>> import pandas
    >>> import textveil_cli.integrations.pandas
    >>> pandas.Series(["Anna Novak called."]).textveil.sanitize(protect="names", style="tag").tolist()
    ['[person 1] called.']

    Args:
        data: The column or the frame.
    """

    def __init__(self, data: pandas.Series | pandas.DataFrame) -> None:
        self._data = data

    def sanitize(self, column: Columns = (), *more: Hashable, **options: Unpack[CommandOptions]) -> Any:
        """Return a sanitized copy of the column, or a copy of the frame with the given columns sanitized.

        The arguments are those of ``sanitize`` in this module.
        """
        return sanitize(self._data, column, *more, **options)
