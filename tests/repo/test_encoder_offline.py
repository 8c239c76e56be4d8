"""An encoder stays on the device: what encoding loads, opens and writes, seen by the interpreter and by the system."""

import json
import os
import re
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from processes import child
from small_encoders import identity_of, pinned

#: Calls that reach the network, or leave something in the file system.
_NAMES = """
    open openat openat2 creat mkdir mkdirat mknod mknodat link linkat symlink symlinkat rename renameat renameat2 unlink
    unlinkat rmdir truncate ftruncate chmod fchmod fchmodat utimensat setxattr memfd_create shmget io_uring_setup ptrace
"""
CALLS = ",".join(["%network", "%process", *(f"?{name}" for name in _NAMES.split())])  # ?: where this system has it
_CALL = re.compile(r"^(?:\d+ +)?(\w+)\((.*)")
_OPENING = {"open", "openat", "openat2"}
_WRITING = re.compile(r"\b(O_WRONLY|O_RDWR|O_CREAT|O_TRUNC|O_APPEND|O_TMPFILE)\b")
_HARMLESS = {"exit", "exit_group", "wait4", "clone", "clone3", "vfork", "fork"}  # threads, and what execve follows


def suspicious(trace: str) -> list[str]:
    """Return the calls of a trace that open a socket, write to a file system or start a program, successful or not."""
    found, started = [], False
    for line in trace.splitlines():
        call = _CALL.match(line)  # also of a line that another thread interrupted
        if call is None:
            continue
        name, arguments = call.groups()
        if name in _OPENING:
            harmless = not _WRITING.search(arguments) or '"/dev/null"' in arguments
        elif name == "execve":  # the interpreter itself
            harmless, started = not started, True
        else:
            harmless = name in _HARMLESS
        if not harmless:
            found.append(line)
    return found


def traced(tmp_path: Path, *arguments: str | Path, **environment: str) -> tuple[str, Path]:
    """Run Python under strace in an empty folder; return the trace and the folder."""
    if shutil.which("strace") is None:
        pytest.skip("this system has no strace")
    place, log = tmp_path / "place", tmp_path / "trace.txt"
    place.mkdir()
    command = ["strace", "-f", "-qq", "-e", f"trace={CALLS}", "-o", log, sys.executable, "-B", "-s", *arguments]
    inherited = {key: entry for key, entry in os.environ.items() if not key.startswith(("ORT_", "XDG_", "PYTHON"))}
    done = subprocess.run(
        list(map(str, command)),
        cwd=place,
        env={**inherited, **dict.fromkeys(("HOME", "TMPDIR", "XDG_CACHE_HOME"), str(place)), **environment},
        capture_output=True,
        timeout=300,
        check=False,
    )
    trace = log.read_text("utf-8", "replace") if log.exists() else ""
    if "execve(" not in trace:
        pytest.skip(f"strace may not trace here: {done.stderr.decode().strip()[:100]}")
    assert done.returncode == 0, done.stderr
    return trace, place


def test_the_trace_sees_what_it_is_for(tmp_path: Path) -> None:
    code = """
        import os, socket, subprocess
        socket.socket(socket.AF_INET).close()
        open("left", "w").close()
        os.mkdir("folder")
        subprocess.run(["/bin/true"])
    """
    trace, place = traced(tmp_path, "-c", textwrap.dedent(code))
    found = "\n".join(suspicious(trace))
    for call in ("socket(AF_INET", '"left"', 'mkdir("folder"', "/bin/true"):
        assert call in found or call.replace("mkdir(", "mkdirat(AT_FDCWD, ") in found, call
    assert (place / "left").exists()


@pytest.mark.slow
def test_encoding_opens_no_socket_and_writes_no_file(tiny_encoder: Path, tmp_path: Path) -> None:
    """The whole command, from the first instruction of the interpreter to the last, all threads."""
    trace, place = traced(tmp_path, "-m", "textveil", "encode", *pinned(tiny_encoder), "--text", "The doctor said.")
    assert f"{tiny_encoder}/model.onnx" in trace
    assert "onnxruntime" in trace
    assert suspicious(trace) == []
    assert list(place.iterdir()) == []


def test_two_threads_and_a_failure_stay_offline(tiny_encoder: Path, tmp_path: Path) -> None:
    code = """
        import sys
        from textveil import Encoder, TextveilError
        encoder = Encoder.load(sys.argv[1], expect_id=sys.argv[2], threads=2)
        for _ in range(3):
            encoder.encode("the doctor said", word_dropout=0.5)
        try:
            encoder.encode("poison")
        except TextveilError:
            pass
    """
    trace, place = traced(tmp_path, "-c", textwrap.dedent(code), tiny_encoder, identity_of(tiny_encoder))
    assert suspicious(trace) == []
    assert list(place.iterdir()) == []


def test_onnxruntime_is_imported_when_an_encoder_is_opened_and_not_before(tiny_encoder: Path, tmp_path: Path) -> None:
    code = """
        import json, sys
        seen = []
        def look():
            seen.append("onnxruntime" in sys.modules)
        import textveil; look()
        seen.append("textveil.vector.encoder" in sys.modules)
        from textveil import Encoder, VectorRelease, VectorStatement; look()
        import pathlib, textveil_cli.main, textveil.bundle; look()
        textveil.bundle.open_bundle(pathlib.Path(sys.argv[1])); look()
        try:
            Encoder.load(sys.argv[2])
        except textveil.TextveilError:
            look()
        Encoder.load(sys.argv[1], expect_id=sys.argv[3]); look()
        print(json.dumps(seen))
    """
    seen = json.loads(child(code, tiny_encoder, tmp_path, identity_of(tiny_encoder)))
    assert seen == [False, False, False, False, False, False, True]


def test_no_other_module_names_onnxruntime() -> None:
    source = Path(__file__).parents[2] / "runtime" / "src" / "textveil"
    named = {path.name for path in source.rglob("*.py") if re.search(r"^\s*(import|from) onnx", path.read_text(), re.M)}
    assert named == {"onnx_session.py"}


def test_what_encoding_loads_holds_no_client(tiny_encoder: Path) -> None:
    """Numpy and onnxruntime bring what they bring; no client of any protocol is among it that ours would add."""
    code = """
        import json, sys
        import numpy, regex, onnxruntime
        before = set(sys.modules)
        from textveil import Encoder
        Encoder.load(sys.argv[1], expect_id=sys.argv[2]).encode("the")
        print(json.dumps(sorted(set(sys.modules) - before)))
    """
    loaded = json.loads(child(code, tiny_encoder, identity_of(tiny_encoder)))
    assert "textveil.vector.encoder" in loaded
    clients = ("socket", "ssl", "http", "urllib", "requests", "asyncio", "huggingface_hub", "torch", "onnx", "sqlite3")
    assert {name for name in loaded if name.split(".")[0] in clients} <= {"urllib", "urllib.parse"}
