"""Reproduce tables and figures of the papers with the code of this package.

    textveil-train reproduce dpnr-table2

A study is a thin description: the data, the mechanisms, their levels, and the figures that the paper prints. The
training, the attacks and the mechanisms are those of the other commands. Without ``--data`` a study runs on a small
sample, which shows that its code runs; its figures are of no other use.
"""
