"""What an index of packages would show of the three wheels: ``make wheels`` builds and checks them with twine."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import textveil
import textveil_export
import textveil_training

ROOT = Path(__file__).parents[2]
WHEELS = {"runtime": textveil, "export": textveil_export, "server_training": textveil_training}
#: Of Markdown links, what they lead to.
_LINK = re.compile(r"\]\(([^)]*)\)")


def project(folder: str) -> dict[str, Any]:
    return tomllib.loads((ROOT / folder / "pyproject.toml").read_text("utf-8"))["project"]


@pytest.mark.parametrize("folder", WHEELS)
def test_the_page_has_no_link_into_the_repository(folder: str) -> None:
    links = _LINK.findall((ROOT / folder / "README.md").read_text("utf-8"))
    assert [link for link in links if not link.startswith(("https://", "#"))] == []


@pytest.mark.parametrize("folder", WHEELS)
def test_no_address_is_claimed_that_does_not_exist(folder: str) -> None:
    assert "urls" not in project(folder)


@pytest.mark.parametrize("folder", WHEELS)
def test_classifiers_name_what_is_tested(folder: str) -> None:
    about = project(folder)
    versions = [line.rsplit(" ", 1)[1] for line in about["classifiers"] if re.search(r":: 3\.\d+$", line)]
    assert versions == ["3.11", "3.12", "3.13"]
    assert about["requires-python"] == ">=3.11"
    assert about["keywords"]
    assert len(about["description"]) <= 120


def test_one_version() -> None:
    versions = {module.__version__ for module in WHEELS.values()}
    assert len(versions) == 1
    (version,) = versions
    pins = [
        pin
        for folder in WHEELS
        for needed in [project(folder)["dependencies"], *project(folder)["optional-dependencies"].values()]
        for pin in needed
        if pin.startswith("textveil")
    ]
    assert pins
    assert {pin.rpartition("==")[2] for pin in pins} == {version}
    assert f"## {version}" in (ROOT / "CHANGELOG.md").read_text("utf-8")
