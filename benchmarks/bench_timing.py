"""Measure whether the time of a sample reveals the branch that the staircase took, given the output.

    python benchmarks/bench_timing.py [DRAWS [PAIRS]]

PAIRS is the beginning of the names of the pairs to measure, such as ``staircase``; default: all pairs.

The script measures the time to sample an output for two inputs. For one of them the output comes from the budget (the
near branch), for the other one from the base (the base branch). The two are sampled alternately, one word at a time.
The advantage is the largest difference of the distribution functions of both times. It is the success of the best
threshold that distinguishes near from base. Its 95 % limit by Dvoretzky, Kiefer and Wolfowitz (with Massart's constant)
is printed beside it and falls with the number of samples. There are two controls: the same sample twice, and SanText,
whose rejection sampling takes a varying number of rounds.

Then the script measures the processor time per additional word, from texts of 200 and 2,000 words with six letters. The
texts consist of 20 different frequent, rare or unknown words, or of words that are all different. Each known word has
its own row in the table of the bundle, and all unknown words share one row.
"""

import sys
import time
from collections.abc import Callable
from math import sqrt
from typing import Any

import numpy as np
from measure import one_core, report

one_core()

from textveil import Sanitizer
from textveil.bundle import find_artifact
from textveil.mechanisms import random_uint64
from textveil.mechanisms.staircase import Staircase

DRAWS = 100_000
#: Number of different uniform integers of each branch, and number of other words that are sampled before each timing.
PREPARED, BETWEEN = 2_000, 50
#: Pairs of an output word and of another input, whose budget favors other outputs.
PAIRS = ("doctor", "guitar"), ("cancer", "bridge"), ("teacher", "copper")
_LIMIT = 1.3581  # sqrt(ln(2 / .05) / 2)


def staircase_of(sanitizer: Sanitizer) -> Staircase:
    """Return the built-in staircase at its default epsilon."""
    bundle = sanitizer.bundle
    assert bundle.staircase_table is not None
    level = next(level for level in bundle.staircase_levels if level.name == bundle.default_staircase_level)
    return Staircase.from_table(
        bundle.staircase_table, level, bundle.staircase_table.get_output_mask(function_words_kept=True)
    )


Clock = Callable[[int], int]  # nanoseconds of draw number n


def make_sample_clock(mechanism: Any, one: int) -> Clock:
    """Return a function that measures the time of one sample of an input."""
    inputs = np.array([one])

    def clock(number: int) -> int:
        start = time.perf_counter_ns()
        mechanism.draw_symbols(inputs, random_uint64)
        return time.perf_counter_ns() - start

    return clock


