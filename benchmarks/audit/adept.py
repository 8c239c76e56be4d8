"""Train and audit a small ADePT (Krishna, Gupta, Dupuy 2021): an autoencoder of texts with noise on its clipped code.

    python benchmarks/audit/adept.py train TEXTS -o MODEL         two minutes on one core
    python benchmarks/audit/adept.py rewrite MODEL --epsilon 10   one text per line of input and output
    python benchmarks/audit/adept.py audit MODEL TEXTS -o RECORD [--epsilon E...]
    python benchmarks/audit/adept.py sensitivity                 Figure 1 of Habernal 2021

The encoder is a GRU; its last state is mapped to a code, which is clipped at L2 norm C. The paper adds Laplace noise of
scale 2 C / epsilon to each coordinate and claims epsilon. Since the noise has this scale, the sensitivity must be
measured in L1, where it is 2 C sqrt(n) for n coordinates (Habernal 2021): the true epsilon is sqrt(n) times the claim.
A GRU decodes the noisy code, the likeliest word first. Training clips and adds noise, so that the decoder can read
noisy codes.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import json
import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import torch
import typer
from safetensors.torch import load_file, save_file
from textveil_training.audit import (
    AuditSettings,
    FunctionMechanism,
    InputPair,
    audit_mechanism,
    parse_claim,
    read_texts,
)
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pack_padded_sequence

app = typer.Typer(add_completion=False)
PAD, START, END, UNKNOWN = range(4)
_MARKS = ("<pad>", "<s>", "</s>", "<unk>")
_MAX_WORDS = 12


class Adept(nn.Module):
    """Autoencoder that clips the code between encoder and decoder, and adds noise to it.

    Args:
        words: Vocabulary; its first four entries are padding, start, end and unknown word.
        dimension: Number of coordinates of the code.
        width: Size of word vectors and of the decoder's state.
    """

    def __init__(self, words: Sequence[str], dimension: int = 64, width: int = 128) -> None:
        super().__init__()
        self.words, self.dimension = list(words), dimension
        self.places = {word: place for place, word in enumerate(self.words)}
        self.vectors = nn.Embedding(len(words), width, padding_idx=PAD)
        self.encoder = nn.GRU(width, width, batch_first=True, bidirectional=True)
        self.code = nn.Linear(2 * width, dimension)
        self.start = nn.Sequential(nn.Linear(dimension, 256), nn.ReLU(), nn.Linear(256, width))
        self.decoder = nn.GRU(width, width, batch_first=True)
        self.output = nn.Linear(width, len(words))

    def number_texts(self, texts: Sequence[str]) -> Tensor:
        """Return the word ids of texts, with start and end marks and padding, shape ``(texts, longest)``."""
        rows = [[START, *(self.places.get(word, UNKNOWN) for word in text.split()), END] for text in texts]
        found = torch.full((len(rows), max(map(len, rows))), PAD)
        for place, row in enumerate(rows):
            found[place, : len(row)] = torch.tensor(row)
        return found

    def encode(self, numbers: Tensor) -> Tensor:
        """Return codes clipped at L2 norm 1, shape ``(texts, dimension)``."""
        lengths = (numbers != PAD).sum(dim=1)
        packed = pack_padded_sequence(self.vectors(numbers), lengths, batch_first=True, enforce_sorted=False)
        state = self.encoder(packed)[1]
        codes = self.code(torch.cat([state[0], state[1]], dim=1))
        return codes / codes.norm(dim=1, keepdim=True).clamp(min=1.0)

    def compute_loss(self, numbers: Tensor, claim: float | None) -> Tensor:
        """Return the cross entropy of the predicted words.

        ``claim`` is the epsilon that determines the noise on the codes; ``None`` for no noise.
        """
        codes = self.encode(numbers)
        if claim is not None:
            codes = codes + torch.distributions.Laplace(0.0, 2.0 / claim).sample(codes.shape)
        hidden, _ = self.decoder(self.vectors(numbers[:, :-1]), self.start(codes)[None].contiguous())
        return functional.cross_entropy(self.output(hidden).transpose(1, 2), numbers[:, 1:], ignore_index=PAD)

    @torch.no_grad()
    def decode(self, codes: Tensor) -> list[str]:
        """Decode each code to a text, with the likeliest next word in every step."""
        state, word = self.start(codes)[None].contiguous(), torch.full((len(codes), 1), START)
        rows = []
        for _ in range(_MAX_WORDS + 1):
            hidden, state = self.decoder(self.vectors(word), state)
            word = self.output(hidden).argmax(dim=2)
            rows.append(word[:, 0])
        texts = []
        for row in torch.stack(rows, dim=1).tolist():
            length = row.index(END) if END in row else len(row)
            texts.append(" ".join(self.words[number] for number in row[:length]))
        return texts

    @torch.no_grad()
    def rewrite(self, texts: Sequence[str], claim: float) -> list[str]:
        """Rewrite texts as ADePT does; ``claim`` is the epsilon that determines the noise."""
        generator = np.random.default_rng()
        found: list[str] = []
        for start in range(0, len(texts), 1000):
            codes = self.encode(self.number_texts(texts[start : start + 1000]))
            noise = torch.from_numpy(generator.laplace(0, 2.0 / claim, codes.shape)).float()
            found += self.decode(codes + noise)
        return found


def save_model(model: Adept, folder: Path) -> None:
    """Write the weights and the vocabulary to a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    save_file(model.state_dict(), folder / "model.safetensors")
    (folder / "words.txt").write_text("".join(f"{word}\n" for word in model.words), "utf-8")


