"""Draw the prompts that readers judge, by the hashes of their ids, and write the ids to ``drawn.json``.

    python benchmarks/prompts/draw.py --prompts DIR [-o RECORD]

``drawn.json`` was written before any rule of the option `facts`. The prompts of each data set are ordered by the
SHA-256 of ``SEED/id``, and the first prompts are drawn. Only prompts with fewer than 2 % letters of other scripts and
at most 2,000 characters can be drawn, so that a reader can compare them word by word. Prompts of ``verdicts.jsonl`` are
never drawn as new prompts. By the same order, 40 of them are drawn as known outputs: 20 with tags and 20 others by
Presidio.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import argparse
import hashlib
import json
from collections.abc import Iterable
from itertools import islice

from prompts.prompts import SETS, Prompt, is_measured, read_lines, read_prompts

SEED = "answerable-1"
#: Number of prompts drawn from each data set: half of them private, the others in the shares of the earlier verdicts.
SHARES = {"pupa": 50, "arena": 20, "instruct": 10, "ifeval": 8, "mtbench": 6, "banking": 6}
#: Tools of the known verdicts by their name in verdicts.jsonl, and the number of their outputs among the sheets.
KNOWN = {"textveil names, tag": 20, "presidio default": 20}
DRAWN = Path(__file__).with_name("drawn.json")
_MOST_CHARACTERS = 2000


def in_order(ids: Iterable[str], seed: str) -> list[str]:
    """Return ids in the order of the SHA-256 of the seed, a slash and the id."""
    return sorted(ids, key=lambda one: hashlib.sha256(f"{seed}/{one}".encode()).hexdigest())


def draw(prompts: Iterable[Prompt], judged: Iterable[str], seed: str = SEED) -> dict[str, object]:
    """Draw new prompts, and known prompts from those that have verdicts.

    Args:
        prompts: Every prompt of the data sets.
        judged: The ids with known verdicts; ids without a prompt are ignored.
        seed: Text that is hashed before each id.

    Returns:
        ``seed``, ``new`` (ids) and ``known`` (tool to ids), each in the order of the draw.
    """
    known = frozenset(judged)
    short = [one.id for one in prompts if is_measured(one) and len(one.text) <= _MOST_CHARACTERS]
    candidates = in_order((one for one in short if one not in known), seed)
    new = [
        one
        for name, count in SHARES.items()
        for one in [each for each in candidates if each.partition("-")[0] == name][:count]
    ]
    mixed_in = iter(in_order((one for one in short if one in known), seed))
    return {
        "seed": seed,
        "new": new,
        "known": {tool: list(islice(mixed_in, count)) for tool, count in KNOWN.items()},
    }


def main() -> None:
    """Parse the command line and write the record."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--prompts", type=Path, required=True, help="folder with the prompts and verdicts.jsonl")
    parser.add_argument("-o", "--output", type=Path, default=DRAWN)
    a = parser.parse_args()
    prompts = [one for name in SETS for one in read_prompts(a.prompts / f"{name}.jsonl")]
    judged = {str(row["id"]) for row in read_lines(a.prompts / "verdicts.jsonl")}
    judged |= set(json.loads((a.prompts / "judge_ids.json").read_text("utf-8")))
    a.output.write_text(json.dumps(draw(prompts, judged), indent=1) + "\n", encoding="utf-8")
    print(a.output)


if __name__ == "__main__":
    main()
