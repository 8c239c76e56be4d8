"""Codebooks: learned without labels, no code of a few texts, and figures by hand."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from textveil.vector import IndexEncoder, IndexServer, words_of
from textveil_export.index import drawn_epsilon, integer_channel
from textveil_training.bounds.decisions import counts_channel
from textveil_training.encoder.codebook import MIN_CODE_TEXTS, learn_codebook
from textveil_training.encoder.static import PublicWords, StaticSettings
from textveil_training.errors import ClassError
from textveil_training.tasks.codebook import label_figures

Run = Callable[..., tuple[int, str, str]]
TOPICS = ("goal match team", "bank price stock", "doctor nurse clinic", "rain wind snow")
SETTINGS = StaticSettings(dimension=6)


def texts(count: int = 1100, rare: int = 5) -> list[str]:
    """Numbered texts of four topics, and a few of a fifth one."""
    words = [f"number{chr(97 + n // 26 % 26)}{chr(97 + n % 26)}{chr(97 + n // 676)}" for n in range(count)]
    return [f"{TOPICS[n % 4]} {word}" for n, word in enumerate(words)] + [
        f"secret recipe {n * 'x'}" for n in range(rare)
    ]


def public() -> PublicWords:
    listed = [*" ".join(TOPICS).split(), "secret", "recipe"]
    topics = np.repeat(np.eye(6)[:5], [3, 3, 3, 3, 2], axis=0)
    rows = np.vstack([topics + 0.05 * np.random.default_rng(0).normal(size=topics.shape), np.zeros((2, 6))])
    return PublicWords({word: row for row, word in enumerate(listed)}, rows.astype(np.float32), "", "", "")


def test_no_code_is_of_a_few_texts() -> None:
    book = learn_codebook(texts(), 8, public(), SETTINGS, lambda *_: None)
    assert min(book.sizes) >= MIN_CODE_TEXTS
    assert 4 <= len(book.sizes) <= 8
    assert sum(book.sizes) == 1105
    words, weights = public().words, book.weights
    codes = []
    for topic in TOPICS:
        vector = weights.word_rows[words_of(topic, words)].mean(axis=0)
        codes.append(int(np.argmax(weights.weight @ vector + weights.bias)))
    assert len(set(codes)) == 4
    # No center points at the topic of five texts.
    alone = public().rows[words_of("secret recipe", words)].mean(axis=0)
    assert (weights.weight @ (alone / np.linalg.norm(alone)) < 0.5).all()


def test_copies_are_one_text() -> None:
    with pytest.raises(ClassError, match="8 codes are learned from 1000 different texts: there are 905"):
        learn_codebook(texts(900) * 3, 8, public(), SETTINGS, lambda *_: None)
    with pytest.raises(ClassError, match="60 codes are learned from 1200 different texts: there are 1105"):
        learn_codebook(texts(), 60, public(), SETTINGS, lambda *_: None)
    for codes in (7, 257):
        with pytest.raises(ClassError, match="from 8 to 256"):
            learn_codebook(texts(), codes, public(), SETTINGS, lambda *_: None)
    unknown = [f"zzz{'y' * n}" for n in range(1000)]
    with pytest.raises(ClassError, match="too much alike"):
        learn_codebook(unknown, 8, public(), SETTINGS, lambda *_: None)


def test_learning_repeats() -> None:
    first, again = (learn_codebook(texts(), 8, public(), SETTINGS, lambda *_: None) for _ in range(2))
    assert (first.weights.weight == again.weights.weight).all()


def test_figures_by_hand() -> None:
    train, test = np.array([[9.0, 1, 0], [0, 2, 8]]), np.array([[3.0, 1, 1], [0, 2, 3]])
    level = integer_channel("counts", counts_channel(3, drawn_epsilon("1")), "1")
    measured = label_figures(("a", "b"), train, test, (level,))
    assert measured["clean"]["recall"] == {"a": 0.6, "b": 1.0}
    channel = level.matrix
    chosen = [int((train[1] @ channel[:, y]) > (train[0] @ channel[:, y])) for y in range(3)]
    right = sum(test[k, x] * channel[x, y] for k in range(2) for x in range(3) for y in range(3) if chosen[y] == k)
    assert measured["channels"]["counts"]["1"]["accuracy"] == pytest.approx(right / 10, abs=1e-6)
    never = label_figures(("a", "b"), np.array([[9.0, 9, 9], [1, 1, 1]]), test, (level,))
    assert never["channels"]["counts"]["1"]["abandoned"] == ["b"]


@pytest.mark.parametrize("labeled", [False, True])
def test_a_codebook_from_a_file(run: Run, tmp_path: Path, labeled: bool) -> None:
    rows = [f"{n % 4}\t{text}" for n, text in enumerate(texts(1500, 0))]
    (tmp_path / "my.tsv").write_text("topic\ttext\n" + "\n".join(rows) + "\n")
    label = ("--label", "topic") if labeled else ()
    arguments = ("--text", "text", *label, "--codes", "8", "--levels", "1,4", "--threads", "1")
    code, out, err = run("encoder", tmp_path / "my.tsv", *arguments, "-o", tmp_path / "bundle")
    assert (code, err) == (0, "")
    assert ("accuracy" in out) == labeled
    encoder, server = IndexEncoder.load(tmp_path / "bundle"), IndexServer(tmp_path / "bundle")
    assert encoder.bundle.kind == "codebook"
    count = len(encoder.bundle.labels)
    assert encoder.bundle.labels == tuple(map(str, range(count)))
    lines = [encoder.encode(text).line for text in TOPICS * 10]
    assert sum(found.count for found in server.counts(server.receive(line, 1) for line in lines)) == pytest.approx(40)
    measured = json.loads((tmp_path / "bundle" / "manifest.json").read_text())["measured"]
    assert ("clean" in measured) == labeled
    if labeled:
        assert measured["clean"]["accuracy"] > 0.9
    assert "each is the mean of at least" in (tmp_path / "bundle" / "README.md").read_text()


def test_labels_or_codes_must_be_named(run: Run, tmp_path: Path) -> None:
    (tmp_path / "my.tsv").write_text("text\na\n")
    code, _, err = run("encoder", tmp_path / "my.tsv", "--text", "text", "-o", tmp_path / "bundle")
    assert (code, "--codes" in err) == (1, True)
