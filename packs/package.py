"""Write the Python distribution ``textveil-LANG`` of a language pack: its bundle, license texts, README and sources.

    python packs/package.py BUNDLE FOLDER
    pip install FOLDER

BUNDLE is a bundle that ``textveil-export names`` wrote from the lists of ``packs/build.py``. FOLDER is the folder to
create. The distribution contains only data: textveil searches for its folder, and opens the bundle like any other.
"""

import argparse
import json
import shutil
from pathlib import Path

from textveil import __version__
from textveil.bundle import TextBundle, open_bundle
from textveil.bundle.languages import read_language

HERE = Path(__file__).resolve().parent
LIBRARY = HERE.parent / "runtime"
#: File with the text of each license that a pack may have, by SPDX identifier. A file in ``licenses`` adds its license.
LICENSE_TEXTS = {
    "Apache-2.0": LIBRARY / "LICENSE",
    "CC-BY-4.0": LIBRARY / "licenses/CC-BY-4.0.txt",
    "CC-BY-SA-4.0": LIBRARY / "licenses/CC-BY-SA-4.0.txt",
    "MIT": LIBRARY / "licenses/MIT.txt",
} | {path.stem: path for path in sorted((HERE / "licenses").glob("*.txt"))}
_PROJECT = """[build-system]
requires = ["hatchling>=1.25"]
build-backend = "hatchling.build"

[project]
name = "textveil-{language}"
version = "{version}"
description = "Language pack of textveil: word lists and rules of the language {language}"
readme = "README.md"
requires-python = ">=3.11"
license = "{license}"
license-files = ["licenses/*"]

[tool.hatch.build.targets.wheel]
packages = ["textveil_{language}"]
"""


def write_package(bundle_folder: Path, folder: Path) -> Path:
    """Write the folder of a Python distribution with a language pack, and return its path.

    Args:
        bundle_folder: Bundle (data folder) with the word lists and rules of one language.
        folder: The folder to create.

    Raises:
        SystemExit: The folder exists, the text of a license is missing, the bundle is English, or it contains more than
            the lists and rules for hiding names.
    """
    bundle = open_bundle(bundle_folder, TextBundle)
    language = read_language(bundle)
    if bundle.mechanisms or language == "en":
        raise SystemExit("the bundle must contain only lists and rules, and must not be English")
    bundle.get_names_lists()
    if folder.exists():
        raise SystemExit("the folder exists already: choose another name")
    license_id = json.loads((bundle_folder / "manifest.json").read_text("utf-8"))["license"]
    unknown = set(license_id.split(" AND ")) - LICENSE_TEXTS.keys()
    if unknown:
        name = min(unknown)
        raise SystemExit(f"the text of the license {name} is missing: write it to packs/licenses/{name}.txt")
    package = folder / f"textveil_{language}"
    shutil.copytree(bundle_folder, package / "bundle")
    (package / "recipe").mkdir()
    shutil.copy(HERE / language / "words.toml", package / "recipe")
    shutil.copy(HERE / "requirements.txt", package / "recipe")
    (folder / "licenses").mkdir()
    for name in license_id.split(" AND "):
        shutil.copy(LICENSE_TEXTS[name], folder / "licenses" / f"{name}.txt")
    (package / "__init__.py").write_text('"""Data of a language pack of textveil; there is no code."""\n', "utf-8")
    shutil.copy(bundle_folder / "README.md", folder / "README.md")
    project = _PROJECT.format(language=language, version=__version__, license=license_id)
    (folder / "pyproject.toml").write_text(project, "utf-8")
    return folder


def main() -> None:
    """Run the command line: write the Python distribution of one language pack."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bundle", type=Path)
    parser.add_argument("folder", type=Path)
    options = parser.parse_args()
    print(write_package(options.bundle, options.folder))


if __name__ == "__main__":
    main()
