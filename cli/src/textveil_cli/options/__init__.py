"""Groups of command line options that several commands share, also commands of other packages."""

from typing import TYPE_CHECKING

from textveil.lazy import make_lazy_getattr

if TYPE_CHECKING:
    from textveil_cli.options.address import AddressOptions
    from textveil_cli.options.fbdd import FbddOptions
    from textveil_cli.options.files import (
        ChangeOptions,
        FileRunOptions,
        InputOptions,
        JsonOption,
        OutputOptions,
        PrivateOutput,
        RayOptions,
        RowOptions,
        TableOptions,
    )
    from textveil_cli.options.ledger import LedgerKey, LedgerOptions, ReceiptOptions, refuse_overwriting
    from textveil_cli.options.restoring import RestoreOptions, ToolRestoreOptions
    from textveil_cli.options.text import (
        FACTS_HELP,
        BundleArgument,
        BundleOptions,
        EncoderOptions,
        ExpectedBundleOptions,
        KnownOption,
        MechanismOptions,
        PatternOption,
        ProtectionOptions,
        SamplingOptions,
        TextOptions,
        combine_options,
    )

__all__ = [
    "FACTS_HELP",
    "AddressOptions",
    "BundleArgument",
    "BundleOptions",
    "ChangeOptions",
    "EncoderOptions",
    "ExpectedBundleOptions",
    "FbddOptions",
    "FileRunOptions",
    "InputOptions",
    "JsonOption",
    "KnownOption",
    "LedgerKey",
    "LedgerOptions",
    "MechanismOptions",
    "OutputOptions",
    "PatternOption",
    "PrivateOutput",
    "ProtectionOptions",
    "RayOptions",
    "ReceiptOptions",
    "RestoreOptions",
    "RowOptions",
    "SamplingOptions",
    "TableOptions",
    "TextOptions",
    "ToolRestoreOptions",
    "combine_options",
    "refuse_overwriting",
]

__getattr__ = make_lazy_getattr(__name__, __all__, "text", "ledger", "files", "address", "restoring", "fbdd")
