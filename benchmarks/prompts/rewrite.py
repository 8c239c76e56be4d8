"""Rewrite prompts by one tool.

    python benchmarks/prompts/rewrite.py TOOL < PROMPTS > OUTPUTS

PROMPTS are JSON lines of `id` and `text`, OUTPUTS of `id` and `output`.
``make_sheets.py`` runs it with another version of the library on PYTHONPATH.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import argparse
import json

from prompts.tools import TOOLS, ToolError


def main() -> None:
    """Rewrite every line.

    Raises:
        SystemExit: The tool cannot run here.
    """
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("tool", choices=list(TOOLS))
    try:
        tool = TOOLS[parser.parse_args().tool]()
    except ToolError as error:
        sys.exit(str(error))
    sys.stdin.reconfigure(encoding="utf-8")  # pyright: ignore[reportAttributeAccessIssue]
    sys.stdout.reconfigure(encoding="utf-8")  # pyright: ignore[reportAttributeAccessIssue]
    for line in sys.stdin:
        row = json.loads(line)
        print(json.dumps({"id": row["id"], "output": tool.rewrite(row["text"])}))


if __name__ == "__main__":
    main()
