"""A signature proves the signer of a bundle, and a statement reports if nobody vouches for it."""

import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from small_encoders import load_encoder, write_encoder
from small_label_bundle import write_index
from small_staircase import small_staircase
from textveil import Encoder, KeyFileError, Sanitizer, TextLabelEncoder
from textveil.bundle import TextBundle, find_artifact, open_bundle
from textveil.bundle.layout import SIGNATURE
from textveil.bundle.signer import make_signed_message
from textveil.errors import BundleTooLarge, ContentHashMismatch, CryptoUnavailable, OptionError, WrongSigner
from textveil_export.signing import sign_bundle


def load_vectors(folder: Path, signer: str | None = None) -> Encoder:
    """Load an encoder whose model is pinned in any case: by its signer, or else by its content hash."""
    return load_encoder(folder) if signer is None else Encoder.load(folder, signer=signer)


KINDS = {
    "staircase": (small_staircase, Sanitizer.load),
    "index": (write_index, TextLabelEncoder.load),
    "encoder": (write_encoder, load_vectors),
}
each_kind = pytest.mark.parametrize(("write", "load"), KINDS.values(), ids=KINDS)


def key_file(path: Path, private: Any = None) -> Path:
    """Write a private key, readable by its owner alone."""
    made = private or Ed25519PrivateKey.generate()
    path.write_bytes(made.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    path.chmod(0o600)
    return path


@each_kind
def test_a_signed_bundle_is_its_makers(tmp_path: Path, write: Any, load: Any) -> None:
    folder = write(tmp_path / "bundle")
    with pytest.raises(WrongSigner, match="no signature"):
        load(folder, signer="0" * 64)
    key = key_file(tmp_path / "key.pem")
    signer = sign_bundle(folder, key)
    assert load(folder, signer=signer)
    assert load(folder, signer=f" {signer.upper()}\n")
    other = sign_bundle(folder, key_file(tmp_path / "other.pem"))
    with pytest.raises(
        WrongSigner,
        match="the bundle was signed with another key, or changed after signing: get it again, or correct --signer",
    ):
        load(folder, signer=signer)
    assert load(folder, signer=other)


@each_kind
def test_what_changes_a_bundle_makes_its_signature_void(tmp_path: Path, write: Any, load: Any) -> None:
    folder = write(tmp_path / "bundle")
    signer = sign_bundle(folder, key_file(tmp_path / "key.pem"))
    manifest = json.loads((folder / "manifest.json").read_text())
    (folder / "manifest.json").write_text(json.dumps({**manifest, "license": "another"}))
    assert load(folder)
    with pytest.raises(
        WrongSigner,
        match="the bundle was signed with another key, or changed after signing: get it again, or correct --signer",
    ):
        load(folder, signer=signer)


@pytest.mark.parametrize(
    "content", [b"", b"\n", b"0" * 128, b"0" * 127, b"0" * 129, b"x" * 128, b"0" * 10_000, b"\xff" * 64]
)
def test_signatures_that_are_none(tmp_path: Path, content: bytes) -> None:
    folder = small_staircase(tmp_path / "bundle")
    signer = sign_bundle(folder, key_file(tmp_path / "key.pem"))
    (folder / SIGNATURE).write_bytes(content)
    with pytest.raises((WrongSigner, BundleTooLarge)):
        Sanitizer.load(folder, signer=signer)


def test_a_signature_for_another_purpose_is_none(tmp_path: Path) -> None:
    """The signer signed the bare hash, for something else."""
    folder = small_staircase(tmp_path / "bundle")
    private = Ed25519PrivateKey.generate()
    signer, digest = private.public_key().public_bytes_raw().hex(), open_bundle(folder, TextBundle).content_hash
    for message in (bytes.fromhex(digest), digest.encode(), (folder / "manifest.json").read_bytes()):
        (folder / SIGNATURE).write_text(private.sign(message).hex())
        with pytest.raises(WrongSigner):
            Sanitizer.load(folder, signer=signer)
    (folder / SIGNATURE).write_text(private.sign(make_signed_message(digest)).hex())
    assert Sanitizer.load(folder, signer=signer)


@pytest.mark.parametrize("key", ["", "0" * 63, "0" * 65, "g" * 64, 5, "/tmp/key"])
def test_a_maker_that_is_no_key(tmp_path: Path, key: Any) -> None:
    folder = small_staircase(tmp_path / "bundle")
    sign_bundle(folder, key_file(tmp_path / "key.pem"))
    with pytest.raises(OptionError, match="64 hexadecimal digits"):
        Sanitizer.load(folder, signer=key)


def test_without_the_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = small_staircase(tmp_path / "bundle")
    signer = sign_bundle(folder, key_file(tmp_path / "key.pem"))
    monkeypatch.setitem(sys.modules, "cryptography.exceptions", None)
    with pytest.raises(CryptoUnavailable, match=r"^checking a signer needs the package cryptography: pip install"):
        Sanitizer.load(folder, signer=signer)
    assert Sanitizer.load(folder)


def test_keys_that_do_not_sign(tmp_path: Path) -> None:
    folder = small_staircase(tmp_path / "bundle")
    for name, path in {
        "no private key": tmp_path / "nowhere",
        "not an Ed25519 key": key_file(tmp_path / "x.pem", X25519PrivateKey.generate()),
    }.items():
        with pytest.raises(KeyFileError, match=name):
            sign_bundle(folder, path)
    shared = key_file(tmp_path / "shared.pem")
    shared.chmod(0o644)
    with pytest.raises(KeyFileError, match="chmod 600"):
        sign_bundle(folder, shared)
    assert not (folder / SIGNATURE).exists()


def test_only_a_pinned_bundle_is_certified(golden_certified: Path) -> None:
    """Anybody can write a certified epsilon, so it counts only if the caller pins the bundle or its signer."""
    claims = "certificate not recomputed"
    unpinned = Sanitizer.load(golden_certified)
    statement = unpinned.sanitize("the doctor", mechanism="santext").statement
    assert claims in statement.summary()
    assert statement.to_dict()["certificate"] == claims
    pinned = Sanitizer.load(golden_certified, expect_id=unpinned.bundle.content_hash)
    statement = pinned.sanitize("the doctor", mechanism="santext").statement
    assert claims not in statement.summary()
    assert statement.to_dict()["certificate"] == "of the expected bundle"
    signer = sign_bundle(golden_certified, key_file(golden_certified.parent / "key.pem"))
    statement = Sanitizer.load(golden_certified, signer=signer).sanitize("the", mechanism="santext").statement
    assert claims not in statement.summary()
    with pytest.raises(ContentHashMismatch):
        Sanitizer.load(golden_certified, expect_id="0" * 64)
    assert pinned.sanitize("the", mechanism="krr", epsilon=4).statement.to_dict()["certificate"] is None


@pytest.fixture
def golden_certified(tmp_path: Path) -> Path:
    """Return a copy of a certified bundle."""
    return Path(shutil.copytree(find_artifact("english-santext"), tmp_path / "copy"))
