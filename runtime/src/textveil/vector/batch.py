"""A batch of texts: one release after the other."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from textveil.errors import InputError

Released = TypeVar("Released")


def release_each(
    texts: Sequence[str], release: Callable[[str], Released], progress: Callable[[int], None] | None
) -> list[Released]:
    """Releases each text on its own, in order: no release depends on another text.

    Args:
        texts: The texts.
        release: Makes one release.
        progress: Called after each text with how many are done.

    Raises:
        InputError: ``texts`` is one string, or one of them is none; its number is named.
    """
    if isinstance(texts, str):
        raise InputError("a batch is a sequence of texts, not one string")
    releases = []
    for number, text in enumerate(texts, 1):
        if not isinstance(text, str):
            raise InputError(f"text {number} of {len(texts)} is not a string")
        releases.append(release(text))
        if progress is not None:
            progress(number)
    return releases
