"""Scanner of replies, which assigns a region to each character.

Regions are running text (prose), code, math, JSON, links and markup. The scanner reads Markdown as an attacker would
write it: where Markdown readers disagree, a character is not prose. Each character gets its region at once, so the
result does not depend on how a stream is split. The depth of nesting bounds the memory. ``docs/restoring.md`` describes
every state.
"""

import re
from enum import StrEnum

from textveil.text.harmless_tags import MAX_TAG_LENGTH, begins_block, consumes_text, is_harmless_tag


class Region(StrEnum):
    """Kind of region that contains a character."""

    PROSE = "prose"
    CODE = "code"
    MATH = "math"
    JSON = "json"
    LINK = "link"
    MARKUP = "markup"


class JsonRole(StrEnum):
    """Role of a character of JSON in the text of a string."""

    TEXT = "text"
    #: Ends a chunk: punctuation of JSON outside strings, and ``\\n``, ``\\r``, ``\\t`` inside.
    SEPARATOR = "separator"
    #: Ignored: the backslash of an escape, and an escaped quote.
    IGNORED = "ignored"
    #: Spoils its chunk: other escapes, and JSON in a string of JSON.
    SPOILER = "spoiler"


#: TeX commands whose arguments a reader displays and never fetches.
_DISPLAYED_COMMANDS = frozenset(
    "text textbf textit textrm textsf texttt mathrm mathbf mathit mathsf mathcal mathbb operatorname frac dfrac tfrac "
    "sqrt boxed overline underline hat bar vec tilde".split()
)
_MAX_NAME_LENGTH, _MAX_DESTINATION_LENGTH = MAX_TAG_LENGTH, 2048
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{1,31}")
#: Runs of characters in which no region begins or ends.
_PLAIN = re.compile(r"[^\n\r\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff`$\\\[\]{}<]+")
_PLAIN_CODE = re.compile(r"[^\n\r\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff`<|\\\[\]{}]+")
_PLAIN_LINE = re.compile(r"[^\n\r\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff]+")
#: Characters that some Markdown reader removes or treats as a line end: controls other than tab and line end, line and
#: paragraph separators, the byte order mark. Python-Markdown removes U+0002, so that `<` U+0002 `i` becomes a tag.
_DISPUTED = frozenset(
    [chr(code) for code in (*range(0x09), *range(0x0B, 0x0D), *range(0x0E, 0x20), *range(0x7F, 0xA0))]
) | frozenset("\u2028\u2029\ufeff")
#: Characters that every address in running text contains, whatever its scheme.
_IN_ADDRESS = re.compile(r"[.:@]|//")
_BLANK = " \t\r\n"
_LETTERS = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ")
_OPENS_MARKUP = _LETTERS | frozenset("/!?")
_ESCAPED_BLANKS = {"n": "\n", "r": "\r", "t": "\t"}
_HEX = frozenset("0123456789abcdefABCDEF")
_OUTSIDE_STRINGS = frozenset('{}[],:"+-.0123456789' + _BLANK) | _LETTERS
_MAX_ESCAPE_DIGITS, _MAX_DEPTH = 4, 64
#: Info string with which every reader treats a line as the opening of a fence.
_INFO = re.compile(r" *[A-Za-z0-9_#.+-]* *\r?")
_WORD_IN_TAG = _LETTERS | frozenset("0123456789_/")
#: Characters that open a region, or may open one, inside a possible tag.
_REGION_OPENERS = frozenset("<`$\\[]{}~\"'=")
#: Characters after which a blank and a word cannot belong to a link destination: all of ASCII except these.
_NO_DESTINATION = frozenset(map(chr, range(0x80))) - frozenset(_BLANK + ",.!?-_*+0123456789") - _LETTERS
#: Characters that no destination and no title of a plain inline link contains: with them readers disagree on its end.
_UNLIKE_LINK = frozenset("<>[]{}()`|\\\"'\n\r")
#: Marks at the start of a line whose rest some readers treat as a class name.
_CLASS_MARKS = frozenset("!?:")
_FENCE_LENGTH, _NESTED_INDENT, _CODE_INDENT, _TAB = 3, 2, 4, 4

#: Progress through the marks at the start of a line: quotation marks and blanks, digits, a list mark, the text.
_START, _DIGITS, _MARK, _BODY = range(4)
_TITLE = 2
#: Progress of a TeX command: none, after the backslash, in its name, after its name or an argument, in a comment there.
_NONE, _SLASH, _NAME, _ARGUMENTS, _COMMENT = range(5)

_FENCE, _INLINE, _DOLLAR, _DOLLARS, _PAREN, _BRACKET, _BEGIN, _COMMAND, _OPTION = range(9)
_JSON, _LINK, _DEFINITION, _ANGLE, _UNKNOWN = range(9, 14)
_BLOCKS = frozenset((_FENCE, _DOLLARS, _BRACKET, _BEGIN, _JSON, _UNKNOWN))
_BLOCK_MATH = frozenset((_DOLLARS, _BRACKET, _BEGIN))
_MATH = _BLOCK_MATH | {_DOLLAR, _PAREN, _COMMAND, _OPTION}


