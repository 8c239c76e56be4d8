"""Detection of text that a browser may run: scripts, frames, event handlers and addresses with code."""

import re

#: Characters that a browser removes from a scheme or Markdown from an address: control characters, format characters
#: and the backslash.
_DROPPED = re.compile(
    "[\x00-\x1f\x7f-\x9f\\\\\xad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\ufe00-\ufe0f\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff]+"
)
_ZEROS = re.compile(r"(&#x?)0+")
_ENTITY = re.compile(
    r"&#x([0-9a-f]{1,6})(?:;|(?=[^0-9a-f;]))|&#([0-9]{1,7})(?:;|(?=[^0-9;]))|&(tab|newline|colon|lt|equals);"
)
_NAMED = {"tab": "", "newline": "", "colon": ":", "lt": "<", "equals": "="}
_ACTIVE = re.compile(r"<(?:script|style|iframe)|(?:java|vb)script:(?! |\Z)|data:(?:[a-z]+/|[,;])")
#: A scheme before a space is usually a heading such as ``JavaScript: a language``. It counts as active only where an
#: address may begin with it: after a quotation mark, an equals sign of an attribute or a bracket.
_SCHEME_AS_TEXT = re.compile(r"(?:java|vb)script: ")
_BEFORE_TEXT = re.compile(r"(?:\A|[\w,.;:!?)*_#>|-]) *\Z", re.ASCII)
#: Prefixes of the names of all events of HTML, SVG and browsers.
_HANDLER = re.compile(
    "(?<![a-z0-9])on(?:abort|active|activa|after|anim|auxclick|before|begin|blur|bounce|cancel|canplay|cell|change|click|close|closing|"
    "command|connect|content|context|control|copy|cuechange|cut|data|dblclick|deactivate|device|dom|drag|drop|duration|"
    "emptied|encrypted|end|error|filter|finish|focus|form|fullscreen|gamepad|gesture|got|hashchange|help|input|invalid|"
    "key|language|layout|load|los|message|mouse|move|offline|online|open|orientation|page|paste|pause|play|pointer|"
    "popstate|progress|property|rate|ready|reject|repeat|reset|resize|row|scroll|search|security|seek|select|show|slot|"
    "snap|stalled|start|stop|storage|submit|suspend|text|time|toggle|touch|track|transition|unhandled|unload|volume|"
    "waiting|webkit|wheel|zoom)[a-z]{0,32} ?="
)
_BLANKS = re.compile(r"\s+")
_TAIL_CHARACTERS, _SURROGATES, _SURROGATES_END, _LAST = 64, 0xD800, 0xE000, 0x10FFFF


class ActiveContentDetector:
    """Detector of active content in a text that arrives in parts.

    Active content is ``<script``, ``<style``, ``<iframe``, attributes ``on...=``, and the schemes ``javascript:``,
    ``vbscript:`` and ``data:`` before a media type. The detector ignores case. It also ignores control characters,
    zero-width characters, backslashes and character references between the letters.

    Attributes:
        detected: Whether the text so far contains active content.
    """

    def __init__(self) -> None:
        self.detected: bool = False
        self._dense, self._spaced = "", ""
        #: Last non-blank character before ``_dense``, the end of the text that is kept for the next part.
        self._before = ""

    def feed(self, text: str) -> bool:
        """Read the next part of the text and return whether active content has been detected so far."""
        if self.detected:
            return True
        lower = text.lower()
        plain = lower.isascii() and lower.isprintable() and "\\" not in lower
        dense = self._dense + lower if plain else _DROPPED.sub("", self._dense + lower)
        if "&" in dense:
            dense = _DROPPED.sub("", _ENTITY.sub(_decode_entity, _ZEROS.sub(r"\1", dense)))
        spaced = self._spaced + lower
        if not plain or "  " in spaced:
            spaced = _BLANKS.sub(" ", spaced)
        suspicious = "<" in dense or ":" in dense
        if (suspicious and (_ACTIVE.search(dense) is not None or self._has_scheme(dense))) or (
            "=" in spaced and _HANDLER.search(spaced) is not None
        ):
            self.detected = True
        self._before = (self._before + dense[:-_TAIL_CHARACTERS]).rstrip(" ")[-1:]
        self._dense = dense[-_TAIL_CHARACTERS:]
        # The stored end is longer than any handler. The "x" prevents a match at a word whose start was cut off.
        self._spaced = spaced if len(spaced) <= _TAIL_CHARACTERS else f"x{spaced[-_TAIL_CHARACTERS:]}"
        return self.detected

    def _has_scheme(self, dense: str) -> bool:
        """Return whether a text contains a dangerous scheme with a space after it, such as ``javascript: ``.

        Args:
            dense: Text in lower case, without characters that browsers ignore.
        """
        schemes = _SCHEME_AS_TEXT.finditer(dense)
        return any(_BEFORE_TEXT.search(self._before + dense[: match.start()]) is None for match in schemes)


def _decode_entity(match: re.Match[str]) -> str:
    if match[3]:
        return _NAMED[match[3]]
    code = int(match[1], 16) if match[1] else int(match[2])
    return chr(code).lower() if code < _SURROGATES or _SURROGATES_END <= code <= _LAST else ""
