"""``textveil serve`` makes real releases, and no text is in its messages or remaining files."""

import json
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path

import pytest
from canaries import CANARIES, SECRET
from serving import served
from small_label_bundle import SENTENCES, sentences_of, write_index
from textveil import Ledger

pytest.importorskip("starlette", reason="needs the extra serve: make integrations")
pytest.importorskip("uvicorn", reason="needs the extra serve: make integrations")

ROOT = Path(__file__).parents[3]
SMALL = ROOT / "artifacts" / "english-v4"
_PATIENT = ("--timeout-seconds", "200")
START = ("-m", "textveil", "serve", "--port", "0")


def leaves(folder: Path) -> list[Path]:
    return [path for path in (folder / "place").rglob("*") if path.is_file()]


@pytest.mark.slow
def test_texts_are_released_and_nothing_stays(tmp_path: Path) -> None:
    with served(tmp_path, *START, "--bundle", SMALL, "--protect", "words", "--epsilon", "4") as server:
        promise = server.ask("GET", "/info")[1]["sanitize"]
        assert (promise["level"], promise["epsilon_per_word"]) == ("4", 4)
        status, said, _ = server.ask("POST", "/sanitize", {"text": f"The {SECRET} said: no."})
        assert status == 200
        assert said["text"].startswith("The ")
        assert said["text"].endswith(": no.")
        assert said["statement"]["epsilon_per_word"] == 4
        texts = [f"the {canary} and" for canary in CANARIES if canary.isprintable()]
        status, several, _ = server.ask("POST", "/sanitize", {"texts": texts})
        assert status == 200
        assert len(several["results"]) == len(texts)
        bad = server.ask("POST", "/sanitize", {"text": SECRET, "more": SECRET})
        assert server.stop(signal.SIGINT) == 0
        assert "Zorblaxia" not in json.dumps([said, several, bad]) + server.said
        assert "48213977" not in json.dumps([said, several, bad]) + server.said
        assert server.said.count("\n") == 1  # where it listened, and no more
    assert leaves(tmp_path) == []


@pytest.mark.full
@pytest.mark.slow
def test_bodies_as_long_as_they_may_be_are_answered_and_keep_nobody_out(tmp_path: Path) -> None:
    """Of marks that are drawn one by one, which cost most: two such requests once stopped it for 90 seconds."""
    long = {"text": "!" * ((1 << 20) - 100)}
    with (
        served(
            tmp_path, *START, "--bundle", SMALL, "--protect", "words", "--sanitize-punctuation", *_PATIENT
        ) as server,
        ThreadPoolExecutor(2) as clients,
    ):
        asked = [clients.submit(server.ask, "POST", "/sanitize", long, patience=400) for _ in range(2)]
        assert server.ask("POST", "/sanitize", {"text": "a"}, patience=100)[0] == 200
        answers = [one.result() for one in asked]
        assert [status for status, _, _ in answers] == [200, 200]
        assert all(len(said["text"].split()) == len(long["text"]) for _, said, _ in answers)


@pytest.mark.slow
def test_sentences_are_released(tmp_path: Path) -> None:
    bundle = write_index(tmp_path / "index", files=sentences_of())
    with served(tmp_path, *START, "--bundle", SMALL, "--encoder", bundle, "--encoder-as-text") as server:
        assert server.ask("GET", "/info")[1]["encode"]["sentences"] == len(SENTENCES)
        for text in (SECRET, ""):
            status, said, _ = server.ask("POST", "/encode", {"text": text})
            assert (status, said["sentence"] in SENTENCES) == (200, True)
            assert said["statement"]["sentence_description"] == "one of 6 public sentences, not the author's words"
            assert "Zorblax" not in json.dumps(said) + server.said


