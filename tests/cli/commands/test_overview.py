"""``sanitize --overview`` writes counts and options, and no text of the input, the output or the user's lists."""

import os
import re
import stat
from collections.abc import Callable
from pathlib import Path

import pytest
from textveil import __version__
from textveil.bundle.defaults import DEFAULT_BUNDLE_ID
from textveil_cli.changes import overview

#: Each is a person, in another place of the run.
IN_CELL, IN_HEADER, IN_FILE, KNOWN, DENIED, PATTERN, IN_OUTPUT, ALLOWED, IN_COPY, IN_BAD_ROW, IN_ID = (
    f"zorblax{letter}" for letter in "abcdefghijk"
)
NAMES = (IN_CELL, IN_HEADER, IN_FILE, KNOWN, DENIED, PATTERN, IN_OUTPUT, ALLOWED, IN_COPY, IN_BAD_ROW, IN_ID)
NOTICE = "contains counts of private texts and no text"


@pytest.fixture
def sanitize(here: Callable) -> Callable:
    return lambda *arguments: here("sanitize", *arguments)


@pytest.fixture
def page(sanitize: Callable, tmp_path: Path) -> str:
    """Return the overview of a table that has a name in each place."""
    table = tmp_path / f"{IN_FILE}.csv"
    table.write_text(
        f"customer_email,note,notes of {IN_HEADER},{IN_COPY} list,daniel\n"
        f"{IN_CELL}@b.example,We met {IN_CELL} and {KNOWN} today,fine,{IN_CELL},x\n"
        f"x,The {DENIED} and {IN_ID}42 of K-1234 {ALLOWED},,x,x\nx,{IN_BAD_ROW}\n",
        "utf-8",
    )
    for name, word in (("known", KNOWN), ("deny", DENIED), ("allow", ALLOWED)):
        (tmp_path / f"{IN_FILE}-{name}.txt").write_text(f"{word}\n", "utf-8")
    lists = [
        entry for name in ("known", "deny", "allow") for entry in (f"--{name}", f"{tmp_path}/{IN_FILE}-{name}.txt")
    ]
    own = ["--pattern", f"{PATTERN}=K-[0-9]{{4}}", "--tag", PATTERN, "--facts", "useful"]
    columns = ["--column", "note", "--column", f"notes of {IN_HEADER}"]
    target, bad = tmp_path / f"{IN_OUTPUT}.csv", tmp_path / f"{IN_FILE}.jsonl"
    files = ["-o", target, "--overview", tmp_path / "overview.html", "--rejected-rows", bad]
    ran = sanitize(table, *columns, *lists, *own, *files)
    assert ran.code == 0, ran.message
    return (tmp_path / "overview.html").read_text("utf-8")


def test_it_has_no_name_from_any_place(page: str, tmp_path: Path) -> None:
    for name in NAMES:
        assert name not in page.lower()
    for word in ("today", "k-1234", "daniel", ".csv", ".txt", str(tmp_path)):
        assert word not in page.lower()
    surrogate = re.search("We met (.*) and", (tmp_path / f"{IN_OUTPUT}.csv").read_text("utf-8"))
    assert surrogate is not None
    assert surrogate[1] not in page
    if os.name == "posix":
        assert stat.S_IMODE((tmp_path / "overview.html").stat().st_mode) == 0o600


def test_it_counts_and_names_public_columns(page: str) -> None:
    assert NOTICE in page.splitlines()[0]
    assert f"textveil {__version__}, bundle {DEFAULT_BUNDLE_ID}" in page
    assert "1 input: 3 texts in 2 rows, 2 of them changed" in page
    assert "1 row was rejected: it is not in the output" in page
    assert "Warning:</strong> customer_email looks personal and was copied unchanged" in page
    assert "Also copied unchanged: copied column 2, copied column 3" in page
    assert (
        "protect names, style surrogate, facts useful, tag own-type-1, patterns: 1, known: 1, deny: 1, allow: 1" in page
    )
    assert '<tr><td>note</td><td class="number">2</td><td class="number">2</td>' in page
    assert '<tr><td>rewritten column 2</td><td class="number">1</td><td class="number">0</td>' in page
    assert '<tr><td>own-type-1</td><td class="number">1</td></tr>' in page
    for reason in ("a match of --pattern", "a person of --known", "on your list --deny", "on your list --allow"):
        assert f'<tr><td>{reason}</td><td class="number">1</td></tr>' in page
    assert "(own-type-1)" in page  # in the privacy statement
    assert "Kept words can still reveal who the text is about." in page


