"""Outputs that a privacy ledger records (texts, vectors and class labels), and the bytes that identify a request."""

import hashlib
import json
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar, cast

from textveil.arguments import check_string, list_items
from textveil.errors import OptionError

if TYPE_CHECKING:
    from textveil.release import ReleaseStatement
    from textveil.text.options import Options
    from textveil.text.sanitizer import Sanitizer
    from textveil.text.statement import Result
    from textveil.vector.encoder import Encoder
    from textveil.vector.label_encoder import TextLabelEncoder


class StatedRelease(Protocol):
    """Interface of an output (text, vector or class label) that has a privacy statement."""

    @property
    def statement(self) -> "ReleaseStatement":
        """Return the privacy statement of the output: the guarantee, and what the output does not protect."""
        ...


ReleaseType = TypeVar("ReleaseType", bound=StatedRelease)


@dataclass(frozen=True)
class RecordedRelease(Generic[ReleaseType]):
    """An output together with its record in the privacy ledger.

    Attributes:
        release: The output: a sanitized text, a vector or a class label.
        earlier_releases: Number of earlier outputs for the same text, options and privacy unit (such as a person). Do
            not publish this number, because it depends on whether private texts are equal.
        is_replayed: Whether the output comes from the replay cache (outputs of earlier calls), so that no epsilon was
            spent. Do not publish this, for the same reason.

    Example:
        >>> from textveil import Ledger, Sanitizer
        >>> ledger, sanitizer = Ledger("spends.ledger"), Sanitizer.load()
        >>> [ledger.sanitize(sanitizer, "A warm film.", protect="words").earlier_releases for _ in range(3)]
        [0, 1, 2]
    """

    release: ReleaseType
    earlier_releases: int
    is_replayed: bool


@dataclass(frozen=True, kw_only=True)
class ReleaseSource(Generic[ReleaseType]):
    """Functions that create outputs of one type (texts, vectors or class labels), and convert them to JSON and back.

    Attributes:
        options: All parameters of the output distribution, including the content hash of the bundle (data folder).
        draw_releases: Function that creates one random output for each text.
        pack: Function that converts an output to plain values for JSON.
        unpack: Function that converts the result of ``pack`` to an output.
    """

    options: dict[str, Any]
    draw_releases: Callable[[Sequence[str]], Sequence[ReleaseType]]
    pack: Callable[[ReleaseType], Any]
    unpack: Callable[[Any], ReleaseType]


def make_text_source(sanitizer: "Sanitizer", options: "Options") -> "ReleaseSource[Result]":
    """Create the ``ReleaseSource`` (functions that create outputs) of sanitized texts.

    Its function ``pack`` stores the sanitized text and the counts. It does not store the hidden words.

    Example:
        >>> from textveil import Sanitizer
        >>> source = make_text_source(Sanitizer.load(), {})
        >>> source.options["protect"]
        'names'
        >>> len(source.draw_releases(["Anna paid.", "Tom did not."]))
        2
    """

    def unpack(packed: Any) -> "Result":
        from textveil.text.statement import Result

        return Result(
            text=packed["text"],
            tokens=packed["tokens"],
            terms=sanitizer.terms(**options),
            randomized_words=packed["randomized_words"],
            replaced_words=packed["replaced_words"],
        )

    return ReleaseSource(
        options={"kind": "text", **sanitizer.canonical_options(**options)},
        draw_releases=lambda texts: sanitizer.sanitize_batch(texts, **options),
        pack=lambda made: {
            "text": made.text,
            "tokens": made.tokens,
            "randomized_words": made.randomized_words,
            "replaced_words": made.replaced_words,
        },
        unpack=unpack,
    )


def make_encoder_source(encoder: "Encoder | TextLabelEncoder", options: Mapping[str, Any]) -> ReleaseSource[Any]:
    """Create the ``ReleaseSource`` (functions that create outputs) of vectors or class labels.

    Args:
        encoder: The encoder.
        options: Options of the encoder's method ``encode``.
    """
    return ReleaseSource(
        options={"kind": encoder.kind, **encoder.canonical_options(**options)},
        draw_releases=lambda texts: encoder.encode_batch(texts, **options),
        pack=encoder.pack,
        unpack=lambda packed: encoder.unpack(packed, **options),
    )


