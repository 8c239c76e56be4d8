"""A batch of texts: one release after the other."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from textveil.sequences import in_order, require_string

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
        InputError: ``texts`` is one string or a table, or one of them is not a string; its number is named.
    """
    texts = in_order(texts)
    releases: list[Released] = []
    for number, text in enumerate(texts, 1):
        require_string(text, f"text {number} of {len(texts)}")
        releases.append(release(text))
        if progress is not None:
            progress(number)
    return releases
