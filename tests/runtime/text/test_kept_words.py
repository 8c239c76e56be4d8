"""The share of kept words of the mode ``names``: low for a text in another language, the same for one template."""

import json
import pickle

import pytest
from drawn_words import strict_words
from textveil import Conversation, Result, Sanitizer
from textveil.errors import LanguageWarning
from textveil.text import KeptWords

ENGLISH = "Please write a short letter to my landlord about the broken heating and the water that drips into the hall."
GERMAN = "Bitte schreibe meinem Vermieter einen kurzen Brief wegen der kaputten Heizung und weil es in den Flur tropft."
FRENCH = (
    "Veuillez rédiger une lettre courte pour mon propriétaire à propos du chauffage cassé et de cette eau qui coule."
)
CODE = (
    "Why does this fail? I ran it twice: for (const key of keys) { total += price[key] * 1.19; } and the sum is wrong."
)


@pytest.fixture(scope="module")
def english() -> Sanitizer:
    return Sanitizer.load()


def rewritten(sanitizer: Sanitizer, text: str) -> Result:
    return sanitizer.sanitize(text, protect="names")


@pytest.mark.parametrize("text", [ENGLISH, CODE, ENGLISH + " Anna Novak, Olga Kaplan, 12 March 2024, a@b.example." * 9])
def test_english_is_not_warned_of(english: Sanitizer, text: str) -> None:
    words = rewritten(english, text).kept_words
    assert words is not None
    assert not words.may_be_foreign


@pytest.mark.parametrize("text", [GERMAN, FRENCH, "Пожалуйста напишите короткое письмо моему " * 5])
def test_other_languages_are(english: Sanitizer, text: str) -> None:
    result = rewritten(english, text)
    assert result.kept_words is not None
    assert result.kept_words.may_be_foreign
    assert result.kept_share is not None
    assert json.loads(json.dumps(result.to_dict()))["kept_word_share"] == result.kept_share
    assert pickle.loads(pickle.dumps(result)).kept_share == result.kept_share


def test_names_and_numbers_count_in_neither(english: Sanitizer) -> None:
    for text in ("the letter is here", "the letter of Anna Novak, 12, is here: a@b.example", "the the the letter"):
        assert rewritten(english, text).kept_share == 1
    assert rewritten(english, "Anna Novak 12").kept_share is None
    assert rewritten(english, "").kept_share is None


def test_eleven_words_tell_no_language() -> None:
    assert not KeptWords(0, 11).may_be_foreign
    assert KeptWords(0, 12).may_be_foreign
    assert KeptWords(5, 7).may_be_foreign
    assert not KeptWords(6, 6).may_be_foreign
    assert KeptWords(1, 2).share == 0.333


def test_words_of_a_drawn_list_count_in_neither(english: Sanitizer) -> None:
    drawn = strict_words(english.bundle, 200)
    result = english.sanitize("the " + " ".join(drawn[:30]), protect="names", randomize=drawn)
    assert (result.randomized_words, result.kept_share) == (30, 1)


def test_other_modes_have_no_share(english: Sanitizer) -> None:
    result = english.sanitize(GERMAN, protect="words")
    assert (result.kept_share, result.kept_words, result.replaced_words) == (None, None, 0)
    assert "kept_word_share" not in result.to_dict()


def test_a_document_counts_its_texts(english: Sanitizer) -> None:
    (document,) = english.sanitize_documents([[ENGLISH, GERMAN]], protect="names")
    assert (
        document.replaced_words
        == rewritten(english, GERMAN).replaced_words + rewritten(english, ENGLISH).replaced_words
    )


def test_an_exchange_counts_the_texts_that_it_is_the_first_to_send(english: Sanitizer) -> None:
    conversation = Conversation(english, facts="none")  # useful facts have frequent words of other languages
    first, second = {"role": "user", "content": FRENCH + FRENCH}, {"role": "user", "content": "and now in the house"}
    exchange = conversation.start_exchange()
    exchange.outgoing([first])
    assert exchange.kept_words.may_be_foreign
    later = conversation.start_exchange()
    later.outgoing([first, second])
    assert later.kept_words == KeptWords(5, 0)


def test_kept_words_of_other_languages_do_not_hide_the_language(english: Sanitizer) -> None:
    """With public facts, frequent words of other languages are kept, and more than half of a German text with them."""
    for text in (GERMAN, FRENCH):
        words = english.sanitize(text, facts="useful", style="tag").kept_words
        assert words is not None
        assert words.foreign >= 5
        assert words.may_be_foreign
        (document,) = english.sanitize_documents([[text]], facts="useful", style="tag")
        assert document.foreign_words == words.foreign
        assert english.sanitize(text, facts="none").foreign_words == 0
    for text in (ENGLISH, CODE):
        result = english.sanitize(text, facts="useful", style="tag")
        assert result.foreign_words == 0
        assert pickle.loads(pickle.dumps(result)).kept_words == result.kept_words


@pytest.mark.parametrize("has_exchange", [False, True])
def test_a_system_prompt_hides_no_message_in_another_language(has_exchange: bool) -> None:
    system, mail = {"role": "system", "content": f"{ENGLISH} " * 4}, {"role": "user", "content": GERMAN}
    conversation = Conversation()
    exchange = conversation.start_exchange() if has_exchange else conversation
    with pytest.warns(LanguageWarning):
        exchange.outgoing([system, mail])
    assert not exchange.kept_words.may_be_foreign
    assert exchange.language_words.may_be_foreign
    alone = Conversation().start_exchange()
    with pytest.warns(LanguageWarning):
        alone.outgoing([mail])
    assert exchange.language_words == alone.kept_words


def test_a_system_prompt_in_another_language_needs_most_of_the_words(recwarn: pytest.WarningsRecorder) -> None:
    messages = [{"role": "system", "content": GERMAN}, {"role": "user", "content": f"{ENGLISH} " * 4}]
    conversation = Conversation()
    conversation.outgoing(messages)
    assert conversation.language_words == conversation.kept_words
    assert not recwarn


def test_a_conversation_warns_once_of_another_language(recwarn: pytest.WarningsRecorder) -> None:
    conversation = Conversation()
    conversation.outgoing_text(ENGLISH)
    assert not recwarn
    for text in (GERMAN, f"{GERMAN} Danke."):
        conversation.start_exchange().outgoing([{"role": "user", "content": text}])
    (warning,) = recwarn
    assert issubclass(warning.category, LanguageWarning)
    assert warning.filename == __file__
    assert "may not be English (Sanitizer.load(language=...) for another one)" in str(warning.message)
    assert not set(str(warning.message).split()) & {"Vermieter", "Bitte", "einen"}
