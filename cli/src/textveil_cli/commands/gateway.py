"""``textveil gateway``: run a proxy to a language model that replaces and restores names."""

import hmac
import secrets
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

import typer
from textveil import Conversation
from textveil.conversation import CONVERSATION_DEFAULTS
from textveil.errors import LanguageWarning, OptionError
from textveil.formatting import format_count

from textveil_cli.changes import TextExplainer
from textveil_cli.console import print_unless_quiet
from textveil_cli.gateway import (
    ConversationLocks,
    ConversationStore,
    ExchangeReview,
    Gateway,
    MappingDatabase,
    ReplyLimits,
    RequestCounters,
    RetentionSettings,
    ReviewPage,
    UpstreamClient,
    import_mapping_files,
    load_meter,
    make_app,
    read_mapping_key,
    tune_interpreter,
)
from textveil_cli.options import (
    FACTS_HELP,
    AddressOptions,
    BundleOptions,
    LedgerOptions,
    ProtectionOptions,
    TextOptions,
    ToolRestoreOptions,
)
from textveil_cli.serve import RequestLimits
from textveil_cli.serve import serve as run

if TYPE_CHECKING:
    from textveil.text import Options, Sanitizer

    from textveil_cli.serve import ServiceAddress
    from textveil_cli.serve.access import AccessRule

_HOUR_SECONDS = 3600
#: Maximum number of client connections. Each may need one to the upstream, and most systems allow 1,024 open files.
_MAX_CONNECTIONS = 450


@dataclass(frozen=True, kw_only=True)
class UpstreamOptions:
    """Options for the upstream (language model server): address, certificates, and fields to send unchanged."""

    heading: ClassVar[str] = "Upstream"
    upstream: Annotated[
        str, typer.Option(metavar="URL", help="URL of the language model's API: https://..., or http://localhost:PORT.")
    ]
    upstream_certificates: Annotated[
        Path | None, typer.Option(help="PEM file of certificates to trust for the upstream, instead of the system's.")
    ] = None
    pass_through: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="Send this content type (image_url), message role (system) or request field unprotected; "
            "'keys' for JSON keys; repeatable.",
        ),
    ] = None
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Print each rewritten request, and its changed words beside the originals, instead of sending it. "
            "The output is private.",
        ),
    ] = False


@dataclass(frozen=True, kw_only=True)
class GatewayProtectionOptions(ProtectionOptions):
    """Options that decide which parts of a text are sent unchanged, with the defaults of the gateway."""

    protect: Annotated[
        Literal["names", "words", "all"] | None,
        typer.Option(
            help="names (the gateway's default) keeps common words, replaces all others, and restores replies."
            " words and all randomize every text as its own document and restore nothing.",
        ),
    ] = None
    style: Annotated[
        Literal["surrogate", "tag"] | None,
        typer.Option(
            help="Mode names: replace by a tag such as [city 1] (the gateway's default: models copy tags exactly), "
            "or by a surrogate of the same type."
        ),
    ] = None
    facts: Annotated[
        Literal["none", "plain", "useful", "public"] | None,
        typer.Option(help=f"{FACTS_HELP} The gateway's default: {CONVERSATION_DEFAULTS['facts']}."),
    ] = None


@dataclass(frozen=True, kw_only=True)
class GatewayTextOptions(TextOptions):
    """All options for replacing names and words in the requests that the gateway forwards."""

    protection: GatewayProtectionOptions

    def make_options(self) -> "Options":
        """Return the options of ``Sanitizer.sanitize``, with the gateway's defaults.

        In the mode 'names', options that the user did not give get the defaults of ``Conversation``. A stored
        conversation can only continue with equal options, so the result has to list all of them.

        Raises:
            InputError: A word list cannot be read.
        """
        made = {name: value for name, value in super().make_options().items() if value is not None}
        options: Any = (CONVERSATION_DEFAULTS if made.get("protect", "names") == "names" else {}) | made
        return options


