"""What a ledger charges, refuses, gives again and shows; durability is in test_ledger_durability.py."""

import copy
import os
import pickle
import sqlite3
import stat
import sys
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_encoders import write_encoder
from small_index import write_index
from small_staircase import small_staircase
from textveil import Budget, Encoder, IndexEncoder, Ledger, Sanitizer
from textveil.audit import pure_ldp_levels
from textveil.errors import BudgetError, CryptoUnavailable, InputError, KeyFileError, LedgerError, OptionError
from textveil.ledger import Account, Entry, canonical_bytes, request_bytes
from textveil.ledger.keys import tag
from textveil.ledger.sources import whole_calls
from textveil.mechanisms import entropy
from textveil.mechanisms.vector_parameters import ReleaseParameters
from textveil.release import DELTA_UNITS, NAT_UNITS, UNBOUNDED, Charge, PerToken, WholeText
from textveil.text.options import Options
from textveil.vector.statement import vector_statement

TEXT = "The doctor, John's zorblax: the Doctor wasn't 5."
NAMES = ("ledger", "ledger.key", "ledger-journal")


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Sanitizer:
    return Sanitizer.load(small_staircase(tmp_path_factory.mktemp("small")))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    (tmp_path / "books").mkdir()
    return tmp_path / "books" / "ledger"


@pytest.fixture
def ledger(path: Path) -> Ledger:
    return Ledger(path)


@pytest.fixture
def memo(path: Path, tmp_path: Path) -> Ledger:
    pytest.importorskip("cryptography")
    return Ledger(path, memo_key=tmp_path / "memo.key")


def entry(scope: str = "scope", charge: Charge | None = None) -> Entry:
    return Entry(scope, b"", "staircase", charge or Charge(1))


# What is charged


@pytest.mark.parametrize(
    ("options", "nats"),
    [
        ({}, "25.5"),  # doctor, zorblax, Doctor; kinds cost nothing
        ({"level": "strong"}, "18"),
        ({"consistent": True}, "17"),  # doctor once
        ({"visible": "none"}, "59.5"),
        ({"visible": "none", "kinds": False}, "76.5"),
        ({"sanitize_punctuation": True}, "25.5"),
        ({"deny": ["John", "5"]}, "42.5"),
    ],
)
def test_the_staircase_is_charged_by_drawn_mentions(small: Sanitizer, options: Any, nats: str) -> None:
    result = small.sanitize(TEXT, **options)
    assert result.statement.charge == Charge(int(Decimal(nats) * NAT_UNITS))
    assert result.statement.charge.epsilon == result.statement.epsilon_document * NAT_UNITS


