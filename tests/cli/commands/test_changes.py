"""``sanitize --diff`` and ``--report`` show what changed, keep originals private, and release as usual."""

import os
import re
import shutil
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from textveil import __version__
from textveil.bundle.defaults import DEFAULT_BUNDLE_ID
from textveil_cli.changes import ReportFacts, RunReview, write_report

#: In no list and no pool of the built-in bundle.
NAME = "Zorblax Quibblex"
NOTICE = "contains your original text: do not send"
SCRIPT = "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium")
needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="there is no Chromium: apt-get install chromium")


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "tickets.csv"
    path.write_text(f"id,email,note\n1,a@b.example,{NAME} called\n2,,fine\n3,,from Leeds\n", "utf-8")
    return path


@pytest.fixture
def sanitize(here: Callable) -> Callable:
    return lambda *arguments: here("sanitize", *arguments)


def test_a_diff_takes_the_place_of_the_output(sanitize: Callable) -> None:
    ran = sanitize("--diff", "--text", f"Ask {NAME} now.")
    lines = ran.text.splitlines()
    assert ran.code == 0
    assert lines[0] == NOTICE
    assert lines[2] == f"- Ask [-{NAME}-] now."
    assert lines[3].startswith("+ Ask {+")
    assert "Zorblax" not in ran.message


def test_an_output_file_is_written_as_usual(sanitize: Callable, tmp_path: Path) -> None:
    target = tmp_path / "out.txt"
    ran = sanitize("--diff", "--text", f"Ask {NAME} now.", "-o", target)
    sent = target.read_text("utf-8")
    assert "Zorblax" not in sent
    assert sent.split()[1] in ran.text.splitlines()[3]


def test_a_diff_of_a_table_is_a_sample_of_its_rows(sanitize: Callable, tmp_path: Path) -> None:
    path = tmp_path / "many.csv"
    path.write_text("id,note\n" + "".join(f"{row},from Leeds\n" for row in range(1, 101)), "utf-8")
    ran = sanitize(path, "--column", "note", "--diff")
    assert ran.code == 0
    # A surrogate is drawn from all cities, so it equals the original in about one row of a hundred.
    assert ran.text.startswith(f"{NOTICE}\n\nmany.csv, row ")
    assert re.search(r"many.csv, row \d+, note\n- from \[-Leeds-\]\n\+ from \{\+", ran.text)
    assert 10 <= ran.text.count("[-Leeds-]") <= 20
    assert "of 100 rows; --report FILE.html counts all)" in ran.text
    assert os.listdir(tmp_path) == ["many.csv"]


def test_a_report_is_private_and_marked(sanitize: Callable, tmp_path: Path, table: Path) -> None:
    report, target = tmp_path / "report.html", tmp_path / "sent.csv"
    ran = sanitize(table, "--column", "note", "--report", report, "-o", target)
    assert ran.code == 0
    page = report.read_text("utf-8")
    assert NOTICE in page.splitlines()[0]
    if os.name == "posix":
        assert stat.S_IMODE(report.stat().st_mode) == 0o600
    assert f"<del>{NAME}</del>" in page
    assert "email looks personal and was copied unchanged" in page
    assert "Content-Security-Policy" in page
    assert "Zorblax" not in target.read_text("utf-8")
    assert "Zorblax" not in ran.message


