"""Each integration pickles without text, needs no library for that, and names a missing extra."""

import json
import pickle
import re
from pathlib import Path

import numpy as np
import pytest
from canaries import SECRET
from processes import child
from small_staircase import small_staircase
from textveil.bundle import find_artifact, open_bundle
from textveil.errors import ContentHashMismatch, InputError, OptionError
from textveil_cli.integrations import ConfiguredSanitizer

ROOT = Path(__file__).parents[3]
SMALL = ROOT / "artifacts" / "english-v4"
#: Each module, the package that it needs and the extra that brings it.
MODULES = {
    "presidio": ("presidio_anonymizer", "presidio-anonymizer"),
    "spacy": ("spacy", "spacy"),
    "datasets": ("datasets", "datasets"),
    "pandas": ("pandas", "pandas"),
    "langchain": ("langchain_core", "langchain-core"),
}


@pytest.fixture(scope="module")
def rewriter() -> ConfiguredSanitizer:
    return ConfiguredSanitizer(SMALL, protect="words", epsilon=4, deny=["invoice"])


@pytest.mark.parametrize("pinned", [True, False])
def test_a_copy_from_a_pickle_says_what_its_user_pinned(pinned: bool) -> None:
    """Workers open a bundle by its identity, which their user may not have named."""
    folder = find_artifact("english-santext")
    identity = open_bundle(folder).content_hash
    before = ConfiguredSanitizer(folder, mechanism="santext", expect_id=identity if pinned else None)
    again = pickle.loads(pickle.dumps(before))
    (said,) = (result.statement for result in again.sanitize_texts(["a doctor"]))
    assert ("not recomputed" in str(said)) is not pinned
    assert again.terms == before.terms


def test_a_copy_from_a_pickle_is_the_same_and_holds_no_text(rewriter: ConfiguredSanitizer) -> None:
    before = pickle.dumps(rewriter)
    rewriter(f"the doctor said {SECRET}")
    rewriter.sanitize_cells([f"the nurse said {SECRET}", None])
    assert pickle.dumps(rewriter) == before
    assert b"Zorblax" not in before
    again = pickle.loads(before)
    assert again.terms == rewriter.terms
    assert again("the of") == "the of"
    assert "invoice" not in repr(again)


def test_another_bundle_in_that_folder_is_refused(tmp_path: Path) -> None:
    folder = small_staircase(tmp_path / "bundle")
    pickled = pickle.dumps(ConfiguredSanitizer(folder))
    small_staircase(folder, mode="all")
    with pytest.raises(ContentHashMismatch):
        pickle.loads(pickled)


def test_missing_cells_stay_and_others_must_be_strings(rewriter: ConfiguredSanitizer) -> None:
    cells = rewriter.sanitize_cells([None, "The", None, "of"])
    assert cells == [None, "The", None, "of"]
    assert rewriter.sanitize_cells(["The", SECRET], [False, True]) == ["The", SECRET]
    with pytest.raises(InputError, match=r"^cell 2 of 2 must be a string: convert the column first$"):
        rewriter.sanitize_cells(["The", 48213977])
    with pytest.raises(InputError):
        rewriter(None)  # type: ignore[arg-type]


def test_a_missing_cell_of_any_library_is_missing(rewriter: ConfiguredSanitizer) -> None:
    cells = rewriter.sanitize_cells([None, float("nan"), np.float32("nan"), np.float64("nan"), "of"])
    assert cells[4] == "of"
    assert not any(isinstance(cell, str) for cell in cells[:4])
    with pytest.raises(InputError, match=r"^cell 1 of 1 must be a string: convert the column first$"):
        rewriter.sanitize_cells([np.float32(4.8)])


def test_marks_of_missing_cells_are_one_for_each(rewriter: ConfiguredSanitizer) -> None:
    with pytest.raises(InputError, match="same length"):
        rewriter.sanitize_cells(["The", "of"], [False])


@pytest.mark.parametrize("given", [None, ["The"], {"note": "The"}, b"The", 5])
def test_one_text_is_a_string(rewriter: ConfiguredSanitizer, given: object) -> None:
    with pytest.raises(InputError, match="the text must be a string; for a column use sanitize_cells"):
        rewriter(given)  # type: ignore[arg-type]


def test_options_are_checked_before_there_is_a_text() -> None:
    with pytest.raises(OptionError):
        ConfiguredSanitizer(SMALL, epsilon=7)


@pytest.mark.slow
def test_a_missing_library_is_one_line_that_names_the_extra() -> None:
    code = f"""
import importlib, sys, textveil
for module, (package, _) in {MODULES!r}.items():
    sys.modules[package] = None  # as if it were not installed
    try:
        importlib.import_module(f"textveil_cli.integrations.{{module}}")
    except textveil.TextveilError as error:
        print(error.code, error)
"""
    assert child(code).splitlines() == [
        f"extra-missing this needs {distribution}: pip install 'textveil-cli[{module}]' "
        f"(in a clone: pip install './cli[{module}]')"
        for module, (_, distribution) in MODULES.items()
    ]


@pytest.mark.slow
def test_no_library_is_imported_unasked() -> None:
    code = """
import json, sys, textveil, textveil_cli.integrations
textveil_cli.integrations.ConfiguredSanitizer()
print(json.dumps(sorted(sys.modules)))
"""
    loaded = {name.partition(".")[0] for name in json.loads(child(code))}
    assert loaded.isdisjoint({package for package, _ in MODULES.values()} | {"starlette", "uvicorn"})


def test_every_extra_is_declared() -> None:
    import tomllib

    with (ROOT / "cli" / "pyproject.toml").open("rb") as file:
        project = tomllib.load(file)["project"]
    extras = project["optional-dependencies"]
    assert {re.split("[=>]", need)[0] for need in project["dependencies"]} == {"textveil", "typer"}
    for module, (_, distribution) in MODULES.items():
        assert extras[module][0].startswith(distribution)
        assert (ROOT / "examples" / f"with_{module}.py").is_file()
        assert (ROOT / "tests" / "cli" / "integrations" / f"test_{module}.py").is_file()
