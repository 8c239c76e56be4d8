"""Importing and using ``textveil`` loads, opens and changes only what it needs, in a process of its own."""

import ast
import importlib
import json
import re
from pathlib import Path

import pytest
from processes import child
from small_label_bundle import write_index
from textveil.bundle import find_artifact

_FORBIDDEN = (
    "torch transformers onnx onnxruntime tokenizers huggingface_hub safetensors scipy requests urllib3 http.client "
    "urllib.request socket _socket ssl _ssl asyncio selectors ftplib smtplib xmlrpc sqlite3 typer click rich "
    "textveil_export"
)
FORBIDDEN = _FORBIDDEN.split()
#: The client of the gateway, those that it could have had, and what they bring.
CLIENTS = ("httpcore", "httpcore2", "httpx", "httpx2", "anyio", "sniffio", "truststore", "certifi", "h2")
SOURCE = Path(__file__).parents[2] / "runtime" / "src" / "textveil"
COMMAND = Path(__file__).parents[2] / "cli" / "src" / "textveil_cli"


def loaded(statement: str) -> set[str]:
    """Names of all modules after a statement, without what the interpreter and its site configuration load."""
    shown = "print(json.dumps(sorted(set(sys.modules) - before)))"
    return set(json.loads(child(f"import json, sys\nbefore = set(sys.modules)\n{statement}\n{shown}")))


def forbidden_among(modules: set[str]) -> set[str]:
    return {name for name in modules if any(name == barred or name.startswith(f"{barred}.") for barred in FORBIDDEN)}


def test_using_it_loads_no_network_and_no_framework() -> None:
    """Nothing is subtracted: numpy and regex load none of these either."""
    use = "import textveil; s = textveil.Sanitizer.load(); s.sanitize('The doctor’s 17'); s.distribution('zebra')"
    assert forbidden_among(loaded(use)) == set()


@pytest.mark.slow
def test_the_command_loads_no_network() -> None:
    """The command brings typer; with it comes the standard ``socket`` module (by way of ``email.utils``), unused.

    No client of any protocol comes, and the audits below see that no socket is opened.
    """
    use = """
import sys
sys.argv = ["textveil", "sanitize", "--quiet", "--json", "--text", ""]
try:
    import runpy, io, contextlib
    with contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO())):
        runpy.run_module("textveil", run_name="__main__")
except SystemExit as end:
    assert end.code == 0, end.code
"""
    allowed = {"typer", "click", "rich", "socket", "_socket", "selectors"}
    assert {name for name in forbidden_among(loaded(use)) if name.split(".")[0] not in allowed} == set()


def test_a_public_name_brings_what_it_needs_and_no_more() -> None:
    assert not {"numpy", "regex"} & loaded("import textveil")
    text, vectors = loaded("from textveil import Sanitizer"), loaded("from textveil import Encoder")
    assert "textveil.text.sanitizer" in text
    assert "textveil.vector.encoder" not in text
    assert "textveil.vector.encoder" in vectors
    assert not {"textveil.text.sanitizer", "regex"} & vectors
    for modules in (text, vectors):
        assert not [name for name in modules if name.startswith("textveil_cli")]


def test_an_index_needs_numpy_alone(tmp_path: Path) -> None:
    folder = write_index(tmp_path / "bundle")
    use = (
        "from textveil import TextLabelEncoder; from textveil_cli.aggregation import LabelServer; "
        "from pathlib import Path; "
        f"e, s = TextLabelEncoder.load({str(folder)!r}), LabelServer.load(Path({str(folder)!r})); "
        "r = s.parse_line(e.encode('The market’s 17').line, 1); s.classify_label(r); s.count_texts([r])"
    )
    modules = loaded(use)
    assert forbidden_among(modules) == set()
    assert "regex" not in modules


def test_text_is_opened_without_what_vectors_need() -> None:
    """Names of a package are imported one by one: a sentence loads neither encoders nor patterns for non-ASCII text."""
    modules = loaded("from textveil import Sanitizer; Sanitizer.load().sanitize('The doctor')")
    unused = ("bundle.encoder_bundle", "bundle.onnx.check", "storage.atomic_writes", "mechanisms.noise.vector", "audit")
    assert not {f"textveil.{name}" for name in unused} & modules


