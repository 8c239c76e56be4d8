"""The server of the Model Context Protocol, as a client of it calls it."""

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp.server.mcpserver", reason="needs the extra mcp: make integrations")

from mcp import ClientSession, StdioServerParameters, stdio_client  # pyright: ignore[reportMissingImports]

SAID = "I am Zorblaxia Novak, and order 88213 is late.\n"


def called(folder: Path, *calls: tuple[str, dict[str, str]]) -> list[Any]:
    """Starts the server as a client does, and calls its tools."""

    async def results() -> list[Any]:
        server = StdioServerParameters(command=sys.executable, args=["-m", "textveil_cli.integrations.mcp", str(folder)], env={**os.environ})
        async with stdio_client(server) as streams, ClientSession(*streams) as session:
            await session.initialize()
            assert {tool.name for tool in (await session.list_tools()).tools} == {"read_file", "write_file"}
            return [await session.call_tool(name, given) for name, given in calls]

    return asyncio.run(results())


def test_a_model_reads_and_writes_files_and_never_has_the_names(tmp_path: Path) -> None:
    (tmp_path / "mail.txt").write_text(SAID)
    (read,) = called(tmp_path, ("read_file", {"name": "mail.txt"}))
    assert not [word for word in ("Zorblaxia", "Novak", "88213") if word in read.content[0].text]
