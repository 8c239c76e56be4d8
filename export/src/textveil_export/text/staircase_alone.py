"""A bundle with a staircase and nothing else, over the words of a finished bundle."""

from typing import Any

import numpy as np
from textveil import __version__
from textveil.bundle import TextBundle, layout

from textveil_export.errors import ExportError
from textveil_export.progress import Progress, no_progress
from textveil_export.text.build import Contents, manifest_head
from textveil_export.text.build_staircase import StaircaseRecipe, build_staircase
from textveil_export.text.characters import characters_json
from textveil_export.text.sources import Source


def staircase_alone(
    bundle: TextBundle,
    recipe: StaircaseRecipe,
    *,
    name: str,
    license: str,
    attribution: str,
    lists: dict[str, Any],
    progress: Progress = no_progress,
) -> Contents:
    """Builds a bundle with a staircase over the vocabulary of a finished bundle, which is copied byte for byte.

    Args:
        bundle: The finished bundle, of words.
        recipe: The staircase; it needs vectors of its own.
        name: Name of the new bundle.
        license: SPDX expression of the new bundle.
        attribution: Whose work it is derived from.
        lists: Names of the lists, for the manifest.
        progress: Called as stages advance.

    Raises:
        ExportError: The bundle is not one of words, or the recipe has no vectors or does not fit the words.
    """
    if bundle.tokens != "word":
        raise ExportError("the staircase is for words")
    if recipe.vectors is None:
        raise ExportError("the staircase needs vectors of its own")
    vocabulary = (bundle.path / layout.VOCABULARY).read_bytes()
    vectors = np.zeros((bundle.symbols, 1), dtype=np.float32)  # the recipe's take their place
    source = Source(words=bundle.vocabulary, vectors=vectors, tokens=bundle.tokens, provenance={})
    part = build_staircase(source, recipe, progress)
    provenance = {
        "words": f"those of {bundle.manifest.get('name')}",
        "exporter": f"textveil-export {__version__}",
        "lists": lists,
    }
    return Contents(
        tensors={layout.STAIRCASE: part.tensors},
        texts={
            layout.VOCABULARY: vocabulary.decode("utf-8"),
            layout.CHARACTERS: characters_json(),
            **part.texts,
        },
        law={
            "tokens": bundle.tokens,
            "symbols": bundle.symbols,
            "santext": None,
            **part.law,
            "defaults": {"mechanism": "staircase", "staircase": part.defaults},
        },
        manifest=manifest_head(name, license, attribution) | {"provenance": provenance},
        statistics=vocabulary_statistics(vocabulary.decode("utf-8"))
        | {"staircase_k": part.tensors["neighbours"].shape[1]},
    )


def vocabulary_statistics(vocabulary: str) -> dict[str, Any]:
    """Returns what the card says of the content of ``vocabulary.tsv``."""
    lines = [line.split("\t") for line in vocabulary.splitlines()]
    return {
        "symbols": len(lines),
        "spellings": sum(map(len, lines)),
        "merged": {spelling: line[0] for line in lines for spelling in line[1:]},
    }
