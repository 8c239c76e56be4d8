"""An output whose name has the ending of another format is refused, since nothing is converted."""

import gzip
import re
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from textveil.errors import OptionError
from textveil_cli.files import check_output_ending

Here = Callable[..., Any]
ENDINGS = {
    "lines": [".txt", ".TXT"],
    "csv": [".csv"],
    "tsv": [".tsv"],
    "jsonl": [".jsonl", ".ndjson"],
    "json": [".json"],
    "parquet": [".parquet", ".pq"],
}
SELECT = {
    "lines": [],
    "csv": ["--csv", "--column", "note"],
    "tsv": ["--tsv", "--column", "note"],
    "jsonl": ["--jsonl", "--key", "note"],
    "parquet": ["--parquet", "--column", "note"],
}
CONTENTS = {
    "lines": "the doctor\n",
    "csv": "id,note\n1,the doctor\n",
    "tsv": "id\tnote\n1\tthe doctor\n",
    "jsonl": '{"id": 1, "note": "the doctor"}\n',
}


@pytest.mark.parametrize(("written", "named"), [*product(SELECT, ENDINGS)])
def test_every_format_with_every_ending(written: str, named: str) -> None:
    for ending, packed in product(ENDINGS[named], ("", ".gz", ".ZST")):
        output, packs = Path(f"folder/out{ending}{packed}"), written != "parquet"
        fits = written == named and (packs or not packed)
        if fits:
            check_output_ending(output, [written], ["in.log", "-"], can_pack=packs)
            continue
        with pytest.raises(OptionError) as refused:
            check_output_ending(output, [written], ["in.log", "-"], can_pack=packs)
        said = str(refused.value)
        assert said.startswith(f"--output {output.name}: ")
        assert "\n" not in said
        assert re.search(": use |: choose a name without ", said)


@pytest.mark.parametrize("name", ["out", "-", "out.dat", "out.2024", "csv", "out.csv.bak", "out.gzip", ".hidden"])
def test_other_names_stay(name: str) -> None:
    for written in SELECT:
        check_output_ending(Path(name), [written])
    check_output_ending(None, ["csv"])


OTHER_ENDINGS = ".xlsx .XLS .ods .docx .pdf .feather .pkl .sqlite .zip .tar.gz .7z".split()


@pytest.mark.parametrize("ending", OTHER_ENDINGS)
def test_formats_that_no_command_writes_are_refused(ending: str) -> None:
    """A spreadsheet with the content of a CSV opens with an error, far from its cause."""
    for written in SELECT:
        with pytest.raises(OptionError, match=rf"^--output out{re.escape(ending)}: the name ends like an? .*: use \."):
            check_output_ending(Path(f"out{ending}"), [written], ["in.log"], can_pack=True)
        check_output_ending(Path(f"out{ending}"), [written], [f"in{ending}"], can_pack=True)


def test_plain_text_may_have_markup() -> None:
    check_output_ending(Path("out.html"), ["lines"])
    with pytest.raises(OptionError, match="text with markup, but the output is CSV: use"):
        check_output_ending(Path("out.html"), ["csv"])


def test_the_ending_of_the_inputs_stays() -> None:
    check_output_ending(Path("out.txt"), ["csv"], ["a.txt", "b.txt"])
    for inputs in (["a.txt", "b.csv"], [], ["-"]):
        with pytest.raises(OptionError, match=r"the name ends like plain text, but the output is CSV: use \.csv$"):
            check_output_ending(Path("out.txt"), ["csv"], inputs)


@pytest.mark.parametrize(("written", "named"), [(a, b) for a, b in product(CONTENTS, ENDINGS) if a != b])
def test_the_command_writes_nothing_then(here: Here, bundle: Path, tmp_path: Path, written: str, named: str) -> None:
    given, output = tmp_path / "in", tmp_path / f"out{ENDINGS[named][0]}"
    given.write_text(CONTENTS[written])
    ran = here("sanitize", "-b", bundle, given, *SELECT[written], "-o", output)
    assert (ran.code, ran.out) == (1, b"")
    assert ran.message.startswith(f"textveil: option: --output {output.name}: the name ends like ")
    assert not output.exists()
    right = tmp_path / f"out{ENDINGS[written][0]}"
    assert here("sanitize", "-q", "-b", bundle, given, *SELECT[written], "-o", right).code == 0


def test_parquet_does_not_become_anything_else(here: Here, bundle: Path, tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    given = tmp_path / "in.parquet"
    parquet.write_table(pyarrow.table({"note": ["the doctor"]}), given)
    for name in ("out.csv", "out.parquet.gz", "out.json", "out.txt", "out.parquet.zst"):
        ran = here("sanitize", "-b", bundle, given, "--column", "note", "-o", tmp_path / name)
        assert (ran.code, ran.out) == (1, b"")
        assert ran.message.startswith(f"textveil: option: --output {name}: ")
        assert [*tmp_path.iterdir()] == [given]
    for name in ("out.parquet", "out.pq", "out"):
        assert here("sanitize", "-q", "-b", bundle, given, "--column", "note", "-o", tmp_path / name).code == 0


def test_plain_text_is_not_packed_by_name_alone(here: Here, bundle: Path, tmp_path: Path) -> None:
    given, output = tmp_path / "in.txt", tmp_path / "out.txt.gz"
    given.write_text("the doctor\n")
    ran = here("sanitize", "-b", bundle, given, "-o", output)
    assert ran.code == 1
    assert "--output out.txt.gz: the output is not compressed: choose a name without .gz" in ran.message
    assert not output.exists()
    packed = tmp_path / "in.txt.gz"
    packed.write_bytes(gzip.compress(b"the doctor\n"))
    assert here("sanitize", "-q", "-b", bundle, packed, "-o", output).code == 0
    assert gzip.decompress(output.read_bytes()).startswith(b"the ")


def test_json_of_plain_text_is_json(here: Here, bundle: Path, tmp_path: Path) -> None:
    for name, code in (("a.jsonl", 0), ("a.json", 0), ("a", 0), ("a.txt", 1), ("a.csv", 1), ("a.jsonl.gz", 1)):
        assert here("sanitize", "-b", bundle, "--json", "--text", "the doctor", "-o", tmp_path / name).code == code
    for name, code in (("b.txt", 0), ("b.md", 0), ("b.json", 1), ("b.parquet", 1), ("b.zst", 1)):
        assert here("sanitize", "-b", bundle, "--text", "the doctor", "-o", tmp_path / name).code == code


def test_a_folder_is_not_named_like_a_file(here: Here, bundle: Path, tmp_path: Path) -> None:
    folder = tmp_path / "in"
    folder.mkdir()
    for number in range(2):
        (folder / f"{number}.csv").write_text(CONTENTS["csv"])
    for name in ("out.csv", "out.parquet", "out.gz", "out.json"):
        for inputs in ([folder], [*folder.iterdir()]):
            ran = here("sanitize", "-b", bundle, *inputs, *SELECT["csv"], "-o", tmp_path / name)
            assert ran.code == 1
            assert f"--output {name}: the output is a folder: choose a name without ." in ran.message
            assert not (tmp_path / name).exists()
    (tmp_path / "there.csv").mkdir()
    for name in ("out", "there.csv"):
        assert here("sanitize", "-q", "-b", bundle, folder, *SELECT["csv"], "-o", tmp_path / name).code == 0
