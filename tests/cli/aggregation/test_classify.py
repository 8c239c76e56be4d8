"""``textveil classify`` prints labels of released class labels, and counts with their errors."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from small_label_bundle import LABELS, held_out_of, released_line, write_index
from textveil_cli.aggregation import LabelServer

SECRET = "Zorblaxia 48213977"


def test_from_texts_to_labels_and_counts(run: Callable, index_bundle: Path, tmp_path: Path) -> None:
    texts, released = tmp_path / "texts.txt", tmp_path / "released.txt"
    texts.write_text(f"the market\n\n{SECRET}\n" + "goal " * 40 + "\n", "utf-8")
    code, out, err = run("encode", "-b", index_bundle, texts, "-o", released)
    assert (code, out) == (0, "")
    assert "4 documents; one of 3 labels (randomizer counts): epsilon 4 per text, for any two texts; the odds" in err
    assert "private, for this device only: 1 truncated to the model's maximum length" in err
    lines = released.read_text().splitlines()
    assert len(lines) == 4
    assert all(len(one.encode()) <= 60 for one in lines)
    code, out, _ = run("classify", "-b", index_bundle, released)
    assert code == 0
    assert [row.split("\t")[0] for row in out.splitlines()] == [LABELS[int(one[0])] for one in lines]


def released_lines(tmp_path: Path, bundle: Path, *arrived: int, channel: str = "counts", epsilon: str = "4") -> Path:
    """Write a file in which the class label ``i`` occurs ``arrived[i]`` times."""
    server = LabelServer.load(bundle)
    rows = [released_line(server, index, epsilon, channel) for index, times in enumerate(arrived) for _ in range(times)]
    (tmp_path / "lines.txt").write_text("\n".join(rows) + "\n", "utf-8")
    return tmp_path / "lines.txt"


def test_counts_are_a_table_that_says_what_it_means(run: Callable, index_bundle: Path, tmp_path: Path) -> None:
    file = released_lines(tmp_path, index_bundle, 200, 500, 300)
    code, out, err = run("classify", "-b", index_bundle, file, "--counts")
    assert code == 0
    assert out.splitlines() == [
        "label     classified as     estimated texts",
        "business  193 (183 to 202)  207 (122 to 291)",
        "sport     509 (499 to 520)  473 (370 to 576)",
        "health    298 (288 to 308)  320 (221 to 420)",
    ]
    told = err.splitlines()
    assert told[0].startswith("textveil: 1,000 texts. In parentheses: plus and minus two standard errors")
    assert told[1].endswith("errors included; the interval covers the noise")
    assert told[2].endswith("covers the noise, the model's errors and the limited number of held-out texts (62)")
    assert len(told) == 3
    code, out, err = run("classify", "-b", index_bundle, file, "--counts", "--json")
    rows = [json.loads(row) for row in out.splitlines()]
    assert [row["label"] for row in rows] == list(LABELS)
    assert err == ""
    for kind, numbers in (("classified_as", [193, 509, 298]), ("estimated_texts", [207, 473, 320])):
        assert [round(row[kind]["count"]) for row in rows] == numbers
        assert sum(row[kind]["count"] for row in rows) == pytest.approx(1000)
        for row in rows:
            reach = 2 * row[kind]["standard_error"]
            assert row[kind]["interval"] == pytest.approx([row[kind]["count"] - reach, row[kind]["count"] + reach])


def test_what_cannot_be_counted_is_said_and_has_no_number(run: Callable, tmp_path: Path) -> None:
    """Reasons: no held-out texts; ranges wider than all texts; a channel with too little information."""
    bundle = write_index(tmp_path / "without", files=lambda files: files.pop("held-out.json"))
    code, out, err = run("classify", "-b", bundle, released_lines(tmp_path, bundle, 50, 50, 50), "--counts")
    assert (code, out.splitlines()[0]) == (0, "label     classified as")
    assert err.splitlines()[-1].startswith(
        "textveil: estimated texts: no estimate: the bundle has no decisions of its model on held-out texts"
    )
    code, out, _ = run("classify", "-b", bundle, tmp_path / "lines.txt", "--counts", "--json")
    assert [json.loads(row)["estimated_texts"] for row in out.splitlines()] == [None] * 3
    bundle = write_index(tmp_path / "bundle")
    file = released_lines(tmp_path, bundle, 1, 0, 0, epsilon="1")
    code, out, err = run("classify", "-b", bundle, file, "--counts")
    assert [row.split()[1:] for row in out.splitlines()[1:]] == [["-", "-"]] * 3
    for name in ("classified as", "estimated texts"):
        assert f"textveil: {name}: - marks an estimate whose interval exceeds 0 to 1: " in err
    file = released_lines(tmp_path, bundle, 5, 5, channel="accuracy", epsilon="1")
    code, out, err = run("classify", "-b", bundle, file, "--counts")
    assert (code, out, err.count("\n")) == (1, "", 1)
    assert "release: randomizer accuracy at epsilon 1 does not distinguish all class labels" in err


def test_codes_that_are_not_labels_have_a_table_of_their_own(run: Callable, tmp_path: Path) -> None:
    def manifest(told: dict[str, Any]) -> None:
        told["release"]["label_type"], told["labels"] = "cluster", ["0", "1", "2"]

    of_two = held_out_of(labels=["yes", "no"], texts=200, decisions=[[60, 30, 10], [5, 25, 70]])
    bundle = write_index(
        tmp_path / "bundle", manifest=manifest, files=lambda files: files.update({"held-out.json": of_two})
    )
    file = released_lines(tmp_path, bundle, 300, 300, 400)
    code, out, _ = run("classify", "-b", bundle, file, "--counts")
    codes, labels = (block.splitlines() for block in out.split("\n\n"))
    assert (code, codes[0], labels[0]) == (0, "cluster label  classified as", "label  estimated texts")
    assert [row.split()[0] for row in (*codes[1:], *labels[1:])] == ["0", "1", "2", "yes", "no"]
    rows = [json.loads(row) for row in run("classify", "-b", bundle, file, "--counts", "--json")[1].splitlines()]
    assert [next(iter(row)) for row in rows] == ["cluster_label"] * 3 + ["label"] * 2
    assert sum(row["estimated_texts"]["count"] for row in rows[3:]) == pytest.approx(1000)


def test_both_ends_name_the_bundle_alike(run: Callable, index_bundle: Path, tmp_path: Path) -> None:
    released = tmp_path / "released.txt"
    assert run("encode", "--bundle", index_bundle, "--text", "goal", "-o", released)[0] == 0
    assert run("classify", "--bundle", index_bundle, released)[0] == 0
    code, _, err = run("classify", "-b", index_bundle, released, released)
    assert (code, "too many arguments" in err) == (2, True)


def test_without_a_bundle_both_ends_take_the_default(run: Callable, tmp_path: Path) -> None:
    released = tmp_path / "released.txt"
    assert run("encode", "--text", "goal", "-o", released)[0] == 0
    assert run("classify", released)[1].split("\t")[0] in ("Business", "Sci/Tech", "Sports", "World")
