"""The pages of the site and the targets of their links (``make site`` checks all links)."""

import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "docs" / "site"))

import collect  # noqa: E402
import pytest  # noqa: E402
import textveil  # noqa: E402
from textveil import errors  # noqa: E402

CONFIG = (ROOT / "docs" / "site" / "mkdocs.yml").read_text("utf-8")


def test_every_page_of_the_navigation_is_there() -> None:
    named = re.findall(r": (\S+\.md)$", CONFIG, re.M)
    assert "docs/site/api.md" in named
    assert [name for name in named if not (ROOT / name).is_file()] == []


def test_every_guide_is_in_the_navigation() -> None:
    guides = [path.relative_to(ROOT).as_posix() for path in (ROOT / "docs" / "guides").glob("*.md")]
    assert [guide for guide in guides if f": {guide}\n" not in CONFIG] == []


def test_nothing_is_loaded_from_elsewhere() -> None:
    """The plugin that makes the search work without a server takes this script, or loads one from another host."""
    found = re.search(r"^  polyfills: \[(\S*iframe-worker\S*)\]", CONFIG, re.M)
    assert found is not None
    assert Path(found[1]) in collect.ASSETS
    assert all((ROOT / asset).is_file() for asset in collect.ASSETS)


def test_links() -> None:
    """Pages stay linked, files become their path, and what leads nowhere stays for the checker to find."""
    text = "[a](levels.md#x) [`Makefile`](../Makefile) [tests](../tests/) [proofs](proofs/) [gone](gone.md) [w](https://w.org)"
    found = collect.link_pages(text, Path("docs/privacy.md"), {Path("docs/levels.md"), Path("docs/proofs/README.md")})
    assert found == (
        "[a](levels.md#x) `Makefile` `tests` [proofs](proofs/README.md) [gone](gone.md) [w](https://w.org)"
    )


def test_versions_stay_beside_each_other(tmp_path: Path) -> None:
    for name in ("0.9.0", "0.10.0", "assets"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "index.html").write_text("") if name != "assets" else None
    assert collect.list_versions("0.2.0", tmp_path) == "0.2.0"
    listed = json.loads((tmp_path / "versions.json").read_text())
    assert [each["version"] for each in listed] == ["0.10.0", "0.9.0", "0.2.0"]
    assert 'href="0.2.0/index.html"' in (tmp_path / "index.html").read_text()
    assert collect.version() == textveil.__version__


def test_the_page_for_what_is_not_there_has_no_address_from_the_top_of_the_host() -> None:
    page = (
        '<head><link href="/assets/a.css"><script>x=new URL("/",location)</script></head><a href="/.">'
        '<h1>404 - Not found</h1><script id="__config">{"base": "/", "search": "/assets/w.js"}</script>'
    )
    found = collect.anywhere(page, "0.2.0")
    assert re.findall(r'(?:href|src|search)"?[=:] ?"/[^"]*"', found) == ['href="/0.2.0/"']
    assert found.startswith('<head><base href="/0.2.0/"><script>document.querySelector("base").href')
    assert "new URL(document.baseURI)" in found
    assert 'Begin at the <a href="index.html">' in found
    assert found.index('id="__config"') < found.index("JSON.stringify")


@pytest.mark.parametrize(
    ("origin", "address"),
    [
        ("https://example.org/a/textveil.git", "https://example.org/a/textveil"),
        ("https://me:key@example.org/a/textveil", "https://example.org/a/textveil"),
        ("git@example.org:a/textveil.git", "https://example.org/a/textveil"),
        ("ssh://git@example.org/a/textveil", "https://example.org/a/textveil"),
        ("/srv/textveil", ""),
        ("", ""),
    ],
)
def test_the_repository_is_linked_where_it_is_on_the_web(origin: str, address: str) -> None:
    assert collect.address_of(origin) == address


def test_the_page_to_try_is_linked_above_the_first_section() -> None:
    home = collect.with_demo("# textveil\n\nIt rewrites.\n\n## One\n\n## Two\n")
    assert home.index("(demo/index.html)") < home.index("## One")
    assert home.count("demo/index.html") == 1


def test_every_public_name_is_in_the_reference() -> None:
    api = (ROOT / "docs" / "site" / "api.md").read_text("utf-8")
    shown = set(re.findall(r"^::: textveil\.\S*\.([A-Z]\w+)$", api, re.M))
    assert "::: textveil.errors\n" in api
    assert shown | {*vars(errors)} >= {name for name in textveil.__all__ if name != "__version__"}
    assert [name for name in shown if not hasattr(textveil, name)] == []  # the page says that all can be imported


def test_every_public_error_can_be_imported_from_the_library() -> None:
    public = {
        name for name, found in vars(errors).items() if isinstance(found, type) and found.__module__ == errors.__name__
    }
    assert {"TextveilError", "BudgetError"} <= public
    assert public - {*textveil.__all__} == set()
    assert [name for name in public if getattr(textveil, name) is not getattr(errors, name)] == []
