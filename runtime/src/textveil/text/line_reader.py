"""Search a reply for text that a program may treat as code although no Markdown marks declare it as code.

Such text is a shell command, a call such as ``search(NAME)``, an address in quotation marks, or a line with an
indentation of four columns. Surrogates (replacement words) in such code are not restored by default. The decision on a
position depends only on the text before it, so the result does not depend on how a stream is split.
"""

import re

from textveil.text.directive_reader import DirectiveReader

#: A line is code if it is indented by this many columns more than the list item around it. A list item is code if at
#: least the second number of columns, all blank, follow its mark.
_CODE_INDENT, _CODE_GAP = 4, 5
#: Number of nested list items that count; text deeper than that is code.
_MAX_ITEMS = 64
#: Number of characters at the start of a line that decide whether it is a command.
_HEAD_CHARACTERS = 96
#: Starts of lines that are commands: a prompt; a command of a chat; a command of PowerShell before an option; a program
#: that sends, runs or writes its arguments; and any word in lower case before an option, an address or a path.
_COMMAND_HEAD = re.compile(
    r"\$[ \t]+[a-z]|/[a-z]|[A-Z][a-z]+-[A-Z][A-Za-z]+[ \t]+-[A-Za-z]|(?:sudo[ \t]+)?(?:"
    r"(?:curl|wget|nc|ncat|netcat|ssh|scp|sftp|rsync|ftp|telnet|ping|dig|nslookup|openssl|echo|printf|tee|eval|exec|"
    r"bash|sh|zsh|python3?|perl|ruby|node|php|pwsh|powershell|cmd|git|pip3?|npm|npx|docker|kubectl|sqlite3|psql|mysql|"
    r"aws|gcloud|az)[ \t]"
    r"|[a-z][a-z0-9._-]*[ \t]+[\"']?(?:-[A-Za-z]|[a-z][a-z0-9+.-]*://|www\.|(?:~|\.{1,2})?/|[\w.+-]+@|[\w-]+(?:\.[\w-]+)+[/:?]))",
    re.ASCII,
)
#: An option of a command: of one letter (``-x``), or with two hyphens. The second pattern is an option of one letter
#: that a surrogate follows directly, as its value. In running text a single hyphen before a word may be a dash.
_OPTION, _OPTION_BEFORE_VALUE = re.compile(r"[ \t](?:--[A-Za-z]|-[A-Za-z][^A-Za-z])"), re.compile(r"[ \t]-[A-Za-z]\Z")
#: Start of an address in quotation marks. Diagrams and settings outside of code marks have such strings, in which an
#: address continues after a blank.
_QUOTED_ADDRESS = re.compile(
    r"([\"'])(?:(?:[a-z][a-z0-9+.-]{0,10}:)?//|www\.|(?:mailto|sms|data|javascript|file):)", re.ASCII | re.IGNORECASE
)
#: Start of an attribute of HTML, after a quotation mark or a slash. The library showdown writes the text of a table
#: head into an attribute without escapes, with ``_`` for each blank: a quotation mark ends it, and others may follow.
_ATTRIBUTE = re.compile(r"[\"/][A-Za-z][\w:-]{0,60}=", re.ASCII)
_QUOTED_VALUE = re.compile("=[\"']")  # it may go on beyond the line
_TAIL_CHARACTERS, _MAX_ATTRIBUTE_CHARACTERS = 16, 64
#: Last characters of a line whose command continues on the next line.
_CONTINUES = frozenset("\\^|&")
_IN_NAME = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
_PARENTHESIS = re.compile(r"[()]")


