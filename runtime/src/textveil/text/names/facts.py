"""Option ``facts`` of the mode ``names``: which public facts it keeps besides common words."""

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from textveil.bundle.names_files import NamesLists

#: Values of the option, from the fewest kept words to the most.
FACTS = ("none", "plain", "useful", "public")
#: Value if the option is omitted.
DEFAULT_FACTS = "none"


class FactRules(NamedTuple):
    """Lists and value of the option ``facts`` for calls with one set of options.

    Attributes:
        lists: The lists of the bundle.
        level: Value of the option, one of ``FACTS``.
    """

    lists: "NamesLists"
    level: str
