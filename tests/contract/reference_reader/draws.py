"""Drawing: a mechanism in integers, the rule of accepted words, and the text that is written of the outputs."""

import decimal
import itertools
import math
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

from .bundle import MAY_KEEP, ROLE_OF_OUTPUTS, Bundle, score
from .files import check
from .inputs import CLITICS, Unit, denied_ids, read_text
from .staircase import UNIT, Staircase, allowed_outputs, base_of, deal, factor_of, total_of

AUXILIARIES = """do does did is are was were am ai has have had wo ca sha could would should must might may need dare
ought""".split()


@dataclass(frozen=True)
class Law:
    """A mechanism in integers: the base measure, and for an input its tail and its (output, excess) by distance.

    Of SanText, `weight` is that of an input and an output, by which proposals are kept.
    """

    base: list[int]
    row: Callable[[int], tuple[int, list[tuple[int, int]]]]
    weight: Callable[[int, int], int] | None = None


def find_law(bundle: Bundle, mechanism: str, options: dict[str, Any]) -> Law:
    """Return the mechanism of a request: a level by its label; or krr with an epsilon."""
    check(mechanism in ROLE_OF_OUTPUTS, f"no mechanism {mechanism}")
    base = [1 if role & ROLE_OF_OUTPUTS[mechanism] else 0 for role in bundle.arrays["roles"].values]
    epsilon = Decimal(str(options["epsilon"])) if "epsilon" in options else None
    if mechanism == "random":
        return Law(base, lambda x: (1, []))
    if mechanism == "krr":
        check(epsilon is not None and 0 < epsilon <= 30, "epsilon is out of range")
        assert epsilon is not None
        scaled = Fraction(decimal.Context(prec=60).exp(epsilon)) * 2**15 * (1 - Fraction(1, 10**58))
        excess = max(0, math.floor(scaled) - 2**15)
        return Law(base, lambda x: (2**15, [(x, excess)] if x != bundle.unknown and base[x] else []))
    called = [name for (of, name), label in bundle.labels.items() if of == mechanism and label == epsilon]
    check(called or epsilon is None, "no level has this label")
    named = called[0] if called else bundle.defaults["level"]
    laws = [level["parameters"][mechanism] for level in bundle.law["levels"] if level["name"] == named]
    check(laws, "no such level")
    if laws[0]["base"] is not None:
        base = [stored * output for stored, output in zip(bundle.arrays[laws[0]["base"]].values, base, strict=True)]
    weights = bundle.arrays[laws[0]["weights"]].values
    neighbors, scores = bundle.arrays["neighbors"].rows(), bundle.arrays["scores"].rows()

    def row(x: int) -> tuple[int, list[tuple[int, int]]]:
        last = weights[scores[x][-1]]
        return last, [(y, base[y] * (weights[s] - last)) for y, s in zip(neighbors[x], scores[x], strict=True)]

    def weight(x: int, y: int) -> int:
        return weights[min(score(bundle, x, y), len(weights) - 1)]

    return Law(base, row, weight)


def uniform_below(totals: list[int], take: Callable[[int], list[int]]) -> list[int]:
    """One integer below each total, by the rule of accepted words."""
    drawn, waiting = [0] * len(totals), list(range(len(totals)))
    while waiting:
        for i, word in zip(waiting, take(len(waiting)), strict=True):
            drawn[i] = word
        waiting = [i for i in waiting if drawn[i] > 2**64 - 1 - 2**64 % totals[i]]
    return [word % total for word, total in zip(drawn, totals, strict=True)]


