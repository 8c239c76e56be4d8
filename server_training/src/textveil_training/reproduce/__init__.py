"""Reproduce tables and figures of the papers with the code of this package.

    textveil-train reproduce dpnr-table2

A study describes a table or figure: the data, the mechanisms, their epsilons, and the figures in the paper. The
training, the attacks and the mechanisms are those of the other commands. Without ``--data`` a study runs on a small
sample, which shows that its code runs; its figures have no other use.
"""

from typing import TYPE_CHECKING

from textveil.lazy import make_lazy_getattr

if TYPE_CHECKING:
    from textveil_training.reproduce.picture import draw_picture
    from textveil_training.reproduce.published import STUDIES
    from textveil_training.reproduce.results import Reproduction, collect_notes, make_table, read_record

__all__ = ["STUDIES", "Reproduction", "collect_notes", "draw_picture", "make_table", "read_record"]

__getattr__ = make_lazy_getattr(__name__, __all__, "picture", "published", "results")
