"""Collects the pages of the site into ``.site/pages``: the Markdown files and pictures that git tracks.

    python docs/site/collect.py

Each keeps its path, so links between pages stay as they are. A link to a file or a folder that is not a page becomes
its path, since the site has no address for it. Links that lead nowhere stay, so that ``mkdocs build --strict`` fails.

It prints the version, whose pages go to ``.site/html/VERSION``. Versions that are there already stay, and
``versions.json`` lists them. If the page to try has been built (``web/demo/dist``), it is a part of the site.
"""

import json
import re
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TARGET = ROOT / ".site" / "pages"
HTML = ROOT / ".site" / "html"
DEMO = ROOT / "web" / "demo" / "dist"
#: What pages load, beside what the theme brings.
ASSETS = {Path("docs/site/site.css"), Path("docs/site/iframe-worker.js")}
#: Pages for those that change the code: linked, but not searched.
UNSEARCHED = (Path("docs/decisions"), Path("benchmarks"))
_LINK = re.compile(r"(?<!!)\[(?P<text>[^\]]*)\]\((?P<to>[^)#\s]*)(?P<anchor>#[^)\s]*)?\)")


def main() -> None:
    """Writes all pages anew."""
    shutil.rmtree(TARGET, ignore_errors=True)
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True).stdout.decode()
    tracked = [Path(name) for name in listed.split("\0") if name]
    pages = {path for path in tracked if path.suffix == ".md" and path.parts[0] != "tests"}
    for path in tracked:
        to = TARGET / path
        to.parent.mkdir(parents=True, exist_ok=True)
        if path in pages:
            text = linked((ROOT / path).read_text("utf-8"), path, pages)
            unsearched = any(path.is_relative_to(folder) for folder in UNSEARCHED)
            to.write_text(f"---\nsearch: {{exclude: true}}\n---\n{text}" if unsearched else text, "utf-8")
        elif path.suffix == ".png" or path in ASSETS:
            shutil.copy(ROOT / path, to)
    if DEMO.is_dir():
        shutil.copytree(DEMO, TARGET / "demo")
        home = TARGET / "README.md"
        home.write_text(with_demo(home.read_text("utf-8")), "utf-8")
    print(list_versions(version()))


def version() -> str:
    """Returns the version of the library whose pages these are."""
    found = re.search(r'^__version__ = "(.*)"$', (ROOT / "runtime/src/textveil/__init__.py").read_text("utf-8"), re.M)
    assert found is not None
    return found[1]


def with_demo(home: str) -> str:
    """Returns the first page with a link to the page to try, above its first section."""
    link = "**[Try it in your browser](demo/index.html):** what you type does not leave it."
    return home.replace("\n## ", f"\n{link}\n\n## ", 1)


def list_versions(new: str, folder: Path = HTML) -> str:
    """Lists the versions that a folder has and will have, newest first, and makes it lead to the new one."""
    folder.mkdir(parents=True, exist_ok=True)
    there = {path.name for path in folder.iterdir() if (path / "index.html").is_file()} | {new}
    newest = sorted(there, key=lambda name: [int(part) for part in re.findall(r"\d+", name)], reverse=True)
    listed = [{"version": name, "title": name, "aliases": []} for name in newest]
    (folder / "versions.json").write_text(json.dumps(listed), "utf-8")
    lead = f'<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url={new}/index.html">'
    (folder / "index.html").write_text(f'{lead}<a href="{new}/index.html">textveil {new}</a>\n', "utf-8")
    return new


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
