"""A run in shards works from its first check to its record, with workers in this process instead of a cluster."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from small_corpus import write_bundle
from textveil_cli.errors import FileChanged, ResumeError
from textveil_cli.files import ColumnSelection, get_manifest_path
from textveil_training.corpus import on_ray
from textveil_training.corpus.part_worker import PartJob, PartWorker, cut_files
from textveil_training.data import read_release_terms
from textveil_training.data.corpus_release import RECORDS
from textveil_training.errors import InvalidJson, ReleaseMismatch, UnfinishedCorpus
from textveil_training.file_hashes import hash_file

SELECTION = ColumnSelection(format="csv", columns=("note",))
ROWS = 40


@pytest.fixture
def stopping(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """Works in this process, and is interrupted after ``parts`` of them."""
    limits = {"parts": 1_000}

    def told(ray: Any, job: PartJob, workers: int) -> Iterator[dict[str, Any]]:
        worker = PartWorker(job)
        parts = cut_files({"file": np.arange(len(job.sources))}, job)
        for number, part in enumerate(parts):
            if number == limits["parts"]:
                raise KeyboardInterrupt
            yield json.loads(worker(part)["told"][0])

    class Cluster:
        def __enter__(self) -> "Cluster":
            return self

        def __exit__(self, *_: object) -> None: ...

        def cluster_resources(self) -> dict[str, int]:
            return {"CPU": 1}

    monkeypatch.setattr(on_ray, "_iterate_results", told)
    monkeypatch.setattr(on_ray, "open_ray_cluster", lambda *_: Cluster())
    return limits


def test_an_interrupted_run_goes_on_with_the_parts_that_are_missing(tmp_path: Path, stopping: dict[str, int]) -> None:
    table, out = tmp_path / "notes.csv", tmp_path / "out"
    table.write_text("id,note\n" + "".join(f"{number},words of {number}\n" for number in range(ROWS)))
    given: dict[str, Any] = {"options": {"mechanism": "random"}, "bundle": write_bundle(tmp_path / "bundle")}
    given["part_bytes"] = 100
    stopping["parts"] = 3
    with pytest.raises(KeyboardInterrupt):
        on_ray.sanitize_corpus_on_ray([table], out, SELECTION, **given)
    kept = {path.name: path.read_bytes() for path in out.glob("*.csv")}
    assert len(kept) == 3
    stopping["parts"] = 1_000
    with pytest.raises(ResumeError, match="--resume"):
        on_ray.sanitize_corpus_on_ray([table], out, SELECTION, **given)
    other: dict[str, Any] = {**given, "part_bytes": 200}
    with pytest.raises(ResumeError, match="other options"):
        on_ray.sanitize_corpus_on_ray([table], out, SELECTION, resume=True, **other)
    begun = json.loads((out / RECORDS / "run.json").read_text())
    assert (begun["status"], begun["mode"], begun["planned_files"]) == ("running", None, [table.name])
    with pytest.raises(
        UnfinishedCorpus,
        match=(
            "the corpus is incomplete: sanitize-corpus is still running or was interrupted; wait until it ends, or "
            "repeat its command with --resume"
        ),
    ):
        read_release_terms("table", out / min(kept))
    before, times = table.read_bytes(), table.stat()
    table.write_bytes(before + b"9,more\n")
    with pytest.raises(
        FileChanged,
        match="changed since the interrupted run began: restore the file and repeat --resume, or choose a new "
        "output folder",
    ):
        on_ray.sanitize_corpus_on_ray([table], out, SELECTION, resume=True, **given)
    table.write_bytes(before)
    os.utime(table, ns=(times.st_atime_ns, times.st_mtime_ns))
    record = on_ray.sanitize_corpus_on_ray([table], out, SELECTION, resume=True, **given)
    assert {name: (out / name).read_bytes() for name in kept} == kept
    assert record["rows"] == ROWS
    assert len(record["parts"]) == len(list(out.glob("*.csv"))) > 3
    assert json.loads((out / RECORDS / "run.json").read_text()) == record
    assert not get_manifest_path(out).exists()


def test_parts_are_known_for_the_release_that_they_are(tmp_path: Path, stopping: dict[str, int]) -> None:
    table, out = tmp_path / "in" / "deeper" / "notes.csv", tmp_path / "out"
    table.parent.mkdir(parents=True)
    table.write_text("id,note\n1,words\n")
    given: dict[str, Any] = {"options": {"mechanism": "random"}, "bundle": write_bundle(tmp_path / "bundle")}
    record = on_ray.sanitize_corpus_on_ray([tmp_path / "in"], out, SELECTION, **given)
    part = out / record["parts"][0]["part"]
    assert part.parent.name == "deeper"
    found = read_release_terms("table", part)
    assert found is not None
    assert (found["mechanism"], found["bundle"]) == ("random", record["bundle"]["content_hash"])
    assert read_release_terms("table", table) is None
    (out / "raw").mkdir()
    (out / "raw" / "raw.csv").write_bytes(table.read_bytes())
    assert read_release_terms("table", out / "raw" / "raw.csv") is None, "no part lies there"
    part.write_bytes(table.read_bytes())
    with pytest.raises(
        ReleaseMismatch,
        match="a file differs from the record that sanitize-corpus wrote in this folder or above it, so its "
        "privacy is unknown: restore the file, or, if it is raw text, move it to a folder without that "
        "record",
    ):
        read_release_terms("table", part)
    run = out / RECORDS / "run.json"
    statement = record["statement"] | {"mechanism": "staircase"}
    run.write_text(json.dumps(record | {"statement": statement}))
    with pytest.raises(ReleaseMismatch):
        read_release_terms("table", part)
    parts = [record["parts"][0] | {"sha256": hash_file(part)}]
    run.write_text(json.dumps(record | {"statement": statement, "parts": parts}))
    with pytest.raises(
        ReleaseMismatch,
        match="record of the corpus was changed after sanitize-corpus wrote it, so it does not describe the "
        "rows: restore the record, or sanitize the corpus again",
    ):
        read_release_terms("table", part)
    run.write_text(json.dumps(record | {"parts": [{"part": record["parts"][0]["part"]}]}))
    with pytest.raises(InvalidJson, match="the key sha256 is missing"):
        read_release_terms("table", part)
    run.write_text("{")
    with pytest.raises(InvalidJson, match="cannot be read"):
        read_release_terms("table", part)
