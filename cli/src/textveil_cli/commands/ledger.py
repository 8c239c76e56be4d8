"""``textveil ledger``: show, export, rotate and delete the contents of a privacy ledger (record of spent epsilon)."""

import json
from pathlib import Path
from typing import Annotated

import typer
from textveil.errors import LedgerError, OptionError
from textveil.formatting import format_path_name
from textveil.ledger import Ledger, get_key_path
from textveil.storage import ProtectedPaths

from textveil_cli.console import TYPER_SETTINGS, GroupedCommand, open_output, print_message
from textveil_cli.options import JsonOption, LedgerKey, PrivateOutput

LedgerArgument = Annotated[Path, typer.Argument(metavar="LEDGER", help="File of the privacy ledger.")]
PrivacyUnitOption = Annotated[
    str | None,
    typer.Option(
        "--privacy-unit",
        help="Name of one privacy unit: the person, account or device for which the ledger adds up epsilon.",
    ),
]
YesOption = Annotated[bool, typer.Option("--yes", help="Confirm: deleted data cannot be recovered.")]

ledger = typer.Typer(
    no_args_is_help=True,
    help="Show, export, rotate or delete the contents of a privacy ledger.",
    add_completion=False,
    **TYPER_SETTINGS,
)


@ledger.command(cls=GroupedCommand)
def show(
    file: LedgerArgument,
    privacy_unit: PrivacyUnitOption = None,
    as_json: JsonOption = False,
    ledger_key: LedgerKey = None,
) -> None:
    """Show the spending of every privacy unit.

    The ledger does not store the names of privacy units, so each unit is printed as a tag. --privacy-unit NAME shows
    one unit by its name.
    """
    opened_ledger = _open_ledger(file, ledger_key)
    accounts = opened_ledger.list_accounts()
    if privacy_unit is not None:
        tag = opened_ledger.get_account(privacy_unit).unit_tag
        accounts = [(account, releases) for account, releases in accounts if account.unit_tag == tag]
        if not accounts:
            raise OptionError("the ledger has no privacy unit with that name: omit --privacy-unit to see all")
    if as_json:
        print(json.dumps([{**account.to_dict(), "releases": releases} for account, releases in accounts]))
        return
    print(f"{'privacy unit':<14}{'releases':>9}{'epsilon':>12}{'budget':>12}{'delta':>10}{'unbounded':>11}")
    for account, releases in accounts:
        print(
            f"{account.unit_tag.hex()[:12]:<14}{releases:>9,}{account.displayed_epsilon:>12}{account.displayed_budget:>12}"
            f"{account.displayed_delta:>10}{account.unbounded_releases:>11,}"
        )


@ledger.command(cls=GroupedCommand)
def export(file: LedgerArgument, output: PrivateOutput = None, ledger_key: LedgerKey = None) -> None:
    """Print the contents of a ledger as JSON, without stored outputs."""
    ProtectedPaths(ledger=file, ledger_key=ledger_key).check_outputs(("--output", output))
    exported = json.dumps(_open_ledger(file, ledger_key).export(), indent=1) + "\n"
    with open_output(output, private=True) as write:
        write(exported)


@ledger.command(cls=GroupedCommand)
def rotate(file: LedgerArgument, yes: YesOption = False, ledger_key: LedgerKey = None) -> None:
    """Start an empty ledger under a new key.

    This deletes all spending, budgets and stored outputs. The old key is not needed. A missing ledger file is no error
    if its key file exists.
    """
    _require_file(file, ledger_key)
    if not yes:
        raise OptionError("rotate deletes all spending, budgets and stored outputs: confirm with --yes")
    Ledger.rotate(file, key=ledger_key)
    print_message("textveil: created a new key and an empty ledger")


@ledger.command(cls=GroupedCommand)
def delete(
    file: LedgerArgument,
    privacy_unit: PrivacyUnitOption = None,
    stored_outputs: Annotated[
        bool, typer.Option("--stored-outputs", help="Delete all stored outputs; recorded spending stays.")
    ] = False,
    yes: YesOption = False,
    ledger_key: LedgerKey = None,
) -> None:
    """Delete a privacy unit with its budget, or all stored outputs."""
    if (privacy_unit is None) != stored_outputs:
        raise OptionError("choose what to delete: --privacy-unit NAME or --stored-outputs")
    opened_ledger = _open_ledger(file, ledger_key)
    if not yes:
        raise OptionError("deleted data cannot be recovered: confirm with --yes")
    if privacy_unit is not None:
        opened_ledger.delete_privacy_unit(privacy_unit)
        print_message("textveil: deleted the privacy unit with its spending and budget")
    else:
        opened_ledger.delete_outputs()
        print_message("textveil: deleted all stored outputs; recorded spending stays")


def _open_ledger(file: Path, ledger_key: Path | None) -> Ledger:
    _require_file(file, ledger_key)
    return Ledger(file, key=ledger_key)


def _require_file(file: Path, ledger_key: Path | None) -> None:
    """Raise ``LedgerError`` if neither the file of the privacy ledger nor its key file exists.

    If only the key file exists, opening the ledger reports the missing ledger.
    """
    if not file.is_file() and not get_key_path(file, ledger_key).exists():
        raise LedgerError(
            f"the ledger {format_path_name(file) or 'file'} does not exist: the first release with --ledger creates it"
        )
