"""The command that makes a text bundle: ``textveil-export table``."""

from contextlib import ExitStack
from dataclasses import dataclass
from typing import Annotated

import typer
from textveil.bundle import layout
from textveil_cli.console import progress_bars
from textveil_cli.options import RayOptions

from textveil_export.certify.certificate import certify
from textveil_export.certify.staircase import certify_staircase
from textveil_export.cli.options import ENGLISH_VECTORS, Force, NewBundle, StaircaseOptions
from textveil_export.cli.table_options import CardOptions, PolicyOptions, SanTextOptions, SourceOptions
from textveil_export.errors import ExportError
from textveil_export.leakage.statistics import measure
from textveil_export.on_ray import on_ray
from textveil_export.parallel import here
from textveil_export.text import sources
from textveil_export.text.attribution import ENGLISH_LICENSE, MINILM, NEIGHBORS, NEVER_DRAWN, SKELETON, WORDS
from textveil_export.text.build import Recipe, build_bundle
from textveil_export.text.build_staircase import StaircaseRecipe
from textveil_export.text.word_sets import Policy
from textveil_export.text.write import write_bundle, write_certificate, write_statistics

DEFAULT_MECHANISMS = "staircase,santext"


@dataclass(frozen=True, kw_only=True)
class Asked:
    """Everything that the command line says."""

    output: NewBundle
    mechanisms: Annotated[
        str, typer.Option(help="Comma-separated: staircase, santext (with santext+). The staircase is for words.")
    ] = DEFAULT_MECHANISMS
    force: Force = False
    source: SourceOptions
    santext: SanTextOptions
    policy: PolicyOptions
    staircase: StaircaseOptions
    card: CardOptions
    ray: RayOptions
    workers: Annotated[
        int | None,
        typer.Option(min=1, rich_help_panel=RayOptions.heading, help="With --ray: processes; all cores if left out."),
    ] = None

    @property
    def chosen(self) -> tuple[str, ...]:
        """The mechanisms that are made."""
        return _mechanisms(self.mechanisms, self.source.vocabulary)

    def check(self) -> None:
        """Raises ``ExportError`` for options that do not go together."""
        source, chosen = self.source, self.chosen
        if "staircase" not in chosen and self.staircase.given:
            raise ExportError("--function-words, --kind and --word-frequencies belong to the staircase")
        if source.vectors is not None and (source.encoder != sources.MINILM or source.vocabulary != "english"):
            raise ExportError("--vectors replaces --encoder and --vocabulary: name one or the other")
        if self.output.exists() and not self.force:
            raise ExportError("the output folder exists (use --force)")
        if not self.ray.ray and (self.ray.ray_address is not None or self.workers is not None):
            raise ExportError("--ray-address and --workers go with --ray")
        if self.ray.ray and chosen != ("staircase",):
            raise ExportError("--ray makes staircases: --mechanisms staircase")

    def recipe(self, policy: Policy) -> Recipe:
        """Returns everything that decides the bundle besides its source.

        Raises:
            ExportError: Options do not go together, or a list cannot be used.
        """
        levels, targets, default_level = self.santext.levels()
        staircase = self._staircase(policy)
        credits, license = self._credits(staircase is not None)
        return Recipe(
            name=self.card.name or self.output.resolve().name,
            policy=policy,
            k=self.santext.neighbors,
            levels=levels,
            certified_epsilons=targets,
            flatten_to=self.santext.flatten_to,
            default_level=default_level,
            santext="santext" in self.chosen,
            staircase=staircase,
            license=license,
            attribution=" ".join([*credits, self.card.attribution]).strip(),
            lists={
                "built_in_lists": self.policy.lists,
                "sensitive_words_listed": len(policy.sensitive),
                "allowed_words_listed": len(policy.allow),
                "never_output_words_listed": len(policy.never_output),
                "rank_corpora": [path.name for path in self.source.corpus or []] or "order of the source",
            },
        )

    def _staircase(self, policy: Policy) -> StaircaseRecipe | None:
        if "staircase" not in self.chosen:
            return None
        english = self.source.english
        vectors = sources.read_vectors(ENGLISH_VECTORS, 1 << 16) if english else None
        return self.staircase.recipe(vectors, english=english, never_output=policy.never_output)

    def _credits(self, staircase: bool) -> tuple[list[str], str]:
        """Whose work the bundle derives from, and its license."""
        english_lists_used = staircase and self.staircase.function_words is None
        credits = {
            MINILM: self.source.default_encoder and "santext" in self.chosen,
            WORDS: self.source.english,
            NEVER_DRAWN: self.policy.lists == "english",
            SKELETON: english_lists_used,
            NEIGHBORS: staircase and self.source.english,
        }
        built_in = ENGLISH_LICENSE if self.source.english or english_lists_used else "Apache-2.0"
        license = self.card.license or (built_in if self.source.default_encoder else "not stated")
        return [credit for credit, applies in credits.items() if applies], license


def table(asked: Asked) -> None:
    """Build a bundle: the staircase with its lists, and SanText with exact neighbors and its sets."""
    asked.check()
    recipe = asked.recipe(asked.policy.policy())
    with progress_bars() as progress, ExitStack() as stack:
        source = asked.source.read(recipe.santext, progress)
        run = here
        if asked.ray.ray:
            store = 2 * source.vectors.size + 4 * asked.staircase.staircase_neighbors * len(source.words)
            run = stack.enter_context(on_ray(asked.ray.ray_address, asked.workers, store))
        contents = build_bundle(source, recipe, progress, run)
        if recipe.staircase is not None:
            certify_staircase(contents.tensors[layout.STAIRCASE], recipe.staircase.levels, progress, run)
        stack.close()
        bundle = write_bundle(contents, asked.output, force=asked.force)
        asked.policy.tell_found(bundle)
        targets = recipe.certified_epsilons
        if targets is not None and recipe.santext:
            labels = {name: float(target) for name, target in targets.items()}
            bundle = write_certificate(bundle, certify(bundle, progress), labels)
        if asked.santext.statistics and recipe.santext:
            bundle = write_statistics(bundle, measure(bundle, progress))
    print(f"{asked.output}: {bundle.symbols:,} symbols, identity {bundle.identity}")


def _mechanisms(names: str, vocabulary: str) -> tuple[str, ...]:
    chosen = tuple(name.strip() for name in names.split(","))
    if set(chosen) - {"staircase", "santext"} or len(set(chosen)) != len(chosen):
        raise ExportError("--mechanisms takes staircase, santext or both, each once")
    if vocabulary == "wordpiece":
        if names != DEFAULT_MECHANISMS and "staircase" in chosen:
            raise ExportError("the staircase is for words: leave it out with --vocabulary wordpiece")
        return ("santext",)
    return chosen
