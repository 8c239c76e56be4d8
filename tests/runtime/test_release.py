"""Texts and vectors describe their promise in one form, and types of loss are never confused."""

from decimal import Decimal
from itertools import combinations

import pytest
from textveil import Sanitizer
from textveil.bundle import find_artifact
from textveil.errors import MixedLossTypes
from textveil.mechanisms.noise import L1, ReleaseParameters
from textveil.release import PerCoordinate, PerDistance, PerToken, PerWord, PrivacyLoss, ReleaseStatement, WholeText
from textveil.vector import make_vector_statement


def statements() -> dict[str, ReleaseStatement]:
    sanitizer, of_tables = Sanitizer.load(), Sanitizer.load(find_artifact("english-santext"))
    return {
        "staircase": sanitizer.sanitize("My doctor said", protect="words").statement,
        "santext+": of_tables.sanitize("My doctor said", mechanism="santext+").statement,
        "santext": of_tables.sanitize("My doctor said", mechanism="santext").statement,
        "krr": of_tables.sanitize("My doctor said", mechanism="krr", epsilon="3.5").statement,
        "l1": make_vector_statement(
            ReleaseParameters(mode=L1, dimension=2, grid=64, epsilon="2"), "0.5", "an identity"
        ),
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
        assert f"bundle {found.bundle_hash}" in rest
        assert rest[-len(found.not_protected) :] == [f"  - {item}" for item in found.not_protected]


KINDS = [WholeText(Decimal(4)), PerCoordinate(Decimal(4)), PerWord(Decimal(4))]


@pytest.mark.parametrize(("one", "other"), list(combinations(KINDS, 2)))
def test_kinds_do_not_mix(one: PrivacyLoss, other: PrivacyLoss) -> None:
    for compare in (one.covers, one.__eq__, one.__ne__, one.__lt__, one.__le__, one.__gt__, one.__ge__):
        with pytest.raises(MixedLossTypes):
            compare(other)
    with pytest.raises(MixedLossTypes):
        _ = one == other
    assert str(one) != str(other)


@pytest.mark.parametrize("loss", KINDS)
def test_a_loss_is_no_number(loss: PrivacyLoss) -> None:
    """It cannot be compared with one, made one, or formatted as one; as text it says what it is about."""
    for misuse in (float, lambda x: x == 4, lambda x: x == 4, lambda x: f"{x:g}", lambda x: x < 5, lambda x: x + x):
        with pytest.raises(TypeError):
            misuse(loss)
    assert f"{loss}" == str(loss) == f"epsilon 4 for {loss.about}"


def test_losses_of_one_kind_are_compared() -> None:
    assert WholeText(Decimal(4)) == WholeText(Decimal("4.0"))
    assert WholeText(Decimal(4)) != WholeText(Decimal(4), Decimal("1e-6"))
    assert WholeText(Decimal(4), Decimal("1e-6")).covers(WholeText(Decimal(4)))
    assert not WholeText(Decimal(4)).covers(WholeText(Decimal(4), Decimal("1e-6")))
    assert not WholeText(Decimal(4)).covers(WholeText(Decimal("4.000001")))
    assert len({WholeText(Decimal(4)), WholeText(Decimal("4.0"))}) == 1
