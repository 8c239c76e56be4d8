"""A real channel becomes integers with nearly the same probabilities, certified for any input."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from textveil_export.errors import ExportError
from textveil_export.label import compute_realized_epsilon, make_integer_randomizer


def response(codes: int, epsilon: float) -> np.ndarray:
    """k-ary randomized response."""
    return (1 + (math.exp(epsilon) - 1) * np.eye(codes)) / (math.exp(epsilon) + codes - 1)


def two_valued(codes: int, epsilon: float, seed: int) -> np.ndarray:
    """Return a private channel with 1 and exp(epsilon) times a base; a constant row keeps the totals equal."""
    generator = np.random.default_rng(seed)
    base = generator.dirichlet(np.ones(codes))
    raised = base * np.where(generator.random((codes, codes)) < 0.5, math.exp(epsilon), 1)
    raised /= raised.sum(axis=1, keepdims=True)
    share = 1.0  # mixed with the mean until it is private
    while (raised.max(axis=0) > math.exp(epsilon) * raised.min(axis=0)).any():
        share *= 0.9
        raised = share * raised + (1 - share) * raised.mean(axis=0)
    return raised


@pytest.mark.parametrize("codes", [2, 4, 40])
@pytest.mark.parametrize(("epsilon", "error"), [("0.5", 1e-9), ("4", 1e-9), ("8", 1e-8), ("16", 2e-5)])
def test_a_private_channel_keeps_its_probabilities(codes: int, epsilon: str, error: float) -> None:
    for make, seed in ((response, ()), (two_valued, (codes,))):
        for of, most in ((compute_realized_epsilon(epsilon), error), (float(epsilon), error + 1e-6)):
            channel = make(codes, of, *seed)
            np.testing.assert_allclose(
                make_integer_randomizer("c", channel, epsilon).probability_matrix, channel, atol=most
            )


def test_randomized_response_has_a_uniform_base_and_deals_to_itself_alone() -> None:
    found = make_integer_randomizer("c", response(5, compute_realized_epsilon("3")), "3")
    assert len(set(found.base.tolist())) == 1
    assert (found.budget_matrix == found.budget * np.eye(5, dtype=int)).all()


def test_a_constant_channel_and_an_index_that_is_never_released() -> None:
    constant = make_integer_randomizer("c", [[0.25, 0.75, 0], [0.25, 0.75, 0], [0.25, 0.75, 0]], "1")
    assert constant.base[2] == 0
    np.testing.assert_allclose(constant.probability_matrix, [[0.25, 0.75, 0]] * 3, atol=1e-9)
    assert (make_integer_randomizer("c", [[1, 1e-12], [1, 0]], "1").probability_matrix == [[1, 0], [1, 0]]).all()


@given(
    st.integers(2, 6).flatmap(
        lambda n: st.lists(
            st.lists(st.sampled_from((0, 1e-300, 1e-12, 1e-9, 0.1, 0.5, 1, 7, 1e9)), min_size=n, max_size=n),
            min_size=n,
            max_size=n,
        )
    ),
    st.sampled_from(("0.000000001", "0.001", "1", "8", "16")),
)
def test_any_matrix_becomes_a_certified_randomizer(channel: list[list[float]], epsilon: str) -> None:
    """``certified`` raises where a condition does not hold."""
    matrix = make_integer_randomizer("c", channel, epsilon).probability_matrix
    np.testing.assert_allclose(matrix.sum(axis=1), 1)


@pytest.mark.parametrize("channel", [[[1.0, 0.0]], [1.0], [[math.nan, 1], [1, 0]], [[-1, 2], [1, 0]]])
def test_a_matrix_that_is_not_square_finite_and_positive_is_refused(channel: object) -> None:
    with pytest.raises(ExportError, match="square matrix"):
        make_integer_randomizer("c", channel, "1")  # type: ignore[arg-type]
