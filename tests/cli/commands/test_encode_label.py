"""``textveil encode``, ``info`` and ``verify`` work with a bundle of class labels."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from small_encoders import pinned
from small_label_bundle import LABELS, SENTENCES, sentences_of, write_index
from textveil.errors import OptionError

SECRET = "Zorblaxia 48213977"


def test_the_whole_statement_and_json(run: Callable, index_bundle: Path) -> None:
    code, out, err = run(
        "encode", "-b", index_bundle, "--statement", "-e", "1", "--randomizer", "accuracy", "--text", SECRET
    )
    assert code == 0
    assert out.endswith("\t1\taccuracy\n")
    assert "Not protected:" in err
    assert "Zorblax" not in err
    code, out, _ = run("encode", "-b", index_bundle, "--json", "--text", "goal")
    found = json.loads(out)
    assert found["statement"]["epsilon_text"] == 4
    assert found["line"].startswith(str(found["label_id"]))


HEADING = "# one of 6 public sentences, not the author's words"


@pytest.fixture
def speaking(tmp_path: Path) -> Path:
    """Return a bundle with sentences."""
    return write_index(tmp_path / "speaking", files=sentences_of())


def test_a_sentence_in_the_place_of_the_index(run: Callable, speaking: Path, tmp_path: Path) -> None:
    (tmp_path / "in.txt").write_text(f"goal\n\n{SECRET}\n" + "goal " * 40 + "\n", "utf-8")
    code, out, err = run("encode", "-b", speaking, "--as-text", tmp_path / "in.txt", "-o", tmp_path / "out.txt")
    assert (code, out) == (0, "")
    assert (
        "4 documents; one of 6 public sentences, not the author's words (randomizer counts): epsilon 4 per text" in err
    )
    heading, *lines = (tmp_path / "out.txt").read_text("utf-8").splitlines()
    assert heading == HEADING
    assert len(lines) == 4
    released = [line.split("\t")[0] for line in lines]
    assert set(released) <= set(SENTENCES)
    wanted = [LABELS[SENTENCES.index(sentence) // 2] for sentence in released]
    code, out, _ = run("classify", "-b", speaking, tmp_path / "out.txt")
    assert (code, [row.split("\t")[0] for row in out.splitlines()]) == (0, wanted)
    code, out, _ = run("classify", "-b", speaking, tmp_path / "out.txt", "--counts", "--json")
    assert (code, len(out.splitlines())) == (0, 3)
    (tmp_path / "bad.txt").write_text(f"{HEADING}\n{SECRET}\n", "utf-8")
    code, out, err = run("classify", "-b", speaking, tmp_path / "bad.txt")
    assert (code, out, err) == (
        1,
        "",
        "textveil: release: line 2: is not a released class label (textveil encode writes them)\n",
    )


def test_sentences_of_tables_and_json(run: Callable, speaking: Path, tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text("id,note\n1,goal\n2,\n3,market\n", "utf-8")
    code, out, _ = run("encode", "-b", speaking, "--as-text", "--csv", "--column", "note", tmp_path / "in.csv")
    assert (code, out.splitlines()[0], len(out.splitlines())) == (0, HEADING, 4)
    code, out, _ = run("encode", "-b", speaking, "--as-text", "--json", "--text", "")
    found = json.loads(out)
    assert found["sentence"] in SENTENCES[2 * found["label_id"] : 2 * found["label_id"] + 2]
    assert found["statement"]["sentence_description"] == HEADING.removeprefix("# ")
    code, out, _ = run("encode", "-b", speaking, "--text", "goal")
    assert out.split("\t")[0] in ("0", "1", "2")


def test_what_has_no_sentences_prints_none(
    run: Callable, index_bundle: Path, tiny_encoder: Path, speaking: Path
) -> None:
    for bundle, message in ((("-b", index_bundle), "has no sentences"), (pinned(tiny_encoder), "--as-text")):
        code, out, err = run("encode", *bundle, "--as-text", "--text", SECRET)
        assert (code, out, err.count("\n")) == (1, "", 1)
        assert message in err
        assert "Zorblax" not in err
    assert "sentences     6, 2 per class label" in run("info", speaking)[1]
    assert "sentences" not in run("info", index_bundle)[1]
    assert json.loads(run("info", speaking, "--json")[1])["sentences"][0] == list(SENTENCES[:2])


def test_info_and_verify(run: Callable, index_bundle: Path) -> None:
    code, out, _ = run("info", "-b", index_bundle)
    assert code == 0
    assert "a text becomes one of 3 class labels" in out
    assert len([row for row in out.splitlines() if row.startswith(("counts", "accuracy"))]) == 3
    code, out, _ = run("info", "-b", index_bundle, "--json")
    assert [level["can_count"] for level in json.loads(out)["epsilons"]] == [True, True, False]
    assert run("verify", index_bundle)[0] == 0
    assert run("verify", index_bundle, "--audit-pairs", "3")[0] == 1


@pytest.mark.parametrize("wrong", [("--word-dropout", "0.1"), ("-e", "9"), ("--expect-id", "0" * 64)])
def test_options_that_do_not_fit_are_errors(run: Callable, index_bundle: Path, wrong: tuple[str, str]) -> None:
    code, out, err = run("encode", "-b", index_bundle, "--text", "goal", *wrong)
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert "Zorblax" not in err


def test_counts_and_channels_are_for_indices(run: Callable, tiny_encoder: Path) -> None:
    for arguments in (
        ("encode", *pinned(tiny_encoder), "--randomizer", "counts", "--text", "x"),
        ("classify", "-b", tiny_encoder, "--counts"),
    ):
        code, _, err = run(*arguments)
        assert code == 1
        assert OptionError.code in err
