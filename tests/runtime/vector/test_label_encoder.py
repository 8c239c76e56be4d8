"""``TextLabelEncoder`` samples a label for every text, and its release states its promise."""

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from canaries import SECRET
from planted import planted
from small_label_bundle import LABELS, SENTENCES, sentences_of, write_index
from textveil.errors import BundleNotFound, ContentHashMismatch, InputError, OptionError
from textveil.mechanisms import entropy
from textveil.vector import TextLabelEncoder
from textveil.vector.extractor import ExtractedVector

ODD = ("", " ", "\n", "\ud800", "\0", "market " * 500, SECRET, "ﬁ" * 200, "🦄" * 60, "'" * 60, "'s")


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    return write_index(tmp_path / "bundle")


@pytest.fixture
def encoder(bundle: Path) -> TextLabelEncoder:
    return TextLabelEncoder.load(bundle)


@pytest.fixture
def speaker(tmp_path: Path) -> TextLabelEncoder:
    """Return an encoder whose bundle has sentences."""
    return TextLabelEncoder.load(write_index(tmp_path / "sentences", files=sentences_of()))


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How much entropy was asked for, call by call."""
    calls, real = list[int](), entropy.random_uint64
    monkeypatch.setattr(entropy, "random_uint64", lambda count: calls.append(count) or real(count))
    return calls


class Failing:
    """An extractor that fails in one of the ways there are."""

    def __init__(self, vector: list[float]) -> None:
        self.vector = np.array(vector, dtype=np.float32)

    def extract_vector(self, text: str) -> ExtractedVector:
        return ExtractedVector(self.vector, False)


def test_every_text_is_drawn(encoder: TextLabelEncoder, asked: list[int]) -> None:
    """As much entropy for every text: none is answered without a draw, or from memory."""
    for text in (*ODD, "the market", "the market"):
        asked.clear()
        release = encoder.encode(text)
        assert asked[:2] == [1, 1]  # more only where a word is rejected
        assert release.label_id in range(3)
        assert release.notes.is_truncated == (len(text) > 60)
        assert SECRET not in repr(release)
        assert str(release) == release.line
        assert len(repr(release)) < 120


def test_every_text_draws_an_index_and_then_one_of_its_sentences(speaker: TextLabelEncoder, asked: list[int]) -> None:
    """One integer more than for an index, whatever the text is, and drawn when the index is."""
    for text in (*ODD, "the market"):
        asked.clear()
        release = speaker.encode(text, as_text=True)
        assert asked[:3] == [1, 1, 1]
        assert release.sentence in speaker.bundle.sentences[release.label_id]
        assert release.line == f"{release.sentence}\t{speaker.bundle.content_hash[:12]}\t4\tcounts"
        assert release.to_dict()["sentence"] == release.sentence
        assert (
            release.to_dict()["statement"]["sentence_description"]
            == "one of 6 public sentences, not the author's words"
        )


def test_a_sentence_is_drawn_from_the_index_alone(speaker: TextLabelEncoder, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exact: over the two words of a sentence's draw, each of the two comes once, for every index; none sees a text."""
    for index in range(3):
        found = []
        for word in (2**63, 2**63 + 1):
            monkeypatch.setattr(entropy, "random_uint64", lambda count, word=word: np.full(count, word, np.uint64))
            found.append(speaker._draw_sentence(index))
        assert tuple(found) == speaker.bundle.sentences[index]


def of_another_index(encode: Any, encoder: TextLabelEncoder) -> bool:
    """Whether a sentence is missing, or not one of the index that was drawn, in 200 releases."""
    releases = [encode(encoder, text, epsilon=1, as_text=True) for text in ("", "goal") * 100]
    return any(one.sentence not in encoder.bundle.sentences[one.label_id] for one in releases)


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("self._draw_sentence(index)", "self._draw_sentence(code)"),
        ("if as_text else None", "if as_text and text else None"),
    ],
)
def test_a_sentence_that_depends_on_the_text_is_seen(speaker: TextLabelEncoder, right: str, wrong: str) -> None:
    assert not of_another_index(TextLabelEncoder.encode, speaker)
    assert of_another_index(planted(TextLabelEncoder.encode, (right, wrong)), speaker)


def test_the_odds_of_any_sentence_change_by_the_epsilon_at_most(speaker: TextLabelEncoder) -> None:
    for epsilon in (1, 4):
        of_index = speaker.bundle.get_randomizer("counts", epsilon).probability_matrix
        of_sentence = np.repeat(of_index / 2, 2, axis=1)
        assert of_sentence.shape[1] == len(SENTENCES)
        assert of_sentence.sum(axis=1) == pytest.approx([1, 1, 1])
        assert np.log(of_sentence.max(axis=0) / of_sentence.min(axis=0)).max() <= epsilon


