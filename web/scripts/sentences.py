"""What both languages say: sentences of statements, taken from what a promise says, and of refusals.

Names stand in the place of figures.
"""

import re
from collections.abc import Callable, Iterable
from decimal import Decimal
from pathlib import Path

import numpy as np
from textveil import Sanitizer, errors, release
from textveil.mechanisms.staircase.index import IndexStaircase
from textveil.text import promises, statement
from textveil.text.names import promise, rewrite
from textveil.vector.index_statement import IndexStatement

GOLDEN = Path(__file__).parents[2] / "docs" / "golden"
_EPSILON, _TOKENS = Decimal("7.25"), 31
_FIGURES = {"224.75": "{document}", "7.25": "{nats}", f"{release.largest_odds(_EPSILON):,}": "{odds}"}


def mention(*, protect: str = "words", bare: bool = False, consistent: bool = False) -> statement.PrivacyStatement:
    """Returns a statement of the staircase whose figures are easily told."""
    made = promises.MentionPromise(epsilon=_EPSILON, share="1/2", near=0.5, guess_gain=1.5)
    return statement.Terms(
        mechanism="staircase",
        level="7.25",
        promise=made,
        protect=protect,
        consistent=consistent,
        case="carry",
        sanitize_punctuation=bare,
        bundle="",
    ).statement(_TOKENS)


def of_names(**style: object) -> statement.PrivacyStatement:
    """Returns a statement of the rung names."""
    allow = bool(style.pop("allow", False))
    made = promise.NamesPromise(style=rewrite.Style(**style), allow=allow)  # pyright: ignore[reportArgumentType]
    return statement.Terms(
        mechanism="names",
        level=None,
        promise=made,
        protect="names",
        case="carry",
        sanitize_punctuation=False,
        bundle="",
    ).statement(_TOKENS)


def template(said: str, *more: tuple[str, str]) -> str:
    """Returns a sentence with names in the place of figures."""
    for figure, name in (*more, *_FIGURES.items()):
        said = said.replace(figure, name)
    return said


def refusals() -> dict[str, str]:
    """Returns what is said of calls that both languages refuse in the same words."""
    names, staircase_alone = Sanitizer.load(GOLDEN / "names"), Sanitizer.load(GOLDEN / "staircase")
    calls: dict[str, Callable[[], object]] = {
        "noMechanism": lambda: names.preview(""),
        "noNames": lambda: staircase_alone.preview("", protect="names"),
        "namesOnly": lambda: staircase_alone.preview("", style="tag"),
        "notOfNames": lambda: names.preview("", protect="names", split=True),
        "noTexts": lambda: names.sanitize_batch(5),  # pyright: ignore[reportArgumentType]
        "noDocument": lambda: staircase_alone.sanitize_documents([5]),  # pyright: ignore[reportArgumentType]
        "noDocuments": lambda: staircase_alone.sanitize_documents(5),  # pyright: ignore[reportArgumentType]
    }
    said_of: dict[str, str] = {}
    for name, call in calls.items():
        try:
            call()
        except errors.TextveilError as error:
            said_of[name] = re.sub(r"\b(style|split)\b", "{options}", str(error))
    return {name: said_of[name] for name in calls}


def added(more: Iterable[str], fewer: Iterable[str]) -> str:
    """Returns the one sentence that an option adds."""
    known = set(fewer)
    (one,) = (item for item in more if item not in known)
    return one


def sentences() -> dict[str, object]:
    """Returns what statements say."""
    every = mention(protect="all")
    visible = mention(consistent=True).terms.visible_parts
    parts_of = {
        "functionWords": visible[0],
        "gaps": visible[1],
        "case": visible[2],
        "kinds": visible[3],
        "order": visible[4],
        "equal": visible[5],
    }
    lines = {
        f"{protect}{'Bare' * bare}": template(
            mention(protect=protect, bare=bare).line(), ("31 other words", "{words}"), (" each,", "{each},")
        )
        for protect in ("words", "all")
        for bare in (False, True)
    }
    found: dict[str, object] = {
        "visible": parts_of,
        "pure": statement.PURE_LDP,
        "notion": promises.NOTION,
        "consistentNotion": promises.CONSISTENT_NOTION,
        "unit": every.terms.unit,
        "consistentUnit": mention(consistent=True).terms.unit,
        "notProtected": [
            template(item, (", ".join(every.terms.visible_parts), "{visible}")) for item in every.not_protected
        ],
        "habits": added(mention().not_protected, [*every.not_protected, mention().not_protected[0]]),
        "cipher": added(
            mention(protect="all", consistent=True).not_protected,
            [*every.not_protected, mention(protect="all", consistent=True).not_protected[0]],
        ),
        "summary": template(
            every.summary(),
            (", ".join(every.terms.visible_parts), "{visible}"),
            ("31 drawn words", "{mentions}"),
            ("per drawn word", "per {unit}"),
        ),
        "lines": lines,
        "other": "other word",
        "otherDistinct": "other distinct word",
    }
    assert str(found["other"]) in mention().line()
    assert str(found["otherDistinct"]) in mention(consistent=True).line()
    return found


def sentences_of_names() -> dict[str, object]:
    """Returns what statements of the rung names say."""
    plain, kept = of_names(consistent=False), of_names(consistent=False, keep=frozenset({"city"}))
    return {
        "kind": plain.terms.promise.epsilon_kind,
        "notion": promise.NOTION,
        "unit": plain.terms.unit,
        "line": promise._LINE,
        "members": promise._MEMBERS,
        "tags": promise._TAGS,
        "keptKind": kept.line().partition("list")[2].partition("city")[0],
        "keptKinds": of_names(keep=frozenset({"city", "country"})).line().partition("list")[2].partition("city")[0],
        "allowedMore": of_names(allow=True).line().partition("list")[2].partition(".")[0],
        "summary": promise._SUMMARY,
        "equalToo": promise._EQUAL,
        "beyond": promise._BEYOND.replace("{:,}", "{cap}"),
        "notProtected": list(plain.not_protected),
        "kept": added(kept.not_protected, plain.not_protected).replace("city", "{kinds}"),
        "allowed": added(of_names(consistent=False, allow=True).not_protected, plain.not_protected),
        "equal": added(of_names().not_protected, plain.not_protected),
    }


def sentences_of_index() -> dict[str, object]:
    """Returns what statements of an index say."""
    base = np.ones(2, dtype=np.int64)
    level = IndexStaircase.certified("counts", _EPSILON, base, np.eye(2, dtype=np.int64))
    plain, text = IndexStatement(level, ""), IndexStatement(level, "", 31)
    return {
        "kindOfText": text.kind_of_text.replace("31", "{sentences}"),
        "summary": plain.summary()
        .replace("one of 2 indices", "{released}")
        .replace("counts", "{channel}")
        .replace(str(_EPSILON), "{epsilon}")
        .replace(f"{release.largest_odds(_EPSILON):,}", "{odds}"),
        "indices": "one of {indices} indices",
        "guess": plain._details()[0].replace(str(plain.guess_gain), "{gain}"),
        "fixed": text._details()[1],
        "notProtected": list(plain.not_protected),
    }
