"""The staircase with a base that follows the text: its draws, and what an attacker knows of each output's context."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from textveil.mechanisms import CONTEXT_POSITIONS, Elements, Surroundings, random_uint64
from textveil.mechanisms.staircase import FluentSlots, FluentStaircase, SlotStaircase
from textveil.text import Plan
from textveil.text.rewrite import Layout, draw_before
from textveil_training.attacks.words import DRAWN, KIND, MARK, SHOWN, Candidates, Reading, Release, Words, of_plan

Ints = NDArray[Any]
_BEFORE, _BLOCK = CONTEXT_POSITIONS.index(-1), 128


@dataclass(frozen=True)
class _Slots:
    """Places of mentions in a layout, each a draw of its own."""

    layout: Layout
    places: Ints
    lower: Ints
    whole: Ints

    def around(self, elements: Elements) -> Surroundings:
        """What stands around them."""
        before = draw_before(self.places, self.layout.document[self.places], np.arange(len(self.places)))
        return Surroundings(self.layout.around(self.places, elements.edge), before, np.array([-1]))


@dataclass
class FluentRelease(Release):
    """A release whose base follows the text.

    Attributes:
        fluent: Draws mentions in their contexts, each by the staircase of its slot.
        ids: Symbols by word.
    """

    fluent: FluentSlots | None = None
    ids: dict[str, int] | None = None

    def draw(self, reading: Reading) -> Ints:
        """Returns what comes out for every element: a number of a word."""
        assert self.fluent is not None
        assert self.kinds is not None
        outputs, members = reading.word.copy(), np.flatnonzero(reading.role == KIND)
        outputs[members] = self.kinds(reading.index[members])
        places = np.flatnonzero(reading.role == DRAWN)
        slots = _Slots(self._layout(reading), places, reading.lower[places], reading.whole[places])
        drawn = self.fluent.draw(reading.index[places], slots, random_uint64)
        outputs[places] = self.printed[drawn]
        return outputs

    def _layout(self, reading: Reading) -> Layout:
        """What the skeleton shows."""
        assert self.fluent is not None
        assert self.ids is not None
        at, spelled = self.fluent.strict.context.elements, self.words.spelled
        symbol = np.array([self.ids.get(word, at.other) for word in spelled])
        mark = np.array([at.mark(word[:1]) for word in spelled])
        shown = np.select(
            [reading.role == MARK, reading.role == SHOWN, reading.role == KIND],
            [mark[reading.word], symbol[reading.word], at.first_kind + reading.index],
            at.drawn,
        )
        return Layout(shown, reading.document, np.arange(len(shown)))

    def in_context(self, reading: Reading, outputs: Ints, found: Candidates) -> Candidates:
        """Returns candidates with their exact probabilities in the contexts that the released text shows.

        Which words are considered at all comes from the staircase without contexts.
        """
        assert self.fluent is not None
        rows = np.flatnonzero(reading.role[found.places] == DRAWN)
        places, at = found.places[rows], self.fluent.strict.context.elements
        symbol = np.full(len(self.words.spelled), self.symbols)
        symbol[self.printed] = np.arange(self.symbols)
        contexts, before = self._layout(reading).around(places, at.edge), np.maximum(places - 1, 0)
        drawn = (reading.document[before] == reading.document[places]) & (reading.role[before] == DRAWN) & (places > 0)
        contexts[drawn, _BEFORE] = symbol[outputs[before[drawn]]]
        likelihood, lower = found.likelihood.copy(), reading.lower[places]
        for law, slots in ((self.fluent.strict, ~lower), (self.fluent.lower, lower)):
            chosen = np.flatnonzero(slots)
            for part in np.array_split(chosen, len(chosen) // _BLOCK + 1):
                words, there = symbol[np.maximum(found.words[rows[part]], 0)], found.words[rows[part]] >= 0
                given = _given(law, words, symbol[outputs[places[part]]], contexts[part])
                likelihood[rows[part]] = np.where(there, np.log(given), -np.inf)
        return found.weighed(likelihood)


def _given(law: FluentStaircase, inputs: Ints, outputs: Ints, contexts: Ints) -> Ints:
    """``Pr[M_c(x) = y]``, shape ``(n, candidates)``, from the definition, in floating point.

    Args:
        law: The staircase.
        inputs: Symbols x, shape ``(n, candidates)``.
        outputs: Symbols y, shape ``(n,)``.
        contexts: Contexts c, shape ``(n, 4)``.
    """
    plain, context = law.plain, law.context
    factors = context.factors(contexts).astype(float)
    total = (factors @ np.bincount(context.classes, weights=plain.base, minlength=factors.shape[1]))[:, None]
    row = np.arange(len(inputs))

    def mass(symbols: Ints) -> Ints:
        return plain.base[symbols] * factors[row.reshape(-1, *[1] * (symbols.ndim - 1)), context.classes[symbols]]

    budget = np.maximum(1, np.floor(float(plain.level.share) * total))
    known = inputs < plain.table.symbols
    stored = plain.table.neighbors[np.where(known, inputs, 0)].astype(np.int64)
    most = mass(stored)
    most[:, :, 0] = np.minimum(most[:, :, 0], float(plain.level.own_share) * budget)
    most[~known] = 0
    dealt = np.clip(budget[:, :, None] - (np.cumsum(most, axis=2) - most), 0, most)
    own = np.where(stored == outputs[:, None, None], dealt, 0).sum(axis=2)
    base, spent = mass(outputs[:, None]), dealt.sum(axis=2)
    near = own + (budget - spent) * (base - own) / np.maximum(1, total - spent)
    return (plain.unit * base + plain.factor * near) / (plain.unit * total + plain.factor * budget)


def of_fluent(words: Words, plan: Plan) -> FluentRelease:
    """Returns the release of a plan whose base follows the text."""
    fluent: Any = plan.mechanism
    plain = vars(of_plan(words, replace(plan, mechanism=SlotStaircase(fluent.strict.plain, fluent.lower.plain))))
    plain["rule"] = f"{plain['rule']} fluent"  # its bundle may have other numbers for words
    return FluentRelease(**plain, fluent=fluent, ids=plan.bundle.ids)
