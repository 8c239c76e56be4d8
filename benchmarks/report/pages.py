"""Format tables and numbers as Markdown, and put them between the markers of a page.

A generated part of a page is between ``<!-- generated: NAME -->`` and ``<!-- end -->``. The rest of the page is not
changed.
"""

import re
from collections.abc import Iterable, Mapping, Sequence

import pandas as pd
from report.records import Column

PART = re.compile(r"(<!-- generated: ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)


def fill_page(page: str, parts: Mapping[str, str]) -> str:
    """Return the page with every generated part replaced.

    Args:
        page: Markdown with markers.
        parts: New content between the markers, by name.

    Raises:
        ValueError: A marker has no part, a part has no marker, or a marker is not closed.
    """
    names = [name for _, name, _ in PART.findall(page)]
    if page.count("<!-- generated:") != len(names) or page.count("<!-- end -->") != len(names):
        raise ValueError("a generated part is not closed, or closed twice")
    if sorted(names) != sorted(parts):
        raise ValueError(
            f"markers and parts differ: {', '.join(sorted(set(names) ^ set(parts))) or 'one stands twice'}"
        )
    return PART.sub(lambda found: f"{found[1]}\n{parts[found[2]].strip()}\n\n{found[3]}", page)


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table without columns that are empty in every row."""
    body = [list(row) for row in rows]
    kept = [place for place in range(len(columns)) if any(row[place] for row in body)]
    lines = [[line[place] for place in kept] for line in (list(columns), ["---"] * len(columns), *body)]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def points(share: float | None, digits: int = 1) -> str:
    """Return a share in percent without the sign; empty for None and NaN."""
    return "" if share is None or pd.isna(share) else f"{100 * share:.{digits}f}"


def spread(values: Column, *, shares: bool = True) -> str:
    """Return the mean over runs; for several runs also ± and the standard deviation.

    Args:
        values: A figure of each run; NaN for runs without this figure.
        shares: Whether the figures are shares, which are written in percent with one digit. Other figures have three
            digits.
    """
    values = values.dropna()
    if values.empty:
        return ""
    scale, digits = (100, 1) if shares else (1, 3)
    deviation = f" ± {scale * values.std():.{digits}f}" if len(values) > 1 else ""
    return f"{scale * values.mean():.{digits}f}{deviation}"


def short(value: float | None, digits: int = 4) -> str:
    """Return a number with few digits and without an exponent; empty for None and NaN."""
    if value is None or pd.isna(value):
        return ""
    text = f"{value:,.0f}" if abs(value) >= 10 ** (digits - 1) else f"{value:.{digits}g}"
    return f"{value:.6f}".rstrip("0").rstrip(".") if "e" in text else text
