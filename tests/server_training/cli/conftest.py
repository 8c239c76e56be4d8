"""A place where private representations were trained, which commands go on from."""

from collections.abc import Callable
from pathlib import Path

import pytest
from tiny_training import QUICK_SEARCH, train_checkpoints, write_recipes


@pytest.fixture(scope="module")
def recipes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_recipes(tmp_path_factory.mktemp("place"))


@pytest.fixture
def trained(recipes: Path, run: Callable[..., tuple[int, str, str]], monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the working folder, with the checkpoints ``clean`` and ``l1``."""
    monkeypatch.chdir(recipes)
    monkeypatch.setattr("textveil_training.dpnr.train.SEARCH", QUICK_SEARCH)
    return train_checkpoints(recipes, run)
