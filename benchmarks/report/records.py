"""Reads run records into one pandas table, a row for each run, and refuses damaged ones with file and line.

Nested keys become columns with dots, as in ``result.test.accuracy``. Two columns say what belongs together: runs of one
``condition`` differ in ``repeat`` only (the seed, or with frozen features the sanitized copy) and may be averaged.
"""

import gzip
import json
import math
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd

#: Tables and columns of pandas, which has no types of its own.
Frame = Any
Column = Any

FORMAT, VERSION = "textveil-run", 2
KINDS = ("finetune", "attack-text", "pretrain", "fairness")
NEEDED = {
    "finetune": ("settings.encoder", "settings.tuned", "data.format", "data.splits.test.examples", "result.test"),
    "attack-text": ("release.mechanism", "settings.model", "result.tokens", "result.unchanged"),
    "pretrain": ("settings.start", "result.clean_top1", "result.sanitized_top1"),
    "fairness": ("result.lines",),
}
"""Keys that a finished run of each kind must have."""
SHARES = (
    "accuracy", "majority", "unchanged", "unchanged_median", "defense", "top1", "top10", "clean_top1",
    "sanitized_top1", "prior_top1", "context_free_top1", "targeted_top1", "targeted_context_free_top1", "closed_form",
    "simulated", "rate",
)  # fmt: skip
"""Figures that lie in [0, 1], wherever they stand in a result."""
INCIDENTAL = ("seed", "threads", "workers", "device", "output", "cache", "resume")
"""Settings that change no result, and the seed."""
IDLE = (
    "num_epochs", "batch_size", "learning_rate", "head_learning_rate", "weight_decay", "warmup", "clip_norm", "dropout",
)  # fmt: skip
"""Settings that do nothing with frozen features: the linear model on them is fitted to its optimum."""
RELEASE = {
    "mechanism": None, "bundle": None, "tail": None, "epsilon": None, "epsilon_kind": None,
    "replacement_probability": None, "sanitize_punctuation": False, "releases": 1, "case": "carry",
}  # fmt: skip
"""Keys that tell two releases apart, with what a record means that lacks them."""
FACTS = ("bundle_name", "level", "share", "pure_ldp", "nominal_epsilon")
"""What only some records know of their release: told to all records of the same release."""


class RecordError(ValueError):
    """A record cannot be used. The message names the file and the line."""


