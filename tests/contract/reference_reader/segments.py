"""The segments of a text: gaps, words and strings."""

from collections.abc import Callable
from dataclasses import dataclass, field

from .characters import one_of

is_blank, is_mark, is_letter, is_follower = one_of("blank"), one_of("mark"), one_of("letter"), one_of("follower")
is_inner, is_connector, is_digit = one_of("middle", more="'"), one_of("connector"), one_of("Nd")
is_number_part = one_of("Nd", "Sc", more="+-‐‑–−.,/%#")
is_l, is_l_or_n, is_alphanumeric = one_of("L"), one_of("L", "N"), one_of("L", "M", "N")
LONGEST_WORD = 1000
QUOTES, SOFT, ENDS, AT = set('"“”„«»'), set("‹›()[]{};—…"), set(".,:!?'‘’*_"), set("@＠﹫")
OPENING, CLOSING, JOINING = set("([{"), set(")]}"), set(" \u00a0\u2009\u202f")
DOMAINS = (
    "com org net io gov edu mil int info biz co uk de fr nl eu ru ch au ca jp cn br es pl se dk app dev xyz museum рф"
).split()


def is_hard(character: str) -> bool:
    """Whether it is a hard break."""
    return is_blank(character) or character in QUOTES


def is_break(character: str) -> bool:
    """Whether it is a break of either sort."""
    return is_hard(character) or character in SOFT


def is_solid(character: str) -> bool:
    """Whether it is there, and neither a break nor an end."""
    return character != "" and not is_break(character) and character not in ENDS


def char(text: str, i: int) -> str:
    """Return the character at a position, "" outside of the text."""
    return text[i] if 0 <= i < len(text) else ""


def skip(text: str, i: int, test: Callable[[str], bool]) -> int:
    """Return the first position from i on where the test fails."""
    while test(char(text, i)):
        i += 1
    return i


def letters_from(text: str, i: int) -> int:
    """Return the end of a letter and the letters and followers after it; i if there is no letter."""
    return skip(text, i, lambda c: is_letter(c) or is_follower(c)) if is_letter(char(text, i)) else i


def is_dot_of_host(text: str, i: int) -> bool:
    """Whether the mark at i, between letters, is a dot that makes a string."""
    after = skip(text, i + 2, is_follower)
    return (
        char(text, i) == "."
        and is_letter(char(text, i + 1))
        and (
            is_letter(char(text, after))
            or (i > 2 and text[i - 3 : i] in {a + b + c for a in "wW" for b in "wW" for c in "wW"})
        )
    )


def word_from(text: str, i: int) -> int:
    """Return the end of the ordinary word that starts at i; i if there is none."""
    end = letters_from(text, i)
    while end > i and is_inner(char(text, end)) and is_letter(char(text, end + 1)) and not is_dot_of_host(text, end):
        end = letters_from(text, end + 1)
    return end


def bracketed_from(text: str, i: int) -> int:
    """Return the end of the word in brackets that starts at i; i if there is none."""
    if char(text, i) not in OPENING or not is_solid(char(text, i - 1)):
        return i
    end = word_from(text, i + 1)
    return end + 1 if end > i + 1 and char(text, end) in CLOSING and is_solid(char(text, end + 1)) else i


def emoticon_from(text: str, i: int) -> int:
    """Return the end of the emoticon that starts at i; i if there is none."""
    if char(text, i) not in (":", ";") or not (i == 0 or is_blank(text[i - 1])):
        return i
    mouth = i + 1 + (char(text, i + 1) == "'")
    mouth += char(text, mouth) == "-"
    brackets = skip(text, mouth, lambda c: c in OPENING | CLOSING)
    nose = i + 1 + (char(text, i + 1) == "-")
    word = word_from(text, nose)
    ends = [brackets] if brackets > mouth else [mouth + 1] if char(text, mouth) in ("/", "\\", "*") else []
    ends += [word + 1] if word > nose and char(text, word) == ":" else []
    ends += [word] if word > nose else []
    for end in ends:
        after = char(text, skip(text, end, lambda c: c in set(".,!?")))
        if after == "" or is_blank(after):
            return end
    return i


