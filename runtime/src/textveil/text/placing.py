"""Incremental search for surrogates in a reply, and their replacement by originals.

All replies, whole or streamed, use this engine. The decision at a position depends on the characters from it on until
no longer form can match, on the characters before it, and on the rest of its chunk between blanks. So, apart from
active content, the result does not depend on how a stream is split. The engine delays at most one form and one
character, and, from the first surrogate of a chunk on, the chunk's at most 1,024 characters.
"""

import json
import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Mapping
from copy import copy
from dataclasses import dataclass
from functools import cached_property

from textveil.text.active_content import ActiveContentDetector
from textveil.text.chunks import Chunk, is_address_like
from textveil.text.forms import BARE_TAG, BEHIND, Form, Pair, folded, original_of, word_before
from textveil.text.regions import Region, Role, Scanner
from textveil.text.reply_numbers import NumberFinder
from textveil.text.restore_policy import PROSE_ONLY, RestorePolicy, SkipReason
from textveil.text.restored import NotRestored, ReportViews, RestoreReport
from textveil.text.surroundings import AHEAD, QuotationIndex, cut_before, stands_alone

#: A form may begin at the start of a word or at a mark.
_START = re.compile(r"(?:(?<![^\W_])|(?<=\\[nrt])(?<!\\\\[nrt]))[^\W_]|[^\w\s]")
#: Start of JSON, in a reply or in a fenced block of code; the first ``_HEAD`` characters decide.
_JSON, _FENCE, _HEAD = re.compile(r"\s*(?:json\s+)?(?:\{\s*[\"}]|\[\s*[\[{\"])", re.IGNORECASE), "```", 80
#: Blanks, line ends and quotation marks of Markdown between two words of a form.
_MOST_BLANKS = 6
_BLANKS = re.compile(r"\s[\s>]*")
_DIGIT = re.compile("[0-9]")
#: Characters that end a chunk: no other blank ends an address for every Markdown reader.
_SEPARATORS = " \t\r\n"
_SEPARATOR = re.compile(r"[ \t\r\n]")
#: Marks of TeX math that belong to no word.
_MATH_MARKS = frozenset("{}[]^=\\&<>")
#: Starts of addresses: for a reader of plain text such an address continues into the next JSON strings.
_ADDRESS_STARTS = ("//", "www.")
_BEGIN = 3
_WORD = re.compile(r"[a-zA-Z0-9]{3}")


class Index:
    """Index of all forms of all surrogates.

    Args:
        forms: Forms by their folded text; ``None`` for a text that has several originals.
        quoted: Pairs that apply only inside their surroundings.

    Attributes:
        forms: The argument ``forms``.
        quotations: Index of the surroundings.
        has_numbers: Whether some surrogates are numbers that replace other numbers.
    """

    def __init__(self, forms: Mapping[str, Form | None], quoted: Iterable[Pair] = ()) -> None:
        self.quotations = QuotationIndex(quoted)
        pairs = {id(form[0]): form[0] for form in forms.values() if form is not None}.values()
        self.has_numbers = any(map(_replaces_number, pairs))
        self.forms, self._sorted = forms, sorted(forms)
        begins = found = {text[:_BEGIN] for text in forms}
        for end in reversed(range(1, _BEGIN)):  # fast: few forms differ in their first characters
            found = {text[:end] for text in found}
            begins = begins | found
        self._begins = begins

    @cached_property
    def unquoted(self) -> "Index":
        """The same forms without surroundings: a single letter that a reply quotes is not restored."""
        found = copy(self)
        found.quotations = QuotationIndex(())
        return found

    def may_begin(self, text: str, place: int) -> bool:
        """Return whether a form may begin at position ``place`` of ``text``."""
        begin = text[place : place + _BEGIN]
        if _WORD.fullmatch(begin) is None:
            return folded(text[place]) in self._begins
        begin = begin.lower()  # sufficient at most positions
        return begin in self._begins or not self.quotations.short_joined.isdisjoint((begin[:1], begin[:2]))

    def begins(self, text: str) -> bool:
        """Return whether some form begins with ``text``."""
        if len(text) <= _BEGIN:  # most calls; a set of longer prefixes costs more than it saves
            return text in self._begins
        at = bisect_left(self._sorted, text)
        return at < len(self._sorted) and self._sorted[at].startswith(text)


