"""Read texts with marked personal data, by one reader per format.

Rules are developed on the even rows of a data set; figures are reported for the odd rows.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Half = Literal["even", "odd", "all"]


@dataclass(frozen=True, order=True)
class Span:
    """A marked part of a text.

    Attributes:
        start: Offset of the span's first character.
        end: Offset after the span's last character.
        type: The span's type in the data set.
    """

    start: int
    end: int
    type: str


@dataclass(frozen=True)
class Row:
    """A text with its marked spans.

    Attributes:
        text: The text.
        spans: Parts that must be replaced.
        unmasked: Marked parts that may stay. Their words count neither as personal nor as other words.
    """

    text: str
    spans: tuple[Span, ...]
    unmasked: tuple[Span, ...] = ()


#: Types in the data sets, by group.
KINDS = {
    "person": "PERSON person PER NAME",
    "address": "STREET_ADDRESS ZIP_CODE",
    "place": "GPE location LOC GEOGRAPHIC_LOCATION",
    "firm": "ORGANIZATION corporation ORG",
    "group": "NRP DEM group",
    "title": "TITLE",
    "date": "DATE_TIME AGE DATETIME DATE",
    "quantity": "QUANTITY",
    "work": "creative-work",
    "product": "product",
    "other": "MISC OTH",
    # Everything else is an identifier: numbers of cards, accounts, phones and cases, addresses of mail.
}
_KIND = {name: kind for kind, names in KINDS.items() for name in names.split()}
#: Groups whose spans identify a person or a household by themselves.
DIRECT = ("person", "address", "identifier")


def kind(span: Span) -> str:
    """Return the group of types that a span belongs to."""
    return _KIND.get(span.type, "identifier")


def _lines(path: Path) -> list[str]:
    return path.read_text("utf-8").split("\n")  # splitlines would also end lines at characters inside posts


def read_marked_rows(path: Path) -> Iterator[Row]:
    """Read JSON lines of `text` and `spans`."""
    for line in path.read_text("utf-8").split("\n"):
        if line:
            row = json.loads(line)
            yield Row(row["text"], tuple(Span(s["start"], s["end"], s["type"]) for s in row["spans"]))


def court(path: Path) -> Iterator[Row]:
    """Read documents of the Text Anonymization Benchmark; direct and quasi-identifiers must be masked."""
    for line in path.read_text("utf-8").split("\n"):
        if line:
            row = json.loads(line)
            found: dict[bool, list[Span]] = {True: [], False: []}
            for s in row["entities"]:
                masked = s["identifier_type"] in ("DIRECT", "QUASI")
                found[masked].append(Span(s["start_offset"], s["end_offset"], s["entity_type"]))
            yield Row(row["text"], tuple(found[True]), tuple(found[False]))


def clinical(path: Path) -> Iterator[Row]:
    """Read questions, each with values that must be replaced wherever they occur in the question."""
    for block in path.read_text("utf-8").split("===QUERY===")[1:]:
        text, _, tags = block.partition("===PHI_TAGS===")
        text = text.strip()
        spans = []
        for line in tags.strip().splitlines():
            tag = json.loads(line)
            for match in re.finditer(rf"(?<!\w){re.escape(tag['value'])}(?!\w)", text):
                spans.append(Span(*match.span(), tag["identifier_type"]))
        yield Row(text, tuple(spans))


def _join_tags(pieces: Iterable[tuple[int, int, str]]) -> tuple[Span, ...]:
    """Join tagged tokens to spans; a tag `I-` after a token of another type begins one, as in CoNLL 2003."""
    spans: list[Span] = []
    before = "O"
    for start, end, tag in pieces:
        mark, _, name = tag.partition("-")
        if mark == "I" and before.partition("-")[2] == name:
            spans[-1] = Span(spans[-1].start, end, name)
        elif name:
            spans.append(Span(start, end, name))
        before = tag
    return tuple(spans)


def universal(path: Path) -> Iterator[Row]:
    """Read Universal NER: the text of each sentence, its tokens in order, and their tags."""
    text, at = "", 0
    pieces: list[tuple[int, int, str]] = []
    for line in [*_lines(path), ""]:
        if line.startswith("# text = "):
            text, at, pieces = line.removeprefix("# text = "), 0, []
        elif line and not line.startswith("#"):
            _, token, tag, *_ = line.split("\t")
            start = text.index(token, at)
            at = start + len(token)
            pieces.append((start, at, tag))
        elif not line and pieces:
            yield Row(text, _join_tags(pieces))
            pieces = []


_NO_BLANK_BEFORE = re.compile(r"[.,;:!?)\]}%]+|n't|'(?:s|m|re|ve|ll|d)|\.\.\.", re.IGNORECASE)
_NO_BLANK_AFTER = frozenset("([{$#@")


def tokens(path: Path) -> Iterator[Row]:
    """Read a token and its tag per line, a blank line after each text, and join the tokens with usual spaces."""
    text, pieces = "", []
    for line in [*_lines(path), ""]:
        parts = line.split()
        if parts and parts[0] != "-DOCSTART-":
            token, tag = parts[0], parts[-1]
            if text and not (text[-1] in _NO_BLANK_AFTER or _NO_BLANK_BEFORE.fullmatch(token)):
                text += " "
            pieces.append((len(text), len(text) + len(token), tag))
            text += token
        elif pieces:
            yield Row(text, _join_tags(pieces))
            text, pieces = "", []


@dataclass(frozen=True)
class DataSet:
    """The place and the reader of a data set.

    Attributes:
        path: The file, relative to the folder of data or of fetched files.
        read: The function that reads the file.
        fetched: Whether `fetch.py` downloads it.
    """

    path: str
    read: Callable[[Path], Iterator[Row]]
    fetched: bool = True

    def file(self, data: Path, fetched: Path) -> Path:
        """Return the file of the data set."""
        return (fetched if self.fetched else data) / self.path

    def rows(self, data: Path, fetched: Path, half: Half) -> list[Row]:
        """Read the even rows, the odd rows, or all rows of the data set."""
        return take_half(list(self.read(self.file(data, fetched))), half)

    def sha256(self, data: Path, fetched: Path) -> str:
        """Return the SHA-256 of the data set's file."""
        return hashlib.sha256(self.file(data, fetched).read_bytes()).hexdigest()


DATA_SETS = {
    "made-up": DataSet("pii/records.jsonl", read_marked_rows, fetched=False),
    "posts": DataSet("wnut17/dev.jsonl", read_marked_rows, fetched=False),
    "tweets": DataSet("tweets.conll", tokens),
    "web": DataSet("web.iob2", universal),
    "news": DataSet("news.iob2", universal),
    "wiki": DataSet("wiki.conll", tokens),
    "filings": DataSet("filings.conll", tokens),
    "clinical": DataSet("clinical.txt", clinical),
    "court": DataSet("court.jsonl", court),
}


def take_half(rows: list[Row], half: Half) -> list[Row]:
    """Return the rows 0, 2, 4 ..., the rows 1, 3, 5 ..., or all."""
    return {"even": rows[::2], "odd": rows[1::2], "all": rows}[half]
