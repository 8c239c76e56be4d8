"""``textveil doctor`` finds what is missing or damaged, and states what to do about it."""

import json
import os
import re
import shutil
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from textveil.bundle import open_bundle
from textveil.text import Sanitizer
from textveil_cli.commands import doctor
from textveil_cli.commands.doctor import PackageRequirement, _list_requirements, _meets_bound


def read_checks(here: Callable, *arguments: object, code: int = 0) -> dict[str, dict[str, str]]:
    """Return the checks of a run, by name."""
    ran = here("doctor", "--json", *arguments)
    assert ran.code == code
    told = json.loads(ran.text)
    assert told["ok"] is (code == 0)
    assert {check["state"] for check in told["checks"]} <= {"ok", "missing", "failed"}
    assert all(check["advice"] for check in told["checks"] if check["state"] != "ok")
    return {check["name"]: check for check in told["checks"]}


def test_a_working_installation(here: Callable) -> None:
    checks = read_checks(here)
    assert [*checks][:2] == ["Python", "textveil"]
    assert checks["numpy"]["found"] == metadata.version("numpy")
    assert checks["regex"]["found"] == metadata.version("regex")
    assert Sanitizer.load().bundle.content_hash in checks["bundle"]["found"]
    assert checks["trial text"]["found"] == "Please call [person 1] about order [number 1]."
    assert "os.urandom" in checks["randomness"]["found"]
    extras = metadata.metadata("textveil-cli").get_all("Provides-Extra") or []
    assert {name.removeprefix("extra ") for name in checks if name.startswith("extra ")} == {*extras}
    ran = here("doctor")
    assert ran.code == 0
    assert ran.text.endswith("Everything that textveil needs works.\n")
    assert all(f"{name} " in ran.text for name in checks)


def replace_version(monkeypatch: pytest.MonkeyPatch, changes: dict[str, str | None]) -> None:
    """Let packages have other versions, or be missing."""
    version = metadata.version

    def find_version(name: str) -> str:
        if name not in changes:
            return version(name)
        if (changed := changes[name]) is None:
            raise metadata.PackageNotFoundError(name)
        return changed

    monkeypatch.setattr(metadata, "version", find_version)


