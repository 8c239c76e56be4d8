"""The runs behind docs/results/nlp.md: bundles, sanitised corpora and fine-tunings, each made if it is not there yet.

    python benchmarks/nlp_runs.py --data DATA --work WORK --sets headline -o benchmarks/results/nlp_headline.jsonl

DATA holds sst2, qnli, sick, wikitext2 and ag_private as published. WORK takes bundles, corpora and models (some GB) and
may be removed afterwards. Every step is a command of textveil, printed before it is run; two run at once, on one thread
each. A run's record becomes a line of the output as soon as it is done; a second call goes on where the first one
stopped.
"""

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from textveil_training.data import share_of

SUBSET = 10_000
"""Rows of SST-2's training file in the data set sst2-10k, the same for every law."""
COPIES = 3
"""Independent outputs of every corpus: seed s trains on copy s + 1."""
ONE_PASS = ("--epochs", "1", "--learning-rate", "1e-4")
"""One pass at a higher rate instead of the paper's three; chosen on dev of one sanitised copy (benchmarks/LOG.md)."""


SHARES = ("5", "7", "95")
"""w of SanText+ beside the .9 of the others, after the point."""

CERTIFIED_10 = ("--certified-epsilon", "e10=10", "--default-level", "e10", "--tails", "exact")


def _levels(*levels: str) -> tuple[str, ...]:
    named = [word for level in levels for word in ("--level", level)]
    return *named, "--default-level", levels[-1].split("=")[0]


# Exponents of the pure bundles have a pure LDP level of 10 and 12: benchmarks/results/compare_english.jsonl.
BUNDLES: dict[str, tuple[str, ...]] = {
    "certified": ("--certified-epsilon", "e10=10,e12=12,e14=14", "--tails", "exact", "--default-level", "e12"),
    "textbook": (*_levels("e10=5", "e12=6", "e14=7"), "--tails", "exact"),
    # The paper's epsilons are per unit of Euclidean distance. Distances of this metric are divided by 1.2583, the
    # median distance of two word vectors of length 1, so alpha = nominal * 1.2583 / 2.
    "nominal": (*_levels("n3=1.8874", "n12=7.5498", "n16=10.0664", "n20=12.583"), "--tails", "exact"),
    **{
        f"share-{w}": (
            "--certified-epsilon",
            "e10=10",
            "--share",
            f"0.{w}",
            "--tails",
            "exact",
            "--default-level",
            "e10",
        )
        for w in SHARES
    },
    "pieces": ("--vocabulary", "wordpiece", "--tails", "exact"),
    "pure-full": (*_levels("p10=7.8371", "p12=9.5168"), "--tails", "exact"),
    "pure-capped-64": (*_levels("p10=10.6136", "p12=12.7916"), "--tails", "capped", "-k", "64"),
    "pure-capped-1024": (*_levels("p10=9.83", "p12=11.8493"), "--tails", "capped", "-k", "1024"),
}


@dataclass(frozen=True)
class Law:
    """One way to sanitise a corpus.

    Attributes:
        name: Of its folder.
        bundle: A key of ``BUNDLES``, a folder, or None for the built-in one.
        options: Of ``sanitize-corpus``.
    """

    name: str
    bundle: str | None
    options: tuple[str, ...]

    def facts(self) -> dict[str, float]:
        """What is known of the law beside its terms: pure LDP level, the paper's epsilon, w."""
        level = self.options[self.options.index("--level") + 1] if "--level" in self.options else ""
        found: dict[str, float] = {}
        if level.startswith("p"):
            found["pure_ldp"] = float(level[1:])
        if self.options[1] == "krr":
            found["pure_ldp"] = float(self.options[-1])
        if level.startswith("n") and level != "noise":
            found["nominal_epsilon"] = float(level[1:])
        if self.options[1] == "santext+":
            bundle = self.bundle or ""
            found["share"] = float(f"0.{bundle.removeprefix('share-')}") if bundle.startswith("share-") else 0.9
        return found


@dataclass(frozen=True)
class Cell:
    """One fine-tuning.

    Attributes:
        data: A data set.
        law: None for raw text.
        seed: Of the training; also which copy.
        options: Of ``finetune``.
        start: Folder of ``pretrain`` in WORK, or None for MiniLM.
    """

    data: str
    law: Law | None
    seed: int
    options: tuple[str, ...] = ONE_PASS
    start: str | None = None

    @property
    def name(self) -> str:
        """Of its folder."""
        law = "raw" if self.law is None else self.law.name
        mode = "frozen" if "--frozen" in self.options else "tuned"
        digest = hashlib.sha256(" ".join(self.options).encode()).hexdigest()[:6]
        return f"{self.data}.{law}.{mode}-{digest}.{self.start or 'minilm'}.{self.seed}"


