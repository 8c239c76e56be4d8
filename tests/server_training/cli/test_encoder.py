"""``textveil-train encoder`` turns a file into a bundle that devices and servers open."""

import base64
import json
from collections.abc import Callable
from csv import DictReader
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from overridden import overridden
from textveil.bundle import StaticExtractorData
from textveil.vector import TextLabelEncoder
from textveil.verify import verify_labels
from textveil_cli.aggregation import LabelServer
from textveil_training.data import LabeledExample, read_table
from textveil_training.data.skipped_rows import SkippedRows
from textveil_training.encoder.class_bundle import EncoderBundleSettings, compute_figures, fit_randomizers
from textveil_training.encoder.extractors import TrainedExtractor
from textveil_training.encoder.labeled_texts import split_labeled_texts
from textveil_training.encoder.word_embeddings import PUBLIC_NUMBERS, load_public_words
from textveil_training.errors import InvalidUtf8
from textveil_training.label_randomizers import compute_recalls

Run = Callable[..., tuple[int, str, str]]
SECRET = "Zorblaxia"
WORDS = {"Sport": "goal match team player", "Märkte": "bank market price stock"}


def csv(rows: int = 90) -> str:
    generator = np.random.default_rng(0)
    lines = ["id,text,topic"]
    for number in range(rows):
        label = ("Sport", "Märkte")[number % 2]
        words = (
            generator.choice(WORDS[label].split(), 4).tolist() + generator.choice("the of a in on".split(), 3).tolist()
        )
        lines.append(f'{number},"{" ".join(generator.permutation(words))}, {number} {SECRET}",{label}')
    return "\n".join(lines) + "\n"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a bundle that the command made, beside its source file."""
    from textveil_cli import console
    from textveil_training import cli

    folder = tmp_path_factory.mktemp("encoder")
    (folder / "my.csv").write_text(csv(), "utf-8")
    arguments = ["encoder", str(folder / "my.csv"), "--text", "text", "--label", "topic", "-o", str(folder / "bundle")]
    assert console.run(cli.app, "textveil-train", [*arguments, "--threads", "1", "--levels", "1,4"]) == 0
    return folder / "bundle"


@pytest.mark.slow
def test_the_bundle_decides_and_keeps_the_names_of_labels(made: Path) -> None:
    encoder = TextLabelEncoder.load(made)
    assert encoder.bundle.labels == ("Märkte", "Sport")
    assert encoder.compute_true_label("the player of the match") == 1
    assert encoder.compute_true_label("the price of stock") == 0
    assert list(encoder.bundle.randomizers) == ["counts", "accuracy"]
    assert "the certificate matches the randomizers" in verify_labels(encoder.bundle)
    server = LabelServer.load(made)
    decision = server.classify_label(server.parse_line(encoder.encode("goal").line, 1))
    assert decision.scores[decision.label] > 0.5


def test_the_bundle_has_the_decisions_on_the_texts_that_were_not_trained_on(made: Path) -> None:
    bundle = TextLabelEncoder.load(made).bundle
    held_out, measured = bundle.held_out, bundle.manifest["measurements"]
    assert held_out is not None
    assert held_out.labels == bundle.labels
    assert held_out.text_count == measured["texts"]["calibration"] + measured["texts"]["test"]
    rows = [LabeledExample(texts=(row["text"],), label=row["topic"]) for row in DictReader(StringIO(csv()))]
    task, encoder = split_labeled_texts(rows), TextLabelEncoder.load(made)
    wanted = np.zeros((2, 2), dtype=int)
    for part in (task.calibration, task.test):
        assert not set(part.texts) & set(task.train.texts)
        for text, label in zip(part.texts, part.classes, strict=True):
            wanted[label, encoder.compute_true_label(text)] += 1
    assert held_out.decisions.tolist() == wanted.tolist()


@pytest.mark.slow
def test_bad_rows_are_errors_counted_or_in_the_quarantine(
    run: Run, refused: Callable[..., str], tmp_path: Path
) -> None:
    empty = f"900,,Sport\n901,{SECRET},\n902, ,nan\n"
    (tmp_path / "my.csv").write_text(csv() + empty, "utf-8")
    (tmp_path / "worse.csv").write_text(csv() + empty + f"903,{SECRET}\n", "utf-8")
    given = ("--text", "text", "--label", "topic", "--levels", "4", "--threads", "1", "-o", tmp_path / "bundle")
    said = refused("encoder", tmp_path / "my.csv", *given)
    assert said == "data-text: my.csv, line 92: the text is missing (--skip-empty skips such rows)\n"
    code, _, err = run("encoder", tmp_path / "my.csv", *given, "--skip-empty")
    assert code == 0
    assert "textveil-train: 3 rows skipped (2: the text is missing, 1: the label is missing)\n" in err
    code, _, err = run("encoder", tmp_path / "worse.csv", *given, "--skip-empty", "--force")
    assert (code, "line 95: the row has 2 columns instead of 3" in err) == (1, True)
    (tmp_path / "latin.csv").write_bytes(csv().encode() + b"900,\xe9t\xe9,Sport\n")
    code, _, err = run("encoder", tmp_path / "latin.csv", *given, "--skip-empty", "--force")
    assert (code, "of the file: save it as UTF-8 (--rejected-rows FILE skips rejected rows)\n" in err) == (1, True)
    kept = tmp_path / "kept.jsonl"
    code, out, err = run("encoder", tmp_path / "worse.csv", *given, "--rejected-rows", kept, "--force", "--json")
    assert (code, SECRET in err) == (0, False)
    assert sum(json.loads(out)["left_out"].values()) == 4
    rows = [json.loads(line) for line in kept.read_text("utf-8").splitlines()]
    assert [row["line"] for row in rows] == [92, 93, 94, 95]
    place = {"file": "worse.csv", "row": 92, "line": 93}
    assert rows[1] == {**place, "reason": "the label is missing", "raw": f"901,{SECRET},"}
    assert kept.stat().st_mode & 0o777 == 0o600
    assert run("encoder", tmp_path / "my.csv", *given, "--rejected-rows", kept, "--force")[0] == 1


def test_bad_lines_of_json_are_left_out_too(tmp_path: Path) -> None:
    path = tmp_path / "my.jsonl"
    path.write_text('{"a": "x", "b": "y"}\n[]\n{"a": 1, "b": "y"}\nnot json\n{"a": "z", "b": 2}\n', "utf-8")
    skipped = SkippedRows(empty_alone=False)
    assert [row.label for row in read_table(path, "a", "b", skipped=skipped)] == ["y", "2"]
    assert str(skipped) == "3 rows skipped (2: the line is not a JSON object, 1: the text must be a string)"


@pytest.mark.parametrize(
    ("name", "content", "rows"),
    [
        ("my.csv", b'a,b,c\nx,y,1\nx,"\xff\n2",1\nx,y,\xfe\nz,2,1\n', {2: b'x,"\xff\n2",1', 3: b"x,y,\xfe"}),
        ("my.tsv", b"a\tb\nx\ty\n\xffx\ty\r\nx\nz\t2\n", {2: b"\xffx\ty", 3: b"x"}),
        (
            "my.jsonl",
            b'{"a": "x", "b": "y"}\n{"a": "\xff", "b": "y"}\n{"a": "z", "b": 2}\n',
            {2: b'{"a": "\xff", "b": "y"}'},
        ),
    ],
)
def test_rows_that_are_not_utf_8_go_to_the_quarantine(
    tmp_path: Path, name: str, content: bytes, rows: dict[int, bytes]
) -> None:
    (tmp_path / name).write_bytes(content)
    skipped = SkippedRows(tmp_path / "kept.jsonl", empty_alone=False)
    assert [row.label for row in read_table(tmp_path / name, "a", "b", skipped=skipped)] == ["y", "2"]
    assert skipped.reasons["not UTF-8"] == sum(b"\xff" in row or b"\xfe" in row for row in rows.values())
    skipped.write_rejected_rows()
    kept = [json.loads(line) for line in (tmp_path / "kept.jsonl").read_text("utf-8").splitlines()]
    raw = [row["raw"].encode() if "raw" in row else base64.b64decode(row["raw_base64"]) for row in kept]
    assert dict(zip([row["row"] for row in kept], raw, strict=True)) == rows
    for skip in (None, SkippedRows()):
        with pytest.raises(InvalidUtf8, match=r"^.*: not UTF-8 at byte \d+ of the file: save it as UTF-8$"):
            list(read_table(tmp_path / name, "a", "b", skipped=skip))


def test_a_header_that_is_not_utf_8_stays_an_error(tmp_path: Path) -> None:
    (tmp_path / "my.csv").write_bytes(b"a,b,\xff\nx,y,1\n")
    with pytest.raises(InvalidUtf8, match=r"line 1: the header is not UTF-8: save the file as UTF-8$"):
        list(read_table(tmp_path / "my.csv", "a", "b", skipped=SkippedRows(empty_alone=False)))


def test_sentences_are_given_by_label(run: Run, tmp_path: Path) -> None:
    (tmp_path / "my.csv").write_text(csv(), "utf-8")
    given = ("encoder", tmp_path / "my.csv", "--text", "text", "--label", "topic", "-o", tmp_path / "bundle")
    (tmp_path / "said.tsv").write_text("Sport\tThey won.\nMärkte\tPrices rose.\n", "utf-8")
    assert run(*given, "--threads", "1", "--sentences", tmp_path / "said.tsv")[0] == 0
    bundle = TextLabelEncoder.load(tmp_path / "bundle").bundle
    assert bundle.sentences == (("Prices rose.",), ("They won.",))
    assert bundle.manifest["provenance"]["sentences"] == "said.tsv"
    code, _, err = run(*given, "--force", "--sentences", tmp_path / "nowhere.tsv")
    assert (code, err.count("\n")) == (2, 1)


def test_nothing_of_the_texts_is_in_the_bundle(made: Path) -> None:
    for path in made.iterdir():
        assert SECRET.encode() not in path.read_bytes()
        assert SECRET.lower().encode() not in path.read_bytes()
    assert sum(path.stat().st_size for path in made.iterdir()) < 4_000_000


def test_the_card_has_the_figures_and_the_warning(made: Path) -> None:
    card = " ".join((made / "README.md").read_text("utf-8").split())
    assert "The bundle is not private toward the texts it was trained on." in card
    measured = json.loads((made / "manifest.json").read_text("utf-8"))["measurements"]
    assert sum(measured["texts"].values()) == 90
    assert f"{measured['texts']['train']} texts of `my.csv` for training" in card
    accuracy = measured["randomizers"]["counts"]["4"]["accuracy"]
    assert f"| counts | 4 | {100 * accuracy:.2f} % |" in card
    assert "| Märkte |" in card


@pytest.mark.slow
def test_rows_of_rare_words_stay_public(made: Path) -> None:
    """Words of one training text, or of none, have their rows of the public list, through one map, up to int8."""
    parts = TextLabelEncoder.load(made).bundle.extractor
    assert isinstance(parts, StaticExtractorData)
    public, content = load_public_words(PUBLIC_NUMBERS).rows.astype(float), csv()
    untouched = [row for word, row in parts.words.items() if word not in content]
    assert len(untouched) > 15_000
    rows = parts.word_rows.astype(float)
    within = np.abs(rows).max(axis=1) < 127  # others are cut off
    inside = [row for row in untouched if within[row]]
    one_map = np.linalg.lstsq(public[inside], rows[inside], rcond=None)[0]
    assert np.abs(public[inside] @ one_map - rows[inside]).max() < 1
    assert np.abs(public[parts.words["goal"]] @ one_map - rows[parts.words["goal"]]).max() > 1


def test_figures_are_expectations_over_the_draw() -> None:
    task = split_labeled_texts(
        [LabeledExample(texts=(f"text {label} number {n}",), label=label) for label in ("a", "b") for n in range(60)]
    )
    confusion = np.array([[6.0, 2.0], [1.0, 3.0]])
    channels = fit_randomizers(confusion, ("1", "4"), lambda *_: None)
    measured = compute_figures(task, confusion, channels, "a file")
    for name, levels in channels.items():
        for staircase in levels:
            found = measured["randomizers"][name][f"{staircase.level.epsilon:f}"]
            by_hand = sum(
                confusion[k, x] / confusion.sum() * staircase.probability_matrix[x, k]
                for k in range(2)
                for x in range(2)
            )
            assert found["accuracy"] == pytest.approx(by_hand, abs=1e-6)
            assert found["balanced_accuracy"] == pytest.approx(
                compute_recalls(confusion, staircase.probability_matrix).mean(), abs=1e-6
            )
    assert measured["clean"]["accuracy"] == 0.75
    assert measured["clean"]["standard_error"] == pytest.approx((0.75 * 0.25 / 12) ** 0.5, abs=1e-6)
    assert measured["majority"] == pytest.approx(2 / 3, abs=1e-6)


def test_codes_are_those_of_the_device(made: Path) -> None:
    encoder = TextLabelEncoder.load(made)
    bundle, texts = encoder.bundle, ("", "goal " * 9, f"{SECRET} bank 5")
    assert isinstance(bundle.extractor, StaticExtractorData)
    trained = TrainedExtractor(parts=bundle.extractor, weight=bundle.weight, bias=bundle.bias, provenance={})
    codes = trained.compute_labels(texts, lambda *_: None)
    assert codes.tolist() == [encoder.compute_true_label(text) for text in texts]


@pytest.mark.parametrize(
    ("content", "arguments", "message"),
    [
        ("text,topic\na,b\n", (), "classes: the column has 1 different labels"),
        (csv(), ("--label", SECRET), "data-column: my.csv, line 1: no column"),
        (csv(), ("--levels", "1,2"), "option: the default level must be one of the levels"),
        (csv(), ("--levels", "4,1"), "setting: levels"),
        (csv(), ("--levels", "4,99"), "setting: levels"),
        (csv(), ("--levels", f"4,{SECRET}"), "setting: levels"),
        (csv(), ("--test", "nowhere.csv"), "data-file: "),
    ],
)
def test_what_is_wrong_is_one_line_and_leaves_nothing(
    refused: Callable[..., str], tmp_path: Path, content: str, arguments: tuple[str, ...], message: str
) -> None:
    (tmp_path / "my.csv").write_text(content, "utf-8")
    given = ("encoder", tmp_path / "my.csv", "--text", "text", "-o", tmp_path / "bundle", "--label", "topic")
    said = refused(*overridden(given, arguments))
    assert message in said
    assert SECRET not in said
    assert [path.name for path in tmp_path.iterdir()] == ["my.csv"]


def test_a_bundle_that_is_there_stays(run: Run, made: Path) -> None:
    before = (made / "manifest.json").read_bytes()
    code, _, err = run("encoder", made.parent / "my.csv", "--text", "text", "--label", "topic", "-o", made)
    assert (code, "use --force" in err) == (1, True)
    assert (made / "manifest.json").read_bytes() == before


def test_a_default_that_is_no_level_is_never_built() -> None:
    assert (
        EncoderBundleSettings(name="a", data="b", data_sha256="c").default[1]
        in EncoderBundleSettings(name="a", data="b", data_sha256="c").levels
    )
