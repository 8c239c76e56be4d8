"""The server of the Model Context Protocol works with a real client."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp.server.mcpserver", reason="needs the extra mcp: make integrations")

from mcp import ClientSession, StdioServerParameters, stdio_client  # pyright: ignore[reportMissingImports]
from mcp.server.mcpserver.exceptions import ToolError  # pyright: ignore[reportMissingImports]
from textveil_cli.integrations.mcp import make_server

MODULE = ("-m", "textveil_cli.integrations.mcp")
SECRETS = ("Zorblaxia", "Novak", "88213")
SAID = "I am Zorblaxia Novak, and order 88213 is late.\n"


def called(folder: Path, *calls: tuple[str, dict[str, str]], options: tuple[str, ...] = ()) -> list[Any]:
    """Start the server as a client does, and call its tools."""

    async def results() -> list[Any]:
        server = StdioServerParameters(
            command=sys.executable, args=[*MODULE, str(folder), *options], env={**os.environ}
        )
        async with stdio_client(server) as streams, ClientSession(*streams) as session:
            await session.initialize()
            assert {tool.name for tool in (await session.list_tools()).tools} == {"read_file", "write_file"}
            return [await session.call_tool(name, given) for name, given in calls]

    return asyncio.run(results())


def tools(folder: Path, **options: Any) -> list[Any]:
    """Return the functions of the tools."""
    server = make_server(folder, **{"style": "surrogate", **options})
    return [server._tool_manager.get_tool(name).fn for name in ("read_file", "write_file")]


def told(result: Any) -> str:
    return result.content[0].text


@pytest.mark.full
def test_a_client_starts_it_reads_and_writes(tmp_path: Path) -> None:
    (tmp_path / "mail.txt").write_text(SAID)
    new = {"name": "answer.txt", "text": "Dear Ms. Quux, nothing was read yet."}
    calls = *[("read_file", {"name": "mail.txt"})] * 2, ("write_file", new)
    read, again, written = called(
        tmp_path, *calls, options=("--restore-places", "code", "--restore-hosts", "a.example")
    )
    assert told(read) == told(again)
    assert not [word for word in SECRETS if word in told(read)]
    assert told(written) == "written"
    assert (tmp_path / "answer.txt").read_text() == new["text"]


def test_options_that_are_wrong_end_it(tmp_path: Path) -> None:
    command = [sys.executable, *MODULE, str(tmp_path), "--restore-places", "links"]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert "--restore-places must be a collection of code, json, math, all" in ended.stderr


def test_what_a_model_writes_gets_the_words_of_the_user(tmp_path: Path) -> None:
    (tmp_path / "mail.txt").write_text(SAID)
    read, write = tools(tmp_path)
    sent = read("mail.txt")
    name = " ".join(sent.split()[2:4]).strip(",")
    said = write("answer.txt", f"Dear {name}, we look for it. {name.upper().split()[1]}!")
    assert (tmp_path / "answer.txt").read_text().startswith("Dear Zorblaxia Novak, we look for it. NOVAK!")
    assert said == "written"  # how much was put back would tell which originals are equal
    assert not [word for word in SECRETS if word in said + sent]


@pytest.mark.parametrize(
    ("text", "option", "reason"),
    [
        ("![x](https://e.example/?q={})", {"restore_places": "all"}, "link"),
        ("[x](https://ok.example/?q={})", {"restore_hosts": ["ok.example"]}, "link"),
        ("See `{}`.", {"restore_places": ["code"]}, "code"),
        ('{"name": "{}"}', {"restore_places": ["json"]}, "json"),
        ("<script>{}", {"restore_places": ["all"]}, "active"),
    ],
)
def test_a_file_gets_words_in_running_text_alone(
    tmp_path: Path, text: str, option: dict[str, Any], reason: str
) -> None:
    (tmp_path / "mail.txt").write_text(SAID)
    for number, given in enumerate(({}, option)):
        lines: list[str] = []
        read, write = tools(tmp_path, report=lines.append, **given)
        name = " ".join(read("mail.txt").split()[2:4]).strip(",")
        answer = write(f"answer{number}.txt", text.replace("{}", name))
        written = (tmp_path / f"answer{number}.txt").read_text()
        assert written == text.replace("{}", "Zorblaxia Novak" if given else name)
        assert bool(lines) is not bool(given)
        assert all(line.startswith("write_file: 0 surrogates restored, 1 not restored: 1 ") for line in lines)
        assert reason not in answer  # the model is not told what a place holds


def test_no_other_file_is_read_and_none_is_replaced(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (tmp_path / "out.txt").write_text(SAID)
    (folder / "link.txt").symlink_to(tmp_path / "out.txt")
    (folder / "there.txt").write_text(SAID)
    (folder / "bytes.bin").write_bytes(b"\xff\xfe")
    (folder / "large.txt").write_text("a " * (1 << 21) + "b")
    read, write = tools(folder)
    for name in (
        "../out.txt",
        "link.txt",
        str(tmp_path / "out.txt"),
        "none.txt",
        "bytes.bin",
        "large.txt",
        ".",
        "a\0b",
    ):
        with pytest.raises(ToolError) as refused:
            read(name)
        assert not [word for word in SECRETS if word in str(refused.value)]
    for name in ("../new.txt", "there.txt", "link.txt", "none/new.txt", "."):
        with pytest.raises(ToolError):
            write(name, "text")
    assert (folder / "there.txt").read_text() == (tmp_path / "out.txt").read_text() == SAID
    assert not (tmp_path / "new.txt").exists()


#: On no list, so none of them comes out as a surrogate. Three of them are in the user's own files.
GUESSES = "Zqxwgrad Zqxwburg Qvorbley Qvortown Vlombeck Wrexgau Xanbridge Ystrop".split()


def surrogates_in(text: str) -> list[str]:
    return text.split(".")[0].split(", ")


@pytest.mark.parametrize("way", ["changed", "renamed", "linked", "hard link", "replaced", "next run"])
def test_a_file_of_guesses_tells_nothing(tmp_path: Path, way: str) -> None:
    """It is read back as it was written, or each guess has a surrogate of its own."""
    known = GUESSES[:3]
    for city in known:
        (tmp_path / f"{city}.txt").write_text(f"I was in {city}")
    read, write = tools(tmp_path)
    surrogates = [read(f"{city}.txt").removeprefix("I was in ") for city in known]
    guesses = ", ".join([*GUESSES, known[0], surrogates[0]]) + "."
    write("guesses.txt", guesses)
    path, name = tmp_path / "guesses.txt", "guesses.txt"
    assert path.read_text() == ", ".join([*GUESSES, known[0], known[0]]) + "."
    assert read(name) == guesses
    path.write_text(path.read_text() + " and more")
    if way == "renamed":
        path.rename(tmp_path / "other.txt")
        name = "other.txt"
    elif way == "replaced":
        content = path.read_text()
        path.unlink()
        path.write_text(content)
    elif way == "next run":
        read, write = tools(tmp_path)
        surrogates = [read(f"{city}.txt").removeprefix("I was in ") for city in known]
    elif way == "linked":
        (tmp_path / "link.txt").symlink_to(path)
        name = "link.txt"
    elif way == "hard link":
        (tmp_path / "link.txt").hardlink_to(path)
        name = "link.txt"
    first, second = surrogates_in(read(name)), surrogates_in(read(name))
    assert len(first) == len(second) == len(GUESSES) + 2
    assert first != second  # each is drawn anew
    assert not {*GUESSES, *surrogates} & {*first, *second}


def test_a_new_file_is_of_the_user_again_after_a_start(tmp_path: Path) -> None:
    (tmp_path / "0.txt").write_text("I was in Zqxwgrad")
    read, write = tools(tmp_path)
    write("answer.txt", "Well.")
    (tmp_path / "1.txt").write_text("I was in Zqxwgrad")
    assert read("0.txt") != read("1.txt") != read("1.txt")
    read, _ = tools(tmp_path)
    assert read("0.txt") == read("1.txt")
    (tmp_path / "2.txt").write_text("I was in Zqxwgrad")
    (tmp_path / "answer.txt").unlink()
    lines: list[str] = []
    read, _ = tools(tmp_path, report=lines.append)
    assert read("0.txt") == read("1.txt") != read("2.txt")
    assert lines[0].startswith("1 files that the model wrote are missing")
    read, _ = tools(tmp_path, accept_files=True)
    assert read("0.txt") == read("1.txt") == read("2.txt")


def test_a_file_of_the_user_is_read_under_the_mapping(tmp_path: Path) -> None:
    for number in range(2):
        (tmp_path / f"{number}.txt").write_text("I was in Zqxwgrad")
    read, _ = tools(tmp_path)
    assert read("0.txt") == read("1.txt")


def test_the_list_of_written_files_is_neither_read_nor_written(tmp_path: Path) -> None:
    read, write = tools(tmp_path)
    write("one.txt", "one")
    assert (tmp_path / ".textveil-written").exists()
    for refused in (lambda: read(".textveil-written"), lambda: write(".TextVeil-Written", "{}")):
        with pytest.raises(ToolError, match="not in the folder"):
            refused()


@pytest.mark.full
def test_the_example_runs(example: Callable[[str], str]) -> None:
    said = example("with_mcp.py")
    assert said.endswith("the file has: Dear Anna Novak, we look for your order.\n")
    assert said.count("Novak") == 1


@pytest.mark.parametrize("name", ["a.html", "a.svg", "a.js", "a.HTM", "a", "a.md.html"])
def test_a_file_that_a_program_may_run_keeps_surrogates(tmp_path: Path, name: str) -> None:
    (tmp_path / "mail.txt").write_text("I am Zorblaxia.")
    said: list[str] = []
    read, write = tools(tmp_path, report=said.append)
    text = f"var a = 1; {read('mail.txt')}"
    write(name, text)
    assert (tmp_path / name).read_text() == text
    assert any("nothing restored" in line for line in said)
    write("a.md", text)
    assert "Zorblaxia" in (tmp_path / "a.md").read_text()


def test_the_option_all_restores_in_every_file(tmp_path: Path) -> None:
    (tmp_path / "mail.txt").write_text("I am Zorblaxia.")
    read, write = tools(tmp_path, restore_places="all")
    write("a.html", read("mail.txt"))
    assert (tmp_path / "a.html").read_text() == "I am Zorblaxia."


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes")
def test_a_named_pipe_is_not_read(tmp_path: Path) -> None:
    """Without a writer it would block the server for ever."""
    os.mkfifo(tmp_path / "pipe")
    read_file, _ = tools(tmp_path)
    with pytest.raises(ToolError, match="the file is missing, or is not a readable text file"):
        read_file("pipe")
