"""What is charged, and what is written down of a promise: the ledger, its budget, its memo, and receipts."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar

import typer

LedgerKey = Annotated[
    Path | None,
    typer.Option("--ledger-key", help="The key of the ledger; beside it, with .key after its name, if left out."),
]


@dataclass(frozen=True, kw_only=True)
class LedgerOptions:
    """The ledger of a command that releases."""

    heading: ClassVar[str] = "Ledger"
    ledger: Annotated[
        Path | None,
        typer.Option("--ledger", help="Charge every draw in this file before its output leaves; made at first use."),
    ] = None
    ledger_key: LedgerKey = None
    scope: Annotated[
        str | None,
        typer.Option(help="With --ledger: what is charged: a document, a person, a day; 'default' if left out."),
    ] = None
    budget: Annotated[
        str | None,
        typer.Option(help="With --ledger: refuse what brings the scope above so many nats, now and later."),
    ] = None
    budget_delta: Annotated[str | None, typer.Option(help="With --budget: the same for delta; 0 if left out.")] = None
    memo: Annotated[
        bool,
        typer.Option(
            "--memo", help="With --ledger and --memo-key: give an equal request its stored output again, uncharged."
        ),
    ] = False
    memo_key: Annotated[
        Path | None,
        typer.Option(help="With --memo: what outputs are encrypted with; not in the ledger's folder."),
    ] = None


@dataclass(frozen=True, kw_only=True)
class ReceiptOptions:
    """The receipt of one output."""

    heading: ClassVar[str] = "Receipt"
    receipt: Annotated[
        Path | None, typer.Option(help="Write what was promised, with a hash of the output, signed.")
    ] = None
    receipt_key: Annotated[
        Path | None,
        typer.Option(help="With --receipt: the secret key; made at first use. One for each recipient."),
    ] = None
