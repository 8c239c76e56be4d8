"""Ends every command of this project: one line per error, no traceback, nothing of the user's text in it.

Exit codes: 0 good, 1 a named error, 2 wrong usage, 130 interrupted.
"""

import os
import signal
import sys
import traceback
from contextlib import suppress
from typing import Any

import typer
from textveil.errors import OutputError, TextveilError

_USAGE = {
    "NoSuchOption": "unknown option",
    "NoSuchCommand": "unknown command",
    "MissingParameter": "something is missing",
    "BadOptionUsage": "an option has no value, or one too many",
    "BadParameter": "a value is not valid",
    "BadArgumentUsage": "wrong number of arguments",
    "_GivenAgain": "given more than once",
}


class _GivenAgain(Exception):
    """An option that has one value is given twice: which of the two was meant, nobody can tell."""

    exit_code = 2

    def __init__(self, ctx: Any, param: Any) -> None:
        super().__init__()
        self.ctx, self.param = ctx, param


def run(app: typer.Typer, name: str, arguments: list[str] | None = None) -> int:
    """Runs a command line and gives its exit code.

    Usage errors name our option, never the user's argument: a person who forgets ``--text`` types a secret where a
    command belongs. An unexpected error is reported by type and place, since its message could hold user text.

    Args:
        app: The application.
        name: Its name, for messages.
        arguments: The command line; ``sys.argv`` if left out.
    """
    _clean_up_when_terminated()
    try:
        command = typer.main.get_command(app)
        _refuse_repeated(command)
        code = command.main(arguments, prog_name=name, standalone_mode=False)
        if sys.stdout is not None:
            sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except TextveilError as error:
        return _fail(f"{name}: {error.code}: {error}", 1)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # `textveil ... | head` ends quietly
        _abandon_output()
        return 1
    except OSError:  # errors of input are named where they occur: what is left is printing
        _abandon_output()
        return _fail(f"{name}: {OutputError.code}: standard output cannot be written", 1)
    except MemoryError:
        return _fail(f"{name}: memory: not enough memory for this input", 1)
    except Exception as error:  # the last line of defense for the user's text
        if type(error).__name__ == "Abort":
            return 130
        if type(error).__name__ == "NoArgsIsHelpError":
            return _fail(error.ctx.get_help(), 2)  # type: ignore[attr-defined]
        if getattr(error, "exit_code", None) == 2:
            # A path of our own words: a command that there is not is not in it. Some errors do not know where they are.
            command = getattr(getattr(error, "ctx", None), "command_path", name)
            return _fail(f"{name}: usage: {_usage(error)} (see {command} --help)", 2)
        place = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{type(error).__name__} in {place.filename.rpartition('/')[2]} line {place.lineno}"
        return _fail(f"{name}: internal: {where}; please report this", 1)


def _refuse_repeated(command: Any) -> None:
    """Makes a command, and all below it, refuse an option that is given twice and has one value: the last would win.

    A list of values may go on, and a flag that only switches something on may be repeated.
    """
    make_parser = command.make_parser

    def make(ctx: Any) -> Any:
        parser = make_parser(ctx)
        parse = parser.parse_args

        def parse_once(args: list[str]) -> Any:
            found = parse(args=args)
            options = [each for each in found[-1] if each.param_type_name == "option" and _has_one_value(each)]
            again = next((each for place, each in enumerate(options) if each in options[:place]), None)
            if again is not None and not ctx.resilient_parsing:  # a shell that completes a word
                raise _GivenAgain(ctx, again)
            return found

        parser.parse_args = parse_once
        return parser

    command.make_parser = make
    for below in getattr(command, "commands", {}).values():
        _refuse_repeated(below)


def _has_one_value(option: Any) -> bool:
    """Whether an option has a value, or is a switch with an off: not a list, a count or a mere flag."""
    return not option.multiple and not option.count and (not option.is_flag or bool(option.secondary_opts))


def _usage(error: Any) -> str:
    """What is wrong, in our words. Typer has brought its own click since 0.26, so types are known by name."""
    kinds = [kind.__name__ for kind in type(error).__mro__]
    said = next((_USAGE[kind] for kind in kinds if kind in _USAGE), None)
    if said is None:  # click raises a bare UsageError for an unknown command and for surplus arguments
        commands = getattr(getattr(getattr(error, "ctx", None), "command", None), "commands", None)
        said = "unknown command" if commands else "unexpected argument"
    meant = _meant(error)
    if meant:
        return f"{said}: did you mean {' or '.join(meant)}?"
    parameter = getattr(error, "param", None)
    if parameter is None:
        return said
    named = parameter.metavar if parameter.param_type_name == "argument" else None
    return f"{named or max(parameter.opts, key=len)}: {said}"


def _meant(error: Any) -> list[str]:
    """Our own commands or options that look like what was typed, which is not said."""
    options = getattr(error, "possibilities", None)
    if options:
        return sorted(options)
    commands = getattr(getattr(getattr(error, "ctx", None), "command", None), "commands", None) or {}
    _, _, guessed = (getattr(error, "message", None) or "").rpartition("Did you mean ")
    return sorted(name for name in commands if f"'{name}'" in guessed)


def _fail(message: str, code: int) -> int:
    say(message)
    return code


def say(message: str) -> None:
    """Prints a line on standard error; if nobody reads it, that is no reason to stop."""
    if sys.stderr is not None:
        with suppress(OSError):
            print(message, file=sys.stderr, flush=True)


def _clean_up_when_terminated() -> None:
    """``kill`` and a closed terminal end the program like an error, so that no temporary file stays behind."""

    def leave(number: int, frame: object) -> None:
        raise SystemExit(128 + number)

    for name in ("SIGTERM", "SIGHUP"):
        with suppress(AttributeError, ValueError):  # not on this system, or not in the main thread
            signal.signal(getattr(signal, name), leave)


def _abandon_output() -> None:
    # What is still buffered cannot be written; the interpreter must not try again when it ends.
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
