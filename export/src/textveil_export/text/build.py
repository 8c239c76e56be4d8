"""Build a text bundle (data folder for rewriting texts): compute all its tables from words and their vectors."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from decimal import ROUND_DOWN, Decimal, localcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray
from textveil import __version__
from textveil.bundle import layout
from textveil.mechanisms import WordMetric, iterate_squared_distances
from textveil.mechanisms.baselines import KEPT_ROLE, SANTEXT_OUTPUT_ROLE, SANTEXT_PLUS_OUTPUT_ROLE, SanTextTable

from textveil_export.errors import ExportError
from textveil_export.parallel import BlockRunner, run_blocks
from textveil_export.progress import Progress, ignore_progress
from textveil_export.text.calibration import LevelKey, calibrate_certified_epsilon, calibrate_unchanged_share
from textveil_export.text.contents import TextContents, format_character_classes, make_manifest_head
from textveil_export.text.level_weights import (
    GRID,
    LevelSetting,
    find_largest_exponent,
    fits_integers,
    make_level_parameters,
)
from textveil_export.text.near_duplicates import merge_near_duplicates
from textveil_export.text.neighbors import find_nearest_outputs, find_smallest
from textveil_export.text.quantize import measure_vector_step, place_unknown, quantize_vectors
from textveil_export.text.staircase_bundle import StaircaseRecipe, build_staircase
from textveil_export.text.word_roles import WordPolicy, assign_roles
from textveil_export.text.word_vectors import WordVectors

DEFAULT_REPLACEMENT_PROBABILITY = "0.3"
DEFAULT_K = 64
#: Smallest exponent for ``vector_epsilons``. Below it the probabilities of all words are equal to four digits.
_SMALLEST_EXPONENT = Decimal("0.0001")


@dataclass(frozen=True, kw_only=True)
class TextBundleRecipe:
    """Settings with which a text bundle (data folder for rewriting texts) is built, besides its vocabulary.

    Set at most one of ``levels``, ``vector_epsilons`` and ``certified_epsilons``.

    Attributes:
        name: Name of the bundle, as ``textveil info`` prints it.
        policy: Words that are sensitive, and words that may be outputs.
        k: Number of stored nearest words (neighbors) per word.
        levels: Factor ``alpha`` of distances in the mechanism SanText, by level name, smallest first. ``None`` chooses
            the default levels.
        vector_epsilons: Epsilons of SanText per unit of distance of the vectors, as papers state them, smallest first.
            They become the names of the levels, and ``default_level`` must be one of them.
        certified_epsilons: Certified epsilon that a level must reach, by level name, smallest first.
        flatten_to: With ``certified_epsilons``: the target of ``calibration.compute_flat_base``; with ``None``, all
            factors of outputs are equal.
        default_level: Level of a call that selects no level; ``None`` for the middle one.
        license: SPDX expression of the bundle.
        attribution: Authors and sources of the data.
        lists: Names of the lists in the policy, for the manifest.
        santext: Whether the bundle has SanText and SanText+.
        staircase: Settings of the staircase mechanism; ``None`` for a bundle without this mechanism.

    Example:
        >>> nothing = frozenset[str]()
        >>> policy = WordPolicy(share=0.9, sensitive=nothing, allow=nothing, never_output=nothing)
        >>> TextBundleRecipe(name="my-words", policy=policy).k
        64
    """

    name: str
    policy: WordPolicy
    k: int = DEFAULT_K
    levels: dict[str, Decimal] | None = None
    vector_epsilons: tuple[Decimal, ...] | None = None
    certified_epsilons: dict[str, Decimal] | None = None
    flatten_to: float = 1.0
    default_level: str | None = None
    license: str = "Apache-2.0"
    attribution: str = ""
    lists: dict[str, Any] = field(default_factory=dict)
    santext: bool = True
    staircase: StaircaseRecipe | None = None


def build_text_bundle(
    source: WordVectors, recipe: TextBundleRecipe, progress: Progress = ignore_progress, run: BlockRunner = run_blocks
) -> TextContents:
    """Build the contents of a text bundle (data folder for rewriting texts) in memory.

    Args:
        source: Vocabulary in order of frequency with its vectors.
        recipe: Settings of the bundle.
        progress: Callback that takes the name of a stage, the number of its finished steps, and their total number.
        run: Function that applies another function to blocks of rows, such as in parallel processes. It runs the search
            for near-duplicates and the staircase mechanism's search for neighbors.

    Raises:
        ExportError: The recipe does not fit the vocabulary.

    Example:
        >>> words = ["the", "doctor", "nurse", "hospital", "market", "price"]
        >>> rows = np.random.default_rng(0).normal(size=(6, 8)).astype(np.float32)
        >>> vectors = WordVectors(words=words, vectors=rows, provenance={})
        >>> policy = WordPolicy(share=0.9, sensitive=frozenset(), allow=frozenset(), never_output=frozenset())
        >>> recipe = TextBundleRecipe(name="my-words", policy=policy, k=3, levels={"4": Decimal(2)})
        >>> build_text_bundle(vectors, recipe).texts["vocabulary.tsv"].split()[:2]
        ['the', 'doctor']
    """
    if not recipe.santext and recipe.staircase is None:
        raise ExportError("the recipe has no mechanism: choose SanText, a staircase or both")
    rows = quantize_vectors(source.vectors)
    representatives, merged = merge_near_duplicates(rows, progress, run)
    if len(representatives) < 2:
        raise ExportError("all vectors are nearly equal: check the file of vectors")
    rows = rows[representatives]
    spellings = [[source.words[i]] for i in representatives]
    position = {original: index for index, original in enumerate(representatives)}
    for original, representative in sorted(merged.items()):
        spellings[position[representative]].append(source.words[original])

    definition: dict[str, Any] = {"vocabulary_size": len(rows)}
    definition |= {"santext": None, "staircase": None, "template": None, "defaults": {}}
    tensors: dict[str, dict[str, NDArray[Any]]] = {}
    vocabulary = "".join("\t".join(names) + "\n" for names in spellings)
    texts = {layout.VOCABULARY: vocabulary, layout.CHARACTERS: format_character_classes()}
    labels: dict[str, Any] = {}
    statistics: dict[str, Any] = {
        "vocabulary_size": len(rows),
        "spellings": len(source.words),
        "merged": {source.words[a]: source.words[b] for a, b in sorted(merged.items())},
        "dimension": rows.shape[1],
    }
    if recipe.santext:
        files, constants, labels, roles, default = _build_santext(
            rows, spellings, recipe, measure_vector_step(source.vectors), progress
        )
        tensors |= files
        definition["santext"] = constants
        definition["defaults"]["santext"] = {
            "mechanism": "santext+",
            "level": default,
            "replacement_probability": DEFAULT_REPLACEMENT_PROBABILITY,
        }
        statistics |= {
            "kept_words": int(np.count_nonzero(roles & KEPT_ROLE)),
            "santext_plus_outputs": int(np.count_nonzero(roles & SANTEXT_PLUS_OUTPUT_ROLE)),
            "never_output": int(np.count_nonzero(roles & SANTEXT_OUTPUT_ROLE == 0)),
            "k": recipe.k,
            "median_distance": compute_median_distance(
                constants["median_squared_distance"], measure_vector_step(source.vectors)
            ),
        }
    if recipe.staircase is not None:
        part = build_staircase(source.select_entries(representatives), recipe.staircase, progress, run=run)
        tensors[layout.STAIRCASE] = part.tensors
        texts |= part.texts
        definition |= part.definition
        definition["defaults"]["staircase"] = part.defaults
        statistics["staircase_k"] = part.tensors["neighbors"].shape[1]
    definition["defaults"]["mechanism"] = "staircase" if recipe.staircase is not None else "santext+"
    manifest = {
        **make_manifest_head(recipe.name, recipe.license, recipe.attribution),
        "levels": labels,
        "provenance": {
            **source.provenance,
            **({layout.MEDIAN_DISTANCE: statistics["median_distance"]} if recipe.santext else {}),
            "exporter": f"textveil-export {__version__}",
            "sensitive_share": recipe.policy.share,
            "lists": recipe.lists,
        },
    }
    return TextContents(tensors=tensors, texts=texts, definition=definition, manifest=manifest, statistics=statistics)


def _build_santext(
    rows: NDArray[np.int8], spellings: list[list[str]], recipe: TextBundleRecipe, step: float, progress: Progress
) -> tuple[dict[str, dict[str, NDArray[Any]]], dict[str, Any], dict[str, Any], NDArray[np.uint8], str]:
    """Build the arrays and settings of SanText and SanText+ (random replacement of words) for a bundle.

    Args:
        rows: int8 vectors of the words.
        spellings: Spellings of each word.
        recipe: Settings of the bundle.
        step: Length of one int8 step in units of the vectors.
        progress: Callback that takes the name of a stage, the number of its finished steps, and their total number.

    Returns:
        Five values: the arrays by file, the entry ``santext`` of ``mechanism.json``, the stated epsilons of the levels,
        the roles of the words, and the name of the default level.
    """
    roles = assign_roles(spellings, recipe.policy)
    outputs = np.flatnonzero(roles & SANTEXT_OUTPUT_ROLE)
    near, squares, median = find_nearest_outputs(rows, outputs, recipe.k, progress)
    if median == 0:
        raise ExportError("more than half of all vector pairs have equal distances: check the file of vectors")
    unknown, extra = place_unknown(rows, median)
    ((_, to_unknown),) = iterate_squared_distances(unknown[None], rows[outputs])
    unknown_near, unknown_squares = find_smallest(to_unknown + extra, outputs, recipe.k)
    near = np.concatenate([near, unknown_near])
    all_rows = np.concatenate([rows, unknown[None]])
    distances = WordMetric(rows=all_rows, grid=GRID, median_squared=median, unknown_extra=extra)
    near_scores = distances.compute_scores(np.concatenate([squares, unknown_squares]))
    if near_scores.max() > np.iinfo(np.uint16).max:
        raise ExportError("a neighbor is more than ten times the median distance away: remove outliers or lower -k")

    symbols = len(rows)
    tensors: dict[str, NDArray[Any]] = {
        "neighbors": near.astype(np.uint16 if symbols <= 1 << 16 else np.uint32),
        "scores": near_scores.astype(np.uint16),
        "roles": roles,
    }
    constants: dict[str, Any] = {
        "neighbors_per_word": recipe.k,
        "grid": GRID,
        "median_squared_distance": median,
        "unknown_extra_squared_distance": extra,
    }
    table = SanTextTable.from_tensors(tensors, {**constants, "vocabulary_size": symbols})
    largest = _find_largest_score(distances, outputs)
    if recipe.vector_epsilons is not None:
        unit = compute_median_distance(median, step)
        levels = _convert_vector_epsilons(recipe.vector_epsilons, unit, table)
        recipe = replace(recipe, levels=levels, default_level=_rename_level(recipe, levels))
    settings = _choose_level_settings(table, distances, recipe, progress)
    names = list(dict.fromkeys(name for name, _ in settings))
    if recipe.default_level not in (None, *names):
        raise ExportError("the default level is not one of the levels: correct --default-epsilon")
    law_levels: list[dict[str, Any]] = []
    labels: dict[str, dict[str, Any]] = {}
    for number, name in enumerate(names):
        laws: dict[str, Any] = {}
        labels[name] = {}
        for mechanism in layout.TABLE_MECHANISMS:
            level = make_level_parameters(table, settings[name, mechanism], largest)
            base = None if level.base is None else _add_tensor(tensors, f"base.{name}.{mechanism}", level.base)
            weights = _add_tensor(tensors, f"weights.{name}.{mechanism}", level.weights)
            laws[mechanism] = {"exponent": str(level.exponent), "weights": weights, "base": base}
            labels[name][mechanism] = {"epsilon_textbook": float(2 * level.exponent), "epsilon_certified": None}
        law_levels.append({"name": name, "parameters": laws})
        progress("computing weights of levels", number + 1, len(names))
    files = {layout.TABLE: tensors, layout.EMBEDDINGS: {"rows": all_rows}}
    default_level = recipe.default_level or names[len(names) // 2]
    return files, {**constants, "levels": law_levels}, labels, roles, default_level


def compute_median_distance(median_squared: int, step: float) -> float:
    """Return the median distance of two words in units of the vectors, to eight significant digits.

    Args:
        median_squared: Median squared distance in int8 steps.
        step: The int8 step in units of the vectors.

    Example:
        >>> compute_median_distance(9, 0.5)
        1.5
    """
    return float(f"{median_squared**0.5 * step:.8g}")


def _convert_vector_epsilons(epsilons: Sequence[Decimal], unit: float, table: SanTextTable) -> dict[str, Decimal]:
    """Convert epsilons per unit of vector distance to exponents of the mechanism SanText.

    Exponents are rounded down to five significant digits. The result is a dictionary from the name of each level to its
    exponent. The name of a level is its epsilon as given. If one of these names equals the converted epsilon of another
    level, all levels are named by their converted epsilons instead.

    Args:
        epsilons: Textbook epsilons per unit of distance of the vectors.
        unit: Median distance of two words, in units of the vectors.
        table: Similar words (neighbors) of each word, with their distances as integers (scores).

    Raises:
        ExportError: An epsilon is too large or too small for these vectors.
    """
    scale = Decimal(unit)
    with localcontext(prec=5, rounding=ROUND_DOWN):
        exponents = [epsilon * scale / 2 for epsilon in epsilons]
    if exponents[0] < _SMALLEST_EXPONENT:
        raise ExportError(
            f"--epsilon {epsilons[0]} is too small: the median distance of two words is {unit:g}, so all words would "
            "be equally likely"
        )
    if not fits_integers(table, LevelSetting(exponents[-1])):
        with localcontext(prec=5, rounding=ROUND_DOWN):
            largest = 2 * find_largest_exponent(table) / scale
        raise ExportError(
            f"--epsilon {epsilons[-1]} is too large for these vectors: the largest that fits is "
            f"{largest.normalize():f}; fewer --neighbors allow a larger one"
        )
    names = [f"{epsilon.normalize():f}" for epsilon in epsilons]
    scaled = [f"{(2 * exponent).normalize():f}" for exponent in exponents]
    ambiguous = any(name in {*scaled[:number], *scaled[number + 1 :]} for number, name in enumerate(names))
    return dict(zip(scaled if ambiguous else names, exponents, strict=True))


def _rename_level(recipe: TextBundleRecipe, levels: dict[str, Decimal]) -> str | None:
    """Return the name of the default level (an epsilon) in ``levels``; ``None`` if the recipe has no default level.

    The recipe names a level by its epsilon, but ``levels`` can have other names for the same epsilons.

    Args:
        recipe: Settings of the bundle.
        levels: The exponent of each level by name, in the order of ``recipe.vector_epsilons``.
    """
    if recipe.default_level is None or recipe.vector_epsilons is None:
        return recipe.default_level
    requested = {f"{epsilon.normalize():f}": name for epsilon, name in zip(recipe.vector_epsilons, levels, strict=True)}
    return requested.get(recipe.default_level, recipe.default_level)


def _choose_level_settings(
    table: SanTextTable, distances: WordMetric, recipe: TextBundleRecipe, progress: Progress
) -> dict[LevelKey, LevelSetting]:
    """Choose the exponent and the base measure (factors of outputs) of SanText for each level and mechanism.

    A level is one epsilon. The keys of the result are pairs of a level's name and a mechanism, in the order of the
    levels.

    Args:
        table: Similar words (neighbors) of each word, with their distances as integers (scores).
        distances: Function object that computes the distance of two words.
        recipe: Settings of the bundle; they determine the method of the choice.
        progress: Callback that takes the name of a stage, the number of its finished steps, and their total number.
    """
    if recipe.certified_epsilons is not None:
        return calibrate_certified_epsilon(
            table, distances, recipe.certified_epsilons, progress, flatten_to=recipe.flatten_to
        )
    if recipe.levels is None:
        return calibrate_unchanged_share(table, distances)
    return {
        (name, mechanism): LevelSetting(exponent)
        for name, exponent in recipe.levels.items()
        for mechanism in layout.TABLE_MECHANISMS
    }


def _add_tensor(tensors: dict[str, NDArray[Any]], name: str, array: NDArray[Any]) -> str:
    """Add an array to the dictionary ``tensors``. If an equal array is already there, nothing is added.

    Returns:
        The name of the array in ``tensors``: ``name``, or the name of the equal array.
    """
    for other, existing in tensors.items():
        if existing.dtype == array.dtype and np.array_equal(existing, array):
            return other
    tensors[name] = array
    return name


def _find_largest_score(distances: WordMetric, outputs: NDArray[np.intp]) -> int:
    """Return the largest score (integer distance) between any word and any of the possible output words."""
    inputs = np.arange(len(distances.rows))
    return max(
        int(distances.compute_scores(squared[:, outputs].max()))
        for _, squared in distances.iterate_squared_blocks(inputs)
    )
