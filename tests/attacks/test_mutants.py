"""A few hundred mutants of small bundles are handled; ``python tests/attacks/mutants.py`` runs any number."""

import sys
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from small_label_bundle import tensors_of
from small_staircase import BASE, NEIGHBORS, ROLES
from textveil.bundle.files import read_file
from textveil.errors import BundleDamaged
from textveil.mechanisms.staircase.label_staircase import LabelStaircase
from textveil.mechanisms.staircase.staircase import Staircase, StaircaseLevel, StaircaseTable

sys.path.insert(0, str(Path(__file__).parent))
import mutants
import promises

#: Too long for each push: `make nightly` runs these tests.
pytestmark = pytest.mark.full

MUTANTS = {"staircase": 200, "santext": 100, "index": 150, "vectors": 12}


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return mutants.small_bundles(tmp_path_factory.mktemp("small"))


@pytest.mark.parametrize(("name", "count"), MUTANTS.items(), ids=MUTANTS)
def test_mutants_are_refused_or_keep_their_promise(small: dict[str, Path], name: str, count: int) -> None:
    assert sum(path.stat().st_size for path in small[name].iterdir()) <= 200_000
    found, wrong = mutants.attack(small[name], count, seed=7, apart=name == "vectors")
    assert wrong == []
    assert found.total() == count
    assert any("sound" in became for became in found)
    assert any("refused" in became for became in found)


@pytest.mark.full
@pytest.mark.parametrize("name", ["staircase", "santext", "index"])
def test_thousands_of_mutants(small: dict[str, Path], name: str) -> None:
    assert mutants.attack(small[name], 10_000, seed=8)[1] == []


# --- planted faults: what goes wrong is seen -------------------------------------------------------------------------


def test_a_promise_that_is_broken_is_seen() -> None:
    """A neighbor that is stored twice breaks the bound; the reader refuses it, and the comparison detects it."""
    level = StaircaseLevel(name="l", epsilon=Decimal(4), share=Fraction(1, 4))
    everything = np.ones(len(BASE), dtype=bool)
    sound = StaircaseTable(NEIGHBORS, BASE, ROLES)
    promises.check_staircase(Staircase.from_table(sound, level, everything), Decimal(4))
    with pytest.raises(AssertionError, match="loses more"):
        promises.check_staircase(Staircase.from_table(sound, level, everything), Decimal("3.9"))


def test_a_channel_that_breaks_its_promise_is_seen() -> None:
    arrays = tensors_of()["randomizers.safetensors"]
    base, dealt = arrays["counts.4.base"], arrays["counts.4.budget"]
    channel = LabelStaircase.from_integers("counts", Decimal(4), base, dealt)
    promises.check_staircase(channel, Decimal(4))
    with pytest.raises(AssertionError, match="loses more"):
        promises.check_staircase(channel, Decimal(3))


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        (lambda folder: 1 / 0, "ZeroDivisionError"),
        (lambda folder: [None for _ in iter(int, 1)], "more than two seconds"),
        (lambda folder: promises.check_printable("\x1b[2J"), "control characters"),
    ],
    ids=["a crash", "a hang", "an escape"],
)
def test_what_goes_wrong_is_told(fault, told, tmp_path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    monkeypatch.setattr(mutants, "SECONDS", 0.05)
    assert told in mutants.attempt(tmp_path, fault)


def test_memory_is_told(small: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    peaks = iter([0, *[200_000] * 100])
    monkeypatch.setattr(mutants, "_peak_kilobytes", lambda: next(peaks))
    assert any("200 MB" in line for line in mutants.attack(small["index"], 3, seed=1)[1])


def test_a_check_that_is_left_out_is_seen(small: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the check of distinct neighbors, hundreds of mutants show it."""
    monkeypatch.setattr(StaircaseTable, "from_tensors", classmethod(_unchecked))
    _, wrong = mutants.attack(small["staircase"], 400, seed=7)
    assert wrong


def _unchecked(cls, tensors, symbols):  # type: ignore[no-untyped-def]
    if tensors["neighbors"].ndim != 2 or tensors["base"].shape != (symbols,):
        raise BundleDamaged("another shape")
    return cls(tensors["neighbors"], tensors["base"], tensors["roles"])


def test_files_are_read_in_one_place() -> None:
    """In the package of bundles only the checking function opens a file of a bundle; others read outputs."""
    from textveil import bundle

    sources = {path.name: path.read_text() for path in Path(bundle.__file__ or "").parent.glob("*.py")}
    ways = (".read_bytes(", ".open(", " open(", "(open(")
    opening = [name for name, source in sources.items() if any(way in source for way in ways)]
    assert sorted(opening) == ["files.py"]
    assert read_file.__module__ == "textveil.bundle.files"
