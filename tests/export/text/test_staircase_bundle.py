"""The exporter builds a staircase with a new bundle or over a finished one: lists, outputs, options."""

import json
from pathlib import Path

import numpy as np
import pytest
import small_bundles
from overridden import overridden
from textveil import Sanitizer
from textveil.bundle import TextBundle, open_bundle
from textveil.verify import verify_text
from textveil_cli.console import run
from textveil_export import cli
from textveil_export.errors import ExportError, SourceError
from textveil_export.text.staircase_bundle import DEFAULT_LEVEL, LEVELS, StaircaseRecipe, build_staircase
from textveil_export.text.template_lists import read_english_template, read_template_lists
from textveil_export.text.word_vectors import WordVectors

GOLDEN = Path(__file__).parents[3] / "docs" / "golden"
WORDS = "the a of doctor nurse john london clinic hospital flu cancer clean dirty ugly , 's monday".split()
FUNCTION_WORDS = "'d\n'll\n'm\n're\n's\n've\na\nca\nn't\nof\nsha\nthe\nwo\n"
BAD_NAME = "--entity-type: a name must be lower-case letters with single hyphens between them"


def export(*arguments: object) -> int:
    return run(cli.app, "textveil-export", [*map(str, arguments)])


@pytest.fixture(scope="module")
def vectors(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows = np.random.default_rng(3).standard_normal((len(WORDS), 6))
    path = tmp_path_factory.mktemp("vectors") / "vectors"
    path.write_text("".join(f"{w} {' '.join(map(str, row))}\n" for w, row in zip(WORDS, rows, strict=True)), "utf-8")
    return path


@pytest.fixture
def files(vectors: Path, tmp_path: Path) -> dict[str, Path]:
    """Vectors, function words, two kinds and frequencies in files."""
    contents = {
        "function": FUNCTION_WORDS,
        "name": "john\nmary\n",
        "city": "london\nreading\tcapitalized\n",
        "frequencies": "the\t90\ndoctor\t8\nflu\t2\n",
    }
    for name, content in contents.items():
        (tmp_path / name).write_text(content, "utf-8")
    return {"vectors": vectors, **{name: tmp_path / name for name in contents}}


def table(files: dict[str, Path], folder: Path, *options: object) -> int:
    """Run the command on the small vocabulary with the staircase alone."""
    arguments = ["table", "--vectors", files["vectors"], "--lists", "none", "--mechanisms", "staircase"]
    return export(*overridden(arguments, options), "-o", folder / "bundle")


def foreign(files: dict[str, Path]) -> list[object]:
    """Return the options for the lists of another language."""
    kinds = ["--entity-type", f"name={files['name']}", "--entity-type", f"city={files['city']}"]
    return ["--function-words", files["function"], *kinds]


def test_a_bundle_of_another_language(files: dict[str, Path], tmp_path: Path) -> None:
    never = tmp_path / "never"
    never.write_text("ugly\n")
    options = [*foreign(files), "--word-frequencies", files["frequencies"], "--staircase-neighbors", "5"]
    assert table(files, tmp_path, *options, "--never-output", never) == 0
    bundle = open_bundle(tmp_path / "bundle", TextBundle)
    assert bundle.mechanisms == ("staircase",)
    assert bundle.staircase_table is not None
    assert bundle.staircase_table.neighbors.shape == (len(WORDS), 5)
    assert bundle.staircase_table.base.argmax() == WORDS.index("the")
    assert (bundle.default_staircase_level, len(bundle.staircase_levels)) == (DEFAULT_LEVEL, len(LEVELS))
    verify_text(bundle)
    sanitizer = Sanitizer(bundle)
    assert [what for _, what in sanitizer.preview("The doctor of London, john reading Reading")[::2]] == [
        "kept", "randomized", "kept", "city", "name", "unknown", "city",
    ]  # fmt: skip
    outputs = {protect: set(sanitizer.distribution("qwyx", protect=protect).words) for protect in ("words", "all")}
    drawn = {"doctor", "nurse", "clinic", "hospital", "flu", "cancer", "clean", "dirty", "monday"}
    assert outputs == {"words": drawn, "all": drawn | {"the", "a", "of"}}


def test_more_neighbors_than_words_are_all_words(files: dict[str, Path], tmp_path: Path) -> None:
    assert table(files, tmp_path) == 0
    bundle = open_bundle(tmp_path / "bundle", TextBundle)
    assert bundle.staircase_table is not None
    assert bundle.staircase_table.neighbors.shape[1] == len(WORDS) - 1  # the comma is not a neighbor
    assert bundle.template is not None
    assert bundle.template == read_english_template().files
    verify_text(bundle)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--mechanisms", "krr"], "--mechanisms must be staircase, santext or both, each once"),
        (["--mechanisms", "staircase,staircase"], "--mechanisms must be staircase, santext or both, each once"),
        (["--mechanisms", ""], "--mechanisms must be staircase, santext or both, each once"),
        (["--entity-type", "a=b"], "--entity-type requires --function-words"),
        (["--function-words", "{function}", "--entity-type", "a"], "--entity-type must be NAME=FILE"),
        (["--function-words", "{function}", "--entity-type", "=b"], "--entity-type must be NAME=FILE"),
        (
            ["--function-words", "{function}", "--entity-type", "../up={name}"],
            BAD_NAME,
        ),
        (
            ["--function-words", "{function}", "--entity-type", "A b={name}"],
            BAD_NAME,
        ),
        (
            ["--function-words", "{function}", "--entity-type", "email={name}"],
            "two entity types have the same name or shape",
        ),
        (["--function-words", "{name}x"], "cannot be read as UTF-8 text"),
        (["--function-words", "{frequencies}"], "line 1 of the function words has an unknown flag"),
        (
            ["--function-words", "{function}", "--entity-type", "name={frequencies}"],
            "line 1 of an entity type has an unknown flag",
        ),
        (["--word-frequencies", "{function}"], "must be a word, a tab and a count"),
        (["--mechanisms", "santext", "--function-words", "{function}"], "need --mechanisms staircase"),
        (["--mechanisms", "santext", "--word-frequencies", "{frequencies}"], "need --mechanisms staircase"),
    ],
)
def test_wrong_options_are_refused(
    files: dict[str, Path], tmp_path: Path, capfd: pytest.CaptureFixture[str], options: list[str], message: str
) -> None:
    assert table(files, tmp_path, *(option.format(**files) for option in options)) == 1
    said = capfd.readouterr().err
    assert message in said
    assert len([line for line in said.splitlines() if line.startswith("textveil-export: ")]) == 1
    assert not (tmp_path / "bundle").exists()


