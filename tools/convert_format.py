# ruff: noqa: E501  # cards have long lines
"""Convert bundles of format version 4 to version 5, in place.

    python tools/convert_format.py FOLDER...

Only names change: files, keys of JSON files and names of arrays. Every value, every list and the bytes of every array
stay. The command prints the old and the new content hash of each bundle.
"""

import hashlib
import json
import re
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

from safetensors.numpy import load as load_tensors
from safetensors.numpy import save as save_tensors
from textveil.bundle import open_atomic_folder

JSON = dict[str, Any]
MANIFEST, MECHANISM = "manifest.json", "mechanism.json"
#: File names, in this order: pattern and new name.
FILES = (
    (r"law\.json", MECHANISM),
    (r"shown-capitals\.txt", "kept-capitals.txt"),
    (r"symbols\.txt", "kept-symbols.txt"),
    (r"names\.kind\.(.+)", r"names.entity.\1"),
    (r"names\.pool\.(.+)", r"names.surrogates.\1"),
    (r"kind\.(.+)", r"template.\1"),
    (r"codes\.safetensors", "label-classifier.safetensors"),
    (r"channels\.safetensors", "randomizers.safetensors"),
    (r"labels\.safetensors", "label-probabilities.safetensors"),
)
#: Names of arrays, by new file name.
ARRAYS = {
    "staircase.safetensors": (r"neighbours", "neighbors"),
    "table.safetensors": (r"neighbours", "neighbors"),
    "randomizers.safetensors": (r"(.+)\.dealt", r"\1.budget"),
}
BUNDLE_TYPES = {"text": "text", "vectors": "vectors", "index": "labels"}
LABEL_TYPES = {"decision": "class", "codebook": "cluster"}
MODES = {"function-words": "words", "none": "all"}
#: Versions of the records on SanText: old and new.
RECORDS = {"certificate.json": (2, 3), "statistics.json": (1, 2)}
#: Sentences of cards: old and new.
CARD = (
    ("`textveil info` prints its identity.", "`textveil info` prints its content hash."),
    ("prints the identity. It covers", "prints the content hash. It covers"),
    ("per drawn mention between texts of the same skeleton", "per randomized word between texts of the same template"),
    (
        "The skeleton is visible: function words (unless `--protect all`), punctuation, case, and kinds:",
        "The template is revealed: function words (unless `--protect all`), punctuation, case, and entity types:",
    ),
    (
        "A member of a kind becomes another one, drawn without looking at it: nothing beyond its kind is told.",
        "A name or number becomes a surrogate that is sampled independently of it: only its entity type is revealed.",
    ),
    ("| epsilon per drawn mention |", "| epsilon per randomized word |"),
    ("prints how often a word is drawn from", "prints how often a word is sampled from"),
    (
        "Drawn words are other words: this is not for search by similarity, nor for\na text that a language model or a colleague acts on. They take the rung `names`, where the bundle has it.",
        "Randomized words are other words: do not search such texts by similarity, and do\nnot pass them to a language model or a colleague who acts on them. For that use the mode `names`.",
    ),
    ("## The rung `names`", "## The mode `names`"),
    (" common words may be shown; ", " common words can be kept; "),
    (
        " of them are names of something as well. Every other string is\nreplaced, and what replaces it is drawn without looking at it. What is shown is not protected, and can tell who or\nwhat a text is about.",
        " of them are also names. Every other string is\nreplaced by a surrogate that is sampled independently of it. Kept words are not protected, and can reveal who or\nwhat a text is about.",
    ),
    ("| kind | members by list | outputs |", "| entity type | listed words | surrogates |"),
    ("lists of the rung names", "lists of the mode names"),
    ("lists of the rung `names`", "lists of the mode `names`"),
    ("a device can tell distances", "a device can compute distances"),
    (" indices, with a bound for the whole text.", " labels, with one epsilon per text."),
    (
        "# on the device: index, digits of the identity, epsilon, channel",
        "# on the device: label, digits of the content hash, epsilon, randomizer",
    ),
    ("# how many texts there are of each, with ranges", "# an estimated count of each label, with an interval"),
    (
        "no index is more than exp(epsilon) times as likely",
        "no released label is more than exp(epsilon) times as likely",
    ),
    ("The default is channel ", "The default is randomizer "),
    (
        "of an index, drawn from the index alone: epsilon is for which of them it is. They were fixed",
        "of a label. The released label alone decides which one, so the epsilon is the same. They were fixed",
    ),
    ("another index is drawn", "another label is released"),
    (" for the channels, ", " for the randomizers, "),
    ("| channel | epsilon |", "| randomizer | epsilon |"),
    ("an exact expectation over the draw, of", "an exact expectation over the randomness, of"),
    ("text's code gets likelier", "text's label gets likelier"),
    ("condition number of the channel: the larger", "condition number of the randomizer: the larger"),
    ("the channel cannot tell all labels apart", "the randomizer does not distinguish all labels"),
    (
        "levels\nare called by it, and `textveil info` lists both. Where it holds a `statistics.json`, `textveil levels` and\n`textveil calibrate` tell what each level does to words.",
        "levels\nare called by it, and `textveil info` lists both. Where it holds a `statistics.json`, `textveil levels` tells\nwhat each level does to words.",
    ),
    ("nats with `--protect", "per word with `--protect"),
    ("[lists of the skeleton]", "[lists of the template]"),
    (
        "`common-words.txt`, `shown-names.txt`, `pool.word-*`, `kind.given`, `kind.family`, `kind.city`, `kind.organization` are",
        "`common-words.txt`, `kept-names.txt`, `surrogates.word-*`, `entity.given`, `entity.family`, `entity.city`, `entity.organization` are",
    ),
    ("`kind.country` and `kind.state` CC", "`entity.country` and `entity.state` CC"),
    ("`kind.given-abroad` is", "`entity.given-abroad` is"),
    (
        "# on the device: index, digits of the identity, epsilon, channel",
        "# on the device: label, digits of the content hash, epsilon, randomizer",
    ),
)


