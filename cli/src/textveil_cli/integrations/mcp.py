"""MCP server with which a model edits files of a folder without seeing the names in them.

    python -m textveil_cli.integrations.mcp FOLDER [OPTION]...

If a model passes a text to a tool, it already has the text, so a tool cannot protect it. The tools of this server
therefore take the name of a file. The model receives the text of the file with surrogates (replacements) in place of
names. When the model writes a file, the server puts the original names into the file.
"""

import os
from argparse import ArgumentParser
from collections.abc import Callable, Collection
from functools import partial
from pathlib import Path
from typing import Any

from textveil import Conversation, Sanitizer
from textveil.errors import BundleError, InputError, OptionError, OutputError

from textveil_cli.console import describe_restore_report, print_unless_quiet
from textveil_cli.console.own_types import parse_patterns, read_known_persons
from textveil_cli.errors import ExtraMissing
from textveil_cli.integrations.configured_sanitizer import load_sanitizer
from textveil_cli.integrations.written_files import WrittenFiles

try:
    from mcp.server import MCPServer  # pyright: ignore[reportMissingImports] - not in requirements-dev.txt
    from mcp.server.mcpserver.exceptions import ToolError  # pyright: ignore[reportMissingImports]
except ImportError as error:
    raise ExtraMissing.from_extra("mcp", "mcp") from error

#: Maximum size of a file that the model reads.
MAX_FILE_BYTES = 1 << 22
#: Suffixes of files whose running text is restored. Programs run or fetch other formats, such as HTML.
_PLAIN_SUFFIXES = frozenset((".txt", ".md", ".markdown"))


def make_server(
    folder: Path,
    sanitizer: Sanitizer | None = None,
    *,
    restore_places: Collection[str] | str = (),
    restore_hosts: Collection[str] = (),
    accept_files: bool = False,
    report: Callable[[str], None] = lambda line: None,
    **options: Any,
) -> MCPServer:
    """Return an MCP server for the files of a folder and its subfolders.

    In all files, a name has the same surrogate (replacement), until the server stops.

    Args:
        folder: The folder.
        sanitizer: The sanitizer; default: the built-in English bundle.
        restore_places: Parts of written files, besides running text, in which original names are put back: ``code``,
            ``json`` or ``math``; or ``all``, only if no program displays the files or fetches their links.
        restore_hosts: Host names. Original names are also put back in links to these hosts.
        accept_files: Whether all files in the folder, except those that the model wrote, count as files of the user. If
            false, and a file that the model wrote is missing, every new or changed file may be the missing one, and
            counts as written by the model.
        report: Function that receives one line for each written file in which surrogates remain, with counts by reason.
        options: Further options of ``Conversation``.

    Privacy:
        See ``Conversation``. Names of files are sent unchanged. No existing file is changed. If the model reads a file
        that it wrote, it receives its own words. If another program changed that file, names in the file get new
        surrogates, so that the model cannot test guesses of private names. After the model has written its first file,
        each new or changed file is treated like this changed file, until the server restarts.
    """
    root = folder.resolve()
    written = WrittenFiles(root, accept=accept_files)
    if written.missing_count:
        report(
            f"{written.missing_count:,} files that the model wrote are missing, so new and changed files get new "
            "surrogates, not those of the conversation; with --accept-files all present files count as the user's own"
        )
    conversation = Conversation(
        load_sanitizer(None) if sanitizer is None else sanitizer,
        restore_places=restore_places,
        restore_hosts=restore_hosts,
        **options,
    )
    restores_everywhere = "all" in ([restore_places] if isinstance(restore_places, str) else restore_places)
    server = MCPServer("textveil")

    def resolve_path(name: str) -> Path:
        try:
            path = (root / name).resolve()
        except (OSError, ValueError):
            path = root.parent
        if not path.is_relative_to(root) or written.is_list(path):
            raise ToolError("the file is not in the folder")
        return path

    @server.tool()
    def read_file(name: str) -> str:
        """Returns the text of a file, with surrogates in place of the real names, places and numbers."""
        path = resolve_path(name)
        try:
            if not path.is_file():  # a named pipe would never end
                raise OSError
            with path.open("rb") as file:
                status = os.fstat(file.fileno())
                content = file.read(MAX_FILE_BYTES + 1)
            text = content.decode("utf-8")
        except (OSError, ValueError):
            raise ToolError("the file is missing, or is not a readable text file") from None
        if len(content) > MAX_FILE_BYTES:
            raise ToolError(f"the file has more than {MAX_FILE_BYTES:,} bytes")
        if not written.may_be_by_model(path, status):
            return conversation.outgoing_text(text)
        model_text = written.get_model_text(path, content)
        return conversation.outgoing_unlinked(text) if model_text is None else model_text

    @server.tool()
    def write_file(name: str, text: str) -> str:
        """Writes a new file, with the real names, places and numbers in place of surrogates."""
        path = resolve_path(name)
        is_plain = restores_everywhere or path.suffix.lower() in _PLAIN_SUFFIXES
        result = conversation.incoming(text if is_plain else "", record=False)
        try:
            if path.exists():
                raise OutputError("the file exists")
            content = result.reply if is_plain else text
            written.write_file(path, content.encode("utf-8", "replace"), text)
        except (OSError, OutputError):
            raise ToolError("the file cannot be written: it must not exist yet, and its folder must exist") from None
        if not is_plain:
            report(
                f"write_file: nothing restored (suffix {path.suffix[:16] or 'missing'!a}): originals are restored in "
                f"{', '.join(sorted(_PLAIN_SUFFIXES))}, or with --restore-places all in every file"
            )
        if result.report.not_restored:
            report(f"write_file: {describe_restore_report(result.report)}")
        return "written"  # counts of restored surrogates can reveal which originals are equal

    return server


def main() -> None:
    """Run the server for the folder in the command line, on standard input and standard output."""
    parser = ArgumentParser("python -m textveil_cli.integrations.mcp", description="Serve files without their names.")
    parser.add_argument("folder", type=Path)
    for name, meaning in (("places", "PLACE"), ("hosts", "HOST")):
        parser.add_argument(f"--restore-{name}", action="append", default=[], metavar=meaning, help="repeatable")
    accept_help = "count all present files as the user's own, except those that the model wrote"
    parser.add_argument("--language", metavar="LANG", help="language of the texts, as for textveil gateway")
    parser.add_argument("--facts", metavar="VALUE", help="facts to keep besides common words, as for textveil gateway")
    pattern_help = "entity type of your own, as for textveil sanitize; repeatable"
    parser.add_argument("--pattern", action="append", default=[], metavar="NAME=REGEX", help=pattern_help)
    parser.add_argument("--known", type=Path, metavar="FILE", help="file of persons, as for textveil sanitize")
    parser.add_argument("--accept-files", action="store_true", help=accept_help)
    arguments = parser.parse_args()
    report = partial(print_unless_quiet, quiet=False)
    try:
        server = make_server(
            arguments.folder,
            load_sanitizer(None, language=arguments.language),
            restore_places=arguments.restore_places,
            restore_hosts=arguments.restore_hosts,
            accept_files=arguments.accept_files,
            facts=arguments.facts,
            patterns=parse_patterns(arguments.pattern),
            known=() if arguments.known is None else read_known_persons(arguments.known),
            report=report,
        )
    except (BundleError, InputError, OptionError) as error:
        parser.error(str(error).replace("restore_", "--restore-"))
    server.run("stdio")


if __name__ == "__main__":
    main()
