"""Texts and vectors describe what they promise in one way, and no kind of loss is taken for another."""

from decimal import Decimal

import pytest
from textveil import Sanitizer
from textveil.bundle import artifact
from textveil.mechanisms import L1, ReleaseParameters
from textveil.release import Loss, MixedKinds, PerCoordinate, PerDistance, PerToken, PerWord, Statement, WholeText
from textveil.vector import vector_statement


def statements() -> dict[str, Statement]:
    sanitizer, of_tables = Sanitizer.load(), Sanitizer.load(artifact("english-santext"))
    return {
        "staircase": sanitizer.sanitize("My doctor said").statement,
        "santext+": of_tables.sanitize("My doctor said", mechanism="santext+").statement,
        "santext": of_tables.sanitize("My doctor said", mechanism="santext").statement,
        "krr": of_tables.sanitize("My doctor said", mechanism="krr", epsilon="3.5").statement,
        "l1": vector_statement(ReleaseParameters(L1, 2, 64, "2"), "0.5", "an identity"),
    }


@pytest.mark.slow
def test_every_release_tells_its_losses_by_kind() -> None:
    kinds = {name: [type(loss) for loss in found.losses] for name, found in statements().items()}
    assert kinds == {
        "staircase": [PerToken],
        "santext+": [PerDistance, PerToken],
        "santext": [PerDistance],
        "krr": [PerToken],
        "l1": [WholeText, PerWord, PerCoordinate],
    }
    assert statements()["krr"].losses[0].epsilon == Decimal("3.5")
    assert statements()["staircase"].losses[0].epsilon == Decimal(10)
    assert statements()["santext+"].losses[0].epsilon == 10


def test_every_statement_prints_summary_identity_and_limits() -> None:
    for found in statements().values():
        first, *rest = str(found).splitlines()
        assert first == found.summary()
        assert f"bundle {found.identity}" in rest
        assert rest[-len(found.not_protected) :] == [f"  - {item}" for item in found.not_protected]


def test_kinds_do_not_mix() -> None:
    losses: list[Loss] = [loss for found in statements().values() for loss in found.losses]
    for first in losses:
        for second in losses:
            if type(first) is not type(second):
                with pytest.raises(MixedKinds):
                    first.covers(second)
        with pytest.raises(MixedKinds):
            float(first)
