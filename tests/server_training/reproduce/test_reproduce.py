"""``textveil-train reproduce`` runs each study, and puts figures of a paper only beside a reproduction."""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args
from xml.etree import ElementTree

import numpy as np
import pytest
from textveil_training.cli.reproduce import StudyName
from textveil_training.errors import InvalidJson, WrongLayout
from textveil_training.reproduce.inputs import SAMPLE, ReproductionInputs, check_inputs, read_sample
from textveil_training.reproduce.noise_studies import clip_vector, draw_privacy_losses, measure_sensitivity
from textveil_training.reproduce.picture import draw_picture
from textveil_training.reproduce.published import SECOND_HAND, SECOND_HAND_NOTE, STUDIES
from textveil_training.reproduce.results import (
    ReproducedRow,
    Reproduction,
    collect_notes,
    make_record,
    make_table,
    read_record,
)
from textveil_training.reproduce.run import RUNS
from textveil_training.reproduce.word_studies import FinishedParts, load_study_task, measure_utility
from tiny_training import QUICK_SEARCH, sentences, write_encoder

Run = Callable[..., tuple[int, str, str]]
Refused = Callable[..., str]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("reproduce")
    rows = [
        f"{label}\t{text}\t{' '.join(['0'] * (number % 2) + ['1'] * (number % 3 == 0))}\n"
        for number, (label, text, _) in enumerate(sentences())
    ]
    end = "=" * 20 + "\n"
    (folder / "tp_us.txt").write_text("".join([*rows[:16], end, *rows[16:24], end, *rows[24:], end]), "utf-8")
    write_encoder(folder)
    return folder


@pytest.fixture
def _short(monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    """Train heads for a few steps, at two epsilons of each kind."""
    monkeypatch.setattr("textveil_training.encoder.vector_bundle._HEAD_STEPS", 4)
    monkeypatch.setattr("textveil_training.encoder.vector_bundle._SEARCH", QUICK_SEARCH)
    monkeypatch.setattr("textveil_training.reproduce.vector_studies.PER_COORDINATE", (".05", "1"))
    monkeypatch.setattr("textveil_training.reproduce.vector_studies.PER_TEXT", ("1", "8"))


def test_each_name_has_a_study_a_run_and_differences() -> None:
    assert set(get_args(StudyName)) == set(STUDIES) == set(RUNS)
    for name, study in STUDIES.items():
        assert study.name == name
        assert study.differences


def test_the_sample_is_varied_and_has_no_person() -> None:
    rows = read_sample()
    texts = [row.text for row in rows]
    assert len(rows) == len(set(texts)) >= 500
    assert 5 <= len({row.label for row in rows}) <= 8
    openings = [" ".join(text.split()[:3]) for text in texts]
    assert max(openings.count(opening) for opening in openings) <= 8
    assert not re.search(r"\b(Mr|Mrs|Ms|Dr)\b|@|\d{5}", SAMPLE.read_text("utf-8"))


@pytest.mark.slow
def test_the_true_sensitivity_of_clipped_vectors_is_the_root_of_the_dimension(tmp_path: Path) -> None:
    found = measure_sensitivity(STUDIES["adept-figure1"], ReproductionInputs(work=tmp_path))
    factors = {int(row.name.split()[2][:-1]): row.figures["true sensitivity / claimed"] for row in found.rows}
    assert factors == pytest.approx({n: n**0.5 for n in factors})
    above = {row.name: row.figures["releases above the claim, %"] for row in found.rows}
    assert above.pop("n = 1: factor") == 0
    assert min(above.values()) > 20


def test_noise_for_the_true_sensitivity_is_not_accused() -> None:
    """With the scale of the L1 sensitivity no release exceeds the claim: the refutation is of ADePT's scale alone."""
    n = 32
    first, second = (clip_vector(np.full(n, sign), 1.0) for sign in (1.0, -1.0))
    assert float(np.linalg.norm(first)) == pytest.approx(1)
    right = draw_privacy_losses(first, second, 1 / n**0.5)
    assert right.max() <= 1 + 1e-9
    assert draw_privacy_losses(first, second, 1.0).max() > 1.5


@pytest.mark.slow
@pytest.mark.parametrize("name", ["dpnr-table2", "dpnr-table4", "dpnr-table7"])
@pytest.mark.usefixtures("_short")
def test_vector_studies_run_on_the_authors_format(place: Path, run: Run, tmp_path: Path, name: str) -> None:
    given = ("--data", place / "tp_us.txt", "--format", "trustpilot", "--model", place / "encoder", "--threads", 1)
    code, out, _ = run("reproduce", name, *given, "-o", tmp_path, "--work", tmp_path / "work")
    assert code == 0
    record = json.loads((tmp_path / f"{name}.json").read_text("utf-8"))
    assert record["sample"] is False
    assert record["paper_figures"] == {}, "the stored figures are of AG news, and this is Trustpilot"
    assert "the paper's |" in (tmp_path / f"{name}.md").read_text("utf-8")
    assert "78.75" not in out
    ElementTree.fromstring((tmp_path / f"{name}.svg").read_text("utf-8"))
    for row in record["rows"]:
        if row["name"].startswith("box, epsilon"):
            share = float(row["name"].split()[2])
            epsilon = row["figures"].get("epsilon of the text")
            assert epsilon is None or epsilon == pytest.approx(16 * share)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["dpnr-table2", "santext-table1", "santext-table3"])
