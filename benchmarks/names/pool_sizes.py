"""How surprising rewritten news are by the size of the pools of the rung ``names``, and which kinds surprise.

    python benchmarks/names/pool_sizes.py GGUF [--data DIR] [--texts N] [--sizes N...] [--kinds KIND...]

The model and the ratio are those of readability.py, over the first N of its news. For each size every pool has its
first members only, the most frequent ones; those of unlisted words stay as they are. For each kind all others are
shown, so that the ratio is what the slots of that kind cost. Pools of the product are not changed by this.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import measure

if __name__ == "__main__":
    measure.one_core()

import argparse
import json
from collections.abc import Iterator
from dataclasses import replace

import readability
from textveil import Sanitizer

from names.words import ROOT

SIZES = (14, 40, 100, 200)


def with_pools_of(size: int) -> Sanitizer:
    """Returns a sanitizer whose pools have so many members at most."""
    bundle = Sanitizer.load().bundle
    names = bundle.names
    assert names is not None

    def cut(name: str, content: bytes) -> bytes:
        is_cut = name.startswith("names.pool.") and not name.startswith("names.pool.word")
        return b"".join(content.splitlines(keepends=True)[:size]) if is_cut else content

    contents = {name: cut(name, content) for name, content in names.contents.items()}
    return Sanitizer(replace(bundle, names=replace(names, contents=contents)))


def ways(texts: list[str], sizes: list[int], kinds: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Yields the texts as each way rewrites them."""
    whole = Sanitizer.load()
    every = {what for text in texts for _, what in whole.preview(text, protect="names")} - {"gap", "visible"}
    yield "all", [result.text for result in whole.sanitize_batch(texts, protect="names")]
    for size in sizes:
        yield f"first {size}", [result.text for result in with_pools_of(size).sanitize_batch(texts, protect="names")]
    for kind in kinds:
        kept = tuple(every - {kind})
        yield f"only {kind}", [result.text for result in whole.sanitize_batch(texts, protect="names", keep=kept)]


def main() -> None:
    """Parses the command line, measures and prints each figure."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("model", type=Path, metavar="GGUF")
    parser.add_argument("--data", type=Path, default=ROOT / "data", help="folder of the data")
    parser.add_argument("--texts", type=int, default=readability.TEXTS)
    parser.add_argument("--sizes", type=int, nargs="*", default=list(SIZES))
    parser.add_argument("--kinds", nargs="*", default=[])
    a = parser.parse_args()
    model = readability.Model(a.model)
    texts = readability.corpora(a.data)["ag"][: a.texts]
    raw, words = [model.surprise(text) for text in texts], [len(text.split()) for text in texts]
    for name, rewritten in ways(texts, a.sizes, a.kinds):
        found = readability.ratio(raw, [model.surprise(text) for text in rewritten], words)
        print(json.dumps({name: found}), flush=True)


if __name__ == "__main__":
    main()
