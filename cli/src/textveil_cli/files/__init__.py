"""Files with columns: CSV, TSV, JSON lines and Parquet, packed or not, alone or in folders, rewritten as they stream.

Cells that are not asked for keep their bytes. Each output appears whole or not at all.

A ``Selection`` says what of every file is rewritten, ``find_sources`` which files there are and where they go, a
``Drawer`` draws, and ``sanitize_files`` does all of them. A ``Record`` has what is finished.
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
    from textveil_cli.files.sources import RECORD, Source, Sources, find_sources, format_of
    from textveil_cli.files.streams import Reading, packed_as, version_of
    from textveil_cli.files.workers import Drawer

__all__ = [
    "RECORD",
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
    "refuse_tables_by_name",
    "refusing_tables",
    "require_fitting_ending",
    "sanitize_files",
    "settings_of",
    "version_of",
]

# Those that need the least stand first: a name is looked for in them in this order.
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
