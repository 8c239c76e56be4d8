"""Recipes with unknown, missing or contradictory settings are refused."""

import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from textveil_training.dpnr.recipe import KINDS, read_recipe, replace_seed
from textveil_training.errors import RecipeError
from tiny_training import private_recipe, recipe_text

SENSELESS = "has an unsupported value: see the recipes of the repository"
RECIPES = Path(__file__).parents[3] / "server_training" / "recipes"
Write = Callable[..., Path]


@pytest.fixture
def fails(write: Write) -> Callable[[str], str]:
    def check(text: str) -> str:
        with pytest.raises(RecipeError) as caught:
            read_recipe(write(text, "mine.toml"))
        assert "\n" not in str(caught.value)
        return str(caught.value)

    return check


def test_every_value_of_the_file_is_in_the_recipe(write: Write) -> None:
    recipe = read_recipe(write(private_recipe(dropout=0.25, word_dropout="0.3")))
    assert (recipe.name, recipe.kind, recipe.note) == ("tiny", "dpnr", "for tests")
    assert recipe.representation.levels == ("1", "8")
    assert recipe.representation.word_dropout == "0.3"
    assert recipe.extractor.dropout == 0.25
    assert recipe.training.learning_rate == 1e-2
    assert len(recipe.sha256) == 64
    assert recipe.adversary is None


SHIPPED = [path for path in sorted(RECIPES.glob("*.toml")) if tomllib.loads(path.read_text())["kind"] in KINDS]


@pytest.mark.parametrize("path", SHIPPED, ids=lambda path: path.stem)
def test_the_shipped_recipes(path: Path) -> None:
    recipe = read_recipe(path)
    assert recipe.name == path.stem
    assert recipe.note


def test_there_are_shipped_recipes() -> None:
    assert {"ag-clean", "ag-l1"} <= {path.stem for path in SHIPPED}


def test_an_unknown_key_is_named_with_its_file(fails: Callable[[str], str]) -> None:
    assert (
        fails("epochs = 3\n" + recipe_text()) == "mine.toml: the key epochs is unknown: remove it, or correct its name"
    )
    text = recipe_text().replace("tuned = true", "tuned = true\nfrozen = false")
    assert fails(text) == "mine.toml: the key extractor.frozen is unknown: remove it, or correct its name"
    assert fails("sha256 = 'x'\n" + recipe_text()) == "mine.toml: the key sha256 is unknown: remove it"


def test_a_missing_key_is_named_with_its_file(fails: Callable[[str], str]) -> None:
    assert fails(recipe_text().replace("seed = 3\n", "")) == "mine.toml: the key training.seed is missing"
    assert fails(recipe_text().replace('kind = "clean"', "")) == "mine.toml: the key kind is missing"
    assert fails("") == "mine.toml: the key name is missing"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("seed = 3", 'seed = "3"'),
        ("seed = 3", "seed = true"),
        ("seed = 3", "seed = 3.5"),
        ("tuned = true", "tuned = 1"),
        ("levels = []", "levels = [1]"),
        ("levels = []", 'levels = "1"'),
        ("[training]\n", "[[training]]\n"),
    ],
)
def test_a_value_of_another_type(fails: Callable[[str], str], old: str, new: str) -> None:
    assert fails(recipe_text().replace(old, new)).endswith("has a value of a wrong type")


@pytest.mark.parametrize(
    ("key", "values"),
    [
        ("kind", {"kind": "secret"}),
        ("representation.levels", {"levels": '"0"'}),
        ("representation.levels", {"levels": '"-1"'}),
        ("representation.levels", {"levels": '"nan"'}),
        ("representation.levels", {"levels": '"inf"'}),
        ("representation.levels", {"levels": '"four"'}),
        ("representation.levels", {"levels": ""}),
        ("representation.dimension", {"dimension": 0}),
        ("representation.dimension", {"mode": "box", "dimension": 1}),
        ("representation.delta", {"delta": "1e-6"}),
        ("representation.delta", {"mode": "l2"}),
        ("representation.delta", {"mode": "l2", "delta": "1"}),
        ("representation.mode", {"mode": "none"}),
        ("representation.mode", {"mode": "l3"}),
        ("representation.mode", {"kind": "clean"}),
        ("representation.word_dropout", {"word_dropout": "1"}),
        ("representation.word_dropout", {"word_dropout": "1_0e-2"}),
        ("training.num_epochs", {"tuned": "false"}),
        ("training.num_epochs", {"num_epochs": 0}),
        ("training.placed_epochs", {"placed_epochs": -1}),
        ("extractor.dropout", {"dropout": 1}),
        ("adversary", {"kind": "adversarial", "mode": "none"}),
    ],
)
def test_a_value_that_makes_no_sense(fails: Callable[[str], str], key: str, values: dict[str, object]) -> None:
    assert fails(private_recipe(**values)) == f"mine.toml: {key} {SENSELESS}"


@pytest.mark.parametrize(
    ("old", "new", "key"),
    [
        ("dev_percent = 0", "dev_percent = 5", "data.dev"),
        ('dev = "dev"', 'dev = "train"', "data.dev"),
        ('test = "test"', 'test = "dev"', "data.test"),
        ('test = "test"', 'test = "train"', "data.test"),
        ("max_tokens = 32", "max_tokens = 2", "data.max_tokens"),
        ("batch_size = 8", "batch_size = 0", "training.batch_size"),
        ("learning_rate = 1e-2", "learning_rate = nan", "training.learning_rate"),
        ('precision = "float32"', 'precision = "float16"', "training.precision"),
        ('loss = "cross-entropy"', 'loss = "hinge"', "training.loss"),
    ],
)
def test_more_values_that_make_no_sense(fails: Callable[[str], str], old: str, new: str, key: str) -> None:
    assert fails(recipe_text().replace(old, new, 1)) == f"mine.toml: {key} {SENSELESS}"


@pytest.mark.parametrize("content", ["= 3", "a = ", 'name = "x'])
def test_what_is_not_toml(fails: Callable[[str], str], content: str) -> None:
    assert fails(content) == "mine.toml: not a TOML file in UTF-8"


def test_what_is_not_utf_8_or_not_there(write: Write, tmp_path: Path) -> None:
    with pytest.raises(RecipeError, match="not a TOML file"):
        read_recipe(write(b"name = '\xff'"))
    with pytest.raises(RecipeError, match="cannot be read"):
        read_recipe(tmp_path / "nowhere.toml")


def test_another_seed_is_another_recipe(write: Write) -> None:
    recipe = read_recipe(write(recipe_text()))
    other = replace_seed(recipe, 4)
    assert (other.training.seed, other.name) == (4, recipe.name)
    assert other.sha256 != recipe.sha256
