"""Corpora of every mode go from ``sanitize-corpus`` to ``finetune``, with their terms in records."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from textveil_cli.files import get_manifest_path
from tiny_training import sentences, write_encoder

Run = Callable[..., tuple[int, str, str]]
Refused = Callable[..., str]

MODES = ("names", "words", "all")
FINETUNE = ("--encoder", "encoder", "--max-tokens", 32, "--threads", 1, "--num-epochs", 1, "--precision", "float32")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Raw rows with names in them, and an encoder of one layer."""
    folder = tmp_path_factory.mktemp("modes")
    write_encoder(folder)
    people = ("Anna", "Peter Novak", "Maria", "John")
    rows = [f"{label}\t{people[n % 4]} says that {text}\n" for n, (label, text, _) in enumerate(sentences())]
    (folder / "rows.tsv").write_text("".join(rows * 2))
    return folder


@pytest.fixture(autouse=True)
def _here(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    monkeypatch.chdir(place)


@pytest.fixture
def corpora(place: Path, run: Run) -> Path:
    """Return the folder with a corpus of each mode, sanitized once."""
    for mode in MODES:
        if not (place / mode).exists():
            assert run("sanitize-corpus", "rows.tsv", "--format", "tsv", "-o", mode, "--protect", mode, "-q")[0] == 0
    return place


@pytest.mark.parametrize("mode", MODES)
def test_a_model_carries_the_terms_of_its_corpus(corpora: Path, run: Run, tmp_path: Path, mode: str) -> None:
    code, _, err = run("finetune", f"{mode}/rows.tsv", "--format", "tsv", "-o", tmp_path / "model", *FINETUNE)
    assert (code, err) == (0, "")
    corpus = json.loads((corpora / mode / "record.json").read_text())
    record = json.loads((tmp_path / "model" / "record.json").read_text())
    card = json.loads((tmp_path / "model" / "finetuned.json").read_text())
    assert record["release"] == card["release"] == corpus["release"] | {"releases": 1}
    release, statement = record["release"], corpus["statement"]
    assert (corpus["status"], corpus["mode"], release["mode"]) == ("finished", mode, mode)
    assert (release["mechanism"], release["epsilon"]) == (("names", None) if mode == "names" else ("staircase", 10.0))
    assert release["level"] == statement["level"]
    assert release["not_protected"] == statement["not_protected"]
    assert release["bundle"] == corpus["bundle"]["content_hash"]


@pytest.mark.parametrize("mode", MODES)
def test_a_record_that_gives_another_mode_than_its_rows_is_refused(
    corpora: Path, refused: Refused, tmp_path: Path, mode: str
) -> None:
    """The record of another mode, and the right record with another mode written into it."""
    other = MODES[MODES.index(mode) - 1]
    shutil.copytree(corpora / mode, tmp_path / "corpus")
    arguments = ("finetune", tmp_path / "corpus" / "rows.tsv", "--format", "tsv", "-o", tmp_path / "model", *FINETUNE)
    record = tmp_path / "corpus" / "record.json"
    shutil.copy(corpora / other / "record.json", record)
    assert refused(*arguments).startswith("data-release: a file differs from the record")
    content = json.loads((corpora / mode / "record.json").read_text())
    for changed in (
        content | {"mode": other},
        content | {"mode": other, "release": content["release"] | {"mode": other}},
        content | {"release": content["release"] | {"mechanism": "random"}},
        content | {"release": json.loads((corpora / other / "record.json").read_text())["release"], "mode": other},
    ):
        record.write_text(json.dumps(changed))
        assert refused(*arguments).startswith("data-release: the record of the corpus was changed")
    assert not (tmp_path / "model").exists()


def test_a_record_that_cannot_be_used_is_refused_for_what_it_is(
    corpora: Path, refused: Refused, tmp_path: Path
) -> None:
    shutil.copytree(corpora / "names", tmp_path / "corpus")
    arguments = ("finetune", tmp_path / "corpus" / "rows.tsv", "--format", "tsv", "-o", tmp_path / "model", *FINETUNE)
    record = tmp_path / "corpus" / "record.json"
    content = json.loads(record.read_text())
    for written, said in (
        (json.dumps(content | {"format_version": 2}), "has format version 2, and this textveil-training reads 3"),
        (json.dumps({name: value for name, value in content.items() if name != "seal"}), "the key seal is missing"),
        (json.dumps(content | {"release": []}), "a value has another type"),
        ("{", "cannot be read"),
    ):
        record.write_text(written)
        err = refused(*arguments)
        assert err.startswith("data-json: the record of the corpus (record.json) ")
        assert said in err


PRETRAIN = ("--start", "encoder", "--steps", 2, "--max-tokens", 32, "--precision", "float32", "--held-out-percent", 40)


@pytest.mark.parametrize("mode", MODES)
def test_a_corpus_of_each_mode_is_pretrained_on_as_it_is(corpora: Path, run: Run, tmp_path: Path, mode: str) -> None:
    code, out, err = run("pretrain", "--data", f"{mode}/rows.tsv:tsv", "-o", tmp_path / "model", *PRETRAIN)
    assert (code, err) == (0, "")
    assert "held out, released text:" in out
    record = json.loads((tmp_path / "model" / "record.json").read_text())
    corpus = json.loads((corpora / mode / "record.json").read_text())
    assert record["release"] == corpus["release"] | {"releases": 1}
    assert (record["measured_release"], record["draws"], record["settings"]["raw"]) == (None, None, False)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--data", "words/rows.tsv:tsv"), "data-option: data 1 and 2 are mode names and mode words, epsilon 10: pass"),
        (("--data", "rows.tsv:tsv"), "data 1 and 2 are mode names and raw text: pass data of one release"),
        (("--raw",), "setting: the texts are sanitized already (mode names): omit --raw, --bundle"),
        (("-m", "santext"), "setting: the texts are sanitized already (mode names): omit --raw, --bundle"),
    ],
    ids=["two modes", "raw texts", "raw", "mechanism"],
)
def test_sanitized_texts_are_not_mixed_and_not_sanitized_again(
    corpora: Path, refused: Refused, tmp_path: Path, arguments: tuple[object, ...], said: str
) -> None:
    assert said in refused("pretrain", "--data", "names/rows.tsv:tsv", "-o", tmp_path / "m", *PRETRAIN, *arguments)
    assert not (tmp_path / "m").exists()


