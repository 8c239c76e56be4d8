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
    r"(?P<indented>\.\.[ \t]|__[ \t]|:[!a-z0-9_][^:\0]{0,80}:[ \t])"
    r"|\#\+[a-z]|[a-z][a-z0-9_-]{0,40}::[^ \t\r\n:]|![a-z]|=[a-z]{3}",
    re.ASCII | re.IGNORECASE,
)
#: A line with such a start alone: the value is on the indented lines after it.
_BARE_HEAD = re.compile(r"(?:\.\.|__|:[!a-z0-9_][^:\0]{0,80}:)")
#: First line of a block of directives: of a calendar or a card, of Org, and of PlantUML.
_BLOCK_HEAD = re.compile(r"(begin:|#\+begin[_:]|@start)([a-z][a-z0-9_-]{0,40})")
_BLOCK_ENDS = {"begin:": "end:", "#+begin_": "#+end_", "#+begin:": "#+end:", "@start": "@end"}
#: End of a line of a directive that the next line continues, even without indentation.
_CONTINUES = re.compile(r"[\\+][ \t\r]*\Z")
#: Start of a tag of BBCode or of similar codes whose content may be an address, or the end of its content.
_CODE_TAG = re.compile(
    r"\[(?:/(?P<closed>{names})\]|(?P<name>{names})(?P<mark>[\] \t=:]))".format(
        names="attach|attachment|audio|avatar|background|bg|email|embed|file|flash|font|ftp|gallery|gif|html|icon|iframe|"
        "image|imageleft|imageright|img|imgur|iurl|link|mail|media|mp3|mp4|photo|pic|picture|playlist|soundcloud|spotify|"
        "src|swf|thumb|thumbnail|tweet|twitter|url|video|vimeo|youtube"
    ),
    re.ASCII | re.IGNORECASE,
)
#: Text before the content of such a tag that a program may drop: blanks, and other tags in brackets.
_BEFORE_CONTENT = re.compile(r"(?:[ \t\r\n]|\[[^\[\]]{0,254}\])*")
_CONTENT_WORD = re.compile(r"[^ \t\r\n]*")
#: Characters of an address with a host or a scheme, in the first word of the content.
_ADDRESS = re.compile(r"[/\\@]|[.:][^ \t\r\n]|&\#")
_MAX_CONTENT_CHARACTERS = 256
#: Within a line, the start of an address in AsciiDoc (``image:address[]``) and in markup of wikis (``!//address!``).
_INLINE = re.compile(
    r"(?:image|icon|link|video|audio|include|xref|pass):{1,2}[^ \t\r\n:]|!(?:[a-z]{2,8}:)?//", re.ASCII | re.IGNORECASE
)
#: A character ``<`` as a program gets it that decodes entities, percent-encoding, escapes of programming languages,
#: Quoted-Printable or UTF-7, or replaces wide characters; and the first character of the name of a tag. That character
#: may be encoded too. *=3cm* is a length.
_ENCODED_TAG = re.compile(
    r"(?:(?:(?:&|%26|\\(?:u00|x)26)(?:(?:amp|\#0{0,2}38|\#x0{0,2}26);){0,3}(?:lt|\#0{0,6}60|\#x0{0,5}3c);?"
    r"|(?:%(?:25){0,3}|\\x|[\\%]u\{?0{0,6})3c\}?|\\0?74|\+adw[-a])"
    r"([a-z/!?&%\\+])|=3c([a-ln-z/!?&%\\]|m[a-z]|=[2-7])|<(&[\#a-z]|%[0-9a-f]|\\[ux0-7])"
    r"|[\uff1c\ufe64]([^ \t\r\n0-9=;<.,\-\u3000-\u30ff\u3400-\u9fff\uac00-\ud7af]))",
    re.ASCII | re.IGNORECASE,
)
#: A whole tag without attributes, from the character after the encoded ``<`` to an encoded ``>``.
_BARE_TAG = re.compile(
    r"(/?[a-z][a-z0-9_]*/?)(?:>|&(?:amp;){0,3}(?:gt|\#0{0,6}62|\#x0{0,5}3e);|%(?:25){0,3}3e|=3e|\\x3e|\\u003e)",
    re.ASCII | re.IGNORECASE,
)
#: A character without which no text within a line begins a directive.
_SIGN = re.compile("[][=:/&%<\\\\+\uff1c\ufe64]")
#: End of a text that may be a part of an encoded ``<``.
_OPEN_SIGN = re.compile(r"[&%\\=+<\uff1c\ufe64][^ \t\r\n]{0,40}\Z")
_MAX_ENCODED_TAG = MAX_TAG_LENGTH + 24


