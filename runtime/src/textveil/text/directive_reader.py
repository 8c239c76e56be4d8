"""Search a reply for directives: texts by which a markup language other than Markdown loads a file or defines a value.

Examples are ``.. image:: HOST`` (reStructuredText), ``[img]HOST[/img]`` (BBCode), and ``&lt;img src=HOST`` for a
program that decodes entities before it reads tags. Surrogates (replacement words) in a directive are not restored. The
decision on a position depends only on the text before it, so the result does not depend on how a stream is split.
"""

import re

from textveil.text.harmless_tags import MAX_TAG_LENGTH, is_bare_tag

#: Number of characters at the start of a line that decide whether the line is a directive; number of characters before
#: a position that can belong to a mark within a line. No mark is longer.
_HEAD_CHARACTERS, _TAIL_CHARACTERS = 96, 48
#: Start of a directive: of reStructuredText (``.. image::``, ``__ address``) or a definition of reStructuredText,
#: AsciiDoc or Org (``:name: value``), which all continue on indented lines; and, of one line, ``#+INCLUDE`` (Org),
#: ``image::address`` (AsciiDoc), ``!include`` (PlantUML) and ``=for`` (POD).
_LINE_HEAD = re.compile(
    r"(?P<indented>\.\.[ \t]|__[ \t]|:[!a-z0-9_][^:\0]{0,80}:[ \t])|#\+[a-z]|[a-z][a-z0-9_-]{0,40}::[^\s:]|![a-z]|=[a-z]{3}",
    re.ASCII | re.IGNORECASE,
)
#: A line with such a start alone: the value is on the indented lines after it.
_BARE_HEAD = re.compile(r"(?:\.\.|__|:[!a-z0-9_][^:\0]{0,80}:)[ \t\r]*", re.ASCII | re.IGNORECASE)
#: First line of a block of directives: of a calendar or a card, of Org, and of PlantUML.
_BLOCK_HEAD = re.compile(r"(begin:|#\+begin[_:]|@start)([a-z][a-z0-9_-]*)", re.ASCII | re.IGNORECASE)
_BLOCK_ENDS = {"begin:": "end:", "#+begin_": "#+end_", "#+begin:": "#+end:", "@start": "@end"}
#: End of a line of a directive that the next line continues, even without indentation.
_CONTINUES = re.compile(r"[\\+][ \t\r]*\Z")
#: A tag of BBCode or of similar codes whose content may be an address, up to its bracket or equals sign.
_CODE_TAG = re.compile(
    r"\[(/?)(attach|attachment|audio|background|bg|email|embed|file|flash|gallery|gif|html|icon|iframe|image|img|link|"
    r"mail|media|mp3|mp4|playlist|soundcloud|spotify|swf|thumb|thumbnail|tweet|twitter|url|video|vimeo|youtube)[\]=]",
    re.ASCII | re.IGNORECASE,
)
#: Two characters that every address with a host or a scheme contains.
_ADDRESS = re.compile(r"[/\\]{2}|[.:@]\S")
#: Within a line, the start of an address in AsciiDoc (``image:address[]``) and in the markup of wikis (``!//address!``).
_INLINE = re.compile(
    r"(?:image|icon|link|video|audio|include|xref|pass):{1,2}[^\s:]|!(?:[a-z]{2,8}:)?//",
    re.ASCII | re.IGNORECASE,
)
#: A character ``<`` as a program gets it that decodes entities, percent-encoding, escapes of programming languages,
#: Quoted-Printable or UTF-7, or replaces wide characters; and a ``<`` before an encoded letter. The character after it
#: must not be one that follows a sign of comparison.
_ENCODED_TAG = re.compile(
    r"(?:&(?:amp;){0,3}(?:lt|\#0{0,6}60|\#x0{0,5}3c);?|%(?:25){0,3}3c|=3c|\\x3c|\\u\{?0{0,4}3c\}?|\\0?74|\+adw-?"
    r"|[\uff1c\ufe64])[^\s0-9=;<.,-]|<(?:&[\#a-z]|%[0-9a-f]{2}|\\[ux0-7])",
    re.ASCII | re.IGNORECASE,
)
#: A whole tag without attributes, from the character after the encoded ``<`` to an encoded ``>``.
_BARE_TAG = re.compile(
    r"(/?[a-z][a-z0-9_]*/?)(?:>|&(?:amp;){0,3}(?:gt|\#0{0,6}62|\#x0{0,5}3e);|%(?:25){0,3}3e|=3e|\\x3e|\\u003e)",
    re.ASCII | re.IGNORECASE,
)
#: A character without which no text within a line begins a directive.
_SIGN = re.compile("[]=:/&%<\\\\+\uff1c\ufe64]")
#: End of a text that may be a part of an encoded ``<``.
_OPEN_SIGN = re.compile(r"[&%\\=+<\uff1c\ufe64]\S{0,24}\Z")


