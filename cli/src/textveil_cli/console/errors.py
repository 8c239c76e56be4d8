"""Error messages and exit codes of every command: one line per error, no traceback, no user text.

Exit codes: 0 for success, 1 for a ``TextveilError``, 2 for wrong usage, 130 for Ctrl-C.
"""

import os
import re
import signal
import sys
import traceback
from contextlib import suppress
from typing import Any

import typer
from textveil.errors import BundleDamaged, OptionError, OutputError, TextveilError, UnknownLevel

from textveil_cli.console.text_io import print_message

_USAGE_ERRORS = {
    "NoSuchOption": "unknown option",
    "NoSuchCommand": "unknown command",
    "MissingParameter": "is missing",
    "BadOptionUsage": "takes no value",
    "BadArgumentUsage": "wrong number of arguments",
    "BadParameter": "",  # the accepted values follow
    "RepeatedOption": "is given more than once",
}
#: Names of options in errors of the library, which become the options of the command line.
_LIBRARY_OPTIONS = re.compile(
    r"\b(allow|(?<!lower )case|consistent(_cap)?|deny|drop|epsilon(?! of| to spend)|facts|keep|key(?=[^;(]*: only)|"
    r"known(?=:|[^;(]*: only)|mechanism|patterns(?=:|[^;(]*: only)|"
    r"protect|randomize|replacement_probability|restore_(hosts|places)|sanitize_punctuation|split|style|tag)\b"
)
#: An option with its value in errors of the library, ``protect='words'``, which becomes ``--protect words``.
_LIBRARY_VALUES = re.compile(r"\b([a-z_]+)='(\w+)'")
#: Advice for all errors with a certain code.
_ADVICE = {
    BundleDamaged.code: "copy or build the bundle again",
    "field-too-long": "raise --max-field-bytes, or correct the file",  # an open quotation mark joins many rows
}
#: Shape of an option name. Private text hardly ever has this shape.
_OPTION_SHAPE = re.compile(r"(?=.{2,40}$)(--[a-z]+(-[a-z]+)*|-[a-z])")
#: The rejected value in the message of the command line parser.
_REJECTED_VALUE = re.compile(r"'(.*)' is not one of ")


def run(app: typer.Typer, name: str, arguments: list[str] | None = None) -> int:
    """Run a command line, print one line for an error, and return the exit code.

    Args:
        app: The application.
        name: Its name, for messages.
        arguments: The arguments of the command line; ``None`` for those of ``sys.argv``.

    Privacy:
        A message about wrong usage names an option, never an argument, since a user who forgets ``--text`` types
        private text in place of a command. An unexpected error is reported by its type and source line alone, since its
        message could contain private text.
    """
    _install_termination_handlers()
    command = typer.main.get_command(app)
    try:
        code = command.main(arguments, prog_name=name, standalone_mode=False)
        if sys.stdout is not None:
            sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except TextveilError as error:
        message, help_command = (
            str(error),
            _get_help_command(command, name, arguments) if isinstance(error, OptionError) else "",
        )
        if help_command and isinstance(error, UnknownLevel) and name == "textveil":
            help_command = f"{name} {'info' if 'encode' in help_command else 'levels'}"
        if help_command and "--" not in message:
            message = _LIBRARY_VALUES.sub(r"\1 \2", message)
            message = _LIBRARY_OPTIONS.sub(lambda found: f"--{found[0].replace('_', '-')}", message)
            message = message.replace("--key", "--corpus-key").replace("--patterns", "--pattern")
        advice = f"see {help_command}" if help_command else _ADVICE.get(error.code)
        return _print_error(f"{name}: {error.code}: {message}{f' ({advice})' if advice else ''}", 1)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:  # `textveil ... | head` ends quietly
        _discard_output()
        return 1
    except OSError as error:  # errors of inputs are TextveilError, so this one is about an output
        _discard_output()
        reason = os.strerror(error.errno) if error.errno else "closed"
        return _print_error(f"{name}: {OutputError.code}: cannot write to standard output: {reason}", 1)
    except MemoryError:
        return _print_error(f"{name}: memory: not enough memory for this input", 1)
    except Exception as error:  # last line of defense for the user's text
        if isinstance(error, ImportError):
            from textveil_cli.console.missing_packages import describe_missing_package

            if (missing := describe_missing_package(error)) is not None:
                return _print_error(f"{name}: install: {missing}", 1)
        if type(error).__name__ == "Abort":
            return 130
        if type(error).__name__ == "NoArgsIsHelpError":
            return _print_error(error.ctx.get_help(), 2)  # type: ignore[attr-defined]
        if getattr(error, "exit_code", None) == 2:
            return _print_error(
                f"{name}: usage: {_describe_usage_error(error, name)} (see "
                f"{_get_help_command(command, name, arguments)})",
                2,
            )
        frame = traceback.extract_tb(error.__traceback__)[-1]
        location = f"{type(error).__name__} in {frame.filename.rpartition('/')[2]} line {frame.lineno}"
        return _print_error(f"{name}: internal error: {location}; please report this", 1)


