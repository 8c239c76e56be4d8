"""``textveil-train attack attributes`` and ``grid`` on the command line, with a tiny encoder."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from overridden import overridden
from textveil_training.attacks.vectors.released import read_released
from textveil_training.dpnr.placement import Search
from textveil_training.cli.grid import named_mode
from textveil_training.dpnr import grid as dpnr_grid
from textveil_training.errors import DataError, InvalidJson, RecipeError, WrongColumnCount
from textveil_training.tasks import dpnr as train_module
from tiny_training import private_recipe, recipe_text, sentences, write_encoder

Write = Callable[..., Path]
Refuses = Callable[..., DataError]
Run = Callable[..., tuple[int, str, str]]

END = "=" * 20
ATTACK = (
    "attack",
    "attributes",
    "rows.txt",
    "--format",
    "ag-entities",
    "--num-epochs",
    1,
    "--draws",
    1,
    "--threads",
    1,
)
GRID = ("--data", "rows.txt", "--start", "clean", "--cache", "cache", "--threads", 1)


def rows() -> list[str]:
    """Sentences with labels and attributes in turn, so that every split has all of both and lacks each somewhere."""
    return [f"{number % 4}\t{text}\t{number % 5}" for number, (_, text, _) in enumerate(sentences())]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("place")
    splits = [*rows()[:16], END, *rows()[16:24], END, *rows()[24:], END]
    (folder / "rows.txt").write_text("\n".join(splits) + "\n")
    (folder / "clean.toml").write_text(recipe_text(source=str(write_encoder(folder)), num_epochs=1))
    head = {"tuned": "false", "num_epochs": 0, "placed_epochs": 1, "head_epochs": 1}
    (folder / "heads.toml").write_text(private_recipe(**head))
    return folder


@pytest.fixture(autouse=True)
def _here(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    quick = Search(restarts=0, steps=2, draws=16, fresh_draws=16)
    monkeypatch.chdir(place)
    monkeypatch.setattr(train_module, "SEARCH", quick)
    monkeypatch.setattr(dpnr_grid, "_BOUND_SEARCH", quick)
    monkeypatch.setattr(dpnr_grid, "_HEAD_SEARCH", quick)


@pytest.fixture
def trained(place: Path, run: Run) -> Path:
    if not (place / "clean").exists():
        options = ("--data", "rows.txt", "--threads", 1)
        assert run("dpnr", "clean.toml", "-o", "clean", "--write-features", *options)[0] == 0
        assert run("dpnr", "heads.toml", "-o", "l1", "--start", "clean", "--features", "clean", *options)[0] == 0
    return place


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
    return json.dumps({"vector": vector, "integers": [1, 2], "statement": {"epsilon_whole_text": epsilon}}) + "\n"


def test_vectors_that_were_received_are_attacked(trained: Path, run: Run) -> None:
    folder = trained / "sent"
    folder.mkdir()
    for name, size in (("train", 16), ("dev", 8), ("test", 8)):
        (folder / f"{name}.jsonl").write_text("".join(released([number / 7, 1.0]) for number in range(size)))
    code, out, err = run(*ATTACK, "--released", "sent", "--json")
    assert (code, err, list(json.loads(out)["levels"])) == (0, "", ["4"])
    (folder / "dev.jsonl").write_text(released(epsilon=8.0) * 8)
    code, out, err = run(*ATTACK, "--released", "sent")
    assert (code, out, err.split(": ")[1]) == (1, "", "data-json")


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
    refuses(kind, (read_released(path, 2) for _ in range(1)), 2)


def test_a_vector_for_every_text(write: Write) -> None:
    path = write(released() * 3)
    vectors, epsilon = read_released(path, 3)
    assert (vectors.tolist(), epsilon) == ([[0.5, -1.25]] * 3, 4.0)
    with pytest.raises(WrongColumnCount, match="3 vectors for 2 texts"):
        read_released(path, 2)


@pytest.mark.parametrize(
    "arguments",
    [(), ("--checkpoint", "l1", "--released", "sent")],
)
def test_one_source_of_vectors(trained: Path, run: Run, arguments: tuple[str, ...]) -> None:
    code, out, err = run(*ATTACK, *arguments)
    assert (code, out, err.split(": ")[1]) == (1, "", "recipe")


def test_attributes_that_are_nowhere_cannot_be_inferred(trained: Path, run: Run) -> None:
    text = (trained / "rows.txt").read_text()
    (trained / "lacking.txt").write_text(text.replace("\t4\n", "\t3\n"))
    code, out, err = run("attack", "attributes", "lacking.txt", *ATTACK[3:], "--checkpoint", "l1")
    assert (code, out) == (1, "")
    assert "every attribute" in err


@pytest.mark.slow
def test_a_grid_of_modes_levels_dropouts_and_a_checkpoint(trained: Path, run: Run) -> None:
    options = ("--mode", "l1:1", "--mode", "l2:2", "--mode", "box:2", "-e", "4", "--word-dropout", "0.5", "--no-attack")
    code, out, err = run("grid", "heads.toml", *GRID, "-o", "runs.jsonl", *options)
    assert (code, out, err) == (0, "", "")
    lines = [json.loads(line) for line in (trained / "runs.jsonl").read_text().splitlines()]
    assert sorted(line["kind"] for line in lines) == ["baselines", *["bounds"] * 3, *["cell"] * 3]
    cells = {line["mode"]: line["levels"]["4"] for line in lines if line["kind"] == "cell"}
    assert cells["l2"]["delta_whole_text"] == 1e-6
    assert cells["box"]["epsilon_per_coordinate"] == 2.0
    assert all(cell["epsilon_per_word"] < 4 for cell in cells.values())
    assert (trained / "cache" / "features-test-dropout-0.5.safetensors").exists()
    before = (trained / "runs.jsonl").read_bytes()
    again = ("--together", "--checkpoint", "l1", "--checkpoint", "clean", *options)
    assert run("grid", "heads.toml", *GRID, "-o", "runs.jsonl", *again)[0] == 0
    after = (trained / "runs.jsonl").read_bytes()
    assert after.startswith(before)
    added = [json.loads(line) for line in after[len(before) :].splitlines()]
    assert [(line["kind"], line["name"]) for line in added] == [("checkpoint", "l1"), ("baseline", "clean")]


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (("-e", "quokka"), "recipe"),
        (("-e", "-1"), "recipe"),
        (("--word-dropout", "1"), "recipe"),
        (("--mode", "l3:2"), "recipe"),
        (("-o", "clean.toml"), "resume"),
    ],
)
def test_a_grid_that_cannot_be(trained: Path, run: Run, options: tuple[str, ...], code: str) -> None:
    before = (trained / "clean.toml").read_text()
    ended, out, err = run(*overridden(["grid", "heads.toml", *GRID, "-o", "none.jsonl"], options))
    assert (ended, out, err.split(": ")[1]) == (1, "", code)
    assert "quokka" not in err
    assert not (trained / "none.jsonl").exists()
    assert (trained / "clean.toml").read_text() == before
    assert run("grid", "clean.toml", *GRID, "-o", "none.jsonl")[0] == 1


@pytest.mark.usefixtures("trained")
def test_a_map_of_texts(monkeypatch: pytest.MonkeyPatch) -> None:
    """The script of the map: a column for the clean vectors and for each level, a row for each coloring."""
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "benchmarks" / "report")
    from text_map import text_maps

    figure = text_maps(Path("rows.txt"), "ag-entities", Path("clean"), Path("l1"), ["4"], 600, 0)
    assert [axes.get_title(loc="left") for axes in figure.axes[:2]] == ["without privacy", "released, epsilon 4"]
    assert [axes.get_ylabel() for axes in figure.axes[::2]] == ["class", "George W. Bush"]
    assert figure.get_suptitle().startswith("The nearest text agrees, from left to right, on class in")
    assert {text.get_text() for text in figure.axes[2].texts} <= {"not there", "there"}


@pytest.mark.parametrize("name", ["l3:2", "l1", "l1:", "l1:x", "l1:0", "l2:-1", "box:1", "l1:²"])
def test_modes_that_are_none(name: str) -> None:
    with pytest.raises(RecipeError):
        named_mode(name)
