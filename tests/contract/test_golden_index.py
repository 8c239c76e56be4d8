"""Runtime and second reader reproduce the golden vectors of class labels: codes, lines, labels and counts."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from reference_reader.index import IndexReader
from scripted import counted, scripted_words
from textveil.bundle import StaticExtractorData
from textveil.mechanisms import entropy
from textveil.vector import TextLabelEncoder, find_word_rows
from textveil_cli.aggregation import LabelServer

GOLDEN = Path(__file__).parents[2] / "docs" / "golden"
FOLDER = GOLDEN / "index"
TOLD = json.loads((GOLDEN / "index.json").read_text("utf-8"))
CASES = pytest.mark.parametrize("case", TOLD["cases"], ids=lambda case: case["random_label"])


def by_the_document(case: dict[str, Any], reader: IndexReader) -> list[str]:
    words = scripted_words(case["random_label"])
    channel, epsilon = case["randomizer"], case["epsilon"]
    found = (reader.index(reader.code(text), channel, epsilon, words) for text in TOLD["texts"])
    return [f"{index}\t{reader.identity[:12]}\t{epsilon}\t{channel}" for index in found]


@CASES
def test_the_document_gives_the_golden_lines(case: dict[str, Any]) -> None:
    reader = IndexReader(FOLDER)
    assert [reader.ids(text) for text in TOLD["texts"]] == TOLD["rows"]
    assert [reader.code(text) for text in TOLD["texts"]] == TOLD["class_labels"]
    assert by_the_document(case, reader) == case["lines"]


@CASES
def test_the_device_gives_the_golden_lines(case: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[int] = []
    monkeypatch.setattr(entropy, "random_uint64", counted(scripted_words(case["random_label"]), taken))
    encoder = TextLabelEncoder.load(FOLDER)
    parts = encoder.bundle.extractor
    assert isinstance(parts, StaticExtractorData)
    assert [find_word_rows(text[: parts.max_characters], parts.words).tolist() for text in TOLD["texts"]] == TOLD[
        "rows"
    ]
    found = encoder.encode_batch(TOLD["texts"], epsilon=case["epsilon"], randomizer=case["randomizer"])
    assert [one.line for one in found] == case["lines"]
    assert sum(taken) == case["random_words"]


@CASES
def test_the_server_reads_the_golden_lines(case: dict[str, Any]) -> None:
    server = LabelServer.load(FOLDER)
    received = [server.parse_line(line, 1) for line in case["lines"]]
    assert [server.classify_label(one).to_dict() for one in received] == case["labels"]
    counts = server.count_texts(received)
    for name, estimate in (("by_class_label", counts.by_class_label), ("by_true_label", counts.by_true_label)):
        told = case["counts"][name]
        assert (told is None) == (estimate.refusal is not None)
        for found, entry in zip(estimate.counts, told or [], strict=True):
            assert found.label == entry["label"]
            assert (found.count, found.standard_error) == pytest.approx((entry["count"], entry["standard_error"]))
            assert found.interval == (entry["interval"] and pytest.approx(entry["interval"]))


@CASES
def test_the_document_gives_the_golden_counts_of_labels(case: dict[str, Any]) -> None:
    if case["counts"]["by_true_label"] is None:
        assert case["randomizer"] == "accuracy"
        return
    arrived = [sum(line.startswith(f"{index}\t") for line in case["lines"]) for index in range(3)]
    found = IndexReader(FOLDER).of_labels({(case["randomizer"], case["epsilon"]): arrived})
    for (label, number, error), told in zip(found, case["counts"]["by_true_label"], strict=True):
        assert (label, number, error) == (
            told["label"],
            pytest.approx(told["count"]),
            pytest.approx(told["standard_error"]),
        )


def next_row(reader: IndexReader) -> None:
    real = reader.index
    reader.index = lambda code, *rest: real((code + 1) % 3, *rest)  # type: ignore[method-assign]


def no_pairs(reader: IndexReader) -> None:
    reader.rows["pairs"] = [0] * len(reader.rows["pairs"])


def no_clitics(reader: IndexReader) -> None:
    reader.words = [word for word in reader.words if word not in ("n't", "'s")] + ["\n1", "\n2"]


@pytest.mark.parametrize("fault", [next_row, no_pairs, no_clitics])
def test_the_golden_vectors_see_a_fault(fault: Callable[[IndexReader], None]) -> None:
    reader = IndexReader(FOLDER)
    fault(reader)
    texts = TOLD["texts"]
    found = [[reader.ids(text) for text in texts], [reader.code(text) for text in texts]]
    lines = [by_the_document(case, reader) for case in TOLD["cases"]]
    assert [*found, lines] != [TOLD["rows"], TOLD["class_labels"], [case["lines"] for case in TOLD["cases"]]]