class DirectiveReader:
    """Scans the lines of a reply, and finds the positions that are in a directive of some markup language."""

    __slots__ = (
        "_address_codes", "_block_end", "_codes", "_head", "_is_encoded", "_is_indented", "_is_line", "_tag", "_tail",
    )  # fmt: skip

    def __init__(self) -> None:
        self._head, self._tail = "", ""
        self._is_line, self._is_indented, self._is_encoded = False, False, False
        #: The line that ends the open block, such as ``end:vcard``; empty outside of a block.
        self._block_end = ""
        #: Names of the open tags of BBCode; of them those after which an address came.
        self._codes: set[str] = set()
        self._address_codes: set[str] = set()
        #: The text after an encoded ``<``, until it is known whether it is a harmless tag; empty elsewhere.
        self._tag = ""

    def is_open(self, *, begins_unindented_line: bool) -> bool:
        """Return whether the next character belongs to a directive.

        Args:
            begins_unindented_line: Whether the next character is the first one of a line without indentation.
        """
        is_indented = self._is_indented and not begins_unindented_line
        is_open = self._is_line or is_indented or self._is_encoded
        return is_open or self._block_end != "" or self._tag != "" or len(self._address_codes) > 0

    @property
    def is_neutral(self) -> bool:
        """Whether no text so far has an effect on a later line or on the next text."""
        is_open = self.is_open(begins_unindented_line=False)
        return not (is_open or self._codes or _OPEN_SIGN.search(self._tail))

    def begin_line(self, column: int) -> None:
        """Reset the state for a new line, whose first character is at ``column``, counted from 0."""
        self._head = ""
        self._is_indented = self._is_indented and column > 0

    def begin_item(self) -> None:
        """Reset the state for the text of a list item, which may be a directive as a line may."""
        self._head = ""

    def read_text(self, text: str) -> None:
        """Process characters of a line outside of code; ``"\\0"`` represents a surrogate (replacement word)."""
        if self._is_encoded:
            return
        if len(self._head) < _HEAD_CHARACTERS:
            self._head = (self._head + text)[:_HEAD_CHARACTERS]
            match = _LINE_HEAD.match(self._head)
            if match is not None:
                self._is_line = True
                self._is_indented = self._is_indented or match["indented"] is not None
        joined, start = self._tail + text, len(self._tail)
        self._tail = joined[-_TAIL_CHARACTERS:]
        if self._tag:
            text = self._read_tag(text)
            joined, start = text, 0
            self._tail = joined[-_TAIL_CHARACTERS:]
        if self._codes or _SIGN.search(joined) is not None:
            self._is_line = self._is_line or _INLINE.search(joined) is not None
            self._read_codes(joined, start)
            self._find_encoded_tag(joined, start)

    def end_line(self) -> None:
        """Update the state at the end of a line."""
        head = self._head.rstrip(" \t\r").lower()
        self._is_encoded = self._is_encoded or self._tag != ""
        if self._block_end:
            self._block_end = "" if head == self._block_end else self._block_end
        else:
            match = _BLOCK_HEAD.match(head)
            self._block_end = "" if match is None else _BLOCK_ENDS[match[1]] + match[2]
        self._is_indented = self._is_indented or _BARE_HEAD.fullmatch(head) is not None
        self._is_line = (self._is_line or self._is_indented) and _CONTINUES.search(self._tail) is not None
        self._head, self._tail, self._tag = "", "", ""

    def _read_tag(self, text: str) -> str:
        """Read more of a tag after an encoded ``<``; return the text after it if the tag is harmless and has ended."""
        length = len(self._tag)
        self._tag += text[: MAX_TAG_LENGTH + 16]
        match = _BARE_TAG.match(self._tag)
        if match is not None and is_bare_tag(match[1]):
            self._tag = ""
            return text[match.end() - length :]
        if match is not None or len(self._tag) > MAX_TAG_LENGTH + 16:
            self._is_encoded = True
        return ""

    def _read_codes(self, text: str, start: int) -> None:
        """Process the tags of BBCode that end after ``start``, and record after which of them an address begins."""
        for match in _CODE_TAG.finditer(text):
            if match.end() <= start:
                continue
            self._find_address(text[: match.end()], start)
            start, name = match.end(), match[2].lower()
            if not match[1]:
                self._codes.add(name)
            elif match[0][-1] == "]":
                self._codes.discard(name)
                self._address_codes.discard(name)
        self._find_address(text, start)

    def _find_address(self, text: str, start: int) -> None:
        if self._codes and _ADDRESS.search(text, max(0, start - 1)) is not None:
            self._address_codes |= self._codes

    def _find_encoded_tag(self, text: str, start: int) -> None:
        at = 0
        while (match := _ENCODED_TAG.search(text, at)) is not None:
            at = match.end()
            if at <= start:
                continue
            rest = self._read_tag(text[at - 1 :])
            if self._tag or self._is_encoded:
                return
            text, at, start = rest, 0, 0
            self._tail = rest[-_TAIL_CHARACTERS:]
