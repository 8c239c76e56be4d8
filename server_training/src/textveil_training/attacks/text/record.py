"""The run record of the attacks on text: kind ``attack-text``, written after each attack."""

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from textveil.errors import OutputError

from textveil_training.attacks.settings import Settings
from textveil_training.attacks.subject import Subject
from textveil_training.attacks.text.run import attack, describe, digest
from textveil_training.engine.encoders import device_named
from textveil_training.engine.loop import Position
from textveil_training.engine.record import RunRecord
from textveil_training.progress import Report

KIND = "attack-text"


def run_and_record(
    subject: Subject,
    examples: Sequence[Sequence[str]],
    settings: Settings,
    source: tuple[str, str | None],
    report: Report,
    *,
    known: Sequence[str] = (),
    prior: Sequence[str] = (),
    output: Path | None = None,
    device: str = "cpu",
) -> dict[str, Any]:
    """Attacks some texts and keeps a record, which is written after each attack.

    Args:
        subject: The mechanism.
        examples: Texts of each example.
        settings: The attacks and their settings.
        source: Name of the format, and of the split or None.
        report: Called with a stage, the steps done and the steps in all.
        known: Raw texts that the attacker of words has.
        prior: Public texts that it has too.
        output: File of the record, or None to write none.
        device: Device of the masked language model, ``cpu`` or a CUDA device.

    Returns:
        The record.

    Raises:
        OutputError: The record cannot be written, or there is a file already.
        TextveilError: As ``attack``.

    Privacy:
        As ``attack``. No text is in a record.
    """
    if output is not None and output.exists():
        raise OutputError("there is a file of that name already")
    format_name, split = source
    data = {"format": format_name, "splits": {split or "all": {"examples": len(examples), "sha256": digest(examples)}}}
    for name, texts in (("known", known), ("prior", prior)):
        if texts:
            data[name] = {"texts": len(texts), "sha256": digest([texts])}
    about = describe(settings, subject) | {"kind": KIND, "data": data}
    record = RunRecord(output, about, device_named(device))
    since = time.monotonic(), time.process_time()

    def save(result: dict[str, Any]) -> None:
        record.content["result"] = result
        record.update(Position(wall_s=time.monotonic() - since[0], cpu_s=time.process_time() - since[1]))

    record.finish(attack(subject, examples, settings, report, known=known, prior=prior, device=device, save=save))
    return record.content
