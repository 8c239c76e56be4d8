"""``textveil restore``: a reply about a rewritten text gets its words back, on this device."""

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer
from textveil.bundle import Kept
from textveil.errors import InputError, OptionError
from textveil.release import counted
from textveil.text.restore import MOST_BYTES, Restorer

from textveil_cli.console import Lines, file_name, inputs_of, output_to, say_unless, write_reasons
from textveil_cli.options import InputOptions, PrivateOutput, RestoreOptions

#: Characters of a reply that are checked for active content before the first of them is restored.
_MOST_AHEAD = 1 << 26
#: A number or a date in digits.
_NUMBER = re.compile(r"(?<!\w)\d+(?:[.,:/-]\d+)*(?!\w)")


def restore(
    inputs: InputOptions,
    places: RestoreOptions,
    mapping: Annotated[
        Path | None, typer.Option("--mapping", help="The file that sanitize --keep-mapping wrote.")
    ] = None,
    output: PrivateOutput = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Do not say how much came back.")] = False,
) -> None:
    """Put the original words into a reply, on this device.

    The reply is about a text that was sanitized with --keep-mapping, and with --consistent on the rungs words and all.
    Each file is a reply of its own.

    Words come back in running text alone. In links, markup, code, math and JSON they stay replaced: what displays or
    runs a reply could send them to whoever wrote it.

    A line on standard error says how many entries of the mapping came back, and counts by the reason those that stay
    for their place. Others are not in the reply, or stay: in lower case a name may be a word of the reply's own, and an
    output may stand for two originals. On the rung names the mapping has no numbers and dates, which are drawn anew at
    each place: with sanitize --style tag they come back. The result is as private as the text was.
    """
    paths, policy = inputs.paths, places.parse_policy()
    if mapping is None:
        raise OptionError("--mapping is needed: the file that sanitize --keep-mapping wrote")
    Kept(inputs=[*paths, mapping]).refuse(("--output", output))
    try:
        with mapping.open("rb") as file:
            restorer = Restorer.from_json(file.read(MOST_BYTES + 1))
    except OSError as error:
        raise InputError(f"--mapping: no readable file {file_name(mapping) or 'there'}") from error
    streams, numbers, ended = [], 0, True
    with output_to(output, private=True) as write:
        for blocks in inputs_of(paths) if inputs.text is None else [[([inputs.text], True, 0)]]:
            if not ended:  # the last line of one reply and the first of the next are two
                write("\n")
                ended = True
            streams.append(restorer.stream(policy))
            for text in _look_ahead(streams[-1].look_ahead, map(_join_lines, blocks)):
                ended = text.endswith("\n")
                numbers += len(_NUMBER.findall(text))
                write(streams[-1].feed(text))
            write(streams[-1].close())
    skipped = [skip for stream in streams for skip in stream.skipped]
    known = [*(placed for stream in streams for placed in stream.placed), *(written for written, _ in skipped)]
    numbers -= sum(len(_NUMBER.findall(written)) for written in known)
    found = len({pair.output for stream in streams for pair in stream.used})
    uncertain = sum(len(stream.unplaced) + len(stream.ambiguous) for stream in streams)
    reasons = [reason for _, reason in skipped]
    say_unless(_said(len(restorer), found, uncertain, numbers, reasons), quiet)


def _join_lines(block: Lines) -> str:
    lines, ended, _ = block
    return "\n".join(lines) + ("\n" if ended else "")


def _look_ahead(check: Callable[[str], None], texts: Iterator[str]) -> Iterator[str]:
    """Yield the parts of a reply once all of them are checked, or as many as memory is spent on."""
    read, length = [], 0
    for text in texts:
        check(text)
        read.append(text)
        length += len(text)
        if length > _MOST_AHEAD:
            break
    yield from read
    yield from texts


def _said(words: int, found: int, uncertain: int, numbers: int, reasons: Sequence[str]) -> str:
    """What came back and what did not, in numbers alone."""
    mentioned = uncertain + len(reasons)
    missing = f", {words - found:,} not found in the reply" if found < words and not mentioned else ""
    left = [counted(uncertain, "uncertain mention")] if uncertain else []
    left += [f"{counted(numbers, 'number')} that the mapping does not have"] if numbers else []
    stays = f"; left as they are: {', '.join(left)}" if left else ""
    stays += f"; {len(reasons):,} stayed: {write_reasons(reasons)}" if reasons else ""
    more = " (is it the mapping of another text?)" if words and not found + mentioned else ""
    more = " (see textveil restore --help)" if stays and not more else more
    return f"{found:,} of {counted(words, 'word')} of the mapping put back{missing}{stays}{more}"
