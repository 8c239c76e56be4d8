"""Finder of emoji sequences inside a chunk, and the rule for which of them are kept.

A *sequence* is a base and all characters that extend or join it: variation selectors, skin tones, tag characters, and
further bases after a zero-width joiner. Unicode recommends a finite list of them for interchange (RGI, UTS #51, version
17.0). Listed sequences without a skin tone are kept. Any other sequence could carry invisible text, so it is replaced
as one: flags spell letters, tag characters spell ASCII, selectors carry bits.
"""

import re

#: Characters that are an emoji by themselves, with or without U+FE0F; ``_TAKES_TONE`` has those that take a skin tone.
_EMOJI = """
a9 ae 203c 2049 2122 2194-2199 21a9-21aa 231a-231b 2328 23cf 23e9-23f3 23f8-23fa 24c2 25aa-25ab 25b6 25c0 25fb-25fe
2600-2604 260e 2611 2614-2615 2618 261d 2620 2622-2623 2626 262a 262e-262f 2638-263a 2640 2642 2648-2653 265f-2660 2663
2665-2666 2668 267b 267e-267f 2692-2697 2699 269b-269c 26a0-26a1 26a7 26aa-26ab 26b0-26b1 26bd-26be 26c4-26c5 26c8
26ce-26cf 26d1 26d3-26d4 26e9-26ea 26f0-26f5 26f7-26fa 26fd 2702 2705 2708-270d 270f 2712 2714 2716 271d 2721 2728
2733-2734 2744 2747 274c 274e 2753-2755 2757 2763-2764 2795-2797 27a1 27b0 27bf 2934-2935 2b05-2b07 2b1b-2b1c 2b50 2b55
3030 303d 3297 3299 1f004 1f0cf 1f170-1f171 1f17e-1f17f 1f18e 1f191-1f19a 1f201-1f202 1f21a 1f22f 1f232-1f23a
1f250-1f251 1f300-1f321 1f324-1f393 1f396-1f397 1f399-1f39b 1f39e-1f3f0 1f3f3-1f3f5 1f3f7-1f3fa 1f400-1f4fd 1f4ff-1f53d
1f549-1f54e 1f550-1f567 1f56f-1f570 1f573-1f57a 1f587 1f58a-1f58d 1f590 1f595-1f596 1f5a4-1f5a5 1f5a8 1f5b1-1f5b2 1f5bc
1f5c2-1f5c4 1f5d1-1f5d3 1f5dc-1f5de 1f5e1 1f5e3 1f5e8 1f5ef 1f5f3 1f5fa-1f64f 1f680-1f6c5 1f6cb-1f6d2 1f6d5-1f6d8
1f6dc-1f6e5 1f6e9 1f6eb-1f6ec 1f6f0 1f6f3-1f6fc 1f7e0-1f7eb 1f7f0 1f90c-1f93a 1f93c-1f945 1f947-1f9ff 1fa70-1fa7c
1fa80-1fa8a 1fa8e-1fac6 1fac8 1facd-1fadc 1fadf-1faea 1faef-1faf8
"""
_TAKES_TONE = """
261d 26f9 270a-270d 1f385 1f3c2-1f3c4 1f3c7 1f3ca-1f3cc 1f442-1f443 1f446-1f450 1f466-1f469 1f46b-1f478 1f47c
1f481-1f483 1f485-1f487 1f48f 1f491 1f4aa 1f574-1f575 1f57a 1f590 1f595-1f596 1f645-1f647 1f64b-1f64f 1f6a3 1f6b4-1f6b6
1f6c0 1f6cc 1f90c 1f90f 1f918-1f91f 1f926 1f930-1f939 1f93c-1f93e 1f977 1f9b5-1f9b6 1f9b8-1f9b9 1f9bb 1f9cd-1f9cf
1f9d1-1f9dd 1fac3-1fac5 1faf0-1faf8
"""
#: Persons with a woman and a man variant. Two further ones without a skin tone are in ``LISTED``.
_GENDERED = """
26f9 1f3c3-1f3c4 1f3ca-1f3cc 1f46e-1f471 1f473 1f477 1f481-1f482 1f486-1f487 1f575 1f645-1f647 1f64b 1f64d-1f64e 1f6a3
1f6b4-1f6b6 1f926 1f935 1f937-1f939 1f93c-1f93e 1f9b8-1f9b9 1f9cd-1f9cf 1f9d4 1f9d6-1f9dd
"""
#: Surrogates of unlisted sequences: animals, food, plants, vehicles, which apps write without U+FE0F.
SPARE = """
1f32d-1f335 1f337-1f37c 1f37e-1f37f 1f400-1f43e 1f681-1f6a2 1f950-1f96f 1f980-1f9ae 1f9c0-1f9cb 1fad0-1fadb
"""
#: The type of sequences, and the type of keycap digits.
EMOJI, KEYCAP = "emoji", "keycap"
#: Skin tones, and their common placeholder in a layout.
TONES, TONE = "\U0001f3fb\U0001f3fc\U0001f3fd\U0001f3fe\U0001f3ff", "x"


def boundaries(ranges: str) -> list[int]:
    """Return the first and the last code point of each range, in turn."""
    parts = [part.split("-") for part in ranges.split()]
    return [int(number, 16) for part in parts for number in (part[0], part[-1])]


def _characters(ranges: str) -> str:
    """Return ranges in the syntax of a character class, without the brackets."""
    points = boundaries(ranges)
    return "".join(f"{chr(a)}-{chr(b)}" for a, b in zip(points[::2], points[1::2], strict=True))