@dataclass(frozen=True, kw_only=True)
class LimitOptions:
    """Options for the limits on size and time of requests and replies."""

    heading: ClassVar[str] = "Limits"
    max_body_bytes: Annotated[int, typer.Option(min=1_000, max=1 << 26, help="Maximum bytes of a request body.")] = (
        1 << 22
    )
    timeout_seconds: Annotated[
        float,
        typer.Option(
            min=1,
            max=600,
            help="Time limit in seconds for receiving a body, rewriting it, and sending a part of the reply.",
        ),
    ] = 30
    max_work_bytes: Annotated[
        int,
        typer.Option(min=1 << 20, max=1 << 40, help="Maximum estimated memory in bytes for rewriting a request."),
    ] = 1 << 29
    max_reply_bytes: Annotated[int, typer.Option(min=1_000, max=1 << 30, help="Maximum bytes of a reply.")] = 1 << 26
    reply_timeout_seconds: Annotated[
        float,
        typer.Option(
            min=1, max=24 * _HOUR_SECONDS, help="Time limit in seconds from a request to the end of its reply."
        ),
    ] = 600

    def make_request_limits(self, *, waits_for_disk: bool) -> RequestLimits:
        """Return the limits of requests.

        Args:
            waits_for_disk: Whether requests wait for a disk, because conversations are stored there. Several threads
                may then handle requests at the same time.
        """
        # Rewriting holds the interpreter lock: with two rewriting threads everything else waits for both. A wait for a
        # disk does not hold it.
        threads = RequestLimits.threads if waits_for_disk else 1
        return RequestLimits(
            body_bytes=self.max_body_bytes, seconds=self.timeout_seconds, threads=threads, connections=_MAX_CONNECTIONS
        )


@dataclass(frozen=True, kw_only=True)
class MappingOptions:
    """Options for stored conversations: for how long, how many, and in which folder."""

    heading: ClassVar[str] = "Stored conversations"
    expire_hours: Annotated[
        float,
        typer.Option(min=0.001, max=24 * 366, help="Delete a conversation this many hours after its last request."),
    ] = 8
    max_conversations: Annotated[
        int,
        typer.Option(
            min=1,
            max=1_000_000,
            help="Maximum number of stored conversations; the least recently used are deleted first.",
        ),
    ] = 10_000
    max_mapping_bytes: Annotated[
        int, typer.Option(min=1 << 20, max=1 << 40, help="Maximum bytes of the mappings of idle conversations.")
    ] = 12 << 20
    mappings: Annotated[
        Path | None,
        typer.Option(
            metavar="FOLDER",
            help="Store the conversations that a request header names in an encrypted database in this folder; "
            "several gateways may share it. Default: all conversations are in memory only.",
        ),
    ] = None
    mappings_key: Annotated[
        Path | None,
        typer.Option(help="With --mappings: file of the encryption key, created if missing; not in that folder."),
    ] = None

    def make_retention_settings(self) -> RetentionSettings:
        """Return the settings for how long conversations are stored, and how many."""
        return RetentionSettings(
            seconds=self.expire_hours * _HOUR_SECONDS,
            max_conversations=self.max_conversations,
            max_bytes=self.max_mapping_bytes,
        )

    def open_database(
        self, load: Callable[[Path, Path], Conversation], report: Callable[[str], None]
    ) -> tuple[MappingDatabase | None, bytes]:
        """Open or create the database of the mappings (pairs of a replacement and its original).

        Args:
            load: Function that loads a conversation from a file of an earlier version, given the file and the key file.
            report: Function that prints a notice, such as about mappings that the key does not decrypt.

        Returns:
            The database (``None`` without ``--mappings``), and the encryption key (without ``--mappings-key`` a random
            key for this run).

        Raises:
            CryptoUnavailable: The package ``cryptography`` is not installed.
            KeyFileError: The key file is no key, is in the folder of the mappings, or other users can read it.
            OptionError: Only one of ``--mappings`` and ``--mappings-key`` is given, or the folder does not exist.
            OutputError: The database cannot be opened or written.
        """
        if (self.mappings is None) != (self.mappings_key is None):
            raise OptionError("--mappings and --mappings-key must be used together: pass both, or omit both")
        if self.mappings is not None and not self.mappings.is_dir():
            raise OptionError("--mappings: the folder does not exist: create it first")
        if self.mappings is None or self.mappings_key is None:
            return None, secrets.token_bytes(32)
        key = read_mapping_key(self.mappings, self.mappings_key)
        database = MappingDatabase(self.mappings, key, self.expire_hours * _HOUR_SECONDS)
        if unreadable := database.prepare():
            report(
                f"--mappings: this key does not decrypt {format_count(unreadable, 'mapping')}, so their conversations "
                "cannot continue: pass the key that wrote them with --mappings-key, or delete the database"
            )
        key_file = self.mappings_key
        if unreadable := import_mapping_files(
            self.mappings, database, lambda path: load(path, key_file), self.expire_hours * _HOUR_SECONDS
        ):
            report(
                f"--mappings: {format_count(unreadable, 'file')} of an earlier version cannot be read: delete "
                "*.conversation in the folder; later starts delete them when they have expired"
            )
        return database, key


