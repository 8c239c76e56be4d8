"""The page of languages counts words by position, and its rule of capitals reads sentences."""

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

FOLDER = Path(__file__).parents[2] / "benchmarks" / "languages"


@pytest.fixture
def compare(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    monkeypatch.syspath_prepend(FOLDER)
    spec = importlib.util.spec_from_file_location("compare_languages", FOLDER / "compare.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    yield module
    sys.modules.pop("measure_pack", None)


@pytest.mark.parametrize(
    ("text", "hidden"),
    [
        ("Luego vino Ana Ruiz. Ella dijo: No", "Ana Ruiz"),
        ("el 5 de mayo en León", "5 León"),
        ("ana\nRosa y Eva", "Eva"),
        ("\u00abRosa\u00bb fue a Lugo-Este", "Lugo Este"),
    ],
)
def test_the_rule_of_capitals_hides_words_inside_sentences(compare: ModuleType, text: str, hidden: str) -> None:
    kept = compare.hide_capitals(text)
    assert [word for word in hidden.split() if all(kept[text.index(word) : text.index(word) + len(word)])] == []
    assert kept.count(0) == len(hidden.replace(" ", ""))


@pytest.mark.parametrize(("content", "problem"), [(None, "is missing"), ("", "has no texts"), ("\n", "has no texts")])
def test_a_file_without_texts_is_refused(
    compare: ModuleType, tmp_path: Path, content: str | None, problem: str
) -> None:
    path = tmp_path / "open.jsonl"
    if content is not None:
        path.write_text(content, "utf-8")
    with pytest.raises(SystemExit, match=problem):
        [*compare.read_marked_texts(path)]


def test_rows_have_the_shares_of_each_type(compare: ModuleType) -> None:
    texts = [("Luego vino Ana Ruiz a Lugo", [(11, 19, "PER"), (22, 26, "LOC")])]
    rows = [
        *compare.iterate_rows(
            "es", {"none": lambda text: bytearray(b"\1" * len(text)), "capitals": compare.hide_capitals}, texts
        )
    ]
    assert rows[0] == "| Spanish, as written | none | 100.0 | 100.0 |  | 0.0 |"
    assert rows[1] == "| Spanish, as written | capitals | 0.0 | 0.0 |  | 0.0 |"
    assert rows[3] == "| Spanish, lower case | capitals | 100.0 | 100.0 |  | 0.0 |"
