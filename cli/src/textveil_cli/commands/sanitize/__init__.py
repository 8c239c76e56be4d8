"""``textveil sanitize``: the command and its arguments."""

import os
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from textveil.errors import OptionError

from textveil_cli.options import (
    BundleOptions,
    ChangeOptions,
    FileRunOptions,
    InputOptions,
    LedgerOptions,
    OutputOptions,
    ReceiptOptions,
    RowOptions,
    TableOptions,
    TextOptions,
    refuse_overwriting,
)
from textveil_cli.options.ledger import check_writable

if TYPE_CHECKING:
    from textveil.text.restore import Restorer


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SanitizeArguments:
    """All arguments of ``textveil sanitize``: inputs, outputs, and options by group."""

    inputs: InputOptions
    bundle: BundleOptions
    text_options: TextOptions
    rows: RowOptions
    save_mapping: Annotated[
        Path | None,
        typer.Option(
            rich_help_panel=RowOptions.heading,
            help="With one document, in the mode names or with --consistent: save its mapping, which the command "
            "textveil restore needs, to this file, readable by its owner alone. Tables: add --document file.",
        ),
    ] = None
    mapping_key: Annotated[
        Path | None,
        typer.Option(
            rich_help_panel=RowOptions.heading,
            help="With --save-mapping: encrypt the mapping with the key in this file, created if missing and not in "
            "the folder of the mapping; the command textveil restore needs this key.",
        ),
    ] = None
    table: TableOptions
    run: FileRunOptions
    output: OutputOptions
    changes: ChangeOptions
    ledger: LedgerOptions
    receipt: ReceiptOptions

    @property
    def documents(self) -> RowOptions:
        """Return the options that define a document; the mode 'names' has a default for ``--document``.

        The default document is a line of plain text, or a cell of a table. The other modes have no default: for
        consistent replacement the user must pass ``--document``.
        """
        if not self.text_options.is_names_mode or self.rows.document is not None or self.rows.document_key is not None:
            return self.rows
        return replace(self.rows, document="cell" if self.is_table else "line")

    def describe_tag_numbers(self) -> str:
        """Return a hint for the user that numbers of tags such as ``[person 1]`` restart in each line or cell.

        The hint is empty if the user gave ``--document``.

        ``[person 1]`` of one line can be another person than ``[person 1]`` of the next line. Also with
        ``--corpus-key`` the numbers restart: the key determines surrogates (invented replacements), but not the numbers
        of tags.
        """
        has_selected = self.rows.document is not None or self.rows.document_key is not None
        has_numbers = self.text_options.is_consistent or self.has_corpus_key
        if self.text_options.protection.style != "tag" or not has_numbers or has_selected:
            return ""
        unit = "cell" if self.is_table else "line"
        remedy = "--document file numbers them in the whole file"
        if self.is_table:
            remedy = "--document row numbers them in the whole row, --document file in the whole table"
        if self.has_corpus_key:
            remedy = "--corpus-key makes equal names equal with --style surrogate alone"
        return (
            f"tags are numbered in each {unit} anew, so [person 1] of two {unit}s can be two persons: "
            f"{remedy} (--document {unit} hides this hint)"
        )

    @property
    def has_corpus_key(self) -> bool:
        """Return whether the user gave ``--corpus-key``, the key of equal surrogates in all documents."""
        return self.text_options.sampling.corpus_key is not None

    @property
    def is_table(self) -> bool:
        """Return whether the format of the input files has columns or keys."""
        return self.table.format not in (None, "lines")

    @property
    def is_over_files(self) -> bool:
        """Return whether the run sanitizes whole files, rather than lines of plain text.

        The result is true for tables, compressed files, folders, and options for many files such as ``--workers``.
        """
        if self.inputs.text is not None:
            return False
        if self.is_table or self.table.columns or self.run.has_any:
            return True
        from textveil_cli.files import get_packed_ending

        return any(get_packed_ending(path) or os.path.isdir(path) for path in self.inputs.paths)

    def resolve_format(self) -> "SanitizeArguments":
        """Return a copy of these arguments with the format that follows from the endings of the input files.

        If the user selected a format with an option, that format stays.
        """
        return replace(self, table=self.table.resolve_format(self.inputs.paths))

    def check_options(self) -> None:
        """Raise ``OptionError`` for options that contradict each other."""
        if self.inputs.text is not None and (self.is_table or self.table.columns):
            raise OptionError("--text cannot be combined with a table, --column or --key")
        units = ("cell", "row", "file") if self.is_table else ("line", "file")
        if self.rows.document not in (None, *units):
            raise OptionError(f"--document must be {', '.join(map(repr, units[:-1]))} or {units[-1]!r}")
        if self.save_mapping is not None and not self.text_options.is_consistent:
            conflicting = "--corpus-key" if self.has_corpus_key else "--no-consistent"
            if conflicting == "--corpus-key" or self.text_options.sampling.consistent is False:
                raise OptionError(f"--save-mapping cannot be combined with {conflicting}")
            raise OptionError("--save-mapping needs --protect names or --consistent")
        if self.mapping_key is not None and self.save_mapping is None:
            raise OptionError("--mapping-key needs --save-mapping: it encrypts the mapping")
        if self.save_mapping is not None and self.ledger.replay_cache:
            raise OptionError("use either --save-mapping or --replay-cache: the replay cache stores no mapping")
        if self.is_over_files and self.save_mapping is not None:
            has_one_file = len(self.inputs.paths) == 1 and not os.path.isdir(self.inputs.paths[0])
            if not has_one_file or self.rows.document != "file":
                raise OptionError("--save-mapping needs one document: name one file, and add --document file")
            if self.run.workers > 1:
                raise OptionError("use either --save-mapping or --workers: one process sanitizes one document")
        if self.is_over_files and self.ledger.replay_cache:
            raise OptionError(
                "--replay-cache needs plain text (--text, standard input or a text file) without options for files "
                "such as --workers: it stores one complete output, and files are sanitized in blocks"
            )
        self.changes.check(
            as_json=self.output.as_json,
            has_receipt=self.receipt.receipt is not None,
            has_output=self.output.output is not None,
        )
        if not self.is_over_files:
            self._refuse_unused()

    def _refuse_unused(self) -> None:
        """Raise ``OptionError`` for options that have no effect on plain text, such as ``--document-key``."""
        for inputs, group in (("a table", self.table), ("a table", self.rows), ("files", self.run)):
            for field in fields(group):
                if field.name not in ("plain", "document") and getattr(group, field.name) != field.default:
                    name = "no-header" if field.name == "header" else field.name.replace("_", "-")
                    raise OptionError(f"--{name} needs {inputs}{' or a folder' if name == 'max-field-bytes' else ''}")

    def save_one_mapping(self, mapping: "Restorer") -> None:
        """Write the mapping (from surrogates to originals) of the only document to the file of ``--save-mapping``.

        Only the owner may read the file.
        """
        from textveil_cli.console.mapping_files import write_mapping  # lazy: few runs save a mapping

        assert self.save_mapping is not None
        key = self._read_mapping_key()
        write_mapping(self.save_mapping, "--save-mapping", mapping, key)

    def check_mapping_file(self) -> None:
        """Check, before any text is read, that the mapping can be saved, and create a missing key of the mapping.

        Raises:
            CryptoUnavailable: The package ``cryptography`` is not installed.
            KeyFileError: The file of ``--mapping-key`` is no key, or is in the folder of the mapping.
            OutputError: The file of ``--save-mapping`` cannot be written.
        """
        if self.save_mapping is not None:
            check_writable("--save-mapping", self.save_mapping)
            self._read_mapping_key()

    def _read_mapping_key(self) -> bytes | None:
        if self.mapping_key is None or self.save_mapping is None:
            return None
        from textveil_cli.console.mapping_files import read_mapping_key

        return read_mapping_key(self.mapping_key, self.save_mapping, create=True)

    def refuse_overwriting(self, bundle: Path | None, *written_paths: tuple[str, Path | None]) -> None:
        """Raise ``OutputError`` if an output would overwrite a file that the command reads or updates.

        Such files are inputs, word lists, keys, the privacy ledger, and the files of the bundle.

        Args:
            bundle: Folder of the bundle (word lists and settings); ``None`` for the built-in bundle.
            written_paths: Outputs, each as the name of its option and its path.
        """
        read_paths = [
            *self.inputs.paths,
            self.text_options.protection.deny,
            self.text_options.protection.allow,
            self.text_options.protection.randomize,
            self.text_options.protection.known,
        ]
        pages = self.changes.pages.items()
        key = self.mapping_key
        refuse_overwriting(read_paths, self.ledger, self.receipt, bundle, *written_paths, *pages, mapping_key=key)


