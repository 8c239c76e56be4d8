"""Rewriters that fail are named errors of one line without any text; outputs are texts or vectors of one dimension."""

import sys
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from textveil_training.audit import CommandMechanism, FunctionMechanism
from textveil_training.audit.subjects import parse_outputs
from textveil_training.errors import RewriterError, SettingError

TEXTS = ["quokkasecret one", "two", "", "three words here"] * 50
Script = Callable[..., CommandMechanism]

FAULTS = {
    "it dies": ("sys.stdin.readline(); sys.exit(3)", "ended with exit status 3 after 0 of 200 lines"),
    "a signal ends it": ("import os; os.kill(os.getpid(), 9)", "ended by signal 9"),
    "fewer lines": ("print('quokkasecret')", "wrote 1 lines for 200"),
    "more lines": ("[print(line) for line in sys.stdin for _ in range(3)]", "wrote more than 200 lines"),
    "a line without an end": ("[sys.stdout.write('x' * 100000) for _ in range(99)]", "more than 65,536 bytes"),
    "not UTF-8": ("[sys.stdout.buffer.write(b'\\xff\\n') for _ in sys.stdin]", "not UTF-8"),
    "it hangs": (
        "import time; print(sys.stdin.readline()); sys.stdout.flush(); time.sleep(60)",
        "no line for 1 seconds",
    ),
    "it never reads": ("import time; time.sleep(60)", "no line for 1 seconds after line 0 of 200"),
    "it closes its output and stays": ("import os, time; os.close(1); time.sleep(60)", "kept running"),
}


@pytest.fixture
def script(tmp_path: Path) -> Script:
    """Write a Python script, and return it as a mechanism."""

    def write(code: str, **options: Any) -> CommandMechanism:
        path = tmp_path / "rewriter.py"
        path.write_text(f"import sys\n{code}\n")
        return CommandMechanism(f"{sys.executable} '{path}'", **options)

    return write


def test_a_program_gives_a_line_for_each_line_in_order(script: Script) -> None:
    seen: list[int] = []
    found = script("[print(line.rstrip('\\n')[::-1]) for line in sys.stdin]").draw_outputs(TEXTS, seen.append)
    assert found == [text[::-1] for text in TEXTS]
    assert seen[-1] == len(TEXTS)


def test_a_program_that_reads_all_before_it_writes_does_not_block(script: Script) -> None:
    mechanism = script("lines = sys.stdin.readlines(); [print(line.strip() * 20) for line in lines]")
    assert mechanism.draw_outputs(["x" * 500] * 3000, lambda done: None)[-1] == "x" * 10_000


def test_line_ends_of_windows_are_line_ends(script: Script) -> None:
    found = script("[sys.stdout.write('a\\r\\n') for _ in sys.stdin]").draw_outputs(["x"], lambda done: None)
    assert found == ["a"]


@pytest.mark.parametrize("fault", FAULTS)
def test_a_failing_program_is_an_error_without_text(script: Script, fault: str) -> None:
    code, said = FAULTS[fault]
    timeout = 1.0 if said.startswith(("no line", "kept")) else 20.0
    with pytest.raises(RewriterError, match=said) as caught:
        script(f"print('quokkasecret', file=sys.stderr)\n{code}", timeout=timeout).draw_outputs(
            TEXTS, lambda done: None
        )
    assert "quokkasecret" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_children_of_a_hanging_program_end_with_it(script: Script, tmp_path: Path) -> None:
    mark = tmp_path / "alive"
    child = f"import time; time.sleep(3); open({str(mark)!r}, 'w')"
    code = f"import subprocess, time; subprocess.Popen([sys.executable, '-c', {child!r}]); time.sleep(60)"
    with pytest.raises(RewriterError, match="no line"):
        script(code, timeout=1.0).draw_outputs(TEXTS, lambda done: None)
    time.sleep(3)
    assert not mark.exists()


def test_there_is_no_shell(tmp_path: Path) -> None:
    mark = tmp_path / "made"
    found = CommandMechanism(f"echo a ; touch {mark}").draw_outputs(["x"], lambda done: None)
    assert found == [f"a ; touch {mark}"]
    assert not mark.exists()


