"""The support bundle has the topics of its list, beats a guess on held-out requests, and fits the README's mail."""

import hashlib
import json
import runpy
from pathlib import Path
from typing import Any

import pytest
from textveil.bundle import LabelBundle, open_bundle
from textveil.vector import TextLabelEncoder
from textveil.verify import verify_labels

ROOT = Path(__file__).parents[2]
ARTIFACTS = ROOT / "artifacts"
BANKING = ROOT.parent / "shared" / "data" / "prompts" / "banking.jsonl"
SCRIPT: dict[str, Any] = runpy.run_path(str(ARTIFACTS / "topics" / "write_support.py"))


@pytest.fixture(scope="module")
def bundle() -> LabelBundle:
    return open_bundle(ARTIFACTS / "support-static", LabelBundle)


def test_every_intent_has_one_topic_and_every_topic_is_a_label(bundle: LabelBundle) -> None:
    topics = SCRIPT["read_topics"]()
    assert len(topics) == 77
    assert 8 <= len(set(topics.values())) <= 12
    assert tuple(sorted(set(topics.values()))) == bundle.labels


def test_an_intent_without_a_topic_is_an_error() -> None:
    label_requests = SCRIPT["label_requests"]
    request = json.dumps({"text": "Where is \n my  card?", "source": "banking77/card_arrival"})
    assert label_requests([request], {"card_arrival": "new card"}) == [("Where is my card?", "new card")]
    with pytest.raises(KeyError, match="card_arrival"):
        label_requests([request], {})


def test_an_intent_that_is_listed_twice_is_an_error(tmp_path: Path) -> None:
    twice = tmp_path / "topics.tsv"
    twice.write_text("pin\tsecurity\npin\tcard\n")
    with pytest.raises(ValueError, match=r"topics\.tsv lists an intent twice"):
        SCRIPT["read_topics"](twice)


def test_the_certificate_holds_and_the_card_has_the_trivial_baseline(bundle: LabelBundle) -> None:
    assert "the certificate matches the randomizers" in verify_labels(bundle)
    measured, card = bundle.manifest["measurements"], (bundle.path / "README.md").read_text("utf-8")
    assert measured["clean"]["accuracy"] > measured["majority"] + 10 * measured["clean"]["standard_error"]
    assert f"The commonest label has {100 * measured['majority']:.2f} %" in card
    assert "banking77 (Casanueva and others 2020, PolyAI, CC BY 4.0)" in card
    assert sum(path.stat().st_size for path in bundle.path.iterdir()) <= 1_000_000


def test_words_are_those_of_the_public_list(bundle: LabelBundle) -> None:
    public = (ARTIFACTS / "english-v4" / "vocabulary.tsv").read_text("utf-8").splitlines()
    assert set((bundle.path / "words.txt").read_text("utf-8").splitlines()) <= {line.split("\t")[0] for line in public}


@pytest.mark.parametrize("name", ["support-mail.txt"])
def test_a_request_for_a_refund_is_a_refund(bundle: LabelBundle, name: str) -> None:
    mail = (ROOT / "docs" / "examples" / name).read_text("utf-8")
    label = bundle.labels[TextLabelEncoder.load(bundle.path).compute_true_label(mail)]
    assert label == "refund or wrong charge"


@pytest.mark.skipif(not BANKING.is_file(), reason="the corpora are not beside this checkout (shared/data)")
def test_the_recipe_writes_the_file_that_the_bundle_was_trained_on(bundle: LabelBundle) -> None:
    rows = SCRIPT["label_requests"](BANKING.read_text("utf-8").splitlines(), SCRIPT["read_topics"]())
    written = "".join(f"{text}\t{topic}\n" for text, topic in [("text", "label"), *rows])
    assert hashlib.sha256(written.encode()).hexdigest() == bundle.manifest["provenance"]["data_sha256"]
