"""Command lines with lazily imported commands and options in groups.

A group is a dataclass whose fields are options, and a command takes it as one argument.

    @dataclass(frozen=True, kw_only=True)
    class Output:
        heading: ClassVar[str] = "Output"
        output: Annotated[Path | None, typer.Option("--output", "-o", help="Write here.")] = None

    def sanitize(*, output: Output) -> None: ...

A group may have groups as fields. The help lists their options under its heading, or under their own heading if it has
none.
"""

import functools
import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from copy import copy
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, cast, get_args, get_origin, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup

from textveil_cli.console.lines import say

#: Settings of every typer application of the project.
SETTINGS: dict[str, Any] = {
    "context_settings": {"help_option_names": ["-h", "--help"]},
    "pretty_exceptions_enable": False,
    "rich_markup_mode": None,
}
Given = dict[str, Any]
#: How typer writes the type of a repeatable option, and of a number with a range.
_TYPED = re.compile(r"<(?:list\[(\w+)\]|(\w+) range)>")


class GivenAgain(Exception):
    """Error for an option with one value that the user gave twice.

    The intended value is ambiguous.
    """

    exit_code = 2

    def __init__(self, ctx: Any, param: Any) -> None:
        super().__init__()
        self.ctx, self.param = ctx, param


def _of_its_type(option: Any) -> Any:
    """Return a conversion to the option's type that calls typer only for values of another type.

    typer from 0.29 on calls pydantic for every option, present or not; importing pydantic takes longer than sanitizing
    a sentence.
    """
    of_typer, is_list = option.process_value, option.multiple or option.nargs == -1

    def process_value(ctx: Any, value: Any) -> Any:
        if option.required or not (value is None or type(value) is option.type_descriptor.annotation):
            return of_typer(ctx, value)
        value = () if is_list and value is None else value
        return value if option.callback is None else option.callback(ctx, option, value)

    return process_value


class _Once:
    """Mixin that rejects repeated options with one value and reports on Ctrl-C.

    click would silently use the last of two values. Options with a list of values, and flags that only switch something
    on, may be repeated. After Ctrl-C the mixin reports which output remains.
    """

    def invoke(self, ctx: Any) -> Any:
        """Run the command; on Ctrl-C print which output remains.

        The message has the notes that the command attached to the interrupt, else it is derived from the options. The
        interrupt is raised again.
        """
        try:
            return cast(Any, super()).invoke(ctx)
        except KeyboardInterrupt as interrupt:
            if not getattr(interrupt, "told", False):  # the command may have printed it already
                kept = "; ".join(getattr(interrupt, "__notes__", ())) or _kept(ctx.params)
                say(f"{ctx.find_root().info_name}: interrupted{kept and ': '}{kept}")
                interrupt.told = True  # type: ignore[attr-defined]
            raise

    def get_params(self, ctx: Any) -> list[Any]:
        found = cast(Any, super()).get_params(ctx)
        for option in found:
            if hasattr(option, "type_descriptor") and "process_value" not in vars(option):
                option.process_value = _of_its_type(option)
        return found

    def make_parser(self, ctx: Any) -> Any:
        parser = cast(Any, super()).make_parser(ctx)
        parse = parser.parse_args

        def parse_once(args: list[str]) -> Any:
            found = parse(args=args)
            options = [each for each in found[-1] if each.param_type_name == "option" and _has_one_value(each)]
            again = next((each for place, each in enumerate(options) if each in options[:place]), None)
            if again is not None and not ctx.resilient_parsing:  # not while a shell completes a word
                raise GivenAgain(ctx, again)
            return found

        parser.parse_args = parse_once
        return parser


def _has_one_value(option: Any) -> bool:
    """Return whether an option has exactly one value.

    Lists, counts, and flags without an off switch do not.
    """
    return not option.multiple and not option.count and (not option.is_flag or bool(option.secondary_opts))


class Command(_Once, TyperCommand):
    """A command whose help lists its options under the headings of their groups."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments, then options without a group, then each group."""
        sections: dict[str, list[tuple[str, str]]] = {"Arguments": [], "Options": []}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if record is not None:
                record = (_TYPED.sub(r"<\1\2>", record[0]), record[1])
                argument = parameter.param_type_name == "argument"
                heading = None if argument else getattr(parameter, "rich_help_panel", None)
                sections.setdefault(heading or ("Arguments" if argument else "Options"), []).append(record)
        for heading, records in sections.items():
            if records:
                with formatter.section(heading):
                    formatter.write_dl(records)


def _kept(options: dict[str, Any]) -> str:
    """Describe the output that an interrupted command leaves, derived from its options."""
    output = options.get("output")
    said = ["what was drawn is charged"] if options.get("ledger") else []
    if output is not None and "resume" in options and Path(output).is_dir():
        said.append(f"what is finished is in {Path(output).name}, and the same command with --resume goes on")
    elif "output" in options:
        said.append("what was printed stands" if output is None else f"nothing was written to {Path(output).name}")
    return "; ".join(said)


