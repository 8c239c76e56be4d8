"""The bytes of the built-in bundle satisfy the claims of the README and the card."""

import hashlib
import json
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
import reference_reader as reader
from small_staircase import replace_table
from textveil import Sanitizer
from textveil.bundle.defaults import DEFAULT_BUNDLE
from textveil.bundle.defaults import DEFAULT_BUNDLE_ID as DEFAULT_IDENTITY
from textveil.bundle.layout import MANIFEST, MECHANISM_FILE
from textveil.mechanisms.staircase import compute_output_role
from textveil.mechanisms.staircase.staircase import Staircase
from textveil.text import Options
from textveil.text.staircase_plans import StaircasePlanFactory
from textveil.verify import verify_text
from textveil_cli.reports.staircase_levels import compute_unchanged_probabilities, summarize_staircase
from textveil_export.text import neighbors, staircase_tables
from textveil_export.text.staircase_bundle import StaircaseRecipe, build_staircase
from textveil_export.text.staircase_tables import MisleadingWords, read_frequencies
from textveil_export.text.template_lists import read_english_template
from textveil_export.text.unused_neighbors import replace_unused_neighbors
from textveil_export.text.word_roles import LISTS, read_english_lists
from textveil_export.text.word_vectors import WordVectors, read_vectors


@pytest.fixture(scope="module")
def bundle():
    return Sanitizer.load().bundle


def test_its_size_and_identity(bundle):
    files = list(DEFAULT_BUNDLE.iterdir())
    assert sum(path.stat().st_size for path in files) <= 7_300_000
    assert (
        bundle.content_hash == DEFAULT_IDENTITY == hashlib.sha256((DEFAULT_BUNDLE / MANIFEST).read_bytes()).hexdigest()
    )
    assert bundle.mechanism_hash == hashlib.sha256((DEFAULT_BUNDLE / MECHANISM_FILE).read_bytes()).hexdigest()
    assert {path.name for path in files} == {*bundle.manifest["files"], "manifest.json"}


def test_its_vocabulary_and_levels(bundle):
    assert bundle.symbol_count >= 20_000
    assert (bundle.mechanisms, bundle.default_mechanism) == (("staircase",), "staircase")
    assert (bundle.default_staircase_level, bundle.default_staircase_mode) == ("10", "words")
    assert bundle.default_mode == "names"
    assert [level.name for level in bundle.staircase_levels] == ["4", "6", "8", "10", "12"]


# --- the staircase -------------------------------------------------------------------------------------------------

MODES = ("words", "all")
#: With slots in lower case.
SLOTS = list(product(MODES, (False, True)))


@pytest.fixture(scope="module")
def read():
    """Read the staircase by the second reader, which rejects one that violates a condition."""
    return reader.open_bundle(DEFAULT_BUNDLE).staircase


def test_the_certificate_of_the_staircase_holds(bundle):
    """All conditions of the theorem, on the integers that are drawn with, in every mode."""
    table = bundle.staircase_table
    ordered = np.sort(table.neighbors, axis=1)
    assert (ordered[:, 1:] > ordered[:, :-1]).all()
    assert (table.neighbors[:, 0] == np.arange(bundle.symbol_count)).all()
    assert table.neighbors.max() < bundle.symbol_count
    assert table.base.min() >= 1
    for protect, lower in SLOTS:
        outputs = table.get_output_mask(function_words_kept=protect == "words", lower=lower)
        for level in bundle.staircase_levels:
            staircase = Staircase.from_table(table, level, outputs)
            assert 1 <= staircase.budget <= staircase.base_sum
            assert staircase.total < 2**62
            assert Decimal(staircase.unit + staircase.factor) / staircase.unit <= level.epsilon.exp()
            _, budgets = staircase.distribute_budget(np.arange(bundle.symbol_count + 1))
            assert (budgets.sum(axis=1) <= staircase.budget).all()


@pytest.mark.slow
def test_no_word_stays_for_certain(bundle):
    """A word may stay itself; up to epsilon 10 that is never 19 samples of 20."""
    for protect in MODES:
        for level in summarize_staircase(bundle, protect=protect):
            most = 0.95 if level.epsilon <= 10 else 0.98
            assert level.unchanged_low <= level.unchanged_median <= level.unchanged_high <= level.unchanged_most <= most


def test_the_kept_shares_are_those_of_exact_rows(bundle):
    staircase = StaircasePlanFactory(bundle).make_staircase(bundle.staircase_levels[-1], protect="words")
    outputs, shares = np.flatnonzero(staircase.base), compute_unchanged_probabilities(staircase)
    for place in range(0, len(outputs), 2000):
        row = staircase.compute_exact_row(int(outputs[place]))
        assert shares[place] == pytest.approx(row[outputs[place]] / sum(row), rel=1e-9)


