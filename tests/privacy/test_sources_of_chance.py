"""The package has one source of randomness for noise, ``os.urandom``; other uses of randomness are listed."""

import ast
from pathlib import Path

import pytest
import textveil
import textveil_cli

PACKAGES = [Path(package.__file__ or "").parent for package in (textveil, textveil_cli)]
SOURCES = sorted(path for package in PACKAGES for path in package.rglob("*.py"))

_MODULES = {"random", "secrets", "uuid", "_random", "numpy.random", "ssl"}
_NAMES = {"urandom", "getrandom", "default_rng", "RandomState", "SystemRandom", "getrandbits"}
_NAMES |= {"import_module", "__import__", "exec", "eval"}


def sources_of_chance(code: str) -> list[str]:
    """Every name in some source text that gives random numbers, or could hide one that does."""
    seen = []
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Import):
            seen += [alias.name for alias in node.names if alias.name in _MODULES]
        elif isinstance(node, ast.ImportFrom):
            full = [f"{node.module}.{alias.name}" for alias in node.names]
            seen += [name for name in (node.module, *full) if name in _MODULES]
            seen += [alias.name for alias in node.names if alias.name in _NAMES]
        elif isinstance(node, ast.Attribute) and (
            node.attr in _NAMES or ast.unparse(node) in ("np.random", "numpy.random")
        ):
            seen.append(node.attr)
        elif isinstance(node, ast.Name) and node.id in _NAMES:
            seen.append(node.id)
    return seen


#: What is not noise and takes chance too: names of temporary files, keys and nonces of the ledger, the key of a
#: conversation, tokens of the service, keys and names of requests of the gateway, ids of messages, a result's name,
#: rows of a report.
#: Modules are imported by names that are written there, or by those of our commands.
NO_NOISE = {
    "textveil/__main__.py": ["import_module", "import_module"],
    "textveil/conversation/exchange_state.py": ["urandom"],
    "textveil/ledger/database.py": ["urandom"],
    "textveil/lazy.py": ["import_module", "import_module"],
    "textveil/storage/atomic_writes.py": ["urandom", "urandom"],
    "textveil/storage/cryptography.py": ["import_module", "urandom", "import_module"],
    "textveil/storage/keys.py": ["urandom"],
    "textveil_cli/console/command.py": ["import_module", "import_module"],
    "textveil_cli/changes/run_review.py": ["random"],
    "textveil_cli/commands/doctor.py": ["__import__"],
    "textveil_cli/commands/gateway.py": ["secrets"],
    "textveil_cli/gateway/app.py": ["secrets"],
    "textveil_cli/gateway/client_request.py": ["secrets"],
    "textveil_cli/gateway/gateway_state.py": ["secrets"],
    "textveil_cli/gateway/mapping_database.py": ["urandom"],
    "textveil_cli/gateway/review_page.py": ["secrets"],
    "textveil_cli/gateway/telemetry.py": ["import_module", "import_module"],
    "textveil_cli/gateway/upstream.py": ["ssl"],
    "textveil_cli/integrations/agents.py": ["uuid"],
    "textveil_cli/integrations/datasets.py": ["secrets"],
    "textveil_cli/serve/server.py": ["secrets", "ssl"],
}


def test_the_package_names_one_source() -> None:
    """``os.urandom`` occurs once, in ``entropy.py``, for all samples."""
    assert len(SOURCES) > 10
    found = {_place(path): sources_of_chance(path.read_text(encoding="utf-8")) for path in SOURCES}
    assert {place: seen for place, seen in found.items() if seen} == {
        "textveil/mechanisms/entropy.py": ["urandom"],
        **NO_NOISE,
    }


def _place(path: Path) -> str:
    return next(path.relative_to(package.parent) for package in PACKAGES if package in path.parents).as_posix()


def test_temporary_files_are_the_only_other_use_of_chance() -> None:
    """``tempfile`` draws names of files; it is imported where files are for this process alone."""
    named = [_place(path) for path in SOURCES if "tempfile" in path.read_text(encoding="utf-8")]
    assert sorted(named) == ["textveil_cli/files/rejected_rows.py"]


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
