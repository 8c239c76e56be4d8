"""Finds forms of what came out in a reply, as it comes in, and puts originals there: one engine for all replies.

What becomes of a place is decided by the characters from it on until no form goes on, by those before it, and by the
rest of its chunk between blanks. So a reply has one result however it is cut, active content aside, and no more is held
back than a form and one character, and from the first surrogate of a chunk its at most 1,024 characters.
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

#: Where a form may begin: at a word, or at a mark.
_START = re.compile(r"(?:(?<![^\W_])|(?<=\\[nrt])(?<!\\\\[nrt]))[^\W_]|[^\w\s]")
#: What begins as JSON does: a reply, or a block of code of it; so much of it tells.
_JSON, _FENCE, _HEAD = re.compile(r"\s*(?:json\s+)?(?:\{\s*[\"}]|\[\s*[\[{\"])", re.IGNORECASE), "```", 80
#: Blanks, ends of lines and marks of quotation between two words of a form.
_MOST_BLANKS = 6
_BLANKS = re.compile(r"\s[\s>]*")
_DIGIT = re.compile("[0-9]")
#: What ends a chunk: no other blank ends an address for every reader of Markdown.
_SEPARATORS = " \t\r\n"
_SEPARATOR = re.compile(r"[ \t\r\n]")
#: Marks of math that are no part of words.
_MATH_MARKS = frozenset("{}[]^=\\&<>")
#: What an address has that takes in the strings of JSON behind it, for a reader of text.
_ADDRESS_STARTS = ("//", "www.")
_BEGIN = 3
_WORD = re.compile(r"[a-zA-Z0-9]{3}")


class Index:
    """All forms.

    Args:
        forms: By their folded text; ``None`` where a form stands for several originals.
        quoted: Pairs that count in their surroundings.

    Attributes:
        forms: The same.
        quotations: What finds surroundings.
        has_numbers: Whether some forms are numbers that stand for other numbers.
    """

    def __init__(self, forms: Mapping[str, Form | None], quoted: Iterable[Pair] = ()) -> None:
        self.quotations = QuotationIndex(quoted)
        pairs = {id(form[0]): form[0] for form in forms.values() if form is not None}.values()
        self.has_numbers = any(map(_replaces_number, pairs))
        self.forms, self._sorted = forms, sorted(forms)
        begins = found = {text[:_BEGIN] for text in forms}
        for end in reversed(range(1, _BEGIN)):  # few texts differ in their first characters
            found = {text[:end] for text in found}
            begins = begins | found
        self._begins = begins

    @cached_property
    def unquoted(self) -> "Index":
        """The same forms without surroundings: a letter that a text quotes stays."""
        found = copy(self)
        found.quotations = QuotationIndex(())
        return found

    def may_begin(self, text: str, place: int) -> bool:
        """Return whether a form may begin at a place of a text."""
        begin = text[place : place + _BEGIN]
        if _WORD.fullmatch(begin) is None:
            return folded(text[place]) in self._begins
        begin = begin.lower()  # it decides at most places
        return begin in self._begins or not self.quotations.short_joined.isdisjoint((begin[:1], begin[:2]))

    def begins(self, text: str) -> bool:
        """Tells whether a form begins with a text."""
        if len(text) <= _BEGIN:  # most of all; a set of longer ones takes longer to make than it saves
            return text in self._begins
        at = bisect_left(self._sorted, text)
        return at < len(self._sorted) and self._sorted[at].startswith(text)


#: A form, where what stands for the original ends, and the pair whose surroundings the reply repeats.
_Found = tuple[Form | None, int, Pair | None]
_MORE: _Found = None, 0, None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Candidate:
    """Surrogate whose chunk is not closed yet.

    Attributes:
        written: The surrogate, as the reply has it.
        original: Its original, in the same form.
        pair: The pair of both.
        reason: Reason for which its place keeps it; ``None`` where the place is open.
        in_chunk: Whether the rest of its chunk decides too.
        place: Characters of the chunk before it.
    """

    written: str
    original: str
    pair: Pair
    reason: SkipReason | None
    in_chunk: bool
    place: int


class Stream(ReportViews):
    """Puts originals into a reply that comes in parts.

    Args:
        index: The forms.
        policy: Places in which originals are put; running text alone by default.
        find_known_numbers: Returns the numbers of the sanitized text.

    Attributes:
        placed: What was replaced, as the reply has it.
        used: What it stood for.
        not_restored: Surrogates that stayed, as the reply has them, each with the reason.
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
        """Report of what was read so far."""
        return RestoreReport(
            restored=tuple(self.placed),
            not_restored=tuple(self.not_restored),
            unknown_numbers=() if self._numbers is None else self._numbers.find_unknown(),
        )

    def feed(self, delta: str) -> str:
        """Takes the next part of a reply; returns what is decided of it."""
        if not self._policy.everywhere:
            self._active.feed(delta)
        return self._decided(self._held + delta, False)

    @property
    def is_neutral(self) -> bool:
        """Whether the text, alone or behind those before it, leaves nothing open for the one after it."""
        return self._scanner.is_neutral and (self._joined is None or self._joined.is_neutral)

    @property
    def has_separable_end(self) -> bool:
        """Whether the last chunk of a closed stream makes no address with the text behind it."""
        return self._tail.is_separable

    @property
    def has_active_content(self) -> bool:
        """Whether active content was found in the text, or in one before it."""
        return self._active.detected

    def keep_all(self, reason: SkipReason) -> None:
        """Restore nothing from here on."""
        self._closed = reason

    def spoil_chunk(self) -> None:
        """Restore nothing in the chunk that the text is in."""
        self._chunk.spoil()

    def follow(self, previous: "Stream", *, is_apart: bool = False) -> None:
        """Restore a text that clients may show right behind another one of the reply, or by itself.

        A surrogate is then restored where its place is open in both views, so no place can be spread over two texts.

        Args:
            previous: Stream of the other text, after its end and before the first part of this one.
            is_apart: Whether this text begins with a new chunk.
        """
        self._joined = previous._joined or previous._scanner
        self._active = previous._active
        if is_apart:
            return
        self._chunk = previous._tail
        if self._chunk.restored:  # its original is out: text that makes an address of it gets a blank before it
            self._continued = True
            self._pending.append("")

    def look_ahead(self, text: str) -> None:
        """Check for active content a part that is fed later; it then counts for the parts before it too."""
        if not self._policy.everywhere:
            self._active.feed(text)

    def close(self) -> str:
        """Returns the rest."""
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
        """Read text that is no surrogate."""
        if self._numbers is not None:
            self._numbers.feed(text)
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
        """Note whether the characters since the last blank have begun an address for a reader of text."""
        if character in _SEPARATORS:
            self._run, self._in_address = "", False
        elif character != "\\":  # an escape of JSON
            self._run = (self._run + character.lower())[-4:]
            self._in_address = self._in_address or self._run.endswith(_ADDRESS_STARTS)

    def _read_character(self, character: str, role: Role) -> None:
        """Read one character where marks of JSON end chunks."""
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
        """Let out a chunk that holds no original, unless it may be an address that may have one."""
        if self._pending and (not self._policy.hosts or self._chunk.too_long):
            self._flush()

    def _end_chunk(self) -> None:
        if not self._chunk.length:
            return
        self._chunk.end()
        if self._pending:
            self._flush()
        self._chunk = Chunk()

    def _flush(self) -> None:
        if self._continued and self._chunk.spoiled and self._pending != [""]:
            self._out.append(" ")
            self._chunk.restored = False
        self._continued, path = False, None
        if self._policy.hosts and not self._chunk.too_long:
            path = self._policy.find_bare_path("".join(self._chunk.text))
        apart = self._find_joined()
        for at, part in enumerate(self._pending):
            self._out.append(part if isinstance(part, str) else self._settle(part, path, at in apart))
        self._pending.clear()

    def _find_joined(self) -> set[int]:
        """Return which pending surrogates stay: one original that looks like an address stands alone in its chunk."""
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
        """Return the original, or the surrogate and keep the reason."""
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
        """Read a form of a surrogate."""
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
        elif reason is None and written[-1] == "]":
            for scanner in prose:
                scanner.mark_tag()

    def _read_places(self, scanner: Scanner, written: str) -> tuple[Region, Region, SkipReason | None, list[Role]]:
        """Read a surrogate; return its first region, that which decides, the reason to keep it, and roles."""
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
        """The longest form that begins at a place and ends where a word does; ``_MORE`` where it is not known yet."""
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
            if end + 1 >= len(text) and not final:  # what follows a mark is not known
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
        """How the block of code, or what is outside of one, began that a text ends in."""
        if len(self._block) > _HEAD and "`" not in text and self._block[-1] != "`":
            return self._block  # most deltas
        block = f"{self._block}{text}".rpartition(_FENCE)[2].lstrip("`")
        return block if len(block) <= _HEAD else f"{block[:_HEAD]}\0{block[-len(_FENCE) :]}"

    def _put(self, text: str, place: int, found: _Found) -> str | None:
        """The original in the form of a surrogate; ``None`` where that may be a word of the reply, or is ambiguous."""
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
        """Return whether the last surrogate stands in JSON, or in a block of code that begins as JSON does."""
        if self._region in (None, Region.CODE):
            return _JSON.match(self._block_until(text[len(self._behind) : place])) is not None
        return self._region is Region.JSON


def _replaces_number(pair: Pair) -> bool:
    """Return whether a pair has a number in ASCII digits, the same for all versions of Unicode, for another one."""
    is_tag = pair.output.startswith("[")
    return not is_tag and all(_DIGIT.search(text) is not None for text in (pair.output, pair.original))


def _before(destination: str | None, written: str) -> str | None:
    """Return a destination without the first character of a surrogate, which the scanner has read already."""
    return None if destination is None else destination[:-1] if destination[-1:] == written[0] else destination