@pytest.mark.usefixtures("_short")
def test_the_small_form_has_no_figure_of_the_paper(
    place: Path, run: Run, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("textveil_training.reproduce.bundles._SAMPLE_WORDS", 300)
    monkeypatch.setattr("textveil_training.reproduce.word_studies._SAMPLE_STEPS", 1)
    monkeypatch.setattr("textveil_training.reproduce.word_studies.EPSILONS", ("3",))
    given = ("--model", place / "encoder", "--max-tokens", 32, "--threads", 1)
    code, out, err = run("reproduce", name, *given, "-o", tmp_path)
    assert code == 0, err
    assert "Small form" in out
    assert "the paper's" not in out.splitlines()[3]
    record = json.loads((tmp_path / f"{name}.json").read_text("utf-8"))
    assert (record["sample"], record["paper_figures"]) == (True, None)
    assert not any(text in json.dumps(record) for row in read_sample()[:50] for text in row.texts)
    assert (tmp_path / f"{name}.svg").is_file()


def test_figures_from_notes_have_a_mark_and_a_note() -> None:
    """Only what was compared twice has no asterisk: ADePT's abstract, and the two rows that the data alone decide."""
    bare = {
        (study.name, row)
        for study in STUDIES.values()
        for figures in (study.figures, *study.figures_of_format.values())
        for row, figure in figures.items()
        if SECOND_HAND not in figure
    }
    assert bare == {
        ("adept-figure1", "n = 32: factor"),
        ("dpnr-table2", "majority class"),
        ("dpnr-table4", "majority class"),
    }
    assert STUDIES["dpnr-table2"].get_figures("ag-entities")["without noise"] == "78.75*"
    study = STUDIES["santext-table1"]
    found = Reproduction(rows=[ReproducedRow(name="santext, epsilon 3", figures={"accuracy": 53.0})], axes=("x", "y"))
    for name, figure in (("sst2", "83.7*"), ("qnli", "81.2*"), ("medsts", ".816*")):
        figures = study.get_figures(name)
        assert make_table(found, figures)[1][-1] == figure
        assert SECOND_HAND_NOTE in collect_notes(study, found, figures)
    assert study.get_figures("sick") == {}, "SICK stands in for MedSTS: its figures are of other data"
    assert SECOND_HAND_NOTE not in collect_notes(study, found, {})


def test_a_planted_figure_in_the_small_form_would_be_seen() -> None:
    found = Reproduction(rows=[ReproducedRow(name="a", figures={"accuracy": 1.0})], axes=("x", "y"))
    assert make_table(found, None) == [["", "accuracy"], ["a", "1"]]
    assert make_table(found, {"a": "78.75"}) == [["", "accuracy", "the paper's"], ["a", "1", "78.75"]]


@pytest.mark.slow
def test_figures_from_the_readers_copy_stand_beside_ours(run: Run, refused: Refused, tmp_path: Path) -> None:
    (tmp_path / "paper.json").write_text(json.dumps({"n = 8: factor": "2.8"}))
    code, out, _ = run("reproduce", "adept-figure1", "--paper", tmp_path / "paper.json")
    assert code == 0
    assert next(line for line in out.splitlines() if line.startswith("n = 8")).endswith("2.8")
    (tmp_path / "paper.json").write_text(json.dumps({"n = 9: factor": 3}))
    code, out, err = run("reproduce", "adept-figure1", "--paper", tmp_path / "paper.json", "-o", tmp_path / "kept")
    assert code == 1
    assert "data-option: --paper has 1 figures of unknown rows, which are ignored" in err
    assert "n = 8: factor" in out, "a wrong name costs no result"
    record = json.loads((tmp_path / "kept" / "adept-figure1.json").read_text("utf-8"))
    assert "n = 9: factor" not in record["paper_figures"]
    (tmp_path / "paper.json").write_text("[1]")
    assert refused("reproduce", "adept-figure1", "--paper", tmp_path / "paper.json").startswith("data-json: ")


@pytest.mark.slow
def test_inputs_that_cannot_be_used_are_refused_at_once(
    refused: Refused, place: Path, tmp_path: Path, canary: str
) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "rows.txt").write_text(f"0\t{canary}\n", "utf-8")
    (tmp_path / "four.tsv").write_text(f"0\t{canary}\t{canary}\t1\n", "utf-8")
    (tmp_path / "ragged.vec").write_text("the .1 .2\nof .3\n", "utf-8")
    (tmp_path / "words.vec").write_text(f"the {canary} .2\n", "utf-8")
    cases: list[tuple[tuple[Any, ...], str]] = [
        (("dpnr-table2", "--data", tmp_path / canary), "data-file: the path of --data"),
        (("fbdd-figure6", "--vectors", tmp_path / canary), "data-file: the path of --vectors"),
        (("dpnr-table2", "--model", tmp_path / "empty"), "checkpoint: the folder of --model has no model.safetensors"),
        (("dpnr-table2", "--data", place / "tp_us.txt", "--format", "sick"), "data-option: dpnr-table2 reads"),
        (("adept-figure1", "--data", place / "tp_us.txt"), "data-option: adept-figure1 needs no texts"),
        (("adept-figure1", "--vectors", tmp_path / "words.vec"), "data-option: adept-figure1 needs no word vectors"),
        (("dpnr-table2", "--vectors", tmp_path / "words.vec"), "data-option: dpnr-table2 needs no word vectors"),
        (("fbdd-figure6", "--model", place / "encoder"), "data-option: fbdd-figure6 needs no model"),
        (("dpnr-table2", "--data", tmp_path / "rows.txt"), "data-columns: rows.txt, line 1"),
        (("santext-table1", "--data", tmp_path / "four.tsv", "--format", "tsv"), "data-columns: four.tsv, line 1"),
        (("santext-table1", "--data", tmp_path / "four.tsv", "--format", "sick"), "data-layout: four.tsv, line 1"),
        (("santext-table1", "--data", tmp_path / "empty"), "data-split: the folder has no file of this format"),
        (("fbdd-figure6", "--vectors", tmp_path / "ragged.vec"), "source: ragged.vec"),
        (("fbdd-figure6", "--vectors", tmp_path / "words.vec"), "source: words.vec"),
        (("santext-table1", "--model", tmp_path / "rows.txt"), "checkpoint: "),
    ]
    for arguments, said in cases:
        assert refused("reproduce", *arguments).startswith(said)


