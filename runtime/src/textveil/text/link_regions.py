"""Regions of links, of TeX commands and math, and of HTML tags: where they begin, continue and end.

All other text is prose. A *viewer* is a program that displays Markdown. Text that at least one viewer reads as a link,
as math or as a tag does not count as prose.
"""

import re

from textveil.text.harmless_tags import begins_block, is_harmless_tag
from textveil.text.region_state import (
    ANGLE,
    ARGUMENTS,
    BEGIN,
    BLANK,
    BLOCK_MATH,
    BRACKET,
    COMMAND,
    COMMENT,
    DEFINITION,
    DOLLAR,
    DOLLARS,
    ENDS_TAG,
    JSON,
    LETTERS,
    LINK,
    MATH,
    MAX_DESTINATION_LENGTH,
    MAX_NAME_LENGTH,
    NAME,
    NONE,
    OPTION,
    PAREN,
    SLASH,
    START,
    OpenRegion,
    Region,
    RegionState,
)

#: TeX commands whose arguments a viewer displays and never fetches.
_DISPLAYED_COMMANDS = frozenset(
    "text textbf textit textrm textsf texttt mathrm mathbf mathit mathsf mathcal mathbb operatorname frac dfrac tfrac "
    "sqrt boxed overline underline hat bar vec tilde".split()
)
#: TeX commands that define or redefine others, such as ``\\gdef``, ``\\let`` and ``\\renewcommand``.
_DEFINING_COMMAND = re.compile(
    r".*(?:def|let|command|environment|columntype|tagform|extarrow)|(?:declare|provide).*", re.IGNORECASE
)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{1,31}")
_WEB_ADDRESS = re.compile(r"(?:https?|ftp):.", re.IGNORECASE)
_WORD_IN_TAG = LETTERS | frozenset("0123456789_/")
#: Characters that open a region, or may open one, inside a possible tag.
_REGION_OPENERS = frozenset("<`$\\[]{}~\"'=")
#: Characters after which a blank and a word cannot belong to a link destination: all of ASCII except these.
_NO_DESTINATION = frozenset(map(chr, range(0x80))) - frozenset(BLANK + ",.!?-_*+0123456789") - LETTERS
#: If the destination or the title of an inline link contains one of these, viewers disagree on where the link ends.
_UNLIKE_LINK = frozenset("<>[]{}()`|\\\"'\n\r")
#: A tag such as ``[city 1]`` in the address of a link; and the start of one.
_TAG = re.compile(r"\[[A-Za-z][A-Za-z_-]* ?[0-9]+\]")
_TAG_START = re.compile(r"\[(?:[A-Za-z][A-Za-z_-]*(?: ?[0-9]*)?)?")
#: Start of an address in angle brackets that may have a tag: nothing in it begins a region if viewers see no address.
_TAGGED_ADDRESS = re.compile(r"(?:https?|ftp):[\w/.?#&*+,;=%:@-]*", re.ASCII | re.IGNORECASE)
_IN_TAGGED_ADDRESS = frozenset("0123456789_/.?#&*+,;=%:@-") | LETTERS
_TITLE = 2


