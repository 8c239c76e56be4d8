"""In JSON lines, strings at selected keys are rewritten, and the rest of each line keeps its bytes."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from textveil.errors import OptionError, TextveilError
from textveil_cli.errors import ColumnError, FieldTooLong
from textveil_cli.files import ColumnSelection
from textveil_cli.files.block_reader import read_blocks
from textveil_cli.files.blocks import RejectedRow, RewrittenDocuments, TextBlock
from textveil_cli.files.json_keys import EACH_ITEM, parse_key
from textveil_cli.files.json_lines import JsonLinesLayout


def shout(content: bytes, *keys: str, pieces: int = 0, **options: object) -> tuple[bytes, list[RejectedRow]]:
    """JSON lines with upper-case letters in the strings at some keys; read at once, or in pieces of so many bytes."""
    selection = ColumnSelection(format="jsonl", columns=keys, **options)  # type: ignore[arg-type]
    chunks = [content[at : at + pieces] for at in range(0, len(content), pieces)] if pieces else [content]
    written, bad = [], []
    for block in read_blocks(JsonLinesLayout(selection, "t.jsonl"), chunks, selection, "t.jsonl"):
        assert isinstance(block, TextBlock)
        written += block.insert_texts(
            RewrittenDocuments([text.upper() for text in block.texts], [1] * len(block.document_sizes))
        )
        bad += block.rejected
    return b"".join(written), bad


@pytest.mark.parametrize(
    ("key", "steps"),
    [
        ("note", ("note",)),
        ("a.b", ("a", "b")),
        ("messages[].content", ("messages", EACH_ITEM, "content")),
        ("tags[]", ("tags", EACH_ITEM)),
        ("a[][]", ("a", EACH_ITEM, EACH_ITEM)),
        ("[].a b", (EACH_ITEM, "a b")),
        ('"a.b"[]."c\\""', ("a.b", EACH_ITEM, 'c"')),
    ],
)
def test_keys(key: str, steps: tuple[str | None, ...]) -> None:
    assert parse_key(key) == steps


@pytest.mark.parametrize("key", ["", ".", "a.", ".a", "a..b", "a[", "a[0]", "[]a", 'a"b"', "a[]b"])
def test_keys_that_cannot_be_read(key: str) -> None:
    with pytest.raises(OptionError, match="names separated by dots"):
        parse_key(key)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('{"a": "x", "b": 1, "c": [2]}', '{"a": "X"}'),
        ('{ "b": 1, "a": "x" , "c": 2 }', '{ "a": "X" }'),
        ('{"c": {"a": "y"}, "b": 1, "a":"x"}', '{"a":"X"}'),
        ('{"\\u0062": 1, "c": 2, "a": "", "b": 1, "c": 3}', '{"a": ""}'),
        ('{"b":1,"d":2,"a":"x","c":2}', '{"d":2,"a":"X"}'),
        ('{"d":2,"b":1,"c":2}', '{"d":2}'),
        ('{ "b":1, "c":2 }', "{  }"),
    ],
)
def test_keys_of_a_line_are_left_out(before: str, after: str) -> None:
    found, bad = shout(f'{{"a": "x"}}\n{before}\n'.encode(), "a", without=("b", "c"), allow_missing=True)
    assert (found.decode(), bad) == (f'{{"a": "X"}}\n{after}\n', [])


@pytest.mark.slow
@given(st.dictionaries(st.text('abc,}\\"', max_size=2), st.text(max_size=3) | st.integers(), min_size=1), st.data())
def test_what_is_left_out_is_all_that_goes(row: dict[str, Any], data: st.DataObject) -> None:
    without = data.draw(st.sets(st.sampled_from(sorted(row))))
    content = json.dumps({"note": "x", **row, "end": "y"}, indent=None).encode()
    keys = tuple(json.dumps(key) for key in without)
    found, bad = shout(content, "note", without=keys)
    kept = {key: value for key, value in row.items() if key not in without}
    assert (bad, found) == ([], json.dumps({"note": "X", **kept, "end": "y"}).encode())
    assert shout(content, "end", only=True)[0] == b'{"end": "Y"}'


@pytest.mark.parametrize(
    "line", [b'[{"a": "x"}]', b'{"a": "x"}', b'{"a": "x", "b": 1', b'{"a": "x", "b" 1}', b"{1: 2}"]
)
def test_a_line_whose_key_cannot_be_left_out_does_not_come_out(line: bytes) -> None:
    found, bad = shout(line, "a", without=("b",))
    assert (found, [one.raw for one in bad]) == (b"", [line])


@pytest.mark.parametrize(
    ("keys", "options"),
    [
        (("a.b",), {"only": True}),
        (("[].a",), {"only": True}),
        (("[].a",), {"without": ("b",)}),
        (("a.b",), {"without": ("a",)}),
        (("a",), {"without": ("b.c",)}),
        (("a",), {"without": ("[]",)}),
    ],
)
def test_only_whole_keys_are_left_out(keys: tuple[str, ...], options: dict[str, Any]) -> None:
    with pytest.raises(OptionError, match=r"keys without dots|top-level key"):
        shout(b"{}", *keys, **options)


@pytest.mark.parametrize(
    ("keys", "before", "after"),
    [
        (["a"], b'{"a": "x", "b":  "y" }\n', b'{"a": "X", "b":  "y" }\n'),
        (["a"], b'\xef\xbb\xbf {"b":1.50,"a":"x"}\r\n\n{"a":null}', b'\xef\xbb\xbf {"b":1.50,"a":"X"}\r\n\n{"a":null}'),
        (["a.b"], b'{"a": {"c": "x", "b": "y\\n"}}', b'{"a": {"c": "x", "b": "Y\\n"}}'),
        (["m[].c"], b'{"m": [{"c": "x", "r": 1}, {"c": null}]}', b'{"m": [{"c": "X", "r": 1}, {"c": null}]}'),
        (["t[]", "a"], b'{"t": ["x", "y", null], "a": "z"}', b'{"t": ["X", "Y", null], "a": "Z"}'),
        (["m[][].c"], b'{"m": [[{"c": "x"}], []]}', b'{"m": [[{"c": "X"}], []]}'),
        (["[].a"], b'[{"a": "x"}]\n', b'[{"a": "X"}]\n'),
        (["a"], b'{"n": 12345678901234567, "m": 1e400, "a": "x"}', b'{"n": 12345678901234567, "m": 1e400, "a": "X"}'),
        (["a"], '{"é": "ü", "a": "\\u00e9é"}'.encode(), '{"é": "ü", "a": "ÉÉ"}'.encode()),
        (["a"], b'{"a": "\\ud800x", "b": "\\ud800"}', b'{"a": "\\ud800X", "b": "\\ud800"}'),
        (["a.b"], b'{"a": null}', b'{"a": null}'),
        (["m[].c"], b'{"m": []}', b'{"m": []}'),
    ],
)  # fmt: skip
def test_bytes_that_stay(keys: list[str], before: bytes, after: bytes) -> None:
    for pieces in (0, 1, 7):
        assert shout(before, *keys, pieces=pieces) == (after, [])


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ('{"a": 1}', "the value of a key is not a string"),
        ('{"a": {"b": "x"}}', "the value of a key is not a string"),
        ('{"a": ["x"]}', "the value of a key is not a string"),
        ('{"b": "x"}', "a --key is missing (a is not among b): --allow-missing accepts such rows"),
        ('{"a": "x", "a": "y"}', "a key appears twice"),
        ('{"a": "x"', "not a complete JSON object"),
        ('{"a": "x",}', "not a complete JSON object"),
        ('{"a": "x" "b": 1}', "not a complete JSON object"),
        ('{"a": "x\ty"}', "not a complete JSON object"),
        ('{"b": nope, "a": "x"}', "not a complete JSON object"),
        ('{"a": "x"} {"a": "y"}', "text follows the JSON object"),
        ('["x"]', "the value of a key is a list: write [] after its name"),
        ('"x"', "a --key continues below a value that is neither an object nor a list"),
        ("x", "a --key continues below a value that is neither an object nor a list"),
        ('{"b": ' + "[" * 100_000 + "]" * 100_000 + ', "a": "x"}', "too deeply nested"),
    ],
)
def test_bad_rows(row: str, reason: str) -> None:
    written, bad = shout(f'{{"a": "x"}}\n{row}\n{{"a": "y"}}'.encode(), "a")
    assert written == b'{"a": "X"}\n{"a": "Y"}'
    assert [(one.number, one.line, one.reason, one.raw) for one in bad] == [(2, 2, reason, row.encode() + b"\n")]


@pytest.mark.parametrize("option", ["document_key", "privacy_unit_column"])
@pytest.mark.parametrize("row", ['{"a": "x", "b": 1, "b": 2}', '{"a": "x", "b": 1, "c": {"d": 1, "d": 2}}'])
def test_a_row_that_names_its_document_or_scope_has_each_key_once(option: str, row: str) -> None:
    """Of two privacy units the last would be spent, while others read the first."""
    more: dict[str, Any] = {"document": "key"} if option == "document_key" else {}
    written, bad = shout(f'{row}\n{{"a": "y", "b": 1}}\n'.encode(), "a", **{option: "b"}, **more)
    assert (written, [one.reason for one in bad]) == (b'{"a": "Y", "b": 1}\n', ["a key appears twice"])


def test_a_list_of_objects_where_an_object_is_named() -> None:
    row = b'{"m": [{"c": "x"}]}\n'
    assert shout(row, "m.c")[1][0].reason == "the value of a key is a list: write [] after its name"
    assert shout(b'{"m": {"c": "x"}}\n', "m[].c")[1][0].reason == "a key has [] but the value is not a list"


def test_bytes_that_are_not_text() -> None:
    assert shout(b'{"a": "\xff"}\n', "a")[1][0].reason == "not UTF-8"
    with pytest.raises(TextveilError, match="UTF-16"):
        shout('{"a": "x"}'.encode("utf-16"), "a")


def test_rows_may_lack_a_key_if_that_is_said() -> None:
    rows = b'{"m": [{"c": "x"}, {}]}\n{}\n'
    assert shout(rows, "m[].c", allow_missing=True) == (rows.replace(b"x", b"X"), [])
    with pytest.raises(ColumnError, match=r"t.jsonl: no row has any of the keys: check --key"):
        shout(b'{"m": 1}\n', "n", allow_missing=True)


@pytest.mark.parametrize("keys", [("a", "a"), ("a", "a.b"), ("a.b", "a"), ("a", '"a"')])
def test_keys_that_exclude_each_other(keys: tuple[str, ...]) -> None:
    with pytest.raises(OptionError, match="--key"):
        shout(b"{}", *keys)


def test_a_text_has_a_cap() -> None:
    assert shout(b'{"a": "' + b"x" * 100 + b'"}', "a", max_field=100)[1] == []
    for content in (b'{"a": "' + b"x" * 101 + b'"}', b'{"b": "' + b"x" * 1000 + b'"}'):
        with pytest.raises(FieldTooLong):
            shout(content, "a", max_field=100)


VALUE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)


@given(st.lists(st.tuples(VALUE, st.text(max_size=6), st.booleans()), max_size=5), st.booleans(), st.integers(0, 5))
@example([({"text": "a"}, "\ud800", True)], True, 3)
def test_any_rows(rows: list[tuple[object, str, bool]], ascii_only: bool, pieces: int) -> None:
    """Read again, all is as it was but the text, and without it every byte is."""
    lines = []
    for other, text, first in rows:
        members = {"text": text, "other": other} if first else {"other": other, "text": text}
        line = json.dumps(members, ensure_ascii=ascii_only)
        lines.append(line if line.isascii() else line.encode("utf-8", "replace").decode())
    content = "".join(f"{line}\n" for line in lines).encode()
    written, bad = shout(content, "text", pieces=pieces)
    assert not bad
    for before, after in zip(content.splitlines(), written.splitlines(), strict=True):
        was, now = json.loads(before), json.loads(after)
        assert now.pop("text") == was["text"].upper()
        assert was.pop("text") is not None
        assert now == was


def test_the_command(here: Callable, flat_bundle: Path, nearest: None, tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_bytes(
        b'{"id": 1, "messages": [{"role": "user", "content": "The doctor."}, {"role": "it", "content": null}]}\n'
    )
    ran = here("sanitize", "--bundle", flat_bundle, "--jsonl", "--key", "messages[].content", path)
    assert ran.out == path.read_bytes().replace(b"The doctor", b"Zz zz")
    assert " 1 key rewritten; key names and all other keys are copied unprotected" in ran.message
