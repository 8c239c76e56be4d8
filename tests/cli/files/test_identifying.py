"""A warning names copied columns whose headings suggest personal data."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textveil_cli.columns import find_name_columns, find_personal_columns

Here = Callable[..., Any]


def test_headings_that_tell_of_people() -> None:
    people = (
        "customer Customer customerName CUSTOMER_ID first_name lastName e-mail Email patient.id name user User-Name"
    )
    people += " phone contact_phone SSN shipping_address IP"
    others = (
        "id ticket_id note source rating filename file_name column_name product_name date amount status page emailed"
    )
    others += " tip zipper customers_total"
    assert find_personal_columns(people.split()) == people.split()
    assert find_personal_columns(others.split()) == []
    numbered = "policy_id PolicyNo claim_number meter-ref order_id account_key accountNo case_no"
    roles = "pupil Tutor my_daughter lawyer pupil_note tenant electrician"
    common = "product_id store_no row_number class_id pupil_count customer_type user_score hosts model ids number"
    assert find_personal_columns(f"{numbered} {roles}".split()) == f"{numbered} {roles}".split()
    assert find_personal_columns(common.split()) == []
    lives = "school Schools city home_town appointment admissionDate date_of_death order Policy birthplace".split()
    assert find_personal_columns(lives) == [name for name in lives if name != "Schools"]
    plain = "school_type city_count sort_order orders order_total hospital_rating signup_date created due_date".split()
    assert find_personal_columns([*plain, "amount", "date", "price", "time"]) == []
    assert find_personal_columns(["", "1", "é", "Date of birth", "Name of the product"]) == ["Date of birth"]


def test_a_rewritten_column_of_names_has_a_hint(here: Here, tmp_path: Path) -> None:
    names = "city Town customer_name lastName customer.city home_town".split()
    others = "note city_count file_name product_name city_id nameless capacity".split()
    assert find_name_columns([*names, *others]) == names
    table, deny = tmp_path / "t.csv", tmp_path / "deny.txt"
    table.write_text("id,city,note\n1,Nice,we met\n2,Leeds,fine\n", "utf-8")
    deny.write_text("nice\n", "utf-8")

    def said(*more: object) -> str:
        ran = here("sanitize", table, "-o", tmp_path / "out.csv", *more)
        assert ran.code == 0
        return "".join(line for line in ran.message.splitlines() if "contain" in line)

    assert said("-c", "city") == (
        "textveil: column city contains names: a name that is a common word, such as Nice, can stay: list such names "
        "with --deny FILE, or remove the column with --drop-column"
    )
    assert said("-c", "note") == said("-c", "city", "-q") == said("-c", "city", "--protect", "words") == ""
    assert said("-c", "city", "--deny", deny) == ""
    assert "Nice" not in (tmp_path / "out.csv").read_text("utf-8")


TABLES = {
    "t.csv": 'id,customer,note,"E-Mail"\n1,Zqxwvina,the doctor,z@b.example\n2,Zqxwvina,the doctor,z@b.example\n',
    "t.tsv": "id\tcustomer\tnote\tE-Mail\n1\tZqxwvina\tthe doctor\tz@b.example\n",
    "t.jsonl": json.dumps({"id": 1, "customer": "Zqxwvina", "note": "the doctor", "E-Mail": "z@b.example"}) + "\n",
}


@pytest.mark.parametrize("name", [*TABLES, "t.parquet"])
def test_a_run_warns_once_of_columns_that_are_copied(here: Here, bundle: Path, tmp_path: Path, name: str) -> None:
    path, option = tmp_path / name, "--key" if name == "t.jsonl" else "--column"
    out, is_parquet = tmp_path / f"out{path.suffix}", name == "t.parquet"
    if is_parquet:
        pyarrow = pytest.importorskip("pyarrow")
        from pyarrow import parquet

        row = {"id": [1], "customer": ["Zqxwvina"], "note": ["the doctor"], "E-Mail": ["z@b.example"]}
        parquet.write_table(pyarrow.table(row), path)
    else:
        path.write_text(TABLES[name])
    columns = option.strip("-") + "s"

    def warned(*more: str) -> list[str]:
        ran = here("sanitize", "-b", bundle, path, option, "note", *more, "-o", out)
        assert ran.code == 0, ran.message
        assert "Zqxwvina" not in ran.message
        return [line for line in ran.message.splitlines() if "copied unchanged" in line]

    advice = f"rewrite with {option} or remove with --drop-column"
    assert warned() == [f"textveil: {columns} customer, E-Mail are copied unchanged: {advice}"]
    assert warned("--drop-column", "customer") == [f"textveil: {columns[:-1]} E-Mail is copied unchanged: {advice}"]
    assert warned(option, "customer") == [f"textveil: {columns[:-1]} E-Mail is copied unchanged: {advice}"]
    assert warned("--drop-other-columns") == warned("-q") == warned(option, "customer", option, "E-Mail") == []


def test_a_folder_is_warned_of_once_and_rows_without_header_never(here: Here, bundle: Path, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for number in range(3):
        (folder / f"{number}.csv").write_text(TABLES["t.csv"])
    run = ("sanitize", "-b", bundle, "--csv", folder)
    said = here(*run, "-c", "note", "-o", tmp_path / "out").message
    assert said.count("are copied unchanged: ") == 1
    assert "copied unchanged: " not in here(*run, "--no-header", "-c", "3", "-o", tmp_path / "other").message
