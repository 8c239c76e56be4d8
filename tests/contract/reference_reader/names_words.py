"""The mode `names`, pass 1: the tokens of a word (docs/names-rule.md, "Words")."""

from dataclasses import dataclass, replace
from typing import Any

from .characters import TO_ASCII
from .inputs import case_pattern, key_of
from .segments import find_segments

EVERYWHERE = ("weekday", "number-word", "group")
IN_LOWER_CASE = (*EVERYWHERE, "particle")
WITH_CAPITAL = (*EVERYWHERE, "month", "title", "office")
DISGUISED = {"am", "may", "mine", "us", "will"}
DOTTED = {"st", "mt", "ft"}
FORMS = set("co corp gmbh inc llc llp ltd plc".split())
REQUESTS = set(
    """
accept add advise answer apologize ask asked assign assume attach attend avoid blame borrow bring build buy call
called cancel change check choose compare confirm congratulate consider contact convince copy create delete deliver
describe discuss download draft email emailed encourage ensure exclude explain fetch find fix follow forgive forward
gave give greet heard hire identify ignore include inform interview introduce invite invoice join keep leave left lend
list locate mail make meet mention message met move nominate notify open order organize owe pay persuade phone pick
ping plan postpone prepare promote propose provide put quote read rebook recommend refer refund reject remind remove
rename repeat replace report request reschedule resend respond return review rewrite save saw say schedule select sell
send share show sign speak spoke start stop suggest summarize suppose talk teach text texted told took transfer
translate update upload use verify visit visited warn wish write
""".split()
)
VERBS = set(
    """
ate became began bought came drove fell felt flew got held hit kept knew know lost love made need ran said sat spent
thought want went won wrote
""".split()
)
NUMBER_WORDS = {
    **dict.fromkeys("zero one two three four five six seven eight nine ten oh".split(), "d"),
    **dict.fromkeys("hundred thousand million billion trillion".split(), "s"),
    **dict.fromkeys("double triple treble".split(), "x"),
}
TITLES = {
    "ms": set("ms mrs miss missus madam madame mme mlle frau senora señora señorita".split()),
    "mr": set("mr mister monsieur herr senor señor".split()),
}
CLITICS = ("'re", "'ve", "'ll", "'s", "'m", "'d")


@dataclass(frozen=True)
class Token:
    """A token; `bits` are names of what a word may be shown for, or may begin."""

    cls: str
    text: str
    key: str
    case: str = "lower"
    kind: str = ""
    layout: str = ""
    bits: frozenset[str] = frozenset()


