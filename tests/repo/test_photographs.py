"""The pictures of docs/guides/changes.md are those of today's pages, and the guide has each, light and dark."""

import json
import re
from pathlib import Path

import pytest
from scripts import load_script

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "pictures"


def test_the_guide_has_every_picture_light_and_dark() -> None:
    guide = (ROOT / "docs" / "guides" / "changes.md").read_text("utf-8")
    named = set(re.findall(r'(?:src|srcset)="\.\./pictures/([^"]+)"', guide))
    names = json.loads((FOLDER / "photographs.json").read_text("utf-8"))
    assert named == {f"{name}-{theme}.png" for name in names for theme in ("light", "dark")}
    assert named == {path.name for path in FOLDER.glob("*.png")}
    assert guide.count(" alt=") == len(names)


@pytest.mark.slow
def test_the_pictures_are_those_of_today(monkeypatch: pytest.MonkeyPatch) -> None:
    """If this fails: python docs/pictures/photograph.py."""
    for package in ("starlette", "uvicorn", "httpcore2"):
        pytest.importorskip(package, reason="needs the extra gateway: make integrations")
    photographs = load_script("docs/pictures/photograph.py")
    pages = photographs.make_pages()
    monkeypatch.setattr(photographs, "make_pages", lambda: pages)
    photographs.main(["--check"])
    monkeypatch.setattr(photographs, "make_pages", lambda: {**pages, "diff": pages["diff"] + " "})
    with pytest.raises(SystemExit, match=r"^diff: the page is another one today"):
        photographs.main(["--check"])
