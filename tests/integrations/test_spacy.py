"""The component in a blank pipeline."""

import logging
import pickle
from collections.abc import Callable
from pathlib import Path

import pytest
from canaries import SECRET
from textveil.errors import OptionError

spacy = pytest.importorskip("spacy", reason="needs the extra spacy: make integrations")


def pipeline(**options: object):
    nlp = spacy.blank("en")
    nlp.add_pipe("textveil", config={"options": options})  # found by its entry point: nothing was imported
    return nlp


def test_documents_get_their_sanitized_text() -> None:
    nlp = pipeline(level="strongest")
    doc = nlp(f"The {SECRET} said.")
    words = doc._.sanitized.split()
    assert doc.text == f"The {SECRET} said."
    assert words[0] == "The"
    assert len(words) == 4
    assert "Zorblax" not in doc._.sanitized


def test_many_documents_go_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    nlp = pipeline()
    texts = ["The of", "", "and not"] * 5
    assert [doc._.sanitized for doc in nlp.pipe(texts, batch_size=4)] == texts


def test_a_saved_pipeline_has_options_and_no_text(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    nlp = pipeline(level="strongest")
    with caplog.at_level(logging.DEBUG):
        nlp(f"The {SECRET} said.")
    nlp.get_pipe("textveil")
    nlp.to_disk(tmp_path / "nlp")
    assert "Zorblax" not in caplog.text
    assert b"Zorblax" not in pickle.dumps(nlp.get_pipe("textveil"))
    names = [str(path.relative_to(tmp_path / "nlp")) for path in (tmp_path / "nlp").rglob("*")]
    assert not [name for name in names if "textveil" in name]
    assert 'factory = "textveil"' in (tmp_path / "nlp" / "config.cfg").read_text()
    loaded = spacy.load(tmp_path / "nlp")
    assert loaded("The of")._.sanitized == "The of"
    assert loaded.get_pipe("textveil").rewriter.terms.level == "strongest"


def test_wrong_options_are_named() -> None:
    with pytest.raises(OptionError):
        pipeline(level="nothing")


@pytest.mark.full
def test_the_example_runs(example: Callable[[str], str]) -> None:
    lines = example("with_spacy.py").splitlines()
    assert lines[0].startswith("My ")
    assert lines[1].startswith("The ")
