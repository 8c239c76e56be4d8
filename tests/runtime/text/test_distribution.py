"""The distribution of one word, as it is told: exact, complete, and the one that is drawn from."""

from fractions import Fraction
from typing import Any

import pytest
from defined_weights import defined_weights
from textveil import Sanitizer
from textveil.text import Options

SANTEXT = Options(mechanism="santext+")
ALL: tuple[dict[str, Any], ...] = (
    {},
    {"epsilon": "16", "replacement_probability": "0.01"},
    {"deny": ["the"]},
    {"mechanism": "santext"},
    {"mechanism": "krr", "epsilon": "2.5"},
    {"mechanism": "random"},
)
WORDS = ("the", "The", ",", "'s", "doctor", "DOCTOR", "color", "zzz", "17", "x@y.z", "😀")


def by_the_formula(sanitizer: Sanitizer, word: int, mechanism: str, epsilon: int) -> list[Fraction]:
    """Eq. 1 in fractions, from the raw arrays of the bundle."""
    laws = (entry.parameters[mechanism] for entry in sanitizer.bundle.santext_levels)
    law = next(law for law in laws if 2 * law.exponent == epsilon)
    weights = defined_weights(sanitizer.bundle, mechanism, law)[word]
    return [Fraction(weight, sum(weights)) for weight in weights]


@pytest.mark.parametrize("options", ALL, ids=str)
@pytest.mark.parametrize("word", WORDS)
def test_a_law_is_complete_and_exact(tiny: Sanitizer, word: str, options: dict[str, Any]) -> None:
    law = tiny.distribution(word, **options)
    assert len(law.words) == len(law.weights) == len(set(law.words))
    assert all(type(weight) is int and weight > 0 for weight in law.weights)
    assert law.total == sum(law.weights)
    assert sum(law.compute_probability(output) for output in law.words) == 1
    assert list(law.words) == sorted(law.words, key=tiny.bundle.vocabulary.index)
    assert "<unk>" not in law.words
    assert law.compute_probability("nothing like it") == 0
    likeliest = law.list_likeliest(5)
    assert [share for _, share in likeliest] == sorted((share for _, share in likeliest), reverse=True)
    assert likeliest[0][1] == pytest.approx(float(max(map(law.compute_probability, law.words))))
    assert len(law.list_likeliest(1000)) == len(law.words)
    assert law.list_likeliest(0) == []


@pytest.mark.parametrize("epsilon", [4, 16])
@pytest.mark.parametrize("word", WORDS)
def test_the_law_is_the_formula(tiny: Sanitizer, word: str, epsilon: int) -> None:
    index = tiny.bundle.symbol_ids.get(word.lower(), tiny.bundle.symbol_count)
    expected = by_the_formula(tiny, index, "santext", epsilon)
    law = tiny.distribution(word, mechanism="santext", epsilon=epsilon)
    assert [law.compute_probability(output) for output in tiny.bundle.vocabulary] == expected

    replaced = by_the_formula(tiny, index, "santext+", epsilon)
    law = tiny.distribution(word, epsilon=epsilon, replacement_probability="0.25")
    if index < tiny.bundle.symbol_count and tiny.bundle.table.roles[index] & 4 and word != ",":  # no coin keeps a mark
        replaced = [share / 4 for share in replaced]
        replaced[index] += Fraction(3, 4)
    assert [law.compute_probability(output) for output in tiny.bundle.vocabulary] == replaced


def test_the_replacement_probability_is_exact(tiny: Sanitizer) -> None:
    for p in ("0.3", "0.5", "1", "1e-9", "0.999999"):
        kept = tiny.distribution("the", replacement_probability=p).compute_probability("the")
        assert kept == 1 - Fraction(-(-Fraction(p) * 2**64 // 1), 2**64)
    assert "the" not in tiny.distribution("the", replacement_probability=1).words
    assert "the" not in tiny.distribution("doctor").words
    assert "the" in tiny.distribution("doctor", mechanism="santext").words


def test_what_is_unknown_has_one_law(tiny: Sanitizer, english: Sanitizer) -> None:
    for sanitizer, options in ((tiny, Options()), (tiny, Options(mechanism="krr", epsilon=30)), (english, SANTEXT)):
        laws = {sanitizer.distribution(word, **options) for word in ("zzyzzx", "17", "a@b.c", "😀", "\0", "x" * 300)}
        assert len(laws) == 1
        assert laws.pop().symbol == "<unk>"


def test_under_the_staircase_a_string_has_the_law_of_its_kind_or_that_of_the_unknown(english: Sanitizer) -> None:
    unknown, capital = ("zzyzzx", "x" * 300), ("Zzyzzx", "ZZYZZX")
    for equal in (unknown, capital, ("17", "2,500.75"), ("a@b.c", "kim@example.com"), ("😀", "x_9")):
        assert len({english.distribution(word) for word in equal}) == 1
    assert len({english.distribution(word) for word in (*unknown, *capital, "17", "a@b.c", "😀")}) == 5


def test_case_and_spelling_do_not_change_a_law(english: Sanitizer, tiny: Sanitizer) -> None:
    for options in (SANTEXT, Options(sanitize_punctuation=True)):
        for other in ("Doctor", "DOCTOR", "ｄoctor"):
            assert english.distribution(other, **options) == english.distribution("doctor", **options)
    # Under the staircase more words come out in lower case than with a capital.
    for options in (Options(), Options(consistent=True)):
        lower, title, upper = (english.distribution(word, **options) for word in ("doctor", "Doctor", "DOCTOR"))
        assert english.distribution("ｄoctor", **options) == lower != title == upper
    for other in ("’s", "'S"):
        assert tiny.distribution(other) == tiny.distribution("'s")


def test_never_an_output_never_comes_out(make_bundle, tiny: Sanitizer) -> None:  # type: ignore[no-untyped-def]
    guarded = Sanitizer.load(make_bundle(never=["zombie", "the"]))
    for options in ALL:
        for word in ("zombie", "the", "doctor", "zzz"):
            law = guarded.distribution(word, **options)
            assert law.compute_probability("zombie") == 0
            assert law.compute_probability("the") == 0
    assert tiny.distribution("zombie").compute_probability("zombie") > 0
