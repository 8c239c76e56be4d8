"""Draw the two pictures of README.md, each for a light and a dark page: a mail and its reply, and a chart of tools.

    python docs/pictures/draw.py            draw all pictures (make docs)
    python docs/pictures/draw.py --check    draw nothing; fail if a picture differs (make docs-check)

The mail is docs/examples/support-mail.txt as ``Conversation`` sends it, and the reply as ``Conversation`` restores it;
only the answer of the model is written here. The points of the chart are those of docs/results/prompts.md.
"""

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from xml.sax.saxutils import escape

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "benchmarks"))

from prompts.score import wilson_interval
from report.prompts import PAPILLON, Point, average_readers, find_points
from textveil import Conversation

HERE = Path(__file__).parent
MAIL = ROOT / "docs" / "examples" / "support-mail.txt"
#: The answer of the model, which reads tags alone; it was written by hand.
REPLY = (
    "Dear [person 2], I am sorry that we charged you twice for order #[number 1]. "
    "I have refunded $49.90 to [person 1] in [city 1]. Get well soon!"
)
_TAG = re.compile(r"\[[a-z]+(?: [a-z]+)* \d+\]")

#: Colors of a light and a dark page. Marks differ in shape too: a tag has brackets, and an original is underlined.
THEMES = {
    "light": {
        "page": "#ffffff", "card": "#f6f8fa", "line": "#d0d7de", "ink": "#1f2328", "muted": "#59636e",
        "original": "#fff1c2", "original-ink": "#6b4400", "tag": "#d6ebff", "tag-ink": "#0a4a8a",
        "own": "#0969da", "other": "#59636e",
    },
    "dark": {
        "page": "#0d1117", "card": "#161b22", "line": "#3d444d", "ink": "#e6edf3", "muted": "#9198a1",
        "original": "#4a3a08", "original-ink": "#ffdf8a", "tag": "#0f3a66", "tag-ink": "#b6dcff",
        "own": "#58a6ff", "other": "#9198a1",
    },
}  # fmt: skip
MONO = 'font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, DejaVu Sans Mono, monospace"'
SANS = 'font-family="-apple-system, Segoe UI, Roboto, Helvetica Neue, Arial, DejaVu Sans, sans-serif"'
WIDTH, CARD_WIDTH, PADDING, GAP = 640, 584, 16, 14
FONT, CHARACTER, LINE = 16, 9.6, 27

Run = tuple[str, str]
"""A piece of text and its mark: ``original``, ``tag``, or none."""


@dataclass(frozen=True)
class Card:
    """Hold a text of the picture.

    Attributes:
        title: Who reads the text.
        runs: The text with its marks.
        on_device: Whether the card is on the device, at the left, or on the server, at the right.
    """

    title: str
    runs: list[Run]
    on_device: bool


def mark_tags(text: str) -> list[Run]:
    """Split a text at its tags."""
    runs: list[Run] = []
    end = 0
    for tag in _TAG.finditer(text):
        runs += [(text[end : tag.start()], ""), (tag[0], "tag")]
        end = tag.end()
    return [run for run in [*runs, (text[end:], "")] if run[0]]


def mark_originals(tagged: str, original: str) -> list[Run]:
    """Split the original of a text with tags at what each tag replaces.

    Raises:
        ValueError: The two texts differ in more than the tags.
    """
    runs = mark_tags(tagged)
    pattern = "".join("(.+?)" if mark else f"({re.escape(text)})" for text, mark in runs)
    found = re.fullmatch(pattern, original)
    if found is None:
        raise ValueError("a text and its original differ in more than the tags")
    return [(text, "original" if mark else "") for text, (_, mark) in zip(found.groups(), runs, strict=True)]


def make_cards() -> list[Card]:
    """Send the mail and restore the reply."""
    mail = MAIL.read_text("utf-8").strip()
    conversation = Conversation()
    sent = str(conversation.outgoing([{"role": "user", "content": mail}])[0]["content"])
    restored = str(conversation.incoming(REPLY).reply)
    return [
        Card("On the device: the mail", mark_originals(sent, mail), True),
        Card("Sent to the language model", mark_tags(sent), False),
        Card("Its reply", mark_tags(REPLY), False),
        Card("On the device: the reply, restored", mark_originals(REPLY, restored), True),
    ]


def wrap_runs(runs: list[Run], columns: int) -> list[list[Run]]:
    """Break marked text into lines of at most ``columns`` characters, at blanks."""
    marked = [(character, mark) for text, mark in runs for character in text]
    words = re.findall(r"\S+\s*", "".join(character for character, _ in marked))
    lines: list[list[Run]] = [[]]
    start = 0
    for word in words:
        if lines[-1] and len(lines[-1]) + len(word.rstrip()) > columns:
            lines.append([])
        lines[-1] += marked[start : start + len(word)]
        start += len(word)
    return [_join_characters(line) for line in lines]


