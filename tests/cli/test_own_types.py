"""The options --pattern and --known: arguments, files of persons, tables, and messages without content."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from textveil_cli.console import own_types
from textveil_cli.console.own_types import parse_patterns, read_known_persons

TEXT = "Ask Dan or D. Ostrander about EMP12345, Will."
OWN = ("--pattern", "employee=EMP[0-9]{5}", "--pattern", "ticket=[A-Z]{3}-[0-9]+=[ab]")


@pytest.fixture
def people(tmp_path: Path) -> Path:
    path = tmp_path / "people.txt"
    path.write_bytes(b"\xef\xbb\xbf# team\r\n\r\nDaniel Ostrander, D. Ostrander | Dan\r\nWill\r\n")
    return path


def test_both_options_reach_a_text_and_a_preview(here: Any, people: Path) -> None:
    options = ("--protect", "names", *OWN, "--known", people, "--text", TEXT)
    tagged = "Ask [person 1] or [person 1] about [employee 1], [person 2].\n"
    assert here("sanitize", "--style", "tag", *options).text == tagged
    assert "Ask <person> or <person> about <employee>, <person>." in here("preview", *options).text
    compared = here("compare", *OWN, "--known", people, "--text", TEXT).text
    assert "[person 1] or [person 1] about [employee 1]" in compared
    assert "Ostrander" not in compared


def test_an_address_of_a_person_comes_back_from_its_tag(here: Any, tmp_path: Path) -> None:
    people, mapping = tmp_path / "people.txt", tmp_path / "map.json"
    people.write_text("Anna Novak, A. Novak, anna@b.example | anovak7\n", "utf-8")
    text = "Ask Anna Novak at anna@b.example."
    ran = here("sanitize", "--style", "tag", "--known", people, "--save-mapping", mapping, "--text", text)
    assert ran.text == "Ask [person 1] at [email 1].\n"
    assert "spelling" not in ran.message
    restored = here("restore", "--mapping", mapping, "--text", "[person 1] has [email 1].")
    assert restored.text == "Anna Novak has anna@b.example.\n"


def test_a_table_and_its_workers(here: Any, people: Path, tmp_path: Path) -> None:
    table = tmp_path / "t.csv"
    table.write_text(f"id,note\n1,{TEXT}\n".replace(", Will", ""), "utf-8")
    options = ("sanitize", table, "--column", "note", "--protect", "names", "--style", "tag", *OWN, "--known", people)
    assert here(*options).text == "id,note\n1,Ask [person 1] or [person 1] about [employee 1].\n"


def test_a_run_is_not_resumed_with_another_list(here: Any, people: Path, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "t.csv").write_text("id,note\n1,a\n", "utf-8")
    options = [
        "sanitize",
        folder,
        "--csv",
        "--column",
        "note",
        "--protect",
        "names",
        "--known",
        people,
        "-o",
        tmp_path / "out",
    ]
    assert here(*options).code == 0
    assert here(*options, "--resume").code == 0
    people.write_text("Dan\n", "utf-8")
    assert here(*options, "--resume").code == 1
    assert here(*options, "--pattern", "a1=b", "--resume").code == 1


def test_an_output_never_overwrites_the_list(here: Any, people: Path) -> None:
    before = people.read_bytes()
    ran = here("sanitize", "--protect", "names", "--known", people, "--text", TEXT, "-o", people)
    assert ran.code == 1
    assert people.read_bytes() == before


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "--known: the file names no person"),
        (b"# Anna\n \n", "--known: the file names no person"),
        (b"caf\xe9\n", "--known: cannot read the file as UTF-8"),
        (b"Anna\0\n", "--known: cannot read the file as UTF-8"),
        ("Anna".encode("utf-16"), "--known: cannot read the file as UTF-8"),
        (None, "--known: cannot read the file as UTF-8"),
        (b"# x\n\nAnna\nBob, anna\n", "--known: entries 3 and 4 have the same spelling"),
        (b"Anna\n\nx\n", "--known: entry 3 has a spelling that is not supported"),
    ],
)
def test_a_bad_file_has_its_message(here: Any, tmp_path: Path, content: bytes | None, message: str) -> None:
    path = tmp_path / "people.txt"
    if content is None:
        path.mkdir()
    else:
        path.write_bytes(content)
    ran = here("sanitize", "--protect", "names", "--known", path, "--text", TEXT)
    assert ran.code == 1
    assert message in ran.message
    assert not re.search("Anna|Bob|caf", ran.message)
    assert ran.message.count("\n") == 1


def test_a_missing_and_a_large_file(here: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ran = here("sanitize", "--protect", "names", "--known", tmp_path / "none.txt", "--text", TEXT)
    assert ran.message == "textveil: input: --known: no such file: none.txt\n"
    monkeypatch.setattr(own_types, "MAX_KNOWN_BYTES", 1 << 20)
    (tmp_path / "people.txt").write_bytes(b"Anna\n" * (1 << 18))
    ran = here("sanitize", "--protect", "names", "--known", tmp_path / "people.txt", "--text", TEXT)
    assert "--known: the file is larger than 1 MB" in ran.message


@pytest.mark.parametrize(
    ("patterns", "message"),
    [
        (["employee"], "--pattern: pattern 1 has no ="),
        (["a1=b", "a1=c"], "--pattern: pattern 2 has the same name as an earlier pattern"),
        (["=b"], "--pattern: the name of pattern 1 is not supported"),
        (["person=b1"], "--pattern: the name of pattern 1 is that of a built-in type"),
        (["a1=(secret+)+$"], "--pattern: pattern 1 repeats a group without a limit"),
        (["a1="], "--pattern: pattern 1 matches the empty string"),
    ],
)
def test_a_bad_pattern_has_its_message(here: Any, patterns: list[str], message: str) -> None:
    options = [part for pattern in patterns for part in ("--pattern", pattern)]
    ran = here("sanitize", "--protect", "names", *options, "--text", TEXT)
    assert ran.code == 1
    assert message in ran.message
    assert "secret" not in ran.message


def test_other_modes_refuse_both_options(here: Any, people: Path) -> None:
    for options in (("--known", people), ("--pattern", "a1=b")):
        ran = here("sanitize", "--protect", "words", *options, "--text", TEXT)
        assert f"{options[0]}: only the mode 'names' supports this: use --protect names" in ran.message


def test_the_statement_has_the_names_of_types_alone(here: Any, people: Path) -> None:
    ran = here("sanitize", "--protect", "names", *OWN, "--known", people, "--json", "--text", TEXT)
    statement = json.loads(ran.text)["statement"]
    assert (statement["patterns"], statement["known"]) == (["employee", "ticket"], True)
    assert "Ostrander" not in json.dumps(statement) + ran.message


def test_arguments_and_lines_are_read() -> None:
    assert parse_patterns(["a1=b=c", "a2=d"]) == {"a1": "b=c", "a2": "d"}
    assert parse_patterns([]) == {}


def test_lines_keep_their_numbers(people: Path) -> None:
    assert read_known_persons(people) == ["# team", "", "Daniel Ostrander, D. Ostrander | Dan", "Will"]
