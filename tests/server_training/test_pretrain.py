"""Pretraining with a tiny encoder: it learns, it is interrupted and goes on, several processes do what one does."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from small_pretraining import run, write_all
from textveil_training.engine import loop
from textveil_training.engine.encoders import load_encoder, precision_for
from textveil_training.engine.loop import Loop, Position
from textveil_training.engine.processes import SingleProcess
from textveil_training.engine.record import RunRecord
from textveil_training.engine.run import STATE
from textveil_training.engine.stage import Stage, Update
from textveil_training.engine.tokens import Tokenizer
from textveil_training.errors import CheckpointError, LossError, ResumeError
from textveil_training.pretrain import masking
from textveil_training.pretrain.aligned import Corpus, Strings
from textveil_training.pretrain.masking import Masker
from textveil_training.pretrain.network import load_masked_lm
from textveil_training.pretrain.objective import Objective
from textveil_training.text_channel import TextChannel

WEIGHTS = "model.safetensors"
LIKE_THE_TIME = ("wall_s", "cpu_s", "tokens_per_s")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Data, bundle, encoder, and a finished run on raw text."""
    torch.set_num_threads(1)
    folder = write_all(tmp_path_factory.mktemp("pretraining"))
    run(folder, "raw", raw=True)
    return folder


def objective_of(place: Path, *, accumulate: int = 1, sanitize: bool = False) -> tuple[Objective, Any]:
    loaded = load_masked_lm(str(place / "encoder"))
    tokenizer = Tokenizer(loaded.vocabulary, lowercase=True, max_tokens=32)
    strings = Strings(tokenizer)
    channel = TextChannel(place / "bundle", mechanism="santext")
    corpus = Corpus((place / "texts.txt").read_text().splitlines(), strings, channel)
    masker = Masker(tokenizer, strings, 0.3, len(tokenizer.ids))
    objective = Objective(
        loaded.model,
        corpus,
        masker,
        accumulate=accumulate,
        precision="float32",
        sanitize=sanitize,
        process=SingleProcess("cpu"),
    )
    return objective, loaded.model


def test_forty_steps_lower_the_loss_and_reach_every_parameter(place: Path) -> None:
    objective, model = objective_of(place, sanitize=True)
    everything = torch.arange(32)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    losses = []
    for step in range(40):
        torch.manual_seed(step)
        optimizer.zero_grad()
        losses.append(objective.gradients(everything))
        for name, parameter in model.named_parameters():
            # A key's bias moves all scores of a softmax alike.
            if "position" not in name and not name.endswith("key.bias"):
                assert parameter.grad is not None, name
                assert float(parameter.grad.abs().max()) > 0, name
        optimizer.step()
    assert losses[0] == pytest.approx(np.log(len(model.bias)), rel=0.1)
    assert np.mean(losses[-5:]) < losses[0] - 0.5


@pytest.mark.parametrize("accumulate", [1, 3, 8, 20])
def test_the_gradient_of_parts_is_that_of_the_whole(place: Path, accumulate: int) -> None:
    batch = torch.tensor([3, 1, 14, 7, 30, 31, 8, 9])  # fewer than the most parts
    whole, model = objective_of(place)
    torch.manual_seed(5)
    loss = whole.loss(batch)
    loss.backward()
    parts, other = objective_of(place, accumulate=accumulate)
    torch.manual_seed(5)
    assert parts.gradients(batch) == pytest.approx(loss.item(), rel=1e-5)
    gradients = dict(other.named_parameters())
    for name, parameter in model.named_parameters():
        assert torch.allclose(parameter.grad, gradients[name].grad, rtol=1e-3, atol=1e-6), name


