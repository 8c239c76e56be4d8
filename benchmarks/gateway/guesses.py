"""Let a model test 10,000 guesses of a hidden word, by each way in which its own words can return to it.

    python benchmarks/gateway/guesses.py [--guesses 10000] [--trials 5] [--only WAY...]

The user mentions a city that is not in a surrogate pool. The model receives the city's surrogate, and guesses 10,000
cities, one of which is the true one. The model receives all later requests. A hit is a guess that a request contains as
the surrogate of the user's city. The column "in clear" counts requests with a word of the user that the model did not
write. The client restores originals everywhere (``restore_places="all"``), since this helps the model most. Results of
tools share the mapping if the model wrote at most 3 strings into the call, and at most 32 strings into all calls of the
conversation. So a model can test 32 of the 10,000 guesses by tools.

Against the last two ways there is no protection: a tool returns the text of the model's reply, such as a transcript or
a draft, or a person or a program copies the model's guesses into the user's own message. The ways with files need the
package mcp.
"""

import argparse
import json
import random
import re
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from textveil import Conversation, Sanitizer

Message = dict[str, Any]
#: Parts of the user's message, between which are the city and the age.
_BEFORE, _AFTER, _AGE = "Yesterday I met her in ", " at noon. I am ", " years old."
_LISTS = Path(__file__).parents[2] / "artifacts/english-v4"
_REPLY_GUESSES = 500


class Game:
    """One conversation of a user with a model that guesses.

    Args:
        sanitizer: The sanitizer of the user's messages.
        city: The user's city.
        age: The user's age.
        guesses: The model's guesses.
    """

    def __init__(self, sanitizer: Sanitizer, city: str, age: str, guesses: list[str]) -> None:
        self.city, self.age, self.guesses = city, age, guesses
        self.conversation = Conversation(
            sanitizer, style="surrogate", facts="none", restore_places="all", restore_tools=("find",)
        )
        self.messages: list[Message] = [{"role": "user", "content": f"{_BEFORE}{city}{_AFTER}{age}{_AGE}"}]
        sent = self.ask()[0]["content"]
        self.surrogate, _, rest = sent.removeprefix(_BEFORE).partition(_AFTER)
        self.age_surrogate = rest.removesuffix(_AGE)
        self.hits = self.in_clear = 0

    def ask(self) -> list[Message]:
        """Send all messages, and return the model's input."""
        self.exchange = self.conversation.start_exchange()
        return self.exchange.outgoing(self.messages)

    def answer(self, written: Message) -> Message:
        """Pass a reply of the model to the client, and return it as the client stores it."""
        self.messages.append(self.exchange.incoming(written).reply)
        return self.messages[-1]

    def observe(self, written: str, sent: str) -> None:
        """Count the hits in a text of the model that a later request contains.

        Args:
            written: The text as the model wrote it, with guesses and copies of the surrogate.
            sent: The text in the later request.
        """
        self.hits += max(0, count_word(self.surrogate, sent) - count_word(self.surrogate, written))
        self.in_clear += count_word(self.city, sent) > count_word(self.city, written)


def count_word(word: str, text: str) -> int:
    """Return how often a word or phrase occurs in a text, not as a part of a longer word."""
    return len(re.findall(rf"\b{re.escape(word)}\b", text))


def list_guesses(game: Game) -> Iterator[list[str]]:
    """Yield the guesses for each reply, some hundreds, with the surrogate before and after them."""
    for start in range(0, len(game.guesses), _REPLY_GUESSES):
        yield [game.surrogate, *game.guesses[start : start + _REPLY_GUESSES], game.surrogate]


def send_again(change: Callable[[str], str], *, role: str = "assistant", copies: int = 1) -> Callable[[Game], None]:
    """Return a function that plays a game in which the client changes each reply and sends it again."""

    def run(game: Game) -> None:
        for texts in list_guesses(game):
            written = "Is it one of these? " + ". ".join(texts)
            reply = game.answer({"role": "assistant", "content": written})
            again = {"role": role, "content": change(str(reply["content"]))}
            game.messages[-1:] = [again] * copies
            game.messages.append({"role": "user", "content": "Go on, please."})
            sent = game.ask()
            for message in sent[-1 - copies : -1]:
                game.observe(change(written), message["content"])
            game.messages = game.messages[:1]

    return run


def send_parts(game: Game) -> None:
    """Play a game in which the client sends a reply of thousands of texts unchanged, with the surrogate among them."""
    texts = [game.surrogate, *game.guesses, game.surrogate]
    game.answer({"role": "assistant", "content": [{"type": "text", "text": text} for text in texts]})
    game.messages.append({"role": "user", "content": "Go on, please."})
    for text, part in zip(texts, game.ask()[-2]["content"], strict=True):
        game.observe(text, part["text"])


