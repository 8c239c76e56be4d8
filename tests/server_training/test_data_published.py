"""The readers on the published files, where these are present."""

from pathlib import Path

import pytest
from textveil_training.data import (
    FORMATS,
    AttributedText,
    LabeledPair,
    ReadOptions,
    load,
    split,
    summarize,
)
from textveil_training.data.attributed import AG_ENTITIES

DATA = Path(__file__).parents[3] / "shared" / "data"


def published(name: str) -> Path:
    path = DATA / name
    if not path.exists():
        pytest.skip(f"the published data are not here: {name}")
    return path


def examples_of(format_name: str, path: Path) -> dict[str, int]:
    return {name: part.examples for name, part in summarize(format_name, path).splits.items()}


def test_sst2() -> None:
    summary = summarize("sst2", published("sst2"))
    assert {name: part.examples for name, part in summary.splits.items()} == {"train": 67_349, "dev": 872}
    assert summary.splits["train"].labels == {"0": 29_780, "1": 37_569}
    assert summary.splits["dev"].labels == {"0": 428, "1": 444}


def test_qnli() -> None:
    summary = summarize("qnli", published("qnli/dev.tsv"))
    assert summary.splits["all"].examples == 5_463
    assert summary.splits["all"].labels == {"entailment": 2_702, "not_entailment": 2_761}
    assert examples_of("qnli", published("qnli")) == {"dev": 5_463}


def test_shares_of_qnli_are_pinned_and_share_no_question() -> None:
    pairs = [row for row in load("qnli", published("qnli/dev.tsv")) if isinstance(row, LabeledPair)]
    divided = split(pairs, {"train": 80, "dev": 10, "test": 10}, key=lambda pair: pair.first)
    assert {name: len(rows) for name, rows in divided.items()} == {"train": 4_410, "dev": 479, "test": 574}
    questions = [{pair.first for pair in rows} for rows in divided.values()]
    assert sum(len(part) for part in questions) == len({pair.first for pair in pairs})


def test_sick() -> None:
    summary = summarize("sick", published("sick"))
    assert {name: part.examples for name, part in summary.splits.items()} == {
        "train": 4_500,
        "dev": 500,
        "test": 4_927,
    }
    assert summary.splits["test"].labels == {"NEUTRAL": 2_793, "ENTAILMENT": 1_414, "CONTRADICTION": 720}
    assert summary.splits["train"].mean_score == pytest.approx(3.521, abs=0.001)


def test_ag_with_entities() -> None:
    path = published("ag_private/ag_data.txt")
    assert examples_of("ag-entities", path) == {"train": 11_657, "dev": 1_457, "test": 1_457}
    labels = summarize("ag-entities", path, "train").splits["train"].labels or {}
    assert [round(labels[topic] / 11_657, 2) for topic in "0123"] == [0.58, 0.37, 0.01, 0.04]


def test_the_entities_of_ag_are_the_persons_the_reader_names() -> None:
    rows = list(load("ag-entities", published("ag_private/ag_data.txt")))
    for index, name in enumerate(AG_ENTITIES):
        surname = name.split()[-1]
        having = [row for row in rows if isinstance(row, AttributedText) and index in row.attributes]
        assert len(having) > 1_400
        assert all(surname in row.texts[0] for row in having)
        lacking = [row for row in rows if isinstance(row, AttributedText) and index not in row.attributes]
        assert sum(surname in row.texts[0] for row in lacking) < 0.06 * len(lacking)


def test_wikitext() -> None:
    path = published("wikitext2")
    assert examples_of("wikitext", path) == {"dev": 2_461, "test": 2_891}
    bodies = summarize("wikitext", path, None, ReadOptions(skip_headings=True))
    assert {name: part.examples for name, part in bodies.splits.items()} == {"dev": 1_841, "test": 2_185}


def test_every_format_that_is_here_was_read() -> None:
    here = {"sst2", "qnli", "sick", "ag-entities", "wikitext"}
    made_up = {"medsts", "trustpilot", "trustpilot-users", "blog", "blog-topics", "tsv", "text", "jsonl", "table"}
    assert set(FORMATS) == here | made_up
