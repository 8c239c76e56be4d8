"""Tables for a terminal."""

from collections.abc import Sequence


def aligned(rows: Sequence[Sequence[str]], left: int | None = None) -> str:
    """Aligns columns, two blanks apart, without blanks or a line end after the last one.

    Args:
        rows: Rows of the same length, the header first.
        left: How many columns, from the first, are aligned to the left; the others are to the right. None: all.
    """
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        padded = [
            cell.ljust(width) if left is None or column < left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(padded).rstrip())
    return "\n".join(lines)
