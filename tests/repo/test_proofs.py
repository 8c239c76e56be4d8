"""A proof must be read again when one of its functions changes."""

import re
from pathlib import Path

import pytest
from scripts import ROOT, load_script

record = load_script("docs/proofs/record.py")
PROOFS = sorted(path for path in record.PROOFS.glob("*.md") if path.name != "README.md")
SOURCE = '''
import math

LIMIT, OTHER = 3, 4


class Coin:
    """A coin."""

    sides: int = 2

    def toss(self, word: int) -> bool:
        """Tosses it."""
        return word < self.sides * LIMIT  # heads
'''


def test_every_proof_was_read_against_the_code_as_it_is() -> None:
    assert list(record.problems()) == []


@pytest.mark.parametrize("proof", PROOFS, ids=lambda path: path.stem)
def test_every_proof_names_functions_and_is_listed(proof: Path) -> None:
    functions = [claim.function for claim in record.claims() if claim.proof == proof]
    assert functions
    assert len(functions) == len(set(functions))
    assert f"]({proof.name})" in (record.PROOFS / "README.md").read_text("utf-8")


@pytest.mark.parametrize("proof", PROOFS, ids=lambda path: path.stem)
def test_a_module_that_a_proof_covers_names_it_at_its_top(proof: Path) -> None:
    modules = {claim.module for claim in record.claims() if claim.proof == proof}
    files = [file for module in modules if (file := record.module_file(module)) is not None]  # others are data
    tops = [file.read_text("utf-8").split('"""')[1] for file in files]
    assert any(f"docs/proofs/{proof.name}" in top for top in tops)


@pytest.mark.parametrize("proof", PROOFS, ids=lambda path: path.stem)
def test_what_the_text_of_a_proof_names_exists(proof: Path) -> None:
    named = re.findall(r"`(textveil\w*(?:\.\w+)+)`", proof.read_text("utf-8"))
    assert [name for name in named if not is_there(name)] == []


def test_a_changed_value_in_a_data_file_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "some").mkdir()
    (tmp_path / "some" / "rules.json").write_text('{"a": {"b": [1, 2]}, "c": 3}', "utf-8")
    monkeypatch.setattr(record, "SOURCES", (tmp_path,))
    first = record.data_hash("some.rules", "a.b")
    assert first is not None
    (tmp_path / "some" / "rules.json").write_text('{"c": 4, "a": {"b": [1,2]}}', "utf-8")
    assert record.data_hash("some.rules", "a.b") == first
    (tmp_path / "some" / "rules.json").write_text('{"a": {"b": [2, 1]}}', "utf-8")
    assert record.data_hash("some.rules", "a.b") != first
    assert record.data_hash("some.rules", "a.d") is record.data_hash("other.rules", "a") is None


def is_there(name: str) -> bool:
    """Whether a dotted name is a module, or something that a module defines."""
    parts = name.split(".")
    modules = [(".".join(parts[:end]), ".".join(parts[end:])) for end in range(len(parts), 1, -1)]
    files = [(record.module_file(module), rest) for module, rest in modules]
    return any(file and (not rest or record.code_hash(file.read_text("utf-8"), rest)) for file, rest in files)


@pytest.mark.parametrize("name", ["Coin", "Coin.toss", "LIMIT", "OTHER"])
def test_layout_comments_docstrings_and_types_do_not_count(name: str) -> None:
    other = SOURCE.replace('"""A coin."""', "").replace("Tosses it", "Throws it").replace("# heads", "")
    other = other.replace("word: int) -> bool", "word)").replace(
        "word < self.sides * LIMIT", "(word\n < self.sides * LIMIT)"
    )
    digest = record.code_hash(SOURCE, name)
    assert digest is not None
    assert record.code_hash(other, name) == digest


@pytest.mark.parametrize(
    ("old", "new", "name"),
    [
        ("word <", "word <=", "Coin.toss"),
        ("word <", "word <=", "Coin"),
        ("= 2", "= 3", "Coin"),
        ("3, 4", "3, 5", "LIMIT"),
        ("(self, word: int)", "(self, word: int = 0)", "Coin.toss"),
        ("    def toss", "    @staticmethod\n    def toss", "Coin.toss"),
    ],
)
def test_code_counts(old: str, new: str, name: str) -> None:
    assert record.code_hash(SOURCE.replace(old, new), name) not in (None, record.code_hash(SOURCE, name))


def test_what_is_not_defined_has_no_hash() -> None:
    assert record.code_hash(SOURCE, "Coin.flip") is record.code_hash(SOURCE, "toss") is None


@pytest.fixture
def workplace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """One wheel with the module above and one proof about it, which was read."""
    monkeypatch.setattr(record, "SOURCES", (tmp_path / "src",))
    (tmp_path / "src" / "play").mkdir(parents=True)
    (tmp_path / "src" / "play" / "coins.py").write_text(SOURCE)
    table = "".join(f"| `play.coins:{name}` | `new` |\n" for name in ("Coin.toss", "LIMIT"))
    (tmp_path / "coin.md").write_text(f"# Coin\n\n| function | code |\n|---|---|\n{table}")
    assert len(record.record(["coin.md"], tmp_path)) == 2
    assert list(record.problems(tmp_path)) == []
    return tmp_path


def test_a_planted_fault_asks_for_the_proof(workplace: Path) -> None:
    (workplace / "src" / "play" / "coins.py").write_text(SOURCE.replace("word <", "word <="))
    (problem,) = record.problems(workplace)
    assert problem.startswith("coin.md: play.coins:Coin.toss changed.")
    command = re.search(r"--looked-at (\S+)$", problem)
    assert command is not None
    record.record([command[1]], workplace)
    assert list(record.problems(workplace)) == []


def test_a_function_that_moved_is_found_and_one_that_is_gone_is_not(workplace: Path) -> None:
    (workplace / "src" / "play" / "coins.py").rename(workplace / "src" / "play" / "toys.py")
    assert all("--moved" in problem for problem in record.problems(workplace))
    assert list(record.follow(workplace)) == [
        "play.coins:Coin.toss -> play.toys:Coin.toss",
        "play.coins:LIMIT -> play.toys:LIMIT",
    ]
    assert list(record.problems(workplace)) == []
    (workplace / "src" / "play" / "toys.py").write_text("LIMIT = 3\n")
    assert next(record.problems(workplace)).startswith("coin.md: no play.toys:Coin.toss;")
    assert "by hand" in next(record.follow(workplace))
    with pytest.raises(ValueError, match="no play"):
        record.record(["coin.md"], workplace)
    with pytest.raises(ValueError, match="in no proof"):
        record.record(["Coin.flip"], workplace)


def test_the_sources_are_the_wheels() -> None:
    wheels = [source.relative_to(ROOT).parts[0] for source in record.SOURCES]
    assert wheels == ["runtime", "cli", "export", "server_training"]
