"""A ``Rewriter`` works in Ray Data over rows, and over batches of any format."""

import importlib
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from canaries import SECRET
from host_texts import TEXT, VISIBLE, is_sanitized
from textveil_cli.integrations import ConfiguredSanitizer

pytest.importorskip("ray", reason="needs Ray: make integration-ray")
pytestmark = pytest.mark.full


@pytest.fixture(scope="module")
def notes(two_nodes: str) -> Iterator[Any]:
    """Three rows in blocks of their own, so that a batch may have missing cells alone."""
    ray = importlib.import_module("ray")
    importlib.import_module("ray.data")
    ray.init(address=two_nodes, log_to_driver=False)
    ray.data.DataContext.get_current().enable_progress_bars = False
    try:
        yield ray.data.from_items([{"note": note, "stars": n} for n, note in enumerate([TEXT, None, VISIBLE])])
    finally:
        ray.shutdown()


def is_right(done: Any) -> bool:
    first, missing, visible = sorted(done.take_all(), key=lambda row: row["stars"])
    assert {*first} == {*missing} == {*visible} == {"note", "stars"}
    gone = missing["note"] is None or missing["note"] != missing["note"]  # Ray makes NaN of a batch of missing cells
    return is_sanitized(first["note"]) and gone and visible["note"] == VISIBLE


def test_batches_of_every_format(notes: Any) -> None:
    rewriter = ConfiguredSanitizer()

    def in_arrow(batch: Any) -> Any:
        import pyarrow

        return batch.set_column(0, "note", pyarrow.array(rewriter.sanitize_cells(batch["note"]), pyarrow.string()))

    def plain(batch: Any) -> Any:
        return {**batch, "note": rewriter.sanitize_cells(batch["note"])}

    assert is_right(notes.map_batches(plain))
    assert is_right(notes.map_batches(plain, batch_size=None))
    assert is_right(
        notes.map_batches(
            lambda batch: batch.assign(note=rewriter.sanitize_cells(batch["note"])), batch_format="pandas"
        )
    )
    assert is_right(notes.map_batches(in_arrow, batch_format="pyarrow"))
    one_block = notes.repartition(1)
    assert is_right(one_block.map_batches(plain))
    assert is_right(one_block.map_batches(in_arrow, batch_format="pyarrow"))


def test_a_class_that_opens_the_bundle_once(notes: Any) -> None:
    class Sanitize:
        def __init__(self) -> None:
            self.rewriter = ConfiguredSanitizer()

        def __call__(self, batch: Any) -> Any:
            return {**batch, "note": self.rewriter.sanitize_cells(batch["note"])}

    assert is_right(notes.map_batches(Sanitize, concurrency=1))


def test_a_rewriter_rewrites_rows_of_a_dataset(notes: Any) -> None:
    rewriter = ConfiguredSanitizer()
    there = notes.filter(lambda row: row["note"] is not None)
    done = there.map(lambda row: {**row, "note": rewriter(row["note"])}).take_all()
    assert sorted(is_sanitized(row["note"]) for row in done) == [False, True]


@pytest.mark.parametrize(
    "call",
    [
        lambda notes, rewriter: notes.map(rewriter),
        lambda notes, rewriter: notes.map_batches(rewriter),
        lambda notes, rewriter: notes.flat_map(rewriter.cells),
        lambda notes, rewriter: notes.map_batches(rewriter.cells),
        lambda notes, rewriter: notes.map_batches(rewriter.cells, batch_format="pandas"),
        lambda notes, rewriter: notes.map_batches(rewriter.cells, batch_format="pyarrow"),
        lambda notes, rewriter: notes.map(lambda row: {"note": rewriter.cells(row["note"])}),
    ],
)
def test_a_row_or_a_table_in_place_of_a_column_is_refused(notes: Any, call: Callable[..., Any]) -> None:
    """The names of columns, or the characters of a text, would be taken for cells."""
    ray = importlib.import_module("ray")
    with pytest.raises(ray.exceptions.RayTaskError) as refused:
        call(notes, ConfiguredSanitizer()).take_all()
    said = [line for line in str(refused.value).splitlines() if line.startswith("textveil.errors.")]
    assert said
    assert all(line.startswith("textveil.errors.InputError: ") for line in said)
    assert not [part for part in SECRET.split() if part in str(refused.value)]
