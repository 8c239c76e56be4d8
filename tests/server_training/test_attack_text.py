"""Attacks on text that need no model: against brute force, closed forms, and planted mechanisms and faults."""

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from defined_weights import squared_distances
from small_bundles import Lists, lattice, pieces, scattered, small_bundle, spellings
from textveil.mechanisms.protocol import WeightedMechanism
from textveil_export.leakage import one_release
from textveil_training.attacks.text import priors, rates
from textveil_training.attacks.text.bayes import bayes
from textveil_training.attacks.text.nearest import nearest, ranks
from textveil_training.attacks.text.released import Released, release
from textveil_training.attacks.text.repeated import repeated
from textveil_training.attacks.text.spread import statistics
from textveil_training.errors import EmptyData
from textveil_training.text_channel import TextChannel

COUNT = 40
WORDS = spellings(COUNT)
IDENTITY = {"mechanism": "krr", "epsilon": "30"}
#: Standard errors by which a right simulation may be off: one in a million.
FAR = 5


def no_steps(done: int, total: int) -> None:
    assert 0 <= done <= total


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    place = tmp_path_factory.mktemp("bundles")
    options: dict[str, Any] = {"k": 6, "exponents": ("4", "9"), "tails": ("exact", "capped")}
    small_bundle(place / "words", scattered(COUNT, 12, 3), **options)
    small_bundle(place / "all", scattered(COUNT, 12, 3), lists=Lists(), **options)  # every word is an output
    small_bundle(place / "lattice", lattice(), **options)
    small_bundle(place / "pieces", scattered(COUNT, 12, 4), words=pieces(COUNT), tokens="wordpiece", **options)
    return {folder.name: folder for folder in place.iterdir()}


def texts(count: int, seed: int = 0, words: Sequence[str] = WORDS) -> list[tuple[str]]:
    """Texts of 1 to 12 words with frequencies of their own, some of them unknown."""
    generator = np.random.default_rng(seed)
    shares = generator.dirichlet(np.full(len(words), 0.3))
    return [
        (" ".join([*generator.choice(words, generator.integers(1, 13), p=shares), *["zzz"] * (number % 3 == 0)]),)
        for number in range(count)
    ]


def matrix(channel: TextChannel, *, whole: bool = True) -> np.ndarray:
    """``Pr[M(x) = y]`` from the mechanism's own weights and coin, shape ``(inputs, symbols)``."""
    mechanism, coin = channel.plan.mechanism, channel.plan.coin
    assert isinstance(mechanism, WeightedMechanism)
    rows = np.array([mechanism.channel.weights_from(np.array([x]))[0] for x in range(channel.unknown + 1)], float)
    rows /= rows.sum(axis=1, keepdims=True)
    if coin is not None and whole:
        for x in np.flatnonzero(channel.plan.keepable):
            rows[x] *= coin.threshold / 2**64
            rows[x, x] += 1 - coin.threshold / 2**64
    return rows


def near(found: float, truth: float, standard_error: float) -> bool:
    return abs(found - truth) <= FAR * standard_error + 1e-6


# Rates.


def test_standard_errors_are_those_of_clusters() -> None:
    generator = np.random.default_rng(1)
    values = generator.random(400) < 0.3
    alone = rates.clustered_mean(values, np.arange(400))
    assert alone[1] == pytest.approx(values.std(ddof=1) / 20, rel=1e-9)
    # Four copies of everything tell nothing new.
    copies = rates.clustered_mean(np.repeat(values, 4), np.repeat(np.arange(400), 4))
    assert copies == pytest.approx(alone)
    assert rates.clustered_mean(np.repeat(values, 4), np.arange(1600))[1] < 0.6 * alone[1]  # type: ignore[operator]
    assert rates.clustered_mean(values, np.zeros(400))[1] is None
    assert rates.clustered_interval(values, np.zeros(400, np.int64)) == [0, 1]


