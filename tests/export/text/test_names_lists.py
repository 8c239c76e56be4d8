"""``textveil-export names`` writes the lists of the mode ``names``, alone or beside a staircase."""

import json
from pathlib import Path
from typing import Any

import pytest
from small_names import COMMON, KINDS, POOLS, names_lists, write_lists, write_names
from textveil import Sanitizer
from textveil.bundle import DEFAULT_BUNDLE, TextBundle, open_bundle
from textveil_cli.console import run
from textveil_export import cli

GOLDEN = Path(__file__).parents[3] / "docs" / "golden"
OF_THE_BUNDLE = {"mechanism.json", "manifest.json", "README.md"}


def export(*arguments: object) -> int:
    return run(cli.app, "textveil-export", [*map(str, arguments)])


@pytest.fixture(scope="module")
def lists(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_lists(tmp_path_factory.mktemp("lists"))


def test_the_command_builds_a_bundle_of_lists(lists: Path, tmp_path: Path) -> None:
    assert export("names", lists, "--license", "MIT", "-o", tmp_path / "new") == 0
    bundle = open_bundle(tmp_path / "new", TextBundle)
    assert bundle.get_names_lists() == open_bundle(write_names(tmp_path / "other"), TextBundle).get_names_lists()
    assert (bundle.mechanisms, bundle.manifest["name"], bundle.manifest["license"]) == ((), "new", "MIT")
    assert sum(file.stat().st_size for file in bundle.path.iterdir()) < 80_000
    card = (tmp_path / "new" / "README.md").read_text("utf-8")
    shown = sum("name" in marks.split(",") for marks in COMMON.values())
    assert f"{len(COMMON)} common words can be kept; {shown} of them are also names" in card
    assert f"| given | {KINDS['given'].count('|') + 1} | {POOLS['given'].count('|') + 1} |" in card
    assert "| first-word | 8 | - |" in card
    assert card.endswith("## Sources of the lists of the mode names\n\nMade up for tests.\n")
    assert "What it does not protect" not in card


def test_rules_of_a_language_are_read_from_the_folder(lists: Path, tmp_path: Path) -> None:
    folder = write_lists(tmp_path / "lists")
    rules = json.loads((Path(__file__).parents[3] / "runtime/src/textveil/data/rules.json").read_text("utf-8"))
    (folder / "rules.json").write_text(json.dumps({**rules, "language": "qaa"}), "utf-8")
    assert export("names", folder, "--license", "MIT", "-o", tmp_path / "new") == 0
    assert open_bundle(tmp_path / "new", TextBundle).get_names_lists().rules.language == "qaa"
    (folder / "rules.json").write_text("{}", "utf-8")
    assert export("names", folder, "--license", "MIT", "-o", tmp_path / "damaged") == 1
    assert not (tmp_path / "damaged").exists()


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"endings": {"kept": ["té"], "except": []}}, "rules.json: endings.kept: 'té' must consist of letters a to z"),
        ({"endings": {"kept": ["zo"], "except": []}}, "rules.json: endings.kept: add the pool surrogates.word-zo.txt"),
        ({"surrogates.word-té.txt": "ziloté\n"}, "surrogates.word-té.txt: name it ROLE.TYPE.txt"),
        ({"common-words.txt": "zanel\tstrict\n"}, "common-words.txt: zanel is on the list of given too"),
    ],
)
def test_lists_that_do_not_fit_their_rules_are_refused_by_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], changes: dict[str, Any], problem: str
) -> None:
    folder = write_lists(tmp_path / "lists")
    rules = json.loads((Path(__file__).parents[3] / "runtime/src/textveil/data/rules.json").read_text("utf-8"))
    for name, change in changes.items():
        if name.endswith(".txt"):
            (folder / name).write_text(change, "utf-8")
        else:
            rules[name] = change
    (folder / "entity.given.txt").write_text("zanel\n", "utf-8")
    (folder / "rules.json").write_text(json.dumps({**rules, "language": "qaa"}), "utf-8")
    assert export("names", folder, "--license", "MIT", "-o", tmp_path / "new") == 1
    assert problem in capsys.readouterr().err
    assert not (tmp_path / "new").exists()


def test_a_bundle_gives_its_lists(lists: Path, tmp_path: Path) -> None:
    """And its card whose they are: the same bundle comes out again, and none of it is a list of kinds for words."""
    for source, made in ((lists, "one"), (tmp_path / "one", "other"), (DEFAULT_BUNDLE, "shipped")):
        assert export("names", source, "--name", "a", "--license", "MIT", "-o", tmp_path / made) == 0
    one, other, shipped = (open_bundle(tmp_path / name, TextBundle) for name in ("one", "other", "shipped"))
    assert one.content_hash == other.content_hash
    assert shipped.get_names_lists() == open_bundle(DEFAULT_BUNDLE, TextBundle).get_names_lists()
    assert "| `wordfreq` 3.1.1 |" in (shipped.path / "README.md").read_text("utf-8")


def same_files(one: Path, other: Path) -> None:
    """All files of the first are in the second too, byte for byte, but for those that name the others.

    A list of the template has another name if the mode `names` has other words of this type.
    """
    for path in one.iterdir():
        copy = other / f"template.{path.name}"
        assert (
            path.name in OF_THE_BUNDLE
            or path.read_bytes() == (copy if copy.exists() else other / path.name).read_bytes()
        )


