"""How tables and numbers are written: HTML and Markdown from the same cells."""

import re
from collections.abc import Sequence
from html import escape
from statistics import mean, stdev

from textveil_training.report.charts import Table
from textveil_training.report.groups import UNSANITISED, Group
from textveil_training.report.laws import Law


def points(value: float | None, digits: int = 1) -> str:
    """A share in per cent, without the sign; empty for None."""
    return "" if value is None else f"{100 * value:.{digits}f}"


def spread(values: Sequence[float], *, shares: bool = True) -> str:
    """Mean, with the standard deviation where there are several values; shares in per cent, others to .001."""
    if not values:
        return ""
    scale, digits = (100, 1) if shares else (1, 3)
    scaled = [scale * value for value in values]
    return f"{mean(scaled):.{digits}f}" + (f" ± {stdev(scaled):.{digits}f}" if len(scaled) > 1 else "")


def plain(value: float | None, digits: int = 4) -> str:
    """A number with few digits, without an exponent; empty for None."""
    if value is None:
        return ""
    text = f"{value:,.0f}" if abs(value) >= 10 ** (digits - 1) else f"{value:.{digits}g}"
    return f"{value:.6f}".rstrip("0").rstrip(".") if "e" in text else text


def law_cells(law: Law | None, bundle: str) -> list[str]:
    """Cells under ``LAW_COLUMNS``."""
    if law is None:
        return [""] * (len(LAW_COLUMNS))
    return [
        law.tail,
        bundle,
        plain(law.share),
        plain(law.replacement_probability),
        plain(law.epsilon) if law.learns else "–",
        law.kind if law.learns else "",
        plain(law.epsilon_0) if law.epsilon_0 else "",
        plain(law.pure_ldp),
        plain(law.nominal),
        f"{law.releases}" if law.releases > 1 else "",
    ]


LAW_COLUMNS = (
    "tail", "bundle", "w", "p", "epsilon", "kind of epsilon", "epsilon_0", "pure LDP", "paper's epsilon",
    "outputs of a text",
)  # fmt: skip


def law_row(group: Group, bundle: str) -> list[str]:
    """The mechanism and the cells of its law."""
    return [group.law.mechanism if group.law else UNSANITISED, *law_cells(group.law, bundle)]


def html(table: Table) -> str:
    """A table that scrolls by itself where it is wide, with the keyboard too."""
    words = [any(re.match(r"[^\W\d_]", row[place]) for row in table.rows) for place in range(len(table.columns))]
    kinds = [' class="word"' if word else "" for word in words]
    head = "".join(
        f'<th scope="col"{kind}>{escape(column)}</th>' for column, kind in zip(table.columns, kinds, strict=True)
    )
    rows = []
    for number, (first, *rest) in enumerate(table.rows):
        cells = "".join(
            f"<td{kinds[place]}{_shade(table.shades.get((number, place)))}>{escape(cell)}</td>"
            for place, cell in enumerate(rest, 1)
        )
        rows.append(f'<tr><th scope="row">{escape(first)}</th>{cells}</tr>')
    body = f"<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody>"
    name = escape(table.name)
    note = f'<p class="note">{escape(table.note)}</p>' if table.note else ""
    return (
        f'<p class="caption" id="{name}-caption">{escape(table.caption)}</p>'
        f'<div class="wide" role="region" tabindex="0" aria-labelledby="{name}-caption">'
        f'<table id="{name}" aria-labelledby="{name}-caption">{body}</table></div>{note}'
    )


def _shade(shade: float | None) -> str:
    return "" if shade is None else f' style="--shade: {10 + 45 * shade:.0f}%"'


def markdown(table: Table) -> str:
    """The same with pipes; every cell is on one line and none holds markup."""
    head, *body = ["| " + " | ".join(map(plain_cell, line)) + " |\n" for line in (table.columns, *table.rows)]
    rule = "|" + " --- |" * len(table.columns) + "\n"
    note = f"\n{plain_cell(table.note)}\n" if table.note else ""
    return f"**{plain_cell(table.caption)}**\n\n{head}{rule}{''.join(body)}{note}"


def plain_cell(text: str) -> str:
    """Text that Markdown shows as it is."""
    return re.sub(r"([\\`*_\[\]<>|~&])", r"\\\1", " ".join(text.split()))
