"""Run the command line by ``python -m textveil_export``."""

from textveil_export.cli import main

main()
