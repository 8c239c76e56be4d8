"""The pins of a bundle as options: every command that opens one declares all of them with ``@pinned()``."""

import functools
import inspect
from collections.abc import Callable
from typing import Annotated, Any

import typer
from textveil.bundle.pins import MAX_BUNDLE_BYTES, Pins

Command = Callable[..., None]


def pinned(what: str = "bundle") -> Callable[[Command], Command]:
    """Gives a command the options ``--expect-id``, ``--maker`` and ``--max-bundle-bytes``.

    The command gets what they say as its argument ``pins``, and opens its bundle with that.

    Args:
        what: What is pinned. If it is not the command's own bundle but, say, its ``encoder``, the options are
            ``--encoder-expect-id``, ``--encoder-maker`` and ``--max-encoder-bytes``, and the argument ``encoder_pins``.
    """
    before = "" if what == "bundle" else f"{what}_"
    identity = Annotated[str | None, typer.Option(help=f"Refuse the {what} unless this is its identity (see info).")]
    maker = Annotated[
        str | None,
        typer.Option(
            metavar="KEY", help=f"Refuse the {what} unless the owner of this public key signed it (64 digits)."
        ),
    ]
    most = Annotated[
        int, typer.Option(min=1, show_default=False, help=f"Refuse a larger {what}; {MAX_BUNDLE_BYTES:,} if left out.")
    ]
    added = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)
        for name, default, annotation in (
            (f"{before}expect_id", None, identity),
            (f"{before}maker", None, maker),
            (f"max_{what}_bytes", MAX_BUNDLE_BYTES, most),
        )
    ]

    def declare(command: Command) -> Command:
        signature = inspect.signature(command, eval_str=True)
        own = [parameter for parameter in signature.parameters.values() if parameter.name != f"{before}pins"]

        @functools.wraps(command)
        def call(**given: Any) -> None:
            expect_id, maker, max_bytes = (given.pop(parameter.name, parameter.default) for parameter in added)
            given[f"{before}pins"] = Pins(expect_id=expect_id, maker=maker, max_bytes=max_bytes)
            command(**given)

        parameters = [*own, *added]
        call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        call.__signature__ = signature.replace(parameters=parameters)  # pyright: ignore[reportAttributeAccessIssue]
        return call

    return declare