#: A matched form, the end of the part that replaces the original, and the pair whose surroundings the reply repeats.
_Found = tuple[Form | None, int, Pair | None]
_MORE: _Found = None, 0, None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Candidate:
    """Surrogate in a chunk that has not ended yet.

    Attributes:
        written: The surrogate as written in the reply.
        original: Its original, in the same form.
        pair: The pair of surrogate and original.
        reason: Why its region forbids restoring; ``None`` where the region permits it.
        in_chunk: Whether the decision also depends on the rest of the chunk.
        place: Number of characters of the chunk before it.
    """

    written: str
    original: str
    pair: Pair
    reason: SkipReason | None
    in_chunk: bool
    place: int


class Stream(ReportViews):
    """Restoring of one reply that arrives in parts: replaces surrogates by originals.

    Args:
        index: The forms of all surrogates.
        policy: Regions in which originals are restored; running text alone by default.
        find_known_numbers: Function that returns the numbers of the sanitized text.

    Attributes:
        placed: Surrogates that were replaced, as written in the reply.
        used: Their pairs.
        not_restored: Surrogates that were not restored, as written in the reply, each with the reason.
    """

    def __init__(
        self,
        index: Index,
        policy: RestorePolicy = PROSE_ONLY,
        find_known_numbers: Callable[[], Collection[str]] = frozenset,
    ) -> None:
        self._numbers = NumberFinder(find_known_numbers) if index.has_numbers else None
        self._index, self._held, self._behind, self._block = index, "", "", ""
        self._policy, self._scanner = policy, Scanner()
        self._active, self._chunk = ActiveContentDetector(), Chunk()
        self._joined: Scanner | None = None
        self._continued, self._run, self._in_address = False, "", False
        self._is_cut = False
        self._tail = self._chunk
        self._closed: SkipReason | None = None
        self._pending: list[str | _Candidate] = []
        self._out: list[str] = []
        self._region: Region | None = None
        self.placed: list[str] = []
        self.used: list[Pair] = []
        self.not_restored: list[NotRestored] = []

    @property
    def report(self) -> RestoreReport:
        """Report on the text that has been read so far."""
        return RestoreReport(
            restored=tuple(self.placed),
            not_restored=tuple(self.not_restored),
            unknown_numbers=() if self._numbers is None else self._numbers.find_unknown(),
        )

    def feed(self, delta: str) -> str:
        """Read the next part of a reply and return the newly decided text."""
        if not self._policy.everywhere:
            self._active.feed(delta)
        return self._decided(self._held + delta, False)

    @property
    def is_neutral(self) -> bool:
        """Whether no region is open at the end, for this text alone and after the earlier texts."""
        return self._scanner.is_neutral and (self._joined is None or self._joined.is_neutral)

    @property
    def has_separable_end(self) -> bool:
        """Whether the last chunk of a closed stream forms no address with the text after it."""
        return self._tail.is_separable

    @property
    def has_active_content(self) -> bool:
        """Whether this text, or a text before it, contains active content."""
        return self._active.detected

    def keep_all(self, reason: SkipReason) -> None:
        """Restore no further surrogate of this stream; report ``reason`` for each."""
        self._closed = reason

    def spoil_chunk(self) -> None:
        """Restore no surrogate of the current chunk."""
        self._chunk.spoil()

    def follow(self, previous: "Stream", *, is_apart: bool = False) -> None:
        """Link this stream to an earlier text that clients may display directly before this one.

        After this call a surrogate is restored only if both views permit it: the text alone, and the text after the
        earlier one. So no link, tag or block of code can be split over two texts.

        Args:
            previous: Stream of the earlier text, after its ``close`` and before the first ``feed`` of this one.
            is_apart: Whether this text begins a new chunk.
        """
        self._joined = previous._joined or previous._scanner
        self._active = previous._active
        if is_apart:
            return
        self._chunk = previous._tail
        if self._chunk.restored:  # a space separates text that would extend its original to an address
            self._continued = True
            self._pending.append("")

    def look_ahead(self, text: str) -> None:
        """Check text for active content before it is fed.

        Active content then forbids restoring in the parts before it too.
        """
        if not self._policy.everywhere:
            self._active.feed(text)

    def close(self) -> str:
        """End the reply and return the rest of the text."""
        return self._decided(self._held, True)

    def _decided(self, rest: str, final: bool) -> str:
        text, position = self._behind + rest, len(self._behind)
        done = position
        while (match := _START.search(text, position)) is not None:
            place = match.start()
            if not self._index.may_begin(text, place):
                position = place + 1
                continue
            found = self._longest(text, place, final)
            if found is _MORE:
                break
            position = place + 1
            if found is not None:
                self._read_text(text[done:place])
                self._read_form(text, place, found)
                done = position = found[1]
        else:
            place = len(text)
        self._read_text(text[done:place])
        if final:
            if self._numbers is not None:
                self._numbers.end()
            self._tail = self._chunk
            self._end_chunk()
        self._block = self._block_until(text[len(self._behind) : place])
        self._is_cut = self._is_cut or place > BEHIND
        self._behind, self._held = text[max(0, place - BEHIND) : place], text[place:]
        out, self._out = "".join(self._out), []
        return out

    def _read_text(self, text: str) -> None:
        """Read text that contains no surrogate."""
        if self._numbers is not None:
            self._numbers.feed(text)
        if any(scanner.awaits_outcome for scanner in self._scanners):  # a blank ends the chunk, which decides
            blank = _SEPARATOR.search(text)
            end = len(text) if blank is None else blank.end()
            self._read_parts(text[:end])
            text = text[end:]
        self._read_parts(text)

    def _read_parts(self, text: str) -> None:
        """Read text without a surrogate, all of it by one view of the regions."""
        if self._joined is not None:
            self._joined.feed(text)
        if self._policy.everywhere:
            self._out.append(text)
        elif self._policy.places:
            for character in text:
                region = self._scanner.step(character)
                mark = (region is Region.MATH and character in _MATH_MARKS) or (
                    region is Region.CODE and character == "`"
                )
                self._note_address(character)
                self._read_character(character, Role.IGNORED if mark else self._scanner.role)
        elif text:
            self._scanner.feed(text)
            blank = _SEPARATOR.search(text)
            if blank is None:
                self._add_to_chunk(text)
                return
            end = 1 + max(map(text.rfind, _SEPARATORS))
            self._add_to_chunk(text[: blank.start()])
            self._end_chunk()
            self._out.append(text[blank.start() : end])
            self._chunk.behind_tab = text[end - 1] == "\t"
            self._add_to_chunk(text[end:])

    def _note_address(self, character: str) -> None:
        """Update whether the current chunk begins an address for a reader of plain text."""
        if character in _SEPARATORS:
            self._run, self._in_address = "", False
        elif character != "\\":  # a backslash may be an escape of JSON
            self._run = (self._run + character.lower())[-4:]
            self._in_address = self._in_address or self._run.endswith(_ADDRESS_STARTS)

    def _read_character(self, character: str, role: Role) -> None:
        """Read one character under a policy with regions, where marks of JSON end chunks too."""
        if character in _SEPARATORS or role is Role.SEPARATOR:
            self._end_chunk()
            self._chunk.behind_tab = character == "\t"
            self._out.append(character)
        elif role is Role.IGNORED:
            self._append(character)
        else:
            self._add_to_chunk(character)
            if role is Role.SPOILER:
                self._chunk.spoil()
        if self._chunk.spoiled:
            self._give_up_chunk()

    def _add_to_chunk(self, text: str) -> None:
        if text:
            self._append(text)
            self._chunk.add(text)
            if self._chunk.spoiled:
                self._give_up_chunk()

    def _append(self, text: str) -> None:
        if self._policy.hosts:
            self._chunk.remember(text)
        (self._pending if self._pending else self._out).append(text)

    def _give_up_chunk(self) -> None:
        """Write out a spoiled chunk early, unless it may be an address of a permitted host."""
        self._settle_tags(is_replaced=False)
        if self._pending and (not self._policy.hosts or self._chunk.too_long):
            self._flush()

    @property
    def _scanners(self) -> list[Scanner]:
        """Scanners of this text: of it alone, and of it after the earlier texts."""
        return [self._scanner] if self._joined is None else [self._scanner, self._joined]

    def _settle_tags(self, *, is_replaced: bool) -> None:
        """Inform the scanners whether the chunk restores its tags."""
        for scanner in self._scanners:
            if scanner.awaits_outcome:
                scanner.settle_tag(is_replaced=is_replaced)

    def _end_chunk(self) -> None:
        if not self._chunk.length:
            return
        self._chunk.end()
        if self._pending:
            self._flush()
        else:
            self._settle_tags(is_replaced=not self._chunk.spoiled)
        self._chunk = Chunk()

    def _flush(self) -> None:
        if self._continued and self._chunk.spoiled and self._pending != [""]:
            self._out.append(" ")
            self._chunk.restored = False
        self._continued, path = False, None
        if self._policy.hosts and not self._chunk.too_long:
            path = self._policy.find_bare_path("".join(self._chunk.text))
        apart, kept = self._find_joined(), len(self.not_restored)
        for at, part in enumerate(self._pending):
            self._out.append(part if isinstance(part, str) else self._settle(part, path, at in apart))
        self._pending.clear()
        self._settle_tags(is_replaced=len(self.not_restored) == kept)

    def _find_joined(self) -> set[int]:
        """Return the pending surrogates, by index, that an address in their chunk forbids to restore.

        An original that looks like an address must be the only original of its chunk.
        """
        if self._chunk.spoiled or self._active.detected:
            return set()
        restorable = {
            at: is_address_like(part.original)
            for at, part in enumerate(self._pending)
            if not isinstance(part, str) and part.reason is None and part.in_chunk
        }
        addresses = [at for at, address in restorable.items() if address]
        if self._chunk.has_address:
            return set(restorable)
        if self._chunk.has_original:
            return set(addresses)
        self._chunk.has_original, self._chunk.has_address = bool(restorable), bool(addresses)
        return set(restorable) - {addresses[0]} if addresses else set()

    def _settle(self, candidate: _Candidate, path: tuple[int, int] | None, joined: bool) -> str:
        """Return the original of a pending surrogate; or the surrogate, with a record of the reason."""
        reason = SkipReason.ACTIVE if self._active.detected else self._closed or candidate.reason
        if reason is None and joined:
            reason = SkipReason.CHUNK
        if reason is None and candidate.in_chunk and self._chunk.spoiled:
            in_path = path is not None and path[0] <= candidate.place < path[1]
            reason = None if in_path else SkipReason.CHUNK
        if reason is not None:
            self.not_restored.append(NotRestored(candidate.written, reason))
            return candidate.written
        self._chunk.restored = True
        self.placed.append(candidate.written)
        self.used.append(candidate.pair)
        return candidate.original

    def _read_form(self, text: str, place: int, found: _Found) -> None:
        """Read a matched form: restore it, or add it to the pending chunk."""
        form, end, quoted = found
        pair = quoted or (None if form is None else form[0])
        written = text[place:end]
        if self._numbers is not None:
            self._numbers.end()
        if self._policy.everywhere:
            original = self._put(text, place, found)
            if original is not None and pair is not None:
                self.placed.append(written)
                self.used.append(pair)
            self._out.append(written if original is None else original)
            return
        first, self._region, reason, roles = self._read_places(self._scanner, written)
        prose = [self._scanner] if first is Region.PROSE else []
        if self._joined is not None:
            joined_first, _, joined_reason, _ = self._read_places(self._joined, written)
            reason = reason or joined_reason
            prose += [self._joined] if joined_first is Region.PROSE else []
        original = self._put(text, place, found)
        if original is None or pair is None:
            for character, role in zip(written, roles, strict=True):
                self._read_character(character, role)
            return
        in_chunk = first is not Region.CODE or not self._scanner.in_certain_fence
        in_chunk = in_chunk and not (first is Region.LINK and reason is None)
        self._pending.append(
            _Candidate(
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
        if Role.SPOILER in roles or (self._in_address and first is Region.JSON):
            self._chunk.spoil()
        if self._chunk.spoiled:
            self._give_up_chunk()
        elif reason is None and written[-1] == "]" and original[-1:] != "]":
            for scanner in prose:
                scanner.mark_tag()

    def _read_places(self, scanner: Scanner, written: str) -> tuple[Region, Region, SkipReason | None, list[Role]]:
        """Read a surrogate through a scanner.

        Returns:
            The region of its first character, the region that decides, the reason not to restore it or ``None``, and
            the role of each character.
        """
        roles, enclosure = [Role.TEXT] * len(written), scanner.enclosure
        enclosed = None if enclosure is None else SkipReason(enclosure)
        if scanner.read_prose(written):
            scanner.mark_surrogate()
            return Region.PROSE, Region.PROSE, enclosed, roles
        if written[0] == "[":
            scanner.begin_tag()
        first = scanner.step(written[0])
        destination, roles[0] = scanner.destination, scanner.role
        regions = [first]
        for at, character in enumerate(written[1:], 1):
            regions.append(scanner.step(character))
            roles[at] = scanner.role
        scanner.mark_surrogate()
        places = self._policy.places
        sealed = scanner.is_sealed
        closed = [region for region in regions if region is not Region.PROSE and (sealed or region not in places)]
        reason = SkipReason(closed[0]) if closed else enclosed
        if first is Region.LINK and self._policy.allows_link(_before(destination, written)):
            reason = None
        return first, closed[0] if closed else first, reason, roles

    def _longest(self, text: str, place: int, final: bool) -> _Found | None:
        """Return the longest form that begins at ``place`` and ends at the end of a word.

        Returns:
            The form with its end; ``None`` if none matches; ``_MORE`` if the decision needs more of the reply.
        """
        begins, forms = self._index.begins, self._index.forms
        read, blanks, at, found = "", 0, place, []
        ends = [place]
        while at < len(text):
            character = text[at]
            if blanks and (character.isspace() or character == ">"):
                blanks += 1
                if blanks > _MOST_BLANKS:
                    break
                at += 1
                ends[-1] = at
                continue
            blanks = int(character.isspace())
            step = " " if blanks else folded(character)
            if not begins(read + step):
                break
            read, at = read + step, at + 1
            ends += [at] * len(step)
            if read in forms:
                found.append((forms[read], at, read))
        else:
            if not final:
                return _MORE
        alone: _Found | None = None
        for form, end, written in reversed(found):
            if end + 1 >= len(text) and not final:  # the character after a mark is not available yet
                return _MORE
            is_alone = stands_alone(text, place, end)
            if written in self._index.quotations:
                before = cut_before(text[max(0, place - BEHIND) : place], is_start=not self._is_cut and place <= BEHIND)
                rest = text[end : end + AHEAD + 1]
                quotation = self._index.quotations.find(written, before, rest, is_end=final, is_alone=is_alone)
                if quotation.needs_more:
                    return _MORE
                if quotation.pair is not None:
                    return form, end, quotation.pair
            if alone is None and is_alone:
                lead = 0 if form is None else len(folded(form[0].output[: form[0].lead]))
                alone = form, ends[lead] if lead else end, None
                if form is not None and not (form[0].lead or form[0].weak):
                    break
        return alone

    def _block_until(self, text: str) -> str:
        """Return the start of the block of code, or of the text outside one, in which ``text`` ends."""
        if len(self._block) > _HEAD and "`" not in text and self._block[-1] != "`":
            return self._block  # fast path for most deltas
        block = f"{self._block}{text}".rpartition(_FENCE)[2].lstrip("`")
        return block if len(block) <= _HEAD else f"{block[:_HEAD]}\0{block[-len(_FENCE) :]}"

    def _put(self, text: str, place: int, found: _Found) -> str | None:
        """Return the original in the form of the surrogate, or ``None`` after recording a reason.

        The reasons are that the form has several originals, or that it may be a word of the reply itself.
        """
        form, end, quoted = found
        written = text[place:end]
        if quoted is not None:
            form = quoted, ""
        elif form is None:
            self.not_restored.append(NotRestored(written, SkipReason.AMBIGUOUS))
            return None
        pair = form[0]
        if form[1] == BARE_TAG:
            self.not_restored.append(NotRestored(written, SkipReason.WORD))
            return None
        ordinary = written.isalpha() and written.islower() and not pair.output.islower()
        if quoted is None and (ordinary or (pair.weak and not pair.before == word_before(text[:place]) != "")):
            self.not_restored.append(NotRestored(written, SkipReason.WORD))
            return None
        original = original_of(form, _BLANKS.sub(" ", written))
        blanks, words = _BLANKS.findall(written), original.split(" ")
        if ("\\" in original or '"' in original) and self._in_json(text, place):
            original = json.dumps(original, ensure_ascii=False)[1:-1]
            words = original.split(" ")
        if len(words) != 1 + len(blanks):
            return original
        return "".join(word + blank for word, blank in zip(words, [*blanks, ""], strict=True))

    def _in_json(self, text: str, place: int) -> bool:
        """Return whether the last surrogate is in JSON, or in a block of code that begins like JSON."""
        if self._region in (None, Region.CODE):
            return _JSON.match(self._block_until(text[len(self._behind) : place])) is not None
        return self._region is Region.JSON


def _replaces_number(pair: Pair) -> bool:
    """Return whether a pair replaces a number by another one.

    Only ASCII digits count: they are the same in all versions of Unicode.
    """
    is_tag = pair.output.startswith("[")
    return not is_tag and all(_DIGIT.search(text) is not None for text in (pair.output, pair.original))


def _before(destination: str | None, written: str) -> str | None:
    """Return a link destination without the first character of a surrogate.

    The scanner has already read that character.
    """
    return None if destination is None else destination[:-1] if destination[-1:] == written[0] else destination
