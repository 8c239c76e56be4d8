"""Entry point of ``python -m textveil_cli``, which is the command ``textveil``."""

import gc
import sys

#: New objects before a garbage collection. Modules and word lists are many objects that stay: with Python's own number
#: a short command has 85 collections.
_GC_THRESHOLD = 50_000
#: Oldest Python on which the packages run. pip refuses an older one, a clone on ``PYTHONPATH`` does not.
_MIN_PYTHON = (3, 11)


def main() -> None:
    """Run the ``textveil`` command.

    Ctrl-C during the imports ends the process with exit status 130 and without a traceback. A Python that is too old,
    or a missing package that the command line itself needs, ends the command with a message of one line.
    """
    if sys.version_info < _MIN_PYTHON:
        sys.exit("textveil: install: this Python is older than 3.11: install Python 3.11 or newer")
    gc.set_threshold(_GC_THRESHOLD)
    try:
        from textveil_cli.main import main as command
    except KeyboardInterrupt:
        sys.exit(130)
    except ImportError as error:
        from textveil_cli.console.missing_packages import describe_missing_package

        if (message := describe_missing_package(error)) is None:
            raise
        sys.exit(f"textveil: install: {message}")
    try:
        command()
    finally:
        gc.freeze()  # excludes all objects from the collections of the interpreter's end, a tenth of a short command


if __name__ == "__main__":
    main()
