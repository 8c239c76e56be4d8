"""Tags of the sanitized text, such as ``[person 1]``, in the scanner of replies.

Square brackets may begin links in Markdown, so how the text after a tag is read depends on whether the tag is replaced
by its original. ``[person 1](`` begins a link only if the tag stays.
"""

import re

from textveil.text.link_regions import read_link
from textveil.text.region_state import BODY, LINK, UNKNOWN, JsonRole, Region, RegionState

#: Characters after a tag at which a link or the address of a link may begin.
_AFTER_LABEL = frozenset("(:")
_TAG = re.compile(r"\[[A-Za-z][A-Za-z-]+ [0-9]+\]")


class TagState(RegionState):
    """State of the scanner of replies that depends on tags such as ``[person 1]``.

    The text after a tag can be a link only if restoring leaves the tag in the reply. Until it is decided whether an
    original replaces the last tag, the object stores the text after this tag.
    """

    def begin_tag(self) -> None:
        """Prepare for a tag such as ``[city 1]`` as the next text, so that its bracket does not begin JSON."""
        self.opener = ""

    def read_tag(self, tag: str) -> bool:
        """Read a tag such as ``[city 1]`` in one step if it is in running text; return whether it was read.

        This has the same effect as ``begin_tag`` and a call for each character, but is faster. The result is false for
        a tag at the start of a line, and after marks that may begin code, a link or markup.

        Before the call, ``RegionScanner.enclosure`` must be ``None``: neither the line nor brackets make the text
        around the tag code or markup.
        """
        special = self.frames or self.phase != BODY or self.tainted or self.slash or self.opener or self.dollar
        special = special or self.tildes or self.tag or self.tag_colon or self.tag_link or self.bracket_closed
        special = special or self.class_mark or self.class_marks or self.escaped_angles or self.template or self.stray
        if (
            special
            or _TAG.fullmatch(tag) is None
            or self.odd
            or self.braces
            or self.template_braces
            or self.brackets
            or self.last in "]<\r"
        ):
            return False
        self.image = self.last == "!"
        self.abbreviation = self.abbreviation or self.last == "*"
        self.line_label = self.line_label or self.abbreviation or self.disputed
        self.bracket_closed, self.after_tag = True, False
        self.braces_went_on = self.in_attributes = False
        self.region, self.role, self.last = Region.PROSE, JsonRole.TEXT, tag[-1]
        return True

    def mark_tag(self) -> None:
        """Record that the text so far ends with a tag such as ``[person 1]``, which may be replaced by its original.

        Until ``settle_tag``, ``[person 1]: `` and ``[person 1](`` begin no link. The caller must call ``settle_tag`` at
        the end of the chunk (the text up to the next blank), or earlier if nothing in this chunk can be restored.
        """
        self.tag, self.bracket_closed = True, False

    def needs_outcome(self, text: str) -> bool:
        """Return whether the caller must call ``settle_tag`` before it passes ``text`` beyond the first blank.

        Whether ``text`` begins a link, for example, can depend on whether an original replaced the last tag.
        """
        return self.tag_link != "" or (self.tag and (not text or text[0] in _AFTER_LABEL))

    @property
    def awaits_outcome(self) -> bool:
        """Whether the caller must call ``settle_tag``: the next region depends on whether the last tag was restored."""
        return self.tag or self.tag_link != ""

    def settle_tag(self, *, is_replaced: bool) -> None:
        """Record whether an original replaced the last tag, such as ``[person 1]``, and continue the scan accordingly.

        If the tag stays, a round bracket directly after the tag begins a link, as in ``[person 1](page)``. Then the
        text since this bracket is read again, as the address of the link.
        """
        text, self.tag_link = self.tag_link, ""
        if is_replaced:
            return
        self.bracket_closed = self.bracket_closed or self.after_tag
        self.tag = self.after_tag = False
        if not text:
            return
        if self.frames or self.tainted or "](" in text:  # for a viewer that sees the link, these regions do not exist
            if not self.frames or self.frames[-1].kind != UNKNOWN:
                self.give_up(Region.LINK)
            return
        state, last = (self.slash, self.opener, self.dollar), self.last
        frame = self.push(LINK, Region.LINK)
        for at, character in enumerate(text[1:]):
            self.last = text[at]
            read_link(self, frame, LINK, character, False)
            if not self.frames or self.frames[-1] is not frame:
                break
        self.last = last
        if not self.frames:
            self.slash, self.opener, self.dollar = state

    def record_tag_link(self, text: str) -> None:
        """Store text that may be the address of a link, as in ``[person 1](page)``, for ``settle_tag``.

        The first stored character is a round bracket directly after a tag. If the tag stays, ``settle_tag`` reads the
        stored text again, as the address. If an original replaces the tag, ``settle_tag`` discards the stored text.

        Args:
            text: The next text after the tag.
        """
        if self.tag_link or (self.tag and text[:1] == "(" and not self.frames):
            self.tag_link += text

    def end_tag(self, text: str) -> None:
        """Forget the last tag if the text after it is read alike whether or not an original replaced the tag.

        Args:
            text: The text after the tag.
        """
        if self.tag and text and text[0] not in _AFTER_LABEL and not self.frames:
            self.tag, self.last = False, "a"  # any letter: only the marks above differ after a closing bracket
