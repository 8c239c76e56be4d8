"""Both commands on Ray: on two nodes, and on a cluster that they start themselves."""

import csv
import filecmp
import json
import os
import shutil
import signal
import stat
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest
from cluster_commands import Command, children, name_of

pytest.importorskip("ray", reason="needs Ray: make integration-ray")
pytestmark = pytest.mark.full

CANARY = "qwertycanary"
TEXT = "My doctor in Boston said the biopsy was clean, and the invoice was wrong."


def write_csv(path: Path, rows: int, bad: int | None = None) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "note"])
        for number in range(rows):
            writer.writerow([number, f"{TEXT} {CANARY}"] if number != bad else [f"{CANARY} alone"])


def sanitize(*arguments: object, part_bytes: int = 200_000) -> Command:
    """Return the command, with parts small enough for a test."""
    code = (
        "import sys, textveil_cli.file_shards, textveil_training.corpus.on_ray as m\n"
        f"m.sanitize_corpus_on_ray.__kwdefaults__['part_bytes'] = {part_bytes}\n"
        "sys.argv[0] = 'textveil-train'\n"
        "from textveil_training.cli import main\nmain()"
    )
    command = Command("textveil_training", "sanitize-corpus", *arguments, "--ray", "-q")
    command.line[1:3] = ["-c", code]
    return command


def ids(folder: Path) -> list[int]:
    """Return the first cell of every row of every part."""
    found = []
    for part in sorted(folder.glob("*.csv")):
        with part.open(encoding="utf-8", newline="") as file:
            found += [int(row[0]) for row in [*csv.reader(file)][1:]]
    return found


def test_csv_json_lines_and_parquet_on_two_nodes(two_nodes: str, tmp_path: Path) -> None:
    import pyarrow
    from pyarrow import parquet

    inputs = tmp_path / "in"
    (inputs / "deeper").mkdir(parents=True)
    write_csv(inputs / "deeper" / "a.csv", 4000)
    write_csv(inputs / "b.csv", 4000)
    out = tmp_path / "csv"
    done = sanitize(inputs, "-o", out, "--format", "csv", "--text", "note", "--ray-address", two_nodes).run()
    assert done.returncode == 0, done.stderr
    assert ids(out) == ids(out / "deeper") == [*range(4000)]
    run = json.loads((out / "_records" / "run.json").read_bytes())
    assert len(run["parts"]) == 4
    assert run["rows"] == sum(part["rows"] for part in run["parts"]) == 8000
    assert run["statement"]["randomized_words"] == run["tokens"] == sum(part["tokens"] for part in run["parts"])
    texts = [line for part in out.rglob("*.csv") for line in part.read_text("utf-8").splitlines()[1:]]
    assert CANARY not in "".join(texts)
    assert len({line.partition(",")[2] for line in texts}) > 7000  # no two workers share a stream

    lines = tmp_path / "t.jsonl"
    lines.write_text("".join(json.dumps({"id": n, "text": TEXT}) + "\n" for n in range(4000)), "utf-8")
    out = tmp_path / "jsonl"
    assert sanitize(lines, "-o", out, "--format", "jsonl", "--ray-address", two_nodes).run().returncode == 0
    read = [json.loads(line)["id"] for part in sorted(out.glob("*.jsonl")) for line in part.open(encoding="utf-8")]
    assert read == [*range(4000)]

    table = tmp_path / "t.parquet"
    parquet.write_table(pyarrow.table({"id": range(4000), "note": [TEXT] * 4000}), table, row_group_size=500)
    out = tmp_path / "parquet"
    options = ["--format", "parquet", "--text", "note", "--ray-address", two_nodes]
    assert sanitize(table, "-o", out, *options, part_bytes=1000).run().returncode == 0
    parts = sorted(out.glob("*.parquet"))
    assert len(parts) == 8
    assert pyarrow.concat_tables(map(parquet.read_table, parts)).column("id").to_pylist() == [*range(4000)]


def wait_for(found, seconds: float = 300):  # type: ignore[no-untyped-def]
    """Call a function until it returns something, and return that."""
    end = time.monotonic() + seconds
    while not (answer := found()):
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)
    return answer


