"""A checkpoint becomes a bundle that a device opens; after any error nothing is written."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import numpy_helper
from small_checkpoints import LABELS, LETTERS, export, sign, texts
from small_encoders import load_encoder
from textveil.bundle import open_bundle
from textveil.bundle.vector_bundle import VectorBundle
from textveil_export.encoder import build as encoder_build
from textveil_export.encoder import int8_recipes as encoder_int8
from textveil_export.encoder.checkpoint import SPECIAL_PIECES, Checkpoint
from textveil_export.encoder.evaluation import encode_texts, read_labeled_texts
from textveil_export.encoder.onnx_graph import DeviceSession
from textveil_export.errors import SourceError

FILES = {"manifest.json", "model.onnx", "vocabulary.txt", "classifier.safetensors", "int8_recipes.json", "README.md"}


@pytest.mark.slow
def test_a_checkpoint_becomes_a_bundle(
    all_recipes: None, checkpoint_folder: Path, encoder_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    measured = tmp_path / "measured.json"
    measured.write_text(json.dumps({"columns": {"ceiling": {"2": 0.88, "8": 0.99}}, "notes": ["One seed."]}), "utf-8")
    options = ["--levels", "8,2", "--default-level", "2", "--grid", "256", "--license", "MIT", "--name", "Tiny one"]
    folder = tmp_path / "tiny"
    assert export(checkpoint_folder, folder, encoder_data, *options, "--measured", str(measured)) == 0
    assert {path.name for path in folder.iterdir()} == FILES
    encoder = load_encoder(folder)
    assert f"content hash {encoder.bundle.content_hash}" in capsys.readouterr().out
    assert [level.epsilon for level in encoder.bundle.levels] == ["2", "8"]
    assert encoder.bundle.default_level.epsilon == "2"
    assert encoder.bundle.default_level.grid == 256
    manifest = encoder.bundle.manifest
    assert (manifest["name"], manifest["license"], tuple(manifest["labels"])) == ("Tiny one", "MIT", LABELS)
    figures = manifest["measurements"]
    assert figures["texts"] == 300
    assert figures["accuracy_without_noise"]["float32"] > 0.85
    assert figures["accuracy_by_epsilon"]["2"]["int8"] < figures["accuracy_by_epsilon"]["8"]["int8"]
    assert set(figures["speed"]) == {"processor", "16", "32", "64", "128"}
    assert 20 < figures["device"]["resident_mb"] <= figures["device"]["peak_mb"] < 500
    recipes = json.loads((folder / "int8_recipes.json").read_text("utf-8"))
    assert len({row["recipe"] for row in recipes["candidates"]}) == len(encoder_int8.list_available_recipes())
    assert figures["int8"] in recipes["candidates"]
    card = (folder / "README.md").read_text("utf-8")
    assert "| epsilon | as shipped (int8) | float32 | ceiling |" in card
    assert "| 88.00 % |" in card
    assert "One seed." in card
    assert "`textveil info` prints its content hash" in card  # which covers the card
    assert encoder.bundle.content_hash not in card
    assert str(tmp_path) not in card + (folder / "manifest.json").read_text("utf-8")
    assert "textveil-export encoder CHECKPOINT --data public.tsv --levels 8,2" in card


@pytest.mark.full
@pytest.mark.slow
def test_the_device_reads_and_computes_what_was_evaluated(
    encoder_bundle: Path, encoder_data: Path, checkpoint: Checkpoint
) -> None:
    """Ids and vectors of the gates are those of ``textveil.Encoder``, bit by bit."""
    encoder, session = load_encoder(encoder_bundle), DeviceSession(encoder_bundle / "model.onnx")
    rows = [*read_labeled_texts(encoder_data, LABELS)[:60], (0, ""), (0, "Straße, TEAM's 中 " * 40), (1, "[SEP] [UNK]")]
    prepared = encode_texts(rows, checkpoint.vocabulary, checkpoint)
    assert prepared.truncated == 1
    for (_, text), ids in zip(rows, prepared.ids, strict=True):
        read, _ = encoder._extractor.compute_ids(text)
        assert read == ids.tolist()
        assert np.array_equal(encoder._extractor.session.run_model(read)[0], session(ids))


@pytest.mark.slow
def test_an_encoder_releases_vectors(encoder_bundle: Path) -> None:
    release = load_encoder(encoder_bundle).encode("team goal match", epsilon="8")
    assert release.vector.shape == (3,)
    assert release.statement.to_dict()["bundle"] == load_encoder(encoder_bundle).bundle.content_hash


@pytest.mark.full
@pytest.mark.slow
def test_fewer_pieces_make_a_smaller_bundle(
    checkpoint_folder: Path, encoder_data: Path, tmp_path: Path, encoder_bundle: Path
) -> None:
    public = tmp_path / "public.txt"
    public.write_text("".join(f"{text}\n" for _, text in texts(100)), "utf-8")
    assert export(checkpoint_folder, tmp_path / "small", encoder_data, "--vocabulary-from", str(public)) == 0
    small, whole = open_bundle(tmp_path / "small", VectorBundle), open_bundle(encoder_bundle, VectorBundle)
    assert set(whole.extractor.vocabulary) - set(small.extractor.vocabulary) == {"[unused0]", "##ing", "##ed"}
    assert small.manifest["provenance"]["pieces_chosen_by"] == "public.txt"
    assert small.model_counts.byte_size < whole.model_counts.byte_size
    assert small.content_hash != whole.content_hash


@pytest.mark.full
@pytest.mark.slow
def test_pieces_that_matter_cannot_be_left_out(refused: Callable[..., str]) -> None:
    """Without the words that tell the labels apart, the accuracy gate closes."""
    error = refused("--keep-pieces", str(len({*SPECIAL_PIECES, *LETTERS})))
    assert re.match("textveil-export: gate-accuracy: .*: the int8 model loses ", error)
    assert "without noise" in error
    assert "(2 int8 recipes tried)" in error


@pytest.mark.full
@pytest.mark.slow
def test_weights_scrambled_by_quantization_do_not_ship(
    refused: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    real = encoder_int8.quantize_graph

    def scrambled(source: Path, recipe: encoder_int8.Int8Recipe, target: Path) -> None:
        real(source, recipe, target)
        model = onnx.load(target)
        for tensor in model.graph.initializer:
            if tensor.name.startswith("head.2.weight"):
                tensor.CopyFrom(numpy_helper.from_array(-numpy_helper.to_array(tensor), tensor.name))
        onnx.save(model, target)

    monkeypatch.setattr("textveil_export.encoder.int8_recipes.quantize_graph", scrambled)
    assert re.search("gate-accuracy: .*: the int8 model loses", refused())


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--levels", "2,2.0"], "export: a level occurs twice"),
        (["--levels", "0"], "option: --epsilon"),
        (["--levels", "two"], "option: --epsilon must be a decimal"),
        (["--default-level", "3"], "export: the default level is not one of the levels"),
        (["--delta", "1e-6"], "mode l2 needs a delta; l1 and box must not have one"),
        (["--grid", "100000"], "grid must be from 1 to 65536 steps per unit"),
        (["--keep-pieces", "5"], "--keep-pieces must be between"),
        (["--measured", "nowhere.json"], "source: nowhere.json: must be JSON"),
        (["--vocabulary-from", "nowhere.txt"], "source: nowhere.txt: cannot be read"),
    ],
)
def test_conflicting_options_are_refused(options: list[str], complaint: str, refused: Callable[..., str]) -> None:
    assert complaint in refused(*options)


@pytest.mark.full
@pytest.mark.slow
def test_an_existing_output_folder_is_not_changed(
    checkpoint_folder: Path, encoder_data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert export(checkpoint_folder, tmp_path, encoder_data) == 1
    assert "the output folder exists: choose another -o, or use --force" in capsys.readouterr().err
    (tmp_path / "mine").write_text("x", "utf-8")
    assert export(checkpoint_folder, tmp_path, encoder_data, "--force") == 1
    assert "exists and is not a bundle" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_the_error_identifies_a_damaged_checkpoint(
    checkpoint_folder: Path, tmp_path: Path, refused: Callable[..., str]
) -> None:
    copy = Path(shutil.copytree(checkpoint_folder, tmp_path / "copy"))
    (copy / "head.safetensors").unlink()
    assert "checkpoint: head.safetensors: cannot be read" in refused(checkpoint=copy)
    sign(copy, {})
    assert "checkpoint: checkpoint.json: must be a textveil-checkpoint" in refused(checkpoint=copy)


@pytest.mark.parametrize(
    ("content", "place"),
    [
        (b"sport\tteam\nquokkasecret\n", "line 2"),
        (b"sport\tteam\nquokkasecret\tquokkasecret\n", "line 2"),
        (b"\n", "contains no labeled text"),
        (b"sport\tquokka\xff", "cannot be read as UTF-8"),
    ],
)
def test_texts_are_read_strictly_and_never_repeated(content: bytes, place: str, tmp_path: Path) -> None:
    path = tmp_path / "rows.tsv"
    path.write_bytes(content)
    with pytest.raises(SourceError) as caught:
        read_labeled_texts(path, LABELS)
    assert place in str(caught.value)
    assert "quokka" not in str(caught.value)


@pytest.mark.parametrize(
    "content",
    [
        "[]",
        "{}",
        '{"columns": 3}',
        '{"columns": {"a": {"2": "x"}}}',
        '{"columns": {}, "more": 1}',
        '{"columns": {"": {}}}',
    ],
)
def test_measured_figures_are_read_strictly(content: str, tmp_path: Path) -> None:
    path = tmp_path / "measured.json"
    path.write_text(content, "utf-8")
    with pytest.raises(SourceError, match=r"measured\.json: must be JSON"):
        encoder_build.read_external_figures(path)