def read_command(state: RegionState, frame: OpenRegion | None, kind: int, character: str) -> bool:
    """Process a character that may belong to a TeX command, and record where math begins and ends.

    Args:
        state: State of the scanner that finds code, links and markup in a reply.
        frame: The innermost open region (a part of the reply such as a link), or ``None``.
        kind: Kind of ``frame``, such as ``LINK``; -1 for ``None``.
        character: The next character.

    Returns:
        Whether the character needs no further processing.
    """
    slash = state.slash
    if slash == NONE:
        if character == "\\":
            state.slash, state.doubled = SLASH, False
            return kind not in (LINK, DEFINITION)
        return False
    if slash == SLASH:
        state.slash = NONE
        if character == "\\":  # a viewer may treat it as an escape, another as a single backslash
            state.slash, state.doubled = SLASH, not state.doubled
        elif character in LETTERS:
            state.slash, state.name = NAME, character
        elif frame is not None and (kind, character) in ((PAREN, ")"), (BRACKET, "]")):
            if frame.count == 1:
                state.pop()
        elif character in "([" and kind not in MATH | {LINK, DEFINITION, JSON}:
            if character == "(":
                state.push(PAREN, Region.MATH)
            else:
                state.push(BRACKET, Region.MATH)
        else:
            return character in "`${}" and not state.doubled and kind not in (LINK, DEFINITION)
        return kind not in (LINK, DEFINITION)
    if slash == NAME and character in LETTERS:
        state.name = (state.name + character)[:MAX_NAME_LENGTH]
        return False
    if slash == NAME and _DEFINING_COMMAND.fullmatch(state.name):  # any later command may be a link
        state.give_up(Region.LINK)
        return True
    if character == "\\" and slash != COMMENT:
        state.slash, state.doubled = SLASH, False
        return kind not in (LINK, DEFINITION)
    if slash == COMMENT and state.odd and character in "([" and kind not in MATH | {LINK, DEFINITION, JSON}:
        state.push(*(PAREN, Region.MATH) if character == "(" else (BRACKET, Region.MATH))  # text has no comments
        return True
    if slash == NAME and character == "*":
        return False
    if slash == COMMENT or character in BLANK + "%":
        state.slash = COMMENT if character == "%" or (slash == COMMENT and character != "\n") else ARGUMENTS
        return False
    state.slash = NONE
    if character == "{" and kind != LINK and kind != DEFINITION:
        name, inherited = state.name, frame is not None and frame.region is Region.LINK
        if name == "begin" and not inherited:
            state.push(BEGIN, Region.MATH)
        shown = name in _DISPLAYED_COMMANDS or name in ("begin", "end")
        state.push(COMMAND, Region.MATH if shown and not inherited else Region.LINK)
        state.name = name
        return True
    if character == "[" and slash == NAME and kind not in (LINK, DEFINITION, JSON):
        state.push(OPTION, Region.LINK)
        return True
    return False


def read_end(state: RegionState, frame: OpenRegion, kind: int, character: str, escaped: bool) -> bool:
    """Process a character that may end the innermost open link, math, tag or other region.

    Args:
        state: State of the scanner that finds code, links and markup in a reply.
        frame: The innermost open region (a part of the reply such as a link).
        kind: Kind of ``frame``, such as ``LINK``.
        character: The next character.
        escaped: Whether a backslash escapes the character.

    Returns:
        Whether the character needs no further processing.
    """
    if kind in (LINK, DEFINITION):
        return read_link(state, frame, kind, character, escaped)
    if escaped or state.slash == SLASH:
        return False
    if kind in BLOCK_MATH | {DOLLAR, PAREN}:
        frame.count += (character == "{") - (character == "}" and frame.count > 1)
    if kind == DOLLAR and character == "$" and frame.count == 1:
        state.pop()
        return True
    if kind == DOLLARS and character == "$" and frame.count == 1:
        frame.closing += 1
        if frame.closing == len("$$"):
            state.pop()
        return True
    if kind == COMMAND and character in "{}":
        frame.count += 1 if character == "{" else -1
        if not frame.count:
            _close_command(state)
        return True
    if kind == OPTION and character == "]":
        name = state.name
        state.pop()
        state.slash, state.name = ARGUMENTS, name
        return True
    if kind == DOLLARS:
        frame.closing = 0
    return False


def _close_command(state: RegionState) -> None:
    name = state.name
    state.pop()
    if name == "end" and state.frames and state.frames[-1].kind == BEGIN:
        state.pop()
    state.slash, state.name = ARGUMENTS, name if name not in ("begin", "end") else ""