@dataclass(frozen=True, kw_only=True)
class ObservationOptions:
    """Options for the review page on this device, and for counters of requests."""

    heading: ClassVar[str] = "Observation"
    review_page: Annotated[
        bool,
        typer.Option(
            "--review-page",
            help="Show the last requests and replies on a page for a browser on this device: as sent, received and "
            "restored. The page contains your original text, and is in memory only.",
        ),
    ] = False
    telemetry: Annotated[
        bool,
        typer.Option(
            "--telemetry",
            help="Count requests and surrogates with OpenTelemetry, which you configure; no counter has a text.",
        ),
    ] = False

    def make_keywords(self) -> dict[str, Any]:
        """Return keyword arguments of ``Gateway``: the function that counts requests for OpenTelemetry.

        The result is an empty dictionary if the user did not give ``--telemetry``.

        Raises:
            ExtraMissing: The OpenTelemetry API is not installed.
        """
        return {"count_request": RequestCounters(load_meter()).count_request} if self.telemetry else {}

    def make_review_page(
        self, address: "ServiceAddress", sanitizer: "Sanitizer", options: "Options"
    ) -> tuple[ReviewPage | None, dict[str, Any]]:
        """Return the page with the last requests, and the keyword argument of ``Gateway`` that records these requests.

        Without ``--review-page``, return ``None`` and an empty dictionary.

        Raises:
            OptionError: Other devices can reach the address.
            ServeError: The address is not an IP address.
        """
        if not self.review_page:
            return None, {}
        if not address.ip.is_loopback:
            raise OptionError("--review-page shows original text: leave out --host, or use a loopback address")
        review = ExchangeReview()
        return ReviewPage(review, TextExplainer(sanitizer, options).align), {"observer": review}


def _make_conversation_options(
    restore_options: dict[str, Any], options: dict[str, Any], guesses: tuple[int, int], run_ledger: object
) -> dict[str, Any]:
    """Combine the options for new conversations, and return them as keyword arguments of ``Conversation``.

    Args:
        restore_options: Options for restoring original words in replies.
        options: Options of ``Sanitizer.sanitize``.
        guesses: Value of the argument ``tool_guesses`` of ``Conversation``.
        run_ledger: The privacy ledger (record of spent epsilon); ``None`` if the user did not give ``--ledger``.

    Raises:
        OptionError: The user gave ``--ledger`` in the mode 'names', which has no epsilon to record.
    """
    if options["protect"] != "names":
        return restore_options
    if run_ledger is not None:
        raise OptionError("--ledger needs --protect words or --protect all: the mode 'names' has no epsilon to spend")
    return {**restore_options, **options, "tool_guesses": guesses}


#: Prints a notice of the gateway on standard error.
_print_notice = partial(print_unless_quiet, quiet=False)


def gateway(
    upstream: UpstreamOptions,
    restoring: ToolRestoreOptions,
    storage: MappingOptions,
    address: AddressOptions,
    limits: LimitOptions,
    observation: ObservationOptions,
    text_options: GatewayTextOptions,
    bundle: BundleOptions,
    ledger: LedgerOptions,
) -> None:
    """Run a proxy that replaces and restores names for a language model.

    The gateway replaces names in requests by tags or surrogates, and restores them in replies. Clients of OpenAI and
    Anthropic change only their base URL. The gateway rewrites requests to /v1/chat/completions, /v1/responses,
    /v1/messages and /v1/embeddings. It restores replies and streams on this device, in running text only. It forwards
    GET /v1/models. The header X-Textveil-Conversation names a conversation; without it, the earlier messages identify
    the conversation. The gateway never logs content of requests and replies.
    """
    warnings.simplefilter("ignore", LanguageWarning)  # the log reports it, with the option of the command
    address.refuse_overwriting(ledger, bundle.bundle)
    service_address, counters = address.make_address(), observation.make_keywords()
    run_ledger, sanitizer, guesses = ledger.open_ledger(), bundle.load_sanitizer(), restoring.get_guess_limits()
    options: Any = text_options.make_options()
    review_page, observers = observation.make_review_page(service_address, sanitizer, options)
    restore_options: dict[str, Any] = {"pass_through": sorted(upstream.pass_through or ())} | restoring.make_keywords()
    if options["protect"] != "names":
        restoring.refuse_without_mapping(options["protect"])
        restore_options["rewrite"] = _make_rewriter(sanitizer, options, run_ledger, ledger.replay_cache)
    conversation_options = _make_conversation_options(restore_options, options, guesses, run_ledger)
    trial_conversation = Conversation(sanitizer, **conversation_options)  # checks the options before the server starts
    store_options = options | {"tool_guesses": guesses, "pass_through": restore_options["pass_through"]}
    conversations, key = _open_store(storage, sanitizer, conversation_options, restore_options, store_options, limits)
    text_options.report_list_entries(sanitizer, {"style": "tag"} | options, quiet=False)
    restoring.warn_about_all_places(_print_notice)
    service = Gateway(
        upstream=UpstreamClient.from_url(upstream.upstream, limits.max_reply_bytes, upstream.upstream_certificates),
        conversations=conversations,
        limits=limits.make_request_limits(waits_for_disk=bool(run_ledger or storage.mappings)),
        reply_limits=ReplyLimits(bytes=limits.max_reply_bytes, seconds=limits.reply_timeout_seconds),
        pass_through=frozenset(restore_options["pass_through"]),
        restore_tools=frozenset(restore_options["restore_tools"]),
        work_bytes=limits.max_work_bytes,
        key=key,
        report=_print_notice,
        is_field_name=trial_conversation.is_field_name,
        show_request=partial(print, flush=True) if upstream.dry_run else None,
        count_replaced=partial(_count_replaced, sanitizer, options),
        **counters,
        **observers,
    )
    make_app = partial(_make_reporting_app, service, review_page, _describe_mode(sanitizer, options))
    run(make_app, service_address, service.limits, _print_notice, "" if review_page is None else review_page.path)
    if run_ledger:
        run_ledger.print_summary(quiet=False)


