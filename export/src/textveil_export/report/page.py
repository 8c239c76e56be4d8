"""The page of ``textveil-export report``: one HTML file about the levels of a bundle, complete in itself."""

from collections.abc import Sequence
from html import escape
from pathlib import Path
from string import Template

from textveil import __version__
from textveil.bundle import Measures, TextBundle, atomic_bytes, atomic_output, layout
from textveil.errors import NoStatistics, OutputError
from textveil.text import LevelSummary, Sanitizer, summaries
from textveil_cli.show import bound, share

from textveil_export.errors import WriteError
from textveil_export.report.examples import FILES, Draws, Examples, Worked, pieces
from textveil_export.report.figures import COLORS, Picture, pictures

PAGE = "index.html"
_COLUMNS = (
    "epsilon",
    "textbook",
    "pure LDP",
    "N, median",
    "N, 5% of words below",
    "N, 5% of words above",
    "N, most of any word",
    "words with N < 1%",
    "S",
    "S*",
    "min-entropy",
    "guessed from 1 release",
    "from 2 releases",
    "from 5 releases",
    "from 10 releases",
)


def write_report(bundle: TextBundle, folder: Path) -> list[Path]:
    """Writes the page and its pictures, and returns their paths; the page first.

    Args:
        bundle: A bundle with statistics.
        folder: Where they go; made if it is not there. Files of the same names are replaced.

    Raises:
        NoStatistics: The bundle does not tell what its levels do to words.
        WriteError: The folder cannot be written.
    """
    bundle.require("santext")
    if bundle.statistics is None:
        raise NoStatistics("this bundle carries no statistics: textveil-export statistics adds them")
    drawn = pictures(bundle)
    text = page(bundle, drawn, Examples.shipped())
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for picture in drawn:
            with atomic_bytes(folder / f"{picture.name}.png") as file:
                file.write(picture.png)
        with atomic_output(folder / PAGE) as write:
            write(text)
    except (OSError, OutputError) as error:
        raise WriteError("the report cannot be written to that folder") from error
    return [folder / PAGE, *(folder / f"{picture.name}.png" for picture in drawn)]


def page(bundle: TextBundle, drawn: Sequence[Picture], examples: Examples) -> str:
    """Returns the page as HTML."""
    draws = Draws(Sanitizer(bundle))
    mechanisms = sorted(layout.TABLE_MECHANISMS, key=lambda mechanism: mechanism != bundle.default_table_mechanism)
    of_each = [summaries(bundle, mechanism) for mechanism in mechanisms]
    parts = {
        "name": escape(str(bundle.manifest.get("name"))),
        "identity": bundle.identity,
        "version": __version__,
        "colors": " ".join(f"--{variable}: {color};" for variable, color in COLORS.items()),
        "style": (FILES / "page.css").read_text(encoding="utf-8"),
        "levels": "\n".join(_table(levels) for levels in of_each),
        "figures": "\n".join(_figure(picture) for picture in drawn),
        "sentences": "\n".join(_sentence(sentence, of_each, draws) for sentence in examples.sentences),
        "worked": "\n".join(_worked(text, of_each[0], draws) for text in examples.worked),
        "mechanism": bundle.default_table_mechanism,
        "draws": f"{draws.count:,}",
    }
    return Template((FILES / "page.html").read_text(encoding="utf-8")).substitute(parts)


def _table(levels: Sequence[LevelSummary]) -> str:
    rows: list[str] = []
    for level in levels:
        name = f"{level.epsilon:g}" + (" (default)" if level.default else "")
        cells = "".join(f"<td>{cell}</td>" for cell in _cells(level))
        rows.append(f'<tr><th scope="row">{name}</th>{cells}</tr>')
    alone = _of(levels[0]).recovery_without_release
    kinds = " and ".join(sorted({level.epsilon_kind.split()[0] for level in levels}))
    caption = f"{levels[0].mechanism}; epsilon is {kinds}; guessed without any release: {alone:.1%}"
    head = "".join(f'<th scope="col">{escape(column)}</th>' for column in _COLUMNS)
    table = f"<table><caption>{caption}</caption><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    return _scrolling(table, caption)


