"""A finished bundle with another staircase: new neighbors or lists, the tables of SanText as they are."""

import json
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load_file
from textveil.bundle import CERTIFICATE, EMBEDDINGS, LAW, MANIFEST, STATISTICS, TABLE, VOCABULARY, Bundle
from textveil.mechanisms.baselines import KEPT, SANTEXT_OUTPUT, SANTEXT_PLUS_OUTPUT

from textveil_export.atomic import whole_folder
from textveil_export.errors import ExportError
from textveil_export.progress import Progress, no_progress
from textveil_export.text.build import Contents
from textveil_export.text.build_staircase import StaircaseRecipe, build_staircase
from textveil_export.text.context import with_credit
from textveil_export.text.sources import Source
from textveil_export.text.write import add_file, to_json, write_files


def renew_staircase(
    bundle: Bundle,
    recipe: StaircaseRecipe,
    folder: Path,
    *,
    attribution: str | None = None,
    force: bool = False,
    progress: Progress = no_progress,
) -> Bundle:
    """Writes a bundle with a new staircase beside the tables of SanText of a finished one.

    The vocabulary and the tables are copied byte for byte. Certificate and statistics are functions of these alone,
    so they are copied too, headed with the hash of the new ``law.json``.

    Args:
        bundle: The finished bundle, of words, with SanText.
        recipe: The staircase; it needs vectors of its own.
        folder: Where the new bundle goes. Its parent must exist.
        attribution: Whose work it is derived from; as before if None.
        force: Replace a bundle that is already there.
        progress: Called as stages advance.

    Returns:
        The new bundle, opened from its place.

    Raises:
        ExportError: The bundle has no SanText, or the recipe has no vectors or does not fit its words.
        WriteError: The target exists, or cannot be written. Nothing is left behind.
    """
    if not bundle.levels or bundle.tokens != "word":
        raise ExportError("a bundle of words with SanText is needed: without it, build the staircase with table")
    if recipe.vectors is None:
        raise ExportError("the staircase needs vectors of its own")
    manifest, law = (json.loads((bundle.path / name).read_text("utf-8")) for name in (MANIFEST, LAW))
    vectors = np.zeros((bundle.symbols, 1), dtype=np.float32)  # the recipe's take their place
    vocabulary = (bundle.path / VOCABULARY).read_bytes()
    source = Source(words=bundle.vocabulary, vectors=vectors, tokens=bundle.tokens, provenance={})
    part = build_staircase(source, recipe, progress, vocabulary=vocabulary)
    manifest["attribution"] = manifest["attribution"] if attribution is None else attribution
    if recipe.context is not None:
        manifest["attribution"] = with_credit(manifest["attribution"], recipe.context)
    tables = [TABLE, EMBEDDINGS]
    law |= part.law
    law["defaults"] = {**law["defaults"], "mechanism": "staircase", "staircase": part.defaults}
    contents = Contents(
        tensors={name: load_file(bundle.path / name) for name in tables} | part.files,
        texts={VOCABULARY: vocabulary.decode("utf-8")} | part.texts,
        law={key: value for key, value in law.items() if key != "files"},
        manifest={key: value for key, value in manifest.items() if key != "files"},
        statistics=_statistics(bundle) | {"staircase_k": part.tensors["neighbours"].shape[1]},
    )
    with whole_folder(folder, force=force) as partial:
        write_files(contents, partial)
        _copy_records(bundle, partial, tables)
        Bundle(partial)
    return Bundle(folder)


def _statistics(bundle: Bundle) -> dict[str, Any]:
    """What the card tells of the vocabulary and of SanText."""
    lines = [line.split("\t") for line in (bundle.path / VOCABULARY).read_text("utf-8").splitlines()]
    roles = bundle.table.roles
    return {
        "symbols": bundle.symbols,
        "spellings": sum(map(len, lines)),
        "merged": dict(sorted((spelling, line[0]) for line in lines for spelling in line[1:])),
        "dimension": bundle.metric.rows.shape[1],
        "kept_words": int(np.count_nonzero(roles & KEPT)),
        "santext_plus_outputs": int(np.count_nonzero(roles & SANTEXT_PLUS_OUTPUT)),
        "never_output": int(np.count_nonzero(roles & SANTEXT_OUTPUT == 0)),
        "k": bundle.table.neighbors.shape[1],
    }


def _copy_records(bundle: Bundle, folder: Path, tables: list[str]) -> None:
    """Puts certificate and statistics beside a manifest, once it is sure that they are of the same tables."""
    manifest = json.loads((folder / MANIFEST).read_text("utf-8"))
    for name in (*tables, VOCABULARY):
        if manifest["files"][name] != bundle.manifest["files"][name]:
            raise ExportError(f"{name} was not copied as it is: build the bundle with table")
    law_identity = manifest["files"][LAW]["sha256"]
    for name in bundle.manifest["files"]:
        if name in (CERTIFICATE, STATISTICS):
            text = (bundle.path / name).read_text("utf-8")
            data = text.replace(bundle.law_identity, law_identity, 1).encode()
            manifest["files"][name] = add_file(folder, name, data)
    (folder / MANIFEST).unlink()
    add_file(folder, MANIFEST, to_json(manifest).encode())
