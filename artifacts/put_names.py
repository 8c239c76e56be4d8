"""Put the lists of the mode `names` into english-v4, and update the pages that quote the bundle.

    .venv/bin/python artifacts/put_names.py LISTS

LISTS is a folder that artifacts/names-lists/build.py wrote. All other files of the bundle stay byte for byte. The new
content hash replaces the old one in every tracked file, and the output of ``textveil info`` and ``textveil verify`` is
rewritten on every page that quotes it.
"""

import re
import subprocess
import sys
from pathlib import Path

from textveil.bundle import TextBundle, open_bundle
from textveil.verify import verify_text
from textveil_cli.console import run
from textveil_cli.reports.text import describe_text_bundle
from textveil_export import cli

ROOT = Path(__file__).resolve().parents[1]
BUNDLE = ROOT / "artifacts" / "english-v4"
DEFAULTS = ROOT / "runtime" / "src" / "textveil" / "bundle" / "defaults.py"
_INFO = re.compile(r"^English words, version 4: .*?(?=^```$)", re.MULTILINE | re.DOTALL)
_VERIFY = re.compile(
    r"^\d+ files with the right size and hash, structure sound\nstaircase: .*\n(mode names: .*\n)?", re.MULTILINE
)


def main() -> int:
    """Rebuild the bundle in place, then update the tracked files that quote it."""
    (lists,) = sys.argv[1:]
    pinned = re.search(r'DEFAULT_BUNDLE_ID = "([0-9a-f]{64})"', DEFAULTS.read_text("utf-8"))
    assert pinned is not None
    arguments = ["names", lists, "--beside", str(BUNDLE), "--force", "-o", str(BUNDLE)]
    if failed := run(cli.app, "textveil-export", arguments):
        return failed
    bundle = open_bundle(BUNDLE, TextBundle)
    info, verified = describe_text_bundle(bundle) + "\n", verify_text(bundle) + "\n"
    for path in _list_files_with(pinned[1]):
        path.write_text(path.read_text("utf-8").replace(pinned[1], bundle.content_hash), "utf-8")
    for path in _list_files_with("files with the right size and hash", "*.md"):
        text = _INFO.sub(lambda _: info, path.read_text("utf-8"))
        path.write_text(_VERIFY.sub(lambda _: verified, text), "utf-8")
    return 0


def _list_files_with(text: str, pages: str = ":!artifacts/CHANGELOG.md") -> list[Path]:
    """Return the tracked files that contain a text."""
    found = subprocess.run(
        ["git", "grep", "-lF", text, "--", pages], cwd=ROOT, capture_output=True, text=True, check=True
    )
    return [ROOT / name for name in found.stdout.splitlines()]


if __name__ == "__main__":
    sys.exit(main())
