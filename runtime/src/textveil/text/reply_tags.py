"""Search a reply for tags, such as ``[person 99]``, that the sanitized text did not contain.

A model may have invented such a tag. Restoring cannot replace it, so the report lists it.
"""

import re

_TAG = re.compile(r"\[[A-Za-z][A-Za-z-]{0,39} [0-9]{1,9}\]")
_OPEN_TAG = re.compile(r"\[(?:[A-Za-z][A-Za-z-]{0,39}(?: [0-9]{0,9})?)?\Z")
_MAX_OPEN_TAG = 51  #: length of the longest match of ``_OPEN_TAG``


class TagFinder:
    """Collects tags such as ``[person 99]`` in a reply that arrives in parts, except those with a known original.

    Attributes:
        tags: The tags in order, each once.
    """

    def __init__(self) -> None:
        self.tags: dict[str, None] = {}
        self._open = ""

    def feed(self, text: str) -> None:
        """Add the next part of the reply, which must contain no surrogate (replacement or known tag)."""
        if not self._open and "[" not in text:  # most texts
            return
        text = self._open + text
        self.tags.update(dict.fromkeys(_TAG.findall(text)))
        open_tag = _OPEN_TAG.search(text[-_MAX_OPEN_TAG:])
        self._open = "" if open_tag is None else open_tag[0]

    def end_text(self) -> None:
        """Forget a tag at the end of the text so far that has begun and not ended, such as ``[per``.

        Call this before a surrogate (replacement): the tag cannot continue after the surrogate.
        """
        self._open = ""
