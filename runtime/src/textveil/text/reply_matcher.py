"""Restoring: search for surrogates (replacements) in a reply that arrives in parts, and insert the originals.

Whole replies and streams use this code. It decides on a surrogate only after its chunk (the text up to the next blank)
has ended, and when no longer form (spelling of a surrogate, such as the plural) can match. So the result does not
depend on how a stream is split, except for active content such as scripts. A part may end with half of a character (in
UTF-16). Until the decision the code holds back text: at most the rest of the chunk, up to 1,024 characters, or a form
of a surrogate and one character.
"""

import json
import re
from collections.abc import Callable, Collection
from typing import NamedTuple

from textveil.arguments import join_utf16_halves
from textveil.text.active_content import ActiveContentDetector
from textveil.text.form_index import BLANKS, NEEDS_MORE, FormIndex, FormMatch
from textveil.text.inflections import (
    BARE_TAG,
    LOOKBEHIND_CHARACTERS,
    SurrogatePair,
    find_word_before,
    inflect_original,
    is_elision,
    split_elision,
)
from textveil.text.region_state import JsonRole, Region
from textveil.text.regions import RegionScanner
from textveil.text.reply_chunk import ReplyChunk, is_address_like
from textveil.text.reply_numbers import NumberFinder
from textveil.text.reply_tags import TagFinder
from textveil.text.restore_policy import PROSE_POLICY, RestorePolicy, SkipReason
from textveil.text.restored import NotRestored, ReportProperties, RestoreReport

#: Start of JSON, in a reply or in a fenced block of code; the first ``_HEAD_CHARACTERS`` characters decide.
_JSON, _FENCE, _HEAD_CHARACTERS = re.compile(r"\s*(?:json\s+)?(?:\{\s*[\"}]|\[\s*[\[{\"])", re.IGNORECASE), "```", 80
_ESCAPED_IN_JSON = re.compile(r'["\\\x00-\x1f]')
#: Characters that end a chunk. Other blanks do not end an address for every program that displays Markdown.
_SEPARATORS, _SEPARATOR = " \t\r\n", re.compile(r"[ \t\r\n]")
_TAG_START = 2  #: number of characters of a tag that are read one by one: its bracket and the first letter
_MATH_MARKS = frozenset("{}[]^=\\&<>")  #: marks of TeX math that belong to no word
#: Starts of addresses. A program that treats JSON as plain text may continue such an address into the next strings.
_ADDRESS_STARTS = ("//", "www.")


class _PendingSurrogate(NamedTuple):
    """A surrogate (replacement) in a chunk (text up to the next blank) that has not ended yet.

    Attributes:
        written: The surrogate as written in the reply.
        original: Its original, in the same form (such as the plural).
        pair: The pair of surrogate and original.
        reason: Why the text around it, such as code, forbids restoring; ``None`` if restoring is permitted.
        in_chunk: Whether the decision also depends on the rest of the chunk.
        place: Number of characters of the chunk before the surrogate.
    """

    written: str
    original: str
    pair: SurrogatePair
    reason: SkipReason | None
    in_chunk: bool
    place: int


