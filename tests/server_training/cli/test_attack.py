"""``textveil-train attack attributes`` works on the command line, with a tiny encoder."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from textveil_training.attacks.vectors.released import read_released_vectors
from textveil_training.errors import DataError, InvalidJson, WrongColumnCount

Write = Callable[..., Path]
Refuses = Callable[..., DataError]
Run = Callable[..., tuple[int, str, str]]
Refused = Callable[..., str]

ATTACK = "attack attributes rows.txt --format ag-entities --num-epochs 1 --draws 1 --threads 1".split()


@pytest.mark.slow
def test_a_private_checkpoint_is_attacked_at_its_levels(trained: Path, run: Run) -> None:
    code, out, err = run(*ATTACK, "--checkpoint", "l1", "--features", "clean")
    assert (code, err) == (0, "")
    lines = [line.split() for line in out.splitlines()]
    assert lines[0][:3] == ["epsilon", "attacker", "sees"]
    assert [line[:2] for line in lines[1:]] == [
        *[["1", "vectors"], ["1", "label,"], ["1", "label,"]],
        *[["8", "vectors"], ["8", "label,"], ["8", "label,"]],
        ["-", "nothing"],
    ]
    code, out, err = run(*ATTACK, "--checkpoint", "l1", "-e", "2.5", "--json")
    assert (code, err, list(json.loads(out)["levels"])) == (0, "", ["2.5"])
    assert 0 <= json.loads(out)["levels"]["2.5"]["vectors"]["auc"] <= 1


def test_a_checkpoint_without_privacy_is_attacked_as_it_is(trained: Path, run: Run) -> None:
    code, out, err = run(*ATTACK, "--checkpoint", "clean", "--features", "clean", "--json")
    assert (code, err, list(json.loads(out)["levels"])) == (0, "", ["none"])


def released(vector: object = (0.5, -1.25), epsilon: object = 4.0) -> str:
    return json.dumps({"vector": vector, "integers": [1, 2], "statement": {"epsilon_text": epsilon}}) + "\n"


def test_vectors_that_were_received_are_attacked(trained: Path, run: Run, refused: Refused) -> None:
    folder = trained / "sent"
    folder.mkdir()
    for name, size in (("train", 16), ("dev", 8), ("test", 8)):
        (folder / f"{name}.jsonl").write_text("".join(released([number / 7, 1.0]) for number in range(size)))
    code, out, err = run(*ATTACK, "--released", "sent", "--json")
    assert (code, err, list(json.loads(out)["levels"])) == (0, "", ["4"])
    (folder / "dev.jsonl").write_text(released(epsilon=8.0) * 8)
    assert refused(*ATTACK, "--released", "sent").startswith("data-json: ")


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("{}\n", InvalidJson),
        ("quokkasecret\n", InvalidJson),
        ("[1]\n", InvalidJson),
        (released([]), InvalidJson),
        (released(["quokkasecret"]), InvalidJson),
        (released([True, 1.0]), InvalidJson),
        (released([float("nan"), 1.0]), InvalidJson),
        (released(epsilon=0), InvalidJson),
        (released(epsilon="4"), InvalidJson),
        (released([1.0]), InvalidJson),
        (released(epsilon=2.0), InvalidJson),
        ("[" * 100_000 + "\n", InvalidJson),
    ],
)
def test_lines_that_are_no_released_vectors(write: Write, refuses: Refuses, line: str, kind: type[DataError]) -> None:
    path = write(released() + line)
    refuses(kind, (read_released_vectors(path, 2) for _ in range(1)), 2)


def test_a_vector_for_every_text(write: Write) -> None:
    path = write(released() * 3)
    vectors, epsilon = read_released_vectors(path, 3)
    assert (vectors.tolist(), epsilon) == ([[0.5, -1.25]] * 3, 4.0)
    with pytest.raises(
        WrongColumnCount, match=r"the number of released vectors \(3\) differs from the number of texts \(2\)"
    ):
        read_released_vectors(path, 2)


@pytest.mark.parametrize("arguments", [(), ("--checkpoint", "l1", "--released", "sent")])
def test_one_source_of_vectors(trained: Path, refused: Refused, arguments: tuple[str, ...]) -> None:
    assert refused(*ATTACK, *arguments).startswith("recipe: ")


def test_attributes_that_are_nowhere_cannot_be_inferred(trained: Path, refused: Refused) -> None:
    text = (trained / "rows.txt").read_text()
    (trained / "lacking.txt").write_text(text.replace("\t4\n", "\t3\n"))
    assert "for each attribute" in refused("attack", "attributes", "lacking.txt", *ATTACK[3:], "--checkpoint", "l1")
