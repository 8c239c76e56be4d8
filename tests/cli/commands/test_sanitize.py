"""The command line works on a bundle with a staircase, from a small bundle to the last message."""

import json
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textveil.text.restore import Restorer

TEXT = "The doctor, John's zorblax: the Doctor wasn't 5.\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "in.txt"
    path.write_bytes(TEXT.encode())
    return path


@pytest.mark.parametrize("command", [("info",), ("levels",), ("inspect", "doctor"), ("inspect", "John"), ("verify",)])
def test_commands_about_the_bundle_run(here: Callable[..., Any], bundle: Path, command: Any) -> None:
    where = [bundle] if command[0] == "verify" else ["--bundle", bundle]
    for options in ([],) if command[0] == "verify" else ([], ["--json"]):
        ran = here(*command, *where, *options)
        assert (ran.code, ran.err) == (0, b"")
        assert ran.text
        if options:
            json.loads(ran.text)


def test_a_text_is_rewritten(here: Callable[..., Any], bundle: Path, file: Path) -> None:
    ran = here("sanitize", "-b", bundle, file)
    assert ran.code == 0
    assert ran.text.startswith("The ")
    assert ran.text.endswith(".\n")
    assert "zorblax" not in ran.text + ran.message
    assert "other words, epsilon 8.5 per word, possibly unchanged. The text as a whole is not protected." in ran.message
    ran = here("sanitize", "-b", bundle, "--statement", file)
    assert "Epsilon 8.5 per randomized word" in ran.message
    ran = here("sanitize", "-b", bundle, "--protect", "all", "--json", "-q", file)
    statement = json.loads(ran.text)["statement"]
    assert ran.err == b""
    assert "function words" not in statement["revealed_parts"]
    assert statement["protect"] == "all"
    assert statement["summary"].startswith("Epsilon 8.5 per randomized word: ")


def test_a_mapping_is_kept_and_restores(here: Callable[..., Any], bundle: Path, file: Path, tmp_path: Path) -> None:
    mapping, out = tmp_path / "m.json", tmp_path / "out.txt"
    mapping.write_text("old")
    mapping.chmod(0o644)
    ran = here("sanitize", "-b", bundle, "--consistent", "--save-mapping", mapping, "-o", out, file)
    assert ran.code == 0
    assert "zorblax" not in ran.message
    assert stat.S_IMODE(mapping.stat().st_mode) == 0o600
    originals = json.loads(mapping.read_text())["originals"]
    assert set(originals.values()) <= {"doctor", "zorblax", "John", "5"}
    restored = here("restore", "--mapping", mapping, out)
    assert restored.code == 0
    if len(originals) == 4:
        assert restored.text == TEXT
    kept = tmp_path / "restored.txt"
    assert here("restore", "--mapping", mapping, out, "-o", kept).code == 0
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert kept.read_text() == restored.text