def test_ctrl_c_keeps_whole_parts_and_resume_goes_on(two_nodes: str, tmp_path: Path) -> None:
    table, out = tmp_path / "t.csv", tmp_path / "out"
    write_csv(table, 60_000)
    options = [table, "-o", out, "--format", "csv", "--text", "note", "--ray-address", two_nodes]
    process = sanitize(*options).start()
    wait_for(lambda: len([*out.glob("*.csv")]) >= 3)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=300)
    assert process.returncode in (1, 130), told
    assert "--resume goes on" in told
    assert CANARY not in told
    before = {path: path.read_bytes() for path in out.glob("*.csv")}
    assert len(before) >= 3
    assert len(ids(out)) == sum(
        json.loads(p.read_bytes())["rows"]
        for p in (out / "_records").glob("t-*.json")
        if (out / p.name.removesuffix(".json")).exists()
    )
    assert len(ids(out)) < 60_000
    assert sanitize(*options).run().returncode == 1
    other = sanitize(*options, "--resume", "--epsilon", "8").run()
    assert (other.returncode, "begun with other options" in other.stderr) == (1, True)
    done = sanitize(*options, "--resume").run()
    assert done.returncode == 0, done.stderr
    assert ids(out) == [*range(60_000)]
    assert all(path.read_bytes() == content for path, content in before.items())
    assert not (out.parent / f"{out.name}.textveil-record").exists()


def test_a_worker_that_is_killed_costs_nothing(two_nodes: str, tmp_path: Path) -> None:
    table, out = tmp_path / "t.csv", tmp_path / "out"
    write_csv(table, 60_000)
    process = sanitize(table, "-o", out, "--format", "csv", "--text", "note", "--ray-address", two_nodes).start()
    wait_for(lambda: len([*out.glob("*.csv")]) >= 2)
    (victim, *_) = wait_for(lambda: [pid for pid in children(os.getpid()) if "PartWorker" in name_of(pid)])
    os.kill(victim, signal.SIGKILL)
    _, told = process.communicate(timeout=600)
    assert process.returncode == 0, told
    assert ids(out) == [*range(60_000)]
    assert not [*out.rglob(".*")]


def test_a_bad_row_is_reported_and_rejected(two_nodes: str, tmp_path: Path) -> None:
    table, out = tmp_path / "t.csv", tmp_path / "out"
    write_csv(table, 3000, bad=1700)
    options = [table, "--format", "csv", "--text", "note", "--ray-address", two_nodes]
    done = sanitize(*options, "-o", out).run()
    assert done.returncode == 1
    assert "t.csv, row 1,701 (line 1,702)" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert CANARY not in done.stderr + done.stdout
    shutil.rmtree(out)
    done = sanitize(*options, "-o", out, "--rejected-rows", tmp_path / "bad").run()
    assert done.returncode == 0, done.stderr
    assert ids(out) == [n for n in range(3000) if n != 1700]
    (bad,) = (tmp_path / "bad").iterdir()
    assert json.loads(bad.read_text("utf-8"))["row"] == 1701


def test_a_full_disk_leaves_whole_parts_and_resume_goes_on(two_nodes: str, tmp_path: Path) -> None:
    table, small = tmp_path / "t.csv", tmp_path / "small"
    write_csv(table, 20_000)
    small.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m", "none", small], capture_output=True, check=False)
    if mounted.returncode:
        pytest.skip("a small disk cannot be mounted here")
    try:
        out = small / "out"
        options = [table, "-o", out, "--format", "csv", "--text", "note", "--ray-address", two_nodes]
        done = sanitize(*options).run()
        assert done.returncode == 1
        assert "No space left" in done.stderr
        parts = {path: path.read_bytes() for path in out.glob("*.csv")}
        assert parts
        subprocess.run(["mount", "-o", "remount,size=40m", small], check=True)
        assert sanitize(*options, "--resume").run().returncode == 0
        assert ids(out) == [*range(20_000)]
        assert all(path.read_bytes() == content for path, content in parts.items())
    finally:
        subprocess.run(["umount", small], check=True)


def mode_of(path: Path) -> int:
    try:
        return path.lstat().st_mode
    except OSError:
        return 0


