"""Every planted fault of the reader or of the sampling in the mode ``names`` is detected (docs/proofs/names.md)."""

from pathlib import Path

import pytest
from faulty_cues import CUE_FAULTS, Fault
from names_soup import BREAKS, EXCHANGES, LISTED, around, comes_out, is_broken, kept_share_differs, law, pairs, skeleton
from planted import planted
from textveil import Sanitizer
from textveil.text.names import (
    kept_mentions,
    lexicon,
    numbers,
    read,
    rewrite,
    spans,
    spelled_tokens,
    string_types,
    tokenizer,
    tokens,
)
from textveil.text.names.entity_types import EntityClassifier
from textveil.text.names.lexicon import Lexicon
from textveil.text.names.plan import NamesPlanFactory
from textveil.text.names.spans import SpanFinder


def is_caught(bundle: Path) -> bool:
    """Whether a pair of texts of one skeleton has two."""
    plan = NamesPlanFactory(Sanitizer.load(bundle).bundle).make_plan({})
    reader = NamesPlanFactory(Sanitizer.load().bundle).make_plan({}).make_reader()
    told = any(around(reader.read_texts([text])) != around(reader.read_texts([other])) for text, other in BREAKS)
    told = told or any(
        skeleton(reader.read_texts([text])) != skeleton(reader.read_texts([other])) for text, other in EXCHANGES
    )
    return told or is_broken(plan, 6, 4_000) or is_broken(plan, 7, 16_000)


