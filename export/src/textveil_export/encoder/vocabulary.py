"""Fewer pieces, a smaller encoder: rows of the embedding matrix that public text hardly uses are left out.

Privacy:
    The list of pieces is part of the bundle and can be read by anybody. It must come from public data, never from the
    texts that are to be protected, nor from training data that are not public.
"""

import copy
from collections import Counter
from dataclasses import replace
from pathlib import Path

import torch
from textveil.text import WordPiece

from textveil_export.encoder.checkpoint import SPECIAL, Checkpoint
from textveil_export.errors import ExportError, SourceError


def keep_pieces(checkpoint: Checkpoint, count: int | None, text: Path | None) -> Checkpoint:
    """Makes the same encoder with fewer pieces, renumbered in their old order.

    Special symbols and single characters always stay, so that any word can still be spelled. Of the rest, the pieces
    most frequent in a public text stay, then those first in the vocabulary (BERT's is sorted by frequency). A text
    whose pieces are all kept is cut into the same pieces: the longest of all is the longest of some.

    Args:
        checkpoint: The encoder; it stays as it is.
        count: How many pieces stay, or ``None`` for all that occur in ``text``.
        text: Public text, UTF-8, or ``None`` to go by the order of the vocabulary alone.

    Raises:
        ExportError: There is nothing to choose by, or ``count`` is below what has to stay or above what there is.
        SourceError: The text cannot be read.
    """
    if count is None and text is None:
        raise ExportError("say how many pieces to keep, or name a public text to choose them by")
    pieces = checkpoint.vocabulary
    needed = {i for i, piece in enumerate(pieces) if piece in SPECIAL or len(piece.removeprefix("##")) == 1}
    used = Counter() if text is None else _counts(checkpoint, text)
    if count is None:
        kept = sorted(needed | used.keys())
    else:
        unused = {i for i, piece in enumerate(pieces) if piece.startswith("[unused") and piece.endswith("]")}
        if not len(needed) <= count <= len(pieces) - len(unused):
            raise ExportError(
                f"between {len(needed)} (special symbols and single characters) and {len(pieces) - len(unused)} "
                "pieces can be kept"
            )
        rest = sorted(set(range(len(pieces))) - needed - unused, key=lambda i: (-used[i], i))
        kept = sorted(needed | set(rest[: count - len(needed)]))
    extractor = copy.deepcopy(checkpoint.extractor)
    rows = extractor.embeddings.word_embeddings.weight.detach()[kept].clone()
    extractor.embeddings.word_embeddings = torch.nn.Embedding.from_pretrained(rows)
    extractor.config.vocab_size = len(kept)
    return replace(checkpoint, extractor=extractor, vocabulary=tuple(pieces[i] for i in kept))


def _counts(checkpoint: Checkpoint, path: Path) -> Counter[int]:
    """Counts how often each piece occurs in a public text."""
    numbers = {piece: number for number, piece in enumerate(checkpoint.vocabulary)}
    cut = WordPiece(numbers, lowercase=checkpoint.lowercase, special=SPECIAL)
    counts: Counter[int] = Counter()
    try:
        with path.open(encoding="utf-8") as file:
            for line in file:
                counts.update(cut.encode(line))
    except (OSError, UnicodeDecodeError) as error:
        raise SourceError(f"{path.name}: cannot be read as UTF-8 text") from error
    return counts
