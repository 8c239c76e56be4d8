"""``textveil serve``: the sanitizer and an encoder for programs of this device, behind HTTP."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from textveil.bundle.files import encoder_version
from textveil.bundle.index_bundle import INDEX_FORMAT_VERSION
from textveil.bundle.kept import Kept
from textveil.bundle.pins import Pins
from textveil.errors import OptionError
from textveil.text.options import Options
from textveil.text.sanitizer import Sanitizer

from textveil_cli.charging import Charging, charging
from textveil_cli.console import say
from textveil_cli.io import read_words
from textveil_cli.options import (
    BudgetDeltaOption,
    BudgetOption,
    BundleOption,
    CapOption,
    CaseOption,
    ConsistentOption,
    DenyOption,
    EpsilonOption,
    FluentOption,
    KindsOption,
    LedgerKeyOption,
    LedgerOption,
    LevelOption,
    MechanismOption,
    MemoKeyOption,
    MemoOption,
    PunctuationOption,
    ReplacementOption,
    ScopeOption,
    SplitOption,
    TailOption,
    VisibleOption,
    staircase_options,
)
from textveil_cli.pins import pinned

if TYPE_CHECKING:
    from textveil_cli.serve.app import Releases


@pinned("encoder")
@pinned()
def serve(
    host: Annotated[
        str, typer.Option(help="An address of this device. Off the loopback address a token and TLS are needed.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes any free port.")] = 8765,
    name: Annotated[
        list[str] | None, typer.Option(help="A name by which clients call this host; may be given several times.")
    ] = None,
    token_file: Annotated[
        Path | None, typer.Option(help="File of the token that clients send; made if it is missing.")
    ] = None,
    tls_certificate: Annotated[Path | None, typer.Option(help="File of the TLS certificate chain, PEM.")] = None,
    tls_key: Annotated[Path | None, typer.Option(help="File of its key, PEM, without a pass phrase.")] = None,
    bundle: BundleOption = None,
    mechanism: MechanismOption = None,
    epsilon: EpsilonOption = None,
    level: LevelOption = None,
    tail: TailOption = None,
    replacement_probability: ReplacementOption = None,
    visible: VisibleOption = None,
    kinds: KindsOption = None,
    consistent: ConsistentOption = False,
    consistent_cap: CapOption = None,
    split: SplitOption = False,
    fluent: FluentOption = False,
    deny: DenyOption = None,
    case: CaseOption = "carry",
    sanitize_punctuation: PunctuationOption = False,
    encoder: Annotated[Path | None, typer.Option(help="Folder of an encoder bundle; without it no /encode.")] = None,
    encoder_epsilon: Annotated[
        str | None, typer.Option(help="For the whole text, exactly as info lists it; the encoder's default.")
    ] = None,
    ledger: LedgerOption = None,
    ledger_key: LedgerKeyOption = None,
    scope: ScopeOption = None,
    scope_per_request: Annotated[
        bool,
        typer.Option(
            "--scope-per-request",
            help='With --ledger: a request may name its scope ("scope" in its body), and so begin a new budget.',
        ),
    ] = False,
    budget: BudgetOption = None,
    budget_delta: BudgetDeltaOption = None,
    memo: MemoOption = False,
    memo_key: MemoKeyOption = None,
    body_bytes: Annotated[int, typer.Option(min=1_000, max=1 << 24, help="The longest body of a request.")] = 1 << 20,
    seconds: Annotated[
        float, typer.Option(min=1, max=600, help="For a body to arrive, for the work, and for an answer to be read.")
    ] = 30,
    *,
    pins: Pins,
    encoder_pins: Pins,
) -> None:
    """Serve other programs of this device over HTTP.

    POST /sanitize and /encode take {"text": "..."} or {"texts": [...]}; GET /info, /health and /openapi.json tell the
    rest. All requests are released under the options given here. No text is logged, and none is stored: with --memo
    outputs are, encrypted. It ends when it is interrupted or terminated, and finishes what it is answering.
    """
    options = Options(
        mechanism=mechanism,
        epsilon=epsilon,
        level=level,
        tail=tail,
        replacement_probability=replacement_probability,
        deny=read_words(deny, "--deny"),
        case=case,
        sanitize_punctuation=sanitize_punctuation,
        **staircase_options(visible, kinds, consistent, consistent_cap, split, fluent),
    )
    from textveil_cli.serve import Address, Limits, make_app
    from textveil_cli.serve import serve as run

    kept_keys = [("--memo-key", memo_key), ("--tls-key", tls_key), ("--tls-certificate", tls_certificate)]
    if token_file is not None and not token_file.exists():  # it is made
        Kept(keys=kept_keys, ledger=ledger, ledger_key=ledger_key, bundle=bundle).refuse(("--token-file", token_file))
    limits = Limits(body_bytes=body_bytes, seconds=seconds)
    address = Address(host, port, tuple(name or ()), token_file, tls_certificate, tls_key)
    charges = charging(
        ledger, ledger_key, scope, budget, budget_delta, memo, memo_key, scope_per_request=scope_per_request
    )
    sanitizer = Sanitizer.load(bundle, **pins)
    releases = _releases(sanitizer, options, encoder, encoder_pins, encoder_epsilon, charges)
    releases = replace(releases, scoped=scope_per_request)

    def report(line: str) -> None:
        say(f"textveil: {line}")

    run(lambda access: make_app(releases, access, limits, report), address, limits, report)
    if charges is not None:
        charges.say(quiet=False)


def _releases(
    sanitizer: Sanitizer,
    options: Options,
    encoder: Path | None,
    pins: Pins,
    epsilon: str | None,
    charges: Charging | None,
) -> "Releases":
    """What is served. With a ledger, every draw is charged before it leaves."""
    from textveil_cli.serve import Releases

    promise = sanitizer.terms(**options).statement(1)  # options are checked before anything is served

    def sanitize(texts: Any, scope: str | None = None) -> Any:
        if charges is not None:
            return charges.sanitize(sanitizer, texts, options, scope)
        return sanitizer.sanitize_batch(texts, **options)

    if encoder is None:
        if epsilon is not None:
            raise OptionError("--encoder-epsilon goes with --encoder")
        if pins.get("expect_id") is not None or pins.get("maker") is not None:
            raise OptionError("--encoder-expect-id and --encoder-maker go with --encoder")
        return Releases(sanitize, promise)
    if encoder_version(encoder) == INDEX_FORMAT_VERSION:
        from textveil.vector.index_encoder import IndexEncoder as Model
    else:
        from textveil.vector.encoder import Encoder as Model
    model = Model.load(encoder, **pins)

    def encode(texts: Any, scope: str | None = None) -> Any:
        if charges is not None:
            return charges.encode(model, texts, {"epsilon": epsilon}, scope)
        return model.encode_batch(texts, epsilon=epsilon)

    return Releases(sanitize, promise, encode, model.statement(epsilon=epsilon))
