"""Attacks on text align every token with its output, and mark the sensitive ones."""

from pathlib import Path

import pytest
from attacked_texts import IDENTITY, WORDS
from textveil_training.attacks.text.released import release_texts
from textveil_training.errors import EmptyData
from textveil_training.token_randomizer import TokenRandomizer


def test_every_token_stands_beside_its_output(folders: dict[str, Path]) -> None:
    channel = TokenRandomizer(folders["words"], **IDENTITY)
    released = release_texts(channel, [(f"{WORDS[3]}, {WORDS[4]}", ""), ("",), (f"zzz {WORDS[5]}",)])
    assert released.inputs.tolist() == [3, 4, channel.unknown_id, 5]
    assert released.text.tolist() == [0, 0, 3, 3]
    assert released.example.tolist() == [0, 0, 2, 2]
    assert released.position.tolist() == [0, 1, 0, 1]
    assert released.sensitive.all(), "krr keeps nothing by a coin"
    assert released.outputs[[0, 1, 3]].tolist() == [3, 4, 5]
    with pytest.raises(EmptyData):
        release_texts(channel, [("",), (" ... ",)])
