"""Roles decide which words may be outputs and which may be kept."""

import pytest
from textveil.mechanisms.baselines.table import KEPT_ROLE, SANTEXT_OUTPUT_ROLE, SANTEXT_PLUS_OUTPUT_ROLE
from textveil_export.errors import ExportError
from textveil_export.text.word_roles import WordPolicy, assign_roles, read_english_lists

OUT, PLUS = SANTEXT_OUTPUT_ROLE, SANTEXT_PLUS_OUTPUT_ROLE
NOBODY: frozenset[str] = frozenset()


def roles(words, **lists):
    policy = WordPolicy(
        share=lists.pop("share", 0.5),
        sensitive=frozenset(lists.pop("sensitive", ())),
        allow=frozenset(lists.pop("allow", ())),
        never_output=frozenset(lists.pop("never", ())),
    )
    return assign_roles([[word] for word in words], policy).tolist()


def test_the_rarest_share_is_sensitive():
    assert roles("abcd") == [OUT | KEPT_ROLE, OUT | KEPT_ROLE, OUT | PLUS, OUT | PLUS]
    assert roles("abc", share=0.5) == [OUT | KEPT_ROLE, OUT | PLUS, OUT | PLUS]  # types, rounded toward privacy
    assert roles("ab", share=1) == [OUT | PLUS, OUT | PLUS]


def test_lists_override_the_share():
    assert roles("abcd", sensitive="a") == [OUT | PLUS, OUT | KEPT_ROLE, OUT | PLUS, OUT | PLUS]
    assert roles("abcd", allow="d") == [OUT | KEPT_ROLE, OUT | KEPT_ROLE, OUT | PLUS, OUT | KEPT_ROLE]
    assert roles("abcd", never="ad") == [0, OUT | KEPT_ROLE, OUT | PLUS, 0]


def test_lists_are_matched_as_text_is_looked_up():
    assert roles(["the", "of", "c", "d"], sensitive=["The"], never=["ＯＦ"])[:2] == [OUT | PLUS, 0]


def test_a_list_that_names_a_merged_spelling_decides_for_the_symbol():
    policy = WordPolicy(share=0.5, sensitive=frozenset({"éclair"}), allow=NOBODY, never_output=NOBODY)
    assert assign_roles([["eclair", "éclair"], ["b"]], policy).tolist() == [OUT | PLUS, OUT | PLUS]


@pytest.mark.parametrize("share", [0, -1, 1.5, float("nan")])
def test_a_share_out_of_range_is_refused(share):
    with pytest.raises(ExportError, match="share"):
        WordPolicy(share=share, sensitive=NOBODY, allow=NOBODY, never_output=NOBODY)


def test_contradicting_lists_are_refused():
    with pytest.raises(ExportError, match="allow list and on another list: remove it from one of them"):
        WordPolicy(share=0.5, sensitive=frozenset("a"), allow=frozenset("a"), never_output=NOBODY)
    with pytest.raises(ExportError, match="allow list and on another list: remove it from one of them"):
        WordPolicy(share=0.5, sensitive=NOBODY, allow=frozenset("a"), never_output=frozenset("a"))


def test_a_policy_without_outputs_is_refused():
    with pytest.raises(ExportError, match="no outputs: raise --share"):
        roles("ab", never="b")


def test_the_built_in_lists_are_words():
    sensitive, never = read_english_lists()
    assert len(sensitive) > 3000
    assert len(never) > 300
    assert all(word == word.lower().strip() and " " not in word for word in sensitive | never)
