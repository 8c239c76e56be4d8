"""Run the command ``textveil-train`` by ``python -m textveil_training``."""

from textveil_training.cli import main

if __name__ == "__main__":
    main()
