"""Trains both extractors on one division of a file, measures both on the same texts, and says which to take.

    textveil-train encoder my.csv --text text --label topic --compare -o bundle

The bundle is that of the one to take. Its card has the comparison.
"""

from collections.abc import Callable
from typing import Any

from textveil_export.index import IndexContents, extractor_bytes

from textveil_training.encoder.compare import advice, time_ratio
from textveil_training.encoder.extractors import EXTRACTORS, MINILM, STATIC
from textveil_training.encoder.kept_parts import KeptParts
from textveil_training.encoder.task import Task
from textveil_training.encoder.train import EncoderSettings, contents_of, measured_extractor

Report = Callable[[str, int, int], None]


def train_both(
    task: Task, settings: EncoderSettings, wanted: str | None, report: Report, kept: KeptParts
) -> IndexContents:
    """Trains and measures both extractors.

    Args:
        task: The texts.
        settings: What the bundle is to be; its extractor is not looked at.
        wanted: The extractor of the bundle, or None for the one to take.
        report: Told the stage, the steps done and the steps in all.
        kept: Where finished parts are kept; the times are one, so that they are measured once.

    Returns:
        The bundle in memory; ``compared`` of its figures is the comparison.

    Raises:
        TextveilError: See ``train_encoder``.
    """
    found = {kind: measured_extractor(task, settings, kind, report, kept) for kind in EXTRACTORS}
    contents = {kind: contents_of(found[kind], task, settings, report) for kind in EXTRACTORS}
    static, minilm = (found[kind].trained.parts for kind in EXTRACTORS)
    _, times = kept.part("times", lambda: ({}, time_ratio(static, minilm, task.test.texts)))
    told = advice(task.test.classes, found[STATIC].test, found[MINILM].test)
    compared: dict[str, Any] = {
        **told,
        "texts": len(task.test.texts),
        "time": times,
        "extractors": {
            kind: {
                "bytes": extractor_bytes(contents[kind]),
                "clean": contents[kind].measured["clean"]["accuracy"],
                "counts": {
                    epsilon: figures["accuracy"]
                    for epsilon, figures in contents[kind].measured["channels"]["counts"].items()
                },
            }
            for kind in EXTRACTORS
        },
    }
    chosen = contents[wanted or told["take"]]
    chosen.measured["compared"] = compared
    return chosen
