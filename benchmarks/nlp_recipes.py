"""The runs that the recipes of docs/results/nlp.md name; `nlp_runs.py` makes them."""

import hashlib
import json
import shlex
from dataclasses import asdict, dataclass
from itertools import product
from pathlib import Path

from textveil_training.engine import from_table, read_toml
from textveil_training.finetune import Settings, read_recipe

RECIPES = Path(__file__).parents[1] / "server_training" / "recipes"
MINILM = "minilm"


@dataclass(frozen=True)
class Release:
    """One way to sanitize a corpus.

    Attributes:
        name: Name in ``nlp-releases.toml`` and of its folder.
        bundle: Name of a bundle, or None for the built-in one.
        options: Options of ``sanitize-corpus`` by name.
    """

    name: str
    bundle: str | None
    options: dict[str, str]

    @property
    def words(self) -> list[str]:
        """The options as words of a command line."""
        return [word for name, value in self.options.items() for word in (f"--{name.replace('_', '-')}", value)]


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One fine-tuning.

    Attributes:
        recipe: File of its recipe.
        settings: Settings of the recipe.
        data: Name of a data set.
        release: Release of the data, or None for raw text.
        seed: Seed of the training; it also decides which copy is read.
        start: Name of a pretraining recipe, or ``minilm``.
    """

    recipe: Path
    settings: Settings
    data: str
    release: Release | None
    seed: int
    start: str

    @property
    def name(self) -> str:
        """Name of its folder: equal for equal runs of two recipes."""
        release = "raw" if self.release is None else self.release.name
        mode = "tuned" if self.settings.tuned else "frozen"
        digest = hashlib.sha256(json.dumps(asdict(self.settings)).encode()).hexdigest()[:6]
        return f"{self.data}.{release}.{mode}-{digest}.{self.start}.{self.seed}"


@dataclass(frozen=True, kw_only=True)
class AttackRuns:
    """Attacks that a published result has.

    Attributes:
        releases: Names in ``nlp-releases.toml``.
        model: Name of a pretraining recipe: the attacker's masked language model.
        tokens: Number of tokens of the attacks that take long.
        attacks: Names of the attacks, with commas between them, or ``all``.
    """

    releases: tuple[str, ...]
    model: str
    tokens: int
    attacks: str


@dataclass(frozen=True)
class AttackRecipe:
    """One published result of attacks.

    Attributes:
        name: Name of the recipe.
        kind: ``attack-text``.
        note: Sentence that says what it is for.
        runs: Runs of the result, in parts.
    """

    name: str
    kind: str
    note: str
    runs: tuple[AttackRuns, ...]


@dataclass(frozen=True)
class Attack:
    """Attacks on SST-2's dev sentences as one release.

    Attributes:
        release: The release.
        runs: Model, tokens and attacks.
    """

    release: Release
    runs: AttackRuns

    @property
    def name(self) -> str:
        """Name of its file."""
        which = "" if self.runs.attacks == "all" else f".{self.runs.attacks}"
        return f"attack.{self.release.name}.{self.runs.model}.{self.runs.tokens}{which}"


def releases() -> dict[str, Release]:
    """Returns the releases of ``nlp-releases.toml`` by name."""
    content, _ = read_toml(RECIPES / "nlp-releases.toml")
    return {name: Release(name, options.pop("bundle", None), options) for name, options in content["releases"].items()}


def bundles() -> dict[str, list[str]]:
    """Returns the options of ``textveil-export table`` for every bundle."""
    content, _ = read_toml(RECIPES / "nlp-releases.toml")
    return {name: shlex.split(options) for name, options in content["bundles"].items()}


def runs_of(name: str) -> list[Cell] | list[Attack]:
    """Returns the runs of a recipe; of fine-tunings the first seed of all of them comes first."""
    path, known = RECIPES / f"{name}.toml", releases()
    content, _ = read_toml(path)
    if content["kind"] == "attack-text":
        recipe = from_table(AttackRecipe, content, path.name)
        return [Attack(known[release], runs) for runs in recipe.runs for release in runs.releases]
    chosen = read_recipe(path)
    cells = [
        Cell(
            recipe=path,
            settings=chosen.training,
            data=data,
            release=None if release == "raw" else known[release],
            seed=seed,
            start=start,
        )
        for runs in chosen.runs
        for seed, data, release, start in product(range(runs.seeds), runs.data, runs.releases, runs.starts)
    ]
    return sorted(cells, key=lambda cell: cell.seed)
