"""``textveil-train report page``: a page that is complete in itself and can be read by everybody, and its pictures."""

import json
import re
import struct
import subprocess
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from run_records import attack, fairness, finetune, law, many
from textveil_training.errors import ReportError
from textveil_training.report.page import FILES, markdown, sections
from textveil_training.report.records import read

pytest.importorskip("matplotlib", reason="the extra textveil-training[report] is not installed")

Run = Callable[..., tuple[int, str, str]]
VOID = {"meta", "br", "path", "use", "rect", "line", "circle"}
SECTIONS = ["compared", "utility", "defence", "w-and-p", "words", "attacks", "pretraining", "fairness"]


class Page(HTMLParser):
    """What a page is made of; fails where elements are not closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text.append(data)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for found, attributes in self.tags if found == tag]

    def values(self, name: str) -> list[str]:
        return [attributes[name] or "" for _, attributes in self.tags if name in attributes]


def write(path: Path, records: list[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the page, the tables and the pictures of a report that has every section."""
    from textveil.cli.main import console
    from textveil_training import cli

    folder = tmp_path_factory.mktemp("report")
    runs = write(folder / "runs.jsonl", many())
    options = [
        "-o",
        folder / "page.html",
        "--markdown",
        folder / "tables.md",
        "--pictures",
        folder / "new" / "pictures",
    ]
    arguments = ["report", "page", str(runs), *map(str, options), "--title", "Utility & <privacy>"]
    assert console.run(cli.app, "textveil-train", arguments) == 0
    return folder


