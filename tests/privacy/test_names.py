"""In the mode ``names`` texts of one template have one output distribution, and members keep the template.

docs/proofs/names.md has the theorem. Texts here are random mixtures of kept words, names, strings and marks, which have
more unusual places than real texts.
"""

from pathlib import Path
from typing import Any

import pytest
from names_soup import (
    BREAKS,
    EXCHANGES,
    LISTED,
    SHOWN,
    around,
    comes_out,
    is_broken,
    kept_share_differs,
    law,
    pairs,
    skeleton,
    soup,
)
from textveil import Sanitizer
from textveil.text.names.plan import NamesPlanFactory

_CUES = (
    "hi|Hi|hey|dear|Dear|thanks|Thanks,|regards,|best,|name:|Name:|patient:|i'm|I'm|I am|this is|This is|my friend|"
    "his boss|My friend|called|ask for|my name is|good morning|to:|client:|kind|anna|good"
)
_LOWER_NAMES = (
    "hope|mark|joy|grace|will|price|zorblax|brown|long|wise|rose|young|anna|zorb|van|k|x|hope price|will brown|german|"
    "king|may|new|north|suite|mark-zorb|zorb-hope|hope.zorb|hope,zorb|Novak|5|12|zorb's|hope's|will's"
)
_FOLLOWERS = (
    "and|is|said|from|who|here|short|letter|house|to come|7|Anna|Mr.|will|has|(5)|+49 30 1234567|coffee-zorb-1990|"
    "zorb-lover-1990|zorb-l-1990"
)


@pytest.fixture(scope="module", params=["small", "shipped"])
def plans(request: pytest.FixtureRequest, names: Path) -> NamesPlanFactory:
    if request.param == "shipped":
        return NamesPlanFactory(Sanitizer.load().bundle)
    return NamesPlanFactory(Sanitizer.load(names).bundle)


@pytest.mark.slow
def test_members_in_all_slots_leave_the_skeleton(plans: NamesPlanFactory) -> None:
    assert not is_broken(plans.make_plan({}), 1, 3_000)


@pytest.mark.slow
@pytest.mark.parametrize(
    "options", [{"deny": ["said", "boston", "van", "do"]}, {"allow": ["anna", "novak's"]}], ids=str
)
def test_the_same_with_lists_of_the_users_own(plans: NamesPlanFactory, options: dict[str, Any]) -> None:
    assert not is_broken(plans.make_plan(options), 2, 750)


@pytest.mark.parametrize("facts", ["none", "useful"])
def test_members_behind_greetings_closings_and_labels(plans: NamesPlanFactory, facts: str) -> None:
    """Texts have words that announce a name, common words that are names, and words with which a name ends."""
    sources = [part.split("|") for part in (_CUES, _LOWER_NAMES, _FOLLOWERS)]
    gaps = [" "] * 14 + [", ", ". ", ",", ",\n", "\n", ": ", "! ", " - ", "-", "; ", '" ', " & ", "."]
    plan = plans.make_plan({"facts": facts})
    assert not is_broken(plan, 9, 800, lambda chance: soup(chance, sources, (4, 4, 3), gaps))


@pytest.mark.full
def test_a_million_members(plans: NamesPlanFactory) -> None:
    assert not is_broken(plans.make_plan({}), 3, 500_000)


def test_no_member_with_a_blank_cuts_a_chunk_that_a_mark_behind_it_cuts(plans: NamesPlanFactory) -> None:
    texts = ("met NOVAK&ZORBLAX;KRALLS=V now", "met NOVAK&AMP;FRIDAYK=V now", "met 5x;Krall(y) now")
    assert not is_broken(plans.make_plan({"facts": "none"}), 4, 400, lambda chance: chance.choice(texts))


def test_a_member_has_the_words_in_title_case_that_one_of_its_places_asks_for(plans: NamesPlanFactory) -> None:
    texts = ("Project Status Report | Lake In + Only", "don't see...Project Status Report. patient, it is")
    assert not is_broken(plans.make_plan({"facts": "none"}), 5, 400, lambda chance: chance.choice(texts))


def test_initials_are_upper_case_whatever_is_left_out_before_them(plans: NamesPlanFactory) -> None:
    reader = plans.make_plan({}).make_reader()
    assert skeleton(reader.read_texts(["met He A S, said"])) == skeleton(reader.read_texts(["met A. S, said"]))


