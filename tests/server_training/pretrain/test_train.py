"""Pretraining with a tiny encoder learns from its corpus, and a finished run leaves its record."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from small_pretraining import WEIGHTS, run
from textveil_training.engine.encoders import load_transformer
from textveil_training.engine.processes import SingleProcess
from textveil_training.engine.tokens import EncoderTokenizer
from textveil_training.pretrain import masking
from textveil_training.pretrain.aligned_corpus import AlignedCorpus, StringPieces
from textveil_training.pretrain.masked_lm import load_masked_lm
from textveil_training.pretrain.masking import Masker
from textveil_training.pretrain.objective import PretrainingObjective
from textveil_training.token_randomizer import TokenRandomizer


def objective_of(pretraining: Path, *, accumulate: int = 1, sanitize: bool = False) -> tuple[PretrainingObjective, Any]:
    loaded = load_masked_lm(str(pretraining / "encoder"))
    tokenizer = EncoderTokenizer(loaded.vocabulary, lowercase=True, max_tokens=32)
    strings = StringPieces(tokenizer)
    channel = TokenRandomizer(pretraining / "bundle", mechanism="santext")
    corpus = AlignedCorpus((pretraining / "texts.txt").read_text().splitlines(), strings, channel)
    masker = Masker(tokenizer, strings, 0.3, len(tokenizer.ids))
    objective = PretrainingObjective(
        loaded.model,
        corpus,
        masker,
        accumulate=accumulate,
        precision="float32",
        sanitize=sanitize,
        process=SingleProcess("cpu"),
    )
    return objective, loaded.model


def test_forty_steps_lower_the_loss_and_reach_every_parameter(pretraining: Path) -> None:
    objective, model = objective_of(pretraining, sanitize=True)
    everything = torch.arange(32)
    optimizer = torch.optim.AdamW(model.parameters(), lr=5e-3)
    losses = []
    for step in range(40):
        torch.manual_seed(step)
        optimizer.zero_grad()
        losses.append(objective.compute_gradients(everything))
        for name, parameter in model.named_parameters():
            # A key's bias moves all scores of a softmax alike.
            if "position" not in name and not name.endswith("key.bias"):
                assert parameter.grad is not None, name
                assert float(parameter.grad.abs().max()) > 0, name
        optimizer.step()
    assert losses[0] == pytest.approx(np.log(len(model.bias)), rel=0.1)
    assert np.mean(losses[-5:]) < losses[0] - 0.5


@pytest.mark.parametrize("accumulate", [1, 3, 8, 20])
def test_the_gradient_of_parts_is_that_of_the_whole(pretraining: Path, accumulate: int) -> None:
    batch = torch.tensor([3, 1, 14, 7, 30, 31, 8, 9])  # fewer than the most parts
    whole, model = objective_of(pretraining)
    torch.manual_seed(5)
    loss = whole.compute_loss(batch)
    loss.backward()
    parts, other = objective_of(pretraining, accumulate=accumulate)
    torch.manual_seed(5)
    assert parts.compute_gradients(batch) == pytest.approx(loss.item(), rel=1e-5)
    gradients = dict(other.named_parameters())
    for name, parameter in model.named_parameters():
        assert torch.allclose(parameter.grad, gradients[name].grad, rtol=1e-3, atol=1e-6), name


def test_the_targets_are_the_original_words_and_not_the_sanitized(
    pretraining: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A mechanism that always writes one word: a model that learns what it reads would answer with that word."""
    objective, _ = objective_of(pretraining, sanitize=True)
    corpus: Any = objective._corpus  # pyright: ignore[reportPrivateUsage]
    mechanism = type(corpus._randomizer.plan.mechanism.sampler)
    monkeypatch.setattr(mechanism, "draw_symbols", lambda self, inputs, random: np.zeros_like(inputs))
    monkeypatch.setattr(masking, "MASKED", 1.0)
    batches = [objective._mask_texts(np.arange(32)) for _ in range(10)]  # pyright: ignore[reportPrivateUsage]
    seen = {piece for batch in batches for piece in batch.ids.flatten().tolist()}
    targets = {piece for batch in batches for piece in batch.targets.flatten().tolist()} - {masking.IGNORED}
    flat, begins = corpus._strings.flat_pieces
    number = corpus._strings.get_id(corpus._randomizer.bundle.vocabulary[0])
    assert seen == {0, 2, 3, 4, *flat[begins[number] : begins[number + 1]].tolist()}
    assert len(targets) > 60


