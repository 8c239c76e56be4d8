"""Sections of documents, dotted names and files that the sources and documents name exist."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from scripts import ROOT

PACKAGES = {
    "textveil": "runtime",
    "textveil_cli": "cli",
    "textveil_export": "export",
    "textveil_training": "server_training",
}
SOURCES = [path for name, folder in PACKAGES.items() for path in (ROOT / folder / "src" / name).rglob("*.py")]
SCRIPTS = list((ROOT / "web/src").rglob("*.ts"))
PAGES = [
    path
    for folder in (ROOT, *(ROOT / name for name in ("docs", "docs/proofs", "artifacts", *PACKAGES.values(), "web")))
    for path in folder.glob("*.md")
]


def find_missing_sections(text: str) -> Iterator[str]:
    """Yield each section, as in ``docs/names-rule.md, "Facts"``, whose document has no heading of its name."""
    plain = re.sub(r"\s+(?:(?:#:?|\*) )?\s*", " ", text)
    for page, section in re.findall(r'\b(docs/[\w/.-]+\.md), "([^"]+)"', plain):
        path = ROOT / page
        headings = re.findall(r"^#+ (.*)", path.read_text("utf-8"), re.M) if path.is_file() else []
        if section not in {heading.replace("`", "") for heading in headings}:
            yield f"{page}, {section}"


def find_missing_documents(text: str) -> Iterator[str]:
    """Yield each document, as in ``docs/glossary.md``, that does not exist."""
    yield from (page for page in re.findall(r"(?<![\w/.])docs/[\w/.-]+\.md\b", text) if not (ROOT / page).is_file())


def find_missing_files(text: str) -> Iterator[str]:
    """Yield each Python or TypeScript file of the packages and tests, as in ``runtime/src/...``, that is missing."""
    named = re.findall(
        r"(?<![\w/.])((?:runtime|cli|export|server_training|packs|web|tests)/[\w/.-]+\.(?:py|ts))\b", text
    )
    yield from (name for name in named if not (ROOT / name).is_file())


def find_missing_names(text: str) -> Iterator[str]:
    """Yield each dotted name between double backticks, as in ``textveil.text``, that the packages do not define."""
    for name in re.findall(r"``((?:textveil|textveil_(?:cli|export|training))(?:\.\w+)+)(?:\(\))?``", text):
        if not is_defined(name.split(".")):
            yield name


def is_defined(parts: list[str]) -> bool:
    """Return whether a dotted name is a module, or a name that a module assigns, defines or imports."""
    path = ROOT / PACKAGES[parts[0]] / "src" / parts[0]
    for number, part in enumerate(parts[1:], 1):
        if (path / part).is_dir():
            path /= part
        elif (path / f"{part}.py").is_file():
            path /= f"{part}.py"
        else:
            module = path / "__init__.py" if path.is_dir() else path
            return all(re.search(rf"\b{each}\b", module.read_text("utf-8")) for each in parts[number:])
    return True


def list_docstrings(path: Path) -> list[str]:
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    nodes = ast.walk(ast.parse(path.read_text("utf-8")))
    return [docstring for node in nodes if isinstance(node, kinds) and (docstring := ast.get_docstring(node))]


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def test_what_docstrings_name_exists() -> None:
    found = [
        f"{name(path)}: {missing}"
        for path in SOURCES
        for docstring in list_docstrings(path)
        for find in (find_missing_sections, find_missing_documents, find_missing_names)
        for missing in find(docstring)
    ]
    assert found == []


def test_what_typescript_names_exists() -> None:
    found = [f"{name(path)}: {each}" for path in SCRIPTS for each in find_missing_sections(path.read_text("utf-8"))]
    found += [f"{name(path)}: {each}" for path in SCRIPTS for each in find_missing_documents(path.read_text("utf-8"))]
    assert found == []


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_files_that_pages_name_exist(page: Path) -> None:
    assert list(find_missing_files(page.read_text("utf-8"))) == []


def test_planted_faults_are_found() -> None:
    assert list(find_missing_sections('see docs/names-rule.md,\n    "Gone"')) == ["docs/names-rule.md, Gone"]
    assert list(find_missing_sections('docs/names-rule.md, "Facts"')) == []
    assert list(find_missing_documents("docs/gone.md")) == ["docs/gone.md"]
    assert list(find_missing_names("``textveil.text.gone`` and ``textveil.storage.open_atomic_text``")) == [
        "textveil.text.gone"
    ]
    assert list(find_missing_files("runtime/src/textveil/gone.py")) == ["runtime/src/textveil/gone.py"]
