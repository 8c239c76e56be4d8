"""What a call gives back: a sanitized text with its promise, or the texts of a document."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from textveil.errors import OptionError
from textveil.text.statement import PrivacyStatement, Terms

if TYPE_CHECKING:
    from textveil.text.restore import Restorer


@dataclass(frozen=True, slots=True)
class Result:
    """A sanitized text and what it promises.

    Attributes:
        text: The sanitized text.
        tokens: How many tokens are charged: all that are drawn, pieces of words each; distinct ones after
            ``consistent`` draws.
        terms: Mechanism, epsilons and options.
        mapping: What restores words after ``consistent`` draws; else ``None``. It undoes the protection: it is in no
            ``repr`` and is left out of pickles.
    """

    text: str
    tokens: int
    terms: Terms
    mapping: "Restorer | None" = field(default=None, repr=False, compare=False)

    @property
    def statement(self) -> PrivacyStatement:
        """Mechanism, epsilons, document total and what is not protected."""
        return self.terms.statement(self.tokens)

    def restore(self, reply: str) -> str:
        """Returns a reply about the sanitized text with its original words, on this device.

        Only words whose outputs stand for one original are restored.

        Raises:
            OptionError: The text was not sanitized with ``consistent``, or the result comes from another process.
            InputError: The reply is not a string.
        """
        if self.mapping is None:
            raise OptionError("there is no mapping: words are restored after consistent draws, in the same process")
        return self.mapping.restore(reply)

    def __reduce__(self) -> Any:
        return type(self), (self.text, self.tokens, self.terms)  # the mapping stays in this process


class Document(NamedTuple):
    """The texts of one document after the draw, and how many tokens are charged for all of them together."""

    texts: list[str]
    tokens: int
