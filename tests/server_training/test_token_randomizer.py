"""A bundle as a channel: the output of each token, and the probability of each output by input."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from attacked_texts import matrix
from small_bundles import contents, metric_of, outlier, scattered, small_bundle, spellings, with_base
from small_staircase import small_staircase
from textveil.errors import OptionError, UnknownMechanism
from textveil.mechanisms.baselines.santext import SanText
from textveil.text import Options
from textveil_export.text.write import write_bundle
from textveil_training.errors import StaircaseUnsupported
from textveil_training.token_randomizer import TokenRandomizer

COUNT = 40
LAWS: list[dict[str, Any]] = [
    *({"mechanism": mechanism, "level": level} for mechanism in ("santext", "santext+") for level in (0, 1)),
    {"mechanism": "santext+", "replacement_probability": "1"},
    {"mechanism": "santext+", "replacement_probability": "0.01", "deny": ["baba"]},
    {"mechanism": "krr", "epsilon": "0.5"},
    {"mechanism": "krr", "epsilon": "30"},
    {"mechanism": "random"},
]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    place = tmp_path_factory.mktemp("bundles")
    options: dict[str, Any] = {"k": 6, "exponents": ("3", "11")}
    small_bundle(place / "words", scattered(COUNT, 12, 3), **options)
    small_bundle(place / "outlier", outlier(COUNT, 5), **options | {"exponents": ("1", "3")})
    built = contents(scattered(COUNT, 12, 5), **options)
    base = np.random.default_rng(1).integers(1, 200, metric_of(built).rows.shape[0] - 1).astype(np.uint8)
    for mechanism in ("santext", "santext+"):
        built = with_base(built, 1, mechanism, base)
    write_bundle(built, place / "flattened")
    return {folder.name: folder for folder in place.iterdir()}


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["words", "outlier", "flattened"])
@pytest.mark.parametrize("options", LAWS, ids=lambda options: "-".join(map(str, options.values())))
def test_likelihoods_are_those_of_the_mechanism(folders: dict[str, Path], kind: str, options: dict[str, Any]) -> None:
    if "level" in options:
        epsilon = (("2", "6") if kind == "outlier" else ("6", "22"))[options["level"]]
        options = {"mechanism": options["mechanism"], "epsilon": epsilon}
    channel = TokenRandomizer(folders[kind], **options)
    truth = matrix(channel)
    blocks = channel.get_distribution().iterate_column_blocks(
        np.arange(channel.unknown_id), size=7
    )  # the last is short
    found = np.concatenate([block for _, block in blocks]).T
    assert found.shape == truth.shape
    np.testing.assert_allclose(found, truth, rtol=1e-12, atol=0)
    np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-12)


def test_outputs_come_in_any_order_and_more_than_once(folders: dict[str, Path]) -> None:
    wanted = np.array([5, 1, 5, 39, 0])
    for options in (Options(), Options(mechanism="krr", epsilon="3")):
        channel = TokenRandomizer(folders["words"], **options)
        distribution = channel.get_distribution()
        everything = distribution.compute_columns(np.arange(channel.unknown_id))
        assert (distribution.compute_columns(wanted) == everything[wanted]).all()
        assert distribution.compute_columns(wanted[:0]).shape == (0, channel.unknown_id + 1)


@pytest.mark.parametrize("end", [1, 2, 3000, 6001])
def test_a_score_past_the_end_has_the_last_weight(folders: dict[str, Path], end: int) -> None:
    """Weights that end early, at a score that some pairs have: the look-up must end at the same place."""
    channel = TokenRandomizer(folders["words"], mechanism="santext", epsilon="6")
    mechanism = channel.plan.mechanism.sampler  # type: ignore[attr-defined]
    assert isinstance(mechanism, SanText)
    mechanism = replace(mechanism, weights=mechanism.weights[:end])
    inputs, outputs = np.meshgrid(np.arange(channel.unknown_id + 1), np.arange(channel.unknown_id), indexing="ij")
    truth = mechanism.base * mechanism.compute_weights(inputs.ravel(), outputs.ravel()).reshape(inputs.shape)
    assert (truth == mechanism.randomizer.compute_output_weights(np.arange(channel.unknown_id)).T).all()
    assert (mechanism.randomizer.totals == truth.sum(axis=1)).all()


def test_a_wrong_coin_would_be_noticed(folders: dict[str, Path]) -> None:
    """The comparison has power: a coin that keeps too often, and a distribution without the coin."""
    right = TokenRandomizer(folders["words"], mechanism="santext+", replacement_probability="0.3")
    wrong = TokenRandomizer(folders["words"], mechanism="santext+", replacement_probability="0.31")
    outputs = np.arange(right.unknown_id)
    for other in (wrong.get_distribution(), right.plan.mechanism.get_randomizer(whole=False)):
        assert not np.allclose(
            right.get_distribution().compute_columns(outputs), other.compute_columns(outputs), rtol=1e-3
        )


def test_without_weights_there_are_no_likelihoods(folders: dict[str, Path]) -> None:
    with pytest.raises(OptionError, match="fbdd has no table of probabilities: estimate its output distribution from"):
        TokenRandomizer(folders["words"], mechanism="fbdd", epsilon="10").get_distribution()


def test_tokens_and_draws_stand_side_by_side(folders: dict[str, Path]) -> None:
    words = spellings(COUNT)
    channel = TokenRandomizer(folders["words"], mechanism="krr", epsilon="30")  # keeps practically always
    texts = [channel.tokenize(text) for text in (f"{words[0].title()}, {words[7]}!", "", f"zzz {words[3]}n't 7 a@b.c")]
    assert [len(text.inputs) for text in texts] == [2, 0, 5]
    assert texts[0].spellings == (words[0], words[7])
    assert [text.gaps for text in texts] == [("", ", ", "!"), ("",), ("", " ", "", " ", " ", "")]
    unknown = channel.unknown_id
    assert (texts[2].inputs == unknown).tolist() == [True, False, True, True, True]
    drawn = channel.randomize_texts(texts)
    assert [part.shape for part in drawn] == [text.inputs.shape for text in texts]
    assert (drawn[0] == texts[0].inputs).all()
    assert (np.concatenate(drawn) < unknown).all()
    assert channel.randomize_texts([]) == []


def test_the_staircase_is_refused_by_name(tmp_path: Path) -> None:
    """The tables of the repository are taken where no bundle is named; one of the staircase alone is an error."""
    channel = TokenRandomizer()
    assert channel.plan.terms.mechanism == channel.bundle.default_mechanism == "santext+"
    alone = small_staircase(tmp_path / "alone")
    staircase = Options(mechanism="staircase")
    for bundle, options in ((None, staircase), (alone, Options()), (alone, staircase)):
        with pytest.raises(
            StaircaseUnsupported,
            match=(
                "the staircase mechanism depends on the text around a word, but this training sanitizes single words"
            ),
        ):
            TokenRandomizer(bundle, **options)
    with pytest.raises(UnknownMechanism):
        TokenRandomizer(alone, mechanism="santext")
