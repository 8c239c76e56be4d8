"""What int8 costs MiniLM: decisions and bytes of each recipe against float32, on texts that it was not fitted to.

    python benchmarks/vectors/int8.py [--data DIR] [--cache DIR] [--recipes N] [-o RECORDS]

MiniLM as it comes under a linear classifier, fitted to the training texts of AG News; the sample is the 1,084 texts for
the channels, decided one at a time with onnxruntime as devices do. Recipes stand in the order in which a bundle tries
them. No time is measured.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import argparse
import json
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from textveil_export.encoder import (
    RECIPES,
    PooledModel,
    Session,
    export_graph,
    graph_name,
    prepare,
    quantize,
    vectors,
)
from textveil_training.engine import MINILM, Tokenizer, load_encoder
from vectors.extractors import STRENGTH, Extractors
from vectors.minilm import MAX_TOKENS
from vectors.run import CACHE, ROOT

#: What a bundle may get: the others are there to be compared with.
TRIED = tuple(recipe for recipe in RECIPES if not recipe.attention and recipe.tool == "onnxruntime")


def main() -> None:
    """Measures float32 and the recipes, and writes a record of each."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--data", type=Path, default=ROOT / "data", help="folder of the data")
    parser.add_argument("--cache", type=Path, default=CACHE, help="folder of MiniLM's frozen vectors")
    parser.add_argument("--recipes", type=int, default=len(TRIED), help="how many recipes, the first ones")
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "benchmarks" / "results" / "int8.jsonl")
    a = parser.parse_args()
    extractors = Extractors(a.data, "ag", a.cache)
    task = extractors.task(0)
    classifier = LogisticRegression(C=STRENGTH[MINILM], max_iter=300)
    classifier.fit(extractors.vectors(MINILM, task.train.texts), task.train.classes)

    def decide(found: NDArray[np.float32]) -> NDArray[np.intp]:
        return np.asarray(classifier.predict(found), dtype=np.intp)

    network, vocabulary, lowercase = load_encoder(MINILM, 0.0)
    pieces = tuple(Tokenizer(vocabulary, lowercase=lowercase, max_tokens=MAX_TOKENS).ids)
    model = PooledModel(
        extractor=network.eval(),  # type: ignore[arg-type]
        vocabulary=pieces,
        lowercase=lowercase,
        max_tokens=MAX_TOKENS,
        identity="",
    )
    part = task.calibration
    sample = prepare(list(zip(part.classes.tolist(), part.texts, strict=True)), pieces, model)
    with tempfile.TemporaryDirectory() as folder, a.output.open("w", encoding="utf-8") as file:
        source = Path(folder) / "float32.onnx"
        export_graph(model, source)
        expected = decide(vectors(Session(source), sample))
        for recipe in (None, *TRIED[: a.recipes]):
            graph, found = source, expected
            if recipe is not None:
                graph = Path(folder) / graph_name(recipe)
                quantize(source, recipe, graph)
                found = decide(vectors(Session(graph), sample))
            record = {
                "recipe": "float32" if recipe is None else recipe.name,
                "bytes": graph.stat().st_size,
                "texts": len(part.texts),
                "accuracy": round(float((found == sample.labels).mean()), 6),
                "agreement": round(float((found == expected).mean()), 6),
            }
            file.write(json.dumps(record) + "\n")
            file.flush()
            print(json.dumps(record), flush=True)


if __name__ == "__main__":
    main()