def draw_staircase(
    staircase: Staircase,
    level: dict[str, str],
    outputs: set[int],
    inputs: list[int],
    take: Callable[[int], list[int]],
) -> list[int]:
    """One output for each input: first u of all of them, then w of all of them."""
    b = base_of(staircase, outputs)
    sums = list(itertools.accumulate(b))
    rows = [deal(staircase, level, b, x) for x in inputs]
    us = uniform_below([total_of(level, sums[-1])] * len(inputs), take)
    ws = uniform_below([max(1, sums[-1] - sum(a for _, a in row)) for row in rows], take)
    drawn = []
    for row, u, w in zip(rows, us, ws, strict=True):
        if u < UNIT * sums[-1]:
            drawn.append(bisect_right(sums, u // UNIT))
            continue
        v = (u - UNIT * sums[-1]) // factor_of(level)
        near = bisect_right(list(itertools.accumulate(a for _, a in row)), v)
        if near < len(row):
            drawn.append(row[near][0])
        else:
            dealt = dict(row)
            left = itertools.accumulate(weight - dealt.get(y, 0) for y, weight in enumerate(b))
            drawn.append(bisect_right(list(left), w))
    return drawn


def draw_slots(
    staircase: Staircase,
    level: dict[str, str],
    visible: bool,
    mentions: list[tuple[int, bool]],
    take: Callable[[int], list[int]],
) -> list[int]:
    """One output for each mention, an input and whether its slot is in lower case: first the slots that are not."""
    sets = [allowed_outputs(staircase, visible, lower) for lower in (False, True)]
    if sets[0] == sets[1]:
        return draw_staircase(staircase, level, sets[0], [x for x, _ in mentions], take)
    drawn = [0] * len(mentions)
    for outputs, lower in zip(sets, (False, True), strict=True):
        places = [number for number, (_, of) in enumerate(mentions) if of == lower]
        found = draw_staircase(staircase, level, outputs, [mentions[place][0] for place in places], take)
        for place, y in zip(places, found, strict=True):
            drawn[place] = y
    return drawn


def draw(law: Law, inputs: list[int], take: Callable[[int], list[int]]) -> list[int]:
    """One output for each input."""
    cumulative = list(itertools.accumulate(law.base))
    rows = [law.row(x) for x in inputs]
    totals = [tail * cumulative[-1] + sum(excess for _, excess in excesses) for tail, excesses in rows]
    outputs, pending = [0] * len(inputs), list(range(len(inputs)))
    while pending:
        in_tail = []
        for i, u in zip(pending, uniform_below([totals[i] for i in pending], take), strict=True):
            tail, excesses = rows[i]
            sums = list(itertools.accumulate((excess for _, excess in excesses), initial=0))
            found = next((y for (y, _), c in zip(excesses, sums[1:], strict=True) if u < c), None)
            outputs[i] = bisect_right(cumulative, (u - sums[-1]) // tail) if found is None else found
            if found is None:
                in_tail.append(i)
        if law.weight is None:
            break
        thresholds = uniform_below([rows[i][0] for i in in_tail], take)
        pending = [i for i, t in zip(in_tail, thresholds, strict=True) if t >= law.weight(inputs[i], outputs[i])]
    return outputs


def write_text(bundle: Bundle, items: list[str | Unit], outputs: list[int], strict: bool) -> str:
    """Return the output for one text; `outputs` are the sampled ids of its tokens in order."""
    written, last, ids, after_unit = "", "", iter(outputs), False
    for item in items:
        if isinstance(item, str):
            written, after_unit = written + item, False
            continue
        spellings = [bundle.spellings[i][0] for i in itertools.islice(ids, len(item.ids))]
        printed = "".join(spellings)
        if item.case != "lower":
            printed = printed.upper() if item.case == "UPPER" else printed[:1].upper() + printed[1:]
        if after_unit and printed.lower() == "n't" and not strict and last.lower() not in AUXILIARIES:
            printed = " NOT" if printed != printed.lower() else " not"
        elif after_unit and (strict or printed.lower() not in CLITICS):
            printed = " " + printed
        last = printed.strip()
        written, after_unit = written + printed, True
    return written


def sanitize_batch(
    bundle: Bundle, texts: list[str], options: dict[str, Any], words: Callable[[int], list[int]]
) -> tuple[list[str], list[int], int]:
    """Sanitize one batch of texts with `words(count)` as the source of random 64-bit words.

    Options, all of which may be missing: mechanism, epsilon (a label, or the epsilon of krr),
    replacement_probability, deny (texts whose tokens are not kept) and strict.
    Returns the outputs, the numbers of tokens and the number of random words consumed.
    """
    consumed = []

    def take(count: int) -> list[int]:
        consumed.append(count)
        return words(count)

    mechanism = options.get("mechanism", bundle.defaults["mechanism"])
    strict = options.get("strict", False)
    law = find_law(bundle, mechanism, options)
    read = [read_text(bundle, text, strict) for text in texts]
    counts = [sum(len(item.ids) for item in items if isinstance(item, Unit)) for items in read]
    tokens = [(i, item.whole) for items in read for item in items if isinstance(item, Unit) for i in item.ids]
    outputs: list[int | None] = [None] * len(tokens)
    if mechanism == "santext+":
        p = Fraction(str(options.get("replacement_probability", bundle.defaults["replacement_probability"])))
        check(0 < p <= 1, "replacement_probability is out of range")
        denied = {bundle.unknown, *(i for entry in options.get("deny", ()) for i in denied_ids(bundle, entry))}
        roles = bundle.arrays["roles"].values
        asked = [j for j, (i, whole) in enumerate(tokens) if whole and i not in denied and roles[i] & MAY_KEEP]
        for j, word in zip(asked, take(len(asked)), strict=True):
            outputs[j] = None if word < math.ceil(2**64 * p) else tokens[j][0]
    fresh = iter(draw(law, [i for (i, _), kept in zip(tokens, outputs, strict=True) if kept is None], take))
    final = iter([next(fresh) if kept is None else kept for kept in outputs])
    written = [
        write_text(bundle, items, list(itertools.islice(final, count)), strict)
        for items, count in zip(read, counts, strict=True)
    ]
    return written, counts, sum(consumed)
