"""Replace the lists of the bundle english-v4, and update the pages that depend on them.

    .venv/bin/python artifacts/put_lists.py LISTS

LISTS is a folder that artifacts/lists/build.py wrote. The words, their neighbors and their base weights stay byte for
byte. The roles of words are computed from the new lists. The script replaces the old content hash in all tracked files,
and updates the outputs of ``textveil info`` and ``textveil verify`` in the pages that contain them.
"""

import importlib
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

from textveil.bundle import EntityTypeFile, TemplateFiles, TextBundle, layout, open_bundle
from textveil.text import SHAPES
from textveil.verify import verify_text
from textveil_cli.reports.text import describe_text_bundle
from textveil_export.text.contents import TextContents
from textveil_export.text.names_lists import add_names_lists, read_names_lists, read_staircase_contents
from textveil_export.text.staircase_bundle import compute_roles
from textveil_export.text.template_lists import FUNCTION_WORDS, TemplateLists, check_template_lists
from textveil_export.text.word_roles import read_english_lists
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
    write_bundle(add_names_lists(contents, read_names_lists(folder)), BUNDLE, force=True)
    bundle = open_bundle(BUNDLE, TextBundle)
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


def _replace_template(contents: TextContents, lists: TemplateLists) -> TextContents:
    """Return the staircase mechanism with new lists, and with roles that are computed from these lists."""
    old = {name for kind in contents.definition["template"]["entity_types"] for name in kind["files"]}
    texts = {name: text for name, text in contents.texts.items() if name not in old}
    words = [line.partition("\t")[0] for line in contents.texts[layout.VOCABULARY].splitlines()]
    tensors = dict(contents.tensors)
    roles = compute_roles(words, lists, read_english_lists()[1])
    tensors[layout.STAIRCASE] = {**tensors[layout.STAIRCASE], "roles": roles}
    definition = {**contents.definition, "template": lists.describe()}
    return replace(contents, tensors=tensors, texts=texts | lists.list_texts(), definition=definition)


def _list_files_with(text: str, pages: str = ":!artifacts/CHANGELOG.md") -> list[Path]:
    """Return the tracked files that contain a text."""
    found = subprocess.run(
        ["git", "grep", "-lF", text, "--", pages], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return [ROOT / name for name in found.stdout.splitlines()]


if __name__ == "__main__":
    sys.exit(main())
