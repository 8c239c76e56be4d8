"""Write the sheets that a reader judges: each has a prompt and its output by a tool that is not named.

    python benchmarks/prompts/make_sheets.py TOOL... --prompts DIR --clone CLONE -o FOLDER

Each TOOL of ``tools.py`` rewrites the new prompts of ``drawn.json``. Other sheets have known outputs, whose verdicts
are in ``verdicts.jsonl``. The known outputs are computed again: the outputs with tags by a clone of this repository at
commit 95b7d308, the outputs of Presidio by the installed version. Both always return the same text. All sheets are
ordered by a hash, so a reader cannot see which sheets are known.

FOLDER/reader has the files for the reader: ``sheets.jsonl`` (`sheet`, `original`, `rewritten`) and ``form.md``.
FOLDER/key.jsonl (`sheet`, `id`, `tool`) is for ``score.py`` only. Do not commit the folder to a repository.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import argparse
import json
import os
import shutil
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from prompts.draw import DRAWN, in_order
from prompts.prompts import SETS, read_prompts
from prompts.tools import TOOLS

KNOWN_COMMIT = "95b7d308"
FORM = Path(__file__).with_name("form.md")
REWRITE = Path(__file__).with_name("rewrite.py")
#: Tool that computes each type of known output, by its name in verdicts.jsonl; the first one needs the clone.
KNOWN_TOOLS = {"textveil names, tag": "names-none-tag", "presidio default": "presidio"}
_FROM_CLONE = "names-none-tag"


@dataclass(frozen=True)
class Sheet:
    """A prompt and an output.

    Attributes:
        id: The id of the prompt.
        tool: Name of the tool in the key.
        original: The prompt.
        rewritten: The output of the tool.
    """

    id: str
    tool: str
    original: str
    rewritten: str


def rewrite(tool: str, texts: Mapping[str, str], source: Path | None = None) -> dict[str, str]:
    """Rewrite texts by a tool in a separate process, and return the outputs by id.

    Args:
        tool: Name of a tool.
        texts: The texts by id.
        source: Folder of the library to use instead of the installed one.

    Raises:
        SystemExit: The tool cannot run; the reason is on standard error.
    """
    environment = dict(os.environ) if source is None else {**os.environ, "PYTHONPATH": str(source)}
    lines = "".join(json.dumps({"id": one, "text": text}) + "\n" for one, text in texts.items())
    done = subprocess.run(
        [sys.executable, str(REWRITE), tool], input=lines, stdout=subprocess.PIPE, env=environment, encoding="utf-8"
    )
    if done.returncode:
        sys.exit(f"{tool} did not run")
    return {row["id"]: row["output"] for row in map(json.loads, done.stdout.split("\n")[:-1])}


def rewrite_drawn(tools: Iterable[str], drawn: Mapping[str, Any], texts: Mapping[str, str], clone: Path) -> list[Sheet]:
    """Return the sheets of the new prompts by each tool, and of the known outputs, in no special order."""
    sheets = []
    for tool in tools:
        outputs = rewrite(tool, {one: texts[one] for one in drawn["new"]})
        sheets += [Sheet(one, tool, texts[one], output) for one, output in outputs.items()]
    for called, ids in drawn["known"].items():
        tool = KNOWN_TOOLS[called]
        source = clone / "runtime" / "src" if tool == _FROM_CLONE else None
        outputs = rewrite(tool, {one: texts[one] for one in ids}, source)
        sheets += [Sheet(one, called, texts[one], output) for one, output in outputs.items()]
    return sheets


def write_sheets(sheets: Sequence[Sheet], folder: Path) -> None:
    """Write the files of the reader and the key. Sheets are ordered by the hash of tool and id."""
    by_name = {f"{sheet.tool}/{sheet.id}": sheet for sheet in sheets}
    reader = folder / "reader"
    reader.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(FORM, reader / "form.md")
    pages, key = [], []
    for number, name in enumerate(in_order(by_name, "sheets"), 1):
        sheet = by_name[name]
        pages.append({"sheet": number, "original": sheet.original, "rewritten": sheet.rewritten})
        key.append({"sheet": number, "id": sheet.id, "tool": sheet.tool})
    for path, rows in ((reader / "sheets.jsonl", pages), (folder / "key.jsonl", key)):
        path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")


def check_clone(clone: Path) -> None:
    """Check that a folder is a clone at the commit of the known outputs, without changes.

    Raises:
        SystemExit: The folder is not a clone, or is at another commit, or has changes.
    """
    git = ["git", "-C", str(clone)]
    head = subprocess.run([*git, "rev-parse", "HEAD"], capture_output=True, text=True)
    changes = subprocess.run([*git, "status", "--porcelain", "runtime"], capture_output=True, text=True)
    if not head.stdout.startswith(KNOWN_COMMIT) or changes.stdout:
        sys.exit(f"{clone} is not a clone at commit {KNOWN_COMMIT}: git worktree add --detach {clone} {KNOWN_COMMIT}")


def main() -> None:
    """Parse the command line and write the sheets."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("tools", nargs="+", choices=list(TOOLS), metavar="TOOL")
    parser.add_argument("--prompts", type=Path, required=True, help="folder of the prompts")
    parser.add_argument("--clone", type=Path, required=True, help=f"clone of this repository at commit {KNOWN_COMMIT}")
    parser.add_argument("--drawn", type=Path, default=DRAWN, help="record of draw.py")
    parser.add_argument("-o", "--output", type=Path, required=True, help="output folder, outside of every repository")
    a = parser.parse_args()
    check_clone(a.clone)
    paths = [path for name in SETS if (path := a.prompts / f"{name}.jsonl").is_file()]
    texts = {one.id: one.text for path in paths for one in read_prompts(path)}
    sheets = rewrite_drawn(a.tools, json.loads(a.drawn.read_text("utf-8")), texts, a.clone)
    write_sheets(sheets, a.output)
    print(f"{len(sheets)} sheets for a reader: {a.output / 'reader'}")


if __name__ == "__main__":
    main()
