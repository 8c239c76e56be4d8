"""Randomized outputs for several texts, one text after the other."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from textveil.arguments import check_string, list_items

ReleasedType = TypeVar("ReleasedType")


def release_texts(
    texts: Sequence[str], release: Callable[[str], ReleasedType], progress: Callable[[int], None] | None
) -> list[ReleasedType]:
    """Create the randomized output of each text separately, in order. No output depends on another text.

    Args:
        texts: The texts.
        release: Function that creates the randomized output of one text.
        progress: Function to call after each text, with the number of finished texts; or ``None``.

    Returns:
        One output for each text.

    Raises:
        InputError: ``texts`` is a single string or a table, or an element is not a string. The message contains the
            position of this element.
    """
    texts = list_items(texts)
    releases: list[ReleasedType] = []
    for number, text in enumerate(texts, 1):
        check_string(text, f"text {number} of {len(texts)}")
        releases.append(release(text))
        if progress is not None:
            progress(number)
    return releases
