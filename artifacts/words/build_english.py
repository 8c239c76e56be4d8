"""The public English word list from which the default bundle is built.

Line order is the frequency rank that decides which words SanText+ treats as common. Only public text enters
it, never the text that is being protected.

**Ranking rule.** A word ``w`` is scored

    score(w) = (r(w) + 3)^-1.1 / H  +  sum over corpora c of  weight_c * (n_c(w) - 1) / N_c

``r`` is its rank among the whole words of a BERT vocabulary, which follow the frequency order of Wikipedia
and BooksCorpus; the first term (Zipf and Mandelbrot's law, ``H`` makes it sum to 1) is absent for other
words. ``n_c`` is the number of times ``w`` occurs in corpus ``c`` and ``N_c`` the number of tokens of that
corpus; one occurrence is discounted, since it is mostly chance. Exceptions:

* For words of the vocabulary the sum is at most the first term: an article on typhoons must not make the word
  common.
* Words outside the vocabulary must occur in 5 passages of the corpora: names of one article do not
  generalise.
* Vocabulary words of two or three letters that occur in no corpus are mostly fragments: score times 0.7.
* ``r`` means nothing for single characters (the vocabulary lists them in code order), for clitics and for the
  halves into which it splits a contraction (``don`` + ``t``): they are scored by the corpora alone, times
  ``(1 + W) / W`` with ``W`` the sum of the weights.
* ``didn``, ``wouldn`` and the like occur in no English text and are dropped.

The best ``size`` words are kept, the entries that must be there (letters, clitics, contractions, punctuation)
in any case. Ties go to vocabulary order, then to the alphabet.

**Keys** are NFKC, lower case, with U+2019 mapped to an apostrophe inside words. The one-character entry
U+2026 is the only one that is not its own NFKC form.
"""

import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import regex

CLITICS = ("n't", "'s", "'re", "'ve", "'ll", "'d", "'m")
CONTRACTIONS = ("can't", "won't", "shan't", "ain't")
PUNCTUATION = tuple("!\"#%&'()*,-./:;?@[\\]_{}“”‘’–—…")
LETTERS = tuple("abcdefghijklmnopqrstuvwxyz")

_REQUIRED = (*LETTERS, *CLITICS, *CONTRACTIONS, *PUNCTUATION, "ca", "wo")
_UNRANKED = frozenset((*_REQUIRED, "don", "re"))

_PASSAGES_NEEDED = 5
_FRAGMENT_LENGTH, _FRAGMENT_FACTOR = 3, 0.7

_BOUNDARY = regex.compile(r"(?V1w)\b")
_WORD = regex.compile(r"\p{Alphabetic}+(?:'\p{Alphabetic}+)*")
_ENTRY = regex.compile(r"\p{Latin}{2,}")
_LATIN = regex.compile(r"[\p{Latin}']+")
_ARTEFACT = regex.compile(
    r"(did|does|would|could|was|had|is|were|are|has|should|sha|must|need|might|ai)n|ll|ve|lrb|rrb|unk"
)
_TREEBANK = dict(zip(("-lrb-", "-rrb-", "...", "--", "``", "''", "`"), "()…—“”‘", strict=True))
_SPACED_CLITIC = regex.compile(r" (n't\b)| ['’] ?((?:s|t|re|ve|ll|d|m)\b)")
_SPACED_CONTRACTION = regex.compile(r"\b(ca|wo|sha|ai) n't\b")


@dataclass(frozen=True)
class Corpus:
    """Public text with its weight in the ranking.

    Attributes:
        passages: Texts whose words count as one place: an article, a sentence.
        weight: Weight relative to the vocabulary's term, which has weight 1.
    """

    passages: tuple[str, ...]
    weight: float


def read_wikitext(files: Iterable[Path], weight: float) -> Corpus:
    """Reads files in WikiText format, one passage per article, without its marks ``<unk>`` and ``@-@``."""
    passages: list[str] = []
    for file in files:
        # "unk" is left as a word, since its clitic counts, and never becomes an entry.
        text = regex.sub(r" @(.)@ ", r"\1", file.read_text(encoding="utf-8").replace("<unk>", "unk"))
        passages += regex.split(r"\n(?= = [^=\n]* = *\n)", "\n" + text)
    return Corpus(tuple(passages), weight)


def read_tsv(file: Path, columns: Sequence[int], weight: float) -> Corpus:
    """Reads columns of a tab-separated file with a header line, one passage per distinct cell.

    A cell that is part of a longer cell is left out: SST-2 lists every phrase of its sentences.
    """
    lines = file.read_text(encoding="utf-8").splitlines()[1:]
    cells = {line.split("\t")[column].strip() for line in lines if line.strip() for column in columns}
    seen: set[tuple[str, ...]] = set()
    passages: list[str] = []
    for cell in sorted(cells, key=lambda cell: (-len(cell.split()), cell)):
        words = tuple(cell.split())
        if words not in seen:
            passages.append(cell)
            ends = range(1, len(words) + 1)
            seen.update(words[start:end] for end in ends for start in range(end))
    return Corpus(tuple(passages), weight)


