"""Columns of a data set are rewritten in memory, and no hash of a text is stored."""

import importlib
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from canaries import SECRET
from host_texts import TEXT, VISIBLE, is_sanitized, refused_in_one_line

datasets = pytest.importorskip("datasets", reason="needs the extra datasets: make integrations")

from textveil.errors import InputError
from textveil_cli.errors import ColumnError
from textveil_cli.integrations import ConfiguredSanitizer
from textveil_cli.integrations.datasets import SanitizeColumns, sanitize


@pytest.fixture
def tickets():
    return datasets.Dataset.from_dict({"note": ["The of", None, f"and {SECRET} said"], "stars": [2, 5, 1]})


def test_a_column_is_sanitized_and_the_rest_stays(tickets) -> None:
    done = sanitize(tickets, "note", protect="words", epsilon=4)
    assert done.column_names == ["note", "stars"]
    assert done["stars"][:] == [2, 5, 1]
    assert done["note"][:2] == ["The of", None]
    assert done["note"][2].startswith("and ")
    assert "Zorblax" not in done["note"][2]
    assert tickets["note"][2] == f"and {SECRET} said"


def test_nothing_is_written(tickets, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stored = tmp_path / "stored"
    tickets.save_to_disk(stored)
    loaded = datasets.load_from_disk(stored)  # a data set that lies on the disk has a place for a cache
    before = sorted(path for path in stored.rglob("*"))
    done = sanitize(loaded, "note")
    assert done.cache_files == []
    done = loaded.map(SanitizeColumns("note"), batched=True, keep_in_memory=True, load_from_cache_file=False)
    assert done.cache_files == []
    assert sorted(path for path in stored.rglob("*")) == before
    loaded.map(SanitizeColumns("note"), batched=True)  # a file is seen where there is one
    assert sorted(path for path in stored.rglob("*")) != before


def test_what_is_hashed_has_no_text(tickets) -> None:
    Hasher = importlib.import_module("datasets.fingerprint").Hasher
    rewrite = SanitizeColumns("note")
    before, pickled = Hasher.hash(rewrite), pickle.dumps(rewrite)
    rewrite({"note": [f"and {SECRET}"]})
    assert Hasher.hash(rewrite) == before
    assert pickle.dumps(rewrite) == pickled
    assert b"Zorblax" not in pickled


def test_every_run_has_a_fingerprint_of_its_own(tickets) -> None:
    assert sanitize(tickets, "note")._fingerprint != sanitize(tickets, "note")._fingerprint


# --- as its tutorial calls it: without batched=True and without any other argument ----------------------------------


@pytest.fixture
def plain():
    """Two columns of texts, one of them with a missing cell, and one of numbers."""
    rows = {"note": [TEXT, None, VISIBLE], "subject": [VISIBLE, TEXT, TEXT], "stars": [2, 5, 1]}
    return datasets.Dataset.from_dict(rows)


def is_right(rows: Any) -> bool:
    first, missing, visible = list(rows)
    assert [row["stars"] for row in rows] == [2, 5, 1]
    assert first["subject"] == VISIBLE
    return is_sanitized(first["note"]) and missing["note"] is None and visible["note"] == VISIBLE


@pytest.mark.parametrize("more", [{}, {"num_proc": 2}])
@pytest.mark.parametrize("how", [{}, {"batched": True}, {"batched": True, "batch_size": None}])
def test_map_takes_rows_and_batches(plain, how: dict[str, Any], more: dict[str, Any]) -> None:
    done = plain.map(SanitizeColumns("note"), **how, **more)
    assert is_right(done.to_list())
    assert done.features == plain.features


@pytest.mark.parametrize("batched", [False, True])
@pytest.mark.parametrize("format", ["numpy", "torch"])
def test_map_of_other_formats(plain, format: str, batched: bool) -> None:
    pytest.importorskip(format)
    done = plain.with_format(format).map(SanitizeColumns("note"), batched=batched)
    assert is_right(done.with_format(None).to_list())


@pytest.mark.parametrize("batched", [False, True])
@pytest.mark.parametrize("format", ["pandas", "arrow"])
def test_frames_and_tables_are_refused(plain, format: str, batched: bool) -> None:
    with pytest.raises(InputError, match=r"with_format\(None\)"):
        plain.with_format(format).map(SanitizeColumns("note"), batched=batched)


def test_map_of_several_splits(plain) -> None:
    splits = datasets.DatasetDict(train=plain, test=plain)
    for done in (splits.map(SanitizeColumns("note")), sanitize(splits, "note")):
        assert list(done) == ["train", "test"]
        assert all(is_right(part.to_list()) for part in done.values())


@pytest.mark.parametrize("batched", [False, True])
def test_map_of_a_stream(plain, batched: bool) -> None:
    assert is_right(list(plain.to_iterable_dataset().map(SanitizeColumns("note"), batched=batched)))


def test_sanitize_takes_streams(plain) -> None:
    done = sanitize(plain.to_iterable_dataset(), "note")
    assert is_right(list(done))
    assert done.features == plain.features
    splits = datasets.IterableDatasetDict(train=plain.to_iterable_dataset())
    assert is_right(list(sanitize(splits, "note")["train"]))


def test_rows_and_batches_without_map(plain) -> None:
    rewrite = SanitizeColumns("note")
    assert is_sanitized(rewrite(plain[0])["note"])
    assert is_sanitized(rewrite(plain[:2])["note"][0])
    assert is_sanitized(rewrite.sanitizer.sanitize_cells(plain["note"])[0])


@pytest.mark.parametrize("named", [["note", "subject"], [["note", "subject"]]], ids=["one by one", "in a list"])
def test_several_columns(plain, named: list[Any]) -> None:
    several = ["note", "subject"]
    by_name = plain.map(SanitizeColumns(column=several)), sanitize(plain, column=several)
    for done in (plain.map(SanitizeColumns(*named)), sanitize(plain, *named), *by_name):
        assert is_sanitized(done[0]["note"])
        assert is_sanitized(done[1]["subject"])
        assert done[0]["subject"] == VISIBLE


def test_no_column_is_refused_and_not_left_as_it_is(plain) -> None:
    for call in (SanitizeColumns, lambda: sanitize(plain), lambda: plain.map(SanitizeColumns())):
        with pytest.raises(ColumnError, match="column is missing"):
            call()


def test_a_column_that_is_not_there(plain) -> None:
    for call in (lambda: sanitize(plain, "stars?"), lambda: plain.map(SanitizeColumns("stars?"))):
        with pytest.raises(ColumnError, match=r"^column is not in the rows \(note, subject.*\)"):
            call()


@pytest.mark.parametrize(
    "how",
    [
        {"input_columns": "note"},
        {"input_columns": ["note"], "batched": True},
        {"input_columns": ["note", "subject"]},
        {"with_indices": True},
    ],
)
def test_what_comes_without_its_name_is_refused(plain, how: dict[str, Any]) -> None:
    with pytest.raises(InputError) as refused:
        plain.map(SanitizeColumns("note"), **how)
    assert refused_in_one_line(str(refused.value))


def test_lists_in_cells() -> None:
    turns = datasets.Dataset.from_dict({"turns": [[TEXT, VISIBLE], []]})
    done = turns.map(SanitizeColumns("turns"))["turns"]
    assert is_sanitized(done[0][0])
    assert (done[0][1], done[1]) == (VISIBLE, [])
    with pytest.raises(InputError, match=r"^cell 1 of 2 must be a string: convert the column first$"):
        turns.map(SanitizeColumns("turns"), batched=True)


def test_numbers_are_refused(plain) -> None:
    with pytest.raises(InputError, match=r"^cell 1 of 1 must be a string: convert the column first$"):
        plain.map(SanitizeColumns("stars"))
    with pytest.raises(InputError, match="cell 1 of 3 must be a string"):
        sanitize(plain, "stars")


def test_a_rewriter_is_not_what_map_wants(plain) -> None:
    """The keys of a row would be taken for its cells."""
    for call in (ConfiguredSanitizer(), ConfiguredSanitizer().sanitize_cells):
        with pytest.raises(InputError):
            plain.map(call)
    with pytest.raises(
        InputError, match="dataset must be a data set or a dictionary of data sets; for one batch, call SanitizeColumns"
    ):
        sanitize(plain[:], "note")


@pytest.mark.full
def test_the_example_runs(example: Callable[[str], str], tmp_path: Path) -> None:
    lines = example("with_datasets.py").splitlines()
    assert len(lines) == 2
    assert all("None" in line for line in lines)
    assert not list(tmp_path.rglob("*.arrow"))