def test_a_file_of_another_layout_is_found_before_anything_is_computed(place: Path, tmp_path: Path) -> None:
    """``check_inputs`` runs before PyTorch is imported, which takes seconds."""
    inputs = ReproductionInputs(data=place / "tp_us.txt", format_name="qnli", work=tmp_path)
    with pytest.raises(WrongLayout):
        check_inputs(STUDIES["santext-table1"], inputs)
    check_inputs(STUDIES["dpnr-table2"], replace(inputs, format_name="trustpilot"))


def test_a_picture_is_an_image_with_a_line_for_each_series() -> None:
    rows = [
        ReproducedRow(name=f"{series} {x}", figures={"accuracy": y}, series=series, position=x)
        for series, x, y in (("<a>", 1, 50.0), ("<a>", 2, 60.0), ("b", 1, 55.0))
    ]
    root = ElementTree.fromstring(draw_picture(Reproduction(rows=rows, axes=("epsilon", "accuracy"))))
    lines = [child for child in root if child.tag.endswith("polyline")]
    assert len(lines) == 2
    assert "<a>" in [child.text for child in root]
    ticks = [float(child.text or "") for child in root if child.get("text-anchor") == "end"]
    assert ticks == [50, 52, 54, 56, 58, 60]
    assert not any(child.get("stroke-dasharray") for child in root)


