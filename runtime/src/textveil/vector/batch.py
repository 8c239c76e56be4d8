"""Batches of texts, released one text after the other."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from textveil.sequences import in_order, require_string

Released = TypeVar("Released")


def release_each(
    texts: Sequence[str], release: Callable[[str], Released], progress: Callable[[int], None] | None
) -> list[Released]:
    """Release each text on its own, in order; no release depends on another text.

    Args:
        texts: The texts.
        release: Makes one release.
        progress: Called after each text with the number of finished texts.

    Returns:
        One release per text.

    Raises:
        InputError: ``texts`` is one string or a table, or an element is not a string; the message has its number.
    """
    texts = in_order(texts)
    releases: list[Released] = []
    for number, text in enumerate(texts, 1):
        require_string(text, f"text {number} of {len(texts)}")
        releases.append(release(text))
        if progress is not None:
            progress(number)
    return releases
