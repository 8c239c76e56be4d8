"""The readers accept the published files, if these are present."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from textveil_training.data import FORMATS, list_splits, load_examples, split_examples

DATA = Path(__file__).parents[4] / "shared" / "data"


def published(name: str) -> Path:
    path = DATA / name
    if not path.exists():
        pytest.skip(f"the published data are not here: {name}")
    return path


def labels_of(format_name: str, path: Path) -> dict[str, list[int]]:
    """Examples of each label by split; labels in the format's order."""
    found = {}
    for name in list_splits(format_name, path) or (None,):
        counted = Counter(row.label for row in load_examples(format_name, path, name))
        found[name or "all"] = [counted[label] for label in FORMATS[format_name].labels or ("",)]  # type: ignore[index]
    return found


@pytest.mark.parametrize(
    ("format_name", "path", "wanted"),
    [
        ("sst2", "sst2", {"train": [29_780, 37_569], "dev": [428, 444]}),
        ("qnli", "qnli/dev.tsv", {"all": [2_702, 2_761]}),
        ("sick", "sick", {"train": [2_536, 1_299, 665], "dev": [282, 144, 74], "test": [2_793, 1_414, 720]}),
        ("wikitext", "wikitext2", {"dev": [2_461], "test": [2_891]}),
    ],
)
def test_examples_of_each_label(format_name: str, path: str, wanted: dict[str, list[int]]) -> None:
    assert labels_of(format_name, published(path)) == wanted


def test_shares_of_qnli_are_pinned_and_share_no_question() -> None:
    pairs = list(load_examples("qnli", published("qnli/dev.tsv")))
    divided = split_examples(pairs, {"train": 80, "dev": 10, "test": 10}, key=lambda pair: pair.text)
    assert {name: len(rows) for name, rows in divided.items()} == {"train": 4_410, "dev": 479, "test": 574}
    questions = [{pair.text for pair in rows} for rows in divided.values()]
    assert sum(len(part) for part in questions) == len({pair.text for pair in pairs})


def test_scores_of_sick() -> None:
    scores: list[Any] = [row.score for row in load_examples("sick", published("sick"), "train")]
    assert sum(scores) / len(scores) == pytest.approx(3.521, abs=0.001)


def test_the_entities_of_ag_are_the_persons_the_reader_names() -> None:
    path = published("ag_private/ag_data.txt")
    assert [sum(counts) for counts in labels_of("ag-entities", path).values()] == [11_657, 1_457, 1_457]
    rows = list(load_examples("ag-entities", path))
    for index, name in enumerate(FORMATS["ag-entities"].attributes):
        surname = name.split()[-1]
        having = [row for row in rows if index in row.attributes]
        assert len(having) > 1_400
        assert all(surname in row.texts[0] for row in having)
        lacking = [row for row in rows if index not in row.attributes]
        assert sum(surname in row.texts[0] for row in lacking) < 0.06 * len(lacking)
