"""Replace the lists of the bundle english-v4, and update the pages that depend on them.

    .venv/bin/python artifacts/put_lists.py LISTS

LISTS is a folder that artifacts/lists/build.py wrote. The words and their base weights stay byte for byte. The roles of
words are computed from the new lists. The neighbors are computed again from the vectors in artifacts/words, since the
bundle has only those that an output depends on, and these depend on the lists. The script replaces the old content hash
in all tracked files, and updates the outputs of ``textveil info`` and ``textveil verify`` in the pages that contain
them.
"""

import importlib
import re
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
from textveil.bundle import EntityTypeFile, TemplateFiles, TextBundle, layout, open_bundle
from textveil.text import SHAPES
from textveil.verify import verify_text
from textveil_cli.reports.text import describe_text_bundle
from textveil_export.text.contents import TextContents
from textveil_export.text.names_lists import add_names_lists, read_names_lists, read_staircase_contents
from textveil_export.text.staircase_bundle import StaircaseContents, StaircaseRecipe, build_staircase
from textveil_export.text.staircase_tables import MisleadingWords, read_frequencies
from textveil_export.text.template_lists import FUNCTION_WORDS, TemplateLists, check_template_lists
from textveil_export.text.unused_neighbors import replace_unused_neighbors
from textveil_export.text.word_roles import LISTS, read_english_lists
from textveil_export.text.word_vectors import WordVectors, read_vectors
from textveil_export.text.write import write_bundle

ROOT = Path(__file__).resolve().parents[1]
BUNDLE = ROOT / "artifacts" / "english-v4"
DEFAULTS = ROOT / "runtime" / "src" / "textveil" / "bundle" / "defaults.py"
_INFO = re.compile(r"^English words, version 4: .*?(?=^```$)", re.MULTILINE | re.DOTALL)
_VERIFY = re.compile(
    r"^\d+ files with the right size and hash, structure sound\nstaircase: .*\n(mode names: .*\n)?", re.MULTILINE
)


def main() -> int:
    """Rewrite the bundle in place, and update all tracked files that contain its content hash or descriptions."""
    folder = Path(sys.argv[1])
    pinned = re.search(r'DEFAULT_BUNDLE_ID = "([0-9a-f]{64})"', DEFAULTS.read_text("utf-8"))
    assert pinned is not None
    contents = _replace_template(read_staircase_contents(open_bundle(BUNDLE, TextBundle)), read_template(folder))
    contents = add_names_lists(contents, read_names_lists(folder))
    with tempfile.TemporaryDirectory() as place:
        neighbors = replace_unused_neighbors(write_bundle(contents, Path(place) / "all-neighbors"))
    tensors = {layout.STAIRCASE: {**contents.tensors[layout.STAIRCASE], "neighbors": neighbors}}
    bundle = write_bundle(replace(contents, tensors=tensors), BUNDLE, force=True)
    info, verified = describe_text_bundle(bundle) + "\n", verify_text(bundle) + "\n"
    for path in _list_files_with(pinned[1]):
        path.write_text(path.read_text("utf-8").replace(pinned[1], bundle.content_hash), "utf-8")
    for path in _list_files_with("files with the right size and hash", "*.md"):
        text = _INFO.sub(lambda _: info, path.read_text("utf-8"))
        path.write_text(_VERIFY.sub(lambda _: verified, text), "utf-8")
    return 0


def read_template(folder: Path) -> TemplateLists:
    """Read and check the lists of the modes `words` and `all`."""
    sys.path.insert(0, str(ROOT / "artifacts" / "lists"))
    types: dict[str, tuple[str, ...]] = importlib.import_module("shared_lists").TEMPLATE_TYPES
    own = folder / "template"
    kinds = [
        EntityTypeFile(shape, shape, {name: (own / name).read_bytes()})
        for shape in SHAPES
        if (name := layout.SHAPE_POOL.format(shape))
    ]
    for type_name, lists in types.items():
        names = map(layout.ENTITY_LIST.format, lists)
        files = {name: (folder / name if (folder / name).exists() else own / name).read_bytes() for name in names}
        kinds.append(EntityTypeFile(type_name, None, files))
    function_words = (own / FUNCTION_WORDS).read_text("utf-8")
    return check_template_lists(TemplateFiles(function_words, tuple(kinds)))


def build_english_staircase(words: list[str], lists: TemplateLists) -> StaircaseContents:
    """Build the data of the staircase mechanism for the English words, with all neighbors, from artifacts/words."""
    own = LISTS / "words"
    misleading = MisleadingWords.read_lists(own / "english-3-opposites.txt", own / "alarming.txt")
    recipe = StaircaseRecipe(
        lists=lists,
        vectors=read_vectors(own / "english-3-vectors.txt.gz", 1 << 16),
        per_billion=read_frequencies(own / "english-3-frequencies.tsv"),
        never_output=read_english_lists()[1],
        misleading=misleading,
    )
    unused = np.zeros((len(words), 1), dtype=np.float32)  # the recipe has the vectors
    return build_staircase(WordVectors(words=words, vectors=unused, provenance={}), recipe)


def _replace_template(contents: TextContents, lists: TemplateLists) -> TextContents:
    """Return the staircase mechanism with new lists, and with arrays that are computed from these lists."""
    old = {name for kind in contents.definition["template"]["entity_types"] for name in kind["files"]}
    texts = {name: text for name, text in contents.texts.items() if name not in old}
    words = [line.partition("\t")[0] for line in contents.texts[layout.VOCABULARY].splitlines()]
    part = build_english_staircase(words, lists)
    definition = {**contents.definition, "template": part.definition["template"]}
    tensors = {**contents.tensors, layout.STAIRCASE: part.tensors}
    return replace(contents, tensors=tensors, texts=texts | part.texts, definition=definition)


def _list_files_with(text: str, pages: str = ":!artifacts/CHANGELOG.md") -> list[Path]:
    """Return the tracked files that contain a text."""
    found = subprocess.run(
        ["git", "grep", "-lF", text, "--", pages], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return [ROOT / name for name in found.stdout.splitlines()]


if __name__ == "__main__":
    sys.exit(main())