@pytest.fixture(scope="module")
def html(made: Path) -> str:
    return (made / "page.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def page(html: str) -> Page:
    return Page(html)


def test_the_page_needs_nothing_outside_itself(html: str, page: Page) -> None:
    assert not re.search(r"https?:|//[a-z]+\.", html)
    assert not re.search(r"@import|url\((?!#)", html)
    assert not {tag for tag, _ in page.tags} & {"script", "link", "img", "iframe", "object", "embed", "base", "form"}
    for _, attributes in page.tags:
        assert not {name for name in attributes if name.startswith("on")} | {"src", "srcset"} & set(attributes)
        assert (attributes.get("href") or "#").startswith("#")


def test_the_page_is_well_formed_and_its_links_lead_somewhere(html: str, page: Page) -> None:
    ids = page.values("id")
    assert len(ids) == len(set(ids))
    assert {target[1:] for target in page.values("href")} <= set(ids)
    assert set(re.findall(r"url\(#([^)]+)\)", html)) <= set(ids)
    labelled = [name for value in page.values("aria-labelledby") for name in value.split()]
    assert set(labelled) <= set(ids)
    assert [section["id"] for section in page.all("section")] == SECTIONS


def test_the_page_can_be_read_by_everybody(page: Page) -> None:
    assert page.all("html")[0]["lang"] == "en"
    assert len(page.all("svg")) == len(page.all("figure")) > 5
    assert {picture["role"] for picture in page.all("svg")} == {"img"}
    assert len(page.all("desc")) == len(page.all("svg"))
    wide = [attributes for _, attributes in page.tags if attributes.get("class") == "wide"]
    assert len(wide) == len(page.all("table")) + len(page.all("svg"))
    assert all(one["tabindex"] == "0" and (one.get("aria-label") or one.get("aria-labelledby")) for one in wide)
    levels = [int(tag[1]) for tag, _ in page.tags if re.fullmatch(r"h\d", tag)]
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert all(attributes["scope"] in ("row", "col") for attributes in page.all("th"))
    assert any("viewport" in (meta.get("name") or "") for meta in page.all("meta"))


def test_every_plot_stands_beside_a_table(html: str) -> None:
    for section in re.findall(r"<section.*?</section>", html, re.S):
        first = [section.find(tag) for tag in ("<table", "<svg")]
        assert first[1] == -1 or -1 < first[0] < first[1]


def test_words_in_plots_are_text(html: str, page: Page) -> None:
    drawings = re.findall(r"<svg.*?</svg>", html, re.S)
    said = "".join(re.sub(r"<[^>]*>", "\n", drawing[drawing.index("</desc>") :]) for drawing in drawings)
    for words in (
        "certified epsilon, per unit of distance",
        "unsanitised",
        "majority class",
        "defence rate of the tokens",
    ):
        assert words in said
    assert "font-family: 'DejaVu" not in html
    assert page.all("title")[0] == {}


def test_titles_are_escaped(html: str, made: Path) -> None:
    assert "<h1>Utility &amp; &lt;privacy&gt;</h1>" in html
    assert (made / "tables.md").read_text(encoding="utf-8").startswith("# Utility \\& \\<privacy\\>\n")


def colours(scheme: str) -> dict[str, str]:
    from textveil_training.report.plots import COLOURS

    style = (FILES / "page.css").read_text(encoding="utf-8")
    light, dark = style.split("@media (prefers-color-scheme: dark)")
    found = COLOURS | dict(re.findall(r"--(\w+): (#[0-9a-f]{6})", light))
    return found | (dict(re.findall(r"--(\w+): (#[0-9a-f]{6})", dark)) if scheme == "dark" else {})


def contrast(first: str, second: str) -> float:
    def luminance(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    light, dark = sorted((luminance(first), luminance(second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_and_lines_have_contrast(scheme: str) -> None:
    """At least 4.5 to 1 for text and 3 to 1 for lines, as WCAG 2 asks; every colour has a dark twin."""
    from textveil_training.report.plots import COLOURS

    found = colours(scheme)
    assert all(contrast(found[name], found["page"]) >= 4.5 for name in ("ink", "quiet", "s0"))
    assert all(contrast(found[name], found["page"]) >= 3 for name in found if re.fullmatch(r"s\d", name))
    if scheme == "dark":
        assert all(found[name] != colour for name, colour in COLOURS.items())


def test_pictures(made: Path) -> None:
    pictures = sorted((made / "new" / "pictures").iterdir())
    assert {path.suffix for path in pictures} == {".png"}
    names = " ".join(path.name for path in pictures)
    for part in ("utility-over-epsilon-sst2", "defence-against-utility-sst2", "over-w-and-p-sst2", "words-certified"):
        assert part in names
    for path in pictures:
        png = path.read_bytes()
        assert png.startswith(b"\x89PNG\r\n\x1a\n")
        assert min(struct.unpack(">II", png[16:24])) > 300


def test_the_same_records_give_the_same_page(made: Path, run: Run, tmp_path: Path, html: str) -> None:
    runs = made / "runs.jsonl"
    code, out, _ = run("report", "page", runs, "-o", tmp_path / "page.html", "--title", "Utility & <privacy>", "--json")
    assert code == 0
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == html
    told = json.loads(out)
    assert (told["runs"], told["unfinished"], told["replaced"]) == (len(many()) - 1, 1, 0)
    assert told["sections"] == SECTIONS


def test_a_bundle_tells_w_and_the_pure_ldp_level(run: Run, tmp_path: Path) -> None:
    from textveil.bundle.defaults import DEFAULT_BUNDLE
    from textveil.bundle.text_bundle import Bundle

    bundle = Bundle(DEFAULT_BUNDLE)
    assert bundle.certificate is not None
    more = {"bundle": bundle.identity, "level": "firm"}
    runs = [finetune(0.8, law(9.0, mechanism, **more)) for mechanism in ("santext", "santext+")]
    files = write(tmp_path / "runs.jsonl", runs), tmp_path / "page.html", tmp_path / "tables.md"
    code, _, _ = run("report", "page", files[0], "-o", files[1], "--markdown", files[2], "--bundle", DEFAULT_BUNDLE)
    assert code == 0
    level = bundle.certificate["levels"]["firm"]["santext"]["exact"]["epsilon_pure_ldp"]
    rows = [line for line in files[2].read_text(encoding="utf-8").splitlines() if line.startswith("| santext")]
    assert f"| {level:.4g} |" in rows[0]
    assert f"| {level:.4g} |" not in rows[1]
    assert "| 0.9 | 0.3 | 9 | certified |" in rows[1]


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('{"format": "textveil-run",\n', "textveil-train: report-record: runs.jsonl, line 1: malformed JSON\n"),
        (
            json.dumps(finetune(0.9) | {"format_version": 7}),
            "textveil-train: report-record: runs.jsonl: the format_version is not 1\n",
        ),
        ("\n", "textveil-train: report: there is no run record to report\n"),
    ],
)
def test_bad_input_is_one_line_and_writes_nothing(run: Run, tmp_path: Path, content: str, said: str) -> None:
    runs = tmp_path / "runs.jsonl"
    runs.write_text(content, encoding="utf-8")
    code, out, err = run("report", "page", runs, "-o", tmp_path / "page.html")
    assert (code, out, err) == (1, "", said)
    assert [path.name for path in tmp_path.iterdir()] == ["runs.jsonl"]


def test_a_place_that_cannot_be_written(run: Run, tmp_path: Path) -> None:
    runs = write(tmp_path / "runs.jsonl", [finetune(0.9)])
    code, _, err = run("report", "page", runs, "-o", tmp_path / "nowhere" / "page.html")
    assert (code, err.count("\n")) == (1, 1)
    assert "output" in err


def test_a_grid_has_a_section_of_its_own(run: Run, tmp_path: Path) -> None:
    """The grid that is in the repository: its epsilon is of the whole text, and it is named so."""
    grid = Path(__file__).parents[2] / "benchmarks" / "results" / "dpnr_ag_l1.jsonl"
    code, _, _ = run("report", "page", grid, "-o", tmp_path / "page.html", "--markdown", tmp_path / "tables.md")
    assert code == 0
    text = (tmp_path / "tables.md").read_text(encoding="utf-8")
    assert "## Private representations" in text
    assert "epsilon of the whole text" in text
    assert "## Utility" not in text


JUNK = st.one_of(
    st.none(), st.booleans(), st.integers(-3, 10**20), st.floats(allow_nan=False), st.text(max_size=3),
    st.lists(st.integers(), max_size=2), st.dictionaries(st.text(max_size=2), st.integers(), max_size=2),
)  # fmt: skip


def places(value: Any, before: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """All paths into a record."""
    found = [before] if before else []
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return found + [path for name, part in inside for path in places(part, (*before, name))]


@settings(max_examples=250, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_whatever_stands_in_a_record_the_error_is_a_named_one(tmp_path: Path, data: st.DataObject) -> None:
    record = json.loads(json.dumps(data.draw(st.sampled_from([finetune(0.9, law()), attack(law()), fairness()]))))
    path = data.draw(st.sampled_from(places(record)))
    part = record
    for name in path[:-1]:
        part = part[name]
    part[path[-1]] = data.draw(JUNK)
    try:
        parts = sections(read([write(tmp_path / "runs.jsonl", [record, finetune(0.8, law(14.0))])]))
    except ReportError:
        return
    assert "quokka" not in markdown(parts, "title")


HOSTILE = ["x/../../escaped", '"><script>alert(1)</script>', "$x_{$", "ε", "", "a" * 400, "A B", "a/b"]


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(kinds=st.lists(st.one_of(st.sampled_from(HOSTILE), st.text(max_size=8)), min_size=2, max_size=2, unique=True))
def test_names_of_places_and_files_are_plain_and_each_is_given_once(tmp_path: Path, kinds: list[str]) -> None:
    laws = [law(epsilon, epsilon_kind=kind) for kind in kinds for epsilon in (10.0, 12.0)]
    runs = [attack(of) for of in laws] + [finetune(0.7, of, encoder=kinds[0]) for of in laws]
    parts = sections(read([write(tmp_path / "runs.jsonl", runs)]))
    names = [part.name for section in parts for part in section.parts] + [section.name for section in parts]
    assert all(re.fullmatch(r"[a-z0-9-]{1,120}", name) for name in names)
    assert len(names) == len(set(names))
    assert sum(name.startswith("words-") or name == "words" for name in names) >= 2


def test_names_from_records_stay_text_in_the_page_and_in_the_names_of_pictures(run: Run, tmp_path: Path) -> None:
    """What would be a path, markup or a formula somewhere."""
    kinds = ["x/../../escaped", '"><script>alert(1)</script>', "", "A B", "a/b"]
    laws = [law(e, mechanism="m$^{$", epsilon_kind=kind) for kind in kinds for e in (10.0, 12.0)]
    folder = tmp_path / "inside" / "pictures"
    folder.parent.mkdir()
    runs = write(tmp_path / "runs.jsonl", [attack(of) for of in laws])
    page = tmp_path / "page.html"
    code, out, _ = run("report", "page", runs, "-o", page, "--pictures", folder, "--json")
    assert code == 0
    told = json.loads(out)["pictures"]
    assert {"words-x-escaped.png", "words-2.png", "words-a-b.png", "words-a-b-2.png"} <= set(told)
    assert sorted(path.name for path in folder.iterdir()) == told
    assert sorted(path.name for path in tmp_path.rglob("*") if path.is_file()) == sorted(
        [*told, "page.html", "runs.jsonl"]
    )
    text = page.read_text(encoding="utf-8")
    found = Page(text)
    assert "<script" not in text
    assert len(found.values("id")) == len(set(found.values("id")))
    assert all(re.fullmatch(r"[\w.-]+", name) for name in found.values("id"))
    assert "m$^{$" in "".join(found.text)


def test_without_matplotlib_the_error_names_the_extra() -> None:
    """In a process of its own, where matplotlib cannot be imported."""
    code = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "from textveil_training.errors import ReportError\n"
        "try:\n    import textveil_training.report.plots\n"
        "except ReportError as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "textveil-training with the extra report" in done.stdout


def test_the_wheel_holds_the_page() -> None:
    wheel = pytest.importorskip("hatchling.builders.wheel", reason="building needs the package hatchling")
    builder = wheel.WheelBuilder(str(Path(__file__).parents[2] / "server_training"))
    packed = {file.distribution_path for file in builder.recurse_included_files()}
    assert {"textveil_training/report/page.html", "textveil_training/report/page.css"} <= packed