ATTACK = ("attack", "text", "rows.tsv", "--format", "tsv", "--threads", 1, "--draws", 1)
MODEL = ("--model", "lm", "--max-tokens", 32, "--precision", "float32")


@pytest.mark.parametrize("mode", MODES)
def test_each_mode_is_attacked_by_what_is_defined_for_it(place: Path, run: Run, mode: str) -> None:
    if not (place / "lm").exists():
        assert run("pretrain", "--data", "rows.tsv:tsv", "--raw", "-o", "lm", *PRETRAIN)[0] == 0
    code, out, err = run(*ATTACK, "--protect", mode, *MODEL, "--known-texts", "rows.tsv", "--json")
    assert code == 0
    record = json.loads(out)
    result = record["result"]
    defined = {"frequent", "mask"} if mode == "names" else {"frequent", "mask", "words"}
    assert {"nearest", "bayes", "repeated", "frequent", "mask", "contextual", "words"} - set(result) == set(
        result["skipped"]
    )
    # all known texts are the attacked ones, so that none is left to learn words from
    assert (defined - {"words"}) <= set(result)
    assert record["release"]["mode"] == mode
    assert result["frequent"]["tokens"] == result["mask"]["tokens"] == result["sampled_tokens"]
    assert 0 <= result["mask"]["top1"] <= result["mask"]["first_piece"] <= 1
    assert result["texts_left_out"] == 0
    assert err.count("skipped the attack ") == len(result["skipped"])


@pytest.mark.parametrize("mode", MODES)
def test_an_attack_that_is_not_defined_for_a_mode_names_another(refused: Refused, mode: str) -> None:
    others = "(use mask or frequent)" if mode == "names" else "(use words, mask or frequent)"
    undefined = ("nearest", "bayes", "repeated", "contextual", *(["words"] if mode == "names" else []))
    for attack in undefined:
        said = refused(*ATTACK, "--protect", mode, "--attacks", attack, "--model", "lm", "--known-texts", "rows.tsv")
        assert said.startswith(f"setting: the attack {attack} cannot run: ")
        assert f"in the mode '{mode}' " in said
        assert said.endswith(f"{others}\n")


