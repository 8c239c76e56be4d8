"""Collects the pages of the site into ``.site/pages``: the Markdown files and pictures that git tracks.

    python docs/site/collect.py

Each keeps its path, so links between pages stay as they are. A link to a file or a folder that is not a page becomes
its path, since the site has no address for it. Links that lead nowhere stay, so that ``mkdocs build --strict`` fails.

It prints the version, whose pages go to ``.site/html/VERSION``. Versions that are there already stay, and
``versions.json`` lists them. If the page to try has been built (``web/demo/dist``), it is a part of the site.

mkdocs calls the two functions ``on_...``, which are its hooks.
"""

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
TARGET = ROOT / ".site" / "pages"
HTML = ROOT / ".site" / "html"
DEMO = ROOT / "web" / "demo" / "dist"
#: What pages load, beside what the theme brings.
ASSETS = {Path("docs/site/site.css"), Path("docs/site/iframe-worker.js")}
#: Pages for those that change the code: linked, but not searched.
UNSEARCHED = (Path("docs/decisions"), Path("benchmarks"))
#: What git calls a place on the web: without the name and the key of whoever fetches from it.
_ORIGIN = re.compile(r"(?:https://(?:[^/@]*@)?|ssh://git@|git@)([\w.-]+)[:/](.+?)(?:\.git)?/?")
#: In the page for what is not there: where the site is, told from the address that was asked for.
_BASE = """<base href="/VERSION/"><script>document.querySelector("base").href =
location.pathname.replace(/^(.*?\\/)(?:\\d+\\.\\d[^/]*\\/.*|[^/]*)$/, "$1") + "VERSION/"</script>"""
_CONFIG = """<script>{ const config = document.getElementById("__config"), found = JSON.parse(config.textContent)
const of = (path) => new URL(path, document.baseURI).href
config.textContent = JSON.stringify({ ...found, base: of("."), search: of(found.search) }) }</script>"""
_LINK = re.compile(r"(?<!!)\[(?P<text>[^\]]*)\]\((?P<to>[^)#\s]*)(?P<anchor>#[^)\s]*)?\)")


def main() -> None:
    """Write all pages anew."""
    shutil.rmtree(TARGET, ignore_errors=True)
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, check=True, capture_output=True).stdout.decode()
    tracked = [Path(name) for name in listed.split("\0") if name]
    pages = {path for path in tracked if path.suffix == ".md" and path.parts[0] != "tests"}
    for path in tracked:
        to = TARGET / path
        to.parent.mkdir(parents=True, exist_ok=True)
        if path in pages:
            text = link_pages((ROOT / path).read_text("utf-8"), path, pages)
            unsearched = any(path.is_relative_to(folder) for folder in UNSEARCHED)
            to.write_text(f"---\nsearch: {{exclude: true}}\n---\n{text}" if unsearched else text, "utf-8")
        elif path.suffix in (".png", ".svg") or path in ASSETS:
            shutil.copy(ROOT / path, to)
    if DEMO.is_dir():
        shutil.copytree(DEMO, TARGET / "demo")
        home = TARGET / "README.md"
        home.write_text(with_demo(home.read_text("utf-8")), "utf-8")
    print(list_versions(version()))


def version() -> str:
    """Return the version of the library."""
    found = re.search(r'^__version__ = "(.*)"$', (ROOT / "runtime/src/textveil/__init__.py").read_text("utf-8"), re.M)
    assert found is not None
    return found[1]


def with_demo(home: str) -> str:
    """Return the first page with a link to the demo, above its first section."""
    link = "**[Try it in your browser](demo/index.html):** what you type does not leave it."
    return home.replace("\n## ", f"\n{link}\n\n## ", 1)


def on_config(config: Any) -> None:
    """Links the pages to the repository: where ``TEXTVEIL_REPOSITORY`` is not set, to what the clone is of."""
    if "TEXTVEIL_REPOSITORY" not in os.environ:
        asked = subprocess.run(["git", "remote", "get-url", "origin"], cwd=ROOT, capture_output=True, text=True)
        config["repo_url"] = address_of(asked.stdout.strip())
    config["repo_name"] = "Repository"


def address_of(origin: str) -> str:
    """Return the web address of the repository of a clone; an empty string if it has none."""
    found = _ORIGIN.fullmatch(origin)
    return f"https://{found[1]}/{found[2]}" if found else ""


def on_post_build(config: Any) -> None:
    """Make the page for missing addresses find its style sheets and scripts at any depth."""
    page = Path(config["site_dir"]) / "404.html"
    text = anywhere(page.read_text("utf-8"), page.parent.name)
    for place in (page, page.parent.with_name("404.html")):  # a host may look at its top alone
        place.write_text(text, "utf-8")


def anywhere(page: str, version: str) -> str:
    """Replace addresses from the top of the host by addresses below the folder of the version."""
    page = re.sub(r'(href|src)="/(?!/)\.?', r'\1="', page).replace('new URL("/",location)', "new URL(document.baseURI)")
    page = page.replace("<head>", f"<head>{_BASE.replace('VERSION', version)}", 1)
    page = page.replace('"search": "/', '"search": "', 1).replace('href=""', 'href="index.html"')
    page = re.sub(r'(<script id="__config".*?</script>)', lambda found: found[1] + _CONFIG, page, count=1, flags=re.S)
    said = f'<p>textveil {version} has no such page. Begin at the <a href="index.html">overview</a>, or search.</p>'
    return page.replace("<h1>404 - Not found</h1>", f"<h1>Not found</h1>{said}", 1)


def list_versions(new: str, folder: Path = HTML) -> str:
    """List the present and the new version of a folder, newest first, and redirect to the new one."""
    folder.mkdir(parents=True, exist_ok=True)
    there = {path.name for path in folder.iterdir() if (path / "index.html").is_file()} | {new}
    newest = sorted(there, key=lambda name: [int(part) for part in re.findall(r"\d+", name)], reverse=True)
    listed = [{"version": name, "title": name, "aliases": []} for name in newest]
    (folder / "versions.json").write_text(json.dumps(listed), "utf-8")
    lead = f'<!doctype html><meta charset="utf-8"><meta http-equiv="refresh" content="0; url={new}/index.html">'
    (folder / "index.html").write_text(f'{lead}<a href="{new}/index.html">textveil {new}</a>\n', "utf-8")
    return new


def link_pages(text: str, page: Path, pages: set[Path]) -> str:
    """Return a page whose links lead to other pages."""

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
