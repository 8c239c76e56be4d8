"""Tables, and the command that rewrites one of their columns."""

from collections.abc import Callable
from pathlib import Path

import pytest


@pytest.fixture
def tables(here: Callable, flat_bundle: Path, nearest: None) -> Callable:
    """``textveil sanitize --csv --column note`` with which every word becomes ``zz``."""
    return lambda *arguments: here("sanitize", "--bundle", flat_bundle, "--csv", "-c", "note", *arguments)


@pytest.fixture
def people(tmp_path: Path) -> Path:
    """Five rows of three people; the column to rewrite is ``note``."""
    rows = "id,who,note\n1,anna,doctor\n2,bob,nurse flu\n3,anna,cancer flu\n4,bob,\n5,bob,doctor\n"
    (tmp_path / "people.csv").write_text(rows)
    return tmp_path / "people.csv"
