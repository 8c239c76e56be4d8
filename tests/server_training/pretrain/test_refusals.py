"""A pretraining refuses invalid settings, starts, vocabularies, data, and command lines."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from overridden import overridden
from small_pretraining import run as trained
from textveil.errors import TextveilError
from textveil_training.errors import (
    CheckpointError,
    DataOptionError,
    EmptyData,
    EncoderMismatch,
    MissingSplit,
    SettingError,
)
from textveil_training.pretrain.masked_lm import load_masked_lm
from textveil_training.pretrain.pretraining_data import parse_source, read_texts, restore_wikitext


@pytest.mark.parametrize(
    ("error", "settings"),
    [
        (SettingError, {"batch_size": 0}),
        (SettingError, {"mask_probability": 1.0}),
        (SettingError, {"unchanged_share": 1.1}),
        (SettingError, {"accumulate": 9}),
        (SettingError, {"precision": "float16"}),
        (SettingError, {"max_tokens": 100}),  # the encoder has 64 positions
    ],
)
def test_what_cannot_start_says_so(pretraining: Path, error: type[TextveilError], settings: dict[str, Any]) -> None:
    with pytest.raises(error) as caught:
        trained(pretraining, "never", **settings)
    assert "\n" not in str(caught.value)
    assert not (pretraining / "never").exists()


def test_a_cased_encoder_and_one_of_another_kind(pretraining: Path, tmp_path: Path) -> None:
    from transformers import ElectraConfig, ElectraModel

    cased = Path(shutil.copytree(pretraining / "encoder", tmp_path / "cased"))
    (cased / "tokenizer_config.json").write_text('{"do_lower_case": false, "tokenizer_class": "BertTokenizer"}')
    with pytest.raises(EncoderMismatch, match="cased"):
        trained(pretraining, "never", start=str(cased))
    config = ElectraConfig(
        vocab_size=200, hidden_size=8, embedding_size=8, num_hidden_layers=1, num_attention_heads=2, intermediate_size=8
    )
    ElectraModel(config).save_pretrained(tmp_path / "other")
    (tmp_path / "other" / "vocab.txt").write_bytes((pretraining / "encoder" / "vocab.txt").read_bytes())
    with pytest.raises(
        CheckpointError, match="BERT's architecture are supported as masked language models: pass another with --start"
    ):
        trained(pretraining, "never", start=str(tmp_path / "other"))


def test_weights_that_do_not_fit_and_a_vocabulary_that_is_too_long(pretraining: Path, tmp_path: Path) -> None:
    less, longer = (Path(shutil.copytree(pretraining / "raw", tmp_path / name)) for name in ("less", "longer"))
    config = json.loads((less / "config.json").read_text())
    (less / "config.json").write_text(json.dumps(config | {"num_hidden_layers": 3}))
    with pytest.raises(
        CheckpointError, match="the weights of the encoder do not match its configuration: copy its folder again"
    ):
        load_masked_lm(str(less))
    with (longer / "vocab.txt").open("a") as file:
        file.write("more\n")
    with pytest.raises(
        CheckpointError,
        match=("the vocabulary has more WordPieces than the embedding matrix has rows: copy the encoder again"),
    ):
        trained(pretraining, "never", start=str(longer))


def test_too_few_texts(pretraining: Path) -> None:
    (pretraining / "few").mkdir()
    (pretraining / "few" / "texts.txt").write_text("... !\n---\na\n")
    for name in ("bundle", "encoder"):
        (pretraining / "few" / name).symlink_to(pretraining / name)
    with pytest.raises(EmptyData, match="too few texts with words for a training and a held-out part: add texts"):
        trained(pretraining / "few", "never")


def test_which_texts_a_source_means(tmp_path: Path, write: Callable[..., Path]) -> None:
    """Splits are train unless they are named; a path may have colons; pairs are two texts."""
    folder = tmp_path / "a:b"
    folder.mkdir()
    for name in ("train", "dev"):
        rows = "index\tquestion\tsentence\tlabel\n" + f"0\t{name} who\t{name} they\tentailment\n"
        (folder / f"{name}.tsv").write_text(rows)
    found = read_texts([parse_source(f"{folder}:qnli")])
    assert found.texts == ("train who", "train they")
    found = read_texts([parse_source(f"{folder}:qnli:dev"), parse_source(f"{folder}:qnli:train+dev")])
    assert [entry["split"] for entry in found.descriptions] == ["dev", "train", "dev"]
    assert len(found.texts) == 6
    assert read_texts([parse_source(f"{write('a b')}:text")]).texts == ("a b",)
    assert read_texts([parse_source(f"{write(json.dumps({'t': 'x y'}))}:jsonl")], "t").texts == ("x y",)
    (folder / "train.tsv").unlink()
    with pytest.raises(MissingSplit, match="there is no train split: name one of dev, as in PATH:FORMAT:SPLIT"):
        parse_source(f"{folder}:qnli")
    with pytest.raises(MissingSplit):
        read_texts([parse_source(f"{folder}:qnli:train")])
    for wrong in ("rows.txt", "rows.txt:prose", ":text", "rows.txt:text:", "text", ""):
        with pytest.raises(DataOptionError):
            read_texts([parse_source(wrong)])


def test_wikitext_is_read_as_it_was_written() -> None:
    assert restore_wikitext("the state @-@ owned <unk> of 1 @,@ 500 , <unk> or 2 @.@ 5") == (
        "the state-owned of 1,500 , or 2.5"
    )


def arguments_of(pretraining: Path, name: str, *more: object) -> list[object]:
    texts, bundle, encoder = (pretraining / part for part in ("texts.txt", "bundle", "encoder"))
    settings = ["--steps", 2, "--batch-size", 8, "--held-out-percent", 20, "--max-tokens", 32, "--start", encoder]
    arguments = ["pretrain", "--data", f"{texts}:text", "-o", pretraining / name, *settings, "--bundle", bundle]
    return overridden(arguments, more)


@pytest.mark.slow
def test_the_command(pretraining: Path, run: Callable[..., tuple[int, str, str]]) -> None:
    code, out, err = run(*arguments_of(pretraining, "said", "-m", "santext"))
    assert (code, err) == (0, "")
    assert [line.split(":")[0].split(",")[0] for line in out.splitlines()] == ["2 steps", "held out", "held out"]
    code, out, err = run(*arguments_of(pretraining, "said-json", "--raw", "--json"))
    assert (code, err) == (0, "")
    assert json.loads(out)["steps"] == 2
    code, out, err = run("pretrain", "--help")
    assert code == 0
    assert "--accumulate" in out


@pytest.mark.parametrize(
    ("more", "start"),
    [
        (["--epsilon", "3.3"], "unknown-epsilon"),
        (["--mechanism", "quokkasecret"], "usage"),
        (["--device", "quokkasecret"], "device"),
        (["--data", "quokkasecret:text"], "data-file"),
        (["--data", "quokkasecret"], "data-option"),
        (["--learning-rate", "7"], "setting"),
        (["--start", "/nowhere/quokkasecret"], "checkpoint"),
        (["--resume"], "resume"),
    ],
)
def test_bad_command_lines_are_one_line(
    pretraining: Path, refused: Callable[..., str], more: list[str], start: str
) -> None:
    code = 2 if start == "usage" else 1
    assert refused(*arguments_of(pretraining, "never", *more), code=code).startswith(f"{start}: ")


def test_an_output_folder_with_something_in_it(pretraining: Path, refused: Callable[..., str]) -> None:
    assert (
        refused(*arguments_of(pretraining, "raw")) == "checkpoint: the output folder is not empty: choose a new one\n"
    )
    assert refused(*arguments_of(pretraining, "texts.txt")).startswith("checkpoint: ")
