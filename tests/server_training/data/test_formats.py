"""The formats are found by name, and their examples are valid."""

from collections.abc import Callable
from pathlib import Path
from typing import get_args

import pytest
from textveil_training.data import FORMATS, FormatName, LabeledExample, ReadOptions, list_splits, load_examples
from textveil_training.errors import DataError, DataOptionError, MissingSplit, UnknownFormat, UnreadableFile

Write = Callable[..., Path]
Refuses = Callable[..., DataError]

SICK = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n"
SAMPLES = {
    "sst2": ("sentence\tlabel\na\t1\n", LabeledExample(texts=("a",), label="1")),
    "qnli": (
        "index\tquestion\tsentence\tlabel\n0\ta\tb\tentailment\n",
        LabeledExample(texts=("a", "b"), label="entailment"),
    ),
    "sick": (f"{SICK}1\ta\tb\t2\tNEUTRAL\n", LabeledExample(texts=("a", "b"), label="NEUTRAL", score=2.0)),
    "medsts": ("a\tb\t2\n", LabeledExample(texts=("a", "b"), score=2.0)),
    "tsv": ("1\ta\n", LabeledExample(texts=("a",), label="1")),
    "text": ("a\n", LabeledExample(texts=("a",))),
    "wikitext": (" a \n", LabeledExample(texts=("a",))),
    "jsonl": ('{"text": "a", "label": 1}\n', LabeledExample(texts=("a",), label="1")),
    "table": ("text\tlabel\na\t1\n", LabeledExample(texts=("a",), label="1")),
}
IN_ONE_FILE = ("ag-entities", "trustpilot", "blog")
AG = ("0\ta\t0\n" + "=" * 20 + "\n") * 3


def test_the_names_are_those_of_the_type() -> None:
    assert tuple(FORMATS) == get_args(FormatName)
    assert set(FORMATS) == {*SAMPLES, *IN_ONE_FILE}


@pytest.mark.parametrize("name", SAMPLES)
def test_a_single_file(write: Write, name: str) -> None:
    content, example = SAMPLES[name]
    path = write(content)
    assert list(load_examples(name, path)) == [example]
    assert list(load_examples(name, str(path))) == [example]
    assert list_splits(name, path) == ()
    with pytest.raises(DataOptionError):
        load_examples(name, path, "train")


@pytest.mark.parametrize("name", IN_ONE_FILE)
def test_splits_inside_a_file(write: Write, name: str) -> None:
    path = write(AG)
    assert list_splits(name, path) == ("train", "dev", "test")
    assert list(load_examples(name, path, "dev")) == [LabeledExample(texts=("a",), label="0", attributes=(0,))]
    assert len(list(load_examples(name, path))) == 3


def test_splits_in_a_folder(tmp_path: Path) -> None:
    for number, file in enumerate(("SICK_train.txt", "SICK_test_annotated.txt"), start=1):
        (tmp_path / file).write_text(f"{SICK}1\ta\tb\t{number}\tNEUTRAL\n")
    assert list_splits("sick", tmp_path) == ("train", "test")
    assert list(load_examples("sick", tmp_path, "test")) == [
        LabeledExample(texts=("a", "b"), label="NEUTRAL", score=2.0)
    ]
    assert [row.score for row in load_examples("sick", tmp_path)] == [1.0, 2.0]
    with pytest.raises(MissingSplit):
        load_examples("sick", tmp_path, "dev")


def test_wikitext_goes_by_its_published_names_first(tmp_path: Path) -> None:
    (tmp_path / "wiki.valid.raw").write_text(" raw \n")
    (tmp_path / "valid.txt").write_text(" renamed \n")
    assert list(load_examples("wikitext", tmp_path, "dev")) == [LabeledExample(texts=("raw",))]


def test_a_folder_without_the_formats_files(tmp_path: Path, refuses: Refuses) -> None:
    for find in (load_examples, list_splits):
        with pytest.raises(MissingSplit):
            find("sst2", tmp_path)
    refuses(UnreadableFile, load_examples("tsv", tmp_path))
    refuses(UnreadableFile, load_examples("ag-entities", tmp_path, "train"))


def test_unknown_names_are_refused_at_the_call_and_not_repeated(write: Write, canary: str) -> None:
    for ask in (
        lambda: load_examples(canary, write("")),
        lambda: list_splits(canary, write("")),
        lambda: load_examples("sst2", write(""), canary),
        lambda: load_examples("text", write(""), canary),
        lambda: load_examples("ag-entities", write(AG), canary),
    ):
        with pytest.raises(DataOptionError) as caught:
            ask()
        assert canary not in str(caught.value)
    with pytest.raises(UnknownFormat, match="sst2, qnli, sick"):
        load_examples("SST2", write(""))


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("options", [ReadOptions(text_key="body"), ReadOptions(label_key=None)])
def test_a_format_with_columns_of_its_own_has_no_keys(write: Write, name: str, options: ReadOptions) -> None:
    if name in ("jsonl", "table"):
        load_examples(name, write(""), None, options)
    else:
        with pytest.raises(DataOptionError, match="no keys"):
            load_examples(name, write(""), None, options)


def test_options_reach_the_reader(write: Write) -> None:
    path = write('{"body": "b", "class": 3}\n')
    options = ReadOptions(text_key="body", label_key="class")
    assert list(load_examples("jsonl", path, None, options)) == [LabeledExample(texts=("b",), label="3")]


def test_no_repr_shows_a_text_or_a_label(canary: str) -> None:
    assert canary not in repr(LabeledExample(texts=(canary, canary), label=canary, score=3.5, attributes=(0, 2)))
