"""The output distributions of the mechanisms in a bundle, and which words an attacker has to tell apart."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from textveil.bundle import TextBundle
from textveil.mechanisms import Channel, ReplacementCoin, ScoreChannel
from textveil.mechanisms.baselines import KEPT, SanText

from textveil_export.certify.all_scores import AllScores
from textveil_export.progress import Progress, no_progress


def channels(bundle: TextBundle, progress: Progress = no_progress) -> dict[tuple[str, str], ScoreChannel]:
    """Returns the channels of SanText in a bundle, by level name and mechanism. They share their scores.

    Those of ``santext+`` mix in the coin: common words are kept with the default probability of the bundle.

    Args:
        bundle: The bundle.
        progress: Called as the scores are computed.

    Raises:
        ExportError: There is no space for the scores of all pairs.
        UnknownMechanism: The bundle has no SanText.
    """
    table, metric = bundle.table, bundle.metric
    scores = AllScores.of(metric, progress)
    keepable = np.append((table.roles & KEPT) != 0, False)
    kept = 2**64 - ReplacementCoin.of(bundle.default_replacement_probability).threshold
    found: dict[tuple[str, str], ScoreChannel] = {}
    for level in bundle.levels:
        for mechanism, parameters in level.parameters.items():
            channel = SanText.of(table, metric, mechanism, parameters).channel_on(scores)
            if mechanism == "santext+":
                channel = replace(channel, keepable=keepable, kept_of_2_64=kept)
            found[level.name, mechanism] = channel
    return found


def candidates(channel: Channel) -> NDArray[np.bool_]:
    """Returns the inputs that an attacker decides between after a draw, ``<unk>`` last, shape ``(inputs,)``.

    Where nothing is kept (``santext``) these are all inputs. Else (``santext+``) they are the outputs and ``<unk>``:
    the words that are always drawn.
    """
    keeps = isinstance(channel, ScoreChannel) and channel.keepable is not None
    return np.append((channel.base > 0) | (not keeps), True)
