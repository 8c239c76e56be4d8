"""Sanitizers over the built-in bundle and over tiny bundles made here, and three ways to run the command line.

What only a fixture needs is imported by it: some tests of this folder run on Pythons that have no exporter and no onnx.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np
import pytest
from forked import run_forked
from numpy.typing import NDArray
from overridden import overridden
from textveil import Encoder, Sanitizer
from textveil.cli.console import run
from textveil.cli.main import app
from textveil.mechanisms import entropy
from textveil.mechanisms.santext_plus import ReplacementCoin
from textveil.mechanisms.table import CAPPED, EXACT
from textveil.mechanisms.vector_noise import Releaser

if TYPE_CHECKING:
    from textveil_export.text.build import Contents

# Most frequent first. With the share below the first sixteen are common; "color" is a near copy of "colour".
_WORDS = (
    "the of and to in a said my was , . 's n't inside news side "
    "doctor nurse boston chicago biopsy scan clean dirty colour lyric zombie parallel success hunger river straße "
    "café жук strain wardrobe marble canyon piano lantern color"
)
_PIECES = (
    "the of and in said a ##s , . ' t 19 un ##aff ##able aff news side inside "
    "doctor nurse boston chicago bio ##psy scan clean z ##y ##va c ##é cafe ##1 strain marble piano"
)
WORDS, PIECES = _WORDS.split(), _PIECES.split()
LEVELS = {"low": "2", "high": "8"}


def vectors_of(words: Sequence[str]) -> NDArray[np.float32]:
    """Scattered vectors; a word that drops the ``u`` of another gets a near copy of its vector."""
    vectors = np.random.default_rng(11).standard_normal((len(words), 8)).astype(np.float32)
    for index, word in enumerate(words):
        twin = word.replace("or", "our")
        if twin != word and twin in words:
            vectors[index] = vectors[words.index(twin)]
    return vectors


def contents_of(
    words: Sequence[str] = WORDS,
    *,
    tokens: str = "word",
    share: float = 0.6,
    sensitive: Collection[str] = (),
    allow: Collection[str] = (),
    never: Collection[str] = (),
    k: int = 8,
    levels: dict[str, str] | None = None,
    embeddings: bool = True,
    tails: tuple[str, ...] = (CAPPED,),
) -> Contents:
    """A bundle in memory, made by the exporter from made-up vectors."""
    from textveil_export.text.build import Recipe, build_bundle
    from textveil_export.text.sources import Source
    from textveil_export.text.word_sets import Policy

    exponents = {name: Decimal(exponent) for name, exponent in (levels or LEVELS).items()}
    recipe = Recipe(
        name="tiny",
        policy=Policy(share, frozenset(sensitive), frozenset(allow), frozenset(never)),
        k=k,
        levels=exponents,
        default_level=next(iter(exponents)),
        embeddings=embeddings,
        tails=tails,
    )
    return build_bundle(Source(list(words), vectors_of(words), tokens, {"vectors": "made up"}), recipe)


@pytest.fixture(scope="session", autouse=True)
def no_configuration(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Nobody's configuration file changes what a test runs."""
    with pytest.MonkeyPatch.context() as patched:
        nowhere = tmp_path_factory.getbasetemp() / "nowhere" / "config.toml"
        patched.setattr("textveil.cli.configuration.user_file", lambda: nowhere)
        yield


@pytest.fixture(scope="session")
def make_contents() -> Callable[..., Contents]:
    """The exporter, from words and options to a bundle in memory."""
    return contents_of