def read_link(state: RegionState, frame: OpenRegion, kind: int, character: str, escaped: bool) -> bool:
    """Process a character of a link, or of the definition of a link.

    Args:
        state: State of the scanner that finds code, links and markup in a reply.
        frame: The region (part of the reply) of the link.
        kind: ``LINK`` or ``DEFINITION``.
        character: The next character.
        escaped: Whether a backslash escapes the character.

    Returns:
        Whether the character needs no further processing.
    """
    frame.destination = (
        (frame.destination + character)[: MAX_DESTINATION_LENGTH + 1]
        if (len(frame.destination) <= MAX_DESTINATION_LENGTH and (frame.destination or character not in BLANK + "<"))
        else frame.destination
    )
    if (state.last == "]" and character in "(:") or (state.last == "\\" and character in LETTERS):
        state.give_up(Region.LINK)  # a link cannot contain this, so another one may begin for some viewer
        return True
    if kind == LINK and not frame.nested:
        _read_plain_link(state, frame, character)
        return True
    escaped, frame.escaped = escaped or (frame.escaped and character == "\n"), escaped and character == "\r"
    if escaped or character == "\\":
        frame.started = True
        return False
    if not frame.started:
        if character in BLANK or (character == ">" and state.phase == START):  # the mark of a quotation
            frame.hazard = frame.hazard or character == "\n"
            return False
        frame.started = True
        if character == "<":
            frame.angle = frame.hazard = True
            return True
    if frame.angle:
        if character == ">" and state.phase != START:
            frame.angle = False
        elif character in BLANK or character in _UNLIKE_LINK or character in "~>":
            state.give_up(Region.LINK)
        return True
    if kind == DEFINITION:
        frame.torn = frame.torn or (character in "\"'" and not frame.closing)
        if character in "`$<":  # for a viewer that does not support definitions these open a region
            state.give_up(Region.LINK)
        return False
    frame.count += (character == "(") - (character == ")")  # few viewers treat such brackets as a link
    if not frame.count:
        state.pop()
    return character in "()"


def _read_plain_link(state: RegionState, frame: OpenRegion, character: str) -> None:
    """Process a character of ``(address "title")``, which all Markdown viewers end in the same way.

    The address may also contain tags such as ``[city 1]``. Then some viewers see no link. All other viewers end the
    link at the same position, provided that the link has no title, and no round bracket after a tag. If the link has
    another form, viewers may disagree, so all following text counts as a link.

    Args:
        state: State of the scanner that finds code, links and markup in a reply.
        frame: The region (part of the reply) of the link.
        character: The next character.
    """
    is_in_address = not (frame.angle or frame.quote or frame.closing) and frame.count == 1
    if frame.tag or (character == "[" and is_in_address):
        frame.started = frame.torn = True
        unlike = not _continues_tag(frame, character)
    elif frame.torn and (character in BLANK + "$" or (character in _UNLIKE_LINK and character != ")")):
        unlike = True
    elif frame.angle:
        frame.angle = character != ">"
        frame.closing = 0 if frame.angle else 1
        unlike = character in BLANK or (frame.angle and character in _UNLIKE_LINK)
    elif frame.quote:
        frame.closing += character == frame.quote
        frame.quote = "" if character == frame.quote else frame.quote
        unlike = bool(frame.quote) and character in _UNLIKE_LINK
    elif character == ")":
        frame.count -= 1
        unlike = frame.count > 0 and frame.closing > 0
        if not frame.count:
            state.pop()
    elif character in " \t":
        frame.closing = max(frame.closing, int(frame.started))
        unlike = frame.count > 1
    elif not frame.started:
        frame.started, frame.angle = True, character == "<"
        unlike = not frame.angle and character in _UNLIKE_LINK
    elif frame.closing == 1 and character in "\"'" and state.last in " \t":
        frame.quote, unlike = character, False
    else:
        frame.count += character == "("
        unlike = frame.closing > 0 or (character != "(" and character in _UNLIKE_LINK)
    if unlike:
        state.give_up(Region.LINK)


def _continues_tag(frame: OpenRegion, character: str) -> bool:
    """Return whether a character continues, or ends, a tag such as ``[city 1]`` in the address of a link."""
    tag = frame.tag + character
    frame.tag = tag if character != "]" else ""
    return len(tag) <= MAX_NAME_LENGTH and (_TAG_START if frame.tag else _TAG).fullmatch(tag) is not None


