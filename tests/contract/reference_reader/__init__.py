"""A reader of textveil bundles written from docs/format.md alone: plain Python, and the bundle's classes of characters.

It is slow and shares no code with the runtime on purpose. `open_bundle` checks what the document demands and raises
ValueError, and `check_lists` checks the entries of lists. `sanitize_batch` (SanText) and `rewrite_batch` (staircase)
draw one batch from scripted random words, so that outputs can be compared exactly. The second reader of the mode
`names` is that in TypeScript.
NFKC and case mappings are those of the Python that runs it; case patterns and the cutting of WordPieces have their
properties from `regex`.
Where the document leaves a choice to the asker, it follows the options of docs/golden/vectors.json.
"""

from .bundle import open_bundle, recompute_row, score
from .draws import draw_staircase, find_law, sanitize_batch, uniform_below
from .rewrite import rewrite_batch
from .staircase import allowed_outputs, read_staircase, staircase_row
from .template import TemplateReader, check_lists

__all__ = [
    "TemplateReader",
    "allowed_outputs",
    "check_lists",
    "draw_staircase",
    "find_law",
    "open_bundle",
    "read_staircase",
    "recompute_row",
    "rewrite_batch",
    "sanitize_batch",
    "score",
    "staircase_row",
    "uniform_below",
]
