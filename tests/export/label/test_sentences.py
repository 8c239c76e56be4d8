"""Sentences for a finished bundle: by label for classes, the nearest for codes; the sampling stays the same."""

import json
from dataclasses import replace
from itertools import permutations
from pathlib import Path

import numpy as np
import pytest
import small_label_bundle
from small_label_bundle import MEASURED, SENTENCES, sentences_of
from textveil.bundle.layout import CLUSTER_LABELS
from textveil.errors import BundleDamaged
from textveil.vector import TextLabelEncoder, make_extractor
from textveil_cli import console
from textveil_export.cli.main import app
from textveil_export.errors import SourceError
from textveil_export.label import LabelBundleContents, add_sentences, read_label_contents, write_label_bundle

SECRET = "Zorblaxia 48213977"
OF_LABELS = "# of whom\nsport\tThey won.\nbusiness\tShares fell.\nhealth\tA café for doctors.\n"


@pytest.fixture
def plain(tmp_path: Path) -> LabelBundleContents:
    return replace(read_label_contents(small_label_bundle.write_index(tmp_path / "given")), measured=MEASURED)


def written(tmp_path: Path, content: str) -> Path:
    (tmp_path / "said.tsv").write_text(content, "utf-8")
    return tmp_path / "said.tsv"


def test_the_command_does_not_change_the_randomizers(plain: LabelBundleContents, tmp_path: Path) -> None:
    before, after = tmp_path / "before", tmp_path / "after"
    write_label_bundle(plain, before)
    arguments = ["sentences", str(before), str(written(tmp_path, OF_LABELS)), "--source", "ours", "-o", str(after)]
    assert console.run(app, "textveil-export", arguments) == 0
    found = TextLabelEncoder.load(after).bundle
    assert found.sentences == (("Shares fell.",), ("They won.",), ("A café for doctors.",))
    assert (after / "sentences.txt").read_text("utf-8") == "Shares fell.\nThey won.\nA café for doctors.\n"
    for path in before.iterdir():
        assert path.name in ("manifest.json", "README.md") or path.read_bytes() == (after / path.name).read_bytes()
    assert json.loads((after / "manifest.json").read_text("utf-8"))["provenance"]["sentences"] == "ours"
    card = " ".join((after / "README.md").read_text("utf-8").split())
    assert "prints one of 3 public sentences (`sentences.txt`) instead of a label" in card
    assert "None is a paraphrase" in card
    assert "- sentences: ours" in card
    assert read_label_contents(after).sentences == found.sentences
    assert "public sentences" not in (before / "README.md").read_text("utf-8")
    assert console.run(app, "textveil-export", arguments) == 1  # it is there


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (OF_LABELS + f"{SECRET}\tThey lost.\n", "sentence 4 must be"),
        (OF_LABELS + "They lost.\n", "sentence 4 must be"),
        (OF_LABELS + "sport\tThey lost.\n", "different numbers of sentences"),
        ("sport\tThey won.\n", "different numbers of sentences"),
    ],
)
def test_a_file_for_labels_that_is_wrong(
    plain: LabelBundleContents, tmp_path: Path, content: str, message: str
) -> None:
    with pytest.raises(SourceError, match=message) as raised:
        add_sentences(plain, written(tmp_path, content))
    assert SECRET not in str(raised.value)
    with pytest.raises(SourceError, match="cannot be read"):
        add_sentences(plain, tmp_path / "nowhere.tsv")


@pytest.mark.parametrize("sentence", ["x" * 501, "cafe\u0301", "They won."])
def test_a_sentence_that_is_wrong_is_not_written(plain: LabelBundleContents, tmp_path: Path, sentence: str) -> None:
    content = OF_LABELS.replace("Shares fell.", sentence)
    with pytest.raises(BundleDamaged, match=r"sentences\.txt"):
        write_label_bundle(add_sentences(plain, written(tmp_path, content)), tmp_path / "bundle")
    assert not (tmp_path / "bundle").exists()


def test_a_code_gets_the_sentence_that_is_nearest_to_its_center(plain: LabelBundleContents, tmp_path: Path) -> None:
    codes = replace(plain, kind=CLUSTER_LABELS)
    said = ["market goal", "goal", "the doctor , goal", "market", "doctor", "goal"]
    found = add_sentences(codes, written(tmp_path, "\n".join(said)))
    assert found.sentences == (("market",), ("goal",), ("doctor",))
    # Where two codes want one sentence, none is given twice: of all ways, the one with the largest sum of cosines.
    few = ["goal", "goal goal the", "market goal", "goal doctor"]
    scores = np.array(
        [codes.weight @ make_extractor(codes.extractor).extract_vector(one).vector + codes.bias for one in few]
    )
    cosines = scores / np.linalg.norm(scores, axis=1, keepdims=True)
    best = max(permutations(range(4), 3), key=lambda chosen: cosines[chosen, range(3)].sum())
    given = add_sentences(codes, written(tmp_path, "\n".join(few))).sentences
    assert given == tuple((few[at],) for at in best)
    with pytest.raises(SourceError, match="the bundle has 3 clusters and the file 2 sentences"):
        add_sentences(codes, written(tmp_path, "goal\nmarket\ngoal\n"))


def test_sentences_stay_when_a_bundle_is_written_again(plain: LabelBundleContents, tmp_path: Path) -> None:
    folder = small_label_bundle.write_index(tmp_path / "two", files=sentences_of())
    written_again = write_label_bundle(replace(read_label_contents(folder), measured=MEASURED), tmp_path / "again")
    assert sum(written_again.bundle.sentences, ()) == SENTENCES
