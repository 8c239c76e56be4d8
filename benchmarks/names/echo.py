"""Count the prompts that are restored exactly when a model repeats its input.

    python benchmarks/names/echo.py --prompts FILE... [--most 2000] [-o RECORD]

Each prompt is sent whole; the reply is *Here is what you wrote:* followed by the sanitized prompt. Each sentence of a
prompt is also sent alone; the reply is the sanitized sentence. Each reply is restored twice: in every place
(``restore_places="all"``), and in the default places. Every line of a file is a JSON object with ``text``. A difference
is silent if the report of the restoration lists no surrogate as not restored.
"""

import argparse
import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from textveil import Conversation, Sanitizer

_LEAD = "Here is what you wrote: "
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")


def split_prompt(text: str) -> Iterator[tuple[str, str]]:
    """Yield a prompt and each of its sentences, with the words that precede it in the reply."""
    yield text, _LEAD
    yield from ((sentence, "") for sentence in _SENTENCE_END.split(text) if sentence.strip() and sentence != text)


def count_echoes(sanitizer: Sanitizer, texts: list[str], style: str, places: str | tuple[str, ...]) -> Counter[str]:
    """Count replies, replies that are restored exactly, silent differences, and surrogates by outcome."""
    counts = Counter[str]()
    for text in texts:
        for unit, lead in split_prompt(text):
            conversation = Conversation(sanitizer, style=style, facts="none", restore_places=places)
            found = conversation.incoming(lead + conversation.outgoing_text(unit))
            stays = found.report.not_restored
            equal = found.reply == lead + unit
            counts.update(echoes=1, equal=equal, silent=not (equal or stays), restored=len(found.report.restored))
            counts.update(reason.value for _, reason in stays)
    return counts


def main() -> None:
    """Parse the command line, write the record and print one line per style and set of places."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--prompts", type=Path, nargs="+", required=True, help="files of prompts, JSON lines")
    parser.add_argument(
        "--most", type=int, default=2000, help="maximum characters of a prompt; longer prompts are skipped"
    )
    parser.add_argument("-o", "--output", type=Path, help="file for the record")
    a = parser.parse_args()
    texts = [json.loads(line)["text"] for path in a.prompts for line in path.read_text("utf-8").splitlines()]
    texts = [text for text in texts if len(text) < a.most]
    sanitizer, record = Sanitizer.load(), dict[str, Counter[str]]()
    for style in ("tag", "surrogate"):
        for name, places in (("everywhere", "all"), ("by default", ())):
            counts = record[f"{style}, {name}"] = count_echoes(sanitizer, texts, style, places)
            share = 100 * counts["equal"] / counts["echoes"]
            print(
                f"{style}, {name}: {share:.1f} % of {counts['echoes']} equal, {counts['silent']} silent {dict(counts)}"
            )
    if a.output is not None:
        a.output.write_text(json.dumps({"prompts": len(texts), "echoes": record}, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
