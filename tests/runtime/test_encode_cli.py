"""``textveil encode``, and what ``info`` and ``verify`` make of an encoder bundle."""

import json
import os
import re
import select
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from overridden import overridden
from processes import writes_below
from small_encoders import DIMENSION, sign_encoder, write_encoder
from textveil.bundle.encoder_bundle import open_encoder
from textveil.mechanisms import vector_noise as representation
from textveil.mechanisms.discrete_noise import discrete_laplace
from textveil.mechanisms.vector_parameters import ReleaseParameters
from textveil.vector import statement as accounting

posix = pytest.mark.skipif(os.name != "posix", reason="signals and pipes as POSIX has them")
SECRET = "Zorblaxia 48213977"
LINE = rb"-?[0-9.]+(\t-?[0-9.]+){3}\n"
TIMEOUT = 60

#: What a new process says of every bundle of vectors.
WARNING = (
    "textveil: warning: an encoder bundle of format version 1: its identity covers what is released (release.json, the "
    "model and its vocabulary), not the labels, the classifier, the license and where the model comes from\n"
)


@pytest.fixture
def cli(here: Callable, tiny_encoder: Path) -> Callable:
    """``textveil encode`` with the tiny encoder, in this process."""
    return lambda *arguments: here(*overridden(["encode", "--bundle", tiny_encoder], arguments))


@pytest.fixture
def note(tmp_path: Path) -> Path:
    path = tmp_path / "note.txt"
    path.write_bytes(b"The doctor, said.\n\nnurse zzz")
    return path


def start(*arguments: str | Path, **options: object) -> "subprocess.Popen[bytes]":
    pipe = subprocess.PIPE
    return subprocess.Popen(  # type: ignore[call-overload]
        [sys.executable, "-m", "textveil", "encode", *map(str, arguments)],
        **{"stdin": pipe, "stdout": pipe, "stderr": pipe, **options},
    )


def answer(process: "subprocess.Popen[bytes]") -> bytes:
    """What stands on standard output within a minute, without waiting for the end."""
    assert process.stdout is not None
    ready, _, _ = select.select([process.stdout], [], [], TIMEOUT)
    assert ready, "no answer"
    return os.read(process.stdout.fileno(), 1 << 16)


# --- data in, data out ---------------------------------------------------------------------------------------------


def test_standard_input_to_standard_output(command: Callable, tiny_encoder: Path) -> None:
    ran = command("encode", "--bundle", tiny_encoder, stdin=b"The doctor,\r\n\r\n  zzz\nlast line")
    assert ran.code == 0
    assert re.fullmatch(LINE * 4, ran.out)
    assert ran.message == (
        WARNING + "textveil: standard input: 4 documents; l1, 4 coordinates: epsilon 4 for any two texts\n"
    )


def test_a_text(cli: Callable) -> None:
    for text in ("The doctor said.", "", "two\nlines", "-", "--help", "\ud800", "of " * 1000):
        ran = cli(f"--text={text}")
        assert ran.code == 0
        assert re.fullmatch(LINE, ran.out)
        assert ran.message.splitlines()[0].startswith("textveil: l1, ")
        cut = ["textveil: for this device only: 1 longer than the model takes, the end left out"]
        assert ran.message.splitlines()[1:] == (cut if len(text) > 1000 else [])


def test_files_and_json(cli: Callable, note: Path) -> None:
    ran = cli("--json", "--epsilon", "8", "--word-dropout", "0.3", note, note)
    assert ran.code == 0
    documents = [json.loads(line) for line in ran.text.splitlines()]
    assert len(documents) == 6
    for document in documents:
        assert document.keys() == {"vector", "integers", "statement"}
        assert [number / 64 for number in document["integers"]] == document["vector"]
        assert len(document["vector"]) == DIMENSION
        assert document["statement"]["epsilon_whole_text"] == 8
        assert document["statement"]["word_dropout"] == "0.3"
        assert document["statement"] == documents[0]["statement"]
    assert [line.split(";")[0] for line in ran.message.splitlines()] == [
        "textveil: input 1 of 2: 3 documents",
        "textveil: input 2 of 2: 3 documents",
    ]
    assert "for two texts that differ in one token (word dropout 0.3)" in ran.message


