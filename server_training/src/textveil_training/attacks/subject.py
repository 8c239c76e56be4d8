"""The mechanism that attacks on text target: a bundle with one set of options."""

from pathlib import Path
from typing import Unpack

from textveil import Options, Sanitizer
from textveil.bundle import ExpectedBundle
from textveil.text import make_plan

from textveil_training.attacks.words import WordNumbers, WordRelease, make_word_release
from textveil_training.token_randomizer import TokenRandomizer


class AttackedMechanism:
    """A mechanism under attack: a bundle with one set of sanitizer options.

    Args:
        bundle: Folder of a bundle; the built-in one if left out.
        pins: Expected identity and signer of the bundle.
        options: As in ``Sanitizer.sanitize``.

    Attributes:
        bundle: The opened bundle.
        plan: What the options resolve to; ``plan.terms`` is what a statement says.
        randomizer: The randomizer of single tokens; None under the staircase, whose skeleton is not a token's own.

    Raises:
        BundleError, OptionError: As ``Sanitizer.load`` and ``Sanitizer.sanitize``.
    """

    def __init__(
        self, bundle: Path | None = None, *, pins: ExpectedBundle | None = None, **options: Unpack[Options]
    ) -> None:
        sanitizer = Sanitizer.load(bundle, **(pins or {}))
        self.bundle = sanitizer.bundle
        self.plan = make_plan(sanitizer.bundle, **options)
        self.randomizer: TokenRandomizer | None = None
        if not self.plan.rule.entity_types:
            options["mechanism"] = self.plan.terms.mechanism
            self.randomizer = TokenRandomizer(bundle, pins=pins, **options)

    def make_word_release(self) -> WordRelease:
        """Return the mechanism in the form that the word attacks use: on arrays of words."""
        return make_word_release(WordNumbers(), self.plan)

    @property
    def function_words(self) -> frozenset[str]:
        """Function words that the mechanism keeps; empty for a mechanism without a template."""
        return frozenset(getattr(self.plan.rule, "function_words", ()))
