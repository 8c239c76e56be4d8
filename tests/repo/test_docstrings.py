"""Docstrings of public functions and methods open with a verb, imperative or in the third person: what they do."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from scripts import ROOT

WHEELS = ("runtime", "cli", "export", "server_training")
_VERB = re.compile(r"[A-Z][a-z]+(?:-[a-z]+)?\b")
_NO_VERB = re.compile(
    r"(?:This|Its|His|Is|Was|Has|Always|Else|Plus|The|An?|All|What|Whether|How|Those|These|Each|Every|Nothing|No|One|Two|"
    r"Where|When|For|Of|In|To|By|With|As|And|Only|Some|Any|Same|[A-Z][a-z]+ness)\b"
)


def functions(body: list[ast.stmt], prefix: str = "") -> Iterator[tuple[str, ast.FunctionDef]]:
    """Return the public functions of a module and methods of its classes, without properties and overloads."""
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
    """Return the functions of a module whose docstrings are missing or have another form."""
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


def names_of(node: ast.ClassDef | ast.FunctionDef) -> set[str]:
    """Return the parameters of a function; for a class those of ``__init__``, its attributes and its methods."""
    if isinstance(node, ast.FunctionDef):
        given = node.args
        return {each.arg for each in ast.walk(given) if isinstance(each, ast.arg)}
    methods = [each for each in node.body if isinstance(each, ast.FunctionDef)]
    within = [inner for each in methods for inner in ast.walk(each) if isinstance(inner, ast.Attribute)]
    fields = {each.id for item in node.body if isinstance(item, ast.Assign | ast.AnnAssign) for each in ast.walk(item)
              if isinstance(each, ast.Name)}  # fmt: skip
    made = set[str]().union(*(names_of(each) for each in methods if each.name in ("__init__", "__new__")))
    return made | fields | {each.name for each in methods} | {each.attr for each in within}


def unknown_arguments(file: str, source: str) -> Iterator[str]:
    """Entries under ``Args`` and ``Attributes`` of docstrings that the class or function does not have."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            for section in re.findall(
                r"^(?:Args|Attributes):\n((?:    .*\n?|\n)*)", ast.get_docstring(node) or "", re.M
            ):
                entries = re.findall(r"^    \*{0,2}(\w+(?:, \*{0,2}\w+)*):", section, re.M)
                listed = {name.strip("* ") for entry in entries for name in entry.split(",")}
                yield from (f"{file}: {node.name}: {name}" for name in sorted(listed - names_of(node)))


@pytest.mark.parametrize("wheel", WHEELS)
def test_docstrings_describe_arguments_of_their_names(wheel: str) -> None:
    root = ROOT / wheel / "src"
    sources = {str(file.relative_to(root)): file.read_text("utf-8") for file in root.rglob("*.py")}
    assert [problem for file, source in sources.items() for problem in unknown_arguments(file, source)] == []


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ('def f(a, *b):\n    """Return.\n\n    Args:\n        a: One.\n        *b: Others.\n    """', []),
        ('def f(a):\n    """Return.\n\n    Args:\n        b: One.\n    """', ["x.py: f: b"]),
        (
            'class C:\n    """A.\n\n    Args:\n        a: One.\n        z: One.\n\n    Attributes:\n        y: T.\n'
            '    """\n    def __init__(self, a):\n        self.y = a',
            ["x.py: C: z"],
        ),
    ],
)
def test_arguments_of_other_names_are_found(source: str, found: list[str]) -> None:
    assert list(unknown_arguments("x.py", source)) == found
