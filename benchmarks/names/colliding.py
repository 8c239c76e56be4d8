"""Count false restorations in replies whose own numbers, letters and names equal surrogates of the message.

    python benchmarks/names/colliding.py [--rounds 3] [-o RECORD]

The messages are the 300 of ``tests/runtime/conversation/replies.jsonl``, each with an added sentence that has short
numbers, letters and an initial. The sentences of a reply are about another subject. Each contains a surrogate of its
message in a place with another meaning: ``Step 7``, ``vitamin K``, ``the Treaty of Lyon``. No sentence quotes the
message, so every restoration is false. Surrogates that are reported as not restored are counted too. A model knows only
its input: a name in its reply that equals a surrogate usually means the person or place of the message. So names are
restored everywhere; numbers and letters are not.
"""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT / "tests/fixtures")]

import argparse
import json
import random
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from textveil import Conversation, Sanitizer
from written_replies import FILE

#: Last sentence of every message, so that the message has short surrogates of all types.
LAST_SENTENCE = " It concerns variant X, step 3 of 9, 14 pages in room 6, item c, and what Q. Adler said on Friday."
#: Sentences of a reply on another subject, by the type of the surrogate that they get.
SENTENCES = {
    "number": """Step {}: write down what you have.|See section {} of the guide.|There are {} ways to do this.
{}. Keep a copy.|Chapter {} covers it.|About {} percent of people agree.|Rule {} applies here.|Wait {} minutes.
Fill in page {} as well.|It is {} times as likely.""",
    "letter": """Option {} is the safest.|Take vitamin {} with food.|Plan {} costs less.|({}) Ask a lawyer.
The variable {} is the rate.|Hepatitis {} is rare.|A type {} plug fits.|Let {} be the rate.|Grade {} is enough.""",
    "title": "{} is short for a title.|Write {} before the name.",
    "given": "{} Curie found that first.|As {} Lincoln put it, wait.|Saint {} has a day of his own.",
    "family": "The {} method is older.|See {} against the State.|A {} reaction takes an hour.",
    "city": "The Treaty of {} settled it.|The {} school of thought differs.",
    "day": "{} is a good time to call.|Offices are shut in {} as a rule.",
}
_SORTS = {
    **dict.fromkeys(("number", "day", "digits", "age"), "number"),
    **dict.fromkeys(("letter", "initial"), "letter"),
    **{kind: kind for kind in ("title", "given", "family", "city")},
    **dict.fromkeys(("weekday", "month"), "day"),
}
_MOST_DIGITS = 3


def send_message(conversation: Conversation, message: str) -> dict[str, list[str]]:
    """Send a message, and return its surrogates by type."""
    pieces: list[Any] = []
    draw = conversation._shared.surrogate_state.rewrite_stream

    def keep_pieces(entries: Iterable[Any]) -> Iterator[Any]:
        pieces.extend(draw(entries))
        return iter(pieces)

    conversation._shared.surrogate_state.rewrite_stream = keep_pieces  # type: ignore[method-assign]
    conversation.outgoing_text(message)
    found: dict[str, list[str]] = {}
    for piece in pieces:
        parts = () if piece.mention is None else piece.mention.parts
        for part, output in zip(parts, piece.parts, strict=len(piece.parts) > 0):
            sort = _SORTS.get(part.entity_type)
            if sort == "day" and not output.isalpha():
                sort = "number"
            if sort is not None and output and (sort != "number" or len(output) <= _MOST_DIGITS):
                found.setdefault(sort, []).append(output)
    return found


def make_reply(surrogates: dict[str, list[str]], chance: random.Random) -> list[tuple[str, str]]:
    """Return the sentences of a reply, each with the type of its surrogate."""
    lines: list[tuple[str, str]] = []
    for sort, outputs in surrogates.items():
        sentences = SENTENCES[sort].replace("\n", "|").split("|")
        for output in dict.fromkeys(outputs):
            lines.append((sort, chance.choice(sentences).format(output)))
    chance.shuffle(lines)
    return lines


def count_false(sanitizer: Sanitizer, messages: list[str], seed: int) -> dict[str, Counter[str]]:
    """Count by type all sentences, changed sentences, and sentences with a reported surrogate."""
    counts: dict[str, Counter[str]] = {}
    chance = random.Random(seed)
    for message in messages:
        conversation = Conversation(sanitizer, style="surrogate", facts="none", restore_places="all")
        lines = make_reply(send_message(conversation, message + LAST_SENTENCE), chance)
        found = conversation.incoming("\n".join(line for _, line in lines))
        stays = {written for written, _ in found.report.not_restored}
        for (sort, line), restored in zip(lines, found.reply.split("\n"), strict=True):
            of_sort = counts.setdefault(sort, Counter())
            reported = not stays.isdisjoint(
                line.replace(":", " ").replace(".", " ").strip("(").replace(")", "").split()
            )
            of_sort.update(sentences=1, false=restored != line, reported=restored == line and reported)
    return counts


def main() -> None:
    """Parse the command line and write the record."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--rounds", type=int, default=3, help="number of times that each message is sent")
    parser.add_argument("-o", "--output", type=Path, help="file for the record")
    a = parser.parse_args()
    sanitizer = Sanitizer.load()
    messages = [json.loads(line)["message"] for line in FILE.read_text("utf-8").splitlines()]
    sums: dict[str, Counter[str]] = {}
    for number in range(a.rounds):
        for sort, counts in count_false(sanitizer, messages, number).items():
            sums.setdefault(sort, Counter()).update(counts)
    if a.output is not None:
        a.output.write_text(json.dumps({"replies": a.rounds * len(messages), "sorts": sums}, indent=1) + "\n", "utf-8")
    for sort, counts in sums.items():
        share = 100 * counts["false"] / counts["sentences"]
        print(f"{sort}: {share:.1f} % of {counts['sentences']} changed, {counts['reported']} of the others reported")


if __name__ == "__main__":
    main()
