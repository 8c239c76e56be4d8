"""The rows of docs/results/text.md, and what was asked of them before they were measured."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """A row of the tables.

    Attributes:
        name: Its key in the records.
        law: What draws.
        visible: What is seen as it is.
        nats: What is charged per drawn mention.
    """

    name: str
    law: str
    visible: str
    nats: str


_SEEN, _KINDS, _METRIC = "function words", "function words, kinds", "10 per unit of distance"
ROWS = (
    Row("raw", "raw text", "everything", "-"),
    Row("delete", "the rest deleted", _SEEN, "0"),
    Row("blank", 'the rest "_"', _SEEN, "0"),
    Row("uniform", "the rest a uniform word", _SEEN, "0"),
    Row("krr-every-8", "k-RR", "nothing", "8"),
    Row("krr-every-10", "k-RR", "nothing", "10"),
    Row("krr-seen-8", "k-RR", _SEEN, "8"),
    Row("krr-seen-10", "k-RR", _SEEN, "10"),
    Row("krr-kinds-10", "k-RR", _KINDS, "10"),
    Row("santext-textbook", "SanText, textbook", "nothing", _METRIC),
    Row("santext-certified", "SanText, certified", "nothing", _METRIC),
    Row("santext-plus", "SanText+, certified", "common words, by a coin", _METRIC),
    Row("every-8", "staircase, no cap", "nothing", "8"),
    Row("every-10", "staircase, no cap", "nothing", "10"),
    Row("every-12", "staircase, no cap", "nothing", "12"),
    Row("seen-8", "staircase, no cap", _SEEN, "8"),
    Row("seen-10", "staircase, no cap", _SEEN, "10"),
    Row("seen-12", "staircase, no cap", _SEEN, "12"),
    Row("every-kinds-8", "staircase", "kinds", "8"),
    Row("every-kinds-10", "staircase", "kinds", "10"),
    Row("shipped-8", "staircase", _KINDS, "8"),
    Row("shipped-10", "staircase", _KINDS, "10"),
    Row("shipped-12", "staircase", _KINDS, "12"),
    Row("consistent-10", "staircase, consistent", f"{_KINDS}, equal words", "10"),
)
#: The default of the staircase.
DEFAULT = "shipped-10"
#: A uniform word tells as much as a blank.
SAME_ATTACK = {"uniform": "blank"}
#: Least accuracy on AG News, TREC, SST-2, in per cent.
ACCURACY_FLOORS = {
    "every-8": (71, 66, 65),
    "every-10": (80, 77, 73),
    "seen-8": (76, 78.5, 71.5),
    "seen-10": (82, 83, 77),
}
#: Least points above deleting the rest.
ABOVE_DELETING = {"seen-8": 6, "seen-10": 10}
#: Least points of a fine-tuned encoder above k-RR where every word is drawn.
TUNED_ABOVE_K_RR = 4
#: Least accuracy of an encoder tuned on all rows of SST-2, in per cent.
TUNED_FLOORS = {"seen-10": 80, "every-10": 77}
#: An attack that names fewer content words is too weak to be believed.
ATTACK_FLOORS = {"seen-8": 0.40, "seen-10": 0.56}
#: Most spans of which any content word may come out at the default, in per cent.
PERSONAL_CEILINGS = {"persons": 3, "places": 5, "addresses": 8, "organizations": 5}