def _join_characters(line: list[Run]) -> list[Run]:
    joined = [("".join(text for text, _ in group), mark) for mark, group in groupby(line, key=lambda run: run[1])]
    return [(text.rstrip() if number == len(joined) - 1 else text, mark) for number, (text, mark) in enumerate(joined)]


def draw_mail(colors: dict[str, str]) -> str:
    """Return the picture of the mail and its reply."""
    columns = int((CARD_WIDTH - 2 * PADDING) / CHARACTER)
    parts: list[str] = []
    top = 12
    cards = make_cards()
    for card in cards:
        lines = wrap_runs(card.runs, columns)
        left = 12 if card.on_device else WIDTH - 12 - CARD_WIDTH
        height = 2 * PADDING + 22 + LINE * len(lines)
        border = colors["own"] if card.on_device else colors["line"]
        parts.append(_draw_box(left, top, CARD_WIDTH, height, colors["card"], border))
        parts.append(_draw_label(card.title, left + PADDING, top + PADDING + 11, colors["muted"], 14, "600"))
        for number, line in enumerate(lines):
            baseline = top + PADDING + 22 + LINE * number + 18
            parts += _draw_line(line, left + PADDING, baseline, colors)
        top += height + GAP
    said = " ".join(f"{card.title}: {''.join(text for text, _ in card.runs)}" for card in cards)
    return _make_svg(parts, WIDTH, top - GAP + 12, colors, "A support mail before and after, and its reply", said)


def _draw_line(line: list[Run], left: float, baseline: float, colors: dict[str, str]) -> Iterator[str]:
    """Yield the pieces of a line; each has a fixed width, so that marks fit in any font."""
    for text, mark in line:
        width = CHARACTER * len(text)
        color = colors[f"{mark}-ink"] if mark else colors["ink"]
        if mark:
            yield _draw_box(left - 1.5, baseline - 17, width + 3, 23, colors[mark], "none", 4)
        line_below = ' text-decoration="underline"' if mark == "original" else ""
        yield (
            f'<text x="{left:.1f}" y="{baseline}" {MONO} font-size="{FONT}" fill="{color}" xml:space="preserve"'
            f' textLength="{width:.1f}"{line_below}>{escape(text)}</text>'
        )
        left += width


#: Edges of the chart's panel, and the largest leak that it has.
LEFT, RIGHT, TOP, BOTTOM, MOST = 70, 600, 44, 360, 0.3


def choose_points(points: list[Point]) -> list[Point]:
    """Return the tools as they are today: no earlier commit, and the mean of the readers of each setting."""
    return average_readers(point for point in points if " before" not in point.label)


def draw_chart(colors: dict[str, str]) -> str:
    """Return the chart of private parts that stay against prompts that can be answered as well."""
    parts = [_draw_label("Private parts that stay in the prompt", 12, 24, colors["ink"], 15, "600")]
    for share in (0.0, 0.1, 0.2, 0.3):
        y = _get_y(share)
        parts.append(f'<path d="M{LEFT} {y:.1f}H{RIGHT}" stroke="{colors["line"]}"/>')
        parts.append(_draw_label(f"{100 * share:.0f} %", LEFT - 8, y + 5, colors["muted"], 14, anchor="end"))
    for share in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0):
        x = _get_x(share)
        parts.append(_draw_label(f"{100 * share:.0f} %", x, BOTTOM + 22, colors["muted"], 14, anchor="middle"))
    below = "Prompts that can be answered as well as the original"
    parts.append(_draw_label(below, RIGHT, BOTTOM + 46, colors["ink"], 15, "600", "end"))
    parts.append(_draw_label("better: right and low", RIGHT, TOP - 16, colors["muted"], 14, anchor="end"))
    said = []
    points = choose_points(find_points(ROOT / "benchmarks" / "results"))
    for point in points:
        left = any(_is_in_the_way(other, point) for other in points)
        raised = left and any(_is_close_before(other, point) for other in points)
        parts += _draw_point(point, colors, left, raised)
        answerable, stay = (100 * share for share in point.place)
        said.append(f"{_name_point(point)}: {answerable:.0f} % answerable, {stay:.1f} % stay.")
    x, y = _get_x(PAPILLON[0]), _get_y(PAPILLON[1])
    hollow = f'fill="none" stroke="{colors["other"]}" stroke-width="2"'
    parts.append(f'<path d="M{x - 7:.1f} {y:.1f}l7-7 7 7-7 7z" {hollow}/>')
    for number, text in enumerate(("PAPILLON, as published:", "another measure")):
        at = y - 30 + 15 * number
        parts.append(_draw_label(text, RIGHT, at, colors["muted"], 12, anchor="end", halo=colors["page"]))
    said.append(f"PAPILLON, as published, by another measure: {PAPILLON[0]:.1%} and {PAPILLON[1]:.1%}.")
    title = "Private parts that stay, and prompts that can be answered as well, for each tool"
    return _make_svg(parts, WIDTH, BOTTOM + 62, colors, title, " ".join(said))


