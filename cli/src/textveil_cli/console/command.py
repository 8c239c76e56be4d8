"""Command lines whose commands are imported on first use, with options in groups.

An option group is a dataclass whose fields are options. A command takes the whole group as one argument::

    @dataclass(frozen=True, kw_only=True)
    class Output:
        heading: ClassVar[str] = "Output"
        output: Annotated[Path | None, typer.Option("--output", "-o", help="Write here.")] = None

    def sanitize(*, output: Output) -> None: ...

A group may contain other groups as fields. ``--help`` lists all options of a group under the ``heading`` of the group.
If the group has no heading, ``--help`` lists the options of the contained groups under their own headings.
"""

import functools
import inspect
import os
import re
from collections.abc import Callable, Iterator, Mapping
from copy import copy
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, Literal, cast, get_args, get_origin, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup

from textveil_cli.console.text_io import print_message

#: Settings of every typer application of the project.
TYPER_SETTINGS: dict[str, Any] = {
    "context_settings": {"help_option_names": ["-h", "--help"]},
    "pretty_exceptions_enable": False,
    "rich_markup_mode": None,
}
OptionValues = dict[str, Any]
#: How typer writes the type of a repeatable option, and of a number with a range.
_HELP_TYPE = re.compile(r"<(?:list\[(\w+)\]|(\w+) range)>")
#: Whole numbers that every parser reads alike.
_SMALL_INTEGER = re.compile(r"0|[1-9][0-9]{0,14}")


class RepeatedOption(Exception):
    """Usage error for an option that takes one value and that the user gave twice.

    The parser cannot decide which of the two values the user meant.
    """

    exit_code = 2

    def __init__(self, ctx: Any, param: Any) -> None:
        super().__init__()
        self.ctx, self.param = ctx, param


def _make_value_converter(option: Any) -> Any:
    """Return a function that converts a value of the command line to the type of an option, mostly without pydantic.

    From version 0.29 on, typer calls pydantic for every option, and importing pydantic takes longer than sanitizing a
    sentence. The function calls typer only for values that ``_convert_plain_value`` cannot convert.
    """
    convert_with_typer, is_list = option.process_value, option.multiple or option.nargs == -1

    def process_value(ctx: Any, value: Any) -> Any:
        if option.required:
            return convert_with_typer(ctx, value)
        if value is None:
            value = () if is_list else value
        else:
            converted = _convert_plain_value(value, option.type_descriptor)
            if converted is None:
                return convert_with_typer(ctx, value)
            value = converted
        return value if option.callback is None else option.callback(ctx, option, value)

    return process_value


def _convert_plain_value(value: Any, descriptor: Any) -> Any:
    """Convert a typed value to the type of its option, as typer does, but without importing pydantic.

    Args:
        value: A value of the command line, not ``None``.
        descriptor: typer's description of the option's type.

    Returns:
        The converted value; ``None`` if typer itself must convert or reject the value.
    """
    annotation, settings = descriptor.annotation, descriptor.parameter_info
    if type(value) is annotation:
        return value
    if settings.parser is not None:
        return None
    if get_origin(annotation) is Literal and value in get_args(annotation):
        return value
    if annotation == list[str] and all(type(item) is str for item in value):
        return [*value]
    if type(value) is not str:
        return None
    if annotation is int and _SMALL_INTEGER.fullmatch(value):
        number = int(value)
        is_too_small = settings.min is not None and number < settings.min
        return None if is_too_small or (settings.max is not None and number > settings.max) else number
    has_checks = settings.exists or settings.writable or settings.resolve_path
    if annotation is Path and not has_checks and settings.file_okay and settings.dir_okay:
        # typer refuses existing files that are not readable, also for outputs
        return Path(value) if not os.path.lexists(value) or os.access(value, os.R_OK) else None
    return None


