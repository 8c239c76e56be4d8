"""A small encoder bundle of version 1, as it was once written: still read, run and audited, to the same vectors."""

from fractions import Fraction
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from release_audit import audit, laplace_score
from textveil import Encoder
from textveil.mechanisms.noise.discrete import discrete_laplace
from textveil.mechanisms.noise.parameters import WordDropout
from textveil.mechanisms.noise.vector import Noise, Releaser
from textveil.verify import verify_encoder
from textveil_cli.collector import VectorClassifier

FOLDER = Path(__file__).parents[1] / "fixtures" / "encoder_version_1"
IDENTITY = "f8a76339d206d68a7c9fa797eb87060512593d266b12cebd5121d0ce4b8cc387"
RELEASES = 200_000
#: Texts, and their vectors before the noise when the bundle was written, in float32 on a processor with AVX2.
VECTORS = {
    "the team win the match": (-0.0058, -0.9942),
    "oil and bank shares trade": (0.0059, 0.9941),
    "goal goal goal score": (-0.0029, -0.9971),
    "the": (-0.0122, -0.9878),
    "": (-0.134, -0.3997),
    "profit player " * 40: (0.0064, 0.9936),
}
TEXTS = tuple(VECTORS)


@pytest.fixture(scope="module")
def encoder():
    return Encoder.load(FOLDER, expect_id=IDENTITY)


def test_it_is_what_it_always_was(encoder):
    assert encoder.bundle.identity == IDENTITY
    assert [level.epsilon for level in encoder.bundle.levels] == ["1", "4", "8"]
    assert (encoder.bundle.default_level.epsilon, encoder.bundle.default_level.mode) == ("4", "l1")
    assert {path.name for path in FOLDER.iterdir()} == {*encoder.bundle.manifest["files"], "manifest.json"}
    assert "finished noise of 3 levels audited" in verify_encoder(encoder.bundle)


@pytest.mark.parametrize("text", TEXTS)
def test_its_vectors_are_the_same(encoder, text):
    """Up to the rounding of int8 products, which differs between processors."""
    assert before_noise(encoder, text) == pytest.approx(VECTORS[text], abs=0.05)


def test_a_server_reads_its_releases(encoder):
    classifier = VectorClassifier(FOLDER)
    assert classifier.labels == ("sport", "money")
    vectors = np.array([before_noise(encoder, text) for text in TEXTS[:2]])
    assert classifier.scores(vectors, [8.0, 8.0]).argmax(axis=1).tolist() == [0, 1]


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
    assert np.abs(first - second).sum() > 1.95
    releaser = Releaser(encoder.bundle.level("4"))
    assert proven(releaser, first, second) > 3.6
    noise = releaser.noise
    smaller = discrete_laplace(releaser.parameters.scale * Fraction(9, 10), noise.table.reach)
    releaser.noise = Noise(smaller, noise.margin)
    assert proven(releaser, first, second) > 4
