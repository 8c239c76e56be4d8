"""Call textveil's server of the Model Context Protocol: read a rewritten file, and write one that is restored.

pip install ./runtime './cli[mcp]'
"""

import asyncio
import sys
import tempfile
from pathlib import Path

from mcp import ClientSession, StdioServerParameters, stdio_client

folder = Path(tempfile.mkdtemp())
(folder / "mail.txt").write_text("I am Anna Novak, and order 88213 is late.\n")
server = StdioServerParameters(command=sys.executable, args=["-m", "textveil_cli.integrations.mcp", str(folder)])


async def main():
    """Read a file and write another one, as a model would."""
    async with stdio_client(server) as streams, ClientSession(*streams) as session:
        await session.initialize()
        read = await session.call_tool("read_file", {"name": "mail.txt"})
        print("the model reads:", read.content[0].text.strip())
        name = " ".join(read.content[0].text.split()[2:4]).strip(",")
        answer = {"name": "answer.txt", "text": f"Dear {name}, we look for your order."}
        print("the model writes:", answer["text"])
        print("the server says:", (await session.call_tool("write_file", answer)).content[0].text)


asyncio.run(main())
print("the file has:", (folder / "answer.txt").read_text())
