"""Codebooks are learned without labels, have no code with few texts, and their figures equal those by hand."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from textveil.bundle.layout import CLUSTER_LABELS
from textveil.vector import TextLabelEncoder, compute_pair_buckets, find_word_rows
from textveil_cli.aggregation import LabelServer
from textveil_export.label import compute_realized_epsilon, make_integer_randomizer
from textveil_training.encoder import teacher
from textveil_training.encoder.codebook import MIN_CLUSTER_TEXTS, Codebook, deduplicate_texts, learn_codebook
from textveil_training.encoder.codebook_bundle import compute_label_figures
from textveil_training.encoder.k_means import find_centers, normalize_vectors
from textveil_training.encoder.word_embeddings import (
    PublicWords,
    WordEmbeddings,
    find_word_ids,
    fit_to_teacher,
    weight_by_rarity,
)
from textveil_training.errors import InvalidClasses
from textveil_training.label_randomizers import make_counts_randomizer
from tiny_training import write_encoder

Run = Callable[..., tuple[int, str, str]]
TOPICS = ("goal match team", "bank price stock", "doctor nurse clinic", "rain wind snow")


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
    return PublicWords(
        words={word: row for row, word in enumerate(listed)},
        rows=rows.astype(np.float32),
        content_hash="",
        license="",
        attribution="",
    )


def learned(found: list[str]) -> Codebook:
    ids = find_word_ids(deduplicate_texts(found, 8), public(), 1000)
    return learn_codebook(weight_by_rarity(ids, public(), 3).embed_texts(ids), 8, 0, lambda *_: None)


def test_no_code_is_of_a_few_texts() -> None:
    book = learned(texts())
    assert min(book.sizes) >= MIN_CLUSTER_TEXTS
    assert 4 <= len(book.sizes) <= 8
    assert sum(book.sizes) == 1105
    words = public().words
    rows = weight_by_rarity(find_word_ids(deduplicate_texts(texts(), 8), public(), 1000), public(), 3).words
    codes = []
    for topic in TOPICS:
        vector = rows[find_word_rows(topic, words)].mean(axis=0)
        codes.append(int(np.argmax(book.weight @ vector + book.bias)))
    assert len(set(codes)) == 4
    # No center points at the topic of five texts.
    alone = public().rows[find_word_rows("secret recipe", words)].mean(axis=0)
    assert (book.weight @ (alone / np.linalg.norm(alone)) < 0.5).all()


def test_copies_are_one_text() -> None:
    with pytest.raises(InvalidClasses, match="8 clusters need 1000 different texts, but the data have 905"):
        deduplicate_texts(texts(900) * 3, 8)
    with pytest.raises(InvalidClasses, match="60 clusters need 1200 different texts, but the data have 1105"):
        deduplicate_texts(texts(), 60)
    for codes in (7, 257):
        with pytest.raises(InvalidClasses, match="from 8 to 256"):
            deduplicate_texts(texts(), codes)
    unknown = [f"zzz{'y' * n}" for n in range(1000)]
    with pytest.raises(
        InvalidClasses, match="the texts are too similar for a codebook: only one cluster has 20 texts or"
    ):
        learned(unknown)


def test_learning_repeats() -> None:
    first, again = (learned(texts()) for _ in range(2))
    assert (first.weight == again.weight).all()


def test_k_means_finds_what_is_apart() -> None:
    true = np.repeat(np.arange(4), 30)
    directions = normalize_vectors(np.eye(4)[true] + np.random.default_rng(0).normal(scale=0.05, size=(120, 4)))
    codes = (directions @ find_centers(directions, 4, 0).T).argmax(axis=1)
    assert len(set(zip(true.tolist(), codes.tolist(), strict=True))) == 4


def test_a_text_is_the_mean_of_its_words_and_of_its_pairs() -> None:
    generator = np.random.default_rng(0)
    rows = WordEmbeddings(generator.normal(size=(6, 3)), generator.normal(size=(4, 3)))
    found = rows.embed_texts([np.array([1, 1, 5]), np.array([2]), np.zeros(0, np.int64)])
    pairs = compute_pair_buckets(np.array([1, 1, 5]), 4)
    assert found[0] == pytest.approx((2 * rows.words[1] + rows.words[5]) / 3 + rows.pairs[pairs].mean(axis=0))
    assert (found[1] == rows.words[2]).all()
    assert (found[2] == 0).all()


def test_taught_rows_come_near_to_the_teacher() -> None:
    """The teacher tells texts apart by a pair that their words do not tell: only rows of pairs can follow it."""
    chance = np.random.default_rng(0)
    found = [" ".join(one) for one in ((*("goal match", "match goal")[n % 2].split(), "team") for n in range(300))]
    known = public()
    ids = find_word_ids([*found, "goal match bank"], known, 1000)
    side = np.array([*(1 - 2 * (np.arange(300) % 2)), 1.0])
    vectors = (side[:, None] * np.ones(40) + 0.1 * chance.normal(size=(301, 40))).astype(np.float32)
    rows = fit_to_teacher(ids, vectors, known, 3, 64)
    told = rows.embed_texts(ids[:300])
    apart = told[::2].mean(axis=0) - told[1::2].mean(axis=0)
    assert (np.sign((told - told.mean(axis=0)) @ apart) == side[:300]).all()
    # A pair of one text has no row, and a word's row is its public one under one map.
    alone = set(compute_pair_buckets(ids[300], 64)) - {
        bucket for one in ids[:300] for bucket in compute_pair_buckets(one, 64)
    }
    assert alone
    assert (rows.pairs[sorted(alone)] == 0).all()
    one_map = np.linalg.lstsq(known.rows, rows.words, rcond=None)[0]
    assert known.rows @ one_map == pytest.approx(rows.words, abs=1e-9)


def test_a_teacher_is_asked_about_so_many_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    assert teacher.choose_teacher_texts(7).tolist() == list(range(7))
    assert len(set(teacher.choose_teacher_texts(100_000).tolist())) == teacher.MAX_TEACHER_TEXTS
    monkeypatch.setattr(teacher, "find_spec", lambda name: None)
    assert teacher.choose_default_teacher() == "none"


def test_figures_by_hand() -> None:
    train, test = np.array([[9.0, 1, 0], [0, 2, 8]]), np.array([[3.0, 1, 1], [0, 2, 3]])
    level = make_integer_randomizer("counts", make_counts_randomizer(3, compute_realized_epsilon("1")), "1")
    measured = compute_label_figures(("a", "b"), train, test, (level,))
    assert measured["clean"]["recall"] == {"a": 0.6, "b": 1.0}
    channel = level.probability_matrix
    chosen = [int((train[1] @ channel[:, y]) > (train[0] @ channel[:, y])) for y in range(3)]
    right = sum(test[k, x] * channel[x, y] for k in range(2) for x in range(3) for y in range(3) if chosen[y] == k)
    assert measured["randomizers"]["counts"]["1"]["accuracy"] == pytest.approx(right / 10, abs=1e-6)
    never = compute_label_figures(("a", "b"), np.array([[9.0, 9, 9], [1, 1, 1]]), test, (level,))
    assert never["randomizers"]["counts"]["1"]["abandoned"] == ["b"]


@pytest.mark.parametrize("labeled", [False, True])
def test_a_codebook_from_a_file(run: Run, tmp_path: Path, labeled: bool) -> None:
    rows = [f"{n % 4}\t{text}" for n, text in enumerate(texts(1500, 0))]
    (tmp_path / "my.tsv").write_text("topic\ttext\n" + "\n".join(rows) + "\n")
    label = ("--label", "topic") if labeled else ()
    arguments = ("--text", "text", *label, "--clusters", "8", "--levels", "1,4", "--threads", "1", "--teacher", "none")
    code, out, err = run("encoder", tmp_path / "my.tsv", *arguments, "-o", tmp_path / "bundle")
    assert (code, err) == (0, "")
    assert ("accuracy" in out) == labeled
    encoder, server = TextLabelEncoder.load(tmp_path / "bundle"), LabelServer.load(tmp_path / "bundle")
    assert encoder.bundle.label_type == CLUSTER_LABELS
    count = len(encoder.bundle.labels)
    assert encoder.bundle.labels == tuple(map(str, range(count)))
    lines = [encoder.encode(text).line for text in TOPICS * 10]
    counts = server.count_texts(server.parse_line(line, 1) for line in lines)
    assert sum(found.count for found in counts.by_class_label.counts) == pytest.approx(40)
    assert (counts.by_true_label.refusal is None) == labeled
    if labeled:
        assert [found.label for found in counts.by_true_label.counts] == list("0123")
        assert sum(found.count for found in counts.by_true_label.counts) == pytest.approx(40)
    measured = json.loads((tmp_path / "bundle" / "manifest.json").read_text())["measurements"]
    assert ("clean" in measured) == labeled
    if labeled:
        assert measured["clean"]["accuracy"] > 0.9
    card = (tmp_path / "bundle" / "README.md").read_text()
    assert "the center of each is the mean of at" in card
    assert "The means of the word vectors" not in card


@pytest.mark.full
@pytest.mark.slow
def test_a_taught_codebook_goes_on_where_it_was_interrupted(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_encoder(tmp_path, layers=1)
    (tmp_path / "my.tsv").write_text("text\n" + "\n".join(texts(1500, 0)) + "\n")
    arguments = ("--text", "text", "--clusters", "8", "--levels", "1,4", "--threads", "1", "--max-tokens", "16")
    untaught = ("encoder", tmp_path / "my.tsv", *arguments, "-o", tmp_path / "bundle")
    given = (*untaught, "--teacher", tmp_path / "encoder")

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("textveil_training.encoder.codebook.fit_to_teacher", interrupted)
        assert run(*given)[0] == 130
    assert (tmp_path / "bundle.unfinished" / "vectors.safetensors").is_file()
    assert "other data or other settings" in run(*untaught, "--teacher", "none", "--resume")[2]
    with monkeypatch.context() as patched:
        patched.setattr("textveil_training.encoder.codebook.compute_teacher_vectors", None)  # not asked again
        code, out, err = run(*given, "--resume")
    assert (code, err) == (0, "")
    assert "clusters" in out
    manifest = json.loads((tmp_path / "bundle" / "manifest.json").read_text())
    taught = manifest["provenance"]["taught_by"]
    assert (taught["encoder"], taught["max_tokens"]) == ("encoder", 16)
    assert f"{taught['texts']:,} of the texts" in (tmp_path / "bundle" / "README.md").read_text()
    assert sum(path.stat().st_size for path in (tmp_path / "bundle").iterdir()) < 4_000_000
    assert TextLabelEncoder.load(tmp_path / "bundle").encode("rain").line


def test_without_minilm_a_line_says_so(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(teacher, "find_spec", lambda name: None)
    (tmp_path / "my.tsv").write_text("text\n" + "\n".join(texts(1500, 0)) + "\n")
    arguments = ("--text", "text", "--clusters", "8", "--levels", "1", "--default-level", "1", "--threads", "1")
    code, _, err = run("encoder", tmp_path / "my.tsv", *arguments, "-o", tmp_path / "bundle")
    assert (code, "MiniLM is not installed" in err) == (0, True)
    assert "taught_by" not in json.loads((tmp_path / "bundle" / "manifest.json").read_text())["provenance"]
    code, _, err = run("encoder", tmp_path / "my.tsv", "--text", "text", "--label", "text", "--teacher", "none",
                       "-o", tmp_path / "other")  # fmt: skip
    assert (code, "--teacher needs --clusters" in err) == (1, True)


def test_labels_or_codes_must_be_named(run: Run, tmp_path: Path) -> None:
    (tmp_path / "my.tsv").write_text("text\na\n")
    code, _, err = run("encoder", tmp_path / "my.tsv", "--text", "text", "-o", tmp_path / "bundle")
    assert (code, "--clusters" in err) == (1, True)
