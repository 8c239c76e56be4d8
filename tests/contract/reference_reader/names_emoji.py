"""The mode `names`: sequences of emoji, by the list of Unicode (docs/names-rule.md, "Emoji")."""

from functools import cache
from pathlib import Path

LIST = Path(__file__).parents[3] / "docs" / "golden" / "emoji" / "sequences.txt"
TONES = [chr(0x1F3FB + i) for i in range(5)]
SELECTOR, JOINER, KEY = "\ufe0f", "\u200d", "\u20e3"
SPARE = [
    chr(c)
    for first, last in (
        (0x1F32D, 0x1F335), (0x1F337, 0x1F37C), (0x1F37E, 0x1F37F), (0x1F400, 0x1F43E), (0x1F681, 0x1F6A2),
        (0x1F950, 0x1F96F), (0x1F980, 0x1F9AE), (0x1F9C0, 0x1F9CB), (0x1FAD0, 0x1FADB),
    )
    for c in range(first, last + 1)
]  # fmt: skip


@cache
def listed() -> dict[str, list[str]]:
    """Return the sequences of each class."""
    found: dict[str, list[str]] = {}
    for line in LIST.read_text("utf-8").splitlines():
        if line.startswith("# "):
            now = found.setdefault(line[2:], [])
        else:
            now.append(line)
    return found


@cache
def forms() -> dict[str, str]:
    """Every way to write a listed sequence without flags, tags and keys, with its layout; nothing where it is kept."""
    found: dict[str, str] = {}
    for name in ("Basic_Emoji", "RGI_Emoji_Modifier_Sequence", "RGI_Emoji_ZWJ_Sequence"):
        for sequence in listed()[name]:
            if sequence in TONES:
                continue
            ways = [""]
            for part in sequence:
                ways = [way + more for way in ways for more in (("", SELECTOR) if part == SELECTOR else (part,))]
            if len(sequence) == 1:
                ways.append(sequence + SELECTOR)
            tones = [part for part in sequence if part in TONES]
            for way in ways:
                layout = "".join("x" if part in TONES else "+" if part == JOINER else part for part in way)
                found[way] = layout if tones else ""
                if len(tones) == 2:  # the same tone twice is another listed sequence, or none
                    for tone in TONES:
                        found["".join(tone if part in TONES else part for part in way)] = layout
    return found


@cache
def singles() -> set[str]:
    """Characters that are an emoji by themselves, and no skin tone."""
    return {sequence[0] for sequence in listed()["Basic_Emoji"]} - {*TONES, "\u2139"}


def is_flag(character: str) -> bool:
    """Return whether a character is a regional indicator."""
    return "\U0001f1e6" <= character <= "\U0001f1ff"


def base_end(text: str, place: int) -> int:
    """Where a base ends that begins at a place; the place itself where none does."""
    first, rest = text[place : place + 1], text[place + 1 : place + 3]
    if first and first in "0123456789#*" and (rest[:1] == KEY or rest == SELECTOR + KEY):
        return place + 1
    if first == "\u2139" and rest[:1] == SELECTOR:
        return place + 1
    end = place
    while is_flag(text[end : end + 1]):
        end += 1
    return end if end > place else place + (first in singles() or first in TONES)


def sequence_end(text: str, place: int) -> int:
    """Where a sequence ends that begins at a place; the place itself where none does."""
    end = base_end(text, place)
    while place < end < len(text):
        last, now = text[end - 1], text[end]
        if now in ("\ufe0e", SELECTOR, KEY, JOINER, *TONES) or "\U000e0020" <= now <= "\U000e007f":
            end += 1
        elif last == JOINER and base_end(text, end) > end:
            end = base_end(text, end)
        else:
            break
    return end


def cut(text: str) -> list[str]:
    """Return the text before the first sequence, the sequence, the text after it, and so on."""
    found, rest, place = [], 0, 0
    while place < len(text):
        end = sequence_end(text, place)
        if end > place:
            found += [text[rest:place], text[place:end]]
            rest = end
        place = max(end, place + 1)
    return [*found, text[rest:]]


def kind_of_sequence(sequence: str) -> tuple[str, str]:
    """Return the type and the layout of a sequence; no type if it is kept."""
    if sequence in forms():
        layout = forms()[sequence]
        return ("emoji", layout) if layout else ("", "")
    return ("keycap", "") if sequence[0] in "0123456789#*" and sequence[1:] in (KEY, SELECTOR + KEY) else ("emoji", "")


def emoji_size(layout: str) -> int:
    """How many surrogates a layout has."""
    return {0: len(SPARE), 1: 5, 2: 20}[layout.count("x")]


def emoji_member(layout: str, i: int) -> str:
    """Return a surrogate of a layout."""
    if layout == "":
        return SPARE[i]
    if layout.count("x") == 2:
        first = i // 4
        second = [tone for tone in range(5) if tone != first][i % 4]
        layout = layout.replace("x", TONES[first], 1).replace("x", TONES[second])
    return layout.replace("x", TONES[i % 5]).replace("+", JOINER)
