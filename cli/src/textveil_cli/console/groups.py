"""Options in groups: a group is a dataclass whose fields are options, and a command takes it as one argument.

    @dataclass(frozen=True, kw_only=True)
    class Output:
        heading: ClassVar[str] = "Output"
        output: Annotated[Path | None, typer.Option("--output", "-o", help="Write here.")] = None

    def sanitize(*, output: Output) -> None: ...

A group may have groups as fields. Their options stand under its heading in the help; where it has none, under their
own.
"""

import functools
import inspect
from collections.abc import Callable
from copy import copy
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from typing import Annotated, Any, get_args, get_origin, get_type_hints

Given = dict[str, Any]


@dataclass(frozen=True)
class Of:
    """Makes a group that is about a bundle one about something else: ``Annotated[Pins, Of("encoder")]``.

    Its options are then called ``--encoder-maker`` and ``--max-encoder-bytes``.
    """

    what: str


def grouped(command: Callable[..., None]) -> Callable[..., None]:
    """Returns a command with the options of its groups in place of the groups."""
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
    """The parameters that stand for one, and what makes its argument of what they were given."""
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