def test_a_report_counts_each_key_of_json_lines(sanitize: Callable, tmp_path: Path) -> None:
    path, report = tmp_path / "a.jsonl", tmp_path / "report.html"
    path.write_text('{"b": {"c": "from Leeds"}, "a": "fine"}\n{"a": "in Leeds", "b": {"c": "fine"}}\n', "utf-8")
    ran = sanitize(path, "--key", "a", "--key", "b.c", "--report", report, "-o", tmp_path / "out.jsonl")
    assert ran.code == 0
    page = report.read_text("utf-8")
    for name in ("a", "b.c"):
        assert f'<tr><td>{name}</td><td class="number">2</td><td class="number">1</td>' in page


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--report", "out.txt"], "--report writes a page for a browser: name a file that ends in .html"),
        (["--report", "missing/report.html"], "--report: the folder does not exist or is not writable"),
        (["--diff", "--json"], "use either --diff or --json"),
        (["--diff", "--receipt", "a.json", "--receipt-key", "a.key"], "--diff with --receipt needs -o FILE"),
    ],
)
def test_mistakes_release_nothing(
    sanitize: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    ran = sanitize("--text", NAME, *arguments)
    assert ran.code in (1, 2)
    assert message in ran.message
    assert ran.out == b""
    assert os.listdir(tmp_path) == []


def test_a_report_in_the_folder_that_is_sent_is_refused(sanitize: Callable, tmp_path: Path) -> None:
    (tmp_path / "mails").mkdir()
    (tmp_path / "sent" / "inner").mkdir(parents=True)
    (tmp_path / "mails" / "a.txt").write_text(f"{NAME}\n", "utf-8")
    for place in ("sent/report.html", "sent/inner/report.html", "mails/../sent/report.html"):
        ran = sanitize(tmp_path / "mails", "-o", tmp_path / "sent", "--report", tmp_path / place)
        assert (ran.code, ran.out) == (1, b"")
        assert "--report: the file would be in the output folder, which you send" in ran.message
    assert os.listdir(tmp_path / "sent") == ["inner"]


@pytest.mark.skipif(os.name != "posix", reason="a limit on the size of files stands in for the disk")
def test_a_full_disk_leaves_no_part_of_a_report(forked: Callable, tmp_path: Path, table: Path) -> None:
    limit = (
        "import resource, signal\nsignal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000))"
    )
    command = ["sanitize", "-q", table, "-c", "note", "-o", tmp_path / "sent.csv", "--report", tmp_path / "report.html"]
    ran = forked(*command, before=limit)
    assert ran.code == 1
    assert ran.message == "textveil: output: 'report.html' cannot be written: File too large\n"
    assert [name for name in os.listdir(tmp_path) if "report" in name] == []


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="the path of standard output is found on Linux")
def test_a_diff_that_is_redirected_into_a_file_is_private(command: Callable, tmp_path: Path) -> None:
    (tmp_path / "mails").mkdir()
    (tmp_path / "sent").mkdir()
    (tmp_path / "mails" / "a.txt").write_text(f"{NAME}\n", "utf-8")
    for name, code in (("diff.txt", 0), ("sent/diff.txt", 1)):
        with open(tmp_path / name, "wb") as file:
            ran = command("sanitize", tmp_path / "mails", "-o", tmp_path / "sent", "--diff", stdout=file)
        assert ran.code == code
        assert (NAME in (tmp_path / name).read_text("utf-8")) == (code == 0)
    assert stat.S_IMODE((tmp_path / "diff.txt").stat().st_mode) == 0o600


def print_to_terminal(columns: int, **environment: str) -> str:
    """Return what ``sanitize --diff`` writes to a terminal of a width."""
    import fcntl
    import pty
    import struct
    import termios

    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    command = [sys.executable, "-m", "textveil_cli", "sanitize", "-q", "--style", "tag", "--diff", "--text"]
    settings = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "COLUMNS", "TERM")}
    text = f"Please refund order 88213 to my husband, {NAME}, who called on Monday and was very polite."
    ran = subprocess.Popen(
        [*command, text],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**settings, "TERM": "xterm", **environment},
    )
    os.close(theirs)
    written = b""
    try:
        while part := os.read(ours, 1 << 16):
            written += part
    except OSError:  # so a terminal ends on Linux
        pass
    os.close(ours)
    assert ran.wait(60) == 0
    return written.decode()


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs terminals of POSIX")
@pytest.mark.parametrize(
    ("columns", "environment", "has_color"),
    [
        (40, {}, True),
        (100, {"COLUMNS": "40"}, True),
        (40, {"NO_COLOR": "1"}, False),
        (40, {"TERM": "dumb"}, False),
    ],
)
def test_a_real_terminal_gets_lines_of_its_width(columns: int, environment: dict[str, str], has_color: bool) -> None:
    written = print_to_terminal(columns, **environment)
    assert ("\x1b[" in written) == has_color
    lines = re.sub(r"\x1b\[[\d;]*m", "", written).split("\r\n")
    assert lines[0] == NOTICE  # one line of 40 characters
    assert max(map(len, lines)) <= 40
    shown = " ".join(lines)
    assert "refund order" in shown
    assert "Zorblax" in shown
    assert ("[-88213-]" in shown) == (not has_color)


