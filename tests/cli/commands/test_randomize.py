"""``--randomize FILE`` randomizes the words of a public list in the mode ``names``."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from drawn_words import strict_words
from small_names import write_names
from textveil import Sanitizer

Here = Callable[..., Any]
WORDS = strict_words(Sanitizer.load().bundle, 120)
TEXT = f"Anna Novak saw the {WORDS[5]}, and {WORDS[6]}."
LINE = (
    "Kept: common words from a public list. Randomized: 2 words of a public list of 120, epsilon 10 per word. "
    "All other words and numbers: replaced by random ones of their type, some by tags. "
    "Kept words can still reveal who the text is about."
)


@pytest.fixture
def listed(tmp_path: Path) -> Path:
    path = tmp_path / "draw.txt"
    path.write_text("\ufeff" + "\r\n".join(WORDS[:60]) + "\r\n\r\n" + "\n".join(f" {word}" for word in WORDS[60:]))
    return path


@pytest.fixture
def rewrite(here: Here) -> Here:
    return lambda *arguments: here("sanitize", "--protect", "names", "--facts", "none", *arguments)


def is_drawn(text: str) -> bool:
    """Whether two words of the list stand where there were two."""
    words = text.strip().rstrip(".").replace(",", "").split()
    return words[2:4] == ["saw", "the"] and words[4] in WORDS and words[5] == "and" and words[6] in WORDS


@pytest.mark.parametrize("way", ["text", "line", "csv"])
def test_every_kind_of_text(rewrite: Here, listed: Path, tmp_path: Path, way: str) -> None:
    file = tmp_path / f"in.{way}"
    file.write_text(f'note\n"{TEXT}"\n' if way == "csv" else f"{TEXT}\n", "utf-8")
    given = {"text": ["--text", TEXT], "line": [file], "csv": ["--csv", "--column", "note", file]}
    ran = rewrite("--randomize", listed, *given[way])
    assert ran.code == 0, ran.message
    assert LINE in ran.message
    assert "over half" not in ran.message
    said = ran.text.removeprefix("note\n").strip().strip('"')
    assert is_drawn(said)
    assert "Novak" not in said


def test_levels_and_statements(rewrite: Here, listed: Path) -> None:
    said = rewrite("-q", "--json", "--randomize", listed, "--epsilon", "6", "--text", TEXT).text
    statement = json.loads(said)["statement"]
    assert statement["level"] == "6"
    assert statement["epsilon_text"] is None
    assert (statement["randomize"]["words"], statement["randomize"]["epsilon_per_word"]) == (120, 6.0)
    assert statement["randomized_words"] == 2
    said = rewrite("--randomize", listed, "--epsilon", "4", "--text", TEXT).message
    assert "Randomized: 2 words of a public list of 120, epsilon 4 per word" in said


def test_a_preview_and_a_row(here: Here, listed: Path) -> None:
    ran = here("preview", "--protect", "names", "--randomize", listed, "--no-color", "--text", TEXT)
    assert f"<person> saw the {'_' * len(WORDS[5])}, and {'_' * len(WORDS[6])}." in ran.text
    assert "6 tokens: 3 kept, 1 replaced by a surrogate of its type, 2 randomized\n" in ran.text
    assert WORDS[5] in here("inspect", WORDS[5], "--protect", "names", "--randomize", listed).text


def test_receipts_and_ledgers_say_so(rewrite: Here, here: Here, listed: Path, tmp_path: Path) -> None:
    pytest.importorskip("cryptography")
    receipt = tmp_path / "receipt.json"
    ledger = ["--ledger", tmp_path / "books"]
    ran = rewrite(
        *ledger, "--receipt", receipt, "--receipt-key", tmp_path / "key", "--randomize", listed, "--text", TEXT
    )
    assert (
        "1 document spent epsilon, total of this privacy unit: epsilon 0, and 1 release without a finite bound"
        in ran.message
    )
    content = json.loads(receipt.read_text())
    options = content["options"]
    assert (options["randomize"]["words"], options["randomize"]["epsilon_per_word"], content["epsilon"]) == (
        120,
        10.0,
        None,
    )
    assert "names, level 10: 1 document, no finite epsilon" in here("verify", "--receipt", receipt).text


def test_words_that_the_vocabulary_lacks_are_said_of(rewrite: Here, listed: Path) -> None:
    assert "--randomize" not in rewrite("--randomize", listed, "--text", TEXT).message
    listed.write_text("\n".join([*WORDS, "zorblax", "flimping"]))
    ran = rewrite("--randomize", listed, "--text", TEXT)
    assert (
        "textveil: --randomize: the vocabulary lacks 2 words of the list: randomized, but never a replacement\n"
        in ran.message
    )
    assert "--randomize" not in rewrite("-q", "--randomize", listed, "--text", TEXT).message
    assert rewrite("-q", "--randomize", listed, "--text", "the zorblax").text.split()[1] in WORDS


def test_files_rungs_and_bundles_that_are_refused(rewrite: Here, here: Here, listed: Path, tmp_path: Path) -> None:
    assert rewrite("--randomize", tmp_path / "zorblax", "--text", TEXT).message == (
        "textveil: input: --randomize: no such file\n"
    )
    assert here("sanitize", "--protect", "words", "--randomize", listed, "--text", TEXT).message == (
        "textveil: option: --randomize: only the mode 'names' supports this: use --protect names "
        "(see textveil sanitize --help)\n"
    )
    bundle = write_names(tmp_path / "bundle")
    assert rewrite("-b", bundle, "--randomize", listed, "--text", TEXT).message == (
        "textveil: unknown-mechanism: this bundle contains the lists of the mode names only: use the built-in bundle "
        "(see textveil sanitize --help)\n"
    )
    ran = rewrite("--randomize", listed, "-o", listed, "--text", TEXT)
    assert (ran.code, listed.stat().st_size > 0) == (1, True)


def test_a_folder_is_gone_on_with_under_the_same_list(rewrite: Here, listed: Path, tmp_path: Path) -> None:
    folder, out = tmp_path / "in", tmp_path / "out"
    folder.mkdir()
    (folder / "a.txt").write_text(TEXT)
    assert rewrite(folder, "-o", out, "--randomize", listed).code == 0
    listed.write_text("\n".join(reversed(WORDS)))
    assert "1 file finished by an earlier run" in rewrite(folder, "-o", out, "--resume", "--randomize", listed).message
    listed.write_text("\n".join(WORDS[:110]))
    assert "resume" in rewrite(folder, "-o", out, "--resume", "--randomize", listed).message.split(":")[1]