class Words:
    """Reads words with the lists of a bundle and the words that a request allows, denies and draws."""

    def __init__(self, lists: dict[str, Any], allow: list[str], deny: list[str], draw: list[str]) -> None:
        self.lists = lists
        self.allowed, self.denied = keys_of(allow), keys_of(deny)
        self.drawn = {*draw} - self.denied

    def word(self, word: str) -> list[Token]:
        """Return the tokens of a stem, and perhaps a clitic."""
        key = key_of(word)
        clitic = next((clitic for clitic in CLITICS if key.endswith(clitic) and key != clitic), "")
        stem = key.removesuffix(clitic)
        shown = key in self.lists["common"] or key in self.allowed
        if not clitic or (shown and stem not in self.drawn) or self.is_denied(key):
            return [self.stem(word, key)]
        cut = len(word) - len(clitic)
        if not word[cut + 1 :].isascii():
            return [self.stem(word, key)]
        case = "UPPER" if len(word) > 2 and case_pattern(word) == "UPPER" else "lower"
        return [self.stem(word[:cut], stem), Token("shown", word[cut:], clitic, case)]

    def stem(self, stem: str, key: str) -> Token:
        """Return the token of a stem."""
        case = case_pattern(stem)
        if key in self.drawn and case == "lower":
            return Token("alone", stem, key, kind="word", layout="drawn")
        if self.is_denied(key) or key in self.drawn:
            return self.unlisted(stem, key) if case == "lower" else unknown(stem, key, case)
        if key in self.allowed or straight(stem) in self.lists["capitals"]:
            return Token("shown", stem, key, case)
        if case == "lower" and stem == stem.lower():
            return self.small(stem, key)
        return self.capital(stem, key, "Title" if case == "lower" else case)

    def is_denied(self, key: str) -> bool:
        """Whether a key is denied, or what is before its clitic is."""
        stems = [key.removesuffix(clitic) for clitic in (*CLITICS, "n't") if key.endswith(clitic) and key != clitic]
        return key in self.denied or any(stem in self.denied for stem in stems)

    def small(self, stem: str, key: str) -> Token:
        """Return the token of a stem in lower case."""
        marks = self.lists["common"].get(key) if straight(stem) == key else None
        if marks is None:
            kind, found = self.first_kind(key, IN_LOWER_CASE), self.unlisted(stem, key)
            own = {"number"} if kind == "number-word" else set()
            return replace(found, kind=kind, layout="", bits=found.bits - {"clitic"} | own) if kind else found
        number = {"number"} if key in NUMBER_WORDS else set()
        if not marks & {"strict", "function"}:
            found = self.unlisted(stem, key)
            return replace(found, cls="loose", bits=found.bits | number)
        begins = "unit" if key in self.kind("unit-word") else "first" if key in self.kind("first-word") else ""
        verb = key.endswith("s") or ending_of(key) or key in VERBS | REQUESTS
        bits = {begins} if verb or marks & {"function", "opener"} else {begins, "noun"} | self.named(key)
        return Token("shown", stem, key, bits=frozenset(bits - {""} | number))

    def named(self, key: str) -> set[str]:
        """Return the bit of words that are on a list of persons."""
        return {"named"} if key in self.kind("given") or key in self.kind("family") else set()

    def unlisted(self, word: str, key: str) -> Token:
        """Return the token of a word in lower case that is replaced."""
        found = unknown(word, key, "lower")
        return replace(found, bits=frozenset(self.named(key))) if found.kind == "word" else found

    def capital(self, stem: str, key: str, case: str) -> Token:
        """Return the token of a stem with a capital."""
        marks = self.lists["common"].get(key, set())
        if len(stem) == 1:
            return Token("initial", stem, key, "Title", bits=frozenset({"at-start"} if "function" in marks else ()))
        bits = set()
        plain = bool(marks) and straight(stem) in (key.upper(), key[:1].upper() + key[1:])
        if plain and key not in DISGUISED:
            request = "start" in marks and key in REQUESTS
            bits |= {"at-start"} if request or marks & {"function", "opener"} else set()
            bits |= {"no-title"} if (request or "opener" in marks) and "function" not in marks else set()
            starts = marks & {"start", "function", "opener"} and not ("rare" in marks and case != "UPPER")
            bits |= {"at-sentence"} if starts else set()
            bits |= {"emphatic"} if "emphasis" in marks else set()
        kind = self.first_kind(key, WITH_CAPITAL)
        number = {"number"} if kind == "number-word" or (not kind and plain and key in NUMBER_WORDS) else set()
        if kind:
            layout = title_layout(key) if kind == "title" else ""
            return Token("alone", stem, key, case, kind, layout, frozenset(bits & {"at-sentence"} | number))
        bits |= number
        bits |= {"dotted"} if key in DOTTED else {"form"} if key in FORMS and stem != "CO" else set()
        return Token("capital", stem, key, case, bits=frozenset(bits))

    def kind(self, kind: str) -> dict[str, set[str]]:
        """Return the members of a type."""
        return self.lists["kinds"][kind]

    def first_kind(self, key: str, kinds: tuple[str, ...]) -> str:
        """Return the first of some types that lists a key."""
        return next((kind for kind in kinds if key in self.kind(kind)), "")


def title_layout(key: str) -> str:
    """Return the layout of a title: of a woman, of a man, or nothing."""
    return next((layout for layout, titles in TITLES.items() if key in titles), "")


def straight(word: str) -> str:
    """Return a word with U+0027 for each apostrophe."""
    return word.translate(TO_ASCII)


def keys_of(entries: list[str]) -> set[str]:
    """Return the keys of all words and strings of entries."""
    segments = [segment for entry in entries for segment in find_segments(entry.removeprefix("\ufeff"))]
    return {key_of(text) for kind, text in segments if kind != "gap"}


def unknown(word: str, key: str, case: str) -> Token:
    """Return the token of an unknown word."""
    if case != "lower":
        return Token("capital", word, key, case)
    if len(word) == 1:
        return Token("alone", word, key, kind="letter", bits=frozenset({"clitic"} if key in tuple("dmst") else ()))
    return Token("alone", word, key, kind="word", layout=ending_of(key))


def ending_of(key: str) -> str:
    """Return the public ending of a word."""
    ends = next((end for end in ("ing", "ed", "ly", "s") if key.endswith(end)), "")
    return ends if len(key) >= 5 and key.isascii() and not key.endswith("ss") else ""