@pytest.mark.slow
def test_rows_are_those_of_the_second_reader(bundle, read):
    for number, slot, token in ((0, SLOTS[2], 1500), (3, SLOTS[0], 9000), (3, SLOTS[1], bundle.symbol_count)):
        protect, lower = slot
        level, outputs = bundle.staircase_levels[number], reader.allowed_outputs(read, protect == "words", lower)
        staircase = StaircasePlanFactory(bundle).make_staircase(level, protect=protect, lower=lower)
        assert sorted(outputs) == np.flatnonzero(staircase.base).tolist()
        exact = staircase.compute_exact_row(token)
        total = sum(exact)
        assert [Fraction(weight, total) for weight in exact] == reader.staircase_row(
            read, read.levels[number], outputs, token
        )


@pytest.mark.slow
def test_what_may_come_out_is_what_the_rule_allows(bundle):
    """Every output is allowed; and a sample of words is left out only for a reason."""
    assert "in both modes" in verify_text(bundle, pairs=100)
    mentions, (_, never) = StaircasePlanFactory(bundle), read_english_lists()
    for protect, lower in SLOTS:
        rule = mentions.make_rule(protect=protect)
        bit = compute_output_role(function_words_kept=protect == "words", lower=lower)
        for symbol in range(0, bundle.symbol_count, 23):
            word = bundle.vocabulary[symbol]
            allowed = word not in never and rule.is_output_allowed(word, lower=lower)
            assert bool(bundle.staircase_table.roles[symbol] & bit) == allowed


def test_words_that_firms_are_called_by_come_out_in_lower_case_only(bundle):
    sanitizer = Sanitizer(bundle)
    lower, title = (sanitizer.distribution(word) for word in ("hotel", "Nurse"))
    for word in ("group", "bank", "data", "hope", "church"):
        assert lower.compute_probability(word) > 0
        assert word not in title.words
        assert sanitizer.preview(word.title(), protect="words")[0][1] not in ("randomized", "unknown", "kept")
    options = Options(protect="words", consistent=True)
    assert sanitizer.distribution("hotel", **options).words == lower.words
    assert sanitizer.distribution("Nurse", **options).words == title.words


def test_a_name_of_several_tokens_is_judged_token_by_token(bundle):
    sanitizer = Sanitizer(bundle)

    def seen(text):
        return [what for piece, what in sanitizer.preview(text, protect="words") if what != "gap"]

    assert seen("in New York") == ["kept", "randomized", "city"]
    assert seen("in San Francisco") == seen("in Los Angeles") == ["kept", "city", "city"]
    assert seen("Hope is, Will you") == ["given-name", "kept", "given-name", "kept"]
    assert seen("hope is, will you") == ["randomized", "kept", "kept", "kept"]
    result = sanitizer.sanitize("in Los Angeles, los angeles and Los Angeles", protect="words", consistent=True)
    words = [word.strip(",").lower() for word in result.text.split()]
    assert words[1:3] == words[3:5] == words[6:]
    assert result.tokens == 0


def neighbors_of(symbols):
    """``find_nearest_words`` for some symbols, and no neighbors for all others."""

    def nearest(rows, words, k, favor, progress, run):
        near = np.zeros((len(rows), k), np.int64)
        for symbol in symbols.tolist():
            near[symbol] = [symbol, *neighbors._find_nearest_in_row(rows, words, favor, k - 1, symbol)]
        return near

    return nearest


@pytest.mark.slow
@pytest.mark.parametrize("step", [37, pytest.param(1, marks=pytest.mark.full)])
def test_the_staircase_can_be_built_again_from_what_is_in_the_repository(bundle, step, monkeypatch):
    """To the integer: base, roles, and the neighbors without those on which no output depends."""
    symbols = np.arange(0, bundle.symbol_count, step)
    if step > 1:  # products with all words take most of the time
        monkeypatch.setattr(staircase_tables, "find_nearest_words", neighbors_of(symbols))
    recipe = StaircaseRecipe(
        lists=read_english_template(),
        vectors=read_vectors(LISTS / "words" / "english-3-vectors.txt.gz", 1 << 16),
        per_billion=read_frequencies(LISTS / "words" / "english-3-frequencies.tsv"),
        never_output=read_english_lists()[1],
        misleading=MisleadingWords.read_lists(
            *(LISTS / "words" / name for name in ("english-3-opposites.txt", "alarming.txt"))
        ),
    )
    source = WordVectors(words=bundle.vocabulary, vectors=np.ones((bundle.symbol_count, 2), np.float32), provenance={})
    part = build_staircase(source, recipe)
    assert (part.tensors["base"] == bundle.staircase_table.base).all()
    told = (
        np.uint8(compute_output_role(function_words_kept=True) | compute_output_role(function_words_kept=False)) * 17
    )  # and in lower case
    assert (part.tensors["roles"] == bundle.staircase_table.roles & told).all()
    table = replace(bundle.staircase_table, neighbors=part.tensors["neighbors"])
    shipped = replace_unused_neighbors(replace_table(bundle, table))
    assert (shipped == bundle.staircase_table.neighbors)[symbols].all()
    law = json.loads((DEFAULT_BUNDLE / MECHANISM_FILE).read_text(encoding="utf-8"))
    assert (law["staircase"], law["template"]) == (part.definition["staircase"], part.definition["template"])
    for name, content in part.texts.items():
        assert (DEFAULT_BUNDLE / name).read_text(encoding="utf-8") == content
