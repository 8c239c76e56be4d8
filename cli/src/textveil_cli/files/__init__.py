"""Files with columns: CSV, TSV, JSON lines and Parquet, packed or not, alone or in folders, rewritten as they stream.

Cells that are not asked for keep their bytes. Each output appears whole or not at all.
"""

from typing import TYPE_CHECKING

from textveil.lazy import lazy_names

if TYPE_CHECKING:
    from textveil_cli.files.cells import read_cells
    from textveil_cli.files.looks import LOOKED_AT, refuse_tables, refuse_tables_by_name, refusing_tables
    from textveil_cli.files.parts import PART_BYTES, Part, cut, part_target, require_parts, sanitize_part
    from textveil_cli.files.processes import ctrl_c_is_ours, guarded, leave_with_parent, one_thread_each
    from textveil_cli.files.quarantine import Quarantine
    from textveil_cli.files.record import Counts, Record, settings_of
    from textveil_cli.files.rows import Bad, Layout, Row
    from textveil_cli.files.run import Finished, LayoutMaker, sanitize_files
    from textveil_cli.files.selection import FORMATS, MAX_FIELD, Selection
    from textveil_cli.files.sources import RECORD, Source, Sources, find_sources
    from textveil_cli.files.streams import Reading, packed_as, version_of
    from textveil_cli.files.workers import Drawer

__all__ = [
    "FORMATS",
    "LOOKED_AT",
    "MAX_FIELD",
    "PART_BYTES",
    "RECORD",
    "Bad",
    "Counts",
    "Drawer",
    "Finished",
    "Layout",
    "LayoutMaker",
    "Part",
    "Quarantine",
    "Reading",
    "Record",
    "Row",
    "Selection",
    "Source",
    "Sources",
    "ctrl_c_is_ours",
    "cut",
    "find_sources",
    "guarded",
    "leave_with_parent",
    "one_thread_each",
    "packed_as",
    "part_target",
    "read_cells",
    "refuse_tables",
    "refuse_tables_by_name",
    "refusing_tables",
    "require_parts",
    "sanitize_files",
    "sanitize_part",
    "settings_of",
    "version_of",
]

__getattr__ = lazy_names(
    __name__,
    __all__,
    "cells",
    "looks",
    "parts",
    "processes",
    "quarantine",
    "record",
    "rows",
    "run",
    "selection",
    "sources",
    "streams",
    "workers",
)
