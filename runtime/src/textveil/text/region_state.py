"""State of the scanner that divides a reply into regions: prose, code, math, JSON, links and markup.

The state has the open regions, and facts about the text so far. A *viewer* is a program that displays the reply, such
as a chat client. Viewers treat Markdown in different ways.
"""

from dataclasses import KW_ONLY, dataclass
from enum import StrEnum
from typing import Protocol

from textveil.text.harmless_tags import MAX_TAG_LENGTH
from textveil.text.line_reader import LineReader


class Region(StrEnum):
    """Kinds of the parts of a reply, such as prose or code, as programs that display the reply treat them."""

    PROSE = "prose"
    CODE = "code"
    MATH = "math"
    JSON = "json"
    LINK = "link"
    MARKUP = "markup"


class JsonRole(StrEnum):
    """Role of a character in JSON: it is text, separates texts, has no effect, or forbids restoring around it."""

    TEXT = "text"
    #: Ends a chunk: punctuation of JSON outside strings, and ``\\n``, ``\\r``, ``\\t`` inside.
    SEPARATOR = "separator"
    #: Ignored: the backslash of an escape, and an escaped quote.
    IGNORED = "ignored"
    #: Forbids restoring in its chunk: other escapes, and JSON inside a JSON string.
    SPOILER = "spoiler"


MAX_NAME_LENGTH, MAX_DESTINATION_LENGTH = MAX_TAG_LENGTH, 2048
BLANK = " \t\r\n"
LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
OPENS_MARKUP = LETTERS | frozenset("/!?")
#: Characters after which ``>`` ends a tag for every viewer. The library markdown2 escapes it after other characters.
ENDS_TAG = LETTERS | frozenset("0123456789?!/'\"-")
MAX_ESCAPE_DIGITS, MAX_DEPTH = 4, 64
#: Marks at the start of a line whose rest some viewers treat as a class name.
_CLASS_MARKS = frozenset("!?:")
#: Characters that open a region, or may open one, inside a template tag.
_OPENS_REGION = frozenset("<`$\\[]{}~")
FENCE_LENGTH, NESTED_INDENT, CODE_INDENT, TAB = 3, 2, 4, 4
#: Position in the marks at the start of a line: in quotation marks and blanks, in digits, at a list mark, in the text.
START, DIGITS, MARK, BODY = range(4)
#: Position in a TeX command: none, after the backslash, in its name, after its name or an argument, in a comment there.
NONE, SLASH, NAME, ARGUMENTS, COMMENT = range(5)
FENCE, INLINE, DOLLAR, DOLLARS, PAREN, BRACKET, BEGIN, COMMAND, OPTION = range(9)
JSON, LINK, DEFINITION, ANGLE, UNKNOWN = range(9, 14)
BLOCK_MATH = frozenset((DOLLARS, BRACKET, BEGIN))
MATH = BLOCK_MATH | {DOLLAR, PAREN, COMMAND, OPTION}


class InnerScanner(Protocol):
    """Interface of the scanner that finds code, links and markup in the content of a JSON string."""

    region: Region

    @property
    def enclosure(self) -> Region | None:
        """Kind of text (such as JSON or code) that an open bracket or brace indicates; ``None`` if none is open."""
        ...

    @property
    def is_indented(self) -> bool:
        """Whether Markdown treats the line as code because of its indentation."""
        ...

    @property
    def destination(self) -> str | None:
        """The address of the open link, as far as it was read; ``None`` outside links."""
        ...

    @property
    def is_sealed(self) -> bool:
        """Whether no original word may be put back at this position of the reply, under any options."""
        ...

    def read_character(self, character: str) -> Region:
        """Read one character, and return its region (kind of text), such as prose, code, a link or JSON."""
        ...


