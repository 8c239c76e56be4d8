"""Plan of the mode ``names``, from the options of a call."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cached_property
from typing import Any

from textveil.bundle.layout import LAW
from textveil.bundle.names_files import NamesLists
from textveil.bundle.text import TextBundle
from textveil.errors import BundleDamaged, OptionError
from textveil.lazy import ENTITY_TYPES, load_data
from textveil.text import segmentation
from textveil.text.names.also import Detector
from textveil.text.names.chunks import Chunks
from textveil.text.names.drawn import DrawnWords
from textveil.text.names.kinds import CALLED, UNLISTED, Kinds, Mention
from textveil.text.names.lexicon import Lexicon
from textveil.text.names.promise import Drawing, NamesPromise
from textveil.text.names.read import TextReader
from textveil.text.names.rewrite import NamesRewriter, Style
from textveil.text.names.strict import read_strictly
from textveil.text.names.surrogates import Surrogates
from textveil.text.names.tokens import DRAWN
from textveil.text.options import CONSISTENT_CAP
from textveil.text.promises import guess_gain
from textveil.text.staircase_plans import find_staircase_level
from textveil.text.statement import Terms

STYLES = ("surrogate", "tag")
#: Lists that the mode requires.
KINDS, POOLS = (frozenset(load_data(ENTITY_TYPES)[name]) for name in ("lists", "pools"))
#: Minimum length in bytes of the key that links equal strings of a corpus.
SHORTEST_KEY = 16
_PIECES = re.compile(r"\w+(?:['\u2019\u2018]\w+)*|\W+|_+")
_FOREIGN = ("replacement_probability", "sanitize_punctuation", "split", "mechanism", "case")


@dataclass(frozen=True, kw_only=True)
class NamesPlan:
    """Rewriting of texts under one set of options.

    Attributes:
        lists: The lists of the bundle.
        surrogates: The surrogate pools.
        style: Options for the replacement of slots.
        terms: Contents of privacy statements.
        allowed: Keys of the user's own words that are kept.
        denied: Keys of the user's own words that are replaced.
        also: Detector that hides further parts of the output, or ``None``.
        key: Secret key that links equal strings of all documents, or ``None``.
        drawn: Randomizer of the words of a public list, or ``None``.
        split: Always false: a document above the cap is not split.
    """

    lists: NamesLists
    surrogates: Surrogates
    style: Style
    terms: Terms
    allowed: frozenset[str] = field(repr=False)
    denied: frozenset[str] = field(repr=False)
    also: Detector | None
    key: bytes | None = field(repr=False)
    drawn: DrawnWords | None = None
    split: bool = False

    @cached_property
    def _kinds(self) -> Kinds:
        common = self.lists.common
        common = common.keys() - self.denied if self.denied else common
        told = self.style.keep | self.style.tag | self.style.drop | {*(("organization", "place") * self.style.tags)}
        return Kinds(self.lists.kinds, common, self.lists.rules, self.style.keep, told, self.denied)

    @cached_property
    def _lexicon(self) -> Lexicon:
        return Lexicon(self.lists, self.allowed, self.denied, self.drawn.ids if self.drawn else ())

    def reader(self) -> TextReader:
        """Return a reader for the texts of one call."""
        return TextReader(Chunks(self._lexicon), self._kinds, self.lists.rules)

    def read_strictly(self, entries: Iterable[str | Mention]) -> Iterator[str | Mention]:
        """Yield the entries of a text that was read, with all parts hidden that only context keeps."""
        return read_strictly(entries, self._lexicon)

    def rewriter(self) -> NamesRewriter:
        """Return a rewriter for the documents of one call."""
        return NamesRewriter(self.reader(), self.surrogates, self.style, also=self.also, key=self.key, words=self.drawn)

    def preview(self, text: str) -> list[tuple[str, str]]:
        """Return each piece of a text with its state (``Sanitizer.preview``)."""
        found = []
        for entry in self.reader().read([text])[0].entries:
            if not isinstance(entry, str):
                drawn = entry.parts[0].layout == DRAWN
                found.append(
                    (entry.slot.source or entry.slot.text, "drawn" if drawn else CALLED.get(entry.kind, entry.kind))
                )
            else:
                found += [(piece, "visible" if piece[0].isalnum() else "gap") for piece in _PIECES.findall(entry)]
        return found

    def distribution(self, word: str) -> Any:
        """Return the output distribution of a randomized word.

        Raises:
            OptionError: The word is not randomized: the output for any other word depends on its context.
        """
        if self.drawn is not None and word in self.drawn.ids:
            from textveil.mechanisms.distribution import Distribution
            from textveil.mechanisms.staircase import staircase_channel

            channel = staircase_channel(self.drawn.staircase)
            return Distribution.of(self.drawn.vocabulary, channel, self.drawn.ids[word])
        raise OptionError("on the rung names a word has no distribution of its own: it is shown or replaced by place")


class NamesPlans:
    """Factory of plans of the mode, with their common parts.

    Args:
        bundle: A bundle with the lists of the mode.
        also: Detector that hides further parts of the output.

    Raises:
        UnknownMechanism: The bundle has no such lists.
        BundleDamaged: A list is missing or malformed.
    """

    def __init__(self, bundle: TextBundle, also: Detector | None = None) -> None:
        self._bundle, self._lists, self._also = bundle, bundle.require_names(), also
        pools = POOLS.union(f"word-{ending}" for ending in self._lists.rules.endings)
        for needed, lists in ((KINDS, self._lists.kinds), (pools, self._lists.pools)):
            if missing := sorted(needed - lists.keys()):
                raise BundleDamaged(f"{LAW}: the rung names lacks the list {missing[0]}")
        self._surrogates = Surrogates(self._lists.pools, self._lists.rules)

    def plan(self, given: Mapping[str, Any]) -> NamesPlan:
        """Return the plan for options that ``options.given`` has checked.

        Raises:
            OptionError: An option does not belong to this mode, or a type does not exist.
        """
        foreign = sorted(set(given).intersection(_FOREIGN))
        foreign += ["epsilon without draw"] if "epsilon" in given and "draw" not in given else []
        if foreign:
            raise OptionError(f"protect names does not take {', '.join(foreign)}: leave that out")
        style = self._style(given)
        allowed, denied = _keys(given.get("allow", ())), _keys(given.get("deny", ()))
        level, drawn, drawing = None, None, None
        if "draw" in given:
            self._bundle.require("staircase")
            level = find_staircase_level(self._bundle, given.get("epsilon"))
            drawn = DrawnWords.of(self._bundle, given["draw"], denied, level)
            drawing = Drawing(len(drawn.ids), level.epsilon, guess_gain(drawn.staircase.guess_gain))
        also = self._also is not None
        terms = Terms(
            mechanism="names",
            level=level and f"{level.epsilon.normalize():f}",
            promise=NamesPromise(style=style, allow=bool(allowed), deny=bool(denied), also=also, draw=drawing),
            protect="names",
            consistent=style.consistent,
            consistent_cap=style.cap,
            case="carry",
            sanitize_punctuation=False,
            bundle=self._bundle.identity,
        )
        return NamesPlan(
            lists=self._lists,
            surrogates=self._surrogates,
            style=style,
            terms=terms,
            allowed=allowed,
            denied=denied,
            also=self._also,
            key=given.get("key"),
            drawn=drawn,
        )

    def _style(self, given: Mapping[str, Any]) -> Style:
        style, cap = given.get("style", "surrogate"), given.get("consistent_cap", CONSISTENT_CAP)
        if style not in STYLES:
            raise OptionError(f"style must be one of {', '.join(STYLES)}")
        kinds = {name: self._named(given.get(name, ())) for name in ("keep", "tag", "drop")}
        if any(kinds[one] & kinds[other] for one, other in (("keep", "tag"), ("keep", "drop"), ("tag", "drop"))):
            raise OptionError("a kind is kept, tagged or dropped: one of them")
        if never := ", ".join(sorted(kinds["keep"] & UNLISTED)):
            raise OptionError(f"kinds that are kept are told by a list or a shape, and {never} is not: use allow")
        consistent, key = given.get("consistent", True), given.get("key")
        if (consistent == "corpus") != (key is not None):
            raise OptionError("consistent corpus and a key belong together")
        if key is not None and len(key) < SHORTEST_KEY:
            raise OptionError(f"the key of consistent draws has at least {SHORTEST_KEY} bytes")
        return Style(tags=style == "tag", consistent=bool(consistent), cap=cap, linked=key is not None, **kinds)

    def _named(self, kinds: Collection[str]) -> frozenset[str]:
        known = {CALLED.get(kind, kind) for kind in self._surrogates.kinds}
        if not known.issuperset(kinds):
            wrong = [kind for kind in kinds if kind not in known]
            close = [(kind, found) for kind in wrong for found in get_close_matches(kind, known - {*kinds}, 1)]
            for kind, found in close:
                raise OptionError(f"no such kind: {kind}; did you mean {found}?")
            raise OptionError(f"no such kind; there are {', '.join(sorted(known))}")
        return frozenset(kinds)


def _keys(entries: Collection[str]) -> frozenset[str]:
    """Return the keys of all words of the entries."""
    found = set()
    for entry in entries:
        for segment in segmentation.segments(entry.removeprefix(segmentation.BYTE_ORDER_MARK)):
            if not segmentation.is_gap(segment):
                found.add(segmentation.key(segment))
    return frozenset(found)
