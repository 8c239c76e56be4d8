"""How lines of a report look: apart from each other where they stand together, alike wherever they appear."""

import re

import pytest

pytest.importorskip("matplotlib")

from textveil_training.report.charts import Curves, Line, Panel
from textveil_training.report.groups import UNSANITISED
from textveil_training.report.plots import COLOURS, Pictures, line_looks

SERIES = sum(name.startswith("s") for name in COLOURS)


def plot(name: str, *panels: str, places: tuple[float, ...] = (1.0, 2.0)) -> Curves:
    """A plot with a line for every letter of a panel."""
    lines = [tuple(Line(letter, tuple((x, 0.5, 0.0) for x in places)) for letter in panel) for panel in panels]
    return Curves(name, name, tuple(Panel("epsilon", "accuracy", each) for each in lines))


def test_lines_of_a_panel_have_colours_of_their_own() -> None:
    """Lines before and between them, which are elsewhere, take colours too: numbering all lines in turn would fail."""
    plots = [plot("one", "abcdefghij", "ahk"), plot("two", "al", "abcijkl"[:SERIES])]
    looks = line_looks(plots)
    assert len(set(looks.values())) == len(looks)
    for panel in (panel for each in plots for panel in each.panels):
        colours = [looks[line.key][0] for line in panel.lines]
        assert len(set(colours)) == min(len(colours), SERIES), [line.key for line in panel.lines]


def test_unsanitised_text_is_ink() -> None:
    looks = line_looks(
        [plot("one", "ab"), Curves("two", "two", (Panel("x", "y", (Line(UNSANITISED, ((1, 1, 0),)),)),))]
    )
    assert [key for key, (colour, _) in looks.items() if colour == COLOURS["ink"]] == [UNSANITISED]


@pytest.mark.parametrize(("last", "labels"), [(100.0, ["5", "10", "20", "50", "100"]), (50.0, ["20", "40"])])
def test_epsilons_far_apart_are_drawn_on_a_logarithmic_axis(last: float, labels: list[str]) -> None:
    """A single far epsilon would otherwise push all others into a corner."""
    drawn = plot("one", "a", places=(4.0, 10.0, 12.0, last))
    svg = Pictures([drawn]).svg(drawn)
    written = re.findall(r"<text[^>]*>([^<]*)</text>", svg)
    assert set(labels) <= set(written)
    assert ("5" in written) == (last == 100.0)
