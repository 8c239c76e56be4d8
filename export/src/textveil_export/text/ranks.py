"""Frequency ranks from public corpora."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from textveil.text import WordPiece, is_string, segments, split_clitic
from textveil.text import key as look_up_key

from textveil_export.errors import SourceError
from textveil_export.progress import Progress, no_progress
from textveil_export.text.sources import Source


def by_frequency(source: Source, corpora: Sequence[Path], progress: Progress = no_progress) -> Source:
    """Orders a vocabulary by how often its entries occur in public text, most frequent first.

    Entries that occur equally often, or never, keep the order of the source. Text is cut as the device cuts it.

    Args:
        source: The vocabulary.
        corpora: Text files, UTF-8. Never the text to be protected: ranks decide who is sensitive.
        progress: Called with files done.

    Raises:
        SourceError: A corpus cannot be read.
    """
    pieces = None
    if source.tokens == "wordpiece":
        pieces = WordPiece({word: index for index, word in enumerate(source.words)})
    counts: Counter[str] = Counter()
    for number, path in enumerate(corpora, 1):
        try:
            with path.open(encoding="utf-8") as file:
                for line in file:
                    counts.update(segments(line))
        except (OSError, UnicodeDecodeError) as error:
            raise SourceError(f"{path.name}: cannot be read as UTF-8 text") from error
        progress("counting words", number, len(corpora))
    totals: Counter[str] = Counter()
    for segment, count in counts.items():
        if is_string(segment):
            continue
        key = look_up_key(segment)
        if pieces is None:
            for part in split_clitic(key) or (key,):
                totals[part] += count
        else:
            for token in pieces.basic_tokens(segment):
                for index in pieces.pieces(token) or []:
                    totals[source.words[index]] += count
    return source.take(sorted(range(len(source.words)), key=lambda i: (-totals[source.words[i]], i)))
