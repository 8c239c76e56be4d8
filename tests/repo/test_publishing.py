"""The four wheels have correct metadata for a package index; ``make wheels`` builds and checks them with twine."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hatchling.metadata.core import ProjectMetadata
from hatchling.plugin.manager import PluginManager
from textveil import __version__
from textveil_export.text.contents import ENGLISH_LICENSE

ROOT = Path(__file__).parents[2]
WHEELS = ("runtime", "cli", "export", "server_training")
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
    """It stands in the runtime's ``__init__``; whoever raises it there is told by this test which pins to raise."""
    assert {ProjectMetadata(str(ROOT / folder), PluginManager()).version for folder in WHEELS} == {__version__}
    pins = [
        pin
        for folder in WHEELS
        for needed in [project(folder)["dependencies"], *project(folder)["optional-dependencies"].values()]
        for pin in needed
        if pin.startswith("textveil")
    ]
    assert pins
    assert [pin for pin in pins if not pin.endswith(f"=={__version__}")] == []
    assert f"## {__version__}" in (ROOT / "CHANGELOG.md").read_text("utf-8")
    assert f"\nversion: {__version__}\n" in (ROOT / "CITATION.cff").read_text("utf-8")
    web = [json.loads((ROOT / "web" / name).read_text("utf-8")) for name in ("package.json", "package-lock.json")]
    assert [of["version"] for of in [*web, web[1]["packages"][""]]] == [__version__] * 3
    bill = json.loads((ROOT / "docs" / "sbom.json").read_text("utf-8"))["components"]
    own = {part["name"]: part["version"] for part in bill if part["name"].startswith("textveil")}
    assert own == {"textveil": __version__, "textveil-cli": __version__}


@pytest.mark.parametrize("folder", WHEELS)
def test_what_is_needed_is_a_range(folder: str) -> None:
    """One exact version would hold back everything else in an environment; our own packages are of one release."""
    about = project(folder)
    needed = [*about["dependencies"], *(each for extra in about["optional-dependencies"].values() for each in extra)]
    foreign = [each for each in needed if not each.startswith("textveil")]
    assert [each for each in foreign if "==" in each or ">=" not in each] == []


@pytest.mark.parametrize("folder", WHEELS)
def test_every_license_of_a_wheel_is_named_and_in_it(folder: str) -> None:
    """The runtime carries the bundle, the exporter its lists; the others are code, and a sample of our own."""
    about, root = project(folder), ROOT / folder
    assert about["license"] == ("Apache-2.0" if folder in ("cli", "server_training") else ENGLISH_LICENSE)
    names = set(about["license"].split(" AND ")) - {"Apache-2.0"}
    texts = {path.name: path.read_text("utf-8") for path in root.glob("licenses/*")}
    assert set(texts) == ({f"{name}.txt" for name in names} | {"words.txt", "lists.txt"} if names else set())
    assert about["license-files"] == ["LICENSE", *(["licenses/*"] if names else [])]
    assert (root / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()
    assert about["authors"] == [{"name": "textveil developers"}]
    data = [
        path for path in root.rglob("src/**/*") if path.suffix in (".txt", ".tsv", ".safetensors") or path.is_symlink()
    ]
    assert bool([path for path in data if path.name != "sample"]) == bool(names)


@pytest.mark.parametrize("folder", ["runtime", "export"])
def test_texts_of_licenses_are_whole(folder: str) -> None:
    texts = ROOT / folder / "licenses"
    for name, title in {"CC-BY-4.0": "Attribution 4.0", "CC-BY-SA-4.0": "Attribution-ShareAlike 4.0"}.items():
        text = (texts / f"{name}.txt").read_text("utf-8")
        assert text.startswith(f"{title} International\n")
        assert [f"Section {number} -- " in text for number in range(1, 9)] == [True] * 8
        assert text.rstrip().endswith("Creative Commons may be contacted at creativecommons.org.")
    credits = {name: (ROOT / "artifacts" / name / "LICENSE.md").read_text("utf-8") for name in ("words", "lists")}
    assert {name: (texts / f"{name}.txt").read_text("utf-8") for name in credits} == credits
    mit = (texts / "MIT.txt").read_text("utf-8")
    holders = re.findall(r"^  (\S+) +Copyright \([cC]\) (?:\d+ )?(.+)$", mit, re.M)
    assert len(holders) == 8
    for package, holder in holders:
        assert package in "".join(credits.values())
        assert holder in "".join(credits.values())
