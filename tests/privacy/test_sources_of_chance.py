"""The package names one source of chance, ``os.urandom``; what takes chance and is no noise is listed."""

import ast
from pathlib import Path

import pytest
import textveil

SOURCES = sorted(Path(textveil.__file__).parent.rglob("*.py"))

_MODULES = {"random", "secrets", "uuid", "_random", "numpy.random", "ssl"}
_NAMES = {
    "random": {"np", "numpy"},  # the attribute, of these names only
    "urandom": None,
    "getrandom": None,
    "default_rng": None,
    "RandomState": None,
    "SystemRandom": None,
    "getrandbits": None,
    "import_module": None,
    "__import__": None,
    "exec": None,
    "eval": None,
}


def sources_of_chance(code: str) -> list[str]:
    """Every name in some source text that gives random numbers, or could hide one that does."""
    seen = []
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            seen += [alias.name for alias in node.names if alias.name in _MODULES]
        elif isinstance(node, ast.ImportFrom):
            full = [f"{node.module}.{alias.name}" for alias in node.names]
            seen += [name for name in (node.module, *full) if name in _MODULES]
            seen += [alias.name for alias in node.names if alias.name in _NAMES and alias.name != "random"]
        elif isinstance(node, ast.Attribute) and node.attr in _NAMES:
            owners = _NAMES[node.attr]
            if owners is None or (isinstance(node.value, ast.Name) and node.value.id in owners):
                seen.append(node.attr)
        elif isinstance(node, ast.Name) and node.id in _NAMES and _NAMES[node.id] is None:
            seen.append(node.id)
    return seen


#: What is no noise and takes chance too: names of temporary files, keys and nonces of the ledger, tokens of the service
#: and of a cluster, the name of a result. ``lazy.py`` imports modules of this package, by names that are written there.
NO_NOISE = {
    "bundle/leftovers.py": ["urandom", "urandom"],
    "cluster.py": ["secrets"],
    "integrations/datasets.py": ["secrets"],
    "ledger/crypto.py": ["urandom"],
    "ledger/keys.py": ["urandom"],
    "ledger/ledger.py": ["urandom"],
    "lazy.py": ["import_module", "import_module"],
    "serve/run.py": ["secrets", "ssl"],
}


def test_the_package_names_one_source() -> None:
    """``os.urandom``, once, in ``entropy.py``, for all that is drawn."""
    assert len(SOURCES) > 10
    found = {_place(path): sources_of_chance(path.read_text(encoding="utf-8")) for path in SOURCES}
    assert {place: seen for place, seen in found.items() if seen} == {"mechanisms/entropy.py": ["urandom"], **NO_NOISE}


def _place(path: Path) -> str:
    return path.relative_to(Path(textveil.__file__).parent).as_posix()


def test_temporary_files_are_the_only_other_use_of_chance() -> None:
    """``tempfile`` draws names of files; it is imported where files are for this process alone."""
    named = [_place(path) for path in SOURCES if "tempfile" in path.read_text(encoding="utf-8")]
    assert sorted(named) == ["cluster.py", "files/quarantine.py"]


@pytest.mark.parametrize(
    "code",
    [
        "import random",
        "import random as r",
        "from random import choice",
        "import numpy.random",
        "from numpy import random",
        "from numpy.random import default_rng",
        "import numpy as np\nnp.random.rand()",
        "import secrets",
        "from os import urandom",
        "import os\nos.getrandom(8)",
        "def f():\n    import uuid\n    return uuid.uuid4()",
        "__import__('random')",
        "import importlib\nimportlib.import_module('random')",
    ],
)
def test_other_sources_would_be_seen(code: str) -> None:
    assert sources_of_chance(code)
