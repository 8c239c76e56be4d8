"""The pages on how to add something: files and names that they tell you to change exist."""

import re
import subprocess
from pathlib import Path

import pytest
from scripts import ROOT

PAGES = sorted((ROOT / "docs").glob("add-a*.md"))
#: Names that exist only after the example of a page was added.
EXAMPLES = {"three_to_one", "ThreeToOne", "psv", "vin"}
#: Names of the standard library.
STANDARD = {"Literal"}


def list_code(page: Path) -> list[str]:
    """Return the code in running text and tables, without blocks."""
    text = re.sub(r"^ *```.*?^ *```", "", page.read_text("utf-8"), flags=re.M | re.S)
    return re.findall(r"`([^`]+)`", text)


def test_the_pages_are_found() -> None:
    assert [page.stem for page in PAGES] == ["add-a-file-format", "add-a-mechanism", "add-an-entity-type"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_files_exist(page: Path) -> None:
    paths = [code for code in list_code(page) if "/" in code and " " not in code]
    assert len(paths) > 5
    assert [path for path in paths if not (ROOT / path).exists()] == []


@pytest.fixture(scope="module")
def defined() -> set[str]:
    """Return the names that Python or TypeScript defines or assigns at the start of a line."""
    pattern = r"^ *(export )?(async )?(def|class|type|function|const) +\w+|^ *_?[A-Za-z_]+ *[:=]"
    found = subprocess.run(
        ["git", "grep", "-hoE", pattern, "--", "*.py", "*.ts"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return set(re.findall(r"\w+", found.stdout))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_functions_and_classes_exist(page: Path, defined: set[str]) -> None:
    name = re.compile(r"_?[A-Za-z]+(?:_[a-z]+)+|[A-Z_]{5,}|[A-Z]\w+[a-z]")
    names = {code for code in list_code(page) if name.fullmatch(code)} - EXAMPLES - STANDARD
    assert len(names) > 4
    assert sorted(names - defined) == []