def test_intervals_of_clusters_cover() -> None:
    """Texts of different sizes and rates: about 95 % of intervals hold the rate of all texts."""
    generator = np.random.default_rng(2)
    covered = 0
    for _ in range(400):
        sizes = generator.integers(1, 30, 60)
        chance = generator.beta(1, 2, 60)  # of each text, mean 1/3, independent of its size
        owner = np.repeat(np.arange(60), sizes)
        low, high = rates.clustered_interval(generator.random(len(owner)) < chance[owner], owner)
        covered += low <= 1 / 3 <= high
    assert 0.9 * 400 <= covered <= 0.99 * 400


def test_intervals_of_all_or_none_have_a_width() -> None:
    """Nothing hit in 20 texts of 10 tokens bounds the rate as 20 trials do, not as 200, and not at 0."""
    owner = np.repeat(np.arange(20), 10)
    for hit in (False, True):
        low, high = rates.clustered_interval(np.full(200, hit), owner)
        assert [low, high] == rates.wilson_interval(20 * hit, 20)
        assert high - low == pytest.approx(0.161, abs=1e-3)
    thirds = np.tile([True, False, False], 20)  # the same rate in every text: the error is rounding
    assert rates.clustered_interval(thirds, np.repeat(np.arange(20), 3)) == rates.wilson_interval(20 / 3, 20)


def test_intervals_of_rare_hits_cover() -> None:
    """One token in 50, one cluster each: the plain interval of two standard errors would hold it far too seldom."""
    generator = np.random.default_rng(3)
    chance = 0.02
    found = [rates.clustered_interval(generator.random(60) < chance, np.arange(60)) for _ in range(1000)]
    assert np.mean([low <= chance <= high for low, high in found]) > 0.93
    assert all(0 <= low < high <= 1 for low, high in found)


def test_intervals_of_one_token_a_text_are_wilsons() -> None:
    hits = np.arange(400) < 100
    low, high = rates.wilson_interval(100, 400)
    assert rates.clustered_interval(hits, np.arange(400)) == pytest.approx([low, high], abs=1e-3)


def test_wilson_intervals() -> None:
    assert rates.wilson_interval(0, 100)[0] == 0
    assert 0.02 < rates.wilson_interval(0, 100)[1] < 0.05
    low, high = rates.wilson_interval(5000, 10000)
    assert (low, high) == pytest.approx((0.5 - 0.0098, 0.5 + 0.0098), abs=1e-4)


def test_words_that_are_never_kept_are_told_apart() -> None:
    values, clusters = np.array([1.0, 0, 1, 1]), np.array([0, 0, 1, 1])
    found = rates.rates_of({"a": values}, clusters, np.array([True, True, False, False]))
    assert (found["tokens"], found["a"], found["sensitive"]["tokens"], found["sensitive"]["a"]) == (4, 0.75, 2, 0.5)
    assert found["sensitive"]["standard_error"] is None
    assert "sensitive" not in rates.rates_of({"a": values}, clusters, np.ones(4, bool))


# What was read and drawn.


def test_every_token_stands_beside_its_output(folders: dict[str, Path]) -> None:
    channel = TextChannel(folders["words"], **IDENTITY)
    released = release(channel, [(f"{WORDS[3]}, {WORDS[4]}", ""), ("",), (f"zzz {WORDS[5]}",)])
    assert released.inputs.tolist() == [3, 4, channel.unknown, 5]
    assert released.text.tolist() == [0, 0, 3, 3]
    assert released.example.tolist() == [0, 0, 2, 2]
    assert released.position.tolist() == [0, 1, 0, 1]
    assert released.whole.all()
    assert released.sensitive.all(), "krr keeps nothing by a coin"
    assert released.outputs[[0, 1, 3]].tolist() == [3, 4, 5]
    with pytest.raises(EmptyData):
        release(channel, [("",), (" ... ",)])


def test_parts_of_words_are_sensitive(folders: dict[str, Path]) -> None:
    channel = TextChannel(folders["pieces"], mechanism="santext+")
    kept = next(x for x in np.flatnonzero(channel.plan.keepable) if not channel.spell(x).startswith("##"))
    tail = next(name for name in channel.bundle.vocabulary if name.startswith("##"))
    word = channel.spell(kept)
    released = release(channel, [(f"{word} {word}{tail[2:]}",)])
    assert released.inputs[:2].tolist() == [kept, kept]
    assert released.whole.tolist() == [True, False, False]
    assert released.sensitive.tolist() == [False, True, True]


