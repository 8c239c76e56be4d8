"""The attack that guesses the nearest neighbor of an output equals ranks by brute force."""

import math
from pathlib import Path

import numpy as np
from attacked_texts import COUNT, IDENTITY, WORDS, near, no_steps, texts
from defined_weights import squared_distances
from textveil.text import Options
from textveil_training.attacks.text.context_free import attack_nearest, rank_inputs
from textveil_training.attacks.text.released import release_texts
from textveil_training.token_randomizer import TokenRandomizer


def test_ranks_are_those_of_all_distances(folders: dict[str, Path]) -> None:
    for name in ("words", "lattice"):  # on a lattice nearly every distance ties
        channel = TokenRandomizer(folders[name], mechanism="random")
        assert channel.bundle.metric is not None
        squared = squared_distances(channel.bundle)
        symbols = channel.unknown_id
        pairs = [(x, y) for x in range(symbols + 1) for y in range(symbols)]
        inputs, outputs = np.array(pairs).T
        found = rank_inputs(channel.bundle.metric, inputs, outputs, no_steps)
        for (x, y), rank in zip(pairs, found.tolist(), strict=True):
            order = sorted(range(symbols), key=lambda other: (squared[y][other], other))
            assert rank == (symbols if x == symbols else order.index(x))


def test_nearest_of_the_identity_and_of_chance(folders: dict[str, Path]) -> None:
    known = [(text.replace("zzz", WORDS[0]),) for (text,) in texts(300)]
    for options in (IDENTITY, Options(mechanism="random")):
        channel = TokenRandomizer(folders["all"], **options)
        assert channel.bundle.metric is not None
        released = release_texts(channel, known)
        found = attack_nearest(channel.bundle.metric, released, no_steps)
        assert found["tokens"] == len(released)
        if options == IDENTITY:
            assert (found["top1"], found["top10"]) == (1, 1)
            continue
        pairs = np.repeat(np.arange(COUNT), COUNT), np.tile(np.arange(COUNT), COUNT)
        listed = (rank_inputs(channel.bundle.metric, *pairs, no_steps) < 10).reshape(COUNT, COUNT).mean(axis=1)
        assert near(found["top1"], 1 / COUNT, math.sqrt(1 / COUNT / len(released)))
        assert near(found["top10"], listed[released.inputs].mean(), 0.5 / math.sqrt(len(released)))
