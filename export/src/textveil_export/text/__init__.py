"""Build text bundles, which ``textveil.Sanitizer`` loads, from words and their vectors."""

from textveil_export.text.level_weights import LevelSetting, make_level_parameters

__all__ = ["LevelSetting", "make_level_parameters"]