def rename_file(name: str) -> str:
    """Return the new name of a file."""
    for pattern, new in FILES:
        if re.fullmatch(pattern, name):
            return re.sub(pattern, new, name)
    return name


def rename_keys(content: JSON, names: dict[str, str]) -> JSON:
    """Return a copy with new keys in the same order."""
    return {names.get(key, key): value for key, value in content.items()}


def convert_mechanism(content: JSON) -> JSON:
    """Return the content of ``mechanism.json`` for that of ``law.json``; the hashes stay."""
    new = rename_keys(content, {"tokens": "token_type", "symbols": "vocabulary_size", "skeleton": "template"})
    if new["santext"] is not None:
        new["santext"] = rename_keys(new["santext"], {"neighbours": "neighbors_per_word"})
        new["santext"]["levels"] = [rename_keys(level, {"laws": "parameters"}) for level in new["santext"]["levels"]]
    if new["template"] is not None:
        new["template"] = rename_keys(new["template"], {"kinds": "entity_types"})
        for entry in new["template"]["entity_types"]:
            entry["file"] = rename_file(entry["file"])
    if "names" in new:
        new["names"] = rename_keys(new["names"], {"kinds": "entity_types", "pools": "surrogate_pools"})
    if "staircase" in new["defaults"]:
        defaults = rename_keys(new["defaults"]["staircase"], {"visible": "mode"})
        new["defaults"]["staircase"] = {**defaults, "mode": MODES[defaults["mode"]]}
    return new


def convert_manifest(content: JSON) -> JSON:
    """Return the content of the manifest; the entries of its files stay."""
    names = {"kind": "bundle_type", "label": "epsilon_notion", "licence": "license", "measured": "measurements"}
    if "attribution" in content:
        content = content | {"attribution": convert_card(content["attribution"])}
    new = rename_keys(content, names) | {"format_version": 5, "bundle_type": BUNDLE_TYPES[content["kind"]]}
    if content["kind"] == "vectors":
        release_names = {"mode": "noise_mode", "levels": "epsilons", "default_level": "default_epsilon"}
        new["release"] = rename_keys(content["release"], release_names)
    if content["kind"] == "index":
        release_names = {"kind": "label_type", "codes": "label_count", "channels": "randomizers"}
        release = rename_keys(content["release"], release_names)
        release["label_type"] = LABEL_TYPES[release["label_type"]]
        release["extractor"] = rename_keys(release["extractor"], {"kind": "extractor_type"})
        release["default"] = rename_keys(release["default"], {"channel": "randomizer"})
        new["release"] = release
        row_names = {"channel": "randomizer", "indices": "labels", "p_near": "near_probability"}
        if "certificate" in new:
            new["certificate"] = [rename_keys(entry, row_names) for entry in new["certificate"]]
        if "measurements" in new:
            new["measurements"] = rename_keys(new["measurements"], {"channels": "randomizers"})
    return new


