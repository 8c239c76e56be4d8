"""The runs behind docs/results/nlp.md: bundles, sanitized corpora and fine-tunings, each made if it is not there yet.

    python benchmarks/nlp_runs.py --data DATA --work WORK --recipes nlp-headline -o nlp_headline.jsonl

Recipes are those of server_training/recipes. DATA holds sst2, qnli, sick, wikitext2 and ag_private as published. WORK
takes bundles, corpora and models (some GB) and may be removed afterwards; one call at a time works there. Every step is
a command of textveil, printed before it is run; two run at once, on one thread each. A run's record becomes a line of
the output as soon as it is done; a second call goes on where the first one stopped.
"""

import argparse
import hashlib
import json
import math
import os
import shutil
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

import numpy as np
from nlp_recipes import MINILM, RECIPES, Attack, Cell, Release, bundles, releases, runs_of
from textveil.bundle import TextBundle, artifact, layout, open_bundle
from textveil.mechanisms.baselines import SanText
from textveil.text import LevelSummary, epsilon_text, summaries
from textveil_export.certify import AllScores, pure_ldp_levels
from textveil_training.data import share_of
from textveil_training.pretrain import read_recipe

COPIES = 3
"""Independent outputs of every corpus: seed s trains on copy s + 1."""
SUBSET = 10_000
"""Rows of SST-2's training file in the data set sst2-10k, the same for every release."""


def _fresh(raw: Path, copies: list[Path], copy: int) -> str:
    """Training sentences of all copies, tested on one: fresh noise in every pass.

    Whoever's sentences these are is charged for every copy: a provider's own public text, not its users'.
    """
    read = copies if raw.name == "train.tsv" else [copies[copy - 1]]
    parts = [(folder / raw.name).read_text(encoding="utf-8") for folder in read]
    return "".join([parts[0], *(part.split("\n", 1)[1] for part in parts[1:])])


def _erased(raw: Path, copies: list[Path], copy: int) -> str:
    """Every word that the mechanism changed is a blank: what a server could learn that knew which words came through.

    Not sanitized text, and no attack: a yardstick for what a level leaves to be learned.
    """
    rows = [
        (before.split("\t"), after.split("\t")[0])
        for before, after in zip(
            raw.read_text(encoding="utf-8").splitlines(),
            (copies[copy - 1] / raw.name).read_text(encoding="utf-8").splitlines(),
            strict=True,
        )
    ]
    kept = [" ".join(_unchanged(text.split(), after.split())) for (text, *_), after in rows]
    return "".join("\t".join([text, *others]) + "\n" for text, ((_, *others), _) in zip(kept, rows, strict=True))


def _unchanged(before: list[str], after: list[str]) -> list[str]:
    if len(before) == len(after):
        return [x if x == y else BLANK for x, y in zip(before, after, strict=True)]
    kept = set()
    for block in SequenceMatcher(None, before, after, autojunk=False).get_matching_blocks():
        kept.update(range(block.a, block.a + block.size))
    return [word if place in kept else BLANK for place, word in enumerate(before)]


BLANK = "_"
ERASED = "sst2-erased"
_DERIVED = {"sst2-fresh": _fresh, "sst2-10k-fresh": _fresh, ERASED: _erased}
"""Data sets made from sanitized copies."""


