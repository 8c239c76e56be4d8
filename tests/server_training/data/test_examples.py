"""The examples themselves."""

from textveil_training.data import Example


def test_no_repr_shows_a_text_or_a_label(canary: str) -> None:
    assert canary not in repr(Example(texts=(canary, canary), label=canary, score=3.5, attributes=(0, 2)))
