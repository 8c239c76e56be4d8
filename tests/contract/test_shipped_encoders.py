"""The shipped encoders satisfy their cards, and release each of their four classes."""

import re
from math import exp
from pathlib import Path

import pytest
from textveil.bundle import LabelBundle, open_bundle
from textveil.bundle.defaults import DEFAULT_BUNDLE, DEFAULT_ENCODER, DEFAULT_ENCODER_ID, find_default_encoder
from textveil.errors import ModelNotExpected
from textveil.vector import Encoder, TextLabelEncoder
from textveil.verify import verify_labels
from textveil_cli.aggregation import LabelServer

ARTIFACTS = Path(__file__).parents[2] / "artifacts"
#: Largest size of each, all files together.
SIZES = {"ag-static": 4_000_000}
LABELS = ("Business", "Sci/Tech", "Sports", "World")
TEXTS = {
    "Business": "Shares of the chip maker fell after the report.",
    "Sci/Tech": "The new version of the browser fixes a hole that let attackers read files on a computer.",
    "Sports": "The striker scored twice in the last ten minutes of the match.",
    "World": "Troops moved into the town at dawn; the minister called the raid a success.",
}


@pytest.fixture(scope="module", params=SIZES)
def encoder(request: pytest.FixtureRequest) -> TextLabelEncoder:
    folder = ARTIFACTS / request.param
    return TextLabelEncoder.load(folder, expect_id=open_bundle(folder, LabelBundle).content_hash)


def test_the_default_is_the_small_one() -> None:
    assert find_default_encoder() == ARTIFACTS / DEFAULT_ENCODER == ARTIFACTS / "ag-static"
    assert TextLabelEncoder.load().bundle.content_hash == DEFAULT_ENCODER_ID


def test_the_identity_to_pin_is_named_where_a_user_looks() -> None:
    """Where the bundles are listed, since the card of a bundle cannot hold its identity."""
    with pytest.raises(ModelNotExpected) as caught:
        Encoder.load(ARTIFACTS / "support-vectors")
    (identity,) = re.findall("[0-9a-f]{64}", str(caught.value))
    assert f"artifacts/support-vectors --expect-id {identity}" in (ARTIFACTS / "README.md").read_text("utf-8")


def test_files_and_size(encoder: TextLabelEncoder) -> None:
    folder, manifest = encoder.bundle.path, encoder.bundle.manifest
    assert {path.name for path in folder.iterdir()} == {*manifest["files"], "manifest.json"}
    assert sum(path.stat().st_size for path in folder.iterdir()) <= SIZES[folder.name]
    assert manifest["name"] == folder.name
    assert "the certificate matches the randomizers" in verify_labels(encoder.bundle)
    assert list(encoder.bundle.randomizers) == ["counts", "accuracy"]


def test_every_class_is_said(encoder: TextLabelEncoder) -> None:
    """ag-topics-v1, which these took the place of, said two of its four classes."""
    assert encoder.bundle.labels == LABELS
    found = {label: encoder.bundle.labels[encoder.compute_true_label(text)] for label, text in TEXTS.items()}
    assert found == {label: label for label in LABELS}
    measured = encoder.bundle.manifest["measurements"]
    assert min(measured["clean"]["recall"].values()) > 0.7
    assert all(0.2 < share < 0.3 for share in measured["shares"].values())
    assert all(figures["abandoned"] == [] for figures in measured["randomizers"]["counts"].values())


def test_figures_are_the_arithmetic_of_randomized_response(encoder: TextLabelEncoder) -> None:
    """A decision stays with e^eps / (e^eps + 3), and every other one is as likely."""
    measured = encoder.bundle.manifest["measurements"]
    assert measured["texts"]["test"] == 3800
    for epsilon, figures in measured["randomizers"]["counts"].items():
        stays, other = (value / (exp(float(epsilon)) + 3) for value in (exp(float(epsilon)), 1))
        for name in ("accuracy", "balanced_accuracy"):
            clean = measured["clean"][name]
            assert figures[name] == pytest.approx(stays * clean + other * (1 - clean), abs=2e-6)


