"""``LabelServer`` parses released lines strictly, and its counts are unbiased."""

from pathlib import Path

import numpy as np
import pytest
from small_label_bundle import LABELS, SENTENCES, released_line, sentences_of, write_index
from textveil.vector import TextLabelEncoder
from textveil_cli.aggregation import LabelServer
from textveil_cli.errors import ReleaseError

SECRET = "Zorblaxia 48213977"
ODD = ("", " ", "\ud800", SECRET, "market " * 500)


def test_what_devices_release_is_received(index_bundle: Path) -> None:
    encoder, server = TextLabelEncoder.load(index_bundle), LabelServer.load(index_bundle)
    for text in (*ODD, "market"):
        for channel, epsilon in (("counts", "1"), ("counts", "4"), ("accuracy", "1")):
            release = encoder.encode(text, randomizer=channel, epsilon=epsilon)
            received = server.parse_line(release.line, 1)
            assert received.label_id == release.label_id
            assert received.staircase is server.bundle.get_randomizer(channel, epsilon)
            decision = server.classify_label(received)
            assert decision.label == LABELS[release.label_id]
            assert sum(decision.scores.values()) == pytest.approx(1, abs=1e-5)
    assert server.classify_label(server.parse_line(released_line(server, 1), 1)).scores["sport"] == pytest.approx(0.8)
    unstated = server.classify_label(server.parse_line(released_line(server, 1, "1"), 1))
    assert unstated.scores["sport"] == 1  # the bundle does not say


def test_a_sentence_is_received_as_its_index(tmp_path: Path) -> None:
    folder = write_index(tmp_path / "bundle", files=sentences_of())
    encoder, server = TextLabelEncoder.load(folder), LabelServer.load(folder)
    for text in ODD:
        release = encoder.encode(text, as_text=True)
        assert server.parse_line(release.line + "\r", 1).label_id == release.label_id
    for place, sentence in enumerate(SENTENCES):
        received = server.parse_line(released_line(server, sentence), 1)
        assert received == server.parse_line(released_line(server, place // 2), 1)
        assert server.classify_label(received).label == LABELS[place // 2]
    lines = [*SENTENCES[:3], 2]
    found = server.count_texts(server.parse_line(released_line(server, one), 1) for one in lines)
    same = server.count_texts(server.parse_line(released_line(server, one), 1) for one in (0, 0, 1, 2))
    assert found == same
    for wrong, message in (("They won", "not a released"), (SECRET, "not a released"), ("They won.\t", "not a rel")):
        with pytest.raises(ReleaseError, match=message):
            server.parse_line(released_line(server, wrong), 1)
    with pytest.raises(ReleaseError, match="never releases"):
        server.parse_line(released_line(server, SENTENCES[5], "1", "accuracy"), 1)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("They won.\tID\t4\tcounts", "is not a released class label"),
        ("", "is not a released class label"),
        (SECRET, "is not a released class label"),
        ("0\tID\t4", "is not a released class label"),
        ("0\tID\t4\tcounts\tmore", "is not a released class label"),
        ("-1\tID\t4\tcounts", "is not a released class label"),
        ("²\tID\t4\tcounts", "is not a released class label"),
        ("0" * 60 + "\tID\t4\tcounts", "is not a released class label"),
        ("0\t000000000000\t4\tcounts", "another bundle"),
        ("0\tID\t2\tcounts", "does not have"),
        ("0\tID\t4\taccuracy", "does not have"),
        ("0\tID\t4\t" + SECRET, "does not have"),
        ("3\tID\t4\tcounts", "never releases"),
        ("2\tID\t1\taccuracy", "never releases"),
    ],
)
def test_what_is_no_released_line(index_bundle: Path, text: str, message: str) -> None:
    server = LabelServer.load(index_bundle)
    with pytest.raises(ReleaseError, match=message) as raised:
        server.parse_line(text.replace("ID", server.bundle.content_hash[:12]), 7)
    assert str(raised.value).startswith("line 7: ")
    assert "Zorblax" not in str(raised.value)


def test_a_channel_that_cannot_tell_all_codes_is_refused_for_counts(index_bundle: Path) -> None:
    server = LabelServer.load(index_bundle)
    found = server.count_texts([server.parse_line(released_line(server, 0, "1", "accuracy"), 1)])
    assert found.by_class_label.counts == found.by_true_label.counts == ()
    assert "randomizer accuracy at epsilon 1 does not distinguish all class labels" in str(found.by_class_label.refusal)
    assert "do not distinguish the labels enough for randomizer accuracy at epsilon 1" in str(
        found.by_true_label.refusal
    )
    with pytest.raises(ReleaseError, match="no lines to count"):
        server.count_texts([])


def test_counts_of_two_levels_add_up(index_bundle: Path) -> None:
    server = LabelServer.load(index_bundle)
    first, second = (server.parse_line(released_line(server, 0, epsilon), 1) for epsilon in ("1", "4"))
    for kind in ("by_class_label", "by_true_label"):
        together, *apart = (
            [count.count for count in getattr(server.count_texts(lines), kind).counts]
            for lines in ([first, second], [first], [second])
        )
        assert together == pytest.approx(np.sum(apart, axis=0).tolist())
