"""Scanner of replies, which assigns a region (kind of text, such as prose or code) to each character.

Regions are running text (prose), code, math, JSON, links and markup. A *viewer* is a program that displays Markdown.
The scanner assumes that an attacker wrote the reply: where viewers disagree, a character is not prose. Each character
gets its region as soon as it is read, so the result does not depend on how a stream is split. The depth of nesting is
limited, which bounds the memory. ``docs/restoring.md`` describes every state. That document calls a viewer a *reader*.
"""

import re

from textveil.text.code_regions import count_tilde, read_fence, read_inline, resolve_runs
from textveil.text.harmless_tags import begins_block
from textveil.text.link_regions import (
    end_definition,
    ends_definition,
    open_math,
    open_tag,
    read_angle,
    read_command,
    read_end,
)
from textveil.text.region_state import (
    ANGLE,
    BEGIN,
    BLANK,
    BLOCK_MATH,
    BODY,
    BRACKET,
    DEFINITION,
    DOLLAR,
    DOLLARS,
    FENCE,
    FENCE_LENGTH,
    INLINE,
    JSON,
    LETTERS,
    LINK,
    MATH,
    MAX_DESTINATION_LENGTH,
    MAX_ESCAPE_DIGITS,
    NONE,
    OPENS_MARKUP,
    START,
    UNKNOWN,
    JsonRole,
    OpenRegion,
    Region,
)
from textveil.text.region_tags import TagState

#: Consecutive characters at which no region begins or ends: in prose, in code, and where only a line end matters.
_PLAIN = re.compile(r"[^\n\r\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff`$\\\[\]{}<]+")
_PLAIN_CODE = re.compile(r"[^\n\r\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff`<|\\\[\]{}]+")
_PLAIN_LINE = re.compile(r"[^\n\r\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff]+")
#: Characters that some Markdown viewer removes or treats as a line end: controls other than tab and line end, line and
#: paragraph separators, the byte order mark. Python-Markdown removes U+0002, so that `<` U+0002 `i` becomes a tag.
_DISPUTED = frozenset(
    [chr(code) for code in (*range(0x09), *range(0x0B, 0x0D), *range(0x0E, 0x20), *range(0x7F, 0xA0))]
) | frozenset("\u2028\u2029\ufeff")
#: Characters that every address in running text contains, whatever its scheme.
_IN_ADDRESS = re.compile(r"[.:@]|//")
_ESCAPED_BLANKS = {"n": "\n", "r": "\r", "t": "\t"}
_HEX = frozenset("0123456789abcdefABCDEF")
_OUTSIDE_STRINGS = frozenset('{}[],:"+-.0123456789' + BLANK) | LETTERS
_BLOCKS = frozenset((FENCE, DOLLARS, BRACKET, BEGIN, JSON, UNKNOWN))


