"""Counts."""

import json
from collections.abc import Callable
from pathlib import Path

from textveil_training.data import ReadOptions, summarize
from textveil_training.data.summary import MOST_LABELS, SplitSummary
from textveil_training.errors import DataError, MissingSplit

Write = Callable[..., Path]

END = "=" * 20 + "\n"
AG = f"0\ta b\t0 1\n1\tc\t4\n{END}3\td\t2\n{END}2\te\t0\n{END}"


def test_counts_per_split_label_and_attribute(write: Write) -> None:
    summary = summarize("ag-entities", write(AG))
    assert list(summary.splits) == ["train", "dev", "test"]
    train = summary.splits["train"]
    assert (train.examples, train.mean_tokens, train.mean_score) == (2, 1.5, None)
    assert train.labels == {"0": 1, "1": 1, "2": 0, "3": 0}
    assert list(train.attributes.values()) == [1, 1, 0, 0, 1]
    assert list(summarize("ag-entities", write(AG), "dev").splits) == ["dev"]


def test_pairs_count_both_texts_and_have_a_mean_score(write: Write) -> None:
    summary = summarize("medsts", write("a b\tc\t1\nd\te\t4\n"))
    assert summary.splits == {"all": SplitSummary(2, 2.5, {}, {}, 2.5)}


def test_labels_are_in_the_formats_order_or_sorted(write: Write) -> None:
    header = "index\tquestion\tsentence\tlabel\n"
    qnli = summarize("qnli", write(f"{header}0\ta\tb\tnot_entailment\n1\ta\tb\tentailment\n")).splits["all"]
    assert list((qnli.labels or {}).items()) == [("entailment", 1), ("not_entailment", 1)]
    tsv = summarize("tsv", write("b\tx\na\tx\nb\ty\n")).splits["all"]
    assert list((tsv.labels or {}).items()) == [("a", 1), ("b", 2)]
    assert summarize("text", write("x\n")).splits["all"].labels == {}


def test_a_column_of_texts_is_not_listed_as_labels(write: Write, canary: str) -> None:
    rows = "".join(f"{canary} {number}\tspam\n" for number in range(MOST_LABELS + 20))
    summary = summarize("tsv", write(rows))
    assert summary.splits["all"].labels is None
    assert summary.splits["all"].examples == MOST_LABELS + 20
    assert canary not in summary.table() + json.dumps(summary.as_dict())
    full = summarize("tsv", write("".join(f"{number}\tspam\n" for number in range(MOST_LABELS))))
    assert len(full.splits["all"].labels or {}) == MOST_LABELS


def test_the_table_is_aligned(write: Write) -> None:
    assert summarize("ag-entities", write(AG), "dev").table().splitlines() == [
        "split  part                      examples  mean tokens",
        "dev    all                              1          1.0",
        "dev    label 0                          0",
        "dev    label 1                          0",
        "dev    label 2                          0",
        "dev    label 3                          1",
        "dev    attribute George W. Bush         0",
        "dev    attribute John Kerry             0",
        "dev    attribute Yasser Arafat          1",
        "dev    attribute Tony Blair             0",
        "dev    attribute Ariel Sharon           0",
    ]
    assert summarize("medsts", write("a\tb\t1\n")).table().splitlines() == [
        "split  part  examples  mean tokens  mean score",
        "all    all          1          2.0       1.000",
    ]


def test_a_label_cannot_steer_the_terminal(write: Write) -> None:
    assert "\x1b" not in summarize("tsv", write("\x1b[31m\tspam\n")).table()


def test_as_dict_is_json(write: Write) -> None:
    summary = summarize("jsonl", write('{"t": "a b", "label": 1}\n'), None, ReadOptions(text_key="t"))
    assert json.loads(json.dumps(summary.as_dict())) == {
        "format": "jsonl",
        "splits": {
            "all": {
                "examples": 1,
                "mean_tokens": 2.0,
                "labels": {"1": 1},
                "attributes": {},
                "mean_score": None,
            }
        },
    }


def test_a_malformed_file_has_no_summary(
    write: Write,
    tmp_path: Path,
    refuses: Callable[..., DataError],
) -> None:
    refuses(MissingSplit, (summarize(name, path) for name, path in [("ag-entities", write("0\ta\t0\n"))]))
    refuses(MissingSplit, (summarize(name, tmp_path) for name in ["sick"]))
