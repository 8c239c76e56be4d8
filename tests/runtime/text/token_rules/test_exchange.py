"""The template is local, and exchanging strings of the same entry does not change it; with faulty rules it does."""

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from small_lists import RULES
from textveil.text.segmentation import TITLE, UPPER, begins_sentence, is_gap, segments, split_text
from textveil.text.segmentation.segments import is_emoticon, is_string
from textveil.text.token_rules import ClassifiedToken, TemplateRule, TokenRole

Cut = Callable[[str], list[str]]

# Words and strings that are odd in some way that the text around them could take up.
WORDS = """the The THE a A i I in In us US can art will Will will's may May MAY mon Mon monday reading Reading John
john's
JOHN'S john've's cat Cat CAT cats's cat'd dog's Dog p D o at AT and www com org U.S e.g Ph.D o'clock l'aîné a:b naïve
é éa e\u0301 ab\u200d жук don't Don't DON'T don’t
can't wo n't N'T haven't've couldn't catn't CATN'T xn's do
not aa bb s t tHE iN ﬁne ｔｈｅ élodie Élodie she'll you're we'd""".split()
STRINGS = """5 12 1,234 $5 10% -3 +7 #1 1/2 3. 2004 1999 2004-05-06 1/2/2019 5pm 12:30 9:05:01 555-0142
(617)555-0123 3rd 12th b2b covid-19 A4 C++ x#y = <b> 😀 👩\u200d🚀 中文 カ אב ½ ² \u0301a a\u200bb a_b end.The
@a @a.b/c
@1 @x://y bob@x.org BOB@X.ORG a@b x(at)y.org x(cat)y www.x x.com
http://x/(a http://x.y)z a://b x.museum/y /a/b /a/b.c
~/x C:\\x \\a %a :) :D ;-P :cat :smile: :-/ `x` a;b1 a%(b)c""".split()
STRINGS += ["555 123 4567", "1 2", "(1) 2", "(12) (3) 4", "((12) 3) 4", "+1 (555) 123-4567", "12 (3) 4"]
GAPS = [
    *" \n.,:;!?'’\"“”()[]{}-_/—…*&",
    "  ",
    ". ",
    ", ",
    " (",
    ") ",
    ': "',
    '" ',
    "\n\n",
    "\u00a0",
    " :",
    " ;-",
    ".)",
    "@",
]
POOL = [word for word in (*WORDS, *STRINGS) if split_text(word) == [word] and not is_gap(word)]

pieces = st.sampled_from(POOL) | st.sampled_from(WORDS + STRINGS) | st.sampled_from(GAPS) | st.text(max_size=2)
texts = st.lists(pieces, max_size=9).map("".join) | st.lists(pieces | st.just(" "), max_size=14).map("".join)
spaced = st.lists(st.tuples(st.sampled_from(POOL), st.sampled_from(GAPS)).map("".join), min_size=1, max_size=5).map(
    "".join
)


def places(cut: list[str]) -> list[tuple[int, str | None]]:
    """Index of each segment that is not a gap, and the gap before it, ``None`` before the first one."""
    found: list[tuple[int, str | None]] = []
    gap = ""
    for index, segment in enumerate(cut):
        if is_gap(segment):
            gap += segment
        else:
            found.append((index, gap if found else None))
            gap = ""
    return found


def entries(rule: TemplateRule, segment: str, gap: str | None) -> tuple[object, ...]:
    return tuple(
        token.template_entry for token in rule.split_and_classify(segment, starts_sentence=begins_sentence(gap))
    )


def stand_ins(rule: TemplateRule, cut: list[str], index: int, gap: str | None) -> list[str]:
    """Return the replacements for a place: single segments with the same entries there, one token before clitics."""
    key = id(rule), cut[index], begins_sentence(gap)
    if key not in _FOUND:
        _FOUND[key] = _stand_ins(rule, cut[index], gap)
    return _FOUND[key]


_FOUND: dict[tuple[int, str, bool], list[str]] = {}


def _stand_ins(rule: TemplateRule, old: str, gap: str | None) -> list[str]:
    wanted = entries(rule, old, gap)
    clitics = "".join(
        str(token.key) for token in rule.split_and_classify(old, starts_sentence=begins_sentence(gap))[1:]
    )
    tail = old[len(old) - len(clitics) :] if clitics else ""
    between_blanks = is_emoticon(old)
    found = [new for new in POOL if entries(rule, new, gap) == wanted and (between_blanks or not is_emoticon(new))]
    if tail and wanted[0][0] is not TokenRole.KEPT:  # type: ignore[index]
        found += [new + tail for new in POOL if entries(rule, new, gap) == wanted[:1] and not is_string(new)]
    return found


#: A fault is found, not explained: nobody reads its smallest example.
FOUND_ONLY = (Phase.explicit, Phase.generate)


def exchangeable(
    rule: TemplateRule,
    cut: Cut,
    examples: int,
    phases: tuple[Phase, ...] = tuple(Phase),
    among: st.SearchStrategy[str] = texts | spaced,
) -> None:
    """Assert that replacements with the same entry in a place leave the rest of the template unchanged."""

    @settings(max_examples=examples, phases=phases)
    @given(among, st.data())
    def check(text: str, data: st.DataObject) -> None:
        found = cut(text)
        for index, gap in places(found):
            new = data.draw(st.sampled_from([found[index], *stand_ins(rule, found, index, gap)]))
            changed = "".join([*found[:index], new, *found[index + 1 :]])
            assert rule.list_template(cut(changed)) == rule.list_template(found), (text, changed)

    check()


