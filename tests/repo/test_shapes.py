"""Records of four or more fields are built by keyword, and public APIs of packages are small.

A contract of lint-imports checks that wheels use public APIs alone.
"""

import ast
import importlib
from collections.abc import Iterator

import pytest
from scripts import ROOT
from textveil import errors

SOURCES = [ROOT / wheel / "src" for wheel in ("runtime", "cli", "export", "server_training")]
#: Names that a face may have; errors, which are all in ``textveil.errors``, are not counted.
MOST = 30
#: Named tuples: made for every word of a text, or once; or read as the tuples that they are.
TUPLES = {
    ("textveil/text/inflections.py", "SurrogatePair"),
    ("textveil/text/marked_html.py", "MarkedPiece"),
    ("textveil/text/names/entity_types.py", "EntityMention"),
    ("textveil/text/names/entity_types.py", "MentionPart"),
    ("textveil/text/names/reply_pairs.py", "RewrittenElement"),
    ("textveil/text/names/known_persons.py", "_Word"),
    ("textveil/text/names/tokens.py", "EntitySpan"),
    ("textveil/text/names/tokens.py", "NamesToken"),
    ("textveil/text/replaced_spans.py", "ReplacedSpan"),
    ("textveil/text/reply_matcher.py", "_PendingSurrogate"),
    ("textveil/text/rewrite/draws.py", "DrawIndex"),
    ("textveil/text/segmentation/patterns.py", "CharacterClasses"),
    ("textveil/text/statement.py", "RewrittenDocument"),
    ("textveil/text/token_rules/entity_types.py", "EntityType"),
    ("textveil/text/token_rules/rule.py", "ClassifiedToken"),
}


def records() -> Iterator[tuple[str, ast.ClassDef]]:
    for source in SOURCES:
        for path in sorted(source.rglob("*.py")):
            tree = ast.parse(path.read_text("utf-8"))
            found = (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
            yield from ((path.relative_to(source).as_posix(), node) for node in found)


def by_position(record: ast.ClassDef) -> int:
    """How many fields of a record can be given by their places."""
    made = " ".join(ast.unparse(one) for one in (*record.decorator_list, *record.bases))
    if not ("dataclass" in made or "NamedTuple" in made) or "kw_only=True" in made or "init=False" in made:
        return 0
    kinds = [ast.unparse(each.annotation) for each in record.body if isinstance(each, ast.AnnAssign)]
    fields = [kind for kind in kinds if not kind.startswith("ClassVar")]
    return fields.index("KW_ONLY") if "KW_ONLY" in fields else len(fields)


def test_records_of_four_fields_are_made_by_name() -> None:
    assert {(path, record.name) for path, record in records() if by_position(record) >= 4} == TUPLES


PACKAGES = [".".join(file.parent.relative_to(at).parts) for at in SOURCES for file in sorted(at.rglob("__init__.py"))]


@pytest.mark.parametrize("package", PACKAGES)
def test_a_face_is_small(package: str) -> None:
    names = set(getattr(importlib.import_module(package), "__all__", ())) - {*vars(errors), "__version__"}
    assert len(names) < MOST, f"{len(names)} names"