#: Faults of the reader.
READ_FAULTS: dict[str, Fault] = {
    **CUE_FAULTS,
    "a shown word before a slot is read though it is hidden": (
        SpanFinder,
        "_starts_sentence",
        ("not self._hidden[index - 1] and (", "("),
    ),
    "a particle is not a part of what stands together": (
        SpanFinder,
        "_find_capitalized",
        ("after < end and", "False and"),
    ),
    "a hyphenated word ends what stands together": (
        SpanFinder,
        "_hide_capitalized",
        ("self._find_member_end(group[-1], end) != place or", "group[-1] + 1 != place or"),
    ),
    "a replaced string decides whether a line is a headline": (
        SpanFinder,
        "_hide_capitalized",
        ("is_title_case(words[place]) for", "is_title_case(words[place]) and words[place].key < 'm' for"),
    ),
    "a surname that is a common word stays in a list of persons": (
        spans,
        "add_common_names",
        ("(not joins[number] or replaced[number + 1])", "replaced[number + 1]"),
    ),
    "a function word ends a name by the word before it": (
        spans,
        "add_common_names",
        ("not token.flags & ENDS_NAME", 'not (token.flags & ENDS_NAME and tokens[number - 2].text < "N")'),
    ),
    "a surname before a comma is hidden by the name behind it": (
        SpanFinder,
        "_hide_surnames",
        ('self._gaps[after] == ", "', 'self._gaps[after] == ", " and self._words[after].text < "O"'),
    ),
    "an opener that is a name is kept": (SpanFinder, "_is_first_name", ("return not (", "return False and (")),
    "an opener that is a name is hidden by the name behind it": (
        SpanFinder,
        "_is_first_name",
        ("return not (precedes_word", 'return after == end or self._words[after].key < "n" and not (precedes_word'),
    ),
    "the word of an institution counts by its letters": (
        EntityClassifier,
        "_find_end_type",
        ("institution_ends and", 'institution_ends and key < "n" and'),
    ),
    "a first name before the word of an institution names a body": (
        EntityClassifier,
        "_find_end_type",
        (" and not is_pair", ""),
    ),
    "the name of an institution is told by its first letter": (
        EntityClassifier,
        "_find_end_type",
        ("and not is_pair", 'and not is_pair and span.tokens[name_start].key < "n"'),
    ),
    "a person before a place is told by its first letter": (
        EntityClassifier,
        "_is_person_before_place",
        ("first not in self._given or", 'first < "n" and'),
    ),
    "letters with a slash are kept by their form": (
        tokenizer.ChunkTokenizer,
        "_tokenize_core",
        ("core.lower() in self._kept_whole and", '(core.lower() in self._kept_whole or core[1:2] == "/") and'),
    ),
    "a value of a table row is cut off by its digits": (
        tokenizer.ChunkTokenizer,
        "_tokenize_separated",
        ("_VALUE.fullmatch(core)", 'core[0] < "7" and _VALUE.fullmatch(core)'),
    ),
    "a group of an account number is read": (
        numbers,
        "_is_iban_group",
        ("may_be_word and token.case == UPPER", "may_be_word and token.case == UPPER and token.text < 'N'"),
    ),
    "a list of names decides what is shown": (
        Lexicon,
        "_classify_capitalized",
        (
            "is_plain_spelling and folded not in rules.name_like",
            'is_plain_spelling and folded not in self._capitalized_types and folded[0] != "z"',
        ),
        (
            'return create_tuple(NamesToken, (CAPITALIZED, word, folded, case, "", "", flags))',
            "return NamesToken(CAPITALIZED if folded[0] < 'n' else REPLACED, word, folded, case, 'word', flags=flags)",
        ),
    ),
    "a function word that is a hidden initial does not lead": (
        SpanFinder,
        "_follows_particle_or_initials",
        ("may_be_hidden or", ""),
    ),
    "an account name is told by its words": (
        tokenizer,
        "_is_code",
        ("if len(part) > 1 and", 'if len(part) > 1 and part[0] < "n" and'),
    ),
    "the length of a word decides its class": (
        Lexicon,
        "_classify_lower",
        (
            "if entity_type is None:",
            "if entity_type is None and len(word) == 7:\n            return NamesToken(KEPT, word, folded)\n"
            "        if entity_type is None:",
        ),
    ),
    "a common word before a person's name is in the skeleton": (
        EntityClassifier,
        "_find_name_start",
        ("return index", "return 0"),
    ),
    "a dot belongs to a run that ends in St": (SpanFinder, "_joins_run", ("after - 1 == first and ", "")),
    "a request is shown by the name behind it": (
        SpanFinder,
        "_hide_group",
        ("KEPT_AT_START and self", "KEPT_AT_START and words[indices[-1]].key < 'b' and self"),
    ),
    "an opener behind a title is shown": (
        SpanFinder,
        "_follows_break",
        ('entity_type == "title"', 'entity_type == "office"'),
    ),
    "a word behind a name in lower case is told by the name": (
        SpanFinder,
        "_iterate_line_elements",
        ("is_listed_name(token) and", "is_listed_name(token) and token.key < 'c' and"),
    ),
    "a full stop belongs to some forms": (
        SpanFinder,
        "_attach_full_stop",
        ("if goes_on", "if self._words[index].key > 'j' and goes_on"),
    ),
    "a postal code is told by its letters": (
        numbers,
        "find_grouped_code",
        ("words[index].flags & OUTWARD and", "words[index].flags & OUTWARD and words[index].text < 'N' and"),
    ),
    "two first words of a place are read apart": (SpanFinder, "_find_address_end", ("after += 1", "break")),
    "digits beside each other are told by their values": (
        numbers,
        "_joins_digits",
        ("return not _is_beside_month(words, gaps, index, start, end)", "return words[index].text <= '5'"),
    ),
    "a bracket between digits joins by their value": (
        numbers,
        "_opens_area_code",
        ('if token.entity_type != "number"', 'if token.text > "4" or token.entity_type != "number"'),
    ),
    "a number of a list is kept by its value": (
        numbers,
        "find_list_number",
        ('number not in ("1", str(1 + (last[0] if last else 0)))', 'number not in "1234567"'),
    ),
    "a number of a list counts on from one that is hidden": (
        SpanFinder,
        "_iterate_line_elements",
        (
            'and (token.token_class == DIGITS or token.entity_type == "number")\n',
            "and token.token_class == DIGITS and (token.text in ('1', str(1 + (self._last_list_number or (0,))[0]))"
            " or not setattr(self, '_last_list_number', (ord(token.text[0]) - ord('0'),)))\n",
        ),
    ),
    "a time has its hour in the layout": (
        string_types,
        "make_time_layout",
        ('re.sub("[0-9]", "0", ', 're.sub("[0-8]", "0", '),
    ),
    "a time has one of two endings in the layout": (
        string_types,
        "make_time_layout",
        ('f"p{ending', 'f"{ending[1].lower()}{ending'),
    ),
    "a range of years has its order in the layout": (
        lexicon,
        "classify_number",
        ('return "year-range", years[1]', 'return "year-range", years[1] * (1 + (string[:4] > string[-4:]))'),
    ),
    "a title of a woman has a layout of its own": (
        Lexicon,
        "_classify_capitalized",
        ('rules.title_layouts.get(folded, "") if', 'rules.title_layouts.get(folded, "") * (folded != "mrs") if'),
    ),
    "the length of a word before a separator decides whether it is one": (
        tokenizer.ChunkTokenizer,
        "_tokenize_separated",
        (
            "*self._tokenize_without_entities(match[1]), make_gap_token(match[2])",
            "*self._tokenize_without_entities(match[1] + match[2] * (len(match[1]) > 6)), make_gap_token('')",
        ),
    ),
    "a name in lower case has its kind by its first letter": (
        EntityClassifier,
        "classify_span",
        (
            "entity_type is not None and all(token",
            "entity_type is not None and folded < 'm' and all(token",
        ),
    ),
    "a common word with a capital has its kind by its length": (
        EntityClassifier,
        "_classify_word",
        ("len(folded) >= _MIN_COMMON_WORD_LENGTH", "len(folded) > 6"),
    ),
    "a word on no list decides that a run is no person": (
        EntityClassifier,
        "_names_organization",
        ("kind in _NON_PERSON_LISTS", "token.key < 'd'"),
    ),
    "a first name on no list is told by its letters": (
        EntityClassifier,
        "_classify_run",
        (
            "if self._names_organization(span, name_start):",
            "if keys[name_start] > 'n' and keys[name_start] not in self._given:",
        ),
    ),
    "a number word counts by its string": (
        spelled_tokens._SpelledSpanFinder,
        "_classify_element",
        ("if token.flags & NUMBER_WORD:", 'if token.flags & NUMBER_WORD and token.key not in ("two", "forty"):'),
    ),
    "digits in a number in words count by their value": (
        spelled_tokens._SpelledSpanFinder,
        "_is_digits",
        (
            "self._words[index].token_class == DIGITS and",
            'self._words[index].token_class == DIGITS and self._words[index].text < "5" and',
        ),
    ),
    "the digits of a group beside number words count one by one": (
        spelled_tokens._SpelledSpanFinder,
        "_find_number",
        ('classes[-1] in ("", element_class)', "False"),
    ),
    "a letter that is spelled counts by which it is": (
        spelled_tokens,
        "is_letter",
        ("return token.token_class in", 'return token.key < "n" and token.token_class in'),
    ),
    "an ampersand ends letters that are spelled": (
        spelled_tokens._SpelledSpanFinder,
        "is_joined",
        (" or gap in marks", ""),
    ),
    "initials that lead to a name are letters before it": (
        spelled_tokens._SpelledSpanFinder,
        "_find_letters",
        ("and stop > start", "and words[index].key < 'm' and stop > start"),
    ),
    "initials lead to a name by its string": (
        spans,
        "may_follow_initials",
        ("token.token_class == CAPITALIZED and", 'token.token_class == CAPITALIZED and token.key < "n" and'),
    ),
    "a chunk is cut by what begins its host": (
        tokenizer,
        "_split_at_code_marks",
        ("core[www.end() :] if www else core", "core"),
    ),
    "a bracket inside of digits ends a number in words": (
        spelled_tokens._SpelledSpanFinder,
        "_find_number",
        ("if not closes and not", "if not"),
    ),
    "a code is told by its digits": (tokenizer, "_is_code", ('"a0a" in kinds', '("a0a" in kinds and "7" in parts)')),
    "a sequence of emoji is told by its letters": (
        tokenizer,
        "_split_at_emoji",
        ("if entity_type\n", 'if entity_type and "\U0001f1e6" not in sequence\n'),
    ),
    "a word before a full-width mark is read with it": (
        tokenizer.ChunkTokenizer,
        "_tokenize_without_entities",
        ("_WIDE_MARKS.split(chunk)) > 1", '_WIDE_MARKS.split(chunk)) > 1 and "o" not in parts[0]'),
    ),
    "a tone of skin decides whether an emoji is kept": (
        tokenizer,
        "classify_sequence",
        ("if TONE_PLACEHOLDER in layout else", "if TONE_PLACEHOLDER in layout and SKIN_TONES[0] not in sequence else"),
    ),
    "what stands beside an emoji is told by the sequence": (
        tokenizer,
        "_split_at_emoji",
        ("position = match.end()", "position = match.end() - (len(sequence) > 2)"),
    ),
    "an account has a class of its own": (lexicon, "make_number_token", ('"account", ', "")),
    "an account has a class by its number of digits": (
        numbers,
        "_classify_plain_number",
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
        rewrite._SurrogateSpellings,
        "_spell_mentions",
        ("self._indices[number] if", "max(0, self._indices[number] - len(mention.span.text) % 2) if"),
    ),
    "a part of a member that depends on what it replaces": (
        rewrite,
        "spell_mention",
        ("parts, indices,", "parts, [max(0, at - len(mention.span.text) % 2) for at in indices],"),
    ),
    "a deck that skips the original": (
        rewrite.DocumentDraws,
        "_draw_part",
        (
            "number = self._plan_deal(equality_key[:2], size)\n",
            "number = self._plan_deal(equality_key[:2], size - len(part.text) % 2)\n",
        ),
    ),
    "the size of a pool depends on the length": (
        rewrite.DocumentDraws,
        "_draw_part",
        ("if not self._style", "size -= len(part.text) > 6\n    if not self._style"),
    ),
    "a tag is numbered by its string": (
        rewrite.DocumentDraws,
        "_get_tag",
        ("self._counts.get(public_type, 0) + 1", "len(equality_key[-1][2])"),
    ),
}


