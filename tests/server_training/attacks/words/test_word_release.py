"""An attacker reads and samples as the runtime does."""

import numpy as np
import pytest
from textveil.text import split_text
from textveil.text.rewrite import cut
from textveil.text.rewrite.draws import TokenArrays
from textveil_training.attacks.words import (
    KEPT,
    MARK,
    NOTHING,
    RANDOMIZED,
    SURROGATE,
    WordIds,
    make_constant_release,
    make_raw_release,
    make_word_release,
)
from toy_release import VOCABULARY, plan

TEXT = "The nurse's dog, Mary, isn't US red-x7 and Will sleeps. We walk 12 dogs! DON'T; Cat cat zebra"


@pytest.mark.parametrize("visible", [True, False])
def test_texts_are_read_as_the_product_reads_them(visible: bool) -> None:
    of = plan(visible=visible)
    documents = [split_text(TEXT), split_text("Cat.")]
    ours = make_word_release(WordIds(), of).read(documents)
    reader = cut.SegmentReader(of)
    product = TokenArrays(of, reader.read_segments(documents), reader.segments)
    hidden = np.isin(ours.role, (RANDOMIZED, SURROGATE))
    theirs = np.isin(product.roles, (cut.RANDOMIZED, cut.REPLACED))
    found = zip((ours.role[hidden] == RANDOMIZED).tolist(), ours.index[hidden].tolist(), strict=True)
    drawn = (product.roles[theirs] == cut.RANDOMIZED).tolist()
    assert sorted(found) == sorted(zip(drawn, product.indices[theirs].tolist(), strict=True))


def test_what_is_visible_comes_out_and_the_rest_is_drawn() -> None:
    made = make_word_release(WordIds(), plan())
    reading = made.read([split_text(TEXT)])
    outputs = made.draw(reading)
    shown = np.isin(reading.role, (KEPT, MARK))
    assert (outputs[shown] == reading.word[shown]).all()
    drawn = {made.words.spellings[word] for word in outputs[reading.role == RANDOMIZED]}
    assert drawn <= set(VOCABULARY)
    blank, nothing = (make_constant_release(made, output).draw(reading) for output in (made.words.get_id("_"), NOTHING))
    assert set(blank[reading.role == RANDOMIZED].tolist()) == {made.words.get_id("_")}
    assert set(nothing[reading.role == RANDOMIZED].tolist()) == {NOTHING}
    raw = make_raw_release(made)
    assert (raw.draw(raw.read([split_text(TEXT)])) == reading.word).all()


def test_consistent_draws_are_equal_within_a_document_only() -> None:
    made = make_word_release(WordIds(), plan(consistent=True))
    reading = made.read([split_text("dog dog " * 40)] * 60)
    outputs = made.draw(reading).reshape(60, -1)
    assert (outputs == outputs[:, :1]).all()
    assert len(np.unique(outputs[:, 0])) > 1
