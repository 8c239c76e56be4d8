"""Streaming rewrite of CSV, TSV, JSON lines and Parquet files, packed or not.

Inputs are files or folders. Cells outside the selection keep their bytes. Each output appears complete or not at all.

``Selection`` has the columns and formats of a run, ``find_sources`` lists the files and their outputs, a ``Drawer``
rewrites texts, ``sanitize_files`` runs over all files, and ``Record`` lists the finished ones.
"""

from typing import TYPE_CHECKING

from textveil.lazy import lazy_names

if TYPE_CHECKING:
    from textveil_cli.files.cells import read_cells
    from textveil_cli.files.endings import require_fitting_ending
    from textveil_cli.files.looks import refuse_tables_by_name, refusing_tables
    from textveil_cli.files.quarantine import Quarantine
    from textveil_cli.files.record import Counts, Record, settings_of
    from textveil_cli.files.rows import Bad, Layout, Row
    from textveil_cli.files.run import Finished, LayoutMaker, sanitize_files
    from textveil_cli.files.selection import Selection
    from textveil_cli.files.sources import Source, Sources, find_sources, format_of, record_path
    from textveil_cli.files.streams import Reading, packed_as, version_of
    from textveil_cli.files.workers import Drawer

__all__ = [
    "Bad",
    "Counts",
    "Drawer",
    "Finished",
    "Layout",
    "LayoutMaker",
    "Quarantine",
    "Reading",
    "Record",
    "Row",
    "Selection",
    "Source",
    "Sources",
    "find_sources",
    "format_of",
    "packed_as",
    "read_cells",
    "record_path",
    "refuse_tables_by_name",
    "refusing_tables",
    "require_fitting_ending",
    "sanitize_files",
    "settings_of",
    "version_of",
]

# Lookups try the modules in this order: the ones with the fewest imports come first.
__getattr__ = lazy_names(
    __name__,
    __all__,
    "streams",
    "selection",
    "sources",
    "endings",
    "looks",
    "record",
    "quarantine",
    "rows",
    "workers",
    "run",
    "cells",
)