class RegionScanner(TagState):
    """Assigns a region (prose, code, math, JSON, link or markup) to each character of a reply, part by part.

    Attributes:
        region: Region of the last character.
        role: Role of the last character in JSON; ``JsonRole.TEXT`` elsewhere.
    """

    @property
    def enclosure(self) -> Region | None:
        """Region, such as code, that a word would get here because of open brackets or its line; ``None`` for prose."""
        if self.brackets:
            return Region.LINK
        if self.class_marks >= FENCE_LENGTH:
            return Region.MARKUP
        if self.braces and (self.template_braces or self.in_attributes or not self.braces_went_on):
            return Region.MARKUP
        begins_line = self.phase == START and self.empty and self.column <= (self.quotes > 0)
        if self.lines.is_markup(begins_unindented_line=begins_line):
            return Region.MARKUP
        if self.lines.is_code:
            return Region.CODE
        frame = self.frames[-1] if self.frames else None
        if frame is not None and frame.kind == INLINE and frame.depth:
            return Region.LINK
        return None if frame is None or frame.inner is None else frame.inner.enclosure

    @property
    def is_indented(self) -> bool:
        """Whether Markdown treats the line as code because of its indentation; also within a JSON string."""
        inner = self.frames[-1].inner if self.frames else None
        return self.lines.is_indented or (inner is not None and inner.is_indented)

    @property
    def is_in_certain_fence(self) -> bool:
        """Whether every program that displays standard Markdown sees the last character inside a fenced code block."""
        frame = self.frames[-1] if self.frames else None
        return frame is not None and frame.kind == FENCE and frame.started and not frame.uncertain

    @property
    def is_sealed(self) -> bool:
        """Whether no original word may be put back at this position of the reply, under any options.

        The value is true on the opening line of a fenced code block, and in a block that Markdown viewers (programs
        that display the reply) show as a picture. It is also true wherever viewers disagree.
        """
        frame = self.frames[-1] if self.frames else None
        if frame is None or frame.inner is not None:
            return frame is not None and frame.inner is not None and frame.inner.is_sealed
        return frame.kind == UNKNOWN or (frame.kind == FENCE and (not frame.started or frame.is_picture))

    @property
    def is_neutral(self) -> bool:
        """Whether all programs that display Markdown treat the following text as if a new reply began here."""
        is_odd = self.tainted or self.html or self.line_label or self.odd or self.tag
        is_odd = is_odd or self.disputed or self.abbreviation or self.braces > 0 or self.stray
        is_odd = is_odd or not self.lines.is_neutral
        return not is_odd and self.enclosure is None and self._find_skippable() is _PLAIN

    @property
    def destination(self) -> str | None:
        """The address of the open link, as far as it was read; ``None`` outside links or above 2,048 characters."""
        frame = self.frames[-1] if self.frames else None
        if frame is not None and frame.inner is not None:
            return frame.inner.destination
        if frame is None or frame.kind not in (LINK, DEFINITION, ANGLE):
            return None
        return frame.destination if len(frame.destination) <= MAX_DESTINATION_LENGTH else None

    def feed(self, text: str) -> None:
        """Read the next part of the reply. Afterward ``region`` and ``role`` describe its last character."""
        self.record_tag_link(text)
        self.end_tag(text)
        at, end = 0, len(text)
        while at < end:
            if self.tainted and not self.frames:
                self.region, self.role = Region.MARKUP, JsonRole.TEXT
                return
            pattern = self._find_skippable() if self.phase == BODY else None
            match = None if pattern is None else pattern.match(text, at)
            if match is None:
                self._step(text[at])
                at += 1
                continue
            at = match.end()
            self._read_skippable(match[0])

    def mark_surrogate(self) -> None:
        """Record that the text so far ends with a surrogate (replacement), whose original may be an address."""
        self.address = True
        self.lines.end_surrogate()

    def read_prose(self, text: str) -> bool:
        """Read ``text`` in one step if it is running text throughout, and return whether it was read.

        The result is false if code, a link or markup is open, or if ``text`` has a character that could begin one. Then
        nothing was read.
        """
        quiet = self.phase == BODY and not self.frames and not self.tainted and self._find_skippable() is not None
        if not quiet or _PLAIN.fullmatch(text) is None:
            return False
        self.record_tag_link(text)
        self._read_skippable(text)
        return True

    def _read_skippable(self, text: str) -> None:
        """Read characters at which no code, link or markup begins or ends (those that ``_find_skippable`` permits)."""
        if self.frames:
            self.region = self.frames[-1].region
        else:
            self._note_address(text)
            self.lines.read_text(text)
            self.region = Region.PROSE
        self.last, self.odd, self.after_tag, self.role = text[-1], False, False, JsonRole.TEXT

    def _find_skippable(self) -> re.Pattern[str] | None:
        """Return a pattern for text in which nothing can begin or end at present; ``None`` if any text might.

        Code, links and markup can begin or end. Text that matches the pattern can be read in one step.
        """
        if self.last == "\r" or self.escaped_angles or self.template:
            return None
        if not self.frames:
            busy = self.slash or self.opener or self.dollar or self.tildes or self.tag_colon
            busy = busy or self.last in "]<" or self.bracket_closed or self.class_mark
            return None if busy else _PLAIN
        frame = self.frames[-1]
        if frame.opening or frame.closing or self.tildes:
            return None
        if frame.kind == INLINE or (frame.kind == FENCE and frame.started):
            busy = self.last in "<]\\" or frame.tag or frame.escaped
            busy = busy or (frame.kind == FENCE and (frame.depth or frame.quote))
            return None if busy else _PLAIN_CODE
        if frame.kind == UNKNOWN:
            return _PLAIN_LINE
        return None

    def read_character(self, character: str) -> Region:
        """Read one character, and return its region (kind of text, such as prose or code)."""
        self.record_tag_link(character)
        return self._step(character)

    def _step(self, character: str) -> Region:
        self.role = JsonRole.TEXT
        if self.tainted and not self.frames:
            self.region = Region.MARKUP
            return self.region
        self.after_tag, self.tag = self.tag, False
        if self.tag_colon:
            self.tag_colon = False
            if character not in BLANK:  # the tag may stay, and then it defines a link
                self.push(DEFINITION, Region.LINK)
        at_start = self.phase == START and character not in BLANK and character != ">"
        self.read_line_start(character, at_start)
        resolve_runs(self, character)
        lone_return = self.last == "\r" and character != "\n"  # a line end for Markdown viewers
        if (lone_return or character in _DISPUTED) and not (self.frames and self.frames[-1].kind == UNKNOWN):
            self.give_up(Region.MARKUP)
        self.advance_line(character)
        self._count_marks(character)
        self.count_class_marks(character, at_start)
        self.count_escaped_angles(character)
        self.read_template(character)
        self.region = self._read_character(character, at_start)
        self.bracket_closed = (character == "]" and not self.odd) or (self.bracket_closed and character in " \t")
        if character == "\n":
            self._end_line()
        elif self.phase == BODY:
            self.read_in_line(character)
        elif self.phase != START:
            self.lines.read_mark(character)
        if self.stray and not self.frames:  # for a viewer that pairs that backtick, other text is code
            self.give_up(Region.MARKUP)
        if (self.tainted and not self.frames) or (self.template and self.region is not Region.CODE):
            self.region = Region.MARKUP
        self.last, self.odd = character, character == "\\" and not self.odd
        return self.region

    def _count_marks(self, character: str) -> None:
        """Count open brackets, which may begin a link, and record whether an address begins since the last blank."""
        frame = self.frames[-1] if self.frames else None
        if frame is not None and frame.kind == INLINE:
            frame.depth = max(0, frame.depth + (character in "[{") - (character in "]}"))
        if frame is not None and frame.kind in (INLINE, FENCE, UNKNOWN, JSON):
            return
        if character == "[" and not self.odd:
            self.image = self.last == "!" or (self.image and self.brackets > 0)
            self.brackets += 1
        elif character == "%" and self.last == "[":
            self.image = True  # a template tag such as [% NAME %] may have empty lines too
        elif character == "]" and not self.odd:  # in math or an address a viewer may ignore this bracket
            goes_on = self.dollar or (frame is not None and frame.kind in MATH | {ANGLE})
            self.brackets = max(0, self.brackets - (not goes_on))
        self._note_address(character)

    def _note_address(self, text: str) -> None:
        if self.braces:
            self.braces_went_on = self.braces_went_on or "\n" in text
            self.in_attributes = self.in_attributes or "=" in text or "#" in text
        else:
            self.braces_went_on = self.in_attributes = False
        if not self.address and _IN_ADDRESS.search(self.last + text) is None:  # most texts
            return
        blank = max(map(text.rfind, BLANK))
        if blank >= 0:
            self.address = _IN_ADDRESS.search(text, blank + 1) is not None
        elif not self.address:
            self.address = True

    def _end_line(self) -> None:
        self.lines.end_line(is_empty=self.empty)
        if self.empty:
            self._end_paragraph()
        else:
            frame = self.frames[-1] if self.frames else None
            if frame is not None and frame.kind == DEFINITION and frame.started and not (frame.angle or frame.quote):
                if frame.opening or frame.closing > 1:
                    end_definition(self, frame)
                else:
                    frame.opening = True  # a title may be on the next line
        self.phase, self.quotes, self.column, self.marked, self.empty = START, 0, 0, False, True

    def _end_paragraph(self) -> None:
        kinds = {frame.kind for frame in self.frames}
        top = self.frames[-1] if self.frames else None
        if self.quotes and top is not None and top.kind in (INLINE, LINK, DEFINITION, ANGLE):
            self.give_up(top.region)  # after four blanks the quotation mark is text, and the paragraph continues
            return
        if self.quotes and (self.brackets or self.braces):
            return
        self.open_label = self.open_label or self.brackets > 0  # some viewers support labels with empty lines
        self.line_label, self.abbreviation = False, False
        self.braces = self.braces if self.template_braces else 0
        if not self.image:  # the text of an image may have empty lines
            self.brackets = 0
        if top is not None and top.kind == FENCE:
            top.torn = top.torn or top.tainted
            if top.nested and self.quotes > top.quotes:  # a quotation, which ends the list
                self.give_up(Region.CODE)
        elif top is not None and top.kind == DEFINITION and (top.quote or top.torn or not top.started):
            self.give_up(Region.LINK)  # a title may have empty lines, and for some viewers a definition too
        elif top is not None and ((top.kind == LINK and not top.nested) or (top.kind == INLINE and top.hazard)):
            self.give_up(Region.LINK)  # some viewers continue to the next bracket
        elif top is not None and top.kind == DOLLAR and top.hazard and top.count > 1:
            self.give_up(Region.MATH)  # a program that fills in templates continues to the brace
        if top is not None and top.kind == FENCE and top.tag not in ("'", '"') and not begins_block(top.destination):
            top.tag = ""
        if top is not None and top.kind == FENCE:
            top.depth = 0
        if kinds & BLOCK_MATH or FENCE in kinds:
            return
        for frame in self.frames:  # code that no mark closes is text for a Markdown viewer
            open_tag = frame.kind == ANGLE and not frame.lost
            self.tainted = self.tainted or open_tag or (frame.kind == INLINE and frame.tainted)
        self.frames = [frame for frame in self.frames if frame.kind in _BLOCKS]
        self.slash, self.dollar = NONE, False
        self.html = self.html and self.quotes > 0  # an empty quotation ends no block of HTML before it

    def _read_character(self, character: str, at_start: bool) -> Region:
        frame = self.frames[-1] if self.frames else None
        kind = -1 if frame is None else frame.kind
        if frame is not None and kind in (FENCE, INLINE, UNKNOWN, ANGLE):
            if kind == UNKNOWN:
                return frame.region
            if kind == ANGLE:
                return read_angle(self, frame, character)
            return (read_fence if kind == FENCE else read_inline)(self, frame, character, at_start)
        if character == "~" and (at_start or self.tildes):
            count_tilde(self)
            return Region.PROSE if frame is None else frame.region
        if frame is not None and kind == DEFINITION and ends_definition(self, frame, character, at_start):
            end_definition(self, frame)
            frame = self.frames[-1] if self.frames else None
            kind = -1 if frame is None else frame.kind
        if kind == UNKNOWN:
            return Region.LINK
        if frame is not None and kind == JSON:
            self._read_json(frame, character)
            escaped = False
        else:
            escaped = self.odd
        if self.dollar and open_math(self, character):
            return Region.MATH
        if frame is None and self.frames:
            frame = self.frames[-1]
            kind = frame.kind
        if read_command(self, frame, kind, character):
            return self._find_region(frame)
        if frame is not None and read_end(self, frame, kind, character, escaped):
            return frame.region
        self._read_openings(frame, kind, character, at_start, escaped)
        return self._find_region(frame)

    def _find_region(self, frame: OpenRegion | None) -> Region:
        if frame is None:
            return Region.PROSE if not self.frames else self.frames[-1].region
        if frame.kind == JSON and frame.inner is not None and frame.inner.region is not Region.PROSE:
            if frame.inner.region is not Region.JSON:
                return frame.inner.region
            self.role = JsonRole.SPOILER
        return frame.region

    def _read_openings(
        self, frame: OpenRegion | None, kind: int, character: str, at_start: bool, escaped: bool
    ) -> None:
        last = self.last
        opens = character in OPENS_MARKUP or (character == "\\" and frame is None)  # some viewers remove the backslash
        if last == "<" and opens and open_tag(self, frame, character):
            return
        if character == "`" and not escaped:
            if at_start or kind not in BLOCK_MATH | {JSON}:
                opened = self.push(INLINE, Region.CODE)
                opened.opening, opened.run_at_start = True, at_start
                self.html = self.html or self.address or kind != -1  # they may contain this backtick
                opened.uncertain = self.html or self.disputed
                self.run_column = self.column - 1
            else:
                self.stray = True
            return
        opens_link = (last == "]" or self.bracket_closed) and character == "(" and kind not in (LINK, DEFINITION)
        if opens_link and not (self.after_tag and self.tag_link):  # else the outcome of the tag decides
            self.push(LINK, Region.LINK).nested = last != "]"
            return
        in_link = kind in (LINK, DEFINITION)
        if last == "]" and character == ":" and (self.line_label or self.open_label) and not in_link:
            self.tag_colon = self.after_tag
            if not self.after_tag:
                self.push(DEFINITION, Region.LINK).hazard = self.abbreviation
            return
        self.abbreviation = self.abbreviation or (character == "[" and last == "*")  # its whole line is an attribute
        self.line_label = self.line_label or self.abbreviation or (character == "[" and (at_start or self.disputed))
        if kind != -1:
            return
        if self.opener and character not in BLANK:
            opener, self.opener = self.opener, ""
            if character in ('"}' if opener == "{" else '[{"'):
                self._open_json(opener, character)
                return
        if character in "{[":
            self.opener = character
        self.count_braces(character)
        self.dollar = character == "$" and not escaped

    def _open_json(self, opener: str, character: str) -> None:
        self.brackets = max(0, self.brackets - (opener + character).count("["))
        self.braces = max(0, self.braces - (opener == "{"))
        frame = self.push(JSON, Region.JSON)
        frame.count = 1
        self._read_json(frame, character)

    def _read_json(self, frame: OpenRegion, character: str) -> None:
        if not frame.string:
            if character not in _OUTSIDE_STRINGS:  # no JSON, so other viewers may see attributes here
                self.give_up(Region.JSON)
                return
            self.role = JsonRole.SEPARATOR if character in '{}[],:"' else JsonRole.TEXT
            if character == '"':
                frame.string = True
                frame.inner = None if self.inside_string else RegionScanner(is_inside_string=True)
            elif character in "{[":
                frame.count += 1
            elif character in "}]":
                frame.count -= 1
                if not frame.count:
                    self.frames.remove(frame)
            return
        decoded = character
        if frame.unicode:
            self.role = JsonRole.SPOILER
            frame.unicode = frame.unicode + character if character in _HEX else ""
            if len(frame.unicode) <= MAX_ESCAPE_DIGITS:
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
