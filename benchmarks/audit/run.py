"""Measure the power of ``textveil-train audit``, its false alarms, and the mechanisms that it refutes.

    python benchmarks/audit/run.py power -o RECORD [--repeats N]
    python benchmarks/audit/run.py honest -o RECORD [--audits N]
    python benchmarks/audit/run.py refuted -o RECORD [--repeats N]
    python benchmarks/audit/run.py power -o RECORD --repeats 20 --name "k-RR 1000" --epsilon 1

The script writes a line of the record when an audit ends. A later run skips the finished audits. All audits have 20,000
draws of each input and a confidence of 99.9 %.
"""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
import typer
from audit.mechanisms import (
    AuditedCase,
    Generator,
    make_adept_vectors,
    make_discrete_laplace,
    make_kept_rare_words,
    make_laplace,
    make_randomized_response,
    make_shared_scalar,
    make_table,
    make_words,
)
from textveil_training.audit import AuditSettings, audit_mechanism

app = typer.Typer(add_completion=False)
Part = Literal["power", "honest", "refuted"]
_EPSILONS = (0.5, 1, 2, 3, 4, 6, 8, 10)

POWER: dict[str, Callable[[float, Generator], AuditedCase]] = {
    "k-RR 10": lambda epsilon, generator: make_randomized_response(10, epsilon, generator),
    "k-RR 1000": lambda epsilon, generator: make_randomized_response(1000, epsilon, generator),
    "k-RR 20000": lambda epsilon, generator: make_randomized_response(20_000, epsilon, generator),
    "Laplace": lambda epsilon, generator: make_laplace(1, 1, epsilon, generator),
    "discrete Laplace": make_discrete_laplace,
    "Laplace 1 of 256": lambda epsilon, generator: make_laplace(256, 1, epsilon, generator),
    "Laplace 64 of 256": lambda epsilon, generator: make_laplace(256, 64, epsilon, generator),
    "words": lambda epsilon, generator: make_words(epsilon, generator, ordered=True),
    "words, places lost": lambda epsilon, generator: make_words(epsilon, generator, ordered=False),
    "SanText": lambda epsilon, generator: make_table(epsilon, generator, name="SanText, per distance"),
}
#: True epsilons of the honest audits: small ones, where a bound is near the truth.
HONEST: tuple[tuple[str, float], ...] = (
    ("k-RR 10", 0.5), ("k-RR 10", 2), ("k-RR 1000", 1), ("k-RR 1000", 4), ("Laplace", 0.5), ("Laplace", 2),
    ("discrete Laplace", 1), ("discrete Laplace", 4), ("words", 4), ("SanText", 4),
)  # fmt: skip
REFUTED: dict[str, tuple[tuple[float, ...], Callable[[float, Generator], AuditedCase]]] = {
    "rare words": ((4, 6), make_kept_rare_words),
    "shared scalar": ((0.05, 4, 6), make_shared_scalar),
    "top k": (
        (4, 8),
        lambda epsilon, generator: make_table(epsilon, generator, name="SanText cut to 20 outputs", keep=20),
    ),
    "ADePT 64": ((1, 2, 4, 10), lambda epsilon, generator: make_adept_vectors(epsilon, generator, 64)),
    "ADePT 256": ((1, 2, 4, 10), lambda epsilon, generator: make_adept_vectors(epsilon, generator, 256)),
}


def list_tasks(part: Part, repeats: int) -> Iterator[tuple[str, float, int]]:
    """Yield mechanism, epsilon and number of the repetition for each audit of a part."""
    if part == "honest":
        for number in range(repeats):
            name, epsilon = HONEST[number % len(HONEST)]
            yield name, epsilon, number
        return
    for number in range(repeats):
        if part == "power":
            yield from ((name, float(epsilon), number) for name in POWER for epsilon in _EPSILONS)
        else:
            yield from ((name, float(one), number) for name, (claims, _) in REFUTED.items() for one in claims)


def run_audit(part: Part, name: str, epsilon: float, number: int) -> dict[str, Any]:
    """Run one audit, and return its line of the record."""
    generator = np.random.default_rng()
    made = REFUTED[name][1] if part == "refuted" else POWER[name]
    case, start = made(epsilon, generator), time.process_time()
    report = audit_mechanism(case.mechanism, case.claim, case.pairs, case.sets, AuditSettings())
    bounds = {test.test: round(test.bound, 4) for test in report.tests}
    return {
        "part": part, "name": name, "mechanism": case.name, "epsilon": epsilon, "number": number, "bounds": bounds,
        "verdict": report.verdict, "unchanged": report.unchanged, "draws": report.total_draws,
        "seconds": round(time.process_time() - start, 2),
    }  # fmt: skip


@app.command()
def measure(
    part: Annotated[Part, typer.Argument(help="What to measure.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Record in JSON lines; an existing record is continued.")
    ],
    repeats: Annotated[
        int, typer.Option("--repeats", min=1, help="Number of audits of each mechanism at each epsilon.")
    ] = 5,
    audits: Annotated[int, typer.Option("--audits", min=1, help="Total number of audits of honest mechanisms.")] = 1000,
    names: Annotated[list[str] | None, typer.Option("--name", help="These mechanisms alone.")] = None,
    epsilons: Annotated[list[float] | None, typer.Option("--epsilon", help="These epsilons alone.")] = None,
) -> None:
    """Run the audits of one part, and append each to the record."""
    lines = output.read_text("utf-8").splitlines() if output.exists() else []
    # Lines of adept.py, which the same record may have, have no name and no number.
    done = {(one["part"], one.get("name"), one["epsilon"], one.get("number")) for one in map(json.loads, lines)}
    tasks = [
        task
        for task in list_tasks(part, audits if part == "honest" else repeats)
        if (not names or task[0] in names) and (not epsilons or task[1] in epsilons)
    ]
    with output.open("a", encoding="utf-8") as file:
        for place, (name, epsilon, number) in enumerate(tasks):
            if (part, name, epsilon, number) not in done:
                print(json.dumps(run_audit(part, name, float(epsilon), number)), file=file, flush=True)
            if place % 20 == 19:
                print(f"{place + 1} of {len(tasks)} audits", file=sys.stderr, flush=True)


if __name__ == "__main__":
    app()
