"""Every command refuses an option with one value that is given twice: the last would win silently."""

from collections.abc import Iterator
from typing import Any

import pytest
from command_trees import APPS, commands
from textveil_cli import console


def options(name: str) -> Iterator[tuple[list[str], Any]]:
    """Every option of an application, with the words of the command it belongs to."""
    for words, command in commands(name):
        yield from ((words, option) for option in command.params if option.param_type_name == "option")


def twice(option: Any, spellings: list[str]) -> list[str]:
    values = [] if option.is_flag else ["secret" if option.nargs == 1 else "3"] * option.nargs
    return [word for spelling in spellings for word in (spelling, *values)]


@pytest.mark.slow
@pytest.mark.parametrize("name", APPS)
def test_an_option_of_one_value_is_given_once(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    refused = 0
    for words, option in options(name):
        flag = option.is_flag and not option.secondary_opts
        if option.multiple or flag or not option.name:
            continue
        spellings = [max(option.opts, key=len), option.secondary_opts[0] if option.is_flag else option.opts[-1]]
        arguments = [*words, *twice(option, spellings)]
        assert console.run(APPS[name], name, arguments) == 2, arguments
        said = capsys.readouterr()
        where = " ".join([name, *words])
        wanted = f"{name}: usage: {spellings[0]} is given more than once (see {where} --help)\n"
        assert (said.out, said.err) == ("", wanted), arguments
        refused += 1
    assert refused > 40


@pytest.mark.parametrize("name", APPS)
def test_a_list_and_a_flag_may_go_on(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = 0
    for words, option in options(name):
        flag = option.is_flag and not option.secondary_opts
        if not (option.multiple or flag) or option.name in ("version", "help", None) or option.is_eager:
            continue
        console.run(APPS[name], name, [*words, *twice(option, [option.opts[-1]] * 2), "--no-such-option"])
        assert "given more than once" not in capsys.readouterr().err
        found += 1
    assert found > 3


def test_a_repeated_option_is_found_wherever_it_stands(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (
        ["-t", "secret", "--epsilon", "8", "--text", "other secret"],
        ["--text=secret", "-tsecret"],
        ["--header", "-t", "secret", "--no-header"],
    ):
        assert console.run(APPS["textveil"], "textveil", ["sanitize", *arguments]) == 2
        said = capsys.readouterr().err
        assert "given more than once" in said
        assert "secret" not in said
    assert console.run(APPS["textveil"], "textveil", ["sanitize", "-q", "--quiet", "-t", "the -t -t"]) == 0
