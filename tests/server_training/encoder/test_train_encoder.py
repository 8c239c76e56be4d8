"""``train_encoder`` from Python: three lines from columns to a bundle; rows without a text or a label."""

from pathlib import Path

import numpy as np
import pytest
from textveil.errors import OptionError
from textveil_training import train_encoder
from textveil_training.errors import DataOptionError, MissingLabel, MissingText

pytest.importorskip(
    "textveil_export",
    reason=(
        "this command needs textveil-export: pip install 'textveil-training[bundle]' (in a clone: pip install ./export)"
    ),
)

WORDS = ("goal match team player", "bank market price stock")


def columns(rows: int = 90) -> tuple[list[str], list[int]]:
    generator = np.random.default_rng(0)
    texts = [" ".join(generator.choice(WORDS[number % 2].split(), 6).tolist()) + f" {number}" for number in range(rows)]
    return texts, [number % 2 for number in range(rows)]


def test_columns_become_a_bundle(tmp_path: Path) -> None:
    texts, labels = columns()
    done = train_encoder(np.array(texts, dtype=object), np.array(labels), tmp_path / "bundle", levels="1,4")
    assert done.encoder.bundle.labels == ("0", "1")
    assert done.encoder.compute_true_label("the player of the match") == 0
    assert done.measured["clean"]["accuracy"] > 0.8
    assert (done.left_out, done.folder) == (0, tmp_path / "bundle")
    assert "0" in (tmp_path / "bundle" / "README.md").read_text("utf-8")
    assert [path.name for path in tmp_path.iterdir()] == ["bundle"]
    with pytest.raises(OptionError, match=r"^the output folder exists"):
        train_encoder(texts, labels, tmp_path / "bundle")


def test_empty_rows_are_errors_or_counted(tmp_path: Path) -> None:
    texts, labels = columns()
    given = [*texts, "", None, float("nan"), "goal", "team"], [*labels, 1, 1, 1, None, float("nan")]
    with pytest.raises(MissingText, match=r"^texts, line 91: the text is missing \(skip_empty=True skips such rows\)$"):
        train_encoder(*given, tmp_path / "bundle")
    with pytest.raises(MissingLabel, match=r"^texts, line 91: the label is missing "):
        train_encoder([*texts, "goal"], [*labels, " "], tmp_path / "bundle")
    done = train_encoder(*given, tmp_path / "bundle", levels="1", default_level="1", skip_empty=True)
    assert done.left_out == 5
    assert sum(done.measured["texts"].values()) == 90


def test_missing_cells_of_pandas(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    texts, labels = columns()
    frame = pandas.DataFrame({"text": [*texts, pandas.NA], "label": [*labels, 0]})
    assert train_encoder(frame["text"], frame["label"], tmp_path / "bundle", skip_empty=True).left_out == 1


@pytest.mark.parametrize(
    ("texts", "labels", "message"),
    [
        ("one text", ["a"], "texts and labels must be lists of strings, not one string"),
        (["one text"], ["a", "b"], r"^texts and labels must have the same length, not 1 and 2$"),
        ([b"Zorblaxia"], ["a"], r"^text 1 of 1 must be a string$"),
    ],
)
def test_what_is_no_column_is_refused(texts: list[str], labels: list[str], message: str, tmp_path: Path) -> None:
    with pytest.raises(DataOptionError, match=message):
        train_encoder(texts, labels, tmp_path / "bundle")
