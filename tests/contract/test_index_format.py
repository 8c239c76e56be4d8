"""A reader written from docs/encoder-format.md alone and the runtime give the same labels from the same bytes."""

import math
from decimal import Decimal, localcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reference_reader.index import WORD, G, IndexReader
from small_label_bundle import SENTENCES, held_out_of, sentences_of, write_index
from textveil.vector import TextLabelEncoder
from textveil_cli.aggregation import LabelServer

TEXTS = (
    "",
    "The market, the goal.",
    "doctor doctor DOCTOR",
    "Don't! 17 goals — the doctor’s café №5 zzz_q",
    "ＭＡＲＫＥＴ ﬁn \ud800 🦄 can't",
    "market goal " * 40,
    "of the and , .",
)


@pytest.mark.parametrize(("channel", "epsilon"), [("counts", "1"), ("counts", "4"), ("accuracy", "1")])
@pytest.mark.parametrize("as_text", [False, True])
def test_the_same_index_from_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, channel: str, epsilon: str, as_text: bool
) -> None:
    folder = write_index(tmp_path / "bundle", files=sentences_of())
    encoder, reader = TextLabelEncoder.load(folder), IndexReader(folder)
    generator = np.random.default_rng(5)
    script: list[int] = []

    def scripted(count: int) -> Any:
        words = generator.integers(0, WORD, count, dtype=np.uint64, endpoint=False)
        words[generator.random(count) < 0.05] = WORD - 1  # rejected for every total that is not a power of two
        script.extend(words.tolist())
        return words

    monkeypatch.setattr("textveil.mechanisms.entropy.random_uint64", scripted)
    seen = set()
    for text in TEXTS * 8:
        script.clear()
        release = encoder.encode(text, epsilon=epsilon, randomizer=channel, as_text=as_text)
        # The two integers are asked for one after the other: what is rejected of the first comes before the second.
        entropy = iter(script)
        index = reader.index(reader.code(text), channel, epsilon, entropy)
        wanted = reader.sentence(index, entropy) if as_text else str(index)
        assert next(entropy, None) is None
        assert release.line == f"{wanted}\t{reader.identity[:12]}\t{epsilon}\t{channel}"
        assert as_text or len(release.line.encode()) <= 60
        seen.add(wanted)
    possible = SENTENCES if as_text else ("0", "1", "2")
    assert seen == set(possible if channel == "counts" else possible[: 2 * len(possible) // 3])


def test_counts_by_the_document(tmp_path: Path) -> None:
    """``c = P' n`` of whole numbers is solved again by Cramer's rule."""
    folder = write_index(tmp_path / "bundle")
    server, reader = LabelServer.load(folder), IndexReader(folder)
    lines = [f"{y}\t{reader.identity[:12]}\t4\tcounts" for y, count in enumerate((5, 9, 2)) for _ in range(count)]
    found = server.count_texts(server.parse_line(line, 1) for line in lines).by_class_label.counts
    base, budget = reader.channels["counts.4.base"][0], sum(reader.channels["counts.4.budget"][:3])
    with localcontext(prec=80):
        factor = math.floor((Decimal(4).exp() - 1) * G)
    total = 3 * G * base + factor * budget
    off, on = G * base / total, (G * base + factor * budget) / total
    for count, (label, arrived) in zip(found, (("business", 5), ("sport", 9), ("health", 2)), strict=True):
        assert count.label == label
        assert count.count == pytest.approx((arrived - 16 * off) / (on - off))
        inverse_on = (1 - off) / (on - off)
        inverse_off = -off / (on - off)
        variance = arrived * inverse_on**2 + (16 - arrived) * inverse_off**2 - count.count
        assert count.standard_error == pytest.approx(math.sqrt(max(0, variance)))


def arriving(reader: IndexReader, arrived: dict[tuple[str, str], list[int]]) -> list[str]:
    return [
        f"{y}\t{reader.identity[:12]}\t{epsilon}\t{channel}"
        for (channel, epsilon), times in arrived.items()
        for y, count in enumerate(times)
        for _ in range(count)
    ]


@pytest.mark.parametrize(
    "arrived",
    [
        {("counts", "4"): [50, 90, 20]},
        {("counts", "1"): [70, 0, 3]},
        {("counts", "4"): [9, 5, 8], ("counts", "1"): [4, 40, 6]},
    ],
)
def test_texts_of_a_label_by_the_document(tmp_path: Path, arrived: dict[tuple[str, str], list[int]]) -> None:
    folder = write_index(tmp_path / "bundle")
    server, reader = LabelServer.load(folder), IndexReader(folder)
    found = server.count_texts(server.parse_line(line, 1) for line in arriving(reader, arrived)).by_true_label.counts
    for count, (label, number, error) in zip(found, reader.of_labels(arrived), strict=True):
        assert count.label == label
        assert (count.count, count.standard_error) == pytest.approx((number, error))


@pytest.mark.parametrize("channel", ["counts", "accuracy"])
def test_texts_of_fewer_labels_than_codes_by_the_document(tmp_path: Path, channel: str) -> None:
    """Least squares, and a channel that never releases one of the indices."""

    def manifest(told: dict[str, Any]) -> None:
        told["release"]["label_type"] = "cluster"

    table = held_out_of(labels=["yes", "no"], texts=200, decisions=[[60, 30, 10], [5, 25, 70]])
    folder = write_index(
        tmp_path / "bundle", manifest=manifest, files=lambda files: files.update({"held-out.json": table})
    )
    server, reader = LabelServer.load(folder), IndexReader(folder)
    times = {(channel, "1"): [40, 31, 12 if channel == "counts" else 0]}
    found = server.count_texts(server.parse_line(line, 1) for line in arriving(reader, times))
    assert (found.by_class_label.refusal is None) == (channel == "counts")
    if channel == "accuracy":  # of the document: an index that is never released is left out
        reader.channel = lambda *_, real=reader.channel: [row[:2] for row in real(channel, "1")]  # type: ignore[method-assign]
        times[channel, "1"].pop()
    for count, (label, number, error) in zip(found.by_true_label.counts, reader.of_labels(times), strict=True):
        assert count.label == label
        assert (count.count, count.standard_error) == pytest.approx((number, error))
