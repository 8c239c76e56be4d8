"""Benchmarks stand on the faces of packages, as a user does: no module inside a package is imported.

Names of files in bundles are a part of the face of ``textveil.bundle``, gathered in a module. Each module of
``textveil_cli.integrations`` is public: it is imported where its library is there.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = [ROOT / wheel / "src" for wheel in ("runtime", "cli", "export", "server_training")]
SCRIPTS = sorted((ROOT / "benchmarks").rglob("*.py"))


GATHERED = "textveil.bundle.layout"
INTEGRATIONS = "textveil_cli.integrations"


def imported(script: str) -> Iterator[str]:
    """Yield the full names of a script's imports."""
    for node in ast.walk(ast.parse(script)):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{name.name}" for name in node.names)


def inside(name: str) -> bool:
    """Tells whether a name is a module inside a package of a wheel, and none that the package's face lists itself."""
    *package, last = name.split(".")
    if ".".join(package) == INTEGRATIONS:
        return False
    for folder in (source.joinpath(*package) for source in SOURCES):
        if len(package) > 1 and (folder / f"{last}.py").is_file():
            _, _, names = (folder / "__init__.py").read_text("utf-8").partition("__all__ = [")
            return f'"{last}"' not in names.partition("]")[0]
    return False


@pytest.mark.parametrize("script", SCRIPTS, ids=[str(script.relative_to(ROOT)) for script in SCRIPTS])
def test_only_faces_are_imported(script: Path) -> None:
    assert not [name for name in imported(script.read_text("utf-8")) if inside(name) and name != GATHERED]


@pytest.mark.parametrize(
    "line",
    ["from textveil_training.dpnr.training_noise import noisy", "from textveil_training.dpnr import training_noise"],
)
def test_a_module_inside_a_package_would_be_found(line: str) -> None:
    assert any(map(inside, imported(line)))
