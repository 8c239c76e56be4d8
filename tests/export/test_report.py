"""``textveil-export report``: a page that is complete in itself, with every level, and pictures that show something."""

import re
import sys
from contextlib import redirect_stdout
from dataclasses import replace
from html.parser import HTMLParser
from io import StringIO
from itertools import pairwise
from typing import Any, cast

import plain_statistics as plain
import pytest
import small_bundles
from textveil import Sanitizer
from textveil.bundle import open_bundle
from textveil.bundle.text import TextBundle
from textveil.errors import NoStatistics
from textveil.text import summaries
from textveil_cli.console import run
from textveil_export import cli
from textveil_export.certify.certificate import certify
from textveil_export.errors import WriteError
from textveil_export.leakage.statistics import measure
from textveil_export.text.write import write_certificate, write_statistics

matplotlib = pytest.importorskip("matplotlib", reason="the extra textveil-export[report] is not installed")

from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: E402
from textveil_export.report import figures  # noqa: E402
from textveil_export.report import page as level_page  # noqa: E402
from textveil_export.report.examples import FILES, Examples, pieces  # noqa: E402

pytestmark = pytest.mark.slow

PICTURES = ("curves", "guessing", "unchanged", "outputs")
VOID = {"meta", "br", "path", "use", "rect", "line", "circle"}


