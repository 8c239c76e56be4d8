"""The shipped bundles keep their integers through every change of their format.

The hashes are those of the bundles of format version 3, and cover every exact fraction. The built-in one was hashed
anew when its rows and levels changed, and its lists when all modes began to read the same ones. Its hashes cover what
outputs depend on: they are equal for a bundle with all neighbors and for one without those that are never used.
"""

import hashlib
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from textveil.bundle import LabelBundle, StaticExtractorData, TextBundle, open_bundle
from textveil.bundle.defaults import DEFAULT_BUNDLE, find_artifact
from textveil.mechanisms.staircase import Staircase
from textveil_export.text.unused_neighbors import find_randomizable_words

ENGLISH = {
    "vocabulary": "12550a7e86b49b96120c7e45f03abf6f63fa052f99c33c91d9df9371f729fae7",
    "lists": "ccd5624c76d44f6f5443d46b3a442573d68b71362c41b35a6c1d06718938ac3e",
    "base": "eff20f7e53aaf74a38b78debec882feaf7e6454d2c9d1607ec4bfc445fd648f5",
    "roles": "fcbf710046d9e16f513b6ce3d9441790be007e28f20800aa97030359e947d04f",
    "levels of the staircase": "d773d1821624bba9e4855c0facf20934cb5f23923520f7f94ca90a4ec0e483c9",
    "lists to randomize": "8a8af3b9533375a42b9481412c070219f3affb6f26f398acdd2a82392cd6aa9b",
}
SANTEXT = {
    "vocabulary": "12550a7e86b49b96120c7e45f03abf6f63fa052f99c33c91d9df9371f729fae7",
    "table": "3ef13fbc4ca22b7c6e73d083dfdadbca8fedca3c622c44d4432f0c9dd3f66285",
    "metric": "749b12e00624fb3e8da6d5521d7c0aac89464524b3537ac3adae53bb68da4dce",
    "santext": "ee7c157869a2afabc82d2a1ff250aeb558bf0e9c2b4a5b80b515d9735f13081d",
    "santext+": "e0af2bb5465151242d3fbc3fbae9e729ebb82b4403647c9d25a009ddbe094db6",
}
INDEX = {
    "ag-static": {
        "extractor": "4d311154b9dd701e3638b9b848315e65242614ae829269aa0c41b47fa93db2d3",
        "codes": "21dd4e99fd5c025d9d979cc1e8580474bdcd371f3639f7531cb7322d5c06b983",
        "channels": "5aa210e505eafd03f58d395de682b02c727933cab2b331cebb7a37aab2db2cc5",
    },
}


def digest(*parts: Any) -> str:
    """Return a function that hashes arrays, with type and shape, and plain values."""
    sha = hashlib.sha256()
    for part in parts:
        if isinstance(part, np.ndarray):
            sha.update(f"{part.dtype.str}{part.shape}".encode())
            sha.update(np.ascontiguousarray(part).tobytes())
        else:
            sha.update(repr(part).encode())
    return sha.hexdigest()


def of_vocabulary(bundle: TextBundle) -> str:
    return digest(bundle.vocabulary, sorted(bundle.symbol_ids.items()))


def of_staircase(bundle: TextBundle) -> dict[str, str]:
    table, lists = bundle.staircase_table, bundle.template
    assert table is not None
    assert lists is not None
    levels: list[Any] = []
    for kept, lower, level in product((True, False), (False, True), bundle.staircase_levels):
        outputs = table.get_output_mask(function_words_kept=kept, lower=lower)
        one = Staircase.from_table(table, level, outputs)
        levels += [level.name, one.base, one.unit, one.factor, one.budget]
        levels += list_used(*one.distribute_budget(np.arange(table.symbol_count + 1)))
    inputs, listed = find_randomizable_words(bundle)
    on_list = listed[table.neighbors] & inputs[:, None]
    return {
        "vocabulary": of_vocabulary(bundle),
        "lists": digest(lists.function_words, [(kind.name, kind.shape, kind.utf_8) for kind in lists.entity_types]),
        "base": digest(table.base),
        "roles": digest(table.roles),
        "levels of the staircase": digest(*levels),
        "lists to randomize": digest(*list_used(table.neighbors.astype(np.int64), on_list.astype(np.int64))),
    }


def list_used(ids: NDArray[np.int64], parts: NDArray[np.int64]) -> list[Any]:
    """Return rows, ids and parts of all entries with a part, in their order."""
    used = parts > 0
    return [np.flatnonzero(used) // ids.shape[1], ids[used], parts[used]]


def of_santext(bundle: TextBundle) -> dict[str, str]:
    table, metric = bundle.table, bundle.metric
    assert metric is not None
    found = {
        "vocabulary": of_vocabulary(bundle),
        "table": digest(table.neighbors, table.scores, table.roles, table.grid),
        "metric": digest(metric.rows, metric.grid, metric.median_squared, metric.unknown_extra),
    }
    for mechanism in bundle.santext_levels[0].parameters:
        parts: list[Any] = []
        for level in bundle.santext_levels:
            law = level.parameters[mechanism]
            parts += [level.name, str(law.exponent), law.weights, table.compute_base_measure(mechanism, law)]
        found[mechanism] = digest(*parts)
    return found


def of_index(bundle: LabelBundle) -> dict[str, str]:
    parts = bundle.extractor
    if isinstance(parts, StaticExtractorData):
        extractor = digest(list(parts.words), parts.word_rows, parts.pair_rows, parts.scales, parts.max_characters)
    else:
        extractor = digest(list(parts.vocabulary), hashlib.sha256(parts.model).hexdigest(), parts.max_tokens)
    channels: list[Any] = []
    for name, levels in bundle.randomizers.items():
        for one in levels:
            channels += [name, f"{one.level.epsilon:f}", one.base, one.budget_matrix, one.unit, one.factor, one.budget]
    return {
        "extractor": extractor,
        "codes": digest(bundle.weight, bundle.bias, list(bundle.labels)),
        "channels": digest(*channels),
    }


def test_the_staircase_is_what_it_was() -> None:
    assert of_staircase(open_bundle(DEFAULT_BUNDLE, TextBundle)) == ENGLISH


def test_santext_is_what_it_was() -> None:
    assert of_santext(open_bundle(find_artifact("english-santext"), TextBundle)) == SANTEXT


@pytest.mark.parametrize("name", INDEX)
def test_encoders_are_what_they_were(name: str) -> None:
    assert of_index(open_bundle(find_artifact(name), LabelBundle)) == INDEX[name]
