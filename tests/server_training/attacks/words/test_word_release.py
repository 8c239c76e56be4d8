"""An attacker reads and draws as the product does."""

import numpy as np
import pytest
from textveil.text import segments
from textveil.text.rewrite import cut
from textveil.text.rewrite.read import Reading
from textveil_training.attacks.words import DRAWN, KIND, MARK, NOTHING, SHOWN, Words, constant, of_plan, unchanged
from toy_release import VOCABULARY, plan

TEXT = "The nurse's dog, Mary, isn't US red-x7 and Will sleeps. We walk 12 dogs! DON'T; Cat cat zebra"


@pytest.mark.parametrize("visible", [True, False])
def test_texts_are_read_as_the_product_reads_them(visible: bool) -> None:
    of = plan(visible=visible)
    documents = [segments(TEXT), segments("Cat.")]
    ours = of_plan(Words(), of).read(documents)
    reader = cut.Reader(of)
    product = Reading(of, reader.read_segments(documents), reader.segments)
    hidden = np.isin(ours.role, (DRAWN, KIND))
    theirs = np.isin(product.roles, (cut.DRAWN, cut.REPLACED))
    found = zip((ours.role[hidden] == DRAWN).tolist(), ours.index[hidden].tolist(), strict=True)
    drawn = (product.roles[theirs] == cut.DRAWN).tolist()
    assert sorted(found) == sorted(zip(drawn, product.indices[theirs].tolist(), strict=True))


def test_what_is_visible_comes_out_and_the_rest_is_drawn() -> None:
    made = of_plan(Words(), plan())
    reading = made.read([segments(TEXT)])
    outputs = made.draw(reading)
    shown = np.isin(reading.role, (SHOWN, MARK))
    assert (outputs[shown] == reading.word[shown]).all()
    drawn = {made.words.spelled[word] for word in outputs[reading.role == DRAWN]}
    assert drawn <= set(VOCABULARY)
    blank, nothing = (constant(made, output).draw(reading) for output in (made.words.id("_"), NOTHING))
    assert set(blank[reading.role == DRAWN].tolist()) == {made.words.id("_")}
    assert set(nothing[reading.role == DRAWN].tolist()) == {NOTHING}
    raw = unchanged(made)
    assert (raw.draw(raw.read([segments(TEXT)])) == reading.word).all()


def test_consistent_draws_are_equal_within_a_document_only() -> None:
    made = of_plan(Words(), plan(consistent=True))
    reading = made.read([segments("dog dog " * 40)] * 60)
    outputs = made.draw(reading).reshape(60, -1)
    assert (outputs == outputs[:, :1]).all()
    assert len(np.unique(outputs[:, 0])) > 1
