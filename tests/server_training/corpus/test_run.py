"""Workers, copies and going on: what comes out, by what mechanism, and what is said when it fails."""

import errno
import hashlib
import json
import os
import re
import stat
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from interruption import interrupted
from scipy import stats
from small_corpus import LINES, OPTIONS, WORDS, Runner, words_of
from textveil import Sanitizer
from textveil.bundle import artifact
from textveil.errors import FileChanged, IdentityMismatch, OutputError, ResumeError
from textveil.mechanisms import entropy
from textveil_cli.files import RECORD
from textveil_training.errors import DataOptionError

ALPHA = 1e-9


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("shared")


@pytest.fixture
def run(shared: Path, tmp_path: Path) -> Runner:
    return Runner(shared, tmp_path / "out")


def p_values(run: Runner) -> list[float]:
    """Chi-square of the outputs of every word against its exact distribution, and of copies against independence."""
    sanitizer = Sanitizer.load(run.bundle)
    rows = [words_of(run.output / f"copy-{copy}" / "rows.tsv") for copy in (1, 2, 3, 4)]
    found, expected_equal, equal, pairs = [], 0.0, 0, 0
    for column, word in enumerate(WORDS):
        distribution = sanitizer.distribution(word, **OPTIONS)
        shares = dict(distribution.likeliest(len(distribution.words)))
        drawn = Counter(row[column] for copy in rows for row in copy)
        total = sum(drawn.values())
        assert total * min(shares.values()) >= 5
        found.append(stats.chisquare([drawn[y] for y in shares], [total * p for p in shares.values()]).pvalue)
        for first, second in pairwise(rows):
            equal += sum(a[column] == b[column] for a, b in zip(first, second, strict=True))
            expected_equal += LINES * sum(p * p for p in shares.values())
            pairs += LINES
    found.append(stats.chisquare([equal, pairs - equal], [expected_equal, pairs - expected_equal]).pvalue)
    return found


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 2])
def test_the_distribution_is_the_same_whoever_draws(run: Runner, tmp_path: Path, workers: int) -> None:
    record = run(workers=workers, copies=4)
    assert record["machine"]["workers"] == workers
    assert min(p_values(run)) > ALPHA


def test_replayed_randomness_would_be_seen(run: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers that share a seed: every block of as many tokens draws the same words."""

    def replayed(count: int) -> Any:
        return np.random.default_rng(count).integers(0, 2**64, count, np.uint64)

    monkeypatch.setattr(entropy, "random_uint64", replayed)
    run(copies=4)
    assert min(p_values(run)) < ALPHA


def test_copies_are_charged(run: Runner, tmp_path: Path) -> None:
    one, three = run(), run(copies=3, output=tmp_path / "three")
    tokens = LINES * len(WORDS)
    assert one["statement"]["tokens"] == tokens
    assert three["statement"]["tokens"] == 3 * tokens
    assert three["statement"]["epsilon_document"] == pytest.approx(3 * one["statement"]["epsilon_document"])
    assert (one["copies"], three["copies"], three["charged"]) == (1, 3, "every token of every copy")
    assert three["files"][0]["tokens"] == tokens
    assert three["files"][0]["most_tokens"] == len(WORDS)
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
    assert record["bundle"]["identity"] == record["statement"]["bundle"]
    assert record["wall_s"] > 0
    assert set(record["software"]) >= {"textveil", "textveil-training", "python"}


def test_a_file_that_changes_while_it_is_worked_on(run: Runner, tmp_path: Path) -> None:
    path = tmp_path / "rows.tsv"
    path.write_bytes(run.corpus.read_bytes())

    def change(stage: str, done: int, total: int) -> None:
        if stage == "sanitizing":
            path.write_bytes(run.corpus.read_bytes().replace(WORDS[0].encode(), b"quokkasecret"))

    with pytest.raises(FileChanged, match=r"^rows\.tsv: ") as caught:
        run(inputs=[path], report=change)
    assert "quokkasecret" not in str(caught.value)
    assert not (run.output / "rows.tsv").exists()


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
    """Renamed in order: two copies, the record. The second copy is interrupted."""
    with interrupted(monkeypatch, 2):
        run(copies=2)
    first = (run.output / "copy-1" / "rows.tsv").read_bytes()
    assert not (run.output / "copy-2" / "rows.tsv").exists()
    assert stat.S_IMODE((run.output / RECORD).stat().st_mode) & 0o077 == 0
    with pytest.raises(ResumeError, match="--resume"):
        run(copies=2)
    for changed in (
        {"options": {"mechanism": "santext", "level": "l1"}},
        {"options": {**OPTIONS, "case": "drop"}},
        {"options": {"mechanism": "santext+", "deny": [WORDS[0]]}},
        {"copies": 3},
        {"bundle": artifact("english-santext")},
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


def test_another_input_or_output_is_not_taken(run: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "rows.tsv"
    path.write_bytes(run.corpus.read_bytes())
    with interrupted(monkeypatch, 2):
        run(inputs=[path], copies=2)
    written = run.output / "copy-1" / "rows.tsv"
    content = written.read_bytes()
    written.write_text("mine")
    with pytest.raises(ResumeError, match="not as the run wrote it"):
        run(inputs=[path], copies=2, resume=True)
    assert written.read_text() == "mine"
    written.write_bytes(content)
    path.write_bytes(path.read_bytes().replace(b"label", b"labels", 1))
    with pytest.raises(FileChanged):
        run(inputs=[path], copies=2, resume=True)


def test_a_disk_that_is_full(run: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fsync(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, "quokkasecret", "quokkasecret")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", fsync)
        with pytest.raises(OutputError) as caught:
            run()
    assert os.strerror(errno.ENOSPC) in str(caught.value)
    assert "quokkasecret" not in str(caught.value)
    assert run(resume=True)["files"][0]["rows"] == LINES


def test_options_and_names_are_checked_before_anything(run: Runner, tmp_path: Path) -> None:
    record = tmp_path / "record.json"
    record.write_bytes(run.corpus.read_bytes())
    for options in (
        {"inputs": [run.corpus, run.corpus]}, {"inputs": []}, {"inputs": [record]}, {"copies": 0}, {"workers": 0},
    ):  # fmt: skip
        with pytest.raises(DataOptionError):
            run(**options)
    with pytest.raises(IdentityMismatch):
        run(expect_id="0" * 64)
    assert not (run.output).exists()
