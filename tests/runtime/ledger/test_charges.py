"""What a release is charged: staircase, SanText, randomized response, vectors and indices."""

from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_encoders import load_encoder, write_encoder
from small_index import write_index
from textveil import Budget, IndexEncoder, Ledger, Sanitizer
from textveil.ledger import Account
from textveil.mechanisms.noise.parameters import ReleaseParameters
from textveil.release import DELTA_UNITS, NAT_UNITS, UNBOUNDED, Charge, PerToken, WholeText
from textveil.vector.statement import vector_statement
from textveil_export.certify.loss_bounds import compute_pure_ldp_epsilons

TEXT = "The doctor, John's zorblax: the Doctor wasn't 5."


@pytest.mark.parametrize(
    ("options", "nats"),
    [
        ({}, "25.5"),  # doctor, zorblax, Doctor; kinds cost nothing
        ({"epsilon": "6"}, "18"),
        ({"consistent": True}, "17"),  # doctor once
        ({"protect": "all"}, "59.5"),
        ({"sanitize_punctuation": True}, "25.5"),
        ({"deny": ["John", "5"]}, "42.5"),
    ],
)
def test_the_staircase_is_charged_by_drawn_mentions(small: Sanitizer, options: Any, nats: str) -> None:
    result = small.sanitize(TEXT, **options)
    assert result.statement.charge == Charge(int(Decimal(nats) * NAT_UNITS))
    assert result.statement.charge.epsilon_units == result.statement.epsilon_document * NAT_UNITS


def test_santext_is_charged_its_pure_level_for_all_tokens(tiny: Sanitizer, english: Sanitizer) -> None:
    text = "the doctor said zzz"
    for sanitizer in (tiny, english):
        plan = sanitizer._plan({"mechanism": "santext"})
        charge = sanitizer.sanitize(text, mechanism="santext").statement.charge
        assert charge.epsilon_units is not None
        if sanitizer is tiny:  # no certificate: the bound of any table
            (epsilon, *_), *_ = compute_pure_ldp_epsilons([plan.mechanism.channel_at()])  # type: ignore
            assert charge.epsilon_units >= 4 * epsilon * NAT_UNITS
        else:
            level = english.bundle.certificate["levels"]["moderate"]["santext"]["epsilon_pure_ldp"]  # type: ignore[index]
            assert charge.epsilon_units == -(-4 * Fraction(level) * NAT_UNITS // 1)


def test_randomized_response_is_charged_exactly(tiny: Sanitizer) -> None:
    charge = tiny.sanitize("the doctor said", mechanism="krr", epsilon="0.1").statement.charge
    assert charge == Charge(-(-3 * NAT_UNITS // 10))
    assert tiny.sanitize("the doctor", mechanism="random").statement.charge == Charge(0)
    digits = "1.00000000000000000000000000000000000001"  # a float loses it
    assert tiny.terms(mechanism="krr", epsilon=digits).statement(1).charge == Charge(NAT_UNITS + 1)


def test_what_has_no_finite_bound_says_so(tiny: Sanitizer) -> None:
    assert tiny.sanitize("the doctor", mechanism="santext+").statement.charge == UNBOUNDED
    assert tiny.sanitize("the doctor", mechanism="santext+", replacement_probability=1).statement.charge == UNBOUNDED
    assert tiny.sanitize("the doctor", mechanism="fbdd", epsilon=10).statement.charge == UNBOUNDED


def test_vectors_and_indices_are_charged_for_the_whole_text(tmp_path: Path) -> None:
    statement = vector_statement(
        ReleaseParameters(mode="l2", dimension=3, grid=8, epsilon="2", delta="1e-6"), "0.5", "bundle"
    )
    assert statement.charge == Charge(2 * NAT_UNITS, -(-DELTA_UNITS // 10**6))
    assert statement.mechanism == "vector l2"
    index = IndexEncoder.load(write_index(tmp_path / "index")).statement()
    assert (index.charge, index.mechanism) == (Charge(4 * NAT_UNITS), "index counts")


@given(st.lists(st.tuples(st.decimals("0", "100", places=9), st.decimals("0", ".1", places=14), st.integers(0, 50))))
def test_sums_of_charges_are_no_less_than_the_losses(losses: list[tuple[Decimal, Decimal, int]]) -> None:
    account, epsilon, delta = Account(scope=b""), Fraction(0), Fraction(0)
    for loss, its_delta, times in losses:
        account = account.after(Charge.of(WholeText(loss, its_delta), times), "")
        epsilon += Fraction(loss) * times
        delta += Fraction(its_delta) * times
    assert 0 <= account.epsilon_units - epsilon * NAT_UNITS <= len(losses)
    assert 0 <= account.delta_units - delta * DELTA_UNITS <= len(losses)
    said = account.to_dict()
    assert Fraction(said["nats"]) * NAT_UNITS == account.epsilon_units
    assert Fraction(said["delta"]) * DELTA_UNITS == account.delta_units
    assert Decimal(account.spent.replace(",", "")) * NAT_UNITS >= account.epsilon_units
    assert Decimal(account.spent_delta) * DELTA_UNITS >= account.delta_units
    limited = Account(scope=b"").limited(Budget(account.spent.replace(",", ""), delta=account.spent_delta))
    assert limited.after(Charge(account.epsilon_units, account.delta_units), "").epsilon_units == account.epsilon_units


def test_a_charge_that_is_rounded_down_would_be_seen() -> None:
    assert Charge.of(PerToken(Decimal("1e-9")), 1) == Charge(1)
    assert Charge.of(WholeText(Decimal(0), Decimal("1e-30")), 1) == Charge(0, 1)
    assert Budget("0.0000009") == Budget(0)
    assert Budget("1e18").units == (1 << 62, 0)


def test_encoders_are_charged(tiny_encoder: Path, ledger: Ledger, tmp_path: Path) -> None:
    charged = ledger.encode_batch(load_encoder(tiny_encoder), ["a", "b"], scope=["x", "y"])
    statement = charged[0].release.statement
    assert ledger.account("x").epsilon_units == statement.charge.epsilon_units
    l2 = load_encoder(write_encoder(tmp_path / "l2", mode="l2", delta="1e-6"))
    ledger.encode_batch(l2, ["a"], scope="z")
    assert ledger.account("z").delta_units == l2.statement().charge.delta_units > 0
