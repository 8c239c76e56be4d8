"""The public lists of the template: entries, marks and sources."""

import json
import re

import pytest
from scripts import ROOT, load_script
from textveil_export.text.template_lists import read_english_template

build_lists = load_script("artifacts/lists/build.py")
template_lists = load_script("artifacts/lists/template_lists.py")
sources = load_script("artifacts/lists/sources.py")

LISTS, BUILDER = ROOT / "artifacts" / "english-v4", ROOT / "artifacts" / "lists"
BY_LIST = str.split("weekday month ordinal number-word country group given-name family-name city organization")
#: The kinds by shape in their order, with the shape of their outputs.
SHAPES = {
    "email": r"[a-z.]+@example\.(com|net|org)",
    "url": r"https://example\.org/[a-z]+/\d+",
    "handle": r"@[a-z]+\d+",
    "path": r"/srv/[a-z]+/[a-z]+\.txt",
    "date": r"20\d\d-(0[1-9]|1[0-2])-(0[1-9]|[12]\d)",
    "time": r"(\d|1[0-2]):[0-5]\d",
    "phone": r"\d{3}-555-01\d\d",
    "year": r"(19\d|20[0-3])\d",
    "number": r"\d{1,3}|\d{1,2},\d{3}|\d{1,2}\.\d",
    "ordinal-number": r"\d{1,3}(st|nd|rd|th)",
    "other": r"[a-z]\d-[a-z]",
}
#: Words that streets, institutions and firms are called by.
DESIGNATIONS = "street-word unit-word place-word institution-word organization-word".split()
BY_LIST += DESIGNATIONS
CLOSED = {"weekday", "month", "number-word", "ordinal", *DESIGNATIONS}
TYPES = json.loads((LISTS / "mechanism.json").read_text("utf-8"))["template"]["entity_types"]
NAMES = ["function-words", *(name.removesuffix(".txt") for kind in TYPES for name in kind["files"])]

#: Entries at least, and outputs at least.
SIZES = {
    "given-name": (3_000, 1_000),
    "family-name": (5_000, 1_000),
    "city": (20_000, 500),
    "organization": (1_000, 200),
    "country": (200, 100),
    "group": (300, 100),
    "number": (500, 500),
    "year": (131, 131),
    "date": (365, 365),
    "time": (100, 100),
    "phone": (200, 200),
    "email": (200, 200),
    "url": (200, 200),
    "handle": (200, 200),
    "path": (100, 100),
    "ordinal-number": (100, 100),
    "other": (100, 100),
}


def read(name: str) -> list[tuple[str, str]]:
    lines = (LISTS / f"{name}.txt").read_text("utf-8").split("\n")
    assert lines.pop() == ""
    return [(entry, marks) for entry, _, marks in (line.partition("\t") for line in lines)]


FILES = {name: read(name) for name in NAMES}
#: Words by type; phrases, which only the mode `names` finds, are left out.
KINDS = {
    kind["name"]: {
        entry: marks for name in kind["files"] for entry, marks in FILES[name.removesuffix(".txt")] if " " not in entry
    }
    for kind in TYPES
}
FUNCTION_WORDS = dict(FILES["function-words"])
README = (BUILDER / "README.md").read_text("utf-8")


def outputs(kind: str) -> list[str]:
    return [entry for entry, marks in KINDS[kind].items() if "member-only" not in marks]


def clashes(kinds: dict[str, dict[str, str]], function_words: dict[str, str]) -> list[str]:
    """Entries on two lists, and function words that are members without a capital."""
    seen: set[str] = set()
    found = []
    for entries in kinds.values():
        found += [entry for entry in entries if entry in seen]
        found += [entry for entry, marks in entries.items() if entry in function_words and "capitalized" not in marks]
        seen |= entries.keys()
    return found


def test_every_list_of_the_bundle_is_there_once_and_small() -> None:
    assert len(set(NAMES)) == len(NAMES)
    assert sum((LISTS / f"{name}.txt").stat().st_size for name in NAMES) < 1_100_000
    assert {kind["name"] for kind in TYPES} == {*SHAPES, *BY_LIST}
    assert not list(BUILDER.glob("entity.*"))


