"""Faces of packages are small. That wheels use faces alone is a contract of lint-imports."""

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


def packages() -> Iterator[str]:
    for name, wheel in WHEELS.items():
        for file in sorted((wheel / "src" / name).rglob("__init__.py")):
            yield ".".join(file.parent.relative_to(wheel / "src").parts)


@pytest.mark.parametrize("package", list(packages()))
def test_a_face_is_small(package: str) -> None:
    names = set(getattr(importlib.import_module(package), "__all__", ())) - {*vars(errors), "__version__"}
    assert len(names) < MOST, f"{len(names)} names"