def _cells(level: LevelSummary) -> list[str]:
    does = _of(level)
    several = [does.recovery[releases] for releases in (2, 5, 10)]
    return [
        f"{level.epsilon_textbook:.4g}",
        bound(level.epsilon_pure_ldp),
        f"{does.unchanged:.1%}",
        f"{does.unchanged_low:.1%}",
        f"{does.unchanged_high:.1%}",
        f"{does.unchanged_most:.1%}",
        f"{does.rarely_unchanged:.1%}",
        f"{does.likely_outputs:,.0f}",
        f"{does.likely_inputs:,.0f}",
        f"{does.min_entropy:.2f}",
        escape(share(does.recovery[1].rate)),
        *(f"{escape(share(rate.rate))} <small>± {50 * (rate.high - rate.low):.1f}</small>" for rate in several),
    ]


def _figure(picture: Picture) -> str:
    caption = f"<figcaption><strong>{picture.title}.</strong> {escape(picture.description)}</figcaption>"
    return f"<figure>{_scrolling(picture.svg, picture.title)}{caption}</figure>"


def _sentence(sentence: str, of_each: Sequence[Sequence[LevelSummary]], draws: Draws) -> str:
    """Returns a sentence at every level under every mechanism, each drawn once."""
    heads = ["epsilon", *(levels[0].mechanism for levels in of_each)]
    head = "".join(f'<th scope="col">{name}</th>' for name in heads)
    rows: list[str] = []
    for levels in zip(*of_each, strict=True):
        cells = "".join(f"<td>{_drawn(sentence, level, draws)}</td>" for level in levels)
        epsilons = " / ".join(dict.fromkeys(f"{level.epsilon:g}" for level in levels))
        rows.append(f'<tr><th scope="row">{epsilons}</th>{cells}</tr>')
    caption = f"<caption>{escape(sentence)}</caption>"
    table = f'<table class="text">{caption}<thead><tr>{head}</tr></thead><tbody>{"".join(rows)}</tbody></table>'
    return _scrolling(table, sentence)


def _worked(example: Worked, levels: Sequence[LevelSummary], draws: Draws) -> str:
    """Returns a text before and after at three levels: the default, and one between it and either end."""
    middle = next(number for number, level in enumerate(levels) if level.default)
    shown = sorted({middle // 2, middle, (middle + len(levels)) // 2})
    parts = [f"<h3>{escape(example.title)}</h3><h4>Before</h4><blockquote>{escape(example.text)}</blockquote>"]
    for number in shown:
        level, does = levels[number], _of(levels[number])
        parts.append(
            f"<h4>After, at epsilon {level.epsilon:g}</h4>"
            f"<blockquote>{_drawn(example.text, level, draws)}</blockquote>"
            f"<p>Measured over the words that {level.mechanism} always draws: the median word stays unchanged with "
            f"probability {does.unchanged:.0%}, 5 % of words with more than {does.unchanged_high:.0%}, and a reader "
            f"who does not see the context guesses a word from one release {does.recovery[1].rate:.0%} of the time.</p>"
        )
    return f"<article>{''.join(parts)}</article>"


def _drawn(text: str, level: LevelSummary, draws: Draws) -> str:
    after = pieces(text, draws(text, level.mechanism, level.epsilon))
    return "".join(f"<mark>{escape(piece)}</mark>" if changed else escape(piece) for piece, changed in after)


def _of(level: LevelSummary) -> Measures:
    assert level.measures is not None  # the bundle has statistics
    return level.measures


def _scrolling(content: str, label: str) -> str:
    """Returns content in a box that scrolls by itself, with the keyboard too."""
    return f'<div class="wide" role="region" tabindex="0" aria-label="{escape(label)}">{content}</div>'