def serialize_options(options: Mapping[str, Any]) -> bytes:
    """Convert the options of a call to bytes, so that only equal options have equal bytes.

    Example:
        >>> serialize_options({"protect": "names", "deny": frozenset(["b", "a"])})
        b'{"deny": ["a", "b"], "protect": "names"}'
    """
    return json.dumps(options, sort_keys=True, default=_serialize_value).encode()  # ASCII, so no null byte


def serialize_request(options: bytes, text: str) -> bytes:
    """Convert a text and its options to bytes, so that only equal texts with equal options have equal bytes.

    Texts are equal if their NFC forms are equal.

    Args:
        options: Options from ``serialize_options``.
        text: The text.

    Example:
        >>> decomposed, composed = "cafe" + chr(0x301), "caf" + chr(0xE9)
        >>> serialize_request(b"{}", decomposed) == serialize_request(b"{}", composed)
        True
    """
    return options + b"\0" + unicodedata.normalize("NFC", text).encode("utf-8", "surrogatepass")


def serialize_document(options: bytes, texts: Sequence[str]) -> bytes:
    """Convert a document of several texts, with its options, to bytes that identify the call in the ledger.

    For one text, the result is that of ``serialize_request``. For several texts, the bytes differ from those of any
    single text.

    Args:
        options: Options from ``serialize_options``.
        texts: The texts.

    Example:
        >>> serialize_document(b"{}", ["one", "two"]) == serialize_request(b"{}", "one two")
        False
        >>> serialize_document(b"{}", ["one"]) == serialize_request(b"{}", "one")
        True
    """
    if len(texts) == 1:
        return serialize_request(options, texts[0])
    return options + b"\1" + json.dumps([unicodedata.normalize("NFC", text) for text in texts]).encode()


def make_cache_keys(privacy_units: Sequence[str], requests: Sequence[bytes]) -> list[bytes]:
    """Return, for each request of a call, the key under which the replay cache stores its output.

    The replay cache stores outputs, so that an equal call gets the same outputs.

    A key contains the number of requests, a SHA-256 of all privacy units and requests, and the position of the request.
    So stored outputs are returned only for an equal call. If the cache stored single texts, equal texts of a call would
    get equal outputs. With one word per text, equal words would get equal outputs: a substitution cipher.

    Args:
        privacy_units: Names of the privacy units (such as persons) of the call.
        requests: The requests of the call (``serialize_request``).
    """
    digest = hashlib.sha256()
    for part in (*(scope.encode("utf-8", "surrogatepass") for scope in privacy_units), *requests):
        digest.update(len(part).to_bytes(8, "big"))
        digest.update(part)
    prefix = len(requests).to_bytes(8, "big") + digest.digest()
    return [prefix + place.to_bytes(8, "big") for place in range(len(requests))]


def list_privacy_units(texts: Sequence[str], privacy_unit: str | Sequence[str]) -> Sequence[str]:
    """Return the name of the privacy unit (such as a person) of each text, after checking the texts and names.

    Args:
        texts: The texts.
        privacy_unit: One name for all texts, or a list with one name for each text.

    Raises:
        InputError: A text is not a string.
        OptionError: The list of names is shorter or longer than that of texts, or a name is not a string.
    """
    for number, text in enumerate(texts, 1):
        check_string(text, f"text {number} of {len(texts)}")
    privacy_units = (
        [privacy_unit] * len(texts) if isinstance(privacy_unit, str) else list_items(privacy_unit, "privacy units")
    )
    if len(privacy_units) != len(texts):
        raise OptionError("privacy_unit must be one name for all texts, or a list with one name for each text")
    if not all(isinstance(name, str) for name in privacy_units):
        raise OptionError("a privacy unit must be a string")
    return privacy_units


def _serialize_value(value: Any) -> str | list[Any]:
    if isinstance(value, Decimal):
        return f"{value.normalize():f}"
    if isinstance(value, frozenset):
        return sorted(cast("frozenset[str]", value))
    raise TypeError(type(value).__name__)
