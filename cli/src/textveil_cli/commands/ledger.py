"""``textveil ledger``: show, export, rotate and delete the contents of a privacy ledger."""

import json
from pathlib import Path
from typing import Annotated

import typer
from textveil.bundle import Kept
from textveil.errors import LedgerError, OptionError
from textveil.lazy import called
from textveil.ledger import Ledger, key_path_of

from textveil_cli.console import SETTINGS, Command, output_to, say
from textveil_cli.options import JsonOption, LedgerKey, PrivateOutput

File = Annotated[Path, typer.Argument(metavar="LEDGER", help="The file that --ledger names.")]
Scope = Annotated[str | None, typer.Option("--scope", help="The name of one scope.")]
Yes = Annotated[bool, typer.Option("--yes", help="Do it: what is forgotten cannot be had back.")]

ledger = typer.Typer(
    no_args_is_help=True, help="Show, export, rotate or delete what a ledger holds.", add_completion=False, **SETTINGS
)


@ledger.command(cls=Command)
def show(file: File, scope: Scope = None, as_json: JsonOption = False, ledger_key: LedgerKey = None) -> None:
    """Show what every scope has spent.

    Names of scopes are not in the file: they are shown as tags. --scope shows the one of that name.
    """
    opened = _opened(file, ledger_key)
    accounts = opened.accounts()
    if scope is not None:
        wanted = opened.account(scope).scope
        accounts = [(account, releases) for account, releases in accounts if account.scope == wanted]
        if not accounts:
            raise OptionError("the ledger has no scope of that name")
    if as_json:
        print(json.dumps([{**account.to_dict(), "releases": releases} for account, releases in accounts]))
        return
    print(f"{'scope':<14}{'releases':>9}{'nats':>12}{'budget':>12}{'delta':>10}{'no bound':>10}")
    for account, releases in accounts:
        print(
            f"{account.scope.hex()[:12]:<14}{releases:>9,}{account.spent:>12}{account.limit:>12}"
            f"{account.spent_delta:>10}{account.unbounded:>10,}"
        )


@ledger.command(cls=Command)
def export(file: File, output: PrivateOutput = None, ledger_key: LedgerKey = None) -> None:
    """Print what a ledger holds as JSON, without stored outputs."""
    Kept(ledger=file, ledger_key=ledger_key).refuse(("--output", output))
    exported = json.dumps(_opened(file, ledger_key).export(), indent=1) + "\n"
    with output_to(output, private=True) as write:
        write(exported)


@ledger.command(cls=Command)
def rotate(file: File, yes: Yes = False, ledger_key: LedgerKey = None) -> None:
    """Begin anew under a new key.

    All accounts, budgets and stored outputs are forgotten. The old key need not be there, nor the ledger where its key
    is.
    """
    _require_file(file, ledger_key)
    if not yes:
        raise OptionError("rotate forgets all accounts, budgets and stored outputs: say --yes")
    Ledger.rotate(file, key=ledger_key)
    say("textveil: a new key and an empty ledger")


@ledger.command(cls=Command)
def delete(
    file: File,
    scope: Scope = None,
    outputs: Annotated[bool, typer.Option("--outputs", help="All stored outputs, and no charge.")] = False,
    yes: Yes = False,
    ledger_key: LedgerKey = None,
) -> None:
    """Forget a scope and its budget, or all stored outputs."""
    if (scope is None) != outputs:
        raise OptionError("say what to delete: --scope NAME or --outputs")
    opened = _opened(file, ledger_key)
    if not yes:
        raise OptionError("what is deleted cannot be had back: say --yes")
    if scope is not None:
        opened.delete(scope)
        say("textveil: the scope, its account and its budget are forgotten")
    else:
        opened.delete_outputs()
        say("textveil: all stored outputs are forgotten; charges stay")


def _opened(file: Path, ledger_key: Path | None) -> Ledger:
    _require_file(file, ledger_key)
    return Ledger(file, key=ledger_key)


def _require_file(file: Path, ledger_key: Path | None) -> None:
    """Raise ``LedgerError`` if neither the ledger nor its key exists.

    A key without a ledger passes: opening the ledger reports that case.
    """
    if not file.is_file() and not key_path_of(file, ledger_key).exists():
        raise LedgerError(f"there is no ledger {called(file) or 'there'}: the first release with --ledger makes it")
