"""``textveil serve``: the sanitizer and an encoder for programs of this device, over HTTP."""

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer
from textveil.errors import OptionError
from textveil.text import Options, Sanitizer
from textveil.vector import Encoder, IndexEncoder, load_encoder

from textveil_cli.console import say_unless
from textveil_cli.console.command import Of
from textveil_cli.options import AddressOptions, BundleOptions, LedgerOptions, PinOptions, TextOptions
from textveil_cli.serve import Limits, Releases, make_app
from textveil_cli.serve import serve as run

if TYPE_CHECKING:
    from textveil_cli.charges import RunLedger


@dataclass(frozen=True, kw_only=True)
class ServedEncoder:
    """Options of the encoder that the server offers beside the sanitizer."""

    heading: ClassVar[str] = "Encoder"
    encoder: Annotated[Path | None, typer.Option(help="Folder of an encoder bundle; without it no /encode.")] = None
    encoder_epsilon: Annotated[
        str | None, typer.Option(help="For the whole text, exactly as info lists it; the encoder's default.")
    ] = None
    encoder_as_text: Annotated[
        bool, typer.Option("--encoder-as-text", help="Answer /encode with a public sentence beside the index.")
    ] = False
    must_be: Annotated[PinOptions, Of("encoder")]

    @property
    def options(self) -> dict[str, Any]:
        """Return the options of every release of the encoder."""
        return {"epsilon": self.encoder_epsilon} | ({"as_text": True} if self.encoder_as_text else {})

    def model(self) -> Encoder | IndexEncoder | None:
        """Open the encoder; return ``None`` if the command line names none.

        Raises:
            OptionError: An encoder option is present without an encoder, or does not fit its type.
            BundleError: The bundle cannot be used.
        """
        if self.encoder is None:
            if self.encoder_epsilon is not None or self.encoder_as_text:
                raise OptionError("--encoder-epsilon and --encoder-as-text go with --encoder")
            if self.must_be.named:
                raise OptionError("--encoder-expect-id and --encoder-maker go with --encoder")
            return None
        found = load_encoder(self.encoder, **self.must_be.pins)
        if self.encoder_as_text and not isinstance(found, IndexEncoder):
            raise OptionError("--encoder-as-text is for bundles that release an index")
        return found


def serve(
    address: AddressOptions,
    bundle: BundleOptions,
    how: TextOptions,
    encoder: ServedEncoder,
    ledger: LedgerOptions,
    scope_per_request: Annotated[
        bool,
        typer.Option(
            "--scope-per-request",
            rich_help_panel=LedgerOptions.heading,
            help='With --ledger: a request may name its scope ("scope" in its body), and so begin a new budget.',
        ),
    ] = False,
    body_bytes: Annotated[int, typer.Option(min=1_000, max=1 << 24, help="The longest body of a request.")] = 1 << 20,
    seconds: Annotated[
        float, typer.Option(min=1, max=600, help="For a body to arrive, for the work, and for an answer to be read.")
    ] = 30,
) -> None:
    """Serve other programs of this device over HTTP.

    POST /sanitize and /encode take {"text": "..."} or {"texts": [...]}; GET /info and /health tell the rest.
    All requests are released under the options given here. No text is logged, and none is stored: with --memo
    outputs are, encrypted. It ends when it is interrupted or terminated, and finishes what it is answering.
    """
    options = how.options()
    address.refuse_overwriting(ledger, bundle.bundle)
    limits, where = Limits(body_bytes=body_bytes, seconds=seconds), address.address()
    charges = ledger.opened(scope_per_request=scope_per_request)
    if charges is not None:
        limits = replace(limits, threads=limits.charged_threads)
    sanitizer = bundle.sanitizer()
    releases = _releases(sanitizer, options, encoder, charges, scope_per_request)
    how.say_of_allowed(sanitizer, options, quiet=False)
    report = partial(say_unless, quiet=False)
    run(lambda access: make_app(releases, access, limits, report), where, limits, report)
    if charges is not None:
        charges.say(quiet=False)


def _releases(
    sanitizer: Sanitizer, options: Options, encoder: ServedEncoder, charges: "RunLedger | None", scoped: bool
) -> Releases:
    """Return the release functions of the server.

    With a ledger, each function spends the epsilon of a release before it returns the release.
    """
    promise = sanitizer.terms(**options).statement(1)  # checks the options before the server starts
    encoded = encoder.options

    def sanitize(texts: Any, scope: str | None = None) -> Any:
        if charges is not None:
            return charges.sanitize(sanitizer, texts, options, scope)
        return sanitizer.sanitize_batch(texts, **options)

    model = encoder.model()
    if model is None:
        return Releases(sanitize=sanitize, promise=promise, scoped=scoped)

    def encode(texts: Any, scope: str | None = None) -> Any:
        if charges is not None:
            return charges.encode(model, texts, encoded, scope)
        return model.encode_batch(texts, **encoded)

    return Releases(
        sanitize=sanitize, promise=promise, encode=encode, encode_promise=model.statement(**encoded), scoped=scoped
    )