def test_the_english_lists_are_those_of_the_format() -> None:
    lists = read_english_template()
    rule = lists.make_rule(visible=True)
    assert {"the", "n't", "wo"} <= set(lists.words)
    assert lists.words["may"]
    assert not lists.words["the"]
    by_list = [kind.name for kind in lists.kinds.entity_types if kind.shape is None]
    assert [by_list[0], by_list[-1], len(by_list)] == ["weekday", "institution-word", 15]
    assert rule.is_output_allowed("doctor")
    assert [rule.is_output_allowed("hope", lower=lower) for lower in (False, True)] == [False, True]
    assert not any(rule.is_output_allowed(word, lower=True) for word in ("the", "john", "5", "'s"))
    assert not rule.is_output_allowed("the")
    assert not rule.is_output_allowed("monday")


def test_the_error_identifies_a_wrong_list_and_its_line(files: dict[str, Path]) -> None:
    files["name"].write_text("john\njohn\n")
    with pytest.raises(SourceError, match=r"^entity type name: line 2 of an entity type occurs twice"):
        read_template_lists(files["function"], [("name", files["name"])])
    files["function"].write_bytes(b"\xff")
    with pytest.raises(SourceError, match=r"^function: cannot be read as UTF-8 text$"):
        read_template_lists(files["function"], [])


def words_of(words: list[str], seed: int) -> WordVectors:
    vectors = small_bundles.scattered(len(words), 4, seed).astype(np.float32)
    return WordVectors(words=words, vectors=vectors, provenance={})