def test_a_missing_extra_is_no_failure(here: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    replace_version(monkeypatch, {"cryptography": None, "zstandard": "0.1"})
    checks = read_checks(here)
    assert checks["extra crypto"]["state"] == checks["extra zstd"]["state"] == "missing"
    assert checks["extra crypto"]["found"] == "cryptography: not installed"
    assert "version 0.1 is installed" in checks["extra zstd"]["found"]
    assert "pip install 'textveil-cli[crypto]'" in checks["extra crypto"]["advice"]


@pytest.mark.parametrize(
    ("changes", "name", "found"),
    [
        ({"numpy": None}, "numpy", "not installed"),
        ({"regex": "2020.1.1"}, "regex", "version 2020.1.1 is installed"),
        ({"textveil-cli": "0.0.1"}, "textveil", "command 0.0.1"),
    ],
)
def test_a_required_package_that_does_not_fit_is_a_failure(
    here: Callable, monkeypatch: pytest.MonkeyPatch, changes: dict[str, str | None], name: str, found: str
) -> None:
    replace_version(monkeypatch, changes)
    checks = read_checks(here, code=1)
    assert checks[name]["state"] == "failed"
    assert found in checks[name]["found"]
    assert "pip install" in checks[name]["advice"]
    ran = here("doctor")
    assert ran.code == 1
    assert f"Failed: {name}" in ran.text.splitlines()[-1]


def test_a_python_that_is_too_old_is_a_failure(here: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "_MIN_PYTHON", (99, 0))
    assert read_checks(here, code=1)["Python"]["state"] == "failed"


def test_a_damaged_bundle_is_a_failure(here: Callable, tmp_path: Path) -> None:
    folder = shutil.copytree(Sanitizer.load().bundle.path, tmp_path / "copy")
    assert read_checks(here, "--bundle", folder)["bundle"]["state"] == "ok"
    damaged = max(
        (path for path in folder.iterdir() if path.name != "manifest.json"), key=lambda path: path.stat().st_size
    )
    damaged.write_bytes(damaged.read_bytes()[:-1])
    checks = read_checks(here, "--bundle", folder, code=1)
    assert checks["bundle"]["state"] == "failed"
    assert "or use the built-in one" in checks["bundle"]["advice"]
    assert "trial text" not in checks


@pytest.mark.parametrize(("is_there", "found"), [(False, "bundle is missing"), (True, "bundle was altered")])
def test_a_missing_or_altered_built_in_bundle_is_installed_again(
    here: Callable, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, is_there: bool, found: str
) -> None:
    place = tmp_path / "place"
    if is_there:
        shutil.copytree(Sanitizer.load().bundle.path, place)
        with open(place / "manifest.json", "a", encoding="utf-8") as manifest:
            manifest.write("\n")
    for module in ("textveil.text.sanitizer", "textveil.bundle.open"):
        monkeypatch.setattr(f"{module}.DEFAULT_BUNDLE", place)
    checks = read_checks(here, code=1)
    assert found in checks["bundle"]["found"]
    assert "install textveil again" in checks["bundle"]["found"]
    assert "pip install --force-reinstall ./runtime" in checks["bundle"]["advice"]


def test_a_bundle_without_the_mode_names_has_no_trial(here: Callable, bundle: Path) -> None:
    checks = read_checks(here, "--bundle", bundle)
    assert open_bundle(bundle).content_hash in checks["bundle"]["found"]
    assert "another bundle" in checks["bundle"]["found"]


@pytest.mark.parametrize("source", [lambda count: bytes(count), lambda count: b"short"])
def test_randomness_that_repeats_or_fails_is_a_failure(
    here: Callable, monkeypatch: pytest.MonkeyPatch, source: Callable[[int], bytes]
) -> None:
    monkeypatch.setattr(os, "urandom", source)
    assert doctor._check_entropy().state == "failed"


def test_a_wrong_output_of_the_trial_text_is_a_failure(here: Callable, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "_TRIAL_OUTPUT", "Please call Anna Novak about order 88213.")
    checks = read_checks(here, code=1)
    assert checks["trial text"]["state"] == "failed"


def test_requirements_are_those_of_the_packages(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = {
        "textveil-cli": ["textveil==1.0", "typer>=0.23", "textveil[crypto]==1.0; extra == 'crypto'",
                         'httpcore2[asyncio]>=2.16; extra == "gateway"', "mcp (>=2.0) ; extra == 'mcp'"],
        "textveil": ["numpy>=1.26", "cryptography<50,>=42; extra == 'crypto'"],
    }  # fmt: skip
    monkeypatch.setattr(metadata, "requires", lines.__getitem__)
    made = {extra: [*_list_requirements("textveil-cli", extra)] for extra in ("", "crypto", "gateway")}
    assert made == {
        "": [PackageRequirement("textveil", "==1.0"), PackageRequirement("typer", ">=0.23")],
        "crypto": [PackageRequirement("cryptography", "<50,>=42")],
        "gateway": [PackageRequirement("httpcore2", ">=2.16")],
    }


@pytest.mark.parametrize(
    ("version", "sign", "bound", "is_met"),
    [
        ("1.26.0", ">=", "1.26", True), ("1.26", ">=", "1.26.0", True), ("1.25.9", ">=", "1.26", False),
        ("2.0.0rc1", ">=", "2.0", True), ("1.29", "<", "1.29", False), ("1.28.9", "<", "1.29", True),
        ("10.0", ">=", "9.9", True), ("1.0", "==", "1.0", True), ("1.0.1", "==", "1.0", False),
    ],
)  # fmt: skip
def test_versions_are_compared_by_their_numbers(version: str, sign: str, bound: str, is_met: bool) -> None:
    assert _meets_bound(version, sign, bound) is is_met


def test_every_requirement_of_this_installation_is_parsed() -> None:
    """A line in a form that is not understood would be left out without a word."""
    for package in ("textveil", "textveil-cli"):
        extras: list[Any] = ["", *(metadata.metadata(package).get_all("Provides-Extra") or [])]
        named = {re.split(r"[\[<>=; (]", line)[0] for line in metadata.requires(package) or []} - {"textveil"}
        found = {one.name for extra in extras for one in _list_requirements(package, extra)}
        assert named <= found