def ends_definition(state: RegionState, frame: OpenRegion, character: str, at_start: bool) -> bool:
    """Process a character of a link definition (``[name]: address "title"``), and return whether it has ended.

    Args:
        state: State of the scanner that finds code, links and markup in a reply.
        frame: The region (part of the reply) of the definition.
        character: The next character.
        at_start: Whether the character is the first one of its line after indentation and list marks.

    Returns:
        Whether the definition ended before this character.
    """
    if not frame.started or frame.angle:
        return False
    if frame.quote:
        frame.quote = "" if character == frame.quote and not state.odd else frame.quote
        return False
    if frame.opening and not at_start:  # between two lines
        return False
    if not frame.opening:
        if character in BLANK:
            frame.closing = max(frame.closing, 1)
        if character in BLANK or not frame.closing:
            frame.hazard = frame.hazard or character in _NO_DESTINATION
            return False
    if character in "\"'(" and frame.closing < _TITLE:
        frame.quote, frame.closing, frame.opening = ")" if character == "(" else character, _TITLE, False
        return False
    frame.torn = frame.torn and frame.opening
    return frame.opening or (frame.closing == 1 and not frame.hazard and len(state.frames) == 1)


def end_definition(state: RegionState, frame: OpenRegion) -> None:
    """End the definition of a link.

    If the address contains a quotation mark, all following text counts as a link. The reason is the library showdown,
    which begins an HTML attribute at that mark.

    Args:
        state: State of the scanner that finds code, links and markup in a reply.
        frame: The region (part of the reply) of the definition.
    """
    if frame.torn:
        state.give_up(Region.LINK)
    else:
        state.pop()


def open_math(state: RegionState, character: str) -> bool:
    """Process the character after a dollar sign, and begin math if the dollar sign opens math.

    Args:
        state: State of the scanner that finds code, links and markup in a reply.
        character: The next character.

    Returns:
        Whether the character needs no further processing.
    """
    state.dollar = False
    if character == "$":
        state.push(DOLLARS, Region.MATH)
        return True
    if character not in BLANK and character not in "0123456789[":  # $[number 1] is an amount
        state.push(DOLLAR, Region.MATH).hazard = character == "{"
    return False


def open_tag(state: RegionState, frame: OpenRegion | None, character: str) -> bool:
    """Begin a possible HTML tag at the character after ``<``.

    If a link or other markup is open at this point, programs that display the reply disagree on what follows. Then all
    following text counts as markup.

    Args:
        state: State of the scanner that finds code, links and markup in a reply.
        frame: The innermost open region (a part of the reply such as a link), or ``None``.
        character: The next character.

    Returns:
        Always ``True``, which means that the character needs no further processing.
    """
    if frame is not None:  # for some viewer the tag begins here, and this region does not exist
        state.give_up(Region.MARKUP)
        return True
    opened = state.push(ANGLE, Region.MARKUP)
    opened.destination, opened.nested = character, state.angle_at_start
    return True


