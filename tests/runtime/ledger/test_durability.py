"""A ledger survives kills, power cuts and a full disk, and is shared by threads, forks and processes."""

import os
import sqlite3
from pathlib import Path

import pytest
from lost_writes import disks
from small_ledger import SCOPE, entry, in_a_copy, killed_streams, request_of, text_of
from textveil import Ledger, Sanitizer
from textveil.errors import LedgerDamaged, LedgerError, OutputError
from textveil.ledger import database
from textveil.release import Spend

resource = pytest.importorskip("resource")
pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")

ENTRY = entry("scope", Spend(3))
CONTRADICT = r"^the sums of a privacy unit differ from the sums of its releases: restore"


class Killed(sqlite3.Connection):
    """A connection that ends the process by SIGKILL before or after its n-th statement."""

    left, after = -1, False

    def execute(self, statement: str, *arguments: object) -> sqlite3.Cursor:  # type: ignore[override]
        if statement.startswith("PRAGMA"):
            return super().execute(statement, *arguments)  # type: ignore[arg-type]
        Killed.left -= 1
        if Killed.left == 0 and not Killed.after:
            os.kill(os.getpid(), 9)
        done = super().execute(statement, *arguments)  # type: ignore[arg-type]
        if Killed.left == 0:
            os.kill(os.getpid(), 9)
        return done


def killed_at(folder: Path, small: Sanitizer, statement: int, *, after: bool, faulty: bool = False) -> bytes:
    """Numbers of the outputs that left a stream that was killed at the n-th statement of its second release."""
    read_end, write_end = os.pipe()

    def work() -> None:
        ledger = Ledger(folder / "ledger")
        ledger.sanitize(small, text_of(7), privacy_unit=SCOPE)
        os.write(write_end, b"7\n")
        Killed.left, Killed.after = statement, after
        real = sqlite3.connect
        database.sqlite3.connect = lambda *given, **options: real(*given, factory=Killed, **options)  # type: ignore[attr-defined]
        if faulty:
            os.write(write_end, b"8\n")  # the output leaves first
        ledger.sanitize(small, text_of(8), privacy_unit=SCOPE)
        os.write(write_end, b"8\n")

    child = in_a_copy(work)
    os.close(write_end)
    os.waitpid(child, 0)
    with open(read_end, "rb") as outputs:
        return outputs.read()


def unknown(folder: Path, small: Sanitizer, outputs: bytes) -> list[int]:
    """Which outputs the ledger does not know. Its sums must be those of its rows."""
    ledger = Ledger(folder / "ledger")
    ledger.list_accounts()
    numbers = list(map(int, outputs.split()))
    return [n for n in numbers if not ledger.count_releases(SCOPE, request_of(small, text_of(n)))]


@pytest.mark.slow
def test_no_output_leaves_that_the_ledger_does_not_know_wherever_it_is_killed(small: Sanitizer, folder: Path) -> None:
    """The statements of a release: BEGIN, six that read, two that write, COMMIT."""
    left = []
    for case, (statement, after) in enumerate((n, after) for n in range(1, 12) for after in (False, True)):
        (place := folder / str(case)).mkdir()
        outputs = killed_at(place, small, statement, after=after)
        assert unknown(place, small, outputs) == []
        left.append(outputs)
    assert left[0] == b"7\n"
    assert left[-1] == b"7\n8\n"  # a release has fewer statements: this one was not killed


def test_an_output_that_leaves_first_is_found(small: Sanitizer, folder: Path) -> None:
    assert unknown(folder, small, killed_at(folder, small, 6, after=True, faulty=True)) == [8]


@pytest.mark.slow
@pytest.mark.parametrize(("kills", "least"), [(10, 13), pytest.param(1000, 1500, marks=pytest.mark.full)])
def test_streams_killed_at_random_leave_nothing_unknown(small: Sanitizer, folder: Path, kills: int, least: int) -> None:
    left, lost = killed_streams(folder, small, kills)
    print(f"{kills:,} kills: {left:,} outputs left, {lost} of them unknown to the ledger")
    assert (left >= least, lost) == (True, 0)


CHARGES = """
import os, sys
from textveil.storage import atomic_writes
from textveil.ledger import SpendEntry, Ledger, database
from textveil.release import Spend
atomic_writes.open_unnamed_file = lambda folder: None  # so that the trace sees names
database._PRAGMAS = tuple(p.replace("EXTRA", sys.argv[2]) for p in database._PRAGMAS)
ledger = Ledger(sys.argv[1] + "/ledger")
for number in range(3):
    entry = SpendEntry(privacy_unit="scope", request=b"%d" % number, mechanism="staircase", spend=Spend(1))
    ledger.record_spends([entry])
    os.write(1, b"%d\\n" % number)
"""


