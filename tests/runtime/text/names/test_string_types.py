"""The shape of a string gives its type, for HIPAA's identifiers and numbers; the layout is the part in the template."""

from dataclasses import replace

import pytest
from textveil import Sanitizer
from textveil.text.names.fact_strings import FactStrings
from textveil.text.names.numbers import classify_number
from textveil.text.names.string_types import classify_string, split_unit


@pytest.mark.parametrize(
    ("string", "kind", "layout"),
    [
        ("212-555-0101", "phone", ""),
        ("1.800.555.0199", "phone", ""),
        ("anna@example.com", "email", ""),
        ("anna(at)example.com", "email", ""),
        ("123-45-6789", "ssn", ""),
        ("12345678", "account", ""),
        ("4111-1111-1111-1111", "card", ""),
        ("GB29NWBK60161331926819", "iban", ""),
        ("DE89370400440532013000", "iban", ""),
        ("AB12CDE", "id", ""),
        ("www.example.com", "url", ""),
        ("https://example.com/a", "url", ""),
        ("192.0.2.7", "ip", ""),
        ("00:00:5e:00:53:01", "mac", ""),
        ("report.pdf", "file", ""),
        ("/home/anna", "path", ""),
        ("C:\\anna", "path", ""),
        ("deadbeef01", "hash", ""),
        ("sk_1234567890ABC", "key", ""),
        ("pass!w0rd", "key", ""),
        ("@anna", "handle", ""),
        ("#anna", "hashtag", ""),
        ("2020-02-01", "date", ""),
        ("9:05", "time", "0:00"),
        ("7pm", "time", "0pm"),
        ("11AM", "time", "0PM"),
        ("08:51:06", "time", "00:00:00"),
        ("12.30a.m", "time", "00.00p.m"),
        ("7-9pm", "time", "0-0pm"),
        ("10:30\u201311:45", "time", "00:00\u201300:00"),
        ("2021-2023", "year-range", "-"),
        ("1999\u20132003", "year-range", "\u2013"),
        ("2019/2020", "year-range", "/"),
        ("2021/22", "season", "/"),
        ("1999\u201300", "season", "\u2013"),
        ("2021/24", "digits", "0000/00"),
        ("2021-2123", "phone", ""),
        ("1960s", "decade", ""),
        ("22nd", "ordinal", ""),
        ("1999", "year", ""),
        ("42", "number", "2"),
        ("1,250", "number", "4g"),
        ("49.99", "number", "2.2"),
        ("3.14159", "number", "1.3"),
        ("555-1234", "phone", ""),
        ("12-13", "digits", "00-00"),
        ("é1", "key", ""),
    ],
)
def test_kinds(string: str, kind: str, layout: str) -> None:
    assert classify_string(string) == (kind, layout)


@pytest.mark.parametrize(
    ("digits", "layout"), [("12345", "5"), ("123456", "5"), ("123,456,789", "7g"), ("1,234,567,890", "10g")]
)
def test_long_numbers_share_a_layout(digits: str, layout: str) -> None:
    assert classify_number(digits) == ("number", layout)


def test_no_check_digit_is_computed() -> None:
    """A type for valid card numbers alone would reveal that a number is valid."""
    assert classify_string("4111-1111-1111-1111") == classify_string("4111-1111-1111-1112")
    assert classify_string("GB29NWBK60161331926819") == classify_string("GB00NWBK60161331926819")


def test_a_unit_is_cut_off_and_a_decade_has_none() -> None:
    assert split_unit("5kg") == ("5", "kg")
    assert split_unit("70s") is None
    assert split_unit("٣kg") is None


@pytest.mark.parametrize("group", ["GB29", "no12", "es00"])
def test_the_first_group_of_an_account_number_is_no_public_fact_in_any_case(group: str) -> None:
    lists = Sanitizer.load().bundle.get_names_lists()
    lists = replace(lists, common_words={**lists.common_words, **dict.fromkeys(("gb", "no", "es", "vm"), 0)})
    assert FactStrings(lists, "public").is_plain("vm12")
    assert not FactStrings(lists, "public").is_plain(group)
