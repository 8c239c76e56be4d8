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
from invented_language import write_invented
from small_names import write_names
from textveil import Sanitizer

FOLDER = Path(__file__).parents[2] / "packs"
ENGLISH_RULES = FOLDER.parent / "runtime/src/textveil/data/rules.json"
LANGUAGES = sorted(path.parent.name for path in FOLDER.glob("*/words.toml"))
WORDS = ["ziloran", "zimuret", "zipadon", "zipókan", "zikalin"]


def import_script(name: str) -> ModuleType:
    """Import a script of packs/ under a name of its own."""
    spec = importlib.util.spec_from_file_location(f"packs_{name}", FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def builder() -> Iterator[ModuleType]:
    """Import packs/build.py, which finds its sources beside it."""
    sys.path.insert(0, str(FOLDER))
    yield import_script("build")
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
        return {"zanel": 0.0, "zipadon": 0.8}.get(word, 1.0)

    def list_names(self, kind: str) -> list[str]:
        return ["zanel", "zorik"] if kind == "given" else ["zomber", "zutter"]

    def list_nouns(self) -> set[str]:
        return {"zipadon", "zimuret", "zorik", "zormunder"}

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


@pytest.mark.slow
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
    folder = import_script("package").write_package(tmp_path / "pack", tmp_path / "distribution")
    assert (folder / "licenses/MIT.txt").read_text("utf-8").count("WITHOUT WARRANTY OF ANY KIND") == 1
    assert {path.name for path in (folder / f"textveil_{language}").glob("*")} == {"__init__.py", "bundle", "recipe"}
    assert (folder / f"textveil_{language}/recipe/words.toml").is_file()
    assert 'license-files = ["licenses/*"]' in (folder / "pyproject.toml").read_text("utf-8")


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


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_word_before_the_names_of_saints_is_no_title(language: str) -> None:
    """As a title it had a surrogate of its own: *San Sebastián* became *Dr Blanca*."""
    settings = tomllib.loads((FOLDER / language / "words.toml").read_text("utf-8"))
    saints = {"san", "santa", "santo", "são", "saint", "sainte", "sant", "sint", "sankt"}
    assert not saints & set(re.split(r"[ |]", settings["entity"]["title"]))
    assert saints & set(settings["entity"]["first-word"].split()) & set(settings["words"]["not_common"].split())


def test_phrases_have_a_key_with_accents_and_one_without(builder: ModuleType) -> None:
    keys = vars(builder)["key_phrases"]
    assert keys("São-Zorik") == {"são zorik", "sao zorik"}
    assert keys("Zürik") == {"zürik"}


def test_a_short_rare_word_in_capitals_is_an_acronym(builder: ModuleType) -> None:
    is_shouted = builder.PackBuilder._is_shouted
    assert is_shouted("zilo", 3e-5)
    assert is_shouted("zilor", 1e-7)
    assert not is_shouted("zilo", 2e-5)
    assert not is_shouted("zi", 1e-2)


def test_everyday_words_that_are_brands_are_no_emphasis(builder: ModuleType) -> None:
    settings = tomllib.loads((FOLDER / "nl" / "words.toml").read_text("utf-8"))
    sources = InventedSources(settings)
    files = [builder.PackBuilder(settings, sources).list_files()["common-words.txt"]]
    (word,) = [line.partition("\t")[0] for line in files[0].splitlines() if "emphasis" in line][:1]
    settings["words"]["no_emphasis"] = word
    files.append(builder.PackBuilder(settings, sources).list_files()["common-words.txt"])
    marks = [next(line for line in text.splitlines() if line.startswith(f"{word}\t")) for text in files]
    assert ["emphasis" in line for line in marks] == [True, False]


def test_a_state_or_place_is_not_kept_at_the_start_of_a_sentence(builder: ModuleType) -> None:
    settings = tomllib.loads((FOLDER / "nl" / "words.toml").read_text("utf-8"))
    settings["entity"]["state"] += "|ziloran"
    files = builder.PackBuilder(settings, InventedSources(settings)).list_files()
    lines = files["common-words.txt"].splitlines()
    marks = {word: flags.split(",") for word, _, flags in (line.partition("\t") for line in lines)}
    assert "start" in marks["zimuret"]
    assert "start" not in marks.get("ziloran", [])


def test_nouns_are_kept_with_a_capital_unless_they_are_names(builder: ModuleType) -> None:
    lines = build_files(builder, "de")["common-words.txt"].splitlines()
    marks = {word: flags.split(",") for word, _, flags in (line.partition("\t") for line in lines)}
    assert "noun" in marks["zipadon"]
    assert "noun" not in marks["ziloran"]
    assert "noun" not in marks["zimuret"]  # an adjective, which has a capital in names alone
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
def test_the_words_for_facts_keep_secrets_addresses_ages_and_money_hidden(builder: ModuleType, language: str) -> None:
    rules = json.loads(build_files(builder, language)["rules.json"])
    facts = {name: set(words) for name, words in rules["optional"]["facts"].items()}
    settings = tomllib.loads((FOLDER / language / "words.toml").read_text("utf-8"))
    assert {"password", "token", "api_key"} <= facts["secret_words"]  # keys of JSON are English
    assert {"account", "zip"} <= facts["address_words"]
    assert set(settings["entity"]["street-word"].split()) <= facts["address_words"]
    hidden = facts["secret_words"] | facts["address_words"] | facts["currencies"]
    assert not hidden & (facts["counters"] | facts["units"])
    years = {word for word in rules["ages"]["units"] if word.startswith(("a", "j"))}
    assert years
    assert not years & facts["units"]
    assert {word for word in years if word.endswith("s")} <= facts["not_plurals"]
    assert facts["decimal_marks"] == {","}
    assert not facts.keys() & {"heading_leads", "month_leads", "starts"}  # rules of more than ``plain`` read English


@pytest.mark.parametrize("language", LANGUAGES)
def test_function_words_that_are_names_are_no_surnames_at_the_start(builder: ModuleType, language: str) -> None:
    """As surnames they were replaced in each sentence that begins with one: *De bank*."""
    settings = tomllib.loads((FOLDER / language / "words.toml").read_text("utf-8"))
    word = max((word for word in settings["words"]["function"].split() if word.isalpha()), key=len)
    settings["entity"]["given-more"] = f"{settings['entity'].get('given-more', '')} {word}"
    sources = InventedSources(settings)
    sources.list_names = lambda kind: ["zanel", word]  # type: ignore[method-assign]
    rules = json.loads(builder.PackBuilder(settings, sources).list_files()["rules.json"])
    assert word in rules["optional"]["facts"]["comma_words"]


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_card_of_each_pack_has_its_sources(language: str) -> None:
    card = (FOLDER / language / "README.md").read_text("utf-8")
    assert f"build.py {language} {language}-lists" in card
    assert "## Sources" in card
    locked = dict(line.split("==") for line in (FOLDER / "requirements.txt").read_text("utf-8").split())
    for source, version in re.findall(r"^\| `([a-z-]+)` ([0-9.]+) ", card, re.MULTILINE):
        assert locked.get(source, version) == version


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_pack_has_the_texts_of_its_licenses(language: str) -> None:
    license_id = tomllib.loads((FOLDER / language / "words.toml").read_text("utf-8"))["license"]
    card = (FOLDER / language / "README.md").read_text("utf-8")
    assert f'--license "{license_id}"' in card
    assert f"Licenses: {license_id}." in card
    texts = import_script("package").LICENSE_TEXTS
    assert all(texts[name].stat().st_size > 900 for name in license_id.split(" AND "))


def test_a_license_without_text_is_refused(tmp_path: Path) -> None:
    bundle = write_invented(tmp_path / "pack")
    manifest = json.loads((bundle / "manifest.json").read_text("utf-8")) | {"license": "MIT AND X-1"}
    (bundle / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    with pytest.raises(SystemExit, match="the text of the license X-1 is missing"):
        import_script("package").write_package(bundle, tmp_path / "distribution")


def test_the_content_hash_of_each_pack_is_recorded() -> None:
    hashes = json.loads((FOLDER / "content_hashes.json").read_text("utf-8"))
    assert sorted(hashes) == LANGUAGES
    assert all(re.fullmatch("[0-9a-f]{64}", content_hash) for content_hash in hashes.values())


def test_another_content_hash_is_refused_by_its_language(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    script = import_script("build_all")
    monkeypatch.setattr(script, "build_pack", lambda language, *paths: ("0" * 64, 700_001 if language == "nl" else 9))
    known = {"es": "0" * 64, "fr": "1" * 64, "nl": "0" * 64}
    monkeypatch.setattr(script, "HASHES", tmp_path / "hashes.json")
    (tmp_path / "hashes.json").write_text(json.dumps(known), "utf-8")
    monkeypatch.setattr(sys, "argv", ["build_all.py", str(tmp_path), str(tmp_path / "built"), "es", "fr", "nl"])
    with pytest.raises(SystemExit, match=r"fr: the content hash differs.*\nnl: the wheel has more than 700,000 bytes"):
        script.main()
    assert "fr: " + "0" * 64 + ", wheel 9 bytes; another content hash" in capsys.readouterr().out
    monkeypatch.setattr(sys, "argv", [*sys.argv[:3], "es", "fr", "--record"])
    script.main()
    assert json.loads((tmp_path / "hashes.json").read_text("utf-8")) == known | {"fr": "0" * 64}


def test_mail_addresses_of_surrogates_have_no_accents(tmp_path: Path) -> None:
    lists = {f"surrogates.{kind}.txt": "Élodie\nRené\n" for kind in ("given", "family")}
    sanitizer = Sanitizer.load(write_names(tmp_path / "pack", changed=lists))
    result = sanitizer.sanitize("Mail vrobel@zqxw.org, zork@zqxw.org, ann@zqxw.org today.", protect="names")
    names = re.findall(r"(\S+)\.(\S+)@", result.text)
    assert len(names) == 3
    assert {name for pair in names for name in pair} <= {"elodie", "rene"}
