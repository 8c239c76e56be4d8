"""With a ledger over tables every released row was spent before, in its privacy unit."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from small_ledger import request_of
from textveil import Ledger, Sanitizer
from textveil.errors import LedgerError
from textveil_cli.files import sources

#: Of every drawn word, under the default level of the small bundle.
NATS = 8.5


@pytest.fixture(scope="module")
def small(bundle: Path) -> Sanitizer:
    return Sanitizer.load(bundle)


@pytest.fixture
def tables(here: Callable, bundle: Path, path: Path) -> Callable:
    """``textveil sanitize --csv --column note`` with a ledger."""
    return lambda *options: here("sanitize", "-b", bundle, "--csv", "-c", "note", "--ledger", path, *options)


def spent(path: Path, *scopes: str) -> list[float]:
    ledger = Ledger(path)
    ledger.list_accounts()  # sums are those of the rows
    return [float(ledger.get_account(scope).displayed_epsilon.replace(",", "")) / NATS for scope in scopes]


def test_cells_are_charged_to_the_scope_of_the_run(
    tables: Callable, people: Path, path: Path, small: Sanitizer
) -> None:
    ran = tables(people, "--privacy-unit", "bank")
    assert ran.code == 0
    assert ran.message.endswith("textveil: ledger: 4 documents spent epsilon, total of this privacy unit: epsilon 51; "
                                "1 document released before: each is one more release\n")  # fmt: skip
    assert spent(path, "bank", "default") == [6, 0]
    assert [Ledger(path).count_releases("bank", request_of(small, text)) for text in ("doctor", "nurse flu", "")] == [
        2,
        1,
        0,
    ]


def test_a_column_names_the_scope(tables: Callable, people: Path, path: Path) -> None:
    ran = tables(people, "--privacy-unit-column", "who")
    assert ran.message.endswith("ledger: 4 documents spent epsilon, each in the privacy unit that its row names\n")
    assert spent(path, "anna", "bob", "default") == [3, 3, 0]
    assert len(Ledger(path).list_accounts()) == 2


def test_scopes_of_json_lines_and_parquet(here: Callable, bundle: Path, path: Path, tmp_path: Path) -> None:
    source = tmp_path / "t.jsonl"
    rows = [{"by": {"name": name}, "note": "doctor"} for name in ("anna", 7, "7", None, True, "", {"x": 1})]
    source.write_text("".join(json.dumps(row) + "\n" for row in [*rows, {"note": "nurse"}]))
    run = ("sanitize", "-b", bundle, "--ledger", path, "-o", tmp_path / "out", "--rejected-rows", tmp_path / "kept")
    assert here(*run, "--jsonl", "--key", "note", "--privacy-unit-column", "by.name", source).code == 0
    assert spent(path, "anna", "7") == [1, 2]
    kept = [json.loads(line) for line in (tmp_path / "kept").read_text().splitlines()]
    assert [(one["row"], one["reason"]) for one in kept] == [
        (row, "the --privacy-unit-column is empty") for row in (4, 5, 6, 7, 8)
    ]
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    table = pyarrow.table({"who": pyarrow.array([1, 2, None, 1]), "note": ["doctor", "flu flu", "nurse", "flu"]})
    parquet.write_table(table, tmp_path / "t.parquet")
    (tmp_path / "kept").unlink()
    options = ("--parquet", "-c", "note", "--privacy-unit-column", "who", tmp_path / "t.parquet", "--budget", "9")
    assert here(*run, *options).code == 0
    assert spent(path, "1", "2") == [1, 0]
    assert parquet.read_table(tmp_path / "out").column("who").to_pylist() == [1]
    reasons = [json.loads(line) for line in (tmp_path / "kept").read_text().splitlines()]
    assert [(one["row"], one["reason"].split(":")[0]) for one in reasons] == [
        (2, "this release exceeds the budget of its privacy unit"),
        (3, "the --privacy-unit-column is empty"),
        (4, "this release exceeds the budget of its privacy unit"),
    ]
    assert json.loads(reasons[0]["raw"]) == {"who": 2, "note": "flu flu"}
    said = here("sanitize", "-b", bundle, "--ledger", path, *options, "-o", tmp_path / "out").message
    assert said.startswith("textveil: bad-row: t.parquet, row 3: the --privacy-unit-column is empty (--rejected-rows ")


def test_a_budget_that_is_spent_ends_the_run_and_nothing_is_charged(
    tables: Callable, people: Path, path: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out.csv"

    def charged() -> list[tuple[int, int]]:
        return [(account.epsilon_units, releases) for account, releases in Ledger(path).list_accounts()]

    for to in (["-o", out], []):
        ran = tables(people, "--privacy-unit-column", "who", "--budget", "20", *to)
        assert (ran.code, ran.out, out.exists()) == (1, b"", False)
        assert ran.message.endswith(
            "textveil: budget: people.csv, row 3 (line 4): this release exceeds the budget of its privacy unit: "
            "epsilon 0 of 20 is spent, and the release needs at least epsilon 25.5 "
            f"({'' if to else 'the output ends before this row; '}--rejected-rows FILE skips rejected rows)\n"
        )
        assert charged() == [(0, 0), (0, 0)]
    rows = people.read_text()
    people.write_text(rows + "6,bob\n")  # a bad row further down: the rows before it are not charged either
    assert "bad-row: people.csv, row 6" in tables(people, "--privacy-unit-column", "who").message
    people.write_text(rows + "6,,nurse\n")
    assert (
        "bad-row: people.csv, row 6 (line 7): the --privacy-unit-column is empty"
        in tables(people, "--privacy-unit-column", "who").message
    )
    assert charged() == [(0, 0), (0, 0)]


def test_rows_that_a_budget_refuses_go_to_the_quarantine(
    tables: Callable, people: Path, path: Path, tmp_path: Path
) -> None:
    out, kept = tmp_path / "out.csv", tmp_path / "kept"
    ran = tables(people, "--privacy-unit-column", "who", "--budget", "17", "-o", out, "--rejected-rows", kept)
    assert ran.code == 0
    assert "3 rows, 2 texts with at most 2 randomized words each" in ran.message
    assert "ledger: 2 documents spent epsilon" in ran.message
    assert [line.split(",")[0] for line in out.read_text().splitlines()] == ["id", "1", "2", "4"]
    assert [json.loads(line)["row"] for line in kept.read_text().splitlines()] == [3, 5]
    assert spent(path, "anna", "bob") == [1, 2]
    assert tables(people, "--privacy-unit-column", "who", "--budget", "18").message.startswith(
        "textveil: budget: people.csv, row 1 (line 2): this privacy unit already has a smaller budget"
    )


def test_all_cells_of_a_row_leave_or_none(here: Callable, bundle: Path, path: Path, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("id,a,b\n1,doctor,nurse flu\n2,doctor,\n")
    run = ("sanitize", "-b", bundle, "--csv", "-c", "a", "-c", "b", tmp_path / "t.csv", "--ledger", path)
    ran = here(*run, "--budget", "17", "--rejected-rows", tmp_path / "kept")
    assert ran.text.splitlines()[0] == "id,a,b"
    assert [line.split(",")[0] for line in ran.text.splitlines()] == ["id", "2"]
    assert spent(path, "default") == [1]


def test_documents_of_several_cells_are_charged_once(tables: Callable, path: Path, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("id,who,note\n1,anna,doctor\n\n1,bob,doctor nurse\n2,anna,doctor\n2,anna,doctor\n")
    run = (tmp_path / "t.csv", "--consistent", "--document-key", "id")
    ran = tables(*run, "--privacy-unit-column", "who", "-o", tmp_path / "out.csv", "--json")
    assert json.loads(ran.text)["documents"] == 2, "a blank line between its rows does not part a document"
    assert spent(path, "anna", "bob") == [3, 2], "two scopes of one document: it is charged to both"
    assert "ledger: 2 documents spent epsilon" in tables(*run, "--privacy-unit", "x").message
    assert "2 documents released before" in tables(*run, "--privacy-unit", "x").message
    assert spent(path, "x") == [6]


@pytest.mark.slow
def test_who_writes_is_who_charges(tables: Callable, path: Path, tmp_path: Path) -> None:
    rows = [f"{number},{number % 3},doctor nurse" for number in range(1000)]
    (tmp_path / "t.csv").write_text("id,who,note\n" + "\n".join(rows) + "\n")
    out = tmp_path / "out.csv"
    assert tables(tmp_path / "t.csv", "-o", out, "--privacy-unit-column", "who", "--workers", "2").code == 0
    assert len(out.read_text().splitlines()) == 1001
    assert spent(path, "0", "1", "2") == [668, 666, 666]


def test_nothing_is_written_before_it_is_charged(
    tables: Callable, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The ledger fails at the third block: only rows of two blocks are released."""
    monkeypatch.setattr(sources, "_READ_BYTES", 24)
    (tmp_path / "t.csv").write_text("id,note\n" + "".join(f"{number:03},doctor nurse\n" for number in range(50)))
    real, calls = Ledger.record_groups, [0]

    def charge(*arguments: Any, **options: Any) -> Any:
        calls[0] += 1
        if calls[0] == 3:
            raise LedgerError("no")
        return real(*arguments, **options)

    monkeypatch.setattr(Ledger, "record_groups", charge)
    ran = tables(tmp_path / "t.csv")
    assert (ran.code, calls) == (1, [3])
    assert [line.split(",")[0] for line in ran.text.splitlines()] == ["id", "000", "001"]


