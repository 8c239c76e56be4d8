"""Entry point of ``python -m textveil_cli``, which is the command ``textveil``."""

import sys


def main() -> None:
    """Run the ``textveil`` command.

    Ctrl-C during the imports ends the process with exit status 130 and without a traceback.
    """
    try:
        from textveil_cli.main import main as command
    except KeyboardInterrupt:
        sys.exit(130)
    command()


if __name__ == "__main__":
    main()
