"""Ledger, budgets, replay cache and receipts work on the command line."""

import json
import re
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from processes import answer, start
from small_label_bundle import write_index
from small_ledger import request_of
from textveil import Ledger, Sanitizer

TEXT = "The doctor, John's zorblax: the Doctor wasn't 5."
HERE = Callable[..., Any]


@pytest.fixture
def sanitize(here: HERE, bundle: Path, path: Path) -> HERE:
    """``textveil sanitize`` of a text with a ledger."""
    return lambda *options, text=TEXT: here("sanitize", "-b", bundle, "--text", text, "--ledger", path, *options)


def test_a_release_is_charged_and_said(sanitize: HERE, path: Path) -> None:
    first, second = sanitize("--privacy-unit", "bank"), sanitize("--privacy-unit", "bank")
    assert (
        "textveil: created a new ledger with the key ledger.key: without the key its contents are lost\n"
        in first.message
    )
    assert first.message.endswith("ledger: 1 document spent epsilon, total of this privacy unit: epsilon 25.5\n")
    assert second.message.endswith(
        "total of this privacy unit: epsilon 51; 1 document released before: each is one more release\n"
    )
    assert "new ledger" not in second.message
    assert sanitize("-q").err == b""
    assert Ledger(path).get_account("bank").displayed_epsilon == "51"
    assert Ledger(path).get_account().displayed_epsilon == "25.5"


def test_a_budget_refuses_and_nothing_comes_out(sanitize: HERE, tmp_path: Path) -> None:
    output = tmp_path / "out.txt"
    assert sanitize("--budget", "30").code == 0
    for options in ([], ["--budget", "30"], ["-o", output]):
        ran = sanitize(*options)
        assert (ran.code, ran.out) == (1, b"")
        assert ran.message.startswith("textveil: budget: this release exceeds the budget of its privacy unit")
    assert not output.exists()
    assert sanitize("--budget", "31").message.startswith(
        "textveil: budget: this privacy unit already has a smaller budget"
    )


