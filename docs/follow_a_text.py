"""Print the stops of one text: for each, the function, its module, and what goes in and comes out.

    python docs/follow_a_text.py names           the mode names
    python docs/follow_a_text.py words           the mode words
    python docs/follow_a_text.py conversation    a message to a model, and its reply

The script runs the real code on one sentence, and records the first call of each function in STOPS. Functions are found
by name, so a function may move to another module. The output contains the sentence: do not run it on a private text.
"""

import dataclasses
import inspect
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from textwrap import shorten
from types import CodeType, FrameType
from typing import Any

from textveil import Conversation, PrivacyStatement, Sanitizer

SENTENCE = "Please refund order 88213 to Daniel Keller, Leeds."
#: Functions of each path in the order of their first calls, as the names of their classes and their own.
STOPS = {
    "names": """
        Sanitizer.sanitize NamesRewriter.rewrite Lexicon.tokenize_chunks Lexicon.classify_stem
        SpanFinder.iterate_blocks EntityClassifier.classify_span random_uint64 SurrogatePools.spell_surrogate
        PrivacyTerms.statement
        """,
    "words": """
        Sanitizer.sanitize split_at_strings TemplateRule.classify_plain SlotStaircases.draw_symbols random_uint64
        write_texts PrivacyTerms.statement
        """,
    "conversation": """
        Conversation.outgoing ConversationDraws.rewrite_stream find_pairs Conversation.incoming StreamRestorer.feed
        """,
}
#: Most characters of a printed value.
WIDTH = 92


@dataclass
class Stop:
    """The first call of one function: its module, its arguments, and the values that it returned or yielded."""

    name: str
    module: str
    arguments: dict[str, str]
    results: list[str] = field(default_factory=list)


class _Recorder:
    """Record the first call of each wanted function, as a profiler of the interpreter."""

    def __init__(self, names: list[str]) -> None:
        self.stops: dict[str, Stop] = {}
        self._names, self._open = set(names), dict[int, Stop]()
        self._codes = dict[CodeType, Stop]()

    def __call__(self, frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_qualname in self._names and code.co_qualname not in self.stops:
            given = {name: value for name, value in frame.f_locals.items() if name not in ("self", "cls")}
            arguments = {name: describe(value) for name, value in given.items()}
            stop = Stop(code.co_qualname, frame.f_globals["__name__"], arguments)
            self.stops[stop.name] = self._open[id(frame)] = stop
        elif event == "return" and id(frame) in self._open:
            stop = self._open[id(frame)]
            if argument is not None:
                stop.results.append(describe(argument))
            if not code.co_flags & inspect.CO_GENERATOR:  # a generator continues after this value
                del self._open[id(frame)]


def describe(value: Any, depth: int = 0) -> str:
    """Return a value as short text: plain values as they are, of other objects the name of the class."""
    if isinstance(value, str | int | float | bool | type(None)):
        return repr(value)
    if isinstance(value, PrivacyStatement):
        return f"{type(value).__name__}: {value.format_line()}"
    if hasattr(value, "tolist"):
        return describe(value.tolist(), depth)
    if hasattr(value, "_asdict"):  # a named tuple
        return _describe_fields(type(value).__name__, value._asdict(), depth)
    if isinstance(value, dict):
        return "{" + ", ".join(f"{describe(key)}: {describe(each, depth + 1)}" for key, each in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(describe(each, depth + 1) for each in value) + "]"
    if dataclasses.is_dataclass(value) and not isinstance(value, type) and depth < 2:
        names = [each.name for each in dataclasses.fields(value) if each.repr]
        return _describe_fields(type(value).__name__, {name: getattr(value, name) for name in names}, depth)
    return type(value).__name__


def _describe_fields(name: str, fields: dict[str, Any], depth: int) -> str:
    described = {key: describe(each, depth + 1) for key, each in fields.items()}
    shown = [f"{key}={each}" for key, each in described.items() if each not in ("None", "''", "0", "False", "[]", "{}")]
    return f"{name}({', '.join(shown)})"


def make_call(path: str) -> Callable[[], Any]:
    """Return the call of a path, with everything loaded that only the first call of a process needs."""
    sanitizer = Sanitizer.load()
    if path == "conversation":
        sanitizer.sanitize(SENTENCE, protect="names")
        return lambda: _talk(Conversation(sanitizer))
    sanitizer.sanitize("A first text.", protect=path)
    return lambda: sanitizer.sanitize(SENTENCE, protect=path).statement


def _talk(conversation: Conversation) -> None:
    (sent,) = conversation.outgoing([{"role": "user", "content": SENTENCE}])
    conversation.incoming(sent["content"])


def find_stops(path: str) -> Iterator[Stop]:
    """Yield the stops of a path in the order of their first calls.

    Raises:
        LookupError: A function of ``STOPS`` was not called.
    """
    names, call = STOPS[path].split(), make_call(path)
    recorder = _Recorder(names)
    sys.setprofile(recorder)
    try:
        call()
    finally:
        sys.setprofile(None)
    if missing := [name for name in names if name not in recorder.stops]:
        raise LookupError(f"not called: {', '.join(missing)}")
    yield from recorder.stops.values()


def main(path: str) -> None:
    """Print the stops of a path."""
    for number, stop in enumerate(find_stops(path), 1):
        print(f"{number}. {stop.name} ({stop.module})")
        print("   in:  " + shorten(", ".join(f"{name}={value}" for name, value in stop.arguments.items()), WIDTH))
        for result in stop.results[:4]:
            print("   out: " + shorten(result, WIDTH))


if __name__ == "__main__":
    if sys.argv[1:] not in [[path] for path in STOPS]:
        sys.exit(__doc__)
    main(sys.argv[1])
