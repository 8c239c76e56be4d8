"""Shards, workers and copies: what comes out, by what mechanism, and what is said when it fails."""

import errno
import hashlib
import json
import multiprocessing
import os
import re
import signal
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats
from small_corpus import LINES, OPTIONS, WORDS, Runner, words_of
from textveil import Sanitizer, errors
from textveil.errors import IdentityMismatch, OutputError
from textveil.mechanisms import entropy
from textveil_training.errors import DataOptionError, UnreadableFile, WorkerFailed

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
    record = run(workers=workers, copies=4, shard_lines=30)
    assert record["machine"]["workers"] == workers
    assert min(p_values(run)) > ALPHA


def test_replayed_randomness_would_be_seen(run: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Workers that share a seed: every shard of as many tokens draws the same words."""

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
    assert three["files"][0]["most_tokens_in_a_row"] == len(WORDS)
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
    assert record["cpu_s"] > 0
    assert set(record["software"]) >= {"textveil", "textveil-training", "python"}


def test_a_file_that_changes_while_it_is_worked_on(run: Runner, tmp_path: Path) -> None:
    path = tmp_path / "rows.tsv"
    path.write_bytes(run.corpus.read_bytes())

    def change(stage: str, done: int, total: int) -> None:
        if stage == "sanitizing":
            path.write_bytes(run.corpus.read_bytes().replace(WORDS[0].encode(), b"quokkasecret"))

    with pytest.raises(UnreadableFile, match=r"^rows\.tsv: the file was changed") as caught:
        run(inputs=[path], report=change)
    assert caught.value.__cause__ is None


def test_progress_counts_lines(run: Runner) -> None:
    said: list[tuple[str, int, int]] = []
    run(report=lambda *step: said.append(step), copies=2)
    assert [step for step in said if step[0] != "sanitizing"] == [
        ("checking", 0, 1), ("checking", 1, 1), ("joining", 0, 1), ("joining", 1, 1)
    ]  # fmt: skip
    assert [done for stage, done, _ in said if stage == "sanitizing"] == list(range(0, 801, 50))
    assert {total for stage, _, total in said if stage == "sanitizing"} == {800}


@pytest.fixture
def killing() -> Callable[[str, int, int], None]:
    """A report that ends the worker processes from outside, after the first shard."""

    def report(stage: str, done: int, total: int) -> None:
        if stage == "sanitizing" and done:
            for child in multiprocessing.active_children():
                os.kill(child.pid or 0, signal.SIGKILL)

    return report


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system cannot kill processes like that")
def test_a_worker_that_is_killed(run: Runner, tmp_path: Path, killing: Callable[[str, int, int], None]) -> None:
    with pytest.raises(WorkerFailed, match="ended from outside"):
        run(workers=2, shard_lines=10, report=killing)
    before = run.finished
    assert 1 <= len(before) < 40
    run(workers=1, shard_lines=10, resume=True)
    assert len(words_of(run.output / "rows.tsv")) == LINES


def test_a_disk_that_is_full(run: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real, count = os.fsync, 0

    def fsync(descriptor: int) -> None:
        nonlocal count
        count += 1
        if count > 4:
            raise OSError(errno.ENOSPC, "quokkasecret", "quokkasecret")
        real(descriptor)

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", fsync)
        with pytest.raises(OutputError) as caught:
            run()
    assert str(caught.value) == f"the output file cannot be written: {os.strerror(errno.ENOSPC)}"
    before = run.finished
    assert len(before) == 3
    assert run(resume=True)["files"][0]["lines"] == LINES


def test_an_error_inside_tells_its_place_alone(run: Runner, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ValueError("quokkasecret")

    monkeypatch.setattr(Sanitizer, "sanitize_batch", fail)
    with pytest.raises(errors.WorkerFailed, match=r"internal: ValueError in test_\w+\.py line \d+") as caught:
        run()
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


def test_options_and_names_are_checked_before_anything(
    run: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = tmp_path / "record.json"
    record.write_bytes(run.corpus.read_bytes())
    for options in (
        {"inputs": [run.corpus, run.corpus]}, {"inputs": []}, {"inputs": [record]},
        {"copies": 0}, {"workers": 0}, {"shard_lines": 0},
    ):  # fmt: skip
        with pytest.raises(DataOptionError):
            run(**options)
    with pytest.raises(IdentityMismatch):
        run(expect_id="0" * 64)
    assert not (run.output).exists()