def test_the_command_adds_lists_to_a_copy_of_a_staircase(lists: Path, tmp_path: Path) -> None:
    assert export("names", lists, "--beside", DEFAULT_BUNDLE, "-o", tmp_path / "new") == 0
    before, bundle = (open_bundle(path, TextBundle) for path in (DEFAULT_BUNDLE, tmp_path / "new"))
    assert before.template is not None
    assert before.names_files is not None
    shared = {name for kind in before.template.entity_types for name in kind.files}
    for name in before.manifest["files"].keys() - before.names_files.contents.keys() - OF_THE_BUNDLE | shared:
        copy = bundle.path / f"template.{name}"  # the mode names has other words of this type
        path = copy if copy.exists() else bundle.path / name
        assert path.read_bytes() == (before.path / name).read_bytes()
    assert bundle.manifest["name"] == before.manifest["name"]
    assert bundle.manifest["license"] == before.manifest["license"]
    assert Sanitizer(bundle).distribution("doctor") == Sanitizer(before).distribution("doctor")
    assert set(bundle.get_names_lists().common_words) == set(COMMON)
    card = (bundle.path / "README.md").read_text("utf-8")
    assert "## The staircase" in card
    assert "## What it does not protect" in card


def test_other_lists_take_their_place(lists: Path, tmp_path: Path) -> None:
    """Lists that are gone leave no file behind, and what was made twice is the same bytes."""
    more = write_lists(tmp_path / "more", {"entity.planet.txt": "mars\nvenus\n"})
    for number, (folder, beside) in enumerate(
        [(more, DEFAULT_BUNDLE), (lists, tmp_path / "0"), (lists, tmp_path / "1")]
    ):
        assert export("names", folder, "--beside", beside, "--name", "words", "-o", tmp_path / str(number)) == 0
    kinds = [open_bundle(tmp_path / name, TextBundle).get_names_lists().members_by_type.keys() for name in "012"]
    assert kinds == [KINDS.keys() | {"planet"}, KINDS.keys(), KINDS.keys()]
    assert not (tmp_path / "1" / "entity.planet.txt").exists()
    assert (tmp_path / "1" / "manifest.json").read_bytes() == (tmp_path / "2" / "manifest.json").read_bytes()


def test_the_command_adds_lists_to_a_new_staircase(lists: Path, tmp_path: Path) -> None:
    words = json.loads((GOLDEN / "words" / "manifest.json").read_text("utf-8"))
    assert words["bundle_type"] == "text"
    vectors = tmp_path / "vectors"
    vocabulary = (GOLDEN / "words" / "vocabulary.tsv").read_text("utf-8").splitlines()
    rows = [
        f"{line.partition(chr(9))[0]} {number % 7 + 1} {number % 5} {number}\n"
        for number, line in enumerate(vocabulary)
    ]
    vectors.write_text("".join(rows), "utf-8")
    options = ["--vectors", vectors, "--lists", "none", "--staircase-neighbors", "4"]
    assert export("staircase", GOLDEN / "words", *options, "-o", tmp_path / "plain") == 0
    assert export("staircase", GOLDEN / "words", *options, "--names", lists, "-o", tmp_path / "both") == 0
    same_files(tmp_path / "plain", tmp_path / "both")
    bundle = open_bundle(tmp_path / "both", TextBundle)
    assert bundle.default_mechanism == "staircase"
    assert set(bundle.get_names_lists().common_words) == set(COMMON)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"common-words.txt": "b\na\n"}, "common-words.txt: line 2 occurs twice, or is not in alphabetical order"),
        ({"surrogates.city.txt": ""}, "the file is empty, or its last line does not end in a line feed (copy or"),
        (
            {"common-words.txt": "friday\n"},
            "common-words.txt: line 1 is also a weekday: the mode `names` replaces it, remove the line",
        ),
        ({"README.md": "Free.\n"}, "README.md: add a section"),
    ],
)
def test_malformed_lists_are_refused(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], changed: dict[str, str], message: str
) -> None:
    folder = write_lists(tmp_path / "lists")
    for name, content in changed.items():
        (folder / name).write_text(content, "utf-8")
    assert export("names", folder, "--license", "MIT", "-o", tmp_path / "new") == 1
    assert message in capfd.readouterr().err
    assert not (tmp_path / "new").exists()


def test_options_and_bundles_that_do_not_fit_are_refused(
    lists: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert export("names", tmp_path, "-o", tmp_path / "new") == 1
    assert "common-words.txt: cannot be read" in capfd.readouterr().err
    for name in names_lists():
        (tmp_path / name).write_text("a\n", "utf-8")
    for name in [name for name in names_lists() if name.startswith("surrogates.")]:
        (tmp_path / name).unlink()
    assert export("names", tmp_path, "-o", tmp_path / "new") == 1
    assert "a surrogate pool is missing" in capfd.readouterr().err
    assert export("names", lists, "-o", tmp_path / "new") == 1
    assert "pass --license" in capfd.readouterr().err
    assert export("names", lists, "--beside", GOLDEN / "words", "-o", tmp_path / "new") == 1
    assert "--beside needs a bundle with the staircase mechanism" in capfd.readouterr().err
