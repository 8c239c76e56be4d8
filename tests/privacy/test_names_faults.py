"""The rung ``names``: a fault of the reader or of the draw is found (docs/proofs/names.md)."""

from pathlib import Path
from typing import Any

import pytest
from names_soup import BREAKS, LISTED, around, comes_out, is_broken, kept_share_differs, law, pairs
from planted import planted
from textveil import Sanitizer
from textveil.text.names import chunks, read, rewrite, spelled, strings, words
from textveil.text.names.kinds import Kinds
from textveil.text.names.lexicon import Lexicon
from textveil.text.names.places import Places
from textveil.text.names.plan import NamesPlans
from textveil.text.names.words import Words


def is_caught(bundle: Path) -> bool:
    """Whether a pair of texts of one skeleton has two."""
    plan = NamesPlans(Sanitizer.load(bundle).bundle).plan({})
    reader = NamesPlans(Sanitizer.load().bundle).plan({}).reader()
    told = any(around(reader.read([text])) != around(reader.read([other])) for text, other in BREAKS)
    return told or is_broken(plan, 6, 4_000) or is_broken(plan, 7, 16_000)


#: What is changed, and how: the places and what stands there.
Fault = tuple[Any, str, *tuple[tuple[str, str], ...]]

#: Faults of the reader.
READ_FAULTS: dict[str, Fault] = {
    "a shown word before a slot is read though it is hidden": (
        Words,
        "_starts_sentence",
        ("not self._hidden[place - 1] and (", "("),
    ),
    "a particle is not a part of what stands together": (Places, "_capitals_of", ("after < end and", "False and")),
    "a hyphenated word ends what stands together": (
        Words,
        "_joined",
        ("self._member_end(place, end) == after", "place + 1 == after"),
    ),
    "a replaced string decides whether a line is a headline": (
        Places,
        "_hide",
        ("_is_title(words[place]) for", "_is_title(words[place]) and words[place].key < 'm' for"),
    ),
    "a list of names decides what is shown": (
        Lexicon,
        "_capital",
        ("plain and folded not in rules.name_like", 'plain and folded not in self._capitalized and folded[0] != "z"'),
        (
            'return new(Token, (CAPITAL, word, folded, case, "", "", bits))',
            "return Token(CAPITAL if folded[0] < 'n' else ALONE, word, folded, case, 'word', bits=bits)",
        ),
    ),
    "the length of a word decides its class": (
        Lexicon,
        "_lower",
        (
            "if kind is None:",
            "if kind is None and len(word) == 7:\n            return Token(SHOWN, word, folded)\n"
            "        if kind is None:",
        ),
    ),
    "a common word before a person's name is in the skeleton": (Kinds, "_name", ("return place", "return 0")),
    "a dot belongs to a run that ends in St": (Words, "_joins", ("after - 1 == first and ", "")),
    "a request is shown by the name behind it": (
        Places,
        "_hide_together",
        ("AT_START and self", "AT_START and words[places[-1]].key < 'b' and self"),
    ),
    "an opener behind a title is shown": (Words, "_opens", ('kind == "title"', 'kind == "office"')),
    "a word behind a name in lower case is told by the name": (
        Places,
        "_line",
        ("token.bits & NAMED and", "token.bits & NAMED and token.key < 'c' and"),
    ),
    "a full stop belongs to some forms": (
        Places,
        "_take_stop",
        ("if goes_on", "if self._words[place].key > 'j' and goes_on"),
    ),
    "a postal code is told by its letters": (
        Places,
        "_line",
        ("token.bits & OUTWARD and", "token.bits & OUTWARD and token.text < 'N' and"),
    ),
    "two first words of a place are read apart": (Words, "_address", ("after += 1", "break")),
    "digits beside each other are told by their values": (
        Places,
        "_is_joined",
        ("return not self._beside_month(place, start, end)", "return self._words[place].text <= '5'"),
    ),
    "a bracket between digits joins by their value": (
        Places,
        "_opens_code",
        ('if token.kind != "number"', 'if token.text > "4" or token.kind != "number"'),
    ),
    "a number of a list is kept by its value": (
        Places,
        "_counts_on",
        ('number not in ("1", str(self._counted + 1))', 'number not in "1234567"'),
    ),
    "a number of a list counts on from one that is hidden": (
        Places,
        "_counts_on",
        (
            "> _LONGEST_LISTED:\n        return False",
            "> _LONGEST_LISTED:\n        self._counted = ord(number[0]) - ord('0')\n        return False",
        ),
    ),
    "a time has its hour in the layout": (
        strings,
        "time_layout",
        ('re.sub("[0-9]", "0", ', 're.sub("[0-8]", "0", '),
    ),
    "a time has one of two endings in the layout": (
        strings,
        "time_layout",
        ('f"p{ending', 'f"{ending[1].lower()}{ending'),
    ),
    "a range of years has its order in the layout": (
        strings,
        "number_kind",
        ('return "year-range", years[1]', 'return "year-range", years[1] * (1 + (string[:4] > string[-4:]))'),
    ),
    "a title of a woman has a layout of its own": (
        Lexicon,
        "_capital",
        ('rules.title_layouts.get(folded, "") if', 'rules.title_layouts.get(folded, "") * (folded != "mrs") if'),
    ),
    "the length of a word before a separator decides whether it is one": (
        chunks.Chunks,
        "_separated",
        ("*self._solid(match[1]), gap(match[2])", "*self._solid(match[1] + match[2] * (len(match[1]) > 6)), gap('')"),
    ),
    "a name in lower case has its kind by its first letter": (
        Kinds,
        "mention",
        ("kind is not None and listed", "kind is not None and listed and folded < 'm'"),
    ),
    "a common word with a capital has its kind by its length": (
        Kinds,
        "_of_one",
        ("len(folded) >= _SHORTEST_WORD", "len(folded) == 4"),
    ),
    "a word on no list decides that a run is no person": (
        Kinds,
        "_is_body",
        ("kind in _NO_PERSONS", "token.key < 'd'"),
    ),
    "a first name on no list is told by its letters": (
        Kinds,
        "_of_several",
        ("if self._is_body(slot, name):", "if keys[name] > 'n' and keys[name] not in self._given:"),
    ),
    "a number word counts by its string": (
        spelled._Reader,
        "_element",
        ("if token.bits & NUMBER:", 'if token.bits & NUMBER and token.key not in ("two", "forty"):'),
    ),
    "digits in a number in words count by their value": (
        spelled._Reader,
        "_is_digits",
        (
            "self._words[place].cls == DIGITS and",
            'self._words[place].cls == DIGITS and self._words[place].text < "5" and',
        ),
    ),
    "the digits of a group beside number words count one by one": (
        spelled._Reader,
        "_number",
        ('classes.append("")  # of one group', "classes.append(DIGITS_TOO)"),
    ),
    "a letter that is spelled counts by which it is": (
        spelled,
        "_is_letter",
        ("return token.cls in", 'return token.key < "n" and token.cls in'),
    ),
    "initials that lead to a name are letters before it": (
        spelled._Reader,
        "_letters",
        ("while leads and", "while leads and words[place].key < 'm' and"),
    ),
    "initials lead to a name by its string": (
        words,
        "may_be_led",
        ("token.cls == CAPITAL and", 'token.cls == CAPITAL and token.key < "n" and'),
    ),
    "a code is told by its digits": (chunks, "_is_code", ('"a0a" in kinds', '("a0a" in kinds and "7" in parts)')),
    "a sequence of emoji is told by its letters": (
        chunks,
        "_cut_emoji",
        ("if kind else", 'if kind and "\U0001f1e6" not in sequence else'),
    ),
    "a tone of skin decides whether an emoji is kept": (
        chunks,
        "find_kind",
        ("if TONE in layout else", "if TONE in layout and TONES[0] not in sequence else"),
    ),
    "what stands beside an emoji is told by the sequence": (
        chunks,
        "_cut_emoji",
        ("position = match.end()", "position = match.end() - (len(sequence) > 2)"),
    ),
    "an account has a class of its own": (chunks, "number", ('"account", ', "")),
    "an account has a class by its number of digits": (
        strings,
        "_of_number",
        ('return "account", ""', 'return "account", str(digits)'),
    ),
}


