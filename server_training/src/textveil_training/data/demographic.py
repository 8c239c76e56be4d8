"""Reviews and blog posts with the gender and the age of who wrote them: Trustpilot and the blog authorship corpus.

Two tasks of Coavoux, Narayan and Cohen 2018, "Privacy-preserving Neural Representations of Text" (EMNLP), used again by
Lyu, He and Li 2020: a class to predict from a text, and two facts about its author that an attacker infers.

* Trustpilot: Hovy, Johannsen and Søgaard 2015, "User Review Sites as a Resource for Large-Scale Sociolinguistic
  Studies" (WWW). The class is the rating.
* Blogs: Schler, Koppel, Argamon and Pennebaker 2006, "Effects of Age and Gender on Blogging" (AAAI Spring Symposium).
  The class is a topic that Coavoux et al. found with LDA; a text is a paragraph of a post.

Both come in two layouts. Lyu et al. prepared files like that of AG news (``read_trustpilot``, ``read_blog``; their
names are ``tp_us.txt``, ``tp_uk.txt`` and ``blog_data.txt``). The readers of Coavoux et al. take what precedes them
(``read_trustpilot_users``, ``read_blog_topics``). The repository of Lyu et al.'s code
(xlhex/dpnlp) lists data files publicly, but none of them was read here: these readers follow the published readers and
have been tested on made-up rows only. The files of Lyu et al. do not say what their two indices mean: the names here
are what the readers of Coavoux et al. put in those positions.
"""

import ast
import json
from collections.abc import Iterator
from typing import Any, cast

from textveil_training.data.attributed import read_attributed
from textveil_training.data.examples import AttributedText
from textveil_training.data.rows import FilePath, label_field, read_lines, text_field
from textveil_training.errors import FileLocation, InvalidAttributes, InvalidJson, WrongColumnCount

TRUSTPILOT_LABELS = ("0", "1", "2", "3", "4")
"""Ratings, one star less than given: from 0 for one star to 4 for five."""

TRUSTPILOT_ATTRIBUTES = ("female", "younger than 35")
"""Attributes of the author, by index; without the second, older than 45: Coavoux et al. leave out who is between."""

BLOG_LABELS = tuple("0123456789")
"""Topics; ten, without names."""

BLOG_ATTRIBUTES = ("in the tens", "female")
"""Attributes of the author, by index; without the first, 33 or older: the corpus has three age groups, the middle one
is left out. The order is not that of Trustpilot."""

YOUNGER_THAN, OLDER_THAN = 35, 45
_GENDERS = {"F": True, "M": False}
_BLOG_COLUMNS = 5


def read_trustpilot(path: FilePath, split: str | None = None) -> Iterator[AttributedText]:
    """Streams Trustpilot reviews as Lyu et al. prepared them, ``rating<TAB>text<TAB>indices``; see ``read_attributed``.

    The third column may be empty: a man who is older than 45. Any rating is accepted, since how the file spells them
    is not known.

    Args:
        path: ``tp_us.txt`` or ``tp_uk.txt``.
        split: ``train``, ``dev`` or ``test``; None for all three in this order.

    Raises:
        DataError: As ``read_attributed``.
    """
    return read_attributed(path, labels=None, attributes=TRUSTPILOT_ATTRIBUTES, allow_none=True, split=split)


def read_blog(path: FilePath, split: str | None = None) -> Iterator[AttributedText]:
    """Streams blog posts as Lyu et al. prepared them, ``topic<TAB>text<TAB>indices``; see ``read_attributed``.

    Any topic is accepted.

    Args:
        path: ``blog_data.txt``.
        split: ``train``, ``dev`` or ``test``; None for all three in this order.

    Raises:
        DataError: As ``read_attributed``.
    """
    return read_attributed(path, labels=None, attributes=BLOG_ATTRIBUTES, allow_none=True, split=split)


