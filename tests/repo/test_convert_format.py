"""The conversion of bundles to format version 5 changes names only."""

import copy
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from safetensors.numpy import load, save
from scripts import load_script
from small_index import write_index
from small_names import write_names
from small_staircase import small_staircase
from textveil.bundle import open_bundle

converter = load_script("tools/convert_format.py")
OLD_FILES = {
    "mechanism.json": "law.json",
    "kept-capitals.txt": "shown-capitals.txt",
    "kept-symbols.txt": "symbols.txt",
    "label-classifier.safetensors": "codes.safetensors",
    "randomizers.safetensors": "channels.safetensors",
    "label-probabilities.safetensors": "labels.safetensors",
}
PREFIXES = (("names.entity.", "names.kind."), ("names.surrogates.", "names.pool."), ("template.", "kind."))
OLD_KEYS = {
    "token_type": "tokens", "vocabulary_size": "symbols", "template": "skeleton", "entity_types": "kinds",
    "surrogate_pools": "pools", "mode": "visible", "bundle_type": "kind", "epsilon_notion": "label",
    "license": "licence", "label_type": "kind", "label_count": "codes", "randomizers": "channels",
    "randomizer": "channel", "extractor_type": "kind",
}  # fmt: skip
OLD_VALUES = {
    "bundle_type": {"labels": "index"},
    "label_type": {"class": "decision"},
    "mode": {"words": "function-words"},
}


def old_name(name: str) -> str:
    """Return the name of a file in version 4."""
    for new, old in PREFIXES:
        if name.startswith(new):
            return old + name.removeprefix(new)
    return OLD_FILES.get(name, name)


def old_keys(value: Any) -> Any:
    """Return JSON with the keys and values of version 4."""
    if isinstance(value, list):
        return [old_keys(entry) for entry in value]
    if not isinstance(value, dict):
        return value
    found = {}
    for key, entry in value.items():
        if key == "files":
            found[key] = {old_name(name): one for name, one in entry.items()}
        elif key == "file":
            found[key] = old_name(entry)
        else:
            mapped = OLD_VALUES.get(key, {}).get(entry, entry) if isinstance(entry, str) else old_keys(entry)
            found[OLD_KEYS.get(key, key)] = mapped
    return found


def as_version_4(folder: Path) -> dict[str, bytes]:
    """Return the files of a bundle as version 4 had them; hashes are those of the new files."""
    files = {}
    for path in folder.iterdir():
        content = path.read_bytes()
        if path.name in ("manifest.json", "mechanism.json"):
            found = old_keys(json.loads(content))
            if path.name == "manifest.json":
                found["format_version"] = 4
            content = json.dumps(found, indent=2).encode()
        if path.name in converter.ARRAYS:
            new = {"neighbors": "neighbours"}
            arrays = load(content).items()
            content = save({new.get(name, re.sub(r"\.budget$", ".dealt", name)): data for name, data in arrays})
        files[old_name(path.name)] = content
    return files


@pytest.mark.parametrize("write", [small_staircase, write_names, write_index])
def test_a_converted_bundle_is_the_bundle_that_the_writer_makes(write: Callable[[Path], Path], tmp_path: Path) -> None:
    folder, other = write(tmp_path / "new"), tmp_path / "old"
    other.mkdir()
    for name, content in as_version_4(folder).items():
        (other / name).write_bytes(content)
    converter.convert_bundle(other)
    assert {path.name for path in other.iterdir()} == {path.name for path in folder.iterdir()}
    for path in folder.iterdir():
        converted = (other / path.name).read_bytes()
        if path.suffix == ".json" and path.name not in ("characters.json", "held-out.json"):
            plain = [copy.deepcopy(json.loads(content)) for content in (converted, path.read_bytes())]
            for one in plain:
                one["files"] = sorted(name for name in one.get("files", {}))
            assert plain[0] == plain[1]
        else:
            assert converted == path.read_bytes()
    open_bundle(other)
