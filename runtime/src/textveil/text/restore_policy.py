"""Places in a reply at which restoring is permitted, and reasons why a replacement is not restored."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from enum import StrEnum

from textveil.errors import OptionError
from textveil.text.word_characters import is_word_character

#: Regions that an option permits one by one, and the one entry that permits every region.
PERMITTED_REGIONS, EVERY_REGION = ("code", "json", "math"), "all"
_HOST = re.compile(r"[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?(?::[0-9]{1,5})?")
#: Address with a plain host: without a user, an escape or a backslash, and with ``//`` at one position only.
_ADDRESS = re.compile(r"https?://([A-Za-z0-9.:-]+)([/?#][!-~]*)", re.IGNORECASE | re.ASCII)
_DISPUTED_MARKS = re.compile(r"//|[\\<>\[\]`{}|^]")
#: Marks at which some readers end an address: the text after them may be another address.
_ENDS = re.compile(r"[()\"']")
_LEADING_MARKS = "(\"'*_"


class SkipReason(StrEnum):
    """Why a surrogate (replacement) is not restored: its place in the reply, such as code, or another reason.

    >>> SkipReason("code")
    <SkipReason.CODE: 'code'>
    """

    LINK = "link"
    CODE = "code"
    MATH = "math"
    JSON = "json"
    MARKUP = "markup"
    ACTIVE = "active"
    CHUNK = "chunk"
    #: The surrogate has more than one original.
    AMBIGUOUS = "ambiguous"
    #: The surrogate may be a word of the reply itself.
    WORD = "word"
    #: A text that is not restored, and that clients may display next to this one, leaves a region open.
    BESIDE = "beside"

    @property
    def phrase(self) -> str:
        """Words that state the reason in messages, after the word "surrogate" (replacement): *in code*, for example.

        >>> SkipReason("code").phrase
        'in code'
        """
        return _REASON_PHRASES[self]


#: Phrase for each reason, to follow the word "surrogate".
_REASON_PHRASES: dict[SkipReason, str] = {
    SkipReason.LINK: "in links",
    SkipReason.CODE: "in code",
    SkipReason.MATH: "in math",
    SkipReason.JSON: "in JSON",
    SkipReason.MARKUP: "in or after markup",
    SkipReason.ACTIVE: "in a reply with a script or an event handler",
    SkipReason.CHUNK: "in a chunk that may be an address",
    SkipReason.AMBIGUOUS: "with several possible originals",
    SkipReason.WORD: "that may be an ordinary word of the reply",
    SkipReason.BESIDE: "after a text that leaves a link, code or markup open",
}


@dataclass(frozen=True, slots=True)
class RestorePolicy:
    """Regions (kinds of text, such as code) of a reply in which originals are restored; by default running text.

    Attributes:
        places: Permitted regions besides running text: any of ``code``, ``json`` and ``math``; or ``all``, which
            permits every region, links too.
        hosts: Hosts in lower case, each with its port if it has one. Links to exactly these hosts are restored.

    >>> RestorePolicy.parse(["code"]).permits_everything
    False
    """

    places: frozenset[str] = frozenset()
    hosts: frozenset[str] = frozenset()

    @classmethod
    def parse(cls, restore_places: Collection[str] | str = (), restore_hosts: Collection[str] = ()) -> "RestorePolicy":
        """Create the policy (where originals are restored) for the options ``restore_places`` and ``restore_hosts``.

        Args:
            restore_places: Any of ``code``, ``json`` and ``math``. The value ``all`` also permits links. Use ``all``
                only for a reply that no program displays, and from which no program opens addresses.
            restore_hosts: Host names such as ``docs.example.com`` or ``localhost:8080``.

        Raises:
            OptionError: A region is unknown, or a host is not a plain host name.
        """
        places = {EVERY_REGION} if restore_places == EVERY_REGION else restore_places
        names = ", ".join((*PERMITTED_REGIONS, EVERY_REGION))
        if (
            isinstance(places, str)
            or not _is_collection(places)
            or not set(places) <= {*PERMITTED_REGIONS, EVERY_REGION}
        ):
            raise OptionError(f"restore_places must be a collection of {names}")
        if not _is_collection(restore_hosts) or not all(_HOST.fullmatch(host.lower()) for host in restore_hosts):
            raise OptionError('restore_hosts must be a collection of host names, such as ["docs.example.com"]')
        return cls(frozenset(places), frozenset(host.lower() for host in restore_hosts))

    @property
    def permits_everything(self) -> bool:
        """Whether originals are restored in every kind of text, links and code included."""
        return EVERY_REGION in self.places

    def allows_link(self, destination: str | None) -> bool:
        """Return whether a link destination is certainly an address of a permitted host.

        Destinations that some programs read differently, such as addresses with backslashes, are not allowed.

        Args:
            destination: The address of the link; ``None`` if it is unknown.
        """
        if destination is None or not self.hosts:
            return False
        match = _ADDRESS.fullmatch(destination)
        if match is None or match[1].lower() not in self.hosts:
            return False
        return _DISPUTED_MARKS.search(match[2]) is None and _ENDS.search(match[2]) is None

    def find_bare_path(self, chunk: str) -> tuple[int, int] | None:
        """Find the path in a plain address (without link markup) of a permitted host.

        Args:
            chunk: The characters between two blanks of the reply.

        Returns:
            The start and the latest possible end of the path, as indices in ``chunk``; ``None`` if ``chunk`` is not
            such an address.
        """
        lead = len(chunk) - len(chunk.lstrip(_LEADING_MARKS))
        address = chunk[lead:]
        begin = _ADDRESS.match(address)
        if begin is None or begin[1].lower() not in self.hosts:
            return None
        if not all(" " <= character <= "~" or is_word_character(character) for character in address):
            return None
        path = begin.start(2)
        end = _ENDS.search(address, path)
        if _DISPUTED_MARKS.search(address[path:]) is not None:
            return None
        return lead + path + 1, lead + (len(address) if end is None else end.start())


def _is_collection(value: object) -> bool:
    return (
        isinstance(value, Collection)
        and not isinstance(value, str | bytes)
        and all(isinstance(entry, str) for entry in value)
    )


#: Running text alone; and all regions, for values that the caller's own code reads.
PROSE_POLICY, EVERYWHERE_POLICY = RestorePolicy(), RestorePolicy(frozenset({EVERY_REGION}))