class PlainExplainer:
    """Explains every text as kept words."""

    def iterate_reasons(self, text: str) -> list:
        return []

    def iterate_treatments(self, text: str) -> list:
        return [(word, "kept") for word in text.split()]

    def align(self, text: str, output: str) -> list:
        return []


@pytest.mark.slow
def test_the_sample_is_random_and_bounded_while_all_rows_count() -> None:
    review = RunReview(PlainExplainer(), 100)  # type: ignore[arg-type]
    for row in range(1, 100_001):
        review.add_text("a.csv", row, "note", f"word{row} the", "x")
        review.add_text("a.csv", row, "other", "the", "y")
    numbers = [row.number for row in review.sample]
    assert len(numbers) == 100
    assert numbers == sorted(numbers)
    assert all([cell.output for cell in row.cells] == ["x", "y"] for row in review.sample)
    # A sample of less than three remainders, or without the last half, has a probability below 2 ** -90.
    assert len({number % 10 for number in numbers}) > 2
    assert numbers[-1] > 50_000
    counts = review.columns["note"]
    assert (review.rows, counts.texts, counts.kept["the"], counts.kept_total) == (100_000, 100_000, 100_000, 200_000)
    assert len(counts.kept) <= 100_000


def test_long_rows_make_the_sample_smaller() -> None:
    review = RunReview(PlainExplainer(), 1_000, counts_words=False)  # type: ignore[arg-type]
    for row in range(1, 2_001):
        review.add_text("a.csv", row, "note", "x" * 20_000, "y")
        review.add_text("a.csv", row, "other", "x" * 20_000, "y")
    assert review.rows == 2_000
    assert 90 <= len(review.sample) <= 100
    assert all(len(row.cells) == 2 for row in review.sample)


def test_a_report_states_its_run_and_opens_rare_words(sanitize: Callable, tmp_path: Path) -> None:
    path, report, deny = tmp_path / "a.csv", tmp_path / "report.html", tmp_path / "words.txt"
    names = [f"Zorblax{'abcdefghijklmnopqrstuvwxyz'[number]}" for number in range(26)]
    path.write_text("note,mail\n" + "".join(f"We met {name} today,x\n" for name in names), "utf-8")
    deny.write_text("quibble\n", "utf-8")
    options = ("--column", "note", "--style", "tag", "--deny", deny, "--document", "row", "--drop-column", "mail")
    assert sanitize(path, *options, "--report", report, "-o", tmp_path / "sent.csv").code == 0
    page = report.read_text("utf-8")
    run = re.search(r"<p[^>]*>(\d{4}-\d\d-\d\d \d\d:\d\d [+-]\d{4}, textveil [^<]+)</p>", page)
    assert run is not None
    assert (
        f", textveil {__version__}, bundle {DEFAULT_BUNDLE_ID[:12]}; output: sent.csv; options: protect names, "
        in run[1]
    )
    for option in ("style tag", "facts plain", "deny (1 word)", "column note", "document row", "drop-column mail"):
        assert option in run[1]
    assert "quibble" not in page
    opened = re.search(r"<details><summary>11 more</summary>([^<]*)</details>", page)
    assert opened is not None
    assert sum(name in opened[1] for name in names) == 11


