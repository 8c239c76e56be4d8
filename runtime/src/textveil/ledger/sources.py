"""What a ledger draws and charges: texts, vectors and indices; what makes two requests equal."""

import hashlib
import json
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar, cast

from textveil.errors import OptionError
from textveil.sequences import in_order, require_string

if TYPE_CHECKING:
    from textveil.release import Statement
    from textveil.text.options import Options
    from textveil.text.sanitizer import Sanitizer
    from textveil.text.statement import Result
    from textveil.vector.encoder import Encoder
    from textveil.vector.index_encoder import IndexEncoder


class Released(Protocol):
    """Whatever has a privacy statement."""

    @property
    def statement(self) -> "Statement":
        """What the release promises."""
        ...


R = TypeVar("R", bound=Released)


@dataclass(frozen=True)
class Issued(Generic[R]):
    """A release that the ledger knows.

    Attributes:
        release: The release.
        before: How many draws of an equal request its scope had before: this is one more. For the device alone.
        stored: Whether the memo gave it again, at no charge. For the device alone.
    """

    release: R
    before: int
    stored: bool


@dataclass(frozen=True, kw_only=True)
class Source(Generic[R]):
    """What makes one kind of release.

    Attributes:
        options: All that decides how texts are drawn, the identity of the bundle included.
        draw: Draws a release for each text.
        pack: Gives a release as plain values for JSON.
        unpack: Gives the release that was packed.
    """

    options: dict[str, Any]
    draw: Callable[[Sequence[str]], Sequence[R]]
    pack: Callable[[R], Any]
    unpack: Callable[[Any], R]


def text_source(sanitizer: "Sanitizer", options: "Options") -> "Source[Result]":
    """Returns what sanitizes texts. It packs text and tokens; never a mapping, which holds words of the original."""

    def unpack(packed: Any) -> "Result":
        from textveil.text.statement import Result

        return Result(
            text=packed["text"],
            tokens=packed["tokens"],
            terms=sanitizer.terms(**options),
            drawn=packed.get("drawn", 0),
            replaced_words=packed.get("replaced_words", 0),
        )

    return Source(
        options={"kind": "text", **sanitizer.canonical_options(**options)},
        draw=lambda texts: sanitizer.sanitize_batch(texts, **options),
        pack=lambda made: {
            "text": made.text,
            "tokens": made.tokens,
            "drawn": made.drawn,
            "replaced_words": made.replaced_words,
        },
        unpack=unpack,
    )


def encoder_source(encoder: "Encoder | IndexEncoder", options: Mapping[str, Any]) -> Source[Any]:
    """Returns what makes vectors or indices."""
    return Source(
        options={"kind": encoder.kind, **encoder.canonical_options(**options)},
        draw=lambda texts: encoder.encode_batch(texts, **options),
        pack=encoder.pack,
        unpack=lambda packed: encoder.unpack(packed, **options),
    )


def canonical_bytes(options: Mapping[str, Any]) -> bytes:
    """Returns bytes that two sets of options share only if all of them are the same."""
    return json.dumps(options, sort_keys=True, default=_plain).encode()  # escapes: no null byte


def request_bytes(options: bytes, text: str) -> bytes:
    """Returns bytes that two requests share only if options and texts are the same, texts in NFC."""
    return options + b"\0" + unicodedata.normalize("NFC", text).encode("utf-8", "surrogatepass")


def document_bytes(options: bytes, texts: Sequence[str]) -> bytes:
    """Returns the same for a document of several texts: no request of one text shares them."""
    if len(texts) == 1:
        return request_bytes(options, texts[0])
    return options + b"\1" + json.dumps([unicodedata.normalize("NFC", text) for text in texts]).encode()


def whole_calls(scopes: Sequence[str], requests: Sequence[bytes]) -> list[bytes]:
    """Returns bytes for each request of a call that two share only in the same place of the same calls.

    A memo of single texts of a call would show which of them are equal: a substitution cipher where they are words.
    """
    digest = hashlib.sha256()
    for part in (*(scope.encode("utf-8", "surrogatepass") for scope in scopes), *requests):
        digest.update(len(part).to_bytes(8, "big"))
        digest.update(part)
    whole = len(requests).to_bytes(8, "big") + digest.digest()
    return [whole + place.to_bytes(8, "big") for place in range(len(requests))]


def scopes_of(texts: Sequence[str], scope: str | Sequence[str]) -> Sequence[str]:
    """Returns the scope of each text.

    Raises:
        InputError: A text is not a string.
        OptionError: There are not as many scopes as texts, or one is not a string.
    """
    for number, text in enumerate(texts, 1):
        require_string(text, f"text {number} of {len(texts)}")
    scopes = [scope] * len(texts) if isinstance(scope, str) else in_order(scope, "scopes")
    if len(scopes) != len(texts):
        raise OptionError("there is one scope for all texts, or one for each")
    if not all(isinstance(name, str) for name in scopes):
        raise OptionError("the name of a scope is a string")
    return scopes


def _plain(value: Any) -> str | list[Any]:
    if isinstance(value, Decimal):
        return f"{value.normalize():f}"
    if isinstance(value, frozenset):
        return sorted(cast("frozenset[str]", value))
    raise TypeError(type(value).__name__)