class _OpenRegion:
    """Open region, with the state of the text read in it so far."""

    __slots__ = (
        "angle", "closing", "column", "count", "depth", "destination", "escaped", "exact", "hazard", "info", "inner",
        "kind", "lost", "mark", "nested", "opening", "quote", "quotes", "region", "run_at_start", "shifted", "started",
        "string", "tag", "tainted", "torn", "uncertain", "unicode",
    )  # fmt: skip

    def __init__(self, kind: int, region: Region) -> None:
        self.kind, self.region = kind, region
        self.count = 1  # depth of brackets, or length of a fence
        self.opening, self.closing, self.run_at_start, self.tainted = False, 0, False, False
        #: Code that some readers treat as text; something in it that would open a region there; a last line with an
        #: unusual indentation. A link is uncertain (``hazard``) if a line ends before its destination.
        self.uncertain, self.hazard, self.shifted = False, False, False
        self.depth = 0  # of brackets and braces in code
        #: Current part of a tag in code, empty outside tags; whether all readers recognize the fence.
        self.tag, self.exact, self.info = "", True, ""
        self.lost = False  # a tag if a reader finds its end in the paragraph, else text
        self.torn = False  # by an empty line, of a fence that begins as HTML for some readers
        self.mark, self.quotes, self.column, self.nested = "`", 0, 0, False
        self.started, self.angle, self.quote, self.escaped = False, False, "", False
        self.destination, self.string, self.unicode = "", False, ""
        self.inner: RegionScanner | None = None