@pytest.mark.parametrize("package", sorted(path.parent.name for path in SOURCE.glob("*/__init__.py")))
def test_every_name_of_a_package_is_that_of_its_module(package: str) -> None:
    """They are looked for in several modules, which may have two things of one name."""
    face = importlib.import_module(f"textveil.{package}")
    tree = ast.parse((SOURCE / package / "__init__.py").read_text())
    named = [
        (alias.name, node.module)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith(f"textveil.{package}.")
        for alias in node.names
    ]
    assert sorted(name for name, _ in named) == sorted(face.__all__)
    for name, module in named:
        assert getattr(face, name) is getattr(importlib.import_module(module), name)
    with pytest.raises(AttributeError, match=f"^module 'textveil.{package}' has no attribute 'nothing'$"):
        face.nothing  # noqa: B018


@pytest.mark.slow
def test_every_public_name_is_there() -> None:
    child("from textveil import *\nassert Sanitizer and Encoder")


_NETWORK = re.compile(
    r"^\s*(?:import|from) "
    r"(?:socket|ssl|asyncio|http|urllib|ftplib|smtplib|selectors|uvicorn|starlette|httpx2?|httpcore2?|ray)\b",
    re.M,
)


def opens_sockets(source: str) -> bool:
    """Whether a module imports something that speaks to a network. Names of statuses do not."""
    return bool(_NETWORK.search(source.replace("from http import HTTPStatus", "")))


def test_only_the_service_and_the_gateway_can_open_a_socket() -> None:
    # The methods for apps with an event loop use threads alone; they import asyncio when they are called.
    in_an_event_loop = SOURCE / "conversation" / "async_methods.py"
    assert [path for path in SOURCE.rglob("*.py") if opens_sockets(path.read_text())] == [in_an_event_loop]
    assert not opens_sockets(in_an_event_loop.read_text().replace("    import asyncio", ""))
    named = {path.relative_to(COMMAND).parts[0] for path in COMMAND.rglob("*.py") if opens_sockets(path.read_text())}
    assert named == {"serve", "gateway"}
    connecting = re.compile(r"open_connection|create_connection|(?<!sqlite3)\.connect\(|getaddrinfo")
    found = [path for path in COMMAND.rglob("*.py") if connecting.search(path.read_text())]
    assert [path.relative_to(COMMAND).as_posix() for path in found] == ["gateway/upstream.py"]
    assert opens_sockets("import textveil\n    from urllib.request import urlopen\n")


def test_nothing_on_a_device_starts_a_cluster() -> None:
    files = [*SOURCE.rglob("*.py"), *COMMAND.rglob("*.py")]
    assert not [path for path in files if "textveil_export" in path.read_text()]


def test_nothing_imports_the_service_but_its_commands() -> None:
    named = re.compile(r"^\s*(?:import|from) textveil_cli\.(?:serve|gateway)\b", re.M)
    files = [path.relative_to(COMMAND) for path in COMMAND.rglob("*.py") if named.search(path.read_text())]
    doors = {"commands/serve.py", "commands/gateway.py", "options/address.py"}
    assert {file.as_posix() for file in files if file.parts[0] not in ("serve", "gateway")} == doors
    served = ("textveil_cli.serve", "textveil_cli.gateway", "starlette", "uvicorn", "h11", *CLIENTS)
    for code in ("import textveil_cli.main", "from textveil_cli.options import AddressOptions"):
        assert not {name for name in loaded(code) if name.startswith(served)}


@pytest.mark.slow
def test_neither_the_library_nor_sanitize_loads_a_client() -> None:
    use = "import textveil; textveil.Sanitizer.load().sanitize('The doctor'); textveil.Conversation().outgoing([])"
    command = """
import io, contextlib
from textveil_cli.console import run
import textveil_cli.main
with contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO())), contextlib.redirect_stderr(io.StringIO()):
    assert run(textveil_cli.main.app, "textveil", ["sanitize", "--text", "The doctor"]) == 0
"""
    barred = {*CLIENTS, "starlette", "uvicorn", "h11", "asyncio", "ssl"}
    for code in ("import textveil", use, command):
        assert not {name for name in loaded(code) if name.partition(".")[0] in barred}
    assert {"httpcore2", "anyio", "truststore", "starlette"} <= loaded("import textveil_cli.gateway")