def test_santext_is_charged_its_pure_level_for_all_tokens(tiny: Sanitizer, english: Sanitizer) -> None:
    text = "the doctor said zzz"
    for sanitizer in (tiny, english):
        plan = sanitizer._plan({"mechanism": "santext"})
        charge = sanitizer.sanitize(text, mechanism="santext").statement.charge
        assert charge.epsilon is not None
        if sanitizer is tiny:  # no certificate: the bound of any table
            assert charge.epsilon >= 4 * pure_ldp_levels([plan.channel])[0][0] * NAT_UNITS  # type: ignore[list-item]
        else:
            level = english.bundle.certificate["levels"]["moderate"]["santext"]["exact"]["epsilon_pure_ldp"]  # type: ignore[index]
            assert charge.epsilon == -(-4 * Fraction(level) * NAT_UNITS // 1)


def test_randomized_response_is_charged_exactly(tiny: Sanitizer) -> None:
    charge = tiny.sanitize("the doctor said", mechanism="krr", epsilon="0.1").statement.charge
    assert charge == Charge(-(-3 * NAT_UNITS // 10))
    assert tiny.sanitize("the doctor", mechanism="random").statement.charge == Charge(0)
    digits = "1.00000000000000000000000000000000000001"  # a float loses it
    assert tiny.terms(mechanism="krr", epsilon=digits).statement(1).charge == Charge(NAT_UNITS + 1)


def test_what_has_no_finite_bound_says_so(tiny: Sanitizer) -> None:
    assert tiny.sanitize("the doctor", mechanism="santext+").statement.charge == UNBOUNDED
    assert tiny.sanitize("the doctor", mechanism="santext+", replacement_probability=1).statement.charge == UNBOUNDED
    assert tiny.sanitize("the doctor", mechanism="fbdd", epsilon=10).statement.charge == UNBOUNDED


def test_vectors_and_indices_are_charged_for_the_whole_text(tmp_path: Path) -> None:
    statement = vector_statement(ReleaseParameters("l2", 3, 8, "2", "1e-6"), "0.5", "bundle")
    assert statement.charge == Charge(2 * NAT_UNITS, -(-DELTA_UNITS // 10**6))
    assert statement.mechanism == "vector l2"
    index = IndexEncoder.load(write_index(tmp_path / "index")).statement()
    assert (index.charge, index.mechanism) == (Charge(4 * NAT_UNITS), "index counts")


@given(
    st.lists(st.tuples(st.decimals("0", "100", places=9), st.decimals("0", ".1", places=14), st.integers(0, 50))),
)
def test_sums_of_charges_are_no_less_than_the_losses(losses: list[tuple[Decimal, Decimal, int]]) -> None:
    account, epsilon, delta = Account(b""), Fraction(0), Fraction(0)
    for loss, its_delta, times in losses:
        account = account.charged(Charge.of(WholeText(loss, its_delta), times), "")
        epsilon += Fraction(loss) * times
        delta += Fraction(its_delta) * times
    assert 0 <= account.epsilon - epsilon * NAT_UNITS <= len(losses)
    assert 0 <= account.delta - delta * DELTA_UNITS <= len(losses)
    said = account.to_dict()
    assert Fraction(said["nats"]) * NAT_UNITS == account.epsilon
    assert Fraction(said["delta"]) * DELTA_UNITS == account.delta
    assert Decimal(account.spent.replace(",", "")) * NAT_UNITS >= account.epsilon
    assert Decimal(account.spent_delta) * DELTA_UNITS >= account.delta
    limited = Account(b"").limited(Budget.of(account.spent.replace(",", ""), account.spent_delta))
    assert limited.charged(Charge(account.epsilon, account.delta), "").epsilon == account.epsilon


def test_a_charge_that_is_rounded_down_would_be_seen() -> None:
    assert Charge.of(PerToken(Decimal("1e-9")), 1) == Charge(1)
    assert Charge.of(WholeText(Decimal(0), Decimal("1e-30")), 1) == Charge(0, 1)
    assert Budget.of("0.0000009") == Budget(0)
    assert Budget.of("1e18").epsilon == 1 << 62


# Accounts and budgets


def test_every_draw_is_charged_and_said_to_be_a_further_one(small: Sanitizer, ledger: Ledger) -> None:
    before = [ledger.sanitize(small, TEXT, scope="letter").before for _ in range(3)]
    assert before == [0, 1, 2]
    assert [c.before for c in ledger.sanitize_batch(small, [TEXT, "doctor", "doctor"], scope="letter")] == [3, 0, 1]
    assert ledger.account("letter").epsilon == (4 * 51 // 2 + 17) * NAT_UNITS
    assert ledger.sanitize(small, TEXT, scope="another").before == 0
    assert ledger.account("unknown").epsilon == 0
    assert ledger.sanitize(small, TEXT, scope="letter", level="strong").before == 0


def test_each_text_can_have_a_scope_of_its_own(small: Sanitizer, ledger: Ledger) -> None:
    ledger.sanitize_batch(small, ["doctor", "nurse flu", "clinic"], scope=["a", "b", "a"])
    assert [ledger.account(scope).epsilon / NAT_UNITS for scope in "ab"] == [17, 17]
    with pytest.raises(OptionError, match=r"one scope for all texts, or one for each$"):
        ledger.sanitize_batch(small, ["doctor"], scope=["a", "b"])
    with pytest.raises(OptionError, match=r"^the name of a scope is a string$"):
        ledger.sanitize_batch(small, ["doctor"], scope=[5])  # type: ignore[list-item]
    for texts in ("doctor", ["doctor", 5]):
        with pytest.raises(InputError):
            ledger.sanitize_batch(small, texts)  # type: ignore[arg-type]


def test_a_budget_is_met_to_the_last_unit_and_not_beyond(small: Sanitizer, ledger: Ledger) -> None:
    budget = Budget.of("25.5")
    assert ledger.sanitize(small, TEXT, scope="a", budget=budget).before == 0
    with pytest.raises(BudgetError, match=r"does not cover this release: spent are 25.5 of 25.5 nats$"):
        ledger.sanitize(small, "doctor", scope="a")
    with pytest.raises(BudgetError, match=r"spent are 0 of 25.49 nats$"):
        ledger.sanitize(small, TEXT, scope="b", budget=Budget.of("25.49"))
    assert ledger.account("a").epsilon == budget.epsilon
    assert ledger.account("b").epsilon == 0
    ledger.sanitize(small, "the 5", scope="a")  # costs nothing


def test_a_refused_batch_releases_and_charges_nothing(small: Sanitizer, ledger: Ledger) -> None:
    with pytest.raises(BudgetError):
        ledger.sanitize_batch(small, ["doctor", "nurse", "flu"], scope=["a", "a", "b"], budget=Budget.of(8.5))
    assert ledger.accounts() == []
    ledger.sanitize(small, "doctor", scope="a", budget=Budget.of(10))
    before = ledger.export()
    with pytest.raises(BudgetError):
        ledger.sanitize_batch(small, ["the", "doctor"], scope="a")
    assert ledger.export() == before


def test_a_budget_is_lowered_and_never_raised(small: Sanitizer, ledger: Ledger) -> None:
    ledger.sanitize(small, "doctor", scope="a", budget=Budget.of(100))
    ledger.sanitize(small, "doctor", scope="a", budget=Budget.of(50))
    assert ledger.account("a").budget == Budget.of(50)
    for larger in (Budget.of(51), Budget.of(10, "0.1")):
        with pytest.raises(BudgetError, match=r"a budget is lowered, and never raised$"):
            ledger.sanitize(small, "doctor", scope="a", budget=larger)
    with pytest.raises(BudgetError, match=r"spent are 17 of 16 nats$"):
        ledger.sanitize(small, "doctor", scope="a", budget=Budget.of(16))
    assert ledger.account("a").budget == Budget.of(50)  # what was refused changed nothing


def test_delta_has_a_column_and_a_budget_of_its_own(ledger: Ledger) -> None:
    charge = Charge.of(WholeText(Decimal(1), Decimal("1e-6")))
    ledger.charge([entry("free", charge), entry("free", charge)])
    account = ledger.account("free")
    assert (account.spent, account.spent_delta) == ("2", "0.00000201")
    with pytest.raises(BudgetError):
        ledger.charge([entry("a", charge)], budget=Budget.of(100))
    ledger.charge([entry("a", charge)], budget=Budget.of(100, "1.5e-6"))
    with pytest.raises(BudgetError):
        ledger.charge([entry("a", charge)])


def test_what_has_no_finite_charge_is_recorded_and_refused_under_a_budget(tiny: Sanitizer, ledger: Ledger) -> None:
    with pytest.raises(BudgetError, match=r"^santext\+ has no finite bound: no budget covers it$"):
        ledger.sanitize(tiny, "doctor", scope="a", mechanism="santext+", budget=Budget.of(10**6))
    ledger.sanitize(tiny, "doctor", scope="a", mechanism="santext+")
    assert str(ledger.account("a")) == "0 nats, and 1 release without a finite bound"
    with pytest.raises(BudgetError, match=r"^this scope has releases without a finite bound"):
        ledger.sanitize(tiny, "doctor", scope="a", mechanism="krr", epsilon=1, budget=Budget.of(10**6))
    ledger.sanitize(tiny, "doctor", scope="a", mechanism="krr", epsilon=1)


@pytest.mark.parametrize("wrong", ["-1", "x", "nan", "inf", "1e19", None, b"5", "1e999999999"])
def test_what_is_no_budget_is_refused(wrong: Any) -> None:
    for give in (Budget.of, lambda delta: Budget.of(1, delta)):
        with pytest.raises(OptionError, match=r"is a number, at least 0$"):
            give(wrong)


def test_sums_that_would_not_fit_are_refused(ledger: Ledger) -> None:
    ledger.charge([entry(charge=Charge(1 << 62))])
    with pytest.raises(LedgerError, match=r"beyond what a ledger counts$"):
        ledger.charge([entry()])
    assert ledger.account("scope").epsilon == 1 << 62


# What the file holds


def test_no_text_and_no_name_is_in_any_file(small: Sanitizer, memo: Ledger, path: Path, tmp_path: Path) -> None:
    result = memo.sanitize(small, "Zorblaxia doctor", scope="Quimbleton").release
    held = b"".join(file.read_bytes() for file in tmp_path.rglob("*") if file.is_file())
    for secret in ("Zorblaxia", "zorblaxia", "Quimbleton", "doctor", *result.text.split()):
        assert secret.encode() not in held
    assert b"staircase" in held
    exported = str(memo.export()) + repr(memo) + repr(memo.accounts())
    assert "orblaxia" not in exported + "uimbleton"[1:]
    assert repr(memo) == "<Ledger>"
    assert "orblaxia" not in repr(Entry("Zorblaxia", b"Zorblaxia", "m", Charge(1), b"Zorblaxia"))


def test_files_are_their_owners_alone(memo: Ledger, path: Path, tmp_path: Path) -> None:
    for file in (path, path.with_name("ledger.key"), tmp_path / "memo.key"):
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert {file.name for file in path.parent.iterdir()} <= set(NAMES)


def test_tags_differ_by_use_scope_and_ledger(small: Sanitizer, path: Path) -> None:
    one, other = Ledger(path), Ledger(path.with_name("other"))
    for opened in (one, other):
        opened.sanitize(small, "doctor", scope="a")
        opened.sanitize(small, "doctor", scope="b")
    rows = [*one.export()["releases"], *other.export()["releases"]]
    assert len({row["request"] for row in rows} | {row["scope"] for row in rows}) == 8
    assert [row["day"][4] for row in rows] == ["-"] * 4
    assert all(len(row["day"]) == 10 for row in rows)


def test_names_of_scopes_are_compared_in_nfc(ledger: Ledger) -> None:
    ledger.charge([entry("caf\u00e9"), entry("cafe\u0301"), entry("\udcff")])
    assert ledger.account("caf\u00e9").epsilon == 2


def test_export_has_everything_but_outputs(small: Sanitizer, memo: Ledger) -> None:
    memo.sanitize(small, "doctor", scope="a", budget=Budget.of("20.25"))
    memo.charge([entry("b", Charge(1))])
    exported = memo.export()
    assert [sorted(scope.items()) for scope in exported["scopes"] if scope["budget_nats"]] == [
        sorted(
            {
                "scope": memo.account("a").scope.hex(),
                "nats": "8.5",
                "delta": "0",
                "unbounded": 0,
                "budget_nats": "20.25",
                "budget_delta": "0",
                "releases": 1,
            }.items()
        )
    ]
    assert [row["nats"] for row in exported["releases"]] == ["8.5", "0.00000095367431640625"]
    assert [row["stored"] for row in exported["releases"]] == [True, False]


def test_a_ledger_is_not_pickled(ledger: Ledger) -> None:
    for leave in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match=r"^a ledger is not pickled"):
            leave(ledger)


# Keys


def test_without_its_key_a_ledger_is_refused_and_no_key_is_made(ledger: Ledger, path: Path, tmp_path: Path) -> None:
    key = path.with_name("ledger.key")
    content = key.read_bytes()

    def write(spoiled: bytes, mode: int = 0o600) -> None:
        key.write_bytes(spoiled)
        key.chmod(mode)

    for spoil, message in [
        (lambda: write(content[:-1]), r"a key file has 32 bytes"),
        (lambda: write(content + b"x"), r"a key file has 32 bytes"),
        (lambda: write(bytes(32)), r"this is the key of another ledger"),
        (lambda: write(content, 0o640), r"others than its owner may read it \(chmod 600\)"),
        (key.unlink, r"no readable file there"),
    ]:
        spoil()
        with pytest.raises(KeyFileError, match=rf"^the key of the ledger: {message}$"):
            Ledger(path)
    assert not key.exists()
    write(content)
    assert not Ledger(path).created
    with pytest.raises(KeyFileError):
        Ledger(path, key=tmp_path / "other")
    assert not (tmp_path / "other").exists()


def test_a_pipe_is_no_key(path: Path, tmp_path: Path) -> None:
    if not hasattr(os, "mkfifo"):
        pytest.skip("this system has no named pipes")
    os.mkfifo(tmp_path / "pipe", 0o600)
    with pytest.raises(KeyFileError, match=r"a key file has 32 bytes$"):
        Ledger(path, key=tmp_path / "pipe")


def test_the_key_can_be_elsewhere(path: Path, tmp_path: Path) -> None:
    Ledger(path, key=tmp_path / "device").charge([entry()])
    assert not path.with_name("ledger.key").exists()
    assert Ledger(path, key=tmp_path / "device").account("scope").epsilon == 1


def test_rotating_forgets_everything(small: Sanitizer, path: Path) -> None:
    ledger = Ledger(path)
    ledger.sanitize(small, "doctor", budget=Budget.of(10))
    old, key = ledger.account().scope, path.with_name("ledger.key").read_bytes()
    path.with_name("ledger.key").unlink()  # lost
    rotated = Ledger.rotate(path)
    assert rotated.accounts() == []
    assert rotated.account().scope != old
    assert path.with_name("ledger.key").read_bytes() != key
    assert stat.S_IMODE(path.with_name("ledger.key").stat().st_mode) == 0o600
    assert old not in path.read_bytes()
    with pytest.raises(LedgerError):
        Ledger.rotate(path.with_name("nothing"))
    assert not path.with_name("nothing").exists()


def test_a_ledger_that_was_rotated_meanwhile_is_refused(small: Sanitizer, memo: Ledger, path: Path) -> None:
    """Its tags would be of another key: accounts that nobody finds."""
    Ledger.rotate(path)
    for use in (lambda: memo.sanitize(small, "doctor"), memo.accounts, lambda: memo.delete("a")):
        with pytest.raises(KeyFileError, match=r"^the key of the ledger: this is the key of another ledger$"):
            use()
    assert Ledger(path).accounts() == []


def test_outputs_that_were_forgotten_are_not_in_the_file(small: Sanitizer, memo: Ledger, path: Path) -> None:
    memo.sanitize_batch(small, ["doctor", "nurse", "flu"])
    with sqlite3.connect(path) as other:
        stored = [output for (output,) in other.execute("SELECT output FROM releases")]
    other.close()
    assert all(output in path.read_bytes() for output in stored)
    memo.delete_outputs()
    assert not any(output in path.read_bytes() for output in stored)
    with pytest.raises(KeyFileError, match=r"^the key of the memo: "):
        memo.sanitize(small, "doctor")  # it was opened before


def test_a_scope_is_forgotten(small: Sanitizer, memo: Ledger) -> None:
    memo.sanitize(small, "doctor", scope="a")
    memo.sanitize(small, "doctor", scope="b")
    memo.delete("a")
    assert [account.scope for account, _ in memo.accounts()] == [memo.account("b").scope]
    assert not memo.sanitize(small, "doctor", scope="a").stored
    with pytest.raises(OptionError, match=r"^the ledger has no scope of that name$"):
        memo.delete("c")


# The memo


def test_an_equal_request_gets_its_output_again_at_no_charge(small: Sanitizer, memo: Ledger) -> None:
    text = "doctor nurse cancer flu clinic hospital"
    first, *again = [memo.sanitize(small, text) for _ in range(4)]
    assert [charged.stored for charged in (first, *again)] == [False, True, True, True]
    assert {charged.release for charged in again} == {first.release}
    assert memo.account().spent == "51"
    assert memo.sanitize_batch(small, []) == []


def test_the_unit_of_a_memo_is_the_whole_call(small: Sanitizer, memo: Ledger) -> None:
    """Given again word by word, a list of words would be a substitution cipher, and show which are equal."""
    words = ["doctor"] * 40
    first, again = memo.sanitize_batch(small, words), memo.sanitize_batch(small, words)
    assert [charged.stored for charged in first] == [False] * 40
    assert [charged.before for charged in first] == list(range(40))
    assert [charged.release for charged in again] == [charged.release for charged in first]
    assert all(charged.stored for charged in again)
    assert memo.account().spent == "340"
    others: list[tuple[list[str], Any]] = [
        (words[1:], "default"),
        (words[:1], "default"),
        ([*words, "flu"], "default"),
        (["flu", *words[1:]], "default"),
        (words, ["default"] * 39 + ["b"]),
    ]
    for texts, scope in others:
        assert not any(charged.stored for charged in memo.sanitize_batch(small, texts, scope=scope))


def test_calls_that_join_to_the_same_text_are_others(small: Sanitizer, memo: Ledger) -> None:
    for texts in (["doctor flu"], ["doctor", " flu"], ["doctor", "flu"], ["doctor\nflu"], ["", "doctor", "flu"]):
        assert not any(charged.stored for charged in memo.sanitize_batch(small, texts))


def test_parts_of_a_call_do_not_run_into_each_other() -> None:
    calls = [
        (["s", "s"], [b"ab", b"c"]), (["s", "s"], [b"a", b"bc"]), (["s", "s"], [b"", b"abc"]),
        (["ss", ""], [b"ab", b"c"]), (["s", "s"], [b"c", b"ab"]), (["s"], [b"sabc"]),
    ]  # fmt: skip
    places = [place for scopes, requests in calls for place in whole_calls(scopes, requests)]
    assert len(set(places)) == len(places) == 11
    tags = [tag(bytes(32), *parts) for parts in (("a", b"b"), ("ab",), ("a", b"", b"b"), ("a", b"b", b""), ("", b"ab"))]
    assert len(set(tags)) == len(tags)


def test_another_scope_pays_for_itself(small: Sanitizer, memo: Ledger) -> None:
    """Who sees both scopes may add them up; who sees one must not have been given an output for nothing."""
    memo.sanitize(small, "doctor", scope="a")
    assert not memo.sanitize(small, "doctor", scope="b").stored
    assert memo.account("b").spent == "8.5"


def test_texts_are_compared_in_nfc_and_nothing_looser(small: Sanitizer, memo: Ledger) -> None:
    memo.sanitize(small, "caf\u00e9 doctor")
    assert memo.sanitize(small, "cafe\u0301 doctor").stored
    for other in ("cafe doctor", "caf\u00e9  doctor", "Caf\u00e9 doctor", "caf\u00e9 doctor ", "ｃaf\u00e9 doctor"):
        assert not memo.sanitize(small, other).stored


OTHERS: dict[str, list[dict[str, Any]]] = {
    "mechanism": [{"mechanism": "santext"}, {"mechanism": "santext+"}, {"mechanism": "krr", "epsilon": 1}],
    "epsilon": [{"epsilon": 8}, {"mechanism": "krr", "epsilon": 2}, {"mechanism": "fbdd", "epsilon": 2}],
    "level": [{"level": "strong"}],
    "tail": [{"mechanism": "santext", "tail": "capped"}],
    "replacement_probability": [{"mechanism": "santext+", "replacement_probability": "0.5"}],
    "visible": [{"visible": "none"}],
    "kinds": [{"kinds": False}],
    "consistent": [{"consistent": True}],
    "consistent_cap": [{"consistent": True, "consistent_cap": 5}],
    "split": [{"consistent": True, "split": True}],
    "fluent": [{"fluent": True}],
    "deny": [{"deny": ["doctor"]}, {"deny": ["doctor", "nurse"]}, {"mechanism": "santext+", "deny": ["doctor"]}],
    "case": [{"case": "drop"}],
    "sanitize_punctuation": [{"sanitize_punctuation": True}],
}


def test_every_option_makes_another_request(english: Sanitizer, small: Sanitizer) -> None:
    assert set(OTHERS) == set(Options.__annotations__)
    asked = [canonical_bytes(english.canonical_options(**others)) for each in OTHERS.values() for others in each]
    asked += [canonical_bytes(sanitizer.canonical_options()) for sanitizer in (english, small)]
    assert len(set(asked)) == len(asked)


def test_an_option_that_is_left_out_is_its_default(english: Sanitizer) -> None:
    defaults = {
        "mechanism": "staircase",
        "level": "weak",
        "visible": ("function-words",),
        "kinds": True,
        "case": "carry",
    }
    assert english.canonical_options(**defaults) == english.canonical_options()  # type: ignore[arg-type]
    assert english.canonical_options(deny=["b", "a"]) == english.canonical_options(deny=("a", "b"))
    krr = [canonical_bytes(english.canonical_options(mechanism="krr", epsilon=e)) for e in ("3", 3, "3.00")]
    assert len(set(krr)) == 1


def test_options_and_text_do_not_run_into_each_other() -> None:
    """Options have no null byte, and one stands after them."""
    options = canonical_bytes({"a": "\0", "b": Decimal("1.50")})
    assert (options.count(b"\0"), options) == (0, b'{"a": "\\u0000", "b": "1.5"}')
    assert request_bytes(options, "\0e\u0301\udcff") == options + b"\0\0" + "\u00e9".encode() + b"\xed\xb3\xbf"


def test_a_stored_output_has_no_mapping(small: Sanitizer, memo: Ledger) -> None:
    first = memo.sanitize(small, "doctor", consistent=True)
    again = memo.sanitize(small, "doctor", consistent=True)
    assert (first.release.mapping is None, again.release.mapping, again.stored) == (False, None, True)


def test_vectors_and_indices_come_back_as_they_were(tiny_encoder: Path, memo: Ledger, tmp_path: Path) -> None:
    encoder = Encoder.load(tiny_encoder)
    first, again = (memo.encode_batch(encoder, ["the doctor"])[0] for _ in range(2))
    assert (first.stored, again.stored) == (False, True)
    assert again.release.vector.tobytes() == first.release.vector.tobytes()
    assert again.release.vector.dtype == first.release.vector.dtype
    assert again.release.to_dict() == first.release.to_dict()
    assert again.release.notes == first.release.notes
    assert not memo.encode_batch(encoder, ["the doctor"], word_dropout="0.5")[0].stored
    index = IndexEncoder.load(write_index(tmp_path / "index"))
    first, again = (memo.encode_batch(index, ["the doctor"])[0] for _ in range(2))
    assert (first.stored, again.stored) == (False, True)
    assert again.release.to_dict() == first.release.to_dict()
    assert not memo.encode_batch(index, ["the doctor"], channel="accuracy", epsilon=1)[0].stored


def test_another_process_that_was_first_decides_the_output(small: Sanitizer, memo: Ledger) -> None:
    """Between looking and charging: the draw that came too late is thrown away, and not charged."""
    real, first = memo.stored, []

    def late(requests: Any) -> Any:
        found = real(requests)
        if not first:
            first.append(None)
            first[0] = memo.sanitize(small, "doctor nurse flu")
        return found

    memo.stored = late  # type: ignore[method-assign]
    second = memo.sanitize(small, "doctor nurse flu")
    assert (second.stored, second.release) == (True, first[0].release)  # type: ignore[attr-defined]
    assert memo.account().spent == "25.5"


def test_stored_outputs_need_their_key(small: Sanitizer, memo: Ledger, path: Path, tmp_path: Path) -> None:
    memo.sanitize(small, "doctor")
    (tmp_path / "other").write_bytes(bytes(32))
    (tmp_path / "other").chmod(0o600)
    with pytest.raises(KeyFileError, match=r"^the key of the memo: the stored outputs are under another key$"):
        Ledger(path, memo_key=tmp_path / "other")
    (tmp_path / "memo.key").unlink()
    with pytest.raises(KeyFileError, match=r"^the key of the memo: no readable file there$"):
        Ledger(path, memo_key=tmp_path / "memo.key")
    assert not Ledger(path).sanitize(small, "doctor").stored
    Ledger(path).delete_outputs()
    assert not Ledger(path, memo_key=tmp_path / "memo.key").sanitize(small, "doctor").stored
    assert Ledger(path).account().spent == "25.5"


def test_a_stored_output_that_was_altered_or_moved_is_refused(small: Sanitizer, memo: Ledger) -> None:
    memo.sanitize_batch(small, ["doctor", "nurse"])
    for change in (
        "CAST(substr(output, 1, 20) || x'00' || substr(output, 22) AS BLOB)",
        "(SELECT output FROM releases WHERE number = 2)",
    ):
        with sqlite3.connect(memo.path) as other:
            other.execute(f"UPDATE releases SET output = {change} WHERE number = 1")
        other.close()
        with pytest.raises(KeyFileError, match=r"^a stored output cannot be read"):
            memo.sanitize_batch(small, ["doctor", "nurse"])


@pytest.mark.parametrize("where", ["memo.key", "below/memo.key", "../books/memo.key", "link/memo.key"])
def test_the_key_of_the_memo_is_not_beside_the_ledger(path: Path, where: str) -> None:
    (path.parent / "below").mkdir()
    (path.parent.parent / "link").symlink_to(path.parent)
    place = path.parent.parent / where if where.startswith("link") else path.parent / where
    with pytest.raises(KeyFileError, match=r"not in the ledger's folder"):
        Ledger(path, memo_key=place)
    assert not place.exists()
    assert not path.exists()


def test_without_the_package_a_memo_is_refused_and_a_ledger_works(
    small: Sanitizer, path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] == "cryptography"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "cryptography", None)
    with pytest.raises(CryptoUnavailable, match=r"^a memo needs the package cryptography: pip install"):
        Ledger(path, memo_key=tmp_path / "memo.key")
    assert not path.exists()
    Ledger(path).sanitize(small, "doctor")


# Nothing random comes from a key


def test_draws_come_from_the_systems_entropy_alone(
    small: Sanitizer, memo: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One key, one text, one scope: draws differ as the system's words do, and are equal where those are."""
    outputs: dict[int, set[str]] = {}
    ledger = Ledger(memo.path)
    for word in (0, 2**62, 2**63):  # none that the draw would reject for ever
        monkeypatch.setattr(entropy, "random_uint64", lambda count, word=word: _words(count, word))
        outputs[word] = {ledger.sanitize(small, "doctor", scope=scope).release.text for scope in "ab"}
    assert [len(found) for found in outputs.values()] == [1, 1, 1]
    assert len(set.union(*outputs.values())) > 1


def _words(count: int, word: int) -> Any:
    return np.full(count, word, np.uint64)


def test_encoders_are_charged(tiny_encoder: Path, ledger: Ledger, tmp_path: Path) -> None:
    encoder: Callable[..., Any] = Encoder.load
    charged = ledger.encode_batch(encoder(tiny_encoder), ["a", "b"], scope=["x", "y"])
    statement = charged[0].release.statement
    assert ledger.account("x").epsilon == statement.charge.epsilon
    l2 = encoder(write_encoder(tmp_path / "l2", mode="l2", delta="1e-6"))
    ledger.encode_batch(l2, ["a"], scope="z")
    assert ledger.account("z").delta == l2.statement().charge.delta > 0
