"""Frequency ranks from public text."""

import numpy as np
import pytest
from textveil_export.errors import SourceError
from textveil_export.text.word_vectors import WordVectors, rank_by_frequency


def test_words_are_counted_as_the_device_cuts_them(tmp_path):
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("The doctor DON'T know; nurse, nurse: nurse2 doctor.com\nthe nurse's the\n", encoding="utf-8")
    words = ["zebra", "doctor", "n't", "'s", "do", "nurse", "the", "apple"]
    source = WordVectors(words=words, vectors=np.arange(16, dtype=np.float32).reshape(8, 2), provenance={})
    ranked = rank_by_frequency(source, [corpus])
    # three times nurse and the; once each doctor, do, n't, 's; never zebra and apple: ties keep the old order
    assert ranked.words == ["nurse", "the", "doctor", "n't", "'s", "do", "zebra", "apple"]
    assert ranked.vectors[0].tolist() == [10, 11]


def test_a_corpus_that_cannot_be_read(tmp_path):
    source = WordVectors(words=["a", "b"], vectors=np.ones((2, 2), np.float32), provenance={})
    with pytest.raises(SourceError, match="cannot be read"):
        rank_by_frequency(source, [tmp_path / "missing"])
