"""The bytes of the English SanText bundle satisfy the claims of its card."""

import numpy as np
import pytest
from textveil.bundle import TextBundle, find_artifact, open_bundle
from textveil.mechanisms.baselines.santext import SanText
from textveil.mechanisms.baselines.table import KEPT_ROLE, SANTEXT_OUTPUT_ROLE, SANTEXT_PLUS_OUTPUT_ROLE
from textveil_export.text.word_roles import read_english_lists


@pytest.fixture(scope="module")
def bundle():
    return open_bundle(find_artifact("english-santext"), TextBundle)


def test_its_size_and_levels(bundle):
    files = {path.name: path.stat().st_size for path in bundle.path.iterdir()}
    assert files.keys() == {*bundle.manifest["files"], "manifest.json"}
    assert sum(files.values()) <= 16_000_000
    assert (bundle.mechanisms, bundle.default_mechanism) == (("santext", "santext+"), "santext+")
    assert [level.name for level in bundle.santext_levels] == [
        *("strongest", "stronger", "strong", "moderate", "weak", "weakest"),
    ]
    assert bundle.metric is not None
    for mechanism in ("santext", "santext+"):
        exponents = [level.parameters[mechanism].exponent for level in bundle.santext_levels]
        assert exponents == sorted(exponents)
        assert len(set(exponents)) == 6


@pytest.mark.slow
@pytest.mark.parametrize("mechanism", ["santext", "santext+"])
def test_about_half_of_the_sensitive_words_change_at_the_default_level(bundle, mechanism):
    (default,) = (level for level in bundle.santext_levels if level.name == bundle.default_level)
    channel = SanText.from_table(bundle.table, bundle.metric, mechanism, default.parameters[mechanism]).randomizer
    words = channel.output_ids[::151]
    shares = channel.compute_rows(words)[np.arange(len(words)), words]
    assert 0.4 <= np.median(shares) <= 0.6
    stated = bundle.statistics["levels"][bundle.default_level][mechanism]["unchanged"]["quantiles"]["0.5"]
    assert stated == pytest.approx(np.median(shares), abs=0.1)


def test_the_public_lists_are_in_force(bundle):
    sensitive, never = read_english_lists()
    roles = bundle.table.roles
    for word in ("doctor", "hospital", "boston", "mary", "money", "church", "senate", "wife"):
        assert word in sensitive
        assert roles[bundle.symbol_ids[word]] & (KEPT_ROLE | SANTEXT_PLUS_OUTPUT_ROLE) == SANTEXT_PLUS_OUTPUT_ROLE
    for word in sensitive & set(bundle.symbol_ids):
        assert not roles[bundle.symbol_ids[word]] & KEPT_ROLE
    for word in never & set(bundle.symbol_ids):
        assert not roles[bundle.symbol_ids[word]] & (SANTEXT_OUTPUT_ROLE | SANTEXT_PLUS_OUTPUT_ROLE | KEPT_ROLE)
    kept = np.flatnonzero(roles & KEPT_ROLE)
    assert kept.max() < 0.1 * len(roles)  # only the most frequent tenth of types is ever kept
    assert len(kept) > 0.05 * len(roles)
