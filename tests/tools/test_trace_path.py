"""The tracer counts files, functions, changes of file and depth correctly for a package with known calls."""

import importlib
import sys
from pathlib import Path

import pytest
import trace_path


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    folder = tmp_path / "traced_package"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "inner.py").write_text("def double(x):\n    return 2 * x\n\nclass Body:\n    y = double(1)\n")
    (folder / "outer.py").write_text(
        "from traced_package import inner\n\n"
        "def first(x):\n    return second(x) + inner.double(x) + inner.double(x) + second(x)\n\n"
        "def second(x):\n    return sorted([x], key=lambda y: y)[0]\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(trace_path, "PACKAGES", ("traced_package",))
    yield importlib.import_module("traced_package.outer")
    for name in [name for name in sys.modules if name.startswith("traced_package")]:
        del sys.modules[name]


def test_counts_files_functions_changes_and_depth(package) -> None:
    length, files = trace_path.trace_call(lambda: package.first(1))
    # outer: first, second, its lambda; inner: double; back to outer for the last second.
    assert length == trace_path.PathLength(files=2, functions=4, changes_of_file=3, depth=3)
    assert [Path(file).name for file in files] == ["outer.py", "inner.py"]


def test_bodies_of_modules_and_classes_are_not_counted(package) -> None:
    length, files = trace_path.trace_call(lambda: importlib.reload(sys.modules["traced_package.inner"]))
    assert [Path(file).name for file in files] == ["inner.py"]
    assert (length.functions, length.changes_of_file, length.depth) == (1, 1, 1)


#: For each path the most files, and the most changes of file; ``None`` without a limit of changes.
MOST = {
    "sanitize, names, warm": (14, 45),
    "sanitize, words, warm": (12, 60),
    trace_path.CONVERSATION_PATH: (22, None),
    trace_path.TABLE_PATH: (45, None),
}


@pytest.mark.slow
@pytest.mark.parametrize("path", MOST)
def test_a_path_passes_through_few_files(path: str) -> None:
    """An engineer who follows one text opens each of these files."""
    record, (files, changes) = trace_path.trace_in_process(path), MOST[path]
    assert record["files"] <= files, record["paths"]
    assert changes is None or record["changes_of_file"] <= changes
