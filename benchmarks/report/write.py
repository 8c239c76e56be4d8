"""Rewrite the generated tables and the pictures of docs/results from the stored records.

    python benchmarks/report/write.py

The pages of finished studies (certified.md, nlp.md) and sanitize.md have no generated parts.
"""

import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from matplotlib.figure import Figure
from report import audit, dpnr, fairness, fbdd, frontier, names, prompts, reproduced, santext, vectors
from report.charts import save
from report.pages import fill_page

ROOT = Path(__file__).resolve().parents[2]
RECORDS = ROOT / "benchmarks" / "results"
DOCS = ROOT / "docs" / "results"
PAGES: dict[str, Callable[[Path], dict[str, str]]] = {
    "audit.md": audit.tables,
    "dpnr.md": dpnr.tables,
    "fairness.md": fairness.tables,
    "fbdd.md": fbdd.tables,
    "names.md": names.tables,
    "prompts.md": prompts.tables,
    "reproduced.md": reproduced.tables,
    "santext.md": santext.tables,
    "text.md": frontier.tables,
    "vectors.md": vectors.tables,
    "vectors_tables.md": vectors.all_tables,
}
"""Function that makes the generated parts of each page."""
PICTURES: tuple[Callable[[Path], dict[str, Figure]], ...] = (
    audit.pictures,
    dpnr.pictures,
    fbdd.pictures,
    frontier.pictures,
    names.pictures,
    prompts.pictures,
    vectors.pictures,
)


def main() -> None:
    """Write every page and every picture."""
    for name, tables in PAGES.items():
        page = DOCS / name
        page.write_text(fill_page(page.read_text(encoding="utf-8"), tables(RECORDS)), encoding="utf-8")
        print(page.relative_to(ROOT))
    for pictures in PICTURES:
        for name, figure in pictures(RECORDS).items():
            picture = DOCS / name
            picture.parent.mkdir(exist_ok=True)
            save(figure, picture)
            print(picture.relative_to(ROOT))
    for name, drawing in reproduced.drawings(RECORDS).items():
        picture = DOCS / name
        picture.parent.mkdir(exist_ok=True)
        picture.write_text(drawing, encoding="utf-8")
        print(picture.relative_to(ROOT))


if __name__ == "__main__":
    main()
