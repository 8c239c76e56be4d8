"""``textveil`` prints help, and reports wrong usage without the text. The messages are in mistakes.md."""

import io
import os
import signal
from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from textveil_cli.console import run
from textveil_cli.main import app
from textveil_cli.options.text import ENTITY_TYPES


def usage(*arguments: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    handler = signal.getsignal(signal.SIGPIPE) if hasattr(signal, "SIGPIPE") else None
    try:
        with redirect_stdout(out), redirect_stderr(err):
            code = run(app, "textveil", list(arguments))
    finally:
        if handler is not None:
            signal.signal(signal.SIGPIPE, handler)
    return code, out.getvalue(), err.getvalue()


def test_ctrl_c_while_a_command_is_imported_is_said_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(name: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("textveil_cli.console.command.import_module", interrupted)
    assert usage("info") == (130, "", "textveil: interrupted\n")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "expected"),
    [("textveil san", "sanitize"), ("textveil sanitize --parq", "--parquet"), ("textveil zq", "")]
    + [("textveil sanitize --protect na", "names"), ("textveil encode --randomizer c", "counts")]
    + [("textveil sanitize --encoding la", "latin-1"), ("textveil encode --encoding cp", "cp1252")]
    + [(f"textveil sanitize --{option} cit", "city") for option in ("keep", "tag", "drop")],
)
def test_a_shell_completes_words(forked: Callable, words: str, expected: str) -> None:
    environment = {"_TEXTVEIL_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    ran = forked(environment={**os.environ, **environment})
    assert (ran.code, ran.text.strip(), ran.err) == (0, expected, b"")


def test_the_kinds_of_the_help_are_those_of_the_rung(here: Callable) -> None:
    ran = here("sanitize", "--protect", "names", "--keep", "zorblax", "--text", "hello")
    assert f"no such entity type: choose among {', '.join(ENTITY_TYPES)} (see" in ran.message
    helped = " ".join(here("preview", "--help").text.split())
    assert f"{', '.join(ENTITY_TYPES[:-1])} and {ENTITY_TYPES[-1]}" in helped.replace("- ", "-")


# A canary in any place a person may put a secret by mistake.
PLACES = [
    ["{}"],
    ["{}", "sanitize"],
    ["--{}"],
    ["-{}"],
    ["{}", "{}"],
    ["sanitize", "--{}"],
    ["sanitize", "--{}=x"],
    ["sanitize", "--quiet={}"],
    ["sanitize", "--nothing", "{}"],
    ["sanitize", "--nothing={}"],
    ["sanitize", "--text", "x", "--nothing", "{}"],
    ["inspect", "x", "{}"],
    ["inspect", "x", "--count", "{}"],
    ["inspect", "x", "--count={}"],
    ["inspect", "x", "-n", "-{}"],
    ["info", "a", "{}"],
    ["info", "--json={}"],
    ["info", "--path", "{}", "--nothing"],
]


@pytest.mark.slow
@settings(max_examples=300)
@given(st.sampled_from(PLACES), st.text(st.characters(), min_size=1, max_size=20))
@example(["{}"], "\ud800")
@example(["--{}"], "a\nb")
@example(["sanitize", "--{}"], "text\x1b[31m")
@example(["inspect", "x", "--count={}"], "\0")
@example(["{}"], "-")
def test_usage_errors_never_echo(place: list[str], secret: str) -> None:
    marked = f"Zq{secret}qZ"  # long enough to be recognized, and no option of ours
    assume(not marked.isdigit())
    code, out, err = usage(*(part.replace("{}", marked) for part in place))
    assert (code, out) == (2, "")
    assert marked not in err
    assert "Zq" not in err
    assert err.count("\n") == 1
    assert err.startswith("textveil: usage: ")


def test_help(here: Callable) -> None:
    for command in ("sanitize", "preview", "restore", "inspect", "info", "levels", "verify", "encode", "classify"):
        ran = here(command, "--help")
        assert (ran.code, ran.err) == (0, b"")
        assert "Usage: textveil" in ran.text
        assert here(command, "-h").text == ran.text
    ran = here("--help")
    assert (ran.code, ran.err) == (0, b"")
    assert all(name in ran.text for name in ("Usage: textveil", "sanitize", "inspect", "info", "--version"))


def test_without_arguments_there_is_help(here: Callable) -> None:
    ran = here()
    assert ran.code in (0, 2)
    assert b"Usage: textveil" in ran.out + ran.err
    assert b"unknown command" not in ran.err
