"""The mode ``names`` works in each library: its options arrive, and pickles and settings keep them."""

import json
import pickle
import re
from pathlib import Path

import pytest
from canaries import SECRET
from textveil.errors import OptionError
from textveil.text.options import FACTS
from textveil_cli.integrations import ConfiguredSanitizer

TEXT = "The doctor called Olga Kaplan in Boston."
TAGGED = "The doctor called [person 1] in Boston."
OPTIONS = {"protect": "names", "style": "tag", "keep": ["city"]}


def test_a_rewriter_and_its_pickle() -> None:
    rewriter = ConfiguredSanitizer(**OPTIONS, allow=["zorblax"])  # type: ignore[arg-type]
    for one in (rewriter, pickle.loads(pickle.dumps(rewriter))):
        assert one(TEXT) == TAGGED
        assert one("a zorblax") == "a zorblax"
        assert "zorblax" not in repr(one)
    assert ConfiguredSanitizer(protect="names").sanitize_texts([TEXT])[0].statement.to_dict()["epsilon_text"] is None
    with pytest.raises(OptionError, match="no such entity type"):
        ConfiguredSanitizer(protect="names", keep=[SECRET])


@pytest.mark.parametrize("level", FACTS)
def test_facts_reach_a_rewriter_and_its_pickle(level: str) -> None:
    rewriter = ConfiguredSanitizer(protect="names", facts=level)
    for one in (rewriter, pickle.loads(pickle.dumps(rewriter))):
        assert one.sanitize_texts([TEXT])[0].statement.to_dict()["facts"] == level
    with pytest.raises(OptionError, match="facts: only the mode 'names' supports this"):
        ConfiguredSanitizer(protect="words", facts=level)
    with pytest.raises(OptionError, match="facts must be one of none, plain, useful, public"):
        ConfiguredSanitizer(protect="names", facts=SECRET)


OWN = {"patterns": {"employee": "EMP[0-9]{5}"}, "known": ["Olga Kaplan, Olga"]}
OWN_TEXT = "The doctor saw Olga (EMP12345) and Olga Kaplan."
OWN_TAGGED = "The doctor saw [person 1] ([employee 1]) and [person 1]."


def test_own_types_reach_a_rewriter_and_its_pickle() -> None:
    rewriter = ConfiguredSanitizer(protect="names", style="tag", **OWN)  # type: ignore[arg-type]
    for one in (rewriter, pickle.loads(pickle.dumps(rewriter))):
        assert one(OWN_TEXT) == OWN_TAGGED
        assert "Olga" not in repr(one)


def test_own_types_reach_pandas_and_spacy_and_langchain(tmp_path: Path) -> None:
    pandas, spacy = pytest.importorskip("pandas"), pytest.importorskip("spacy")
    pytest.importorskip("langchain_core")
    from textveil_cli.integrations.langchain import SanitizeFirst
    from textveil_cli.integrations.pandas import sanitize

    (tmp_path / "people.txt").write_text("# team\nOlga Kaplan, Olga\n", "utf-8")
    options = {"protect": "names", "style": "tag", **OWN}
    nlp = spacy.blank("en")
    nlp.add_pipe("textveil", config=options)
    for known in (OWN["known"], tmp_path / "people.txt"):
        column = sanitize(pandas.Series([OWN_TEXT]), **{**options, "known": known})  # type: ignore[arg-type]
        assert next(iter(column)) == OWN_TAGGED
    assert nlp(OWN_TEXT).text == SanitizeFirst(**options).invoke(OWN_TEXT) == OWN_TAGGED  # type: ignore[arg-type]


def test_a_rewriter_explains_its_preview() -> None:
    pieces = ConfiguredSanitizer(**OPTIONS).preview(TEXT, explain=True)  # type: ignore[arg-type]
    assert ("Olga Kaplan", 18, 29, "list: given, family") in [(p.text, p.start, p.end, p.reason) for p in pieces]


def test_facts_reach_pandas_and_spacy_and_langchain() -> None:
    pandas, spacy = pytest.importorskip("pandas"), pytest.importorskip("spacy")
    pytest.importorskip("langchain_core")
    from textveil_cli.integrations.langchain import SanitizeFirst
    from textveil_cli.integrations.pandas import sanitize

    text, expected = "Anna has 5 dogs.", "[person 1] has 5 dogs."
    options = {"protect": "names", "style": "tag", "facts": "plain"}
    nlp = spacy.blank("en")
    nlp.add_pipe("textveil", config=options)
    assert next(iter(sanitize(pandas.Series([text]), **options))) == expected  # type: ignore[arg-type]
    assert nlp(text).text == SanitizeFirst(**options).invoke(text) == expected  # type: ignore[arg-type]
    assert next(iter(sanitize(pandas.Series([text]), style="tag"))) == expected
    assert SanitizeFirst(style="tag").invoke(text) == expected
    words = {"protect": "words", "facts": "plain"}
    for make in (lambda: sanitize(pandas.Series([text]), **words), lambda: SanitizeFirst(**words)):  # type: ignore[arg-type]
        with pytest.raises(OptionError, match="facts: only the mode 'names' supports this"):
            make()


def test_pandas() -> None:
    pandas = pytest.importorskip("pandas", reason="needs the extra pandas: make integrations")
    from textveil_cli.integrations.pandas import sanitize

    assert next(iter(sanitize(pandas.Series([TEXT, None]), **OPTIONS))) == TAGGED


def test_spacy() -> None:
    spacy = pytest.importorskip("spacy", reason="needs the extra spacy: make integrations")
    nlp = spacy.blank("en")
    nlp.add_pipe("textveil", config=OPTIONS)
    assert nlp(TEXT).text == TAGGED
    json.dumps(nlp.config["components"])


def test_langchain() -> None:
    pytest.importorskip("langchain_core", reason="needs the extra langchain: make integrations")
    from textveil_cli.integrations.langchain import SanitizeFirst

    assert SanitizeFirst(**OPTIONS).invoke(TEXT) == TAGGED  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("entity", "span", "kind"),
    [
        ("PERSON", "Zorblaxia Quuxling", "person"),
        ("PERSON", "Hope", "person"),  # at the start of a sentence that mode shows it
        ("PERSON", "'Hope'", "person"),
        ("PERSON", "Anna's", "person"),
        ("LOCATION", "Reading", "city"),
        ("LOCATION", "Frobnitzville", "city"),
        ("PERSON", "hope", "person"),
        ("PERSON", "will", "person"),
    ],
)
def test_presidio_names_the_kind(entity: str, span: str, kind: str) -> None:
    pytest.importorskip("presidio_anonymizer", reason="needs the extra presidio: make integrations")
    from textveil_cli.integrations.presidio import TextveilOperator

    params = {"protect": "names", "style": "tag", "entity_type": entity}
    expected = re.sub(r"[\w ]+(?=$|'s$|'$)", f"[{kind} 1]", span, count=1)
    assert TextveilOperator().operate(span, params) == expected
