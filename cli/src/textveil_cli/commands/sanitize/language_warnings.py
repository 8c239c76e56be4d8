"""Warnings, printed on this device only, about texts that may not be in the language of the bundle."""

from collections.abc import Sequence

from textveil.text import KeptWords, Options, Sanitizer

from textveil_cli.console import describe_language, print_message

#: Number of characters of the first texts in which unknown words are counted.
_FIRST_CHARACTERS = 20_000


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


def warn_about_language(sanitizer: Sanitizer, words: KeptWords, *, documents: int, mostly_replaced: int) -> None:
    """Print one warning if a run kept few words, since its texts may be in another language.

    For the arguments see ``console.describe_language``.
    """
    hint = describe_language(
        words, documents=documents, mostly_replaced=mostly_replaced, is_english=sanitizer.bundle.is_builtin
    )
    if hint:
        print_message(f"textveil: {hint}")
