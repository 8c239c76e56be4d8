"""A log of a long run has a line at least every half minute, also within one long step."""

import threading

import pytest
from textveil_training.cli import progress_lines
from textveil_training.cli.progress_lines import LINE_EVERY_S, ProgressLines, report_progress


def test_a_line_has_the_stage_its_steps_and_the_time() -> None:
    lines: list[str] = []
    seconds = iter([100.0, 190.0, 200.0])
    progress = ProgressLines(lines.append, lambda: next(seconds))
    progress.write_line()
    progress.report("tuned\t3 per second", 12, 1400)
    progress.write_line()
    assert lines == [
        "textveil-train: starting, 1:30 minutes",
        "textveil-train: tuned, 12 of 1,400 steps, 1:40 minutes",
    ]


def test_lines_come_while_a_single_step_takes_long(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert LINE_EVERY_S <= 30
    written = threading.Event()
    real = ProgressLines.write_line

    def write_line(self: ProgressLines) -> None:
        real(self)
        written.set()

    monkeypatch.setattr(progress_lines.ProgressLines, "write_line", write_line)
    with report_progress(every_s=0.01) as report:
        report("exporting the graph", 0, 1)
        assert written.wait(30)
    assert "textveil-train: " in capsys.readouterr().err


def test_a_short_run_writes_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    with report_progress() as report:
        report("tuned", 1, 2)
    assert capsys.readouterr().err == ""
