"""Labels beside the lines of a picture do not overlap and keep the order of the lines."""

import numpy as np
import pytest
from report import charts


def test_labels_keep_apart_and_in_order() -> None:
    heights = [0.1, 0.5, 0.5, 0.51, 0.9]
    found = np.array(charts.apart(heights, 0.05))
    assert (np.diff(found) >= 0.05 - 1e-12).all()
    assert found[[0, 4]] == pytest.approx([0.1, 0.9])
    assert found[1:4].mean() == pytest.approx(np.mean(heights[1:4]))
