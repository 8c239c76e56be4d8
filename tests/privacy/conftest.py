"""The shipped bundle and its samples, for the tests that count draws."""

from collections.abc import Callable

import pytest
from drawn_words import Sample, samples_of
from textveil import Sanitizer


@pytest.fixture(scope="module")
def sanitizer() -> Sanitizer:
    """The built-in bundle."""
    return Sanitizer.load()


@pytest.fixture(scope="module")
def samples(sanitizer: Sanitizer) -> Callable[..., Sample]:
    """Its samples by kind and tail."""
    return samples_of(sanitizer)
