"""From words and their vectors to a bundle that ``textveil.Sanitizer`` loads."""

from textveil_export.text.build import Contents, Recipe, build_bundle
from textveil_export.text.calibrate_epsilon import DEFAULT_SHARES, by_certified_epsilon, by_unchanged_share
from textveil_export.text.flatten import flat_base, in_steps
from textveil_export.text.neighbors import nearest
from textveil_export.text.sources import Source
from textveil_export.text.staircase import StaircaseSettings, read_frequencies, staircase_arrays
from textveil_export.text.weights import GRID, Setting, fits, level_parameters, score_weights
from textveil_export.text.word_sets import Policy, assign_roles, english_lists
from textveil_export.text.write import write_bundle, write_certificate, write_statistics

__all__ = [
    "DEFAULT_SHARES",
    "GRID",
    "Contents",
    "Policy",
    "Recipe",
    "Setting",
    "Source",
    "StaircaseSettings",
    "assign_roles",
    "build_bundle",
    "by_certified_epsilon",
    "by_unchanged_share",
    "english_lists",
    "fits",
    "flat_base",
    "in_steps",
    "level_parameters",
    "nearest",
    "read_frequencies",
    "score_weights",
    "staircase_arrays",
    "write_bundle",
    "write_certificate",
    "write_statistics",
]
