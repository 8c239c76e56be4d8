"""Regions of code in a reply: fenced blocks, and inline code between backticks.

A *viewer* is a program that displays Markdown, for example a chat client. Viewers end code at different marks. A region
of code is *uncertain* if some viewers do not treat it as code. A *hazard* is markup in the code on which such viewers
would act.
"""

import re

from textveil.text.harmless_tags import begins_block, consumes_text
from textveil.text.region_state import (
    ANGLE,
    BLANK,
    BLOCK_MATH,
    CODE_INDENT,
    ENDS_TAG,
    FENCE,
    FENCE_LENGTH,
    INLINE,
    JSON,
    LETTERS,
    MAX_NAME_LENGTH,
    NESTED_INDENT,
    OPENS_MARKUP,
    START,
    UNKNOWN,
    OpenRegion,
    Region,
    RegionState,
)

#: The text after the opening marks with which every viewer treats the line as the start of a fenced block.
_INFO = re.compile(r" *[A-Za-z0-9_#.+-]* *\r?")
#: Languages that apps display as a picture, a map or math in place of the code. Their code may contain addresses.
_PICTURE_LANGUAGES = frozenset(
    "mermaid plantuml c4plantuml puml uml graphviz dot d2 vega vegalite kroki nomnoml wavedrom bytefield ditaa svgbob "
    "pikchr excalidraw drawio bpmn structurizr blockdiag seqdiag actdiag nwdiag packetdiag rackdiag tikz flowchart "
    "mindmap markmap geojson topojson svg math echarts chart plotly embed oembed iframe".split()
)
_INFO_WORD = re.compile(r"[a-z0-9]+")


def resolve_runs(state: RegionState, character: str) -> None:
    """Decide whether the backticks or tildes that were just read open or close code. Call this at the next character.

    Args:
        state: State of the scanner that finds code, links and markup in a reply.
        character: The next character.
    """
    if state.tildes and character != "~":
        count, state.tildes = state.tildes, 0
        if count >= FENCE_LENGTH:
            if state.frames and state.frames[-1].kind == INLINE:
                state.tainted = state.tainted or state.frames.pop().tainted
            _open_fence(state, "~", count)
    frame = state.frames[-1] if state.frames else None
    if frame is None or frame.kind != INLINE or character == "`":
        return
    if frame.opening:
        frame.opening = False
        if frame.run_at_start and frame.count >= FENCE_LENGTH:
            state.frames.pop()
            _open_fence(state, "`", frame.count)
        elif len(state.frames) > 1 and state.frames[-2].kind in BLOCK_MATH | {JSON}:
            state.frames.pop()
            state.stray = True
        else:  # for snarkdown each backtick of a longer run opens or closes code
            frame.uncertain = frame.uncertain or frame.count > 1
    elif frame.closing:
        count, frame.closing = frame.closing, 0
        if frame.run_at_start and count >= FENCE_LENGTH:
            state.frames.pop()
            state.tainted = state.tainted or frame.tainted
            _open_fence(state, "`", count)
            state.frames[-1].torn = count == frame.count  # the run closes code for some viewers
        elif count == frame.count:
            _close_code(state, frame)
        else:
            frame.uncertain = True


def _open_fence(state: RegionState, mark: str, count: int) -> None:
    frame = OpenRegion(FENCE, Region.CODE)
    frame.mark, frame.count, frame.quotes = mark, count, state.quotes
    frame.column = state.run_column
    frame.nested = state.marked or frame.column >= NESTED_INDENT
    frame.exact = not (state.marked or state.quotes or frame.column)
    frame.uncertain = not frame.exact or state.html or state.disputed or bool(state.frames)
    frame.tainted = state.html  # an empty line ends the HTML, and with it the reading without a fence
    state.frames.append(frame)


