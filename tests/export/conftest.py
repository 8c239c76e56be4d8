"""A tiny encoder in a folder, as a user would name one."""

from functools import cache

import pytest

_SPECIAL = ["[PAD]", "[unused0]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
PIECES = ["the", "of", "doctor", "nurse", "hospital", "bos", "##ton", "clean", ",", ".", "##s", "2", "b", "c"]
VOCABULARY = [*_SPECIAL, *PIECES]


@pytest.fixture(scope="session")
def built(tmp_path_factory):
    """Small bundles of ``plain_statistics`` by geometry, ``k`` and base measure, each with its laws as defined."""
    import plain_statistics as plain

    @cache
    def of(geometry, k, base=False):
        bundle = plain.small(tmp_path_factory.mktemp("built") / "b", geometry, k, base=base)
        return bundle, list(plain.laws(bundle))

    return of


@pytest.fixture(scope="session")
def pieces():
    """Return the vocabulary of the encoder without its special symbols."""
    return PIECES


@pytest.fixture(scope="session")
def encoder_folder(tmp_path_factory):
    """Save a BERT with random weights and an uncased WordPiece tokenizer, as transformers saves it."""
    import torch
    from transformers import BertConfig, BertModel, BertTokenizerFast

    folder = tmp_path_factory.mktemp("encoder")
    vocabulary = folder / "vocab.txt"
    vocabulary.write_text("\n".join(VOCABULARY) + "\n", encoding="utf-8")
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(VOCABULARY),
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=32,
    )
    BertModel(config).save_pretrained(folder)
    BertTokenizerFast(vocab_file=str(vocabulary), do_lower_case=True).save_pretrained(folder)
    return folder


@pytest.fixture(scope="session")
def checkpoint_folder(tmp_path_factory):
    """Write a checkpoint of a tiny private encoder (mode l1) that separates its two labels."""
    from small_checkpoints import write_checkpoint

    return write_checkpoint(tmp_path_factory.mktemp("private") / "checkpoint")


@pytest.fixture(scope="session")
def checkpoint(checkpoint_folder):
    """Load that checkpoint."""
    from textveil_export.encoder.checkpoint import load_checkpoint

    return load_checkpoint(checkpoint_folder)


@pytest.fixture(scope="session")
def graph(checkpoint, tmp_path_factory):
    """Its float32 graph."""
    from textveil_export.encoder.onnx_graph import export_graph

    path = tmp_path_factory.mktemp("graph") / "float32.onnx"
    export_graph(checkpoint, path)
    return path


@pytest.fixture(scope="session")
def encoder_data(tmp_path_factory):
    """Labeled texts that the encoder of the checkpoint has not seen."""
    from small_checkpoints import texts, write_texts

    return write_texts(tmp_path_factory.mktemp("data") / "public.tsv", texts(300, seed=9))


@pytest.fixture(scope="session")
def encoder_bundle(checkpoint_folder, encoder_data, tmp_path_factory):
    """Build a bundle from the checkpoint by the command, with two int8 recipes."""
    from small_checkpoints import export

    folder = tmp_path_factory.mktemp("bundles") / "tiny"
    with pytest.MonkeyPatch.context() as patch:
        try_two_recipes(patch)
        assert export(checkpoint_folder, folder, encoder_data) == 0
    return folder


@pytest.fixture
def refused(checkpoint_folder, encoder_data, tmp_path, capsys):
    """Export with options, by default the checkpoint; it must be refused and leave no files. Return the message."""
    from small_checkpoints import export

    def said(*options, checkpoint=checkpoint_folder):
        (place := tmp_path / "place").mkdir(exist_ok=True)
        assert export(checkpoint, place / "out", encoder_data, *options) == 1
        assert not any(place.iterdir())
        return capsys.readouterr().err

    return said


@pytest.fixture(autouse=True)
def two_recipes(request, monkeypatch):
    """Two int8 recipes are enough, except where a test asks for all of them."""
    if "all_recipes" not in request.fixturenames and "encoder" in request.module.__name__:
        try_two_recipes(monkeypatch)


@pytest.fixture
def all_recipes():
    """Asks for every int8 recipe there is."""


def try_two_recipes(patch):
    from textveil_export.encoder import build as encoder_build
    from textveil_export.encoder.int8_recipes import RECIPES

    real = encoder_build.EncoderBuildSettings
    patch.setattr(encoder_build, "EncoderBuildSettings", lambda **given: real(**given, recipes=RECIPES[:2]))