# Nearest neighbor.


def test_ranks_are_those_of_all_distances(folders: dict[str, Path]) -> None:
    for name in ("words", "lattice"):  # on a lattice nearly every distance ties
        channel = TextChannel(folders[name], mechanism="random")
        assert channel.bundle.metric is not None
        squared = squared_distances(channel.bundle)
        symbols = channel.unknown
        pairs = [(x, y) for x in range(symbols + 1) for y in range(symbols)]
        inputs, outputs = np.array(pairs).T
        found = ranks(channel.bundle.metric, inputs, outputs, no_steps)
        for (x, y), rank in zip(pairs, found.tolist(), strict=True):
            order = sorted(range(symbols), key=lambda other: (squared[y][other], other))
            assert rank == (symbols if x == symbols else order.index(x))


def test_nearest_of_the_identity_and_of_chance(folders: dict[str, Path]) -> None:
    known = [(text.replace("zzz", WORDS[0]),) for (text,) in texts(300)]
    for options in (IDENTITY, {"mechanism": "random"}):
        channel = TextChannel(folders["all"], **options)
        assert channel.bundle.metric is not None
        released = release(channel, known)
        found = nearest(channel.bundle.metric, released, no_steps)
        assert found["tokens"] == len(released)
        if options == IDENTITY:
            assert (found["top1"], found["top10"]) == (1, 1)
            continue
        pairs = np.repeat(np.arange(COUNT), COUNT), np.tile(np.arange(COUNT), COUNT)
        listed = (ranks(channel.bundle.metric, *pairs, no_steps) < 10).reshape(COUNT, COUNT).mean(axis=1)
        assert near(found["top1"], 1 / COUNT, math.sqrt(1 / COUNT / len(released)))
        assert near(found["top10"], listed[released.inputs].mean(), 0.5 / math.sqrt(len(released)))


# Bayes.


@pytest.mark.parametrize(
    "options",
    [
        {"mechanism": "santext", "level": "l0"},
        {"mechanism": "santext+", "level": "l1", "tail": "capped"},
        {"mechanism": "santext+", "level": "l0"},
        {"mechanism": "krr", "epsilon": "2"},
        {"mechanism": "random"},
        IDENTITY,
    ],
    ids=lambda options: "-".join(options.values()),
)
def test_the_closed_form_is_the_sum_over_outputs_and_simulation_agrees(
    folders: dict[str, Path], options: dict[str, str]
) -> None:
    channel = TextChannel(folders["all" if options == IDENTITY else "words"], **options)
    released = release(channel, texts(300))
    found = bayes(channel, released, seed=1, report=no_steps, draws=4000)
    rows, prior = matrix(channel), priors.zipf(COUNT + 1)
    truth = (rows * prior[:, None]).max(axis=0).sum()
    assert found["closed_form"] == pytest.approx(truth, abs=2e-6)
    assert near(found["simulated"], truth, math.sqrt(truth * (1 - truth) / 4000))
    own = np.bincount(released.inputs, minlength=COUNT + 1) / len(released)
    truth = (rows * own[:, None]).max(axis=0).sum()
    assert found["text_prior"]["closed_form"] == pytest.approx(truth, abs=2e-6)
    # Given the text, its rate is a mean of independent hits whose expectation is the closed form.
    assert near(found["text_prior"]["on_text"]["top1"], truth, 0.5 / math.sqrt(len(released)))
    if options["mechanism"] == "random":
        assert found["closed_form"] == pytest.approx(prior.max(), abs=2e-6)
        assert found["text_prior"]["on_text"]["top1"] == pytest.approx(own.max(), abs=2e-6)
    if options == IDENTITY:
        assert found["closed_form"] == pytest.approx(1 - prior[-1], abs=1e-4)  # <unk> comes out as anything
        assert found["on_text"]["top1"] == pytest.approx(1 - own[-1], abs=1e-4)


