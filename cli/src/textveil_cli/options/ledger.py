"""Options for the privacy ledger (record of spent epsilon), its budget and replay cache, and for receipts."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer
from textveil.errors import OptionError, OutputError
from textveil.formatting import format_path_name

if TYPE_CHECKING:
    from textveil.release import ReleaseStatement

    from textveil_cli.run_ledger import ReceiptFile, RunLedger

LedgerKey = Annotated[
    Path | None,
    typer.Option("--ledger-key", help="File of the ledger's key; default: the ledger's path with .key appended."),
]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class LedgerOptions:
    """Options for the privacy ledger, which records spent epsilon and stops a run that exceeds the budget."""

    heading: ClassVar[str] = "Privacy ledger"
    ledger: Annotated[
        Path | None,
        typer.Option(
            "--ledger",
            help="Record the epsilon of every release in this privacy ledger before the output is written; "
            "created at first use.",
        ),
    ] = None
    ledger_key: LedgerKey = None
    privacy_unit: Annotated[
        str | None,
        typer.Option(
            help="With --ledger: name of the privacy unit that spends: a document, a person, a day; 'default' "
            "if left out."
        ),
    ] = None
    budget: Annotated[
        str | None,
        typer.Option(
            help="With --ledger: maximum total epsilon of the privacy unit. The ledger stores it, and refuses each "
            "release that exceeds it."
        ),
    ] = None
    budget_delta: Annotated[str | None, typer.Option(help="With --budget: maximum total delta; 0 if left out.")] = None
    replay_cache: Annotated[
        bool,
        typer.Option(
            "--replay-cache",
            help="With --ledger and --replay-cache-key: answer an equal request with its stored output, which "
            "spends no epsilon.",
        ),
    ] = False
    replay_cache_key: Annotated[
        Path | None,
        typer.Option(
            help="With --replay-cache: file of the key that encrypts stored outputs; not in the ledger's folder."
        ),
    ] = None

    def open_ledger(
        self, *, privacy_unit_column: str | None = None, privacy_unit_per_request: bool = False
    ) -> "RunLedger | None":
        """Open the privacy ledger of ``--ledger``; return ``None`` if the user did not give this option.

        Args:
            privacy_unit_column: The column with the privacy unit of each row (person or group for whom the ledger adds
                up epsilon); ``None`` without such a column.
            privacy_unit_per_request: Whether a request to a service may name its privacy unit.

        Raises:
            OptionError: An option needs ``--ledger`` or another option that is missing, or two options exclude each
                other.
            LedgerError, KeyFileError, CryptoUnavailable: The ledger cannot be used.
        """
        if self.ledger is None:
            values = {
                **vars(self),
                "privacy_unit_column": privacy_unit_column,
                "privacy_unit_per_request": privacy_unit_per_request,
            }
            for name, value in values.items():
                if value:
                    raise OptionError(f"--{name.replace('_', '-')} needs --ledger FILE")
            return None
        if self.replay_cache != (self.replay_cache_key is not None):
            raise OptionError(
                "--replay-cache and --replay-cache-key must be used together: the key encrypts the stored outputs"
            )
        if self.privacy_unit is not None and privacy_unit_column is not None:
            raise OptionError("use either --privacy-unit or --privacy-unit-column")
        if self.budget is None and self.budget_delta is not None:
            raise OptionError("--budget-delta needs --budget")
        from textveil.ledger import DEFAULT_PRIVACY_UNIT, Budget, Ledger

        from textveil_cli.run_ledger import RunLedger

        delta = "0" if self.budget_delta is None else self.budget_delta
        limit = None if self.budget is None else Budget(self.budget, delta=delta)
        unit_named_by = "request" if privacy_unit_per_request else None if privacy_unit_column is None else "row"
        ledger = Ledger(self.ledger, key=self.ledger_key, replay_cache_key=self.replay_cache_key)
        return RunLedger(
            ledger, DEFAULT_PRIVACY_UNIT if self.privacy_unit is None else self.privacy_unit, limit, unit_named_by
        )


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class ReceiptOptions:
    """Options for the receipt of one output: a signed file with the hash and the privacy statement of the output."""

    heading: ClassVar[str] = "Receipt"
    receipt: Annotated[
        Path | None, typer.Option(help="Write a signed receipt: the privacy statement and a hash of the output.")
    ] = None
    receipt_key: Annotated[
        Path | None,
        typer.Option(help="With --receipt: file of the signing key, created at first use; use one key per recipient."),
    ] = None

    def open_receipt(
        self, make_statement: "Callable[[int], ReleaseStatement]", table: Mapping[str, object] | None = None
    ) -> "ReceiptFile | None":
        """Open the file of the option ``--receipt``; return ``None`` without this option.

        A receipt is a signed file with the hash and the privacy statement of an output.

        Args:
            make_statement: Function that returns the privacy statement of a document with the given number of tokens.
            table: Description of the table and its sanitized columns; ``None`` for plain text.

        Raises:
            OptionError: Only one of ``--receipt`` and ``--receipt-key`` is given.
            OutputError: The receipt cannot be written.
        """
        if (self.receipt is None) != (self.receipt_key is None):
            raise OptionError("--receipt and --receipt-key must be used together: the key signs the receipt")
        if self.receipt is None or self.receipt_key is None:
            return None
        check_writable("--receipt", self.receipt)
        from textveil_cli.run_ledger import ReceiptFile

        return ReceiptFile(self.receipt, self.receipt_key, make_statement, table)


def check_writable(option: str, path: Path) -> None:
    """Raise ``OutputError`` if a file cannot be written at a path.

    Call this function before any output is written.

    Args:
        option: The option that names the file, for the error.
        path: The path.
    """
    real = Path(os.path.realpath(path))
    if real.is_dir():
        raise OutputError(f"{option}: {format_path_name(path)} is a folder: name a file in it")
    if not (real.exists() and not real.is_file()) and not os.access(real.parent, os.W_OK):  # a pipe needs no folder
        raise OutputError(f"{option}: the folder does not exist or is not writable")


def refuse_overwriting(
    read_paths: Sequence[str | Path | None],
    ledger: LedgerOptions,
    receipt: ReceiptOptions,
    bundle: Path | None,
    *written_paths: tuple[str, Path | None],
    mapping_key: Path | None = None,
) -> None:
    """Raise ``OutputError`` if an output would overwrite another output, or a file that the command reads or updates.

    Such files are inputs, keys, the privacy ledger, and the files of the bundle.

    Args:
        read_paths: Paths of the inputs; ``-`` is standard input.
        ledger: Options with the privacy ledger and its keys.
        receipt: Options with the receipt, which is an output, and its key.
        bundle: Folder of the bundle; ``None`` for the built-in bundle.
        written_paths: Outputs, each as the name of its option and its path.
        mapping_key: Key of an encrypted mapping.
    """
    keys = [("--replay-cache-key", ledger.replay_cache_key), ("--receipt-key", receipt.receipt_key)]
    keys.append(("--mapping-key", mapping_key))
    outputs = [*written_paths, ("--receipt", receipt.receipt)]
    if ledger.ledger is None and all(path is None for _, path in (*keys, *outputs)):
        return
    from textveil.storage import ProtectedPaths

    inputs = [path for path in read_paths if path is not None]
    ProtectedPaths(
        inputs=inputs, keys=keys, ledger=ledger.ledger, ledger_key=ledger.ledger_key, bundle=bundle
    ).check_outputs(*outputs)