@dataclass(frozen=True)
class Attack:
    """All attacks on SST-2's dev sentences through one law.

    Attributes:
        law: The law.
        model: Folder of ``pretrain`` in WORK: the attacker's masked language model.
        tokens: Tokens of the attacks that take long.
    """

    law: Law
    model: str = "mlm-raw"
    tokens: int = 2000

    @property
    def name(self) -> str:
        """Of its folder."""
        return f"attack.{self.law.name}.{self.model}.{self.tokens}"


def _santext(bundle: str, level: str) -> Law:
    return Law(f"{bundle}-{level}", bundle, ("--mechanism", "santext", "--level", level))


def _default(mechanism: str, level: str, tail: str = "exact") -> Law:
    return Law(f"{mechanism}-{tail}-{level}", None, ("--mechanism", mechanism, "--level", level, "--tail", tail))


HEADLINE = [_santext(bundle, f"e{epsilon}") for epsilon in (12, 10, 14) for bundle in ("certified", "textbook")]
PURE = [
    law
    for level in ("10", "12")
    for law in (
        *(_santext(bundle, f"p{level}") for bundle in ("pure-capped-64", "pure-capped-1024", "pure-full")),
        Law(f"krr-{level}", None, ("--mechanism", "krr", "--epsilon", level)),
    )
]
LEVELS = ("noise", "strict", "firm", "balanced", "light", "veil")
TABLE_1 = [
    Law("random", None, ("--mechanism", "random")),
    *(Law(f"fbdd-{epsilon}", None, ("--mechanism", "fbdd", "--epsilon", epsilon)) for epsilon in ("10", "14", "120")),
    *(
        Law(f"{mechanism}-{bundle}-{level}", bundle, ("--mechanism", mechanism, "--level", level))
        for bundle, levels in (
            ("certified", ("e10", "e12", "e14")),
            ("textbook", ("e10", "e12", "e14")),
            ("nominal", ("n3", "n12", "n16", "n20")),
        )
        for level in levels
        for mechanism in ("santext", "santext+")
    ),
]
FIGURE_3 = [
    Law(
        f"share-{w}-p-{p}",
        "certified" if w == "9" else f"share-{w}",
        ("--mechanism", "santext+", "--level", "e10", "--replacement-probability", p),
    )
    for w in (*SHARES, "9")
    for p in ("0.1", "0.3", "0.6", "1")
]
TABLE_3_LAWS = [_santext("certified", "e10")]
FROZEN = ("--frozen",)
SETS = (
    *("clean", "headline", "textbook", "default", "pure", "table1", "figure3", "figure5", "pieces", "table3"),
    *("attacks", "other-attacker"),
)


def cells(name: str) -> list[Cell] | list[Attack]:
    """The runs of a set, the most wanted first."""
    seeds = range(COPIES)
    default = [
        _default(mechanism, level, tail)
        for mechanism in ("santext+", "santext")
        for tail in ("exact", "capped")
        for level in LEVELS
    ]
    sets: dict[str, list[Cell] | list[Attack]] = {
        "clean": [Cell("sst2", None, seed) for seed in seeds],
        "headline": [
            Cell("sst2", law, seed) for seed in seeds for law in HEADLINE if seed == 0 or law.bundle != "textbook"
        ],
        "textbook": [Cell("sst2", law, seed) for seed in seeds for law in HEADLINE if law.bundle == "textbook"],
        "default": [Cell("sst2", _default("santext+", "balanced"), seed) for seed in seeds],
        "pure": [Cell("sst2-10k", law, seed) for seed in seeds for law in (*PURE, None)],
        "table1": [
            Cell(data, law, seed, FROZEN)
            for seed in seeds
            for data in ("sst2-10k", "sick", "qnli")
            for law in (None, *TABLE_1)
            if law is not None or seed == 0  # without a law nothing differs between seeds
        ],
        "figure3": [Cell("sst2-10k", law, 0, FROZEN) for law in FIGURE_3],
        "pieces": [
            Cell("sst2-10k", Law(f"pieces-{level}", "pieces", ("--mechanism", "santext", "--level", level)), 0, FROZEN)
            for level in LEVELS
        ],
        "figure5": [Cell("sst2-10k", law, seed, FROZEN) for seed in seeds for law in default],
        "attacks": [Attack(law) for law in (*default, *TABLE_3_LAWS)],
        "other-attacker": [
            Attack(law, "mlm-sanitized")
            for law in (*TABLE_3_LAWS, _default("santext+", "balanced"), _default("santext+", "veil"))
        ],
        "table3": [
            Cell("sst2", law, seed, ONE_PASS, start)
            for seed in seeds
            for law in TABLE_3_LAWS
            for start in ("mlm-sanitized", "mlm-raw")
        ],
    }
    return sets[name]


