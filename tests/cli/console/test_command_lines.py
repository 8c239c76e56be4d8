"""The three command lines import a command only when it is called, group its options, and keep help short."""

import ast
import importlib
import inspect
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from scripts import ROOT
from textveil_cli.console import run
from textveil_cli.console.command import _make_value_converter
from textveil_cli.main import COMMANDS

LINES = {
    "textveil": "textveil_cli.main",
    "textveil-export": "textveil_export.cli.main",
    "textveil-train": "textveil_training.cli.main",
}
FOLDERS = (
    "cli/src/textveil_cli/commands",
    "export/src/textveil_export/cli",
    "server_training/src/textveil_training/cli",
)


@pytest.mark.parametrize("name", LINES)
def test_what_a_command_is_for_is_said_once(name: str) -> None:
    """The help of a command is known before its import, and is the first sentence of its documentation."""
    module = importlib.import_module(LINES[name])
    commands = typer.main.get_group(module.app).commands
    assert list(commands) == list(module.COMMANDS)
    for word, said in module.COMMANDS.items():
        assert inspect.cleandoc(commands[word].help or "").partition("\n\n")[0].replace("\n", " ") == said, word


def functions() -> Iterator[tuple[str, int]]:
    for folder in FOLDERS:
        for file in (ROOT / folder).rglob("*.py"):
            for node in ast.walk(ast.parse(file.read_text("utf-8"))):
                if isinstance(node, ast.FunctionDef):
                    yield f"{file.name}: {node.name}", (node.end_lineno or 0) - node.lineno + 1


def test_no_command_is_long() -> None:
    lengths = dict(functions())
    assert len(lengths) > 100
    assert {name: length for name, length in lengths.items() if length > 60} == {}


