"""Warnings, printed on this device only, about texts that may not be in the language of the bundle."""

from collections.abc import Iterable, Sequence

from textveil.formatting import format_count
from textveil.text import KeptWords, Options, Result, Sanitizer

from textveil_cli.console.text_io import print_message

#: Print a hint about a run if at least one document in this many may be in another language.
_HINT_IF_ONE_IN = 20
#: Number of characters of the first texts in which unknown words are counted.
_FIRST_CHARACTERS = 20_000


class KeptWordsTally:
    """Counter of unchanged and replaced words in a run, to warn if the texts may be in another language.

    Privacy:
        The sanitized texts reveal these counts anyway, so a message may contain them.
    """

    def __init__(self) -> None:
        self._documents = self._mostly_replaced = self._kept = self._replaced = self._foreign = 0

    def add_results(self, results: Sequence[Result]) -> None:
        """Count the unchanged and the replaced words of some results, in addition to the earlier ones."""
        self.add_words(words for result in results if (words := result.kept_words) is not None)

    def add_words(self, documents: Iterable[KeptWords]) -> None:
        """Add the word counts of some documents (``Result.words`` of each) to the counts of the run."""
        for words in documents:
            self._documents += 1
            self._mostly_replaced += words.may_be_foreign
            self._kept += words.kept
            self._replaced += words.replaced
            self._foreign += words.foreign

    def describe_language(self, *, is_english: bool, option: str) -> str:
        """Return a hint that the texts may be in another language than the word lists; empty if all looks right."""
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
    """Return a hint that the texts of a run may be in another language than the word lists.

    The hint is an empty string unless the run replaced most words.

    Args:
        words: Counts of unchanged and of replaced words in all documents.
        documents: Number of documents.
        mostly_replaced: Number of documents with at least 12 words of which less than half are left unchanged.
        is_english: Whether the bundle is the built-in English one.
        option: Name of the option that selects another language.
    """
    if not (words.may_be_foreign or (mostly_replaced and _HINT_IF_ONE_IN * mostly_replaced >= documents)):
        return ""
    scope = "" if documents < 2 else f" (over half in {mostly_replaced:,} of {format_count(documents, 'text')})"
    return words.describe_language(is_english=is_english, option=option, scope=scope)


class UnknownWordsWarning:
    """Warning about texts with many words that the bundle (folder with word lists and settings) does not contain.

    The warning is printed once if the bundle lacks more than half of the randomized words of the first texts. Only the
    staircase mechanism (the default of the modes 'words' and 'all') has this warning.
    """

    def __init__(self, sanitizer: Sanitizer, options: Options) -> None:
        self._sanitizer, self._options, self._done = sanitizer, options, False

    def __call__(self, texts: Sequence[str]) -> None:
        """Check the first texts of a run, and print a warning if they have many unknown words; ignore later calls."""
        if self._done or self._sanitizer.terms(**self._options).mechanism != "staircase":
            return
        self._done = True
        if self._sanitizer.unknown_share("\n".join(texts)[:_FIRST_CHARACTERS], **self._options) > 1 / 2:
            print_message(
                "textveil: over half of the randomized words are unknown: the text may not be in the language of the "
                "bundle"
            )


def warn_about_language(sanitizer: Sanitizer, words: KeptWords, *, documents: int, mostly_replaced: int) -> None:
    """Print one warning if a run replaced most words, since the texts may be in another language.

    Args:
        sanitizer: The sanitizer of the run.
        words: Numbers of unchanged and of replaced words in all documents.
        documents: Number of documents.
        mostly_replaced: Number of documents in which most words were replaced (only documents of at least 12 words).
    """
    hint = describe_language(
        words, documents=documents, mostly_replaced=mostly_replaced, is_english=sanitizer.bundle.is_builtin
    )
    if hint:
        print_message(f"textveil: {hint}")