class LineReader:
    """Scans the lines of a reply, and finds the positions that a program which displays the reply may treat as code.

    Attributes:
        is_indented: Whether Markdown treats this line as code because of its indentation.
        is_command: Whether the part of this line that was read so far is a command with arguments.
        has_attribute: Whether this line has a quotation mark and, after it, the start of an HTML attribute such as
            ``/name=``.
        has_quoted_value: Whether this line or an earlier one has such an attribute, and after it a value in quotation
            marks.
    """

    __slots__ = (
        "_address_mark", "_after_blank_line", "_attribute", "_calls", "_directives", "_head", "_in_surrogate", "_items",
        "_mark_end", "_quotation_marks", "_quotes", "_tail", "has_attribute", "has_quoted_value", "is_command",
        "is_indented",
    )  # fmt: skip

    def __init__(self) -> None:
        self.is_indented: bool = False
        self.is_command: bool = False
        self.has_attribute: bool = False
        self.has_quoted_value: bool = False
        self._after_blank_line, self._quotes, self._mark_end = True, 0, 0
        #: Columns at which the text of each open list item begins, from the outermost one.
        self._items: list[int] = []
        self._head, self._tail = "", ""
        self._quotation_marks, self._calls, self._in_surrogate = 0, 0, False
        #: The quotation mark that ends the address in quotation marks at this position; empty outside of one.
        self._address_mark = ""
        #: The end of the line from the last quotation mark on, or from a later slash on; empty without a mark. After an
        #: attribute its last character.
        self._attribute = ""
        self._directives = DirectiveReader()

    def is_markup(self, *, begins_unindented_line: bool) -> bool:
        """Return whether a program may treat the next character as markup.

        Markup is here an HTML attribute, or a directive such as ``.. image::``.

        Args:
            begins_unindented_line: Whether the character is the first one of a line without indentation.
        """
        is_directive = self._directives.is_open(begins_unindented_line=begins_unindented_line)
        return is_directive or self.has_attribute or self.has_quoted_value

    @property
    def is_neutral(self) -> bool:
        """Whether no directive so far, such as ``[img]`` of BBCode, has an effect on a later line or the next text."""
        return self._directives.is_neutral

    @property
    def is_code(self) -> bool:
        """Whether a program may treat the next characters of the line as code."""
        return self.is_indented or self.is_command or self._calls > 0 or self._is_at_value or self._address_mark != ""

    @property
    def _is_at_value(self) -> bool:
        """Whether the text so far ends with a command option such as ``-o``, which a value may follow directly."""
        return _OPTION_BEFORE_VALUE.search(self._tail) is not None

    def begin_line(self, column: int, quotes: int) -> None:
        """Reset the state for a new line of the reply. Call this at the first character of its text.

        Args:
            column: Column of the first character that is not a blank or a quotation mark.
            quotes: Number of quotation marks (``>``) of Markdown at the start of the line.
        """
        if quotes != self._quotes:
            self._quotes = quotes
            self._items.clear()
        column -= quotes > 0
        self._directives.begin_line(column)
        may_be_code = self._after_blank_line or self.is_indented
        while may_be_code and self._items and column < self._items[-1]:
            self._items.pop()
        self.is_indented = may_be_code and column >= _CODE_INDENT + (self._items[-1] if self._items else 0)
        self._after_blank_line = False

    def end_list_mark(self, column: int) -> None:
        """Store where a list mark such as ``-`` ends: before ``column``. Call this at the blank after the mark."""
        self._mark_end = column - (self._quotes > 0)

    def begin_item(self, column: int) -> None:
        """Reset the state for the text of a list item, whose first character is at ``column``."""
        self._directives.begin_item()
        column -= self._quotes > 0
        if column >= self._mark_end + _CODE_GAP:
            self.is_indented, column = True, self._mark_end + 1
        while self._items and self._items[-1] >= self._mark_end:
            self._items.pop()
        if len(self._items) < _MAX_ITEMS:
            self._items.append(column)

    def read_mark(self, character: str) -> None:
        """Process a character of a list mark such as ``1.`` or ``:``.

        A directive (see ``DirectiveReader``) may begin with the same character, such as ``:name: value``.
        """
        self._directives.read_text(character)

    def read_text(self, text: str) -> None:
        """Process running text of a line, without its indentation, list marks and line end."""
        if self._in_surrogate:
            return
        self._directives.read_text(text)
        head = self._head
        if not self.is_command and len(head) < _HEAD_CHARACTERS:
            self._head = head = (head + text)[:_HEAD_CHARACTERS]
            self.is_command = _COMMAND_HEAD.match(head) is not None
        joined = self._tail + text
        if "-" in joined:
            self.is_command = self.is_command or _OPTION.search(joined) is not None
        if "(" in text or self._calls:
            self._count_calls(joined, len(self._tail))
        start, self._tail = len(self._tail), joined[-_TAIL_CHARACTERS:]
        if self._address_mark or '"' in joined or "'" in joined:
            self._find_quoted_addresses(joined, start)
        self._quotation_marks += text.count('"')
        self._find_attribute(text)

    def begin_surrogate(self) -> None:
        """Mark the start of a surrogate (replacement word), which is not checked for commands."""
        self._in_surrogate = True
        self.is_command = self.is_command or self._is_at_value

    def end_surrogate(self) -> None:
        """Mark the end of the surrogate (replacement word) that ``begin_surrogate`` started."""
        self._in_surrogate = False
        self.read_other()

    def read_other(self, character: str = "", *, is_code: bool = False) -> None:
        """Process a surrogate (replacement word), or a character that is not running text, such as a backtick.

        Args:
            character: The character; empty for a surrogate.
            is_code: Whether the character is code. Code is not searched for directives such as ``.. image::``.
        """
        if not is_code and not self._in_surrogate:
            self._directives.read_text(character or "\0")
        self._find_attribute(character)
        self._head = (self._head + "\0")[:_HEAD_CHARACTERS] if self._head[-1:] != "\0" else self._head
        self._tail = "\0"

    def end_line(self, *, is_empty: bool) -> None:
        """Update the state at the end of a line of the reply.

        Args:
            is_empty: Whether the line has only blanks and quotation marks (``>``) of Markdown.
        """
        self._directives.end_line()
        continues = self._quotation_marks % 2 or self._tail.rstrip(" \t\r")[-1:] in _CONTINUES
        self.is_command = self.is_command and bool(continues) and not is_empty
        self._head, self._tail = "", ""
        self.has_attribute, self._attribute = False, ""
        if not self.is_command:
            self._quotation_marks = 0
        if is_empty:
            self._after_blank_line, self._calls, self._address_mark = True, 0, ""

    def _find_attribute(self, text: str) -> None:
        """Read characters of a line, and set ``has_attribute`` if they complete an attribute (``/name=value``)."""
        if not self._attribute and '"' not in text:  # most texts
            return
        joined = self._attribute + text if self._attribute else text[text.index('"') :]
        match = None if self.has_attribute else _ATTRIBUTE.search(joined)
        if match is not None:
            self.has_attribute, joined = True, joined[match.end() - 1 :]
        if self.has_attribute:
            self.has_quoted_value = self.has_quoted_value or _QUOTED_VALUE.search(joined) is not None
            self._attribute = joined[-1] if text else "\0"
        else:
            self._attribute = joined[max(joined.rfind('"'), joined.rfind("/")) :][:_MAX_ATTRIBUTE_CHARACTERS]

    def _count_calls(self, text: str, start: int) -> None:
        for match in _PARENTHESIS.finditer(text, start):
            at = match.start()
            if match[0] == ")":
                self._calls = max(0, self._calls - 1)
            elif self._calls or (at and text[at - 1] in _IN_NAME):
                self._calls += 1

    def _find_quoted_addresses(self, text: str, start: int) -> None:
        """Record web addresses in quotation marks after ``start``, and whether the text ends inside such an address."""
        at, search_start, tail_start = start, 0, len(text) - len(self._tail)
        while True:
            if self._address_mark:
                at = text.find(self._address_mark, at)
                if at < 0:
                    return
                self._address_mark, search_start = "", at + 1
                if at >= tail_start:
                    self._tail = f"{self._tail[: at - tail_start]}\0{self._tail[at - tail_start + 1 :]}"
            match = _QUOTED_ADDRESS.search(text, search_start)
            while match is not None and match.end() <= at:
                match = _QUOTED_ADDRESS.search(text, match.end())
            if match is None:
                return
            self._address_mark, at = match[1], match.end()
            search_start = at