def read_angle(state: RegionState, frame: OpenRegion, character: str) -> Region:
    """Process a character of a possible tag or address in angle brackets, and return the ``Region`` of the character.

    Args:
        state: State of the scanner that finds code, links and markup in a reply.
        frame: The region (part of the reply) of the tag.
        character: The next character.
    """
    name = frame.destination
    if frame.lost:
        if character in _REGION_OPENERS or (character == ">" and state.phase == START):
            _give_up_tag(state)
        return Region.MARKUP
    if character == ">" and state.phase == START:  # the mark of a quotation; it does not end a tag
        _give_up_tag(state)
        return Region.MARKUP
    if frame.tag or frame.torn or (character == "[" and _may_have_tag(frame)):
        return _read_tagged_address(state, frame, character)
    stays_open = state.last not in ENDS_TAG and not _WEB_ADDRESS.match(name)  # for markdown2
    if character == ">" and (stays_open or state.escaped_angles > 1):
        _give_up_tag(state)
        return Region.MARKUP
    if character == ">":
        state.frames.pop()
        if not frame.started:
            state.html = True
            state.disputed = state.disputed or begins_block(name)
            if not is_harmless_tag(name):
                state.taint()
        return frame.region
    if character in BLANK:
        frame.angle, frame.quote = True, "" if character == " " and not frame.quote else "\n"
        if frame.started:
            _lose_tag(state, frame, character)
        elif len(name) <= MAX_NAME_LENGTH:
            frame.destination += " "
        return Region.MARKUP
    unlike = character in "<\"'=`" and (character != "=" or frame.region is not Region.LINK)
    behind = frame.angle and (character not in _WORD_IN_TAG or (frame.quote and character != "/"))
    if unlike or behind or (not frame.started and len(name) > MAX_NAME_LENGTH):
        _lose_tag(state, frame, character)
        return Region.MARKUP
    if character == ":" and not frame.started and _SCHEME.fullmatch(name):
        frame.started, frame.region = True, Region.LINK
    elif character == "@" and not name.startswith(("/", "!", "?")):
        frame.started = True
    if len(name) <= MAX_DESTINATION_LENGTH:
        frame.destination += character
    return frame.region


def _may_have_tag(frame: OpenRegion) -> bool:
    """Return whether the text after ``<`` begins a plain web address, which may contain a tag such as ``[city 1]``.

    Args:
        frame: The region (part of the reply) that began at ``<``, with its text so far.
    """
    name = frame.destination
    return len(name) <= MAX_DESTINATION_LENGTH and _TAGGED_ADDRESS.fullmatch(name) is not None


def _read_tagged_address(state: RegionState, frame: OpenRegion, character: str) -> Region:
    """Process a character of an address in angle brackets that contains a tag: ``<https://example.org/[city 1]>``.

    Programs that display Markdown (*viewers*) disagree on such an address. Some see no address, because the tag has a
    blank. The others end the address at its ``>``. After this ``>``, all of them treat the text alike, with two
    exceptions. If ``>`` follows ``]``, the text up to the end of the paragraph counts as markup, because the library
    markdown2 continues an HTML tag. If a character of the address would begin code, a link or math for viewers that see
    no address, all later text counts as markup.

    Args:
        state: State of the scanner that finds code, links and markup in a reply.
        frame: The region (part of the reply) of the address.
        character: The next character.
    """
    if frame.tag or character == "[":
        frame.torn = True
        is_plain = _continues_tag(frame, character)
        if not frame.tag:  # the end of the tag
            state.brackets = max(0, state.brackets - 1)
    elif character == ">" and state.escaped_angles <= 1:
        if state.last in ENDS_TAG:
            state.frames.pop()
            return frame.region
        is_plain = frame.lost = not (frame.nested or state.html or state.disputed)
    else:
        is_plain = character in _IN_TAGGED_ADDRESS and not (character == ":" and state.last == "]")
    if not is_plain:
        _give_up_tag(state)
        return Region.MARKUP
    return frame.region


def _lose_tag(state: RegionState, frame: OpenRegion, character: str) -> None:
    """Process the character from which it is clear that the text since ``<`` is not a plain HTML tag.

    If the text begins with the name of a harmless tag, such as ``b``, in the middle of a line, the text up to the end
    of the paragraph counts as markup: some viewers still see a tag. Otherwise all later text counts as markup.

    Args:
        state: State of the scanner that finds code, links and markup in a reply.
        frame: The region (part of the reply) of the tag.
        character: The character.
    """
    block = begins_block(frame.destination.split(" ")[0]) or not is_harmless_tag(frame.destination.split(" ")[0])
    if frame.nested or state.html or state.disputed or block or character in _REGION_OPENERS:
        _give_up_tag(state)
    else:
        frame.lost = True


def _give_up_tag(state: RegionState) -> None:
    state.frames.clear()
    state.taint()
