"""A run that was interrupted: what is finished is kept, and nothing is drawn a second time."""

import stat
from pathlib import Path
from typing import Any

import pytest
from interruption import interrupted
from small_corpus import LINES, OPTIONS, WORDS, Runner
from textveil.errors import OutputError
from textveil_training.corpus import workspace
from textveil_training.errors import CorpusError, ResumeError


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("shared")


@pytest.fixture
def run(shared: Path, tmp_path: Path) -> Runner:
    return Runner(shared, tmp_path / "out")


@pytest.mark.parametrize("renaming", [2, 5, 10, 11, 12])
def test_an_interrupted_run_goes_on(
    run: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, renaming: int
) -> None:
    """Renamed in order: run.json, eight shards, the joined file, the output, the record."""
    folder = run.output
    with interrupted(monkeypatch, renaming):
        run()
    before = run.finished
    assert len(before) == min(renaming - 2, 8)
    assert not [path for path in (folder / workspace.UNFINISHED).iterdir() if path.name.startswith(".")]
    assert (folder / "rows.tsv").exists() == (renaming > 11)
    assert stat.S_IMODE((folder / workspace.UNFINISHED).stat().st_mode) & 0o077 == 0
    with pytest.raises(ResumeError, match="--resume"):
        run()
    assert run.finished == before
    record = run(resume=True)
    lines = (folder / "rows.tsv").read_bytes().splitlines(keepends=True)
    for name, content in before.items():
        number = int(name.rpartition("-")[2])
        assert b"".join(lines[50 * number : 50 * number + 50]) == content.partition(b"\n")[2]
    assert len(lines) == LINES
    assert record["interruptions"] == 1
    assert record["statement"]["tokens"] == LINES * len(WORDS)
    assert sorted(path.name for path in folder.iterdir()) == ["record.json", "rows.tsv"]
    with pytest.raises(ResumeError, match="no unfinished run"):
        run(resume=True)
    with pytest.raises(OutputError, match="not empty"):
        run()


@pytest.fixture
def unfinished(run: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run that was interrupted after three shards."""
    with interrupted(monkeypatch, 5):
        run()
    return run.output


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"options": {"mechanism": "santext", "level": "l1"}}, "set of options"),
        ({"options": {"mechanism": "krr", "epsilon": 2}}, "set of options"),
        ({"options": {**OPTIONS, "case": "drop"}}, "set of options"),
        ({"copies": 2}, "set of options"),
        ({"shard_lines": 51}, "input and another set of options"),
        ({"bundle": None}, "bundle"),
    ],
    ids=str,
)
def test_a_run_goes_on_as_it_was_begun(run: Runner, unfinished: Path, changed: dict[str, Any], named: str) -> None:
    before = run.finished
    with pytest.raises(ResumeError, match=f"another .*{named}"):
        run(resume=True, **changed)
    assert run.finished == before
    assert len(run(resume=True)["files"]) == 1


def test_another_word_denied_is_another_run(run: Runner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    options = {"mechanism": "santext+", "deny": [WORDS[0]]}
    with interrupted(monkeypatch, 5):
        run(options=options)
    with pytest.raises(ResumeError, match="another set of options"):
        run(options={**options, "deny": WORDS[:2]}, resume=True)
    run(options={**options, "deny": {WORDS[0]}}, resume=True)


def test_another_input_is_another_run(run: Runner, unfinished: Path, tmp_path: Path) -> None:
    other = tmp_path / "rows.tsv"
    other.write_bytes(run.corpus.read_bytes().replace(b"label", b"lapel", 1))
    with pytest.raises(ResumeError, match="another input"):
        run(resume=True, inputs=[other])


def test_damaged_state_is_refused(run: Runner, unfinished: Path) -> None:
    work = unfinished / workspace.UNFINISHED
    shard = next(path for path in work.iterdir() if path.name[0].isdigit())
    content = shard.read_bytes()
    for damaged in (content[:-3], content.replace(b"label", b"lapel", 1), b"", b"\xff", content.partition(b"\n")[2]):
        shard.write_bytes(damaged)
        with pytest.raises(ResumeError, match="part of the unfinished run is damaged"):
            run(resume=True)
    shard.write_bytes(content)
    for damaged in ("", "[]", "{}", '{"key": 1}'):
        (work / "run.json").write_text(damaged)
        with pytest.raises(ResumeError, match="description of the unfinished run is damaged"):
            run(resume=True)


def test_an_output_in_the_way_is_not_replaced(run: Runner, unfinished: Path) -> None:
    (unfinished / "rows.tsv").write_text("mine")
    with pytest.raises(OutputError, match="in the place"):
        run(resume=True)
    assert (unfinished / "rows.tsv").read_text() == "mine"


def test_one_process_at_a_time(run: Runner, tmp_path: Path) -> None:
    pytest.importorskip("fcntl")
    refused = []

    def second(stage: str, done: int, total: int) -> None:
        if stage == "sanitizing" and done and not refused:
            with pytest.raises(CorpusError, match="another process") as caught:
                run(resume=True)
            refused.append(caught)

    run(report=second)
    assert len(refused) == 1
