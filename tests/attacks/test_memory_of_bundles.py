"""No bundle needs more memory than four times its size plus 100 MB, for any lists and JSON.

Counted by ``tracemalloc``, which depends on no machine.
"""

import hashlib
import json
import string
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from itertools import islice, product
from pathlib import Path

import numpy as np
import pytest
from small_encoders import write_encoder
from small_label_bundle import write_index
from small_staircase import KINDS, small_staircase
from textveil import Sanitizer
from textveil.bundle import word_lists
from textveil.errors import BundleTooLarge, TextveilError

sys.path.insert(0, str(Path(__file__).parent))
from mutations import Files, rehash
from promises import use

MEGABYTE = 1_000_000
GOLDEN = Path(__file__).parents[2] / "docs" / "golden"
ONNX = {"extractor_type": "onnx", "dimension": 3, "max_tokens": 8, "lowercase": True}


def _index_with_a_model(folder: Path) -> Path:
    """No model is there: lists are read before it is."""

    def only_a_model(files: Files) -> None:
        del files["words.txt"], files["rows.safetensors"]
        files.update({"model.onnx": b"", "vocabulary.txt": b"[UNK]\n[CLS]\n[SEP]\n"})

    return write_index(folder, files=only_a_model, manifest=lambda manifest: manifest["release"].update(extractor=ONNX))


BUNDLES: dict[str, Callable[[Path], Path]] = {
    "staircase": small_staircase,
    "words": lambda folder: GOLDEN / "words",
    "index": write_index,
    "index with a model": _index_with_a_model,
    "vectors": write_encoder,
}
#: Kinds of one sort are read alike.
OTHER_KINDS = {f"{sort}.{name}.txt" for name in KINDS for sort in ("entity", "shape")}
OTHER_KINDS -= {"shape.email.txt", "entity.weekday.txt"}


def different_words(count: int) -> Iterator[str]:
    return islice(map("".join, product(string.ascii_lowercase, repeat=5)), count)


