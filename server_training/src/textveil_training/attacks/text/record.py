"""The run record of the attacks on text: kind ``attack-text``, written after each attack."""

import json
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from textveil.errors import OutputError, ResumeError

from textveil_training.attacks.subject import Subject
from textveil_training.attacks.text.run import Report, Settings, attack, describe, digest
from textveil_training.engine.encoders import device_named
from textveil_training.engine.record import FORMAT, RunRecord

KIND = "attack-text"
#: Keys that have to be the same in a run that is continued; of the settings all but the list of attacks.
_SAME = ("format", "kind", "settings", "data", "release", "start")


def run_and_record(
    subject: Subject,
    examples: Sequence[Sequence[str]],
    settings: Settings,
    source: tuple[str, str | None],
    report: Report,
    *,
    known: Sequence[str] = (),
    output: Path | None = None,
    resume: bool = False,
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
        output: File of the record, or None to write none.
        resume: Whether to continue the run that the file is the record of.
        device: Device of the masked language model, ``cpu`` or a CUDA device.

    Returns:
        The record.

    Raises:
        OutputError: The record cannot be written, or there is a file already.
        ResumeError: There is no such record, or it is of another run.
        TextveilError: As ``attack``.

    Privacy:
        As ``attack``. No text is in a record.
    """
    format_name, split = source
    data = {"format": format_name, "splits": {split or "all": {"examples": len(examples), "sha256": digest(examples)}}}
    about = describe(settings, subject) | {"kind": KIND, "data": data}
    if known:
        data["known"] = {"texts": len(known), "sha256": digest([known])}
    record = RunRecord(output or Path(), about, device_named(device))
    content = record.content
    content["settings"] = json.loads(json.dumps(content["settings"]))  # a tuple is a list when it comes back
    content |= {"wall_s": 0.0, "cpu_s": 0.0, "resumed": 0}
    before: dict[str, Any] = {}
    if resume and output is not None:
        before = _earlier(output, content)
        content |= {name: before[name] for name in ("begun", "wall_s", "cpu_s", "resumed", "result")}
        content["resumed"] += 1
    elif output is not None and output.exists():
        raise OutputError("there is a file of that name already; --resume goes on with a record")
    spent = content["wall_s"], content["cpu_s"]
    since = time.monotonic(), time.process_time()

    def save(result: dict[str, Any]) -> None:
        content["result"] = result
        content["wall_s"] = round(spent[0] + time.monotonic() - since[0], 1)
        content["cpu_s"] = round(spent[1] + time.process_time() - since[1], 1)
        if output is not None:
            record.write()

    result = attack(subject, examples, settings, report, known=known, device=device, found=content["result"], save=save)
    content["finished"] = datetime.now(UTC).isoformat(timespec="seconds")
    save(result)
    return content


def _earlier(path: Path, content: dict[str, Any]) -> dict[str, Any]:
    """Reads the record of the run that is continued."""
    try:
        before = json.loads(path.read_text(encoding="utf-8"))
        if before["format"] != FORMAT or before["kind"] != KIND:
            raise ResumeError("that file is no record of attacks on text")
        chosen = {"attacks": before["settings"]["attacks"], "statistics": before["settings"]["statistics"]}
        same = content | {"settings": content["settings"] | chosen}
        numbers = {float: ("wall_s", "cpu_s"), int: ("resumed",), str: ("begun",)}
        fits = all(isinstance(before[name], kind) for kind, names in numbers.items() for name in names)
        fits &= isinstance(before["result"], dict | None)
    except OSError as error:
        raise ResumeError("there is no record to go on with") from error
    except (ValueError, KeyError, TypeError) as error:
        raise ResumeError("that file is no record of attacks on text") from error
    if not fits or any(before[name] != same[name] for name in _SAME):
        raise ResumeError("that record is of another run: other settings, data, mechanism or model")
    return before
