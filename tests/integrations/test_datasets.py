"""Columns of a data set: nothing goes to the disk, and no hash is made of a text."""

import pickle
from collections.abc import Callable
from pathlib import Path

import pytest
from canaries import SECRET

datasets = pytest.importorskip("datasets", reason="needs the extra datasets: make integrations")

from textveil.errors import InputError
from textveil.integrations.datasets import SanitizeColumns, sanitize


@pytest.fixture
def tickets():
    return datasets.Dataset.from_dict({"note": ["The of", None, f"and {SECRET} said"], "stars": [2, 5, 1]})


def test_a_column_is_sanitized_and_the_rest_stays(tickets) -> None:
    done = sanitize(tickets, "note", level="strongest")
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


def test_two_processes(tickets) -> None:
    done = tickets.map(SanitizeColumns("note"), batched=True, keep_in_memory=True, num_proc=2)
    assert done["note"][:2] == ["The of", None]


def test_what_is_hashed_has_no_text(tickets) -> None:
    from datasets.fingerprint import Hasher

    rewrite = SanitizeColumns("note")
    before, pickled = Hasher.hash(rewrite), pickle.dumps(rewrite)
    rewrite({"note": [f"and {SECRET}"]})
    assert Hasher.hash(rewrite) == before
    assert pickle.dumps(rewrite) == pickled
    assert b"Zorblax" not in pickled


def test_every_run_has_a_fingerprint_of_its_own(tickets) -> None:
    assert sanitize(tickets, "note")._fingerprint != sanitize(tickets, "note")._fingerprint


def test_what_is_no_text_is_named(tickets) -> None:
    with pytest.raises(InputError, match="cell 1 of 3 is not a string"):
        sanitize(tickets, "stars")


@pytest.mark.full
def test_the_example_runs(example: Callable[[str], str], tmp_path: Path) -> None:
    lines = example("with_datasets.py").splitlines()
    assert len(lines) == 2
    assert all("None" in line for line in lines)
    assert not list(tmp_path.rglob("*.arrow"))