@pytest.mark.parametrize("fault", READ_FAULTS)
def test_planted_faults_of_the_reader(names: Path, fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, name, *changes = READ_FAULTS[fault]
    monkeypatch.setattr(owner, name, planted(getattr(owner, name), *changes))
    assert is_caught(names)


#: Faults of the draw.
DRAW_FAULTS: dict[str, Fault] = {
    "a member that depends on what it replaces": (
        rewrite._Document,
        "_spell_parts",
        ("members[draw] if draw >= 0", "max(0, members[draw] - len(part.text) % 2) if draw >= 0"),
    ),
    "a deck that skips the original": (
        rewrite._Document,
        "_draw",
        ("number = self._deal(equal[:2], size)\n", "number = self._deal(equal[:2], size - len(part.text) % 2)\n"),
    ),
    "the size of a pool depends on the length": (
        rewrite._Document,
        "_draw",
        ("if not self._style", "size -= len(part.text) > 6\n    if not self._style"),
    ),
    "a tag is numbered by its string": (
        rewrite._Document,
        "_tag",
        ("self._counts.get(called, 0) + 1", "len(equal[-1][2])"),
    ),
}


@pytest.mark.parametrize("fault", DRAW_FAULTS)
def test_planted_faults_of_the_draw(names: Path, fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, name, *changes = DRAW_FAULTS[fault]
    wrong = planted(getattr(owner, name), *changes)
    plan = NamesPlans(Sanitizer.load(names).bundle).plan({"style": "tag"} if name == "_tag" else {})
    monkeypatch.setattr(owner, name, wrong)
    assert any(
        law(plan, [texts], pytest.MonkeyPatch()) != law(plan, [others], pytest.MonkeyPatch())
        for texts, others in pairs(plan, 8, 1_500)
    )


@pytest.mark.parametrize(
    "change",
    [
        ("token.key in self._shown for", "True for"),
        ('kind != "word" or " ".join(keys) in self._common', "True"),
        ('return slot.before != TITLE_BEFORE and " ".join(keys) in self._shown', "return True"),
    ],
    ids=["person", "word", "place"],
)
def test_what_is_on_no_list_is_kept(names: Path, change: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Kinds, "_is_kept", planted(Kinds._is_kept, change))
    assert comes_out(NamesPlans(Sanitizer.load(names).bundle).plan({"keep": LISTED}), 5, 300)


@pytest.mark.parametrize(
    "change",
    [
        ('entry.kind == "word"', "len(entry.slot.text) > 4"),
        ("entry.parts[0].layout != DRAWN", "entry.slot.text[:1].lower() < 'n'"),
    ],
    ids=["the length of a word", "the spelling of a word"],
)
def test_a_kept_share_that_reads_replaced_words_is_caught(
    names: Path, change: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(read, "_is_replaced_word", planted(read._is_replaced_word, change))
    assert kept_share_differs(NamesPlans(Sanitizer.load(names).bundle).plan({}), 8, 1_500)