def test_a_finished_run(pretraining: Path) -> None:
    record = json.loads((pretraining / "raw" / "record.json").read_text())
    assert (record["kind"], record["release"], record["settings"]["raw"]) == ("pretrain", None, True)
    assert [epoch["epoch"] for epoch in record["epochs"]] == [1, 2, 3]
    assert record["result"]["steps"] == 7
    assert 0 <= record["result"]["sanitized_top1"] <= 1
    assert record["finished"] >= record["begun"]
    assert record["measured_release"]["bundle_name"] == "small"
    sizes = record["data"]
    assert sizes["train"]["texts"] + sizes["held_out"]["texts"] == sizes["sources"][0]["texts"] == 32
    assert not any(word in json.dumps(record) for word in ("onion", "thunder", str(pretraining)))
    names = sorted(path.name for path in (pretraining / "raw").iterdir())
    assert names == ["config.json", WEIGHTS, "record.json", "tokenizer_config.json", "vocab.txt"]


def test_the_folder_opens_as_an_encoder_and_as_a_masked_language_model(pretraining: Path) -> None:
    from transformers import AutoTokenizer, BertForMaskedLM

    loaded = load_masked_lm(str(pretraining / "raw"))
    assert (loaded.new_head, loaded.lowercase) == (False, True)
    assert load_masked_lm(str(pretraining / "encoder")).new_head
    ids = torch.tensor([[2, 9, 4, 11, 3], [2, 4, 3, 0, 0]])
    mask = (ids != 0).long()
    at = ids == 4
    with torch.inference_mode():
        logits = loaded.model(ids, mask, at)
        theirs = BertForMaskedLM.from_pretrained(pretraining / "raw").eval()(ids, mask).logits[at]
        assert torch.allclose(logits, theirs, atol=1e-5)
        encoder, vocabulary, lowercase = load_transformer(str(pretraining / "raw"), 0.0)
        hidden = encoder.eval()(input_ids=ids, attention_mask=mask).last_hidden_state
        assert torch.equal(hidden, loaded.model.compute_hidden(ids, mask))
    assert (vocabulary.read_bytes(), lowercase) == ((pretraining / "encoder" / "vocab.txt").read_bytes(), True)
    text = "the rain stops in the evening"
    pieces = EncoderTokenizer(vocabulary, lowercase=True, max_tokens=32).split_into_pieces(text).pieces.tolist()
    assert AutoTokenizer.from_pretrained(pretraining / "raw")(text)["input_ids"][1:-1] == pieces


def test_a_new_head_begins_with_the_frequencies_and_a_start_with_a_head_goes_on(pretraining: Path) -> None:
    rates = {"learning_rate": 1e-9, "head_learning_rate": 1e-9, "steps": 1}
    first = run(pretraining, "untrained", raw=True, **rates)
    assert first["epochs"][0]["loss"] < np.log(164) - 0.2  # a head without them begins at log of the vocabulary
    again = run(pretraining, "again", raw=True, start=str(pretraining / "raw"), **rates)
    weights = [load_file(pretraining / name / WEIGHTS) for name in ("raw", "again")]
    assert all(torch.allclose(tensor, weights[1][name], atol=1e-6) for name, tensor in weights[0].items())
    assert (first["start"]["new_head"], again["start"]["new_head"]) == (True, False)
