"""A report from run records: its sections, one self-contained HTML page of them, and Markdown tables."""

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from string import Template

from textveil_training import __version__
from textveil_training.report import (
    attacked,
    compared,
    fairness_table,
    heat,
    pretrained,
    representations,
    tables,
    utility,
)
from textveil_training.report.charts import Curves, Heat, Section, Table
from textveil_training.report.groups import Names, laws_of
from textveil_training.report.records import Reading

FILES = Path(__file__).parent


def sections(reading: Reading) -> list[Section]:
    """The sections of a report; those without records are left out.

    Raises:
        ReportError: A record of subgroups or a grid cannot be reported.
    """
    told = [*reading.runs, *reading.unfinished, *reading.replaced]
    names = Names(laws_of(run for run in told if run.kind != "fairness"))
    finetuned, attacks = reading.of("finetune"), reading.of("attack-text")
    found = [
        compared.section(reading, names) if reading.runs or reading.unfinished else None,
        utility.section(finetuned, names),
        attacked.against_utility(finetuned, attacks, names),
        heat.section(finetuned),
        attacked.statistics(attacks, names),
        attacked.section(attacks, names),
        pretrained.section(reading.of("pretrain"), finetuned, attacks, names),
        fairness_table.section(reading.of("fairness")),
        representations.section(reading.grids),
    ]
    return [section for section in found if section is not None]


def plots_of(parts: Sequence[Section]) -> list[Curves | Heat]:
    """All plots in order."""
    return [part for section in parts for part in section.parts if not isinstance(part, Table)]


def html(
    parts: Sequence[Section],
    title: str,
    draw: Callable[[Curves | Heat], str],
    colours: dict[str, str],
    report: Callable[[str, int, int], None] = lambda *_: None,
) -> str:
    """The page: complete in itself, without scripts.

    Args:
        parts: Its sections.
        title: Its heading.
        draw: Gives the SVG element of a plot.
        colours: Of the plots, by CSS variable.
        report: Called with plots drawn.
    """
    plots = plots_of(parts)
    done: list[str] = []

    def figure(plot: Curves | Heat) -> str:
        drawn = draw(plot)
        done.append(plot.name)
        report("plots", len(done), len(plots))
        caption = (
            f"<figcaption><strong>{escape(plot.title)}.</strong>"
            f"<details><summary>In words</summary>{escape(plot.description)}</details></figcaption>"
        )
        wide = f'<div class="wide" role="region" tabindex="0" aria-label="{escape(plot.title)}">{drawn}</div>'
        return f'<figure id="{escape(plot.name)}">{wide}{caption}</figure>'

    def section(part: Section) -> str:
        text = "\n".join(f"<p>{escape(paragraph)}</p>" for paragraph in part.text)
        inside = "\n".join(tables.html(one) if isinstance(one, Table) else figure(one) for one in part.parts)
        return f'<section id="{escape(part.name)}">\n<h2>{escape(part.title)}</h2>\n{text}\n{inside}\n</section>'

    return Template((FILES / "page.html").read_text(encoding="utf-8")).substitute(
        title=escape(title),
        summary="What a task still learns from sanitised text, and what attackers bring back from it.",
        colours=" ".join(f"--{variable}: {colour};" for variable, colour in colours.items()),
        style=(FILES / "page.css").read_text(encoding="utf-8"),
        contents="\n".join(f'<li><a href="#{escape(part.name)}">{escape(part.title)}</a></li>' for part in parts),
        sections="\n".join(section(part) for part in parts),
        footer=escape(footer()),
    )


def markdown(parts: Sequence[Section], title: str) -> str:
    """All tables, with their sections' texts."""
    written = [f"# {tables.plain_cell(title)}\n"]
    for part in parts:
        found = [tables.markdown(one) for one in part.parts if isinstance(one, Table)]
        paragraphs = [f"{tables.plain_cell(paragraph)}\n" for paragraph in part.text]
        written += [f"## {tables.plain_cell(part.title)}\n", *paragraphs, *found]
    return "\n".join([*written, f"{footer()}\n"])


def footer() -> str:
    """What made the report, and when."""
    return f"Made by textveil-training {__version__} on {datetime.now(UTC):%Y-%m-%d}."
