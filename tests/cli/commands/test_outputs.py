"""No output replaces a ledger, a key, a bundle, an input or another output: this is checked before any spend."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from small_label_bundle import write_index
from small_staircase import small_staircase
from textveil import Ledger
from textveil.errors import KeyFileError, OutputError
from textveil.ledger import SpendEntry
from textveil.release import Spend
from textveil.storage import open_atomic_bytes, open_atomic_folder
from textveil.storage.protected_paths import get_file_id, is_inside

HERE = Callable[..., Any]
ENTRY = SpendEntry(privacy_unit="scope", request=b"request", mechanism="staircase", spend=Spend(3))
POSIX = pytest.mark.skipif(os.name != "posix", reason="links as POSIX has them")


@pytest.fixture(scope="module")
def bundles(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bundles")
    small_staircase(folder / "bundle")
    write_index(folder / "index")
    return folder


@pytest.fixture
def place(bundles: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a working folder with used ledgers, bundles, keys and inputs."""
    monkeypatch.chdir(tmp_path)
    shutil.copytree(bundles, tmp_path, dirs_exist_ok=True)
    (tmp_path / "books").mkdir()
    Ledger("books/ledger").record_spends([ENTRY])
    Ledger("books/other", key="books/named").record_spends([ENTRY])
    for name in ("memo", "receiver"):
        (tmp_path / name).write_bytes(os.urandom(31) + b"\xff")
        (tmp_path / name).chmod(0o600)
    (tmp_path / "in.txt").write_text("doctor\n")
    (tmp_path / "words.txt").write_text("nurse\n")
    (tmp_path / "in.csv").write_text("id,note\n1,doctor\n")
    return tmp_path


def held(place: Path) -> dict[str, bytes]:
    """All files, by name."""
    return {
        path.relative_to(place).as_posix(): path.read_bytes()
        for path in sorted(place.rglob("*"))
        if path.is_file() and not path.is_symlink()
    }


WAYS = {
    "text": ["sanitize", "-b", "bundle", "--text", "doctor", "-o", "{}"],
    "mapping": "sanitize -b bundle --text doctor --consistent --save-mapping {} -o out.txt".split(),
    "receipt": ["sanitize", "-b", "bundle", "in.txt", "--receipt", "{}", "--receipt-key", "receiver", "-o", "out.txt"],
    "table": ["sanitize", "-b", "bundle", "--csv", "-c", "note", "in.csv", "-o", "{}"],
    "quarantine": [
        "sanitize",
        "-b",
        "bundle",
        "--csv",
        "-c",
        "note",
        "in.csv",
        "-o",
        "out.csv",
        "--rejected-rows",
        "{}",
    ],
    "index": ["encode", "-b", "index", "--text", "doctor", "-o", "{}"],
}
OPTION = {"mapping": "--save-mapping", "receipt": "--receipt", "quarantine": "--rejected-rows"}
WITHOUT_A_LEDGER = {
    "restored": ["restore", "--mapping", "in.txt", "--text", "doctor", "-o", "{}"],
    "export": ["ledger", "export", "books/other", "--ledger-key", "books/named", "-o", "{}"],
}
OF_THE_LEDGER = ["ledger", "ledger.key", "ledger-journal", "ledger-wal", "ledger-shm"]
#: Every way with two of them, and every one of them in one way.
EACH = [*(("text", target) for target in OF_THE_LEDGER), *((way, OF_THE_LEDGER[1 + len(way) % 2]) for way in WAYS)]


def refused(here: HERE, place: Path, command: list[str], target: str, *more: str) -> str:
    """Run a command that must be refused with one line and change nothing; return the line."""
    before = held(place)
    ran = here(*(part.format(target) for part in command), *more)
    assert (ran.code, ran.out, ran.message.count("\n")) == (1, b"", 1), ran.message
    assert ran.message.endswith("; nothing was written\n")
    assert held(place) == before
    return ran.message


def also(way: str, role: str, name: str) -> str:
    """Return the message for an output that is also another file."""
    one = OPTION.get(way, "--output")
    return f"textveil: output: {one} is also {role} ('{name}'): name another file; nothing was written\n"


