"""Each release spends its stated epsilon: staircase, SanText, randomized response, vectors and class labels."""

from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_encoders import load_encoder, write_encoder
from small_label_bundle import write_index
from textveil import Budget, Ledger, Sanitizer, TextLabelEncoder
from textveil.ledger import Account
from textveil.mechanisms.noise.parameters import ReleaseParameters
from textveil.release import DELTA_UNITS, EPSILON_UNITS, UNBOUNDED_SPEND, PerToken, Spend, WholeText
from textveil.vector.statement import make_vector_statement
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
    assert result.statement.spend == Spend(int(Decimal(nats) * EPSILON_UNITS))
    assert result.statement.spend.epsilon_units == result.statement.epsilon_document * EPSILON_UNITS


def test_santext_is_charged_its_pure_level_for_all_tokens(tiny: Sanitizer, english: Sanitizer) -> None:
    text = "the doctor said zzz"
    for sanitizer in (tiny, english):
        plan = sanitizer._get_plan({"mechanism": "santext"})
        charge = sanitizer.sanitize(text, mechanism="santext").statement.spend
        assert charge.epsilon_units is not None
        if sanitizer is tiny:  # no certificate: the bound of any table
            (epsilon, *_), *_ = compute_pure_ldp_epsilons([plan.mechanism.get_randomizer()])  # type: ignore
            assert charge.epsilon_units >= 4 * epsilon * EPSILON_UNITS
        else:
            level = english.bundle.certificate["levels"]["moderate"]["santext"]["epsilon_pure_ldp"]  # type: ignore[index]
            assert charge.epsilon_units == -(-4 * Fraction(level) * EPSILON_UNITS // 1)


def test_randomized_response_is_charged_exactly(tiny: Sanitizer) -> None:
    charge = tiny.sanitize("the doctor said", mechanism="krr", epsilon="0.1").statement.spend
    assert charge == Spend(-(-3 * EPSILON_UNITS // 10))
    assert tiny.sanitize("the doctor", mechanism="random").statement.spend == Spend(0)
    digits = "1.00000000000000000000000000000000000001"  # a float loses it
    assert tiny.terms(mechanism="krr", epsilon=digits).statement(1).spend == Spend(EPSILON_UNITS + 1)


def test_what_has_no_finite_bound_says_so(tiny: Sanitizer) -> None:
    assert tiny.sanitize("the doctor", mechanism="santext+").statement.spend == UNBOUNDED_SPEND
    assert (
        tiny.sanitize("the doctor", mechanism="santext+", replacement_probability=1).statement.spend == UNBOUNDED_SPEND
    )
    assert tiny.sanitize("the doctor", mechanism="fbdd", epsilon=10).statement.spend == UNBOUNDED_SPEND


def test_vectors_and_indices_are_charged_for_the_whole_text(tmp_path: Path) -> None:
    statement = make_vector_statement(
        ReleaseParameters(mode="l2", dimension=3, grid=8, epsilon="2", delta="1e-6"), "0.5", "bundle"
    )
    assert statement.spend == Spend(2 * EPSILON_UNITS, -(-DELTA_UNITS // 10**6))
    assert statement.mechanism == "vector l2"
    index = TextLabelEncoder.load(write_index(tmp_path / "index")).statement()
    assert (index.spend, index.mechanism) == (Spend(4 * EPSILON_UNITS), "class label (counts)")


@given(st.lists(st.tuples(st.decimals("0", "100", places=9), st.decimals("0", ".1", places=14), st.integers(0, 50))))
def test_sums_of_charges_are_no_less_than_the_losses(losses: list[tuple[Decimal, Decimal, int]]) -> None:
    account, epsilon, delta = Account(unit_tag=b""), Fraction(0), Fraction(0)
    for loss, its_delta, times in losses:
        account = account.add_spend(Spend.from_loss(WholeText(loss, its_delta), times), "")
        epsilon += Fraction(loss) * times
        delta += Fraction(its_delta) * times
    assert 0 <= account.epsilon_units - epsilon * EPSILON_UNITS <= len(losses)
    assert 0 <= account.delta_units - delta * DELTA_UNITS <= len(losses)
    said = account.to_dict()
    assert Fraction(said["epsilon"]) * EPSILON_UNITS == account.epsilon_units
    assert Fraction(said["delta"]) * DELTA_UNITS == account.delta_units
    assert Decimal(account.displayed_epsilon.replace(",", "")) * EPSILON_UNITS >= account.epsilon_units
    assert Decimal(account.displayed_delta) * DELTA_UNITS >= account.delta_units
    limited = Account(unit_tag=b"").apply_budget(
        Budget(account.displayed_epsilon.replace(",", ""), delta=account.displayed_delta)
    )
    assert (
        limited.add_spend(Spend(account.epsilon_units, account.delta_units), "").epsilon_units == account.epsilon_units
    )


def test_a_charge_that_is_rounded_down_would_be_seen() -> None:
    assert Spend.from_loss(PerToken(Decimal("1e-9")), 1) == Spend(1)
    assert Spend.from_loss(WholeText(Decimal(0), Decimal("1e-30")), 1) == Spend(0, 1)
    assert Budget("0.0000009") == Budget(0)
    assert Budget("1e18").units == (1 << 62, 0)


def test_encoders_are_charged(tiny_encoder: Path, ledger: Ledger, tmp_path: Path) -> None:
    charged = ledger.encode_batch(load_encoder(tiny_encoder), ["a", "b"], privacy_unit=["x", "y"])
    statement = charged[0].release.statement
    assert ledger.get_account("x").epsilon_units == statement.spend.epsilon_units
    l2 = load_encoder(write_encoder(tmp_path / "l2", noise_mode="l2", delta="1e-6"))
    ledger.encode_batch(l2, ["a"], privacy_unit="z")
    assert ledger.get_account("z").delta_units == l2.statement().spend.delta_units > 0