def tokens(text: str) -> Iterator[str]:
    """Yields the words (UAX #29, clitics split off) and punctuation characters of a text as keys of the list.

    Anything else (blanks, numbers, ``u.s``) is passed over.
    """
    for token in _BOUNDARY.split(unicodedata.normalize("NFKC", text).lower().replace("...", "…")):
        word = token if len(token) == 1 else token.replace("\u2019", "'")
        if word in PUNCTUATION or word in CONTRACTIONS:
            yield word
        elif _WORD.fullmatch(word):
            clitic = next((clitic for clitic in CLITICS if word.endswith(clitic)), "")
            yield from (part for part in (word.removesuffix(clitic), clitic) if part)


def build_word_list(vocabulary_file: Path, corpora: Sequence[Corpus], size: int) -> list[str]:
    """Builds the word list by the rule in the module's docstring.

    Args:
        vocabulary_file: ``vocab.txt`` of an uncased BERT model, one entry per line.
        corpora: Public text; see `read_wikitext` and `read_tsv`.
        size: Number of entries of the list.

    Returns:
        ``size`` distinct keys, most frequent first.

    Raises:
        ValueError: The sources have fewer than ``size`` words, or the required entries are more.
    """
    entries = vocabulary_file.read_text(encoding="utf-8").splitlines()
    ranked = dict.fromkeys(entry for entry in entries if _ENTRY.fullmatch(entry) and entry not in _UNRANKED)
    ranks = {word: rank for rank, word in enumerate(ranked) if not _ARTEFACT.fullmatch(word)}
    frequencies: defaultdict[str, float] = defaultdict(float)
    passages: Counter[str] = Counter()
    for corpus in corpora:
        counts: Counter[str] = Counter()
        for text in map(_without_treebank_marks, corpus.passages):
            found = list(tokens(text))
            counts.update(found)
            passages.update(set(found))
        for word, count in counts.items():
            frequencies[word] += corpus.weight * (count - 1) / counts.total()

    total_weight = sum(corpus.weight for corpus in corpora)
    harmonic = sum((rank + 3) ** -1.1 for rank in ranks.values())
    scores: dict[str, float] = {}
    for word, rank in ranks.items():
        zipf = (rank + 3) ** -1.1 / harmonic
        scores[word] = zipf + min(frequencies[word], zipf)
        if len(word) <= _FRAGMENT_LENGTH and not passages[word]:
            scores[word] *= _FRAGMENT_FACTOR
    for word in set(passages) - set(ranks) - _UNRANKED:
        if passages[word] >= _PASSAGES_NEEDED and _LATIN.fullmatch(word) and not _ARTEFACT.fullmatch(word):
            scores[word] = frequencies[word]
    for word in _UNRANKED:
        if word in _REQUIRED or passages[word]:
            scores[word] = frequencies[word] * (1 + total_weight) / total_weight

    def order(word: str) -> tuple[float, int, str]:
        return -scores[word], ranks.get(word, len(ranks)), word

    optional = sorted(scores.keys() - set(_REQUIRED), key=order)[: max(0, size - len(_REQUIRED))]
    kept = sorted({*_REQUIRED, *optional}, key=order)
    if len(kept) != size:
        raise ValueError(f"cannot build {size} entries: sources and required entries give {len(kept)}")
    return kept


def coverage(words: Iterable[str], texts: Iterable[str]) -> float:
    """Returns the share of the alphabetic tokens of ``texts`` that are in ``words``, between 0 and 1.

    Tokens are words (UAX #29, lower case) of letters, possibly with inner apostrophes; a clitic is a token.

    Raises:
        ValueError: The texts have no alphabetic token.
    """
    known = frozenset(words)
    counts = Counter(token for text in texts for token in tokens(text) if token not in PUNCTUATION)
    if not counts:
        raise ValueError("no alphabetic token to measure coverage on")
    return sum(count for token, count in counts.items() if token in known) / counts.total()


def _without_treebank_marks(text: str) -> str:
    """Rewrites treebank conventions of SST-2 and WikiText: ``did n't`` to ``didn't``, ``--`` to a dash."""
    text = text.lower()
    for mark, character in _TREEBANK.items():
        text = text.replace(mark, character)
    text = _SPACED_CONTRACTION.sub(r"\1 \1n't", text)
    return _SPACED_CLITIC.sub(lambda match: match[1] or f"'{match[2]}", text)
