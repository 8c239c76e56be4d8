"""A bundle that is read and written stays the same; one with held-out decisions permits counts of labels."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import small_label_bundle
from textveil.bundle import HeldOutCounts
from textveil.bundle.defaults import find_default_encoder
from textveil.errors import BundleDamaged
from textveil_cli.aggregation import LabelServer
from textveil_export.label import LabelBundleContents, read_label_contents, write_label_bundle


def small(folder: Path, **changes: Any) -> LabelBundleContents:
    return replace(
        read_label_contents(small_label_bundle.write_index(folder)), measured=small_label_bundle.MEASURED, **changes
    )


def test_a_bundle_that_is_written_again_has_the_same_bytes(tmp_path: Path) -> None:
    first = write_label_bundle(small(tmp_path / "given"), tmp_path / "first")
    second = write_label_bundle(read_label_contents(tmp_path / "first"), tmp_path / "second")
    assert first.bundle.content_hash == second.bundle.content_hash
    assert {path.name: path.read_bytes() for path in (tmp_path / "first").iterdir()} == {
        path.name: path.read_bytes() for path in (tmp_path / "second").iterdir()
    }


def test_a_bundle_that_ships_keeps_its_card(tmp_path: Path) -> None:
    """Also the comparison with the other extractor, which nothing measures any more."""
    given = find_default_encoder()
    write_label_bundle(read_label_contents(given), tmp_path / "again")
    card = (tmp_path / "again" / "README.md").read_text("utf-8")
    assert "## Extractors compared" in card
    assert card == (given / "README.md").read_text("utf-8")


def test_held_out_decisions_are_added_and_nothing_else_changes(tmp_path: Path) -> None:
    without = write_label_bundle(small(tmp_path / "given", held_out=None), tmp_path / "without").bundle
    held_out = HeldOutCounts(small_label_bundle.LABELS, np.array(small_label_bundle.HELD_OUT))
    found = write_label_bundle(
        replace(read_label_contents(tmp_path / "without"), held_out=held_out), tmp_path / "with"
    ).bundle
    assert without.held_out is None
    assert found.held_out is not None
    assert found.held_out.to_dict() == held_out.to_dict()
    changed = {"manifest.json", "README.md", "held-out.json"}
    for path in (tmp_path / "without").iterdir():
        assert path.name in changed or (tmp_path / "with" / path.name).read_bytes() == path.read_bytes()
    cards = [" ".join((tmp_path / name / "README.md").read_text("utf-8").split()) for name in ("with", "without")]
    assert "`held-out.json` has the decisions on 62 texts that were not trained on, as counts by label" in cards[0]
    assert "held-out.json" not in cards[1]
    assert LabelServer.load(tmp_path / "with").bundle.held_out is not None


def test_decisions_of_other_labels_are_not_written(tmp_path: Path) -> None:
    wrong = HeldOutCounts(("a", "b", "c"), np.array(small_label_bundle.HELD_OUT))
    with pytest.raises(BundleDamaged, match="its labels differ from the labels of the bundle, or their number is not"):
        write_label_bundle(small(tmp_path / "given", held_out=wrong), tmp_path / "wrong")
    assert not (tmp_path / "wrong").exists()
