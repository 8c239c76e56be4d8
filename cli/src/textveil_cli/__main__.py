"""``python -m textveil_cli`` is the command ``textveil``."""

import sys


def main() -> None:
    """Runs the ``textveil`` command. Ctrl-C while it starts ends it too, without a traceback."""
    try:
        from textveil_cli.main import main as command
    except KeyboardInterrupt:
        sys.exit(130)
    command()


if __name__ == "__main__":
    main()
