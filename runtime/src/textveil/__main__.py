"""``python -m textveil``: the command, which is a distribution of its own."""

import sys
from importlib import import_module
from importlib.util import find_spec

_INSTALL = "textveil: the command is not installed: pip install textveil-cli (in a clone: pip install ./runtime ./cli)"


def main() -> None:
    """Runs the command, or says what to install where the library alone is installed."""
    if find_spec("textveil_cli") is None:
        print(_INSTALL, file=sys.stderr)
        sys.exit(1)
    import_module("textveil_cli.main").main()


if __name__ == "__main__":
    main()