def call_tools(
    strings: int, result: Callable[[str], str], written: Callable[[str], str] = str
) -> Callable[[Game], None]:
    """Return a function that plays a game in which results of tools repeat the arguments that the model wrote.

    Args:
        strings: Number of guesses in each call.
        result: Function that returns the tool's text for one string of its arguments.
        written: Function that returns the model's spelling of a guess.
    """

    def run(game: Game) -> None:
        for number, start in enumerate(range(0, len(game.guesses), strings)):
            guesses = [written(guess) for guess in game.guesses[start : start + strings]]
            function = {"name": "find", "arguments": json.dumps({"towns": guesses})}
            call = {"id": f"call_{number}", "type": "function", "function": function}
            reply = game.answer({"role": "assistant", "content": None, "tool_calls": [call]})
            towns = json.loads(reply["tool_calls"][0]["function"]["arguments"])["towns"]
            text = "\n".join(map(result, towns))
            game.messages.append({"role": "tool", "tool_call_id": f"call_{number}", "content": text})
            game.observe("\n".join(map(result, guesses)), game.ask()[-1]["content"])
            game.messages = game.messages[:1]

    return run


def return_reply(game: Game) -> None:
    """Play a game in which results of tools repeat the text of the reply that contains the call."""
    for number, texts in enumerate(list_guesses(game)):
        written = "Is it one of these? " + ". ".join(texts)
        call = {"id": f"call_{number}", "type": "function", "function": {"name": "find", "arguments": "{}"}}
        reply = game.answer({"role": "assistant", "content": written, "tool_calls": [call]})
        game.messages.append({"role": "tool", "tool_call_id": f"call_{number}", "content": reply["content"]})
        game.observe(written, game.ask()[-1]["content"])
        game.messages = game.messages[:1]


def call_tools_of_anthropic(game: Game) -> None:
    """Play a game in which results of Anthropic's messages API repeat 50 guesses of each call."""
    for number, start in enumerate(range(0, len(game.guesses), 50)):
        guesses = game.guesses[start : start + 50]
        call = {"type": "tool_use", "id": f"toolu_{number}", "name": "find", "input": {"towns": guesses}}
        reply = game.answer({"role": "assistant", "content": [call]})["content"][0]
        text = "\n".join(map("No results for {}.".format, reply["input"]["towns"]))
        result = {"type": "tool_result", "tool_use_id": reply["id"], "content": text}
        game.messages.append({"role": "user", "content": [result]})
        game.observe(text, game.ask()[-1]["content"][0]["content"])
        game.messages = game.messages[:1]


def call_tools_of_responses(game: Game) -> None:
    """Play a game in which outputs of OpenAI's responses API repeat 50 guesses of each call."""
    for number, start in enumerate(range(0, len(game.guesses), 50)):
        arguments = json.dumps({"towns": game.guesses[start : start + 50]})
        call = {"type": "function_call", "call_id": f"call_{number}", "name": "find", "arguments": arguments}
        reply = game.exchange.incoming([call]).reply[0]
        text = "\n".join(map("No results for {}.".format, json.loads(reply["arguments"])["towns"]))
        output = {"type": "function_call_output", "call_id": reply["call_id"], "output": text}
        game.messages += [reply, output]
        game.observe(text, game.ask()[-1]["output"])
        game.messages = game.messages[:1]


def call_by_guesses(field: str, result: Callable[[str], str]) -> Callable[[Game], None]:
    """Return a function that plays a game in which the result of a call contains its name or its identifier.

    Args:
        field: Field of the call that contains the guess: ``name`` or ``id``.
        result: Function that returns the text of the result for a name or identifier.
    """

    def run(game: Game) -> None:
        for number, start in enumerate(range(0, len(game.guesses), _REPLY_GUESSES)):
            calls = []
            for place, guess in enumerate(game.guesses[start : start + _REPLY_GUESSES]):
                known = {"id": f"call_{number}_{place}", "name": "find", field: guess.replace(" ", "_")}
                function = {"name": known["name"], "arguments": "{}"}
                calls.append({"id": known["id"], "type": "function", "function": function})
            game.exchange.declare_tools(["find"])
            reply = game.answer({"role": "assistant", "content": None, "tool_calls": calls})
            for call in reply["tool_calls"]:
                echoed = call["id"] if field == "id" else call["function"]["name"]
                game.messages.append({"role": "tool", "tool_call_id": call["id"], "content": result(echoed)})
            sent = game.ask()
            for written, message in zip(calls, sent[-len(calls) :], strict=True):
                echoed = written["id"] if field == "id" else written["function"]["name"]
                game.observe(result(echoed), message["content"])
            game.messages = game.messages[:1]

    return run


def read_age(written: Callable[[str], str]) -> Callable[[Game], None]:
    """Return a function that plays a game in which a restored number returns in a form that is kept: ``&#79;``."""

    def run(game: Game) -> None:
        text = written(game.age_surrogate)
        function = {"name": "find", "arguments": json.dumps({"note": text})}
        game.answer(
            {
                "role": "assistant",
                "content": text,
                "tool_calls": [{"id": "c", "type": "function", "function": function}],
            }
        )
        note = json.loads(game.messages[-1]["tool_calls"][0]["function"]["arguments"])["note"]
        game.messages.append({"role": "tool", "tool_call_id": "c", "content": f"Saved: {note}"})
        for message in game.ask()[1:]:
            game.in_clear += count_word(game.age, str(message["content"])) > 0 and game.age != game.age_surrogate

    return run


