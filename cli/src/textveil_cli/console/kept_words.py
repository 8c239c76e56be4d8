"""Counts of kept and replaced words of a run, and the hint that its texts may be in another language."""

from collections.abc import Iterable, Sequence

from textveil.formatting import format_count
from textveil.text import KeptWords, Result

#: Print a hint about a run if at least one document in this many may be in another language.
_HINT_IF_ONE_IN = 20


class KeptWordsTally:
    """Counter of the kept and the replaced words of a run in the mode ``names``.

    Privacy:
        The counts follow from the output of each document.
    """

    def __init__(self) -> None:
        self._documents = self._mostly_replaced = self._kept = self._replaced = self._foreign = 0

    def add_results(self, results: Sequence[Result]) -> None:
        """Add the kept and the replaced words of some documents to the counts."""
        self.add_words(words for result in results if (words := result.kept_words) is not None)

    def add_words(self, documents: Iterable[KeptWords]) -> None:
        """Add the word counts of some documents to the counts of the run."""
        for words in documents:
            self._documents += 1
            self._mostly_replaced += words.may_be_foreign
            self._kept += words.kept
            self._replaced += words.replaced
            self._foreign += words.foreign

    def describe_language(self, *, is_english: bool, option: str) -> str:
        """Return a hint that the texts may be in another language; see ``describe_language``."""
        return describe_language(
            KeptWords(self._kept, self._replaced, self._foreign),
            documents=self._documents,
            mostly_replaced=self._mostly_replaced,
            is_english=is_english,
            option=option,
        )


def describe_language(
    words: KeptWords, *, documents: int, mostly_replaced: int, is_english: bool, option: str = "--language"
) -> str:
    """Return a hint that the texts of a run may be in another language.

    The hint is an empty string if the run kept enough words.

    Args:
        words: Counts of kept and of replaced words in all documents.
        documents: Number of documents.
        mostly_replaced: Number of documents with at least 12 words of which less than half are kept.
        is_english: Whether the bundle is the built-in English one.
        option: Name of the option that selects another language.
    """
    if not (words.may_be_foreign or (mostly_replaced and _HINT_IF_ONE_IN * mostly_replaced >= documents)):
        return ""
    scope = "" if documents < 2 else f" (over half in {mostly_replaced:,} of {format_count(documents, 'text')})"
    return words.describe_language(is_english=is_english, option=option, scope=scope)
