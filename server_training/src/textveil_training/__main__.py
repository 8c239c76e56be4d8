"""``python -m textveil_training`` is the command ``textveil-train``."""

from textveil_training.cli import main

if __name__ == "__main__":
    main()
