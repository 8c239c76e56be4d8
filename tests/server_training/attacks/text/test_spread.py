"""Statistics of a mechanism, which attacks are read beside: unchanged words, outputs of a word, words of an output."""

from pathlib import Path

import numpy as np
import pytest
from attacked_texts import matrix, no_steps
from textveil.text import Options
from textveil_training.attacks.text.spread import statistics
from textveil_training.text_channel import TextChannel


@pytest.mark.parametrize(
    "options",
    [
        {"mechanism": "santext", "epsilon": "8"},
        {"mechanism": "santext+", "epsilon": "18"},
        {"mechanism": "santext+", "epsilon": "8"},
        {"mechanism": "krr", "epsilon": "3"},
        {"mechanism": "random"},
    ],
    ids=lambda options: "-".join(options.values()),
)
def test_statistics_are_those_of_the_rows_and_columns(folders: dict[str, Path], options: Options) -> None:
    channel = TextChannel(folders["words"], **options)
    rows = matrix(channel, whole=False)
    words = channel.distribution().outputs.tolist()
    unchanged, spread, sources = [], [], []
    for x in words:
        unchanged.append(rows[x, x])
        mass = np.cumsum(np.sort(rows[x])[::-1])
        spread.append(int(np.argmax(mass > 0.95 - 1e-12)) + 1)
        column = rows[~channel.keepable, x]
        sources.append(int((column >= 0.01 * column.max()).sum()))
    middle = (len(words) - 1) // 2
    found = statistics(channel, no_steps)
    assert found["words"] == len(words)
    assert found["unchanged_median"] == pytest.approx(sorted(unchanged)[middle], abs=1e-6)
    assert abs(found["outputs_median"] - sorted(spread)[middle]) <= 1  # a sum at the very edge
    assert found["inputs_median"] == sorted(sources)[middle]
