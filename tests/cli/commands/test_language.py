"""``--language`` opens a language pack for every command that rewrites, reads or describes texts."""

import pickle
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from invented_language import WORDS, write_invented
from textveil_cli.integrations import ConfiguredSanitizer

TEXT = f"{WORDS[60]} l'{WORDS[61]} vrobelix"


@pytest.fixture
def pack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Install a pack, and return its bundle."""
    (tmp_path / "site").mkdir()
    monkeypatch.syspath_prepend(tmp_path / "site")
    return write_invented(tmp_path / "site" / "textveil_qaa" / "bundle")


def test_texts_and_tables_are_read_in_the_language(here: Callable, pack: Path, tmp_path: Path) -> None:
    ran = here("sanitize", "--language", "qaa", "--style", "tag", "--text", TEXT)
    assert ran.text.strip() == TEXT.replace("vrobelix", "[word 1]")
    table, output = tmp_path / "in.csv", tmp_path / "out.csv"
    table.write_text(f"note,number\n{TEXT},1\n", "utf-8")
    assert here("sanitize", table, "--column", "note", "--language", "qaa", "-o", output).code == 0
    assert re.search(f"\n{WORDS[60]} l'{WORDS[61]} (?!vrobelix)\\w+,1\n", output.read_text("utf-8"))
    assert here("preview", "--language", "qaa", "--text", TEXT).text.startswith(f"{WORDS[60]} l'{WORDS[61]} <word>")
    assert "lists of the mode names" in here("info", "--language", "qaa").text


def test_a_missing_pack_and_another_mode_are_refused_with_the_next_step(here: Callable, pack: Path) -> None:
    ran = here("sanitize", "--language", "qab", "--text", TEXT)
    assert ran.code == 1
    assert "pip install textveil-qab" in ran.message
    ran = here("sanitize", "--language", "qaa", "--protect", "words", "--text", TEXT)
    assert ran.code == 1
    assert "words and all need --bundle" in ran.message
    assert "vrobelix" not in ran.message


def test_integrations_and_their_pickles_keep_the_language(pack: Path) -> None:
    sanitizer = ConfiguredSanitizer(language="qaa", style="tag")
    again = pickle.loads(pickle.dumps(sanitizer))
    assert sanitizer(TEXT) == again(TEXT) == TEXT.replace("vrobelix", "[word 1]")
