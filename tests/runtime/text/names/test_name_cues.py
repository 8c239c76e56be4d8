"""Names in lower case that are common words are replaced behind greetings, closings, labels and words for persons."""

import pytest
from textveil import Sanitizer

#: Texts, with low lines around the words that are replaced.
TEXTS = """
He is here. hi _mark_
Hi _joy_, it is late
Hello _grace_ and thanks
Name: _joy_
**Name:** _hope_ _price_
The patient: _hope_ _price_, he left
I'm _hope_ _price_
I am _grace_ and I live here
This is _mark_ from it
My name is _hope_ _price_. Hello my name is _will_
He met my friend _will_ _brown_.
My wife _grace_ is here. My boss _mark_, he said
My friend _joy_'s house
Regards, _hope_
Best wishes, / _hope_
Thanks! /  / _mark_
Ask for _hope_ _price_
A dog called _grace_.
The user _coffee-lover-1990_
hi _mark_, it is late
Surname: _price_
The author = _hope_ _price_, he left
_Zork_: _mark_
_Zork_=_will_
<name>_joy_</name>
{"Name": "_joy_ _king_", "unit": "joy"} joy
{"User": {"patient": "_hope_", "of": "hope"}, "names": ["_joy_", "_will_"]}
_Zork_: will do it
My boss _bill_ fired me.
Uncle _will_ and aunt _hope_ left
_Mrs_ _hope_ is here
She saw _kolbin_, _hope_, _mark_ and it
The children: _hope_, _mark_, _grace_.
His wife, _grace_, left.
The patient (_hope_) is here
From: _hope_ <_a@b.com_>
Present: _Anna Novak_, _Blessing Okoro_, _Tom Hill_, _Eve_.
The uncle will, it is
Hi there, it is
Hi all, it is
I'm will to it
My friend will, too
My friend will love it
Dear sir, it is
I'm happy.
Name: full name
Contact: mark it here
Hello, hope you are well
Thanks, hope it helps
This is art history. I hope so
They sent their best, hope it helps
This is long.
""".strip().split("\n")


@pytest.fixture(scope="module")
def sanitizer() -> Sanitizer:
    return Sanitizer.load()


@pytest.mark.parametrize("facts", ["none", "plain", "useful", "public"])
def test_common_words_are_names_in_the_places_of_names(sanitizer: Sanitizer, facts: str) -> None:
    reader = sanitizer.names_plan(facts=facts).make_reader()
    shown = []
    for text in (text.replace(" / ", "\n") for text in TEXTS):
        (read,) = reader.read_texts([text.replace("_", "")])
        shown.append("".join(e if isinstance(e, str) else f"_{e.span.text}_" for e in read.elements))
    assert shown == [text.replace(" / ", "\n") for text in TEXTS]


def test_allowed_words_stay(sanitizer: Sanitizer) -> None:
    assert sanitizer.sanitize("Hi mark, it is late", allow=["mark"]).text == "Hi mark, it is late"