@pytest.mark.parametrize(("way", "target"), dict.fromkeys(EACH))
def test_a_file_of_the_ledger_is_never_an_output(here: HERE, place: Path, way: str, target: str) -> None:
    said = refused(here, place, WAYS[way], f"books/{target}", "--ledger", "books/ledger")
    role = {"ledger": "--ledger", "ledger.key": "the key of the ledger"}.get(target, "the journal of the ledger")
    assert said == also(way, role, target)
    assert Ledger("books/ledger").get_account("scope").epsilon_units == 3


@pytest.mark.parametrize(
    ("way", "target"), dict.fromkeys([*EACH, *((way, "ledger") for way in [*WAYS, *WITHOUT_A_LEDGER])])
)
def test_nor_where_no_ledger_is_named(here: HERE, place: Path, way: str, target: str) -> None:
    said = refused(here, place, (WAYS | WITHOUT_A_LEDGER)[way], f"books/{target}")
    assert said.startswith(f"textveil: output: {OPTION.get(way, '--output')}: ")


@pytest.mark.parametrize(
    ("way", "target"),
    [("text", "memo"), ("text", "receiver"), *((way, "books/named") for way in [*WAYS, *WITHOUT_A_LEDGER])],
)
def test_a_key_is_never_an_output(here: HERE, place: Path, way: str, target: str) -> None:
    message = "this file may be a key|is also --ledger-key|is also --receipt-key"
    assert any(part in refused(here, place, (WAYS | WITHOUT_A_LEDGER)[way], target) for part in message.split("|"))


@pytest.mark.parametrize("way", WAYS)
def test_keys_that_are_yet_to_be_made_are_no_outputs(here: HERE, place: Path, way: str) -> None:
    for option, role in (("--ledger-key", "--ledger-key"), ("--replay-cache-key", "--replay-cache-key")):
        more = ["--ledger", "books/new", option, "new.key"]
        if option == "--replay-cache-key":
            if way in ("table", "quarantine", "mapping"):
                continue
            more.append("--replay-cache")
        said = refused(here, place, WAYS[way], "./books/../new.key", *more)
        assert said == also(way, role, "new.key")
    new = refused(here, place, WAYS[way], "books/new.key", "--ledger", "books/new")
    assert "is also the key of the ledger" in new
    assert not (place / "books" / "new").exists()


@POSIX
@pytest.mark.parametrize("named", [True, False])
def test_links_of_both_kinds_are_seen_through(here: HERE, place: Path, named: bool) -> None:
    more = ["--ledger", "books/ledger"] if named else []
    (place / "folder").symlink_to(place / "books")
    for number, target in enumerate(("ledger", "ledger.key")):
        os.link(place / "books" / target, place / f"hard{number}")
        (place / f"soft{number}").symlink_to(place / "books" / target)
        for path in (f"hard{number}", f"soft{number}", f"folder/{target}", str(place / "books" / target)):
            refused(here, place, WAYS["text"], path, *more)
    (place / "dangling").symlink_to(place / "books" / "ledger-journal")
    refused(here, place, WAYS["text"], "dangling", *more)
    refused(here, place, WAYS["text"], "folder/ledger-journal", *more)


def test_files_that_are_to_be_made_are_one_whatever_their_case(here: HERE, place: Path) -> None:
    """In a folder that ignores case they are one file, which is unknown before one of them exists."""
    ran = refused(here, place, WAYS["receipt"], "OUT.TXT")
    assert ran == "textveil: output: --receipt is also --output ('OUT.TXT'): name another file; nothing was written\n"
    assert "is also the key of the ledger" in refused(
        here, place, WAYS["text"], "books/NEW.KEY", "--ledger", "books/new"
    )


def test_inputs_bundles_and_other_outputs_stay(here: HERE, place: Path) -> None:
    for way, target, role in (
        ("text", "bundle/manifest.json", "--output is inside the folder of the bundle: choose another folder"),
        ("text", "bundle/sub/../new.txt", "--output is inside the folder of the bundle: choose another folder"),
        ("index", "index/new", "--output is inside the folder of the bundle: choose another folder"),
        ("quarantine", "bundle/bad", "--rejected-rows is inside the folder of the bundle: choose another folder"),
        ("quarantine", "in.csv", "--rejected-rows is also an input ('in.csv'): name another file"),
        ("quarantine", "out.csv", "--rejected-rows is also --output ('out.csv'): name another file"),
        ("receipt", "in.txt", "--receipt is also an input ('in.txt'): name another file"),
        ("mapping", "./out.txt", "--save-mapping is also --output ('out.txt'): name another file"),
    ):
        (place / "bundle" / "sub").mkdir(exist_ok=True)
        assert refused(here, place, WAYS[way], target) == f"textveil: output: {role}; nothing was written\n"
    assert "is also an input" in refused(here, place, WAYS["text"], "words.txt", "--deny", "words.txt")
    assert "is also an input" in refused(here, place, WITHOUT_A_LEDGER["restored"], "in.txt")
    out = here("sanitize", "-q", "-b", "bundle", "--text", "doctor", "-o", "out.txt")
    assert out.code == 0


