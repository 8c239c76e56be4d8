"""Which bundle, and what it must be: its identity, its maker and its size."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer
from textveil.bundle import MAX_BUNDLE_BYTES, Pins
from textveil.errors import OptionError

if TYPE_CHECKING:
    from textveil.text import Sanitizer

BundleArgument = Annotated[
    Path | None,
    typer.Argument(metavar="BUNDLE", help="Folder of a bundle, as --bundle; the built-in English one if left out."),
]


@dataclass(frozen=True, kw_only=True)
class PinOptions:
    """What a bundle must be: every command that opens one takes these."""

    heading: ClassVar[str] = "Bundle"
    expect_id: Annotated[str | None, typer.Option(help="Refuse the bundle unless this is its identity (see info).")] = (
        None
    )
    maker: Annotated[
        str | None,
        typer.Option(
            metavar="KEY", help="Refuse the bundle unless the owner of this public key signed it (64 digits)."
        ),
    ] = None
    max_bundle_bytes: Annotated[
        int, typer.Option(min=1, show_default=False, help=f"Refuse a larger bundle; {MAX_BUNDLE_BYTES:,} if left out.")
    ] = MAX_BUNDLE_BYTES

    @property
    def pins(self) -> Pins:
        """What whatever opens the bundle is told."""
        return Pins(expect_id=self.expect_id, maker=self.maker, max_bytes=self.max_bundle_bytes)

    @property
    def named(self) -> bool:
        """Whether the bundle is to be a certain one."""
        return self.expect_id is not None or self.maker is not None


@dataclass(frozen=True, kw_only=True)
class BundleOptions:
    """The bundle of a command that rewrites text, or looks at what does."""

    heading: ClassVar[str] = "Bundle"
    bundle: Annotated[
        Path | None,
        typer.Option("--bundle", "-b", help="Folder of a bundle; the built-in English one if left out."),
    ] = None
    must_be: PinOptions

    def sanitizer(self, folder: Path | None = None) -> "Sanitizer":
        """Opens the bundle, or that of another folder, which must be the same.

        Raises:
            BundleError: It cannot be used, or is not what it must be.
        """
        from textveil.text import Sanitizer

        return Sanitizer.load(self.bundle if folder is None else folder, **self.must_be.pins)

    def or_argument(self, argument: Path | None) -> Path | None:
        """Returns the folder that a command is about, named after it or by ``--bundle``.

        Raises:
            OptionError: Both are given.
        """
        if argument is not None and self.bundle is not None:
            raise OptionError("a bundle is named once: after the command, or by --bundle")
        return self.bundle if argument is None else argument


@dataclass(frozen=True, kw_only=True)
class EncoderOptions:
    """The bundle of a command that turns texts into vectors or indices, or reads them."""

    heading: ClassVar[str] = "Bundle"
    bundle: Annotated[
        Path | None,
        typer.Option(
            "--bundle", "-b", help="Folder of an encoder bundle; in a checkout of the repository its own if left out."
        ),
    ] = None
    must_be: PinOptions
