"""Measure the perplexity of rewritten news by the size of the surrogate pools of the mode ``names``.

    python benchmarks/names/pool_sizes.py GGUF [--data DIR] [--texts N] [--sizes N...] [-o RECORD]

The model and the ratio are the same as in readability.py; the texts are the first N of its news. For each size, every
pool is cut to its most frequent surrogates, which come first. Pools for unlisted words stay complete. The built-in
pools are not changed.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import measure

if __name__ == "__main__":
    measure.one_core()

import argparse
import json
from dataclasses import replace

import readability
from textveil import Sanitizer

from names.tools import rule
from names.words import ROOT

SIZES = (14, 40, 100, 200)


def with_pools_of(size: int) -> Sanitizer:
    """Return a sanitizer with pools of at most this size."""
    bundle = Sanitizer.load().bundle
    names = bundle.names_files
    assert names is not None

    def cut(name: str, content: bytes) -> bytes:
        is_cut = name.startswith("surrogates.") and not name.startswith("surrogates.word")
        return b"".join(content.splitlines(keepends=True)[:size]) if is_cut else content

    contents = {name: cut(name, content) for name, content in names.contents.items()}
    return Sanitizer(replace(bundle, names_files=replace(names, contents=contents)))


def main() -> None:
    """Parse the command line, measure and write each figure."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("model", type=Path, metavar="GGUF")
    parser.add_argument("--data", type=Path, default=ROOT / "data", help="folder of the data")
    parser.add_argument("--texts", type=int, default=readability.TEXTS)
    parser.add_argument("--sizes", type=int, nargs="*", default=list(SIZES))
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "benchmarks/results/names/pool_sizes.json")
    a = parser.parse_args()
    model = readability.Model(a.model)
    texts = readability.corpora(a.data)["ag"][: a.texts]
    raw, words = model.surprise(texts), [len(text.split()) for text in texts]
    record = {}
    for size in (*a.sizes, None):
        sanitizer = Sanitizer.load() if size is None else with_pools_of(size)
        results = sanitizer.sanitize_batch(texts, protect="names", facts="none")
        found = readability.ratio(raw, model.surprise([result.text for result in results]), words)
        record["whole" if size is None else f"the first {size}"] = found
        a.output.write_text(
            json.dumps({"of": rule(texts), "texts": a.texts, "sizes": record}, indent=1) + "\n", encoding="utf-8"
        )


if __name__ == "__main__":
    main()
