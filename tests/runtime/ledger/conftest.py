"""Ledgers in a folder of their own."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from textveil import Ledger


@pytest.fixture
def folder() -> Iterator[Path]:
    """Return a folder in memory if there is one, since flushes cost nothing there."""
    memory = Path("/dev/shm")
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as name:
        yield Path(name).resolve()


@pytest.fixture
def ledger(path: Path) -> Ledger:
    return Ledger(path)


@pytest.fixture
def memo(path: Path, tmp_path: Path) -> Ledger:
    pytest.importorskip("cryptography")
    return Ledger(path, replay_cache_key=tmp_path / "memo.key")