def test_an_output_file(cli: Callable, note: Path, tmp_path: Path) -> None:
    target = tmp_path / "out.tsv"
    target.write_bytes(b"old")
    ran = cli("-q", "-o", target, note)
    assert (ran.code, ran.out, ran.err) == (0, b"", b"")
    assert re.fullmatch(LINE * 3, target.read_bytes())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["note.txt", "out.tsv"]
    ran = cli("-o", note, note)
    assert ran.message == "textveil: output: the output is also an input; nothing was written\n"
    assert note.read_bytes().startswith(b"The doctor")


def test_an_empty_file(cli: Callable, tmp_path: Path) -> None:
    (tmp_path / "empty").write_bytes(b"")
    ran = cli(tmp_path / "empty")
    assert (ran.code, ran.out, ran.message) == (0, b"", "textveil: input 1 of 1: no documents\n")


@posix
def test_every_line_is_answered_before_the_next_is_read(tiny_encoder: Path) -> None:
    with start("--bundle", tiny_encoder) as process:
        assert process.stdin is not None
        for line in (b"the doctor\n", b"\n", b"zzz\r\n"):
            process.stdin.write(line)
            process.stdin.flush()
            assert re.fullmatch(LINE, answer(process))
        process.stdin.close()
        assert process.wait(TIMEOUT) == 0


@posix
def test_a_closed_pipe_ends_quietly(tiny_encoder: Path, tmp_path: Path) -> None:
    """``textveil encode FILE | head -1``"""
    path = tmp_path / "long.txt"
    path.write_bytes(b"the doctor said\n" * 20_000)
    with start("--bundle", tiny_encoder, path, stdin=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert re.fullmatch(LINE, process.stdout.readline())
        process.stdout.close()
        assert process.wait(TIMEOUT) in (-signal.SIGPIPE, 1)
        assert process.stderr.read() == WARNING.encode()


@posix
def test_an_interrupt_leaves_no_half_of_a_file(tiny_encoder: Path, tmp_path: Path) -> None:
    with start("--bundle", tiny_encoder, "-o", tmp_path / "out.tsv") as process:
        assert process.stdin is not None
        assert process.stderr is not None
        process.stdin.write(b"the doctor\n" * 4000)
        process.stdin.flush()
        for _ in range(TIMEOUT * 100):  # until something is in the partial file: the signal falls into the work
            if writes_below(process, tmp_path):
                break
            select.select([], [], [], 0.01)
        process.send_signal(signal.SIGINT)
        assert process.wait(TIMEOUT) == 130
        assert process.stderr.read() == WARNING.encode()
    assert list(tmp_path.iterdir()) == []


# --- what stays on the device --------------------------------------------------------------------------------------


def test_what_was_cut_is_told_on_standard_error_alone(cli: Callable, tmp_path: Path) -> None:
    path = tmp_path / "long.txt"
    path.write_bytes(b"the doctor\n" + b"the " * 50 + b"\nbroken\n" + b"of " * 50 + b"\n")
    ran = cli("--json", path)
    assert ran.message.endswith(
        "\ntextveil: for this device only: 2 longer than the model takes, the end left out"
        "; 1 released as the fixed point: the model failed or gave no finite numbers\n"
    )
    statements = {json.dumps(json.loads(line)["statement"]) for line in ran.text.splitlines()}
    assert len(statements) == 1
    assert "truncated" not in ran.text
    assert "longer" not in ran.text


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ([SECRET], 1),
        (["--text", SECRET], 0),
        (["--text", SECRET, SECRET], 1),
        (["--text", f"{SECRET} poison"], 0),
        (["--text", SECRET, "--epsilon", SECRET], 1),
        (["--text", SECRET, "--word-dropout", SECRET], 1),
        (["--text", SECRET, "--bundle", SECRET], 1),
        (["--text", SECRET, "--expect-id", SECRET], 1),
        (["--text", SECRET, "-o", f"{SECRET}/x"], 1),
        (["--text", SECRET, f"--{SECRET}"], 2),
        (["--text", SECRET, "--level", SECRET], 2),
    ],
    ids=str,
)
def test_nothing_tells(forked: Callable, tiny_encoder: Path, tmp_path: Path, arguments: list[str], code: int) -> None:
    home = tmp_path / "home"
    home.mkdir()
    places = ("HOME", "TMPDIR", "XDG_CACHE_HOME", "XDG_STATE_HOME")
    environment = {**os.environ, **dict.fromkeys(places, str(home)), "PYTHONDONTWRITEBYTECODE": "1"}
    chosen = [] if "--bundle" in arguments else ["--bundle", tiny_encoder]
    ran = forked("encode", *chosen, *arguments, environment=environment)
    assert ran.code == code
    assert "orblaxia" not in ran.text + ran.message
    assert "48213977" not in ran.text + ran.message
    assert list(home.iterdir()) == []
    assert list((tmp_path / "cwd").iterdir()) == []


