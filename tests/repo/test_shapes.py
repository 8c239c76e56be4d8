"""Shapes that reading and calling rest on: records of four fields and more are made by name, commands are short."""

import ast
from collections.abc import Iterator
from typing import TypeVar

from scripts import ROOT

Node = TypeVar("Node", bound=ast.AST)
#: Named tuples: made for every word of a text, or once; or read as the tuples that they are.
TUPLES = {
    ("textveil/text/forms.py", "Pair"),
    ("textveil/text/names/kinds.py", "Mention"),
    ("textveil/text/names/kinds.py", "Part"),
    ("textveil/text/names/running.py", "Piece"),
    ("textveil/text/names/slots.py", "Slot"),
    ("textveil/text/names/tokens.py", "Token"),
    ("textveil/text/rewrite/read.py", "Draws"),
    ("textveil/text/segmentation/characters.py", "Classes"),
    ("textveil/text/skeleton/kinds.py", "Kind"),
    ("textveil/text/skeleton/rule.py", "Token"),
}


def nodes(kind: type[Node]) -> Iterator[tuple[str, Node]]:
    for source in (ROOT / wheel / "src" for wheel in ("runtime", "cli", "export", "server_training")):
        for path in sorted(source.rglob("*.py")):
            tree = ast.parse(path.read_text("utf-8"))
            yield from (
                (path.relative_to(source).as_posix(), node) for node in ast.walk(tree) if isinstance(node, kind)
            )


def by_position(record: ast.ClassDef) -> int:
    """How many fields of a record can be given by their places."""
    made = " ".join(ast.unparse(one) for one in (*record.decorator_list, *record.bases))
    if not ("dataclass" in made or "NamedTuple" in made) or "kw_only=True" in made or "init=False" in made:
        return 0
    kinds = [ast.unparse(each.annotation) for each in record.body if isinstance(each, ast.AnnAssign)]
    fields = [kind for kind in kinds if not kind.startswith("ClassVar")]
    return fields.index("KW_ONLY") if "KW_ONLY" in fields else len(fields)


def test_records_of_four_fields_are_made_by_name() -> None:
    assert {(path, record.name) for path, record in nodes(ast.ClassDef) if by_position(record) >= 4} == TUPLES


def test_commands_are_short() -> None:
    """At most 60 lines: what a command does stands in functions that can be called."""
    lines = {
        (path, function.name): (function.end_lineno or 0) - function.lineno + 1
        for path, function in nodes(ast.FunctionDef)
        if path.startswith(("textveil_cli/commands/", "textveil_export/cli", "textveil_training/cli"))
    }
    assert lines
    assert {name: length for name, length in lines.items() if length > 60} == {}
