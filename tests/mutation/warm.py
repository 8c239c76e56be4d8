"""Runs tests in copies of a process that has imported what no mutant changes: that takes longer than most tests.

python tests/mutation/warm.py serve SOCKET TEST...    runs the tests, imports what they did, says "passes", waits
python tests/mutation/warm.py run SOCKET              runs them again, until one fails; status 0 if none does
"""

import contextlib
import importlib
import json
import os
import resource
import signal
import socket
import sys
import time
from pathlib import Path

OPTIONS = ["-q", "-x", "--assert=plain", "-p", "no:cacheprovider", "-p", "_hypothesis_pytestplugin"]
#: Seconds of processor time that a mutant may take: so many times those of the sound code, and some.
TIMES, MORE = 4, 5


def passes(tests: list[str]) -> bool:
    """Run test files one after the other, until one fails; return whether all pass."""
    import pytest

    return all(pytest.main([*OPTIONS, test]) == 0 for test in tests)


def apart(tests: list[str], connection: socket.socket, seconds: int) -> None:
    """Run the tests in a copy of this process, which reports the result and its imports.

    Args:
        tests: Test files.
        connection: Receives the report.
        seconds: Limit of processor time.
    """
    if os.fork():
        return
    os.setsid()
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    null = os.open(os.devnull, os.O_RDWR)
    for stream in (1, 2):
        os.dup2(null, stream)
    before, status = time.process_time(), False
    with contextlib.suppress(BaseException):
        status = passes(tests)
    ours = ("textveil", "test", "conftest", "__main__")
    modules = [
        name
        for name, module in sys.modules.items()
        if not name.startswith(ours) and "site-packages" in str(getattr(module, "__file__", None))
    ]
    told = {"passes": status, "seconds": time.process_time() - before, "modules": modules}
    with contextlib.suppress(OSError), connection.makefile("w") as file:
        json.dump(told, file)
    os._exit(0)


def serve(place: str, tests: list[str]) -> None:
    """Run the tests once, and again at each request."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    near, far = socket.socketpair()
    apart(tests, far, 3600)
    far.close()
    first = json.load(near.makefile())
    for name in first["modules"]:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    seconds = MORE + int(TIMES * first["seconds"])
    Path(place).unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(place)
        listener.listen()
        print("passes" if first["passes"] else "fails", flush=True)
        while True:
            connection, _ = listener.accept()
            apart(tests, connection, seconds)
            connection.close()


def run(place: str) -> bool:
    """Asks the one who serves. A copy that ends without a word was killed, and failed."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(place)
        answer = connection.makefile().read()
    return bool(answer) and json.loads(answer)["passes"]


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(sys.argv[2], sys.argv[3:])
    sys.exit(not run(sys.argv[2]))
