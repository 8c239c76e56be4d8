"""``textveil-train audit`` takes a program, a function or a bundle, and prints a report, JSON or one line of error."""

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from small_bundles import scattered, small_bundle

Run = Callable[..., tuple[int, str, str]]
Refused = Callable[..., str]
HONEST = """
import random, sys
words = "alpha beta gamma delta".split()
chance = random.SystemRandom()
for line in sys.stdin:
    print(" ".join(word if chance.random() < {kept} else chance.choice(words) for word in line.split()))
"""


@pytest.fixture
def rewriter(tmp_path: Path) -> Callable[[str], str]:
    """Write a Python program, and return the command that runs it."""

    def write(code: str) -> str:
        path = tmp_path / "rewriter.py"
        path.write_text(code)
        return f"{sys.executable} {path}"

    return write


@pytest.fixture
def texts(tmp_path: Path) -> Path:
    """Write eight texts of two words."""
    path = tmp_path / "texts.txt"
    words = ("alpha", "beta", "gamma", "delta")
    path.write_text("".join(f"{one} {other}\n" for one in words[:2] for other in words))
    return path


@pytest.mark.slow
@pytest.mark.statistical
def test_a_program_is_audited_with_a_report_a_record_and_progress(
    run: Run, rewriter: Callable[[str], str], texts: Path, tmp_path: Path
) -> None:
    command, record = rewriter(HONEST.format(kept=0.3)), tmp_path / "report.json"
    options = ("--command", command, "--texts", texts, "--draws", 600, "--seed", 1)
    code, out, err = run("audit", *options, "--claims", 4, "-o", record)
    assert code == 0
    assert "NOT REFUTED" in out
    assert "could detect" in out
    assert "pair test, counting" in err
    stored = json.loads(record.read_text())
    assert stored["verdict"] == "not refuted"
    assert 0 <= stored["bound"] < 4
    assert not {"alpha", "beta"} & set(record.read_text().split('"'))


@pytest.mark.slow
@pytest.mark.statistical
def test_a_false_claim_ends_with_status_1_and_json_on_standard_output(
    run: Run, rewriter: Callable[[str], str], texts: Path
) -> None:
    command = rewriter(HONEST.format(kept=0.9))
    options = ("--texts", texts, "--draws", 600, "--json", "--claims", ".5", "--neighbors", "word")
    code, out, err = run("audit", "--command", command, *options)
    assert code == 1
    assert json.loads(out)["verdict"] == "refuted"
    assert "the claim is refuted: epsilon is at least" in err.splitlines()[-1]


@pytest.mark.slow
def test_a_program_that_changes_nothing_is_refuted_on_the_public_sample(run: Run) -> None:
    code, out, _ = run("audit", "--command", "cat", "--claims", 4)
    assert code == 1
    assert "every output equals its input" in out
    assert "REFUTED" in out


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "verdict"), [("tr a-z A-Z", "REFUTED: epsilon is at least"), ("tr a-z n-za-m", "NOT TESTED")]
)
def test_a_deterministic_program_is_never_private(run: Run, command: str, verdict: str) -> None:
    """A change of case is read through; outputs that share no word with their input are not, and nothing is counted."""
    code, out, err = run("audit", "--command", command, "--claims", 4, "--draws", 400)
    assert code == 1
    assert "the same text always gave the same output" in out
    assert verdict in out
    assert len(err.splitlines()[-1]) < 200


@pytest.mark.slow
@pytest.mark.statistical
def test_a_claim_of_zero_is_tested_as_any_other(
    run: Run, rewriter: Callable[[str], str], texts: Path, tmp_path: Path
) -> None:
    options = ("--texts", texts, "--draws", 600, "--claims", "0")
    assert run("audit", "--command", rewriter(HONEST.format(kept=0.9)), *options)[0] == 1
    code, out, _ = run("audit", "--command", rewriter("import sys\nfor line in sys.stdin: print('same')"), *options)
    assert (code, "NOT REFUTED" in out) == (0, True)


@pytest.mark.slow
@pytest.mark.statistical
def test_a_slow_program_is_tested_by_betting(run: Run, rewriter: Callable[[str], str], texts: Path) -> None:
    options = ("--texts", texts, "--claims", 1, "--until", 1, "--draws", 400)
    code, out, _ = run("audit", "--command", rewriter(HONEST.format(kept=0.95)), *options)
    assert (code, "REFUTED" in out, "betting" in out) == (1, True, True)


