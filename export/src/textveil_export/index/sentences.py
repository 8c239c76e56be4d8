"""Public sentences for the indices of a bundle: given for the labels of classes, chosen for codes."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy.optimize import linear_sum_assignment
from textveil.bundle import layout
from textveil.vector import extractor_of

from textveil_export.errors import SourceError
from textveil_export.index.contents import IndexContents
from textveil_export.text.word_vectors import read_list


def add_sentences(contents: IndexContents, file: Path, source: str = "") -> IndexContents:
    """Returns a bundle whose devices can print sentences; what they draw stays. The writer checks each sentence.

    A code gets one of the sentences, no two the same: those that are nearest to all centers together. Near is the score
    of the code over the norm of all its scores, the cosine of vector and center but for what no center sees.

    Args:
        contents: The bundle.
        file: Of classes ``LABEL<TAB>SENTENCE`` lines, as many of each label; of codes sentences to choose from.
        source: Whose the sentences are and on what terms, for the card.

    Raises:
        SourceError: The file cannot be read, has another label, or too few sentences.
        EncoderUnavailable, EncoderFailed: The bundle has a model that cannot be run here.
    """
    lines = list(dict.fromkeys(read_list(file)))
    sentences = (
        _assign_sentences(contents, lines)
        if contents.kind == layout.CODEBOOK
        else _group_by_label(contents.labels, lines)
    )
    provenance = {**contents.provenance, "sentences": source or file.name}
    return replace(contents, sentences=tuple(map(tuple, sentences)), provenance=provenance)


def _assign_sentences(contents: IndexContents, sentences: Sequence[str]) -> list[list[str]]:
    if len(sentences) < len(contents.labels):
        raise SourceError(f"{len(contents.labels)} codes need as many sentences: there are {len(sentences)}")
    extractor = extractor_of(contents.extractor)
    scores = np.array([contents.weight @ extractor.extract(one).vector + contents.bias for one in sentences])
    similarity = np.nan_to_num(scores / np.maximum(np.linalg.norm(scores, axis=1, keepdims=True), 1e-12))
    return [[sentences[int(at)]] for at in linear_sum_assignment(similarity.T, maximize=True)[1]]


def _group_by_label(labels: Sequence[str], lines: Sequence[str]) -> list[list[str]]:
    sentences: dict[str, list[str]] = {label: [] for label in labels}
    for number, line in enumerate(lines, 1):
        label, tab, sentence = line.partition("\t")
        if not tab or label not in sentences:
            raise SourceError(f"sentence {number} is not LABEL<TAB>SENTENCE with a label of the bundle")
        sentences[label].append(sentence)
    if len(set(map(len, sentences.values()))) != 1:
        raise SourceError("there are not as many sentences of one label as of another")
    return list(sentences.values())
