"""From words and their vectors to a bundle that ``textveil.Sanitizer`` loads."""

from textveil_export.text.level_weights import Setting, level_parameters

__all__ = ["Setting", "level_parameters"]
