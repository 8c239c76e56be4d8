"""A device finds the nearest center of a MiniLM codebook in the main directions of its vectors."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from textveil.bundle import OnnxExtractorData
from textveil.bundle.layout import CLUSTER_LABELS
from textveil.vector import TextLabelEncoder
from textveil_cli.aggregation import LabelServer
from textveil_training.encoder.codebook import MIN_CLUSTER_TEXTS, learn_codebook
from textveil_training.encoder.minilm_settings import MinilmSettings
from textveil_training.encoder.resume_cache import get_unfinished_folder
from textveil_training.encoder.teacher import compute_teacher_vectors
from tiny_training import write_classes, write_encoder

Run = Callable[..., tuple[int, str, str]]
ROWS, CODES = 1500, 8
MODULE = "textveil_training.encoder.codebook"


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Texts of two classes, and an encoder that has their words."""
    folder = tmp_path_factory.mktemp("data")
    write_classes(folder, ROWS, seed=3, left_out=())
    write_encoder(folder)
    return folder


def given(data: Path, output: Path, *options: object) -> tuple[object, ...]:
    named = ("encoder", data / "my.csv", "--text", "text", "-o", output, "--threads", 1, "--levels", "1,4")
    minilm = ("--extractor", "minilm", "--encoder", data / "encoder", "--max-tokens", 16)
    return (*named, "--clusters", CODES, *minilm, *options)


def test_a_code_is_the_nearest_center_in_the_main_directions() -> None:
    """Two directions tell texts apart; the third, which differs less, must not matter."""
    chance = np.random.default_rng(0)
    true = np.repeat(np.arange(4), 60)
    corners = np.array([[3.0, 1], [1, -3], [-3, -1], [-1, 3]])
    vectors = np.column_stack([corners[true], chance.normal(scale=0.5, size=240)]) + chance.normal(scale=0.1, size=3)
    turned = np.linalg.qr(chance.normal(size=(3, 3)))[0]
    book = learn_codebook(vectors @ turned, 4, 0, lambda *_: None, directions=2)
    codes = (vectors @ turned @ book.weight.T + book.bias).argmax(axis=1)
    assert len(set(zip(true.tolist(), codes.tolist(), strict=True))) == 4
    assert book.sizes == (60,) * 4
    assert book.weight @ turned.T[:, 2] == pytest.approx(np.zeros(4), abs=0.1)
    ranks = [
        np.linalg.matrix_rank(learn_codebook(vectors, 4, 0, lambda *_: None, directions=d).weight, tol=1e-3)
        for d in (2, None)
    ]
    assert ranks == [2, 3]
    assert np.linalg.norm(book.weight, axis=1) == pytest.approx(np.ones(4))
    # The mean is in the bias: there no code has a score.
    assert book.weight @ (vectors @ turned).mean(axis=0) + book.bias == pytest.approx(np.zeros(4), abs=1e-5)


@pytest.mark.slow
def test_a_bundle_has_the_model_and_no_label(
    run: Run, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"{MODULE}.DIRECTIONS", 4)  # of the 16 that the tiny model has
    plain, labeled = tmp_path / "plain" / "b", tmp_path / "b"
    plain.parent.mkdir()
    code, out, err = run(*given(data, plain))
    assert (code, err, "clusters" in out, "accuracy" in out) == (0, "", True, False)
    code, out, err = run(*given(data, labeled, "--label", "label"))
    assert (code, err, "accuracy" in out) == (0, "", True)
    server = LabelServer.load(labeled)
    encoder = TextLabelEncoder.load(labeled, expect_id=server.bundle.content_hash)
    bundle = encoder.bundle
    assert bundle.label_type == CLUSTER_LABELS
    assert isinstance(bundle.extractor, OnnxExtractorData)
    assert bundle.labels == tuple(map(str, range(len(bundle.labels))))
    assert 2 <= len(bundle.labels) <= CODES
    provenance, measured = bundle.manifest["provenance"], bundle.manifest["measurements"]
    assert (provenance["extractor"], provenance["encoder"], provenance["directions"]) == ("minilm", "encoder", 4)
    assert np.linalg.matrix_rank(bundle.weight, tol=1e-4) == 4
    assert provenance["min_texts_of_a_cluster"] >= MIN_CLUSTER_TEXTS
    assert provenance["int8"]["sample_texts"] == 1000
    assert "accuracy" not in provenance["int8"]
    assert "taught_by" not in provenance
    assert measured["clean"]["accuracy"] > 0.6
    assert "clean" not in json.loads((plain / "manifest.json").read_text("utf-8"))["measurements"]
    for folder in (plain, labeled):
        card = " ".join((folder / "README.md").read_text("utf-8").split())
        assert "learned without class labels" in card
        assert "that of the nearest center, in the 4 directions" in card
        assert "the extra `textveil[encoder]`" in card
    lines = [encoder.encode(text).line for text in ("snow in the north", "bake the bread", "")]
    assert {server.classify_label(server.parse_line(line, 1)).label for line in lines} <= set(bundle.labels)
    # The int8 graph on the device finds the codes of the float32 vectors.
    texts = [line.split(",")[0] for line in (data / "my.csv").read_text("utf-8").splitlines()[1:201]]
    vectors = compute_teacher_vectors(
        texts, MinilmSettings(encoder=str(data / "encoder"), max_tokens=16), lambda *_: None
    )
    expected = (vectors @ bundle.weight.T + bundle.bias).argmax(axis=1)
    assert np.mean([encoder.compute_true_label(text) for text in texts] == expected) >= 0.9


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            ("--teacher", "none"),
            "--teacher needs --extractor static; with --extractor minilm pass the model with --encoder",
        ),
        (
            ("--teacher", "minilm"),
            "--teacher needs --extractor static; with --extractor minilm pass the model with --encoder",
        ),
        (
            ("--learning-rate", "0.1"),
            "with --extractor minilm, --clusters trains no weights: omit --learning-rate and --num-epochs",
        ),
        (
            ("--num-epochs", "2"),
            "with --extractor minilm, --clusters trains no weights: omit --learning-rate and --num-epochs",
        ),
    ],
)
def test_options_that_codes_of_minilm_do_not_have(
    run: Run, data: Path, tmp_path: Path, options: tuple[str, ...], message: str
) -> None:
    code, _, err = run(*given(data, tmp_path / "b", *options))
    assert (code, err.startswith("textveil-train: option: "), message in err) == (1, True, True)
    assert not get_unfinished_folder(tmp_path / "b").exists()


def test_too_few_texts_are_told_before_the_model_is_asked(
    run: Run, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"{MODULE}.compute_teacher_vectors", None)
    few = tmp_path / "few.csv"
    few.write_text("\n".join((data / "my.csv").read_text("utf-8").splitlines()[:901]) + "\n", "utf-8")
    code, _, err = run("encoder", few, *given(data, tmp_path / "b")[2:])
    assert (code, "8 clusters need 1000 different texts" in err) == (1, True)
