"""Small bundles for the tests that enumerate."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
import small_bundles
from privacy_bound import GEOMETRIES
from textveil.bundle import TextBundle


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., TextBundle]:
    """Bundles by geometry and ``k``; each is written once."""

    @cache
    def open_bundle(geometry: str, k: int | None) -> TextBundle:
        vectors, exponents = GEOMETRIES[geometry]
        folder: Path = tmp_path_factory.mktemp("bundles") / "bundle"
        return small_bundles.small_bundle(folder, vectors, k=k, exponents=exponents)

    return open_bundle


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> TextBundle:
    """Return a bundle of 18 words, small enough to enumerate its samples."""
    return small_bundles.small_bundle(
        tmp_path_factory.mktemp("bundles") / "bundle", small_bundles.scattered(18, 6, seed=41), k=6, exponents=("4",)
    )