@pytest.mark.parametrize("error", [ValueError(SECRET), RuntimeError(SECRET), MemoryError(SECRET), OSError(5, SECRET)])
def test_internal_errors_do_not_tell(cli: Callable, monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def fail(*arguments: object) -> None:
        raise error

    monkeypatch.setattr("textveil.text.wordpiece.WordPiece.basic_tokens", fail)
    ran = cli("--text", SECRET)
    assert ran.code == 1
    assert "orblaxia" not in ran.message
    assert ran.message.count("\n") == 1


def test_bad_bytes_are_named_and_earlier_lines_stay(cli: Callable, tmp_path: Path) -> None:
    path = tmp_path / "bad.txt"
    path.write_bytes(b"the doctor\nnurse\nzzz \xff canary\nof\n")
    ran = cli(path)
    assert ran.code == 1
    assert re.fullmatch(LINE * 2, ran.out)
    assert ran.message == "textveil: input: input 1 of 1: not UTF-8 at byte 21\n"


# --- named errors --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "code", "expected"),
    [
        (["--epsilon", "5"], "unknown-level", "has the levels (epsilon of the whole text) 1, 4, 8"),
        (["--epsilon", "0"], "unknown-level", "1, 4, 8"),
        (["--epsilon=-4"], "unknown-level", "1, 4, 8"),
        (["--epsilon", "nan"], "unknown-level", "1, 4, 8"),
        (["--word-dropout", "1"], "option", "word dropout"),
        (["--word-dropout", "x"], "option", "word dropout"),
        (["--expect-id", "x"], "bundle-identity", "another identity"),
        (["--bundle", "nowhere"], "bundle-not-found", "no bundle"),
        (["--text", "x", "file"], "option", "exclude each other"),
        (["missing.txt"], "input", "input 1 of 1: no readable file there"),
    ],
)
def test_named_errors(cli: Callable, arguments: list[str], code: str, expected: str) -> None:
    ran = cli(*arguments)
    assert (ran.code, ran.out) == (1, b"")
    assert ran.message.startswith(f"textveil: {code}: ")
    assert expected in ran.message


def test_options_are_checked_before_a_file_is_touched(cli: Callable, tmp_path: Path) -> None:
    ran = cli("--epsilon", "5", "-o", tmp_path / "out", tmp_path / "missing")
    assert "unknown-level" in ran.message
    assert list(tmp_path.iterdir()) == []


def test_a_bundle_of_the_other_kind(here: Callable, tiny_path: Path, tiny_encoder: Path) -> None:
    ran = here("encode", "--bundle", tiny_path, "--text", "x")
    assert ran.message.startswith("textveil: bundle-kind: this is a bundle for text")
    for arguments in (["sanitize", "--text", "x"], ["inspect", "x"], ["levels"], ["calibrate", "--unchanged", "0.5"]):
        ran = here(*arguments, "--bundle", tiny_encoder)
        assert (ran.code, ran.out) == (1, b"")
        assert ran.message.startswith("textveil: bundle-kind: this is an encoder bundle")


@pytest.mark.slow
def test_without_onnxruntime(command: Callable, tiny_encoder: Path) -> None:
    """A process of its own in which there is none: encoding names the extra, and the rest works."""
    block = (
        "import sys; sys.modules['onnxruntime'] = None; sys.argv[0] = 'textveil'\n"
        "from textveil.cli.main import main; main()"
    )
    for arguments, code in ((["encode", "--text", "x"], 1), (["info"], 0), (["sanitize", "--text", "the"], 0)):
        bundle = [] if arguments[0] == "sanitize" else ["--bundle", str(tiny_encoder)]
        done = subprocess.run([sys.executable, "-c", block, *arguments, *bundle], capture_output=True, timeout=TIMEOUT)
        assert done.returncode == code
        if code:
            assert done.stderr.decode().removeprefix(WARNING) == (
                "textveil: encoder-unavailable: encoding needs onnxruntime: "
                "install textveil with the extra encoder (in a clone: pip install './runtime[encoder]')\n"
            )


