"""Addresses of the web in the mode ``names``: which words of a path are kept does not depend on the hidden ones.

docs/proofs/names.md, "Facts".
"""

import random

import pytest
from names_soup import parts_of
from textveil import Sanitizer
from textveil.text.names.fact_identifiers import IdentifierRules
from textveil.text.names.fact_strings import FactStrings

SEGMENTS = parts_of("""
docs|report|case-study|hill|forest-hill|zorblax|zorblax-report|in|users|12|4821|v2|kowal_hill|ReportKowal|a-kowal|case
kowal-case|case-kowal-study|van|x
""")


def _cut_by_place(rules: IdentifierRules, address: str) -> list[str] | None:
    """Return the kept texts of an address that is cut, with the case of each hidden word."""
    pieces = rules.cut_address(address)
    if pieces is None:
        return None
    return [piece if isinstance(piece, str) else f"<{piece.entity_type} {piece.case}>" for piece in pieces]


def _exchange_hidden(rules: IdentifierRules, address: str, chance: random.Random) -> str:
    """Put another host and other hidden words in the places of those of an address that is cut."""
    texts = []
    for piece in rules.cut_address(address) or [address]:
        if isinstance(piece, str):
            texts.append(piece)
        elif piece.entity_type == "url":
            texts.append("".join(chance.choices("zqwkjh", k=5)) + ".com")
        else:
            text = piece.parts[0].text
            word = "".join(chance.choices("zqkjh", k=chance.randint(7, 9)))  # no public word has these letters
            texts.append(word.title() if text[0].isupper() else word)
    return "".join(texts)


def address_differs(rules: IdentifierRules, seed: int) -> bool:
    """Return whether another host or other hidden words change what is kept of an address."""
    chance, cut = random.Random(seed), 0
    for _ in range(3_000):
        host = chance.choice(["https://kowal.com", "zorblax.org", "http://www.kowal.co.uk:8080", "github.com"])
        address = "/".join([host, *chance.choices(SEGMENTS, k=chance.randint(1, 4))])
        found = _cut_by_place(rules, address)
        cut += found is not None
        if _cut_by_place(rules, _exchange_hidden(rules, address, chance)) != found:
            return True
    assert cut > 500
    return False


@pytest.fixture(scope="module")
def sanitizer() -> Sanitizer:
    return Sanitizer.load()


@pytest.fixture(scope="module")
def address_rules(sanitizer: Sanitizer) -> IdentifierRules:
    facts = sanitizer.names_plan(protect="names", facts="public").facts
    assert facts is not None
    return IdentifierRules(facts.strings)


def test_no_hidden_word_changes_what_is_kept_of_an_address(address_rules: IdentifierRules) -> None:
    assert not address_differs(address_rules, 6)


#: Hosts that the proof lists as members of the slot of a host, and others, with which a string is hidden whole.
HOSTS = ("zorblax.com", "ZORBLAX.COM", "http://a-b.co.uk:8080", "https://12.34.56.78", "users.x.org", "www.in.com")
OTHER_HOSTS = (
    "http://zorblax",
    "zorb_x.com",
    "m\u00fcnchen.de",
    "HTTP://zorblax.com",
    "ftp://x.com",
    "http://x.com:123456",
)


def test_hosts_of_one_form_are_exchangeable(address_rules: IdentifierRules) -> None:
    assert len({str(_cut_by_place(address_rules, f"{host}/docs/zorblax")) for host in HOSTS}) == 1
    assert not any(_cut_by_place(address_rules, f"{host}/docs/zorblax") for host in OTHER_HOSTS)


@pytest.mark.parametrize(("denied", "randomized"), [(["docs"], []), ([], ["docs"])])
def test_a_public_host_with_a_word_of_the_user_is_hidden(
    address_rules: IdentifierRules, denied: list[str], randomized: list[str]
) -> None:
    rules = IdentifierRules(FactStrings(address_rules._strings.lists, "public", denied, randomized))
    assert address_rules.cut_address("docs.github.com") == ["docs.github.com"]
    assert rules.cut_address("docs.github.com") is None
    assert rules.cut_address("www.github.com") == ["www.github.com"]


def _keep_beside_hidden(rules: IdentifierRules, path: str) -> set[tuple[int, int]]:
    return {span for span in _find_path_words(rules, path) if len(path) % 2 or span[0] < 5}


_find_path_words = IdentifierRules._find_path_words


def test_a_path_that_is_read_by_its_length_is_found(
    address_rules: IdentifierRules, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(IdentifierRules, "_find_path_words", _keep_beside_hidden)
    assert address_differs(address_rules, 6)
