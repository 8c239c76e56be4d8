"""Columns of a pandas frame are rewritten."""

import os
import warnings
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path
from typing import Any, cast

import pytest
from canaries import SECRET
from host_texts import TEXT, VISIBLE, is_sanitized, refused_in_one_line

pandas = pytest.importorskip("pandas", reason="needs the extra pandas: make integrations")

from textveil.errors import BundleTooLarge, InputError, OptionError, OutputError
from textveil.text.restore import Restorer
from textveil_cli.errors import ColumnError
from textveil_cli.integrations import ConfiguredSanitizer
from textveil_cli.integrations.pandas import CommandOptions, sanitize
from textveil_cli.options import (
    BundleOptions,
    ExpectedBundleOptions,
    FileRunOptions,
    InputOptions,
    OutputOptions,
    RowOptions,
    TableOptions,
)
from textveil_cli.options.text import MechanismOptions, ProtectionOptions, SamplingOptions


@pytest.mark.parametrize("kind", ["str", "string", "object", "category"])
def test_index_name_type_and_missing_cells_stay(kind: str) -> None:
    column = pandas.Series(["The of", None, f"and {SECRET} said"], index=[7, 3, 5], name="note", dtype=kind)
    done = sanitize(column, protect="words", epsilon=4)
    assert list(done.index) == [7, 3, 5]
    assert done.name == "note"
    assert kind == "category" or done.dtype == column.dtype
    assert list(done.isna()) == [False, True, False]
    assert done[7] == "The of"
    assert done[5].startswith("and ")
    assert "Zorblax" not in done[5]
    assert column[5] == f"and {SECRET} said"


def test_the_accessor_is_the_function() -> None:
    column = pandas.Series(["The of", "and not"])
    assert list(column.textveil.sanitize(protect="words", epsilon=4)) == ["The of", "and not"]
    with pytest.raises(OptionError):
        column.textveil.sanitize(protect="words", epsilon=7)


def test_empty_columns() -> None:
    assert len(sanitize(pandas.Series([], dtype="str"))) == 0
    assert sanitize(pandas.Series([None, None], dtype="object")).isna().all()


def test_what_is_no_text_is_named_by_its_place() -> None:
    with pytest.raises(InputError, match=r"^cell 2 of 2 must be a string: convert the column first$"):
        sanitize(pandas.Series(["The", 48213977], dtype="object"))


@pytest.mark.parametrize("document", ["cell", "row"])
def test_the_column_of_a_cell_that_is_no_text_is_named(document: str) -> None:
    frame = pandas.DataFrame({"note": ["The", "call"], "reply": ["The", 48213977]}, dtype="object")
    message = r"^cell 2 of 2 of the column reply must be a string: convert the column first$"
    with pytest.raises(InputError, match=message):
        sanitize(frame, "note", "reply", document=document)


