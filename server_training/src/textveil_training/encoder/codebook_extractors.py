"""Makes the extractor of a codebook, ``static`` or ``minilm``, up to what ships: int8, with its map to codes.

``static`` has rows of words, taught by MiniLM if it is there, and a device needs numpy alone. ``minilm`` is MiniLM as
it comes, int8 ONNX, and codes are centers in the main directions of its vectors.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from textveil_export.index import static_parts

from textveil_training.encoder.codebook import learn_codebook
from textveil_training.encoder.extractors import (
    MINILM,
    SAMPLE,
    TrainedExtractor,
    exported,
    from_exported,
    minilm_packages,
    words_provenance,
)
from textveil_training.encoder.minilm_settings import MinilmSettings
from textveil_training.encoder.public_words import PUBLIC_NUMBERS, public_words
from textveil_training.encoder.resume_cache import Arrays, KeptParts
from textveil_training.encoder.static_extractor import StaticSettings
from textveil_training.encoder.teacher import NO_TEACHER, asked, teacher_vectors
from textveil_training.encoder.word_rows import (
    DIRECTIONS,
    RARE_NUMBERS,
    rare_rows,
    taught_rows,
    word_ids,
)
from textveil_training.progress import Report

#: Share of the codes that int8 may change. A code that changes is another code, not a wrong one.
MAX_CHANGED = 0.05


def static_codebook(
    texts: Sequence[str],
    codes: int,
    settings: StaticSettings,
    minilm: MinilmSettings,
    kept: KeptParts | None,
    report: Report,
) -> TrainedExtractor:
    """Makes rows of words, learns codes of their means, and rounds to int8.

    Args:
        texts: Different texts.
        codes: How many codes are wanted.
        settings: How rows are made.
        minilm: The teacher: ``encoder`` is ``minilm``, a folder or a hub id, or ``none``.
        kept: Where the teacher's vectors are kept, or None.
        report: Told the stage, the steps done and the steps in all.

    Raises:
        ClassError: The texts are too much alike.
        CheckpointError: The teacher cannot be loaded.
        ResumeError, OutputError: See ``KeptParts``.
    """
    taught = minilm.encoder != NO_TEACHER
    public = public_words(PUBLIC_NUMBERS if taught else RARE_NUMBERS)
    ids = word_ids(texts, public, settings.max_characters)
    made: dict[str, Any] = {"min_texts": settings.min_texts}
    if taught:
        chosen = asked(len(texts))
        vectors = _kept_vectors([texts[int(at)] for at in chosen], minilm, kept, report)
        rows = taught_rows([ids[at] for at in chosen], vectors, public, settings.min_texts, settings.pairs)
        made |= {"pairs": settings.pairs, "taught_by": {**_described(minilm, len(texts)), "texts": len(chosen)}}
    else:
        rows = rare_rows(ids, public, settings.min_texts)
    book = learn_codebook(rows.vectors(ids), codes, settings.seed, report)
    parts = static_parts(
        public.words, rows.words.astype(np.float32), rows.pairs.astype(np.float32), settings.max_characters
    )
    made |= {"dimension": rows.words.shape[1], "max_characters": settings.max_characters}
    told = {"min_texts_of_a_code": min(book.sizes), **words_provenance(public), **made}
    return TrainedExtractor(parts=parts, weight=book.weight, bias=book.bias, provenance=told)


def minilm_codebook(
    texts: Sequence[str], codes: int, settings: MinilmSettings, kept: KeptParts, report: Report
) -> TrainedExtractor:
    """Finds codes in the main directions of MiniLM's vectors, exports it as it comes, and quantizes it.

    The recipe is the first one that fits and changes at most 5 % of the codes of 1,000 of the texts, evenly spread.

    Args:
        texts: Different texts.
        codes: How many codes are wanted.
        settings: Which encoder, and how long its texts are; ``seed`` is that of k-means.
        kept: Where the vectors and the graph are kept.
        report: Told the stage, the steps done and the steps in all.

    Raises:
        MissingExtra: The packages for it are not installed.
        ClassError: The texts are too much alike.
        CheckpointError: The encoder cannot be loaded.
        ExportError: See ``textveil_export.encoder.onnx_parts``.
        ResumeError, OutputError: See ``KeptParts``.
    """
    with minilm_packages():
        from textveil_training.encoder.minilm import minilm_as_it_comes
    vectors = _kept_vectors(texts, settings, kept, report).astype(np.float64)

    def make() -> tuple[Arrays, Mapping[str, Any]]:
        book = learn_codebook(vectors, codes, settings.seed, report, directions=DIRECTIONS)
        spread = np.linspace(0, len(texts) - 1, min(SAMPLE, len(texts)))
        sample = [(0, texts[int(at)]) for at in spread]  # no text has a class
        arrays, facts = exported(
            minilm_as_it_comes(settings), book.weight, book.bias, sample, report, max_changed=MAX_CHANGED
        )
        return arrays, {**facts, "smallest": min(book.sizes)}

    arrays, facts = kept.part(MINILM, make)
    told = {"min_texts_of_a_code": int(facts["smallest"]), **_described(settings, len(texts))}
    told["directions"] = min(DIRECTIONS, vectors.shape[1])
    return from_exported(arrays, facts, settings.max_tokens, told)


def _kept_vectors(
    texts: Sequence[str], minilm: MinilmSettings, kept: KeptParts | None, report: Report
) -> NDArray[np.float32]:
    def ask() -> tuple[Arrays, Mapping[str, Any]]:
        return {"vectors": teacher_vectors(texts, minilm, report)}, {}

    return (kept.part("vectors", ask) if kept is not None else ask())[0]["vectors"]


def _described(minilm: MinilmSettings, texts: int) -> dict[str, Any]:
    """What a card says of a model that was not tuned."""
    found = replace(minilm, tuned=False).described(texts)
    return {name: value for name, value in found.items() if name != "tuned"}
