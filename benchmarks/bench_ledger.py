"""Measure the time of one spend, by the number of earlier releases of its privacy unit.

Before each spend the ledger compares the stored sums with the releases. An open ledger reads only the releases since
its last spend; a newly opened one reads all releases of the unit. A unit without releases is the limit.

    python benchmarks/bench_ledger.py
"""

import sqlite3
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from textveil.ledger import Ledger, SpendEntry
from textveil.release import Spend

ROUNDS = 40
SIZES = (0, 1_000, 10_000, 100_000)


def create_ledger(folder: Path, releases: int) -> Path:
    """Create a ledger with `releases` releases of one privacy unit, and as many of another one."""
    path = folder / "ledger"
    ledger = Ledger(path)
    ledger.record_spends(
        [
            SpendEntry(privacy_unit="measured", request=b"first", mechanism="staircase", spend=Spend(1)),
            SpendEntry(privacy_unit="other", request=b"", mechanism="staircase", spend=Spend(1)),
        ]
    )
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TEMP TABLE n (n)")
        connection.executemany("INSERT INTO n VALUES (?)", [(number,) for number in range(releases)])
        connection.execute(
            "INSERT INTO releases (day, privacy_unit, request, mechanism, epsilon, delta) "
            "SELECT day, privacy_unit, randomblob(32), mechanism, epsilon, delta FROM n, releases ORDER BY n"
        )
        connection.execute("UPDATE privacy_units SET epsilon = ?", (releases + 1,))
    connection.close()
    return path


def milliseconds(work: Callable[[int], object]) -> float:
    """Return the median processor time of one round in milliseconds; it does not include waiting for the disk."""
    times = []
    for number in range(ROUNDS):
        start = time.process_time()
        work(number)
        times.append(time.process_time() - start)
    return 1000 * statistics.median(times)


def charge(ledger: Ledger, number: int) -> None:
    """Spend epsilon 1 of the measured privacy unit."""
    ledger.record_spends(
        [SpendEntry(privacy_unit="measured", request=b"%d" % number, mechanism="staircase", spend=Spend(1))]
    )


def main() -> None:
    """Print a row for each number of releases."""
    print("ms of processor time for a charge, median")
    print(f"{'releases of the unit':>22}{'stays open':>12}{'opened anew':>13}")
    for size in SIZES:
        with tempfile.TemporaryDirectory(dir=Path()) as folder:
            path = create_ledger(Path(folder), size)
            ledger = Ledger(path)
            charge(ledger, 0)
            stays_open = milliseconds(lambda n, of=ledger: charge(of, n))
            opened_anew = milliseconds(lambda n, at=path: charge(Ledger(at), n))
            print(f"{size:>22,}{stays_open:>12.2f}{opened_anew:>13.2f}")


if __name__ == "__main__":
    main()
