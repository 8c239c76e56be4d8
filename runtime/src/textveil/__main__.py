"""The ``textveil`` command, and ``python -m textveil``."""

import sys

_INSTALL = "pip install 'textveil[cli]' (in a clone: pip install './runtime[cli]')"


def main() -> None:
    """Runs the command, or says what to install where the library alone is installed."""
    try:
        import typer  # noqa: F401
    except ImportError:
        print(
            "textveil: the command needs typer: pip install 'textveil[cli]' (in a clone: pip install './runtime[cli]')",
            file=sys.stderr,
        )
        sys.exit(1)
    from textveil.cli.main import main as command

    command()


if __name__ == "__main__":
    main()
