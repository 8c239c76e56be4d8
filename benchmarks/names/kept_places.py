"""Measure which share of surrogates is not restored in repeated prompts because of their place, by reason.

    python benchmarks/names/kept_places.py --prompts FILE... [--most 2000]

Each prompt is rewritten with tags and with surrogates; the reply repeats the rewritten prompt. Every line of a file is
a JSON object with ``text``. Prompts with source code are counted separately, since nothing in code is restored by
default.
"""

import argparse
import json
import re
from collections import Counter
from pathlib import Path

from textveil import Sanitizer

#: Pattern of lines of source code and of fences; a prompt with three such lines counts as code.
_CODE_LINE = re.compile(
    r"^\s*(?:```|~~~|import |from \w+ import|def |class |const |let |var |function |public |private |return\b|#include|"
    r"</?[a-z]+[ >]|if ?\(|for ?\(|while ?\()|[{};]\s*$|^\s*[\w.]+ ?= ?\S|=> ?\{",
    re.MULTILINE,
)
_FEWEST_LINES = 3


def holds_code(text: str) -> bool:
    """Return whether a text has a code fence or several lines of source code."""
    return "```" in text or len(_CODE_LINE.findall(text)) >= _FEWEST_LINES


def count_kept(sanitizer: Sanitizer, texts: list[str], style: str) -> Counter[str]:
    """Count restored surrogates, and by reason the others, in replies that repeat the rewritten texts."""
    counts = Counter[str]()
    for result in sanitizer.sanitize_batch(texts, protect="names", facts="none", style=style):
        assert result.mapping is not None
        stream = result.mapping.open_stream()
        stream.feed(result.text)
        stream.close()
        counts["restored"] += len(stream.restored)
        counts.update(reason.value for _, reason in stream.skipped)
    return counts


def main() -> None:
    """Parse the command line and print one line per file, style and class of prompts."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--prompts", type=Path, nargs="+", required=True, help="files of prompts, JSON lines")
    parser.add_argument(
        "--most", type=int, default=2000, help="maximum characters of a prompt; longer prompts are skipped"
    )
    a = parser.parse_args()
    sanitizer = Sanitizer.load()
    sums: dict[tuple[str, str], Counter[str]] = {}
    for path in a.prompts:
        texts = [json.loads(line)["text"] for line in path.read_text("utf-8").splitlines()]
        texts = [text for text in texts if len(text) < a.most]
        for style in ("tag", "surrogate"):
            for sort, wanted in (("code", True), ("no code", False)):
                chosen = [text for text in texts if holds_code(text) == wanted]
                counts = count_kept(sanitizer, chosen, style)
                sums.setdefault((style, sort), Counter()).update(counts)
                sums.setdefault((style, "all"), Counter()).update(counts)
                _print_line(f"{path.stem}, {style}, {sort}, {len(chosen)} prompts", counts)
    for (style, sort), counts in sums.items():
        _print_line(f"sum, {style}, {sort}", counts)


def _print_line(name: str, counts: Counter[str]) -> None:
    kept = counts.total() - counts["restored"]
    print(f"{name}: {100 * kept / max(1, counts.total()):.1f} % of {counts.total()} stay {dict(counts)}", flush=True)


if __name__ == "__main__":
    main()
