"""Assign public sentences to the classes of a label bundle; a device can send a sentence instead of a label."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy.optimize import linear_sum_assignment
from textveil.bundle import layout
from textveil.vector import make_extractor

from textveil_export.errors import SourceError
from textveil_export.label.contents import LabelBundleContents
from textveil_export.text.word_vectors import read_list


def add_sentences(contents: LabelBundleContents, file: Path, source: str = "") -> LabelBundleContents:
    """Return a copy of the contents of a label bundle (data folder) with a public sentence for each class or cluster.

    A device can send such a sentence in place of a label. The probabilities of the labels do not change.

    Each cluster gets a different sentence, so that the sum of similarities is as large as possible. The similarity of a
    sentence and a cluster is the cluster's score divided by the norm of all scores of the sentence. This is the cosine
    of the sentence's vector and the cluster's center, if the vector is projected onto the space of the centers.
    ``write_label_bundle`` checks each sentence.

    Args:
        contents: The bundle.
        file: For classes: ``LABEL<TAB>SENTENCE`` lines, equally many for each label. For clusters: candidate sentences.
        source: Source and license of the sentences, for the model card.

    Raises:
        SourceError: The file cannot be read, contains an unknown label, or has too few sentences.
        EncoderUnavailable, EncoderFailed: The bundle's model cannot run on this machine.

    Example:
        >>> from textveil_export.label import read_label_contents
        >>> lines = ["business\\tShares fell.", "sport\\tThey won.", "health\\tThe clinic opened."]
        >>> _ = Path("sentences.tsv").write_text("\\n".join(lines))
        >>> add_sentences(read_label_contents(Path("labels")), Path("sentences.tsv"), "our team, CC0-1.0").sentences
        (('Shares fell.',), ('They won.',), ('The clinic opened.',))
    """
    lines = list(dict.fromkeys(read_list(file)))
    sentences = (
        _assign_sentences(contents, lines)
        if contents.kind == layout.CLUSTER_LABELS
        else _group_by_label(contents.labels, lines)
    )
    provenance = {**contents.provenance, "sentences": source or file.name}
    return replace(contents, sentences=tuple(map(tuple, sentences)), provenance=provenance)


def _assign_sentences(contents: LabelBundleContents, sentences: Sequence[str]) -> list[list[str]]:
    """Assign a different sentence to each cluster, with the largest possible sum of similarities.

    Returns:
        A list for each cluster, with one sentence.
    """
    if len(sentences) < len(contents.labels):
        raise SourceError(
            f"the bundle has {len(contents.labels)} clusters and the file {len(sentences)} sentences: add one for each "
            "cluster"
        )
    extractor = make_extractor(contents.extractor)
    scores = np.array([contents.weight @ extractor.extract_vector(one).vector + contents.bias for one in sentences])
    similarity = np.nan_to_num(scores / np.maximum(np.linalg.norm(scores, axis=1, keepdims=True), 1e-12))
    return [[sentences[int(at)]] for at in linear_sum_assignment(similarity.T, maximize=True)[1]]


def _group_by_label(labels: Sequence[str], lines: Sequence[str]) -> list[list[str]]:
    """Group ``LABEL<TAB>SENTENCE`` lines by label, and return the sentences of each label."""
    sentences: dict[str, list[str]] = {label: [] for label in labels}
    for number, line in enumerate(lines, 1):
        label, tab, sentence = line.partition("\t")
        if not tab or label not in sentences:
            raise SourceError(f"sentence {number} must be LABEL<TAB>SENTENCE with a label of the bundle")
        sentences[label].append(sentence)
    if len(set(map(len, sentences.values()))) != 1:
        raise SourceError("the labels have different numbers of sentences: give each label equally many")
    return list(sentences.values())