@pytest.mark.parametrize("fault", ["_rename_own_types", "_find_fields", "describe_reason_class"])
def test_planted_faults_are_found(
    fault: str, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """Without one of its rules an overview has a name."""
    if fault == "describe_reason_class":
        monkeypatch.setattr(overview, fault, lambda reason: f"{reason} {IN_ID}")
    elif fault == "_find_fields":
        monkeypatch.setattr(
            overview._Overview, fault, lambda self, options: {*self._review.columns, *self._review.copied}
        )
    else:
        monkeypatch.setattr(overview._Overview, fault, lambda self, options: options)
    with pytest.raises(AssertionError):
        test_it_has_no_name_from_any_place(request.getfixturevalue("page"), tmp_path)


def test_lines_of_text_and_randomized_words(sanitize: Callable, tmp_path: Path) -> None:
    report = tmp_path / "o.html"
    for options, statement in (((), "Kept: common words"), (("--protect", "words"), "epsilon 10 per word")):
        assert sanitize("--text", f"Ask {IN_CELL.title()} now.", "--overview", report, *options).code == 0
        page = report.read_text("utf-8")
        assert "1 input: 1 text, 1 of them changed" in page
        assert statement in page
        assert IN_CELL not in page.lower()


def test_keys_of_json_lines_have_names(sanitize: Callable, tmp_path: Path) -> None:
    path, report = tmp_path / "a.jsonl", tmp_path / "o.html"
    path.write_text('{"messages": [{"content": "from Leeds"}], "order_id": 5}\n', "utf-8")
    options = ("--key", "messages[].content", "--overview", report, "--report", tmp_path / "report.html")
    assert sanitize(path, *options, "-o", tmp_path / "out.jsonl").code == 0
    page = report.read_text("utf-8")
    assert "<tr><td>messages[].content</td>" in page
    assert "order_id looks personal" in page
    assert "Leeds" not in page
    assert "Leeds" in (tmp_path / "report.html").read_text("utf-8")


def test_files_of_an_earlier_run_are_not_counted(sanitize: Callable, tmp_path: Path) -> None:
    (tmp_path / "mails").mkdir()
    (tmp_path / "mails" / "a.txt").write_text("fine\nfrom Leeds\n", "utf-8")
    options = (tmp_path / "mails", "-o", tmp_path / "sent", "--overview", tmp_path / "o.html")
    assert sanitize(*options, "--report", tmp_path / "r.html").code == 0
    assert "earlier run" not in (tmp_path / "o.html").read_text("utf-8")
    (tmp_path / "mails" / "b.txt").write_text("fine\n", "utf-8")
    assert sanitize(*options, "--report", tmp_path / "r.html", "--resume").code == 0
    for name in ("o.html", "r.html"):
        page = (tmp_path / name).read_text("utf-8")
        assert "1 text, 0 of them changed" in page
        assert "1 input was finished by an earlier run: it is not counted" in page


def test_it_is_refused_in_the_folder_that_is_sent(sanitize: Callable, tmp_path: Path) -> None:
    (tmp_path / "mails").mkdir()
    (tmp_path / "mails" / "a.txt").write_text("fine\n", "utf-8")
    target = tmp_path / "sent"
    ran = sanitize(tmp_path / "mails", "-o", target, "--overview", target / "o.html")
    assert ran.code == 1
    assert "--overview: " in ran.message
    ran = sanitize("--text", "fine", "--overview", tmp_path / "o.txt")
    assert "--overview writes a page for a browser: name a file that ends in .html" in ran.message


def test_it_states_removed_columns_and_a_saved_mapping(sanitize: Callable, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("id,friend,note\n1,Anna,We met Zorblax\n2,Dan,We met Zorblax\n", "utf-8")
    files = [
        "--save-mapping",
        tmp_path / "keys.json",
        "--overview",
        tmp_path / "overview.html",
        "-o",
        tmp_path / "s.csv",
    ]
    ran = sanitize(tmp_path / "t.csv", "--column", "note", "--drop-column", "friend", "--document", "file", *files)
    assert ran.code == 0, ran.message
    page = (tmp_path / "overview.html").read_text("utf-8")
    assert "1 column removed; equal names of all rows have equal replacements" in page
    assert "the run saved a mapping" in page
    assert "friend" not in page
    assert "keys" not in page