def trigger_from(text: str, i: int) -> int:
    """Return the end of the trigger (but for an emoticon) that starts at i; i if there is none."""
    c, before, after = text[i], char(text, i - 1), char(text, i + 1)
    after_letter = is_letter(before) or is_follower(before)
    if not (is_blank(c) or is_mark(c) or is_letter(c) or is_follower(c)) or (is_follower(c) and not after_letter):
        return i + 1
    if c in AT or c == "\\" or (c == "%" and is_letter(after)):
        return i + 1
    if text.startswith("://", i):
        return i + 3
    if is_connector(c) and after_letter and is_letter(char(text, skip(text, i, is_connector))):
        return skip(text, i, is_connector)
    if c == "." and (after_letter or text[i - 3 : i].lower() == "www") and is_dot_of_host(text, i):
        return i + 1
    if c == "/" and not is_solid(before):
        end = skip(text, i + 1, lambda c: c not in ("", "/") and not is_break(c))
        if end > i + 1 and char(text, end) == "/":
            return end + 1
    return bracketed_from(text, i)


def names_host(run: str) -> bool:
    """Whether a run goes on to a hard break."""
    if run[:1] in AT or is_gap(run):
        return False
    dots = [i for i, c in enumerate(run) if c == "."]
    if "://" in run or any(run[max(0, i - 3) : i].lower() == "www" and is_l_or_n(char(run, i + 1)) for i in dots):
        return True
    return not set(run) & (AT | OPENING) and any(is_alphanumeric(char(run, i - 1)) and ends_host(run, i) for i in dots)


def ends_host(run: str, dot: int) -> bool:
    """Whether a domain is after a dot, or letters and what follows on a host."""
    end = skip(run, dot + 1, is_l)
    if 2 <= end - dot - 1 <= 24 and char(run, end) in ("/", "?", "#", ":"):
        return True
    after = [c.casefold() for c in run[dot + 1 :]]
    return any(
        after[: len(domain)] == list(domain) and not is_alphanumeric(char(run, dot + 1 + len(domain)))
        for domain in DOMAINS
    )


def is_gap(text: str) -> bool:
    """Whether a text is of blanks and marks alone."""
    return all(is_blank(c) or is_mark(c) for c in text)


def trimmed(text: str, start: int, end: int, more: set[str]) -> tuple[int, int]:
    """Return a span without the ends at either side."""
    while start < end and text[start] in ENDS:
        start += 1
    while start < end and text[end - 1] in ENDS | more:
        end -= 1
    return start, end


def has_trigger(run: str) -> bool:
    """Whether there is a trigger in a text."""
    return any(trigger_from(run, i) > i or emoticon_from(run, i) > i for i in range(len(run)))


def find_strings(text: str) -> list[tuple[int, int]]:
    """Return the strings of a text, numbers not yet in groups."""
    found, position, i = [], 0, 0
    while i < len(text):
        emoticon, trigger = emoticon_from(text, i), trigger_from(text, i)
        if trigger == i and emoticon == i:
            i += 1
            continue
        if trigger == i:
            found.append((i, emoticon))
            position = i = emoticon
            continue
        start = max([position, *(j + 1 for j in range(position, i) if is_break(text[j]))])
        end = i
        while (further := bracketed_from(text, end)) > end or (end < len(text) and not is_break(text[end])):
            end = max(further, end + 1)
        first, last = trimmed(text, start, end, set())
        run = text[first:last]
        if names_host(run):
            end = skip(text, end, lambda c: c != "" and not is_hard(c))
            first, last = trimmed(text, start, end, SOFT)
            found.append((first, last))
            end = last
        elif has_trigger(run) and not is_gap(run):
            found.append((first, last))
            end = last
        position = i = end
    return found


