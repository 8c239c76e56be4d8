"""``textveil-train encoder`` with a tuned BERT gives a working bundle, and handles Ctrl-C at every stage."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from interruption import ctrl_c
from textveil.bundle import LabelBundle, OnnxExtractorData, open_bundle
from textveil.vector import TextLabelEncoder
from textveil_cli.aggregation import LabelServer
from textveil_training.encoder.resume_cache import get_unfinished_folder
from tiny_training import write_classes, write_encoder
from written_files import content

Run = Callable[..., tuple[int, str, str]]
ROWS = 240


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Texts of two classes, and an encoder that has their words."""
    folder = tmp_path_factory.mktemp("data")
    write_classes(folder, ROWS, seed=2)
    write_encoder(folder, layers=4)
    return folder


def given(data: Path, output: Path, *options: object) -> tuple[object, ...]:
    named = ("encoder", data / "my.csv", "--text", "text", "--label", "label", "-o", output, "--threads", 1)
    return (*named, "--levels", "1,4", *options)


def tuned(data: Path) -> tuple[object, ...]:
    named = ("--extractor", "minilm", "--encoder", data / "encoder", "--max-tokens", 32)
    return (*named, "--num-epochs", 3, "--learning-rate", 1e-2)


@contextmanager
def interrupted_at(monkeypatch: pytest.MonkeyPatch, stage: str, step: int) -> Iterator[None]:
    """Send Ctrl-C when a stage reports a step."""

    @contextmanager
    def bars() -> Iterator[Callable[[str, int, int], None]]:
        yield ctrl_c(lambda told, done, total: (told, done) == (stage, step))

    with monkeypatch.context() as patched:
        patched.setattr("textveil_training.cli.encoder.report_progress", bars)
        yield


@pytest.mark.slow
@pytest.mark.parametrize(("stage", "step"), [("calibrating static", 1), ("randomizers", 1)])
def test_an_interrupted_run_goes_on_to_the_same_bundle(
    run: Run, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, stage: str, step: int
) -> None:
    whole, output = tmp_path / "whole" / "b", tmp_path / "b"
    whole.parent.mkdir()
    assert run(*given(data, whole))[0] == 0
    with interrupted_at(monkeypatch, stage, step):
        code, _, err = run(*given(data, output))
    assert (code, "repeat the command with --resume" in err) == (130, True)
    assert not output.exists()
    kept = sorted(path.name for path in get_unfinished_folder(output).iterdir())
    assert "static.safetensors" in kept
    code, _, err = run(*given(data, output))
    assert (
        code,
        "this bundle has an unfinished run: continue it with --resume, or start again with --force" in err,
    ) == (1, True)
    code, _, err = run(*given(data, output, "--resume", "--seed", 1))
    assert (code, "other data or other settings" in err) == (1, True)
    monkeypatch.setattr("textveil_training.encoder.extractors.train_static", None)  # not called again
    assert run(*given(data, output, "--resume"))[0] == 0
    assert content(output) == content(whole)
    assert not get_unfinished_folder(output).exists()