class _StrictCommandMixin:
    """Mixin for commands that rejects repeated options, and describes the remaining output after Ctrl-C.

    If the user gives an option twice that takes one value, click would silently use the last value; this mixin raises
    ``RepeatedOption``. Options that take a list of values, and flags without an off switch, may be repeated.
    """

    def invoke(self, ctx: Any) -> Any:
        """Run the command; after Ctrl-C print which output files remain, and raise ``KeyboardInterrupt`` again.

        The printed message consists of the notes that the command attached to the exception. Without notes, the message
        follows from the options, such as ``--output``.
        """
        try:
            return cast(Any, super()).invoke(ctx)
        except KeyboardInterrupt as interrupt:
            if not getattr(interrupt, "told", False):  # the command may have printed it already
                remaining = "; ".join(getattr(interrupt, "__notes__", ())) or _describe_remaining_output(ctx.params)
                print_message(f"{ctx.find_root().info_name}: interrupted{remaining and ': '}{remaining}")
                interrupt.told = True  # type: ignore[attr-defined]
            raise

    def get_params(self, ctx: Any) -> list[Any]:
        parameters = cast(Any, super()).get_params(ctx)
        for option in parameters:
            if hasattr(option, "type_descriptor") and "process_value" not in vars(option):
                option.process_value = _make_value_converter(option)
        return parameters

    def make_parser(self, ctx: Any) -> Any:
        parser = cast(Any, super()).make_parser(ctx)
        parse = parser.parse_args

        def parse_once(args: list[str]) -> Any:
            parsed = parse(args=args)
            options = [each for each in parsed[-1] if each.param_type_name == "option" and _has_one_value(each)]
            repeated = next((each for position, each in enumerate(options) if each in options[:position]), None)
            if repeated is not None and not ctx.resilient_parsing:  # not while a shell completes a word
                raise RepeatedOption(ctx, repeated)
            return parsed

        parser.parse_args = parse_once
        return parser


def _has_one_value(option: Any) -> bool:
    """Return whether a command line option takes exactly one value.

    The result is true also for flags with an off form, such as ``--resume/--no-resume``, and false for lists, counts
    and other flags.
    """
    return not option.multiple and not option.count and (not option.is_flag or bool(option.secondary_opts))


class GroupedCommand(_StrictCommandMixin, TyperCommand):
    """A command whose help lists its options under the headings of their groups."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the text of ``--help``: arguments, then options without a group, then the options of each group."""
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                record = (_HELP_TYPE.sub(r"<\1\2>", record[0]), record[1])
                argument = parameter.param_type_name == "argument"
                heading = None if argument else getattr(parameter, "rich_help_panel", None)
                sections.setdefault(heading or ("Arguments" if argument else "Options"), []).append(record)
        for heading, records in sections.items():
            if records:
                with formatter.section(heading):
                    formatter.write_dl(records)


def _describe_remaining_output(options: dict[str, Any]) -> str:
    """Return a sentence that states which output files exist after the user interrupted a command."""
    output = options.get("output")
    remarks = ["the epsilon of every sampled output is spent"] if options.get("ledger") else []
    if output is not None and "resume" in options and Path(output).is_dir():
        remarks.append(f"finished files are in {Path(output).name}; run the same command with --resume to continue")
    elif "output" in options:
        remarks.append(
            "output printed so far remains valid" if output is None else f"nothing was written to {Path(output).name}"
        )
    return "; ".join(remarks)


