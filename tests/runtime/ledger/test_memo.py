"""The replay cache returns stored outputs for equal requests only, to those with the key; no sample uses a key."""

import sqlite3
import sys
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from drawn_words import strict_words
from small_encoders import load_encoder
from small_label_bundle import sentences_of, write_index
from small_ledger import entry
from textveil import Ledger, Sanitizer, TextLabelEncoder
from textveil.errors import CryptoUnavailable, KeyFileError, OptionError
from textveil.ledger import SpendOutcome, serialize_options, serialize_request
from textveil.ledger.keys import LedgerTags
from textveil.ledger.release_sources import make_cache_keys
from textveil.mechanisms import entropy
from textveil.storage.cryptography import compute_tag
from textveil.text.options import DEFAULT_FACTS, FACTS, Options


def test_an_equal_request_gets_its_output_again_at_no_charge(small: Sanitizer, memo: Ledger) -> None:
    text = "doctor nurse cancer flu clinic hospital"
    first, *again = [memo.sanitize(small, text) for _ in range(4)]
    assert [charged.is_replayed for charged in (first, *again)] == [False, True, True, True]
    assert {charged.release for charged in again} == {first.release}
    assert memo.get_account().displayed_epsilon == "51"
    assert memo.sanitize_batch(small, []) == []


def test_the_unit_of_a_memo_is_the_whole_call(small: Sanitizer, memo: Ledger) -> None:
    """Replayed word by word, a list of words would be a substitution cipher, and would reveal equal words."""
    words = ["doctor"] * 40
    first, again = memo.sanitize_batch(small, words), memo.sanitize_batch(small, words)
    assert [charged.is_replayed for charged in first] == [False] * 40
    assert [charged.earlier_releases for charged in first] == list(range(40))
    assert [charged.release for charged in again] == [charged.release for charged in first]
    assert all(charged.is_replayed for charged in again)
    assert memo.get_account().displayed_epsilon == "340"
    others: list[tuple[list[str], Any]] = [
        (words[1:], "default"),
        (words[:1], "default"),
        ([*words, "flu"], "default"),
        (["flu", *words[1:]], "default"),
        (words, ["default"] * 39 + ["b"]),
    ]
    for texts, scope in others:
        assert not any(charged.is_replayed for charged in memo.sanitize_batch(small, texts, privacy_unit=scope))


def test_a_sentence_is_given_again_and_is_not_the_index(memo: Ledger, tmp_path: Path) -> None:
    encoder = TextLabelEncoder.load(write_index(tmp_path / "index", files=sentences_of()))
    first, again = (memo.encode_batch(encoder, ["goal"], epsilon=4, as_text=True)[0] for _ in range(2))
    assert (first.is_replayed, again.is_replayed) == (False, True)
    assert again.release.to_dict() == first.release.to_dict()
    assert memo.get_account().displayed_epsilon == "4"
    (other,) = memo.encode_batch(encoder, ["goal"], epsilon=4)
    assert (other.is_replayed, other.release.sentence) == (False, None)
    assert memo.get_account().displayed_epsilon == "8"


def test_calls_that_join_to_the_same_text_are_others(small: Sanitizer, memo: Ledger) -> None:
    for texts in (["doctor flu"], ["doctor", " flu"], ["doctor", "flu"], ["doctor\nflu"], ["", "doctor", "flu"]):
        assert not any(charged.is_replayed for charged in memo.sanitize_batch(small, texts))


def test_parts_of_a_call_do_not_run_into_each_other() -> None:
    calls = [
        (["s", "s"], [b"ab", b"c"]), (["s", "s"], [b"a", b"bc"]), (["s", "s"], [b"", b"abc"]),
        (["ss", ""], [b"ab", b"c"]), (["s", "s"], [b"c", b"ab"]), (["s"], [b"sabc"]),
    ]  # fmt: skip
    places = [place for scopes, requests in calls for place in make_cache_keys(scopes, requests)]
    assert len(set(places)) == len(places) == 11
    alike = [("a", [b"b"]), ("ab", []), ("a", [b"", b"b"]), ("a", [b"b", b""]), ("", [b"ab"])]
    tags = [compute_tag(bytes(32), use, *parts) for use, parts in alike]
    assert len(set(tags)) == len(tags)


