"""Readers cache only public common words from one call to the next."""

import pytest
from textveil import Sanitizer
from textveil.text.names import lexicon as module
from textveil.text.names.plan import NamesPlan, NamesPlanFactory

TEXTS = (
    "The doctor told Anna Quell, who paid 4321. She said: Yes! WHO knows?",
    "the doctor told anna quell, who paid 4321; mail her at a.quell@corp.test or +1 (555) 010-2000.",
    "May I? Don't. Will Smith may be in Paris, France - zorbl; zorbl.\nTHE END\n\nof Zorbl's day",
    "Rose rose. Mark marks Mark! Hope, hope; x-ray 5kg 12/5 (see p.m)",
)


@pytest.fixture
def plan() -> NamesPlan:
    return NamesPlanFactory(Sanitizer.load().bundle).make_plan({"deny": ("doctor",), "allow": ("zorbl",)})


def test_only_common_words_in_lower_case_and_function_words_are_kept(plan: NamesPlan) -> None:
    reader = plan.make_reader()
    reader.read_texts(TEXTS)
    kept = plan._lexicon.listed_tokens
    assert len(kept) > 20  # of them common words that are names too, in lower case alone: hope, mark, rose
    words = {piece.rstrip(".,;:!?\"')") for piece in kept}
    assert {word.lower() for word in words} <= plan.lists.common_words.keys()
    assert {word for word in words if not word.islower()} <= {
        "The",
        "She",
        "WHO",
        "May",
        "I",
        "Yes",
        "THE",
        "Will",
        "Don't",
    }


def test_a_text_is_read_alike_by_the_first_call_and_by_later_ones(plan: NamesPlan) -> None:
    def entries(plan: NamesPlan, text: str) -> list[object]:
        return plan.make_reader().read_texts([text])[0].list_template()

    for text in TEXTS:
        entries(plan, text)
    assert plan._lexicon.listed_tokens
    for text in TEXTS:
        new = NamesPlanFactory(Sanitizer.load().bundle).make_plan({"deny": ("doctor",), "allow": ("zorbl",)})
        assert entries(plan, text) == entries(new, text)


def test_no_more_are_kept_than_the_limit(plan: NamesPlan, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MAX_LISTED_TOKENS", 3)
    plan.make_reader().read_texts(TEXTS)
    assert len(plan._lexicon.listed_tokens) == 3