def after_power_cuts(folder: Path, synchronous: str) -> tuple[int, int, int]:
    """How many states of the disk there are; how many lost the charge of what had left; how many are damaged."""
    cases = lost = damaged = 0
    for disk, left in disks(CHARGES, folder, synchronous):
        cases += 1
        try:
            ledger = Ledger(disk / "ledger")
            ledger.list_accounts()
            lost += not all(ledger.count_releases("scope", output) for output in left.split())
        except LedgerError:
            damaged += 1
    return cases, lost, damaged


@pytest.mark.slow
def test_no_charge_is_lost_when_unflushed_writes_are(folder: Path) -> None:
    cases, lost, damaged = after_power_cuts(folder, "EXTRA")
    print(f"power cuts: {cases} states of the disk, {lost} lost a charge, {damaged} damaged")
    assert cases > 50
    assert (lost, damaged) == (0, 0)


@pytest.mark.slow
@pytest.mark.parametrize("synchronous", ["FULL", "OFF"])
def test_weaker_flushes_lose_charges(folder: Path, synchronous: str) -> None:
    """Without the folder's flush a removed journal may reappear and undo the spend."""
    assert after_power_cuts(folder, synchronous)[1] > 0


def test_a_full_disk_releases_nothing_and_leaves_the_ledger_sound(small: Sanitizer, folder: Path) -> None:
    ledger = Ledger(folder / "ledger")
    ledger.sanitize(small, "doctor", privacy_unit=SCOPE)
    size, results = ledger.path.stat().st_size, []
    for room in (0, 512, 4096, size - 1, size, size + 4096):
        read_end, write_end = os.pipe()

        def work(room: int = room, out: int = write_end) -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
            try:
                ledger.sanitize_batch(small, ["nurse flu"] * 200, privacy_unit=SCOPE)
            except LedgerError as error:
                os.write(out, str(error).encode())

        os.waitpid(in_a_copy(work), 0)
        os.close(write_end)
        with open(read_end, "rb") as said:
            results.append(said.read())
        assert ledger.list_accounts()[0][1] == 1
    assert set(results) == {b"the ledger cannot be written: the disk is full or fails; nothing was released"}


def test_a_full_disk_at_the_first_use_is_a_named_error(folder: Path) -> None:
    for room in (0, 16, 100, 5000):

        def work(room: int = room) -> None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (room, room))
            with pytest.raises((LedgerError, OutputError), match=r"cannot be written"):
                Ledger(folder / "ledger")

        _, status = os.waitpid(in_a_copy(work), 0)
        assert status == 0
    Ledger(folder / "ledger").record_spends([ENTRY])


def test_a_journal_from_before_takes_the_ledger_back_and_is_not_noticed(folder: Path) -> None:
    """SQLite accepts files restored to an earlier state: docs/privacy.md states that this is not detected."""
    ledger = Ledger(folder / "ledger")
    ledger.record_spends([ENTRY])
    before = ledger.path.read_bytes()
    ledger.record_spends([ENTRY])
    ledger.path.write_bytes(before)
    assert ledger.get_account("scope").epsilon_units == 3


@pytest.mark.parametrize("damage", ["cut", "header", "page", "text", "version"])
def test_a_damaged_ledger_is_refused(folder: Path, damage: str) -> None:
    ledger = Ledger(folder / "ledger")
    ledger.record_spends([ENTRY])
    content = bytearray(ledger.path.read_bytes())
    if damage == "cut":
        del content[5000:]
    elif damage == "header":
        content[:16] = b"x" * 16
    elif damage == "page":
        content[4096:] = os.urandom(len(content) - 4096)
    elif damage == "text":
        content = bytearray(b"dear diary\n" * 1000)
    else:
        content[60:64] = (1).to_bytes(4, "big")
    ledger.path.write_bytes(content)
    for use in (lambda: Ledger(folder / "ledger"), lambda: ledger.record_spends([ENTRY]), ledger.list_accounts):
        with pytest.raises(LedgerDamaged) as caught:
            use()
        version = "the ledger has format version 1, but this release reads version 2: move the ledger and its key"
        assert str(caught.value).startswith(("this file is not a textveil ledger", version))


def test_another_database_and_an_empty_one_are_refused(folder: Path) -> None:
    other = sqlite3.connect(folder / "ledger")
    other.execute("CREATE TABLE cats (name)")
    other.commit()
    other.close()
    with pytest.raises(LedgerDamaged, match=r"^this file is not a textveil ledger: name a ledger, or a new file$"):
        Ledger(folder / "ledger")


