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
