"""``--language`` opens a language pack for every command that rewrites, reads or describes texts."""

import pickle
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from invented_language import FACTS, WORDS, write_invented
from textveil import Conversation, Sanitizer
from textveil.errors import ContentHashMismatch
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
    assert "then pip install textveil_qab-*.whl" in ran.message
    ran = here("sanitize", "--language", "qaa", "--protect", "words", "--text", TEXT)
    assert ran.code == 1
    assert "the modes 'words' and 'all' need --bundle" in ran.message
    assert "vrobelix" not in ran.message


def test_integrations_and_their_pickles_keep_the_language(pack: Path) -> None:
    sanitizer = ConfiguredSanitizer(language="qaa", style="tag")
    again = pickle.loads(pickle.dumps(sanitizer))
    assert sanitizer(TEXT) == again(TEXT) == TEXT.replace("vrobelix", "[word 1]")


def test_a_conversation_keeps_the_language_that_it_began_with(pack: Path, tmp_path: Path) -> None:
    conversation = Conversation(Sanitizer.load(language="qaa"))
    sent = conversation.outgoing_text(TEXT)
    assert sent == TEXT.replace("vrobelix", "[word 1]")
    assert str(conversation.incoming(f"{WORDS[62]} [word 1]")) == f"{WORDS[62]} vrobelix"
    saved, key = tmp_path / "site" / "a.conversation", tmp_path / "key"
    conversation.save(saved, key)
    again = Conversation.load(saved, key, Sanitizer.load(language="qaa"))
    assert again.outgoing_text(TEXT) == sent
    assert again.sanitizer.bundle.language == "qaa"
    for other in (Sanitizer.load(), Sanitizer.load(language="qaa+en")):
        with pytest.raises(ContentHashMismatch, match="started with another bundle"):
            Conversation.load(saved, key, other)


@pytest.mark.parametrize("missing", ["secret_words", "address_words"])
@pytest.mark.parametrize("facts", ["plain", "useful", "public"])
def test_a_language_without_words_for_facts_keeps_none_and_states_it(
    here: Callable, pack: Path, facts: str, missing: str
) -> None:
    shutil.rmtree(pack)
    write_invented(pack, {**FACTS, missing: []})
    ran = here(
        "sanitize",
        "--language",
        "qaa",
        "--style",
        "tag",
        "--facts",
        facts,
        "--text",
        f"{WORDS[60]} 34 {WORDS[70]} 1998",
    )
    assert ran.text.strip() == f"{WORDS[60]} [number 1] {WORDS[70]} [year 1]"
    assert "--facts acts as none: the lists of this language have no words for public facts" in ran.message
    assert Sanitizer.load(language="qaa").terms(facts=facts).statement(0).to_dict()["facts"] == "none"
    quiet = here("sanitize", "--language", "qaa", "--text", WORDS[60])
    assert "--facts" not in quiet.message


@pytest.mark.parametrize("facts", ["none", "plain", "useful", "public"])
def test_a_language_with_words_for_facts_keeps_those_of_plain_at_most(here: Callable, pack: Path, facts: str) -> None:
    text = f"{WORDS[60]} 34 {WORDS[70]} 1998 {WORDS[72]} 35 {WORDS[70]}"
    ran = here("sanitize", "--language", "qaa", "--style", "tag", "--facts", facts, "--text", text)
    kept = "[number 1]" if facts == "none" else "34"
    hidden = f"[year 1] {WORDS[72]} [number {2 if facts == 'none' else 1}]"
    assert ran.text.strip() == f"{WORDS[60]} {kept} {WORDS[70]} {hidden} {WORDS[70]}"
    is_more = facts in ("useful", "public")
    assert ("--facts acts as plain: the lists of this language have no words for more" in ran.message) == is_more
    stated = Sanitizer.load(language="qaa").terms(facts=facts).statement(0).to_dict()["facts"]
    assert stated == ("none" if facts == "none" else "plain")
    assert Sanitizer.load(language="qaa").terms().statement(0).to_dict()["facts"] == "plain"


@pytest.mark.slow
def test_several_processes_open_joined_packs(here: Callable, pack: Path, tmp_path: Path) -> None:
    table, output = tmp_path / "in.csv", tmp_path / "out.csv"
    table.write_text("note\n" + f"the {TEXT} can't\n" * 40, "utf-8")
    ran = here(
        "sanitize", table, "--column", "note", "--language", "qaa+en", "--workers", "2", "--style", "tag", "-o", output
    )
    assert ran.code == 0, ran.message
    assert set(output.read_text("utf-8").splitlines()[1:]) == {f"the {TEXT} can't".replace("vrobelix", "[word 1]")}


@pytest.mark.parametrize(
    "text",
    [
        "Привет, Анна Ковач живет в Москве",
        "这是安娜的信 北京",
        "مرحبا يا آنا من القاهرة",
        "שלום לאנה",
        "\u202eanna\u202c \u2067bob\u2069",
    ],
)
def test_texts_of_other_scripts_and_runs_from_right_to_left_are_replaced(pack: Path, text: str) -> None:
    result = Sanitizer.load(language="qaa").sanitize(text)
    assert not set(re.findall(r"\w+", text)) & set(re.findall(r"\w+", result.text))
    assert str(result.restore(result.text)) == text


def test_a_text_of_another_language_has_a_warning(here: Callable, pack: Path) -> None:
    ran = here(
        "sanitize", "--language", "qaa", "--text", "the doctor said that we should not come to the hospital on that day"
    )
    assert "the text may not be in the language of the bundle" in ran.message