def read_objects(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yields the JSON objects of a file with their place: one in ``*.json``, one a line in ``*.jsonl``.

    If the file is not there and one of its name with ``.gz`` is, that one is unpacked and read.

    Raises:
        RecordError: The file is not there, or something in it is not a JSON object.
    """
    try:
        packed = path.with_name(f"{path.name}.gz")
        plain = path.exists() or not packed.exists()
        text = (path.read_bytes() if plain else gzip.decompress(packed.read_bytes())).decode("utf-8")
    except (OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        raise RecordError(f"{path.name}: cannot be read as UTF-8 text") from error
    parts = enumerate(text.splitlines(), 1) if path.suffix == ".jsonl" else [(0, text)]
    for number, part in parts:
        place = f"{path.name}, line {number}" if number else path.name
        try:
            found = json.loads(part, parse_constant=_refuse_constant)
        except ValueError as error:
            raise RecordError(f"{place}: malformed JSON") from error
        if not isinstance(found, dict):
            raise RecordError(f"{place}: this is not a JSON object")
        yield place, found


def named(results: Path, pattern: str) -> list[Path]:
    """Returns the files of records that a pattern names, packed or not, by the names that ``read_objects`` takes."""
    return sorted({path.with_suffix("") if path.suffix == ".gz" else path for path in results.glob(f"{pattern}*")})


def _refuse_constant(name: str) -> float:
    raise ValueError(f"JSON has no {name}")


def read_runs(*paths: Path) -> Frame:
    """Reads finished runs.

    Args:
        paths: Files of records of one kind or of several.

    Returns:
        One row a run: its keys with dots, and the columns ``place``, ``file``, ``data_name`` (the format), ``model``
        (what it starts from), ``train`` and ``test`` (numbers of examples), ``seed``, ``mechanism`` (None for raw
        text), ``tail``, ``level``, ``epsilon``, ``epsilon_kind`` (``certified``, ``textbook`` or ``pure LDP``), ``p``,
        ``w``, ``pure_ldp``, ``nominal_epsilon``, ``releases`` (outputs of one text), ``bundle_name``, ``released``
        (equal for the same release), ``condition`` and ``repeat``.

    Raises:
        RecordError: A record is malformed, of another format or version, not finished, lacks a key, has a figure out of
            range, or repeats another run.
    """
    rows = []
    for path in paths:
        for place, record in read_objects(path):
            _check(record, place)
            rows.append(record | {"place": place, "file": path.stem} | _described(record))
    if not rows:
        raise RecordError("there is no record")
    runs = pd.json_normalize(rows, max_level=None)
    for fact in FACTS:
        if f"release.{fact}" not in runs:
            runs[f"release.{fact}"] = None
        runs[fact] = runs.groupby("released")[f"release.{fact}"].transform("first")
    same = runs[runs.duplicated(["condition", "repeat"], keep=False)]
    if len(same):
        raise RecordError(f"{same.place.iloc[1]}: the same run stands in {same.place.iloc[0]}")
    return runs.rename(columns={"share": "w"})


def _check(record: dict[str, Any], place: str) -> None:
    if record.get("format") != FORMAT:
        raise RecordError(f"{place}: this is not a run record")
    if record.get("format_version") != VERSION:
        raise RecordError(f"{place}: the format_version is not {VERSION}")
    kind = record.get("kind")
    if kind not in KINDS:
        raise RecordError(f"{place}: the kind is none of {', '.join(KINDS)}")
    if not record.get("finished"):
        raise RecordError(f"{place}: the run has not finished")
    for path in NEEDED[kind]:
        if _at(record, path) is None:
            raise RecordError(f"{place}: {path} is missing")
    if kind == "finetune" and not {"accuracy", "pearson"} & set(record["result"]["test"]):
        raise RecordError(f"{place}: result.test has neither accuracy nor pearson")
    if record.get("release") is not None and not isinstance(_at(record, "release.mechanism"), str):
        raise RecordError(f"{place}: release.mechanism is missing")
    if (_at(record, "release.epsilon") is None) != (_at(record, "release.epsilon_kind") is None):
        raise RecordError(f"{place}: release.epsilon and release.epsilon_kind go together")
    _check_figures(record["result"], "result", place)


def _at(record: Any, path: str) -> Any:
    for name in path.split("."):
        record = record.get(name) if isinstance(record, dict) else None
    return record


def _check_figures(found: Any, path: str, place: str) -> None:
    """Checks that every share is a number in its range, and every correlation too."""
    if isinstance(found, list):
        for number, part in enumerate(found):
            _check_figures(part, f"{path}[{number}]", place)
        return
    if isinstance(found, dict):
        for name, part in found.items():
            _check_figures(part, f"{path}.{name}", place)
        return
    name = path.rpartition(".")[2]
    low = 0 if name in SHARES else -1 if name in ("pearson", "spearman") else None
    if low is None or found is None:
        return
    if isinstance(found, bool) or not isinstance(found, int | float) or not math.isfinite(found):
        raise RecordError(f"{place}: {path} is not a number")
    if not low <= found <= 1:
        raise RecordError(f"{place}: {path} is out of range")


def _described(record: dict[str, Any]) -> dict[str, Any]:
    """Columns that are made from several keys of a record."""
    settings, release = record["settings"], record.get("release")
    splits = _at(record, "data.splits") or {}
    frozen = record["kind"] == "finetune" and settings.get("tuned") is False
    deciding = {name: value for name, value in settings.items() if name not in (*INCIDENTAL, *(IDLE if frozen else ()))}
    examples = {name: part.get("examples") for name, part in splits.items()}
    hashes = {name: part.get("sha256") for name, part in splits.items()}
    start = record.get("start")
    if isinstance(start, dict):
        start = {name: value for name, value in start.items() if name.endswith("sha256") and value}
    released = None if release is None else [release.get(name, default) for name, default in RELEASE.items()]
    copies = frozen and release is not None
    raw_texts = None if record["kind"] == "finetune" and release is not None else hashes
    corpus = record.get("data") if record["kind"] == "pretrain" else None
    parts = [record["kind"], _data(record), examples, deciding, released, start or None, raw_texts, corpus]
    kind = (release or {}).get("epsilon_kind")
    return {
        "data_name": _data(record),
        "model": next(
            (Path(settings[k]).name for k in ("encoder", "masked_lm", "model", "start") if settings.get(k)), ""
        ),
        "train": examples.get("train"),
        "test": examples.get("test"),
        "mechanism": None if release is None else release["mechanism"],
        "tail": (release or {}).get("tail"),
        "epsilon": (release or {}).get("epsilon"),
        "epsilon_kind": "pure LDP" if str(kind).startswith("pure") else None if kind is None else kind.split(" ")[0],
        "p": (release or {}).get("replacement_probability"),
        "releases": (release or {}).get("releases", 1),
        "released": json.dumps(released),
        "condition": json.dumps(parts, sort_keys=True),
        "repeat": json.dumps(hashes) if copies else None if frozen else settings.get("seed"),
        "seed": None if frozen and release is None else settings.get("seed"),
    }


def _data(record: dict[str, Any]) -> str | None:
    name = _at(record, "data.format")
    return f"{name} score" if _at(record, "data.target") == "score" else name
