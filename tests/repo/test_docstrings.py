"""Docstrings of public functions and methods open with a verb in the third person."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from scripts import ROOT

SOURCES = {wheel: ROOT / wheel / "src" for wheel in ("runtime", "cli", "export", "server_training")}

#: Add one here if none of these says it. Plain verbs of what a function gives or does.
VERBS = frozenset(
    """
    Adds Aligns Applies Assigns Attacks Begins Bounds Brings Builds Certifies Charges Checks Classifies Cleans
    Compares Computes Counts Cuts Describes Divides Does Draws Encodes Encrypts Exports Finds Fine-tunes Fits Forgets
    Formats Gives Implements Keeps Leaves Lets Loads Looks Makes Maps Measures Opens Orders Places Predicts Prints Puts
    Raises Ranks Rates Reads Records Refuses Releases Replaces Reports Resolves Returns Rounds Runs Sanitizes Says Sets
    Shows Signs Simulates Solves Splits Streams Takes Tells Trains Waits Works Writes Yields
    """.split()
)


def functions(body: list[ast.stmt], prefix: str = "") -> Iterator[tuple[str, ast.FunctionDef]]:
    """Yields the public functions of a module and methods of its classes; properties and overloads are left out."""
    for node in body:
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            yield from functions(node.body, f"{prefix}{node.name}.")
        elif isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            decorators = {ast.unparse(each).rpartition(".")[2] for each in node.decorator_list}
            if not decorators & {"property", "cached_property", "setter", "overload"}:
                yield f"{prefix}{node.name}", node


def is_command(file: Path, function: ast.FunctionDef) -> bool:
    """Tells whether a function is a command: its docstring is a help text, which commands write in the imperative."""
    arguments = ast.unparse(function.args)
    return "cli" in file.parts and ("typer." in arguments or "Option" in arguments)


def wrong(file: Path, source: str) -> list[str]:
    """Returns the functions of a module whose docstrings are missing or open with another word."""
    return [
        f"{file.name}: {name}: {first_line(node)}"
        for name, node in functions(ast.parse(source).body)
        if not is_command(file, node) and first_line(node).partition(" ")[0].rstrip(",") not in VERBS
    ]


def first_line(function: ast.FunctionDef) -> str:
    """Returns the first line of a docstring; empty without one."""
    return (ast.get_docstring(function) or "").partition("\n")[0]


@pytest.mark.parametrize("wheel", SOURCES)
def test_docstrings_open_with_a_verb(wheel: str) -> None:
    files = sorted(SOURCES[wheel].rglob("*.py"))
    assert len(files) > 40
    assert [problem for file in files for problem in wrong(file, file.read_text("utf-8"))] == []


def test_every_verb_is_in_use() -> None:
    files = [file for source in SOURCES.values() for file in source.rglob("*.py")]
    used = {
        first_line(node).partition(" ")[0].rstrip(",")
        for file in files
        for _, node in functions(ast.parse(file.read_text("utf-8")).body)
    }
    assert sorted(VERBS - used) == []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ('def f():\n    """Returns it."""', 0),
        ('def f():\n    """The value."""', 1),
        ("def f():\n    pass", 1),
        ('def _f():\n    """The value."""', 0),
        ('class A:\n    def f(self):\n        """Whether it is."""', 1),
        ('class A:\n    @property\n    def f(self):\n        """The value."""', 0),
        ('class _A:\n    def f(self):\n        """The value."""', 0),
        ('def f(x: Annotated[int, typer.Option()]):\n    """Sanitize."""', 1),
    ],
)
def test_a_planted_fault_is_found(source: str, found: int) -> None:
    assert len(wrong(Path("module.py"), source)) == found


def test_commands_are_told_what_they_do() -> None:
    command = 'def f(x: Annotated[int, typer.Option()]):\n    """Sanitize."""'
    assert wrong(Path("cli/module.py"), command) == []
