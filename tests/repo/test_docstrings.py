"""Docstrings of public functions and methods open with a verb, imperative or in the third person: what they do."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from scripts import ROOT

WHEELS = ("runtime", "cli", "export", "server_training")
_IMPERATIVE = r"(?:Add|Buffer|Check|Count|End|Find|Keep|List|Make|Note|Print|Read|Refuse|Return|Warn|Yield)(?! of\b)"
_VERB = re.compile(rf"(?:[A-Z][a-z]+s|[A-Z][a-z]+-[a-z]+s|Does|{_IMPERATIVE})\b")
_NO_VERB = re.compile(r"(?:This|Its|His|Is|Was|Has|Always|Else|Plus|[A-Z][a-z]+ness)\b")


def functions(body: list[ast.stmt], prefix: str = "") -> Iterator[tuple[str, ast.FunctionDef]]:
    """The public functions of a module and methods of its classes; properties and overloads are left out."""
    for node in body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from functions(node.body, f"{prefix}{node.name}.")
        elif isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            decorators = {ast.unparse(each).rpartition(".")[2] for each in node.decorator_list}
            if not decorators & {"property", "cached_property", "setter", "overload"}:
                yield f"{prefix}{node.name}", node


def is_command(file: Path, function: ast.FunctionDef) -> bool:
    """Whether a function is a command: its docstring is a help text, which commands write in the imperative."""
    decorators = {ast.unparse(each).partition("(")[0].rpartition(".")[2] for each in function.decorator_list}
    return bool({"cli", "commands", "main.py"} & {*file.parts}) and bool(
        "command" in decorators or re.search("typer\\.|Option|Asked", ast.unparse(function.args))
    )


def wrong(file: Path, source: str) -> Iterator[str]:
    """The functions of a module whose docstrings are missing or open otherwise."""
    for name, node in functions(ast.parse(source).body):
        first = (ast.get_docstring(node) or "").partition("\n")[0]
        if not is_command(file, node) and (not _VERB.match(first) or _NO_VERB.match(first)):
            yield f"{file.name}: {name}: {first}"


@pytest.mark.parametrize("wheel", WHEELS)
def test_docstrings_open_with_a_verb(wheel: str) -> None:
    root = ROOT / wheel / "src"
    files = sorted(root.rglob("*.py"))
    assert len(files) > 40
    assert [problem for file in files for problem in wrong(file.relative_to(root), file.read_text("utf-8"))] == []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ('def f():\n    """Returns it."""', 0),
        ('def f():\n    """The value."""', 1),
        ("def f():\n    pass", 1),
        ('def _f():\n    """The value."""', 0),
        ('class A:\n    def f(self):\n        """Whether it is."""', 1),
        ('class A:\n    @property\n    def f(self):\n        """The value."""', 0),
    ],
)
def test_a_planted_fault_is_found(source: str, found: int) -> None:
    assert len([*wrong(Path("module.py"), source)]) == found
