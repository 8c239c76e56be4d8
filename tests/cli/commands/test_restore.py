"""``textveil restore`` restores words in running text, and elsewhere only by an option."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textveil.text.restore import Restorer

#: What the line on standard error names for each reason.
COUNTED = {
    "link": "in links (--restore-hosts HOST)",
    "code": "in code (--restore-places code)",
    "math": "in math (--restore-places math)",
    "json": "in JSON (--restore-places json)",
    "markup": "in or after markup",
    "chunk": "in a chunk that may be an address (--restore-hosts HOST)",
    "active": "in a reply with a script or an event handler",
}
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
    message = f"textveil: 0 surrogates restored, 1 not restored: 1 {COUNTED[reason]}\n"
    assert (ran.code, ran.text, ran.message) == (0, reply + "\n", message)
    ran = here("restore", "--mapping", mapping, option, "--text", reply)
    restored = reply.replace("Zed", "Zorblax")
    assert (ran.code, ran.text, ran.message) == (0, restored + "\n", "textveil: 1 surrogate restored\n")
    ran = here("restore", "--mapping", mapping, "--json", "--quiet", "--text", reply)
    expected = {"text": reply + "\n", "restored": [], "not_restored": [{"written": "Zed", "reason": reason}]}
    assert (json.loads(ran.out), ran.message) == (expected | {"unknown_numbers": [], "unknown_tags": []}, "")


def test_what_stayed_is_counted_by_reason(here: Callable[..., Any], mapping: Path, tmp_path: Path) -> None:
    first, second = tmp_path / "a.txt", tmp_path / "b.txt"
    first.write_text("Zed [Zed](Zed) `Zed` 7\n")
    second.write_text("[a](//e.example/Zed)\n")
    ran = here("restore", "--mapping", mapping, first, second)
    assert ran.text.count("Zorblax") == 1
    message = "textveil: 1 surrogate restored, 4 not restored: 3 in links (--restore-hosts HOST), 1 in code "
    assert ran.message == message + "(--restore-places code)\n"
    lines = here("restore", "--mapping", mapping, "--json", first, second).text.splitlines()
    assert [len(json.loads(line)["not_restored"]) for line in lines] == [3, 1]
    options = ("--restore-places", "code", "--restore-places", "json", "--restore-hosts", "e.example")
    assert here("restore", "--mapping", mapping, *options, first, second).text.count("Zorblax") == 2


def test_a_number_that_stayed_is_one_of_the_mapping(here: Callable[..., Any], tmp_path: Path) -> None:
    path = tmp_path / "m.json"
    path.write_text(json.dumps({"format": "textveil-mapping", "format_version": 1, "originals": {"4718": "9923"}}))
    ran = here("restore", "--mapping", path, "--text", "Or `4718`.")
    assert ran.message == f"textveil: 0 surrogates restored, 1 not restored: 1 {COUNTED['code']}\n"
    ran = here("restore", "--mapping", path, "--text", "4718 and 12 make 4730.")  # 12 may be of the text
    assert (ran.text, ran.message) == ("9923 and 12 make 4730.\n", "textveil: 1 surrogate restored\n")


def test_an_original_that_no_file_may_contain_is_refused_before_any_output(
    here: Callable[..., Any], tmp_path: Path
) -> None:
    path = tmp_path / "m.json"
    originals = {"Zed": "half \ud83d"}
    path.write_text(json.dumps({"format": "textveil-mapping", "format_version": 1, "originals": originals}))
    ran = here("restore", "--mapping", path, "--text", "Dear Zed")
    assert (ran.code, ran.out) == (1, b"")
    assert "half of a UTF-16 pair" in ran.message
    assert json.loads(here("restore", "--json", "--mapping", path, "--text", "Dear Zed").text)["restored"] == ["Zed"]


@pytest.mark.full
def test_active_content_at_the_end_counts_for_the_whole_reply(
    here: Callable[..., Any], mapping: Path, tmp_path: Path
) -> None:
    """A file is read in blocks of a mebibyte; a script at its end could read the words before it."""
    file = tmp_path / "reply.txt"
    file.write_text("Zed\n" + "a line of words\n" * (1 << 17) + "<script>\n")
    ran = here("restore", "--mapping", mapping, file)
    assert ran.text == file.read_text()
    assert "1 not restored: 1 in a reply with a script" in ran.message
    file.write_text("Zed\n" + "a line of words\n" * (1 << 17))
    assert here("restore", "--mapping", mapping, file).text == file.read_text().replace("Zed", "Zorblax")


@pytest.mark.parametrize("option", ["--restore-places=links", "--restore-hosts=https://ok.example"])
def test_options_that_are_wrong(here: Callable[..., Any], mapping: Path, option: str) -> None:
    ran = here("restore", "--mapping", mapping, option, "--text", "Zed")
    assert (ran.code, ran.out) == (1, b"")
    assert ran.message.startswith(f"textveil: option: {option.partition('=')[0]} takes ")
    assert "repeat it for several" in ran.message
    assert "see textveil restore --help" in ran.message


@pytest.mark.parametrize("name", ["sent.csv", "sent.tsv", "sent.jsonl", "sent.CSV.gz"])
def test_a_table_is_no_reply(here: Callable[..., Any], mapping: Path, tmp_path: Path, name: str) -> None:
    table = tmp_path / name
    table.write_text("id,note\n1,Zed\n")
    ran = here("restore", "--mapping", mapping, table)
    assert (ran.code, ran.out) == (1, b"") or (ran.code, ran.text) == (1, "")
    assert "restore reads replies, not tables: join the rows to your own table" in ran.message