class DirectiveReader:
    """Scans the lines of a reply, and finds the positions that are inside a directive.

    A directive is a text by which a markup language loads a file or defines a value, such as ``.. image:: HOST`` and
    ``[img]HOST[/img]``. In directives, restoring leaves surrogates (replacement words) unchanged.
    """

    __slots__ = (
        "_address_codes", "_block_end", "_codes", "_content", "_head", "_is_encoded", "_is_indented", "_is_line",
        "_tag", "_tail",
    )  # fmt: skip

    def __init__(self) -> None:
        self._head, self._tail = "", ""
        self._is_line, self._is_indented, self._is_encoded = False, False, False
        #: The line that ends the open block, such as ``end:vcard``; empty outside of a block.
        self._block_end = ""
        #: Names of the tags of BBCode whose content has just begun, and its text so far; names of the open tags whose
        #: content is an address.
        self._codes: set[str] = set()
        self._content = ""
        self._address_codes: set[str] = set()
        #: The text after an encoded ``<``, until it is known whether it is a harmless tag; empty elsewhere.
        self._tag = ""

    def is_open(self, *, begins_unindented_line: bool) -> bool:
        """Return whether the next character belongs to a directive (see the docstring of the class).

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
        """Reset the state for the text of a list item. A directive may begin there, as at the start of a line."""
        self._head = ""

    def read_text(self, text: str) -> None:
        """Read the next characters of a line outside of code, and track whether they belong to a directive.

        Args:
            text: The characters; ``"\\0"`` represents a surrogate (replacement word).
        """
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
            joined, start = text[self._read_tag(text, 0) :], 0
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
        self._read_content("\n")
        self._is_indented = self._is_indented or _BARE_HEAD.fullmatch(head) is not None
        self._is_line = (self._is_line or self._is_indented) and _CONTINUES.search(self._tail) is not None
        self._head, self._tail, self._tag = "", "", ""

    def _read_tag(self, text: str, start: int) -> int:
        """Read more characters of a tag that began with an encoded ``<``, such as ``&lt;b&gt;``.

        Args:
            text: Text with the next characters of the tag.
            start: Index of the first of these characters.

        Returns:
            The index after the tag if the tag has ended and is harmless; otherwise the length of ``text``.
        """
        length = len(self._tag)
        self._tag += text[start : start + _MAX_ENCODED_TAG + 1]
        match = _BARE_TAG.match(self._tag)
        if match is not None and is_bare_tag(match[1]):
            self._tag = ""
            return start + match.end() - length
        if match is not None or len(self._tag) > _MAX_ENCODED_TAG:
            self._is_encoded = True
        return len(text)

    def _read_codes(self, text: str, start: int) -> None:
        """Process the tags of BBCode in ``text`` that end after ``start``, and the text between these tags.

        The text between two tags such as ``[img]`` and ``[/img]`` may be an address that a program loads.
        """
        for match in _CODE_TAG.finditer(text):
            if match.end() <= start:
                continue
            self._read_content(text[start : match.end()])
            start = match.end()
            if match["closed"] is not None:
                self._codes.discard(match["closed"].lower())
                self._address_codes.discard(match["closed"].lower())
            else:
                self._codes.add(match["name"].lower())
                self._content = "" if match["mark"] == "]" else "["
        self._read_content(text[start:])

    def _read_content(self, text: str) -> None:
        """Read the start of the content of open BBCode tags, to decide whether the content is an address."""
        if not self._codes:
            return
        self._content += text
        before = _BEFORE_CONTENT.match(self._content)
        content = self._content[0 if before is None else before.end() :]
        word = _CONTENT_WORD.match(content)
        is_open = content[:1] == "[" and "]" not in content and len(content) < _MAX_CONTENT_CHARACTERS
        if is_open or not content:
            self._content = content
        elif word is None or len(word[0]) >= _MAX_CONTENT_CHARACTERS or _ADDRESS.search(word[0]) is not None:
            self._address_codes |= self._codes
            self._codes.clear()
        elif len(word[0]) < len(content):
            self._codes.clear()
        else:
            self._content = content

    def _find_encoded_tag(self, text: str, start: int) -> None:
        at = 0
        while (match := _ENCODED_TAG.search(text, at)) is not None:
            at = match.end()
            if at <= start:
                continue
            at = self._read_tag(text, match.start(match.lastindex or 0))
            if self._tag or self._is_encoded:
                return
            self._tail = text[max(at, len(text) - _TAIL_CHARACTERS) :]
