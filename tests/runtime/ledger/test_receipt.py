"""A receipt is a function of output, template and public parameters, and any alteration is detected."""

import hashlib
import json
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textveil import Sanitizer
from textveil.errors import CryptoUnavailable, KeyFileError, ReceiptError
from textveil.ledger import Receipt, ReceiptWriter, read_receipt
from textveil.storage.cryptography import sign_bytes
from textveil.text.statement import Result

pytest.importorskip("cryptography")

#: Two words of each list are in the same place of one skeleton.
PLACES = [["doctor", "nurse", "zorblax"], ["flu", "cancer", "qwyx"], ["clinic", "hospital", "spelt"]]
WORDS_OF_PLACES = st.tuples(*map(st.sampled_from, PLACES))


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("keys") / "bank.key"


def signed(key: Path, results: list[Result]) -> str:
    """Return the receipt of some results of one call, each on a line."""
    writer = ReceiptWriter(key, results[0].terms.statement(0))
    writer.add_statements(result.statement for result in results)
    for result in results:
        writer.update(result.text + "\n")
    return writer.format_signed()


def test_a_receipt_says_what_was_promised(small: Sanitizer, key: Path) -> None:
    results = small.sanitize_batch(["The doctor's flu, John.", "clinic"], epsilon=6)
    content = signed(key, results)
    receipt, public_key = read_receipt(content.encode())
    output = "".join(f"{result.text}\n" for result in results).encode()
    assert receipt.output_sha256 == hashlib.sha256(output).hexdigest()
    assert (receipt.documents, receipt.tokens, receipt.epsilon, receipt.delta) == (2, 3, "18", "0")
    assert (receipt.bundle, receipt.mechanism, receipt.options["level"]) == (
        small.bundle.content_hash,
        "staircase",
        "6",
    )
    assert "confirm the guess by its hash" in receipt.note
    assert str(receipt) == "staircase, level 6: 2 documents, 3 randomized words, epsilon 18"
    receipt.check_output([output[:5], output[5:]])
    with pytest.raises(
        ReceiptError, match=r"^the receipt belongs to another output: pass the output beside which it was written$"
    ):
        receipt.check_output([output, b"\n"])
    assert read_receipt(content.encode(), expected_key=public_key.upper())[1] == public_key
    with pytest.raises(
        ReceiptError,
        match=r"^another key signed the receipt: get one from the expected signer, or correct the expected key$",
    ):
        read_receipt(content.encode(), expected_key="00" * 32)


def test_the_key_of_a_ledger_signs_nothing_itself(small: Sanitizer, tmp_path: Path) -> None:
    """The key is given by mistake, of a ledger that the command does not use: tags and signatures share no key."""
    key = tmp_path / "ledger.key"
    key.write_bytes(bytes(range(32)))
    key.chmod(0o600)
    _, public_key = read_receipt(signed(key, small.sanitize_batch(["doctor"])).encode())
    assert public_key != sign_bytes(key.read_bytes(), b"")[0].hex()


@given(
    first=st.tuples(*map(st.sampled_from, PLACES)), second=st.tuples(*map(st.sampled_from, PLACES)), cap=st.booleans()
)
def test_inputs_of_one_skeleton_with_one_output_have_one_receipt(
    small: Sanitizer, key: Path, first: tuple[str, ...], second: tuple[str, ...], cap: bool
) -> None:
    """For any randomized, unknown or replaced words: a receipt contains only the output and the template."""
    template = "The {}, John's {}: was a {}." if cap else "the {} was 5 {} - {}"
    receipts = []
    for words in (first, second):
        result = small.sanitize(template.format(*words), deny=["mary"] if cap else [])
        receipts.append(signed(key, [Result(text="the output", tokens=result.tokens, terms=result.terms)]))
    assert receipts[0] == receipts[1]


def test_a_receipt_that_counts_what_changed_would_be_found(small: Sanitizer, key: Path) -> None:
    results = [small.sanitize(text) for text in ("doctor", "doctor flu")]
    assert signed(key, results[:1]) != signed(key, results[1:])


def test_no_private_count_is_in_a_receipt(tiny: Sanitizer, key: Path) -> None:
    for mechanism, options in [("santext+", {}), ("fbdd", {"epsilon": 5})]:
        results = tiny.sanitize_batch(["the doctor", "nurse zzz in"], mechanism=mechanism, **options)  # type: ignore[arg-type]
        receipt, _ = read_receipt(signed(key, results).encode())
        assert (receipt.tokens, receipt.epsilon) == (None, None)
        assert str(receipt).endswith(": 2 documents, no finite epsilon")
    receipt, _ = read_receipt(signed(key, [tiny.sanitize("the doctor", mechanism="krr", epsilon=2)]).encode())
    assert (receipt.tokens, receipt.epsilon) == (2, "4")


