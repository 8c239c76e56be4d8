"""Words that belong to a name of a pack although they are kept elsewhere: nouns before a hyphen, and particles."""

import pytest
from invented_language import FACTS, NOUNS, WORDS, write_invented
from textveil import Sanitizer

NOUN, OTHER_NOUN = (noun.title() for noun in NOUNS[:2])
#: A function word that is also a family name, and one that is none; common words in lower case.
PARTICLE, FUNCTION = WORDS[0].title(), WORDS[2].title()
KEPT, LAST = WORDS[60], WORDS[61]


@pytest.fixture(scope="module")
def pack(tmp_path_factory: pytest.TempPathFactory) -> Sanitizer:
    facts = FACTS | {"comma_words": [WORDS[0]]}
    return Sanitizer.load(write_invented(tmp_path_factory.mktemp("pack") / "bundle", facts))


def list_hidden(pack: Sanitizer, text: str) -> list[str]:
    pieces = pack.preview(text, protect="names", facts="none")
    return [piece for piece, state in pieces if state not in ("kept", "gap")]


@pytest.mark.parametrize(
    ("written", "hidden"),
    [
        (f"{NOUN}-Zork", [f"{NOUN}-Zork"]),
        (f"{NOUN}-{OTHER_NOUN}-Zork", [f"{NOUN}-{OTHER_NOUN}-Zork"]),
        (f"{NOUN} Zork", ["Zork"]),
        (f"{OTHER_NOUN} {NOUN}-Zork", [f"{NOUN}-Zork"]),
        (f"{NOUN}-{OTHER_NOUN}", []),
    ],
)
def test_a_noun_belongs_to_the_name_after_a_hyphen(pack: Sanitizer, written: str, hidden: list[str]) -> None:
    assert list_hidden(pack, f"{KEPT} {written} {LAST}.") == hidden


@pytest.mark.parametrize(
    ("written", "hidden"),
    [
        (f'{KEPT} "{PARTICLE} Zork Qorv", {LAST}', [f"{PARTICLE} Zork Qorv"]),
        (f"{KEPT} \u201e{PARTICLE} Zork\u201c {LAST}", [f"{PARTICLE} Zork"]),
        (f"{KEPT} \u00ab{PARTICLE} {NOUN}-Zork\u00bb {LAST}", [f"{PARTICLE} {NOUN}-Zork"]),
        (f'{KEPT} "{PARTICLE} Zork {LAST}"', ["Zork"]),
        (f'{KEPT} "{FUNCTION} Zork", {LAST}', ["Zork"]),
        (f'{KEPT} "{PARTICLE} {NOUN}", {LAST}', []),
        (f'{KEPT} "{PARTICLE} {LAST.upper()}", {KEPT}', []),
        (f"{KEPT} {LAST}.\n{PARTICLE} Zork\n{LAST}", [f"{PARTICLE} Zork"]),
        (f"{PARTICLE} Zork {LAST}.", ["Zork"]),
        (f"{FUNCTION} Zork", ["Zork"]),
    ],
)
def test_a_particle_belongs_to_a_name_that_fills_a_quotation_or_line(
    pack: Sanitizer, written: str, hidden: list[str]
) -> None:
    assert list_hidden(pack, written) == hidden