@pytest.mark.parametrize("role", ["--ledger", "the key of the ledger", "the journal of the ledger", "--ledger-key"])
def test_no_file_of_an_output_folder_is_one_of_the_ledger(here: HERE, place: Path, role: str) -> None:
    """``--plain`` takes files of any name."""
    ledger, key = "out/x", "books/named"
    name = {"the key of the ledger": "x.key", "the journal of the ledger": "x-journal"}.get(role, "x")
    if role == "--ledger-key":
        ledger, key = "books/other", "out/x"
    (place / "in").mkdir()
    shutil.copy("in.txt", place / "in" / name)
    more = [] if role == "the key of the ledger" else ["--ledger-key", key]
    command = f"sanitize -b bundle --plain in/{name} in.txt --workers 2 -o out --ledger {ledger}".split()
    said = refused(here, place, [*command, *more], "")
    assert said == also("table", role, name)


def test_the_library_never_replaces_a_ledger_or_a_key(place: Path) -> None:
    """Whoever writes: ``open_atomic_bytes`` is the only writer."""
    before = held(place)
    for target in (*(f"books/{name}" for name in OF_THE_LEDGER), "memo", "books/named"):
        with pytest.raises(OutputError, match=r"nothing was written$"), open_atomic_bytes(Path(target)):
            raise AssertionError
    with (
        pytest.raises(OutputError, match=r"this file (is a ledger|may be a key)"),
        open_atomic_folder(Path("books"), replace=True),
    ):
        raise AssertionError
    assert held(place) == before
    (place / "text").write_text("a text has 32 bytes as well: yes")
    (place / "random").write_bytes(os.urandom(33))
    for name in ("text", "random"):
        with open_atomic_bytes(place / name) as file:
            file.write(b"new")


def test_a_key_is_no_file_of_its_ledger_and_no_other_key(place: Path) -> None:
    before = held(place)
    for key in ("books/ledger", "books/ledger-journal", "./books/../books/ledger-wal"):
        for use in (Ledger, Ledger.rotate):
            with pytest.raises(KeyFileError, match=r"two paths are equal$"):
                use("books/ledger", key=key)
    for key in ("in.txt", "bundle/manifest.json", "books/other"):
        with pytest.raises(KeyFileError, match=r"a key file must have 32 bytes$"):
            Ledger.rotate("books/ledger", key=key)
    for key in ("books/named", "memo"):
        with pytest.raises(
            KeyFileError,
            match="this file is the key of another ledger: delete the file if no ledger needs it, or choose another",
        ):
            Ledger.rotate("books/ledger", key=key)
    assert held(place) == before
    pytest.importorskip("cryptography")
    with pytest.raises(KeyFileError):
        Ledger("books/ledger", replay_cache_key="books/ledger.key")


def test_places(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "file").write_text("1")
    assert get_file_id(tmp_path / "a" / ".." / "a" / "file") == get_file_id(tmp_path / "a" / "file")
    assert get_file_id(tmp_path / "a" / "caf\u00e9") == get_file_id(tmp_path / "a" / "CAFE\u0301")
    assert get_file_id(tmp_path / "a" / "FILE2") != get_file_id(tmp_path / "FILE2")
    assert is_inside(tmp_path / "a" / "b" / "c", tmp_path / "a")
    assert is_inside(tmp_path / "a", tmp_path / "a")
    assert not is_inside(tmp_path / "ab", tmp_path / "a")
    assert not is_inside(tmp_path / "ab", tmp_path / "nothing")


def test_a_dash_as_output_is_standard_output(here: HERE, place: Path) -> None:
    before = held(place)
    for run in ("sanitize in.txt --style tag -o -", "sanitize in.csv -c note -o -", "ledger export books/ledger -o -"):
        result = here(*run.split())
        assert result.code == 0, run
        assert result.out.strip(), run
    assert held(place) == before
