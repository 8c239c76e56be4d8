"""Sanitize CSV, TSV, JSON lines, Parquet and plain text files as streams, compressed or not.

Inputs are files or folders. Cells outside the selected columns are copied byte by byte. Each output file is written
completely or not at all.

- ``ColumnSelection`` has the format and the columns to sanitize.
- ``find_source_files`` lists the input files and their output paths.
- ``BlockSanitizer`` sanitizes blocks of rows.
- ``sanitize_files`` runs over all files.
- ``RunManifest`` records the finished files.
"""

from typing import TYPE_CHECKING

from textveil.lazy import make_lazy_getattr

if TYPE_CHECKING:
    from textveil_cli.columns import ColumnSelection
    from textveil_cli.files.blocks import RejectedRow, RewrittenDocuments, RowLayout, RunCounts, TableRow
    from textveil_cli.files.cells import read_cells
    from textveil_cli.files.detect_tables import make_table_refusal, refuse_tables_by_name
    from textveil_cli.files.pipeline import (
        BlockReview,
        BlockSanitizer,
        LayoutFactory,
        ReviewedBlock,
        RunResult,
        sanitize_files,
    )
    from textveil_cli.files.rejected_rows import RejectedRowsFile
    from textveil_cli.files.run_manifest import RunManifest, hash_settings
    from textveil_cli.files.sources import (
        InputStream,
        SourceFile,
        SourceFiles,
        check_output_ending,
        find_source_files,
        get_file_version,
        get_format,
        get_manifest_path,
        get_packed_ending,
        is_spreadsheet,
    )

__all__ = [
    "BlockReview",
    "BlockSanitizer",
    "ColumnSelection",
    "InputStream",
    "LayoutFactory",
    "RejectedRow",
    "RejectedRowsFile",
    "ReviewedBlock",
    "RewrittenDocuments",
    "RowLayout",
    "RunCounts",
    "RunManifest",
    "RunResult",
    "SourceFile",
    "SourceFiles",
    "TableRow",
    "check_output_ending",
    "find_source_files",
    "get_file_version",
    "get_format",
    "get_manifest_path",
    "get_packed_ending",
    "hash_settings",
    "is_spreadsheet",
    "make_table_refusal",
    "read_cells",
    "refuse_tables_by_name",
    "sanitize_files",
]

# Lookups try the modules in this order: the ones with the fewest imports come first.
__getattr__ = make_lazy_getattr(
    __name__,
    __all__,
    "blocks",
    "sources",
    "detect_tables",
    "run_manifest",
    "rejected_rows",
    "pipeline",
    "cells",
)