def test_sanitized_texts_are_not_attacked_as_if_they_were_raw(corpora: Path, refused: Refused) -> None:
    said = refused("attack", "text", corpora / "names" / "rows.tsv", "--format", "tsv", "--protect", "names")
    assert said.startswith("data-option: these texts are sanitized already (mode names)")
    said = refused(*ATTACK, "--known-texts", "words/rows.tsv")
    assert said.startswith("data-option: these texts are sanitized already (mode words, epsilon 10)")


SLOW_RUN = """
import sys
import time
from pathlib import Path
from textveil_training.corpus import sanitize_corpus
def report(stage, done, total):
    if stage == "sanitizing" and len([*Path(sys.argv[1]).glob("*.tsv")]) == int(sys.argv[2]):
        print("here", flush=True)
        time.sleep(60)
sanitize_corpus([Path("rows.tsv"), Path("more.tsv")], Path(sys.argv[1]), "tsv", options={"protect": "names"}, workers=1,
                report=report)
"""


@pytest.mark.full
@pytest.mark.parametrize("done", [0, 1], ids=["at the start", "after a file"])
def test_a_killed_run_is_known_and_resumed(place: Path, run: Run, refused: Refused, tmp_path: Path, done: int) -> None:
    (place / "more.tsv").write_text((place / "rows.tsv").read_text())
    out = tmp_path / "out"
    process = subprocess.Popen([sys.executable, "-c", SLOW_RUN, out, str(done)], stdout=subprocess.PIPE, cwd=place)
    assert process.stdout is not None
    assert process.stdout.readline() == b"here\n"
    process.send_signal(signal.SIGKILL)
    process.wait()
    process.stdout.close()
    begun = json.loads((out / "record.json").read_text())
    assert (begun["status"], begun["mode"], begun["planned_files"]) == ("running", "names", ["rows.tsv", "more.tsv"])
    assert begun["release"]["mechanism"] == "names"
    kept = {path.name: path.read_bytes() for path in out.glob("*.tsv")}
    assert len(kept) == done
    (hashes,) = tmp_path.glob("*.sources")
    assert hashes.stat().st_mode & 0o077 == 0
    assert not any(digest in (out / "record.json").read_text() for digest in json.loads(hashes.read_text()).values())

    for name in kept:  # without its record it would count as raw text
        err = refused("finetune", out / name, "--format", "tsv", "-o", tmp_path / "model", *FINETUNE)
        assert err.startswith("data-unfinished: the corpus is not complete")
    command = ("sanitize-corpus", "rows.tsv", "more.tsv", "--format", "tsv", "-o", out, "--workers", "1", "-q")
    assert "--resume" in refused(*command, "--protect", "names")
    assert "another mode (--protect)" in refused(*command, "--protect", "words", "--resume")
    assert "other options of the mode" in refused(*command, "--protect", "names", "--style", "tag", "--resume")
    assert "another number of copies" in refused(*command, "--protect", "names", "--copies", 2, "--resume")
    assert "other input files" in refused(*command[:1], *command[2:], "--protect", "names", "--resume")
    source = (place / "more.tsv").read_text()
    (place / "more.tsv").write_text(source + "0\tone more row\n")
    assert "more.tsv: changed since" in refused(*command, "--protect", "names", "--resume")
    (place / "more.tsv").write_text(source)

    code, _, err = run(*command, "--protect", "names", "--resume")
    assert (code, err) == (0, "")
    record = json.loads((out / "record.json").read_text())
    assert (record["status"], record["resumed"], record["begun"]) == ("finished", True, begun["begun"])
    assert {name: (out / name).read_bytes() for name in kept} == kept, "no finished file is drawn again"
    assert sorted(os.listdir(out)) == ["more.tsv", "record.json", "rows.tsv"]
    assert sorted(os.listdir(tmp_path)) == ["out"]
    for path in (hashes, get_manifest_path(out)):  # left by a run that was killed between its record and its end
        path.write_text("{}")
    assert "the corpus in the output folder is complete: omit --resume" in refused(
        *command, "--protect", "names", "--resume"
    )
    assert sorted(os.listdir(tmp_path)) == ["out"]
    assert run("finetune", out / "more.tsv", "--format", "tsv", "-o", tmp_path / "model", *FINETUNE)[0] == 0
