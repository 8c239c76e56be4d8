"""A tiny encoder in a folder, as a user would name one."""

import pytest

_SPECIAL = ["[PAD]", "[unused0]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
PIECES = ["the", "of", "doctor", "nurse", "hospital", "bos", "##ton", "clean", ",", ".", "##s", "2", "b", "c"]
VOCABULARY = [*_SPECIAL, *PIECES]


@pytest.fixture(scope="session")
def pieces():
    """The vocabulary of the encoder without its special symbols."""
    return PIECES


@pytest.fixture(scope="session")
def encoder_folder(tmp_path_factory):
    """A BERT with random weights and an uncased WordPiece tokeniser, saved as transformers saves it."""
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
    """A checkpoint of a tiny private encoder (mode l1) that can tell its two labels apart."""
    from small_checkpoints import write_checkpoint

    return write_checkpoint(tmp_path_factory.mktemp("private") / "checkpoint")


@pytest.fixture(scope="session")
def checkpoint(checkpoint_folder):
    """The same, loaded."""
    from textveil_export.encoder_checkpoint import load_checkpoint

    return load_checkpoint(checkpoint_folder)


@pytest.fixture(scope="session")
def graph(checkpoint, tmp_path_factory):
    """Its float32 graph."""
    from textveil_export.encoder_onnx import export_graph

    path = tmp_path_factory.mktemp("graph") / "float32.onnx"
    export_graph(checkpoint, path)
    return path