class Page(HTMLParser):
    """What a page is made of; fails where elements are not closed in order."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.open, self.ids, self.targets, self.tags, self.text = [], [], [], [], []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.note(tag, attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.note(tag, attrs)

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)

    def note(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.ids += [value for name, value in attrs if name == "id"]
        self.targets += [value for name, value in attrs if name == "href"]


@pytest.fixture(scope="module")
def bundle(tmp_path_factory):
    """A certified bundle with three levels."""
    built = small_bundles.contents(small_bundles.scattered(40, 6, 1), k=5, exponents=["1", "4", "9"])
    defaults = built.law["defaults"]
    defaults = {**defaults, "santext": {**defaults["santext"], "level": "l1"}}
    built = replace(built, law={**built.law, "defaults": defaults})
    bundle = small_bundles.write_bundle(built, tmp_path_factory.mktemp("report") / "b")
    return write_statistics(write_certificate(bundle, certify(bundle)), measure(bundle, trials=20))


@pytest.fixture(scope="module")
def printed_report(bundle, tmp_path_factory):
    """The folder of its report, and what the command that wrote it printed."""
    folder = tmp_path_factory.mktemp("pages") / "new" / "report"
    with redirect_stdout(StringIO()) as out:
        assert run(cli.app, "textveil-export", ["report", str(bundle.path), "-o", str(folder)]) == 0
    return folder, out.getvalue()


@pytest.fixture(scope="module")
def report(printed_report):
    return printed_report[0]


@pytest.fixture(scope="module")
def html(report):
    return (report / "index.html").read_text(encoding="utf-8")


def test_files(report):
    assert {path.name for path in report.iterdir()} == {"index.html", *(f"{name}.png" for name in PICTURES)}


def test_the_page_needs_nothing_outside_itself(html):
    assert not re.search(r"https?:|//[a-z]+\.", html)
    assert not re.search(r"@import|url\((?!#)", html)
    tags = Page(html).tags
    assert not {tag for tag, _ in tags} & {"script", "link", "img", "iframe", "object", "embed", "base", "form"}
    for _, attributes in tags:
        assert not {name for name in attributes if name.startswith("on")} | {"src", "srcset"} & set(attributes)
        assert attributes.get("href", "#").startswith("#")


def test_the_page_is_well_formed_and_its_links_lead_somewhere(html):
    page = Page(html)
    assert len(page.ids) == len(set(page.ids))
    assert {target[1:] for target in page.targets} <= set(page.ids)
    referenced = re.findall(r"url\(#([^)]+)\)", html)
    assert set(referenced) <= set(page.ids)
    labeled = [name for _, attributes in page.tags for name in attributes.get("aria-labelledby", "").split()]
    assert set(labeled) <= set(page.ids)


def test_the_page_can_be_read_by_everybody(html):
    page = Page(html)
    root = dict(page.tags)["html"]
    assert root["lang"] == "en"
    pictures = [attributes for tag, attributes in page.tags if tag == "svg"]
    assert [picture["role"] for picture in pictures] == ["img"] * len(PICTURES)
    for attributes in (attributes for tag, attributes in page.tags if attributes.get("class") == "wide"):
        assert attributes["tabindex"] == "0"
        assert attributes["aria-label"]
    levels = [int(tag[1]) for tag, _ in page.tags if re.fullmatch(r"h\d", tag)]
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert all(attributes["scope"] in ("row", "col") for tag, attributes in page.tags if tag == "th")


def test_colors_follow_the_page(html):
    style = (FILES / "page.css").read_text()
    dark = style[style.index("prefers-color-scheme: dark") :]
    for variable, color in figures.COLORS.items():
        assert f"--{variable}:" in dark[: dark.index("\n}")]
        assert f"var(--{variable})" in html
        assert html.count(color) == 1  # its definition


@pytest.mark.parametrize(("ink", "paper"), [("--ink", "--paper"), ("--quiet", "--paper"), ("--ink", "--soft")])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_has_contrast(html, ink, paper, scheme):
    """At least 4.5 to 1, as WCAG 2 asks."""
    style = html[html.index("<style>") : html.index("</style>")]
    found = dict(re.findall(r"(--\w+): (#[0-9a-f]{6})", style[: style.index("@media")]))
    if scheme == "dark":
        found |= dict(re.findall(r"(--\w+): (#[0-9a-f]{6})", style[style.index("@media") :]))

    def luminance(color):
        parts = [int(color[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    light, dark = sorted((luminance(found[ink]), luminance(found[paper])), reverse=True)
    assert (light + 0.05) / (dark + 0.05) >= 4.5


def test_every_level_is_there(bundle, html):
    rows = re.findall(r'<tr><th scope="row">(.*?)</th>', html)
    found = [summaries(bundle, mechanism) for mechanism in ("santext+", "santext")]
    for levels in zip(*found, strict=True):
        epsilons = [f"{level.epsilon:g}" for level in levels]
        assert rows.count(" / ".join(epsilons)) == len(Examples.shipped().sentences)
        for level, epsilon in zip(levels, epsilons, strict=True):
            assert f"{epsilon} (default)" in rows if level.default else epsilon in rows
    for mechanism in ("santext", "santext+"):
        assert html.count(f"<caption>{mechanism};") == 1


def test_every_text_is_there(html):
    text = " ".join("".join(Page(html).text).split())
    examples = Examples.shipped()
    assert len(examples.worked) == 3
    for worked in examples.worked:
        for part in (worked.title, worked.text):
            assert " ".join(part.split()) in text
    for sentence in examples.sentences:
        assert sentence in text


def test_a_worked_text_is_followed_by_what_was_measured_and_no_advice(bundle, html):
    text = " ".join("".join(Page(html).text).split())
    for level in summaries(bundle, bundle.default_mechanism):
        does = level.measures
        assert f"the median word stays unchanged with probability {does.unchanged:.0%}, 5 % of words with more" in text
        assert f"with more than {does.unchanged_high:.0%}, and a reader who does not see the context guesses" in text
    assert not re.search(r"recommend|should|for (?:a|readers|counts|experiments)\b.{0,40}\blevel", text)


def test_the_page_says_how_often_it_drew(bundle, html, monkeypatch):
    calls = []
    real = Sanitizer.sanitize
    monkeypatch.setattr(Sanitizer, "sanitize", lambda self, *text, **o: calls.append(o) or real(self, *text, **o))
    again = level_page.page(bundle, [], Examples.shipped())
    assert f"sanitized {len(calls)} times" in " ".join(again.split())
    assert f"sanitized {len(calls)} times" in " ".join(html.split())
    assert len(calls) == 2 * 3 * len(Examples.shipped().sentences) + 3 * 3
    assert {o["mechanism"] for o in calls} == set(plain.MECHANISMS)
    other = level_page.page(bundle, [], Examples.shipped())
    assert other != again  # every draw is fresh


@pytest.mark.parametrize("name", PICTURES)
def test_pictures_are_not_blank(report, name):
    from matplotlib.image import imread

    picture = imread(report / f"{name}.png")[:, :, :3]
    assert picture.shape[0] > 300
    assert picture.shape[1] > 1000
    for variable in ("ink", "first", "second"):
        wanted = [int(figures.COLORS[variable][i : i + 2], 16) / 255 for i in (1, 3, 5)]
        assert (abs(picture - wanted).max(axis=2) < 0.01).sum() > 100, variable
    assert 0.3 < (picture.min(axis=2) > 0.99).mean() < 0.97


@pytest.mark.parametrize("times", [*(pytest.param(n, marks=pytest.mark.full) for n in (1, 400)), 2000])
def test_labels_do_not_overlap(bundle, times):
    """Tick labels and titles of all panels, at the size at which they are drawn; also with numbers of many digits."""
    bundle = open_bundle(bundle.path, TextBundle)
    for laws in bundle.statistics["levels"].values():
        for law in laws.values() if times > 1 else ():
            outputs = law["likely_outputs"]
            outputs["histogram"]["edges"] = [times * edge for edge in outputs["histogram"]["edges"]]
            outputs["quantiles"] = dict.fromkeys(outputs["quantiles"], 0.7 * outputs["histogram"]["edges"][-1])
            law["likely_inputs"]["quantiles"]["0.95"] *= times
    laws = {mechanism: summaries(bundle, mechanism) for mechanism in plain.MECHANISMS}
    with matplotlib.rc_context(figures._STYLE):
        drawn = [
            figures._curves(bundle, laws, "axis"),
            figures._guessing(bundle, laws, "axis"),
            figures._histograms(bundle, laws, "unchanged"),
            figures._histograms(bundle, laws, "likely_outputs"),
        ]
    for figure in drawn:
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        renderer = canvas.get_renderer()
        for panel in figure.axes:
            assert panel.lines or panel.patches or panel.collections
            for axis in (panel.xaxis, panel.yaxis):
                limits = sorted(axis.get_view_interval())
                ticks = [t for t in axis.get_major_ticks() if limits[0] <= t.get_loc() <= limits[1]]
                boxes = [
                    t.label1.get_window_extent(renderer)
                    for t in ticks
                    if t.label1.get_visible() and t.label1.get_text()
                ]
                boxes = [box for box in boxes if box.width]
                labels = [t.label1.get_text() for t in ticks]
                assert not any(a.padded(2).overlaps(b.padded(2)) for a, b in pairwise(boxes)), (
                    panel.get_title(loc="left"),
                    labels,
                )
        texts = [cast(Any, panel)._left_title.get_window_extent(renderer) for panel in figure.axes]
        texts += [axis.label.get_window_extent(renderer) for panel in figure.axes for axis in (panel.xaxis,)]
        texts = [box for box in texts if box.width > 1]
        assert not any(a.overlaps(b) for i, a in enumerate(texts) for b in texts[:i])


def test_one_level_no_certificate(tmp_path):
    vectors = small_bundles.scattered(40, 6, 2)
    bundle = small_bundles.small_bundle(tmp_path / "b", vectors, k=4, exponents=["3"])
    bundle = write_statistics(bundle, measure(bundle, trials=20))
    paths = level_page.write_report(bundle, tmp_path / "out")
    page = paths[0].read_text()
    Page(page)
    assert page.count("After, at epsilon 6") == 3
    assert "textbook" in page


def test_names_are_escaped(bundle):
    bundle = open_bundle(bundle.path, TextBundle)
    bundle = replace(bundle, manifest={**bundle.manifest, "name": "<script>alert(1)</script> & $identity"})
    page = level_page.page(bundle, [], Examples.shipped())
    assert "<script>" not in page
    assert "&lt;script&gt;alert(1)&lt;/script&gt; &amp; $identity" in page


def test_pieces_mark_what_changed():
    assert pieces("the doctor's note", "the nurse's note") == [
        ("the", False), (" ", False), ("nurse's", True), (" ", False), ("note", False),
    ]  # fmt: skip
    assert [word for word, changed in pieces("a b c d", "a x c d y") if changed] == ["x", "y"]
    assert [word for word, changed in pieces("a b, c", "a @, c \\") if changed] == ["@", "\\"]
    assert "".join(piece for piece, _ in pieces("a, b.", "“a”, q!")) == "“a”, q!"


class TestCommand:
    """``textveil-export report`` from the outside."""

    def test_paths_are_printed(self, printed_report):
        folder, printed = printed_report
        assert printed.splitlines() == [str(folder / name) for name in ("index.html", *(f"{p}.png" for p in PICTURES))]

    def test_without_statistics(self, tmp_path, capsys):
        vectors = small_bundles.scattered(24, 6, 2)
        bundle = small_bundles.small_bundle(tmp_path / "b", vectors, k=4, exponents=["3"])
        assert run(cli.app, "textveil-export", ["report", str(bundle.path), "-o", str(tmp_path / "out")]) == 1
        assert capsys.readouterr().err.startswith("textveil-export: no-statistics: ")
        assert not (tmp_path / "out").exists()
        with pytest.raises(NoStatistics):
            level_page.write_report(bundle, tmp_path / "out")

    def test_without_matplotlib(self, bundle, tmp_path, capsys, monkeypatch):
        for name in [name for name in sys.modules if name.split(".")[0] == "matplotlib"]:
            monkeypatch.setitem(sys.modules, name, None)
        for name in ("textveil_export.report.figures", "textveil_export.report.page", "textveil_export.report"):
            monkeypatch.delitem(sys.modules, name)
        assert run(cli.app, "textveil-export", ["report", str(bundle.path), "-o", str(tmp_path / "out")]) == 1
        said = capsys.readouterr().err
        assert "pip install './export[report]'" in said
        assert said.count("\n") == 1

    def test_a_folder_that_cannot_be_written(self, bundle, tmp_path, monkeypatch):
        monkeypatch.setattr(level_page, "pictures", lambda bundle: [])  # what is drawn does not matter here
        (tmp_path / "file").write_text("")
        with pytest.raises(WriteError):
            level_page.write_report(bundle, tmp_path / "file" / "out")
