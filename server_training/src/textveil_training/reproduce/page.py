"""Write the page of a reproduction: a table in Markdown with the paper's figures, and a picture."""

from collections.abc import Mapping
from pathlib import Path

from textveil.storage import open_atomic_text

from textveil_training.reproduce.picture import draw_picture
from textveil_training.reproduce.published import PublishedStudy
from textveil_training.reproduce.results import Reproduction, collect_notes, make_table


def write_page(folder: Path, study: PublishedStudy, found: Reproduction, paper: Mapping[str, str] | None) -> None:
    """Write a Markdown page with the computed table of a study, and its picture as a separate file.

    Raises:
        OutputError: A file cannot be written.
    """
    header, *rows = make_table(found, paper)
    table = [header, ["---"] * len(header), *rows]
    lines = [f"# {study.place} of {study.paper}", "", study.question, ""]
    lines += ["| " + " | ".join(cells) + " |" for cells in table]
    has_picture = any(row.series for row in found.rows)
    if has_picture:
        lines += ["", f"![{found.axes[1]} by {found.axes[0]}]({study.name}.svg)"]
        with open_atomic_text(folder / f"{study.name}.svg") as write:
            write(draw_picture(found))
    lines += ["", *(f"- {note}" for note in collect_notes(study, found, paper)), ""]
    with open_atomic_text(folder / f"{study.name}.md") as write:
        write("\n".join(lines))