def test_the_targets_are_the_original_words_and_not_the_sanitized(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A mechanism that always writes one word: a model that learns what it reads would answer with that word."""
    objective, _ = objective_of(place, sanitize=True)
    corpus: Any = objective._corpus  # pyright: ignore[reportPrivateUsage]
    mechanism = type(corpus._channel.plan.mechanism)
    monkeypatch.setattr(mechanism, "draw", lambda self, inputs, random: np.zeros_like(inputs))
    monkeypatch.setattr(masking, "MASKED", 1.0)
    batches = [objective._masked(np.arange(32)) for _ in range(10)]  # pyright: ignore[reportPrivateUsage]
    seen = {piece for batch in batches for piece in batch.ids.flatten().tolist()}
    targets = {piece for batch in batches for piece in batch.targets.flatten().tolist()} - {masking.IGNORED}
    flat, begins = corpus._strings.flat
    number = corpus._strings.number(corpus._channel.bundle.vocabulary[0])
    assert seen == {0, 2, 3, 4, *flat[begins[number] : begins[number + 1]].tolist()}
    assert len(targets) > 60


def test_a_finished_run(place: Path) -> None:
    record = json.loads((place / "raw" / "record.json").read_text())
    assert (record["kind"], record["release"], record["settings"]["raw"]) == ("pretrain", None, True)
    assert [epoch["epoch"] for epoch in record["epochs"]] == [1, 2, 3]
    assert record["result"]["steps"] == 7
    assert 0 <= record["result"]["sanitized_top1"] <= 1
    assert record["finished"] >= record["begun"]
    assert record["measured_release"]["bundle_name"] == "small"
    sizes = record["data"]
    assert sizes["train"]["texts"] + sizes["held_out"]["texts"] == sizes["sources"][0]["texts"] == 32
    assert not any(word in json.dumps(record) for word in ("onion", "thunder", str(place)))
    assert sorted(path.name for path in (place / "raw").iterdir()) == [
        "config.json",
        WEIGHTS,
        "record.json",
        "tokenizer_config.json",
        "vocab.txt",
    ]


def test_the_folder_opens_as_an_encoder_and_as_a_masked_language_model(place: Path) -> None:
    from transformers import AutoTokenizer, BertForMaskedLM

    loaded = load_masked_lm(str(place / "raw"))
    assert (loaded.new_head, loaded.lowercase) == (False, True)
    assert load_masked_lm(str(place / "encoder")).new_head
    ids = torch.tensor([[2, 9, 4, 11, 3], [2, 4, 3, 0, 0]])
    mask = (ids != 0).long()
    at = ids == 4
    with torch.inference_mode():
        logits = loaded.model(ids, mask, at)
        theirs = BertForMaskedLM.from_pretrained(place / "raw").eval()(ids, mask).logits[at]
        assert torch.allclose(logits, theirs, atol=1e-5)
        encoder, vocabulary, lowercase = load_encoder(str(place / "raw"), 0.0)
        hidden = encoder.eval()(input_ids=ids, attention_mask=mask).last_hidden_state
        assert torch.equal(hidden, loaded.model.hidden(ids, mask))
    assert (vocabulary.read_bytes(), lowercase) == ((place / "encoder" / "vocab.txt").read_bytes(), True)
    text = "the rain stops in the evening"
    pieces = Tokenizer(vocabulary, lowercase=True, max_tokens=32).words(text).pieces.tolist()
    assert AutoTokenizer.from_pretrained(place / "raw")(text)["input_ids"][1:-1] == pieces


def test_a_new_head_begins_with_the_frequencies_and_a_start_with_a_head_goes_on(place: Path) -> None:
    rates = {"learning_rate": 1e-9, "head_learning_rate": 1e-9, "steps": 1}
    first = run(place, "untrained", raw=True, **rates)
    assert first["epochs"][0]["loss"] < np.log(164) - 0.2  # a head without them begins at log of the vocabulary
    again = run(place, "again", raw=True, start=str(place / "raw"), **rates)
    weights = [load_file(place / name / WEIGHTS) for name in ("raw", "again")]
    assert all(torch.allclose(tensor, weights[1][name], atol=1e-6) for name, tensor in weights[0].items())
    assert (first["start"]["new_head"], again["start"]["new_head"]) == (True, False)


def interrupting(every: int) -> Callable[[str, int, int], None]:
    steps = 0

    def report(stage: str, done: int, total: int) -> None:
        nonlocal steps
        steps += 1
        if steps % every == 0:
            os.kill(os.getpid(), signal.SIGINT)

    return report


def broken(place: Path, name: str, **settings: Any) -> dict[str, Any]:
    """Runs to the end, interrupted after every second step."""
    for times in range(10):
        try:
            return run(place, name, resume=times > 0, report=interrupting(2), **settings)
        except KeyboardInterrupt:
            assert (place / name / STATE).is_file()
    raise AssertionError("no end")


def test_an_interrupted_raw_run_goes_on_to_the_same_result(place: Path) -> None:
    record = broken(place, "broken", raw=True, dropout=0.1)
    whole = run(place, "whole", raw=True, dropout=0.1)
    assert record["resumed"] == 3
    assert (place / "broken" / WEIGHTS).read_bytes() == (place / "whole" / WEIGHTS).read_bytes()
    epochs = [[{k: v for k, v in e.items() if k not in LIKE_THE_TIME} for e in r["epochs"]] for r in (record, whole)]
    keys = {"sanitized_top1", "sanitized_loss"}  # drawn afresh
    assert [{k: v for k, v in e.items() if k not in keys} for e in epochs[0]] == [
        {k: v for k, v in e.items() if k not in keys} for e in epochs[1]
    ]
    assert not (place / "broken" / STATE).exists()


def test_an_interrupted_sanitized_run_ends_too(place: Path) -> None:
    record = broken(place, "broken-sanitized")
    assert record["result"]["steps"] == 7
    assert record["release"]["mechanism"] == "santext"
    assert "afresh" in record["draws"]
    assert [epoch["dev"] for epoch in record["epochs"]] == [epoch["sanitized_top1"] for epoch in record["epochs"]]


def test_what_cannot_be_gone_on_with(place: Path) -> None:
    with pytest.raises(ResumeError, match="no unfinished run"):
        run(place, "nowhere", resume=True)
    with pytest.raises(KeyboardInterrupt):
        run(place, "stopped", raw=True, report=interrupting(2))
    with pytest.raises(CheckpointError, match="--resume"):
        run(place, "stopped", raw=True)
    for changed in ({"raw": False}, {"steps": 9}, {"learning_rate": 1e-3}, {"start": str(place / "raw")}):
        with pytest.raises(ResumeError, match="another"):
            run(place, "stopped", **{"raw": True, "resume": True, **changed})
    (place / "stopped" / STATE).write_bytes(b"\x10" * 100)
    with pytest.raises(ResumeError, match="damaged"):
        run(place, "stopped", raw=True, resume=True)


def two_processes(*arguments: str) -> list[str]:
    """Runs Python twice as ``torchrun`` would, and gives what each process prints."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    common = {"WORLD_SIZE": "2", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "OMP_NUM_THREADS": "1"}
    started = [
        subprocess.Popen(
            [sys.executable, *arguments],
            env={**os.environ, **common, "RANK": str(rank), "LOCAL_RANK": str(rank)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]
    ended = [process.communicate(timeout=300) for process in started]
    assert [process.returncode for process in started] == [0, 0], ended
    return [printed for printed, _ in ended]


@pytest.mark.full
def test_the_command_in_two_processes(place: Path) -> None:
    """Only the first one has a result to print; neither fails."""
    pytest.importorskip("accelerate")
    given = ["--data", f"{place / 'texts.txt'}:text", "--start", str(place / "encoder"), "--raw", "--steps", "2"]
    more = ["--batch-size", "8", "--max-tokens", "32", "--precision", "float32", "-o", str(place / "by-command")]
    printed = two_processes("-m", "textveil_training", "pretrain", *given, *more)
    assert sorted("2 steps" in output for output in printed) == [False, True]
    assert json.loads((place / "by-command" / "record.json").read_text())["finished"]


@pytest.mark.full
def test_two_processes_do_what_one_does(place: Path, tmp_path: Path) -> None:
    """The same losses, and the same weights within rounding; the batches are shared and cut into parts."""
    pytest.importorskip("accelerate")
    alone = run(place, "alone", raw=True, steps=5, accumulate=1)
    fixtures = Path(__file__).parents[1] / "fixtures"
    code = (
        f"import sys; sys.path.insert(0, {str(fixtures)!r}); import torch; torch.set_num_threads(1); "
        "from pathlib import Path; from small_pretraining import run; "
        f"run(Path({str(place)!r}), 'together', raw=True, steps=5, accumulate=2); "
        f"run(Path({str(place)!r}), 'together-sanitized', steps=5)"
    )
    two_processes("-c", code)
    together = json.loads((place / "together" / "record.json").read_text())
    assert together["settings"]["processes"] == 2
    for one, two in zip(alone["epochs"], together["epochs"], strict=True):
        assert two["loss"] == pytest.approx(one["loss"], rel=1e-4)
        assert two["clean_loss"] == pytest.approx(one["clean_loss"], rel=1e-4)
        assert two["targets"] == one["targets"]
    weights = [load_file(place / name / WEIGHTS) for name in ("alone", "together")]
    assert all(torch.allclose(tensor, weights[1][name], atol=1e-4) for name, tensor in weights[0].items())
    assert json.loads((place / "together-sanitized" / "record.json").read_text())["finished"]


def test_steps_that_cut_the_last_epoch_short(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rate falls over all steps, whatever the epochs are; every process stops when one is asked to."""
    monkeypatch.setattr(loop, "SAVE_EVERY_S", 1e9)
    parameter = torch.nn.Parameter(torch.ones(1))
    optimizer = torch.optim.SGD([parameter], lr=1.0)
    rates: list[float] = []

    def loss(batch: torch.Tensor) -> torch.Tensor:
        rates.append(optimizer.param_groups[0]["lr"])
        return parameter.sum() * 0

    sizes = iter([3, 3, 1])
    stage = Stage(
        name="s",
        modules={},
        num_epochs=3,
        batches=lambda generator: [torch.zeros(1)] * next(sizes),
        updates=[Update(optimizer, loss)],
        measure=lambda: {"dev": 0.0},
        warmup=0.0,
        clip_norm=1.0,
        steps=7,
        steps_per_epoch=3,
    )
    seen: list[Position] = []
    Loop(
        [stage], seed=0, state=tmp_path / "state", run_key="", on_epoch=lambda position, best: seen.append(position)
    ).run()
    assert rates == pytest.approx([(7 - step) / 7 for step in range(7)])
    assert len(seen) == 3
    sizes = iter([3, 3, 1])
    other = Loop(
        [stage],
        seed=0,
        state=tmp_path / "other",
        run_key="",
        on_epoch=lambda position, best: None,
        writes=False,
        agree=lambda flag: True,
    )
    with pytest.raises(KeyboardInterrupt):
        other.run()
    assert other.position.batch == 1
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize("broken_at", [None, 7])
def test_the_rate_falls_to_its_end_however_often_is_measured(
    place: Path, monkeypatch: pytest.MonkeyPatch, broken_at: int | None
) -> None:
    """12 steps, measured after every 5: epochs of 5, 5 and 2 steps; also when the run is taken up within one."""
    rates: list[float] = []
    taken = loop._step  # pyright: ignore[reportPrivateUsage]

    def step(stage: Stage, batch: torch.Tensor, rate: float) -> float:
        rates.append(rate)
        return taken(stage, batch, rate)

    monkeypatch.setattr(loop, "_step", step)
    told: list[tuple[int, int]] = []

    def report(stage: str, done: int, total: int) -> None:
        told.append((done, total))
        if len(told) == broken_at:
            os.kill(os.getpid(), signal.SIGINT)

    options: dict[str, Any] = {"raw": True, "steps": 12, "measure_every": 5, "warmup": 0.0, "report": report}
    name = f"fives-{broken_at}"
    if broken_at is not None:
        with pytest.raises(KeyboardInterrupt):
            run(place, name, **options)
    record = run(place, name, resume=broken_at is not None, **options)
    assert told == [(done, 12) for done in range(1, 13)]
    assert rates == pytest.approx([(12 - done) / 12 for done in range(12)])
    assert len(record["epochs"]) == 3


def test_steps_and_epochs_that_do_not_fit_are_refused() -> None:
    parts: dict[str, Any] = {"batches": None, "updates": [], "measure": None, "warmup": 0.0, "clip_norm": 1.0}
    for wrong in (
        {"steps": 12},
        {"steps_per_epoch": 5},
        {"steps": 12, "steps_per_epoch": 4, "num_epochs": 4},
        {"steps": 10, "steps_per_epoch": 5},
    ):
        with pytest.raises(ValueError, match="epoch"):
            Stage(**{"name": "s", "modules": {}, "num_epochs": 3, **parts, **wrong})


@pytest.mark.parametrize(
    ("loss", "said"),
    [
        (lambda weight: weight.sum() * float("nan"), "the loss is not a number"),
        (lambda weight: weight.sum() * float("inf"), "the loss is not a number"),
        (lambda weight: (weight - weight).abs().sqrt().sum(), "the gradient is not a number"),
    ],
)
def test_a_loss_that_is_no_number_ends_the_run_before_the_weights_are_spoilt(
    tmp_path: Path, loss: Callable[[torch.Tensor], torch.Tensor], said: str
) -> None:
    weight = torch.nn.Parameter(torch.ones(1))
    fine, bad = torch.zeros(1), torch.ones(1)
    stage = Stage(
        name="s",
        modules={},
        num_epochs=1,
        batches=lambda generator: [fine, bad],
        updates=[Update(torch.optim.SGD([weight], lr=1.0), lambda b: loss(weight) if b.item() else weight.sum())],
        measure=lambda: {"dev": 0.0},
        warmup=0.0,
        clip_norm=1.0,
    )
    run = Loop([stage], seed=0, state=tmp_path / "state", run_key="", on_epoch=lambda position, best: None)
    with pytest.raises(LossError, match=f"{said}: a smaller learning rate may help") as caught:
        run.run()
    assert "\n" not in str(caught.value)
    assert weight.item() == pytest.approx(0.0, abs=1e-5)  # the good step was done


def test_a_record_has_null_for_what_is_no_number(tmp_path: Path) -> None:
    record = RunRecord(tmp_path / "record.json", {"kind": "finetune"}, torch.device("cpu"))
    nan, inf = float("nan"), float("inf")
    record.update(Position(history=[{"loss": nan, "dev": 0.5}]))
    record.finish({"dev": {"pearson": nan, "limits": (-inf, 1.0)}, "steps": 3, "name": "NaN"})
    found = json.loads((tmp_path / "record.json").read_text(), parse_constant=pytest.fail)
    assert found["epochs"] == [{"loss": None, "dev": 0.5}]
    assert found["result"] == {"dev": {"pearson": None, "limits": [None, 1.0]}, "steps": 3, "name": "NaN"}
    assert record.content == found


def test_bfloat16_falls_back_where_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    device = torch.device("cpu")
    monkeypatch.setattr(torch.ops.mkldnn, "_is_mkldnn_bf16_supported", lambda: False)
    assert precision_for("bfloat16", device) == "float32"
    monkeypatch.setattr(torch.ops.mkldnn, "_is_mkldnn_bf16_supported", lambda: True)
    assert precision_for("bfloat16", device) == "bfloat16"
    assert precision_for("float32", device) == "float32"
