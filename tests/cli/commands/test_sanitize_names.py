"""The mode ``names`` on the command line: options with every kind of text, messages and refusals."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Here = Callable[..., Any]
TEXT = "Anna Novak met Olga Kaplan in Boston. Anna paid 12."
CANARY = re.compile("Kaplan|Novak|Olga|zorblax", re.IGNORECASE)


@pytest.fixture
def rewrite(here: Here, names: Path) -> Here:
    return lambda *arguments: here("sanitize", "-b", names, "--protect", "names", "--facts", "none", *arguments)


WAYS = {
    "a text": (None, ["--text", "{text}"]),
    "a line": ("in.txt", []),
    "a file": ("in.txt", ["--document", "file"]),
    "csv": ("in.csv", ["--csv", "--column", "note"]),
    "csv, rows as documents": ("in.csv", ["--csv", "--column", "note", "--document", "row"]),
    "csv, a key": ("in.csv", ["--csv", "--column", "note", "--document-key", "id"]),
    "json lines": ("in.jsonl", ["--jsonl", "--key", "note"]),
    "two workers": ("in.csv", ["--csv", "--column", "note", "--workers", "2"]),
}
CONTENTS = {
    "in.txt": TEXT + "\n",
    "in.csv": f'id,note\n1,"{TEXT}"\n',
    "in.jsonl": json.dumps({"id": 1, "note": TEXT}) + "\n",
}
OPTIONS = {
    "by default": ([], r"[A-Z]\w+ [A-Z]\w+ met [A-Z]\w+ [A-Z]\w+ in [A-Z]\w+\. [A-Z]\w+ paid \d\d\."),
    "tags": (["--style", "tag"], r"\[person 1\] met \[person 2\] in \[city 1\]\. \[person \d\] paid \[number 1\]\."),
    "kinds": (
        ["--keep", "city", "--keep", "number", "--tag", "person"],
        r"\[person 1\] met \[person 2\] in Boston\. \[person \d\] paid 12\.",
    ),
    "dropped": (["--drop", "person", "--drop", "number"], r" met  in [A-Z]\w+\.  paid \."),
    "not consistent": (["--no-consistent", "--keep", "city"], r".* met .* in Boston\. .* paid \d\d\."),
}


@pytest.mark.parametrize(
    ("way", "options"),
    [
        *((way, options) for way in WAYS for options in OPTIONS if "two" not in way),
        *(pytest.param("two workers", options, marks=pytest.mark.slow) for options in ("tags", "not consistent")),
    ],
)
def test_every_kind_of_text_with_every_option(rewrite: Here, tmp_path: Path, way: str, options: str) -> None:
    name, arguments = WAYS[way]
    given, expected = OPTIONS[options]
    files = []
    if name is not None:
        path = tmp_path / name
        path.write_text(CONTENTS[name])
        files = [path]
    ran = rewrite(*(argument.format(text=TEXT) for argument in arguments), *given, *files)
    if "--no-consistent" in given and {"row", "--document-key"} & {*arguments}:
        assert ran.message.startswith("textveil: option: --document row and --document-key need --consistent")
        return
    assert ran.code == 0, ran.message
    said = ran.text
    if name == "in.csv":
        said = said.removeprefix("id,note\n1,").strip('"\n')
    elif name == "in.jsonl":
        said = json.loads(said)["note"]
    assert re.fullmatch(expected, said.rstrip("\n")), said
    assert not CANARY.search(ran.text + ran.message)
    assert "Kept: common words from a public list" in ran.message
    assert ran.message.count("\n") == 1


def test_equal_names_are_equal_unless_that_is_refused(rewrite: Here) -> None:
    first = [rewrite("-q", "--text", "Anna paid. Anna left.").text.split() for _ in range(3)]
    assert all(words[0] == words[2] for words in first)
    several = [rewrite("-q", "--no-consistent", "--text", "Anna paid. Anna left.").text.split() for _ in range(8)]
    assert any(words[0] != words[2] for words in several)


def test_statements(rewrite: Here) -> None:
    statement = json.loads(rewrite("-q", "--json", "--keep", "city", "--text", TEXT).text)["statement"]
    assert statement["epsilon_text"] is None
    assert statement["epsilon_notion"] == "none for kept words"
    assert (statement["protect"], statement["keep"], statement["kept_words"]) == ("names", ["city"], 3)
    assert not {"epsilon", "epsilon_per_word", "tokens"} & statement.keys()
    line = rewrite("--keep", "city", "--keep", "number", "--text", TEXT).message
    assert (
        "Kept: common words from a public list, the types city, number. All other words and numbers: replaced" in line
    )
    assert "No epsilon bounds what kept words reveal (3 kept words)." in rewrite("--statement", "--text", TEXT).message


def test_a_mapping_restores(rewrite: Here, here: Here, tmp_path: Path) -> None:
    for style in ([], ["--style", "tag"]):
        mapping, out = tmp_path / f"{len(style)}.json", tmp_path / f"{len(style)}.txt"
        ran = rewrite("-q", "--save-mapping", mapping, "-o", out, *style, "--text", "Anna met Olga, and Anna paid.")
        assert ran.code == 0
        assert not CANARY.search(out.read_text())
        assert here("restore", "--mapping", mapping, out).text == "Anna met Olga, and Anna paid.\n"


def test_a_tag_that_somebody_else_wrote_is_not_restored(rewrite: Here, here: Here, tmp_path: Path) -> None:
    mapping, out = tmp_path / "m.json", tmp_path / "out.txt"
    for given in (["--style", "tag", "--keep", "number"], ["--tag", "person"]):
        rewrite("-q", *given, "--save-mapping", mapping, "-o", out, "--text", "call [person 1] or [Person  1]: Olga")
        restored = here("restore", "--mapping", mapping, out).text
        assert restored.count("Olga") == 1
        assert restored.endswith(": Olga\n")


def test_ledgers_receipts_and_memos(rewrite: Here, here: Here, tmp_path: Path) -> None:
    books, table = tmp_path / "books", tmp_path / "in.csv"
    table.write_text(CONTENTS["in.csv"])
    for more in (["--text", TEXT], ["--csv", "--column", "note", table]):
        ran = rewrite("--ledger", books, "--budget", "1000", "--privacy-unit", "strict", *more)
        assert (ran.code, ran.out) == (1, b"")
        assert "textveil: budget: " in ran.message
        assert "names has no finite epsilon, so it exceeds every budget" in ran.message.splitlines()[-1]
    assert "1 document spent epsilon, total of this privacy unit: epsilon 0, and 1 release without a finite bound" in (
        rewrite("--ledger", books, "--text", TEXT).message
    )
    pytest.importorskip("cryptography")
    receipt = tmp_path / "receipt.json"
    rewrite("-q", "--receipt", receipt, "--receipt-key", tmp_path / "key", "--text", TEXT)
    assert "names: 1 document, no finite epsilon" in here("verify", "--receipt", receipt).text
    key = tmp_path / "elsewhere"
    key.mkdir()
    kept: list[bytes] = []
    for kinds in (["city", "month", "number"], ["number", "city", "month"]):
        given = [word for kind in kinds for word in ("--keep", kind)]
        memo = [
            "--ledger",
            tmp_path / "books" / ".." / "memo",
            "--replay-cache",
            "--replay-cache-key",
            key / "memo.key",
        ]
        kept.append(rewrite("-q", *memo, *given, "--text", TEXT).out)
    assert kept[0] == kept[1]


def test_other_rungs_and_bundles_refuse(here: Here, bundle: Path, names: Path, tiny_path: Path, tmp_path: Path) -> None:
    listed = tmp_path / "words.txt"
    listed.write_text("zorblax\n")
    for option in (["--keep", "city"], ["--tag", "city"], ["--drop", "city"], ["--style", "tag"], ["--allow", listed]):
        ran = here("sanitize", "-b", bundle, "--text", TEXT, *option)
        assert (ran.code, ran.out) == (1, b"")
        assert ran.message.startswith(
            f"textveil: option: {option[0]}: only the mode 'names' supports this: use --protect names (see "
        )
    for arguments in (["--text", TEXT], ["--protect", "names", "--text", TEXT]):
        ran = here("sanitize", "-b", names, *arguments)
        assert (ran.code, ran.message.startswith("textveil: Kept: common words from a public list, ")) == (0, True)
    ran = here("sanitize", "-b", names, "--protect", "words", "--text", TEXT)
    assert (ran.code, ran.out) == (1, b"")
    assert ran.message.endswith(
        ": this bundle has only the lists of the mode 'names': use --protect names (see textveil sanitize --help)\n"
    )
    for folder in (bundle, tiny_path):
        ran = here("sanitize", "-b", folder, "--protect", "names", "--text", TEXT)
        assert (ran.code, ran.out) == (1, b"")
        assert ran.message.startswith("textveil: unknown-mechanism: ")
        assert ran.message.count("\n") == 1


def test_denied_and_allowed_words(rewrite: Here, tmp_path: Path) -> None:
    denied, allowed = tmp_path / "deny.txt", tmp_path / "allow.txt"
    denied.write_bytes(b"\xef\xbb\xbfPaid\r\n")
    assert " paid " not in rewrite("-q", "--deny", denied, "--text", TEXT).text
    for entries, said in (
        ("zorblax\n", ""),
        ("zorblax\nAnna\nnovak\n", "2 names of persons (kept there too)\n"),
        (
            "New Zorblax\nZorblax 7\n",
            ": 2 of several words (each word is kept alone too), 1 with digits (replaced nevertheless)\n",
        ),
    ):
        allowed.write_text(entries)
        ran = rewrite("--allow", allowed, "--text", "the doctor called zorblax in the morning")
        assert ran.text == "the doctor called zorblax in the morning\n"
        assert "Kept: common words from a public list, allowed words." in ran.message
        assert said in ran.message
        assert ("entries of --allow" in ran.message) == bool(said)
        assert not CANARY.search(ran.message)
    assert "--allow" not in rewrite("-q", "--allow", allowed, "--text", TEXT).message
    for option, path in (("--deny", denied), ("--allow", allowed)):
        ran = rewrite(option, path, "-o", path, "--text", TEXT)
        assert (ran.code, path.stat().st_size > 0) == (1, True)


FOREIGN, PLAIN = "zorblax qwyx spelt doctor " * 18, "the doctor called in the morning and said that " * 4
WARNED = re.compile(
    r"textveil: (\d+) % of the words were replaced(.*): the text may not be in the language of the bundle"
)


@pytest.mark.parametrize(
    ("arguments", "counted"),
    [
        (["--text", FOREIGN], ""),
        (["in.txt"], " (over half in 2 of 3 texts)"),
        (["in.txt", "--document", "file"], ""),
        (["in.csv", "--column", "note"], " (over half in 2 of 3 texts)"),
        (["in.csv", "--column", "note", "--workers", "2"], " (over half in 2 of 3 texts)"),
        (["in.jsonl", "--key", "note"], " (over half in 2 of 3 texts)"),
        (["folder", "-o", "out"], " (over half in 2 of 3 texts)"),
    ],
    ids=["a text", "lines", "a file", "csv", "workers", "json lines", "a folder"],
)
def test_a_run_of_which_few_words_are_kept_is_warned_of_once(
    rewrite: Here, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], counted: str
) -> None:
    monkeypatch.chdir(tmp_path)
    texts = [FOREIGN, PLAIN, FOREIGN]
    Path("in.txt").write_text("".join(f"{text}\n" for text in texts))
    Path("in.csv").write_text("note\n" + "".join(f"{text}\n" for text in texts))
    Path("in.jsonl").write_text("".join(json.dumps({"note": text}) + "\n" for text in texts))
    Path("folder").mkdir()
    for number, text in enumerate(texts):
        Path("folder", f"{number}.txt").write_text(text)
    ran = rewrite(*arguments)
    found = WARNED.findall(ran.message)
    assert [which for _, which in found] == [counted]
    assert not CANARY.search(ran.message)
    shutil.rmtree("out", ignore_errors=True)
    assert "replaced" not in rewrite("-q", *arguments).message


def test_a_text_of_kept_words_of_names_or_of_few_words_is_not_warned_of(rewrite: Here) -> None:
    names_alone = "Anna Novak, Olga Kaplan, Boston, 12 March 2024. " * 9
    for text in (PLAIN, names_alone, "", "zorblax qwyx spelt doctor", "Anna Novak met Olga Kaplan in Boston"):
        assert not WARNED.search(rewrite("--text", text).message)


def test_few_foreign_texts_among_many_are_counted_and_not_warned_of(rewrite: Here, tmp_path: Path) -> None:
    table = tmp_path / "in.csv"
    for foreign, warned in ((1, 0), (3, 1)):
        table.write_text("note\n" + f"{FOREIGN}\n" * foreign + f"{PLAIN}\n" * (40 - foreign))
        ran = rewrite(table, "--column", "note", "--json", "-o", tmp_path / "out.csv")
        assert len(WARNED.findall(ran.message)) == warned
        told = json.loads(ran.text)
        assert told["mostly_replaced_documents"] == foreign
        assert 0.7 < told["kept_word_share"] < 1


def test_json_has_the_kept_share(rewrite: Here) -> None:
    assert json.loads(rewrite("--json", "--text", FOREIGN).text)["kept_word_share"] == 0.25
    assert json.loads(rewrite("--json", "--text", "Anna Novak").text)["kept_word_share"] is None


def test_a_folder_is_gone_on_with_under_the_same_kinds(rewrite: Here, tmp_path: Path) -> None:
    folder, out, allowed = tmp_path / "in", tmp_path / "out", tmp_path / "allow.txt"
    folder.mkdir()
    (folder / "a.txt").write_text(TEXT)
    allowed.write_text("zorblax")
    given = ["--keep", "city", "--keep", "month", "--keep", "number"]
    assert rewrite(folder, "-o", out, *given).code == 0
    same = ["--keep", "number", "--keep", "month", "--keep", "city"]
    assert "1 file finished by an earlier run" in rewrite(folder, "-o", out, "--resume", *same).message
    for other in (["--keep", "city"], [*same, "--allow", allowed]):
        assert "resume" in rewrite(folder, "-o", out, "--resume", *other).message.split(":")[1]