def _lines(line: str) -> Callable[[int], bytes]:
    return lambda size: line.encode() * (size // len(line.encode()))


def _header(of: Callable[[int], bytes]) -> Callable[[int], bytes]:
    def tensors(size: int) -> bytes:
        header = of(min(size, MEGABYTE) - 10)
        return len(header).to_bytes(8, "little") + header + bytes(max(0, size - len(header)))

    return tensors


def _json(unit: str) -> Callable[[int], bytes]:
    return lambda size: b'{"a":[' + (unit.encode() + b",") * (size // (len(unit.encode()) + 1)) + b"1]}"


#: Lists of more entries than a bundle may have, where they have a megabyte or more.
LISTS = {
    "one letter": _lines("a\n"),
    "nothing": _lines("\n"),
    "a wide letter": _lines("ж\n"),
    "tabs": lambda size: b"a\t" * (size // 2) + b"\n",
}
#: Lists that are long in another way.
LONG_LISTS = {
    "one line": lambda size: b"a" * size + b"\n",
    "one line with a wide character": lambda size: b"a" * size + "😀\n".encode(),
    "lines with a wide character": _lines("a" * 100 + "😀\n"),
    "different words": lambda size: "".join(f"{word}\n" for word in different_words(size // 6)).encode(),
    "different wide words": lambda size: "".join(f"{word}😀\n" for word in different_words(size // 10)).encode(),
    "words with marks": lambda size: "".join(f"{word}\tcapitalized\n" for word in different_words(size // 18)).encode(),
}
VALUES = {
    "lists": _json("[]"),
    "objects": _json("{}"),
    "objects of one key": _json('{"a":1}'),
    "texts": _json('"ж"'),
    "numbers": _json("1"),
    "keys": lambda size: ("{" + ",".join(f'"{word}":1' for word in different_words(size // 10)) + "}").encode(),
}
LONG_VALUES = {"one text": lambda size: ('{"a":"' + "a" * size + '😀"}').encode()}
CONTENTS = {
    ".txt": (LISTS, LONG_LISTS),
    ".tsv": (LISTS, LONG_LISTS),
    ".json": (VALUES, LONG_VALUES),
    ".safetensors": tuple({name: _header(of) for name, of in each.items()} for each in (VALUES, LONG_VALUES)),
}


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Files]:
    folders = {name: write(tmp_path_factory.mktemp("small") / name) for name, write in BUNDLES.items()}
    return {name: {path.name: path.read_bytes() for path in folder.iterdir()} for name, folder in folders.items()}


def each_file(files: Files) -> list[str]:
    return [name for name in sorted(files) if Path(name).suffix in CONTENTS and name not in OTHER_KINDS]


def taken(folder: Path, files: Files) -> tuple[int, int, TextveilError | None]:
    """Return the peak memory of opening and using a bundle, its size, and the final error."""
    folder.mkdir(exist_ok=True)
    for path in folder.iterdir():
        path.unlink()
    for name, content in files.items():
        (folder / name).write_bytes(content)
    size, error = sum(map(len, files.values())), None
    del files
    tracemalloc.start()
    try:
        use(folder)
    except TextveilError as found:
        error = found
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    return peak, size, error


def spoiled(files: Files, name: str, content: bytes) -> Files:
    """Replace one file of a bundle by another, with hashes that fit."""
    changed = {**files, name: content}
    if name == "characters.json" or not name.endswith(".json"):
        rehash(changed)
    elif name != "manifest.json":
        manifest = json.loads(files["manifest.json"])
        manifest["files"][name] = {"sha256": hashlib.sha256(content).hexdigest(), "bytes": len(content)}
        changed["manifest.json"] = json.dumps(manifest).encode()
    return changed


@pytest.mark.slow
@pytest.mark.parametrize("name", BUNDLES)
def test_what_has_too_many_entries_is_counted_before_it_is_made(
    small: dict[str, Files], name: str, tmp_path: Path
) -> None:
    """The entries would be measurable: a list of a megabyte once took 27."""
    use_nothing, _, _ = taken(tmp_path / "bundle", small[name])  # and what is imported late is there from now on
    use_nothing, _, _ = taken(tmp_path / "bundle", small[name])
    for file in each_file(small[name]):
        for how, of in CONTENTS[Path(file).suffix][0].items():
            files = spoiled(small[name], file, of(MEGABYTE))
            peak, size, error = taken(tmp_path / "bundle", files)
            assert isinstance(error, TextveilError), (file, how)
            assert peak <= 4 * size + use_nothing, (file, how, peak, size)
            if not file.endswith(".safetensors"):
                assert isinstance(error, BundleTooLarge), (file, how, error)


@pytest.mark.full
@pytest.mark.parametrize("size", [MEGABYTE, 8 * MEGABYTE - 100_000, 30 * MEGABYTE], ids=["1 MB", "8 MB", "30 MB"])
@pytest.mark.parametrize("name", BUNDLES)
def test_no_bundle_takes_more(small: dict[str, Files], name: str, size: int, tmp_path: Path) -> None:
    for file in each_file(small[name]):
        for kind in CONTENTS[Path(file).suffix]:
            for how, of in kind.items():
                peak, bytes_of_all, _ = taken(tmp_path / "bundle", spoiled(small[name], file, of(size)))
                assert peak <= 4 * bytes_of_all + 100 * MEGABYTE, (file, how, peak, bytes_of_all)


@pytest.mark.full
@pytest.mark.parametrize("words", [200_000, 5_000])
def test_a_sound_bundle_of_as_many_entries_as_there_may_be(words: int, tmp_path: Path) -> None:
    """Most of them words of the vocabulary, or most of them members of a kind."""
    names = [*different_words(word_lists.MAX_LIST_ENTRIES - 100)]
    base = np.ones(words, np.uint32)
    folder = small_staircase(
        tmp_path / "bundle",
        words=names[:words],
        neighbors=np.arange(words, dtype=np.uint32 if words > 1 << 16 else np.uint16)[:, None],
        base=base,
        roles=np.full(words, 15, np.uint8),
        kinds={**KINDS, "given-name": (None, "".join(f"{name}\n" for name in names[words:]))},
    )
    size = sum(path.stat().st_size for path in folder.iterdir())
    tracemalloc.start()
    try:
        assert Sanitizer.load(folder).sanitize(names[0]).text in names
        assert tracemalloc.get_traced_memory()[1] <= 4 * size + 100 * MEGABYTE
    finally:
        tracemalloc.stop()
