"""Find the content words of a text, and among them numbers, parts of addresses, and words in lower case."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WORD = re.compile(r"[^\W_]+")
#: Web addresses, e-mail addresses, handles and hashtags, in any case.
_ADDRESS = re.compile(
    r"(?:https?://|www\.)\S+"
    r"|[\w.+-]+@[\w-]+\.[\w.-]+"
    r"|[@#] ?\w+"
    r"|\b(?:[\w-]+\.)+(?:com|org|net|edu|gov|io|co|uk|de|ly|me|tv|be|info|biz|us)\b(?:/\S*)?",
    re.IGNORECASE,
)


def entries(path: Path) -> frozenset[str]:
    """Return the entries of a list without their marks, notes and apostrophes: *don't* gives *don* and *t*."""
    lines = path.read_text("utf-8").splitlines()
    return frozenset(
        part for line in lines if not line.startswith("# ") for part in WORD.findall(line.split("\t")[0].lower())
    )


#: Function words that the list has in two parts, *did* and *n't*.
_CONTRACTIONS = "aren't couldn't didn't doesn't don't hadn't hasn't haven't isn't mightn't mustn't needn't shouldn't"
_CONTRACTIONS += " wasn't weren't wouldn't"
LISTS = ROOT / "artifacts" / "english-v4"
FUNCTION_WORDS = entries(LISTS / "function-words.txt") | frozenset(WORD.findall(_CONTRACTIONS))
#: Without *half*, *once* and others whose main use is another one.
NUMBER_WORDS = entries(LISTS / "entity.number-word.txt") - frozenset("first second third half once twice".split())


def is_content(word: str) -> bool:
    """Return whether a word has at least two characters and is not a function word."""
    return len(word) > 1 and word.lower() not in FUNCTION_WORDS


def is_number(word: str) -> bool:
    """Return whether a word has a digit or names a number."""
    return word.lower() in NUMBER_WORDS or any(map(str.isdigit, word))


def addresses(text: str) -> list[tuple[int, int]]:
    """Return the spans of web and e-mail addresses, handles and hashtags."""
    return [match.span() for match in _ADDRESS.finditer(text)]
