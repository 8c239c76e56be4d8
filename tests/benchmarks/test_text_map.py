"""The t-SNE maps: a column for each kind of vector, a row for each coloring."""

import numpy as np
from text_map import draw


def test_a_panel_for_every_vector_and_coloring() -> None:
    generator = np.random.default_rng(1)
    panels = [("one number", generator.normal(size=(12, 1))), ("two", generator.normal(size=(12, 2)))]
    colorings = [("class", np.arange(12) % 3, ["a", "b", "c"]), ("person", np.arange(12) % 2, ["not there", "there"])]
    figure = draw(panels, colorings, seed=0)
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["one number", "two", "", ""]
    assert [axes.get_ylabel() for axes in figure.axes] == ["class", "", "person", ""]
    points = [sum(len(group.get_offsets()) for group in axes.collections) for axes in figure.axes]
    assert points == [12] * 4
