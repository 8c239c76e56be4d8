"""Options for the address, token and TLS of a service."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from textveil_cli.options.ledger import LedgerOptions

if TYPE_CHECKING:
    from textveil_cli.serve import ServiceAddress


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class AddressOptions:
    """Options for the address, token and TLS of a service."""

    heading: ClassVar[str] = "Address"
    host: Annotated[str, typer.Option(help="IP address to listen on; all but loopback require a token and TLS.")] = (
        "127.0.0.1"
    )
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 selects a free one.")] = 8765
    name: Annotated[list[str] | None, typer.Option(help="Host name that clients may use; repeatable.")] = None
    token_file: Annotated[
        Path | None, typer.Option(help="File of the token that clients must send; created if missing.")
    ] = None
    tls_certificate: Annotated[Path | None, typer.Option(help="File of the TLS certificate chain, PEM.")] = None
    tls_key: Annotated[
        Path | None, typer.Option(help="File of the certificate's private key, PEM, without passphrase.")
    ] = None

    def make_address(self) -> "ServiceAddress":
        """Return the address that the service listens on, with its token and TLS files.

        Raises:
            ExtraMissing: The server packages are not installed.
        """
        from textveil_cli.serve import ServiceAddress

        return ServiceAddress(
            host=self.host,
            port=self.port,
            names=tuple(self.name or ()),
            token_file=self.token_file,
            certificate=self.tls_certificate,
            key=self.tls_key,
        )

    def refuse_overwriting(self, ledger: LedgerOptions, bundle: Path | None) -> None:
        """Raise ``OutputError`` if a new token file would overwrite a key, the privacy ledger or the bundle."""
        keys = [("--replay-cache-key", ledger.replay_cache_key), ("--tls-key", self.tls_key)]
        keys.append(("--tls-certificate", self.tls_certificate))
        if self.token_file is not None and not self.token_file.exists():  # the service creates it
            from textveil.storage import ProtectedPaths

            protected_paths = ProtectedPaths(
                keys=keys, ledger=ledger.ledger, ledger_key=ledger.ledger_key, bundle=bundle
            )
            protected_paths.check_outputs(("--token-file", self.token_file))