def test_a_row_without_a_position_is_a_dashed_line_unless_it_is_far_away() -> None:
    rows = [
        ReproducedRow(name=f"a {x}", figures={"accuracy": y}, series="a", position=x) for x, y in ((1, 50.0), (2, 60.0))
    ]
    rows += [ReproducedRow(name=name, figures={"accuracy": y}) for name, y in (("raw text", 75.0), ("far", 500.0))]
    root = ElementTree.fromstring(draw_picture(Reproduction(rows=rows, axes=("epsilon", "accuracy"))))
    assert len([child for child in root if child.get("stroke-dasharray")]) == 2  # in the picture and in its legend
    texts = [child.text for child in root]
    assert "raw text: 75" in texts
    assert not any("far" in (text or "") for text in texts)


def test_a_gain_has_a_column_of_its_own_and_its_error_beside_it() -> None:
    """The figures of Table 3 are levels and differences: one axis cannot show both."""
    rows = [
        ReproducedRow(name="a: pretrained", figures={"accuracy": 50.5}, error=1.5, series="a", position=1),
        ReproducedRow(name="a: gain", figures={"gain": -2.5}, error=0.5),
    ]
    found = Reproduction(rows=rows, axes=("0: no pretraining, 1: pretrained", "accuracy"))
    assert make_table(found, None) == [
        ["", "accuracy", "gain"],
        ["a: pretrained", "50.5 ± 1.5", ""],
        ["a: gain", "", "-2.5 ± 0.5"],
    ]
    assert "gain" not in draw_picture(found)


def test_a_stopped_run_computes_only_the_rows_that_it_lacks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of other data, other inputs or another study are never read."""
    computed: list[str] = []

    def measure(task: Any, inputs: ReproductionInputs, *_: object, **__: object) -> dict[str, Any]:
        inputs.report("vectors", 0, 1)
        if len(computed) == 3:
            raise KeyboardInterrupt
        return {"test": {"accuracy": len(computed) / 10, "standard_error": 0.01}}

    def report(stage: str, done: int, total: int) -> None:
        if stage.endswith(": vectors"):
            computed.append(stage.removesuffix(": vectors"))

    monkeypatch.setattr("textveil_training.reproduce.word_studies._run_finetune", measure)
    monkeypatch.setattr("textveil_training.reproduce.word_studies.sanitize_task", lambda task, *_: task)
    monkeypatch.setattr("textveil_training.reproduce.bundles._SAMPLE_WORDS", 300)
    study = STUDIES["santext-table1"]
    inputs = ReproductionInputs(work=tmp_path, report=report)
    with pytest.raises(KeyboardInterrupt):
        measure_utility(study, inputs)
    first, computed[:] = computed[:2], []
    with pytest.raises(KeyboardInterrupt):
        measure_utility(study, inputs)
    assert first == ["unsanitized", "santext, epsilon 1"]
    assert computed == ["santext, epsilon 2", "santext, epsilon 3", "santext+, epsilon 1"]
    task = load_study_task(study, inputs)
    kept = FinishedParts(study, task, inputs)
    assert kept.compute_once(["unsanitized"], dict)["accuracy"] == 0.1
    other_data = replace(task, splits={"train": task.splits["dev"], "test": task.splits["test"]})
    for subject in (
        (STUDIES["santext-table3"], task, inputs),
        (study, other_data, inputs),
        (study, task, replace(inputs, max_tokens=64)),
        (study, task, replace(inputs, model="a-model-of-a-hub")),
    ):
        assert FinishedParts(*subject).compute_once(["unsanitized"], dict) == {}


@pytest.mark.slow
def test_a_record_has_the_inputs_and_is_read_again(run: Run, tmp_path: Path) -> None:
    code, _, _ = run("reproduce", "adept-figure1", "-o", tmp_path, "--seeds", 2)
    assert code == 0
    record = json.loads((tmp_path / "adept-figure1.json").read_text("utf-8"))
    assert record["inputs"] == {
        "format": None,
        "model": "minilm",
        "vectors": None,
        "max_words": 20_000,
        "max_tokens": 128,
        "examples": 0,
        "steps": 100,
        "seeds": 2,
    }
    found, study = read_record(record), STUDIES["adept-figure1"]
    assert make_record(study, found, record["paper_figures"], record["software"]) == {
        key: value for key, value in record.items() if key != "inputs"
    }
    with pytest.raises(InvalidJson):
        read_record({"format": "something else"})


@pytest.mark.slow
def test_the_studies_are_imported_without_the_libraries_of_encoders() -> None:
    """The extra ``bundle`` installs neither; only encoders need them."""
    blocked = "import sys; sys.modules.update(onnx=None, onnxruntime=None); import textveil_training.reproduce.run"
    ran = subprocess.run([sys.executable, "-c", blocked], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr[-500:]
