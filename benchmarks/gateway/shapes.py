"""Measure how the time of a conversation grows with the length of texts of one shape.

    python benchmarks/gateway/shapes.py [--sizes 62500 250000 1000000] [--only SHAPE...]

The script measures processor time of one process, which other load affects little. For each size it uses the shortest
time of --rounds. The exponent of the growth is computed from the two largest sizes.
"""

import argparse
import itertools
import json
import math
import random
import time
from collections.abc import Callable, Mapping

_MOST = 1.1


def _repeat(unit: str) -> Callable[[int], str]:
    return lambda size: unit * (size // len(unit.encode()))


def _numbers(least: int, most: int) -> Callable[[int], str]:
    def numbers(size: int) -> str:
        chance = random.Random(1)
        return " ".join(str(chance.randint(least, most)) for _ in range(size // (len(str(least)) + 1)))

    return numbers


def _names(size: int) -> str:
    chance = random.Random(1)
    return " ".join("Q" + "".join(chance.choices("abcdefghij", k=6)) for _ in range(size // 8))


_LETTERS = "abcdefghijklmnopqrstuvwxyz\u00e9\u00fc\u00f6\u00e4\u00f1\u00e7\u00df\u00f8\u00e5\u00e6"


def _short_words(letters: str, length: int) -> Callable[[int], str]:
    def words(size: int) -> str:
        return " ".join(map("".join, itertools.islice(itertools.product(letters, repeat=length), size // (length + 1))))

    return words


#: Function by shape that returns a text of a given size.
SHAPES: Mapping[str, Callable[[int], str]] = {
    "x y": _repeat("x y "),
    "four digits": _numbers(2100, 9999),
    "five digits": _numbers(10_000, 99_999),
    "two digits": _repeat("12 "),
    "&amp;": _repeat("&amp;"),
    "&amp; and a blank": _repeat("&amp; "),
    "&lt;p&gt;": _repeat("&lt;p&gt; "),
    "one long word": _repeat("a"),
    "words": _repeat("the doctor said "),
    "capitals": _repeat("Anna "),
    "acronyms": _repeat("ABC DEF "),
    "names, all different": _names,
    "short words, all different": _short_words(_LETTERS, 4),
    "words of three letters, all different": _short_words(_LETTERS, 3),
    "words of four ASCII letters, all different": _short_words(_LETTERS[:26], 4),
    "brackets": _repeat("["),
    "tags": _repeat("[a 1] "),
    "quotation marks": _repeat('"'),
    "quoted words": _repeat('"a" '),
    "a.b.c": _repeat("a.b.c."),
    "a.b.c and a blank": _repeat("a.b.c "),
    "at signs": _repeat("@"),
    "handles": _repeat("@ab "),
    "URLs": _repeat("https://www.example.com/a?b=c "),
    "paths": _repeat("/a/b "),
    "newlines": _repeat("\n"),
    "short lines": _repeat("a b\nAnna\n"),
    "tabs": _repeat("a\tb"),
    "no-break spaces": _repeat("a\u00a0b"),
    "apostrophes": _repeat("'"),
    "don't": _repeat("don't "),
    "emoji": _repeat("\U0001f600"),
    "joined emoji": _repeat("\U0001f468\u200d\U0001f469\u200d\U0001f467 "),
    "hyphens": _repeat("A-b-c "),
    "particles": _repeat("van der "),
    "dates": _repeat("5 May 2020 "),
    "phones": _repeat("+1 (555) 123 4567, "),
    "JSON": _repeat('{"a":1}, '),
}


def measure(text: str, rounds: int) -> float:
    """Return the seconds of processor time that a new conversation takes for a text."""
    from textveil import Conversation, Sanitizer

    found = math.inf
    sanitizer = Sanitizer.load()
    for _ in range(rounds):
        conversation = Conversation(sanitizer, style="surrogate", facts="none")
        start = time.process_time()
        conversation.outgoing_text(text)
        found = min(found, time.process_time() - start)
    return found


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[62_500, 250_000, 1_000_000])
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--only", nargs="*", choices=SHAPES, default=list(SHAPES))
    options = parser.parse_args()
    above: list[str] = []
    measure("I am Anna Novak.", 1)
    for name in options.only:
        seconds = [measure(SHAPES[name](size), options.rounds) for size in options.sizes]
        exponent = math.log(seconds[-1] / seconds[-2]) / math.log(options.sizes[-1] / options.sizes[-2])
        above += [name] if exponent > _MOST else []
        line = {"shape": name, "seconds": [round(one, 3) for one in seconds], "exponent": round(exponent, 2)}
        print(json.dumps(line, ensure_ascii=False), flush=True)
    print(json.dumps({f"above {_MOST}": above}))


if __name__ == "__main__":
    main()
