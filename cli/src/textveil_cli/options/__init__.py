"""Option groups of the commands, declared once and shared with other packages."""

from typing import TYPE_CHECKING

from textveil.lazy import lazy_names

if TYPE_CHECKING:
    from textveil_cli.options.address import AddressOptions
    from textveil_cli.options.files import (
        InputOptions,
        JsonOption,
        OutputOptions,
        PrivateOutput,
        RayOptions,
        RowOptions,
        RunOptions,
        TableOptions,
    )
    from textveil_cli.options.ledger import LedgerKey, LedgerOptions, ReceiptOptions, refuse_overwriting
    from textveil_cli.options.restoring import RestoreOptions, ToolRestoreOptions
    from textveil_cli.options.text import (
        BundleArgument,
        BundleOptions,
        DrawOptions,
        EncoderOptions,
        LevelOptions,
        PinOptions,
        ShownOptions,
        TextOptions,
        options_of,
    )

__all__ = [
    "AddressOptions",
    "BundleArgument",
    "BundleOptions",
    "DrawOptions",
    "EncoderOptions",
    "InputOptions",
    "JsonOption",
    "LedgerKey",
    "LedgerOptions",
    "LevelOptions",
    "OutputOptions",
    "PinOptions",
    "PrivateOutput",
    "RayOptions",
    "ReceiptOptions",
    "RestoreOptions",
    "RowOptions",
    "RunOptions",
    "ShownOptions",
    "TableOptions",
    "TextOptions",
    "ToolRestoreOptions",
    "options_of",
    "refuse_overwriting",
]

__getattr__ = lazy_names(__name__, __all__, "text", "ledger", "files", "address", "restoring")
