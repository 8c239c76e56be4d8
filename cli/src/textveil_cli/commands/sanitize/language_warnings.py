"""Warnings, printed on this device only, about texts that may not be in the language of the bundle."""

from collections.abc import Sequence

from textveil.formatting import format_count
from textveil.text import KeptWords, Options, Result, Sanitizer

from textveil_cli.console import print_message

#: Number of characters of the first texts in which unknown words are counted.
_FIRST_CHARACTERS = 20_000
#: Warn about a run if at least one document in this many may be in another language.
_WARN_IF_ONE_IN = 20


class UnknownWordsWarning:
    """Warning about texts with many unknown words.

    It is printed once if the bundle lacks more than half of the randomized words of the first texts. Only the staircase
    mechanism has this warning.
    """

    def __init__(self, sanitizer: Sanitizer, options: Options) -> None:
        self._sanitizer, self._options, self._done = sanitizer, options, False

    def __call__(self, texts: Sequence[str]) -> None:
        """Check the first texts of a run; do nothing on later calls."""
        if self._done or self._sanitizer.terms(**self._options).mechanism != "staircase":
            return
        self._done = True
        if self._sanitizer.unknown_share("\n".join(texts)[:_FIRST_CHARACTERS], **self._options) > 1 / 2:
            print_message(
                "textveil: over half of the randomized words are unknown: the text may not be in the language of the "
                "bundle"
            )


class KeptWordsTally:
    """Counter of the kept and the replaced words of a run in the mode ``names``, for a final warning.

    Privacy:
        Both counts follow from the template of each document, which its output reveals.
    """

    def __init__(self) -> None:
        self._documents = self._mostly_replaced = self._kept = self._replaced = 0

    def add_results(self, results: Sequence[Result]) -> None:
        """Add the kept and the replaced words of some documents to the counts."""
        for words in (result.kept_words for result in results):
            if words is not None:
                self._documents += 1
                self._mostly_replaced += words.may_be_foreign
                self._kept += words.kept
                self._replaced += words.replaced

    def print_warning(self, sanitizer: Sanitizer) -> None:
        """Print the warning if the run kept few words."""
        warn_about_language(
            sanitizer,
            KeptWords(self._kept, self._replaced),
            documents=self._documents,
            mostly_replaced=self._mostly_replaced,
        )


def warn_about_language(sanitizer: Sanitizer, words: KeptWords, *, documents: int, mostly_replaced: int) -> None:
    """Print one warning if a run kept few words, since its texts may be in another language.

    Args:
        sanitizer: The sanitizer of the run.
        words: Numbers of kept and of replaced words in all documents.
        documents: Number of documents.
        mostly_replaced: Number of documents with at least 12 words of which less than half are kept.
    """
    if not (words.may_be_foreign or (mostly_replaced and _WARN_IF_ONE_IN * mostly_replaced >= documents)):
        return
    percent = 100 - round(100 * (words.share or 0))
    scope_note = "" if documents < 2 else f" (over half in {mostly_replaced:,} of {format_count(documents, 'text')})"
    is_english = sanitizer.bundle.is_builtin
    language = "English (--language for another one)" if is_english else "in the language of the bundle"
    print_message(f"textveil: {percent} % of the words were replaced{scope_note}: the text may not be {language}")
