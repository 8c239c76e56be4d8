"""The exporter turns a source into a bundle on disk: levels, sizes, atomic writing, the card, the command."""

import json
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest
from overridden import overridden
from textveil import Sanitizer
from textveil.bundle import TextBundle, open_bundle
from textveil.errors import BundleDamaged, BundleTooLarge
from textveil.mechanisms.baselines import SanText
from textveil_cli.console import run
from textveil_export import cli
from textveil_export.errors import ExportError, WriteError
from textveil_export.text import level_weights, write
from textveil_export.text.build import TextBundleRecipe, build_text_bundle
from textveil_export.text.calibration import DEFAULT_SHARES
from textveil_export.text.level_weights import LevelSetting
from textveil_export.text.word_roles import WordPolicy
from textveil_export.text.word_vectors import WordVectors
from textveil_export.text.write import write_bundle

POLICY = WordPolicy(share=0.9, sensitive=frozenset(), allow=frozenset(), never_output=frozenset())


def words(count):
    letters = "abcdefghijklmnopqrstuvwxyz"
    return [letters[i // 676] + letters[i // 26 % 26] + letters[i % 26] for i in range(count)]


@pytest.fixture(scope="module")
def source():
    vectors = np.random.default_rng(0).standard_normal((800, 40)).astype(np.float32)
    return WordVectors(words=words(800), vectors=vectors, provenance={"vectors": "made up"})


@pytest.fixture(scope="module")
def contents(source):
    return build_text_bundle(source, TextBundleRecipe(name="made up", policy=POLICY, k=16))


def median_unchanged(bundle, exponent):
    """Median over SanText+'s outputs of the probability to stay unchanged, from the integers of an exponent."""
    largest_score = len(bundle.santext_levels[0].parameters["santext+"].weights) - 1
    law = level_weights.make_level_parameters(bundle.table, LevelSetting(exponent), largest_score)
    channel = SanText.from_table(bundle.table, bundle.metric, "santext+", law).randomizer
    words = channel.output_ids
    return float(np.median(channel.compute_rows(words)[np.arange(len(words)), words]))


@pytest.mark.slow
def test_the_default_levels_meet_their_shares(source, tmp_path):
    bundle = write_bundle(
        build_text_bundle(source, TextBundleRecipe(name="made up", policy=POLICY, k=16)), tmp_path / "bundle"
    )
    assert len(bundle.santext_levels) == len(DEFAULT_SHARES)
    for level, share in zip(bundle.santext_levels, DEFAULT_SHARES, strict=True):
        exponent = level.parameters["santext+"].exponent
        assert exponent * 4 == int(exponent * 4)
        nearby = [median_unchanged(bundle, exponent + change) for change in (Decimal("-0.25"), Decimal("0.25"))]
        assert nearby[0] < share < nearby[1]


def test_levels_that_a_small_vocabulary_cannot_tell_apart():
    source = WordVectors(words=["a", "b", "c"], vectors=np.eye(3, dtype=np.float32), provenance={})
    with pytest.raises(ExportError, match="set levels with --exponent"):
        build_text_bundle(source, TextBundleRecipe(name="tiny", policy=POLICY, k=2))


def test_an_exponent_too_large_for_integers_is_refused(source):
    with pytest.raises(ExportError, match="too large for this vocabulary: the largest that fits is"):
        build_text_bundle(source, TextBundleRecipe(name="made up", policy=POLICY, k=16, levels={"1000": Decimal(500)}))


def test_the_default_level_must_be_a_level(source):
    with pytest.raises(ExportError, match="default level is not one of the levels: correct --default-epsilon"):
        build_text_bundle(
            source, TextBundleRecipe(name="made up", policy=POLICY, k=16, levels={"10": Decimal(5)}, default_level="5")
        )


@pytest.mark.slow
def test_bundles_are_reproducible(source, contents, tmp_path):
    first = write_bundle(contents, tmp_path / "first")
    second = write_bundle(
        build_text_bundle(source, TextBundleRecipe(name="made up", policy=POLICY, k=16)), tmp_path / "second"
    )
    assert first.content_hash == second.content_hash
    for path in first.path.iterdir():
        assert path.read_bytes() == (second.path / path.name).read_bytes()


def test_an_existing_folder_is_not_overwritten_unasked(contents, tmp_path):
    target = tmp_path / "bundle"
    write_bundle(contents, target)
    with pytest.raises(WriteError, match="--force"):
        write_bundle(contents, target)
    (target / "extra").write_text("old")
    write_bundle(contents, target, force=True)
    assert not (target / "extra").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["bundle"]


def test_force_replaces_bundles_only(contents, tmp_path):
    target = tmp_path / "home"
    target.mkdir()
    (target / "thesis.txt").write_text("precious")
    with pytest.raises(WriteError, match="not a bundle"):
        write_bundle(contents, target, force=True)
    assert (target / "thesis.txt").read_text() == "precious"


def test_a_bundle_that_the_reader_refuses_is_not_published(contents, tmp_path):
    broken = {**contents.tensors["table.safetensors"]}
    broken["scores"] = broken["scores"][:, ::-1].copy()
    with pytest.raises(BundleDamaged):
        write_bundle(replace(contents, tensors={**contents.tensors, "table.safetensors": broken}), tmp_path / "bundle")
    assert list(tmp_path.iterdir()) == []


def test_a_missing_parent_folder_is_a_write_error(contents, tmp_path):
    with pytest.raises(WriteError, match="its folder does not exist"):
        write_bundle(contents, tmp_path / "missing" / "bundle")


def test_a_bundle_beyond_the_cap_is_written_and_opened_only_by_whoever_asks(contents, tmp_path, monkeypatch):
    opened = []

    def remembered(path, *wanted, max_bytes=10):
        opened.append(max_bytes)
        return open_bundle(path, *wanted, max_bytes=max_bytes)

    monkeypatch.setattr(write, "open_bundle", remembered)
    monkeypatch.setattr(write, "MAX_BUNDLE_BYTES", 10)
    bundle = write_bundle(contents, tmp_path / "b")
    size = sum(file.stat().st_size for file in bundle.path.iterdir())
    assert opened == [size, size]
    with pytest.raises(BundleTooLarge):
        open_bundle(bundle.path, TextBundle, max_bytes=10)


class TestCommand:
    """``textveil-export table`` from the outside."""

    @pytest.fixture
    def vectors(self, source, tmp_path):
        path = tmp_path / "vectors.txt"
        lines = [f"{w} {' '.join(map(str, v))}" for w, v in zip(source.words[:150], source.vectors[:150], strict=True)]
        path.write_text("\n".join(lines) + "\n")
        return path

    @pytest.mark.slow
    def test_the_command_builds_a_bundle_from_a_file_of_vectors(self, vectors, tmp_path, capsys):
        target = tmp_path / "bundle"
        lists = tmp_path / "list.txt"
        lists.write_text("aaa\n")
        arguments = ["table", "--vectors", str(vectors), "-o", str(target), "--lists", "none", "-k", "8"]
        arguments += ["--exponent", "3", "--exponent", "9.5", "--default-epsilon", "19.0", "--deny", str(lists)]
        assert run(cli.app, "textveil-export", arguments) == 0
        bundle = Sanitizer.load(target).bundle
        assert bundle.content_hash in capsys.readouterr().out
        assert [(level.name, level.parameters["santext"].exponent) for level in bundle.santext_levels] == [
            ("6", Decimal(3)),
            ("19", Decimal("9.5")),
        ]
        assert bundle.default_level == "19"
        assert bundle.table.roles[bundle.symbol_ids["aaa"]] & 4 == 0
        assert json.loads((target / "manifest.json").read_text())["provenance"]["vectors"] == "vectors.txt"

    @pytest.mark.slow
    def test_the_command_builds_a_bundle_from_an_encoder(self, encoder_folder, tmp_path):
        words_file = tmp_path / "words.txt"
        words_file.write_text("the\nof\ndoctor\nnurse\nhospital\nclean\nboston\n")
        for vocabulary in (str(words_file),):
            target = tmp_path / f"bundle{len(vocabulary)}"
            arguments = ["table", "--encoder", str(encoder_folder), "--vocabulary", vocabulary, "-o", str(target)]
            arguments += ["-k", "3", "--exponent", "4", "--lists", "none", "--mechanisms", "santext"]
            assert run(cli.app, "textveil-export", arguments) == 0
            sanitizer = Sanitizer.load(target)
            assert sanitizer.sanitize("The doctor in Boston.").tokens > 0

    @pytest.mark.slow
    @pytest.mark.parametrize(
        ("options", "message"),
        [
            (["--exponent", "x"], "must be above 0"),
            (["--exponent", "-1"], "must be above 0"),
            (["--exponent", "3", "--exponent", "2"], "must ascend"),
            (["--exponent", "3", "--default-epsilon", "5"], "default level"),
            (["--vocabulary", "words.txt"], "--vectors replaces"),
            (["--lists", "french"], "--lists"),
            (["--share", "2"], "share"),
            (["-k", "1501"], "k must be between"),
            (["--deny", "missing"], "cannot be read"),
        ],
    )
    def test_wrong_options_are_refused(self, vectors, tmp_path, capsys, options, message):
        arguments = ["table", "--vectors", str(vectors), "-o", str(tmp_path / "bundle"), "--lists", "none"]
        assert run(cli.app, "textveil-export", overridden(arguments, options)) == 1
        captured = capsys.readouterr()
        assert message in captured.err
        assert captured.err.count("\n") == 1
        assert not (tmp_path / "bundle").exists()
