"""Refuses to build a package without the default bundle, which a checkout without symbolic links would do silently."""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class RequireDefaultBundle(BuildHookInterface):
    """Runs before every wheel and source distribution; not for editable installs, which read the folder in place."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        law = Path(self.root, "src/textveil/bundle/builtin/english-v4/mechanism.json")
        if not law.is_file():
            raise FileNotFoundError(
                "src/textveil/bundle/builtin/english-v4 must be the bundle in artifacts/, a symbolic link or a copy; "
                "check out this repository with symbolic links"
            )