def test_parts_of_words_have_a_sum_of_their_own(folders: dict[str, Path]) -> None:
    channel = TextChannel(folders["pieces"], mechanism="santext+", level="l1")
    names = [name for name in channel.bundle.vocabulary if not name.startswith("##") and name != "b2"]
    tails = [name[2:] for name in channel.bundle.vocabulary if name.startswith("##")]
    words = [*names, *(names[n % len(names)] + tail for n, tail in enumerate(tails))]
    released = release(channel, texts(400, words=words))
    assert 0.1 < released.whole.mean() < 0.9
    found = bayes(channel, released, seed=1, report=no_steps, draws=10)["text_prior"]
    truth = 0.0
    for whole in (True, False):
        joint = np.bincount(released.inputs[released.whole == whole], minlength=COUNT + 1) / len(released)
        truth += (matrix(channel, whole=whole) * joint[:, None]).max(axis=0).sum()
    assert found["closed_form"] == pytest.approx(truth, abs=2e-6)
    assert near(found["on_text"]["top1"], truth, 0.5 / math.sqrt(len(released)))


def test_a_simulation_of_another_mechanism_is_noticed(folders: dict[str, Path]) -> None:
    """The comparison has power: guesses that are best for one level, outputs of the next."""
    one, other = (TextChannel(folders["words"], mechanism="santext", level=level) for level in ("l0", "l1"))
    prior = priors.zipf(COUNT + 1)
    found = one_release(one.distribution(), {"zipf": prior})["zipf"]
    rate, guesses = found.rate, found.inputs
    drawn = np.random.default_rng(3).choice(COUNT + 1, 4000, p=prior)
    hits = (guesses[other.plan.draw(drawn, np.ones(4000, bool))] == drawn).mean()
    assert not near(hits, rate, math.sqrt(rate * (1 - rate) / 4000))


# Repeated release.


def both(channel: TextChannel, released: Released) -> dict[str, np.ndarray]:
    return priors.both(released.inputs, channel.unknown + 1)


def test_largest_posteriors_say_how_often_guesses_are_right(folders: dict[str, Path]) -> None:
    """Under the frequencies of the text the posterior is true: its mean is the rate, after any number of outputs."""
    for options in (
        {"mechanism": "santext+", "level": "l0"},
        {"mechanism": "santext", "level": "l0", "tail": "capped"},
    ):
        channel = TextChannel(folders["words"], **options)
        released = release(channel, texts(400))
        everything = np.arange(len(released))
        found = repeated(channel, released, everything, both(channel, released), no_steps, (1, 2, 5))
        rows = [found[count]["text_prior"] for count in ("1", "2", "5")]
        for row in rows:
            assert near(row["rate"], row["largest_posterior"], 0.5 / math.sqrt(len(released)))
            for part in [row, *([row["sensitive"]] if "sensitive" in row else [])]:
                assert 0 < part["interval"][1] - part["interval"][0] < 0.2
                assert part["interval"][0] <= part["rate"] <= part["interval"][1]
        assert ("sensitive" in rows[0]) == (options["mechanism"] == "santext+")
        assert rows[0]["rate"] < rows[1]["rate"] < rows[2]["rate"]
        truth = bayes(channel, released, seed=0, report=no_steps, draws=10)["text_prior"]["closed_form"]
        assert rows[0]["largest_posterior"] == pytest.approx(truth, abs=0.05)


