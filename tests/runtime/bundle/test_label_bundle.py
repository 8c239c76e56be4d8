"""Bundles of class labels: hostile content is refused by name, or has no effect."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import small_encoders
from damaged import refused
from safetensors.numpy import save
from small_label_bundle import HELD_OUT, LABELS, SENTENCES, WORDS, held_out_of, sentences_of, write_index
from textveil.bundle import LabelBundle, StaticExtractorData, open_bundle
from textveil.errors import BundleDamaged, ModelNotExpected, UnknownLevel
from textveil.vector import TextLabelEncoder
from textveil.verify import verify_labels


def set_in(*keys: str, value: Any) -> Any:
    """Return a change of one value of the manifest."""

    def change(manifest: dict[str, Any]) -> None:
        for key in keys[:-1]:
            manifest = manifest[key]
        if value is KeyError:
            del manifest[keys[-1]]
        else:
            manifest[keys[-1]] = value

    return change


EXTRACTOR = ("release", "extractor")
MANIFESTS = {
    "no release": (set_in("release", value=KeyError), "not an object"),
    "a key that nobody knows": (set_in("release", "more", value=1), "unknown or missing"),
    "another kind": (set_in("release", "label_type", value="secret"), "not one of the allowed strings"),
    "true codes": (set_in("release", "label_count", value=True), "out of range"),
    "one code": (set_in("release", "label_count", value=1), "out of range"),
    "too many codes": (set_in("release", "label_count", value=257), "out of range"),
    "labels for other codes": (
        set_in("labels", value=["a", "b"]),
        "must have one label for each cluster",
    ),
    "labels that are none": (set_in("labels", value=["a", "b", 3]), "not a string"),
    "a label twice": (set_in("labels", value=["a", "b", "a"]), "twice"),
    "no labels": (set_in("labels", value=None), "not an array"),
    "another extractor": (
        set_in(*EXTRACTOR, "extractor_type", value="pickle"),
        "a value is not one of the allowed strings",
    ),
    "an extractor as a list": (set_in(*EXTRACTOR, value=[]), "not an object"),
    "a dimension of 0": (set_in(*EXTRACTOR, "dimension", value=0), "out of range"),
    "a number of pairs that is not a power of two": (set_in(*EXTRACTOR, "pairs", value=6), "power of two"),
    "too many pairs": (set_in(*EXTRACTOR, "pairs", value=1 << 40), "out of range"),
    "text without an end": (set_in(*EXTRACTOR, "max_characters", value=10**9), "out of range"),
    "another dimension": (set_in(*EXTRACTOR, "dimension", value=2), "an array has a wrong shape or type"),
    "a channel that is not there": (
        set_in("release", "randomizers", "more", value=["1"]),
        "its randomizers differ from the randomizers in manifest.json",
    ),
    "a channel that is not listed": (
        set_in("release", "randomizers", "counts", value=["1"]),
        "its randomizers differ from the randomizers in manifest.json",
    ),
    "no channel": (
        set_in("release", "randomizers", value={}),
        "its randomizers differ from the randomizers in manifest.json",
    ),
    "levels as a text": (set_in("release", "randomizers", "accuracy", value="1"), "not an array"),
    "levels out of order": (
        set_in("release", "randomizers", "counts", value=["4", "1"]),
        "the levels of a randomizer must ascend, and there must be at least one",
    ),
    "a level twice": (
        set_in("release", "randomizers", "accuracy", value=["1", "1"]),
        "the levels of a randomizer must ascend, and there must be at least one",
    ),
    "a default that is none": (
        set_in("release", "default", "epsilon", value="2"),
        "the default level must be a level of the default randomizer",
    ),
    "a default of no channel": (
        set_in("release", "default", "randomizer", value="more"),
        "a value is not one of the allowed strings",
    ),
    "a file outside": (set_in("files", "../label-classifier.safetensors", value={"sha256": "", "bytes": 1}), "outside"),
    "files as a number": (set_in("files", value=3), "not an object"),
}


@pytest.mark.parametrize("what", MANIFESTS)
def test_a_manifest_that_is_wrong_is_refused(tmp_path: Path, what: str) -> None:
    change, message = MANIFESTS[what]
    assert message in refused(write_index(tmp_path / "bundle", manifest=change))


def put(file: str, name: str, change: Any) -> Any:
    """Return a change or a removal of one tensor."""

    def changed(tensors: dict[str, dict[str, Any]]) -> None:
        if change is None:
            del tensors[file][name]
        else:
            tensors[file][name] = change(tensors[file].get(name))

    return changed


ROWS, CODES, CHANNELS = "rows.safetensors", "label-classifier.safetensors", "randomizers.safetensors"
TENSORS = {
    "no rows": put(ROWS, "words", None),
    "rows of floats": put(ROWS, "words", lambda a: a.astype(np.float32)),
    "a row too few": put(ROWS, "words", lambda a: a[:-1]),
    "no pairs": put(ROWS, "pairs", None),
    "a scale that is not a number": put(ROWS, "scales", lambda a: a * np.float32(np.nan)),
    "one scale": put(ROWS, "scales", lambda a: a[:1]),
    "another tensor": put(ROWS, "more", lambda _: np.zeros(1, np.int8)),
    "a weight that is not a number": put(CODES, "weight", lambda a: a + np.float32(np.inf)),
    "no bias": put(CODES, "bias", None),
    "a bias of another shape": put(CODES, "bias", lambda a: a[:2]),
    "a row that deals one less": put(CHANNELS, "counts.4.budget", lambda a: a - (np.arange(9).reshape(3, 3) == 0)),
    "more than the base": put(CHANNELS, "counts.1.budget", lambda a: a + 1),
    "a negative base": put(CHANNELS, "counts.1.base", lambda a: -a),
    "a channel of floats": put(CHANNELS, "counts.1.base", lambda a: a.astype(np.float32)),
    "a channel of small integers": put(CHANNELS, "counts.1.base", lambda a: a.astype(np.int8)),
    "a channel for fewer codes": put(CHANNELS, "counts.1.base", lambda a: a[:2]),
    "a channel too many": put(CHANNELS, "counts.2.base", lambda _: np.ones(3, np.int64)),
}


@pytest.mark.parametrize("what", TENSORS)
def test_tensors_that_are_wrong_are_refused(tmp_path: Path, what: str) -> None:
    refused(write_index(tmp_path / "bundle", tensors=TENSORS[what]))


def for_two_codes(tensors: dict[str, dict[str, Any]]) -> None:
    tensors[CHANNELS] = {
        name: 5 * np.eye(2, dtype=np.int64) if tensor.ndim == 2 else np.full(2, 9)
        for name, tensor in tensors[CHANNELS].items()
    }


@pytest.mark.parametrize("words", [b"", b"the\nof", b"the\n\nof\n", b"the\nthe\n", b"\xff\n", b"the\n" * 3])
def test_a_word_list_that_is_wrong_is_refused(tmp_path: Path, words: bytes) -> None:
    refused(write_index(tmp_path / "bundle", files=lambda files: files.update({"words.txt": words})))


def test_channels_of_other_codes_are_refused(tmp_path: Path) -> None:
    assert "a randomizer has a wrong number of rows or columns" in refused(
        write_index(tmp_path / "bundle", tensors=for_two_codes)
    )


def held_out(content: bytes) -> Any:
    return lambda files: files.update({"held-out.json": content})


def test_held_out_decisions_are_read(tmp_path: Path) -> None:
    found = open_bundle(write_index(tmp_path / "bundle"), LabelBundle).held_out
    assert found is not None
    assert (found.labels, found.decisions.tolist(), found.text_count) == (LABELS, HELD_OUT, 62)
    assert json.loads(held_out_of()) == found.to_dict()
    without = write_index(tmp_path / "without", files=lambda files: files.pop("held-out.json"))
    assert open_bundle(without, LabelBundle).held_out is None


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"[]", "not a JSON object"),
        (b"{", "readable"),
        (held_out_of().replace(b"18", b"NaN"), "readable"),
        (held_out_of().replace(b"18", b"Infinity"), "readable"),
        (held_out_of()[:-1] + b', "texts": 62}', "readable"),
        (held_out_of(more=1), "unknown or missing"),
        (b'{"labels": [], "texts": 1}', "unknown or missing"),
        (held_out_of(labels=["business", "sport", "sport"]), "twice"),
        (held_out_of(labels=["business", "sport", 3]), "not a string"),
        (held_out_of(labels="abc"), "not an array"),
        (
            held_out_of(labels=["business", "health", "sport"]),
            "its labels differ from the labels of the bundle, or their number is not supported",
        ),
        (
            held_out_of(labels=["business"], decisions=HELD_OUT[:1]),
            "its labels differ from the labels of the bundle, or their number is not supported",
        ),
        (held_out_of(decisions=HELD_OUT[:2]), "must have one row for each label and one column for each cluster"),
        (
            held_out_of(decisions=[row[:2] for row in HELD_OUT]),
            "must have one row for each label and one column for each cluster",
        ),
        (held_out_of(decisions=[[18, 2, 1], [1, 30, 0], 5]), "not an array"),
        (held_out_of(decisions=3), "not an array"),
        (held_out_of(decisions=[[18, 2, 1], [1, 30, 0], [0, 1, 9.0]]), "out of range"),
        (held_out_of(decisions=[[18, 2, 1], [1, 30, 0], [0, True, 9]]), "out of range"),
        (held_out_of(decisions=[[18, 2, 1], [1, 30, -1], [0, 2, 9]]), "out of range"),
        (held_out_of(decisions=[[18, 2, 1], [1, 30, 0], [0, 1, 1 << 70]]), "out of range"),
        (held_out_of(texts=61), "add up"),
        (held_out_of(texts=62.0), "out of range"),
        (held_out_of(texts=0, decisions=[[0] * 3] * 3), "out of range"),
        (held_out_of(texts=3 << 26, decisions=[[1 << 26, 0, 0]] * 3), "out of range"),
    ],
)
def test_held_out_decisions_that_are_wrong_are_refused(tmp_path: Path, content: bytes, message: str) -> None:
    assert message in refused(write_index(tmp_path / "bundle", files=held_out(content)))


def test_sentences_are_read(tmp_path: Path) -> None:
    assert open_bundle(write_index(tmp_path / "none"), LabelBundle).sentences == ()
    found = open_bundle(write_index(tmp_path / "two", files=sentences_of()), LabelBundle).sentences
    assert found == (SENTENCES[:2], SENTENCES[2:4], SENTENCES[4:])
    longest = open_bundle(write_index(tmp_path / "one", files=sentences_of("a", "é" * 500, "c")), LabelBundle).sentences
    assert longest == (("a",), ("é" * 500,), ("c",))


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (("a", "b"), "every cluster must have the same number of sentences"),
        (("a", "b", "c", "d"), "every cluster must have the same number of sentences"),
        (("a", "b", "a"), "empty or occurs twice"),
        (("a", "", "c"), "empty or occurs twice"),
        (("a", "b", "c" * 501), "too long"),
        (("a", "b", " c"), "a sentence is too long, is a number, or begins or ends with a forbidden punctuation mark"),
        (("a", "b", "c "), "a sentence is too long, is a number, or begins or ends with a forbidden punctuation mark"),
        (
            ("a", "b", "# one of 64 public sentences, not the author's words"),
            "a sentence is too long, is a number, or begins or ends with a forbidden punctuation mark",
        ),
        (("a", "b", "2"), "a sentence is too long, is a number, or begins or ends with a forbidden punctuation mark"),
        (("a", "b", "c\td"), "control characters"),
        (("a", "b", "c\rd"), "control characters"),
        (("a", "b", "c\x1b[1m"), "control characters"),
        (("a", "b", "c\u2028d"), "control characters"),
        (("a", "b", "c\u202ed"), "control characters"),
        (("a", "b", "cafe\u0301"), "a sentence is not in the Unicode normalization form NFC"),
        (("a", "b", "\ud800"), "not UTF-8"),
    ],
)
def test_sentences_that_are_wrong_are_refused(tmp_path: Path, lines: tuple[str, ...], message: str) -> None:
    said = refused(write_index(tmp_path / "bundle", files=sentences_of(*lines)))
    assert message in said
    assert len(lines[-1]) < 2 or lines[-1] not in said


@pytest.mark.parametrize("content", [b"", b"\n", b"a\nb\nc", b"a\r\nb\r\nc\r\n"])
def test_lines_of_sentences_that_are_incomplete_are_refused(tmp_path: Path, content: bytes) -> None:
    folder = write_index(tmp_path / "bundle", files=lambda files: files.update({"sentences.txt": content}))
    assert "sentences.txt" in refused(folder)


def test_sentences_that_were_changed_later_are_refused(tmp_path: Path) -> None:
    folder = write_index(tmp_path / "bundle", files=sentences_of())
    path = folder / "sentences.txt"
    path.write_text(path.read_text("utf-8").replace("They won.", "They win."), "utf-8")
    assert "its hash differs from the hash in manifest.json" in refused(folder)


def test_a_codebook_names_its_own_labels(tmp_path: Path) -> None:
    of_two = held_out_of(labels=["a", "b"], texts=52, decisions=HELD_OUT[:2])
    folder = write_index(
        tmp_path / "bundle", files=held_out(of_two), manifest=set_in("release", "label_type", value="cluster")
    )
    found = open_bundle(folder, LabelBundle).held_out
    assert found is not None
    assert found.labels == ("a", "b")
    assert "its labels differ from the labels of the bundle, or their number is not supported" in refused(
        write_index(tmp_path / "classes", files=held_out(of_two))
    )


def test_a_bundle_with_a_model(tmp_path: Path) -> None:
    """The same codes and channels behind an ONNX extractor."""
    pytest.importorskip("onnxruntime")
    source = small_encoders.write_encoder(tmp_path / "source", dimension=3)

    def files(contents: dict[str, bytes]) -> None:
        for name in ("model.onnx", "vocabulary.txt"):
            contents[name] = (source / name).read_bytes()
        del contents["words.txt"], contents["rows.safetensors"]

    entry = {"extractor_type": "onnx", "dimension": 3, "max_tokens": 8, "lowercase": True}
    folder = write_index(tmp_path / "bundle", files=files, manifest=set_in(*EXTRACTOR, value=entry))
    with pytest.raises(ModelNotExpected):
        TextLabelEncoder.load(folder)
    encoder = TextLabelEncoder.load(folder, expect_id=open_bundle(folder, LabelBundle).content_hash)
    for text in ("", "the doctor said", "broken", "poison", "the of and " * 50):
        release = encoder.encode(text)
        assert release.label_id in range(3)
        assert release.notes.is_zero_vector == (text in ("broken", "poison"))
        assert release.notes.is_truncated == (len(text) > 50)
    assert (
        encoder.compute_true_label("broken") == encoder.compute_true_label("poison") == 2
    )  # of the vector 0: the largest bias


def test_a_bundle_of_another_extractor_is_refused(tmp_path: Path) -> None:
    """Files of words where the manifest says a model."""
    entry = {"extractor_type": "onnx", "dimension": 3, "max_tokens": 8, "lowercase": True}
    words = write_index(tmp_path / "words", manifest=set_in(*EXTRACTOR, value=entry))
    assert "does not list 'vocabulary.txt'" in refused(words)


def test_levels(tmp_path: Path) -> None:
    bundle = open_bundle(write_index(tmp_path / "bundle"), LabelBundle)
    assert isinstance(bundle.extractor, StaticExtractorData)
    assert bundle.extractor.words == {word: row for row, word in enumerate(WORDS)}
    assert bundle.get_randomizer() is bundle.default_randomizer
    assert bundle.get_randomizer("accuracy", "1.0").level.name == "accuracy"
    assert bundle.get_randomizer(None, 1).level.name == "counts"
    for channel, epsilon, message in (("secret", None, "counts, accuracy"), ("accuracy", None, "levels .* 1$")):
        with pytest.raises(UnknownLevel, match=message):
            bundle.get_randomizer(channel, epsilon)
    for epsilon in ("2", "secret", "NaN", "Infinity", -1):
        with pytest.raises(UnknownLevel, match=r"1, 4$") as raised:
            bundle.get_randomizer("counts", epsilon)
        assert "secret" not in str(raised.value)


def test_verify_computes_every_channel_and_its_certificate(tmp_path: Path) -> None:
    from textveil_export.label import make_certificate

    plain = open_bundle(write_index(tmp_path / "plain"), LabelBundle)
    assert "3 levels of 2 randomizers" in verify_labels(plain)
    entries = make_certificate(plain.randomizers)
    told = open_bundle(write_index(tmp_path / "told", manifest=set_in("certificate", value=entries)), LabelBundle)
    assert "the certificate matches the randomizers" in verify_labels(told)
    for number, wrong in enumerate((entries[:-1], [{**entries[0], "budget": 1}, *entries[1:]], "x", [3])):
        folder = write_index(tmp_path / str(number), manifest=set_in("certificate", value=wrong))
        with pytest.raises(BundleDamaged, match="certificate"):
            verify_labels(open_bundle(folder, LabelBundle))


def test_labels_that_are_no_probabilities_are_refused_by_the_server(tmp_path: Path) -> None:
    from textveil_cli.aggregation import LabelServer

    for number, table in enumerate((np.zeros((2, 3), np.float32), np.full((3, 3), -1, np.float32))):
        folder = write_index(
            tmp_path / str(number),
            files=lambda files, table=table: files.update(
                {"label-probabilities.safetensors": save({"counts.4": table})}
            ),
        )
        with pytest.raises(BundleDamaged, match="is not a table of label probabilities"):
            LabelServer.load(folder)