def load_model(folder: Path) -> Adept:
    """Read a model that ``save_model`` wrote."""
    weights = load_file(folder / "model.safetensors")
    words = (folder / "words.txt").read_text("utf-8").split("\n")[:-1]
    model = Adept(words, dimension=len(weights["code.bias"]), width=weights["vectors.weight"].shape[1])
    model.load_state_dict(weights)
    return model.eval()


def read_short_texts(path: Path) -> list[str]:
    """Read texts of 2 to 12 words, one per line, in lower case."""
    texts = dict.fromkeys(" ".join(text.lower().split()) for text in read_texts(path))
    return [text for text in texts if 1 < len(text.split()) <= _MAX_WORDS]


def find_distant_pairs(model: Adept, texts: list[str], count: int = 4) -> tuple[list[InputPair], float]:
    """Return the pairs of texts whose codes differ most in L1, and the largest distance."""
    with torch.no_grad():
        codes = model.encode(model.number_texts(texts))
        distances = torch.cdist(codes, codes, p=1).triu()
    best = distances.flatten().topk(count).indices.tolist()
    pairs = [InputPair((texts[one // len(texts)], texts[one % len(texts)]), origin="distant codes") for one in best]
    return pairs, float(distances.max())


@app.command()
def train(
    texts: Annotated[Path, typer.Argument(help="Texts, one per line.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder of the model.")],
    minutes: Annotated[float, typer.Option("--minutes", help="Maximum processor time of the training.")] = 2.0,
    dimension: Annotated[int, typer.Option("--dimension", help="Coordinates of the code.")] = 64,
    most: Annotated[int, typer.Option("--most", help="Number of texts, counted from the first text.")] = 100,
) -> None:
    """Train the autoencoder until the time is over, first without noise, then with it."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    rows = read_short_texts(texts)[:most]
    counts = Counter(word for text in rows for word in text.split())
    model = Adept([*_MARKS, *(word for word, _ in counts.most_common())], dimension)
    numbers, start, step = model.number_texts(rows), time.process_time(), 0
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-3, weight_decay=0.0)
    last = 0.0
    while (spent := time.process_time() - start) < 60 * minutes:
        share = spent / (60 * minutes)
        for group in optimizer.param_groups:
            group["lr"] = 2e-3 * min(1.0, (1.02 - share) / 0.4)
        batch = numbers[torch.randint(len(numbers), (32,))]
        batch = batch[:, : int((batch != PAD).sum(dim=1).max())]
        # A third of the time without noise, then the noise of claims from 4 to 12.
        noisy = None if share < 0.33 else float(torch.empty(()).uniform_(4.0, 12.0))
        loss = model.compute_loss(batch, noisy)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        step += 1
        if spent - last > 30:
            last = spent
            print(f"step {step}, loss {loss.item():.3f}, {spent / 60:.1f} minutes", file=sys.stderr, flush=True)
            save_model(model, output)
    save_model(model, output)
    print(json.dumps({"texts": len(rows), "words": len(model.words), "steps": step, "minutes": minutes}))


@app.command()
def rewrite(
    model: Annotated[Path, typer.Argument(help="Folder of the model.")],
    epsilon: Annotated[float, typer.Option("--epsilon", help="The claim.")],
) -> None:
    """Rewrite each line of standard input."""
    torch.set_num_threads(1)
    loaded = load_model(model)
    for text in loaded.rewrite([line.rstrip("\n") for line in sys.stdin], epsilon):
        print(text)


@app.command()
def audit(
    model: Annotated[Path, typer.Argument(help="Folder of the model.")],
    texts: Annotated[Path, typer.Argument(help="Texts of the training.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="Record, JSON lines.")],
    epsilon: Annotated[list[float], typer.Option("--epsilon", help="Claims.")] = [2, 4, 6, 10],  # noqa: B006
    most: Annotated[int, typer.Option("--most", help="Number of texts; the same as in the training.")] = 100,
    draws: Annotated[int, typer.Option("--draws", help="Number of draws of each of the two texts.")] = 60_000,
) -> None:
    """Audit the rewriter at several claimed epsilons by the pair test, and count texts whose output equals the input.

    The pairs are those whose codes differ most in L1. This choice is fair, since the person who claims an epsilon has
    the encoder and can find the same pairs.
    """
    torch.set_num_threads(1)
    loaded, rows = load_model(model), read_short_texts(texts)[:most]
    pairs, distance = find_distant_pairs(loaded, rows)
    with output.open("a", encoding="utf-8") as file:
        for claim in epsilon:
            mechanism = FunctionMechanism(lambda batch, claim=claim: loaded.rewrite(batch, claim), batched=True)
            report = audit_mechanism(mechanism, parse_claim(f"{claim:g}"), pairs, (), AuditSettings(draws=draws))
            repeated = rows * 20
            same = np.mean([one == text for one, text in zip(loaded.rewrite(repeated, claim), repeated, strict=True)])
            line: dict[str, Any] = {
                "part": "adept", "dimension": loaded.dimension, "epsilon": claim, "texts": len(rows),
                "vector_epsilon": round(claim * distance / 2, 3),
                "unchanged": round(float(same), 4), "bounds": {one.test: round(one.bound, 4) for one in report.tests},
                "event": report.tests[0].description["event"] if report.tests else None, "verdict": report.verdict,
                "draws": report.total_draws,
            }  # fmt: skip
            print(json.dumps(line), file=file, flush=True)
            print(json.dumps(line), flush=True)


@app.command()
def sensitivity(
    pairs: Annotated[int, typer.Option("--pairs", help="Number of random pairs for each dimension.")] = 10_000,
) -> None:
    """Print the share of random pairs whose distance in L1 exceeds 2 C after clipping at L2 norm C (Habernal 2021).

    For such a pair the noise of ADePT is too small for its claim. As in the paper C is 10, and the coordinates are
    uniform in [-C, C], or normal with a standard deviation of C / 10 or C / 100. The last column clips in L1 instead.
    """
    generator, clip = np.random.default_rng(), 10.0
    print(f"{'dimension':>9} {'uniform':>9} {'normal':>9} {'narrow':>9} {'L1 clip':>9}")
    for dimension in (1, 2, 4, 8, 16, 32, 64, 128, 255):
        size = (2, pairs, dimension)
        drawn = {"uniform": generator.uniform(-clip, clip, size), "normal": generator.normal(0, clip / 10, size)}
        drawn["narrow"] = drawn["normal"] / 10
        shares = [_count_violations(rows, clip, order=2) for rows in drawn.values()]
        shares.append(_count_violations(drawn["uniform"], clip, order=1))
        print(f"{dimension:>9} {' '.join(f'{share:>9.3f}' for share in shares)}")


def _count_violations(rows: Any, clip: float, order: int) -> float:
    """Return the share of pairs whose L1 distance after clipping exceeds 2 C by more than rounding errors.

    ``order`` is the order of the norm in which vectors are clipped.
    """
    norms = np.linalg.norm(rows, ord=order, axis=-1, keepdims=True)
    first, second = rows * np.minimum(1.0, clip / norms)
    return float((np.abs(first - second).sum(axis=-1) > 2 * clip * (1 + 1e-9)).mean())


if __name__ == "__main__":
    app()
