"""The mode ``names`` in each library: its options arrive, and pickles and settings carry them."""

import json
import pickle
import re

import pytest
from canaries import SECRET
from textveil.errors import OptionError
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