@pytest.mark.parametrize("command", ["", "'open", "/no/such/quokkasecret"])
def test_a_command_that_cannot_start_is_not_repeated_in_the_error(command: str) -> None:
    with pytest.raises((RewriterError, SettingError)) as caught:
        CommandMechanism(command).draw_outputs(["x"], lambda done: None)
    assert "quokkasecret" not in str(caught.value)


def test_a_function_must_return_as_many_outputs() -> None:
    with pytest.raises(RewriterError, match="1 outputs for 2 inputs"):
        FunctionMechanism(lambda texts: texts[:1], batched=True).draw_outputs(["a", "b"], lambda done: None)


def fail_with_text(text: str) -> str:
    raise ValueError(text)


def exit_with_text(text: str) -> str:
    raise SystemExit(text)


@pytest.mark.parametrize(("function", "name"), [(fail_with_text, "ValueError"), (exit_with_text, "SystemExit")])
def test_a_function_that_fails_is_named_with_its_line_and_without_the_text(
    function: Callable[[str], str], name: str
) -> None:
    with pytest.raises(RewriterError, match=rf"raised {name} in test_subjects.py line \d+$") as caught:
        FunctionMechanism(function).draw_outputs(TEXTS[:1], lambda done: None)
    assert "quokkasecret" not in "".join(traceback.format_exception(caught.value))


def test_a_batched_function_must_return_a_list() -> None:
    with pytest.raises(RewriterError, match="returned no list of outputs for 1 inputs"):
        FunctionMechanism(lambda texts: None, batched=True).draw_outputs(["a"], lambda done: None)


@pytest.mark.parametrize("output", [None, True, {"a": 1}, ["a", "b"], [], {1.0}, b"bytes", 1j, iter("a")])
@pytest.mark.parametrize("dimension", [None, 0, 1])
def test_outputs_of_other_types_are_refused_and_not_compared_as_texts(output: object, dimension: int | None) -> None:
    """A function that forgets its ``return`` gives None for all texts, which would look perfectly private."""
    with pytest.raises(RewriterError, match="neither a text nor a number nor a list of numbers"):
        parse_outputs([output, output], dimension)


def test_texts_stay_texts_where_all_earlier_outputs_were() -> None:
    with pytest.raises(RewriterError, match="differ in type or dimension"):
        parse_outputs([1.0, 2.0], dimension=0)
    assert parse_outputs(["[" * 60_000, "a word"]) == ["[" * 60_000, "a word"]


def test_numbers_lists_and_records_with_a_vector_are_vectors() -> None:
    assert np.array_equal(parse_outputs(["1", "2.5", "-3"]), [[1], [2.5], [-3]])
    assert np.shape(parse_outputs(['{"vector": [1, 2], "epsilon": 4}'] * 2)) == (2, 2)
    assert np.array_equal(parse_outputs([np.array([1, 2]), [3, 4.0]]), [[1, 2], [3, 4]])
    assert np.shape(parse_outputs([np.float64(2), 3])) == (2, 1)
    assert parse_outputs(["12", "a word", "[1]"]) == ["12", "a word", "[1]"]
    assert parse_outputs(["12", "13"], dimension=0) == ["12", "13"]


@pytest.mark.parametrize(
    "outputs",
    [
        [[1, 2], [1]],
        [[1.0], "quokkasecret"],
        [[float("nan")], [1.0]],
        ["[1, 2]", "[1]"],
        ["1e999", "2"],
        [[10**400], [1]],
        [10**400, 1],
    ],
)
def test_vectors_of_several_types_are_an_error_without_text(outputs: list[object]) -> None:
    with pytest.raises(RewriterError) as caught:
        parse_outputs(outputs)
    assert "quokkasecret" not in str(caught.value)


def test_later_outputs_must_have_the_dimension_of_the_first() -> None:
    with pytest.raises(RewriterError, match="differ in type or dimension"):
        parse_outputs(["[1, 2]"], dimension=3)
    with pytest.raises(RewriterError, match="differ in type or dimension"):
        parse_outputs(["a word"], dimension=2)