def test_the_card_has_the_figures(encoder: TextLabelEncoder) -> None:
    card = (encoder.bundle.path / "README.md").read_text("utf-8")
    measured = encoder.bundle.manifest["measurements"]
    for epsilon, figures in measured["randomizers"]["counts"].items():
        assert f"| counts | {epsilon} | {100 * figures['accuracy']:.2f} % |" in card
    for label, recall in measured["clean"]["recall"].items():
        assert f"| {label} | {100 * measured['shares'][label]:.2f} % | {100 * recall:.2f} % |" in card
    assert "AG News (Zhang, Zhao, LeCun 2015)" in card
    assert "None of the test texts is in" in " ".join(card.split())
    assert "## Extractors compared" in card
    assert measured["compared"]["take"] in ("static", "minilm")


def test_held_out_decisions_are_those_of_the_figures(encoder: TextLabelEncoder) -> None:
    """All texts that were not trained on, and among them the test texts that the figures are of."""
    held_out, measured = encoder.bundle.held_out, encoder.bundle.manifest["measurements"]
    assert held_out is not None
    assert held_out.labels == LABELS
    assert held_out.text_count == measured["texts"]["calibration"] + measured["texts"]["test"] == 4884
    for number, (label, recall) in enumerate(measured["clean"]["recall"].items()):
        tested = round(measured["texts"]["test"] * measured["shares"][label])
        right, all_texts = held_out.decisions[number, number], held_out.decisions[number].sum()
        assert 0 <= right - round(tested * recall) <= all_texts - tested
        assert right / all_texts == pytest.approx(recall, abs=0.03)


def test_words_are_those_of_the_public_list() -> None:
    words = (ARTIFACTS / "ag-static" / "words.txt").read_text("utf-8").splitlines()
    public = (DEFAULT_BUNDLE / "vocabulary.tsv").read_text("utf-8")
    assert set(words) <= {line.split("\t")[0] for line in public.splitlines()}


def test_a_server_reads_what_a_device_sends(encoder: TextLabelEncoder) -> None:
    server = LabelServer.load(encoder.bundle.path)
    received = [server.parse_line(encoder.encode(text, epsilon=8).line, 1) for text in TEXTS.values()]
    decided = [server.classify_label(one) for one in received]
    assert {one.label for one in decided} <= set(LABELS)
    assert all(sum(one.scores.values()) == pytest.approx(1, abs=1e-5) for one in decided)
    counts = server.count_texts(received)
    for estimate in (counts.by_class_label, counts.by_true_label):
        assert sum(count.count for count in estimate.counts) == pytest.approx(4)


@pytest.mark.parametrize(
    ("name", "file"),
    [("ag-static", "ag.tsv"), ("sst2-static", "sst2.tsv"), ("support-static", "support.tsv")],
)
def test_the_sentences_are_those_of_the_repository_and_about_their_label(name: str, file: str) -> None:
    lines = (ARTIFACTS / "sentences" / file).read_text("utf-8").splitlines()
    encoder = TextLabelEncoder.load(ARTIFACTS / name)
    bundle = encoder.bundle
    pairs = [(label, said) for label, those in zip(bundle.labels, bundle.sentences, strict=True) for said in those]
    assert sorted(pairs) == sorted(tuple(line.split("\t")) for line in lines)
    assert [bundle.labels[encoder.compute_true_label(said)] for _, said in pairs] == [label for label, _ in pairs]
    assert {encoder.encode("", as_text=True).sentence for _ in range(200)} <= {said for _, said in pairs}
    assert "None is a\nparaphrase" in (bundle.path / "README.md").read_text("utf-8")
    assert sum(path.stat().st_size for path in bundle.path.iterdir()) <= SIZES["ag-static"]
