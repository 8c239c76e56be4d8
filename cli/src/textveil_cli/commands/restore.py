"""``textveil restore``: put the original words back into a reply, on this device.

The reply, for instance of a language model, contains the surrogates (replacements of original words) of a sanitized
text.
"""

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated

import typer
from textveil.errors import InputError, OptionError
from textveil.storage import ProtectedPaths
from textveil.text import Restored, RestoreReport

from textveil_cli.console import (
    LineBatch,
    describe_restore_report,
    open_output,
    print_unless_quiet,
    read_inputs,
)
from textveil_cli.console.mapping_files import read_mapping
from textveil_cli.files import refuse_tables_by_name
from textveil_cli.options import InputOptions, PrivateOutput, RestoreOptions

#: Maximum number of characters of a reply that are checked for active content before the first one is restored.
_MAX_CHECKED_CHARACTERS = 1 << 26
#: A spreadsheet runs formulas in cells, which could send restored cells to an address.
_TABLE_REMEDY = "restore reads replies, not tables: join the rows to your own table by a column such as id"
_HALF_PAIR = re.compile("[\ud800-\udfff]")


def restore(
    inputs: InputOptions,
    places: RestoreOptions,
    mapping: Annotated[
        Path | None, typer.Option("--mapping", help="Mapping file that textveil sanitize --save-mapping wrote.")
    ] = None,
    mapping_key: Annotated[
        Path | None, typer.Option("--mapping-key", help="Key of the mapping, from textveil sanitize --mapping-key.")
    ] = None,
    output: PrivateOutput = None,
    as_json: Annotated[
        bool,
        typer.Option(
            "--json",
            help="Write each reply as a JSON object with its text and lists of restored and not restored surrogates.",
        ),
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print no summary of restored words.")] = False,
) -> None:
    """Restore the original words in a reply, on this device.

    The reply is about a text that was sanitized with --save-mapping (in the modes 'words' and 'all' also with
    --consistent). Each file is one reply.

    Originals are restored in running text only. Surrogates in links, markup, code, math and JSON stay, since a program
    that displays or runs the reply could send the originals to whoever wrote the link or the code.

    A summary on standard error counts the restored surrogates. For each reason, it also counts the surrogates that were
    not restored, and names the option that restores them. With --json, each output line has the text of one reply, and
    lists of the counted surrogates. A number that the model computed from replaced numbers is not found: a mapping does
    not have the numbers of the text. The result is as private as the text.
    """
    paths, policy = _refuse_tables(inputs.paths), places.parse_policy()
    if mapping is None:
        raise OptionError("--mapping is required: the file that sanitize --save-mapping wrote")
    read_paths = [*paths, mapping] if mapping_key is None else [*paths, mapping, mapping_key]
    ProtectedPaths(inputs=read_paths).check_outputs(("--output", output))
    restorer = read_mapping(mapping, mapping_key)
    if not as_json and any(_HALF_PAIR.search(pair.original) for pair in restorer.pairs):
        raise InputError("--mapping: an original has half of a UTF-16 pair, which no text file may contain: use --json")
    reports: list[RestoreReport] = []
    ended = True
    with open_output(output, private=True) as write:
        for blocks in read_inputs(paths) if inputs.text is None else [[([inputs.text], True, 0)]]:
            if not ended and not as_json:  # keeps the last line of one reply apart from the first line of the next
                write("\n")
            ended = True
            stream, parts = restorer.open_stream(policy), list[str]()
            for text in _check_ahead(stream.look_ahead, map(_join_lines, blocks)):
                ended = text.endswith("\n")
                (parts.append if as_json else write)(stream.feed(text))
            (parts.append if as_json else write)(stream.close())
            reports.append(stream.report)
            if as_json:
                write(json.dumps(Restored("".join(parts), stream.report).to_dict()) + "\n")
    report = RestoreReport.join_reports(reports)
    is_other_text = len(restorer) and not report.restored and not report.not_restored
    print_unless_quiet(
        describe_restore_report(report) + (" (this may be the mapping of another text)" if is_other_text else ""), quiet
    )


def _join_lines(block: LineBatch) -> str:
    lines, ended, _ = block
    return "\n".join(lines) + ("\n" if ended else "")


def _refuse_tables(paths: list[str]) -> list[str]:
    """Return the paths of replies, or raise ``LooksStructured`` if one has the ending of a table."""
    for path in paths:
        refuse_tables_by_name(path, Path(path).name, _TABLE_REMEDY)
    return paths


def _check_ahead(check_text: Callable[[str], None], texts: Iterator[str]) -> Iterator[str]:
    """Call ``check_text`` on all parts of a reply, then yield the parts.

    Only the first 2**26 characters of a reply are checked. The rest is yielded unchecked, to limit memory.
    """
    checked, length = [], 0
    for text in texts:
        check_text(text)
        checked.append(text)
        length += len(text)
        if length > _MAX_CHECKED_CHARACTERS:
            break
    yield from checked
    yield from texts