def read_blog_topics(path: FilePath) -> Iterator[AttributedText]:
    """Streams ``topic<TAB>age group<TAB>gender<TAB>author<TAB>text``, as Coavoux et al. write the blog corpus.

    The age group is 1 (tens) or 3 (thirties and older), the gender ``m`` or ``f``. A paragraph whose topic LDA was not
    sure of has the topic ``None`` and is passed over, as their reader does. Their reader balances the four groups of
    authors and shuffles afterwards; this one does neither. What follows a tab inside a text is kept here, and cut
    there. The author's number is not kept.

    Raises:
        InvalidAttributes: The age group or the gender is another one.
        DataError: The file cannot be read or is empty, or a row has too few columns, no text or an unknown topic.
    """
    for location, line in read_lines(path):
        row = line.split("\t", _BLOG_COLUMNS - 1)
        if len(row) != _BLOG_COLUMNS:
            raise WrongColumnCount(f"the row has {len(row)} columns instead of {_BLOG_COLUMNS}", location)
        topic, age, gender, _, text = row
        if age not in ("1", "3") or gender not in ("m", "f"):
            raise InvalidAttributes("columns 2 and 3 are not an age group (1, 3) and a gender (m, f)", location)
        if topic != "None":
            present = tuple(index for index, holds in enumerate((age == "1", gender == "f")) if holds)
            yield AttributedText(text_field(text, location), label_field(topic, BLOG_LABELS, location), present)


def read_trustpilot_users(path: FilePath) -> Iterator[AttributedText]:
    """Streams the users of a country, one object per line, as Hovy et al. published them: one example for each.

    A line is an object in Python's notation, although the file is named ``.jsonl``; JSON is read too. As in Coavoux et
    al., the text is the title and the text of the user's first review, and the age that of the day of that review. A
    user without gender, year of birth, review, rating or text, or of an age from 35 to 45, is passed over. Parts of a
    text are joined by a blank; they put the words STOP START there.

    Raises:
        InvalidJson: A line is not such an object, or a value has another type.
        InvalidAttributes: The gender is neither F nor M.
        DataError: The file cannot be read or is empty, or a rating is none from 1 to 5.
    """
    for location, line in read_lines(path):
        user = user_object(line)
        if user is None:
            raise InvalidJson("the line is not an object in JSON or in Python's notation", location)
        example = first_review(user, location)
        if example is not None:
            yield example


def user_object(line: str) -> dict[str, Any] | None:
    """Reads the object on a line, or None. The exceptions hold the line, so they must not get out."""
    for parse in (json.loads, ast.literal_eval):
        try:
            value = parse(line)
        except (ValueError, SyntaxError, RecursionError, MemoryError):
            continue
        return cast(dict[str, Any], value) if isinstance(value, dict) else None
    return None


def first_review(user: dict[str, Any], location: FileLocation) -> AttributedText | None:
    """Returns the example that ``read_trustpilot_users`` makes of a user, or None for one it passes over; see there."""
    reviews = _of_type(user.get("reviews"), list, location)
    gender = _of_type(user.get("gender"), str, location)
    born = _number(user.get("birth_year"), location)
    review = _of_type(reviews[0], dict, location) if reviews else None
    if review is None or gender is None or born is None:
        return None
    written = _of_type(review.get("date"), str, location)
    rating = _number(review.get("rating"), location)
    parts = _of_type(review.get("text"), list, location)
    if written is None or rating is None or parts is None:
        return None
    if gender not in _GENDERS:
        raise InvalidAttributes("the gender is neither F nor M", location)
    age = (_number(written.split("-")[0], location) or 0) - born
    title = _of_type(review.get("title"), str, location) or ""
    text = " ".join([title, *(_of_type(part, str, location) or "" for part in parts)]).strip()
    if YOUNGER_THAN <= age <= OLDER_THAN or not text:
        return None
    present = tuple(index for index, holds in enumerate((_GENDERS[gender], age < YOUNGER_THAN)) if holds)
    return AttributedText(text, label_field(str(rating - 1), TRUSTPILOT_LABELS, location), present)


def _of_type(value: Any, kind: type, location: FileLocation) -> Any:
    if value is not None and not isinstance(value, kind):
        raise InvalidJson("a value has another type than it should have", location)
    if isinstance(value, str) and any("\ud800" <= character <= "\udfff" for character in value):
        raise InvalidJson("a string holds a lone surrogate", location)
    return value


def _number(value: Any, location: FileLocation) -> int | None:
    """A whole number, given as one or in ASCII digits; None for None and for the empty string."""
    if value is None or value == "":
        return None
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= 9:
        return int(value)
    raise InvalidJson("a value is not a whole number", location)
