"""A language pack is found only if it is asked for, none of its code runs, and joined packs hide each other's names."""

import json
import sys
from pathlib import Path

import pytest
from invented_language import WORDS, make_rules, write_invented
from small_names import write_names
from textveil import Sanitizer
from textveil.bundle.languages import find_language_pack, join_lists, split_languages
from textveil.errors import (
    BundleDamaged,
    BundleNotFound,
    BundleVersion,
    ContentHashMismatch,
    OptionError,
    UnknownMechanism,
)


@pytest.fixture
def pack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Install a pack whose code raises an error if it runs."""
    package = tmp_path / "site" / "textveil_qaa"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise SystemExit('the code of a pack ran')", "utf-8")
    monkeypatch.syspath_prepend(package.parent)
    return write_invented(package / "bundle")


def test_a_pack_is_opened_by_its_language_without_its_code(pack: Path) -> None:
    sanitizer = Sanitizer.load(language="qaa")
    assert sanitizer.bundle.path == pack
    assert sanitizer.sanitize(WORDS[60]).text == WORDS[60]
    assert "textveil_qaa" not in sys.modules
    assert Sanitizer.load(**sanitizer.bundle.expected_bundle).bundle.content_hash == sanitizer.bundle.content_hash


def test_no_pack_is_opened_unasked(pack: Path) -> None:
    assert Sanitizer.load().bundle.is_builtin
    assert Sanitizer.load(language="en").bundle.is_builtin
    assert WORDS[60] not in Sanitizer.load().sanitize(f"the {WORDS[60]} and the {WORDS[61]}").text


def test_a_missing_pack_is_refused_with_its_command(pack: Path) -> None:
    with pytest.raises(BundleNotFound, match=r"\(packs/README\.md\), then pip install textveil_qab-\*\.whl$"):
        find_language_pack("qab")
    with pytest.raises(BundleNotFound, match=r"\(packs/README\.md\), then pip install textveil_qab-\*\.whl$"):
        Sanitizer.load(language="qaa+qab")


@pytest.mark.parametrize("language", ["", "EN", "../x", "en+", "en+en", "a.b", "es+fr+nl+de+pt", 7])
def test_what_is_no_language_is_refused(language: str) -> None:
    with pytest.raises(OptionError, match=r"^language"):
        split_languages(language)


def test_a_bundle_of_another_language_is_refused(pack: Path, tmp_path: Path) -> None:
    with pytest.raises(OptionError, match="is for the language qaa, not es"):
        Sanitizer.load(pack, language="es")
    with pytest.raises(OptionError, match="is for the language en, not qaa"):
        Sanitizer.load(write_names(tmp_path / "english"), language="qaa")


def test_a_pack_of_another_version_is_refused(pack: Path) -> None:
    manifest = pack / "manifest.json"
    manifest.write_text(manifest.read_text("utf-8").replace('"format_version": 5', '"format_version": 99'), "utf-8")
    with pytest.raises(BundleVersion, match="update textveil"):
        Sanitizer.load(language="qaa")


def test_a_pack_without_a_pool_that_its_rules_name_is_refused(tmp_path: Path) -> None:
    rules = json.dumps(make_rules() | {"endings": {"except": [], "kept": ["zzz"]}})
    folder = write_names(tmp_path / "pack", changed={"rules.json": rules})
    with pytest.raises(BundleDamaged, match="the list word-zzz of the mode 'names' is missing"):
        Sanitizer.load(folder, language="qaa").sanitize(WORDS[0])


def test_a_pack_with_a_weekday_among_its_common_words_is_refused(tmp_path: Path) -> None:
    changed = {"common-words.txt": f"{WORDS[0]}\tstart,strict\n", "entity.weekday.txt": f"{WORDS[0]}\n"}
    with pytest.raises(BundleDamaged, match="line 1 is also a weekday: the mode `names` replaces it, remove the line"):
        Sanitizer.load(write_names(tmp_path / "pack", changed=changed)).sanitize("x")


@pytest.mark.parametrize("language", ["qaa", "qaa+en"])
@pytest.mark.parametrize("mode", ["words", "all"])
def test_a_pack_has_no_table_of_words(pack: Path, language: str, mode: str) -> None:
    with pytest.raises(UnknownMechanism, match="need --bundle with a staircase of that language"):
        Sanitizer.load(language=language).sanitize(WORDS[0], protect=mode)


def test_joined_packs_keep_words_of_both(pack: Path) -> None:
    sanitizer = Sanitizer.load(language="qaa+en")
    text = f"the meeting {WORDS[60]} was l'{WORDS[61]} and they can't stay"
    assert sanitizer.sanitize(text).text == text
    assert sanitizer.bundle.content_hash != Sanitizer.load(language="en+qaa").bundle.content_hash
    with pytest.raises(ContentHashMismatch):
        Sanitizer.load(language="qaa+en", expect_id="0" * 64)


def test_joined_packs_hide_a_word_that_one_of_them_lists_as_a_name(pack: Path, tmp_path: Path) -> None:
    invented = Sanitizer.load(pack).bundle.get_names_lists()
    name = "|".join(sorted(["boston", "doctor", WORDS[60], WORDS[0]]))
    folder = write_names(tmp_path / "other", changed={"entity.city.txt": name.replace("|", "\n") + "\n"})
    joined = join_lists([invented, Sanitizer.load(folder).bundle.get_names_lists()])
    assert WORDS[60] not in joined.common_words
    assert {WORDS[0], WORDS[61], "doctor"} <= joined.common_words.keys()
    assert "boston" in joined.members_by_type["city"]


@pytest.mark.parametrize(
    "foreign",
    [
        "the quick brown fox sees novak",
        "שלום קוראים לי אוסטרנדר",
        "مرحبا اسمي نوفاك",
        "我叫王小明",
        "สวัสดีครับผมชื่อสมชาย",
    ],
)
def test_no_word_of_another_language_or_script_is_kept(pack: Path, foreign: str) -> None:
    """Also between marks of direction, beside common words of the pack, which stay."""
    text = f"{WORDS[60]} \u202b{foreign}\u202c {WORDS[61]}"
    pieces = Sanitizer.load(language="qaa").preview(text, protect="names")
    kept = "".join(piece for piece, state in pieces if state in ("kept", "gap"))
    assert sorted(word for word in kept.split() if word.isalpha()) == sorted([WORDS[60], WORDS[61]])
