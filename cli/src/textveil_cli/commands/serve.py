"""``textveil serve``: offer the sanitizer and an encoder to programs on this device, over HTTP."""

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer
from textveil.errors import OptionError
from textveil.text import Options, Sanitizer
from textveil.vector import Encoder, TextLabelEncoder, load_encoder

from textveil_cli.console import print_unless_quiet
from textveil_cli.console.command import OptionsFor
from textveil_cli.options import AddressOptions, BundleOptions, ExpectedBundleOptions, LedgerOptions, TextOptions
from textveil_cli.serve import RequestLimits, ServedReleases, make_app
from textveil_cli.serve import serve as run

if TYPE_CHECKING:
    from textveil_cli.run_ledger import RunLedger


@dataclass(frozen=True, kw_only=True)
class ServedEncoderOptions:
    """Options for the encoder (which converts texts to noisy vectors or class labels) that the service offers."""

    heading: ClassVar[str] = "Encoder"
    encoder: Annotated[
        Path | None, typer.Option(help="Folder of an encoder bundle; /encode is unavailable without it.")
    ] = None
    encoder_epsilon: Annotated[
        str | None,
        typer.Option(
            help="Epsilon per text, one of those that the command textveil info lists; default: that of the encoder."
        ),
    ] = None
    encoder_as_text: Annotated[
        bool, typer.Option("--encoder-as-text", help="Add a public sentence to the class label in answers of /encode.")
    ] = False
    expected: Annotated[ExpectedBundleOptions, OptionsFor("encoder")]

    @property
    def release_options(self) -> dict[str, Any]:
        """Return the keyword arguments of ``encode``, which are the same for every text that the service encodes."""
        return {"epsilon": self.encoder_epsilon} | ({"as_text": True} if self.encoder_as_text else {})

    def open_encoder(self) -> Encoder | TextLabelEncoder | None:
        """Open the encoder of ``--encoder``; return ``None`` if the user did not give this option.

        Raises:
            OptionError: An encoder option is given without ``--encoder``, or does not fit the type of the bundle.
            BundleError: The bundle cannot be used.
        """
        if self.encoder is None:
            if self.encoder_epsilon is not None or self.encoder_as_text:
                raise OptionError("--encoder-epsilon and --encoder-as-text need --encoder")
            if self.expected.has_requirements:
                raise OptionError("--encoder-expect-id and --encoder-signer need --encoder")
            return None
        opened = load_encoder(self.encoder, **self.expected.expected_bundle)
        if self.encoder_as_text and not isinstance(opened, TextLabelEncoder):
            raise OptionError("--encoder-as-text needs a bundle that releases a class label")
        return opened


def serve(
    address: AddressOptions,
    bundle: BundleOptions,
    text_options: TextOptions,
    encoder: ServedEncoderOptions,
    ledger: LedgerOptions,
    privacy_unit_per_request: Annotated[
        bool,
        typer.Option(
            "--privacy-unit-per-request",
            rich_help_panel=LedgerOptions.heading,
            help='With --ledger: a request may name the privacy unit that spends its epsilon ("privacy_unit" in its '
            "body). Each new name begins a new budget.",
        ),
    ] = False,
    max_body_bytes: Annotated[int, typer.Option(min=1_000, max=1 << 24, help="Maximum bytes of a request body.")] = 1
    << 20,
    timeout_seconds: Annotated[
        float,
        typer.Option(
            min=1, max=600, help="Time limit in seconds for receiving a body, for the work, and for sending the answer."
        ),
    ] = 30,
) -> None:
    """Serve sanitize and encode over HTTP to programs on this device.

    POST /sanitize and /encode accept {"text": "..."} or {"texts": [...]}; GET /info and /health describe the service.
    All requests use the options of this command. Texts are neither logged nor stored; with --replay-cache outputs are
    stored, encrypted. On interruption the service finishes open requests and exits.
    """
    options = text_options.make_options()
    address.refuse_overwriting(ledger, bundle.bundle)
    limits, service_address = RequestLimits(body_bytes=max_body_bytes, seconds=timeout_seconds), address.make_address()
    sanitizer = bundle.load_sanitizer()
    run_ledger = ledger.open_ledger(privacy_unit_per_request=privacy_unit_per_request)
    if run_ledger is not None:
        limits = replace(limits, threads=limits.ledger_threads)
    releases = _make_releases(sanitizer, options, encoder, run_ledger, privacy_unit_per_request)
    text_options.report_list_entries(sanitizer, options, quiet=False)
    report = partial(print_unless_quiet, quiet=False)
    run(lambda access: make_app(releases, access, limits, report), service_address, limits, report)
    if run_ledger is not None:
        run_ledger.print_summary(quiet=False)


def _make_releases(
    sanitizer: Sanitizer,
    options: Options,
    encoder: ServedEncoderOptions,
    run_ledger: "RunLedger | None",
    allows_request_units: bool,
) -> ServedReleases:
    """Return the functions that sanitize and encode the texts of a request.

    If the user gave ``--ledger``, each function records the spent epsilon in the privacy ledger before it returns an
    output.
    """
    statement = sanitizer.terms(**options).statement(1)  # checks the options before the server starts
    encoder_options = encoder.release_options

    def sanitize(texts: Any, privacy_unit: str | None = None) -> Any:
        if run_ledger is not None:
            return run_ledger.sanitize(sanitizer, texts, options, privacy_unit)
        return sanitizer.sanitize_batch(texts, **options)

    model = encoder.open_encoder()
    if model is None:
        return ServedReleases(sanitize=sanitize, sanitize_statement=statement, has_privacy_units=allows_request_units)

    def encode(texts: Any, privacy_unit: str | None = None) -> Any:
        if run_ledger is not None:
            return run_ledger.encode(model, texts, encoder_options, privacy_unit)
        return model.encode_batch(texts, **encoder_options)

    return ServedReleases(
        sanitize=sanitize,
        sanitize_statement=statement,
        encode=encode,
        encode_statement=model.statement(**encoder_options),
        has_privacy_units=allows_request_units,
    )
