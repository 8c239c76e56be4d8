"""Define the mechanism that attacks on text target: a bundle (folder with word lists and settings) and options."""

from pathlib import Path
from typing import Unpack

from textveil import Options, Sanitizer
from textveil.bundle import ExpectedBundle
from textveil.text import make_plan

from textveil_training.attacks.words import WordIds, WordRelease, make_word_release
from textveil_training.token_randomizer import TokenRandomizer


class AttackedMechanism:
    """A mechanism under attack: a bundle (folder with word lists and settings) and the options of the sanitizer.

    Args:
        bundle: Folder of a bundle; ``None`` for the built-in one.
        pins: Expected content hash and signer of the bundle.
        options: Options as in ``Sanitizer.sanitize``.

    Attributes:
        sanitizer: The sanitizer of the bundle.
        options: The options.
        bundle: The opened bundle.
        terms: Names of the mechanism and of the protection mode, and epsilon, as in a privacy statement.
        plan: The randomizer of words, and the rules for unchanged words, that the options select; ``None`` in the mode
            'names', which randomizes no words.
        randomizer: The randomizer of single tokens; ``None`` in the modes 'names', 'words' and 'all', in which the
            treatment of a word depends on the text around the word.

    Raises:
        BundleError, OptionError: For the same reasons as in ``Sanitizer.load`` and ``Sanitizer.sanitize``.
    """

    def __init__(
        self, bundle: Path | None = None, *, pins: ExpectedBundle | None = None, **options: Unpack[Options]
    ) -> None:
        self.sanitizer = Sanitizer.load(bundle, **(pins or {}))
        self.bundle, self.options = self.sanitizer.bundle, options
        self.terms = self.sanitizer.terms(**options)
        self.plan = None if self.terms.protect == "names" else make_plan(self.bundle, **options)
        self.randomizer: TokenRandomizer | None = None
        if self.terms.protect is None:
            options["mechanism"] = self.terms.mechanism
            self.randomizer = TokenRandomizer(bundle, pins=pins, **options)

    def make_word_release(self) -> WordRelease:
        """Convert the mechanism to the form that the word attacks need: a mechanism on arrays of words."""
        if self.plan is None:
            raise ValueError("the mode 'names' randomizes no words: attack the mode 'words' or 'all'")
        return make_word_release(WordIds(), self.plan)

    @property
    def function_words(self) -> frozenset[str]:
        """Function words, such as *the*, that the mechanism leaves unchanged; empty if it randomizes all words."""
        return frozenset(() if self.plan is None else getattr(self.plan.rule, "function_words", ()))
