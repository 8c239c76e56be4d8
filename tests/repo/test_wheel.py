"""Wheel and sdist of the runtime, built from a copy, work installed alone in an empty folder."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest
from textveil import __version__
from textveil.bundle.defaults import DEFAULT_BUNDLE_ID as DEFAULT_IDENTITY

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
BUNDLE = "textveil/bundle/builtin/english-v4"


def run(*arguments: str | Path, cwd: Path, **environment: str) -> "subprocess.CompletedProcess[bytes]":
    done = subprocess.run(
        [sys.executable, *map(str, arguments)],
        cwd=cwd,
        env={**os.environ, **environment},
        capture_output=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode() + done.stdout.decode()
    return done


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Build ``sdist``, ``wheel`` (from the tree), ``wheel from sdist``, and the wheel of the ``command``."""
    for package in ("build", "hatchling", "zopfli"):
        if find_spec(package) is None:
            pytest.skip(f"building needs the package {package}")
    root = tmp_path_factory.mktemp("wheel")
    tree = root / "tree"
    tree.mkdir()
    skip = shutil.ignore_patterns("__pycache__", "*.egg-info", "dist", "build")
    for name in ("runtime", "cli", "artifacts"):
        shutil.copytree(ROOT / name, tree / name, symlinks=True, ignore=skip)
    shutil.copy(ROOT / "LICENSE", tree / "LICENSE")
    build = ("-m", "build", "--no-isolation", "--outdir")
    run(*build, root / "first", "--sdist", "--wheel", tree / "runtime", cwd=root)
    run(*build, root / "command", "--wheel", tree / "cli", cwd=root)
    (sdist,) = (root / "first").glob("*.tar.gz")
    shutil.unpack_archive(sdist, root / "unpacked")  # Python 3.11.2, Debian's, has no filters of tarfile
    (unpacked,) = (root / "unpacked").iterdir()
    run(*build, root / "second", "--wheel", unpacked, cwd=root)
    found = {
        "sdist": sdist,
        "wheel": next((root / "first").glob("*.whl")),
        "command": next((root / "command").glob("*.whl")),
        "wheel from sdist": next((root / "second").glob("*.whl")),
    }
    return lambda kind: found[kind]


@pytest.fixture(scope="module")
def names(dist: Callable[[str], Path]) -> list[str]:
    with zipfile.ZipFile(dist("wheel")) as wheel:
        return wheel.namelist()