def _name_point(point: Point) -> str:
    facts = re.search(r"facts (\w+)", point.label)
    return f"textveil, facts {facts[1]}" if facts else point.label


def _is_in_the_way(other: Point, point: Point) -> bool:
    """Return whether another point is where the name at the right of this one would be."""
    right, up = other.place[0] - point.place[0], other.place[1] - point.place[1]
    return 0 < right < 0.3 and 0 <= up < 0.05


def _is_close_before(other: Point, point: Point) -> bool:
    """Return whether another point, at the same height, is where the name at the left of this one would be."""
    right, up = other.place[0] - point.place[0], other.place[1] - point.place[1]
    return -0.1 < right < 0 and abs(up) < 0.03


def _draw_point(point: Point, colors: dict[str, str], left: bool, raised: bool) -> Iterator[str]:
    """Yield a point with its 95 % intervals, and its name at its left or right, a line higher if it is raised."""
    color = colors["own"] if point.ours else colors["other"]
    x, y = _get_x(point.place[0]), _get_y(point.place[1])
    thin = f'stroke="{color}" stroke-width="1.2" opacity="0.6"'
    low, high = wilson_interval(*point.answerable)
    yield f'<path d="M{_get_x(low):.1f} {y:.1f}H{_get_x(high):.1f}" {thin}/>'
    low, high = wilson_interval(*point.units)
    yield f'<path d="M{x:.1f} {_get_y(low):.1f}V{_get_y(high):.1f}" {thin}/>'
    if point.ours:
        yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="6.5" fill="{color}"/>'
    else:
        yield f'<rect x="{x - 6:.1f}" y="{y - 6:.1f}" width="12" height="12" fill="{color}"/>'
    at, anchor = (x - 10, "end") if left else (x + 10, "start")
    yield _draw_label(_name_point(point), at, y - (30 if raised else 12), color, 14, "600", anchor, colors["page"])


def _get_x(share: float) -> float:
    return LEFT + share * (RIGHT - LEFT)


def _get_y(share: float) -> float:
    return BOTTOM - share / MOST * (BOTTOM - TOP)


def _draw_box(left: float, top: float, width: float, height: float, fill: str, line: str, radius: int = 10) -> str:
    return (
        f'<rect x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{height:.1f}" rx="{radius}"'
        f' fill="{fill}" stroke="{line}"/>'
    )


def _draw_label(
    text: str, x: float, y: float, color: str, size: int, weight: str = "400", anchor: str = "start", halo: str = ""
) -> str:
    """Return a text; a halo in the color of the page covers lines behind it."""
    behind = f' stroke="{halo}" stroke-width="5" paint-order="stroke"' if halo else ""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" {SANS} font-size="{size}" font-weight="{weight}" fill="{color}"'
        f' text-anchor="{anchor}"{behind}>{escape(text)}</text>'
    )


def _make_svg(parts: list[str], width: int, height: float, colors: dict[str, str], title: str, said: str) -> str:
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height:.0f}" width="{width}"'
            f' height="{height:.0f}" role="img">',
            f"<title>{escape(title)}</title>",
            f"<desc>{escape(said)}</desc>",
            f'<rect width="{width}" height="{height:.0f}" fill="{colors["page"]}"/>',
            *parts,
            "</svg>",
            "",
        ]
    )


def draw_pictures() -> dict[str, str]:
    """Return each picture by its file name."""
    return {
        f"{name}-{theme}.svg": draw(colors)
        for theme, colors in THEMES.items()
        for name, draw in (("mail", draw_mail), ("tools", draw_chart))
    }


def main(arguments: list[str]) -> None:
    """Draw or check the pictures; end with status 1 if one is not what would be drawn."""
    wrong = []
    for name, drawn in draw_pictures().items():
        path = HERE / name
        if not path.exists() or path.read_text("utf-8") != drawn:
            wrong.append(name)
            if arguments != ["--check"]:
                path.write_text(drawn, "utf-8")
    if arguments == ["--check"] and wrong:
        sys.exit(f"{', '.join(wrong)}: differs from today's output; run python docs/pictures/draw.py")


if __name__ == "__main__":
    main(sys.argv[1:])