def loaded(*arguments: str) -> set[str]:
    """Our modules that a command has imported when it ends."""
    code = (
        "import sys; from textveil_cli.main import main; sys.argv[0] = 'textveil'\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "ours = (name for name in sys.modules if name.partition('.')[0] in ('textveil', 'textveil_cli'))\n"
        "print(*ours, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
    return set(done.stderr.splitlines()[-1].split())


#: Of the library and the command, for one sentence.
MOST_MODULES = {"words": 64, "names": 88}
#: What no sentence needs that the staircase rewrites: tables, vectors, a ledger, other mechanisms, and distributions.
_UNUSED = (
    "textveil.verify",
    "textveil.ledger",
    "textveil.vector",
    "textveil.bundle.onnx",
    "textveil.bundle.santext_files",
    "textveil.bundle.names_files",
    "textveil.bundle.character_classes",
    "textveil.mechanisms.baselines",
    "textveil.mechanisms.randomizer",
    "textveil.mechanisms.protocol",
    "textveil.text.names.",
    "textveil.text.restore",
    "textveil_cli.files",
)
#: What the mode names does not need either: the staircase, and its parser.
_NAMES_UNUSED = ("textveil.mechanisms.staircase", "textveil.bundle.staircase_files")
#: What the mode names needs of these: its lists, and what restores.
_NAMES_USE = {
    "textveil.bundle.names_files",
    "textveil.text.names.",
    "textveil.text.restore",
}


def own(modules: set[str]) -> set[str]:
    return {name for name in modules if name.startswith("textveil_cli")}


@pytest.mark.slow
@pytest.mark.parametrize("mode", MOST_MODULES)
def test_a_sentence_pays_for_a_sentence(mode: str) -> None:
    """Rewriting one sentence loads no tables or vectors, no ledger and no other command."""
    modules = loaded("sanitize", "--quiet", "--protect", mode, "--text", "The doctor of Anna Novak")
    unused = _UNUSED if mode == "words" else (*(set(_UNUSED) - _NAMES_USE), *_NAMES_UNUSED)
    assert len(own(modules)) <= 15
    assert len(modules) <= MOST_MODULES[mode]
    assert not [name for name in modules if name.startswith(unused)]
    assert {name.split(".")[2] for name in own(modules) if ".commands." in name} == {"sanitize"}
    assert "textveil_cli.commands.sanitize.tables" not in modules


@pytest.mark.slow
def test_no_option_of_a_sentence_or_a_table_imports_pydantic(tmp_path: Path) -> None:
    """Typer checks values with pydantic, whose import takes longer than sanitizing a sentence."""
    table, output = tmp_path / "notes.csv", tmp_path / "sent.csv"
    table.write_text("note\nThe doctor of Anna Novak\n")
    code = (
        "import sys; from textveil_cli.main import main; sys.argv[0] = 'textveil'\n"
        "try: main()\n"
        "except SystemExit as end: assert not end.code\n"
        "assert 'pydantic' not in sys.modules"
    )
    for arguments in (
        ["--protect", "names", "--style", "tag", "--keep", "country", "--text", "The doctor of Anna Novak"],
        [
            "--protect",
            "words",
            "--epsilon",
            "8",
            "--max-bundle-bytes",
            "999999999",
            "--text",
            "The doctor of Anna Novak",
        ],
        [str(table), "--column", "note", "--protect", "names", "--workers", "1", "-o", str(output)],
    ):
        subprocess.run([sys.executable, "-c", code, "sanitize", "--quiet", *arguments], check=True)


def test_values_are_converted_as_typer_converts_them(tmp_path: Path) -> None:
    """Each option of ``sanitize``, with values that fit its type and values that do not."""
    there, unreadable = tmp_path / "there", tmp_path / "unreadable"
    there.touch()
    unreadable.touch(mode=0)
    texts = ["", "names", "Names", "tag", "8", "0", "-1", "007", "1_0", " 8", "8.0", "1" * 20, "\u0663"]
    texts += [str(tmp_path), str(there), str(unreadable), str(tmp_path / "not there"), "-", "a//b/../c/"]
    command = typer.main.get_group(importlib.import_module(LINES["textveil"]).app).commands["sanitize"]
    typed = [option for option in command.params if hasattr(option, "type_descriptor")]
    if not typed:
        pytest.skip("this typer has no descriptions of types")
    assert len(typed) > 50
    with typer._click.Context(command) as context:  # pyright: ignore[reportAttributeAccessIssue]
        for option in typed:
            option.callback = None
            convert = _make_value_converter(option)
            is_list = option.multiple or option.nargs == -1
            for value in (None, *([[], texts] if is_list else [*texts, True, False])):
                assert outcome(convert, context, value) == outcome(option.process_value, context, value), option.name


def outcome(convert: Callable[..., Any], context: Any, value: object) -> tuple[type, object]:
    try:
        converted = convert(context, value)
    except Exception as error:
        return type(error), str(error)
    return type(converted), converted


def test_help_and_version_import_no_command() -> None:
    for arguments in ("--version", "--help"):
        modules = loaded(arguments)
        assert not [name for name in modules if ".commands" in name]
        assert len(modules) <= 10


#: Copies of one process that has imported the command line, each of which runs one command.
_EACH = """
import os, sys
from textveil_cli.main import COMMANDS, main
for command in COMMANDS:
    if not os.fork():
        sys.argv = ["textveil", command, "--help"]
        try:
            main()
        except SystemExit:
            pass
        print(command, *(name for name in sys.modules if name.startswith("textveil_cli.commands.")), file=sys.stderr)
        os._exit(0)
    os.wait()
"""


@pytest.mark.full
def test_a_command_imports_no_other_command() -> None:
    pytest.importorskip("uvicorn")
    done = subprocess.run([sys.executable, "-c", _EACH], capture_output=True, text=True, check=True)
    assert done.stderr.splitlines() == [f"{command} textveil_cli.commands.{command}" for command in COMMANDS]


@pytest.mark.parametrize(
    ("name", "command", "headings"),
    [
        (
            "textveil",
            "sanitize",
            ["Input", "Bundle", "Mechanism and epsilon", "Protection", "Privacy ledger", "Receipt"],
        ),
        ("textveil", "encode", ["Bundle", "Release", "Tables", "Output", "Privacy ledger", "Receipt"]),
        ("textveil", "serve", ["Address", "Bundle", "Encoder", "Privacy ledger"]),
        ("textveil-export", "table", ["Words and vectors", "SanText", "Staircase", "Ray"]),
        ("textveil-train", "sanitize-corpus", ["Data", "Bundle", "Mechanism and epsilon", "Ray"]),
    ],
)
def test_help_shows_groups(
    name: str, command: str, headings: list[str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERMINAL_WIDTH", "100")
    assert run(importlib.import_module(LINES[name]).app, name, [command, "--help"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.removesuffix(":") for line in lines if line.removesuffix(":") in headings] == headings
    assert not [line for line in lines if "\u2502" in line], "no box of rich"


def test_an_option_is_declared_once() -> None:
    """It is declared in the option groups: no command declares one of their options again."""
    shared = {
        option
        for file in (ROOT / "cli/src/textveil_cli/options").glob("*.py")
        for option in _spelled(file)
        if option not in ("--output", "--json", "--quiet")  # of which a file is private, or a line of figures
    }
    assert len(shared) > 15
    again = {
        (file.name, option)
        for file in (ROOT / FOLDERS[0]).glob("*.py")
        for option in _spelled(file)
        if option in shared
    }
    assert again == {("compare.py", "--bundle"), ("encode.py", "--epsilon")}  # two may be named; of whole texts


def _spelled(file: Path) -> list[str]:
    calls = (node for node in ast.walk(ast.parse(file.read_text("utf-8"))) if isinstance(node, ast.Call))
    options = (call for call in calls if ast.unparse(call.func) == "typer.Option")
    texts = (argument.value for call in options for argument in call.args if isinstance(argument, ast.Constant))
    return [text for text in texts if isinstance(text, str) and text.startswith("--")]


def test_the_command_without_its_wheel_says_what_to_install(tmp_path: Path) -> None:
    """The library alone is installed: ``python -m textveil`` names the wheel."""
    code = (
        "import sys\n"
        "class Without:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.partition('.')[0] == 'textveil_cli': raise ModuleNotFoundError(name=name)\n"
        "sys.meta_path.insert(0, Without())\n"
        "import runpy; runpy.run_module('textveil', run_name='__main__')"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "runtime/src")}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 1
    assert "pip install textveil-cli" in done.stderr
