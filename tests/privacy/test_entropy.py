"""Randomness comes from the operating system: without it nothing is released, and equal bytes give equal texts."""

import os
import subprocess
import sys
from typing import Any

import pytest
from textveil import Sanitizer
from textveil.bundle.text_bundle import TextBundle
from textveil.errors import EntropyFailed
from textveil.mechanisms import entropy


def test_words_are_the_bytes_of_the_system(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "urandom", lambda count: bytes(range(count)))
    assert [hex(word) for word in entropy.random_uint64(2).tolist()] == ["0x706050403020100", "0xf0e0d0c0b0a0908"]
    assert len(entropy.random_uint64(0)) == 0


@pytest.mark.parametrize("given", [b"", b"\0" * 8, b"\0" * 7, None, "text", bytearray(10**6)], ids=repr)
@pytest.mark.parametrize("mechanism", ["santext+", "santext", "krr", "random", "fbdd"])
def test_a_short_read_releases_nothing(
    bundle: TextBundle, monkeypatch: pytest.MonkeyPatch, given: object, mechanism: str
) -> None:
    """Eight bytes for many words would be repeated for all of them: every token would become the same word."""
    monkeypatch.setattr(os, "urandom", lambda count: given[:20] if isinstance(given, bytearray) else given)
    epsilon: dict[str, Any] = {"epsilon": 4} if mechanism in ("krr", "fbdd") else {}
    with pytest.raises(EntropyFailed) as caught:
        Sanitizer(bundle).sanitize(" ".join(bundle.vocabulary), mechanism=mechanism, **epsilon)
    assert "the operating system returned too few random bytes; nothing was released: try" in str(caught.value)


@pytest.mark.parametrize(
    "error", [OSError(5, "secret"), ValueError("secret"), MemoryError(), NotImplementedError("no source")], ids=repr
)
def test_an_error_of_the_source_is_named(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    """If the system has no generator, no other source replaces it."""

    def failing(count: int) -> bytes:
        raise error

    monkeypatch.setattr(os, "urandom", failing)
    with pytest.raises(
        EntropyFailed, match="no random bytes; nothing was released: check /dev/urandom and its permissions"
    ):
        entropy.random_uint64(3)


_CHILD = """
import os, sys
counter = iter(range(1, 10**6))
os.urandom = lambda count: b"".join((next(counter) * 0x9E3779B97F4A7C15 % 2**64).to_bytes(8, "little")
                                    for _ in range(count // 8))
from pathlib import Path
from textveil import Sanitizer
sanitizer = Sanitizer.load(Path(sys.argv[1]))
texts = [" ".join(sanitizer.bundle.vocabulary[i::3]) + " quokka, Unseen" for i in range(3)] * 40
calls = [{"mechanism": name} for name in ("santext", "santext+")]
for options in (*calls, {"mechanism": "krr", "epsilon": 3}, {"mechanism": "random"}):
    for result in sanitizer.sanitize_batch(texts, **options):
        print(result.text)
"""


@pytest.mark.slow
def test_the_same_bytes_give_the_same_text_in_every_process(bundle: TextBundle) -> None:
    """Two processes have different hash seeds: the output depends on no order of sets and on no address."""
    printed = [
        subprocess.run(
            [sys.executable, "-c", _CHILD, str(bundle.path)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert printed[0] == printed[1]
    assert len(set(printed[0].split(b"\n"))) > 300