def test_a_report_states_why_rows_are_missing(sanitize: Callable, tmp_path: Path) -> None:
    path, report = tmp_path / "a.csv", tmp_path / "report.html"
    path.write_text("id,note\n1,from Leeds\n2,\n3,fine\n", "utf-8")
    assert sanitize(path, "--column", "note", "--report", report, "-o", tmp_path / "out.csv").code == 0
    page = report.read_text("utf-8")
    assert "2 texts in 3 rows" in page
    assert '<h2>2 of 3 rows</h2>\n<p class="soft">1 row has no text in the rewritten column.</p>' in page
    path.write_text("id,note\n" + "".join(f"{number},from Leeds\n" for number in range(1_001)), "utf-8")
    assert sanitize(path, "--column", "note", "--report", report, "-o", tmp_path / "out.csv").code == 0
    page = report.read_text("utf-8")
    assert "<h2>1,000 of 1,001 rows</h2>" in page
    assert "The 1,000 below are a random sample of all 1,001" in page


def test_a_report_counts_rejected_rows(sanitize: Callable, tmp_path: Path) -> None:
    """Rows that cannot be read, and rows of too long documents, are not among the rows without text."""
    path, report, kept = tmp_path / "a.csv", tmp_path / "report.html", tmp_path / "kept.jsonl"
    path.write_text("id,note,more\n1,nurse,\n2,,\n3,x\n4,biopsy,the nurse and the doctor\n", "utf-8")
    options = ["--protect", "words", "--consistent", "--document", "cell", "--consistent-cap", "1", "-c", "note"]
    options += ["-c", "more", "--rejected-rows", kept, "--report", report]
    assert sanitize(path, *options, "-o", tmp_path / "out.csv").code == 0
    assert (tmp_path / "out.csv").read_text("utf-8").count("\n") == 3
    page = report.read_text("utf-8")
    assert "<strong>Warning:</strong> 2 rows were rejected: they are not in the output</p>" in page
    assert "1 text in 2 rows" in page
    assert "1 row has no text in the rewritten column." in page
    assert "rejected-rows kept.jsonl" in page
    assert "biopsy" not in page
    kept.unlink()
    path.write_text("id,note,more\n1,nurse,\n3,x\n", "utf-8")
    assert sanitize(path, *options, "-o", tmp_path / "out.csv").code == 0
    assert "1 row was rejected: it is not in the output</p>" in report.read_text("utf-8")


def test_a_report_of_many_rows_is_small(tmp_path: Path) -> None:
    sizes = []
    for rows in (1_000, 20_000):
        review = RunReview(PlainExplainer(), 100)  # type: ignore[arg-type]
        for row in range(rows):
            review.add_text("a.csv", row, "note", f"word{row}", "x" * 50)
        write_report(tmp_path / "report.html", review, ReportFacts(inputs=["a.csv"], statement=""))
        sizes.append((tmp_path / "report.html").stat().st_size)
    assert sizes[1] < 2 * sizes[0]


def read_title(page: Path, profile: Path) -> str:
    """Return the title that a page has in Chromium after its scripts ran."""
    assert CHROMIUM is not None
    arguments = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={profile}", "--dump-dom"]
    ran = subprocess.run([CHROMIUM, *arguments, page.as_uri()], capture_output=True, text=True, check=True, timeout=300)
    return ran.stdout.split("<title>")[1].split("</title>")[0]


@needs_chromium
@pytest.mark.slow
def test_a_script_in_a_text_does_not_run_in_a_browser(sanitize: Callable, tmp_path: Path) -> None:
    report = tmp_path / "report.html"
    assert sanitize("--text", f"{SCRIPT} {NAME}", "--report", report).code == 0
    assert read_title(report, tmp_path / "profile") == "What textveil changed"
    page = report.read_text("utf-8")
    unescaped = page.replace("</h1>", f"</h1>{SCRIPT}", 1)  # the policy alone stops it
    report.write_text(unescaped, "utf-8")
    assert read_title(report, tmp_path / "profile") == "What textveil changed"
    report.write_text(unescaped.replace("Content-Security-Policy", "x"), "utf-8")  # the test can fail
    assert read_title(report, tmp_path / "profile") == "owned"