def _open_store(
    storage: MappingOptions,
    sanitizer: "Sanitizer",
    conversation_options: dict[str, Any],
    restore_options: dict[str, Any],
    store_options: dict[str, Any],
    limits: LimitOptions,
) -> tuple[ConversationStore, bytes]:
    """Open the database of replaced words, and return the store of conversations and its hash key.

    The store computes a hash with this key to find the conversation that a request continues.
    """
    database, secret = storage.open_database(
        lambda path, key_file: Conversation.load(path, key_file, sanitizer, **restore_options), _print_notice
    )
    key = hmac.digest(secret, b"textveil gateway", "sha256")
    store = ConversationStore(
        lambda: Conversation(sanitizer, **conversation_options),
        lambda packed: Conversation.unpack(packed, sanitizer, **restore_options),
        storage.make_retention_settings(),
        database=database,
        locks=storage.mappings and ConversationLocks(storage.mappings, limits.timeout_seconds),
        key=key,
        options=store_options,
    )
    return store, key


def _make_reporting_app(
    service: Gateway, review_page: ReviewPage | None, description: str, access: "AccessRule"
) -> Any:
    """Return the ASGI application of the gateway, when the server is ready to start.

    The server calls this function once it has checked the address to listen on. Before the application is made, the
    function prints the protection mode, and sets Python's thread switching, garbage collection and memory for a server.
    """
    _print_notice(description)
    tune_interpreter()
    return make_app(service, access, review_page)


def _describe_mode(sanitizer: "Sanitizer", options: "Options") -> str:
    """Return a line with the protection mode, its options, and the types of words that are sent unchanged."""
    terms = sanitizer.terms(**options)
    if terms.mechanism != "names":
        kept_parts = ", ".join(terms.revealed_parts)
        return f"mode {terms.protect}, epsilon {terms.level} per word. Kept: {kept_parts}."
    figures = terms.statement(0).to_dict()
    return f"mode names, style {figures['style']}, facts {figures['facts']}. {figures['line']}"


def _count_replaced(sanitizer: "Sanitizer", options: "Options", text: str) -> int:
    """Return how many tokens of a text the gateway would replace or randomize."""
    return sum(state not in ("kept", "gap") for _, state in sanitizer.preview(text, **options))


def _make_rewriter(
    sanitizer: "Sanitizer", options: dict[str, Any], run_ledger: Any, uses_replay_cache: bool
) -> Callable[[str], str]:
    """Return a function for the modes 'words' and 'all' that takes a text and returns its sanitized form.

    The function sanitizes each text independently of other texts. If the run has a privacy ledger, the function records
    the spent epsilon of each text there.

    Raises:
        OptionError: The user gave ``--replay-cache``. Equal texts would then get equal outputs, so the upstream would
            learn which texts are equal.
    """
    if uses_replay_cache:
        raise OptionError("a gateway cannot use --replay-cache: the upstream would see which texts are equal")
    sanitizer.terms(**options)

    def rewrite(text: str) -> str:
        if run_ledger is not None:
            return run_ledger.sanitize(sanitizer, [text], options)[0].text
        return sanitizer.sanitize(text, **options).text

    return rewrite
