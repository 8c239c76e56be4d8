"""Write the training file of support-static: requests to a bank's support, with their topics.

    python artifacts/topics/write_support.py banking.jsonl -o support.tsv

The input has one JSON object per line, with ``text`` and ``source`` (``banking77/INTENT``). ``support.tsv``
beside this script has the topic of each intent. The output
has the columns ``text`` and ``label``, for ``textveil-train encoder``.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

TOPICS = Path(__file__).with_name("support.tsv")


def read_topics(path: Path = TOPICS) -> dict[str, str]:
    """Return the topic of each intent."""
    pairs = [line.split("\t") for line in path.read_text("utf-8").splitlines()]
    topics = {pair[0]: pair[1] for pair in pairs}
    if len(topics) != len(pairs):
        raise ValueError(f"{path.name} lists an intent twice")
    return topics


def label_requests(lines: Iterable[str], topics: dict[str, str]) -> list[tuple[str, str]]:
    """Return pairs of text and topic for all requests; runs of white space become single spaces.

    Raises:
        KeyError: An intent has no topic.
    """
    requests = (json.loads(line) for line in lines)
    return [(" ".join(one["text"].split()), topics[one["source"].removeprefix("banking77/")]) for one in requests]


def main() -> None:
    """Write the file, and print how many requests each topic has."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("banking", type=Path)
    parser.add_argument("-o", "--output", type=Path, required=True)
    a = parser.parse_args()
    with a.banking.open(encoding="utf-8") as lines:
        rows = label_requests(lines, read_topics())
    a.output.write_text("".join(f"{text}\t{topic}\n" for text, topic in [("text", "label"), *rows]), "utf-8")
    for topic, count in Counter(topic for _, topic in rows).most_common():
        print(f"{topic}\t{count}")


if __name__ == "__main__":
    sys.exit(main())
