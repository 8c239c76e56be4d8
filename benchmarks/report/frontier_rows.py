"""List the rows of docs/results/text.md, and the figures that were required before the measurement."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """A row of the tables.

    Attributes:
        name: Key of the row in the records.
        law: Mechanism of the row.
        visible: The words that the mechanism keeps.
        nats: Epsilon per randomized word.
    """

    name: str
    law: str
    visible: str
    nats: str


_SEEN, _KINDS, _METRIC = "function words", "function words, kinds", "10 per unit of distance"
_COMMON, _WHOLE = "common words", "{} for the text"
ROWS = (
    Row("raw", "raw text", "everything", "-"),
    Row("names", "mode `names`, surrogates", _COMMON, "none"),
    Row("names-tags", "mode `names`, tags", _COMMON, "none"),
    *(Row(f"index-{n}", "an index, or its sentence", "nothing", _WHOLE.format(n)) for n in (4, 6, 8)),
    *(Row(f"shipped-{n}", "mode `words`", _KINDS, f"{n}") for n in (4, 6, 8, 10, 12)),
    Row("consistent-10", "mode `words`, consistent", f"{_KINDS}, equal words", "10"),
    *(Row(f"every-kinds-{n}", "mode `all`", "kinds", f"{n}") for n in (8, 10, 12)),
    Row("delete", "the rest deleted", _SEEN, "0"),
    Row("blank", 'the rest "_"', _SEEN, "0"),
    Row("uniform", "the rest a uniform word", _SEEN, "0"),
    *(Row(f"krr-kinds-{n}", "k-RR", _KINDS, f"{n}") for n in (8, 10)),
    *(Row(f"seen-{n}", "staircase", _SEEN, f"{n}") for n in (8, 10, 12)),
    *(Row(f"krr-seen-{n}", "k-RR", _SEEN, f"{n}") for n in (8, 10)),
    *(Row(f"every-{n}", "staircase", "nothing", f"{n}") for n in (8, 10, 12)),
    *(Row(f"krr-every-{n}", "k-RR", "nothing", f"{n}") for n in (8, 10)),
    Row("santext-textbook", "SanText, textbook", "nothing", _METRIC),
    Row("santext-certified", "SanText, certified", "nothing", _METRIC),
    Row("santext-plus", "SanText+, certified", "common words, by a coin", _METRIC),
)
#: The default of the staircase.
DEFAULT = "shipped-10"
#: A uniformly chosen word reveals as little as a blank.
SAME_ATTACK = {"uniform": "blank"}
#: Least scores on AG News, TREC, whole sentences of SST-2, SICK; on the last two by what english-v3 had in one run.
FLOORS = {"shipped-10": (0.82, 0.835, 0.76, 0.511), "shipped-8": (0.775, 0.79, 0.727, 0.462)}
#: Largest shares of content words that the strongest attack may recover.
ATTACK_CEILINGS = {"shipped-10": 0.50, "shipped-8": 0.375}
#: Largest share of spans in which a content word may stay at the default epsilon, in percent.
PERSONAL_CEILINGS = {"persons": 3, "places": 5, "addresses": 8, "organizations": 5}