class _LazyCommands(Mapping[str, Any]):
    """Read-only mapping from command names to commands; the first access to a name imports its command."""

    def __init__(self, package: str, names: Mapping[str, str]) -> None:
        self._package, self._names = package, names
        self._command = functools.cache(self._import_command)

    def _import_command(self, name: str) -> Any:
        attribute = name.replace("-", "_")
        command = getattr(import_module(f"{self._package}.{attribute}"), attribute)
        if isinstance(command, typer.Typer):
            return typer.main.get_command(command)
        single_command_app = typer.Typer(add_completion=False, **TYPER_SETTINGS)
        single_command_app.command(name, cls=GroupedCommand)(expand_option_groups(command))
        return typer.main.get_command(single_command_app)

    def __getitem__(self, name: str) -> Any:
        if name not in self._names:
            raise KeyError(name)
        return self._command(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


class _LazyCommandGroup(_StrictCommandMixin, TyperGroup):
    """Group of commands that imports the module of a command only when the user calls it."""

    package: str
    table: Mapping[str, str]

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = cast(Any, _LazyCommands(self.package, self.table))

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the name and purpose of each command for ``--help``, without importing the commands."""
        with formatter.section("Commands"):
            formatter.write_dl(list(self.table.items()))

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of the commands."""
        return list(self.table)


def make_command_line(
    package: str, commands: Mapping[str, str], *, help: str, version: str | None = None, **settings: Any
) -> typer.Typer:
    """Return a typer application that imports its commands on first use.

    Args:
        package: Name of the package that contains the commands. The command ``sanitize-corpus``, for example, is the
            function or typer application ``sanitize_corpus`` in the package's module ``sanitize_corpus``.
        commands: Purpose of each command, by command name: the first sentence of its docstring.
        help: Purpose of the application.
        version: Output of ``--version``; ``None`` for an application without this option.
        settings: Further arguments of ``typer.Typer``.
    """
    group = type("Group", (_LazyCommandGroup,), {"package": package, "table": commands})
    app = typer.Typer(cls=group, no_args_is_help=True, help=help, **TYPER_SETTINGS, **settings)

    def print_version(requested: bool) -> None:
        if requested:
            print(version)
            raise typer.Exit

    def with_version(
        _: Annotated[
            bool, typer.Option("--version", help="Print the version and exit.", is_eager=True, callback=print_version)
        ] = False,
    ) -> None:
        pass

    def without_version() -> None:
        pass

    app.callback()(without_version if version is None else with_version)
    return app


@dataclass(frozen=True)
class OptionsFor:
    """Annotation that renames the options of a group, so that a command can take the same options for two bundles.

    ``Annotated[ExpectedBundleOptions, OptionsFor("encoder")]`` renames the options of ``ExpectedBundleOptions`` to, for
    example, ``--encoder-signer`` and ``--max-encoder-bytes``.
    """

    subject: str


def expand_option_groups(command: Callable[..., None]) -> Callable[..., None]:
    """Convert a command whose arguments are groups of options to a function whose arguments are the single options.

    typer needs a function with single options. The function builds the groups, and calls ``command``.
    """
    signature = inspect.signature(command, eval_str=True)
    parameters: list[inspect.Parameter] = []
    builders: list[tuple[str, Callable[[OptionValues], Any]]] = []
    for parameter in signature.parameters.values():
        expanded, build = _expand_parameter(parameter.name, parameter.annotation, parameter.default, None, None)
        parameters += expanded
        builders.append((parameter.name, build))

    @functools.wraps(command)
    def call(**given: Any) -> None:
        command(**{name: take(given) for name, take in builders})

    call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    call.__signature__ = inspect.Signature(parameters)  # pyright: ignore[reportAttributeAccessIssue]
    return call


def _expand_parameter(
    name: str, annotation: Any, default: Any, heading: str | None, options_for: OptionsFor | None
) -> tuple[list[inspect.Parameter], Callable[[OptionValues], Any]]:
    """Replace a parameter of a command, such as an option group, by single options for typer.

    Args:
        name: Name of the parameter.
        annotation: Its type: an option group, or a type annotated with an option.
        default: Its default value.
        heading: Heading of the enclosing group in the help; ``None`` if there is none.
        options_for: Annotation that renames the options; ``None`` to keep their names.

    Returns:
        The single options as parameters, and a function that builds the value of the replaced parameter from the values
        of the single options (a dictionary by name).
    """
    base_type, *metadata = get_args(annotation) if get_origin(annotation) is Annotated else (annotation,)
    options_for = next((mark for mark in metadata if isinstance(mark, OptionsFor)), options_for)
    if is_dataclass(base_type) and isinstance(base_type, type):
        return _expand_group(base_type, heading, options_for)
    if options_for is not None:
        name, metadata = (
            _rename_option(name, options_for.subject),
            [_rename_subject_in_help(mark, options_for.subject) for mark in metadata],
        )
    if heading is not None:
        metadata = [_move_under_heading(mark, heading) for mark in metadata]
    annotation = Annotated[base_type, *metadata] if metadata else base_type
    parameter = inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
    return [parameter], lambda given: given[name]


def _expand_group(
    group: type, heading: str | None, options_for: OptionsFor | None
) -> tuple[list[inspect.Parameter], Callable[[OptionValues], Any]]:
    heading = getattr(group, "heading", None) if heading is None else heading
    hints = get_type_hints(group, include_extras=True)
    expanded = {
        field.name: _expand_parameter(field.name, hints[field.name], _get_default(field), heading, options_for)
        for field in fields(group)
    }

    def build_group(given: OptionValues) -> Any:
        return group(**{name: taken(given) for name, (_, taken) in expanded.items()})

    return [parameter for parameters, _ in expanded.values() for parameter in parameters], build_group


def _get_default(field: "Field[Any]") -> Any:
    return inspect.Parameter.empty if field.default is MISSING else field.default


def _rename_option(name: str, subject: str) -> str:
    return name.replace("bundle", subject) if "bundle" in name else f"{subject}_{name}"


def _rename_subject_in_help(mark: Any, subject: str) -> Any:
    renamed = copy(mark)
    if getattr(mark, "help", None):
        renamed.help = mark.help.replace("bundle", subject)
    return renamed


def _move_under_heading(mark: Any, heading: str) -> Any:
    moved = copy(mark)
    if hasattr(mark, "rich_help_panel"):
        moved.rich_help_panel = heading
    return moved
