"""A smaller vocabulary tokenizes kept pieces as before, and keeps all needed pieces."""

from pathlib import Path

import numpy as np
import pytest
from small_checkpoints import LETTERS, MARKET, MATCH, VOCABULARY
from textveil_export.encoder.checkpoint import SPECIAL_PIECES, Checkpoint, keep_pieces
from textveil_export.encoder.evaluation import encode_texts
from textveil_export.encoder.onnx_graph import DeviceSession, TorchReference, export_graph
from textveil_export.errors import ExportError, SourceError

NEEDED = {*SPECIAL_PIECES, *LETTERS}


@pytest.fixture
def public(tmp_path: Path) -> Path:
    path = tmp_path / "public.txt"
    path.write_text("The market and the price.\nMatch the bank, the marketing\n", "utf-8")
    return path


def test_by_public_text_every_piece_in_it_stays(checkpoint: Checkpoint, public: Path) -> None:
    kept = keep_pieces(checkpoint, None, public).vocabulary
    assert set(kept) == NEEDED | {"the", "market", "and", "price", "match", "bank", "##ing"}
    assert list(kept) == sorted(kept, key=VOCABULARY.index)


def test_a_count_takes_the_most_frequent_and_then_the_first(checkpoint: Checkpoint, public: Path) -> None:
    count = len(NEEDED) + 3
    assert set(keep_pieces(checkpoint, count, public).vocabulary) - NEEDED == {"the", "market", "and"}
    assert set(keep_pieces(checkpoint, count, None).vocabulary) - NEEDED == {"the", "of", "and"}
    assert set(keep_pieces(checkpoint, len(NEEDED), None).vocabulary) == NEEDED
    everything = keep_pieces(checkpoint, len(VOCABULARY) - 1, None)
    assert set(everything.vocabulary) == set(VOCABULARY) - {"[unused0]"}


@pytest.mark.slow
def test_texts_whose_pieces_are_kept_give_the_same_vectors(
    checkpoint: Checkpoint, graph: Path, public: Path, tmp_path: Path
) -> None:
    trimmed = keep_pieces(checkpoint, None, public)
    assert len(trimmed.vocabulary) < len(checkpoint.vocabulary)
    path = tmp_path / "trimmed.onnx"
    export_graph(trimmed, path)
    before, after = DeviceSession(graph), DeviceSession(path)
    rows = [(0, text) for text in ("the market", "", "Match the price, and banking", "the bank. the bank", "marketing")]
    old, new = encode_texts(rows, checkpoint.vocabulary, checkpoint), encode_texts(rows, trimmed.vocabulary, trimmed)
    for ids, renumbered in zip(old.ids, new.ids, strict=True):
        assert [checkpoint.vocabulary[i] for i in ids] == [trimmed.vocabulary[i] for i in renumbered]
        assert np.array_equal(before(ids), after(renumbered))
    assert not all(np.array_equal(a, b) for a, b in zip(old.ids, new.ids, strict=True))
    assert path.stat().st_size < graph.stat().st_size


def test_a_word_that_is_left_out_is_spelled(checkpoint: Checkpoint, public: Path) -> None:
    trimmed = keep_pieces(checkpoint, None, public)
    (ids,) = encode_texts([(0, "the oil")], trimmed.vocabulary, trimmed).ids
    assert [trimmed.vocabulary[i] for i in ids] == ["[CLS]", "the", "o", "##i", "##l", "[SEP]"]


def test_the_checkpoint_itself_stays(checkpoint: Checkpoint, public: Path) -> None:
    ids = np.arange(len(VOCABULARY))
    before = TorchReference(checkpoint)(ids)
    keep_pieces(checkpoint, None, public)
    assert np.array_equal(TorchReference(checkpoint)(ids), before)
    assert checkpoint.extractor.config.vocab_size == len(VOCABULARY)
    assert set(MATCH + MARKET) <= set(checkpoint.vocabulary)


def test_impossible_requests_are_refused(checkpoint: Checkpoint, tmp_path: Path) -> None:
    with pytest.raises(ExportError, match="pass --keep-pieces, --vocabulary-from or both"):
        keep_pieces(checkpoint, None, None)
    for count in (len(NEEDED) - 1, len(VOCABULARY)):
        with pytest.raises(ExportError, match=f"between {len(NEEDED)} .* and {len(VOCABULARY) - 1}$"):
            keep_pieces(checkpoint, count, None)
    with pytest.raises(SourceError, match=r"public\.txt: cannot be read"):
        keep_pieces(checkpoint, None, tmp_path / "public.txt")
    (tmp_path / "public.txt").write_bytes(b"\xff\xfe")
    with pytest.raises(SourceError, match=r"public\.txt: cannot be read"):
        keep_pieces(checkpoint, None, tmp_path / "public.txt")