def convert_tensors(name: str, content: bytes) -> bytes:
    """Return a safetensors file with new names of its arrays."""
    if name not in ARRAYS:
        return content
    pattern, new = ARRAYS[name]
    return save_tensors({re.sub(f"^{pattern}$", new, array): data for array, data in load_tensors(content).items()})


def convert_record(name: str, content: bytes, old_hash: str, new_hash: str) -> bytes:
    """Return a certificate or statistics with a new header; all figures keep their bytes."""
    old_version, new_version = RECORDS[name]
    old = f'"format_version": {old_version},\n  "identity": "{old_hash}"'.encode()
    new = f'"format_version": {new_version},\n  "mechanism_hash": "{new_hash}"'.encode()
    if content.count(old) != 1:
        raise ValueError(f"{name}: the header is not that of format version 4")
    return content.replace(old, new)


def convert_card(text: str) -> str:
    """Return a card with the new terms and names of files."""
    for old, new in CARD:
        text = text.replace(old, new)
    text = re.sub(r"The default is (\S+) per word", r"The default epsilon is \1 per word", text)
    return re.sub(r"(?<=\n\n)[0-9,]+ texts of `[^\n]* for training.*?(?=\n\n)", wrap_paragraph, text, flags=re.DOTALL)


def wrap_paragraph(match: re.Match[str]) -> str:
    """Return the matched paragraph, wrapped as the exporter does."""
    return textwrap.fill(" ".join(match[0].split()), 118)


def convert_files(old: dict[str, bytes]) -> dict[str, bytes]:
    """Return the files of the converted bundle, by name."""
    manifest = json.loads(old[MANIFEST])
    renamed = {rename_file(name): content for name, content in old.items()}
    files = {name: convert_tensors(name, content) for name, content in renamed.items()}
    if MECHANISM in files:
        definition = convert_mechanism(json.loads(old["law.json"]))
        definition["files"] = {rename_file(name): hash_bytes(files[rename_file(name)]) for name in definition["files"]}
        files[MECHANISM] = select_formatter(old["law.json"])(definition)
        for name in RECORDS.keys() & files.keys():
            files[name] = convert_record(name, files[name], hash_bytes(old["law.json"]), hash_bytes(files[MECHANISM]))
    if "README.md" in files:
        card = convert_card(files["README.md"].decode())
        files["README.md"] = card.replace(f"{count_bytes(old):,}", f"{count_bytes(files):,}", 1).encode()
    new = convert_manifest(manifest)
    new["files"] = {
        rename_file(name): {"sha256": hash_bytes(files[rename_file(name)]), "bytes": len(files[rename_file(name)])}
        for name in manifest["files"]
    }
    files[MANIFEST] = select_formatter(old[MANIFEST])(new)
    return files


def count_bytes(files: dict[str, bytes]) -> int:
    """Return the bytes of all files but manifest and card, which the card of a bundle with labels has."""
    return sum(len(content) for name, content in files.items() if name not in (MANIFEST, "README.md"))


def select_formatter(content: bytes) -> Callable[[JSON], bytes]:
    """Return a function that writes JSON as a file has it: with indents, or on one line."""
    if content.startswith(b"{\n"):
        return lambda new: (json.dumps(new, indent=2, ensure_ascii=False) + "\n").encode()
    return lambda new: json.dumps(new).encode()


def hash_bytes(content: bytes) -> str:
    """Return the SHA-256 in hexadecimal."""
    return hashlib.sha256(content).hexdigest()


def convert_bundle(folder: Path) -> tuple[str, str]:
    """Convert the bundle in a folder; return its old and its new content hash."""
    old = {path.name: path.read_bytes() for path in sorted(folder.iterdir())}
    if json.loads(old[MANIFEST]).get("format_version") != 4:
        raise ValueError(f"{folder.name}: not a bundle of format version 4")
    new = convert_files(old)
    with open_atomic_folder(folder, replace=True) as partial:
        for name, content in new.items():
            (partial / name).write_bytes(content)
    return hash_bytes(old[MANIFEST]), hash_bytes(new[MANIFEST])


def main() -> int:
    """Convert all bundles of the command line."""
    for name in sys.argv[1:]:
        print(name, *convert_bundle(Path(name)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