@pytest.mark.slow
def test_a_regression_that_is_interrupted_leaves_nothing_and_promises_nothing(
    run: Run, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = tmp_path / "b"
    with interrupted_at(monkeypatch, "training", 2):
        code, _, err = run(*given(data, output))
    assert (code, "--resume" in err) == (130, False)
    assert not output.exists()
    assert not get_unfinished_folder(output).exists()
    assert run(*given(data, output))[0] == 0


@pytest.mark.slow
def test_nothing_to_go_on_with_and_a_damaged_part(run: Run, data: Path, tmp_path: Path) -> None:
    output = tmp_path / "b"
    assert "this bundle has no unfinished run: omit --resume" in run(*given(data, output, "--resume"))[2]
    assert run(*given(data, output))[0] == 0
    assert "this bundle has no unfinished run: omit --resume" in run(*given(data, output, "--resume", "--force"))[2]


@pytest.mark.slow
def test_a_damaged_part_is_named(run: Run, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    output = tmp_path / "b"
    with interrupted_at(monkeypatch, "randomizers", 1):
        run(*given(data, output))
    part = get_unfinished_folder(output) / "static-decisions.safetensors"
    part.write_bytes(part.read_bytes()[:40])
    code, _, err = run(*given(data, output, "--resume"))
    assert (code, "resume: a file of the unfinished run is damaged" in err) == (1, True)
    assert run(*given(data, output, "--force"))[0] == 0


@pytest.mark.slow
def test_its_bundle_decides_on_the_device(run: Run, data: Path, tmp_path: Path) -> None:
    output = tmp_path / "b"
    assert run(*given(data, output, *tuned(data), "--frozen"))[0] == 0
    encoder = TextLabelEncoder.load(output, expect_id=open_bundle(output, LabelBundle).content_hash)
    assert isinstance(encoder.bundle.extractor, OnnxExtractorData)
    assert encoder.bundle.labels == ("kitchen", "weather")
    assert encoder.compute_true_label("cold wind and snow in the north") == 1
    assert encoder.compute_true_label("bake the bread in butter and salt") == 0
    server = LabelServer.load(output)
    received = [server.parse_line(encoder.encode(text).line, 1) for text in ("snow", "bread", "")]
    assert {server.classify_label(one).label for one in received} <= {"kitchen", "weather"}
    provenance = encoder.bundle.manifest["provenance"]
    assert provenance["extractor"] == "minilm"
    # No more texts than there are: 1,000 are meant.
    assert provenance["int8"]["sample_texts"] == sum(
        encoder.bundle.manifest["measurements"]["texts"][part] for part in ("train", "calibration")
    )
    assert provenance["int8"]["recipe"] == "s8, channel, 7 bit, embeddings row"
    assert encoder.bundle.manifest["measurements"]["clean"]["accuracy"] > 0.6
    assert "the extra `textveil[encoder]`" in (output / "README.md").read_text("utf-8")


@pytest.mark.slow
def test_an_interrupted_tuning_goes_on_to_the_same_bundle(
    run: Run, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, output = tmp_path / "whole" / "b", tmp_path / "b"
    whole.parent.mkdir()
    assert run(*given(data, whole, *tuned(data)))[0] == 0
    with interrupted_at(monkeypatch, "tuned", 5):
        assert run(*given(data, output, *tuned(data)))[0] == 130
    assert (get_unfinished_folder(output) / "minilm" / "unfinished.safetensors").is_file()
    with interrupted_at(monkeypatch, "measuring minilm", 1):
        assert run(*given(data, output, *tuned(data), "--resume"))[0] == 130
    assert (get_unfinished_folder(output) / "minilm.safetensors").is_file()
    assert run(*given(data, output, *tuned(data), "--resume"))[0] == 0
    assert content(output) == content(whole)


def test_the_sample_of_a_recipe_has_a_thousand_texts() -> None:
    from textveil_training.data import LabeledExample
    from textveil_training.encoder.extractors import SAMPLE, _sample_texts
    from textveil_training.encoder.labeled_texts import split_labeled_texts

    rows = [
        LabeledExample(texts=(f"{label} text number {number}",), label=label)
        for label in ("a", "b")
        for number in range(800)
    ]
    task = split_labeled_texts(rows)
    assert len(task.calibration.texts) < 1000 <= len(task.calibration.texts) + len(task.train.texts)
    sample = [text for _, text in _sample_texts(task)]
    assert SAMPLE == 1000 == len(set(sample))
    assert set(task.calibration.texts) < set(sample)
    assert not set(task.test.texts) & set(sample)


def test_passes_make_about_twelve_thousand_texts() -> None:
    from textveil_training.encoder.minilm_settings import MinilmSettings

    assert [MinilmSettings().count_passes(texts) for texts in (100, 1000, 4000, 8416, 60_000)] == [10, 10, 3, 1, 1]
    assert MinilmSettings(num_epochs=4).count_passes(60_000) == 4
    assert (
        MinilmSettings().make_finetuning_settings(4000).num_epochs == MinilmSettings().describe(4000)["num_epochs"] == 3
    )