def test_a_column_of_another_language_has_the_warning_of_the_command() -> None:
    text = "bitte prüfen und zurückrufen, wir warten schon seit gestern lange darauf, dass jemand die bestellung findet"
    with pytest.warns(UserWarning, match=r"% of the words were replaced.*\(language= for another one\)$") as warned:
        sanitize(pandas.DataFrame({"note": [text]}), "note")
    assert warned[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sanitize(
            pandas.DataFrame({"note": ["I have not found the money for this order, and they do not call."]}), "note"
        )


def test_nothing_is_kept_of_a_column() -> None:
    assert sanitize(pandas.Series([f"and {SECRET}"])).attrs == {}


# --- as its tutorial calls it: apply, map, pipe, assign -------------------------------------------------------------


@pytest.fixture
def tickets():
    return pandas.DataFrame(
        {"note": [TEXT, None, VISIBLE], "subject": [VISIBLE, TEXT, TEXT], "stars": [2, 5, 1]}, index=[5, 5, 7]
    )


def is_right(column: Any) -> bool:
    assert list(column.index) == [5, 5, 7]
    first, missing, visible = column.tolist()
    return is_sanitized(first) and pandas.isna(missing) and visible == VISIBLE


@pytest.mark.parametrize("method", ["pipe", "apply", "map", "transform", "agg"])
def test_methods_of_a_column(tickets, method: str) -> None:
    done = getattr(tickets["note"], method)(sanitize)
    assert is_right(done)
    assert (done.name, done.dtype) == ("note", tickets["note"].dtype)


def test_a_rewriter_in_place_of_the_function(tickets) -> None:
    assert is_right(tickets["note"].map(ConfiguredSanitizer(), na_action="ignore"))
    assert is_sanitized(tickets["subject"].apply(ConfiguredSanitizer()).iloc[2])
    assert is_sanitized(ConfiguredSanitizer().sanitize_cells(tickets["note"])[0])
    with pytest.raises(InputError, match="the text must be a string"):
        tickets["note"].map(ConfiguredSanitizer())
    for frame in (tickets, tickets[["note"]]):
        with pytest.raises(InputError, match="got a table: pass one of its columns"):
            ConfiguredSanitizer().sanitize_cells(frame)


@pytest.mark.parametrize(
    "call",
    [
        lambda frame: frame.apply(sanitize),
        lambda frame: frame.apply(sanitize, axis=1),
        lambda frame: frame.map(sanitize),
        lambda frame: frame.transform(sanitize),
        lambda frame: frame.pipe(sanitize, "note", "subject"),
        lambda frame: sanitize(frame, ["note", "subject"]),
        lambda frame: frame.textveil.sanitize("note", "subject"),
        lambda frame: frame.textveil.sanitize(column=["note", "subject"]),
        lambda frame: frame.assign(note=lambda f: sanitize(f["note"]), subject=sanitize(frame["subject"])),
    ],
    ids=["apply", "apply to rows", "map", "transform", "pipe", "a list", "accessor", "by name", "assign"],
)
def test_methods_of_a_frame(tickets, call: Callable[[Any], Any]) -> None:
    given = tickets[["note", "subject"]]
    done = call(given)
    assert list(done.columns) == ["note", "subject"]
    assert is_right(done["note"])
    assert [is_sanitized(text) for text in done["subject"]] == [False, True, True]
    assert given["note"].iloc[0] == TEXT  # and the frame that was given has its text


def test_other_columns_of_a_frame_stay(tickets) -> None:
    done = tickets.textveil.sanitize("note")
    assert is_right(done["note"])
    assert done[["subject", "stars"]].equals(tickets[["subject", "stars"]])


# --- the names of the command's options ------------------------------------------------------------------------------

#: Options of the command that a frame has no use for: inputs, outputs, formats, the ledger, receipts and runs.
OF_FILES = set(
    "text files output as_json statement quiet csv tsv jsonl parquet plain key header delimiter encoding "
    "document_key privacy_unit_column allow_missing max_field_bytes rejected_rows workers resume".split()
)


def test_every_option_of_the_command_has_its_name_here() -> None:
    groups = (
        InputOptions,
        BundleOptions,
        ExpectedBundleOptions,
        MechanismOptions,
        ProtectionOptions,
        SamplingOptions,
        TableOptions,
    )
    groups += (RowOptions, FileRunOptions, OutputOptions)
    names = {field.name for group in groups for field in fields(group)} - {"expected"} - OF_FILES
    names = names - {"pattern"} | {"patterns"}  # a repeatable option of the command is a mapping here
    assert names | {"save_mapping"} == {"column", *CommandOptions.__annotations__}


ROWS = [
    ("Anna Novak called.", 3, "Peter Schulz for Anna Novak"),
    ("Ask Peter Schulz.", 4, None),
    (None, 5, "Ostrander, Ljubljana"),
    (None, 6, None),
]


def test_a_frame_is_a_document_with_a_mapping(here: Callable, tmp_path: Path) -> None:
    """As for a table of the command; a reply about the frame is restored with its mapping."""
    frame, mapping = pandas.DataFrame(ROWS, columns=["note", "stars", "reply"]), tmp_path / "map.json"
    options = {"style": "tag", "document": "frame", "save_mapping": mapping}
    done = frame.textveil.sanitize("note", "reply", **options)
    assert done["note"].tolist()[:2] == ["[person 1] called.", "Ask [person 2]."]
    assert done["reply"].tolist()[0::2] == ["[person 2] for [person 1]", "[person 3], [city 1]"]
    assert done[done.columns[1]].tolist() == [3, 4, 5, 6]
    assert here("restore", "-q", "--mapping", mapping, "--text", "[person 2] waits.").text == "Peter Schulz waits.\n"
    restorer = Restorer.from_json(mapping.read_bytes())
    assert [restorer.restore(cell).text for cell in done["note"].dropna()] == frame["note"].dropna().tolist()
    if os.name == "posix":
        assert mapping.stat().st_mode & 0o777 == 0o600
    frame.to_csv(table := tmp_path / "t.csv", index=False)
    columns = ("--column", "note", "--column", "reply", "--document", "file", "--style", "tag")
    assert here("sanitize", "-q", table, *columns).text == done.to_csv(index=False)
    names = frame["note"].textveil.sanitize(document="frame")
    assert names[0].removesuffix(" called.") != names[1].removeprefix("Ask ").removesuffix(".")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"save_mapping": "m"}, '^save_mapping needs document="frame"'),
        ({"save_mapping": "m", "document": "row"}, '^save_mapping needs document="frame"'),
        ({"save_mapping": "m", "document": "frame", "corpus_key": "k"}, "works without corpus_key$"),
        ({"document": "frame", "consistent": False}, '^document="frame" needs consistent=True'),
    ],
)
def test_what_a_mapping_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: dict, said: str) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(OptionError, match=said):
        pandas.Series(["Anna called."]).textveil.sanitize(**options)
    with pytest.raises(OptionError, match=r'^document="frame" needs a DataFrame or a Series$'):
        sanitize("Anna called.", document="frame")
    with pytest.raises(OutputError, match=r"its folder does not exist"):
        pandas.Series(["Anna called."]).textveil.sanitize(document="frame", save_mapping=tmp_path / "no" / "m")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("order", [["note", "reply"], ["reply", "note"]])
