"""Entry point of ``python -m textveil``, which runs the command line of the separate package ``textveil-cli``."""

import sys
from importlib import import_module

_INSTALL = "textveil: the command is not installed: pip install textveil-cli (in a clone: pip install ./runtime ./cli)"


def main() -> None:
    """Run the command ``textveil``; if the package ``textveil-cli`` is missing, print how to install it."""
    try:
        command = import_module("textveil_cli.__main__")
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("textveil_cli", "typer"):
            raise
        print(_INSTALL, file=sys.stderr)
        sys.exit(1)
    command.main()


if __name__ == "__main__":
    main()