def make_branch_clock(staircase: Staircase, one: int, output: int, *, near: bool) -> Clock:
    """Return a function that measures the arithmetic of a sample with a given output, by one branch of the staircase.

    Waiting for a random base sample with a rare word as its output would take years. The function therefore chooses
    uniform integers that lead to this output. The arithmetic on them is the same as for every sample.
    """
    inputs, row_of = np.array([one]), np.array([0])
    rows = staircase._prepare_rows(inputs)
    place = rows.stored[0].tolist().index(output) if near else 0
    before = int(rows.dealt[0, place - 1]) if near and place else 0

    def integers(number: int) -> tuple[np.ndarray, np.ndarray]:
        if near:
            v = before + number % max(1, int(rows.dealt[0, place]) - before)
            u = staircase.unit * staircase.base_sum + v * staircase.factor
        else:
            u = (int(staircase.sums[output]) - 1) * staircase.unit + number % staircase.unit
        # The second integer is uniform below the remaining base weights, as in every sample.
        return np.array([u]), np.array([int(random_uint64(1)[0]) % int(rows.left[0])])

    others = np.arange(0, len(staircase.base), len(staircase.base) // BETWEEN)

    # The integers are prepared in advance, since computing them would fill the caches differently for each branch.
    prepared = [integers(number) for number in range(PREPARED)]

    def clock(number: int) -> int:
        u, w = prepared[number % PREPARED]
        staircase.draw_symbols(
            others, random_uint64
        )  # otherwise a base sample would find the data of the previous one in the caches
        start = time.perf_counter_ns()
        found = staircase._select_outputs(staircase._prepare_rows(inputs), row_of, u, w)
        taken = time.perf_counter_ns() - start
        assert int(found[0]) == output
        return taken

    return clock


def advantage(first: np.ndarray, second: np.ndarray) -> tuple[float, float]:
    """Return the largest difference of two distribution functions, and its 95 % upper limit."""
    places = np.sort(np.concatenate([first, second]))
    gaps = [np.searchsorted(np.sort(each), places, side="right") / len(each) for each in (first, second)]
    found = float(np.abs(gaps[0] - gaps[1]).max())
    return found, found + _LIMIT * sqrt(1 / len(first) + 1 / len(second))


def in_turns(one: Clock, other: Clock, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Call two clocks alternately, and return the times of each.

    Each clock is equally often the first of a pair of calls, so that changes of the machine's speed affect both.
    """
    found = np.empty((2, count))
    for number in range(count):
        for which in ((0, 1), (1, 0))[number % 2]:
            found[which, number] = (one, other)[which](number)
    return found[0], found[1]


def marginal(sanitizer: Sanitizer, rounds: int = 41) -> list[list[str | float]]:
    """Return the processor time per additional word for each kind of words, and its ratio to frequent words."""
    sizes = (200, 2000)
    plain = [
        word
        for word in sanitizer.bundle.vocabulary
        if len(word) == 6 and sanitizer.preview(word, protect="words") == [(word, "randomized")]
    ]
    unknown = [f"q{a}x{b}v{c}" for a in "bdfghjklmn" for b in "bdfghjklmn" for c in "bdfghjklmnpqrstvwxyz"]
    kinds = {"frequent": plain[:20], "rare": plain[-20:], "unknown": unknown[:20]}
    kinds |= {"all different": plain[: max(sizes)], "all different, unknown": unknown}
    texts = {(name, size): " ".join((words * size)[:size]) for name, words in kinds.items() for size in sizes}
    taken: dict[tuple[str, int], list[int]] = {each: [] for each in texts}
    for turn in range(rounds):
        order = list(texts)[turn % len(texts) :] + list(texts)[: turn % len(texts)]
        for each in order:
            start = time.process_time_ns()
            sanitizer.sanitize(texts[each], protect="words")
            taken[each].append(time.process_time_ns() - start)
    per_word = {
        name: (np.median(taken[name, sizes[1]]) - np.median(taken[name, sizes[0]])) / (sizes[1] - sizes[0])
        for name in kinds
    }
    return [[name, float(found), float(found / per_word["frequent"])] for name, found in per_word.items()]


def main() -> None:
    """Run the benchmark."""
    draws = int(sys.argv[1]) if len(sys.argv) > 1 else DRAWS
    sanitizer, tables = Sanitizer.load(), Sanitizer.load(find_artifact("english-santext"))
    staircase, ids = staircase_of(sanitizer), sanitizer.bundle.symbol_ids
    plan: Any = tables._get_plan({"mechanism": "santext"})
    exact = plan.mechanism.sampler
    middle = {
        word: np.median([make_sample_clock(exact, ids[word])(0) for _ in range(200)])
        for word in ("the", "doctor", "zebra")
    }
    fast, slow = min(middle, key=middle.__getitem__), max(middle, key=middle.__getitem__)
    doctor = ids["doctor"]
    pairs = {
        f"staircase: {near} from {near}, near; from {far}, base": (
            make_branch_clock(staircase, ids[near], ids[near], near=True),
            make_branch_clock(staircase, ids[far], ids[near], near=False),
        )
        for near, far in PAIRS
    }
    pairs["control: the same draw twice"] = (
        make_branch_clock(staircase, doctor, doctor, near=True),
        make_branch_clock(staircase, doctor, doctor, near=True),
    )
    pairs[f"SanText: {fast}; {slow}"] = make_sample_clock(exact, ids[fast]), make_sample_clock(exact, ids[slow])
    chosen = sys.argv[2] if len(sys.argv) > 2 else ""
    pairs = {name: pair for name, pair in pairs.items() if name.startswith(chosen)}
    rows = [[name, draws, *advantage(*in_turns(*pair, draws))] for name, pair in pairs.items()]
    report("timing", ["pair", "draws of each", "advantage", "at most (95 %)"], rows)
    if not chosen:
        report("marginal_time", ["words of a text", "ns a word", "times a frequent one"], marginal(sanitizer))


if __name__ == "__main__":
    main()
