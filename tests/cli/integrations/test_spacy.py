"""The component works in a blank spaCy pipeline."""

import inspect
import logging
import pickle
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from canaries import SECRET
from host_texts import TEXT, VISIBLE, is_sanitized, refused_in_one_line
from textveil.errors import InputError, OptionError

spacy = pytest.importorskip("spacy", reason="needs the extra spacy: make integrations")

from spacy.tokens import Doc, DocBin, Token
from textveil.text.options import Options


def pipeline(**options: object):
    nlp = spacy.blank("en")
    nlp.add_pipe("textveil", config=options)  # found by its entry point: nothing was imported
    return nlp


def test_documents_get_their_sanitized_text() -> None:
    nlp = pipeline(protect="words", epsilon=4)
    doc = nlp(f"The {SECRET} said.")
    words = doc._.sanitized.split()
    assert doc.text == doc._.sanitized
    assert words[0] == "The"
    assert len(words) == 4
    assert "Zorblax" not in doc._.sanitized


def test_many_documents_go_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    nlp = pipeline()
    texts = ["The of", "", "and not"] * 5
    assert [doc._.sanitized for doc in nlp.pipe(texts, batch_size=4)] == texts


@pytest.mark.slow
def test_a_saved_pipeline_has_its_options(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    nlp = pipeline(protect="words", epsilon=4)
    with caplog.at_level(logging.DEBUG):
        nlp(f"The {SECRET} said.")
    nlp.get_pipe("textveil")
    nlp.to_disk(tmp_path / "nlp")
    assert "Zorblax" not in caplog.text
    assert b"Zorblax" not in pickle.dumps(nlp.get_pipe("textveil").sanitizer)
    names = [str(path.relative_to(tmp_path / "nlp")) for path in (tmp_path / "nlp").rglob("*")]
    assert not [name for name in names if "textveil" in name]
    assert 'factory = "textveil"' in (tmp_path / "nlp" / "config.cfg").read_text()
    loaded = spacy.load(tmp_path / "nlp")
    assert loaded("The of")._.sanitized == "The of"
    assert loaded.get_pipe("textveil").sanitizer.terms.level == "4"


def test_wrong_options_are_named() -> None:
    with pytest.raises(OptionError):
        pipeline(protect="words", epsilon=7)


# --- as its tutorial calls it: add_pipe, nlp, pipe, and then the Doc ------------------------------------------------


def test_all_that_a_doc_gives_away_is_sanitized() -> None:
    nlp = pipeline()
    doc = nlp(TEXT)
    assert is_sanitized(doc.text)
    assert doc.text == doc._.sanitized == "".join(token.text_with_ws for token in doc)
    assert doc.vocab is nlp.vocab
    stored = DocBin(docs=[doc], store_user_data=True).to_bytes() + doc.to_bytes() + str(doc.to_json()).encode()
    with_strings = DocBin(docs=[doc], attrs=["ORTH", "LEMMA", "NORM"]).to_bytes()
    assert not [part for part in SECRET.split() if part.encode() in stored + with_strings]


@pytest.mark.parametrize("processes", [1, 2])
def test_many_texts_with_what_belongs_to_them(processes: int) -> None:
    pairs = [(TEXT, {"id": 1}), ("", {"id": 2}), (VISIBLE, {"id": 3}), ("a", {"id": 4})]
    done = list(pipeline().pipe(pairs, as_tuples=True, n_process=processes))
    assert [context["id"] for _, context in done] == [1, 2, 3, 4]
    assert is_sanitized(done[0][0].text)
    assert [doc.text for doc, _ in done[1:]] == ["", VISIBLE, "a"]


def test_what_comes_later_sees_the_sanitized_text() -> None:
    nlp = spacy.blank("en")
    rules = nlp.add_pipe("entity_ruler")
    rules.add_patterns([{"label": "PERSON", "pattern": "Zorblaxia"}, {"label": "WORD", "pattern": "not"}])
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("textveil", first=True)
    doc = nlp(f"{TEXT}. {VISIBLE}.")
    assert [entity.label_ for entity in doc.ents] == ["WORD"]
    assert len(list(doc.sents)) == 2


def tagged(doc: Doc) -> None:
    doc[0].tag_ = "DT"


def with_spans(doc: Doc) -> None:
    doc.spans["all"] = [doc[:]]


def with_a_category(doc: Doc) -> None:
    doc.cats["complaint"] = 1.0


def with_vectors(doc: Doc) -> None:
    doc.tensor = np.ones((len(doc), 2))


@pytest.mark.parametrize("earlier", ["sentencizer", tagged, with_spans, with_a_category, with_vectors])
def test_behind_other_components_it_refuses(earlier: str | Callable[[Doc], None]) -> None:
    """Their results belong to the original text: they would be lost, or reveal it."""
    nlp = spacy.blank("en")
    if isinstance(earlier, str):
        nlp.add_pipe(earlier)
    doc = nlp(TEXT)
    if callable(earlier):
        earlier(doc)
    nlp.add_pipe("textveil")
    for call in (lambda: nlp.get_pipe("textveil")(doc), lambda: list(nlp.get_pipe("textveil").pipe([doc]))):
        with pytest.raises(InputError, match="first=True") as refused:
            call()
        assert refused_in_one_line(str(refused.value))


def test_attributes_of_the_whole_document_stay() -> None:
    if not Doc.has_extension("number"):
        Doc.set_extension("number", default=None)
        Token.set_extension("spelled", default=None)
    nlp = pipeline()
    doc = nlp.make_doc(TEXT)
    doc._.number = 7
    doc[1]._.spelled = SECRET
    doc.user_data["kept"] = True
    done = nlp(doc)
    assert (done._.number, done.user_data["kept"], done[1]._.spelled) == (7, True, None)
    assert SECRET not in str(done.user_data)


def test_options_are_those_of_the_component() -> None:
    from textveil_cli.integrations.spacy import make_component

    options = {"epsilon": 4, "protect": "all", "deny": ["invoice"]}
    terms = pipeline(**options).get_pipe("textveil").sanitizer.terms
    assert (terms.level, terms.protect) == ("4", "all")
    # A pipeline is saved with its options, and a key is not a part of one.
    assert set(Options.__annotations__) - {"key"} <= set(inspect.signature(make_component).parameters)


def test_a_document_that_was_not_sanitized_has_nothing_to_send() -> None:
    nlp = pipeline()
    with nlp.select_pipes(disable=["textveil"]):
        assert nlp(TEXT)._.sanitized is None


@pytest.mark.slow
def test_a_copied_pipeline_sanitizes() -> None:
    nlp = pipeline(protect="words", epsilon=4)
    for copy in (pickle.loads(pickle.dumps(nlp)), pipeline().from_bytes(nlp.to_bytes())):
        doc = copy(TEXT)
        assert is_sanitized(doc.text)
        assert doc.vocab is copy.vocab


def test_the_vocabulary_of_a_pipeline_has_words_of_texts_unless_they_are_cut_in_a_zone(tmp_path: Path) -> None:
    """As the documents say."""
    nlp = pipeline()
    with nlp.memory_zone():
        assert is_sanitized(nlp(TEXT).text)
    nlp.to_disk(tmp_path / "zone")
    assert "Zorblax" not in (tmp_path / "zone" / "vocab" / "strings.json").read_text()
    nlp(TEXT)
    nlp.to_disk(tmp_path / "plain")
    assert "Zorblax" in (tmp_path / "plain" / "vocab" / "strings.json").read_text()


@pytest.mark.full
def test_the_example_runs(example: Callable[[str], str]) -> None:
    lines = example("with_spacy.py").splitlines()
    assert lines[0].startswith("My ")
    assert lines[1].startswith("The ")


@pytest.mark.full
def test_the_example_with_a_detector_runs(example: Callable[[str], str]) -> None:
    sent, back = example("with_detectors.py").splitlines()
    assert "about [hidden], order " in sent
    assert not [part for part in ("Anna", "Novak", "rapid", "cycle", "88213") if part in sent]
    assert back == "back: I called Anna Novak about [hidden], order 88213."
