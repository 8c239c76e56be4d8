"""Search for emoji sequences in a text, and the rule that decides which sequences stay unchanged.

A *sequence* is one emoji as a reader sees it: a base and all characters that extend or join it, that is variation
selectors, skin tones, tag characters, and further bases after a zero-width joiner. Unicode recommends a finite list of
sequences for interchange (RGI, UTS #51, version 17.0). Listed sequences without a skin tone stay unchanged. Any other
sequence could carry invisible text (flags spell letters, tag characters spell ASCII, selectors carry bits), so the
whole sequence is replaced.
"""

import re
from collections.abc import Iterator
from functools import cache

from textveil.lazy import CHARACTERS, LazyPattern, decode_table, load_data

#: Classes of characters. ``E``: an emoji by themselves, with or without U+FE0F. ``B``: emoji that take a skin tone.
#: ``G``: persons with a woman and a man variant (two more, without a skin tone, are in the listed sequences).
#: Patterns: of all sequences, and of the listed ones with ``x`` for each skin tone and ``+`` for each joiner. U+FE0F is
#: optional in them, since some apps omit it. ``spare``: surrogates of unlisted sequences.
_TABLES = load_data(CHARACTERS)["emoji"]
#: The entity type of replaced sequences, and that of keycap digits.
EMOJI, KEYCAP = "emoji", "keycap"
#: The skin tones, and the character that represents any of them in a layout.
SKIN_TONES, TONE_PLACEHOLDER = "".join(_TABLES["tones"]), "x"


def _fill_classes(pattern: str) -> str:
    for name, table in _TABLES["classes"].items():
        bounds = decode_table(table)
        ranges = (f"{chr(start)}-{chr(end - 1)}" for start, end in zip(bounds[::2], bounds[1::2], strict=True))
        pattern = pattern.replace(f"{{{name}}}", "".join(ranges))
    return pattern


@cache
def _list_spare() -> tuple[str, ...]:
    """Return the emoji that replace an emoji sequence that is not on Unicode's list, in a fixed order."""
    bounds = decode_table(_TABLES["spare"])
    return tuple(
        chr(point) for start, end in zip(bounds[::2], bounds[1::2], strict=True) for point in range(start, end)
    )


_LAYOUTS = str.maketrans({"\u200d": "+", **dict.fromkeys(SKIN_TONES, TONE_PLACEHOLDER)})
_KEYCAP = re.compile("[0-9#*]\ufe0f?\u20e3")


_SEQUENCE = LazyPattern(re.compile, lambda: _fill_classes(_TABLES["sequence"]))
_LISTED = LazyPattern(re.compile, lambda: _fill_classes("|".join(_TABLES["listed"])))


def find_sequences(text: str) -> Iterator[re.Match[str]]:
    """Yield the match of each emoji sequence in a text, whether or not Unicode lists the sequence."""
    return _SEQUENCE.finditer(text)


def classify_sequence(sequence: str) -> tuple[str, str]:
    """Return entity type and layout (public form) of an emoji sequence; an empty type if the sequence stays unchanged.

    The layout is the part of the sequence that the sanitized text reveals. For a sequence that Unicode recommends, the
    layout is the sequence with ``x`` in place of each skin tone, and ``+`` for each joiner. So the sanitized text hides
    only the skin tones. For all other sequences, the layout is empty.
    """
    layout = sequence.translate(_LAYOUTS)
    if _LISTED.fullmatch(layout):
        return (EMOJI, layout) if TONE_PLACEHOLDER in layout else ("", "")
    return (KEYCAP if _KEYCAP.fullmatch(sequence) else EMOJI), ""


def count_emoji_surrogates(layout: str) -> int:
    """Return the number of possible replacements for emoji of a layout (see ``classify_sequence``).

    The two skin tones of a replacement with two tones always differ.
    """
    tones = layout.count(TONE_PLACEHOLDER)
    return (
        len(_list_spare()) if not tones else len(SKIN_TONES) if tones == 1 else len(SKIN_TONES) * (len(SKIN_TONES) - 1)
    )


def make_emoji_surrogate(layout: str, index: int) -> str:
    """Return the replacement emoji with a given index, for a layout (public form) from ``classify_sequence``.

    The index must be below ``count_emoji_surrogates(layout)``.
    """
    if not layout:
        return _list_spare()[index]
    tones = [index]
    if layout.count(TONE_PLACEHOLDER) > 1:
        first, second = divmod(index, len(SKIN_TONES) - 1)
        tones = [first, second + (second >= first)]
    for tone in tones:
        layout = layout.replace(TONE_PLACEHOLDER, SKIN_TONES[tone], 1)
    return layout.replace("+", "\u200d")
