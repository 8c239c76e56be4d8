"""Shows that two checkouts release the same: distributions, a rebuilt bundle, its certificate and the golden vectors.

    python benchmarks/compare_checkouts.py BEFORE AFTER

Each checkout is asked in a process of its own, by what users call: ``Sanitizer.distribution`` of 1,000 words of the
built-in bundle at all levels, and ``textveil-export table`` on the first 400 words of the English list.
Prints one line per comparison; exits with 1 if anything differs. Takes about ten minutes on one core.
"""

import hashlib
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

WORDS, LISTED = 1_000, 400
DECISIVE = (
    *("law.json", "vocabulary.tsv", "table.safetensors", "embeddings.safetensors", "certificate.json"),
    "staircase.safetensors",  # of checkouts whose bundles have one
)

_DISTRIBUTIONS = """
import hashlib, json, sys
from textveil import Sanitizer
sanitizer = Sanitizer.load()
bundle = sanitizer.bundle
of_table = getattr(bundle, "default_table_mechanism", None) or bundle.default_mechanism
words = bundle.vocabulary[:: len(bundle.vocabulary) // int(sys.argv[1])][: int(sys.argv[1]) - 1] + ["zzzz"]
found = {}
for level in bundle.levels:
    digest = hashlib.sha256()
    options = {"tail": "exact"} if hasattr(bundle, "tails") else {}  # there were two
    for word in words:
        told = sanitizer.distribution(word, mechanism=of_table, level=level.name, **options)
        digest.update(repr((told.symbol, told.words, told.weights)).encode())
    found[f"{len(words)} words, {level.name}"] = digest.hexdigest()
for level in getattr(bundle, "staircase_levels", ()):
    digest = hashlib.sha256()
    for word in words:
        told = sanitizer.distribution(word, mechanism="staircase", level=level.name, protect="all")
        digest.update(repr((told.symbol, told.words, told.weights)).encode())
    found[f"{len(words)} words, staircase, {level.name}"] = digest.hexdigest()
print(json.dumps(found))
"""


def fingerprint(checkout: Path) -> dict[str, str]:
    """Asks one checkout; SHA-256 by what was compared."""
    sources = [str(checkout / wheel / "src") for wheel in ("runtime", "export", "server_training")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sources)}

    def run(*command: str) -> str:
        done = subprocess.run(command, env=environment, cwd=checkout, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"{checkout}: {done.stderr.strip()}")
        return done.stdout

    found: dict[str, str] = json.loads(run(sys.executable, "-c", _DISTRIBUTIONS, str(WORDS)))
    with tempfile.TemporaryDirectory() as folder:
        words, bundle = Path(folder, "words.txt"), Path(folder, "bundle")
        lines = (checkout / "export/src/textveil_export/lists/english_words.txt").read_text().split("\n")
        words.write_text("\n".join([line for line in lines if line and not line.startswith("#")][:LISTED]) + "\n")
        options = [
            "--vocabulary",
            str(words),
            "-k",
            "20",
            "--certified-epsilon",
            "low=8,high=10",
            "--default-level",
            "high",
        ]
        options += ["--no-statistics", "--name", "small", "-o", str(bundle)]
        run(sys.executable, "-m", "textveil_export", "table", *options)
        for name in DECISIVE:
            if name == "staircase.safetensors" and not (bundle / name).exists():
                continue
            found[f"rebuilt bundle, {name}"] = _sha256(bundle / name)
    for path in sorted((checkout / "docs/golden").rglob("*")):
        if path.is_file() and path.suffix != ".md":
            found[f"golden {path.relative_to(checkout / 'docs/golden')}"] = _sha256(path)
    return found


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def main() -> None:
    """Compares the two checkouts named on the command line."""
    before, after = (fingerprint(Path(name).resolve()) for name in sys.argv[1:3])
    different = 0
    for name in sorted(before | after):
        equal = before.get(name) == after.get(name)
        different += not equal
        digests = "  ".join(found.get(name, "-")[:16] for found in (before, after))
        print(f"{'equal    ' if equal else 'DIFFERENT'}  {name}  {digests}")
    print(f"{len(before | after) - different} of {len(before | after)} equal")
    sys.exit(1 if different else 0)


if __name__ == "__main__":
    main()