@dataclass(kw_only=True)
class Workshop:
    """Runs commands, each folder made once even if several runs want it.

    Attributes:
        data: Folder of published data.
        work: Folder that everything goes to.
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
                self._run("textveil-export", "table", "-o", folder, *bundles()[name], "--no-statistics")
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

    def corpus(self, data: str, release: Release | None, copy: int) -> Path:
        """Folder of a data set, raw or sanitized."""
        if data in _DERIVED and release is not None:
            return self._derived(data, release, copy)
        raw = self.raw(data)
        if release is None:
            return raw
        folder = self.work / "corpora" / data / release.name / f"copy-{copy}"
        with self._lock(folder):
            if not (folder / "record.json").exists():
                shutil.rmtree(folder, ignore_errors=True)  # of a call that was interrupted
                folder.parent.mkdir(parents=True, exist_ok=True)
                self._run(
                    *("textveil-train", "sanitize-corpus", raw, "--format", data.split("-")[0], "-o", folder),
                    *(*self._options(release), "--workers", 1),
                )
        return folder

    def _options(self, release: Release) -> list[object]:
        bundle = [] if release.bundle is None else ["--bundle", self.bundle(release.bundle)]
        return [*bundle, *release.words]

    def _derived(self, data: str, release: Release, copy: int) -> Path:
        """A corpus that is made from sanitized copies of another: see ``_DERIVED``."""
        base = data.rpartition("-")[0]
        copies = [self.corpus(base, release, number) for number in range(1, COPIES + 1)]
        folder = self.work / "corpora" / data / release.name / f"copy-{copy}"
        with self._lock(folder):
            if not (folder / "made.json").exists():
                folder.mkdir(parents=True, exist_ok=True)
                for name in ("train.tsv", "dev.tsv"):
                    text = _DERIVED[data](self.raw(base) / name, copies, copy)
                    (folder / name).write_text(text, encoding="utf-8")
                record = json.loads((copies[copy - 1] / "record.json").read_text(encoding="utf-8"))
                record["releases"] = COPIES
                for file in record["files"]:
                    file["sha256"] = [hashlib.sha256((folder / file["name"]).read_bytes()).hexdigest()]
                if data != ERASED:  # not sanitized text: no statement of a release holds for it
                    (folder / "record.json").write_text(json.dumps(record, indent=2), encoding="utf-8")
                (folder / "made.json").write_text(json.dumps({"of": base}), encoding="utf-8")
        return folder

    def masked_lm(self, name: str) -> Path:
        """Folder of a masked language model, pretrained on public text if it is not there."""
        folder = self.work / name
        with self._lock(folder):
            record = folder / "record.json"
            if not (record.exists() and json.loads(record.read_text(encoding="utf-8"))["finished"]):
                again = ("--resume",) if (folder / "unfinished.safetensors").exists() else ()
                recipe = read_recipe(RECIPES / f"{name}.toml")
                start = recipe.training.start
                parts = [source.split(":", 1) for source in recipe.runs.data]
                self._run(
                    *("textveil-train", "pretrain", RECIPES / f"{name}.toml", "-o", folder, "--threads", 1),
                    *(word for path, form in parts for word in ("--data", f"{self.data / path}:{form}")),
                    *("--start", start if start == MINILM else self.masked_lm(start)),
                    *self._options(releases()[recipe.runs.release]),
                    *again,
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
            corpus = self.corpus(cell.data, cell.release, cell.seed + 1)
            start = MINILM if cell.start == MINILM else self.masked_lm(cell.start)
            self._run(
                *("textveil-train", "finetune", cell.recipe, "--data", corpus, "--format", cell.data.split("-")[0]),
                *("-o", folder, "--encoder", start, "--seed", cell.seed, "--threads", 1, *again),
            )
            shutil.rmtree(folder / "encoder", ignore_errors=True)  # 90 MB each
        record = {"name": cell.name, "corpus": cell.data} | json.loads(path.read_text(encoding="utf-8"))
        if cell.release is not None and cell.data != ERASED:
            record["release"] |= self.facts(cell.release)
        if cell.data == ERASED:
            base = self.corpus("sst2", cell.release, cell.seed + 1)
            record["release"] = None
            record["blanks_of"] = json.loads((base / "record.json").read_text(encoding="utf-8"))["summary"]
        return record

    def facts(self, release: Release) -> dict[str, float]:
        """What the bundle knows of a release beside its terms: w, the pure LDP level, the epsilon of the paper.

        A paper's epsilon is per unit of Euclidean distance between vectors of length 1; this metric's unit is the
        median distance of two words.
        """
        mechanism = release.options["mechanism"]
        if mechanism not in layout.TABLE_MECHANISMS:
            return {}
        bundle = open_bundle(
            artifact("english-santext") if release.bundle is None else self.bundle(release.bundle), TextBundle
        )
        levels = summaries(bundle, mechanism)
        known = next(level for level in levels if epsilon_text(level.epsilon) == release.options["epsilon"])
        found: dict[str, float] = {}
        if mechanism == "santext+":
            found["share"] = bundle.manifest["provenance"]["sensitive_share"]
        else:  # what SanText+ keeps reveals its input
            found["pure_ldp"] = known.epsilon_pure_ldp or self._pure_level(bundle, known)
        if release.bundle == "nominal":
            lengths = np.linalg.norm(bundle.metric.rows[:-1].astype(float), axis=1)
            unit = math.sqrt(bundle.metric.median_squared) / float(lengths.mean())
            found["nominal_epsilon"] = round(known.epsilon_textbook / unit, 2)
        return found

    def _pure_level(self, bundle: TextBundle, known: LevelSummary) -> float:
        """As ``textveil-export certify`` computes it, for a bundle without a certificate; kept beside the bundles."""
        path = self.work / "bundles" / f"{bundle.identity[:16]}.{known.epsilon:g}.{known.mechanism}.pure"
        with self._lock(path):
            if not path.exists():
                level = bundle.levels[summaries(bundle, known.mechanism).index(known)]
                parameters = level.parameters[known.mechanism]
                santext = SanText.of(bundle.table, bundle.metric, known.mechanism, parameters)
                ((loss, _),) = pure_ldp_levels([santext.channel_on(AllScores.of(bundle.metric))])
                path.write_text(f"{loss}\n", encoding="utf-8")
        return float(path.read_text(encoding="utf-8"))

    def attacked(self, attack: Attack) -> dict[str, Any]:
        """The record of an attack, which is made if it is not there."""
        path = self.work / "attacks" / f"{attack.name}.json"
        if not (path.exists() and json.loads(path.read_text(encoding="utf-8"))["finished"]):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.unlink(missing_ok=True)  # of a run that was ended
            runs = attack.runs
            self._run(
                *("textveil-train", "attack", "text", self.data / "sst2", "--format", "sst2", "--split", "dev"),
                *(*self._options(attack.release), "--model", self.masked_lm(runs.model), "--tokens", runs.tokens),
                *("--attacks", runs.attacks, "--statistics", "--threads", 1, "-o", path),
            )
        return {"name": attack.name} | json.loads(path.read_text(encoding="utf-8"))


def main() -> None:
    """Parses the command line."""
    parser = argparse.ArgumentParser(description=str(__doc__).split("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="folder with the published data")
    parser.add_argument("--work", type=Path, required=True, help="folder for bundles, corpora and models")
    names = sorted(path.stem for path in RECIPES.glob("nlp-*.toml") if path.stem != "nlp-releases")
    parser.add_argument("--recipes", nargs="+", required=True, choices=names, metavar="RECIPE", help=", ".join(names))
    parser.add_argument("-o", "--output", type=Path, required=True, help="records, one JSON object a line")
    parser.add_argument("--jobs", type=int, default=2, help="runs at once")
    parser.add_argument("--seeds", type=int, default=COPIES, help="at most so many seeds")
    parser.add_argument("--only", default="", help="only runs whose name contains this")
    given = parser.parse_args()
    done = set()
    if given.output.exists():
        done = {json.loads(line)["name"] for line in given.output.read_text(encoding="utf-8").splitlines()}
    every = {cell.name: cell for name in given.recipes for cell in runs_of(name)}
    left = [cell for cell in every.values() if cell.name not in done and given.only in cell.name]
    wanted = [cell for cell in left if getattr(cell, "seed", 0) < given.seeds]
    shop, lock = Workshop(data=given.data, work=given.work), threading.Lock()

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
