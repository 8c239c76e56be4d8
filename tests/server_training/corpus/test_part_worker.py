"""A worker of a cluster rewrites its shard, called as Ray calls it, without Ray."""

import json
import stat
from pathlib import Path

import numpy as np
import pytest
from textveil import Sanitizer
from textveil.errors import OptionError, TextveilError
from textveil_cli.errors import BadRow, ExtraMissing, WorkerFailed
from textveil_cli.files import ColumnSelection, SourceFile, get_file_version
from textveil_cli.processes import run_guarded
from textveil_training.corpus.on_ray import _make_error, sanitize_corpus_on_ray
from textveil_training.corpus.part_worker import PartJob, PartWorker, cut_files
from textveil_training.file_hashes import hash_file

CANARY = "qwertycanary"
SELECTION = ColumnSelection(format="csv", columns=("note",))


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "t.csv"
    path.write_text("id,note\n" + "".join(f"{n},my doctor said the biopsy was clean\n" for n in range(40)), "utf-8")
    return path


def job_of(table: Path, **changed: object) -> PartJob:
    folder = table.parent / "out"
    folder.mkdir(exist_ok=True)
    content_hash = Sanitizer.load().bundle.content_hash
    given = {"selection": SELECTION, "content_hash": content_hash, "rejected_rows": None, "part_bytes": 400, **changed}
    source = SourceFile(path=table, name=table.name, target=None, size=table.stat().st_size)
    return PartJob(
        sources=(source,),
        versions=(get_file_version(table.stat()),),
        bundle=None,
        options={"protect": "words"},
        output=folder,
        **given,
    )


def cut(job: PartJob) -> list[dict]:
    return [*cut_files({"file": np.array([0])}, job)]


def told(batch: dict) -> dict:
    return json.loads(str(batch["told"][0]))


def test_a_worker_writes_each_part_and_says_what_it_has(table: Path) -> None:
    job = job_of(table)
    parts, worker = cut(job), PartWorker(job)
    records = [told(worker(part))["record"] for part in parts]
    assert len(records) == 4
    assert sum(record["rows"] for record in records) == 40
    for record in records:
        digest = record.pop("sha256")
        assert digest == hash_file(job.output / record["part"])
        lines = (job.output / record["part"]).read_bytes().splitlines()
        assert lines[0] == b"id,note"
        assert len(lines) - 1 == record["rows"] == record["documents"]
        assert record["epsilon_text"] == 10 * record["tokens"]
        assert record["tokens"] == 4 * record["rows"]
        assert record["bundle"] == job.content_hash
        assert json.loads((job.output / "_records" / f"{record['part']}.json").read_bytes()) == record


@pytest.mark.slow
def test_a_finished_part_is_not_drawn_again(table: Path) -> None:
    job = job_of(table)
    first = cut(job)[0]
    record = told(PartWorker(job)(first))["record"]
    written = (job.output / record["part"]).read_bytes()
    assert told(PartWorker(job)(first))["record"] == record
    assert (job.output / record["part"]).read_bytes() == written
    (job.output / record["part"]).unlink()
    assert told(PartWorker(job)(first))["record"]["rows"] == record["rows"]
    assert (job.output / record["part"]).exists()


@pytest.mark.slow
def test_a_part_of_another_bundle_is_no_finished_part(table: Path) -> None:
    job = job_of(table)
    told(PartWorker(job)(cut(job)[0]))
    other = job_of(table, content_hash="0" * 64)
    answer = told(PartWorker(other)(cut(other)[0]))
    assert answer["error"]["code"] == "bundle-content-hash"


def test_equal_texts_are_drawn_apart_in_every_part(table: Path) -> None:
    job = job_of(table)
    worker = PartWorker(job)
    parts = [told(worker(part))["record"]["part"] for part in cut(job)]
    notes = {line.partition(b",")[2] for part in parts for line in (job.output / part).read_bytes().splitlines()[1:]}
    assert len(notes) > 20


@pytest.mark.slow
def test_a_bad_row_is_an_error_that_names_file_and_row(table: Path) -> None:
    table.write_text(table.read_text("utf-8") + f"{CANARY}\n", "utf-8")
    job = job_of(table)
    answers = [told(PartWorker(job)(part)) for part in cut(job)]
    assert answers[-1]["error"]["message"].startswith("t.csv, row 41 (line 42): 1 cell,")
    assert CANARY not in json.dumps(answers)
    error = _make_error(answers[-1]["error"])
    assert isinstance(error, BadRow)
    assert not list(job.output.glob("t-00003*"))


@pytest.mark.slow
def test_bad_rows_go_to_the_quarantine_for_their_owner_alone(table: Path, tmp_path: Path) -> None:
    table.write_text(table.read_text("utf-8") + f"{CANARY}\n", "utf-8")
    folder = tmp_path / "bad"
    job = job_of(table, rejected_rows=folder)
    parts = cut(job)
    answers = [told(PartWorker(job)(part)) for part in parts]
    assert CANARY not in json.dumps(answers)
    assert sum(answer["record"]["rejected_rows"] for answer in answers) == 1
    (path,) = folder.iterdir()
    assert path.name == "t-00003.csv.jsonl"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    (row,) = map(json.loads, path.read_text("utf-8").splitlines())
    assert (row["file"], row["row"], row["raw"]) == ("t.csv", 41, f"{CANARY}\n")
    (job.output / "t-00003.csv").unlink()  # a worker that was ended here does the part once more
    told(PartWorker(job)(parts[-1]))
    assert len(path.read_text("utf-8").splitlines()) == 1


def test_what_a_file_lacks_is_told_in_the_place_of_a_part(table: Path) -> None:
    job = job_of(table, selection=ColumnSelection(format="csv", columns=("nothing",)))
    (answer,) = cut(job)
    assert told(PartWorker(job)(answer))["error"]["code"] == "column"


def test_no_text_comes_out_of_a_worker_with_an_error() -> None:
    def fail(text: str) -> None:
        raise ValueError(text) from KeyError(text)

    error = run_guarded(fail, CANARY)
    assert isinstance(error, WorkerFailed)
    assert "ValueError in test_part_worker.py" in str(error)
    assert CANARY not in repr((error, error.__cause__, error.__context__, error.__traceback__))
    ours = run_guarded(fail_as_ours, CANARY)
    assert isinstance(ours, OptionError)
    assert ours.__cause__ is ours.__context__ is ours.__traceback__ is None
    assert isinstance(run_guarded(fail_for_memory), MemoryError)


def fail_as_ours(text: str) -> None:
    raise OptionError("no") from ValueError(text)


def fail_for_memory() -> None:
    raise MemoryError(CANARY)


def test_an_error_of_a_worker_is_the_same_error_here() -> None:
    assert isinstance(_make_error({"code": "bad-row", "message": "t.csv, row 3"}), TextveilError)
    assert isinstance(_make_error({"code": "", "message": ""}), TextveilError)


def test_without_ray_the_extra_is_named(table: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "ray", None)
    with pytest.raises(ExtraMissing, match=r"\[ray\]"):
        sanitize_corpus_on_ray([table], table.parent / "out", SELECTION, options={})
    assert not list((table.parent / "out").glob("t-*"))