@dataclass
class Workshop:
    """Runs commands, each folder made once even if several runs want it.

    Attributes:
        data: Published data.
        work: Where everything goes.
    """

    data: Path
    work: Path
    _locks: dict[Path, threading.Lock] = field(default_factory=dict)
    _guard: threading.Lock = field(default_factory=threading.Lock)

    def _lock(self, path: Path) -> threading.Lock:
        with self._guard:
            return self._locks.setdefault(path, threading.Lock())

    def _run(self, *command: object) -> None:
        words = [str(word) for word in command]
        print("+", *words, flush=True)
        subprocess.run(words, check=True, env=os.environ | {"OMP_NUM_THREADS": "1"}, stdout=subprocess.DEVNULL)

    def bundle(self, name: str) -> Path:
        """Folder of a bundle, exported if it is not there."""
        folder = self.work / "bundles" / name
        with self._lock(folder):
            if not (folder / "manifest.json").exists():
                folder.parent.mkdir(parents=True, exist_ok=True)
                self._run("textveil-export", "table", "-o", folder, *BUNDLES[name], "--no-statistics")
        return folder

    def raw(self, name: str) -> Path:
        """Folder or file of a data set as published; the subset is made from it."""
        folder = self.work / "data" / name
        if name == "qnli":
            return self._by_question(folder)
        if name != "sst2-10k":
            return self.data / name
        with self._lock(folder):
            if not (folder / "dev.tsv").exists():
                folder.mkdir(parents=True, exist_ok=True)
                header, *rows = (self.data / "sst2" / "train.tsv").read_text(encoding="utf-8").splitlines(keepends=True)
                order = sorted(range(len(rows)), key=lambda row: hashlib.sha256(f"subset\n{row}".encode()).digest())
                kept = [header, *(rows[row] for row in sorted(order[:SUBSET]))]
                (folder / "train.tsv").write_text("".join(kept), encoding="utf-8")
                shutil.copyfile(self.data / "sst2" / "dev.tsv", folder / "dev.tsv")
        return folder

    def _by_question(self, folder: Path) -> Path:
        """QNLI's dev file in two parts: both rows of a question, whose labels are opposite, stay on one side."""
        with self._lock(folder):
            if not (folder / "dev.tsv").exists():
                folder.mkdir(parents=True, exist_ok=True)
                header, *rows = (self.data / "qnli" / "dev.tsv").read_text(encoding="utf-8").splitlines(keepends=True)
                shares = [share_of(row.split("\t")[1], {"train": 85, "dev": 15}) for row in rows]
                for part in ("train", "dev"):
                    kept = [row for row, share in zip(rows, shares, strict=True) if share == part]
                    (folder / f"{part}.tsv").write_text("".join([header, *kept]), encoding="utf-8")
        return folder

    def corpus(self, data: str, law: Law | None, copy: int) -> Path:
        """A data set, raw or through a law."""
        raw = self.raw(data)
        if law is None:
            return raw
        folder = self.work / "corpora" / data / law.name
        with self._lock(folder):
            if not (folder / "record.json").exists():
                shutil.rmtree(folder, ignore_errors=True)
                bundle = () if law.bundle is None else ("--bundle", self.bundle(law.bundle))
                self._run(
                    *("textveil-train", "sanitize-corpus", raw, "--format", data.split("-")[0], "-o", folder),
                    *(*bundle, *law.options, "--copies", COPIES, "--workers", 1),
                )
        return folder / f"copy-{copy}"

    def masked_lm(self, name: str) -> Path:
        """Folder of a masked language model, pretrained on public text if it is not there."""
        folder = self.work / name
        with self._lock(folder):
            record = folder / "record.json"
            if not (record.exists() and json.loads(record.read_text(encoding="utf-8"))["finished"]):
                raw = ("--raw",) if name == "mlm-raw" else ()
                again = ("--resume",) if (folder / "unfinished.safetensors").exists() else ()
                self._run(
                    *("textveil-train", "pretrain", "--data", f"{self.data / 'wikitext2'}:wikitext:dev+test"),
                    *("--data", f"{self.data / 'sst2'}:sst2:train"),
                    *("--data", f"{self.data / 'ag_private' / 'ag_data.txt'}:ag-entities:train"),
                    *("--bundle", self.bundle("certified"), "--mechanism", "santext", "--epsilon", "10", *raw),
                    *("--steps", 1800, "--measure-every", 200, "--learning-rate", "3e-4"),
                    *("--head-learning-rate", "2e-3", "--threads", 1, "-o", folder, *again),
                )
        return folder

    def record(self, cell: Cell) -> dict[str, Any]:
        """The record of a run, which is made if it is not there."""
        folder = self.work / "models" / cell.name
        path = folder / "record.json"
        finished = path.exists() and json.loads(path.read_text(encoding="utf-8"))["finished"]
        if not finished:
            again = ("--resume",) if (folder / "unfinished.safetensors").exists() else ()
            if not again:
                shutil.rmtree(folder, ignore_errors=True)
            corpus = self.corpus(cell.data, cell.law, cell.seed + 1)
            start = "minilm" if cell.start is None else self.masked_lm(cell.start)
            self._run(
                *("textveil-train", "finetune", corpus, "--format", cell.data.split("-")[0], "-o", folder),
                *("--encoder", start, "--seed", cell.seed, "--threads", 1, *cell.options, *again),
            )
            shutil.rmtree(folder / "encoder", ignore_errors=True)  # 90 MB each
        record = {"name": cell.name, "corpus": cell.data} | json.loads(path.read_text(encoding="utf-8"))
        if cell.law is not None:
            record["law"] |= cell.law.facts()
        return record

    def attacked(self, attack: Attack) -> dict[str, Any]:
        """The record of an attack, which is made if it is not there."""
        path = self.work / "attacks" / f"{attack.name}.json"
        if not (path.exists() and json.loads(path.read_text(encoding="utf-8"))["finished"]):
            path.parent.mkdir(parents=True, exist_ok=True)
            bundle = () if attack.law.bundle is None else ("--bundle", self.bundle(attack.law.bundle))
            again = ("--resume",) if path.exists() else ()
            more = () if "capped" in attack.law.options else ("--statistics",)
            self._run(
                *("textveil-train", "attack", "text", self.data / "sst2", "--format", "sst2", "--split", "dev"),
                *(*bundle, *attack.law.options, "--model", self.masked_lm(attack.model), "--tokens", attack.tokens),
                *(*more, "--threads", 1, "-o", path, *again),
            )
        return {"name": attack.name} | json.loads(path.read_text(encoding="utf-8"))