@dataclass(slots=True, eq=False, repr=False)
class OpenRegion:
    """A part of the reply, such as code or a link, whose end has not been read yet, with its state so far."""

    kind: int
    region: Region
    _: KW_ONLY
    count: int = 1  # depth of brackets, or length of a fence
    opening: bool = False
    closing: int = 0
    run_at_start: bool = False
    tainted: bool = False
    #: Of code: whether some viewers treat it as text; whether it contains something that would open a region for
    #: these viewers; whether its last line has an unusual indentation. For a link ``hazard`` is true if a line ends
    #: before its destination.
    uncertain: bool = False
    hazard: bool = False
    shifted: bool = False
    depth: int = 0  # of brackets and braces in code
    #: Current part of a tag in code, or of a tag such as ``[city 1]`` in an address (empty outside of tags). Whether
    #: all viewers recognize the fence.
    tag: str = ""
    exact: bool = True
    info: str = ""
    is_picture: bool = False  # whether some viewers display the code as a picture
    lost: bool = False  # whether it is a tag only for viewers that find its end in the same paragraph
    #: Whether some viewers end the code earlier, for example at an empty line. For a definition: whether its
    #: address has a quotation mark. For a link or an address in angle
    #: brackets: whether its address has a tag such as ``[city 1]``.
    torn: bool = False
    mark: str = "`"
    quotes: int = 0
    column: int = 0
    nested: bool = False
    started: bool = False
    angle: bool = False
    quote: str = ""
    escaped: bool = False
    destination: str = ""
    string: bool = False
    unicode: str = ""
    inner: InnerScanner | None = None


