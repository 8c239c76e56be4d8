"""The printed numbers of the levels of a staircase equal those of its distributions."""

from typing import Any

import pytest
from small_staircase import LEVELS
from textveil import Sanitizer
from textveil.release import round_up
from textveil.text import Options
from textveil_cli.reports.staircase_levels import summarize_staircase


def kept(sanitizer: Sanitizer, word: str, **law: Any) -> list[float]:
    """How often a word comes out as itself, in a slot of each case where it is drawn."""
    cases = [word, word.title(), word.upper()]
    drawn = [case for case in cases if sanitizer.preview(case, protect=law["protect"])[0][1] == "randomized"]
    return [float(sanitizer.distribution(case, **law).compute_probability(word)) for case in drawn]


@pytest.mark.parametrize("bundle", ["small", "cased"])
def test_summaries_are_the_law(request: pytest.FixtureRequest, bundle: str) -> None:
    small: Sanitizer = request.getfixturevalue(bundle)
    for protect in ("words", "all"):
        for level, summary in zip(LEVELS, summarize_staircase(small.bundle, protect=protect), strict=True):
            law = Options(epsilon=level["epsilon"], protect=protect)
            outputs = small.distribution("qwyx", **law).words
            words = [word for word in outputs if small.preview(word, **law)[0][1] == "randomized"]
            shares = [share for word in words for share in kept(small, word, **law)]
            assert summary.unchanged_most == pytest.approx(max(shares))
            assert summary.unchanged_low <= summary.unchanged_median <= summary.unchanged_high <= summary.unchanged_most
            plan: Any = small._get_plan(law)
            slots = plan.mechanism
            assert summary.near == round_up(max(slots.any_case.near_probability, slots.lower_case.near_probability))
            assert summary.largest_odds == small.terms(**law).promise.largest_odds  # type: ignore[union-attr]
            assert (summary.epsilon, summary.share) == (float(level["epsilon"]), level["share"])
