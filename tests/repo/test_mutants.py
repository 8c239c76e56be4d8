"""Each mutant that tests/mutation/justified.toml lists is a change of code that exists."""

import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LISTED = tomllib.loads((ROOT / "tests" / "mutation" / "justified.toml").read_text("utf-8"))["mutant"]


def remove_spaces(code: str) -> str:
    return "".join(code.split())


@pytest.mark.parametrize("module", sorted({mutant["module"] for mutant in LISTED}))
def test_justified_mutants_change_existing_code(module: str) -> None:
    file = next(path for folder in ("runtime", "cli") if (path := ROOT / folder / "src" / module).is_file())
    code = remove_spaces(file.read_text("utf-8"))
    lines = [mutant["was"] for mutant in LISTED if mutant["module"] == module]
    assert [line for line in lines if remove_spaces(line) not in code] == []
