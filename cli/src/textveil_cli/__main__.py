"""Entry point of ``python -m textveil_cli``, which is the command ``textveil``."""

import gc
import sys

#: New objects before a garbage collection. Modules and word lists are many objects that stay: with Python's own number
#: a short command has 85 collections.
_GC_THRESHOLD = 50_000


def main() -> None:
    """Run the ``textveil`` command.

    Ctrl-C during the imports ends the process with exit status 130 and without a traceback.
    """
    gc.set_threshold(_GC_THRESHOLD)
    try:
        from textveil_cli.main import main as command
    except KeyboardInterrupt:
        sys.exit(130)
    try:
        command()
    finally:
        gc.freeze()  # excludes all objects from the collections of the interpreter's end, a tenth of a short command


if __name__ == "__main__":
    main()
