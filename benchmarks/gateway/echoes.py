"""Count the replies that a later request contains exactly as the model wrote them, for several kinds of clients.

    python benchmarks/gateway/echoes.py ../shared/data/prompts/pupa.jsonl --conversations 50

A conversation consists of several prompts. The simulated model answers with parts of its input, which contain
surrogates. Each request has all earlier messages, which a client may change. If a request contains a reply in another
form than the model wrote it, the gateway replaces names in it by unlinked surrogates. The model then cannot assign them
to the persons of other messages.
"""

import argparse
import json
import random
from collections.abc import Callable
from typing import Any

from textveil import Conversation, Sanitizer

Messages = list[dict[str, Any]]
TURNS = 6


def change_replies(change: Callable[[str], str]) -> Callable[[Messages, int], Messages]:
    """Return a client that applies a function to each reply before it sends the messages."""
    return lambda messages, turn: [
        {**message, "content": change(message["content"])} if message["role"] == "assistant" else message
        for message in messages
    ]


def merge_replies(messages: Messages, turn: int) -> Messages:
    """Join all replies except the last one to one message after the first prompt."""
    said = [message["content"] for message in messages if message["role"] == "assistant"]
    if len(said) < 2:
        return messages
    return [messages[0], {"role": "assistant", "content": "\n".join(said[:-1])}, *messages[-3:]]


CLIENTS: dict[str, Callable[[Messages, int], Messages]] = {
    "sends messages unchanged": lambda messages, turn: messages,
    "strips spaces and line ends": change_replies(str.strip),
    "has a system prompt that changes": lambda messages, turn: [
        {"role": "system", "content": f"It is {9 + turn} o'clock."},
        *messages,
    ],
    "drops all but the last 5 messages": lambda messages, turn: messages[-5:],
    "keeps the first message and the last 4": lambda messages, turn: (
        messages if len(messages) < 6 else [messages[0], *messages[-4:]]
    ),
    "asks again for each second reply": lambda messages, turn: messages,
    "cuts replies after 200 characters": change_replies(lambda text: text[:200]),
    "merges replies": merge_replies,
}


def count_replies(sanitizer: Sanitizer, prompts: list[str], name: str, chance: random.Random) -> tuple[int, int]:
    """Return how many replies were sent exactly as the model wrote them, and how many replies were sent in total."""
    client, conversation = CLIENTS[name], Conversation(sanitizer, style="surrogate", facts="none")
    history: Messages = []
    written, exact, sent_again = set[str](), 0, 0
    for turn, prompt in enumerate(prompts):
        history.append({"role": "user", "content": prompt})
        exchange = conversation.start_exchange()
        sent = exchange.outgoing(client(history, turn))
        replies = [message["content"] for message in sent if message["role"] == "assistant"]
        sent_again += len(replies)
        exact += sum(any(reply and reply in text for text in written) for reply in replies)
        words = sent[-1]["content"].split()
        first = chance.randrange(max(1, len(words) - 40))
        answer = "\n" + " ".join(words[first : first + 80]) + " \n"
        written.add(answer)
        restored = exchange.incoming(answer).reply
        if name.startswith("asks again") and turn % 2:
            again = conversation.start_exchange()
            again.outgoing(client(history, turn))
            answer = f"Once more: {answer}"
            written.add(answer)
            restored = again.incoming(answer).reply
        history.append({"role": "assistant", "content": restored})
    return exact, sent_again


def main() -> None:
    """Print a line for each client."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("prompts", help="JSON lines with a text")
    parser.add_argument("--conversations", type=int, default=50)
    given = parser.parse_args()
    with open(given.prompts, encoding="utf-8") as file:
        texts = [json.loads(line)["text"] for line in file]
    chance, sanitizer = random.Random(0), Sanitizer.load()
    talks = [chance.sample(texts, TURNS) for _ in range(given.conversations)]
    for name in CLIENTS:
        counts = [count_replies(sanitizer, talk, name, random.Random(number)) for number, talk in enumerate(talks)]
        exact, total = (sum(column) for column in zip(*counts, strict=True))
        print(f"{name}: {exact} of {total}, {exact / total:.1%}")


if __name__ == "__main__":
    main()
