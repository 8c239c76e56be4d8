"""The ``textveil-export`` command and its subcommands."""

import sys
from typing import Annotated

import typer
from textveil import __version__
from textveil_cli import run

from textveil_export.cli import audit, encoder, levels, staircase, table

app = typer.Typer(
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Builds the bundles that textveil loads.",
)


@app.callback(invoke_without_command=True)
def _root(
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    if version:
        print(f"textveil-export {__version__}")
        raise typer.Exit


app.command()(table.table)
app.command()(staircase.staircase)
app.command()(levels.certify)
app.command()(levels.statistics)
app.command()(levels.report)
app.command()(levels.sign)
app.command()(audit.audit)
app.command()(encoder.encoder)


def main() -> None:
    """Runs the ``textveil-export`` command."""
    sys.exit(run(app, "textveil-export"))