def test_lines_are_documents_of_one_scope(here: HERE, bundle: Path, path: Path, tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text("doctor\nnurse\n\ndoctor\n")
    ran = here("sanitize", "-b", bundle, tmp_path / "in.txt", "--ledger", path)
    assert ran.message.endswith(
        "ledger: 4 documents spent epsilon, total of this privacy unit: epsilon 25.5; "
        "1 document released before: each is one more release\n"
    )
    refused = here("sanitize", "-b", bundle, tmp_path / "in.txt", "--ledger", path, "--budget", "50")
    assert (refused.code, refused.out) == (1, b"")


def test_the_memo_gives_the_same_again(sanitize: HERE, tmp_path: Path, path: Path) -> None:
    pytest.importorskip("cryptography")
    memo = ("--replay-cache", "--replay-cache-key", tmp_path / "memo.key")
    first, again, other = sanitize(*memo), sanitize(*memo), sanitize(*memo, "--epsilon", "6")
    assert again.out == first.out
    assert "0 documents spent epsilon, total of this privacy unit: epsilon 25.5; 1 document answered" in again.message
    assert "1 document spent epsilon, total of this privacy unit: epsilon 43.5" in other.message


def test_the_lines_of_an_input_are_one_request_to_the_memo(
    forked: HERE, bundle: Path, path: Path, tmp_path: Path
) -> None:
    pytest.importorskip("cryptography")
    release = (
        "sanitize",
        "-b",
        bundle,
        "--ledger",
        path,
        "--replay-cache",
        "--replay-cache-key",
        tmp_path / "memo.key",
    )
    first, again = (forked(*release, stdin=b"doctor\nflu\ndoctor\n") for _ in range(2))
    assert again.out == first.out
    assert first.out.count(b"\n") == 3
    assert "0 documents spent epsilon, total of this privacy unit: epsilon 25.5; 3 documents answered" in again.message
    other = forked(*release, stdin=b"doctor\nflu\n")
    assert "2 documents spent epsilon, total of this privacy unit: epsilon 42.5" in other.message
    assert forked(*release, stdin=b"").code == 0


def test_lines_that_arrive_one_by_one_are_one_request_too(
    here: HERE, bundle: Path, path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("cryptography")
    monkeypatch.setattr("textveil_cli.console.text_io._READ_BYTES", 8)
    (tmp_path / "all.txt").write_text("doctor\nflu\ndoctor\n")
    (tmp_path / "first.txt").write_text("doctor\n")
    memo = ("--ledger", path, "--replay-cache", "--replay-cache-key", tmp_path / "memo.key")
    for command, where in (("sanitize", bundle), ("encode", write_index(tmp_path / "index"))):
        assert "3 documents spent epsilon" in here(command, "-b", where, tmp_path / "all.txt", *memo).message
        assert "1 document spent epsilon" in here(command, "-b", where, tmp_path / "first.txt", *memo).message


def test_the_default_mode_names_counts_releases(here: HERE, path: Path) -> None:
    for count in (1, 2):
        ran = here("sanitize", "--ledger", path, "--text", f"Ask Anna Novak {'again ' * count}.")
        assert ran.code == 0
        counted = "1 release" if count == 1 else "2 releases"
        assert f"total of this privacy unit: epsilon 0, and {counted} without a finite bound" in ran.message
    ran = here("sanitize", "--ledger", path, "--privacy-unit", "other", "--budget", "60", "--text", "Ask Anna Novak.")
    assert (ran.code, ran.out) == (1, b"")
    assert ran.message.startswith("textveil: budget: names has no finite epsilon, so it exceeds every budget: ")


def test_mechanisms_without_a_bound(here: HERE, tiny_path: Path, path: Path) -> None:
    run = ("sanitize", "-b", tiny_path, "-m", "santext+", "--text", "the doctor", "--ledger", path)
    ran = here(*run)
    assert "total of this privacy unit: epsilon 0, and 1 release without a finite bound" in ran.message
    ran = here(*run, "--budget", "1000", "--privacy-unit", "b")
    assert ran.message == (
        "textveil: budget: santext+ has no finite epsilon, so it exceeds every budget: use another mechanism, or a "
        "privacy unit without a budget\n"
    )


def test_encoding_is_charged(here: HERE, path: Path, tmp_path: Path) -> None:
    index = write_index(tmp_path / "index")
    (tmp_path / "in.txt").write_text("doctor\nnurse\n")
    ran = here("encode", "-b", index, tmp_path / "in.txt", "--ledger", path, "--budget", "10")
    assert len(ran.text.splitlines()) == 2
    assert ran.message.endswith("ledger: 2 documents spent epsilon, total of this privacy unit: epsilon 8 of 10\n")
    ran = here("encode", "-b", index, "--text", "doctor", "--ledger", path)
    assert (ran.code, ran.out) == (1, b"")


def test_what_a_ledger_holds_is_shown(here: HERE, sanitize: HERE, path: Path) -> None:
    sanitize("--privacy-unit", "a", "--budget", "1000")
    sanitize("--privacy-unit", "b")
    shown = here("ledger", "show", path).text.splitlines()
    assert shown[0].split() == ["privacy", "unit", "releases", "epsilon", "budget", "delta", "unbounded"]
    assert sorted(line.split()[1:] for line in shown[1:]) == [
        ["1", "25.5", "-", "0", "0"],
        ["1", "25.5", "1,000", "0", "0"],
    ]
    assert len(here("ledger", "show", path, "--privacy-unit", "a").text.splitlines()) == 2
    assert json.loads(here("ledger", "show", path, "--privacy-unit", "b", "--json").text)[0]["epsilon"] == "25.5"
    assert here("ledger", "show", path, "--privacy-unit", "secret").message == (
        "textveil: option: the ledger has no privacy unit with that name: omit --privacy-unit to see all "
        "(see textveil ledger show --help)\n"
    )


def test_a_ledger_is_exported(here: HERE, sanitize: HERE, path: Path, tmp_path: Path) -> None:
    sanitize()
    exported = json.loads(here("ledger", "export", path).text)
    assert exported == Ledger(path).export()
    assert here("ledger", "export", path, "-o", tmp_path / "out.json").text == ""
    assert json.loads((tmp_path / "out.json").read_text()) == exported
    assert stat.S_IMODE((tmp_path / "out.json").stat().st_mode) == 0o600


def test_a_ledger_is_rotated_and_deleted_if_one_says_so(here: HERE, sanitize: HERE, path: Path, tmp_path: Path) -> None:
    pytest.importorskip("cryptography")
    sanitize("--privacy-unit", "a", "--replay-cache", "--replay-cache-key", tmp_path / "memo.key")
    for command in (["rotate"], ["delete", "--privacy-unit", "a"], ["delete", "--stored-outputs"]):
        ran = here("ledger", *command, path)
        assert (ran.code, ran.message.count("confirm with --yes")) == (1, 1)
    assert here("ledger", "delete", path, "--yes").message.startswith("textveil: option: choose what to delete")
    assert "recorded spending stays" in here("ledger", "delete", path, "--stored-outputs", "--yes").message
    assert Ledger(path).get_account("a").displayed_epsilon == "25.5"
    assert here("ledger", "delete", path, "--privacy-unit", "a", "--yes").code == 0
    assert Ledger(path).list_accounts() == []
    sanitize()
    assert here("ledger", "rotate", path, "--yes").message == "textveil: created a new key and an empty ledger\n"
    assert Ledger(path).list_accounts() == []


@pytest.mark.parametrize("command", ["show", "export", "rotate", "delete"])
def test_a_ledger_that_is_not_there_is_not_made(here: HERE, path: Path, command: str) -> None:
    options = {"rotate": ["--yes"], "delete": ["--stored-outputs", "--yes"]}.get(command, [])
    ran = here("ledger", command, path, *options)
    said = f"the ledger {path.name!r} does not exist: the first release with --ledger creates it"
    assert ran.message == f"textveil: ledger: {said}\n"
    assert list(path.parent.iterdir()) == []


def test_a_receipt_goes_with_an_output(here: HERE, bundle: Path, tmp_path: Path) -> None:
    pytest.importorskip("cryptography")
    receipt, output, source = tmp_path / "receipt.json", tmp_path / "out.txt", tmp_path / "in.txt"
    source.write_text("The doctor's flu.\nnurse\n")
    key = ("--receipt-key", tmp_path / "bank.key")
    for release in (["-o", output, source], ["-o", output, "--json", source], ["-o", output, "--text", TEXT]):
        assert here("sanitize", "-q", "-b", bundle, "--receipt", receipt, *key, *release).code == 0
        ran = here("verify", "--receipt", receipt, "--output", output)
        assert ran.text.startswith("staircase, level 8.5: ")
        assert ran.text.endswith(" sender's key (--signed-by)\nthe receipt matches this output\n")
    public_key = json.loads(receipt.read_text())["key"]
    identity = json.loads(receipt.read_text())["bundle"]
    ran = here("verify", "--receipt", receipt, "--signed-by", public_key, "--expect-id", identity)
    assert ", the expected key\nno output was checked (--output)\n" in ran.text
    output.write_text("another")
    for options, message in [
        (["--output", output], "receipt: the receipt belongs to another output"),
        (["--output", tmp_path / "none"], "input: --output: cannot read the file: No such file or directory"),
        (["--signed-by", "0" * 64], "receipt: another key signed the receipt"),
        (["--expect-id", "0" * 64], "bundle-content-hash: the receipt is for another bundle"),
    ]:
        ran = here("verify", "--receipt", receipt, *options)
        assert (ran.code, ran.out) == (1, b"")
        assert ran.message.startswith(f"textveil: {message}")
    assert "combined with a bundle" in here("verify", bundle, "--receipt", receipt).message
    assert "need --receipt" in here("verify", "--output", output).message
    assert here("verify", "--receipt", tmp_path / "none").message.startswith("textveil: input: --receipt: cannot read")


def test_an_index_has_a_receipt_too(here: HERE, tmp_path: Path) -> None:
    pytest.importorskip("cryptography")
    index, receipt, output = write_index(tmp_path / "index"), tmp_path / "receipt.json", tmp_path / "out.txt"
    options = ("--receipt", receipt, "--receipt-key", tmp_path / "key", "-o", output)
    (tmp_path / "in.txt").write_text("doctor\nnurse\n")
    for source, documents, epsilon in (
        (["--text", "doctor"], "1 document", 4),
        ([tmp_path / "in.txt"], "2 documents", 8),
    ):
        assert here("encode", "-b", index, *options, *source).code == 0
        said = here("verify", "--receipt", receipt, "--output", output).text
        assert said.startswith(f"class label (counts): {documents}, epsilon {epsilon}\n")


def test_a_refused_release_has_no_receipt(sanitize: HERE, tmp_path: Path) -> None:
    pytest.importorskip("cryptography")
    ran = sanitize("--budget", "1", "--receipt", tmp_path / "receipt.json", "--receipt-key", tmp_path / "key")
    assert ran.code == 1
    assert not (tmp_path / "receipt.json").exists()


def test_a_ledger_is_opened_before_anything_is_drawn(sanitize: HERE, path: Path) -> None:
    path.write_bytes(b"dear diary\n" * 100)
    ran = sanitize()
    assert (ran.code, ran.out) == (1, b"")
    assert re.fullmatch(r"textveil: ledger-damaged: this file is not a textveil ledger.*\n", ran.message)


@pytest.mark.slow
def test_a_command_that_is_killed_leaves_no_unknown_line(bundle: Path, path: Path) -> None:
    lines = ["doctor", "nurse flu", "cancer"]
    process = start("sanitize", "-q", "-b", bundle, "--ledger", path, "--privacy-unit", "stream")
    assert process.stdin is not None
    assert process.stdout is not None
    left = b""
    for line in lines:
        process.stdin.write(line.encode() + b"\n")
        process.stdin.flush()
        if line != lines[-1]:
            left += answer(process)
    process.kill()
    left += process.communicate()[0]
    assert left.count(b"\n") >= 2
    ledger, sanitizer = Ledger(path), Sanitizer.load(bundle)
    for line in lines[: left.count(b"\n")]:
        assert ledger.count_releases("stream", request_of(sanitizer, line)) == 1
    ledger.list_accounts()
