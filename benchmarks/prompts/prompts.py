"""Read real prompts with marked private units, and select those that are measured and judged."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

#: The data sets of prompts, each a file NAME.jsonl.
SETS = ("pupa", "arena", "instruct", "mtbench", "ifeval", "banking")
_LATIN_ENDS = 0x24F
_MOST_OTHER_LETTERS = 0.02
_MOST_CHARACTERS = 6000


@dataclass(frozen=True)
class Prompt:
    """A prompt and the private units in it.

    Attributes:
        id: The prompt's id, unique over all data sets.
        text: Text of the prompt.
        units: The private strings in the prompt, in lower case.
    """

    id: str
    text: str
    units: tuple[str, ...] = ()

    @property
    def data_set(self) -> str:
        """Return the name of the data set, with which the id begins."""
        return self.id.partition("-")[0]


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the objects of a file of JSON lines."""
    for line in path.read_text("utf-8").split("\n"):
        if line:
            yield json.loads(line)


def read_prompts(path: Path) -> list[Prompt]:
    """Read a file of prompts: `id`, `text` and `pii`, the private units. Lines without a text are skipped."""
    return [Prompt(row["id"], row["text"], tuple(row.get("pii") or ())) for row in read_lines(path) if "text" in row]


def is_measured(prompt: Prompt) -> bool:
    """Return whether a prompt is short enough, with less than 2 % letters of other scripts."""
    other = sum(ord(character) > _LATIN_ENDS and character.isalpha() for character in prompt.text)
    return other < _MOST_OTHER_LETTERS * len(prompt.text) and len(prompt.text) < _MOST_CHARACTERS