#: Classes by their letter in the patterns below: any emoji, emoji that take a tone, women and men.
CLASSES = {"E": _EMOJI, "B": _TAKES_TONE, "G": _GENDERED}
#: A base: a key, letters of flags, an emoji, the letter U+2139 before U+FE0F, or a skin tone alone.
_BASE = "(?:[0-9#*](?=\ufe0f?\u20e3)|[\U0001f1e6-\U0001f1ff]+|[{E}\U0001f3fb-\U0001f3ff]|\u2139(?=\ufe0f))"
_EXTENDS = "[\ufe0e\ufe0f\u20e3\U0001f3fb-\U0001f3ff\U000e0020-\U000e007f]*"
SEQUENCE = f"{_BASE}{_EXTENDS}(?:\u200d{_BASE}?{_EXTENDS})*"
#: Listed sequences, with ``x`` for each skin tone and ``+`` for each joiner. U+FE0F is optional, since some apps omit
#: it.
LISTED = "|".join(
    (
        "[{E}\u2139]\ufe0f?|[{B}]x",
        "(?:[{G}]x|[{G}🧞🧟]|[⛹🏋🏌🕵]\ufe0f)[+][♀♂]\ufe0f?",
        "[🏃🚶🧎]x?(?:[+][♀♂]\ufe0f?)?[+]➡\ufe0f?",
        "[👨👩🧑]x?[+](?:[⚕⚖✈]\ufe0f?|[🌾🍳🍼🎓🎤🎨🏫🏭💻💼🔧🔬🚀🚒🦰🦱🦲🦳]|[🦯🦼🦽](?:[+]➡\ufe0f?)?)",
        "🧑x?[+][🎄🩰]",
        "👩[+]❤\ufe0f?[+](?:💋[+])?[👨👩]|👨[+]❤\ufe0f?[+](?:💋[+])?👨",
        "👩x[+]❤\ufe0f?[+](?:💋[+])?[👨👩]x|👨x[+]❤\ufe0f?[+](?:💋[+])?👨x|🧑x[+]❤\ufe0f?[+](?:💋[+])?🧑x",
        "🧑[+]🤝[+]🧑|🧑x[+]🤝[+]🧑x|👩x[+]🤝[+][👨👩]x|👨x[+]🤝[+]👨x|🫱x[+]🫲x",
        "👨x[+][🐰🫯][+]👨x|👩x[+][🐰🫯][+]👩x|🧑x[+][🐰🫯][+]🧑x",
        "(?:👨[+]|👩[+]|👨[+]👩[+]|👨[+]👨[+]|👩[+]👩[+])(?:👧[+]👧|👧[+]👦|👦[+]👦|👧|👦)",
        "🧑[+](?:🧑[+])?🧒(?:[+]🧒)?",
        "❤\ufe0f?[+][🔥🩹]|⛓\ufe0f?[+]💥|🏳\ufe0f?[+](?:⚧\ufe0f?|🌈)|🏴[+]☠\ufe0f?|👁\ufe0f?[+]🗨\ufe0f?",
        "🐦[+][🔥⬛]|🐈[+]⬛|🐕[+]🦺|🐻[+]❄\ufe0f?|🍄[+]🟫|🍋[+]🟩",
        "😮[+]💨|😵[+]💫|😶[+]🌫\ufe0f?|🙂[+][↔↕]\ufe0f?",
    )
)
_SPARE = tuple(
    chr(point)
    for first, last in zip(boundaries(SPARE)[::2], boundaries(SPARE)[1::2], strict=True)
    for point in range(first, last + 1)
)
_LAYOUTS = str.maketrans({"\u200d": "+", **dict.fromkeys(TONES, TONE)})
_KEYCAP = re.compile("[0-9#*]\ufe0f?\u20e3")


def _compile(pattern: str) -> "re.Pattern[str]":
    for name, ranges in CLASSES.items():
        pattern = pattern.replace(f"{{{name}}}", _characters(ranges))
    return re.compile(pattern)


_SEQUENCE, _LISTED = _compile(SEQUENCE), _compile(LISTED)
find_sequences = _SEQUENCE.finditer


def find_kind(sequence: str) -> tuple[str, str]:
    """Return the type and the layout of a sequence; an empty type if it is kept.

    The layout of a listed sequence has ``x`` for each skin tone and ``+`` for each joiner: all but the tones is public.
    """
    layout = sequence.translate(_LAYOUTS)
    if _LISTED.fullmatch(layout):
        return (EMOJI, layout) if TONE in layout else ("", "")
    return (KEYCAP if _KEYCAP.fullmatch(sequence) else EMOJI), ""


def count_surrogates(layout: str) -> int:
    """Return the number of surrogates of a layout; two tones of a sequence are always different."""
    tones = layout.count(TONE)
    return len(_SPARE) if not tones else len(TONES) if tones == 1 else len(TONES) * (len(TONES) - 1)


def make_surrogate(layout: str, index: int) -> str:
    """Return the surrogate of a layout with a number below ``count_surrogates``."""
    if not layout:
        return _SPARE[index]
    tones = [index]
    if layout.count(TONE) > 1:
        first, second = divmod(index, len(TONES) - 1)
        tones = [first, second + (second >= first)]
    for tone in tones:
        layout = layout.replace(TONE, TONES[tone], 1)
    return layout.replace("+", "\u200d")