@pytest.mark.parametrize("content", [b"", b"{}", b'{"originals": {"a": "Zorblax"}}', b"\xff", b" " * 70_000_000])
def test_a_mapping_that_is_not_ours_is_refused(here: Callable[..., Any], tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "m.json"
    path.write_bytes(content)
    ran = here("restore", "--mapping", path, "--text", "Zorblax")
    assert (ran.code, ran.out) == (1, b"")
    assert ran.message == "textveil: input: the file is not a mapping that textveil wrote\n"


SAID = "textveil: {} restored{}\n"


@pytest.mark.parametrize(
    ("reply", "restored", "message"),
    [
        ("Zed, Mo and [city 1].", "Zorblax, Anna and Oslo.", SAID.format("3 surrogates", "")),
        ("Zed or ZED.", "Zorblax or ZORBLAX.", SAID.format("2 surrogates", "")),
        (
            "mo has 12 of 3,000 from [city 1]",
            "mo has 12 of 3,000 from Oslo",
            SAID.format("1 surrogate", ", 1 not restored: 1 that may be an ordinary word of the reply"),
        ),
        ("", "", SAID.format("0 surrogates", " (this may be the mapping of another text)")),
    ],
)
def test_restore_says_what_came_back(
    here: Callable[..., Any], tmp_path: Path, reply: str, restored: str, message: str
) -> None:
    mapping, file = tmp_path / "m.json", tmp_path / "reply.txt"
    mapping.write_text(Restorer([("Zed", "Zorblax"), ("Mo", "Anna"), ("[city 1]", "Oslo")]).to_json())
    file.write_text(reply + "\n")
    for given in (["--text", reply], [file]):
        ran = here("restore", "--mapping", mapping, *given)
        assert (ran.code, ran.text, ran.message) == (0, restored + "\n", message)
    assert here("restore", "--mapping", mapping, "-q", file).message == ""


def test_a_mention_over_two_blocks_is_found(here: Callable[..., Any], tmp_path: Path) -> None:
    """A reply is read in blocks of a mebibyte that end with a line."""
    mapping, file = tmp_path / "m.json", tmp_path / "reply.txt"
    mapping.write_text(Restorer([("Mo Zed", "Anna Zorblax")]).to_json())
    file.write_text("a" * ((1 << 20) - 4) + " Mo\nZed came.\n")
    assert here("restore", "--mapping", mapping, file).text.endswith("a Anna\nZorblax came.\n")


def test_each_file_is_a_reply_of_its_own(here: Callable[..., Any], tmp_path: Path) -> None:
    mapping, first, second, empty = (tmp_path / name for name in ("m.json", "a.txt", "b.txt", "c.txt"))
    mapping.write_text(Restorer([("Zed", "Zorblax"), ("Mo", "Anna"), ("Mo Zed", "Olga")]).to_json())
    empty.write_text("")
    for end in ("", "\n"):  # with a line feed or without, the end of a file is the end of a mention
        first.write_text(f"Ask Mo{end}")
        second.write_text(f"Zed has 7{end}")
        ran = here("restore", "--mapping", mapping, first, second)
        assert (ran.code, ran.text) == (0, f"Ask Anna\nZorblax has 7{end}")
        assert ran.message == SAID.format("2 surrogates", "")
        assert here("restore", "--mapping", mapping, first, empty, second).text == f"Ask Anna\nZorblax has 7{end}"


def test_documents_are_lines_or_files(here: Callable[..., Any], bundle: Path, tmp_path: Path) -> None:
    path = tmp_path / "two.txt"
    path.write_text("zorblax\nzorblax\n")
    shown = here("sanitize", "-b", bundle, "--consistent", "--document", "file", path, path)
    words = shown.text.split("\n")
    assert len(words) == 5
    assert words[0] == words[1]
    assert words[2] == words[3]
    lines = here("sanitize", "-b", bundle, "--consistent", "--document", "line", "--json", "-q", path)
    assert [json.loads(line)["statement"]["randomized_words"] for line in lines.text.splitlines()] == [1, 1]


def test_a_document_above_the_cap(here: Callable[..., Any], bundle: Path) -> None:
    text = ["sanitize", "-b", bundle, "--consistent", "--consistent-cap", "2", "--text", "zorblax doctor nurse"]
    ran = here(*text)
    assert (ran.code, ran.out) == (1, b"")
    assert "a document has more than 2 words, names and numbers to replace consistently" in ran.message


def test_a_preview(here: Callable[..., Any], bundle: Path, file: Path, tmp_path: Path) -> None:
    ran = here("preview", "-b", bundle, file)
    assert ran.text == (
        "The ______, <given-name>'s ???????: the ______ wasn't <number>.\n\n"
        "10 tokens: 5 kept, 2 replaced by surrogates of their type, 3 randomized (1 of them unknown)\n"
        "kept: the 2, 's, was, n't\n"
        "types: given-name, number\n"
        "Also kept: punctuation and white space, case, the number and order of words.\n"
    )
    assert ran.err == b""
    one = here("preview", "-b", bundle, "--text", "the").text
    assert "1 token: 1 kept, 0 replaced by surrogates of their type, 0 randomized (0 of them unknown)\n" in one
    one = here("preview", "-b", bundle, "--text", "John zorblax").text
    assert "2 tokens: 0 kept, 1 replaced by a surrogate of its type, 1 randomized (1 of them unknown)\n" in one
    colored = here("preview", "-b", bundle, "--color", "--text", "the zorblax")
    assert colored.text.startswith("\x1b[1mthe\x1b[0m \x1b[35mzorblax\x1b[0m\n")
    assert here("preview", "-b", bundle, "--text", "the", "--protect", "x").code == 2
    bare = here("preview", "-b", bundle, "--sanitize-punctuation", "--text", "The zorblax!").text
    assert bare.endswith("Also kept: the number and order of words.\n")
    (tmp_path / "deny.txt").write_text("Doctor\nThe\n")
    denied = here("preview", "-b", bundle, "--deny", tmp_path / "deny.txt", "--text", "the doctor, nurse").text
    assert denied.startswith("??? ??????, _____\n")


def test_a_language_warning_does_not_tell(here: Callable[..., Any], bundle: Path, tmp_path: Path) -> None:
    path = tmp_path / "foreign.txt"
    path.write_text("zorblax qwyx spelt doctor\n")
    ran = here("sanitize", "-b", bundle, path)
    assert "over half of the randomized words are unknown" in ran.message
    assert "orblax" not in ran.message
    assert "over half" not in here("sanitize", "-q", "-b", bundle, path).message
    assert "over half" in here("sanitize", "-b", bundle, "--text", path.read_text()).message


def test_no_text_is_released_without_its_mapping(here: Callable[..., Any], bundle: Path, tmp_path: Path) -> None:
    nowhere = tmp_path / "no folder" / "m.json"
    ran = here("sanitize", "-b", bundle, "--consistent", "--save-mapping", nowhere, "--text", "the zorblax")
    assert (ran.code, ran.out) == (1, b"")
    assert ran.message == "textveil: output: --save-mapping: the folder does not exist or is not writable\n"


def test_a_member_of_a_kind_is_no_drawn_mention(here: Callable[..., Any], bundle: Path) -> None:
    for word, drawn in (("John", "0 other words"), ("doctor", "1 other word"), ("zorblax", "1 other word")):
        assert f" Randomized: {drawn}, epsilon 8.5 per word" in here("inspect", "-b", bundle, word).text
