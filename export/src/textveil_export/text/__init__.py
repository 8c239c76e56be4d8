"""From words and their vectors to a bundle that ``textveil.Sanitizer`` loads."""

from textveil_export.text.level_weights import LevelSetting, make_level_parameters

__all__ = ["LevelSetting", "make_level_parameters"]