class RegionScanner:
    """Assignment of a region to each character of a text that arrives in parts.

    Attributes:
        region: Region of the last character.
        role: Role of the last character in JSON; ``JsonRole.TEXT`` elsewhere.
    """

    def __init__(self, *, _inside_string: bool = False) -> None:
        self._inside_string = _inside_string
        self.region, self.role = Region.PROSE, JsonRole.TEXT
        self._frames: list[_OpenRegion] = []
        self._tainted, self._html = False, False
        #: Readers disagree up to the end of the reply on code or on HTML.
        self._disputed, self._angle_at_start, self._abbreviation = False, False, False
        self._tag, self._after_tag, self._tag_colon = False, False, False
        #: Text from a bracket directly after a tag on, while nobody knows whether the tag is replaced; else empty.
        self._tag_link = ""
        self._phase, self._quotes, self._column, self._marked, self._empty = _START, 0, 0, False, True
        self._last, self._line_label = "", False
        self._slash, self._name, self._doubled, self._odd = _NONE, "", False, False
        self._opener, self._dollar, self._tildes, self._run_column = "", False, 0, 0
        self._brackets, self._braces, self._address, self._stray = 0, 0, False, False
        #: A bracket ended just before, followed by blanks only; an open bracket at the end of a paragraph.
        self._bracket_closed, self._open_label, self._image = False, False, False
        self._class_mark, self._class_marks = "", 0
        #: Whether the open braces contain a line end, and whether they contain a sign of attributes.
        self._braces_went_on, self._in_attributes = False, False

    @property
    def enclosure(self) -> Region | None:
        """Region that open brackets or braces of the paragraph imply; ``None`` outside them."""
        if self._brackets:
            return Region.LINK
        if self._class_marks >= _FENCE_LENGTH:
            return Region.MARKUP
        if self._braces and (self._in_attributes or not self._braces_went_on):
            return Region.MARKUP
        frame = self._frames[-1] if self._frames else None
        if frame is not None and frame.kind == _INLINE and frame.depth:
            return Region.LINK
        return None if frame is None or frame.inner is None else frame.inner.enclosure

    @property
    def is_in_certain_fence(self) -> bool:
        """Whether the last character is in a fence that every CommonMark reader treats as code."""
        frame = self._frames[-1] if self._frames else None
        return frame is not None and frame.kind == _FENCE and frame.started and not frame.uncertain

    @property
    def is_sealed(self) -> bool:
        """Whether no option permits restoring here.

        This holds on the line that opens a fence, and wherever readers disagree.
        """
        frame = self._frames[-1] if self._frames else None
        return frame is not None and (frame.kind == _UNKNOWN or (frame.kind == _FENCE and not frame.started))

    @property
    def is_neutral(self) -> bool:
        """Whether a reader treats the following text as it would at the start of the text."""
        is_odd = self._tainted or self._html or self._line_label or self._odd or self._tag
        is_odd = is_odd or self._disputed or self._abbreviation or self._braces > 0 or self._stray
        return not is_odd and self.enclosure is None and self._find_skippable() is _PLAIN

    @property
    def destination(self) -> str | None:
        """Destination of the open link so far; ``None`` outside links, or above 2,048 characters."""
        frame = self._frames[-1] if self._frames else None
        if frame is not None and frame.inner is not None:
            return frame.inner.destination
        if frame is None or frame.kind not in (_LINK, _DEFINITION, _ANGLE):
            return None
        return frame.destination if len(frame.destination) <= _MAX_DESTINATION_LENGTH else None

    def feed(self, text: str) -> None:
        """Read more text; afterwards ``region`` and ``role`` are those of its last character."""
        self._record_tag_link(text)
        at, end = 0, len(text)
        while at < end:
            if self._tainted and not self._frames:
                self.region, self.role = Region.MARKUP, JsonRole.TEXT
                return
            pattern = self._find_skippable() if self._phase == _BODY else None
            match = None if pattern is None else pattern.match(text, at)
            if match is None:
                self._step(text[at])
                at += 1
                continue
            at = match.end()
            if not self._frames:
                self._note_address(match[0])
            self._last, self._odd, self._after_tag = text[at - 1], False, False
            self.role = JsonRole.TEXT
            self.region = self._frames[-1].region if self._frames else Region.PROSE

    def begin_tag(self) -> None:
        """Announce a bracket that begins a tag, so that the bracket before it begins no JSON."""
        self._opener = ""

    def mark_tag(self) -> None:
        """Mark the end of the text as a tag to replace, so that ``[person 1]: `` and ``[person 1](`` begin no link.

        The caller passes the outcome to ``settle_tag`` where the chunk ends, or once it keeps its surrogates.
        """
        self._tag, self._bracket_closed = True, False

    @property
    def awaits_outcome(self) -> bool:
        """Whether the region of the text depends on the outcome of the chunk of the last tag."""
        return self._tag or self._tag_link != ""

    def settle_tag(self, *, is_replaced: bool) -> None:
        """Apply the outcome of the chunk of the last tag.

        A tag that stays makes a link of a bracket directly after it, up to what has been read since.
        """
        text, self._tag_link = self._tag_link, ""
        if is_replaced:
            return
        self._bracket_closed = self._bracket_closed or self._after_tag
        self._tag = self._after_tag = False
        if not text:
            return
        if self._frames or self._tainted or "](" in text:  # a reader of the link sees no region begin in it
            if not self._frames or self._frames[-1].kind != _UNKNOWN:
                self._give_up(Region.LINK)
            return
        state, last = (self._slash, self._opener, self._dollar), self._last
        frame = self._push(_LINK, Region.LINK)
        for at, character in enumerate(text[1:]):
            self._last = text[at]
            self._read_link(frame, _LINK, character, False)
            if not self._frames or self._frames[-1] is not frame:
                break
        self._last = last
        if not self._frames:
            self._slash, self._opener, self._dollar = state

    def _record_tag_link(self, text: str) -> None:
        """Record the text from a bracket directly after a tag on, for ``settle_tag``."""
        if self._tag_link or (self._tag and text[:1] == "(" and not self._frames):
            self._tag_link += text

    def mark_surrogate(self) -> None:
        """Mark the end of the text as a surrogate, whose original may be an address."""
        self._address = True

    def read_prose(self, text: str) -> bool:
        """Read a text if all of it is prose and changes no state; return whether it was read."""
        quiet = self._phase == _BODY and not self._frames and not self._tainted and self._find_skippable() is not None
        if not quiet or _PLAIN.fullmatch(text) is None:
            return False
        self.feed(text)
        return True

    def _find_skippable(self) -> re.Pattern[str] | None:
        """Return the pattern of characters that change nothing in the present state, or ``None``."""
        if self._last == "\r":
            return None
        if not self._frames:
            busy = self._slash or self._opener or self._dollar or self._tildes or self._tag_colon
            busy = busy or self._last in "]<" or self._bracket_closed or self._class_mark
            return None if busy else _PLAIN
        frame = self._frames[-1]
        if frame.opening or frame.closing or self._tildes:
            return None
        if frame.kind == _INLINE or (frame.kind == _FENCE and frame.started):
            busy = self._last in "<]\\" or frame.tag or frame.escaped
            busy = busy or (frame.kind == _FENCE and (frame.depth or frame.quote))
            return None if busy else _PLAIN_CODE
        if frame.kind == _UNKNOWN:
            return _PLAIN_LINE
        return None

    def read_character(self, character: str) -> Region:
        """Read one character and return its region."""
        self._record_tag_link(character)
        return self._step(character)

    def _step(self, character: str) -> Region:
        self.role = JsonRole.TEXT
        if self._tainted and not self._frames:
            self.region = Region.MARKUP
            return self.region
        self._after_tag, self._tag = self._tag, False
        if self._tag_colon:
            self._tag_colon = False
            if character not in _BLANK:  # then its chunk may keep the tag, which does define a link
                self._push(_DEFINITION, Region.LINK)
        at_start = self._phase == _START and character not in _BLANK and character != ">"
        if character == "<":
            self._angle_at_start = at_start
        self._resolve_runs(character)
        lone_return = self._last == "\r" and character != "\n"  # a line end for Markdown readers
        if (lone_return or character in _DISPUTED) and not (self._frames and self._frames[-1].kind == _UNKNOWN):
            self._give_up(Region.MARKUP)
        self._advance_line(character)
        self._count_marks(character)
        self._count_class_marks(character, at_start)
        self.region = self._read(character, at_start)
        closed = character == "]" and not self._odd
        self._bracket_closed = closed or (self._bracket_closed and character in " \t")
        if character == "\n":
            self._end_line()
        if self._stray and not self._frames:  # a reader who pairs that backtick sees other code after it
            self._give_up(Region.MARKUP)
        if self._tainted and not self._frames:
            self.region = Region.MARKUP
        self._last, self._odd = character, character == "\\" and not self._odd
        return self.region

    # Marks of the paragraph

    def _count_marks(self, character: str) -> None:
        """Count open brackets, and update whether the current chunk may be an address."""
        frame = self._frames[-1] if self._frames else None
        if frame is not None and frame.kind == _INLINE:
            frame.depth = max(0, frame.depth + (character in "[{") - (character in "]}"))
        if frame is not None and frame.kind in (_INLINE, _FENCE, _UNKNOWN, _JSON):
            return
        if character == "[" and not self._odd:
            self._image = self._last == "!" or (self._image and self._brackets > 0)
            self._brackets += 1
        elif character == "]" and not self._odd:  # in math or an address a reader may ignore this bracket
            goes_on = self._dollar or (frame is not None and frame.kind in _MATH | {_ANGLE})
            self._brackets = max(0, self._brackets - (not goes_on))
        self._note_address(character)

    def _count_class_marks(self, character: str, at_start: bool) -> None:
        """Count the marks of a line that begins with three marks, as ``!!! note``: a class name."""
        if at_start and character in _CLASS_MARKS:
            self._class_mark, self._class_marks = character, 1
        elif character == "\n":
            self._class_mark, self._class_marks = "", 0
        elif self._class_mark and character == self._class_mark:
            self._class_marks += 1
        else:
            self._class_mark = ""
            self._class_marks = self._class_marks if self._class_marks >= _FENCE_LENGTH else 0

    def _note_address(self, text: str) -> None:
        if self._braces:
            self._braces_went_on = self._braces_went_on or "\n" in text
            self._in_attributes = self._in_attributes or "=" in text or "#" in text
        else:
            self._braces_went_on = self._in_attributes = False
        blank = max(map(text.rfind, _BLANK))
        if blank >= 0:
            self._address = _IN_ADDRESS.search(text, blank + 1) is not None
        elif not self._address:
            self._address = _IN_ADDRESS.search(self._last + text) is not None

    # Lines and paragraphs

    def _advance_line(self, character: str) -> None:
        phase = self._phase
        if phase == _BODY or character == "\n":
            return
        if character == "\t":
            self._column += _TAB - self._column % _TAB
        else:
            self._column += 1
        if phase == _START:
            if character == ">":
                self._quotes += 1
                self._column = 0
            elif character in "-+*:":
                self._phase = _MARK
            elif character in "0123456789":
                self._phase = _DIGITS
            elif character not in _BLANK:
                self._phase = _BODY
        elif phase == _DIGITS:
            self._phase = _DIGITS if character in "0123456789" else _MARK if character in ".)" else _BODY
        else:
            self._phase = _START if character in _BLANK else _BODY
            self._marked = self._marked or self._phase == _START
        if character not in _BLANK and character != ">":
            self._empty = False

    def _end_line(self) -> None:
        if self._empty:
            self._end_paragraph()
        else:
            frame = self._frames[-1] if self._frames else None
            if frame is not None and frame.kind == _DEFINITION and frame.started and not (frame.angle or frame.quote):
                if frame.opening or frame.closing > 1:
                    self._pop()
                else:
                    frame.opening = True  # a title may be on the next line
        self._phase, self._quotes, self._column, self._marked, self._empty = _START, 0, 0, False, True

    def _end_paragraph(self) -> None:
        kinds = {frame.kind for frame in self._frames}
        top = self._frames[-1] if self._frames else None
        if self._quotes and top is not None and top.kind in (_INLINE, _LINK, _DEFINITION, _ANGLE):
            self._give_up(top.region)  # after four blanks the quotation mark is text, and the paragraph continues
            return
        if self._quotes and (self._brackets or self._braces):
            return
        self._open_label = self._open_label or self._brackets > 0  # some readers support labels with empty lines
        self._line_label, self._abbreviation, self._braces = False, False, 0
        if not self._image:  # the text of an image may have empty lines
            self._brackets = 0
        if top is not None and top.kind == _FENCE:
            top.torn = top.torn or top.tainted
            if top.nested and self._quotes > top.quotes:  # a quotation, which ends the list
                self._give_up(Region.CODE)
        elif top is not None and top.kind == _DEFINITION and (top.quote or not top.started):
            self._give_up(Region.LINK)  # a title may have empty lines, and for some readers a definition too
        elif top is not None and top.kind == _LINK and not top.nested:
            self._give_up(Region.LINK)  # some readers continue to the next bracket
        if top is not None and top.kind == _FENCE and top.tag not in ("'", '"') and not begins_block(top.destination):
            top.tag = ""
        if top is not None and top.kind == _FENCE:
            top.depth = 0
        if kinds & _BLOCK_MATH or _FENCE in kinds:
            return
        for frame in self._frames:  # code that no mark closes is text for a Markdown reader
            open_tag = frame.kind == _ANGLE and not frame.lost
            self._tainted = self._tainted or open_tag or (frame.kind == _INLINE and frame.tainted)
        self._frames = [frame for frame in self._frames if frame.kind in _BLOCKS]
        self._slash, self._dollar = _NONE, False
        self._html = self._html and self._quotes > 0  # an empty quotation ends no block of HTML before it

    # Code

    def _resolve_runs(self, character: str) -> None:
        """End a run of backticks or tildes before the first other character."""
        if self._tildes and character != "~":
            count, self._tildes = self._tildes, 0
            if count >= _FENCE_LENGTH:
                if self._frames and self._frames[-1].kind == _INLINE:
                    self._tainted = self._tainted or self._frames.pop().tainted
                self._open_fence("~", count)
        frame = self._frames[-1] if self._frames else None
        if frame is None or frame.kind != _INLINE or character == "`":
            return
        if frame.opening:
            frame.opening = False
            if frame.run_at_start and frame.count >= _FENCE_LENGTH:
                self._frames.pop()
                self._open_fence("`", frame.count)
            elif len(self._frames) > 1 and self._frames[-2].kind in _BLOCK_MATH | {_JSON}:
                self._frames.pop()
                self._stray = True
        elif frame.closing:
            count, frame.closing = frame.closing, 0
            if frame.run_at_start and count >= _FENCE_LENGTH:
                self._frames.pop()
                self._tainted = self._tainted or frame.tainted
                self._open_fence("`", count)
                self._frames[-1].torn = count == frame.count  # the run closes code for some readers
            elif count == frame.count:
                self._close_code(frame)

    def _open_fence(self, mark: str, count: int) -> None:
        frame = _OpenRegion(_FENCE, Region.CODE)
        frame.mark, frame.count, frame.quotes = mark, count, self._quotes
        frame.column = self._run_column
        frame.nested = self._marked or frame.column >= _NESTED_INDENT
        frame.exact = not (self._marked or self._quotes or frame.column)
        frame.uncertain = not frame.exact or self._html or self._disputed or bool(self._frames)
        frame.tainted = self._html  # an empty line ends the HTML, and with it the reading without a fence
        self._frames.append(frame)

    def _close_code(self, frame: _OpenRegion) -> None:
        """Close code; if a reader may treat it as text that opens a region, no later text is prose."""
        self._pop()
        # For a reader without fences a link or tag continues after this one.
        goes_on = frame.kind == _FENCE and (frame.depth or frame.quote or frame.tag in ("'", '"'))
        goes_on = goes_on or (frame.kind == _FENCE and frame.tag and begins_block(frame.destination))
        if frame.shifted or frame.torn or goes_on or (frame.uncertain and (frame.hazard or frame.depth or frame.tag)):
            self._give_up(Region.CODE)
        elif frame.kind == _FENCE and frame.tag:
            self._push(_ANGLE, Region.MARKUP).lost = True
        elif frame.kind == _FENCE and frame.uncertain:
            self._html = True  # a reader may pair its marks with others of the paragraph

    def _close_fence(self, frame: _OpenRegion) -> None:
        """Close a fence; Python-Markdown requires two equal lines without indentation."""
        exact = frame.opening and frame.closing == frame.count
        frame.torn = frame.torn or exact != frame.exact
        self._close_code(frame)

    def _note_hazard(self, frame: _OpenRegion, character: str) -> None:
        """Update the hazard: markup, a command or a link in code, for a reader that sees no code.

        After such an opening no code is certain.
        """
        last = self._last
        if frame.tag:
            self._read_tag_in_code(frame, character)
        if last == "<" and character in _OPENS_MARKUP:
            region = Region.MARKUP
            frame.hazard = frame.hazard or character in "!?"
            frame.tag, frame.destination = "name", character
        elif last == "]" and character in "(:":
            region, frame.hazard = Region.LINK, True
        elif last == "\\" and character in _LETTERS:
            frame.escaped = True  # one letter alone is no command
            return
        elif frame.escaped and (character in _LETTERS or character in "{[*%"):
            region, frame.hazard, frame.escaped = Region.LINK, True, False
        else:
            frame.escaped = frame.escaped and character in _BLANK
            return
        if frame.kind == _INLINE or frame.uncertain:  # a run may close it, or none
            frame.region = region

    def _read_tag_in_code(self, frame: _OpenRegion, character: str) -> None:
        """Read a character of a tag in code; a hazard is one that readers treat in two ways."""
        part = frame.tag
        if character in "<`" or (character == ">" and self._phase == _START):  # the mark of a quotation
            frame.hazard = True
        elif part in ("'", '"'):
            frame.tag = "attributes" if character == part else part
        elif character == ">":
            block = frame.kind == _INLINE and begins_block(frame.destination)
            frame.hazard = frame.hazard or block or consumes_text(frame.destination)
            frame.tag = ""
        elif character in "'\"=":
            frame.hazard = frame.hazard or part == "value" or (part == "=") == (character == "=")
            frame.tag = character
        elif character in _BLANK:
            frame.tag = part if part == "=" else "attributes"
        elif part == "=":
            frame.tag = "value"
        elif part == "name":
            frame.destination = (frame.destination + character)[:_MAX_NAME_LENGTH]

    def _read_fence(self, frame: _OpenRegion, character: str, at_start: bool) -> Region:
        self._note_hazard(frame, character)
        if not frame.started:  # the line that opens it
            if character == "\n":
                frame.started = True
                frame.exact = frame.exact and _INFO.fullmatch(frame.info) is not None
                frame.uncertain = frame.uncertain or not frame.exact
            elif character == "`" == frame.mark:  # then it is inline code
                frame.kind, frame.closing, frame.run_at_start, frame.opening = _INLINE, 1, False, False
            elif len(frame.info) <= _MAX_NAME_LENGTH:
                frame.info += character
            return frame.region
        self._follow_link_in_fence(frame, character, at_start)
        if at_start:
            column = self._column - 1
            left_list = frame.nested and self._quotes == frame.quotes and column < frame.column
            if self._quotes < frame.quotes or left_list:
                self._frames = [_OpenRegion(_UNKNOWN, Region.CODE)]  # readers disagree on its end
                return Region.CODE
            deep = column >= frame.column + _CODE_INDENT or self._quotes != frame.quotes or self._marked
            frame.closing, frame.opening = 0 if deep or character != frame.mark else 1, column == 0
            frame.shifted = column != frame.column and max(column, frame.column) >= _CODE_INDENT
        elif frame.closing and character == frame.mark and self._last == frame.mark:
            frame.closing += 1
        elif frame.closing and character not in _BLANK:
            frame.closing = 0
        elif character == "\n" and frame.closing:
            if frame.closing >= frame.count:
                self._close_fence(frame)
            frame.closing = 0
        return frame.region

    def _follow_link_in_fence(self, frame: _OpenRegion, character: str, at_start: bool) -> None:
        """Read a link or definition that only a reader without fences sees.

        ``frame.depth`` and ``frame.quote`` are set while it is open.
        """
        if self._last == "]" and character == "(":
            frame.depth = 1
        elif frame.depth and character in "()":
            frame.depth += 1 if character == "(" else -1
        if self._last == "]" and character == ":":
            frame.quote = character
        elif character not in _BLANK and not frame.closing and not (at_start and character == frame.mark):
            frame.quote = ""

    def _read_inline(self, frame: _OpenRegion, character: str, at_start: bool) -> Region:
        if (at_start and character not in _LETTERS and character < "\x80") or (
            character == ">" and self._phase == _START
        ):
            frame.torn = frame.torn or "\n" in frame.info  # another block may begin with this line
        if character == "\n":
            frame.info = character
        if character == "`":
            if frame.opening:
                frame.count += 1
            else:
                if not frame.closing:
                    frame.run_at_start = at_start
                    self._run_column = self._column - 1
                frame.closing += 1
        elif character == "~" and (at_start or self._tildes):
            self._count_tilde()
        else:
            frame.tainted = frame.tainted or (self._last == "<" and character in _OPENS_MARKUP)
            self._note_hazard(frame, character)
            frame.uncertain = frame.uncertain or character in "\n|"  # another block or cell may begin there
        return frame.region

    def _count_tilde(self) -> None:
        if not self._tildes:
            self._run_column = self._column - 1
        self._tildes += 1

    # Everything else

    def _push(self, kind: int, region: Region) -> _OpenRegion:
        frame = _OpenRegion(kind, region)
        if len(self._frames) < _MAX_DEPTH:
            self._frames.append(frame)
        else:  # the cost of a blank line grows with the depth
            self._frames = [_OpenRegion(_UNKNOWN, Region.MARKUP)]
        self._slash, self._opener, self._dollar = _NONE, "", False
        return frame

    def _pop(self) -> None:
        self._frames.pop()
        self._slash, self._opener, self._dollar = _NONE, "", False

    def _give_up(self, region: Region) -> None:
        """Treat all following text as one region."""
        self._frames = [_OpenRegion(_UNKNOWN, region)]
        self._slash, self._opener, self._dollar = _NONE, "", False

    def _taint(self) -> None:
        """Treat all text after the open regions as markup."""
        self._tainted = True

    def _read(self, character: str, at_start: bool) -> Region:
        frame = self._frames[-1] if self._frames else None
        kind = -1 if frame is None else frame.kind
        if frame is not None and kind in (_FENCE, _INLINE, _UNKNOWN, _ANGLE):
            if kind == _UNKNOWN:
                return frame.region
            if kind == _ANGLE:
                return self._read_angle(frame, character)
            return (self._read_fence if kind == _FENCE else self._read_inline)(frame, character, at_start)
        if character == "~" and (at_start or self._tildes):
            self._count_tilde()
            return Region.PROSE if frame is None else frame.region
        if frame is not None and kind == _DEFINITION and self._ends_definition(frame, character, at_start):
            self._pop()
            frame = self._frames[-1] if self._frames else None
            kind = -1 if frame is None else frame.kind
        if frame is not None and kind == _JSON:
            self._read_json(frame, character)
            escaped = False
        else:
            escaped = self._odd
        if self._dollar and self._open_math(character):
            return Region.MATH
        if frame is None and self._frames:
            frame = self._frames[-1]
            kind = frame.kind
        if self._read_command(frame, kind, character):
            return self._find_region(frame)
        if frame is not None and self._read_end(frame, kind, character, escaped):
            return frame.region
        self._read_openings(frame, kind, character, at_start, escaped)
        return self._find_region(frame)

    def _find_region(self, frame: _OpenRegion | None) -> Region:
        if frame is None:
            return Region.PROSE if not self._frames else self._frames[-1].region
        if frame.kind == _JSON and frame.inner is not None and frame.inner.region is not Region.PROSE:
            if frame.inner.region is not Region.JSON:
                return frame.inner.region
            self.role = JsonRole.SPOILER
        return frame.region

    def _read_command(self, frame: _OpenRegion | None, kind: int, character: str) -> bool:
        """Read a character of a TeX command; return whether no other rule applies to it."""
        slash = self._slash
        if slash == _NONE:
            if character == "\\":
                self._slash, self._doubled = _SLASH, False
                return kind not in (_LINK, _DEFINITION)
            return False
        if slash == _SLASH:
            self._slash = _NONE
            if character == "\\":  # a reader may treat it as an escape, another as a single backslash
                self._slash, self._doubled = _SLASH, not self._doubled
            elif character in _LETTERS:
                self._slash, self._name = _NAME, character
            elif frame is not None and (kind, character) in ((_PAREN, ")"), (_BRACKET, "]")):
                if frame.count == 1:
                    self._pop()
            elif character in "([" and kind not in _MATH | {_LINK, _DEFINITION, _JSON}:
                if character == "(":
                    self._push(_PAREN, Region.MATH)
                else:
                    self._push(_BRACKET, Region.MATH)
            else:
                return character in "`${}" and not self._doubled and kind not in (_LINK, _DEFINITION)
            return kind not in (_LINK, _DEFINITION)
        if slash == _NAME and character in _LETTERS:
            self._name = (self._name + character)[:_MAX_NAME_LENGTH]
            return False
        if slash == _NAME and self._name.endswith("def"):  # its macros may take arguments without braces
            self._give_up(Region.LINK)
            return True
        if character == "\\" and slash != _COMMENT:
            self._slash, self._doubled = _SLASH, False
            return kind not in (_LINK, _DEFINITION)
        if slash == _COMMENT and self._odd and character in "([" and kind not in _MATH | {_LINK, _DEFINITION, _JSON}:
            self._push(*(_PAREN, Region.MATH) if character == "(" else (_BRACKET, Region.MATH))  # text has no comments
            return True
        if slash == _NAME and character == "*":
            return False
        if slash == _COMMENT or character in _BLANK + "%":
            self._slash = _COMMENT if character == "%" or (slash == _COMMENT and character != "\n") else _ARGUMENTS
            return False
        self._slash = _NONE
        if character == "{" and kind != _LINK and kind != _DEFINITION:
            name, inherited = self._name, frame is not None and frame.region is Region.LINK
            if name == "begin" and not inherited:
                self._push(_BEGIN, Region.MATH)
            shown = name in _DISPLAYED_COMMANDS or name in ("begin", "end")
            self._push(_COMMAND, Region.MATH if shown and not inherited else Region.LINK)
            self._name = name
            return True
        if character == "[" and slash == _NAME and kind not in (_LINK, _DEFINITION, _JSON):
            self._push(_OPTION, Region.LINK)
            return True
        return False

    def _read_end(self, frame: _OpenRegion, kind: int, character: str, escaped: bool) -> bool:
        """Read a character that may close a region; return whether no other rule applies to it."""
        if kind in (_LINK, _DEFINITION):
            return self._read_link(frame, kind, character, escaped)
        if escaped or self._slash == _SLASH:
            return False
        if kind in _BLOCK_MATH | {_DOLLAR, _PAREN}:
            frame.count += (character == "{") - (character == "}" and frame.count > 1)
        if kind == _DOLLAR and character == "$" and frame.count == 1:
            self._pop()
            return True
        if kind == _DOLLARS and character == "$" and frame.count == 1:
            frame.closing += 1
            if frame.closing == len("$$"):
                self._pop()
            return True
        if kind == _COMMAND and character in "{}":
            frame.count += 1 if character == "{" else -1
            if not frame.count:
                self._close_command()
            return True
        if kind == _OPTION and character == "]":
            name = self._name
            self._pop()
            self._slash, self._name = _ARGUMENTS, name
            return True
        if kind == _DOLLARS:
            frame.closing = 0
        return False

    def _close_command(self) -> None:
        name = self._name
        self._pop()
        if name == "end" and self._frames and self._frames[-1].kind == _BEGIN:
            self._pop()
        self._slash, self._name = _ARGUMENTS, name if name not in ("begin", "end") else ""

    def _read_link(self, frame: _OpenRegion, kind: int, character: str, escaped: bool) -> bool:
        frame.destination = (
            (frame.destination + character)[: _MAX_DESTINATION_LENGTH + 1]
            if (
                len(frame.destination) <= _MAX_DESTINATION_LENGTH
                and (frame.destination or character not in _BLANK + "<")
            )
            else frame.destination
        )
        if (self._last == "]" and character in "(:") or (self._last == "\\" and character in _LETTERS):
            self._give_up(Region.LINK)  # no link contains this, so a reader may see another one begin
            return True
        if kind == _LINK and not frame.nested:
            self._read_plain_link(frame, character)
            return True
        escaped, frame.escaped = escaped or (frame.escaped and character == "\n"), escaped and character == "\r"
        if escaped or character == "\\":
            frame.started = True
            return False
        if not frame.started:
            if character in _BLANK or (character == ">" and self._phase == _START):  # the mark of a quotation
                frame.hazard = frame.hazard or character == "\n"
                return False
            frame.started = True
            if character == "<":
                frame.angle = frame.hazard = True
                return True
        if frame.angle:
            if character == ">" and self._phase != _START:
                frame.angle = False
            elif character in _BLANK or character in _UNLIKE_LINK or character in "~>":
                self._give_up(Region.LINK)
            return True
        if kind == _DEFINITION:
            if character in "`$<":  # for a reader that sees no definition these open a region
                self._give_up(Region.LINK)
            return False
        frame.count += (character == "(") - (character == ")")  # few readers treat such brackets as a link
        if not frame.count:
            self._pop()
        return character in "()"

    def _read_plain_link(self, frame: _OpenRegion, character: str) -> None:
        """Read ``(address "title")``; readers end any other form at different positions."""
        if frame.angle:
            frame.angle = character != ">"
            frame.closing = 0 if frame.angle else 1
            unlike = character in _BLANK or (frame.angle and character in _UNLIKE_LINK)
        elif frame.quote:
            frame.closing += character == frame.quote
            frame.quote = "" if character == frame.quote else frame.quote
            unlike = bool(frame.quote) and character in _UNLIKE_LINK
        elif character == ")":
            frame.count -= 1
            unlike = frame.count > 0 and frame.closing > 0
            if not frame.count:
                self._pop()
        elif character in " \t":
            frame.closing = max(frame.closing, int(frame.started))
            unlike = frame.count > 1
        elif not frame.started:
            frame.started, frame.angle = True, character == "<"
            unlike = not frame.angle and character in _UNLIKE_LINK
        elif frame.closing == 1 and character in "\"'" and self._last in " \t":
            frame.quote, unlike = character, False
        else:
            frame.count += character == "("
            unlike = frame.closing > 0 or (character != "(" and character in _UNLIKE_LINK)
        if unlike:
            self._give_up(Region.LINK)

    def _ends_definition(self, frame: _OpenRegion, character: str, at_start: bool) -> bool:
        """Read destination and title; return whether the character cannot belong to a definition."""
        if not frame.started or frame.angle:
            return False
        if frame.quote:
            frame.quote = "" if character == frame.quote and not self._odd else frame.quote
            return False
        if frame.opening and not at_start:  # between two lines
            return False
        if not frame.opening:
            if character in _BLANK:
                frame.closing = max(frame.closing, 1)
            if character in _BLANK or not frame.closing:
                frame.hazard = frame.hazard or character in _NO_DESTINATION
                return False
        if character in "\"'(" and frame.closing < _TITLE:
            frame.quote, frame.closing, frame.opening = ")" if character == "(" else character, _TITLE, False
            return False
        return frame.opening or (frame.closing == 1 and not frame.hazard and len(self._frames) == 1)

    def _read_openings(
        self, frame: _OpenRegion | None, kind: int, character: str, at_start: bool, escaped: bool
    ) -> None:
        last = self._last
        opens = character in _OPENS_MARKUP or (character == "\\" and frame is None)  # some readers remove the backslash
        if last == "<" and opens and self._open_tag(frame, character):
            return
        if character == "`" and not escaped:
            if at_start or kind not in _BLOCK_MATH | {_JSON}:
                opened = self._push(_INLINE, Region.CODE)
                opened.opening, opened.run_at_start = True, at_start
                self._html = self._html or self._address or kind != -1  # they may contain this backtick
                opened.uncertain = self._html or self._disputed
                self._run_column = self._column - 1
            else:
                self._stray = True
            return
        opens_link = (last == "]" or self._bracket_closed) and character == "(" and kind not in (_LINK, _DEFINITION)
        if opens_link and not (self._after_tag and self._tag_link):  # else the outcome of the tag decides
            self._push(_LINK, Region.LINK).nested = last != "]"
            return
        in_link = kind in (_LINK, _DEFINITION)
        if last == "]" and character == ":" and (self._line_label or self._open_label) and not in_link:
            self._tag_colon = self._after_tag
            if not self._after_tag:
                self._push(_DEFINITION, Region.LINK).hazard = self._abbreviation
            return
        self._abbreviation = self._abbreviation or (character == "[" and last == "*")  # its whole line is an attribute
        self._line_label = self._line_label or self._abbreviation or (character == "[" and (at_start or self._disputed))
        if kind != -1:
            return
        if self._opener and character not in _BLANK:
            opener, self._opener = self._opener, ""
            if character in ('"}' if opener == "{" else '[{"'):
                self._open_json(opener, character)
                return
        if character in "{[":
            self._opener = character
        self._braces = max(0, self._braces + (character == "{") - (character == "}"))
        self._dollar = character == "$" and not escaped

    def _open_math(self, character: str) -> bool:
        """Open math after a dollar sign; return whether no other rule applies to the character."""
        self._dollar = False
        if character == "$":
            self._push(_DOLLARS, Region.MATH)
            return True
        if character not in _BLANK and character not in "0123456789[":  # $[number 1] is an amount
            self._push(_DOLLAR, Region.MATH)
        return False

    def _open_tag(self, frame: _OpenRegion | None, character: str) -> bool:
        if frame is not None:  # a reader may see the tag instead of this region
            self._give_up(Region.MARKUP)
            return True
        opened = self._push(_ANGLE, Region.MARKUP)
        opened.destination, opened.nested = character, self._angle_at_start
        return True

    # Markup

    def _read_angle(self, frame: _OpenRegion, character: str) -> Region:
        name = frame.destination
        if frame.lost:
            if character in _REGION_OPENERS or (character == ">" and self._phase == _START):
                self._give_up_tag()
            return Region.MARKUP
        if character == ">" and self._phase == _START:  # the mark of a quotation, which ends no tag
            self._give_up_tag()
            return Region.MARKUP
        if character == ">" and name.endswith(" ") and not frame.started:  # markdown2 ends no tag here
            self._give_up_tag()
            return Region.MARKUP
        if character == ">":
            self._frames.pop()
            if not frame.started:
                self._html = True
                self._disputed = self._disputed or begins_block(name)
                if not is_harmless_tag(name):
                    self._taint()
            return frame.region
        if character in _BLANK:
            frame.angle, frame.quote = True, "" if character == " " and not frame.quote else "\n"
            if frame.started:
                self._lose_tag(frame, character)
            elif len(name) <= _MAX_NAME_LENGTH:
                frame.destination += " "
            return Region.MARKUP
        unlike = character in "<\"'=`" and (character != "=" or frame.region is not Region.LINK)
        behind = frame.angle and (character not in _WORD_IN_TAG or (frame.quote and character != "/"))
        if unlike or behind or (not frame.started and len(name) > _MAX_NAME_LENGTH):
            self._lose_tag(frame, character)
            return Region.MARKUP
        if character == ":" and not frame.started and _SCHEME.fullmatch(name):
            frame.started, frame.region = True, Region.LINK
        elif character == "@" and not name.startswith(("/", "!", "?")):
            frame.started = True
        if len(name) <= _MAX_DESTINATION_LENGTH:
            frame.destination += character
        return frame.region

    def _lose_tag(self, frame: _OpenRegion, character: str) -> None:
        """Read the start of a possible tag that is no plain tag.

        In the middle of a line it is a tag or text up to the end of the paragraph; elsewhere all later text is markup.
        """
        block = begins_block(frame.destination.split(" ")[0]) or not is_harmless_tag(frame.destination.split(" ")[0])
        if frame.nested or self._html or self._disputed or block or character in _REGION_OPENERS:
            self._give_up_tag()
        else:
            frame.lost = True

    def _give_up_tag(self) -> None:
        self._frames.clear()
        self._taint()

    # JSON

    def _open_json(self, opener: str, character: str) -> None:
        self._brackets = max(0, self._brackets - (opener + character).count("["))
        self._braces = max(0, self._braces - (opener == "{"))
        frame = self._push(_JSON, Region.JSON)
        frame.count = 1
        self._read_json(frame, character)

    def _read_json(self, frame: _OpenRegion, character: str) -> None:
        if not frame.string:
            if character not in _OUTSIDE_STRINGS:  # no JSON, so other readers may see attributes here
                self._give_up(Region.JSON)
                return
            self.role = JsonRole.SEPARATOR if character in '{}[],:"' else JsonRole.TEXT
            if character == '"':
                frame.string = True
                frame.inner = None if self._inside_string else RegionScanner(_inside_string=True)
            elif character in "{[":
                frame.count += 1
            elif character in "}]":
                frame.count -= 1
                if not frame.count:
                    self._frames.remove(frame)
            return
        decoded = character
        if frame.unicode:
            self.role = JsonRole.SPOILER
            frame.unicode = frame.unicode + character if character in _HEX else ""
            if len(frame.unicode) <= _MAX_ESCAPE_DIGITS:
                return
            decoded, frame.unicode = chr(int(frame.unicode[1:], 16)), ""
        elif frame.escaped:
            frame.escaped = False
            decoded = _ESCAPED_BLANKS.get(character, character)
            if decoded != character:
                self.role = JsonRole.SEPARATOR
            else:
                self.role = JsonRole.IGNORED if character == '"' else JsonRole.SPOILER
                if character == "u":
                    frame.unicode = "u"
                    return
        elif character == "\\":
            frame.escaped = True
            self.role = JsonRole.IGNORED
            return
        elif character == '"':
            self.role = JsonRole.SEPARATOR
            frame.string, frame.inner = False, None
            return
        if frame.inner is not None:
            frame.inner.read_character(decoded)