def touches(text: str, end: int) -> bool:
    """Whether a number at this place would touch what ends here, or be part of it."""
    if char(text, end - 1) in CLOSING:
        start = end - 1
        while start > 0 and not is_break(text[start - 1]):
            start -= 1
        is_word = start < end - 1 and word_from(text, start) == end - 1
        return is_word and char(text, start - 1) in OPENING and is_solid(char(text, start - 2))
    while char(text, end - 1) in ENDS:
        end -= 1
    return is_solid(char(text, end - 1))


@dataclass
class Level:
    """What waits inside one open bracket, or inside none: the start of a D, its strings, and perhaps a blank."""

    bracket: int
    start: int | None = None
    strings: list[tuple[int, int]] = field(default_factory=list)
    blank: bool = False


class Groups:
    """Numbers in groups, read from the left: D = E (blank? E)*, E = number | "(" D ")"."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.levels = [Level(-1)]
        self.found: list[tuple[int, int]] = []

    def end_all(self) -> None:
        """Nothing goes on: each D that waits is the strings that are in it."""
        self.found += [string for level in self.levels for string in level.strings]
        self.levels = [Level(-1)]

    def number(self, start: int, end: int) -> None:
        """Read a number: the string that it ends is one string up to it."""
        level = self.levels[-1]
        level.start = start if level.start is None else level.start
        level.strings, level.blank = [(level.start, end)], False

    def mark(self, i: int) -> None:
        """One character that is in no string is read."""
        c, level = self.text[i], self.levels[-1]
        goes_on = level.start is not None and not level.blank
        if c == "(":
            if len(self.levels) > 1 or level.start is not None or not touches(self.text, i):
                self.levels.append(Level(i))
        elif c in JOINING and goes_on:
            level.blank = True
        elif c == ")" and goes_on and len(self.levels) > 1:
            self.levels.pop()
            outer = self.levels[-1]
            outer.start = level.bracket if outer.start is None else outer.start
            outer.strings, outer.blank = outer.strings + level.strings, False
        else:
            self.end_all()


def joined(text: str, strings: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the strings with numbers in groups."""
    numbers = {a: b for a, b in strings if all(map(is_number_part, text[a:b])) and any(map(is_digit, text[a:b]))}
    groups, position = Groups(text), 0
    for a, b in [*strings, (len(text), len(text))]:
        for i in range(position, a):
            groups.mark(i)
        if a in numbers:
            groups.number(a, b)
        else:
            groups.end_all()
            groups.found += [(a, b)] * (b > a)
        position = b
    return groups.found


def lone_clitic_from(text: str, i: int) -> int:
    """Return the end of the lone clitic that starts at i; i if there is none."""
    if char(text, i) not in ("'", "’") or i == 0 or not is_blank(text[i - 1]):
        return i
    for letters in ("s", "m", "d", "re", "ve", "ll"):
        end = i + 1 + len(letters)
        after = char(text, skip(text, end, lambda c: c in set('.,;:!?")')))
        if text[i + 1 : end] == letters and (after == "" or is_blank(after)):
            return end
    return i


def find_segments(text: str, lone_clitics: bool = False) -> list[tuple[str, str]]:
    """Cut a text into segments, each with its kind: "gap", "word" or "string"."""
    segments: list[tuple[str, str]] = []
    strings = dict(joined(text, find_strings(text)))
    i = 0
    while i < len(text):
        if i in strings:
            kind, end = "string", strings[i]
        elif lone_clitics and (end := lone_clitic_from(text, i)) > i:
            kind = "word"
        elif (end := word_from(text, i)) > i:
            kind = "word" if end - i <= LONGEST_WORD else "string"
        else:
            kind, end = "gap", i + 1
            if text[i] not in ":;" and segments and segments[-1][0] == "gap" and segments[-1][1] not in (":", ";"):
                i -= len(segments.pop()[1])  # gaps are as long as they can be
        segments.append((kind, text[i:end]))
        i = end
    return segments
