"""Builds packs from a few invented words in place of the public sources, and compares and reads what comes out."""

import importlib.util
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from textveil import Sanitizer

FOLDER = Path(__file__).parents[2] / "packs"
ENGLISH_RULES = FOLDER.parent / "runtime/src/textveil/data/rules.json"
LANGUAGES = sorted(path.parent.name for path in FOLDER.glob("*/words.toml"))
WORDS = ["ziloran", "zimuret", "zipadon", "zipókan", "zikalin"]


@pytest.fixture(scope="module")
def builder() -> Iterator[ModuleType]:
    """Import packs/build.py, which finds its sources beside it."""
    sys.path.insert(0, str(FOLDER))
    spec = importlib.util.spec_from_file_location("build_packs", FOLDER / "build.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    sys.path.remove(str(FOLDER))
    sys.modules.pop("language_sources")


class InventedSources:
    """Stand in for the public sources of a language."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self.settings, self.language = settings, settings["language"]
        rare = [f"zu{first}{last}ra{end}" for first in "bdfg" for last in "aeiou" for end in ("", *settings["endings"])]
        fillers = [f"q{number}" for number in range(20_000)]
        self.frequencies = dict.fromkeys([*WORDS, "zanel", *fillers], 1e-5) | dict.fromkeys(rare, 1e-7)
        self.candidates = list(self.frequencies)
        self.dictionary = set(WORDS) | set(rare)
        self.cased: dict[str, float] = {}

    def get_share(self, word: str) -> float:
        return 0.0 if word == "zanel" else 1.0

    def list_names(self, kind: str) -> list[str]:
        return ["zanel", "zorik"] if kind == "given" else ["zomber", "zutter"]

    def list_nouns(self) -> set[str]:
        return {"zipadon", "zorik", "zormunder"}

    def list_months(self) -> list[str]:
        return [f"zim{letter}r" for letter in "abcdefghijkl"]

    def list_weekdays(self) -> set[str]:
        return {"zidag"}

    def list_countries(self) -> set[str]:
        return {"Zerland", "Zestan"}

    def list_cities(self) -> list[tuple[str, bool]]:
        return [("Zormund", True), ("Zetown", False)]


def build_files(module: ModuleType, language: str) -> dict[str, str]:
    settings = tomllib.loads((FOLDER / language / "words.toml").read_text("utf-8"))
    return module.PackBuilder(settings, InventedSources(settings)).list_files()


@pytest.mark.parametrize("language", LANGUAGES)
def test_two_builds_are_equal_and_make_a_bundle_that_hides_names(
    builder: ModuleType, language: str, tmp_path: Path
) -> None:
    files = build_files(builder, language)
    assert build_files(builder, language) == files
    lists = tmp_path / "lists"
    lists.mkdir()
    for name, text in files.items():
        (lists / name).write_text(text, "utf-8")
    (lists / "README.md").write_bytes((FOLDER / language / "README.md").read_bytes())
    command = ["names", str(lists), "--license", "MIT", "-o", str(tmp_path / "pack")]
    subprocess.run([sys.executable, "-m", "textveil_export", *command], check=True)
    result = Sanitizer.load(tmp_path / "pack").sanitize("ziloran zimuret Zutter zipadon, ziloran", protect="names")
    assert result.text.startswith("ziloran zimuret ")
    assert result.text.endswith(" zipadon, ziloran")
    assert "Zanel" not in result.text


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_name_is_never_common_and_frequent_words_lose_their_accents(builder: ModuleType, language: str) -> None:
    common = {line.partition("\t")[0] for line in build_files(builder, language)["common-words.txt"].splitlines()}
    assert not {"zanel", "zorik", "zomber", "zerland", "zormund"} & common
    assert {"zipókan", "zipokan"} <= common


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_pool_of_the_rules_is_built(builder: ModuleType, language: str) -> None:
    files = build_files(builder, language)
    rules = json.loads(files["rules.json"])
    assert rules["language"] == language
    assert all(files[f"surrogates.word-{ending}.txt"] for ending in rules["endings"]["kept"])


def test_nouns_are_kept_with_a_capital_unless_they_are_names(builder: ModuleType) -> None:
    lines = build_files(builder, "de")["common-words.txt"].splitlines()
    marks = {word: flags.split(",") for word, _, flags in (line.partition("\t") for line in lines)}
    assert "noun" in marks["zipadon"]
    assert "noun" not in marks["ziloran"]
    assert "noun" in marks["ihnen"]  # letters write it with a capital
    assert not {"zorik", "zormunder"} & marks.keys()  # a first name; who lives in the town zormund


@pytest.mark.parametrize(
    ("word", "is_compound"),
    [("zilhaus", True), ("zilenhaus", True), ("zilqhaus", False), ("zilberg", False), ("qqqhaus", False)],
)
def test_a_compound_ends_in_a_noun_that_is_no_head_of_names(builder: ModuleType, word: str, is_compound: bool) -> None:
    sources = sys.modules["language_sources"]
    nouns, links = {"haus", "berg"}, ["", "en"]
    assert sources._is_compound(word, nouns, {"zil"}, links, ("berg",)) == is_compound


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_pack_has_reserved_numbers_of_its_own(builder: ModuleType, language: str) -> None:
    rules = json.loads(build_files(builder, language)["rules.json"])
    templates, english = rules["surrogates"]["templates"], json.loads(ENGLISH_RULES.read_text("utf-8"))
    own = {name for name, text in templates.items() if text != english["surrogates"]["templates"][name]}
    assert own == {"date", "iban", "other", "phone"}
    assert templates["iban"].startswith(f"{language.upper()}00")
    words = [word for entry in rules["surrogates"]["choices"].values() for word in entry]
    assert "2nd" not in words


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_card_of_each_pack_has_its_sources(language: str) -> None:
    card = (FOLDER / language / "README.md").read_text("utf-8")
    assert f"build.py {language} {language}-lists" in card
    assert "## Sources" in card
    locked = dict(line.split("==") for line in (FOLDER / "requirements.txt").read_text("utf-8").split())
    for source, version in re.findall(r"^\| `([a-z-]+)` ([0-9.]+) ", card, re.MULTILINE):
        assert locked.get(source, version) == version