@pytest.mark.parametrize("fault", DRAW_FAULTS)
def test_planted_faults_of_the_draw(names: Path, fault: str, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, name, *changes = DRAW_FAULTS[fault]
    wrong = planted(getattr(owner, name), *changes)
    plan = NamesPlanFactory(Sanitizer.load(names).bundle).make_plan({"style": "tag"} if name == "_get_tag" else {})
    monkeypatch.setattr(owner, name, wrong)
    assert any(
        law(plan, [texts], pytest.MonkeyPatch()) != law(plan, [others], pytest.MonkeyPatch())
        for texts, others in pairs(plan, 8, 1_500)
    )


def test_the_string_of_a_title_decides_whether_it_is_a_family_name(monkeypatch: pytest.MonkeyPatch) -> None:
    """A planted fault: the string of the hidden title decides whether it joins the name before it."""
    wrong = planted(kept_mentions._is_title_surname, ("span.layout", "span.text < 'I'"))
    reader = Sanitizer.load().names_plan(protect="names").make_reader()
    texts = "he met Tom King", "he met Tom Doctor"
    assert skeleton(reader.read_texts([texts[0]])) == skeleton(reader.read_texts([texts[1]]))
    monkeypatch.setattr(kept_mentions, "_is_title_surname", wrong)
    assert skeleton(reader.read_texts([texts[0]])) != skeleton(reader.read_texts([texts[1]]))


@pytest.mark.parametrize(
    ("change", "texts"),
    [
        (
            ("token.flags & SURNAME", "token.flags & SURNAME and token.key < 'c'"),
            ("Blessing Okoro came", "Comfort Okoro came", "Anna Okoro came"),
        ),
        (
            ("if span.preceding_word", "if begin.key > 'n'"),
            ("we met Approve Okoro", "we met Approve Mensah", "we met Anna Okoro"),
        ),
    ],
)
def test_the_string_of_a_name_decides_whether_a_common_word_is_its_first_name(
    monkeypatch: pytest.MonkeyPatch, change: tuple[str, str], texts: tuple[str, str, str]
) -> None:
    """A planted fault; and a name with a common first name has the template of one with a listed first name."""
    wrong = planted(EntityClassifier._find_common_first_name, change)
    reader = Sanitizer.load().names_plan(protect="names").make_reader()
    assert skeleton(reader.read_texts([texts[0]])) == skeleton(reader.read_texts([texts[1]]))
    assert skeleton(reader.read_texts([texts[0]])) == skeleton(reader.read_texts([texts[2]]))
    monkeypatch.setattr(EntityClassifier, "_find_common_first_name", wrong)
    assert skeleton(reader.read_texts([texts[0]])) != skeleton(reader.read_texts([texts[1]]))


def test_the_string_of_a_name_decides_whether_common_words_before_it_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    """A planted fault: in capitals only one common word before a name on no list of common words is a part of it."""
    wrong = planted(tokens.add_common_names, ("and replaced[number + 1]:", "and (*is_replaced, False)[number]:"))
    reader = Sanitizer.load().names_plan(protect="names").make_reader()
    texts = "I MET CHIP BLESSING OKORO", "I MET CHIP ANNA OKORO"
    assert skeleton(reader.read_texts([texts[0]])) == skeleton(reader.read_texts([texts[1]]))
    monkeypatch.setattr(spans, "add_common_names", wrong)
    assert skeleton(reader.read_texts([texts[0]])) != skeleton(reader.read_texts([texts[1]]))


def test_a_name_beside_a_kept_word_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """A planted fault: the string of a hidden run decides whether the group beside it is kept."""
    wrong = planted(kept_mentions._is_in_name, ("lead in _JOINS[before]", "lead in _JOINS[before] and gap != ' came'"))
    reader = Sanitizer.load().names_plan(protect="names", keep=["group"]).make_reader()
    texts = "Tom Brown came", "Kovac Brown came"
    assert around(reader.read_texts([texts[0]])) == around(reader.read_texts([texts[1]]))
    monkeypatch.setattr(kept_mentions, "_is_in_name", wrong)
    assert "Brown" in "".join(around(reader.read_texts([texts[0]])))


@pytest.mark.parametrize(
    "change",
    [
        ("token.key in self._kept_names\n", "True\n"),
        ('entity_type != "word" or " ".join(keys) in self._common', "True"),
        ('return span.preceding_word != AFTER_TITLE and " ".join(keys) in self._kept_names', "return True"),
    ],
    ids=["person", "word", "place"],
)
def test_what_is_on_no_list_is_kept(names: Path, change: tuple[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(EntityClassifier, "_is_kept", planted(EntityClassifier._is_kept, change))
    assert comes_out(NamesPlanFactory(Sanitizer.load(names).bundle).make_plan({"keep": LISTED}), 5, 300)


@pytest.mark.parametrize(
    "change",
    [
        ('entry.entity_type == "word"', "len(entry.span.text) > 4"),
        ("not entry.parts[0].is_randomized", "entry.span.text[:1].lower() < 'n'"),
    ],
    ids=["the length of a word", "the spelling of a word"],
)
def test_a_kept_share_that_reads_replaced_words_is_caught(
    names: Path, change: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(read, "_is_replaced_word", planted(read._is_replaced_word, change))
    assert kept_share_differs(NamesPlanFactory(Sanitizer.load(names).bundle).make_plan({}), 8, 1_500)
