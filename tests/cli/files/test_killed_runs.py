"""After a killed run over a folder the ledger has every released row, and ``--resume`` spends none again."""

import os
import random
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from small_ledger import in_a_copy, request_of
from textveil import Ledger, Sanitizer
from textveil_cli.console import run
from textveil_cli.files import sources
from textveil_cli.files.ledger_writer import BlockLedger
from textveil_cli.main import app

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")


def killed_runs(bundle: Path, folder: Path, kills: int) -> tuple[int, int, int]:
    """Kills runs over a folder at random points, each of which goes on with the one before, until one finishes.

    Returns:
        Rows that were written, those of them that the ledger does not know, and those that a later run charged again.
    """
    small = Sanitizer.load(bundle)
    words = "doctor nurse cancer flu clinic hospital clean dirty".split()
    unknown = written = again = 0
    took_s = 1.0
    for case in range(kills):
        top, out, ledger = (folder / f"{case}{name}" for name in ("in", "out", "ledger"))
        top.mkdir()
        texts = [" ".join(words[int(digit)] for digit in f"{number:03o}") for number in range(60)]
        for file in range(12):
            rows = "".join(f"{row},{texts[row]}\n" for row in range(5 * file, 5 * file + 5))
            (top / f"{file:02}.csv").write_text("id,note\n" + rows)
        table = ["sanitize", "-b", bundle, "--csv", "-c", "note"]
        command = [*table, top, "-o", out, "--ledger", ledger, "--resume", "-q"]
        known: dict[int, int] = {}
        for attempt in range(4):
            started = time.monotonic()
            child = in_a_copy(lambda command=command: run(app, "textveil", [os.fspath(part) for part in command]))  # type: ignore[arg-type,misc]
            if attempt < 3:
                time.sleep(random.uniform(0, took_s))
                os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            took_s = time.monotonic() - started if attempt == 3 else took_s
            if not ledger.exists() or not ledger.stat().st_size:
                assert not list(out.glob("*.csv"))
                continue
            opened = Ledger(ledger)
            opened.list_accounts()
            rows_out = [
                int(line.split(",")[0]) for file in out.glob("*.csv") for line in file.read_text().split("\n")[1:-1]
            ]
            for row in rows_out:
                charged = opened.count_releases("default", request_of(small, texts[row]))
                unknown += not charged
                again += known.get(row, charged) != charged
                known[row] = charged
        assert len(known) == 60
        written += len(known)
    return written, unknown, again


@pytest.mark.slow
def test_runs_killed_at_random_write_nothing_that_the_ledger_does_not_know(
    bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "_READ_BYTES", 16)
    assert killed_runs(bundle, tmp_path, kills=2) == (120, 0, 0)


@pytest.mark.full
def test_three_hundred_kills(bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "_READ_BYTES", 16)
    written, unknown, again = killed_runs(bundle, tmp_path, kills=100)
    print(f"300 kills: {written:,} rows written, {unknown} unknown to the ledger, {again} charged again when written")
    assert (written, unknown, again) == (6000, 0, 0)


@pytest.mark.slow
def test_rows_that_are_not_charged_are_found(bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted fault: blocks of one row are not spent."""
    monkeypatch.setattr(sources, "_READ_BYTES", 16)
    real = BlockLedger.spend

    def charge(self: BlockLedger, block: Any, drawn: Any, *, all_or_nothing: bool) -> Any:
        return drawn if len(block.texts) == 1 else real(self, block, drawn, all_or_nothing=all_or_nothing)

    monkeypatch.setattr(BlockLedger, "spend", charge)
    assert killed_runs(bundle, tmp_path, kills=1)[1] > 0