def _close_code(state: RegionState, frame: OpenRegion) -> None:
    """Close a region of code, because its closing mark was read.

    If some Markdown viewers (programs that display the reply) may see the start of another region inside this code,
    such as a link, all following text counts as code. If they see only the start of a tag, the text up to the end of
    the paragraph counts as markup.

    Args:
        state: State of the scanner that finds code, links and markup in a reply.
        frame: The region (part of the reply) of the code.
    """
    state.pop()
    # For a viewer that does not support fences, a link or tag inside the fence continues after it.
    goes_on = frame.kind == FENCE and (frame.depth or frame.quote or frame.tag in ("'", '"'))
    goes_on = goes_on or (frame.kind == FENCE and frame.tag and begins_block(frame.destination))
    if frame.shifted or frame.torn or goes_on or (frame.uncertain and (frame.hazard or frame.depth or frame.tag)):
        state.give_up(Region.CODE)
    elif frame.kind == FENCE and frame.tag:
        state.push(ANGLE, Region.MARKUP).lost = True
    elif frame.kind == FENCE and frame.uncertain:
        state.html = True  # a viewer may pair its marks with others of the paragraph


def _close_fence(state: RegionState, frame: OpenRegion) -> None:
    """Close a fenced block of code, because its closing fence of backticks or tildes was read.

    The library Python-Markdown requires that both fences have the same length and no indentation.

    Args:
        state: State of the scanner that finds code, links and markup in a reply.
        frame: The region (part of the reply) of the code.
    """
    exact = frame.opening and frame.closing == frame.count
    frame.torn = frame.torn or exact != frame.exact
    _close_code(state, frame)


def _note_hazard(state: RegionState, frame: OpenRegion, character: str) -> None:
    """Process a character of code, and record markup, commands and links in the code.

    A Markdown viewer is a program that displays the reply. If a viewer does not treat the region as code, it acts on
    such content. So if viewers may disagree about the region, such content and all text after it count as markup or as
    a link.

    Args:
        state: State of the scanner that finds code, links and markup in a reply.
        frame: The region (part of the reply) of the code.
        character: The next character.
    """
    last = state.last
    if frame.tag:
        _read_tag_in_code(state, frame, character)
    if last == "<" and character in OPENS_MARKUP:
        region = Region.MARKUP
        frame.hazard = frame.hazard or character in "!?"
        frame.tag, frame.destination = "name", character
    elif last == "]" and character in "(:":
        region, frame.hazard = Region.LINK, True
    elif last == "\\" and character in LETTERS:
        frame.escaped = True  # a backslash and one letter are not yet a command
        return
    elif frame.escaped and (character in LETTERS or character in "{[*%"):
        region, frame.hazard, frame.escaped = Region.LINK, True, False
    else:
        frame.escaped = frame.escaped and character in BLANK
        return
    if frame.kind == INLINE or frame.uncertain:  # not certain that it ends as code
        frame.region = region


def _read_tag_in_code(state: RegionState, frame: OpenRegion, character: str) -> None:
    """Process a character of an HTML tag in code, and record a hazard if programs may disagree where the tag ends.

    A hazard is markup in the code on which a Markdown viewer may act if the viewer does not treat this text as code.

    Args:
        state: State of the scanner that finds code, links and markup in a reply.
        frame: The region (part of the reply) of the code.
        character: The next character.
    """
    part = frame.tag
    if character in "<`" or (character == ">" and state.phase == START):  # the mark of a quotation
        frame.hazard = True
    elif part in ("'", '"'):
        frame.tag = "attributes" if character == part else part
    elif character == ">" and state.last not in ENDS_TAG:
        frame.hazard = True
    elif character == ">":
        block = frame.kind == INLINE and begins_block(frame.destination)
        frame.hazard = frame.hazard or block or consumes_text(frame.destination)
        frame.tag = ""
    elif character in "'\"=":
        frame.hazard = frame.hazard or part == "value" or (part == "=") == (character == "=")
        frame.tag = character
    elif character in BLANK:
        frame.tag = part if part == "=" else "attributes"
    elif part == "=":
        frame.tag = "value"
    elif part == "name":
        frame.destination = (frame.destination + character)[:MAX_NAME_LENGTH]


