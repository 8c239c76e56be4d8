"""Opening a bundle whose hashes fit: the table and the rows of SanText must be what they say."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from damaged import change_law, refused, sign
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.numpy import load, save
from textveil import Sanitizer
from textveil.bundle import TextBundle, open_bundle
from textveil.errors import BundleDamaged

reading = settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
HIGH = "weights.high.santext"
Arrays = dict[str, np.ndarray]  # type: ignore[type-arg]
SMALLEST, LARGEST = -(2**63), 2**63 - 1


def put(name: str, place: object, value: object) -> Callable[[Arrays], object]:
    def change(arrays: Arrays) -> None:
        arrays[name] = arrays[name].copy()
        arrays[name][place] = value  # type: ignore[index]

    return change


def cast(name: str, dtype: object) -> Callable[[Arrays], object]:
    return lambda arrays: arrays.update({name: arrays[name].astype(dtype)})  # type: ignore[call-overload]


def filled(name: str, values: list[int]) -> Callable[[Arrays], object]:
    """Return the given entries, with the last of them repeated to the end."""

    def change(arrays: Arrays) -> None:
        size = len(arrays[name])
        arrays[name] = np.array((values + [values[-1]] * size)[:size], arrays[name].dtype)

    return change


TABLE_CHANGES: dict[str, Callable[[Arrays], object]] = {
    "no neighbors": lambda arrays: arrays.pop("neighbors"),
    "no scores": lambda arrays: arrays.pop("scores"),
    "no roles": lambda arrays: arrays.pop("roles"),
    "no weights": lambda arrays: arrays.pop(HIGH),
    "other arrays": lambda arrays: (arrays.clear(), arrays.update(x=np.zeros(3, np.uint8))),
    "no arrays": lambda arrays: arrays.clear(),
    "an id out of range": put("neighbors", (3, 2), 40),
    "an id of the unknown row": put("neighbors", (40, 7), 40),
    "the largest id": put("neighbors", (0, 0), 65535),
    "a neighbor twice": lambda arrays: put("neighbors", (20, 1), arrays["neighbors"][20, 0])(arrays),
    "decreasing scores": lambda arrays: put("scores", (5, 7), arrays["scores"][5, 6] - 1)(arrays),
    "decreasing scores of the unknown": put("scores", (40, 0), 65535),
    "a score beyond the weights": put("scores", (7, 7), 65535),
    "a row less": lambda arrays: arrays.update(neighbors=arrays["neighbors"][:-1].copy()),
    "a column less": lambda arrays: arrays.update(scores=arrays["scores"][:, :-1].copy()),
    "a role less": lambda arrays: arrays.update(roles=arrays["roles"][:-1].copy()),
    "transposed": lambda arrays: arrays.update(neighbors=np.ascontiguousarray(arrays["neighbors"].T)),
    "flat": lambda arrays: arrays.update(scores=arrays["scores"].ravel().copy()),
    "neighbors of 8 bits": cast("neighbors", np.uint8),
    "neighbors of 64 bits": cast("neighbors", np.int64),
    "scores of 32 bits": cast("scores", np.uint32),
    "signed roles": cast("roles", np.int8),
    "kept and an output": put("roles", 20, 1 | 2 | 4),
    "an output of santext+ alone": put("roles", 20, 2),
    "a neighbor that is not an output": put("roles", 20, 0),
    "no output of santext+": lambda arrays: put("roles", slice(None), 1 | 4)(arrays),
    "no outputs": put("roles", slice(None), 0),
    "a role that there is not": put("roles", 20, 1 | 2 | 8),
    "weights of 32 bits": cast(HIGH, np.uint32),
    "weights in two dimensions": lambda arrays: arrays.update({HIGH: arrays[HIGH][:, None].copy()}),
    "too few weights": lambda arrays: arrays.update({HIGH: arrays[HIGH][:5].copy()}),
    "empty weights": lambda arrays: arrays.update({HIGH: arrays[HIGH][:0].copy()}),
    "a zero weight": put(HIGH, -1, 0),
    "a negative weight": put(HIGH, -1, -1),
    "increasing weights": put(HIGH, 0, 1),
    "all weights zero": put(HIGH, slice(None), 0),
    "all weights negative": put(HIGH, slice(None), -5),
    "all weights the smallest": put(HIGH, slice(None), SMALLEST),
    "all weights too large": put(HIGH, slice(None), LARGEST),
    "all weights 2**62": put(HIGH, slice(None), 1 << 62),
    "a first weight too large": put(HIGH, 0, LARGEST),
    "a first weight of 2**60": put(HIGH, 0, 1 << 60),
    "tails that overflow": put(HIGH, slice(None), 1 << 57),
    "an increase that overflows": filled(HIGH, [SMALLEST, 1]),
    "an increase that overflows later": filled(HIGH, [5, 5, SMALLEST, 1]),
    "an overflow from below": filled(HIGH, [LARGEST, SMALLEST, 1]),
}


@pytest.mark.parametrize("change", TABLE_CHANGES.values(), ids=TABLE_CHANGES.keys())
def test_a_table_that_is_wrong(copy: Path, change: Callable[[Arrays], object]) -> None:
    path = copy / "table.safetensors"
    arrays = load(path.read_bytes())
    change(arrays)
    path.write_bytes(save(arrays))
    sign(copy)
    refused(copy)


@pytest.mark.parametrize(
    ("base", "allowed"),
    [
        (np.ones(40, np.uint32), True),
        (np.full(40, 1000, np.uint32), True),
        (np.zeros(40, np.uint32), False),
        (np.where(np.arange(40) == 20, 0, 7).astype(np.uint32), False),
        (np.full(40, 2**32 - 1, np.uint32), False),
        (np.ones(39, np.uint32), False),
        (np.ones((40, 1), np.uint32), False),
        (np.ones(40, np.int64), False),
        (np.ones(40, np.uint8), True),
        (np.full(40, 255, np.uint8), True),
        (np.ones(40, np.uint16), True),
        (np.full(40, 65_535, np.uint16), False),
        (np.zeros(40, np.uint8), False),
        (np.ones(39, np.uint8), False),
        (np.ones(40, np.int8), False),
        (np.ones(40, np.uint64), False),
    ],
)
def test_a_base_measure(copy: Path, base: "np.ndarray[Any, Any]", allowed: bool) -> None:
    table = copy / "table.safetensors"
    arrays = load(table.read_bytes())
    arrays[HIGH] = arrays[HIGH] >> 12  # or totals would not fit whatever the base
    table.write_bytes(save({**arrays, "base.high": base}))
    laws = ("santext", "santext+")
    change_law(
        copy, lambda law: [law["santext"]["levels"][1]["parameters"][one].update(base="base.high") for one in laws]
    )
    if allowed:
        assert Sanitizer(open_bundle(copy, TextBundle)).sanitize("the doctor", epsilon=16).tokens == 2
    else:
        refused(copy)


@pytest.mark.parametrize(
    "arrays",
    [
        {},
        {"other": np.zeros((41, 8), np.int8)},
        {"rows": np.zeros((40, 8), np.int8)},
        {"rows": np.zeros((42, 8), np.int8)},
        {"rows": np.zeros((41, 8), np.uint8)},
        {"rows": np.zeros((41, 8), np.int64)},
        {"rows": np.zeros(41 * 8, np.int8)},
        {"rows": np.zeros((41, 2, 4), np.int8)},
    ],
)
def test_rows_that_do_not_fit(copy: Path, arrays: Arrays) -> None:
    path = copy / "embeddings.safetensors"
    path.write_bytes(save(arrays))
    sign(copy)
    with pytest.raises(BundleDamaged, match=r"^embeddings\.safetensors: "):
        Sanitizer(open_bundle(copy, TextBundle)).distance("the", "doctor")


@pytest.mark.slow
@settings(reading, max_examples=300)
@given(st.data())
def test_a_signed_table_with_any_one_number_changed_stays_in_range(
    copy: Path, tiny_path: Path, data: st.DataObject
) -> None:
    """Whatever passes is sound: positive totals within 62 bits, no weight below zero, nothing outside the outputs."""
    arrays = load((tiny_path / "table.safetensors").read_bytes())
    name = data.draw(st.sampled_from(sorted(arrays)))
    limits = np.iinfo(arrays[name].dtype)
    edge = st.sampled_from([limits.min, limits.max, 0, 1])
    flat = arrays[name].copy().ravel()
    flat[data.draw(st.integers(0, flat.size - 1))] = data.draw(edge | st.integers(int(limits.min), int(limits.max)))
    arrays[name] = flat.reshape(arrays[name].shape)
    (copy / "table.safetensors").write_bytes(save(arrays))
    sign(copy)
    try:
        bundle = open_bundle(copy, TextBundle)
    except BundleDamaged:
        return
    sanitizer = Sanitizer(bundle)
    for mechanism, bit in (("santext", 1), ("santext+", 2)):
        for epsilon in (4, 16):
            plan: Any = sanitizer._get_plan({"mechanism": mechanism, "epsilon": epsilon})
            law = plan.mechanism.santext if mechanism == "santext+" else plan.mechanism.sampler
            for row in range(bundle.symbol_count + 1):
                rows = law.compute_proposals(np.array([row]))
                weights = rows.compute_weights(0)
                assert 0 < sum(map(int, weights)) == int(rows.totals[0]) < 1 << 62
                assert ((weights > 0) == ((bundle.table.roles & bit) != 0)).all()