def test_what_a_statement_of_a_sentence_says(speaker: TextLabelEncoder, encoder: TextLabelEncoder) -> None:
    statement = speaker.statement(as_text=True)
    promise = "epsilon 4 per text, for any two texts; the odds of two texts change by a factor of at most 55"
    assert statement.summary() == f"one of 6 public sentences, not the author's words (randomizer counts): {promise}"
    assert "none is a paraphrase" in str(statement)
    assert statement.spend == speaker.statement().spend
    assert statement.to_dict().keys() - speaker.statement().to_dict().keys() == {"sentences", "sentence_description"}
    assert speaker.canonical_options(as_text=True) != speaker.canonical_options()
    assert "as_text" not in speaker.canonical_options()
    for call in (encoder.statement, encoder.canonical_options):
        with pytest.raises(OptionError, match="has no sentences: add them with textveil-export sentences"):
            call(as_text=True)
    with pytest.raises(OptionError, match="has no sentences: add them with textveil-export sentences") as raised:
        encoder.encode(SECRET, as_text=True)
    assert SECRET not in str(raised.value)


def test_a_packed_sentence_is_the_same_release(speaker: TextLabelEncoder) -> None:
    for as_text in (False, True):
        release = speaker.encode_batch(["goal"], epsilon=1, as_text=as_text)[0]
        again = speaker.unpack(speaker.pack(release), epsilon=1, as_text=as_text)
        assert again.to_dict() == release.to_dict()
        assert ("sentence" in again.to_dict()) == as_text


@pytest.mark.parametrize("vector", [[np.nan, 1, 0], [np.inf, 0, 0], [3e38, 3e38, -3e38]])
def test_an_extractor_that_fails_changes_nothing_about_the_promise(
    encoder: TextLabelEncoder, vector: list[float], recwarn: pytest.WarningsRecorder
) -> None:
    encoder._extractor = Failing(vector)
    release = encoder.encode("the market")
    assert release.statement == encoder.statement()
    assert release.notes.is_zero_vector == (not np.isfinite(vector).all())
    if release.notes.is_zero_vector:
        assert encoder.compute_true_label("the market") == 2  # of the vector 0: the largest bias
    assert not recwarn.list  # a warning would tell something of the text


@pytest.mark.full
@pytest.mark.statistical
def test_indices_have_the_shares_that_the_channel_says(encoder: TextLabelEncoder) -> None:
    for epsilon in ("1", "4"):
        row = encoder.bundle.get_randomizer("counts", epsilon).probability_matrix[encoder.compute_true_label("goal")]
        draws = 4000
        found = Counter(encoder.encode("goal", epsilon=epsilon).label_id for _ in range(draws))
        for index, share in enumerate(row):
            assert abs(found[index] - draws * share) <= 6.2 * (draws * share * (1 - share)) ** 0.5


def test_what_a_statement_says(encoder: TextLabelEncoder) -> None:
    statement = encoder.encode("the market", epsilon="1", randomizer="accuracy").statement
    told = statement.to_dict()
    assert told["epsilon_text"] == 1
    assert told["bundle"] == encoder.bundle.content_hash
    assert "epsilon 1 per text, for any two texts" in statement.summary()
    assert encoder.bundle.content_hash in str(statement)
    assert statement.losses == (statement.whole_text,)
    assert float(statement.guess_gain) >= encoder.bundle.get_randomizer("accuracy", "1").guess_gain


def test_the_exact_distribution_of_a_label(encoder: TextLabelEncoder) -> None:
    for channel, epsilon, labels in (("counts", "4", LABELS), ("accuracy", "1", LABELS[:2])):
        staircase = encoder.bundle.get_randomizer(channel, epsilon)
        for code, label in enumerate(LABELS):
            found = encoder.distribution(label, randomizer=channel, epsilon=epsilon)
            assert found.words == labels
            assert sum(map(found.compute_probability, labels)) == 1
            assert [float(found.compute_probability(one)) for one in LABELS] == pytest.approx(
                staircase.probability_matrix[code].tolist()
            )
    with pytest.raises(OptionError, match="the bundle has no label of this name"):
        encoder.distribution(SECRET)


def test_what_is_no_text_is_refused(encoder: TextLabelEncoder) -> None:
    for wrong in (None, b"bytes", 3):
        for call in (encoder.encode, encoder.compute_true_label):
            with pytest.raises(InputError, match="the text must be a string"):
                call(wrong)  # type: ignore[operator, arg-type]
    with pytest.raises(InputError, match="text 2 of 2"):
        encoder.encode_batch(["a", 3])  # type: ignore[list-item]
    done: list[int] = []
    assert len(encoder.encode_batch(["a", "b"], progress=done.append)) == 2
    assert done == [1, 2]


def test_the_default_bundle(bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside the code in a checkout, with the identity that the code names, and nowhere else."""
    from textveil.bundle import defaults

    place = tmp_path / "runtime" / "src" / "textveil" / "bundle" / "defaults.py"
    monkeypatch.setattr(defaults, "__file__", str(place))
    with pytest.raises(BundleNotFound, match=r"pip install -e \./runtime\), .*\(--bundle; .*artifacts/ag-static"):
        TextLabelEncoder.load()
    target = tmp_path / "artifacts" / defaults.DEFAULT_ENCODER
    target.parent.mkdir()
    target.symlink_to(bundle)
    with pytest.raises(ContentHashMismatch):
        TextLabelEncoder.load()
    monkeypatch.setattr(
        "textveil.vector.label_encoder.DEFAULT_ENCODER_ID", TextLabelEncoder.load(bundle).bundle.content_hash
    )
    assert TextLabelEncoder.load().bundle.path == target
