"""Restoring words: outputs of one original, in the case of the reply; mapping files that are not ours are refused."""

import copy
import json
import pickle
from typing import Any

import pytest
from textveil import Sanitizer
from textveil.errors import InputError, OptionError
from textveil.text.restore import FORMAT, MOST_BYTES, VERSION, Restorer

PAIRS = [
    ("clinic", "Zorblax"),
    ("nurse", "doctor"),
    ("flu", "McCoy"),
    ("john", "Mary"),
    ("12", "48,213"),
    ("x7-q", "COVID-19"),
    ("dirty", "spelt"),
    ("dirty", "qwyx"),
]


@pytest.mark.parametrize(
    ("reply", "restored"),
    [
        ("The clinic called.", "The zorblax called."),
        ("The Clinic called.", "The Zorblax called."),
        ("CLINIC", "ZORBLAX"),
        ("a nurse's Nurse", "a doctor's Doctor"),
        ("nurse’s", "doctor’s"),
        ("nurse'd've", "doctor'd've"),
        ("Flu FLU flu", "McCoy MCCOY mccoy"),
        ("John'll", "Mary'll"),
        ("12 12.", "48,213 48,213."),
        ("12.5 1.12 12,000 x12 12", "12.5 1.12 12,000 x12 48,213"),
        ("only 12.", "only 48,213."),
        ("X7-Q x7-q", "COVID-19 COVID-19"),
        ("dirty Dirty", "dirty Dirty"),
        ("clinics clinical cli nic", "zorblaxes clinical cli nic"),
        ("", ""),
        ("ｎｕｒｓｅ", "doctor"),
    ],
)
def test_what_is_restored(reply: str, restored: str) -> None:
    assert Restorer(PAIRS).restore(reply) == restored


def test_a_heading_in_capitals_does_not_decide_how_a_name_is_spelled() -> None:
    restorer = Restorer([("JEAN", "MARIA"), ("Jean", "Maria"), ("jean", "maria"), ("ACME", "IBM")])
    assert restorer.restore("Jean JEAN Acme") == "Maria MARIA IBM"


def test_ambiguous_outputs_are_counted_and_left_alone() -> None:
    restorer = Restorer(PAIRS)
    assert (len(restorer), restorer.ambiguous) == (6, 1)
    assert Restorer([("nurse", "doctor")] * 3).ambiguous == 0


def test_many_clitics_take_linear_time() -> None:
    clitics = "'s" * 100_000
    assert Restorer(PAIRS).restore("nurse" + clitics) == "doctor" + clitics


def test_a_text_of_distinct_outputs_comes_back(small: Sanitizer) -> None:
    text = "The Doctor's zorblax, DOCTOR doctor! John wasn't my B2B-7 on 5/6/2007; o'Clock's (KIM@x.org) 1,234"
    distinct = 0
    for _ in range(200):
        result = small.sanitize(text, consistent=True, epsilon=6)
        assert result.mapping is not None
        if len(result.mapping) == 9:
            assert result.restore(result.text) == text
            distinct += 1
        else:
            assert result.mapping.ambiguous
    assert distinct


def test_a_word_alone_comes_back(small: Sanitizer) -> None:
    result = small.sanitize("doctor", consistent=True)
    assert result.mapping is not None
    assert (len(result.mapping), result.restore(result.text)) == (1, "doctor")


def test_without_a_mapping_nothing_is_restored(small: Sanitizer) -> None:
    plain, consistent = small.sanitize("doctor"), small.sanitize("doctor", consistent=True)
    for result in (plain, pickle.loads(pickle.dumps(consistent)), copy.copy(consistent)):
        with pytest.raises(OptionError, match=r"^there is no mapping"):
            result.restore("nurse")
    with pytest.raises(InputError, match=r"^the reply is not a string$"):
        consistent.restore(b"nurse")  # type: ignore[arg-type]


def test_a_mapping_does_not_show_what_it_holds() -> None:
    restorer = Restorer(PAIRS)
    assert repr(restorer) == str(restorer) == "<Restorer of 6 words>"
    for leave in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match=r"^a mapping is not pickled"):
            leave(restorer)


def test_a_mapping_survives_its_file() -> None:
    restorer = Restorer([*PAIRS, ("a", "l'aîné"), ("b", "\udcff"), ("c", "\u2028")])
    content = restorer.to_json()
    assert content.isascii()
    again = Restorer.from_json(content.encode())
    assert again.to_json() == content
    assert again.restore("A b") == "L'aîné \udcff"


WRONG: list[Any] = [
    b"", b"null", b"[]", b"{", b"\xff", b"\xef\xbb\xbf{}", b"[" * 100_000, b"{}", b'{"a": NaN}',
    {"format": "other"}, {"format_version": 2}, {"format_version": True}, {"format_version": "1"},
    {"originals": None}, {"originals": []}, {"originals": {"a": 5}}, {"originals": {"a": None}}, {"originals": "Zorb"},
]  # fmt: skip


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: repr(wrong)[:40])
def test_what_is_no_mapping_is_refused(wrong: Any) -> None:
    sound = {"format": FORMAT, "format_version": VERSION, "originals": {}}
    content = wrong if isinstance(wrong, bytes) else json.dumps({**sound, **wrong}).encode()
    Restorer.from_json(json.dumps(sound).encode())
    with pytest.raises(InputError, match=r"^the mapping is not one that textveil has written$"):
        Restorer.from_json(content)


def test_a_huge_mapping_is_refused() -> None:
    sound = Restorer([]).to_json().encode()
    with pytest.raises(InputError, match=r"^the mapping is not one"):
        Restorer.from_json(sound + b" " * MOST_BYTES)


def test_a_name_comes_back_with_its_hyphen() -> None:
    """Of three words that come out as two; and a surname alone, and a name whose parts say all."""
    result = Sanitizer.load().sanitize("Anne-Marie Keller met Jean-Luc Picard and Bob Novak.", protect="names")
    first, second, third, _ = (result.text.rstrip(".").replace(" met ", " and ") + " and ").split(" and ")
    assert result.restore(f"{second}, {first}; {third}.") == "Jean-Luc Picard, Anne-Marie Keller; Bob Novak."
    assert result.restore(third.split()[1]) == "Novak"