def write_files(written: Callable[[str], str], change: Callable[[str], str] = str) -> Callable[[Game], None]:
    """Return a function that plays a game in which the model writes files of guesses and reads them again.

    ``change`` is the change that another program makes to the files.
    """

    def run(game: Game) -> None:
        from textveil_cli.integrations.mcp import make_server

        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            (folder / "user.txt").write_text(f"{_BEFORE}{game.city}{_AFTER}{game.age}{_AGE}", "utf-8")
            server = make_server(folder, game.conversation._shared.sanitizer, restore_places="all")
            read, write = (server._tool_manager.get_tool(tool).fn for tool in ("read_file", "write_file"))
            game.surrogate, _, rest = read("user.txt").removeprefix(_BEFORE).partition(_AFTER)
            game.age_surrogate = rest.removesuffix(_AGE)
            text = "\n".join(map(written, [game.surrogate, *game.guesses])) + f"\n&#{game.age_surrogate};"
            write("guesses.txt", text)
            path = folder / "guesses.txt"
            changed = change(path.read_text("utf-8"))
            if changed != path.read_text("utf-8"):
                path.write_text(changed, "utf-8")
            got = read("guesses.txt")
            game.observe(change(text), got)
            game.in_clear += game.age != game.age_surrogate and f"&#{game.age};" in got

    return run


def as_entities(word: str) -> str:
    """Write the first letter of a word as an HTML entity."""
    return f"&#{ord(word[0])};{word[1:]}"


WAYS: dict[str, Callable[[Game], None]] = {
    "exact echo": send_again(str),
    "exact echo of 10,000 parts": send_parts,
    "stripped": send_again(lambda text: f"\n {text.strip(' .?')} "),
    "edited": send_again(lambda text: text.replace("Is it one of these?", "It may be one of these:")),
    "repeated": send_again(str, copies=2),
    "repeated in one text": send_again(lambda text: f"{text}\n\n{text}"),
    "summarized under the model's name": send_again(lambda text: "Summary of what I said: " + text[20:]),
    "a tool repeats guesses, all in one call": call_tools(10_000, "No results for {}.".format),
    "a tool repeats guesses, one in each call": call_tools(1, "No results for {}.".format),
    "a tool repeats guesses, three in each call": call_tools(3, "No results for {}.".format),
    "a tool repeats guesses at the start of a sentence": call_tools(50, "{}: none.".format),
    "a tool of Anthropic's API repeats guesses": call_tools_of_anthropic,
    "a tool of OpenAI's responses API repeats guesses": call_tools_of_responses,
    "names of tools that a client does not know": call_by_guesses("name", "Error: {} is not a valid tool.".format),
    "identifiers of calls": call_by_guesses("id", "Call {} failed.".format),
    "HTML entities in a reply": send_again(lambda text: text.replace("S", "&#83;")),
    "HTML entities through a tool": call_tools(50, "No results for {}.".format, as_entities),
    "an age as &#79;": read_age("&#{};".format),
    "an age as <3": read_age("<{} and &lt;{}".replace("{}", "{0}").format),
    "MCP files": write_files(str),
    "MCP files that somebody changed": write_files(str, lambda text: text.replace("\n", " \n")),
    "MCP files with HTML entities": write_files(as_entities),
    "a tool repeats the text of the reply (promised nothing)": return_reply,
    "summarized in the user's message (promised nothing)": send_again(str, role="user"),
}


def read_list(name: str) -> list[str]:
    """Return the entries of a list of the bundle, without their marks."""
    return [line.partition("\t")[0] for line in (_LISTS / name).read_text("utf-8").lower().splitlines()]


def main() -> None:
    """Print a line for each way."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--guesses", type=int, default=10_000)
    parser.add_argument("--trials", type=int, default=5)
    parser.add_argument("--only", nargs="*", default=list(WAYS), choices=WAYS)
    given = parser.parse_args()
    cities = [city.title() for city in read_list("entity.city.txt") if city.isascii() and city.isalpha()]
    surrogates = {entry for path in _LISTS.glob("surrogates.*") for entry in read_list(path.name)}
    pools = {word for entry in surrogates for word in entry.split()}
    sanitizer = Sanitizer.load()
    for name in given.only:
        hits = in_clear = 0
        for trial in range(given.trials):
            chance = random.Random(trial)
            guesses = chance.sample(cities, given.guesses)
            secret = chance.choice([guess for guess in guesses if guess.lower() not in pools and len(guess) > 4])
            age = str(chance.randint(31, 98))
            game = Game(sanitizer, secret, age, guesses)
            while any(count_word(game.surrogate.lower(), entry) for entry in surrogates - {game.surrogate.lower()}):
                game = Game(sanitizer, secret, age, guesses)  # a hit of Delhi would be counted in each New Delhi
            WAYS[name](game)
            hits, in_clear = hits + game.hits, in_clear + game.in_clear
        found = {"way": name, "trials": given.trials, "guesses": given.guesses, "hits": hits, "in clear": in_clear}
        print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
