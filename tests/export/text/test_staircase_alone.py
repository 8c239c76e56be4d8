"""``textveil-export staircase``: a bundle with a staircase alone, over the words of a finished one."""

import json
from pathlib import Path

import numpy as np
import pytest
from textveil.bundle import TextBundle, open_bundle
from textveil.verify import verify_text
from textveil_cli.console import run
from textveil_export import cli

GOLDEN = Path(__file__).parents[3] / "docs" / "golden"
WORDS = "the a of doctor nurse john london clinic hospital flu cancer clean dirty ugly , 's monday".split()


def export(*arguments: object) -> int:
    return run(cli.app, "textveil-export", [*map(str, arguments)])


@pytest.fixture(scope="module")
def vectors(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows = np.random.default_rng(3).standard_normal((len(WORDS), 6))
    lines = [f"{w} {' '.join(map(str, row))}\n" for w, row in zip(WORDS, rows, strict=True)]
    path = tmp_path_factory.mktemp("vectors") / "vectors"
    path.write_text("".join(lines), "utf-8")
    return path


@pytest.fixture(scope="module")
def finished(vectors: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle with SanText."""
    folder = tmp_path_factory.mktemp("finished") / "bundle"
    options = ["--lists", "none", "-k", "8", "--exponent", "4", "--mechanisms", "santext", "--no-statistics"]
    assert export("table", "--vectors", vectors, *options, "--attribution", "Words by us.", "-o", folder) == 0
    return folder


def test_the_words_stay_and_the_lists_are_others(vectors: Path, finished: Path, tmp_path: Path) -> None:
    new, names = tmp_path / "new", tmp_path / "names"
    names.write_text("john\nmary\n")
    words = tmp_path / "function-words"
    words.write_text("a\nof\nthe\n")
    options = ["--vectors", vectors, "--lists", "none", "--staircase-neighbors", "6"]
    options += ["--function-words", words, "--kind", f"name={names}"]
    assert export("staircase", finished, *options, "-o", new) == 0
    bundle = open_bundle(new, TextBundle)
    assert (new / "vocabulary.tsv").read_bytes() == (finished / "vocabulary.tsv").read_bytes()
    assert (bundle.mechanisms, bundle.default_mechanism, bundle.certificate) == (("staircase",), "staircase", None)
    assert (bundle.manifest["name"], bundle.manifest["attribution"]) == ("new", "Words by us.")
    assert bundle.manifest["licence"] == open_bundle(finished).manifest["licence"]
    assert bundle.staircase is not None
    assert bundle.staircase.neighbors.shape == (len(WORDS), 6)
    assert bundle.skeleton is not None
    assert [kind.name for kind in bundle.skeleton.kinds][-1] == "name"
    assert "6 stored\nneighbors per word" in (new / "README.md").read_text("utf-8")
    verify_text(bundle)


def test_a_staircase_is_that_of_a_bundle_with_both(vectors: Path, finished: Path, tmp_path: Path) -> None:
    """And it can be given another one: what it is made over is the vocabulary alone."""
    options = ["--vectors", vectors, "--lists", "none", "--staircase-neighbors", "4"]
    assert export("table", *options, "--mechanisms", "staircase", "-o", tmp_path / "both") == 0
    assert export("staircase", finished, *options, "-o", tmp_path / "one") == 0
    assert export("staircase", tmp_path / "one", *options, "--attribution", "By us.", "-o", tmp_path / "again") == 0
    made = [tmp_path / folder for folder in ("both", "one", "again")]
    assert len({(folder / "staircase.safetensors").read_bytes() for folder in made}) == 1
    laws = [json.loads((folder / "law.json").read_bytes()) for folder in made]
    assert laws[0] == laws[1] == laws[2]
    credits = [open_bundle(tmp_path / folder).manifest["attribution"] for folder in ("one", "again")]
    assert credits[0].startswith("Words by us. The lists of names")
    assert credits[1] == "By us."


def test_what_does_not_fit_is_refused(
    vectors: Path, finished: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    few = tmp_path / "few"
    few.write_text("".join(vectors.read_text("utf-8").splitlines(keepends=True)[:5]), "utf-8")
    for arguments, message in (
        ((GOLDEN / "wordpieces", "--vectors", vectors), "the staircase is for words"),
        ((finished, "--vectors", few), "12 of 17 words have no vector of their own for the staircase"),
        ((finished, "--lists", "german"), "--lists must be english or none"),
    ):
        assert export("staircase", *arguments, "-o", tmp_path / "new") == 1
        assert message in capfd.readouterr().err
        assert not (tmp_path / "new").exists()