@pytest.fixture(scope="session")
def make_bundle(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """The exporter, from words and options to a folder with a bundle."""

    def make(*args: Sequence[str], **options: object) -> Path:
        from textveil_export.text.write import write_bundle

        folder = tmp_path_factory.mktemp("made") / "bundle"
        write_bundle(contents_of(*args, **options), folder)  # type: ignore[arg-type]
        return folder

    return make


@pytest.fixture(scope="session")
def tiny_path(make_bundle: Callable[..., Path]) -> Path:
    """The folder of a bundle of 40 words."""
    return make_bundle()


@pytest.fixture
def copy(tiny_path: Path, tmp_path: Path) -> Path:
    """A copy of the tiny bundle, to damage."""
    return Path(shutil.copytree(tiny_path, tmp_path / "copy"))


@pytest.fixture(scope="session")
def tiny(tiny_path: Path) -> Sanitizer:
    """A sanitizer over 40 words, two levels."""
    return Sanitizer.load(tiny_path)


@pytest.fixture(scope="session")
def both_path(make_bundle: Callable[..., Path]) -> Path:
    """The folder of the same bundle with both tails, the exact one by default."""
    return make_bundle(tails=(EXACT, CAPPED))


@pytest.fixture(scope="session")
def both(both_path: Path) -> Sanitizer:
    """The same sanitizer with both tails, the exact one by default."""
    return Sanitizer.load(both_path)


@pytest.fixture(scope="session")
def pieces(make_bundle: Callable[..., Path]) -> Sanitizer:
    """A sanitizer over WordPieces."""
    return Sanitizer.load(make_bundle(PIECES, tokens="wordpiece"))


@pytest.fixture(scope="session")
def english() -> Sanitizer:
    """The built-in English bundle."""
    return Sanitizer.load()


@pytest.fixture(scope="session")
def tiny_encoder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of an encoder bundle of a few kilobytes."""
    from small_encoders import write_encoder

    return write_encoder(tmp_path_factory.mktemp("encoder") / "tiny")


@pytest.fixture
def nearest(monkeypatch: pytest.MonkeyPatch) -> None:
    """All random words are 0: common words are replaced, and every token becomes its nearest output."""
    monkeypatch.setattr(entropy, "random_uint64", lambda count: np.zeros(count, np.uint64))


@pytest.fixture(scope="session")
def flat_bundle(make_bundle: Callable[..., Path]) -> Path:
    """Two outputs and k = 1: every row is the base measure, and random words of 0 draw its first output."""
    words = ["zz", "yy", "the", "doctor", "do"]
    return make_bundle(words, share=1, never=words[2:], k=1)


@pytest.fixture
def constant(flat_bundle: Path, nearest: None) -> Sanitizer:
    """Every token becomes ``zz``: what is left is what the text gives away."""
    return Sanitizer.load(flat_bundle)


@pytest.fixture
def constant_clitic(make_bundle: Callable[..., Path], nearest: None) -> Sanitizer:
    """Every token becomes ``'s``."""
    words = ["'s", "yy", "the", "doctor"]
    return Sanitizer.load(make_bundle(words, share=1, never=words[2:], k=1))


@pytest.fixture
def keep_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """The coin of SanText+ always keeps."""
    monkeypatch.setattr(ReplacementCoin, "replaced", lambda coin, words: np.zeros(len(words), bool))


@dataclass(frozen=True)
class Ran:
    """What a command did."""

    code: int
    out: bytes
    err: bytes

    @property
    def text(self) -> str:
        """Standard output."""
        return self.out.decode()

    @property
    def message(self) -> str:
        """Standard error, which must be lines of our own and no traceback."""
        said = self.err.decode()
        assert "Traceback" not in said
        assert all(line.startswith("textveil: ") for line in said.splitlines()), said
        return said


@pytest.fixture
def command(tmp_path: Path) -> Callable[..., Ran]:
    """Runs ``python -m textveil`` as a process of its own, in an empty working folder."""
    folder = tmp_path / "cwd"
    folder.mkdir()

    def start(*arguments: str | Path, stdin: bytes | IO[bytes] = b"", **options: object) -> Ran:
        source = {"input": stdin} if isinstance(stdin, bytes) else {"stdin": stdin}
        done = subprocess.run(  # type: ignore[call-overload]
            [sys.executable, "-m", "textveil", *map(str, arguments)],
            **{
                "cwd": folder,
                "stdout": subprocess.PIPE,
                "stderr": subprocess.PIPE,
                "timeout": 120,
                **source,
                **options,
            },
        )
        return Ran(done.returncode, done.stdout or b"", done.stderr or b"")

    return start


@pytest.fixture
def forked(tmp_path: Path) -> Callable[..., Ran]:
    """Runs the command line in a copy of this process, in an empty working folder: faster than ``command``."""
    folder = tmp_path / "cwd"
    folder.mkdir()

    def start(*arguments: str | Path, **options: Any) -> Ran:
        done = run_forked(list(map(str, arguments)), cwd=folder, **options)
        return Ran(done.returncode, done.stdout, done.stderr)

    return start


@pytest.fixture
def here(capfdbinary: pytest.CaptureFixture[bytes]) -> Iterator[Callable[..., Ran]]:
    """Runs a command line inside this process, which keeps its own signal handlers."""
    handlers = {number: signal.getsignal(number) for number in (signal.SIGINT, getattr(signal, "SIGPIPE", 2))}

    def start(*arguments: str | Path) -> Ran:
        capfdbinary.readouterr()
        code = run(app, "textveil", [os.fspath(argument) for argument in arguments])
        captured = capfdbinary.readouterr()
        return Ran(code, captured.out, captured.err)

    yield start
    for number, handler in handlers.items():
        signal.signal(number, handler)


@pytest.fixture
def cli(here: Callable, tiny_path: Path) -> Callable:
    """``textveil sanitize`` over the tiny bundle, or over the one that is given, in this process."""
    return lambda *arguments: here(*overridden(["sanitize", "--bundle", tiny_path], arguments))


@pytest.fixture
def encode(here: Callable, tiny_encoder: Path) -> Callable:
    """``textveil encode`` with the tiny encoder, or with the one that is given, in this process."""
    return lambda *arguments: here(*overridden(["encode", "--bundle", tiny_encoder], arguments))


@pytest.fixture
def note(tmp_path: Path) -> Path:
    """A file of three documents: known words, none, and one known word."""
    path = tmp_path / "note.txt"
    path.write_bytes(b"The doctor, said.\n\nnurse zzz\n")
    return path


@pytest.fixture(scope="module")
def encoder(tiny_encoder: Path) -> Encoder:
    return Encoder.load(tiny_encoder)


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> None:
    """No noise: what is released is what the noise would be added to."""
    monkeypatch.setattr(Releaser, "release", lambda self, vectors: self.quantize(vectors)[0])


@pytest.fixture
def seen(encoder: Encoder, monkeypatch: pytest.MonkeyPatch) -> list[list[int]]:
    """The ids of everything the model is given."""
    calls: list[list[int]] = []
    run = encoder._session.run
    monkeypatch.setattr(encoder._session, "run", lambda ids: calls.append(ids) or run(ids))
    return calls
