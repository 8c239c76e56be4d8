"""A mapping can be encrypted; without the key, with another one, or after a change nothing is restored."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("cryptography")
Here = Callable[..., Any]
FIRST_LINE = b"textveil-encrypted-mapping 1: contains your original text, encrypted: do not send\n"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the working folder, with a table; keys are in another folder."""
    folder = tmp_path / "data"
    folder.mkdir()
    (tmp_path / "keys").mkdir()
    (folder / "calls.csv").write_text("id,note\n1,Refund Anna Novak.\n2,Anna Novak called.\n")
    monkeypatch.chdir(folder)
    return folder


TABLE = ("sanitize", "-q", "calls.csv", "-c", "note", "--style", "tag", "--document", "file", "-o", "sent.csv")
TEXT = ("sanitize", "-q", "--style", "tag", "--text", "Refund Anna Novak.")
SAVED = ("--save-mapping", "map", "--mapping-key", "../keys/m.key")
RESTORE = ("restore", "-q", "--mapping", "map", "--text", "[person 1] waits.")


@pytest.mark.parametrize("way", [TABLE, TEXT])
def test_a_mapping_is_encrypted_and_read(here: Here, place: Path, way: tuple[str, ...]) -> None:
    assert here(*way, *SAVED, "--report", "report.html").code == 0
    content = (place / "map").read_bytes()
    assert content.startswith(FIRST_LINE)
    assert b"Novak" not in content
    if os.name == "posix":
        assert {(place / name).stat().st_mode & 0o777 for name in ("map", "../keys/m.key")} == {0o600}
    ran = here(*RESTORE, "--mapping-key", "../keys/m.key")
    assert (ran.text, ran.message) == ("Anna Novak waits.\n", "")
    key = (place.parent / "keys/m.key").read_bytes()
    assert here(*way, *SAVED).code == 0
    assert (place.parent / "keys/m.key").read_bytes() == key
    assert (place / "map").read_bytes() != content


def test_what_does_not_restore(here: Here, place: Path) -> None:
    assert here(*TABLE, *SAVED).code == 0
    other, mapping = place.parent / "keys/other.key", place / "map"
    other.write_bytes(os.urandom(32))
    other.chmod(0o600)
    content = mapping.read_bytes()
    wrong = "textveil: key: the mapping cannot be decrypted: the file was altered, or the key is the wrong one\n"
    assert here(*RESTORE).message == (
        "textveil: input: --mapping: the file is encrypted: name its key with --mapping-key\n"
    )
    assert here(*RESTORE, "--mapping-key", other).message == wrong
    missing = here(*RESTORE, "--mapping-key", place.parent / "keys/none.key")
    assert missing.message == "textveil: key: --mapping-key: the file is missing or cannot be read\n"
    assert not (place.parent / "keys/none.key").exists()
    for place_of_byte in (len(FIRST_LINE), len(content) - 1):
        changed = bytearray(content)
        changed[place_of_byte] ^= 1
        mapping.write_bytes(changed)
        assert here(*RESTORE, "--mapping-key", "../keys/m.key").message == wrong
    mapping.write_bytes(content[:-1])
    assert here(*RESTORE, "--mapping-key", "../keys/m.key").message == wrong
    assert here(*TABLE, "--save-mapping", "map").code == 0
    assert here(*RESTORE, "--mapping-key", "../keys/m.key").message == (
        "textveil: input: --mapping: the file is not encrypted: omit --mapping-key\n"
    )


def test_the_mapping_of_another_table(here: Here, place: Path) -> None:
    assert here(*TABLE, *SAVED).code == 0
    reply = ("restore", "--mapping", "map", "--mapping-key", "../keys/m.key", "--text", "Ask Olga.")
    assert here(*reply).message == "textveil: 0 surrogates restored (this may be the mapping of another text)\n"


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--mapping-key", "../keys/m.key"), "--mapping-key needs --save-mapping: it encrypts the mapping"),
        (("--save-mapping", "map", "--mapping-key", "m.key"), "must be outside the folder of the mapping"),
        (("--save-mapping", "map", "--mapping-key", "in/m.key"), "must be outside the folder of the mapping"),
        (("--save-mapping", "map", "--mapping-key", "../keys/short.key"), "a key file must have 32 bytes"),
        (("--save-mapping", "map", "--mapping-key", "../no/m.key"), "its folder does not exist"),
        (("--save-mapping", "../keys/m.key", "--mapping-key", "../keys/m.key"), "--mapping-key"),
        (("--save-mapping", "map", "--mapping-key", "../keys/m.key", "-o", "../keys/m.key"), "--mapping-key"),
    ],
)
@pytest.mark.parametrize("way", [TABLE, TEXT])
def test_what_is_refused_before_any_draw(
    here: Here, place: Path, more: tuple[str, ...], said: str, way: tuple[str, ...]
) -> None:
    (place.parent / "keys/short.key").write_bytes(b"short")
    way = way[:-2] if "-o" in more and "-o" in way else way
    ran = here(*way, *more)
    assert said in ran.message
    assert (ran.code, ran.out) == (1, b"")
    assert [path.name for path in place.iterdir()] == ["calls.csv"]


def test_without_the_package(here: Here, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "cryptography.hazmat.primitives.ciphers.aead", None)
    ran = here(*TABLE, *SAVED)
    assert "--mapping-key needs the package cryptography" in ran.message
    assert [path.name for path in place.iterdir()] == ["calls.csv"]
