"""A receipt of a table or of Parquet covers one output, with its rewritten columns."""

import gzip
import json
from collections.abc import Callable
from pathlib import Path

import pytest


def test_receipts_of_tables(here: Callable, bundle: Path, people: Path, tmp_path: Path) -> None:
    pytest.importorskip("cryptography", reason="cryptography is not installed")
    run = ("sanitize", "-b", bundle, "--csv", "-c", "note", people, "--receipt-key", tmp_path / "key", "--receipt")
    receipt, out = tmp_path / "receipt", tmp_path / "out.csv"
    for output in (out, tmp_path / "out.csv.gz"):
        assert here(*run, receipt, "-o", output).code == 0
        ran = here("verify", "--receipt", receipt, "--output", output)
        assert ran.text.startswith(
            "staircase, level 8.5: 4 documents, 6 randomized words, epsilon 51; "
            "of a table only note: all other columns are copied"
        )
        assert "the receipt matches this output" in ran.text
    assert gzip.decompress((tmp_path / "out.csv.gz").read_bytes()).startswith(b"id,who,note\n1,anna,")
    ran = here(*run, receipt)
    for content, code in ((ran.out + b"6,anna,nurse\n", 1), (ran.out, 0)):
        out.write_bytes(content)
        assert here("verify", "--receipt", receipt, "--output", out).code == code
    assert json.loads(receipt.read_text())["options"]["table"] == {"format": "csv", "rewritten_columns": ["note"]}
    assert "--receipt is also an input" in here(*run, people, "-o", out).message
    (tmp_path / "folder").mkdir()
    assert "--receipt needs a single output, not a folder" in here(*run, receipt, "-o", tmp_path / "folder").message


def test_receipts_of_parquet(here: Callable, bundle: Path, tmp_path: Path) -> None:
    pytest.importorskip("cryptography", reason="cryptography is not installed")
    pyarrow = pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    parquet = pytest.importorskip("pyarrow.parquet", reason="pyarrow is not installed")
    source, out, receipt = tmp_path / "t.parquet", tmp_path / "o.parquet", tmp_path / "receipt"
    parquet.write_table(pyarrow.table({"note": ["doctor", None]}), source)
    run = ("sanitize", "-b", bundle, "--parquet", "-c", "note", source, "-o", out, "--receipt", receipt)
    assert here(*run, "--receipt-key", tmp_path / "key").code == 0
    assert parquet.read_table(out).num_rows == 2
    assert here("verify", "--receipt", receipt, "--output", out).code == 0
