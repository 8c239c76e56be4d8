"""Sentence pairs with a score of semantic similarity: SICK and MedSTS."""

from collections.abc import Iterator

from textveil_training.data.examples import ScoredPair
from textveil_training.data.rows import FilePath, label_field, read_rows, score_field, text_field

SICK_LABELS = ("NEUTRAL", "ENTAILMENT", "CONTRADICTION")
"""Judgments in SICK. The position in this tuple is the class id."""


def read_sick(path: FilePath) -> Iterator[ScoredPair]:
    """Streams SICK in the layout of SemEval 2014 task 1 (Marelli et al. 2014).

    Columns: ``pair_ID sentence_A sentence_B relatedness_score entailment_judgment``, separated by tabs;
    relatedness is from 1 to 5. The pair's number is not kept. The published test file ends its lines with CR
    LF.

    Raises:
        DataError: The file cannot be read, is empty or has another header, or a row has another number of
            columns, no text, a score that is no number from 1 to 5, no judgment or an unknown one.
    """
    header = ("pair_ID", "sentence_A", "sentence_B", "relatedness_score", "entailment_judgment")
    for location, (_, first, second, score, judgment) in read_rows(path, 5, header):
        yield ScoredPair(
            text_field(first, location),
            text_field(second, location),
            score_field(score, 1.0, 5.0, location),
            label_field(judgment, SICK_LABELS, location),
        )


def read_medsts(path: FilePath) -> Iterator[ScoredPair]:
    """Streams MedSTS, ``sentence1<TAB>sentence2<TAB>score`` without a header; scores are from 0 to 5.

    Wang et al. 2020, "MedSTS: a resource for clinical semantic textual similarity", Language Resources and
    Evaluation 54, 57-72. The sentences are from clinical notes and **not public**: they were given to
    participants of the BioCreative/OHNLP 2018 and n2c2/OHNLP 2019 tracks under a data use agreement, and a
    user asks the organizers for them. This reader follows that layout and has been tested on made-up rows
    only.

    Raises:
        DataError: The file cannot be read or is empty, or a row has another number of columns, no text, or a
            score that is no number from 0 to 5.
    """
    for location, (first, second, score) in read_rows(path, 3):
        similarity = score_field(score, 0.0, 5.0, location)
        yield ScoredPair(text_field(first, location), text_field(second, location), similarity)
