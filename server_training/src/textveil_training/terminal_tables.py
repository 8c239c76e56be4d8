"""Format tables for a terminal."""

from collections.abc import Sequence


def format_table(rows: Sequence[Sequence[str]], left_columns: int | None = None) -> str:
    """Format rows as aligned columns with two blanks between them, without trailing blanks.

    Args:
        rows: Rows of the same length, the header first.
        left_columns: Number of columns, from the first, that are aligned to the left; the others are aligned to the
            right. ``None`` aligns all columns to the left.
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        padded = [
            cell.ljust(width) if left_columns is None or column < left_columns else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(padded).rstrip())
    return "\n".join(lines)