def test_posteriors_of_another_mechanism_are_noticed(folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    channel, other = (TextChannel(folders["words"], mechanism="santext", level=level) for level in ("l0", "l1"))
    released = release(channel, texts(400))
    monkeypatch.setattr(channel, "distribution", other.distribution)
    row = repeated(channel, released, np.arange(len(released)), both(channel, released), no_steps, (2,))["2"]
    row = row["text_prior"]
    assert not near(row["rate"], row["largest_posterior"], 0.5 / math.sqrt(len(released)))


def test_repeated_release_of_the_identity_and_of_chance(
    folders: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    from textveil_training.attacks.text import repeated as module

    monkeypatch.setattr(module, "_CELLS", 50 * (COUNT + 1))  # tokens in several parts
    known = [(text.replace("zzz", WORDS[0]),) for (text,) in texts(60)]
    channel = TextChannel(folders["all"], **IDENTITY)
    released = release(channel, known)
    sample = np.arange(0, len(released), 2)
    found = repeated(channel, released, sample, both(channel, released), no_steps, (1, 3))
    assert [found[n]["rate"] for n in ("1", "3")] == [1, 1]
    assert found["1"]["tokens"] == len(sample)
    assert [found[n]["interval"][1] for n in ("1", "3")] == [1, 1]
    assert found["1"]["interval"][0] < 0.96
    channel = TextChannel(folders["words"], mechanism="random")
    found = repeated(channel, released, sample, both(channel, released), no_steps, (1, 3))
    prior = both(channel, released)["zipf"]
    for row in found.values():
        assert row["largest_posterior"] == pytest.approx(prior.max(), abs=1e-5)
        assert row["rate"] == pytest.approx((released.inputs[sample] == 0).mean(), abs=1e-6)


def test_parts_of_words_are_not_told_by_a_coin(folders: dict[str, Path]) -> None:
    """A part of a word that comes out as a common word was drawn there: the coin would make it certain."""
    channel = TextChannel(folders["pieces"], mechanism="santext+", level="l0")
    names = [channel.spell(x) for x in np.flatnonzero(channel.plan.keepable)]
    tail = next(name for name in channel.bundle.vocabulary if name.startswith("##"))
    words = [name + tail[2:] for name in names if not name.startswith("##")]
    released = release(channel, texts(400, words=words))
    row = repeated(channel, released, np.arange(len(released)), both(channel, released), no_steps, (3,))["3"]
    row = row["text_prior"]
    assert near(row["rate"], row["largest_posterior"], 0.5 / math.sqrt(len(released)))


# Statistics.


@pytest.mark.parametrize(
    "options",
    [
        {"mechanism": "santext", "level": "l0"},
        {"mechanism": "santext+", "level": "l1"},
        {"mechanism": "santext+", "level": "l0", "tail": "capped"},
        {"mechanism": "krr", "epsilon": "3"},
        {"mechanism": "random"},
    ],
    ids=lambda options: "-".join(options.values()),
)
def test_statistics_are_those_of_the_rows_and_columns(folders: dict[str, Path], options: dict[str, str]) -> None:
    channel = TextChannel(folders["words"], **options)
    rows = matrix(channel, whole=False)
    words = channel.distribution().outputs.tolist()
    unchanged, spread, sources = [], [], []
    for x in words:
        unchanged.append(rows[x, x])
        mass = np.cumsum(np.sort(rows[x])[::-1])
        spread.append(int(np.argmax(mass > 0.95 - 1e-12)) + 1)
        column = rows[~channel.plan.keepable, x]
        sources.append(int((column >= 0.01 * column.max()).sum()))
    middle = (len(words) - 1) // 2
    found = statistics(channel, seed=0, report=no_steps)
    assert found["words"] == len(words)
    assert found["unchanged_median"] == pytest.approx(sorted(unchanged)[middle], abs=1e-6)
    assert abs(found["outputs_median"] - sorted(spread)[middle]) <= 1  # a sum at the very edge
    assert found["inputs_median"] == sorted(sources)[middle]


def test_statistics_without_weights_are_drawn(folders: dict[str, Path]) -> None:
    still = statistics(TextChannel(folders["words"], mechanism="fbdd", epsilon="10000"), seed=0, report=no_steps)
    assert (still["unchanged_median"], still["outputs_median"], still["inputs_median"]) == (1, 1, None)
    noisy = statistics(TextChannel(folders["words"], mechanism="fbdd", epsilon="1"), seed=0, report=no_steps)
    assert noisy["unchanged_median"] < 0.2
    assert noisy["outputs_median"] > 10