def test_denied_words_are_in_no_receipt(small: Sanitizer, key: Path) -> None:
    assert "orblaxia" not in signed(key, [small.sanitize("doctor", deny=["Zorblaxia"])])


def test_everything_that_is_altered_is_found(small: Sanitizer, key: Path) -> None:
    sound: dict[str, Any] = json.loads(signed(key, [small.sanitize("doctor")]))
    changes: dict[str, Any] = {
        "format": "other", "format_version": 3, "bundle": "0" * 64, "mechanism": "krr", "options": {}, "documents": 2,
        "tokens": 0, "epsilon": "0", "delta": "1", "output_sha256": "0" * 64, "note": "", "key": "0" * 64,
        "signature": "0" * 128,
    }  # fmt: skip
    assert set(changes) == set(sound)
    for name, value in changes.items():
        for altered in ({**sound, name: value}, {other: sound[other] for other in sound if other != name}):
            with pytest.raises(ReceiptError):
                read_receipt(json.dumps(altered).encode())
    with pytest.raises(ReceiptError):
        read_receipt(json.dumps({**sound, "more": 1}).encode())
    read_receipt(json.dumps(sound, sort_keys=True).encode())  # layout is not signed


@pytest.mark.parametrize("version", [1, 3])
def test_a_receipt_of_another_version_is_refused_by_its_version(small: Sanitizer, key: Path, version: int) -> None:
    """The version is checked first: keys of another version must not read as an altered receipt."""
    other = {**json.loads(signed(key, [small.sanitize("doctor")])), "format_version": version}
    other["nats"] = other.pop("epsilon")
    with pytest.raises(ReceiptError) as refused:
        read_receipt(json.dumps(other).encode())
    assert str(refused.value) == (
        f"the receipt has format version {version}, but this release reads version 2: "
        "verify it with the release that wrote it"
    )


@pytest.mark.parametrize(
    "wrong", [b"", b"null", b"[]", b"\xff", b"{}", b'{"a": NaN}', b"[" * 100_000, b" " * (1 << 21)]
)
def test_what_is_no_receipt_is_refused(wrong: bytes) -> None:
    with pytest.raises(ReceiptError, match=r"^this is not a receipt that textveil has written$"):
        read_receipt(wrong)


@pytest.mark.parametrize(
    "spoiled",
    [
        {"mechanism": "\x1b[31m"},
        {"epsilon": "nan"},
        {"delta": 5},
        {"documents": "1"},
        {"options": {"level": 5}},
        {"options": 5},
        {"options": {"table": 5}},
        {"options": {"table": {"rewritten_columns": 5}}},
        {"options": {"table": {"rewritten_columns": ["note", "\x1b[31m"]}}},
    ],
    ids=str,
)  # fmt: skip
def test_what_a_stranger_signed_is_checked_before_it_is_printed(small: Sanitizer, key: Path, spoiled: Any) -> None:
    sound = json.loads(signed(key, [small.sanitize("doctor")]))
    content = {**{name: sound[name] for name in sound if name not in ("key", "signature")}, **spoiled}
    public_key, signature = sign_bytes(
        bytes(32), b"textveil-receipt\0" + json.dumps(content, sort_keys=True, separators=(",", ":")).encode()
    )
    forged = {**content, "key": public_key.hex(), "signature": signature.hex()}
    with pytest.raises(ReceiptError, match=r"^this is not a receipt"):
        read_receipt(json.dumps(forged).encode())


def test_recipients_have_keys_of_their_own(small: Sanitizer, tmp_path: Path) -> None:
    result = small.sanitize("doctor")
    keys = {read_receipt(signed(tmp_path / name, [result]).encode())[1] for name in ("a", "b", "a")}
    assert len(keys) == 2
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o600
    (tmp_path / "a").write_bytes(b"short")
    with pytest.raises(KeyFileError, match=r"^the key of the receipt: a key file must have 32 bytes$"):
        signed(tmp_path / "a", [result])


def test_receipts_need_the_package(small: Sanitizer, key: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    for name in [name for name in sys.modules if name.split(".")[0] == "cryptography"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "cryptography", None)
    uses: list[Callable[[], Any]] = [lambda: signed(key, [small.sanitize("doctor")]), lambda: read_receipt(b"{}")]
    for use in uses:
        with pytest.raises(CryptoUnavailable, match=r"^a receipt needs the package cryptography: pip install"):
            use()


def test_numbers_of_a_receipt_are_exact() -> None:
    receipt = Receipt(
        bundle="b",
        mechanism="vector l2",
        options={},
        documents=1,
        tokens=None,
        epsilon="0.00000095367431640625",
        delta=str(Decimal("1e-6")),
        output_sha256="h",
    )
    assert str(receipt) == "vector l2: 1 document, epsilon 0.00000095367431640625, delta 1e-06"