class RegionState:
    """State of the scanner that divides a reply into prose, code, links and markup, after a part of the reply.

    Attributes:
        region: Region (kind of text, such as code) of the last character.
        role: Role of the last character in JSON; ``JsonRole.TEXT`` elsewhere.
    """

    def __init__(self, *, is_inside_string: bool = False) -> None:
        self.inside_string: bool = is_inside_string
        self.region: Region = Region.PROSE
        self.role: JsonRole = JsonRole.TEXT
        self.frames: list[OpenRegion] = []
        self.tainted: bool = False
        self.html: bool = False
        #: ``disputed``: viewers disagree on code or on HTML, up to the end of the reply.
        self.disputed: bool = False
        self.angle_at_start: bool = False
        self.abbreviation: bool = False
        self.tag: bool = False
        self.after_tag: bool = False
        self.tag_colon: bool = False
        #: Text since a bracket directly after a tag, while it is not decided whether the tag is replaced; else empty.
        self.tag_link: str = ""
        self.phase: int = START
        self.quotes: int = 0
        self.column: int = 0
        self.marked: bool = False
        self.empty: bool = True
        self.last: str = ""
        self.line_label: bool = False
        self.slash: int = NONE
        self.name: str = ""
        self.doubled: bool = False
        self.odd: bool = False
        self.opener: str = ""
        self.dollar: bool = False
        self.tildes: int = 0
        self.run_column: int = 0
        self.brackets: int = 0
        self.braces: int = 0
        self.address: bool = False
        self.stray: bool = False
        #: Whether only blanks came since a closing bracket; whether a bracket was open at the end of a paragraph.
        self.bracket_closed: bool = False
        self.open_label: bool = False
        self.image: bool = False
        self.class_mark: str = ""
        self.class_marks: int = 0
        #: Number of ``<`` since one with a backslash, up to the next ``>``; at most 2.
        self.escaped_angles: int = 0
        #: In a template tag, from ``<%`` to ``%>``: 1, and 1 more for each ``%`` right before, at most 3. Elsewhere 0.
        self.template: int = 0
        self.template_in_code: bool = False
        #: Whether the open braces contain a line end, and whether they contain a sign of attributes.
        self.braces_went_on: bool = False
        self.in_attributes: bool = False
        #: Number of open braces at the outermost brace of a template, such as ``{{``; 0 outside templates.
        self.template_braces: int = 0
        self.lines: LineReader = LineReader()

    def push(self, kind: int, region: Region) -> OpenRegion:
        """Begin a region (part of the reply, such as a link) inside the current one, and return the new region.

        At a nesting depth of 64, all following text counts as markup, in which nothing is restored.

        Args:
            kind: Kind of the region, such as ``LINK`` or ``FENCE``.
            region: Region that its characters have.
        """
        frame = OpenRegion(kind, region)
        if len(self.frames) < MAX_DEPTH:
            self.frames.append(frame)
        else:  # the cost of a blank line grows with the depth
            self.frames = [OpenRegion(UNKNOWN, Region.MARKUP)]
        self.slash, self.opener, self.dollar = NONE, "", False
        return frame

    def pop(self) -> None:
        """Close the innermost open region (part of the reply, such as a link or code)."""
        self.frames.pop()
        self.slash, self.opener, self.dollar = NONE, "", False

    def give_up(self, region: Region) -> None:
        """Treat all following text as ``region``; call this where programs that display Markdown may disagree."""
        self.frames = [OpenRegion(UNKNOWN, region)]
        self.slash, self.opener, self.dollar = NONE, "", False

    def taint(self) -> None:
        """Treat all text after the open code, links and tags as markup, in which nothing is restored."""
        self.tainted = True

    def count_escaped_angles(self, character: str) -> None:
        r"""Count an escaped ``<`` (``\<``) and each ``<`` after it, up to the next ``>``. The count is at most 2.

        The library showdown pairs the next ``>`` with the escaped ``<``, so that this ``>`` does not end a tag.
        """
        if self.last == ">":
            self.escaped_angles = 0
        if character == "<" and (self.escaped_angles or self.last == "\\"):
            self.escaped_angles = min(self.escaped_angles + 1, 2)

    def read_template(self, character: str) -> None:
        """Process a character of a template tag, which begins with ``<%`` and ends with ``%>``.

        Programs that fill in templates run the content of such a tag, and Markdown viewers treat the tag in different
        ways. So all later text counts as markup in two cases: a tag outside code begins inside a link, math or markup,
        or the tag contains a character that may begin one of these.
        """
        if self.template:
            is_end = character == ">" and self.template == len("<%")  # ERB does not end a tag at ``%%>``
            self.template = 0 if is_end else min(self.template + 1, 3) if character == "%" else 1
            unlike = character in _OPENS_REGION
        elif self.last == "<" and character == "%":
            self.template_in_code = bool(self.frames) and self.frames[-1].kind in (FENCE, INLINE)
            self.template, unlike = 1, bool(self.frames)
        else:
            return
        if unlike and not self.template_in_code:
            self.template = 0
            self.give_up(self.frames[-1].region if self.frames else Region.MARKUP)

    def count_braces(self, character: str) -> None:
        """Count open braces, and record template braces (``{{``, ``{%``, ``#{``), which may contain empty lines."""
        if character not in "{}%#" and not (self.braces or self.template_braces):  # most characters
            return
        is_template = (self.last == "{" and character in "{%#") or (character == "{" and self.last in tuple("#@%"))
        if is_template and not self.template_braces:
            self.template_braces = max(1, self.braces)
        self.braces = max(0, self.braces + (character == "{") - (character == "}"))
        if self.braces < self.template_braces:
            self.template_braces = 0

    def read_line_start(self, character: str, at_start: bool) -> None:
        """Pass the starts of lines and list items, and the ends of list marks, to the line reader.

        The line reader finds code that only its indentation marks as code.

        Args:
            character: The next character.
            at_start: Whether the character is the first one of a line or list item after indentation and list marks.
        """
        if character == "<":
            self.angle_at_start = at_start
        if at_start and self.empty:
            self.lines.begin_line(self.column, self.quotes)
        elif at_start:
            self.lines.begin_item(self.column)
        elif self.phase == MARK and character in BLANK:
            self.lines.end_list_mark(self.column)

    def advance_line(self, character: str) -> None:
        """Process a character at the start of a line: indentation, a quotation mark (``>``), a list mark or text."""
        phase = self.phase
        if phase == BODY or character == "\n":
            return
        if character == "\t":
            self.column += TAB - self.column % TAB
        else:
            self.column += 1
        if phase == START:
            if character == ">":
                self.quotes += 1
                self.column = 0
            elif character in "-+*:":
                self.phase = MARK
            elif character in "0123456789":
                self.phase = DIGITS
            elif character not in BLANK:
                self.phase = BODY
        elif phase == DIGITS:
            self.phase = DIGITS if character in "0123456789" else MARK if character in ".)" else BODY
        else:
            self.phase = START if character in BLANK else BODY
            self.marked = self.marked or self.phase == START
        if character not in BLANK and character != ">":
            self.empty = False

    def read_in_line(self, character: str) -> None:
        """Pass a character after the indentation of its line to the line reader.

        The line reader finds code that only its indentation marks as code.
        """
        if self.frames or self.region is not Region.PROSE:
            self.lines.read_other(character, is_code=self.region is Region.CODE)
        else:
            self.lines.read_text(character)

    def count_class_marks(self, character: str, at_start: bool) -> None:
        """Count equal marks at the start of a line. Three of them, as in ``!!! note``, open a Markdown admonition.

        Args:
            character: The next character.
            at_start: Whether the character is the first one of its line after indentation and list marks.
        """
        if at_start and character in _CLASS_MARKS:
            self.class_mark, self.class_marks = character, 1
        elif character == "\n":
            self.class_mark, self.class_marks = "", 0
        elif self.class_mark and character == self.class_mark:
            self.class_marks += 1
        else:
            self.class_mark = ""
            self.class_marks = self.class_marks if self.class_marks >= FENCE_LENGTH else 0
