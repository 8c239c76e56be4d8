"""Adds to a finished bundle what its model decides on the texts that it never saw.

    textveil-train held-out my-topics my.csv --text text --label topic -o my-topics-2

``textveil-train encoder`` stores these decisions itself. This is for bundles that have none: the file is divided again
as it was, and the bundle's own model decides. Nothing else of the bundle changes but card, manifest and identity.
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from textveil.bundle import layout
from textveil_export.index import IndexContents

from textveil_training.encoder.extractors import codes_of
from textveil_training.encoder.held_out import confusion, held_out
from textveil_training.encoder.task import Task
from textveil_training.errors import ClassError
from textveil_training.tasks.encoder import divided_figures

Report = Callable[[str, int, int], None]


def with_held_out(contents: IndexContents, task: Task, data_sha256: str, report: Report) -> IndexContents:
    """Adds the decisions on the texts for the channels and for the figures, as counts by label.

    Args:
        contents: The bundle.
        task: The texts that it was made of, divided as they were.
        data_sha256: Hash of their file.
        report: Told the stage, the texts done and the texts in all.

    Raises:
        ClassError: The bundle was made of other texts, or divided with another seed or test file: its model may have
            been trained on what would be held out.
    """
    measured, told = contents.measured, divided_figures(task, "")
    same = all(measured.get(name) == value for name, value in told.items() if name != "data")
    if not same or contents.provenance.get("data_sha256") != data_sha256:
        raise ClassError("the bundle was made of another file, or divided with another seed or test file")
    if contents.kind != layout.CODEBOOK and contents.labels != task.labels:
        raise ClassError("the labels of the file are not those of the bundle")
    codes = len(contents.labels)
    parts = []
    for name in ("calibration", "test"):
        part = getattr(task, name)
        found = codes_of(part.texts, contents.extractor, contents.weight, contents.bias, partial(report, name))
        parts.append(confusion(part, found, len(task.labels), codes))
    return replace(contents, held_out=held_out(task.labels, *parts))
