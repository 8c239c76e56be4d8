"""The command measures every tool that can run here, names the others, and writes counts alone."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from prompts import measure as script
from prompts.tools import NamesTool, PresidioTool, RampartTool, Tool, ToolError


@pytest.fixture
def data(tmp_path: Path) -> Path:
    for name in ("prompts", "pii", "wnut17"):
        (tmp_path / name).mkdir()
    prompt = {"id": "pupa-1", "text": "Greet Wilhelmina Kowalski in 3 sentences.", "pii": ["wilhelmina kowalski"]}
    (tmp_path / "prompts" / "pupa.jsonl").write_text(json.dumps(prompt) + "\n", "utf-8")
    row = {"text": "Wilhelmina went home", "spans": [{"type": "PERSON", "start": 0, "end": 10}]}
    (tmp_path / "pii" / "records.jsonl").write_text(json.dumps(row) + "\n", "utf-8")
    return tmp_path


@pytest.mark.slow
def test_a_run(data: Path) -> None:
    command = [
        sys.executable,
        script.__file__,
        "--data",
        str(data),
        "--only",
        "names-none-tag",
        "-o",
        str(data / "out"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert "pupa: 1 prompts; words changed 0.000; numbers 1.000; untouched 0.000" in done.stdout
    assert "units that stay whole 0.0000 of 1" in done.stdout
    assert "persons whole 0 of 1" in done.stdout
    text = (data / "out" / "names-none-tag.json").read_text("utf-8")
    assert "ilhelmina" not in text
    record = json.loads(text)
    assert record["prompts"]["pupa"]["units"] == 1
    assert record["speed"]["words"] == 6
    assert set(record["of"]) == {"pupa", "made-up"}


class Unavailable:
    def __init__(self) -> None:
        raise ToolError("it is not installed")


def test_a_tool_that_cannot_run_is_named(
    data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(script.TOOLS, "presidio", Unavailable)
    monkeypatch.setattr(
        sys, "argv", ["measure.py", "--here", "--data", str(data), "--only", "presidio", "-o", str(data / "out")]
    )
    script.main()
    assert "not measured: presidio: it is not installed" in capsys.readouterr().out
    assert not (data / "out" / "presidio.json").exists()


def test_a_value_that_the_library_lacks_is_refused() -> None:
    with pytest.raises(ToolError, match="facts=everything"):
        NamesTool("everything", "tag")


@pytest.mark.parametrize("make", [PresidioTool, RampartTool])
def test_a_detector_shows_what_it_replaces(make: type) -> None:
    try:
        tool: Tool = make()
    except ToolError as error:
        pytest.skip(str(error))
    text = "My name is Anna Weber."
    stay = tool.keep(text)
    assert stay is not None
    assert not any(stay[11:15])
    assert all(stay[:10])
    assert "Anna" not in tool.rewrite(text)


def test_tags_replace_what_the_mask_hides() -> None:
    tool, text = NamesTool("none", "tag"), "Greet Wilhelmina Kowalski."
    stay = tool.keep(text)
    assert stay is not None
    assert [all(stay[:6]), any(stay[6:25]), stay[25]] == [True, False, 1]
    assert tool.rewrite(text) == "Greet [person 1]."