def sanitize(arguments: SanitizeArguments) -> None:
    """Replace names or randomize words of a text.

    \b
    textveil sanitize --text "Please refund Anna Novak."
    textveil sanitize tickets.csv --column note -o sent.csv


    By default (--protect names), textveil keeps common words, terms and most numbers with a unit, and replaces
    everything else. textveil preview lists the kept words, and --diff shows the changes. Kept words can reveal whom a
    text is about. With --protect words or all, textveil randomizes words under an epsilon; the new words are unrelated
    to the originals.

    Each line of plain text is a document. For CSV, TSV, JSON lines and Parquet, select columns or keys; all others are
    copied. Inputs may be folders and compressed files (.gz, .zst).

    The privacy statement on standard error describes what the output reveals. With --protect words or all, its
    guarantee covers one word, against a reader who knows all other words; the text as a whole is not protected. Each
    further release of the same text weakens this guarantee.
    """
    sanitizer, given = arguments.bundle.load_sanitizer(), arguments.text_options
    arguments = replace(arguments, text_options=given.resolve_mode(sanitizer.bundle)).resolve_format()
    arguments.check_options()
    options = given.make_options()
    sanitizer.terms(**options)  # checks the options before the first access to a file
    arguments.text_options.report_list_entries(sanitizer, options, arguments.output.quiet)
    arguments.changes.protect_standard_output()
    if arguments.is_over_files:
        from textveil_cli.commands.sanitize.tables import sanitize_tables

        sanitize_tables(arguments, sanitizer, options)
    else:
        from textveil_cli.commands.sanitize.plain_text import sanitize_plain_text

        sanitize_plain_text(arguments, sanitizer, options)
