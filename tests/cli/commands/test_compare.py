"""``textveil compare`` and ``preview`` show the effect of the mode ``names`` before a user chooses it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from small_label_bundle import SENTENCES, sentences_of, write_index
from textveil import Sanitizer, TextLabelEncoder
from textveil.text.options import DEFAULT_FACTS, FACTS

Here = Callable[..., Any]
TEXT = "The doctor called Anna zorblax in Boston."
HEADING = "Several releases of one text: together they reveal more than each alone. Do not send this page."


def modes(page: str) -> dict[str, tuple[str, str]]:
    """Return the promise and the release of each mode of a page."""
    heading, *blocks = page.removesuffix("\n").split("\n\n")
    assert heading == HEADING
    lines = [block.split("\n", 1) for block in blocks]
    return {said.split(": ", 1)[0]: (said.split(": ", 1)[1], released) for said, released in lines}


def test_the_built_in_bundle_has_four_rungs(here: Here, tmp_path: Path) -> None:
    before = sorted(tmp_path.rglob("*"))
    ran = here("compare", "--text", TEXT)
    assert (ran.code, ran.err) == (0, b"")
    found = modes(ran.text)
    assert [*found] == ["names", "names as tags", "words", "all"]
    assert found["names"][0].startswith("Kept: common words from a public list, technical and medical terms, ")
    assert found["names as tags"][1].startswith("The doctor called [person 1] ")
    assert found["words"][0].endswith("The text as a whole is not protected.")
    assert found["words"][1].startswith("The ")
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("level", FACTS)
def test_facts_are_those_of_the_mode_names(here: Here, level: str) -> None:
    found = modes(here("compare", "--facts", level, "--text", TEXT).text)
    assert [*found] == ["names", "names as tags", "words", "all"]
    for mode in ("names", "names as tags"):
        assert ("medical terms" in found[mode][0]) == (level != "none")
    assert not any("medical terms" in found[mode][0] for mode in ("words", "all"))


def test_facts_need_the_lists_of_the_mode_names(here: Here, bundle: Path) -> None:
    ran = here("compare", "-b", bundle, "--facts", "plain", "--text", TEXT)
    assert (ran.code, ran.out) == (1, b"")
    assert "--facts works only with the mode 'names', for which this bundle has no lists" in ran.message


@pytest.mark.parametrize("level", FACTS)
def test_the_command_accepts_each_value_of_facts_and_states_it(here: Here, level: str) -> None:
    ran = here("sanitize", "--protect", "names", "--facts", level, "--text", TEXT)
    assert ran.code == 0
    assert ("medical terms" in ran.message) == (level != "none")
    assert here("preview", "--protect", "names", "--facts", level, "--text", TEXT).code == 0


@pytest.mark.parametrize("command", ["sanitize", "preview", "compare", "gateway", "serve", "inspect"])
def test_the_help_lists_the_values_of_facts_and_the_default(here: Here, command: str) -> None:
    page = " ".join(here(command, "--help").text.split())
    assert "--facts <none|plain|useful|public>" in page
    default = {"compare": "", "gateway": "The gateway's default: useful."}.get(command, f"Default: {DEFAULT_FACTS}.")
    assert command == "compare" or f"companies and all products; none: no facts. {default}" in page


def test_a_preview_in_json_has_positions_and_reasons(here: Here, tmp_path: Path) -> None:
    ran = here("preview", "--protect", "names", "--json", "--text", TEXT)
    pieces = json.loads(ran.text)["pieces"]
    assert [TEXT[piece["start"] : piece["end"]] for piece in pieces] == [piece["text"] for piece in pieces]
    assert {"text": "Anna", "state": "person", "start": 18, "end": 22, "reason": "list: given"} in pieces
    assert {"text": "doctor", "state": "kept", "start": 4, "end": 10, "reason": "common-word"} in pieces
    file = tmp_path / "in.txt"
    file.write_text("Anna\nand Bob\n")
    lines = here("preview", "--protect", "names", "--json", file).text.splitlines()
    assert [len(json.loads(line)["pieces"]) for line in lines] == [1, 3]


def test_what_other_bundles_have(here: Here, names: Path, bundle: Path, tiny_path: Path, index_bundle: Path) -> None:
    assert [*modes(here("compare", "-b", names, "--text", TEXT).text)] == ["names", "names as tags"]
    assert [*modes(here("compare", "-b", bundle, "--text", TEXT).text)] == ["words", "all"]
    assert [*modes(here("compare", "-b", tiny_path, "--text", TEXT).text)] == ["santext+"]
    found = modes(here("compare", "-b", names, "-b", index_bundle, "--text", TEXT).text)
    promise, released = found["class label"]
    assert "per text, for any two texts" in promise
    assert released in here("info", index_bundle).text
    assert "text" not in found


def test_what_is_named_must_be_what_is_pinned(here: Here, names: Path, index_bundle: Path, tiny_encoder: Path) -> None:
    identity = TextLabelEncoder.load(index_bundle).bundle.content_hash
    compare = ("compare", "--text", TEXT, "-b", index_bundle)
    found = modes(here(*compare, "--expect-id", identity).text)
    assert [*found] == ["names", "names as tags", "words", "all", "class label"]
    for one in (identity, Sanitizer.load(names).bundle.content_hash):  # one of them has it
        found = modes(here(*compare, "-b", names, "--expect-id", one).text)
        assert [*found] == ["names", "names as tags", "class label"]
    for more, code in (
        (["--expect-id", "0" * 64], "bundle-content-hash"),
        (["-b", names, "--expect-id", "0" * 64], "bundle-content-hash"),
        (["-b", index_bundle], "option"),
        (["-b", tiny_encoder], "bundle-type"),
    ):
        ran = here(*compare, *more)
        assert (ran.code, ran.out, ran.message.count("\n")) == (1, b"", 1)
        assert ran.message.startswith(f"textveil: {code}: ")


def test_a_bundle_with_sentences_has_the_rung_text(here: Here, names: Path, tmp_path: Path) -> None:
    folder = write_index(tmp_path / "bundle", files=sentences_of())
    found = modes(here("compare", "-b", names, "-b", folder, "--text", TEXT).text)
    assert [*found][-2:] == ["sentence", "class label"]
    promise, released = found["sentence"]
    assert promise.startswith("one of 6 public sentences, not the author's words (")
    assert released in SENTENCES


def test_lines_are_one_text(here: Here, names: Path, tmp_path: Path) -> None:
    path = tmp_path / "in.txt"
    path.write_text("The doctor.\nThe nurse.\n")
    assert modes(here("compare", "-b", names, path).text)["names"][1] == "The doctor.\nThe nurse."


def test_what_is_refused(here: Here, names: Path, tmp_path: Path) -> None:
    for arguments in (["-b", names, "-b", names], [tmp_path / "zorblax"], ["-b", tmp_path]):
        more = [] if tmp_path / "zorblax" in arguments else ["--text", TEXT]
        ran = here("compare", *arguments, *more)
        assert (ran.code, ran.out, ran.message.count("\n")) == (1, b"", 1)
        assert "orblax" not in ran.message


def test_a_preview_shows_kinds(here: Here, names: Path, tmp_path: Path) -> None:
    preview = ("preview", "-b", names, "--protect", "names")
    expected = "The doctor called <person> in <city>."
    ran = here(*preview, "--text", "The doctor called Anna Novak in Boston.")
    assert (ran.code, ran.err) == (0, b"")
    assert ran.text.startswith(
        f"{expected}\n\n6 tokens: 4 kept, 2 replaced by surrogates of their type\nkept: the, doctor, called, in\n"
        "types: person, city\n"
    )
    assert ran.text.endswith("which words are equal.\n")
    kept = here(*preview, "--keep", "city", "--text", "The doctor called Anna in Boston.").text
    assert kept.startswith("The doctor called <person> in Boston.\n")
    colored = here(*preview, "--color", "--text", "The doctor called Anna.").text
    assert "\x1b[36m<person>\x1b[0m" in colored
    assert here(*preview, "--keep", "zorblax", "--text", TEXT).code == 1


def test_a_preview_of_a_table(here: Here, bundle: Path, names: Path, tmp_path: Path) -> None:
    table, lines = tmp_path / "in.csv", tmp_path / "in.jsonl"
    table.write_text("id,note\nzorblax,The doctor\n8,Anna\n")
    lines.write_text('{"note": "The doctor"}\n{"note": "Anna"}\n')
    for arguments in (["--csv", "--column", "note", table], ["--jsonl", "--key", "note", lines]):
        ran = here("preview", "-b", names, "--protect", "names", *arguments)
        assert ran.text.startswith("The doctor\n<person>\n\n3 tokens: ")
        assert here("preview", "-b", bundle, *arguments).text.startswith("The ______\n????\n\n3 tokens: ")
    for arguments in (
        ["--csv", table],
        ["--csv", "-c", "id", "-c", "note", table],
        ["--csv", "-c", "id", "--text", "a"],
    ):
        ran = here("preview", "-b", names, "--protect", "names", *arguments)
        assert (ran.code, ran.message.count("\n")) == (1, 1)
        assert "orblax" not in ran.message


# --- tables --------------------------------------------------------------------------------------------------------

TABLES = {
    "t.csv": ("id,note\n1,Zqxwvina\n", "CSV"),
    "T.TSV": ("id\tnote\n1\tZqxwvina\n", "TSV"),
    "t.jsonl": ('{"note": "Zqxwvina"}\n', "JSON lines"),
    "t.ndjson": ('{"note": "Zqxwvina"}\n', "JSON lines"),
    "t.parquet": ("PAR1 Zqxwvina", "Parquet"),
    "t.csv.gz": ("Zqxwvina", "CSV"),
    "comma.txt": ("id,note\n1,Zqxwvina\n2,the\n", "CSV"),
    "tab": ("id\tnote\n1\tZqxwvina\n2\tthe\n", "TSV"),
    "lines.txt": ('{"note": "Zqxwvina"}\n', "JSON lines"),
    "object.txt": ("{\n", "JSON"),
    "magic.txt": ("PAR1 Zqxwvina", "Parquet"),
}


@pytest.mark.parametrize("name", TABLES)
def test_a_table_is_refused_and_not_read_as_prose(here: Here, tmp_path: Path, name: str) -> None:
    content, kind = TABLES[name]
    (tmp_path / name).write_text(content)
    (tmp_path / "prose.txt").write_text("The doctor, of Boston, called.\nAnna, the nurse, left.\n")
    for paths in ((tmp_path / name,), (tmp_path / "prose.txt", tmp_path / name)):
        ran = here("compare", *paths)
        assert (ran.code, ran.out) == (1, b"")
        assert f"{name}: looks like {kind}: compare accepts only plain text: pass one cell" in ran.message
        assert "textveil sanitize FILE --column NAME" in ran.message
        assert "Zqxwvina" not in ran.message
        assert ran.message.count("\n") == 1
    assert here("compare", tmp_path / "prose.txt").code == 0
