"""The value of released codes is computed as the page describes, and PrivUnit keeps its epsilon."""

import importlib.util
from math import exp
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from bounds.channels import Mode
from report import vectors as page
from report.records import read_objects
from report.vectors_floors import FLOORS
from scipy.special import betainc
from textveil_export.label import make_integer_randomizer
from textveil_training.data import LabeledExample
from textveil_training.encoder.codebook import learn_codebook
from textveil_training.encoder.word_embeddings import DIRECTIONS
from vectors import codebooks, counts, privunit, releases, repeated
from vectors.releases import Codes, Release, area, noisy_corners

CONFUSION = np.array([[80.0, 15, 5], [10, 85, 5], [20, 10, 70]])


@pytest.fixture(scope="module")
def run() -> ModuleType:
    """Load the command by path, because another benchmark has a file of that name."""
    path = Path(__file__).parents[2] / "benchmarks" / "vectors" / "run.py"
    spec = importlib.util.spec_from_file_location("vectors_run", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_held_out_and_released_texts_are_not_the_same() -> None:
    """Where more of each label are wanted than there are, all texts are taken: none twice, and none left out."""
    classes = np.repeat([0, 1, 2], [50, 60, 7])
    codes = (classes + (np.arange(117) % 5 == 0)) % 3
    pool = counts.Pool(labels=("a", "b", "c"), classes=classes, codes=codes, count=3)
    staircase = make_integer_randomizer("counts", np.eye(3), "16")
    tables = set()
    drawn = counts.releases(pool, staircase, 10**9, 0.5, 20, np.random.default_rng(0))
    for held_out, arrived, truth, decided in drawn:
        assert (held_out.decisions.sum(axis=1) + truth).tolist() == [50, 60, 7]
        assert (held_out.decisions.sum(axis=0) + decided).tolist() == np.bincount(codes).tolist()
        assert arrived.sum() == truth.sum()
        tables.add(str(held_out.decisions))
    assert len(tables) > 15


def test_codes_of_minilm_are_those_of_a_bundle() -> None:
    chance = np.random.default_rng(0)
    corners = chance.normal(size=(8, 40))
    vectors = (corners[np.arange(400) % 8] + 0.2 * chance.normal(size=(400, 40)) + 1).astype(np.float32)

    class Known:
        def vectors(self, kind: str, texts: list[str]) -> np.ndarray:
            assert kind == "minilm"
            return vectors[[int(text) for text in texts]]

    texts = [str(number) for number in range(400)]
    found = codebooks.of_minilm(Known(), "minilm", texts, 8, 0)(tuple(texts))  # type: ignore[arg-type]
    book = learn_codebook(vectors.astype(np.float64), 8, 0, lambda *_: None, directions=DIRECTIONS)
    assert len(book.sizes) == 8  # none is dropped
    assert (found == (vectors @ book.weight.T + book.bias).argmax(axis=1)).all()


def test_counts_are_the_arithmetic_of_the_clean_accuracy() -> None:
    rows = releases.decision_rows(CONFUSION, Codes(CONFUSION, CONFUSION))
    clean = np.trace(CONFUSION) / CONFUSION.sum()
    for epsilon in ("1", "4"):
        kept = exp(float(epsilon)) / (exp(float(epsilon)) + 2)
        expected = clean * kept + (1 - clean) * (1 - kept) / 2
        assert rows["counts"][epsilon]["accuracy"] == pytest.approx(expected, abs=1e-5)
        assert abs(rows["counts"][epsilon]["lost_to_integers"]) < 1e-5
    assert rows["clean"][""]["worst_recall"] == 0.7


def test_no_channel_on_the_decision_exceeds_the_reference() -> None:
    # Other shares of the classes in the test texts: what is fitted to the calibration texts is not the best for them.
    test = CONFUSION * np.array([[1], [1], [12]])
    rows = releases.decision_rows(CONFUSION, Codes(CONFUSION, test))
    assert rows["reference"]["1"]["accuracy"] > rows["accuracy"]["1"]["accuracy"] + 0.05
    for epsilon in releases.EPSILONS:
        best = rows["reference"][epsilon]["accuracy"] + 1e-5
        assert all(rows[row][epsilon]["accuracy"] <= best for row in ("accuracy", "counts"))
        assert best <= rows["ceiling"][epsilon]["accuracy"] + 2e-5
        most = rows["balanced reference"][epsilon]["balanced_accuracy"] + 1e-5
        assert all(rows[row][epsilon]["balanced_accuracy"] <= most for row in ("accuracy", "counts"))


def test_a_server_decodes_codes_by_what_it_knows() -> None:
    known = np.array([[9.0, 1, 0, 0], [0, 0, 1, 9]])
    found = Release.of_index(np.eye(4), is_label=False).figures(Codes(known, known))
    assert found == {"accuracy": 1, "balanced_accuracy": 1, "worst_recall": 1}
    # Labels are learned from what is known, never from the test texts.
    assert Release.of_index(np.eye(4), is_label=False).figures(Codes(known, known[::-1].copy()))["accuracy"] == 0


def test_the_attacker_of_a_constant_release_is_at_the_prior() -> None:
    attributes = np.array([[[30.0, 10]], [[5, 25]]])
    codes = Codes(CONFUSION[:2, :2], CONFUSION[:2, :2], attributes, attributes)
    blind, seen = (
        Release.of_index(channel, is_label=True).figures(codes) for channel in (np.full((2, 2), 0.5), np.eye(2))
    )
    assert blind["attack"] == 0.5
    assert seen["attack"] == pytest.approx(30 / 40 * 25 / 30 + (30 / 40 * 5 / 30 + 10 / 40 * 25 / 30) / 2)


def test_the_area_counts_ties_half() -> None:
    scores, without, having = np.array([0.1, 0.1, 0.7, 0.9]), np.array([2.0, 1, 1, 0]), np.array([0.0, 2, 0, 1])
    pairs = [
        (having[i] * without[j], (scores[i] > scores[j]) + (scores[i] == scores[j]) / 2)
        for i in range(4)
        for j in range(4)
    ]
    assert area(scores, without, having) == pytest.approx(sum(w * v for w, v in pairs) / sum(w for w, _ in pairs))


@pytest.mark.parametrize("classes", [2, 4, 6])
def test_corners_are_apart_and_inside_the_set(classes: int) -> None:
    sizes: dict[Mode, Any] = {"l1": lambda p: np.abs(p).sum(axis=1), "l2": lambda p: np.linalg.norm(p, axis=1)}
    for mode, size in sizes.items():
        points = releases._corners(mode, classes)
        assert size(points) == pytest.approx(np.ones(classes))
        assert len(np.unique(points.round(9), axis=0)) == classes
    points = releases._corners("box", classes)
    assert (points.min(axis=1) == 0).all()
    assert (points.max(axis=1) == 1).all()
    assert len(np.unique(points, axis=0)) == classes


def test_laplace_noise_between_two_corners_is_the_known_error() -> None:
    counts = np.diag([500.0, 500])
    found = noisy_corners("l1", (0, 1), 3.0).figures(Codes(counts, counts))
    assert found["accuracy"] == pytest.approx(1 - exp(-3 / 2) / 2, abs=0.006)


@pytest.mark.parametrize("epsilon", [0.5, 4.0, 12.0])
def test_privunit_draws_within_its_epsilon(epsilon: float) -> None:
    cap = privunit.best_cap(epsilon, 6)
    assert cap.inside / (1 - cap.inside) * (1 - cap.share) / cap.share == pytest.approx(exp(epsilon))
    assert betainc(2.5, 2.5, (1 - cap.gamma) / 2) == pytest.approx(cap.share)
    vectors = np.tile(np.eye(6)[0], (20_000, 1))
    drawn = privunit.release(vectors, epsilon, np.random.default_rng(0))
    assert np.linalg.norm(drawn, axis=1) == pytest.approx(np.ones(len(drawn)))
    assert (drawn[:, 0] >= cap.gamma).mean() == pytest.approx(cap.inside, abs=0.02)
    assert abs(drawn[:, 1:].mean()) < 0.02


def test_repeated_texts_are_counted() -> None:
    train = tuple(
        LabeledExample(texts=(text,), label=label)
        for text, label in (("a b", "0"), ("a b", "1"), ("a b", "1"), ("c d", "0"))
    )
    test = tuple(
        LabeledExample(texts=(text,), label=label)
        for text, label in (("a b", "0"), ("c d", "0"), ("C, d", "1"), ("e", "1"))
    )
    found, rows = repeated.counts(train, test)
    assert rows.tolist() == [True, True, False, False]
    assert found["in_train"] == 2
    assert found["in_train_other_label"] == 1
    assert found["near_train"] == 3
    assert found["train_copies"] == 2
    assert found["test_copies"] == 0


def _stored() -> list[dict[str, Any]]:
    path = Path(__file__).parents[2] / "benchmarks" / "results" / page.NAME
    return [found for _, found in read_objects(path)]


@pytest.mark.full
@pytest.mark.slow
def test_stored_figures_follow_from_stored_counts(run: ModuleType) -> None:
    records = _stored()
    decision = next(r for r in records if r["job"] == "decision" and r["task"] == "ag-private")
    codebook = next(r for r in records if r["job"] == "codebook" and r["figures"])
    for record in (decision, codebook):
        for row, by_epsilon in run.again(record)["figures"].items():
            for epsilon, found in by_epsilon.items():
                # Vectors are drawn 20,000 times a class, in floating point: builds differ in the last digits.
                near = 2e-3 if row in ("l1", "l2", "box") else 2e-4
                assert found == pytest.approx(record["figures"][row][epsilon], abs=near), (row, epsilon)


def test_no_stored_release_exceeds_its_ceiling() -> None:
    records = _stored()
    most = {(r["task"], e): f for r in records if r["job"] == "decision" for e, f in r["figures"]["ceiling"].items()}
    for record in records:
        for row, by_epsilon in record.get("figures", {}).items():
            for epsilon, found in by_epsilon.items():
                if epsilon and row != "ceiling":
                    assert found["accuracy"] <= most[record["task"], epsilon]["accuracy"] + 0.02, (record["job"], row)


def test_records_of_other_settings_are_stale(run: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ag_news/train.tsv", "ag_news/test.tsv"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x\t1\n")
    job = {"job": "privunit", "task": "ag", "seed": 0, "extractor": "static"}
    records = [{**job, "source": run.source(tmp_path, job)}, {**job, "seed": 1, "source": "another"}]
    path = tmp_path / "records.jsonl"
    run._write(path, records)
    assert run.remove_stale_records(path, tmp_path) == {run._key(records[0])}
    assert len(path.read_text().splitlines()) == 1
    monkeypatch.setattr(privunit, "DRAWS", 99)
    assert run.remove_stale_records(path, tmp_path) == set()


def test_a_mean_has_the_error_over_seeds() -> None:
    def record(seed: int, accuracy: float) -> dict[str, Any]:
        figures = {"counts": {"4": {"accuracy": accuracy}}, "clean": {"": {"accuracy": 0.9}}}
        about = {"texts": {"train": 1, "calibration": 1, "test": 400}, "left_out": 0, "test": [[1]], "seed": seed}
        return {"job": "decision", "task": "ag", "extractor": "static", "tuned": True, **about, "figures": figures}

    found = page.Results([record(0, 0.80), record(1, 0.84)])
    mean = found.of("ag", "counts", "static-tuned", "4")
    assert str(mean) == "82.0 ± 2.0"
    assert mean is not None
    assert mean.of_texts == pytest.approx((0.82 * 0.18 / 400) ** 0.5)
    assert found.of("ag", "counts", "static-frozen", "4") is None
    rows = page.tabulate_floors(found).splitlines()[2:]
    assert rows[0] == "| AG News, clean, static tuned | - | 87.2 | 90.0 ± 0.0 | 1.5 | yes |"
    assert rows[1] == "| AG News, `counts`, static tuned | 4 | 82.5 | 82.0 ± 2.0 | 1.9 | no |"
    assert {floor.task for floor in FLOORS} <= set(page.TASKS)