def test_each_kind_of_tag_has_a_label_of_its_own() -> None:
    tags, unit_tag = LedgerTags(bytes(32), bytes([1] * 32)), b"unit"
    found = [tags.tag_unit("Anna"), tags.tag_request(unit_tag, b"text"), tags.tag_cache_entry(unit_tag, b"text")]
    assert found == [
        compute_tag(bytes(32), "privacy unit", b"Anna"),
        compute_tag(bytes(32), "request", unit_tag, b"text"),
        compute_tag(bytes(32), "replay cache", unit_tag, b"text"),
    ]
    assert tags.key_checks == (compute_tag(bytes(32), "check"), compute_tag(bytes([1] * 32), "check"))


def test_another_scope_pays_for_itself(small: Sanitizer, memo: Ledger) -> None:
    """An observer of both privacy units adds their spends; an observer of one must get no output without a spend."""
    memo.sanitize(small, "doctor", privacy_unit="a")
    assert not memo.sanitize(small, "doctor", privacy_unit="b").is_replayed
    assert memo.get_account("b").displayed_epsilon == "8.5"


def test_texts_are_compared_in_nfc_and_nothing_looser(small: Sanitizer, memo: Ledger) -> None:
    memo.sanitize(small, "caf\u00e9 doctor")
    assert memo.sanitize(small, "cafe\u0301 doctor").is_replayed
    for other in ("cafe doctor", "caf\u00e9  doctor", "Caf\u00e9 doctor", "caf\u00e9 doctor ", "ｃaf\u00e9 doctor"):
        assert not memo.sanitize(small, other).is_replayed


OTHERS: dict[str, list[dict[str, Any]]] = {
    "mechanism": [{"mechanism": "santext"}, {"mechanism": "santext+"}, {"mechanism": "krr", "epsilon": 1}],
    "epsilon": [
        {"protect": "words", "epsilon": 8},
        {"mechanism": "krr", "epsilon": 2},
        {"mechanism": "fbdd", "epsilon": 2},
    ],
    "replacement_probability": [{"mechanism": "santext+", "replacement_probability": "0.5"}],
    "protect": [{"protect": "all"}, {"protect": "words"}],
    "style": [{"protect": "names", "style": "tag"}],
    "facts": [{"protect": "names", "facts": level} for level in FACTS if level != DEFAULT_FACTS],
    "keep": [{"protect": "names", "keep": ["city", "month"]}],
    "tag": [{"protect": "names", "tag": ["city", "month"]}],
    "drop": [{"protect": "names", "drop": ["city", "month"]}],
    "allow": [{"protect": "names", "allow": ["doctor"]}],
    "patterns": [
        {"protect": "names", "patterns": patterns}
        for patterns in ({"a1": "b"}, {"a1": "c"}, {"a1": "b", "a2": "c"}, {"a2": "c", "a1": "b"})
    ],
    "known": [{"protect": "names", "known": known} for known in (["Anna"], ["Anna, Ann"], ["Anna", "Bob"])],
    "randomize": [{"protect": "names", "randomize": strict_words(Sanitizer.load().bundle, 120)}],
    "consistent": [{"protect": "words", "consistent": True}, {"consistent": False}],
    "key": [{"protect": "names", "consistent": "corpus", "key": bytes(16)}],
    "consistent_cap": [{"protect": "words", "consistent": True, "consistent_cap": 5}, {"consistent_cap": 5}],
    "deny": [
        {"protect": "words", "deny": ["doctor"]},
        {"deny": ["doctor"]},
        {"deny": ["doctor", "nurse"]},
        {"mechanism": "santext+", "deny": ["doctor"]},
    ],
    "sanitize_punctuation": [{"protect": "words", "sanitize_punctuation": True}],
}


def test_every_option_makes_another_request(english: Sanitizer, small: Sanitizer) -> None:
    assert set(OTHERS) == set(Options.__annotations__)
    asked = [serialize_options(english.canonical_options(**others)) for each in OTHERS.values() for others in each]
    asked += [serialize_options(sanitizer.canonical_options()) for sanitizer in (english, small)]
    assert len(set(asked)) == len(asked)


