"""The pictures of README.md are those of today's output and records, and README.md has each, light and dark."""

import re
from xml.etree import ElementTree

import pytest
from scripts import ROOT, load_script
from textveil import Conversation

pictures = load_script("docs/pictures/draw.py")
FOLDER = ROOT / "docs" / "pictures"


def read_words(svg: str) -> str:
    """Return the text of a picture, without its title and description."""
    root = ElementTree.fromstring(svg)
    return " ".join(text.text or "" for text in root.iter("{http://www.w3.org/2000/svg}text"))


def test_the_committed_pictures_are_those_of_today() -> None:
    """If this fails: python docs/pictures/draw.py."""
    assert [
        name for name, drawn in pictures.draw_pictures().items() if (FOLDER / name).read_text("utf-8") != drawn
    ] == []


def test_check_fails_if_a_picture_differs_and_writes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "draw_pictures", lambda: {"mail-light.svg": "<svg/>"})
    with pytest.raises(SystemExit, match=r"mail-light\.svg: differs"):
        pictures.main(["--check"])
    assert (FOLDER / "mail-light.svg").read_text("utf-8") != "<svg/>"


def test_the_readme_has_every_picture_for_both_pages() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    named = set(re.findall(r'(?:src|srcset)="docs/pictures/([^"]+)"', readme))
    assert named == set(pictures.draw_pictures()) == {path.name for path in FOLDER.glob("*.svg")}
    assert readme.count('media="(prefers-color-scheme: dark)"') == 2
    assert all(len(alt) > 100 for alt in re.findall(r'alt="([^"]*)"', readme))


def test_no_original_is_in_what_the_model_gets_or_writes() -> None:
    mail, sent, reply, restored = pictures.make_cards()
    originals = [text for text, mark in mail.runs if mark == "original"]
    assert originals == ["88213", "Daniel Keller", "Leeds", "Maria Keller"]
    for card in (sent, reply):
        text = "".join(text for text, _ in card.runs)
        assert not card.on_device
        assert [original for original in originals if original in text] == []
    assert {text for text, mark in restored.runs if mark == "original"} == set(originals)


def test_a_mail_that_comes_back_otherwise_is_not_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Conversation, "outgoing", lambda self, messages: [{"content": "Something else [person 1]"}])
    with pytest.raises(ValueError, match="differ in more than the tags"):
        pictures.make_cards()


def test_lines_break_at_blanks_and_lose_no_word() -> None:
    runs = [("Call ", ""), ("Anna Novak", "original"), (" now, please.", "")]
    lines = pictures.wrap_runs(runs, 10)
    assert lines == [[("Call ", ""), ("Anna", "original")], [("Novak", "original"), (" now,", "")], [("please.", "")]]


def test_the_chart_has_every_tool_once_with_its_figures() -> None:
    words = read_words((FOLDER / "tools-light.svg").read_text("utf-8"))
    points = pictures.choose_points(pictures.find_points(ROOT / "benchmarks" / "results"))
    labels = [point.label for point in points]
    assert len(labels) == len(set(labels)) >= 3
    assert not any("before" in label for label in labels)
    assert words.count("Presidio") == words.count("PAPILLON") == 1
    assert words.count("textveil, facts") == sum(point.ours for point in points)
