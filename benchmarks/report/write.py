"""Rewrites the generated tables and the pictures of docs/results from the stored records.

    python benchmarks/report/write.py

A page without a record of its own (sanitize.md) is written by hand. The t-SNE map of dpnr.md is drawn from checkpoints,
which are not stored, by ``text_map.py``.
"""

import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from matplotlib.figure import Figure
from report import certified, dpnr, fairness, fbdd, frontier, names, nlp, nlp_tables, vectors
from report.charts import save
from report.pages import filled

ROOT = Path(__file__).resolve().parents[2]
RECORDS = ROOT / "benchmarks" / "results"
DOCS = ROOT / "docs" / "results"
PAGES: dict[str, Callable[[Path], dict[str, str]]] = {
    "certified.md": certified.tables,
    "dpnr.md": dpnr.tables,
    "fairness.md": fairness.tables,
    "fbdd.md": fbdd.tables,
    "names.md": names.tables,
    "nlp.md": nlp.tables,
    "nlp_tables.md": nlp_tables.tables,
    "text.md": frontier.tables,
    "vectors.md": vectors.tables,
    "vectors_tables.md": vectors.all_tables,
}
"""What makes the generated parts of each page."""
PICTURES: tuple[Callable[[Path], dict[str, Figure]], ...] = (
    nlp.pictures,
    dpnr.pictures,
    frontier.pictures,
    names.pictures,
    vectors.pictures,
)


def main() -> None:
    """Writes every page and every picture."""
    for name, tables in PAGES.items():
        page = DOCS / name
        page.write_text(filled(page.read_text(encoding="utf-8"), tables(RECORDS)), encoding="utf-8")
        print(page.relative_to(ROOT))
    for pictures in PICTURES:
        for name, figure in pictures(RECORDS).items():
            picture = DOCS / name
            picture.parent.mkdir(exist_ok=True)
            save(figure, picture)
            print(picture.relative_to(ROOT))


if __name__ == "__main__":
    main()