def main() -> None:
    """Parses the command line."""
    parser = argparse.ArgumentParser(description=str(__doc__).split("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with the published data")
    parser.add_argument("--work", type=Path, required=True, help="folder for bundles, corpora and models")
    parser.add_argument("--sets", nargs="+", required=True, choices=SETS, metavar="SET", help=", ".join(SETS))
    parser.add_argument("-o", "--output", type=Path, required=True, help="records, one JSON object a line")
    parser.add_argument("--jobs", type=int, default=2, help="runs at once")
    parser.add_argument("--seeds", type=int, default=COPIES, help="at most so many seeds")
    given = parser.parse_args()
    done = set()
    if given.output.exists():
        done = {json.loads(line)["name"] for line in given.output.read_text(encoding="utf-8").splitlines()}
    every = [cell for name in given.sets for cell in cells(name)]
    wanted = [cell for cell in every if cell.name not in done and getattr(cell, "seed", 0) < given.seeds]
    shop, lock = Workshop(given.data, given.work), threading.Lock()

    def run(cell: Cell | Attack) -> None:
        record = shop.attacked(cell) if isinstance(cell, Attack) else shop.record(cell)
        with lock, given.output.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")
            result = record["result"].get("test", {})
            print(cell.name, result.get("accuracy", result.get("pearson")), record.get("cpu_s"), flush=True)

    with ThreadPoolExecutor(given.jobs) as pool:
        try:
            for future in [pool.submit(run, cell) for cell in wanted]:
                future.result()
        except BaseException:
            pool.shutdown(wait=True, cancel_futures=True)
            raise


if __name__ == "__main__":
    main()
