"""The arrays of the staircase: neighbors of a word, and the common base of all rows."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from textveil_export.errors import ExportError, SourceError
from textveil_export.text import staircase_tables
from textveil_export.text.neighbors import COSINE_STEPS
from textveil_export.text.staircase_tables import (
    ALARMING_DIVISOR,
    BASE_TOTAL,
    MANY_OPPOSITES,
    OPPOSED_SHARE,
    MisleadingWords,
    StaircaseSettings,
    compute_base_weights,
    compute_favors,
    estimate_frequencies,
    is_wordlike,
    make_staircase_arrays,
    read_frequencies,
)
from textveil_export.text.word_vectors import WordVectors

PUNCTUATION = [",", "7", "#"]


def source(words=60, dimension=12, seed=3):
    """Three entries without a letter, then words, with random vectors."""
    names = [*PUNCTUATION, *(f"w{'abcdefghij'[i // 10]}{'abcdefghij'[i % 10]}" for i in range(words))]
    vectors = np.random.default_rng(seed).standard_normal((len(names), dimension)).astype(np.float32)
    return WordVectors(words=names, vectors=vectors, provenance={})


@given(st.integers(0, 2**32 - 1), st.integers(1, 30), st.integers(0, 4))
def test_a_row_starts_with_its_word_and_has_distinct_words_only(seed, k, favor):
    arrays = make_staircase_arrays(source(30, 4, seed), settings=StaircaseSettings(k, favor=Fraction(favor, 50)))
    near, base = arrays["neighbors"], arrays["base"]
    assert near.dtype == np.uint16
    assert near.shape == (33, k)
    assert near[:, 0].tolist() == list(range(33))
    assert all(len(set(row)) == k for row in near.tolist())
    assert not np.isin(near[:, 1:], range(len(PUNCTUATION))).any()
    assert base.dtype == np.uint32
    assert base.min() >= 1


def test_length_of_a_vector_does_not_matter():
    given_source = source()
    lengths = 2.0 ** np.arange(len(given_source.words), dtype=np.float32)[:, None]
    longer = WordVectors(
        words=given_source.words,
        vectors=(given_source.vectors * lengths).astype(np.float32),
        provenance={},
    )
    settings = StaircaseSettings(10)
    first, second = (make_staircase_arrays(s, settings=settings)["neighbors"] for s in (given_source, longer))
    assert np.array_equal(first, second)


def test_a_row_of_zeros_is_near_to_nothing_and_breaks_nothing():
    vectors = source().vectors.copy()
    vectors[5] = 0
    near = make_staircase_arrays(
        WordVectors(words=source().words, vectors=vectors, provenance={}), settings=StaircaseSettings(59)
    )["neighbors"]
    assert near[5, 0] == 5
    assert len(set(near[5].tolist())) == 59
    others = [row[1:] for symbol, row in enumerate(near.tolist()) if symbol != 5]
    assert sum(5 in row[:5] for row in others) == 0


def test_a_frequent_word_comes_earlier():
    """Twice the base is worth so much of a cosine."""
    words = ["x", "near", "far"]
    vectors = np.array([[100, 0], [100, 20], [100, 30]], np.float32)  # cosines .981 and .958
    often = {"x": 1, "near": 1 << 10, "far": 1 << 14}
    rows = [
        make_staircase_arrays(
            WordVectors(words=words, vectors=vectors, provenance={}),
            often,
            StaircaseSettings(favor=worth),
        )["neighbors"][0].tolist()
        for worth in (Fraction(0), Fraction(1, 50))
    ]
    assert rows == [[0, 1, 2], [0, 2, 1]]
    assert compute_favors(np.array([1, 8], np.uint32), Fraction(1, 3)).tolist() == [0, COSINE_STEPS]


def test_opposites_and_alarming_words_are_not_neighbors(tmp_path):
    given_source = source()
    one, other, near = given_source.words[10], given_source.words[11], given_source.words[12]
    (tmp_path / "opposites").write_text(f"# by hand\n{one} unheard\t{other} {near}\n", "utf-8")
    (tmp_path / "alarming").write_text("\n".join(given_source.words[20:30]) + "\nunheard\n", "utf-8")
    misleading = MisleadingWords.read_lists(tmp_path / "opposites", tmp_path / "alarming")
    often = dict.fromkeys(given_source.words, 1)
    before = make_staircase_arrays(given_source, often, StaircaseSettings(40))
    after = make_staircase_arrays(given_source, often, StaircaseSettings(40), misleading=misleading)
    rows = after["neighbors"].tolist()
    assert after["neighbors"].shape[1] == 40
    assert not {11, 12} & set(rows[10])
    assert all(10 not in row for row in rows[11:13])
    assert all(row[0] == index and len(set(row)) == 40 for index, row in enumerate(rows))
    alarming = set(range(20, 30))
    assert all(index in alarming or not alarming & set(row) for index, row in enumerate(rows))
    assert any(len(alarming & set(rows[index])) > 1 for index in alarming)
    of_list, divided = (arrays["base"][sorted(alarming)].tolist() for arrays in (before, after))
    assert divided == [weight // ALARMING_DIVISOR for weight in of_list]
    assert (np.delete(after["base"], sorted(alarming)) == np.delete(before["base"], sorted(alarming))).all()
    # The others keep their order.
    kept = [[word for word in row if word not in alarming | {10, 11, 12}][:20] for row in before["neighbors"].tolist()]
    assert all(
        row[0] in alarming | {10, 11, 12} or [w for w in row if w in first] == first
        for row, first in zip(rows, kept, strict=True)
    )


def test_a_word_with_many_opposites_has_a_smaller_base(tmp_path):
    one, other = source().words[10:12]
    lines = [
        f"{one}\t{' '.join(f'x{number}' for number in range(count))}" for count in (MANY_OPPOSITES, MANY_OPPOSITES + 1)
    ]
    lines[0] = lines[0].replace(one, other)
    (tmp_path / "opposites").write_text("\n".join(lines), "utf-8")
    misleading = MisleadingWords.read_lists(tmp_path / "opposites", None)
    before, after = (make_staircase_arrays(source(), misleading=given)["base"] for given in (None, misleading))
    assert after[10] == int(before[10]) * OPPOSED_SHARE.numerator // OPPOSED_SHARE.denominator < before[10]
    assert (np.delete(after, 10) == np.delete(before, 10)).all()


def test_lists_become_shorter_where_there_are_too_few_words(tmp_path):
    (tmp_path / "alarming").write_text("\n".join(source(20).words[5:10]), "utf-8")
    near = make_staircase_arrays(source(20), misleading=MisleadingWords.read_lists(None, tmp_path / "alarming"))[
        "neighbors"
    ]
    assert near.shape[1] == 15


@pytest.mark.parametrize("line", ["good bad", "good\t", "\tbad"])
def test_a_line_without_two_sides_is_refused(tmp_path, line):
    (tmp_path / "opposites").write_text(f"up\tdown\n{line}\n", "utf-8")
    with pytest.raises(SourceError, match="opposites: each line must be words, a tab and their opposites"):
        MisleadingWords.read_lists(tmp_path / "opposites", None)


def test_base_follows_frequency_and_is_exact():
    counts, mu = [10**9, 3, 0, 7], Fraction(9, 10)
    total = sum(counts)
    expected = [1 + (9 * c * 4 + total) * BASE_TOTAL // (40 * total) for c in counts]
    base = compute_base_weights(counts, mu)
    assert base.tolist() == expected
    assert BASE_TOTAL <= int(base.sum(dtype=np.int64)) <= BASE_TOTAL + 2 * len(counts)


def test_without_frequencies_the_base_decreases_with_rank():
    base = make_staircase_arrays(source(70))["base"]
    assert (np.diff(base.astype(np.int64)) <= 0).all()
    assert base[0] > base[-1]
    assert estimate_frequencies(["a", "b"]) == {"a": 333_333_333, "b": 250_000_000}


def test_entries_with_a_letter_may_be_neighbors():
    assert [is_wordlike(entry) for entry in ("doctor", "'s", "é", "b", ",", "7", "…", "#")] == [True] * 4 + [False] * 4


def test_frequencies_are_read(tmp_path):
    path = tmp_path / "f.tsv"
    path.write_text("# license\nthe\t53703301\nof\t2\n", encoding="utf-8")
    assert read_frequencies(path) == {"the": 53703301, "of": 2}


@pytest.mark.parametrize(
    "line", ["word", "word\t", "\t3", "word\t-3", "word\t3.5", "word\t٣", "of\t3", "word\t" + "9" * 19]
)
def test_the_error_has_the_number_of_a_wrong_line_of_frequencies(tmp_path, line):
    path = tmp_path / "f.tsv"
    path.write_text(f"of\t2\n{line}\n", encoding="utf-8")
    with pytest.raises(SourceError, match="entry 2") as caught:
        read_frequencies(path)
    assert "word\t" not in str(caught.value)


@pytest.mark.parametrize(
    "make",
    [
        lambda: StaircaseSettings(mu=Fraction(1)),
        lambda: StaircaseSettings(mu=Fraction(-1, 10)),
        lambda: StaircaseSettings(k=0),
        lambda: StaircaseSettings(favor=Fraction(-1)),
        lambda: make_staircase_arrays(
            WordVectors(words=["5", "."], vectors=np.ones((2, 3), np.float32), provenance={})
        ),
        lambda: make_staircase_arrays(source(), {"unknown": 3}, StaircaseSettings(5)),
        lambda: compute_base_weights([3, -1], Fraction(1, 2)),
    ],
)
def test_unusable_frequencies_and_settings_are_refused(make):
    with pytest.raises(ExportError):
        make()


def test_ids_beyond_uint16_are_uint32(monkeypatch):
    assert make_staircase_arrays(source())["neighbors"].dtype == np.uint16
    monkeypatch.setattr(staircase_tables, "_UINT16_SYMBOLS", 62)
    assert make_staircase_arrays(source())["neighbors"].dtype == np.uint32


def test_a_vocabulary_that_is_too_large_is_refused(monkeypatch):
    monkeypatch.setattr(staircase_tables, "_MAX_SYMBOLS", 62)
    with pytest.raises(ExportError, match="62"):
        make_staircase_arrays(source())