@pytest.mark.parametrize("name", NAMES)
def test_entries_are_in_order(name: str):
    """That each is folded, a word or of its shape, and there once, is what every reader of a list asks for."""
    entries = [entry for entry, _ in FILES[name]]
    assert entries == sorted(entries)
    assert min(map(len, entries)) > name.startswith("entity.")


def test_the_lists_are_those_of_the_exporter():
    lists = read_english_template()
    assert lists.words == {entry: mark == "name-like" for entry, mark in FUNCTION_WORDS.items()}
    assert {kind.name for kind in lists.kinds.entity_types} == {*SHAPES, *BY_LIST}


@pytest.mark.parametrize("kind", BY_LIST)
def test_lists_have_known_flags_only(kind: str):
    allowed = {"", "member-only", "capitalized,member-only"}
    if kind in DESIGNATIONS:  # no member has a lower-case slot, so outputs may be common words
        allowed = {"capitalized", "capitalized,member-only"}
    assert set(KINDS[kind].values()) <= allowed
    assert {marks for _, marks in FILES["function-words"]} <= {"", "name-like"}


@pytest.mark.parametrize("name", NAMES)
def test_a_phrase_is_no_output(name: str):
    assert {marks for entry, marks in FILES[name] if " " in entry} <= {"member-only"}


@pytest.mark.parametrize(("kind", "entries", "drawn"), [(kind, *sizes) for kind, sizes in SIZES.items()])
def test_lists_are_large_enough(kind: str, entries: int, drawn: int):
    assert len(KINDS[kind]) >= entries
    assert len(outputs(kind)) >= drawn


@pytest.mark.parametrize("kind", [*SHAPES, *BY_LIST])
def test_no_output_is_likely(kind: str):
    assert len(outputs(kind)) >= (7 if kind in CLOSED else 100)


@pytest.mark.parametrize("kind", SHAPES)
def test_outputs_by_shape_have_their_shape_and_no_earlier_one(kind: str):
    earlier = list(SHAPES.values())[: list(SHAPES).index(kind)]
    for entry, marks in KINDS[kind].items():
        assert marks == ""
        assert re.fullmatch(SHAPES[kind], entry)
        assert not any(re.fullmatch(pattern, entry) for pattern in earlier)


def test_no_name_is_on_two_lists_and_no_function_word_is_a_member_without_a_capital():
    closed = {*DESIGNATIONS, "number-word"}  # classes of words, which the mode `names` reads too
    assert clashes({kind: KINDS[kind] for kind in BY_LIST if kind not in closed}, FUNCTION_WORDS) == []
    on_lists = FUNCTION_WORDS.keys() & {entry for kind in BY_LIST for entry in KINDS[kind]}
    assert on_lists == {"half", "may", "once", "us", "will"}
    assert all("capitalized" in KINDS[kind][word] for word in on_lists for kind in BY_LIST if word in KINDS[kind])


@pytest.mark.parametrize("kind", BY_LIST)
def test_an_output_is_of_its_own_kind_when_it_is_read_again(kind: str):
    earlier = {entry for other in BY_LIST[: BY_LIST.index(kind)] for entry in KINDS[other]}
    assert kind in DESIGNATIONS or earlier.isdisjoint(outputs(kind))


def test_a_planted_clash_is_found():
    planted = {"month": {"may": "member-only"}, "given-name": {"april": "", "may": "capitalized,member-only"}}
    assert clashes(planted, {"may": "name-like"}) == ["may", "may"]


def test_function_words_are_closed_classes():
    assert 260 <= len(FUNCTION_WORDS) <= 300
    assert {"'s", "n't", "'m", "'d", "'re", "'ve", "'ll", "wo", "ca", "sha"} <= FUNCTION_WORDS.keys()
    assert {word for word, mark in FUNCTION_WORDS.items() if mark} == template_lists.NAME_LIKE
    others = {*KINDS["number-word"], *KINDS["ordinal"], "say", "make", "time", "good"}
    assert FUNCTION_WORDS.keys() & others == {"half", "once"}


