"""Take the pictures of docs/guides/changes.md in Chromium: real pages of real runs, light and dark.

    python docs/pictures/photograph.py            run everything and take all pictures
    python docs/pictures/photograph.py --check    take nothing; fail if a page is not that of a picture

The pages are those of ``sanitize --diff``, ``sanitize --report``, a notebook and ``gateway --review-page``, over
invented texts. Only the answer of the model is written here. With ``--style tag`` an output has no random part, so
photographs.json, the hashes of the pages in the pictures, shows which pictures are old.
"""

import csv
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from io import StringIO
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

from rich.console import Console
from rich.text import Text
from textveil import Sanitizer
from textveil.text.marked_html import PRIVATE_NOTICE
from textveil_cli.changes import TerminalStyle, TextExplainer, format_text_diff

HERE = Path(__file__).parent
HASHES = HERE / "photographs.json"
MAIL = (HERE.parent / "examples" / "support-mail.txt").read_text("utf-8").strip()
#: Answer of the model, which reads tags alone; it was written by hand.
REPLY = (
    "Dear [person 2], I am sorry that we charged you twice for order #[number 1]. "
    "I have refunded $49.90 to [person 1] in [city 1]. Get well soon!"
)
ROWS = [
    ("id", "email", "note"),
    ("1", "maria@keller.example", MAIL),
    ("2", "", "The parcel for Leeds came on Monday. Thanks!"),
    ("3", "", "Please call Daniel Keller about order 88213."),
]
#: Width and height of each picture.
SIZES = {"diff": (960, 210), "report": (960, 1840), "notebook": (960, 190), "gateway": (960, 640)}
OPTIONS: Any = {"style": "tag", "facts": "useful"}
#: Red and green of a terminal, whose theme decides them, on a light and a dark page.
TERMINAL_COLORS = {"#800000": "light-dark(#b42318,#ff8a80)", "#008000": "light-dark(#1a7f37,#7ee787)"}
#: A page for what has none of its own, in the colors of the reports.
PAGE = """<!doctype html><meta charset="utf-8"><style>:root{color-scheme:light dark}
body{margin:0;padding:16px;font:16px/1.5 system-ui,sans-serif;background:light-dark(#fff,#14181c)}
pre{font:15px/1.45 'DejaVu Sans Mono',monospace;margin:0}</style><body>"""


def make_diff() -> str:
    """Return what a wide terminal has for ``sanitize --diff``."""
    sanitizer = Sanitizer.load()
    result = sanitizer.sanitize(MAIL, **OPTIONS)
    style = TerminalStyle(columns=100, uses_color=True)
    written = format_text_diff(TextExplainer(sanitizer, OPTIONS).align_result(MAIL, result), style)
    console = Console(record=True, width=100, file=StringIO())
    command = "$ textveil sanitize support-mail.txt --style tag --facts useful --diff"
    console.print(Text(f"{command}\n{PRIVATE_NOTICE}\n"), Text.from_ansi(written), sep="\n")
    exported = console.export_html(inline_styles=True, code_format="<pre>{code}</pre>")
    for color, readable in TERMINAL_COLORS.items():
        exported = exported.replace(color, readable)
    return PAGE + exported


def make_report(folder: Path) -> str:
    """Return the page of ``sanitize --report`` for a table, with a fixed time."""
    with open(folder / "tickets.csv", "w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows(ROWS)
    options = ["--column", "note", "--style", "tag", "--facts", "useful", "-o", "sent.csv", "--report", "report.html"]
    command = [sys.executable, "-m", "textveil_cli", "sanitize", "-q", "tickets.csv", *options]
    subprocess.run(command, cwd=folder, check=True)
    page = (folder / "report.html").read_text("utf-8")
    return re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d [+-]\d{4}", "2026-11-28 09:00 +0000", page)


def make_notebook() -> str:
    """Return what a notebook shows for a result."""
    return PAGE + Sanitizer.load().sanitize(MAIL, **OPTIONS)._repr_html_()


class _Model(BaseHTTPRequestHandler):
    """A model that gives one answer."""

    def log_message(self, format: str, *arguments: Any) -> None:
        pass

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        message = {"role": "assistant", "content": REPLY}
        content = json.dumps({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


@contextmanager
def run_model() -> Iterator[str]:
    """Run the model; yield its address."""
    server = HTTPServer(("127.0.0.1", 0), _Model)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


def make_gateway() -> str:
    """Return the page of a gateway after one request, with a fixed time and identifier."""
    with run_model() as upstream:
        command = [sys.executable, "-m", "textveil_cli", "gateway", "--port", "0", "--review-page"]
        process = subprocess.Popen([*command, "--upstream", upstream], stderr=subprocess.PIPE, text=True)
        try:
            assert process.stderr is not None
            found = next(filter(None, (re.search(r"(http://\S+)/review/\S+", line) for line in process.stderr)), None)
            if found is None:
                sys.exit("photograph.py: the gateway ended before it printed the address of its page")
            system = {"role": "system", "content": "You work for Novak Ltd. Answer in two sentences."}
            body = {"model": "m", "messages": [system, {"role": "user", "content": MAIL}]}
            headers = {"Content-Type": "application/json"}
            urlopen(Request(f"{found[1]}/v1/chat/completions", json.dumps(body).encode(), headers)).read()
            content = "the reply arrives"
            while "the reply arrives" in content:
                content = urlopen(found[0]).read().decode()
        finally:
            process.terminate()
            process.communicate()
    return re.sub(r"request [0-9a-f]{16}", "request fc37b8dccf3b3320", re.sub(r"\d\d:\d\d:\d\d", "09:00:00", content))


def make_pages() -> dict[str, str]:
    """Return each page by the name of its picture."""
    with tempfile.TemporaryDirectory() as folder:
        report = make_report(Path(folder))
    return {"diff": make_diff(), "report": report, "notebook": make_notebook(), "gateway": make_gateway()}


def take_picture(name: str, page: Path, theme: str) -> None:
    """Write the picture of a page."""
    chromium = os.environ.get("CHROMIUM") or shutil.which("chromium")
    if chromium is None:
        sys.exit("there is no Chromium: apt-get install chromium")
    width, height = SIZES[name]
    with tempfile.TemporaryDirectory() as profile:
        scheme = [f"--blink-settings=preferredColorScheme={0 if theme == 'dark' else 1}"]
        options = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", f"--user-data-dir={profile}"]
        target = [f"--window-size={width},{height}", f"--screenshot={HERE / f'{name}-{theme}.png'}", page.as_uri()]
        subprocess.run([chromium, *options, *scheme, *target], check=True, capture_output=True, timeout=300)


def main(arguments: list[str]) -> None:
    """Take or check the pictures; end with status 1 if one is old."""
    pages = make_pages()
    hashes = {name: hashlib.sha256(page.encode()).hexdigest()[:16] for name, page in pages.items()}
    stored = json.loads(HASHES.read_text("utf-8")) if HASHES.exists() else {}
    old = [name for name in pages if hashes[name] != stored.get(name)]
    if arguments == ["--check"]:
        if old:
            sys.exit(f"{', '.join(old)}: the page is another one today; run python docs/pictures/photograph.py")
        return
    with tempfile.TemporaryDirectory() as folder:
        for name in old:
            page = Path(folder) / f"{name}.html"
            page.write_text(pages[name], "utf-8")
            for theme in ("light", "dark"):
                take_picture(name, page, theme)
    HASHES.write_text(json.dumps(hashes, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