def test_resuming_charges_no_finished_file_again(tables: Callable, here: Callable, path: Path, tmp_path: Path) -> None:
    top, out = tmp_path / "in", tmp_path / "out"
    top.mkdir()
    for name in "abc":
        (top / f"{name}.csv").write_text("id,note\n1,doctor\n")
    (top / "c.csv").write_text("id,note\n1\n")
    assert tables(top, "-o", out).code == 1
    assert spent(path, "default") == [2]
    (top / "c.csv").write_text("id,note\n1,doctor\n")
    for other in (["--privacy-unit", "x"], ["--privacy-unit-column", "id"]):
        assert "began with other options" in tables(top, "-o", out, "--resume", *other).message
    assert tables(top, "-o", out, "--resume").code == 0
    assert spent(path, "default") == [3]
    assert tables(top, "-o", out, "--resume").code == 0
    assert spent(path, "default") == [3]


def test_a_charged_run_does_not_go_on_with_one_that_was_not(
    tables: Callable, here: Callable, bundle: Path, tmp_path: Path
) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.csv").write_text("id,note\n1,doctor\n")
    plain = ("sanitize", "-b", bundle, "--csv", "-c", "note", tmp_path / "in", "-o", tmp_path / "out")
    assert here(*plain).code == 0
    assert "began with other options" in tables(tmp_path / "in", "-o", tmp_path / "out", "--resume").message


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            ["--privacy-unit", "secret", "--privacy-unit-column", "who"],
            "use either --privacy-unit or --privacy-unit-column",
        ),
        (["--replay-cache", "--replay-cache-key", "k"], "--replay-cache needs plain text (--text, standard input"),
        (["--privacy-unit-column", "a secret where a column belongs"], "--privacy-unit-column is not in the header"),
        (["--privacy-unit-column", "who", "--plain"], "use only one of"),
    ],
)
def test_what_does_not_go_together(tables: Callable, people: Path, options: list[str], said: str) -> None:
    ran = tables(people, *options)
    assert (ran.code, ran.out) == (1, b"")
    assert said in ran.message
    assert "secret" not in ran.message


def test_a_scope_column_needs_a_ledger_and_a_table(here: Callable, bundle: Path, people: Path) -> None:
    run = ("sanitize", "-b", bundle, people, "--privacy-unit-column", "who")
    assert "--privacy-unit-column needs --ledger FILE" in here(*run, "--csv", "-c", "note").message
    assert "--privacy-unit-column needs a table" in here(*run, "--plain").message


def test_a_folder_of_plain_text_is_charged(here: Callable, bundle: Path, path: Path, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.txt").write_text("doctor\nnurse flu\n")
    ran = here("sanitize", "-b", bundle, tmp_path / "in", "-o", tmp_path / "out", "--ledger", path)
    assert ran.code == 0
    assert spent(path, "default") == [3]
