"""Warn, on this device alone, that a text is probably not in the language of the bundle."""

from collections.abc import Sequence

from textveil.release import KeptWords, counted
from textveil.text import Options, Result, Sanitizer

from textveil_cli.console import say

#: Characters of the first texts in which unknown words are counted.
_FIRST_CHARACTERS = 20_000
#: A run is warned of where at least one document in so many may be in another language.
_ONE_IN = 20


class UnknownWordsWarning:
    """Warn once, before the draw, if over half of the drawn words of the first texts are unknown (``staircase``)."""

    def __init__(self, sanitizer: Sanitizer, options: Options) -> None:
        self._sanitizer, self._options, self._done = sanitizer, options, False

    def __call__(self, texts: Sequence[str]) -> None:
        """Check the first texts that come; later ones are passed over."""
        if self._done or self._sanitizer.terms(**self._options).mechanism != "staircase":
            return
        self._done = True
        if self._sanitizer.unknown_share("\n".join(texts)[:_FIRST_CHARACTERS], **self._options) > 1 / 2:
            say("textveil: over half of the drawn words are unknown: is this bundle for the language of the text?")


class KeptWordsTally:
    """Add up how many words of a run the mode ``names`` keeps, and warn once, at its end, if they are few.

    Both counts follow from the template of each document, which its output shows.
    """

    def __init__(self) -> None:
        self._documents = self._mostly_replaced = self._kept = self._replaced = 0

    def add(self, results: Sequence[Result]) -> None:
        """Count some documents."""
        for words in (result.kept_words for result in results):
            if words is not None:
                self._documents += 1
                self._mostly_replaced += words.may_be_foreign
                self._kept += words.kept
                self._replaced += words.replaced

    def warn(self, sanitizer: Sanitizer) -> None:
        """Print the warning, if there is reason for one."""
        warn_of_language(
            sanitizer,
            KeptWords(self._kept, self._replaced),
            documents=self._documents,
            mostly_replaced=self._mostly_replaced,
        )


def warn_of_language(sanitizer: Sanitizer, words: KeptWords, *, documents: int, mostly_replaced: int) -> None:
    """Print one warning for a run of which few words are kept.

    Args:
        sanitizer: The sanitizer of the run.
        words: Words of all documents that are kept and replaced.
        documents: How many documents there are.
        mostly_replaced: How many of them keep under half of 12 or more words.
    """
    if not (words.may_be_foreign or (mostly_replaced and _ONE_IN * mostly_replaced >= documents)):
        return
    percent = 100 - round(100 * (words.share or 0))
    which = "" if documents < 2 else f", in {mostly_replaced:,} of {counted(documents, 'text')} over half"
    language = "English" if sanitizer.bundle.is_builtin else "in the language of the bundle"
    say(f"textveil: {percent} % of the words were replaced{which}: the text may not be {language}")