@pytest.mark.statistical
def test_a_function_and_a_metric_claim(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own_rewriter.py").write_text(
        "import random\n"
        "def rewrite(text):\n    return text if random.random() < .7 else random.choice(['a', 'b', 'c'])\n"
    )
    (tmp_path / "distances.tsv").write_text("a\tb\t2\na\tc\t4\nb\tc\t3\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    options = ("--distances", "distances.tsv", "--draws", 2000)
    assert run("audit", "--python", "own_rewriter:rewrite", "--claims", "4*d", *options)[0] == 0
    assert run("audit", "--python", "own_rewriter:rewrite", "--claims", "0.2*d", *options)[0] == 1


@pytest.mark.slow
@pytest.mark.statistical
def test_a_bundle_of_santext_is_audited_under_its_metric(run: Run, tmp_path: Path) -> None:
    small_bundle(tmp_path / "bundle", scattered(60, 4, seed=1), k=20, exponents=("3", "5"))
    code, out, err = run("audit", "--bundle", tmp_path / "bundle", "--draws", 600, "--json")
    assert code == 0, err
    reports = json.loads(out)["santext"]
    assert reports
    assert all(one["verdict"] == "not refuted" and one["claim"]["per_distance"] for one in reports)


WRONG = {
    (): "pass one mechanism",
    ("--command", "cat", "--python", "a:b"): "pass one mechanism",
    ("--command", "cat"): "pass the claim",
    ("--command", "cat", "--claims", "quokkasecret"): "takes an epsilon such as 4",
    ("--command", "cat", "--claims", "3*d"): "need each other",
    ("--command", "cat", "--claims", "3", "--distances", "none.tsv"): "need each other",
    ("--command", "cat", "--claims", "3", "--texts", "quokkasecret"): "",
    ("--command", "quokkasecret", "--claims", "3"): "cannot be started",
    ("--python", "quokkasecret:none", "--claims", "3"): "needs MODULE:FUNCTION",
    ("--bundle", "nowhere", "--claims", "3"): "has its own claims",
    ("--command", "cat", "--claims", "3", "--confidence", "1"): "below 1",
}


@pytest.mark.parametrize("arguments", WRONG)
def test_wrong_usage_is_one_line_without_the_argument(refused: Refused, arguments: tuple[str, ...], run: Run) -> None:
    code, out, err = run("audit", *arguments)
    assert (code, out) == (1, "")
    assert WRONG[arguments] in err.splitlines()[-1]
    assert "quokkasecret" not in err


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("def rewrite(text", "setting: importing the module of --python raised SyntaxError"),
        ("raise SystemExit('quokkasecret')", "setting: importing the module of --python raised SystemExit"),
        (
            "def rewrite(text):\n    raise KeyError(text)",
            "rewriter: the function raised KeyError in own_faulty.py line 2",
        ),
        (
            "def rewrite():\n    return 1",
            "rewriter: the function raised TypeError in the call: it must take one argument",
        ),
        ("def rewrite(text):\n    text.upper()", "rewriter: an output is neither a text nor a number"),
    ],
)
def test_a_faulty_function_is_one_line_that_names_the_fault(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, said: str
) -> None:
    (tmp_path / "own_faulty.py").write_text(code)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delitem(sys.modules, "own_faulty", raising=False)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    status, out, err = run("audit", "--python", "own_faulty:rewrite", "--claims", 3, "--draws", 200)
    monkeypatch.delitem(sys.modules, "own_faulty", raising=False)
    assert (status, out) == (1, "")
    assert err.splitlines()[-1].startswith(f"textveil-train: {said}")
    assert "quokkasecret" not in err


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("one\n", "two different texts"),
        ("a\ta\n", "two different texts"),
        ("quokkasecret\n", "separated by tabs"),
        ("a\tb\t1\n", "separated by tabs"),
    ],
)
def test_pairs_that_are_none_are_errors_with_a_line(run: Run, tmp_path: Path, rows: str, said: str) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_text(rows)
    code, _, err = run("audit", "--command", "cat", "--claims", 3, "--pairs", path)
    assert code == 1
    assert said in err
    assert "quokkasecret" not in err


@pytest.mark.parametrize("distance", ["0", "-1", "nan", "inf", "quokkasecret"])
def test_a_distance_that_is_not_positive_is_an_error(run: Run, tmp_path: Path, distance: str) -> None:
    path = tmp_path / "distances.tsv"
    path.write_text(f"a\tb\t{distance}\n")
    code, _, err = run("audit", "--command", "cat", "--claims", "3*d", "--distances", path)
    assert code == 1
    assert "line 1: the third column is not a positive distance" in err
    assert "quokkasecret" not in err


@pytest.mark.statistical
def test_distances_have_one_value_for_two_texts_and_gaps_are_reported(
    run: Run, tmp_path: Path, rewriter: Callable[[str], str]
) -> None:
    path = tmp_path / "distances.tsv"
    options = ("--command", rewriter(HONEST.format(kept=0.3)), "--claims", "3*d", "--draws", 100, "--distances", path)
    path.write_text("alpha\tbeta\t2\nbeta\talpha\t3\n")
    code, out, err = run("audit", *options)
    assert (code, out) == (1, "")
    assert err.endswith("line 2: an earlier row has another distance of these two texts: correct one of them\n")
    path.write_text("alpha\tbeta\t2\nbeta\talpha\t2\nalpha\tgamma\t2\n")
    code, out, err = run("audit", *options)
    assert (code, "identification" in out) == (0, False)
    assert "no three texts have all their distances: no identification test" in err


@pytest.mark.slow
def test_a_dying_program_is_one_line_of_error(run: Run, rewriter: Callable[[str], str]) -> None:
    code, out, err = run("audit", "--command", rewriter("import sys; sys.exit('quokkasecret')"), "--claims", 3)
    assert (code, out) == (1, "")
    assert "ended with exit status 1 after 0 of" in err.splitlines()[-1]
    assert "quokkasecret" not in err
