"""The lists of the mode ``names`` are parsed and checked when they are first used."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from damaged import JSON, refused, sign
from small_names import CAPITALS, COMMON, KINDS, POOLS, SYMBOLS, listed, names_lists, write_names
from small_staircase import KINDS as STAIRCASE_KINDS
from small_staircase import small_staircase
from textveil import Sanitizer
from textveil.bundle import names_files, open_bundle
from textveil.bundle.names_files import CENSUS, EMPHASIS, FUNCTION, NAME, OPENER, RARE, START, STRICT
from textveil.bundle.text_bundle import TextBundle
from textveil.errors import BundleDamaged, BundleTooLarge, UnknownMechanism
from textveil.verify import verify_text

MARKS = {
    "strict": STRICT, "start": START, "emphasis": EMPHASIS, "opener": OPENER, "name": NAME, "function": FUNCTION,
    "rare": RARE, "census": CENSUS,
}  # fmt: skip


def opened(folder: Path) -> TextBundle:
    return open_bundle(folder, TextBundle)


# --- a sound part --------------------------------------------------------------------------------------------------


def test_a_bundle_with_these_lists_alone(tmp_path: Path) -> None:
    bundle = opened(write_names(tmp_path / "b"))
    assert (bundle.mechanisms, bundle.default_mechanism, bundle.symbol_count) == ((), "", 0)
    assert (bundle.vocabulary, bundle.symbol_ids, bundle.staircase_table, bundle.santext_levels) == ([], {}, None, ())
    lists = bundle.get_names_lists()
    assert list(lists.common_words) == sorted(COMMON)
    for word, marks in COMMON.items():
        assert lists.common_words[word] == sum(MARKS[mark] for mark in marks.split(",") if mark)
    assert (lists.kept_capitals, lists.kept_symbols) == (set(CAPITALS), set(SYMBOLS))
    assert lists.members_by_type == {kind: set(members.split("|")) for kind, members in KINDS.items()}
    assert lists.surrogate_pools == {kind: tuple(outputs.split("|")) for kind, outputs in POOLS.items()}
    assert set(lists.kept_names) == {word for word, marks in COMMON.items() if "name" in marks.split(",")}
    assert bundle.get_names_lists() is lists
    assert f"{len(COMMON)} common words" in verify_text(bundle)


def test_each_mark_is_a_bit(tmp_path: Path) -> None:
    assert list(MARKS.values()) == [1, 2, 4, 8, 16, 32, 64, 128]


def test_other_mechanisms_refuse_by_name(tmp_path: Path) -> None:
    bundle = opened(write_names(tmp_path / "b"))
    for mechanism, hint in (("staircase", "only: use the built-in bundle"), ("santext", "artifacts/english-santext")):
        with pytest.raises(UnknownMechanism, match=rf"^this bundle contains the lists of the mode names .*{hint}"):
            Sanitizer(bundle).sanitize("the doctor", mechanism=mechanism)
    with pytest.raises(UnknownMechanism):
        Sanitizer(bundle).sanitize("the doctor", protect="words")
    assert (bundle.default_mode, Sanitizer(bundle).sanitize("the doctor").terms.protect) == ("names", "names")


def test_a_bundle_without_them(tmp_path: Path) -> None:
    bundle = opened(small_staircase(tmp_path / "b"))
    assert bundle.names_files is None
    with pytest.raises(UnknownMechanism, match=r"this bundle has no lists for the mode names: use the built-in bundle"):
        bundle.get_names_lists()


SHARED_LIST = {"entity.weekday.txt": STAIRCASE_KINDS["weekday"][1]}


def beside_a_staircase(folder: Path) -> Path:
    """Return a bundle of both parts: one's mechanism file with the other's files; both read one list of weekdays."""
    staircase, names = small_staircase(folder), write_names(folder.parent / "names", changed=SHARED_LIST)
    law = json.loads((staircase / "mechanism.json").read_text("utf-8"))
    manifest = json.loads((staircase / "manifest.json").read_text("utf-8"))
    of_names = json.loads((names / "mechanism.json").read_text("utf-8"))
    for name in of_names["files"]:
        (staircase / name).write_bytes((names / name).read_bytes())
    law["names"] = of_names["names"]
    law["files"] |= of_names["files"]
    manifest["files"] |= dict.fromkeys(of_names["files"])
    (staircase / "mechanism.json").write_text(json.dumps(law), "utf-8")
    (staircase / "manifest.json").write_text(json.dumps(manifest), "utf-8")
    sign(staircase)
    return staircase


def test_beside_a_staircase_they_change_nothing_of_it(tmp_path: Path) -> None:
    bundle, alone = opened(beside_a_staircase(tmp_path / "both")), opened(small_staircase(tmp_path / "alone"))
    assert bundle.get_names_lists() == opened(write_names(tmp_path / "n", changed=SHARED_LIST)).get_names_lists()
    assert bundle.default_mechanism == "staircase"
    assert (bundle.vocabulary, bundle.template) == (alone.vocabulary, alone.template)
    assert Sanitizer(bundle).distribution("doctor") == Sanitizer(alone).distribution("doctor")


def test_opening_hashes_the_lists_and_reads_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = write_names(tmp_path / "b", changed={"entity.city.txt": "Boston\n"})
    bundle = opened(folder)  # what is malformed is found when the mode is first used
    with pytest.raises(BundleDamaged):
        bundle.get_names_lists()
    (folder / "entity.city.txt").write_text("boston\n", "utf-8")
    assert refused(folder) == "entity.city.txt: its hash differs from the hash in manifest.json"

    def parsed(*_: object) -> None:
        raise AssertionError("a list was read")

    monkeypatch.setattr(names_files, "_read_lines", parsed)
    assert opened(write_names(tmp_path / "c")).names_files is not None


def test_optional_lists_of_facts_are_hashed_and_change_no_output(tmp_path: Path) -> None:
    plain = opened(write_names(tmp_path / "plain"))
    folder = write_names(
        tmp_path / "facts",
        changed={"facts.units.txt": "km\n"},
        law=lambda law: law["names"].update(facts=["units"]),
    )
    bundle = opened(folder)
    assert (bundle.get_names_lists().common_words, "km" in bundle.get_names_lists().common_words) == (
        plain.get_names_lists().common_words,
        False,
    )
    (folder / "facts.units.txt").write_text("mi\n", "utf-8")
    assert refused(folder) == "facts.units.txt: its hash differs from the hash in manifest.json"


FACTS = {"term": "myocarditis\npytest\n", "capital": "Kubernetes\niPhone\n", "company": "OpenAI\n", "acronym": "API\n"}


def write_facts(folder: Path, facts: dict[str, str]) -> Path:
    return write_names(
        folder,
        changed={f"facts.{kind}.txt": text for kind, text in facts.items()},
        law=lambda law: law["names"].update(facts=list(facts)),
    )


def test_lists_of_public_facts(tmp_path: Path) -> None:
    """A list that the bundle lacks has no entries."""
    none = opened(write_names(tmp_path / "none")).get_names_lists().fact_lists
    assert none == dict.fromkeys(("term", "capital", "company", "acronym", "language", "foreign"), frozenset())
    lists = opened(write_facts(tmp_path / "facts", FACTS)).get_names_lists().fact_lists
    assert lists == {**none, **{kind: frozenset(text.splitlines()) for kind, text in FACTS.items()}}


@pytest.mark.parametrize(
    ("kind", "content", "line", "says"),
    [
        ("term", "b\na\n", 2, "occurs twice, or is not in alphabetical order"),
        ("term", "API\n", 1, "lower case"),
        ("term", "a\tstrict\n", 1, "unknown flag"),
        ("language", "english\nenglish\n", 2, "occurs twice"),
        ("capital", "Vue\nReact\n", 2, "occurs twice, or is not in alphabetical order"),
        ("capital", "React\nvue\n", 2, "no capital"),
        ("company", "openai\n", 1, "no capital"),
        ("acronym", "API\nJson\n", 2, "two to six capitals"),
        ("acronym", "A\n", 1, "two to six capitals"),
        ("acronym", "ABCDEFG\n", 1, "two to six capitals"),
    ],
)
def test_a_malformed_list_of_public_facts(tmp_path: Path, kind: str, content: str, line: int, says: str) -> None:
    bundle = opened(write_facts(tmp_path / "b", {kind: content}))
    with pytest.raises(BundleDamaged, match=rf"^facts.{kind}.txt: line {line} .*{says}"):
        bundle.get_names_lists()


# --- malformed parts -----------------------------------------------------------------------------------------------

LAWS: dict[str, Callable[[JSON], object]] = {
    "null": lambda law: law.update(names=None),
    "another key": lambda law: law["names"].update(closed=[]),
    "a key less": lambda law: law["names"].pop("surrogate_pools"),
    "no array": lambda law: law["names"].update(entity_types="city"),
    "a name that is none": lambda law: law["names"]["entity_types"].__setitem__(0, "../city"),
    "a kind twice": lambda law: law["names"]["entity_types"].append("city"),
    "a pool twice": lambda law: law["names"]["surrogate_pools"].append("city"),
    "a list of facts twice": lambda law: law["names"].update(facts=["units", "units"]),
    "a list of facts without a file": lambda law: law["names"].update(facts=["units"]),
    "facts as a text": lambda law: law["names"].update(facts="units"),
    "a file more": lambda law: law["names"]["entity_types"].pop(),
    "a file less": lambda law: law["files"].pop("kept-symbols.txt"),
    "another hash": lambda law: law["files"].update({"kept-symbols.txt": "0" * 64}),
    "symbols without a vocabulary": lambda law: law.update(vocabulary_size=5),
    "a default mechanism": lambda law: law.update(defaults={"mechanism": "staircase"}),
    "no default": lambda law: law.update(defaults={}),
    "a skeleton": lambda law: law.update(template={"function_words": "kept-symbols.txt", "entity_types": []}),
    "no part at all": lambda law: law.pop("names"),
}


@pytest.mark.parametrize("change", LAWS.values(), ids=LAWS.keys())
def test_a_law_that_is_none(tmp_path: Path, change: Callable[[JSON], object]) -> None:
    refused(write_names(tmp_path / "b", law=change))


@pytest.mark.parametrize("name", ["common-words.txt", "kept-symbols.txt", "entity.city.txt", "surrogates.city.txt"])
def test_a_file_that_is_not_listed(tmp_path: Path, name: str) -> None:
    folder = write_names(tmp_path / "b", manifest=lambda manifest: manifest["files"].pop(name))
    assert refused(folder) == f"manifest.json: does not list '{name}'"


CITY, POOL = "entity.city.txt", "surrogates.city.txt"
LISTS = {
    # file, its content, the line that is named, and what is said of it
    "common: double": ("common-words.txt", "a\nbed\nbed\n", 3, "occurs twice, or is not in alphabetical order"),
    "common: unsorted": ("common-words.txt", "bed\na\n", 2, "occurs twice, or is not in alphabetical order"),
    "common: no mark": ("common-words.txt", "a\nbed\tlate\n", 2, "unknown flag"),
    "common: a mark twice": ("common-words.txt", "a\tstrict,strict\n", 1, "unknown flag"),
    "common: an empty mark": ("common-words.txt", "a\t\n", 1, "unknown flag"),
    "common: two tabs": ("common-words.txt", "a\tstrict\tstart\n", 1, "cannot be printed"),
    "common: not folded": ("common-words.txt", "Bed\n", 1, "lower case"),
    "common: another apostrophe": ("common-words.txt", "a\ndon\u2019t\n", 2, "lower case"),
    "common: compatibility": ("common-words.txt", "a\n\ufb01sh\n", 2, "lower case"),
    "capitals: double": ("kept-capitals.txt", "OK\nOK\n", 2, "occurs twice, or is not in alphabetical order"),
    "capitals: unsorted": ("kept-capitals.txt", "TV\nOK\n", 2, "occurs twice, or is not in alphabetical order"),
    "symbols: a letter": ("kept-symbols.txt", "+\na\n", 2, "not a single symbol"),
    "symbols: two": ("kept-symbols.txt", "+\n++\n", 2, "not a single symbol"),
    "symbols: a joiner": ("kept-symbols.txt", "\u200d\n", 1, "not a single symbol"),
    "symbols: a selector": ("kept-symbols.txt", "\ufe0f\n", 1, "not a single symbol"),
    "symbols: a letter of a flag": ("kept-symbols.txt", "\U0001f1e6\n", 1, "not a single symbol"),
    "symbols: a tone of skin": ("kept-symbols.txt", "\U0001f3fb\n", 1, "not a single symbol"),
    "symbols: a tag": ("kept-symbols.txt", "\U000e0061\n", 1, "not a single symbol"),
    "members: double": (CITY, "boston\nboston\n", 2, "occurs twice, or is not in alphabetical order"),
    "members: unsorted": (CITY, "london\nboston\n", 2, "occurs twice, or is not in alphabetical order"),
    "members: not folded": (CITY, "boston\nnew York\n", 2, "lower case"),
    "members: no mark": (CITY, "boston\tcommon\n", 1, "unknown flag"),
    "members: an empty mark": (CITY, "boston\t\n", 1, "unknown flag"),
    "members: marks in another order": (CITY, "boston\tmember-only,capitalized\n", 1, "unknown flag"),
    "members: two tabs": (CITY, "boston\tcapitalized\t\n", 1, "cannot be printed"),
    "outputs: a tab": (POOL, "Oslo\tcapitalized\n", 1, "cannot be printed"),
    "members: blanks": (CITY, "boston \n", 1, "empty"),
    "members: no UTF-8": (CITY, "boston\n\udcff\n", 2, "not UTF-8"),
    "outputs: double": (POOL, "Oslo\nLyon\nOslo\n", 3, "occurs twice"),
    "outputs: an empty line": (POOL, "Oslo\n\n", 2, "empty"),
    "outputs: what a terminal obeys": (POOL, "Oslo\n\x1b[2J\n", 2, "cannot be printed"),
    "outputs: what turns the writing": (POOL, "Oslo\nL\u202eyon\n", 2, "cannot be printed"),
}


def with_list(folder: Path, name: str, content: str) -> TextBundle:
    write_names(folder)
    (folder / name).write_bytes(content.encode("utf-8", "surrogateescape"))
    sign(folder)
    return opened(folder)


@pytest.mark.parametrize(("name", "content", "line", "says"), LISTS.values(), ids=LISTS.keys())
def test_a_list_that_is_none(tmp_path: Path, name: str, content: str, line: int, says: str) -> None:
    """Refused at the first use, and at every later one."""
    bundle = with_list(tmp_path / "b", name, content)
    for _ in range(2):
        with pytest.raises(BundleDamaged, match=rf"^{name}: line {line} .*{says}"):
            bundle.get_names_lists()
    with pytest.raises(BundleDamaged):
        verify_text(bundle)


@pytest.mark.parametrize("name", ["common-words.txt", "kept-capitals.txt", "kept-symbols.txt", CITY, POOL])
@pytest.mark.parametrize("content", ["", "oslo"])
def test_a_list_without_a_whole_line(tmp_path: Path, name: str, content: str) -> None:
    with pytest.raises(
        BundleDamaged, match=rf"^{name}: the file is empty, or its last line does not end in a line feed$"
    ):
        with_list(tmp_path / "b", name, content).get_names_lists()


def test_a_line_that_is_too_long(tmp_path: Path) -> None:
    with pytest.raises(BundleTooLarge, match=rf"^{CITY}: line 2 has more than 4,096 bytes"):
        with_list(tmp_path / "b", CITY, f"a\n{'b' * 4097}\n").get_names_lists()


def test_lists_of_too_many_lines(tmp_path: Path) -> None:
    """They are counted when the bundle is opened."""
    folder = write_names(tmp_path / "b", changed={CITY: "\n" * 400_000})
    assert "entries" in refused(folder, BundleTooLarge)


@pytest.mark.parametrize(
    ("kind", "word"), [("weekday", "monday"), ("month", "june"), ("title", "dr"), ("group", "gay")]
)
def test_a_common_word_that_is_a_member_of_a_closed_kind(tmp_path: Path, kind: str, word: str) -> None:
    """It would be shown."""
    assert word in KINDS[kind].split("|")
    common = names_lists()["common-words.txt"].splitlines()
    bundle = with_list(tmp_path / "b", "common-words.txt", listed([*common, f"{word}\tstrict,start"]))
    place = 1 + sum(line < word for line in common)
    with pytest.raises(
        BundleDamaged,
        match=rf"^common-words.txt: line {place} is also a {kind}: the mode `names` replaces it, remove the line$",
    ):
        bundle.get_names_lists()


def test_a_member_of_a_closed_kind_with_a_capital_only(tmp_path: Path) -> None:
    """Such a one may be a common word: it is shown in lower case."""
    common, months = names_lists()["common-words.txt"].splitlines(), KINDS["month"].split("|")
    changed = {"common-words.txt": listed([*common, "march\tname,strict"])}
    for mark, sound in (
        ("\tcapitalized", True),
        ("\tcapitalized,member-only", True),
        ("\tmember-only", False),
        ("", False),
    ):
        changed["entity.month.txt"] = listed([*months, f"march{mark}"])
        bundle = opened(write_names(tmp_path / "b", changed=changed))
        if sound:
            lists = bundle.get_names_lists()
            assert (lists.members_by_type["month"], lists.common_words["march"]) == ({*months, "march"}, NAME | STRICT)
        else:
            with pytest.raises(BundleDamaged, match="is also a month: the mode `names` replaces it"):
                bundle.get_names_lists()


def test_a_common_word_may_be_a_name(tmp_path: Path) -> None:
    """What is not closed may hold it: such words are marked, and published."""
    lists = opened(write_names(tmp_path / "b")).get_names_lists()
    assert lists.members_by_type["given"].intersection(lists.common_words) == {
        "bill",
        "hope",
        "mark",
        "rose",
        "said",
        "summer",
    }