@pytest.fixture(scope="module")
def installed(dist: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Unpack the wheels of the library and of its command, without dependencies, into a folder."""
    if find_spec("pip") is None:
        pytest.skip("installing needs pip")
    target = tmp_path_factory.mktemp("installed")
    options = ("--no-deps", "--no-index", "--quiet", "--disable-pip-version-check")
    run("-m", "pip", "install", *options, "--target", target, dist("wheel"), dist("command"), cwd=target)
    return target


def test_names_and_version(dist: Callable[[str], Path]) -> None:
    assert dist("wheel").name == f"textveil-{__version__}-py3-none-any.whl"
    assert dist("sdist").name == f"textveil-{__version__}.tar.gz"


def test_the_wheel_holds_the_package_and_nothing_else(names: list[str]) -> None:
    source = ROOT / "runtime" / "src" / "textveil"
    modules = {path.relative_to(source).as_posix() for path in source.rglob("*.py")}
    packed = [
        name for name in names if name.startswith("textveil/") and not name.startswith("textveil/bundle/builtin/")
    ]
    assert modules <= {name.removeprefix("textveil/") for name in packed}
    data = [name for name in packed if name.startswith("textveil/data/")]
    assert {name.rpartition("/")[2] for name in data} == {path.name for path in (source / "data").iterdir()}
    others = (".py", "/py.typed", "/conversation/field-words.txt", *data)
    assert all(name.endswith(others) for name in packed)
    assert {name.split("/")[0] for name in names} == {"textveil", f"textveil-{__version__}.dist-info"}
    assert not [name for name in names if "test" in name.lower() or "__pycache__" in name or name.endswith(".pyc")]
    assert len(names) == len(set(names))


def test_the_wheel_holds_the_bundle_once(dist: Callable[[str], Path], names: list[str]) -> None:
    """Whole, byte for byte, and as files: no link, no second copy."""
    artifact = ROOT / "artifacts" / "english-v4"
    expected = sorted(f"{BUNDLE}/{path.name}" for path in artifact.iterdir())
    assert sorted(name for name in names if name.startswith("textveil/bundle/builtin/")) == expected
    parts = ("manifest.json", "mechanism.json", "characters.json", "vocabulary.tsv")
    for part in (*parts, "staircase.safetensors", "function-words.txt", "entity.given.txt"):
        assert sum(name.endswith(part) for name in names) == 1
    with zipfile.ZipFile(dist("wheel")) as wheel:
        for name in expected:
            content = wheel.read(name)
            assert content == (artifact / name.rpartition("/")[2]).read_bytes()
        manifest = wheel.read(f"{BUNDLE}/manifest.json")
    assert hashlib.sha256(manifest).hexdigest() == DEFAULT_IDENTITY
    assert sum(path.stat().st_size for path in artifact.iterdir()) <= 7_300_000


def test_the_wheel_is_small_enough_to_bundle(dist: Callable[[str], Path]) -> None:
    """At most the size that it had before it contained public facts and rules of languages."""
    assert dist("wheel").stat().st_size <= 3_617_782


def test_the_wheel_is_a_sound_archive(dist: Callable[[str], Path]) -> None:
    """The hook of the build writes the archive itself."""
    with zipfile.ZipFile(dist("wheel")) as wheel:
        assert wheel.testzip() is None
        for member in wheel.infolist():
            assert member.compress_type == zipfile.ZIP_DEFLATED
            assert member.external_attr >> 16 & 0o777 == 0o644
            assert member.date_time == (2020, 2, 2, 0, 0, 0)


def test_the_wheel_holds_its_license_and_what_it_needs(dist: Callable[[str], Path]) -> None:
    info = f"textveil-{__version__}.dist-info"
    with zipfile.ZipFile(dist("wheel")) as wheel:
        texts = {"LICENSE": ROOT / "LICENSE"} | {
            f"licenses/{path.name}": path for path in (ROOT / "runtime" / "licenses").iterdir()
        }
        assert {name.partition("/licenses/")[2] for name in wheel.namelist() if "/licenses/" in name} == set(texts)
        assert all(wheel.read(f"{info}/licenses/{name}") == path.read_bytes() for name, path in texts.items())
        metadata = wheel.read(f"{info}/METADATA").decode()
        bundle = json.loads(wheel.read(f"{BUNDLE}/manifest.json"))
    with zipfile.ZipFile(dist("command")) as wheel:
        entries = wheel.read(f"textveil_cli-{__version__}.dist-info/entry_points.txt").decode()
    assert "textveil = textveil_cli.__main__:main" in entries
    assert f"\nLicense-Expression: {bundle['license']}\n" in metadata
    assert "\nAuthor: textveil developers\n" in metadata
    assert "\nRequires-Python: >=3.11\n" in metadata
    needed = {line.split(":")[1].strip() for line in metadata.splitlines() if line.startswith("Requires-Dist")}
    assert {name.split(">")[0] for name in needed if "extra ==" not in name} == {"numpy", "regex"}
    of_extras = {re.split("[<>=;]", name)[0].strip() for name in needed if "extra ==" in name}
    assert of_extras == {"cryptography", "onnxruntime", "textveil-cli"}


def test_the_sdist_gives_the_same_wheel(dist: Callable[[str], Path]) -> None:
    with zipfile.ZipFile(dist("wheel")) as first, zipfile.ZipFile(dist("wheel from sdist")) as second:
        assert sorted(first.namelist()) == sorted(second.namelist())
        for name in first.namelist():
            if not name.endswith("/RECORD"):
                assert first.read(name) == second.read(name), name


def test_the_sdist_holds_files_and_no_links(dist: Callable[[str], Path]) -> None:
    with tarfile.open(dist("sdist")) as archive:
        members = archive.getmembers()
    assert not [member.name for member in members if not (member.isfile() or member.isdir())]
    assert sum(member.name.endswith("/staircase.safetensors") for member in members) == 1
    assert not [member.name for member in members if "/tests/" in member.name]


def test_the_wheel_works_alone(installed: Path, tmp_path: Path) -> None:
    """From an empty folder, with an empty home, no network module of ours, and nothing written."""
    home, here = tmp_path / "home", tmp_path / "here"
    home.mkdir()
    here.mkdir()
    environment = {
        "PYTHONPATH": str(installed),
        "PYTHONDONTWRITEBYTECODE": "1",
        **dict.fromkeys(("HOME", "USERPROFILE", "TMPDIR", "XDG_CACHE_HOME"), str(home)),
    }
    where = run("-c", "import textveil; print(textveil.__file__)", cwd=here, **environment).stdout.decode().strip()
    assert Path(where).is_relative_to(installed)
    text = "My doctor in Ljubljana said the biopsy was clean."
    done = run("-m", "textveil", "sanitize", "--text", text, cwd=here, **environment)
    assert re.fullmatch(rb"My doctor in .+ said the biopsy was clean\.\s*", done.stdout)
    assert b"Ljubljana" not in done.stdout
    done = run("-m", "textveil", "sanitize", "--protect", "words", "--text", text, cwd=here, **environment)
    assert len(done.stdout.split()) == 9
    assert (
        b"Kept: function words. Replaced at random: listed names, numbers. Randomized: 4 other words, "
        b"epsilon 10 per word, " in done.stderr
    )
    path = run("-m", "textveil", "info", "--path", cwd=here, **environment).stdout.decode().strip()
    assert Path(path).is_relative_to(installed)
    known = run("-m", "textveil", "info", "--json", "--expect-id", DEFAULT_IDENTITY, cwd=here, **environment)
    assert DEFAULT_IDENTITY.encode() in known.stdout
    assert list(home.iterdir()) == []
    assert list(here.iterdir()) == []


WITHOUT_THE_COMMAND = """
import sys
sys.modules["textveil_cli"] = None  # as if it were not installed
from textveil import Sanitizer
print(len(Sanitizer.load().sanitize("My doctor said").text.split()))
sys.argv = ["textveil", "sanitize", "--text", "a secret"]
import runpy
runpy.run_module("textveil", run_name="__main__")
"""


def test_the_library_works_without_the_command_and_the_command_says_what_to_install(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT_THE_COMMAND], cwd=tmp_path, capture_output=True, check=False)
    assert done.stdout.decode() == "3\n"
    assert (
        done.stderr.decode() == "textveil: the command is not installed: "
        "pip install textveil-cli (in a clone: pip install ./runtime ./cli)\n"
    )
    assert done.returncode == 1