@pytest.mark.full
def test_the_example_runs(tmp_path: Path) -> None:
    example = [sys.executable, "-B", ROOT / "examples" / "with_serve.py"]
    done = subprocess.run(example, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("My ")
    assert done.stdout.count("Kept: common words from a public list") == 2


@pytest.mark.slow
def test_vectors_are_released(tmp_path: Path) -> None:
    if find_spec("onnxruntime") is None or find_spec("onnx") is None:
        pytest.skip("needs the extra encoder, and onnx to make a model")
    from small_encoders import identity_of, write_encoder

    model = write_encoder(tmp_path / "tiny")
    with served(
        tmp_path, *START, "--bundle", SMALL, "--encoder", model, "--encoder-expect-id", identity_of(model)
    ) as server:
        assert server.ask("GET", "/info")[1]["encode"] is not None
        status, said, _ = server.ask("POST", "/encode", {"text": SECRET})
        assert status == 200
        assert set(said) == {"vector", "integers", "statement"}
        assert len(server.ask("POST", "/encode", {"texts": ["a", "b"]})[1]["results"]) == 2
        assert server.ask("POST", "/sanitize", {"text": "the"})[1]["text"] == "the"
        assert "Zorblax" not in json.dumps(said) + server.said
    assert leaves(tmp_path) == []


@pytest.mark.slow
def test_a_ledger_charges_and_its_budget_refuses(tmp_path: Path) -> None:
    """Nothing is released above the budget, also after a restart."""
    files = (
        "--ledger",
        tmp_path / "ledger",
        "--budget",
        "12",
        "--protect",
        "words",
        "--epsilon",
        "4",
    )  # 4 nats a drawn word
    first = {f"the {SECRET}": 200, "the nurse": 200, f"the doctor {SECRET}": 403, "the lawyer": 200}
    for number, asked in enumerate([first, {"the doctor": 403, "the": 200}]):
        (tmp_path / str(number)).mkdir()
        with served(tmp_path / str(number), *START, "--bundle", SMALL, *files) as server:
            said = [server.ask("POST", "/sanitize", {"text": text}) for text in asked]
            assert [status for status, _, _ in said] == list(asked.values())
            refused = next(answer for status, answer, _ in said if status == 403)
            assert refused["error"]["code"] == "budget"
            assert server.stop() == 0
            assert "textveil: ledger: " in server.said
            assert "Zorblax" not in json.dumps([answer for _, answer, _ in said]) + server.said
    assert b"Zorblax" not in (tmp_path / "ledger").read_bytes()


@pytest.mark.slow
def test_names_are_replaced(tmp_path: Path) -> None:
    allowed = tmp_path / "allow.txt"
    allowed.write_text("Anna\n")
    mode = ("--protect", "names", "--tag", "person", "--keep", "city", "--allow", allowed)
    with served(tmp_path, *START, "--bundle", SMALL, *mode) as server:
        assert server.ask("GET", "/info")[1]["sanitize"]["epsilon_text"] is None
        status, said, _ = server.ask("POST", "/sanitize", {"text": "The doctor called Olga in Boston."})
        assert (status, said["text"]) == (200, "The doctor called [person 1] in Boston.")
        assert (said["statement"]["epsilon_text"], said["statement"]["kept_words"]) == (None, 4)
        assert server.stop() == 0
        assert "entries of --allow: 1 names of persons (kept there too)" in server.said
        assert "Anna" not in server.said


@pytest.mark.slow
def test_a_request_names_its_privacy_unit_and_a_memo_gives_again(tmp_path: Path) -> None:
    pytest.importorskip("cryptography", reason="cryptography is not installed")
    books = tmp_path / "books"
    books.mkdir()
    mode = ("--protect", "words", "--epsilon", "4")
    files = ("--ledger", books / "ledger", "--budget", "8", *mode, "--privacy-unit-per-request")
    memo = ("--replay-cache", "--replay-cache-key", tmp_path / "key")
    with served(tmp_path, *START, "--bundle", SMALL, *files, *memo) as server:

        def ask(text: str, **more: object) -> tuple[int, dict]:
            return server.ask("POST", "/sanitize", {"text": text, **more})[:2]

        assert server.ask("GET", "/info")[1]["privacy_unit_per_request"] is True
        first = ask("the doctor asked", privacy_unit=SECRET)
        assert first[0] == 200
        assert [ask("the doctor asked", privacy_unit=SECRET) for _ in range(3)] == [first] * 3, "at no charge"
        assert ask("the nurse", privacy_unit=SECRET)[0] == 403
        assert ask("the nurse", privacy_unit="another")[0] == 200
        assert ask("the nurse")[0] == 200
        for wrong in ("", 5, None, "x" * 1001, ["a"]):
            status, said = ask("the nurse", privacy_unit=wrong)
            assert (status, said["error"]["code"]) == (422, "body")
        assert server.ask("POST", "/sanitize", b'{"text": "a", "privacy_unit": "\\ud800"}')[0] == 422
        assert server.stop() == 0
        assert "3 documents spent epsilon, each in the privacy unit that its request names; 3 documents answered" in (
            server.said
        )
        assert "Zorblax" not in server.said
    assert b"Zorblax" not in (books / "ledger").read_bytes()
    ledger = Ledger(books / "ledger")
    assert [ledger.get_account(scope).displayed_epsilon for scope in (SECRET, "another", "default")] == ["8", "4", "4"]


@pytest.mark.slow
def test_without_the_option_no_request_names_a_privacy_unit(tmp_path: Path) -> None:
    with served(tmp_path, *START, "--bundle", SMALL, "--protect", "words", "--ledger", tmp_path / "ledger") as server:
        assert server.ask("GET", "/info")[1]["privacy_unit_per_request"] is False
        assert server.ask("POST", "/sanitize", {"text": "the nurse", "privacy_unit": "mine"})[0] == 422
    assert Ledger(tmp_path / "ledger").list_accounts() == []


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--protect", "words", "--epsilon", "7"], 1, "textveil: unknown-epsilon: "),
        (["--epsilon", "6"], 1, "textveil: option: the default mode 'names' does not support --epsilon "),
        (["--protect", "names", "--epsilon", "6"], 1, "textveil: option: the mode 'names' does not support --epsilon "),
        (["--protect", "names", "--keep", SECRET], 1, "textveil: option: no such entity type: choose among account"),
        (["--privacy-unit-per-request"], 1, "textveil: option: --privacy-unit-per-request needs --ledger FILE"),
        (["--replay-cache"], 1, "textveil: option: --replay-cache needs --ledger FILE"),
        (["--encoder-epsilon", "4"], 1, "textveil: option: --encoder-epsilon and --encoder-as-text need --encoder"),
        (["--encoder-as-text"], 1, "textveil: option: --encoder-epsilon and --encoder-as-text need --encoder"),
    ],
)
def test_wrong_usage_is_one_line(forked: Callable, arguments: list[str], code: int, message: str) -> None:
    done = forked("serve", *arguments)
    assert done.code == code
    assert done.message.startswith(message)
    assert done.message.count("\n") == 1


@pytest.mark.slow
def test_without_its_extra_it_says_what_to_install() -> None:
    code = """
import sys
sys.modules["starlette"] = None  # as if it were not installed
sys.argv = ["textveil", "serve"]
from textveil_cli.__main__ import main
main()
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 1
    assert done.stderr == (
        "textveil: extra-missing: this needs starlette and uvicorn: pip install 'textveil-cli[serve]' "
        "(in a clone: pip install './cli[serve]')\n"
    )