def listening(pids: list[int]) -> set[str]:
    """Return the addresses, in hexadecimal, on which processes listen."""
    mine = set()
    for pid in pids:
        for link in Path(f"/proc/{pid}/fd").glob("*"):
            try:
                mine.add(os.readlink(link))
            except OSError:
                continue
    found = set()
    for name in ("tcp", "tcp6"):
        for line in Path(f"/proc/net/{name}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and f"socket:[{fields[9]}]" in mine:
                found.add(fields[1].partition(":")[0])
    return found


def test_a_cluster_of_its_own_keeps_everything_to_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    temporary = Path(tempfile.mkdtemp(dir="/tmp"))  # Ray needs a short path
    request.addfinalizer(lambda: shutil.rmtree(temporary, ignore_errors=True))
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    table, denied, out = tmp_path / "in.csv", tmp_path / "denied.txt", tmp_path / "out"
    write_csv(table, 40_000, bad=39_000)
    denied.write_text(f"{CANARY}\n", "utf-8")
    options = [table, "-o", out, "--format", "csv", "--text", "note", "--deny", denied, "--workers", 2]
    process = sanitize(*options).start()
    wait_for(lambda: len([*out.glob("*.csv")]) >= 2)
    (folder,) = temporary.glob("textveil-ray-*")
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / "spill").stat().st_mode) == 0o700
    started = children(process.pid)
    assert any("raylet" in name_of(pid) for pid in started)
    loopback = {"0100007F", "0000000000000000FFFF00000100007F", "00000000000000000000000001000000"}
    assert listening([process.pid, *started]) <= loopback
    raylet = next(pid for pid in started if "raylet/raylet" in name_of(pid))
    assert b"RAY_USAGE_STATS_ENABLED=0" in Path(f"/proc/{raylet}/environ").read_bytes()
    assert not [*folder.rglob("usage_stats.json")]
    looked_at = 0
    while process.poll() is None:
        for path in [Path(place, name) for place, _, names in os.walk(folder) for name in names]:
            if not stat.S_ISREG(mode_of(path)):  # a socket, or gone meanwhile
                continue
            try:
                content = path.read_bytes()
            except FileNotFoundError:
                continue
            looked_at += 1
            assert CANARY.encode() not in content, path.name
    told = "".join(process.communicate(timeout=60))
    assert looked_at > 50
    assert "in.csv, row 39,001 (line 39,002)" in told
    assert CANARY not in told
    assert not [*temporary.glob("textveil-ray-*")]
    assert not [*(tmp_path / "home").rglob("*")]
    assert not [pid for pid in started if "raylet" in name_of(pid)]


def test_the_table_is_that_of_one_process(two_nodes: str, tmp_path: Path) -> None:
    vectors = tmp_path / "vectors.txt"
    rows = np.random.default_rng(3).integers(-127, 128, (9000, 30))
    letters = "abcdefghijklmnopqrstuvwxyz"
    names = [letters[n // 676] + letters[n // 26 % 26] + letters[n % 26] + "x" for n in range(9000)]
    vectors.write_text("".join(f"{w} {' '.join(map(str, row))}\n" for w, row in zip(names, rows.tolist(), strict=True)))
    options = ["--vectors", vectors, "--max-words", 9000, "--mechanisms", "staircase", "--name", "made up"]
    plain, ours = tmp_path / "plain", tmp_path / "ours"
    assert Command("textveil_export", "table", *options, "-o", plain).run().returncode == 0
    done = Command("textveil_export", "table", *options, "-o", ours, "--ray", "--ray-address", two_nodes).run()
    assert done.returncode == 0, done.stderr
    names = sorted(path.name for path in plain.iterdir())
    assert names == sorted(path.name for path in ours.iterdir())
    assert filecmp.cmpfiles(plain, ours, names, shallow=False) == (names, [], [])


def test_no_cluster_there_is_one_line(tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    write_csv(table, 3)
    options = [table, "-o", tmp_path / "out", "--format", "csv", "--text", "note"]
    done = sanitize(*options, "--ray-address", "127.0.0.1:1").run()
    assert done.returncode == 1
    assert done.stderr.splitlines() == ["textveil-train: cluster: no Ray cluster answers at --ray-address"]