def test_a_row_is_a_document_as_for_the_command(here: Callable, tmp_path: Path, order: list[str]) -> None:
    """Tags are numbered within a row, in the order of the columns of the table, or within each cell."""
    frame = pandas.DataFrame(ROWS, columns=["note", "stars", "reply"])
    frame.to_csv(tmp_path / "in.csv", index=False)
    for document in ("row", "cell"):
        done = frame.textveil.sanitize(column=order, style="tag", document=document)
        options = ("--style", "tag", "--document", document, *(part for name in order for part in ("--column", name)))
        assert here("sanitize", tmp_path / "in.csv", *options, "-o", tmp_path / f"{document}.csv").code == 0
        expected = pandas.read_csv(tmp_path / f"{document}.csv")
        pandas.testing.assert_frame_equal(done.astype(object), expected.astype(object))
    assert frame.textveil.sanitize(column=order, style="tag", document="row")["reply"][0] == "[person 2] for [person 1]"
    assert done["reply"][0] == "[person 1] for [person 2]"
    (row,) = sanitize(frame["note"][:1], style="tag", document="row")
    assert row == "[person 1] called."


def test_a_row_needs_consistent_replacement() -> None:
    frame = pandas.DataFrame(ROWS, columns=["note", "stars", "reply"])
    with pytest.raises(OptionError, match="needs consistent=True"):
        sanitize(frame, "note", "reply", document="row", protect="words")
    done = sanitize(frame, "note", "reply", document="row", protect="words", consistent=True)
    assert done["stars"].tolist() == [3, 4, 5, 6]
    with pytest.raises(OptionError, match=r"^document must be one of cell, row, frame$"):
        sanitize(frame, "note", document="file")


def test_columns_are_left_out_as_the_command_leaves_them_out(tickets) -> None:
    assert list(tickets.textveil.sanitize("note", drop_column="subject").columns) == ["note", "stars"]
    assert list(tickets.textveil.sanitize(column="note", drop_column=["stars", "subject"]).columns) == ["note"]
    only = tickets.textveil.sanitize(column="note", drop_other_columns=True)
    assert list(only.columns) == ["note"]
    assert is_right(only["note"])
    for wrong in ({"drop_column": "note"}, {"drop_column": "stars", "drop_other_columns": True}, {"columns": "note"}):
        with pytest.raises((OptionError, ColumnError)):
            tickets.textveil.sanitize("note", **wrong)
    with pytest.raises(ColumnError):
        tickets["note"].textveil.sanitize(drop_other_columns=True)


def test_a_key_of_a_corpus_is_a_file(tickets, tmp_path: Path) -> None:
    column, options = pandas.Series(["Zqxwvina left"]), {"protect": "names", "corpus_key": tmp_path / "key"}
    first, second = (column.textveil.sanitize(**options).tolist() for _ in range(2))
    assert first == second
    with pytest.raises(OptionError):
        column.textveil.sanitize(consistent=True, **options)