def read_fence(state: RegionState, frame: OpenRegion, character: str, at_start: bool) -> Region:
    """Process a character of a fenced block of code, and return the kind of text (``Region``) of this character.

    Args:
        state: State of the scanner that finds code, links and markup in a reply.
        frame: The region (part of the reply) of the block.
        character: The next character.
        at_start: Whether the character is the first one of its line after indentation and list marks.
    """
    _note_hazard(state, frame, character)
    if not frame.started:  # the line that opens it
        if character == "\n":
            frame.started = True
            frame.exact = frame.exact and _INFO.fullmatch(frame.info) is not None
            frame.uncertain = frame.uncertain or not frame.exact
            if frame.uncertain and (frame.hazard or frame.tag):
                frame.region = Region.MARKUP
            frame.is_picture = _may_be_picture(frame.info)
        elif character == "`" == frame.mark:  # a backtick in the opening line: it is inline code instead
            frame.kind, frame.closing, frame.run_at_start, frame.opening = INLINE, 1, False, False
        elif len(frame.info) <= MAX_NAME_LENGTH:
            frame.info += character
        return frame.region
    _follow_link_in_fence(state, frame, character, at_start)
    if at_start:
        column = state.column - 1
        left_list = frame.nested and state.quotes == frame.quotes and column < frame.column
        if state.quotes < frame.quotes or left_list:
            state.frames = [OpenRegion(UNKNOWN, Region.CODE)]  # viewers disagree on where the code ends
            return Region.CODE
        deep = column >= frame.column + CODE_INDENT or state.quotes != frame.quotes or state.marked
        frame.closing, frame.opening = 0 if deep or character != frame.mark else 1, column == 0
        frame.shifted = column != frame.column and max(column, frame.column) >= CODE_INDENT
    elif frame.closing and character == frame.mark and state.last == frame.mark:
        frame.closing += 1
    elif frame.closing and character not in BLANK:
        frame.closing = 0
    elif character == "\n" and frame.closing:
        if frame.closing >= frame.count:
            _close_fence(state, frame)
        frame.closing = 0
    return frame.region


def _may_be_picture(info: str) -> bool:
    """Return whether a Markdown viewer may display a fenced block as a picture.

    Args:
        info: The text after the opening marks, such as ``mermaid``. The result is also true if this text has an
            ampersand (an HTML entity) or a backslash, or is very long.
    """
    words = _INFO_WORD.findall(info.lower())
    return "&" in info or "\\" in info or len(info) > MAX_NAME_LENGTH or not _PICTURE_LANGUAGES.isdisjoint(words)


def _follow_link_in_fence(state: RegionState, frame: OpenRegion, character: str, at_start: bool) -> None:
    """Track links in a fenced block, character by character, for programs that do not support fenced blocks.

    While a link is open, ``frame.depth`` is positive. While the definition of a link is open, ``frame.quote`` is not
    empty.

    Args:
        state: State of the scanner that finds code, links and markup in a reply.
        frame: The region (part of the reply) of the block.
        character: The next character.
        at_start: Whether the character is the first one of its line after indentation and list marks.
    """
    if state.last == "]" and character == "(":
        frame.depth = 1
    elif frame.depth and character in "()":
        frame.depth += 1 if character == "(" else -1
    if state.last == "]" and character == ":":
        frame.quote = character
    elif character not in BLANK and not frame.closing and not (at_start and character == frame.mark):
        frame.quote = ""


def read_inline(state: RegionState, frame: OpenRegion, character: str, at_start: bool) -> Region:
    """Process a character of inline code, and return the kind of text (``Region``) of this character.

    Args:
        state: State of the scanner that finds code, links and markup in a reply.
        frame: The region (part of the reply) of the code.
        character: The next character.
        at_start: Whether the character is the first one of its line after indentation and list marks.
    """
    if (at_start and character not in LETTERS and character < "\x80") or (character == ">" and state.phase == START):
        frame.torn = frame.torn or "\n" in frame.info  # for some viewers this line begins another block
    if character == "\n":
        frame.info = character
    if character == "`":
        if frame.opening:
            frame.count += 1
        else:
            if not frame.closing:
                frame.run_at_start = at_start
                state.run_column = state.column - 1
            frame.closing += 1
    elif character == "~" and (at_start or state.tildes):
        count_tilde(state)
    else:
        frame.tainted = frame.tainted or (state.last == "<" and character in OPENS_MARKUP)
        _note_hazard(state, frame, character)
        frame.uncertain = frame.uncertain or character in "\n|"  # for some viewers another block or cell begins there
    return frame.region


def count_tilde(state: RegionState) -> None:
    """Count a tilde. Three or more consecutive tildes may begin or end a fenced block of code (``~~~``)."""
    if not state.tildes:
        state.run_column = state.column - 1
    state.tildes += 1
