"""Fixtures that tests of the command share."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from small_label_bundle import write_index
from small_staircase import small_staircase


@pytest.fixture(scope="session")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a small bundle with only a staircase."""
    return small_staircase(tmp_path_factory.mktemp("small"))


@pytest.fixture
def index_bundle(tmp_path: Path) -> Path:
    """Return the folder of a small bundle of class labels."""
    return write_index(tmp_path / "bundle")


@pytest.fixture
def run(here: Callable) -> Callable[..., tuple[int, str, str]]:
    """Run ``textveil``; return exit code, standard output and standard error."""

    def start(*arguments: object) -> tuple[int, str, str]:
        ran = here(*map(str, arguments))
        return ran.code, ran.out.decode(), ran.err.decode()

    return start


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[Path, Path]:
    """Return a self-signed certificate of the loopback address, and its key."""
    if shutil.which("openssl") is None:
        pytest.skip("making a certificate needs openssl")
    made, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=localhost -addext"
    names = ["subjectAltName=IP:127.0.0.1,DNS:localhost", "-out", made, "-keyout", key]
    subprocess.run([*command.split(), *names], check=True, capture_output=True)
    return made, key