AUDIT = """
    import json, os, sys
    import textveil, textveil_cli.main, textveil.vector.onnx_session  # what is loaded is not the question here

    events = []

    def audit(event, arguments):
        if event.split(".")[0] in ("socket", "subprocess", "ftplib", "smtplib", "urllib", "http", "sqlite3", "ctypes"):
            events.append(event)
        elif event in ("os.system", "os.exec", "os.posix_spawn", "os.fork", "os.remove", "os.rename", "os.mkdir",
                       "os.symlink", "os.link", "os.truncate", "os.chmod", "shutil.copyfile", "tempfile.mkstemp"):
            events.append(event)
        elif event == "open":
            path, mode, flags = arguments
            if isinstance(path, int):  # a file that is open already
                return
            writing = flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND)
            if writing or any(letter in (mode or "") for letter in "wax+"):
                events.append(f"open {path} {mode} {flags}")

    sys.addaudithook(audit)
"""


def audited(code: str, *arguments: str | Path) -> list[str]:
    """Return the files that a new interpreter opens and writes and the programs it starts while it runs code."""
    return json.loads(child(f"{AUDIT}{code}    print(json.dumps(events))\n", *arguments))


@pytest.mark.slow
def test_the_audit_sees_what_it_is_for(tmp_path: Path) -> None:
    code = """
    import socket, tempfile
    socket.socket().close()
    open(sys.argv[1], "w").close()
    os.close(os.open(sys.argv[1], os.O_RDWR))
    open(sys.argv[1]).close()
"""
    assert [event.split()[0] for event in audited(code, tmp_path / "x")] == ["socket.__new__", "open", "open"]


@pytest.mark.slow
def test_sanitizing_opens_no_socket_and_writes_no_file() -> None:
    code = """
    import socket
    def never(*arguments, **options):
        raise AssertionError("a socket")
    socket.socket = socket.create_connection = socket.getaddrinfo = never

    sanitizer = textveil.Sanitizer.load()
    krr = {"mechanism": "krr", "epsilon": 3}
    tables = textveil.Sanitizer.load(sys.argv[1])
    every = [(tables, {}), (tables, krr), (tables, {"mechanism": "random"})]
    words = [{"protect": "words"}, {"protect": "words", "sanitize_punctuation": True}]
    for one, options in (*every, *((sanitizer, options) for options in ({}, *words))):
        one.sanitize("The doctor’s note: 17, doctor@boston.com 😀", **options)
        one.sanitize_batch(["the", "", "nurse"] * 100, **options)
    str(sanitizer.sanitize("the").statement)
    sanitizer.distribution("doctor").list_likeliest()
    tables.distance("doctor", "nurse")
    wrong = {"protect": "words", "epsilon": "x"}
    for call in (lambda: sanitizer.sanitize("the", **wrong), lambda: textveil.Sanitizer.load("nowhere")):
        try:
            call()
        except textveil.TextveilError:
            pass
"""
    assert audited(code, find_artifact("english-santext")) == []


@pytest.mark.slow
def test_the_command_opens_no_socket_and_writes_no_file() -> None:
    code = """
    import io, contextlib
    from textveil_cli.console import run
    codes = []
    for arguments in (["sanitize", "--text", "The doctor"], ["info"], ["inspect", "doctor"], ["secret"], ["--version"]):
        with contextlib.redirect_stdout(io.TextIOWrapper(io.BytesIO())), contextlib.redirect_stderr(io.StringIO()):
            codes.append(run(textveil_cli.main.app, "textveil", arguments))
    assert codes == [0, 0, 0, 2, 0], codes
"""
    assert audited(code) == []


@pytest.mark.slow
def test_an_output_file_is_all_that_is_written(tmp_path: Path) -> None:
    code = """
    from textveil_cli.console import run
    target = sys.argv[1]
    assert run(textveil_cli.main.app, "textveil", ["sanitize", "-q", "--text", "The doctor", "-o", target]) == 0
"""
    events = audited(code, tmp_path / "out.txt")
    opened = [event.split()[1] for event in events if event.startswith("open ")]
    assert opened
    assert all(path.startswith(str(tmp_path)) for path in opened)
    assert not [event for event in events if event.split(".")[0] in ("socket", "subprocess")]
    assert [path.name for path in tmp_path.iterdir()] == ["out.txt"]


@pytest.mark.slow
def test_the_command_loads_what_files_need_when_they_need_it() -> None:
    """Neither processes nor the libraries of Parquet and zstd are paid for by a sentence."""
    modules = loaded("import textveil_cli.commands.sanitize.tables")
    assert "textveil_cli.files.pipeline" in modules
    assert not {"multiprocessing", "concurrent.futures", "pyarrow", "zstandard"} & modules
