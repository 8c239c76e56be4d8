"""Faces of packages are small, and benchmarks use them alone; that wheels do is a contract of lint-imports."""

import ast
import importlib
from collections.abc import Iterator

import pytest
from scripts import ROOT
from textveil import errors

WHEELS = {
    "textveil": ROOT / "runtime",
    "textveil_cli": ROOT / "cli",
    "textveil_export": ROOT / "export",
    "textveil_training": ROOT / "server_training",
}
#: Names that a face may have; errors, which are all in ``textveil.errors``, are not counted.
MOST = 25
#: Mechanisms have a face for each family.
FAMILIES = {f"textveil.mechanisms.{family}" for family in ("staircase", "noise", "baselines")}


def packages() -> Iterator[str]:
    for name, wheel in WHEELS.items():
        for file in sorted((wheel / "src" / name).rglob("__init__.py")):
            yield ".".join(file.parent.relative_to(wheel / "src").parts)


def imported(source: str) -> Iterator[str]:
    """Modules of ours that a file imports."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith("textveil"))
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("textveil"):
            yield str(node.module)


def is_face(module: str) -> bool:
    return module.count(".") < 2 or module in FAMILIES


@pytest.mark.parametrize("package", packages())
def test_a_face_is_small(package: str) -> None:
    names = set(getattr(importlib.import_module(package), "__all__", ())) - {*vars(errors), "__version__"}
    assert len(names) < MOST, f"{len(names)} names"


def test_benchmarks_use_faces_alone() -> None:
    found = {path: {*imported(path.read_text("utf-8"))} for path in (ROOT / "benchmarks").rglob("*.py")}
    behind = {str(path.relative_to(ROOT)): sorted(m for m in of if not is_face(m)) for path, of in found.items()}
    assert {path: modules for path, modules in behind.items() if modules} == {}


def test_what_is_behind_a_face_is_seen() -> None:
    source = "import textveil.text.rewrite\nfrom textveil.text import Options\nfrom textveil.mechanisms.noise import x"
    assert [module for module in imported(source) if not is_face(module)] == ["textveil.text.rewrite"]
