"""Releases of several texts, one text after the other."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from textveil.sequences import check_string, list_items

ReleasedType = TypeVar("ReleasedType")


def release_texts(
    texts: Sequence[str], release: Callable[[str], ReleasedType], progress: Callable[[int], None] | None
) -> list[ReleasedType]:
    """Release each text on its own, in order; no release depends on another text.

    Args:
        texts: The texts.
        release: Makes the release of one text.
        progress: Called after each text with the number of finished texts.

    Returns:
        One release per text.

    Raises:
        InputError: ``texts`` is one string or a table, or an element is not a string. The message gives the number of
            that element.
    """
    texts = list_items(texts)
    releases: list[ReleasedType] = []
    for number, text in enumerate(texts, 1):
        check_string(text, f"text {number} of {len(texts)}")
        releases.append(release(text))
        if progress is not None:
            progress(number)
    return releases
