"""``textveil-train sanitize-corpus`` prints its progress, refuses bad input, and prints no word of the corpus."""

import errno
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from overridden import overridden
from small_corpus import write_bundle
from textveil.bundle import find_artifact
from textveil_cli import console
from textveil_training import cli

Run = Callable[..., tuple[int, str, str]]
Refused = Callable[..., str]
Write = Callable[..., Path]

SST2 = "sentence\tlabel\nthe quokkasecret film\t1\nno quokkasecret\t0\n"
TABLES = ("-b", find_artifact("english-santext"))
JSON = '{"text": "the quokkasecret", "label": 1}\n'


@pytest.fixture
def run(capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run the command with one worker, in an empty folder, its output in ``out``."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")

    def command(*arguments: object) -> tuple[int, str, str]:
        given = overridden(["sanitize-corpus", "-o", "out", "--workers", "1"], list(map(str, arguments)))
        code = console.run(cli.app, "textveil-train", list(map(str, given)))
        out, err = capfd.readouterr()
        return code, out, err

    return command


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a bundle that opens faster than the built-in one."""
    return write_bundle(tmp_path_factory.mktemp("small") / "bundle")


def everything() -> str:
    """Names and contents of all files here."""
    return "".join(f"{path}{path.read_text('utf-8')}" for path in Path().rglob("*") if path.is_file())


def test_a_table_a_statement_and_a_record(write: Write, run: Run, canary: str) -> None:
    code, out, err = run(write(SST2, "train.tsv"), "--format", "sst2", "-m", "santext+", *TABLES)
    assert code == 0
    assert [line.split() for line in out.splitlines()[:2]] == [
        ["file", "rows", "documents", "tokens"], ["train.tsv", "2", "2", "5"]
    ]  # fmt: skip
    assert out.splitlines()[2].endswith("s with 1 workers")
    assert err.startswith(
        "textveil-train: 1 copy. Kept: punctuation, common words chosen at random. Randomized: 5 tokens, epsilon 10 d"
    )
    assert err.count("\n") == 1
    assert sorted(path.name for path in Path("out").iterdir()) == ["record.json", "train.tsv"]
    assert canary not in out + err + everything()


def test_the_staircase_is_the_default_of_words(write: Write, run: Run, canary: str) -> None:
    """Its statement counts drawn words: the function words of this text are visible."""
    code, out, err = run(write(SST2, "train.tsv"), "--format", "sst2", "--protect", "words")
    assert code == 0
    assert out.splitlines()[1].split() == ["train.tsv", "2", "2", "3"]
    assert err.startswith(
        "textveil-train: 1 copy. Kept: function words. Replaced at random: listed names, numbers. Randomized: 3 other "
    )
    statement = json.loads(Path("out/record.json").read_text())["statement"]
    assert (statement["mechanism"], statement["level"], statement["randomized_words"]) == ("staircase", "10", 3)
    assert [line.split()[0] for line in Path("out/train.tsv").read_text().splitlines()] == ["sentence", "the", "no"]
    assert canary not in out + err + everything()


def test_options_of_the_staircase(write: Write, run: Run) -> None:
    rows = "sentence\tlabel\n" + "the film, the film\t1\n" * 20
    options = ["--protect", "all", "--consistent", "--consistent-cap", "9"]
    code, out, _ = run(write(rows, "train.tsv"), "--format", "sst2", *options)
    assert code == 0
    assert out.splitlines()[1].split() == ["train.tsv", "20", "20", "40"]  # two distinct words in each text
    statement = json.loads(Path("out/record.json").read_text())["statement"]
    assert "function words" not in statement["revealed_parts"]
    assert [statement[name] for name in ("protect", "consistent")] == ["all", True]
    drawn = [
        line.split("\t")[0].replace(",", "").split() for line in Path("out/train.tsv").read_text().splitlines()[1:]
    ]
    assert all(words[:2] == words[2:] for words in drawn)
    assert run("train.tsv", "--format", "sst2", "-m", "krr", "-e", "2.5", "--consistent", "-o", "krr")[0] == 1


def test_the_rung_names(write: Write, run: Run, refused: Refused, canary: str, tmp_path: Path) -> None:
    rows = "sentence\tlabel\nthe film that Olga saw in Boston\t1\n"
    allowed = tmp_path / "allow.txt"
    allowed.write_text("Olga Boston\n")
    options = ["--format", "sst2", "--protect", "names", "--style", "tag", "--keep", "city"]
    path = write(rows, "train.tsv")
    code, _, err = run(path, *options, "--facts", "none")
    assert code == 0
    assert Path("out/train.tsv").read_text() == rows.replace("Olga", "[person 1]")
    statement = json.loads(Path("out/record.json").read_text())["statement"]
    assert (statement["epsilon_text"], statement["keep"], statement["kept_words"]) == (None, ["city"], 5)
    assert err.startswith("textveil-train: 1 copy. Kept: common words from a public list, the type city.")
    code, _, err = run(path, *options, "--facts", "plain", "-o", "facts")
    assert code == 0
    record = json.loads(Path("facts/record.json").read_text())
    assert record["release"]["facts"] == record["statement"]["facts"] == "plain"
    assert "technical and medical terms" in err
    assert refused(path, "--format", "sst2", "--protect", "words", "--facts", "plain", "-o", "none")
    code, _, err = run(path, *options, "--allow", allowed, "-o", "allowed")
    assert code == 0
    assert "textveil: entries of --allow: 1 of several words (each word is kept alone too)\n" in err
    assert refused(path, "--format", "sst2", "--protect", "names", "--keep", canary, "-o", "none")


def test_json_and_quiet(write: Write, run: Run, canary: str) -> None:
    options = ["--format", "jsonl", "--text-key", "text", "--label-key", "label", "--copies", 3, "--json", "-q"]
    code, out, err = run(write(JSON, "rows.jsonl"), *options, "-m", "krr", "-e", "2.5", *TABLES)
    assert (code, err, out.count("\n")) == (0, "", 1)
    record = json.loads(out)
    assert record == json.loads(Path("out/record.json").read_text())
    assert (record["statement"]["mechanism"], record["statement"]["epsilon"]) == ("krr", 2.5)
    assert record["statement"]["tokens"] == 3 * 2
    assert canary not in out + everything()


def test_a_folder_of_published_files(write: Write, run: Run, tmp_path: Path) -> None:
    for name in ("train.tsv", "dev.tsv", "test.tsv"):
        write(SST2, name)
    code, _, _ = run(tmp_path, "--format", "sst2", "-m", "santext", "--epsilon", "10", *TABLES)
    assert code == 0
    statement = json.loads(Path("out/record.json").read_text())["statement"]
    assert (statement["mechanism"], statement["level"]) == ("santext", "10")
    assert sorted(path.name for path in Path("out").iterdir()) == ["dev.tsv", "record.json", "train.tsv"]


#: What readers refuse is tried with them; here that a command says it, for each reader once.
BAD = [
    ("sst2", SST2 + "quokkasecret\n", "data-columns: rows.txt, line 4: "),
    ("sst2", "", "data-empty: rows.txt: "),
    ("ag-entities", "0\tquokkasecret\t0\n", "data-split: rows.txt: "),
    ("jsonl", JSON + '{"other": "quokkasecret"}\n', "data-text: rows.txt, line 2: "),
    ("text", b"quokkasecret\nquokkasecret \xff\n", "data-encoding: rows.txt, line 2: not UTF-8 at byte 26"),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "content", "said"), BAD, ids=[f"{n}: {s.split(':')[0]}" for n, _, s in BAD])
def test_bad_input(write: Write, refused: Refused, small: Path, name: str, content: str | bytes, said: str) -> None:
    """Also behind good files: nothing is drawn before all of the input has been read."""
    good = {"sst2": SST2, "text": "a\n", "jsonl": JSON}.get(name)
    inputs = [*([] if good is None else [write(good, "good.txt")]), write(content)]
    assert refused(*inputs, "--bundle", small, "--format", name).startswith(said)
    assert list(Path().iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["quokkasecret", "--format", "sst2"], "data-file: input 1 of 1 cannot be opened (No such file"),
        ([".", "--format", "sst2"], "data-split: input 1 of 1: the folder has no file of this format"),
        ([".", "--format", "text"], "data-file: input 1 of 1 cannot be opened (Is a directory"),
        (["ROWS", "quokkasecret", "--format", "sst2"], "data-file: input 2 of 2 cannot be opened"),
        (["ROWS", "ROWS", "--format", "sst2"], "data-option: two inputs have the same name"),
        (["ROWS", "--format", "sst2", "--text-key", "quokkasecret"], "data-option: "),
        (["ROWS", "--format", "sst2", "--mechanism", "quokkasecret"], "usage: --mechanism takes "),
        (["ROWS", "--format", "sst2", "--bundle", "a quokkasecret"], "bundle-not-found: "),
        (["ROWS", "--format", "sst2", "-o", "ROWS"], "output: "),
        (["ROWS", "--format", "sst2", "-o", "ROWS/quokkasecret"], "output: "),
        (["ROWS", "--format", "sst2", "-o", ".."], "resume: the output folder is not empty"),
    ],
)
def test_bad_options(write: Write, refused: Refused, small: Path, arguments: list[str], said: str) -> None:
    path = str(write(SST2))
    given = [argument.replace("ROWS", path) for argument in arguments]
    code = 2 if said.startswith("usage") else 1
    assert refused(*overridden(["--bundle", small], given), code=code).startswith(said)
    assert list(Path().iterdir()) == []


@pytest.mark.skipif(os.name == "nt", reason="permissions are another matter there")
def test_a_file_that_may_not_be_read(write: Write, refused: Refused, monkeypatch: pytest.MonkeyPatch) -> None:
    path, real = write(SST2), Path.open

    def refuse(opened: Path, *rest: Any, **named: Any) -> object:
        if opened.name == "rows.txt":
            raise PermissionError(errno.EACCES, "quokkasecret", "quokkasecret")
        return real(opened, *rest, **named)

    monkeypatch.setattr(Path, "open", refuse)
    said = refused(path, "--format", "sst2")
    assert said == f"data-file: input 1 of 1 cannot be opened ({os.strerror(errno.EACCES)})\n"
