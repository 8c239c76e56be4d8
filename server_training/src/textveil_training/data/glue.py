"""GLUE tables (Wang et al. 2019, "GLUE: A Multi-Task Benchmark", ICLR): a header, tabs, no quoting.

The published ``test.tsv`` files have no labels and another header; the readers refuse them with
``WrongLayout``.
"""

from collections.abc import Iterator

from textveil_training.data.examples import LabeledPair, LabeledText
from textveil_training.data.rows import FilePath, label_field, read_rows, text_field

SST2_LABELS = ("0", "1")
"""SST-2: negative, positive. The position in this tuple is the class id."""

QNLI_LABELS = ("entailment", "not_entailment")
"""QNLI: the sentence answers the question, or does not. The position in this tuple is the class id."""


def read_sst2(path: FilePath) -> Iterator[LabeledText]:
    """Streams SST-2, ``sentence<TAB>label``: single sentences of film reviews (Socher et al. 2013).

    Raises:
        DataError: The file cannot be read, is empty or has another header, or a row has another number of
            columns, no text, no label or an unknown one.
    """
    for location, (text, label) in read_rows(path, 2, header=("sentence", "label")):
        yield LabeledText(text_field(text, location), label_field(label, SST2_LABELS, location))


def read_qnli(path: FilePath) -> Iterator[LabeledPair]:
    """Streams QNLI, ``index<TAB>question<TAB>sentence<TAB>label`` (from SQuAD, Rajpurkar et al. 2016).

    The index is not kept. A question may stand in several rows: to share out a file so that no question is in
    two shares, give ``split`` the key ``lambda pair: pair.first``.

    Raises:
        DataError: The file cannot be read, is empty or has another header, or a row has another number of
            columns, no text, no label or an unknown one.
    """
    header = ("index", "question", "sentence", "label")
    for location, (_, question, sentence, label) in read_rows(path, 4, header):
        yield LabeledPair(
            text_field(question, location), text_field(sentence, location), label_field(label, QNLI_LABELS, location)
        )
