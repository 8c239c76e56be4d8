"""The pages of docs/results equal the stored records, and every picture on them can be drawn."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from matplotlib.figure import Figure
from report import reproduced, write
from report.charts import save
from report.pages import fill_page


@pytest.mark.slow
@pytest.mark.parametrize("name", write.PAGES)
def test_writing_a_page_again_changes_nothing(name: str) -> None:
    page = (write.DOCS / name).read_text(encoding="utf-8")
    assert fill_page(page, write.PAGES[name](write.RECORDS)) == page


@pytest.mark.slow
@pytest.mark.parametrize("pictures", write.PICTURES, ids=lambda pictures: pictures.__module__)
def test_pictures_are_made(pictures: Callable[[Path], dict[str, Figure]], tmp_path: Path) -> None:
    for name, figure in pictures(write.RECORDS).items():
        assert (write.DOCS / name).exists()
        save(figure, tmp_path / "made.png")
        assert (tmp_path / "made.png").stat().st_size > 2000


def test_every_picture_stands_on_a_page() -> None:
    shown = {
        found for page in write.DOCS.glob("*.md") for found in re.findall(r"!\[[^]]*\]\(([^)]+)\)", page.read_text())
    }
    kept = {path for kind in ("*.png", "*.svg") for path in write.DOCS.rglob(kind)}
    assert shown == {str(path.relative_to(write.DOCS)) for path in kept}


def test_a_drawing_of_a_reproduction_is_that_of_its_record() -> None:
    drawn = reproduced.drawings(write.RECORDS)
    assert len(drawn) >= 5
    assert drawn == {name: (write.DOCS / name).read_text("utf-8") for name in drawn}
    assert {path.stem for path in (write.RECORDS / reproduced.FOLDER).iterdir()} <= set(reproduced.DATA)
