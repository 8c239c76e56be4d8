"""Collects the pages of the site into ``.site/pages``: the Markdown files and pictures that git tracks.

    python docs/site/collect.py

Each keeps its path, so links between pages stay as they are. A link to a file or a folder that is not a page becomes
its path, since the site has no address for it. Links that lead nowhere stay, so that ``mkdocs build --strict`` fails.
"""

import re
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TARGET = ROOT / ".site" / "pages"
API = Path("docs/site/api.md")
_LINK = re.compile(r"(?<!!)\[(?P<text>[^\]]*)\]\((?P<to>[^)#\s]*)(?P<anchor>#[^)\s]*)?\)")


def main() -> None:
    """Writes all pages anew."""
    shutil.rmtree(TARGET, ignore_errors=True)
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True).stdout.decode()
    tracked = [Path(name) for name in listed.split("\0") if name]
    pages = {path for path in tracked if path.suffix == ".md" and path.parts[0] != "tests"}
    for path in tracked:
        to = TARGET / ("api.md" if path == API else path)
        to.parent.mkdir(parents=True, exist_ok=True)
        if path in pages:
            to.write_text(linked((ROOT / path).read_text("utf-8"), path, pages), "utf-8")
        elif path.suffix == ".png":
            shutil.copy(ROOT / path, to)


def linked(text: str, page: Path, pages: set[Path]) -> str:
    """Returns a page whose links lead to other pages."""

    def link(match: re.Match[str]) -> str:
        to = match["to"]
        if not to or "://" in to or to.startswith("mailto:"):
            return match[0]
        target = (ROOT / page.parent / to).resolve()
        inside = target.relative_to(ROOT) if target.is_relative_to(ROOT) else None
        if inside is None or inside in pages or not target.exists():
            return match[0]
        index = inside / "README.md"
        if index in pages:
            return f"[{match['text']}]({to.rstrip('/')}/README.md{match['anchor'] or ''})"
        return f"{match['text']} (`{inside}`)" if match["text"].strip("`/") not in str(inside) else f"`{inside}`"

    return _LINK.sub(link, text)


if __name__ == "__main__":
    main()
