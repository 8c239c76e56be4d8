"""How surprising rewritten texts are by the size of the pools, and which kinds of slots it is that surprise.

    python benchmarks/names/pool_sizes.py GGUF [--data DIR] [--sizes N...] [--draws N] [-o RECORD]

The model, the texts and the ratio are those of readability.py. *sizes*: every pool cut to its first members, the most
frequent ones. *only*: all kinds but one are shown, so the ratio is what that kind costs. Nothing here changes pools.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import measure

if __name__ == "__main__":
    measure.one_core()

import argparse
import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import readability
from textveil import Sanitizer
from textveil.bundle import open_bundle

from names.words import ROOT

SIZES = (14, 40, 100, 200)
Pools = dict[str, tuple[str, ...]]


def _sanitizer(pools: Pools) -> Sanitizer:
    """Returns a sanitizer that draws from other pools."""
    found = Sanitizer.load()
    lists = replace(found.bundle.require_names(), pools=pools)
    object.__setattr__(found.bundle.names, "__dict__", {**vars(found.bundle.names), "lists": lists})
    return Sanitizer(found.bundle)


def main() -> None:
    """Parses the command line, measures and writes the record after each figure."""
