"""Plain words are read in a shorter way than others, to the same tokens."""

from typing import Any

import pytest
from textveil import Sanitizer

OPTIONS: list[dict[str, Any]] = [{}, {"deny": ["do", "chair", "suite"], "allow": ["zorblax", "will"]}]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_plain_words_are_read_as_others_are(options: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    plan = Sanitizer.load().names_plan(protect="names", **options)
    words = [*plan.lists.common, *plan.lists.kinds["first-word"], *plan.lists.kinds["unit-word"], "zorblax", "don't"]
    reader = plan.reader()
    short = [reader._piece(word) for word in words]
    monkeypatch.setattr(reader._chunks, "is_plain", lambda word: False)
    assert [reader._piece(word) for word in words] == short
    assert sum(odd == [] for _, _, odd, _ in short) > 10_000