class _Imported(Mapping[str, Any]):
    """Mapping from names to commands; the first access to a name imports its command."""

    def __init__(self, package: str, names: Mapping[str, str]) -> None:
        self._package, self._names = package, names
        self._command = functools.cache(self._import)

    def _import(self, name: str) -> Any:
        attribute = name.replace("-", "_")
        found = getattr(import_module(f"{self._package}.{attribute}"), attribute)
        if isinstance(found, typer.Typer):
            return typer.main.get_command(found)
        alone = typer.Typer(add_completion=False, **SETTINGS)
        alone.command(name, cls=Command)(grouped(found))
        return typer.main.get_command(alone)

    def __getitem__(self, name: str) -> Any:
        if name not in self._names:
            raise KeyError(name)
        return self._command(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)


class _Group(_Once, TyperGroup):
    """A group of commands that are imported on their first call."""

    package: str
    table: Mapping[str, str]

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = cast(Any, _Imported(self.package, self.table))

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the purpose of each command without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl(list(self.table.items()))

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of the commands."""
        return list(self.table)


def command_line(
    package: str, commands: Mapping[str, str], *, help: str, version: str | None = None, **settings: Any
) -> typer.Typer:
    """Return an application, or a group of commands in one.

    Args:
        package: Package of the commands: ``sanitize-corpus`` is the function ``sanitize_corpus`` of the module of that
            name, or an application there.
        commands: Purpose of each command by its name: the first sentence of its docstring.
        help: Purpose of the application.
        version: Output of ``--version``; ``None`` for a group of commands.
        settings: Further arguments of ``typer.Typer``.
    """
    group = type("Group", (_Group,), {"package": package, "table": commands})
    app = typer.Typer(cls=group, no_args_is_help=True, help=help, **SETTINGS, **settings)

    def tell(wanted: bool) -> None:
        if wanted:
            print(version)
            raise typer.Exit

    def with_version(
        _: Annotated[
            bool, typer.Option("--version", help="Print the version and exit.", is_eager=True, callback=tell)
        ] = False,
    ) -> None:
        pass

    def without_version() -> None:
        pass

    app.callback()(without_version if version is None else with_version)
    return app


@dataclass(frozen=True)
class Of:
    """Marker that reuses an option group about a bundle for something else.

    ``Annotated[Pins, Of("encoder")]`` renames the options of ``Pins`` to, for example, ``--encoder-maker`` and
    ``--max-encoder-bytes``.
    """

    what: str


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command that takes the options of its groups in place of the groups."""
    signature = inspect.signature(command, eval_str=True)
    parameters: list[inspect.Parameter] = []
    takes: list[tuple[str, Callable[[Given], Any]]] = []
    for parameter in signature.parameters.values():
        own, take = _expanded(parameter.name, parameter.annotation, parameter.default, None, None)
        parameters += own
        takes.append((parameter.name, take))

    @functools.wraps(command)
    def call(**given: Any) -> None:
        command(**{name: take(given) for name, take in takes})

    call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    call.__signature__ = inspect.Signature(parameters)  # pyright: ignore[reportAttributeAccessIssue]
    return call


def _expanded(
    name: str, annotation: Any, default: Any, heading: str | None, of: Of | None
) -> tuple[list[inspect.Parameter], Callable[[Given], Any]]:
    """Return the parameters that replace one, and the builder of its argument.

    The builder takes the values of these parameters.
    """
    kind, *marks = get_args(annotation) if get_origin(annotation) is Annotated else (annotation,)
    of = next((mark for mark in marks if isinstance(mark, Of)), of)
    if is_dataclass(kind) and isinstance(kind, type):
        return _members(kind, heading, of)
    if of is not None:
        name, marks = _renamed(name, of.what), [_about(mark, of.what) for mark in marks]
    if heading is not None:
        marks = [_under(mark, heading) for mark in marks]
    annotation = Annotated[kind, *marks] if marks else kind
    parameter = inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
    return [parameter], lambda given: given[name]


def _members(group: type, heading: str | None, of: Of | None) -> tuple[list[inspect.Parameter], Callable[[Given], Any]]:
    heading = getattr(group, "heading", None) if heading is None else heading
    hints = get_type_hints(group, include_extras=True)
    expanded = {
        field.name: _expanded(field.name, hints[field.name], _default(field), heading, of) for field in fields(group)
    }

    def take(given: Given) -> Any:
        return group(**{name: taken(given) for name, (_, taken) in expanded.items()})

    return [parameter for parameters, _ in expanded.values() for parameter in parameters], take


def _default(field: "Field[Any]") -> Any:
    return inspect.Parameter.empty if field.default is MISSING else field.default


def _renamed(name: str, what: str) -> str:
    return name.replace("bundle", what) if "bundle" in name else f"{what}_{name}"


def _about(mark: Any, what: str) -> Any:
    said = copy(mark)
    if getattr(mark, "help", None):
        said.help = mark.help.replace("bundle", what)
    return said


def _under(mark: Any, heading: str) -> Any:
    placed = copy(mark)
    if hasattr(mark, "rich_help_panel"):
        placed.rich_help_panel = heading
    return placed