#: Members, by the marks of their kind: without one in any case, the others with a capital only.
MEMBERS = {
    "": {
        "given-name": "john david mary jack peter robin maria sally",
        "family-name": "smith johnson obama o'brien wright martin khan",
        "city": "london paris washington houston york shanghai vegas",
        "country": "france china iraq japan usa u.s zealand hong netherlands",
        "group": "american french iraqi chinese russian catholic gay",
        "organization": "microsoft toyota reuters unicef harvard nokia yahoo",
        "month": "january august sept",
        "weekday": "monday tue",
        "number-word": "zero one twelve ninety hundred million dozen",
        "ordinal": "first twentieth hundredth",
    },
    "capitalized,member-only": {
        "given-name": "will hope bill rose mark grace faith",
        "family-name": "king hill young long",
        "city": "reading nice bath mobile",
        "country": "us turkey guinea",
        "group": "polish white conservative",
        "organization": "apple target shell oracle",
        "month": "may march",
        "weekday": "sat sun wed",
        "ordinal": "second",
        "street-word": "ave blvd hwy",
        "unit-word": "apt rms",
        "place-word": "kingdom republic",
        "institution-word": "hospitals clubs",
        "organization-word": "inc corp sons u.n",
    },
    "capitalized": {
        "street-word": "street avenue road",
        "organization-word": "holdings group data farming film wholesalers",
        "institution-word": "church",
    },
}


@pytest.mark.parametrize("marks", MEMBERS)
def test_well_known_entries_are_members_in_any_case_or_with_a_capital_only(marks: str):
    for kind, entries in MEMBERS[marks].items():
        for entry in entries.split():
            found = KINDS[kind][entry]
            assert found == marks if marks else "capitalized" not in found, (kind, entry)


def test_plain_words_are_on_no_list():
    members = {entry for kind in BY_LIST for entry in KINDS[kind]}
    plain = "good best new day house city movie funny the united state see many work world"
    assert not members & set(plain.split())


@pytest.mark.parametrize(
    ("capitals", "others", "chosen"), [(29, 900, True), (31, 900, False), (4, 97, True), (2, 98, False)]
)
def test_a_frequent_word_is_a_designation_by_its_capitals(capitals: int, others: int, chosen: bool):
    """In a million words: at most 30 with a capital, and at least 3 % of the word."""
    builder = object.__new__(template_lists.TemplateBuilder)
    builder.frequency = {"word": template_lists.FREQUENT, "rare": template_lists.FREQUENT - 1}
    builder.spelled = {"word": others * 1e-6, "Word": (capitals - 1) * 1e-6, "WORD": 1e-6}
    assert builder.is_designation("word") is chosen
    assert builder.is_designation("rare")
    assert builder.is_designation("street")
    assert not builder.is_designation("dr")


def test_words_of_a_name_are_cut_and_folded():
    assert sources.tokens("Saint-Étienne") == ["saint", "étienne", "etienne"]
    assert sources.tokens("O’Fallon") == ["o'fallon"]
    assert sources.tokens("Łódź") == ["łódź", "lodz"]


@pytest.mark.parametrize("name", NAMES)
def test_the_readme_names_size_source_and_license(name: str):
    row = re.search(rf"\| `{re.escape(name)}\.txt` \| ([\d,]+) \| ([\d,-]+) \| (.+) \| (.+) \| (.+) \|", README)
    assert row is not None
    assert int(row[1].replace(",", "")) == len(FILES[name])
    if name != "function-words":
        assert int(row[2].replace(",", "")) == sum("member-only" not in marks for _, marks in FILES[name])


def test_every_source_is_credited():
    license_text = (BUILDER / "LICENSE.md").read_text("utf-8")
    packages = [line.split("==") for line in (BUILDER / "requirements.txt").read_text().split()]
    packages += [line.split("@") for line in (BUILDER / "npm.txt").read_text().split()]
    for package, version in packages:
        assert f"`{package}` {version}" in license_text
        assert package in README


def test_a_rebuild_gives_the_same_lists():
    try:
        rebuilt = build_lists.files(build_lists.SCOWL, build_lists.NPM)
    except (ImportError, ValueError) as error:
        pytest.skip(f"the sources of the lists are not installed (artifacts/lists/requirements.txt): {error}")
    for path, content in rebuilt.items():
        folder = BUILDER if path == build_lists.SHOWN_NAMES else LISTS
        assert (folder / path.removeprefix("template/")).read_bytes() == content.encode()
