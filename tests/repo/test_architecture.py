"""The script draws the pictures of the architecture from the code alone."""

import re

import grimp
import pytest
from scripts import ROOT, load_script

architecture = load_script("docs/architecture.py")
GRAPH = grimp.build_graph(*architecture.SOURCES, cache_dir=None)


def draw_pictures() -> dict[str, str]:
    tops = architecture.read_top_packages()
    return {
        name: architecture.draw_picture(GRAPH, tops[shown], tops[shown.stop :])
        for name, shown in architecture.PICTURES.items()
    }


def test_the_committed_pictures_are_those_of_the_code() -> None:
    """If this fails: python docs/architecture.py."""
    assert [name for name, drawn in draw_pictures().items() if (ROOT / name).read_text("utf-8") != drawn] == []


def test_check_fails_if_a_picture_differs_and_writes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(architecture, "draw_picture", lambda *_: "<svg/>")
    with pytest.raises(SystemExit, match=r"architecture-device\.svg, docs/architecture-server\.svg: differs"):
        architecture.main(["--check"])
    assert (ROOT / "docs/architecture-device.svg").read_text("utf-8") != "<svg/>"


def test_every_package_has_a_box() -> None:
    drawn = "".join(draw_pictures().values())
    names = set(re.findall(r'<tspan font-weight="600">(\w+)</tspan>', drawn))
    folders = {file.parent.name for top, at in architecture.SOURCES.items()
               for file in (ROOT / at / "src" / top).glob("*/__init__.py")}  # fmt: skip
    assert names == folders | set(architecture.SOURCES)
    assert len(folders) > 20


@pytest.mark.parametrize("top", architecture.SOURCES)
def test_arrows_lead_down_and_none_is_implied(top: str) -> None:
    packages, edges = architecture.find_imports(GRAPH, top)
    ranks = architecture.rank_packages(packages, edges, architecture.read_layers(top))
    assert all(ranks[high] < ranks[low] for high, low in edges)
    assert not edges & {(a, c) for a, b in edges for other, c in edges if b == other}


def test_a_layer_is_never_above_a_higher_one() -> None:
    layers = [["a"], ["b", "c"], ["missing"], ["d"]]
    assert architecture.rank_packages(["a", "b", "c", "d"], {("a", "b")}, layers) == {"a": 0, "b": 1, "c": 0, "d": 1}


def test_an_import_through_a_module_is_an_arrow() -> None:
    graph = grimp.ImportGraph()
    graph.add_import(importer="textveil.conversation", imported="textveil.module")
    graph.add_import(importer="textveil.module", imported="textveil.ledger")
    graph.add_module("textveil")
    assert ("textveil.conversation", "textveil.ledger") in architecture.find_imports(_with_packages(graph), "textveil")[
        1
    ]


def _with_packages(graph: grimp.ImportGraph) -> grimp.ImportGraph:
    for name in ("bundle", "mechanisms", "storage", "text", "vector"):
        graph.add_module(f"textveil.{name}")
    return graph