def _get_help_command(command: Any, name: str, arguments: list[str] | None) -> str:
    """Return the help command to recommend, such as ``textveil ledger --help``.

    The result contains the longest sequence of command names at the start of the arguments. The result never contains
    an unknown word, since that word may be private text.
    """
    for word in sys.argv[1:] if arguments is None else arguments:
        command = getattr(command, "commands", {}).get(word)
        if command is None:
            break
        name += f" {word}"
    return f"{name} --help"


def _describe_usage_error(error: Any, name: str) -> str:
    """Return the message for an error of the command line parser.

    From version 0.26 on, typer contains its own copy of click, so the function compares the names of error types.
    """
    class_names = [kind.__name__ for kind in type(error).__mro__]
    description = next((_USAGE_ERRORS[kind] for kind in class_names if kind in _USAGE_ERRORS), None)
    if description is None:  # click raises a bare UsageError for an unknown command and for surplus arguments
        commands = getattr(getattr(getattr(error, "ctx", None), "command", None), "commands", None)
        has_arguments = any(each.param_type_name == "argument" for each in error.ctx.command.get_params(error.ctx))
        hint = "quote arguments that contain spaces" if has_arguments else "this command takes only options"
        description = "unknown command" if commands else f"too many arguments: {hint}"
    if (
        _OPTION_SHAPE.fullmatch(typed := str(getattr(error, "option_name", "")))
        and description == _USAGE_ERRORS["NoSuchOption"]
    ):
        description += f" {typed}"
    if "NoSuchOption" in class_names:
        from textveil_cli.console.suggestions import suggest_option

        options = error.ctx.command.get_params(error.ctx)
        return description + suggest_option(
            str(error.option_name), [name for option in options for name in option.opts]
        )
    if commands := _find_similar_commands(error):
        return f"{description}: did you mean {' or '.join(commands)}?"
    if description == "unknown command":
        if error.ctx.parent is not None or name != "textveil":
            return f"{description}; available: {', '.join(error.ctx.command.list_commands(error.ctx))}"
        return f'{description}; to sanitize a text, run {name} sanitize --text "..." or {name} sanitize FILE'
    if "BadOptionUsage" in class_names and description == _USAGE_ERRORS["BadOptionUsage"]:  # for a known option
        needed = re.search(r"requires (\d+) arguments", error.message)
        expected = (
            f"takes {needed[1]} values" if needed else "needs a value" if "requires" in error.message else description
        )
        return f"{error.option_name} {expected}"
    parameter = getattr(error, "param", None)
    if parameter is None:
        return description
    argument_name = parameter.metavar if parameter.param_type_name == "argument" else None
    typed = _REJECTED_VALUE.search(str(getattr(error, "message", "")))
    accepted = description or _describe_accepted_values(parameter, typed[1] if typed else "")
    return f"{argument_name or max(parameter.opts, key=len)} {accepted}"


def _describe_accepted_values(option: Any, typed: str) -> str:
    """Return a description of the values that an option accepts, and a question if one of them is similar.

    The description comes from typer (version 0.29 or later) or from click (with an earlier typer).
    """
    option_type = getattr(option, "type_descriptor", None) or option.type
    choices = getattr(option_type, "choices", None)
    if choices:
        from textveil.arguments import suggest_choice

        suggestion = suggest_choice(typed, choices)
        accepted = " or ".join(part for part in (", ".join(choices[:-1]), choices[-1]) if part)
        return f"takes {accepted}{suggestion and '; ' + suggestion}"
    low, high = (getattr(option, bound, getattr(option_type, bound, None)) for bound in ("min", "max"))
    number = "a whole number" if "int" in repr(getattr(option_type, "annotation", option_type)).lower() else "a number"
    if getattr(option, "nargs", 1) > 1:
        number = f"{option.nargs} numbers"
    return f"takes {number}" + (f", at least {low}" if low is not None else "") + (f", at most {high}" if high else "")


def _find_similar_commands(error: Any) -> list[str]:
    """Return the commands of this program whose names are similar to the unknown command of ``error``."""
    commands = getattr(getattr(getattr(error, "ctx", None), "command", None), "commands", None) or {}
    _, _, guessed = (getattr(error, "message", None) or "").rpartition("Did you mean ")
    return sorted(name for name in commands if f"'{name}'" in guessed)


def _print_error(message: str, code: int) -> int:
    print_message(message)
    return code


def _install_termination_handlers() -> None:
    """Make SIGTERM and SIGHUP raise ``SystemExit``, so that clean-up code deletes temporary files."""

    def leave(number: int, frame: object) -> None:
        raise SystemExit(128 + number)

    for name in ("SIGTERM", "SIGHUP"):
        with suppress(AttributeError, ValueError):  # not on this system, or not in the main thread
            signal.signal(getattr(signal, name), leave)


def _discard_output() -> None:
    # The buffered output cannot be written; the interpreter must not retry at exit.
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