def test_words_are_given_or_in_a_file(tmp_path: Path) -> None:
    column, file = pandas.Series(["Zqxwvina left"] * 9), tmp_path / "words.txt"
    file.write_text("zqxwvina\n")
    for allow in (["zqxwvina"], file, str(file)):
        assert column.textveil.sanitize(protect="names", allow=allow).tolist() == ["Zqxwvina left"] * 9
    with pytest.raises(InputError, match=r"^allow: no such file: nowhere\.txt$"):
        column.textveil.sanitize(protect="names", allow="nowhere.txt")
    with pytest.raises(BundleTooLarge):
        column.textveil.sanitize(max_bundle_bytes=1)


def test_a_misspelled_option_has_a_suggestion(tickets) -> None:
    for name, typed, said in (
        ("fact", "useful", r"^unknown option: did you mean facts\?$"),
        ("drop_columns", ["stars"], r"^unknown option: did you mean drop_column\?$"),
        ("colour", "red", r"^unknown option: did you mean column\?$"),
        ("zzz", 1, r"^unknown option: choose among column, bundle, .*, drop_other_columns$"),
        ("facts", "usefu", r"^facts must be one of none, plain, useful, public; did you mean useful\?$"),
        ("document", "rows", r"^document must be one of .*; did you mean row\?$"),
    ):
        with pytest.raises(OptionError, match=said):
            tickets.textveil.sanitize("note", **{name: typed})


def test_a_wrong_column_is_named_with_those_there_are(tickets) -> None:
    for name, said in (
        ("nte", r"^column nte is not in the frame \(note, subject, stars\); did you mean note\?$"),
        (["note", "when"], r"^column when is not in the frame \(note, subject, stars\)$"),
        ("What my doctor said to me", r"^column is not in the frame \(note, subject, stars\)$"),
    ):
        with pytest.raises(ColumnError, match=said):
            tickets.textveil.sanitize(column=name)
    with pytest.raises(ColumnError, match=r"^column note is more than once in the frame"):
        sanitize(pandas.concat([tickets, tickets], axis=1), "note")


def test_groups(tickets) -> None:
    assert is_right(tickets.groupby("stars")["note"].transform(sanitize))


@pytest.mark.parametrize(
    "call",
    [
        sanitize,
        lambda frame: frame.textveil.sanitize(),
        lambda frame: frame.textveil.sanitize(column=[]),
        lambda frame: frame["note"].textveil.sanitize(column=["note"]),
        lambda frame: frame.pipe(sanitize),
        lambda frame: sanitize(frame[["note"]]),
        lambda frame: sanitize(frame, "no such column"),
        lambda frame: sanitize(frame, cast(Any, {"note"})),
        lambda frame: sanitize(pandas.concat([frame, frame], axis=1), "note"),
        lambda frame: sanitize(frame["note"], "note"),
        lambda frame: sanitize(frame, "stars"),
        lambda frame: frame.apply(sanitize),
        lambda frame: frame.map(sanitize),
        lambda frame: sanitize(frame["note"].tolist()),
        lambda frame: sanitize(frame["note"].to_numpy()),
        lambda frame: sanitize(frame.index),
        lambda frame: sanitize(frame.to_dict()),
        lambda frame: sanitize(frame.groupby("stars")),
        lambda frame: sanitize(TEXT.encode()),
    ],
)
def test_what_is_refused(tickets, call: Callable[[Any], Any]) -> None:
    with pytest.raises(InputError) as refused:
        call(tickets)
    assert refused_in_one_line(str(refused.value))


@pytest.mark.parametrize("kind", ["string[python]", "string[pyarrow]", "large_string[pyarrow]"])
def test_types_of_strings_stay(tickets, kind: str) -> None:
    if "pyarrow" in kind:
        pytest.importorskip("pyarrow")
    column = tickets["note"].astype(kind)
    done = sanitize(column)
    assert is_right(done)
    assert done.dtype == column.dtype


def test_cells_one_by_one() -> None:
    assert is_sanitized(sanitize(TEXT))
    for missing in (None, float("nan"), pandas.NA, pandas.NaT):
        assert sanitize(missing) is missing


@pytest.mark.full
def test_the_example_runs(example: Callable[[str], str]) -> None:
    said = example("with_pandas.py")
    assert said.count("Name: note") == 1
    assert "stars" in said
