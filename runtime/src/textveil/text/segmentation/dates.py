"""Patterns of dates, times and ordinals: each rung says which marks it knows in them."""

import re

YEAR = re.compile(r"1[5-9][0-9]{2}|20[0-9]{2}")
ORDINAL = re.compile(r"\d+(?:,\d{3})*(?:st|nd|rd|th)", re.IGNORECASE)


def date(marks: str) -> "re.Pattern[str]":
    """Returns the pattern of three numbers with the same one of some marks between each two, a hyphen first."""
    return re.compile(rf"\d\d?([{marks}])\d\d?\1(?:\d\d|\d{{4}})|\d{{4}}([{marks}])\d\d?\2\d\d?")


def time(minutes: str = "") -> "re.Pattern[str]":
    """Returns the pattern of hours with a colon, or with ``am`` and, before that, what a pattern of minutes allows."""
    return re.compile(rf"\d{{1,2}}:\d\d(?::\d\d)?(?:[ap]\.?m)?|\d{{1,2}}{minutes}[ap]\.?m", re.IGNORECASE)
