"""Which law a corpus went through: what ``sanitize-corpus`` wrote beside it."""

import json
from pathlib import Path
from typing import Any

from textveil_training.corpus.record import FORMAT
from textveil_training.errors import InvalidJson

_TERMS = (
    "mechanism",
    "level",
    "tail",
    "epsilon",
    "epsilon_kind",
    "epsilon_0",
    "rounding_slack",
    "replacement_probability",
    "case",
    "strict",
    "bundle",
)


def law_of(path: Path) -> dict[str, Any] | None:
    """The terms of the law that made a sanitised corpus, for a record.

    Args:
        path: The corpus: a folder that ``sanitize-corpus`` wrote, one of its copies, or a file in either.

    Returns:
        The terms with ``bundle_name``; None where no record of ``sanitize-corpus`` lies beside it: raw text, as far
        as this can tell.

    Raises:
        InvalidJson: There is a record that cannot be read.
    """
    path = path.resolve()  # a relative path may have no parent in its name
    folder = path if path.is_dir() else path.parent
    for place in (folder, folder.parent):
        try:
            content = json.loads((place / "record.json").read_text(encoding="utf-8"))
        except FileNotFoundError:
            continue
        except (OSError, ValueError) as error:
            raise InvalidJson("the record beside the corpus cannot be read") from error
        if isinstance(content, dict) and content.get("format") == FORMAT:
            try:
                terms = {name: content["statement"][name] for name in _TERMS}
                return terms | {"bundle_name": content["bundle"]["name"]}
            except (KeyError, TypeError) as error:
                raise InvalidJson("the record beside the corpus has other keys") from error
    return None