def test_an_option_that_is_left_out_is_its_default(english: Sanitizer) -> None:
    defaults = {"mechanism": "staircase", "epsilon": "10", "protect": "words"}
    for given in ({"mechanism": "staircase"}, {"protect": "words"}):
        assert english.canonical_options(**defaults) == english.canonical_options(**given)  # type: ignore[arg-type]
    names = {"protect": "names", "style": "surrogate", "facts": "plain", "consistent": True}
    assert english.canonical_options(**names) == english.canonical_options()  # type: ignore[arg-type]
    assert english.canonical_options(deny=["b", "a"]) == english.canonical_options(deny=("a", "b"))
    krr = [serialize_options(english.canonical_options(mechanism="krr", epsilon=e)) for e in ("3", 3, "3.00")]
    assert len(set(krr)) == 1
    names = [serialize_options(english.canonical_options(protect="names", facts=f)) for f in (None, DEFAULT_FACTS)]  # type: ignore[arg-type]
    assert names[0] == names[1]


def test_options_and_text_do_not_run_into_each_other() -> None:
    """Options contain no null byte, and one separates them from the text."""
    options = serialize_options({"a": "\0", "b": Decimal("1.50")})
    assert (options.count(b"\0"), options) == (0, b'{"a": "\\u0000", "b": "1.5"}')
    assert serialize_request(options, "\0e\u0301\udcff") == options + b"\0\0" + "\u00e9".encode() + b"\xed\xb3\xbf"


def test_a_stored_output_has_no_mapping(small: Sanitizer, memo: Ledger) -> None:
    first = memo.sanitize(small, "doctor", consistent=True)
    again = memo.sanitize(small, "doctor", consistent=True)
    assert (first.release.mapping is None, again.release.mapping, again.is_replayed) == (False, None, True)


def test_vectors_and_indices_come_back_as_they_were(tiny_encoder: Path, memo: Ledger, tmp_path: Path) -> None:
    encoder = load_encoder(tiny_encoder)
    first, again = (memo.encode_batch(encoder, ["the doctor"])[0] for _ in range(2))
    assert (first.is_replayed, again.is_replayed) == (False, True)
    assert again.release.vector.tobytes() == first.release.vector.tobytes()
    assert again.release.vector.dtype == first.release.vector.dtype
    assert again.release.to_dict() == first.release.to_dict()
    assert again.release.notes == first.release.notes
    assert not memo.encode_batch(encoder, ["the doctor"], word_dropout="0.5")[0].is_replayed
    index = TextLabelEncoder.load(write_index(tmp_path / "index"))
    first, again = (memo.encode_batch(index, ["the doctor"])[0] for _ in range(2))
    assert (first.is_replayed, again.is_replayed) == (False, True)
    assert again.release.to_dict() == first.release.to_dict()
    assert not memo.encode_batch(index, ["the doctor"], randomizer="accuracy", epsilon=1)[0].is_replayed


def test_what_a_memo_gives_counts_as_no_draw(memo: Ledger) -> None:
    drawn = entry("a", output=b"output", cache_key=b"whole")
    assert memo.record_spends([drawn]) == [SpendOutcome(0)]
    assert memo.record_spends([drawn]) == [SpendOutcome(0, b"output")]
    assert memo.record_spends([entry("a")]) == [SpendOutcome(1)]


def test_another_process_that_was_first_decides_the_output(small: Sanitizer, memo: Ledger) -> None:
    """Between lookup and spend: the later sample is discarded and not spent."""
    real, first = memo.find_stored_outputs, []

    def late(requests: Any) -> Any:
        found = real(requests)
        if not first:
            first.append(None)
            first[0] = memo.sanitize(small, "doctor nurse flu")
        return found

    memo.find_stored_outputs = late  # type: ignore[method-assign]
    second = memo.sanitize(small, "doctor nurse flu")
    assert (second.is_replayed, second.release) == (True, first[0].release)  # type: ignore[attr-defined]
    assert memo.get_account().displayed_epsilon == "25.5"