class StreamRestorer(ReportProperties):
    """Puts originals back in place of surrogates (replacements) in one reply that arrives in parts.

    Call ``feed`` for each part, and then ``close``.

    Args:
        index: The forms of all surrogates (spellings that a reply may use, such as the plural).
        policy: Regions (kinds of text, such as code) in which originals are restored; running text alone by default.
        find_known_numbers: Function that returns the numbers of the sanitized text; ``None`` for no unknown numbers.

    Attributes:
        restored: Surrogates that were replaced, as written in the reply.
        used_pairs: The pairs of surrogate and original of ``restored``, in the same order.
        not_restored: Surrogates that were not replaced, as written in the reply, each with the reason.
    """

    def __init__(
        self,
        index: FormIndex,
        policy: RestorePolicy = PROSE_POLICY,
        find_known_numbers: Callable[[], Collection[str]] | None = None,
    ) -> None:
        self._numbers = NumberFinder(find_known_numbers) if find_known_numbers and index.has_numbers else None
        self._tags = TagFinder() if index.has_tags else None
        self._index, self._held, self._behind, self._code_block = index, "", "", ""
        self._policy, self._scanner = policy, RegionScanner()
        self._half = ""  # the first UTF-16 half of a character whose second half is in the next part
        self._active, self._chunk = ActiveContentDetector(), ReplyChunk()
        self._joined_scanner: RegionScanner | None = None
        self._continued, self._last_characters, self._in_address = False, "", False
        self._is_cut = False
        self._last_chunk = self._chunk
        self._closed_reason: SkipReason | None = None
        self._pending: list[str | _PendingSurrogate] = []
        self._output: list[str] = []
        self._region: Region | None = None
        self.restored: list[str] = []
        self.used_pairs: list[SurrogatePair] = []
        self.not_restored: list[NotRestored] = []

    @property
    def report(self) -> RestoreReport:
        """Report on the surrogates (replacements) in the text so far: which were restored, and which were not."""
        return RestoreReport(
            restored=tuple(self.restored),
            not_restored=tuple(self.not_restored),
            unknown_numbers=() if self._numbers is None else self._numbers.find_unknown(),
            unknown_tags=() if self._tags is None else tuple(self._tags.tags),
        )

    def feed(self, delta: str) -> str:
        """Read the next part of a reply, and return the restored text that is ready. ``close`` returns the rest."""
        if self._half or not delta.isascii():
            delta = join_utf16_halves(self._half + delta)
            self._half = delta[-1:] if "\ud800" <= delta[-1:] <= "\udbff" else ""
            delta = delta.removesuffix(self._half)
        if not self._policy.permits_everything:
            self._active.feed(delta)
        return self._release_decided(self._held + delta, False)

    @property
    def is_neutral(self) -> bool:
        """Whether this text ends outside of links, code and markup, even if earlier texts are displayed before it."""
        return self._scanner.is_neutral and (self._joined_scanner is None or self._joined_scanner.is_neutral)

    @property
    def has_separable_end(self) -> bool:
        """Whether the last word of this closed stream cannot become an address, whatever text comes right after it."""
        return self._last_chunk.is_separable

    @property
    def has_active_content(self) -> bool:
        """Whether this text, or a text that it follows, contains active content such as a script."""
        return self._active.detected

    def stop_restoring(self, reason: SkipReason) -> None:
        """Restore no further surrogate (replacement) in the rest of this reply, and report ``reason`` for each."""
        self._closed_reason = reason

    def spoil_chunk(self) -> None:
        """Restore no surrogate (replacement) before the next blank of the reply."""
        self._chunk.spoil()

    def follow_stream(self, previous: "StreamRestorer", *, is_apart: bool = False) -> None:
        """Declare that clients may display an earlier text directly before this one.

        After this call a surrogate (replacement) is restored only if restoring is safe both for this text alone and for
        the two texts as one. So a link, tag or block of code that is split over two texts is recognized.

        Args:
            previous: Stream of the earlier text, after its ``close`` and before the first ``feed`` of this stream.
            is_apart: Whether a word of the earlier text certainly ends before this text.
        """
        self._joined_scanner = previous._joined_scanner or previous._scanner
        self._active = previous._active
        if is_apart:
            return
        self._chunk = previous._last_chunk
        if self._chunk.restored:  # a space is inserted if this text would turn its original into an address
            self._continued = True
            self._pending.append("")

    def look_ahead(self, text: str) -> None:
        """Search the next part of the reply for active content (such as scripts), before ``feed`` reads this part.

        If the part has any, ``feed`` restores none of its surrogates (replacements), before or after that content.
        """
        if not self._policy.permits_everything:
            self._active.feed(text)

    def close(self) -> str:
        """Declare that the reply has ended, and return the rest of the restored text."""
        half, self._half = self._half, ""
        return self._release_decided(self._held + half, True)

    def _release_decided(self, undecided: str, is_final: bool) -> str:
        text, position = self._behind + undecided, len(self._behind)
        done = position
        while (index := self._index.find_start(text, position)) >= 0:
            match_found = self._index.find_longest_form(text, index, is_final=is_final, is_cut=self._is_cut)
            if match_found is NEEDS_MORE:
                break
            position = index + 1
            if match_found is not None:
                self._read_text(text[done:index])
                self._read_form(text, index, match_found)
                done = position = match_found[1]
        else:
            index = len(text)
        self._read_text(text[done:index])
        if is_final:
            if self._numbers is not None:
                self._numbers.end_text()
            self._last_chunk = self._chunk
            self._end_chunk()
        self._code_block = self._find_code_block(text[len(self._behind) : index])
        self._is_cut = self._is_cut or index > LOOKBEHIND_CHARACTERS
        self._behind, self._held = text[max(0, index - LOOKBEHIND_CHARACTERS) : index], text[index:]
        out, self._output = "".join(self._output), []
        return out

    def _read_text(self, text: str) -> None:
        """Read a part of the reply that contains no surrogate (replacement)."""
        if self._numbers is not None:
            self._numbers.feed(text)
        if self._tags is not None:
            self._tags.feed(text)
        if any(scanner.needs_outcome(text) for scanner in self._scanners):  # decided when a blank ends the chunk
            blank = _SEPARATOR.search(text)
            end = len(text) if blank is None else blank.end()
            self._read_parts(text[:end])
            text = text[end:]
        self._read_parts(text)

    def _read_parts(self, text: str) -> None:
        """Add text without surrogates (replacements) to the output, and search it for code, links and markup."""
        if self._joined_scanner is not None:
            self._joined_scanner.feed(text)
        if self._policy.permits_everything:
            self._output.append(text)
        elif self._policy.places:
            for character in text:
                region = self._scanner.read_character(character)
                mark = (region is Region.MATH and character in _MATH_MARKS) or (
                    region is Region.CODE and character == "`"
                )
                self._note_address(character)
                self._read_character(character, JsonRole.IGNORED if mark else self._scanner.role)
        elif text:
            self._scanner.feed(text)
            blank = _SEPARATOR.search(text)
            if blank is None:
                self._add_to_chunk(text)
                return
            end = 1 + max(map(text.rfind, _SEPARATORS))
            self._add_to_chunk(text[: blank.start()])
            self._end_chunk()
            self._output.append(text[blank.start() : end])
            self._chunk.behind_tab = text[end - 1] == "\t"
            self._add_to_chunk(text[end:])

    def _note_address(self, character: str) -> None:
        """Record whether an address begins in this chunk (text since the last blank), with JSON read as plain text."""
        if character in _SEPARATORS:
            self._last_characters, self._in_address = "", False
        elif character != "\\":  # a backslash may be an escape of JSON
            self._last_characters = (self._last_characters + character.lower())[-4:]
            self._in_address = self._in_address or self._last_characters.endswith(_ADDRESS_STARTS)

    def _read_character(self, character: str, role: JsonRole) -> None:
        """Add one character to the chunk (text since the last blank), or end the chunk at a blank or mark of JSON."""
        if character in _SEPARATORS or role is JsonRole.SEPARATOR:
            self._end_chunk()
            self._chunk.behind_tab = character == "\t"
            self._output.append(character)
        elif role is JsonRole.IGNORED:
            self._append(character)
        else:
            self._add_to_chunk(character)
            if role is JsonRole.SPOILER:
                self._chunk.spoil()
        if self._chunk.spoiled:
            self._give_up_chunk()

    def _add_to_chunk(self, text: str) -> None:
        if text:
            self._append(text)
            self._chunk.add_text(text)
            if self._chunk.spoiled:
                self._give_up_chunk()

    def _append(self, text: str) -> None:
        if self._policy.hosts:
            self._chunk.remember(text)
        (self._pending if self._pending else self._output).append(text)

    def _give_up_chunk(self) -> None:
        """Write out a chunk (text up to a blank) as it is. If hosts are permitted, wait for the whole address."""
        self._settle_tags(is_replaced=False)
        if self._pending and (not self._policy.hosts or self._chunk.is_too_long):
            self._flush_chunk()

    @property
    def _scanners(self) -> list[RegionScanner]:
        """The scanners for code, links and markup: one for this text alone, and one that also read earlier texts."""
        return [self._scanner] if self._joined_scanner is None else [self._scanner, self._joined_scanner]

    def _settle_tags(self, *, is_replaced: bool) -> None:
        """Inform the scanners of links and markup whether originals replaced the tags, such as ``[city 1]``."""
        for scanner in self._scanners:
            if scanner.awaits_outcome:
                scanner.settle_tag(is_replaced=is_replaced)

    def _end_chunk(self) -> None:
        if not self._chunk.length:
            return
        self._chunk.end()
        if self._pending:
            self._flush_chunk()
        else:
            self._settle_tags(is_replaced=not self._chunk.spoiled)
        self._chunk = ReplyChunk()

    def _flush_chunk(self) -> None:
        if self._continued and self._chunk.spoiled and self._pending != [""]:
            self._output.append(" ")
            self._chunk.restored = False
        self._continued, path = False, None
        if self._policy.hosts and not self._chunk.is_too_long:
            path = self._policy.find_bare_path("".join(self._chunk.text))
        blocked, kept = self._find_blocked(), len(self.not_restored)
        for at, part in enumerate(self._pending):
            self._output.append(part if isinstance(part, str) else self._settle_surrogate(part, path, at in blocked))
        self._pending.clear()
        self._settle_tags(is_replaced=len(self.not_restored) == kept)

    def _find_blocked(self) -> set[int]:
        """Return the indices in ``_pending`` of surrogates (replacements) to leave: originals could form an address.

        An original that looks like an address is restored only if its chunk (text up to a blank) has no other original.
        """
        if self._chunk.spoiled or self._active.detected:
            return set()
        restorable = {
            at: is_address_like(part.original)
            for at, part in enumerate(self._pending)
            if not isinstance(part, str) and part.reason is None and part.in_chunk
        }
        addresses = [at for at, is_address in restorable.items() if is_address]
        if self._chunk.has_address:
            return set(restorable)
        if self._chunk.has_original:
            return set(addresses)
        self._chunk.has_original, self._chunk.has_address = bool(restorable), bool(addresses)
        return set(restorable) - {addresses[0]} if addresses else set()

    def _settle_surrogate(self, candidate: _PendingSurrogate, path: tuple[int, int] | None, is_blocked: bool) -> str:
        """Return the original of a surrogate (replacement), or record why it stays and return the surrogate."""
        reason = SkipReason.ACTIVE if self._active.detected else self._closed_reason or candidate.reason
        if reason is None and is_blocked:
            reason = SkipReason.CHUNK
        if reason is None and candidate.in_chunk and self._chunk.spoiled:
            in_path = path is not None and path[0] <= candidate.place < path[1]  # of a permitted address
            reason = None if in_path else SkipReason.CHUNK
        if reason is not None:
            self.not_restored.append(NotRestored(candidate.written, reason))
            return candidate.written
        self._chunk.restored = True
        self.restored.append(candidate.written)
        self.used_pairs.append(candidate.pair)
        return candidate.original

    def _read_form(self, text: str, index: int, form_match: FormMatch) -> None:
        """Restore the surrogate (replacement) at ``index``, or hold it back until the next blank."""
        form, end, quoted = form_match
        pair = quoted or (None if form is None else form[0])
        written = text[index:end]
        if pair is not None and pair.output == written:
            written = pair.output  # one string in memory, not two: the report has all surrogates
        if self._numbers is not None:
            self._numbers.end_text()
        if self._tags is not None:
            self._tags.end_text()
        if self._policy.permits_everything:
            original = self._make_original(text, index, form_match)
            if original is not None and pair is not None:
                self.restored.append(written)
                self.used_pairs.append(pair)
            self._output.append(written if original is None else original)
            return
        first_region, self._region, reason, roles = self._read_regions(self._scanner, written)
        prose_scanners = [self._scanner] if first_region is Region.PROSE else []
        if self._joined_scanner is not None:
            joined_first, _, joined_reason, _ = self._read_regions(self._joined_scanner, written)
            reason = reason or joined_reason
            prose_scanners += [self._joined_scanner] if joined_first is Region.PROSE else []
        original = self._make_original(text, index, form_match)
        if original is None or pair is None:
            for character, role in zip(written, roles, strict=True):
                self._read_character(character, role)
            return
        in_chunk = first_region is not Region.CODE or not self._scanner.is_in_certain_fence
        in_chunk = in_chunk and not (first_region is Region.LINK and reason is None)
        self._pending.append(
            _PendingSurrogate(
                written=written,
                original=original,
                pair=pair,
                reason=reason,
                in_chunk=in_chunk,
                place=self._chunk.length,
            )
        )
        if self._policy.hosts:
            self._chunk.remember(written)
        self._chunk.add_surrogate(len(written))
        if JsonRole.SPOILER in roles or (self._in_address and first_region is Region.JSON):
            self._chunk.spoil()
        if self._chunk.spoiled:
            self._give_up_chunk()
        elif reason is None and written[-1] == "]" and original[-1:] != "]":
            for scanner in prose_scanners:
                scanner.mark_tag()

    def _read_regions(
        self, scanner: RegionScanner, written: str
    ) -> tuple[Region, Region, SkipReason | None, list[JsonRole]]:
        """Pass a surrogate (replacement) to a scanner, and return whether code, links or markup forbid restoring.

        Returns:
            The region (kind of text, such as code) of the first character; the region that forbids restoring, or the
            first value again if none does; the reason not to restore, or ``None``; the JSON role of each character.
        """
        places = self._policy.places
        roles, enclosure = [JsonRole.TEXT] * len(written), scanner.enclosure
        scanner.lines.begin_surrogate()
        is_tag = written[0] == "[" and enclosure is None
        if scanner.read_tag(written) if is_tag else scanner.read_prose(written):
            scanner.mark_surrogate()
            return Region.PROSE, Region.PROSE, _find_reason(enclosure, places), roles
        if written[0] == "[":
            scanner.begin_tag()
        first = scanner.read_character(written[0])
        destination, roles[0] = scanner.destination, scanner.role
        enclosure = Region.CODE if enclosure is None and scanner.is_indented else enclosure  # known from here on
        region, closed = first, None  # no list of regions: a surrogate may have thousands of words
        last, skipped_to = len(written) - 1, 0
        for at in range(len(written)):
            if at == _TAG_START and scanner.read_prose(written[at:last]):  # the inside of most tags, in one step
                region, skipped_to = Region.PROSE, last
            if 0 < at >= skipped_to:
                region, roles[at] = scanner.read_character(written[at]), scanner.role
            if closed is None and region is not Region.PROSE and (scanner.is_sealed or region not in places):
                closed = region
        scanner.mark_surrogate()
        reason = _find_reason(enclosure, places) if closed is None else SkipReason(closed)
        if first is Region.LINK and self._policy.allows_link(_remove_last_character(destination, written)):
            reason = None
        return first, closed or first, reason, roles

    def _find_code_block(self, text: str) -> str:
        """Return the first characters of the last fenced block of code; the caller tests whether they begin JSON."""
        if len(self._code_block) > _HEAD_CHARACTERS and "`" not in text and self._code_block[-1] != "`":
            return self._code_block  # fast path for most deltas
        block = f"{self._code_block}{text}".rpartition(_FENCE)[2].lstrip("`")
        return block if len(block) <= _HEAD_CHARACTERS else f"{block[:_HEAD_CHARACTERS]}\0{block[-len(_FENCE) :]}"

    def _make_original(self, text: str, index: int, form_match: FormMatch) -> str | None:
        """Return the original in the same form (such as the plural) as its surrogate (replacement) in the reply.

        If the surrogate has several originals or may be an ordinary word, return ``None`` and record the reason.
        """
        form, end, quoted_pair = form_match
        written = text[index:end]
        if quoted_pair is not None:
            form = quoted_pair, ""
        elif form is None:
            self.not_restored.append(NotRestored(written, SkipReason.AMBIGUOUS))
            return None
        pair = form[0]
        if form[1] == BARE_TAG:
            self.not_restored.append(NotRestored(written, SkipReason.WORD))
            return None
        spaced = BLANKS.sub(" ", written)
        name = split_elision(spaced)[1] if is_elision(form) else written
        is_ordinary_word = name.isalpha() and name.islower() and not pair.output.islower()
        if quoted_pair is None and (
            is_ordinary_word or (pair.weak and not pair.before == find_word_before(text[:index]) != "")
        ):
            self.not_restored.append(NotRestored(written, SkipReason.WORD))
            return None
        original = inflect_original(form, spaced, self._index.rules)
        blanks, words = BLANKS.findall(written), original.split(" ")
        if _ESCAPED_IN_JSON.search(original) is not None and self._is_in_json(text, index):
            original = json.dumps(original, ensure_ascii=False)[1:-1]
            words = original.split(" ")
        if len(words) != 1 + len(blanks):
            return original
        return "".join(word + blank for word, blank in zip(words, [*blanks, ""], strict=True))

    def _is_in_json(self, text: str, index: int) -> bool:
        """Return whether the surrogate (replacement) at ``index`` is in JSON, or in code that begins like JSON."""
        if self._region in (None, Region.CODE):
            return _JSON.match(self._find_code_block(text[len(self._behind) : index])) is not None
        return self._region is Region.JSON


def _find_reason(enclosure: Region | None, places: Collection[str]) -> SkipReason | None:
    """Return why originals are not restored at a place such as code; ``None`` if restoring is permitted there."""
    return None if enclosure is None or enclosure in places else SkipReason(enclosure)


def _remove_last_character(destination: str | None, written: str) -> str | None:
    """Return a link's address without the first character of the replacement ``written``, if its end has been read."""
    return None if destination is None else destination[:-1] if destination[-1:] == written[0] else destination
