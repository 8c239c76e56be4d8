"""The shipped vector bundle is small, runs without training, and lets a server tell every topic."""

import re
from pathlib import Path

import numpy as np
import pytest
from textveil.bundle import LabelBundle, VectorBundle, open_bundle
from textveil.errors import ModelNotExpected
from textveil.vector import Encoder
from textveil_cli.aggregation import VectorClassifier

ARTIFACTS = Path(__file__).parents[2] / "artifacts"
FOLDER, README = ARTIFACTS / "support-vectors", ARTIFACTS / "README.md"
#: A made-up request of each topic.
REQUESTS = {
    "account and identity": "How do I verify my identity?",
    "cash machine": "The ATM did not give me all of the cash I asked for.",
    "exchange rate": "What exchange rate do you use for foreign currencies?",
    "failed payment": "My card payment was declined.",
    "fees": "Why was I charged a fee for my transfer?",
    "lost card or PIN": "Someone stole my card, please block it.",
    "new card": "When will my new card arrive?",
    "refund or wrong charge": "I want a refund for a charge that is wrong.",
    "top-up": "My top up was cancelled.",
    "transfer": "My transfer has not arrived.",
}


@pytest.fixture(scope="module")
def identity() -> str:
    """Return the content hash that the list of bundles has, which is that of the folder."""
    with pytest.raises(ModelNotExpected) as caught:
        Encoder.load(FOLDER)
    (found,) = re.findall(r"artifacts/support-vectors --expect-id ([0-9a-f]{64})", README.read_text("utf-8"))
    assert found in str(caught.value)
    return found


def test_every_topic_is_the_decision_of_a_request(identity: str) -> None:
    """Forty releases of each, at epsilon 16: the noise alone decides too seldom otherwise to be the most frequent."""
    encoder, server = Encoder.load(FOLDER, expect_id=identity), VectorClassifier.load(FOLDER)
    assert sorted(server.labels) == sorted(REQUESTS)
    releases = 40
    texts = [text for text in REQUESTS.values() for _ in range(releases)]
    vectors = np.array([one.vector for one in encoder.encode_batch(texts, epsilon="16")], np.float32)
    decided = server.compute_scores(vectors, [16.0] * len(texts)).argmax(axis=1).reshape(len(REQUESTS), releases)
    found = [server.labels[np.bincount(row).argmax()] for row in decided]
    assert found == list(REQUESTS)


def test_the_card_has_the_figures_and_the_sources(identity: str) -> None:
    bundle = open_bundle(FOLDER, VectorBundle, expect_id=identity)
    card = (FOLDER / "README.md").read_text("utf-8")
    measured = bundle.manifest["measurements"]
    assert [level.epsilon for level in bundle.levels] == ["4", "8", "16"]
    for epsilon, figures in measured["accuracy_by_epsilon"].items():
        assert f"| {epsilon} | {100 * figures['int8']:.2f} % |" in card
    assert measured["accuracy_by_epsilon"]["16"]["int8"] > 0.8
    assert "CC BY 4.0" in bundle.manifest["provenance"]["attribution"]
    assert bundle.manifest["license"] == "Apache-2.0 AND CC-BY-4.0"
    assert sum(path.stat().st_size for path in FOLDER.iterdir()) <= 7_000_000


def test_the_topics_are_those_of_the_class_label_bundle() -> None:
    vectors, labels = open_bundle(FOLDER, VectorBundle), open_bundle(ARTIFACTS / "support-static", LabelBundle)
    assert sorted(vectors.manifest["labels"]) == sorted(labels.labels)
