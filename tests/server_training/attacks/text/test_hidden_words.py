"""Hidden words of the modes are found and aligned, and guessed at the rates of a count by hand."""

import re
from collections import Counter
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from textveil_training.attacks.subject import AttackedMechanism
from textveil_training.attacks.text.hidden_words import HiddenWordInference, attack_frequent, count_hidden_words
from textveil_training.attacks.text.template_release import (
    TemplateRelease,
    TemplateText,
    align_output,
    read_template,
    release_templates,
)
from textveil_training.errors import EmptyData

TEXTS = [
    ("Anna Novak from Boston paid 250 dollars.",),
    ("My doctor said that Peter is in Paris, and Maria in London.",),
    ("No name stands here.",),
]


def made_up(*texts: tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]) -> TemplateRelease:
    """Texts of types, originals and outputs, with a blank between hidden words."""
    sizes = [len(types) for types, *_ in texts]
    text = np.repeat(np.arange(len(texts)), sizes)
    return TemplateRelease(
        texts=tuple(TemplateText((" ",) * (len(types) + 1), words, types) for types, words, _ in texts),
        outputs=tuple(outputs for *_, outputs in texts),
        text=text,
        position=np.concatenate([np.arange(size) for size in sizes]),
        example=text,
        left_out=0,
    )


@pytest.mark.parametrize(
    ("gaps", "output", "found"),
    [
        (("", " from ", "."), "Clara Lee from Rome.", ("clara lee", "rome")),
        (("By ", ""), "By New York", ("new york",)),
        (("nothing",), "nothing", ()),
        (("", " ", ""), "Rome New York", ("rome", "new york")),
        (("", " from ", "."), "Clara of Rome.", None),
        (("By ", ""), "by Rome", None),
    ],
)
def test_outputs_stand_between_the_kept_parts(
    gaps: tuple[str, ...], output: str, found: tuple[str, ...] | None
) -> None:
    assert align_output(gaps, output) == found


def test_every_output_of_names_is_aligned_with_its_word() -> None:
    """With tags the output gives the type, so that a shifted alignment would show."""
    subject = AttackedMechanism(protect="names", style="tag")
    released = release_templates(subject, TEXTS)
    assert (released.left_out, len(released.texts)) == (0, 3)
    words = [*released.list_hidden_words()]
    assert [original for _, original, _ in words] == [
        "anna novak",
        "boston",
        "250",
        "peter",
        "paris",
        "maria",
        "london",
    ]
    for entity_type, _, output in words:
        assert re.fullmatch(rf"\[{entity_type} \d+\]", output)
    assert released.example.tolist() == [0, 0, 0, 1, 1, 1, 1]
    assert released.position.tolist() == [0, 1, 2, 0, 1, 2, 3]


@pytest.mark.parametrize("mode", ["words", "all"])
def test_every_output_of_words_and_all_is_aligned_with_its_word(mode: str) -> None:
    subject = AttackedMechanism(protect=mode)
    assert subject.plan is not None
    members = {one.name: {word.lower() for word in one.surrogates} for one in subject.plan.rule.entity_types}
    released = release_templates(subject, TEXTS)
    assert released.left_out == 0
    types = Counter(entity_type for entity_type, _, _ in released.list_hidden_words())
    assert {"given-name", "city", "word"} <= set(types)
    for entity_type, _, output in released.list_hidden_words():
        assert entity_type == "word" or output in members[entity_type]


def test_a_release_that_hides_nothing_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted fault: the texts come out as they went in."""
    subject = AttackedMechanism(protect="names")
    counts = count_hidden_words(read_template(subject, text) for (text,) in TEXTS)
    honest = attack_frequent(release_templates(subject, TEXTS), counts, of_known=False)
    assert honest["unchanged"] < 0.5
    same: Any = lambda texts, **options: [SimpleNamespace(text=text) for text in texts]  # noqa: E731
    monkeypatch.setattr(subject.sanitizer, "sanitize_batch", same)
    assert attack_frequent(release_templates(subject, TEXTS), counts, of_known=False)["unchanged"] == 1


def test_texts_without_a_hidden_word_cannot_be_attacked() -> None:
    with pytest.raises(EmptyData, match="the mode names replaces no word of these texts, so there is nothing to"):
        release_templates(AttackedMechanism(protect="names"), [("no name is in this text",)])


def test_the_most_frequent_member_is_guessed_for_each_type() -> None:
    released = made_up(
        (("city", "person"), ("rome", "anna"), ("oslo", "anna")),
        (("city", "city", "age"), ("rome", "paris", "43"), ("rome", "bonn", "51")),
    )
    found = attack_frequent(released, count_hidden_words(released.texts), of_known=False)
    assert (found["tokens"], found["top1"], found["unchanged"]) == (5, 0.8, 0.4)
    assert found["by_type"]["city"]["top1"] == pytest.approx(2 / 3, abs=1e-6)
    assert found["counted_from"] == "the attacked texts"
    known = count_hidden_words([TemplateText(("", "", "", ""), ("paris", "paris", "rome"), ("city",) * 3)])
    found = attack_frequent(released, known, of_known=True)
    assert (found["top1"], found["counted_from"]) == (0.2, "known texts")


def test_guesses_are_compared_with_the_originals_of_the_sample() -> None:
    ids = {"[UNK]": 0, "rome": 1, "par": 2, "##is": 3, "anna": 4}
    pieces = {"rome": (1,), "paris": (2, 3), "anna": (4,), "qq": (0,)}
    seen: list[tuple[list[tuple[int, ...]], int]] = []
    reader: Any = SimpleNamespace(
        tokenizer=SimpleNamespace(ids=ids),
        get_pieces=pieces.__getitem__,
        mask_token=lambda text, tokens, position: seen.append((tokens, position)),
    )
    released = made_up(
        (("city", "person"), ("rome", "anna"), ("anna", "rome")),
        (("city", "city"), ("paris", "qq"), ("rome", "rome")),
    )
    attack = HiddenWordInference(reader, released, np.array([0, 2, 3]))
    attack.make_variants(clean=False)
    assert seen == [([(4,), (1,)], 0), ([(1,), (1,)], 0), ([(1,), (1,)], 1)]
    seen.clear()
    attack.make_variants(clean=True)
    assert seen == [([(1,), (4,)], 0), ([(2, 3), (0,)], 0), ([(2, 3), (0,)], 1)]
    attack.add_guesses(torch.tensor([2, 0, 1]), torch.eye(5)[[0, 1, 2]], clean=False)
    attack.add_guesses(torch.tensor([0]), torch.eye(5)[[4]], clean=True)
    found = attack.compute_result()
    third = pytest.approx(1 / 3, abs=1e-6)
    assert (found["tokens"], found["top1"], found["first_piece"]) == (3, third, pytest.approx(2 / 3, abs=1e-6))
    assert (found["clean_top1"], found["by_type"]["city"]["tokens"]) == (0, 3)
