"""Build the data of the staircase mechanism (random replacement of words): arrays, epsilons and word lists."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from textveil import __version__
from textveil.bundle import TextBundle, layout
from textveil.mechanisms.staircase import StaircaseLevel, compute_output_role

from textveil_export.errors import ExportError
from textveil_export.parallel import BlockRunner, run_blocks
from textveil_export.progress import Progress, ignore_progress
from textveil_export.text.contents import (
    TextContents,
    format_character_classes,
    make_manifest_head,
    summarize_vocabulary,
)
from textveil_export.text.staircase_tables import MisleadingWords, StaircaseSettings, make_staircase_arrays
from textveil_export.text.template_lists import TemplateLists
from textveil_export.text.word_vectors import WordVectors

#: Levels of a staircase, named by epsilon per word, with their share ``h`` of the base (docs/levels.md explains them).
LEVELS = (
    StaircaseLevel(name="4", epsilon=Decimal(4), share=Fraction(1, 100)),
    StaircaseLevel(name="6", epsilon=Decimal(6), share=Fraction(1, 250)),
    StaircaseLevel(name="8", epsilon=Decimal(8), share=Fraction(1, 500)),
    StaircaseLevel(name="10", epsilon=Decimal(10), share=Fraction(1, 2000)),
    StaircaseLevel(name="12", epsilon=Decimal(12), share=Fraction(1, 5000)),
)
DEFAULT_LEVEL = "10"


@dataclass(frozen=True, kw_only=True)
class StaircaseRecipe:
    """Settings with which the staircase mechanism (random replacement of words) of a bundle (data folder) is built.

    Attributes:
        lists: Lists of words that are left unchanged or replaced by type.
        vectors: Vectors that define the neighbors of each word; ``None`` for the vectors of the vocabulary.
        per_billion: Public frequency of each word per billion words; ``None`` to estimate frequencies from ranks.
        settings: Number of neighbors, and how to rank them.
        levels: Parameters of the mechanism for each epsilon, smallest epsilon first.
        default_level: Name of the epsilon for calls that pass no epsilon.
        never_output: Words that are never outputs.
        misleading: Words that must not be neighbors of other words.
    """

    lists: TemplateLists
    vectors: WordVectors | None = None
    per_billion: Mapping[str, int] | None = None
    settings: StaircaseSettings = field(default_factory=StaircaseSettings)
    levels: tuple[StaircaseLevel, ...] = LEVELS
    default_level: str = DEFAULT_LEVEL
    never_output: frozenset[str] = frozenset()
    misleading: MisleadingWords | None = None


@dataclass(frozen=True, kw_only=True)
class StaircaseContents:
    """Parts of a text bundle (data folder) that belong to its staircase mechanism.

    Attributes:
        tensors: Arrays of ``staircase.safetensors``.
        texts: Lists of words that are left unchanged or replaced by type, by file name.
        definition: Entries ``staircase`` and ``template`` of ``mechanism.json``.
        defaults: Value of ``defaults.staircase`` in ``mechanism.json``.
    """

    tensors: dict[str, NDArray[Any]]
    texts: dict[str, str]
    definition: dict[str, Any]
    defaults: dict[str, str]


def build_staircase(
    source: WordVectors,
    recipe: StaircaseRecipe,
    progress: Progress = ignore_progress,
    *,
    run: BlockRunner = run_blocks,
) -> StaircaseContents:
    """Build the data of the staircase mechanism (random replacement of words) for a bundle.

    Args:
        source: The vocabulary with its vectors, after near-duplicates were merged.
        recipe: Word lists, epsilons and settings.
        progress: Callback that takes the name of a stage, the number of its finished steps, and their total number.
        run: Function that applies another function to blocks of rows, such as in parallel processes.

    Raises:
        ExportError: The recipe does not fit the vocabulary.
    """
    if recipe.vectors is not None:
        source = _replace_vectors(source, recipe.vectors)
    arrays = make_staircase_arrays(source, recipe.per_billion, recipe.settings, progress, run, recipe.misleading)
    roles = compute_roles(source.words, recipe.lists, recipe.never_output, progress)
    levels = [
        {
            "name": level.name,
            "epsilon": f"{level.epsilon.normalize():f}",
            "share": str(level.share),
        }
        for level in recipe.levels
    ]
    return StaircaseContents(
        tensors={**arrays, "roles": roles},
        texts=recipe.lists.list_texts(),
        definition={"staircase": {"levels": levels}, "template": recipe.lists.describe()},
        defaults={"level": recipe.default_level, "mode": "words"},
    )


def _replace_vectors(source: WordVectors, vectors: WordVectors) -> WordVectors:
    """Return the words of ``source`` with their vectors in ``vectors``.

    Raises:
        ExportError: A word has no vector in ``vectors``.
    """
    place = {word: index for index, word in enumerate(vectors.words)}
    missing = sum(word not in place for word in source.words)
    if missing:
        raise ExportError(
            f"{missing} of {len(source.words)} words have no vector for the staircase: add them to --vectors"
        )
    return replace(source, vectors=vectors.vectors[[place[word] for word in source.words]])


def compute_roles(
    words: Sequence[str], lists: TemplateLists, never_output: frozenset[str], progress: Progress = ignore_progress
) -> NDArray[np.uint8]:
    """Return the array ``roles`` of ``staircase.safetensors``: in which contexts each word may be an output.

    Each bit of a word's entry belongs to one context, such as a position in a text at which the output must be in lower
    case.

    Args:
        words: The vocabulary.
        lists: Lists of words that are left unchanged or replaced by type.
        never_output: Words that are never outputs.
        progress: Callback that takes the name of a stage, the number of its finished steps, and their total number.
    """
    roles = np.zeros(len(words), dtype=np.uint8)
    for visible in (True, False):
        rule = lists.make_rule(visible=visible)
        for lower in (False, True):
            allowed = (word not in never_output and rule.is_output_allowed(word, lower=lower) for word in words)
            role = np.uint8(compute_output_role(function_words_kept=visible, lower=lower))
            roles |= role * np.fromiter(allowed, dtype=np.uint8, count=len(words))
        progress("choosing outputs", 2 - visible, 2)
    return roles


def build_staircase_bundle(
    bundle: TextBundle,
    recipe: StaircaseRecipe,
    *,
    name: str,
    license: str,
    attribution: str,
    lists: dict[str, Any],
    progress: Progress = ignore_progress,
) -> TextContents:
    """Build a bundle (data folder) with only the staircase mechanism, for the vocabulary of a finished bundle.

    The vocabulary file is copied byte for byte.

    Args:
        bundle: The finished bundle, whose vocabulary consists of words.
        recipe: Settings of the staircase mechanism; ``recipe.vectors`` must be set.
        name: Name of the new bundle.
        license: SPDX expression of the new bundle.
        attribution: Attribution of the new bundle.
        lists: Names of the lists, for the manifest.
        progress: Callback that takes the name of a stage, the number of its finished steps, and their total number.

    Raises:
        ExportError: The recipe has no vectors, or does not fit the vocabulary.
    """
    if recipe.vectors is None:
        raise ExportError("the recipe has no vectors for the staircase: set recipe.vectors")
    vocabulary = (bundle.path / layout.VOCABULARY).read_bytes()
    vectors = np.zeros((bundle.symbol_count, 1), dtype=np.float32)  # build_staircase uses recipe.vectors instead
    source = WordVectors(words=bundle.vocabulary, vectors=vectors, provenance={})
    part = build_staircase(source, recipe, progress)
    provenance = {
        "words": f"those of {bundle.manifest.get('name')}",
        "exporter": f"textveil-export {__version__}",
        "lists": lists,
    }
    return TextContents(
        tensors={layout.STAIRCASE: part.tensors},
        texts={
            layout.VOCABULARY: vocabulary.decode("utf-8"),
            layout.CHARACTERS: format_character_classes(),
            **part.texts,
        },
        definition={
            "vocabulary_size": bundle.symbol_count,
            "santext": None,
            **part.definition,
            "defaults": {"mechanism": "staircase", "staircase": part.defaults},
        },
        manifest=make_manifest_head(name, license, attribution) | {"provenance": provenance},
        statistics=summarize_vocabulary(vocabulary.decode("utf-8"))
        | {"staircase_k": part.tensors["neighbors"].shape[1]},
    )
