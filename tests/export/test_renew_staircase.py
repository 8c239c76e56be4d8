"""``textveil-export staircase``: a new staircase beside the tables of SanText of a finished bundle."""

from pathlib import Path

import numpy as np
import pytest
from textveil.bundle import Bundle
from textveil.verify import verify_text
from textveil_cli import run
from textveil_export import cli

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
    """A bundle with both parts, certified, with statistics."""
    folder = tmp_path_factory.mktemp("finished") / "bundle"
    options = ["--lists", "none", "-k", "8", "--level", "moderate=4", "--staircase-neighbors", "4", "--no-statistics"]
    assert export("table", "--vectors", vectors, *options, "-o", folder) == 0
    assert export("certify", folder) == 0
    assert export("statistics", folder, "--trials", "2") == 0
    return folder


def test_tables_certificate_and_statistics_stay(vectors: Path, finished: Path, tmp_path: Path) -> None:
    new, names = tmp_path / "new", tmp_path / "names"
    names.write_text("john\nmary\n")
    words = tmp_path / "function-words"
    words.write_text("a\nof\nthe\n")
    options = ["--vectors", vectors, "--lists", "none", "--staircase-neighbors", "6"]
    options += ["--function-words", words, "--kind", f"name={names}"]
    assert export("staircase", finished, *options, "-o", new) == 0
    before, after = Bundle(finished), Bundle(new)
    for name in ("table.safetensors", "embeddings.safetensors", "vocabulary.tsv"):
        assert (new / name).read_bytes() == (finished / name).read_bytes()
    assert before.certificate is not None
    assert before.statistics is not None
    for old, copied in ((before.certificate, after.certificate), (before.statistics, after.statistics)):
        assert copied == {**old, "identity": after.law_identity}
    assert after.law_identity != before.law_identity
    assert after.identity != before.identity
    assert after.staircase is not None
    assert after.staircase.neighbors.shape == (len(WORDS), 6)
    assert after.skeleton is not None
    assert [kind.name for kind in after.skeleton.kinds][-1] == "name"
    card = (new / "README.md").read_text("utf-8")
    assert "6 stored\nneighbors per word" in card
    verify_text(after)


def test_the_same_staircase_gives_the_same_bundle(vectors: Path, finished: Path, tmp_path: Path) -> None:
    options = ["--vectors", vectors, "--lists", "none", "--staircase-neighbors", "4"]
    assert export("staircase", finished, *options, "-o", tmp_path / "new") == 0
    assert Bundle(tmp_path / "new").identity == Bundle(finished).identity
    assert export("staircase", finished, *options, "--attribution", "Lists by us.", "-o", tmp_path / "ours") == 0
    assert Bundle(tmp_path / "ours").manifest["attribution"] == "Lists by us."


def test_what_does_not_fit_is_refused(
    vectors: Path, finished: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    alone, few = tmp_path / "alone", tmp_path / "few"
    few.write_text("".join(vectors.read_text("utf-8").splitlines(keepends=True)[:5]), "utf-8")
    assert export("table", "--vectors", vectors, "--lists", "none", "--mechanisms", "staircase", "-o", alone) == 0
    capfd.readouterr()
    for arguments, message in (
        ((alone, "--vectors", vectors), "a bundle of words with SanText is needed"),
        ((finished, "--vectors", few), "12 of 17 words have no vector of their own for the staircase"),
        ((finished, "--lists", "german"), "--lists must be english or none"),
    ):
        assert export("staircase", *arguments, "-o", tmp_path / "new") == 1
        assert message in capfd.readouterr().err
        assert not (tmp_path / "new").exists()