def changed(ledger: Ledger, statement: str) -> None:
    """Apply a change that a ledger never makes itself."""
    with sqlite3.connect(ledger.path) as other:
        other.execute(statement)
    other.close()


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE privacy_units SET epsilon = 2",
        "UPDATE privacy_units SET delta = 1",
        "UPDATE privacy_units SET unbounded = 1",
        "UPDATE releases SET epsilon = 2 WHERE number = 3",
        "DELETE FROM releases WHERE number = 3",
        "DELETE FROM privacy_units",
    ],
)
@pytest.mark.parametrize("open_again", [False, True])
def test_sums_that_do_not_fit_are_found_before_anything_is_released(
    small: Sanitizer, folder: Path, statement: str, open_again: bool
) -> None:
    """A ledger that checked the sums before and has two more releases since finds them too."""
    ledger, other = Ledger(folder / "ledger"), Ledger(folder / "ledger")
    ledger.record_spends([ENTRY])
    for _ in range(2):
        other.record_spends([ENTRY])
    changed(ledger, statement)
    ledger = Ledger(folder / "ledger") if open_again else ledger
    before = ledger.path.read_bytes()
    for use in (lambda: ledger.sanitize(small, "doctor", privacy_unit="scope"), lambda: ledger.record_spends([ENTRY])):
        with pytest.raises(LedgerDamaged, match=CONTRADICT):
            use()
    assert ledger.path.read_bytes() == before
    with pytest.raises(LedgerDamaged, match=CONTRADICT):
        ledger.list_accounts()
    ledger.record_spends([entry("another")])  # whose sums fit


def test_what_others_forget_and_begin_anew_is_no_damage(folder: Path) -> None:
    """Numbers of releases are assigned again, below the checked ones."""
    ledger, other = Ledger(folder / "ledger"), Ledger(folder / "ledger")
    ledger.record_spends([ENTRY] * 3)
    other.delete_privacy_unit("scope")
    other.record_spends([ENTRY])
    ledger.record_spends([ENTRY])
    assert ledger.get_account("scope").epsilon_units == 6
    assert ledger.list_accounts()[0][1] == 2


@pytest.mark.parametrize("left", ["nothing", 0, 1])
def test_a_ledger_that_is_gone_beside_its_key_does_not_begin_anew(folder: Path, left: str | int) -> None:
    path = folder / "ledger"
    ledger = Ledger(path)
    ledger.record_spends([ENTRY])
    path.unlink() if left == "nothing" else os.truncate(path, int(left))
    before = sorted((file.name, file.read_bytes()) for file in folder.iterdir())
    with pytest.raises(LedgerDamaged, match=r"^the ledger is missing or empty, .* rotate LEDGER --yes$"):
        Ledger(path)
    with pytest.raises(LedgerError):
        ledger.record_spends([ENTRY])
    assert sorted((file.name, file.read_bytes()) for file in folder.iterdir()) == before
    assert Ledger.rotate(path).list_accounts() == []
    assert (folder / "ledger.key").read_bytes() not in [content for _, content in before]
    Ledger(path).record_spends([ENTRY])


def test_a_file_of_one_byte_is_no_empty_ledger(folder: Path) -> None:
    (folder / "ledger").write_bytes(b"x")
    with pytest.raises(LedgerDamaged, match=r"^this file is not a textveil ledger: name a ledger, or a new file$"):
        Ledger(folder / "ledger")
    with pytest.raises(LedgerError, match=r"^the ledger does not exist: correct its path$"):
        Ledger.rotate(folder / "ledger")
    assert (folder / "ledger").read_bytes() == b"x"


@pytest.mark.slow
def test_a_first_use_that_is_killed_can_be_done_again(folder: Path) -> None:
    """A key is created after its ledger is on the disk: no kill leaves one without the other."""
    for case, (statement, after) in enumerate((n, after) for n in range(1, 16) for after in (False, True)):
        (place := folder / str(case)).mkdir()

        def work(place: Path = place, statement: int = statement, after: bool = after) -> None:
            Killed.left, Killed.after = statement, after
            real = sqlite3.connect
            database.sqlite3.connect = lambda *given, **options: real(*given, factory=Killed, **options)  # type: ignore[attr-defined]
            Ledger(place / "ledger").record_spends([ENTRY])

        _, status = os.waitpid(in_a_copy(work), 0)
        assert status in (0, 9)
        Ledger(place / "ledger").record_spends([ENTRY])
    assert case > 20