def test_stored_outputs_need_their_key(small: Sanitizer, memo: Ledger, path: Path, tmp_path: Path) -> None:
    memo.sanitize(small, "doctor")
    (tmp_path / "other").write_bytes(bytes(32))
    (tmp_path / "other").chmod(0o600)
    with pytest.raises(
        KeyFileError,
        match=r"^the key of the replay cache: another key encrypts the stored outputs: pass that key, or delete the",
    ):
        Ledger(path, replay_cache_key=tmp_path / "other")
    (tmp_path / "memo.key").unlink()
    with pytest.raises(KeyFileError, match=r"^the key of the replay cache: the file is missing or cannot be read$"):
        Ledger(path, replay_cache_key=tmp_path / "memo.key")
    assert not Ledger(path).sanitize(small, "doctor").is_replayed
    Ledger(path).delete_outputs()
    assert not Ledger(path, replay_cache_key=tmp_path / "memo.key").sanitize(small, "doctor").is_replayed
    assert Ledger(path).get_account().displayed_epsilon == "25.5"


def test_a_stored_output_that_was_altered_or_moved_is_refused(small: Sanitizer, memo: Ledger) -> None:
    memo.sanitize_batch(small, ["doctor", "nurse"])
    for change in (
        "CAST(substr(output, 1, 20) || x'0000000000000000' || substr(output, 29) AS BLOB)",
        "(SELECT output FROM releases WHERE number = 2)",
    ):
        with sqlite3.connect(memo.path) as other:
            other.execute(f"UPDATE releases SET output = {change} WHERE number = 1")
        other.close()
        with pytest.raises(KeyFileError, match=r"^a stored output cannot be decrypted"):
            memo.sanitize_batch(small, ["doctor", "nurse"])


@pytest.mark.parametrize("where", ["memo.key", "below/memo.key", "../books/memo.key", "link/memo.key"])
def test_the_key_of_the_memo_is_not_beside_the_ledger(path: Path, where: str) -> None:
    (path.parent / "below").mkdir()
    (path.parent.parent / "link").symlink_to(path.parent)
    place = path.parent.parent / where if where.startswith("link") else path.parent / where
    with pytest.raises(KeyFileError, match=r"must be outside the ledger's folder: otherwise a copy of the folder"):
        Ledger(path, replay_cache_key=place)
    assert not place.exists()
    assert not path.exists()


def test_without_the_package_a_memo_is_refused_and_a_ledger_works(
    small: Sanitizer, path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "cryptography"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "cryptography", None)
    with pytest.raises(CryptoUnavailable, match=r"^a replay cache needs the package cryptography: pip install"):
        Ledger(path, replay_cache_key=tmp_path / "memo.key")
    assert not path.exists()
    Ledger(path).sanitize(small, "doctor")


def test_draws_come_from_the_systems_entropy_alone(
    small: Sanitizer, memo: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One key, one text, one scope: draws differ as the system's words do, and are equal where those are."""
    outputs: dict[int, set[str]] = {}
    ledger = Ledger(memo.path)
    for word in (0, 3**38, 5**26):  # none that the draw would reject for ever
        monkeypatch.setattr(entropy, "random_uint64", lambda count, word=word: _words(count, word))
        outputs[word] = {ledger.sanitize(small, "zorblax", privacy_unit=scope).release.text for scope in "ab"}
    assert [len(found) for found in outputs.values()] == [1, 1, 1]
    assert len(set.union(*outputs.values())) > 1


def _words(count: int, word: int) -> Any:
    return np.full(count, word, np.uint64)


def test_a_memo_and_a_detector_do_not_go_together(ledger: Ledger, memo: Ledger) -> None:
    """The cache would return the output of another detector."""
    sanitizer = Sanitizer(Sanitizer.load().bundle, detector=lambda text: [])
    with pytest.raises(
        OptionError, match="the replay cache does not work with an external detector: use only one of the two"
    ):
        memo.sanitize(sanitizer, "Anna called.", protect="names")
    assert not ledger.sanitize(sanitizer, "Anna called.", protect="names").is_replayed
