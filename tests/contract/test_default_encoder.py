"""The default encoder that lies in the repository: what README and card say of it, and its releases audited."""

import hashlib
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from release_audit import audit, laplace_score
from textveil import Encoder
from textveil.bundle.defaults import DEFAULT_ENCODER, default_encoder
from textveil.bundle.defaults import DEFAULT_ENCODER_ID as DEFAULT_IDENTITY
from textveil.mechanisms.discrete_noise import discrete_laplace
from textveil.mechanisms.vector_noise import Noise, Releaser
from textveil.mechanisms.vector_parameters import WordDropout
from textveil_training.bounds import channels
from textveil_training.dpnr.recipe import read_recipe

ROOT = Path(__file__).parents[2]
RECIPE = ROOT / "server_training" / "recipes" / "ag-l1.toml"
RELEASES = 200_000
#: Test texts of each class, from which the ceilings follow.
CLASSES = np.array([842, 548, 11, 56])
TEXTS = (
    "Oil prices fell on Friday after a report that stocks had risen for the third week.",
    "The candidates met for a second debate, and both campaigns claimed to have won it.",
    "Troops moved into the town at dawn; the minister called the raid a success.",
    "The striker scored twice in the last ten minutes of the match.",
    "A debate.",
    "",
)


@pytest.fixture(scope="module")
def encoder():
    return Encoder.load()


def test_its_size_and_identity(encoder):
    folder = default_encoder()
    assert folder.name == DEFAULT_ENCODER
    assert sum(path.stat().st_size for path in folder.iterdir()) <= 25_000_000
    assert encoder.bundle.identity == DEFAULT_IDENTITY
    assert hashlib.sha256((folder / "release.json").read_bytes()).hexdigest() == DEFAULT_IDENTITY
    assert {path.name for path in folder.iterdir()} == {*encoder.bundle.manifest["files"], "manifest.json"}
    card = (folder / "README.md").read_text("utf-8")
    assert DEFAULT_IDENTITY in card


def test_its_levels(encoder):
    assert [level.epsilon for level in encoder.bundle.levels] == ["1", "2", "3", "4", "6", "8"]
    assert encoder.bundle.default_level.epsilon == "4"
    assert encoder.bundle.default_level.mode == "l1"


def test_its_recipe_is_the_committed_one(encoder):
    assert read_recipe(RECIPE).name == "ag-l1"
    text = RECIPE.read_text(encoding="utf-8")
    for now, then in (("num_epochs", "epochs"), ("batch_size", "batch")):  # keys have been renamed since
        text = text.replace(f"\n{now} = ", f"\n{then} = ")
    found = hashlib.sha256(text.encode()).hexdigest()
    assert encoder.bundle.manifest["provenance"]["training_recipe_sha256"] == found


def test_no_accuracy_of_the_card_is_above_its_ceiling(encoder):
    measured = encoder.bundle.manifest["measured"]
    stated = measured["elsewhere"]["columns"]["ceiling"]
    ceiling = {epsilon: channels.ceiling(CLASSES, float(epsilon)) for epsilon in stated}
    assert stated == pytest.approx(ceiling, abs=1e-4)
    assert set(measured["accuracy_by_epsilon"]) == set(ceiling) == {"1", "2", "3", "4", "6", "8"}
    for epsilon, accuracies in measured["accuracy_by_epsilon"].items():
        assert max(accuracies.values()) <= ceiling[epsilon]


def before_noise(encoder, text):
    """The vector of a text in units, shape ``(k,)``."""
    ids, _ = encoder._ids(text, WordDropout())
    return encoder._session.run(ids)[0].astype(np.float64)


def proven(releaser, first, second, releases=RELEASES):
    steps = [np.trunc(vector * releaser.parameters.grid).astype(np.int64) for vector in (first, second)]
    return audit(releaser.release, first, second, laplace_score(*steps), releases).epsilon


@pytest.mark.slow
@pytest.mark.parametrize("releases", [RELEASES // 4, pytest.param(RELEASES, marks=pytest.mark.full)])
def test_an_audit_of_texts_never_exceeds_the_claim(encoder, releases):
    """Every pair of these texts, at the strictest level and at the default one."""
    vectors = [before_noise(encoder, text) for text in TEXTS]
    for epsilon in ("1", "4"):
        releaser = Releaser(encoder.bundle.level(epsilon))
        for first, second in combinations(vectors, 2):
            assert proven(releaser, first, second, releases) <= float(epsilon)


def test_an_audit_of_texts_catches_noise_ten_percent_too_small(encoder):
    """On the two texts whose vectors are farthest apart, which are nearly as far apart as any two can be."""
    vectors = [before_noise(encoder, text) for text in TEXTS]
    first, second = max(combinations(vectors, 2), key=lambda pair: np.abs(pair[0] - pair[1]).sum())
    assert np.abs(first - second).sum() > 1.99
    releaser = Releaser(encoder.bundle.level("4"))
    assert proven(releaser, first, second) > 3.6
    noise = releaser.noise
    smaller = discrete_laplace(releaser.parameters.scale * Fraction(9, 10), noise.table.reach)
    releaser.noise = Noise(smaller, noise.margin)
    assert proven(releaser, first, second) > 4
