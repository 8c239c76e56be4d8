"""The script that renames modules and identifiers changes what a table names, wherever it is used, and nothing else."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest
from scripts import ROOT

SPEC = importlib.util.spec_from_file_location("rename", ROOT / "tools" / "rename.py")
assert SPEC is not None
assert SPEC.loader is not None
rename = importlib.util.module_from_spec(SPEC)
sys.modules["rename"] = rename
SPEC.loader.exec_module(rename)

FILES = {
    "pyproject.toml": '[tool.pyright]\ninclude = ["one/src", "tests"]\nextraPaths = ["one/src"]\n',
    "one/src/shop/__init__.py": 'from shop.sold import Thing\n\n__all__ = ["Thing"]\n',
    "one/src/shop/sold.py": (
        "from dataclasses import dataclass\n\n\n@dataclass\nclass Thing:\n    told: int\n\n"
        "    def said(self) -> int:\n        return self.told  # é 🎈 told\n\n\n"
        'def found(given: int) -> "Thing":\n    """See `Thing.said`."""\n    x = "🎈"; asked = given\n'
        "    return Thing(told=asked)\n"
    ),
    "one/src/shop/other.py": "def told() -> int:\n    return 1\n",
    "tests/one/test_sold.py": (
        "from shop import sold\nfrom shop.other import told\n\n\ndef test(monkeypatch):\n"
        '    monkeypatch.setattr(sold, "found", None)\n    assert sold.found(given=told()).said() == 1\n'
    ),
    "docs.md": "`shop.sold.Thing.said` is in `one/src/shop/sold.py`; sold, `told`. | `shop.sold:Thing.said` |\n",
}
TABLE = """
[modules]
"shop.sold" = "shop.items"

[names]
"shop.sold.Thing" = "Item"
"shop.sold.Thing.told" = "price"
"shop.sold.Thing.said" = "compute_price"
"shop.sold.found" = "make_item"
"shop.sold.found(given)" = "price"
"shop.sold.found(asked)" = "paid"
"""


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    for path, text in FILES.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, "utf-8")
    (tmp_path / "table.toml").write_text(TABLE, "utf-8")
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    subprocess.run(["git", "add", *FILES], cwd=tmp_path, check=True)
    return tmp_path


def run(root: Path, *options: str) -> int:
    return rename.main([str(root / "table.toml"), "--root", str(root), *options])


def texts(root: Path) -> dict[str, str]:
    found = (path for path in root.rglob("*") if path.is_file() and ".git" not in path.parts)
    return {path.relative_to(root).as_posix(): path.read_text("utf-8") for path in found}


@pytest.mark.slow
def test_a_table_is_applied_wherever_its_names_are_used(repository: Path) -> None:
    assert run(repository, "--modules") == 0
    assert run(repository) == 0
    after = texts(repository)
    assert after["one/src/shop/__init__.py"] == 'from shop.items import Item\n\n__all__ = ["Item"]\n'
    assert after["one/src/shop/items.py"] == (
        "from dataclasses import dataclass\n\n\n@dataclass\nclass Item:\n    price: int\n\n"
        "    def compute_price(self) -> int:\n        return self.price  # é 🎈 told\n\n\n"
        'def make_item(price: int) -> "Item":\n    """See `Item.compute_price`."""\n    x = "🎈"; paid = price\n'
        "    return Item(price=paid)\n"
    )
    assert after["tests/one/test_items.py"] == (
        "from shop import items\nfrom shop.other import told\n\n\ndef test(monkeypatch):\n"
        '    monkeypatch.setattr(items, "make_item", None)\n'
        "    assert items.make_item(price=told()).compute_price() == 1\n"
    )
    assert after["docs.md"] == (
        "`shop.items.Item.compute_price` is in `one/src/shop/items.py`; sold, `told`. "
        "| `shop.items:Item.compute_price` |\n"
    )
    assert after["one/src/shop/other.py"] == FILES["one/src/shop/other.py"]
    assert run(repository) == 0  # a table that is applied already changes nothing
    assert texts(repository) == after


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('[names]\n"shop.sold.Thing.said" = "told"', "told is defined in"),
        ('[names]\n"shop.sold.Thing.gone" = "left"', "not defined"),
        ('[names]\n"shop.sold.found(given)" = "asked"', "asked is taken"),
        ('[names]\n"shop.gone.found" = "left"', "not defined"),
        ('[words]\nsaid = "told"', "not unique"),
    ],
)
@pytest.mark.slow
def test_a_doubtful_table_changes_nothing(
    line: str, problem: str, repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (repository / "table.toml").write_text(line, "utf-8")
    before = texts(repository)
    assert run(repository) == 1
    assert problem in capsys.readouterr().err
    assert texts(repository) == before