# --- info and verify -----------------------------------------------------------------------------------------------


def test_info(here: Callable, tiny_encoder: Path) -> None:
    ran = here("info", "--bundle", tiny_encoder)
    assert ran.code == 0
    identity = open_encoder(tiny_encoder)[0].identity
    for part in (
        "tiny: an encoder, l1, vectors of length 4",
        identity,
        "Apache-2.0",
        "first, second",
        "accuracy 4  0.75",
    ):
        assert part in ran.text
    levels = [line.split() for line in ran.text.splitlines() if "discrete Laplace" in line]
    assert [level[0] for level in levels] == ["1", "4", "8"]
    assert [level[-1] == "default" for level in levels] == [False, True, False]
    assert levels[1][2:5] == ["3.897", "3.652", "3.326"]  # ln((1 - mu) e^4 + mu), rounded up
    assert here("info", "--bundle", tiny_encoder, "--path").text == f"{tiny_encoder}\n"
    assert here("info", "--bundle", tiny_encoder, "--expect-id", "x").code == 1


def test_info_as_json(here: Callable, tiny_encoder: Path) -> None:
    told = json.loads(here("info", "--json", "--bundle", tiny_encoder).text)
    assert (told["mode"], told["dimension"], told["max_tokens"], told["pieces"]) == ("l1", 4, 16, 22)
    assert [(level["epsilon_whole_text"], level["default"]) for level in told["levels"]] == [
        (1, False),
        (4, True),
        (8, False),
    ]
    assert told["measured"] == {"accuracy": {"4": 0.75}}


@pytest.mark.parametrize(("mode", "delta"), [("l1", None), ("l2", "1e-6"), ("box", None)])
def test_info_and_verify_of_every_mode(here: Callable, tmp_path: Path, mode: str, delta: str | None) -> None:
    folder = write_encoder(tmp_path / mode, mode=mode, delta=delta)
    assert here("info", "--bundle", folder).code == 0
    ran = here("verify", folder)
    assert ran.code == 0
    assert ran.text.startswith("4 files with the right size and hash, structure sound\nmodel: ")
    assert "finished noise of 3 levels audited" in ran.text


def test_a_manifest_with_odd_words(here: Callable, tiny_encoder: Path, tmp_path: Path) -> None:
    folder = write_encoder(tmp_path / "odd")
    for odd in (
        {"labels": None, "measured": None},
        {"labels": {"a": 1}, "measured": [1]},
        {"name": 7, "measured": "x"},
    ):
        assert here("info", "--bundle", sign_encoder(folder, odd)).code == 0


def test_verify_refuses_noise_that_is_too_small(
    here: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A planted fault: a table for a scale 1 % smaller."""
    folder = write_encoder(tmp_path / "encoder", levels=["3"], default_level="3")
    assert here("verify", folder).code == 0
    sound = representation.noise_for

    def weaker(parameters: ReleaseParameters) -> representation.Noise:
        noise = sound(parameters)
        table = discrete_laplace(parameters.scale * 99 / 100, noise.table.reach)
        return representation.Noise(table, noise.margin)

    monkeypatch.setattr(accounting, "noise_for", weaker)
    accounting.realized.cache_clear()
    try:
        ran = here("verify", folder)
    finally:
        accounting.realized.cache_clear()
    assert ran.code == 1
    assert ran.message == "textveil: bundle-damaged: level 3: the noise loses more than the stated epsilon\n"


def test_verify_of_an_encoder_takes_no_number_of_pairs(here: Callable, tiny_encoder: Path) -> None:
    ran = here("verify", tiny_encoder, "--pairs", "10")
    assert ran.code == 1
    assert "--pairs is for bundles of words" in ran.message
    assert here("verify", tiny_encoder).code == 0


def test_verify_refuses_a_damaged_bundle(here: Callable, tmp_path: Path) -> None:
    folder = write_encoder(tmp_path / "encoder")
    (folder / "README.md").write_text("# other\n")
    for arguments in (["verify", folder], ["info", "--bundle", folder], ["encode", "--bundle", folder, "--text", "x"]):
        ran = here(*arguments)
        assert (ran.code, ran.out) == (1, b"")
        assert ran.message.startswith("textveil: bundle-damaged: README.md: ")
