"""Trustpilot and blog posts, on rows made up after the published readers.

* Lyu, He and Li 2020, github.com/xlhex/dpnlp, ``data_utils.py``: ``tp_us.txt``, ``tp_uk.txt`` and ``blog_data.txt`` are
  read like ``ag_data.txt``, with two attributes.
* Coavoux, Narayan and Cohen 2018, github.com/mcoavoux/pnet, ``trustpilot_data_reader.py`` (whose comment shows a user
  of the corpus of Hovy et al. 2015), ``preprocess_blogs.py`` and ``blog_data_reader.py``.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from textveil_training.data import AttributedText
from textveil_training.data.attributed import SEPARATOR
from textveil_training.data.demographic import (
    BLOG_ATTRIBUTES,
    TRUSTPILOT_ATTRIBUTES,
    read_blog,
    read_blog_topics,
    read_trustpilot,
    read_trustpilot_users,
)
from textveil_training.errors import (
    DataError,
    InvalidAttributes,
    InvalidJson,
    MissingText,
    UnknownLabel,
    WrongColumnCount,
)

Write = Callable[..., Path]
Refuses = Callable[..., DataError]

END = SEPARATOR + "\n"
REVIEW: dict[str, Any] = {
    "company_id": "shop.example",
    "date": "2013-10-21T06:39:08.000+00:00",
    "rating": "5",
    "text": ["Nothing to complain about!", "It's good."],
    "title": "quick",
}
USER: dict[str, Any] = {
    "country": "united_states",
    "gender": "F",
    "birth_year": "1985",
    "item_type": "user",
    "profile_text": "",
    "reviews": [REVIEW, {**REVIEW, "title": "second"}],
    "user_id": "1",
}


@pytest.mark.parametrize(("read", "label"), [(read_trustpilot, "4"), (read_blog, "9")])
def test_the_layout_of_lyu_et_al(write: Write, refuses: Refuses, canary: str, read: Any, label: str) -> None:
    path = write(f"{label}\tfine\t0 1\n0\tso so\t\n{END}1\tb\t1\n{END}2\tc\t0\n{END}")
    assert list(read(path, "train")) == [AttributedText("fine", label, (0, 1)), AttributedText("so so", "0", ())]
    assert [row.attributes for row in read(path)] == [(0, 1), (), (1,), (0,)]
    refuses(InvalidAttributes, read(write(f"0\t{canary}\t2\n{END}")), 1)


def test_attributes_do_not_stand_in_one_order() -> None:
    assert TRUSTPILOT_ATTRIBUTES.index("female") == 0
    assert BLOG_ATTRIBUTES.index("female") == 1


def test_blog_posts_after_topic_modeling(write: Write) -> None:
    path = write("3\t1\tf\t4172416\twent to school\nNone\t1\tm\t7\tno topic\n9\t3\tm\t8\ta\tb\n0\t3\tf\t9\tc\n")
    assert list(read_blog_topics(path)) == [
        AttributedText("went to school", "3", (0, 1)),
        AttributedText("a\tb", "9", ()),
        AttributedText("c", "0", (1,)),
    ]


@pytest.mark.parametrize(
    ("row", "kind"),
    [
        ("0\t1\tm\t{0}", WrongColumnCount),
        ("", WrongColumnCount),
        ("0\t2\tm\tz\t{0}", InvalidAttributes),
        ("0\t1\tx\tz\t{0}", InvalidAttributes),
        ("None\t1\t{0}\tz\ta", InvalidAttributes),
        ("{0}\t1\tm\tz\ta", UnknownLabel),
        ("10\t1\tm\tz\t{0}", UnknownLabel),
        ("0\t1\tm\t{0}\t ", MissingText),
    ],
)
def test_malformed_blog_rows(write: Write, refuses: Refuses, canary: str, row: str, kind: type[DataError]) -> None:
    refuses(kind, read_blog_topics(write(f"0\t1\tm\tz\ta\n{row.format(canary)}\n")), 2)


@pytest.mark.parametrize("spell", [repr, json.dumps])
def test_users_in_pythons_notation_and_in_json(write: Write, spell: Callable[[object], str]) -> None:
    path = write(spell(USER) + "\n" + spell({**USER, "gender": "M", "birth_year": 1950, "extra": None}) + "\n")
    text = "quick Nothing to complain about! It's good."
    assert list(read_trustpilot_users(path)) == [AttributedText(text, "4", (0, 1)), AttributedText(text, "4", ())]


def user(**changes: Any) -> dict[str, Any]:
    """A user with other values; those of a review change its first."""
    review = {**REVIEW, **{name: value for name, value in changes.items() if name in REVIEW}}
    return {**USER, "reviews": [review], **{name: value for name, value in changes.items() if name not in REVIEW}}


@pytest.mark.parametrize(
    ("born", "attributes"),
    [(1979, (0, 1)), (1978, None), (1968, None), (1967, (0,))],
)
def test_ages_on_the_day_of_the_review(write: Write, born: int, attributes: tuple[int, ...] | None) -> None:
    """34 is younger than 35, 46 older than 45; between is left out."""
    found = [row.attributes for row in read_trustpilot_users(write(repr(user(birth_year=born)) + "\n"))]
    assert found == ([] if attributes is None else [attributes])


@pytest.mark.parametrize(
    "changes",
    [
        {"gender": None},
        {"birth_year": None},
        {"birth_year": ""},
        {"rating": None},
        {"text": None},
        {"text": [], "title": None},
        {"date": None},
        {"reviews": []},
        {"reviews": None},
    ],
)
def test_users_of_whom_something_is_not_known_are_passed_over(write: Write, changes: dict[str, Any]) -> None:
    path = write("".join(repr(row) + "\n" for row in (user(**changes), USER)))
    assert len(list(read_trustpilot_users(path))) == 1


def test_a_review_without_a_title(write: Write) -> None:
    (row,) = read_trustpilot_users(write(repr(user(title=None, rating=1)) + "\n"))
    assert (row.text, row.label) == ("Nothing to complain about! It's good.", "0")


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("{0}", InvalidJson),
        ("['{0}']", InvalidJson),
        ("{{'{0}': }}", InvalidJson),
        ("__import__('{0}')", InvalidJson),
        ("(" * 5000 + "'{0}'", InvalidJson),
        (repr(user(gender="GENDER")), InvalidAttributes),
        (repr(user(gender=1)), InvalidJson),
        (repr(user(birth_year="GENDER")), InvalidJson),
        (repr(user(birth_year="9" * 5000)), InvalidJson),
        (repr(user(birth_year=True)), InvalidJson),
        (repr(user(rating="6")), UnknownLabel),
        (repr(user(rating="GENDER")), InvalidJson),
        (repr(user(text="GENDER")), InvalidJson),
        (repr(user(text=[7])), InvalidJson),
        (repr(user(date="GENDER")), InvalidJson),
        (repr(user(reviews="GENDER")), InvalidJson),
        (json.dumps(user(title="\ud800")), InvalidJson),
    ],
)
def test_malformed_users(write: Write, refuses: Refuses, canary: str, line: str, kind: type[DataError]) -> None:
    spoilt = line.replace("GENDER", canary) if line.startswith("{'") else line.replace("{0}", canary)
    refuses(kind, read_trustpilot_users(write(f"{USER!r}\n{spoilt}\n")), 2)
