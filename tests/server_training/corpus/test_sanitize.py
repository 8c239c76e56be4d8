"""Copies, records and resuming of a corpus; tests of `textveil sanitize` cover the rewriting of files."""

import hashlib
import json
import re
import stat
from pathlib import Path

import pytest
from interruption import interrupted
from small_corpus import LINES, OPTIONS, WORDS, Runner, words_of
from textveil.bundle import find_artifact
from textveil.errors import ContentHashMismatch
from textveil_cli.errors import ResumeError
from textveil_cli.files import get_manifest_path
from textveil_training.errors import DataOptionError


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("shared")


@pytest.fixture
def run(shared: Path, tmp_path: Path) -> Runner:
    return Runner(shared, tmp_path / "out")


def test_copies_are_charged(run: Runner, tmp_path: Path) -> None:
    one, three = run(), run(copies=3, output=tmp_path / "three")
    tokens = LINES * len(WORDS)
    assert one["statement"]["tokens"] == tokens
    assert three["statement"]["tokens"] == 3 * tokens
    assert three["statement"]["epsilon_text"] == pytest.approx(3 * one["statement"]["epsilon_text"])
    assert (one["copies"], three["copies"], three["charged"]) == (1, 3, "every token of every copy")
    assert three["files"][0]["tokens"] == tokens
    assert three["files"][0]["max_tokens"] == len(WORDS)
    assert len(set(three["files"][0]["sha256"])) == 3
    names = sorted(str(path.relative_to(tmp_path / "three")) for path in (tmp_path / "three").rglob("*"))
    folders = [name for n in (1, 2, 3) for name in (f"copy-{n}", f"copy-{n}/rows.tsv")]
    assert names == [*folders, "record.json"]
    assert sorted(path.name for path in (run.output).iterdir()) == ["record.json", "rows.tsv"]


def test_the_record_holds_no_text_and_no_hash_of_the_input(run: Runner, tmp_path: Path) -> None:
    record = run(options={"mechanism": "santext+", "deny": [WORDS[0]]})
    written = (run.output / "record.json").read_text()
    assert json.loads(written) == record
    assert set(WORDS).isdisjoint(re.findall(r"\w+", written))
    assert hashlib.sha256(run.corpus.read_bytes()).hexdigest() not in written
    assert record["files"][0]["sha256"] == [hashlib.sha256((run.output / "rows.tsv").read_bytes()).hexdigest()]
    assert record["bundle"]["content_hash"] == record["statement"]["bundle"]
    assert record["wall_s"] > 0
    assert set(record["software"]) >= {"textveil", "textveil-training", "python"}


def test_progress_counts_bytes(run: Runner) -> None:
    said: list[tuple[str, int, int]] = []
    run(report=lambda *step: said.append(step), copies=2)
    assert said[:2] == [("checking", 0, 1), ("checking", 1, 1)]
    done = [done for stage, done, _ in said if stage == "sanitizing"]
    assert done == sorted(done)
    assert done[-1] == 2 * run.corpus.stat().st_size
    assert {total for stage, _, total in said if stage == "sanitizing"} == {done[-1]}


def test_an_interrupted_run_goes_on_and_draws_nothing_again(
    run: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Renamed in order: hashes of the input, start record, two copies, record. The second copy is interrupted."""
    with interrupted(monkeypatch, 4):
        run(copies=2)
    first = (run.output / "copy-1" / "rows.tsv").read_bytes()
    assert not (run.output / "copy-2" / "rows.tsv").exists()
    assert stat.S_IMODE(get_manifest_path(run.output).stat().st_mode) & 0o077 == 0
    with pytest.raises(ResumeError, match="--resume"):
        run(copies=2)
    for changed in (
        {"options": {"mechanism": "santext", "epsilon": "8"}},
        {"options": {**OPTIONS, "sanitize_punctuation": True}},
        {"options": {"mechanism": "santext+", "deny": [WORDS[0]]}},
        {"copies": 3},
        {"bundle": find_artifact("english-santext")},
    ):
        with pytest.raises(ResumeError):
            run(resume=True, **({"copies": 2} | changed))
    record = run(copies=2, resume=True)
    assert (run.output / "copy-1" / "rows.tsv").read_bytes() == first
    assert len(words_of(run.output / "copy-2" / "rows.tsv")) == LINES
    assert record["resumed"]
    assert record["statement"]["tokens"] == 2 * LINES * len(WORDS)
    assert sorted(path.name for path in run.output.iterdir()) == ["copy-1", "copy-2", "record.json"]
    for again in (True, False):
        with pytest.raises(ResumeError):
            run(copies=2, resume=again)


def test_options_and_names_are_checked_before_anything(run: Runner, tmp_path: Path) -> None:
    record = tmp_path / "record.json"
    record.write_bytes(run.corpus.read_bytes())
    for options in (
        {"inputs": [run.corpus, run.corpus]}, {"inputs": []}, {"inputs": [record]}, {"copies": 0}, {"workers": 0},
    ):  # fmt: skip
        with pytest.raises(DataOptionError):
            run(**options)
    with pytest.raises(ContentHashMismatch):
        run(expect_id="0" * 64)
    assert not (run.output).exists()