def test_every_word_needs_a_vector_of_its_own() -> None:
    source = words_of(["doctor", "nurse", "flu"], 1)
    vectors = words_of(["nurse", "doctor"], 2)
    with pytest.raises(ExportError, match=r"^1 of 3 words have no vector for the staircase: add them to --vectors$"):
        build_staircase(source, StaircaseRecipe(lists=read_english_template(), vectors=vectors))
    both = build_staircase(
        source.select_entries([0, 1]), StaircaseRecipe(lists=read_english_template(), vectors=vectors)
    )
    assert both.tensors["neighbors"].tolist() == [[0, 1], [1, 0]]
    assert json.dumps(both.definition)


@pytest.fixture(scope="module")
def finished(vectors: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a bundle with SanText, to which ``textveil-export staircase`` adds another mechanism."""
    folder = tmp_path_factory.mktemp("finished") / "bundle"
    options = ["--lists", "none", "-k", "8", "--exponent", "4", "--mechanisms", "santext", "--no-statistics"]
    assert export("table", "--vectors", vectors, *options, "--attribution", "Words by us.", "-o", folder) == 0
    return folder


def test_the_words_stay_and_the_lists_are_others(files: dict[str, Path], finished: Path, tmp_path: Path) -> None:
    new = tmp_path / "new"
    options = ["--vectors", files["vectors"], "--lists", "none", "--staircase-neighbors", "6", *foreign(files)]
    assert export("staircase", finished, *options, "-o", new) == 0
    bundle = open_bundle(new, TextBundle)
    assert (new / "vocabulary.tsv").read_bytes() == (finished / "vocabulary.tsv").read_bytes()
    assert (bundle.mechanisms, bundle.default_mechanism, bundle.certificate) == (("staircase",), "staircase", None)
    assert (bundle.manifest["name"], bundle.manifest["attribution"]) == ("new", "Words by us.")
    assert bundle.manifest["license"] == open_bundle(finished).manifest["license"]
    assert bundle.staircase_table is not None
    assert bundle.staircase_table.neighbors.shape == (len(WORDS), 6)
    assert bundle.template is not None
    assert [kind.name for kind in bundle.template.entity_types][-2:] == ["name", "city"]
    assert "At most\n6 neighbors per word" in (new / "README.md").read_text("utf-8")
    verify_text(bundle)


def test_a_staircase_is_that_of_a_bundle_with_both(vectors: Path, finished: Path, tmp_path: Path) -> None:
    """And it can be given another one: what it is made over is the vocabulary alone."""
    options = ["--vectors", vectors, "--lists", "none", "--staircase-neighbors", "4"]
    assert export("table", *options, "--mechanisms", "staircase", "-o", tmp_path / "both") == 0
    assert export("staircase", finished, *options, "-o", tmp_path / "one") == 0
    assert export("staircase", tmp_path / "one", *options, "--attribution", "By us.", "-o", tmp_path / "again") == 0
    made = [tmp_path / folder for folder in ("both", "one", "again")]
    assert len({(folder / "staircase.safetensors").read_bytes() for folder in made}) == 1
    laws = [json.loads((folder / "mechanism.json").read_bytes()) for folder in made]
    assert laws[0] == laws[1] == laws[2]
    credits = [open_bundle(tmp_path / folder).manifest["attribution"] for folder in ("one", "again")]
    assert credits[0].startswith("Words by us. The lists of names")
    assert credits[1] == "By us."


def test_options_and_bundles_that_do_not_fit_are_refused(
    vectors: Path, finished: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    few = tmp_path / "few"
    few.write_text("".join(vectors.read_text("utf-8").splitlines(keepends=True)[:5]), "utf-8")
    for arguments, message in (
        ((finished, "--vectors", few), "12 of 17 words have no vector for the staircase"),
        ((finished, "--lists", "german"), "--lists must be english or none"),
    ):
        assert export("staircase", *arguments, "-o", tmp_path / "new") == 1
        assert message in capfd.readouterr().err
        assert not (tmp_path / "new").exists()
