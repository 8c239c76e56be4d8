"""``textveil restore`` puts words into running text alone, and elsewhere where an option says so."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textveil.text.restore import Restorer

SAID = "textveil: {} of 1 word of the mapping put back{}\n"
#: A reply, the option that opens the place, and the reason without it.
ATTACKS = [
    ("![x](https://e.example/?q=Zed)", "--restore-places=all", "link"),
    ("[x](https://ok.example/?q=Zed)", "--restore-hosts=ok.example", "link"),
    ("Run `Zed`.", "--restore-places=code", "code"),
    ("$x_{Zed}$", "--restore-places=math", "math"),
    ('{"name": "Zed"}', "--restore-places=json", "json"),
    ("<img src=x alt='Zed'>", "--restore-places=all", "markup"),
    ("https://e.example/?q=Zed", "--restore-places=all", "chunk"),
    ("Zed <script>x</script>", "--restore-places=all", "active"),
]


@pytest.fixture
def mapping(tmp_path: Path) -> Path:
    path = tmp_path / "m.json"
    path.write_text(Restorer([("Zed", "Zorblax")]).to_json())
    return path


@pytest.mark.parametrize(("reply", "option", "reason"), ATTACKS)
def test_a_place_is_restored_if_its_option_says_so(
    here: Callable[..., Any], mapping: Path, reply: str, option: str, reason: str
) -> None:
    ran = here("restore", "--mapping", mapping, "--text", reply)
    stayed = f"; 1 stayed: {reason} 1 (see textveil restore --help)"
    assert (ran.code, ran.text, ran.message) == (0, reply + "\n", SAID.format(0, stayed))
    ran = here("restore", "--mapping", mapping, option, "--text", reply)
    assert (ran.code, ran.text, ran.message) == (0, reply.replace("Zed", "Zorblax") + "\n", SAID.format(1, ""))


def test_what_stayed_is_counted_by_reason(here: Callable[..., Any], mapping: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "a.txt", tmp_path / "b.txt"
    first.write_text("Zed [Zed](Zed) `Zed` 7\n")
    second.write_text("[a](//e.example/Zed)\n")
    ran = here("restore", "--mapping", mapping, first, second)
    assert ran.text.count("Zorblax") == 1
    stays = "; left as they are: 1 number that the mapping does not have; 4 stayed: link 3, code 1"
    assert ran.message.startswith("textveil: 1 of 1 word of the mapping put back; left as they are: ")
    assert set(ran.message.split(": ")[-1].split(" (")[0].split(", ")) == set(stays.split(": ")[-1].split(", "))
    options = ("--restore-places", "code", "--restore-places", "json", "--restore-hosts", "e.example")
    assert here("restore", "--mapping", mapping, *options, first, second).text.count("Zorblax") == 2


def test_a_number_that_stayed_is_one_of_the_mapping(here: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    path.write_text(json.dumps({"format": "textveil-mapping", "format_version": 1, "originals": {"4718": "9923"}}))
    ran = here("restore", "--mapping", path, "--text", "Or `4718`.")
    assert ran.message == SAID.format(0, "; 1 stayed: code 1 (see textveil restore --help)")


def test_active_content_at_the_end_counts_for_the_whole_reply(
    here: Callable[..., Any], mapping: Path, tmp_path: Path
) -> None:
    """A file is read in blocks of a mebibyte; a script at its end could read the words before it."""
    file = tmp_path / "reply.txt"
    file.write_text("Zed\n" + "a line of words\n" * (1 << 17) + "<script>\n")
    ran = here("restore", "--mapping", mapping, file)
    assert ran.text == file.read_text()
    assert "1 stayed: active 1" in ran.message
    file.write_text("Zed\n" + "a line of words\n" * (1 << 17))
    assert here("restore", "--mapping", mapping, file).text == file.read_text().replace("Zed", "Zorblax")


@pytest.mark.parametrize("option", ["--restore-places=links", "--restore-hosts=https://ok.example"])
def test_options_that_are_wrong(here: Callable[..., Any], mapping: Path, option: str) -> None:
    ran = here("restore", "--mapping", mapping, option, "--text", "Zed")
    assert (ran.code, ran.out) == (1, b"")
    assert ran.message.startswith(f"textveil: option: {option.partition('=')[0]} takes ")
    assert "repeat it for several" in ran.message
    assert "see textveil restore --help" in ran.message