def local(rule: TemplateRule, examples: int, phases: tuple[Phase, ...] = tuple(Phase)) -> None:
    """Assert that an entry depends only on its own string and on the gap before it."""

    @settings(max_examples=examples, phases=phases)
    @given(texts | spaced)
    def check(text: str) -> None:
        found = split_text(text)
        expected: list[object] = []
        for index, gap in places(found):
            alone = [found[index]] if gap is None else ["cat", *([gap] if gap else []), found[index]]
            expected += rule.list_template(alone)[len(alone) - 1 :]
        assert [entry for entry in rule.list_template(found) if isinstance(entry, tuple)] == expected

    check()


@pytest.mark.slow
@pytest.mark.parametrize("examples", [100, pytest.param(400, marks=pytest.mark.full)])
@pytest.mark.parametrize("name", RULES)
def test_the_rule_is_exchangeable(name: str, examples: int) -> None:
    exchangeable(RULES[name], split_text, examples)


@pytest.mark.parametrize(
    "text",
    [
        'cat(at)"a"@b',
        "cat(at)(617)555-0123 x",
        "12 (3)(cat)dog",
        "12 (3)(at)(617)555-0123",
        '12 (3)[cat]"a"@b{dog}(1) 2',
        "12 (3)_(1) 2",
        "(cat)(1) 2",
        "x7(at)(12) (3)(at)x7",
    ],
)
def test_brackets_of_strings_do_not_show(text: str) -> None:
    """Beside a word in brackets, or a mark and a bracket, no output reveals whether a string begins with a bracket."""
    rule, found = RULES["visible"], split_text(text)
    for index, gap in places(found):
        for new in stand_ins(rule, found, index, gap):
            changed = "".join([*found[:index], new, *found[index + 1 :]])
            assert rule.list_template(split_text(changed)) == rule.list_template(found), (text, changed)


@pytest.mark.parametrize("examples", [100, pytest.param(300, marks=pytest.mark.full)])
@pytest.mark.parametrize("name", RULES)
def test_the_rule_is_local(name: str, examples: int) -> None:
    local(RULES[name], examples)


class NotAnywhere(TemplateRule):
    """Cuts "n't" off every auxiliary, also off one that is drawn: DON'T, but not CATN'T."""

    def split_and_classify(self, segment: str, *, starts_sentence: bool) -> tuple[ClassifiedToken, ...]:
        tokens = super().split_and_classify(segment, starts_sentence=starts_sentence)
        return (tokens[0], ClassifiedToken(TokenRole.KEPT, UPPER, "n't")) if segment == "DON'T" else tokens


class AfterTheDoctor(TemplateRule):
    """Says of a word what the word before it says."""

    def list_template(self, segments: Any) -> list[str | tuple[object, ...]]:
        found = super().list_template(segments)
        drawn = (TokenRole.RANDOMIZED, TITLE, None, None)
        return [
            (TokenRole.REPLACED, TITLE, 13, None)
            if entry == drawn and place > 1 and found[place - 2] == drawn
            else entry
            for place, entry in enumerate(found)
        ]


def only_short_numbers_join(text: str) -> list[str]:
    return [
        part for cut in split_text(text) for part in (cut.split(" ") if " " in cut.strip() and "4567" in cut else [cut])
    ]


def only_some_mouths(text: str) -> list[str]:
    """``:D`` is a string, ``:Cat`` a word in a gap."""
    return [
        part
        for cut in split_text(text)
        for part in ([":", cut[1:]] if is_emoticon(cut) and cut[1:].isalpha() and len(cut) > 2 else [cut])
    ]


def brackets_join(text: str) -> list[str]:
    """Plant a fault: groups of numbers include a bracket that touches a word before it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(segments, "_would_touch", lambda text, place: False)
        return split_text(text)


def brackets_end_strings(text: str) -> list[str]:
    """``1 (2)`` is one string."""
    parts = re.split(r"(\d+ \(\d+\))(?= |$)", text)
    return [part for n, cut in enumerate(parts) for part in ([cut] if n % 2 else split_text(cut))]


def of(parts: str) -> st.SearchStrategy[str]:
    """Texts of a few parts, where a rare fault is met soon."""
    return st.lists(st.sampled_from([*parts.split("|"), " "]), max_size=6).map("".join)


NOT_ANYWHERE = NotAnywhere(**vars(RULES["visible"]))
FAULTS: dict[str, Callable[..., None]] = {
    "n't is cut off drawn words": partial(
        exchangeable, NOT_ANYWHERE, split_text, among=of("DON'T|CATN'T|do|the|cat|.")
    ),
    "years do not join": partial(exchangeable, RULES["visible"], only_short_numbers_join),
    ":D is a string and :Cat is none": partial(
        exchangeable, RULES["visible"], only_some_mouths, among=of(":D|:cat|;-P|the|cat|.")
    ),
    "brackets join what is before them": partial(
        exchangeable, RULES["visible"], brackets_join, among=of("(1) 2|((12) 3) 4|5|cat|the|.")
    ),
    "brackets end strings": partial(
        exchangeable, RULES["visible"], brackets_end_strings, among=of("12 (3)|1 (2)|5|cat|the|.")
    ),
    "a word before decides": partial(local, AfterTheDoctor(**vars(RULES["visible"]))),
}


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_a_faulty_rule_is_found(fault: str) -> None:
    with pytest.raises((AssertionError, ExceptionGroup)):
        FAULTS[fault](examples=3000, phases=FOUND_ONLY)
