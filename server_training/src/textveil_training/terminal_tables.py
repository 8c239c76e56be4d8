"""Tables for a terminal."""

from collections.abc import Sequence


def format_table(rows: Sequence[Sequence[str]], left_columns: int | None = None) -> str:
    """Format rows as aligned columns, two blanks apart, without trailing blanks.

    Args:
        rows: Rows of the same length, the header first.
        left_columns: How many columns, from the first, are aligned to the left; the others are to the right. None: all.
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
