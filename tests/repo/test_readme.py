"""The README's two commands exist, and all links of the documents have targets."""

import os
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FENCE = re.compile(r"^(?P<fence>`{3,}|~{3,})(?P<language>[^\n`]*)\n(?P<content>.*?)^(?P=fence)[ \t]*$", re.M | re.S)
LINK = re.compile(r"!?\[(?:[^\]\[]|\[[^\]]*\])*\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
REFERENCE = re.compile(r"^\[[^\]]+\]:\s*<?(\S+?)>?\s*$", re.M)
HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*#*\s*$", re.M)


def documents() -> list[Path]:
    """All Markdown files, without hidden, built and linked folders."""
    found = []
    for folder, names, files in os.walk(ROOT):
        names[:] = [n for n in names if not n.startswith(".") and n not in ("node_modules", "dist", "build", "venv")]
        found += [Path(folder) / name for name in files if name.endswith(".md")]
    return sorted(found)


def outside_code(text: str) -> str:
    return re.sub(r"`[^`\n]+`", "", FENCE.sub("", text))


def anchors(path: Path) -> set[str]:
    """Anchors of a document's headings, as GitHub makes them."""
    found: set[str] = set()
    for heading in HEADING.findall(FENCE.sub("", path.read_text("utf-8"))):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "").lower()
        slug = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
        number = sum(1 for other in found if re.fullmatch(rf"{re.escape(slug)}(-\d+)?", other))
        found.add(f"{slug}-{number}" if number else slug)
    return found


def quick_start() -> str:
    text = (ROOT / "README.md").read_text("utf-8")
    sections = re.split(r"^## (.*)$", FENCE.sub(lambda match: match[0].replace("\n## ", "\n\\## "), text), flags=re.M)
    named = dict(zip(sections[1::2], sections[2::2], strict=True))
    assert sections[1::2].count("Quick start") == 1
    return named["Quick start"]


def test_the_quick_start_is_two_commands() -> None:
    found = [(match["language"].strip(), match["content"]) for match in FENCE.finditer(quick_start())]
    blocks = [(language, content) for language, content in found if language != "text"]  # what the first one printed
    assert [language for language, _ in blocks] == ["sh", "sh"]
    for _, content in blocks:
        assert content.endswith("\n")
        assert content.count("\n") == 1
        assert content.strip()
        assert not content.startswith(("$", "#", " "))
    first, second = (content for _, content in blocks)
    assert "textveil sanitize" in first
    assert "pytest" in second


def test_what_the_commands_name_exists() -> None:
    for match in FENCE.finditer(quick_start()):
        for path in re.findall(r"(?<=\s)(?:\./\S+|\S+\.txt)(?=\s)", match["content"]):
            assert (ROOT / path.split("[")[0]).exists(), path


def test_the_first_screen_says_what_is_protected_and_what_is_not() -> None:
    first = "\n".join((ROOT / "README.md").read_text("utf-8").splitlines()[:40])
    assert re.search(r"what is proven", first, re.I)
    assert re.search(r"do not\s+protect the text as a whole", first, re.I)


@pytest.mark.parametrize("document", documents(), ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(document: Path) -> None:
    text = outside_code(document.read_text("utf-8"))
    broken = []
    for link in [*LINK.findall(text), *REFERENCE.findall(text)]:
        if re.match(r"[a-z][a-z0-9+.-]*:", link, re.I):
            continue
        target, _, anchor = link.partition("#")
        path = (document.parent / target).resolve() if target else document
        inside = path == ROOT or ROOT in path.parents
        if not (inside and path.exists()) or (anchor and path.suffix == ".md" and anchor not in anchors(path)):
            broken.append(link)
    assert broken == []


def test_there_are_documents() -> None:
    names = {str(path.relative_to(ROOT)) for path in documents()}
    assert {"README.md", "docs/format.md", "docs/privacy.md", "runtime/README.md", "export/README.md"} <= names
