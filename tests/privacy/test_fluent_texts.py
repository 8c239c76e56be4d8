"""A base follows what is public alone: the skeleton, and what came out before in the same document.

That every context is read off the skeleton and the released text is compared with the second reader, which has nothing
else, in ``tests/contract/test_whole_texts.py``; the faults that a developer is likely to plant are seen there.
"""

from typing import Any

import pytest
from mention_checks import stream
from small_context import random_context
from small_staircase import small_staircase
from textveil import Sanitizer
from textveil.errors import OptionError
from textveil.mechanisms import entropy


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Sanitizer:
    context = random_context(1, weights=(1, 9, 40))
    return Sanitizer.load(small_staircase(tmp_path_factory.mktemp("small"), context=context))


def test_spellings_and_drawn_words_elsewhere_do_not_change_a_draw(
    small: Sanitizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With one stream, a mention comes out alike whatever strings of the same kind and case stand after it."""
    for seed in range(30):
        pairs = ["the doctor zorblax, was john flu", "the doctor qwyx, was mary cancer"]
        found = []
        for text in pairs:
            monkeypatch.setattr(entropy, "random_uint64", stream(seed))
            found.append(small.sanitize(text, fluent=True).text.split()[:5])
        assert found[0] == found[1]


def test_a_text_without_a_mention_and_an_empty_one(small: Sanitizer) -> None:
    assert [small.sanitize(text, fluent=True).text for text in ("", " .", "the a", "was")] == ["", " .", "the a", "was"]


def test_statement_and_distribution(small: Sanitizer) -> None:
    plain, fluent = small.sanitize("a doctor").statement, small.sanitize("a doctor", fluent=True).statement
    assert plain.losses == fluent.losses
    assert fluent.to_dict()["fluent"] is True
    assert "for no more nats" in fluent.summary()
    assert any(said.startswith("what fits") for said in fluent.not_protected)
    assert small.distribution("doctor", fluent=True).weights != small.distribution("doctor").weights


def test_a_bundle_without_contexts_refuses_by_name(tmp_path: Any) -> None:
    plain = Sanitizer.load(small_staircase(tmp_path / "plain"))
    with pytest.raises(OptionError, match=r"no context\.safetensors"):
        plain.sanitize("doctor", fluent=True)