OPTIONS: list[dict[str, Any]] = [
    {**style, **more}
    for style in ({}, {"style": "tag"}, {"consistent": False}, {"consistent_cap": 2})
    for more in (
        {},
        {"tag": ["city", "number"], "drop": ["person", "month"]},
        {"drop": ["word"]},
        {"keep": ["person", "number"], "tag": ["city"]},
        {"keep": ["city", "organization", "word"], "drop": ["email"]},
    )
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_one_skeleton_one_law(
    plans: NamesPlanFactory, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    plan = plans.make_plan(options)
    read, is_consistent = plan.make_reader().read_texts, options.get("consistent", True)
    compared, skipped = 0, 0
    for texts, others in pairs(plan, 4, 100):
        if not is_consistent:  # members keep the types of linked names
            templates = [skeleton(read(each), are_names_linked=False) for each in (texts, others)]
            if templates[0] != templates[1]:
                skipped += 1
                continue
        compared += 1
        assert law(plan, [texts], monkeypatch) == law(plan, [others], monkeypatch)
    assert compared > 10 * skipped


def test_tags_of_html_and_titles_behind_first_names_have_one_law(
    plans: NamesPlanFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = "Anna|Mark|J.|J. R.|King|Doctor|President|Dr.|Novak|Zorblax|Anna King|Mark President|Zorblax King"
    tags = "<p>zorb</p>|<zorb>|</zorb>|<br>Novak|</x>|<Anna>|<h1>King</h1>|<li/>"
    sources = SHOWN, names.split("|"), tags.split("|")
    for options in ({}, {"style": "tag"}, {"keep": ["person", "title"]}):
        plan = plans.make_plan(options)
        for texts, others in pairs(plan, 7, 300, lambda chance: soup(chance, sources, (2, 4, 2))):
            assert law(plan, [texts], monkeypatch) == law(plan, [others], monkeypatch)


@pytest.mark.parametrize("keep", [[], LISTED], ids=["none", "kept"])
def test_nothing_of_what_is_replaced_comes_out(plans: NamesPlanFactory, keep: list[str]) -> None:
    assert not comes_out(plans.make_plan({"keep": keep}), 5, 300)


@pytest.mark.parametrize(
    ("keep", "text"),
    [
        ("organization", "he met _Tadzio Kowalczykowska_, _Zorbl Blaxu_ and Google; _Charles Schwab_ said so"),
        ("city", "a letter from _Novakov_, mail from _Zorblax_ and from Boston, by _Mr_. _Boston_"),
        ("city", "he saw Berlin, _Paris_, _Charlotte_ and _Washington_"),
        ("country", "he saw _Jordan_ and _Georgia_ in France"),
        ("person", "he met Anna Novak, _Anna Zorblax_, _Zorblax_, J. Smith and Anna"),
        ("person city", "he met Paris in Boston and _Zorblax_"),
        ("word", "The House _zorbl_ is and _zorblax_ is"),
        ("group", "_Tom_ _Brown_ met the Welsh; _Mr_. _Brown_ and _J_. _Brown_ met Brown and _Christian_ _Kovac_"),
        ("group", "_Brown_, _Tom_\n_White_, _Anna_\nGerman, old"),
        ("title", "_Tom King_ met Dr. _Kovac_ and Mr. _King_; Prof. Dr. _Novak_ left"),
        ("month", "in March we saw _Anna_ _March_ and met _June_ _Kovac_"),
        ("weekday", "_Tom_ _Sunday_ came on Monday"),
        ("group person", "he met Tom Brown"),
        ("number date", "he paid 3.50 on 12/12/2012 to _Anna_"),
        ("city", "she moved to berlin with _anna_ and _zorbl_"),
    ],
)
def test_what_is_kept_is_on_a_list_and_nobodys_name(keep: str, text: str) -> None:
    """Low lines enclose the parts that must be replaced."""
    given = text.replace("_", "")
    read = Sanitizer.load().names_plan(protect="names", keep=keep.split()).make_reader().read_texts([given])[0]
    assert "".join(e if isinstance(e, str) else f"_{e.span.text}_" for e in read.elements) == text


def test_what_is_denied_is_not_kept() -> None:
    plan = Sanitizer.load().names_plan(protect="names", keep=["city"], deny=["boston"])
    assert around(plan.make_reader().read_texts(["he saw Boston and Berlin"])) == ["he saw ", "", " and Berlin"]


@pytest.mark.parametrize(("text", "other"), BREAKS)
def test_breaks_that_were_found(plans: NamesPlanFactory, text: str, other: str) -> None:
    reader = plans.make_plan({}).make_reader()
    assert around(reader.read_texts([text])) == around(reader.read_texts([other]))


@pytest.mark.parametrize(("text", "other"), EXCHANGES)
def test_exchanged_strings_leave_the_skeleton(text: str, other: str) -> None:
    reader = NamesPlanFactory(Sanitizer.load().bundle).make_plan({}).make_reader()
    assert skeleton(reader.read_texts([text])) == skeleton(reader.read_texts([other]))


def test_a_denied_stem_is_replaced_and_an_allowed_form_shown(plans: NamesPlanFactory) -> None:
    """The stem is replaced with its clitic; an allowed form is kept, and its stem alone is not."""

    def shown(options: dict[str, list[str]], text: str) -> str:
        (read,) = plans.make_plan(options).make_reader().read_texts([text])
        return "".join(entry if isinstance(entry, str) else "_" for entry in read.elements)

    assert shown({"deny": ["do"]}, "they don't say what to do") == "they _ say what to _"
    assert shown({"deny": ["it"]}, "it's late and IT'LL go") == "_ late and _ go"
    assert shown({"allow": ["Novak's"]}, "he saw Novak's and Novak") == "he saw Novak's and _"


def test_no_letter_is_spelled_beside_its_listed_form(plans: NamesPlanFactory) -> None:
    """A clitic, a whole word or a numbered mark in other code points is not a word of a list."""
    plan = plans.make_plan({})
    for text in ("he saw Novak'𝓼 house", "he has an e-boo\u212a now", "he is &#74;&#111;hn now"):
        shown = "".join(entry for entry in plan.make_reader().read_texts([text])[0].elements if isinstance(entry, str))
        assert not {"𝓼", "\u212a", "7"} & set(shown)


@pytest.mark.slow
def test_texts_of_one_template_have_one_kept_share(plans: NamesPlanFactory) -> None:
    assert not kept_share_differs(plans.make_plan({}), 8, 1_500)
