"""Wrap the mechanism that an audit tests: a program that processes lines of text, or a Python function.

Such a mechanism is foreign code that reads the texts of the audit. Its standard error is discarded, since it may
contain the texts, and no error of this module contains a text, an output or a word of the command.
"""

import contextlib
import json
import math
import os
import selectors
import shlex
import signal
import subprocess
import time
import traceback
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
from textveil.errors import TextveilError

from textveil_training.audit.events import Outputs
from textveil_training.errors import RewriterError, SettingError

#: Largest number of lines for one process of a program; for more lines it is started again.
LINES_PER_PROCESS = 10_000
#: Limit of one line of output, in bytes.
MAX_LINE_BYTES = 65_536
#: Limit of the output of one process, in bytes.
_MAX_BYTES = 256_000_000
_READ_BYTES = 1 << 16
_NO_SHELL = "; there is no shell, so pipes and variables need sh -c '...'"


class AuditedMechanism(Protocol):
    """Interface of mechanisms under audit: sample independent outputs for any input."""

    def draw_outputs(self, inputs: Sequence[Any], report: Callable[[int], None]) -> Sequence[Any]:
        """Sample one output for each input, in order, and report the number of finished inputs."""
        ...


class FunctionMechanism:
    """A mechanism under audit that is a Python function.

    Args:
        function: Function that takes an input and returns an output: a string, a number or a vector.
        batched: Whether the function takes a sequence of inputs and returns as many outputs.

    Example:
        >>> FunctionMechanism(str.upper).draw_outputs(["a", "b"], print)
        2
        ['A', 'B']
    """

    def __init__(self, function: Callable[[Any], Any], *, batched: bool = False) -> None:
        self._function, self._batched = function, batched

    def draw_outputs(self, inputs: Sequence[Any], report: Callable[[int], None]) -> Sequence[Any]:
        """Call the function to sample one output for each input.

        Raises:
            RewriterError: The function raised an error, or returned another number of outputs.
        """
        try:
            outputs = self._function(inputs) if self._batched else [self._function(one) for one in inputs]
        except (TextveilError, MemoryError):
            raise
        except (Exception, SystemExit) as error:  # foreign code, whose messages may contain a text
            frame = traceback.extract_tb(error.__traceback__)[-1]
            place = f"{os.path.basename(frame.filename)} line {frame.lineno}"
            if frame.filename == __file__:
                place = "the call: it must take one argument"
            raise RewriterError(f"the function raised {type(error).__name__} in {place}") from None
        if not hasattr(outputs, "__len__") or len(outputs) != len(inputs):
            count = f"{len(outputs):,}" if hasattr(outputs, "__len__") else "no list of"
            raise RewriterError(f"the function returned {count} outputs for {len(inputs):,} inputs")
        report(len(outputs))
        return outputs


class CommandMechanism:
    """A mechanism under audit that is a program: one text per input line, one output per output line.

    The command is split like a shell command, and runs without a shell, with the rights of the user. This is no
    sandbox.

    Args:
        command: The program and its arguments.
        timeout: Seconds without a new line after which the process is ended.
        max_line_bytes: Largest size of a line of output in bytes. The whole output of a process may have at most this
            size times the number of its input lines plus one.

    Raises:
        SettingError: The command is empty or has an open quotation mark.
    """

    def __init__(self, command: str, *, timeout: float = 60.0, max_line_bytes: int = MAX_LINE_BYTES) -> None:
        try:
            self._arguments = shlex.split(command)
        except ValueError:
            self._arguments = []
        if not self._arguments:
            raise SettingError("--command needs a program: check it for an open quotation mark")
        self._timeout, self._max_line_bytes = timeout, max_line_bytes

    def draw_outputs(self, inputs: Sequence[Any], report: Callable[[int], None]) -> Sequence[Any]:
        """Sample one output for each input: run the program on the lines, once for every 10,000 lines.

        Raises:
            RewriterError: The program cannot be started, ends with an error, writes too few, too many or too long
                lines, or writes no line in time.
        """
        found: list[str] = []
        for start in range(0, len(inputs), LINES_PER_PROCESS):
            part = [str(one) for one in inputs[start : start + LINES_PER_PROCESS]]
            found += self._run(part, lambda done, before=start: report(before + done))
        return found

    def _run(self, lines: Sequence[str], report: Callable[[int], None]) -> list[str]:
        try:
            process = subprocess.Popen(
                self._arguments,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # a process group of its own, so that its children end with it
            )
        except (OSError, ValueError):
            raise RewriterError(f"the program cannot be started: check --command{_NO_SHELL}") from None
        try:
            data = "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogatepass")
            written = self._exchange(process, data, len(lines), report)
            return self._split_lines(written, len(lines), self._wait(process))
        finally:
            _end_process_group(process)

    def _exchange(
        self, process: "subprocess.Popen[bytes]", data: bytes, lines: int, report: Callable[[int], None]
    ) -> bytes:
        """Write lines to a program and read its output at the same time, so that the program never waits for a reader.

        Args:
            process: The running program.
            data: Lines for its standard input.
            lines: Number of these lines.
            report: Called with the number of lines that the program has written.
        """
        assert process.stdin is not None
        assert process.stdout is not None
        os.set_blocking(process.stdin.fileno(), False)
        view, read, done = memoryview(data), bytearray(), 0
        last = time.monotonic()
        open_line, limit = 0, min(_MAX_BYTES, self._max_line_bytes * (lines + 1))
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            selector.register(process.stdin, selectors.EVENT_WRITE)
            while True:
                ready = selector.select(min(1.0, self._timeout))
                for key, _ in ready:
                    if key.fileobj is process.stdin:
                        try:
                            view = view[os.write(process.stdin.fileno(), view[:_READ_BYTES]) :]
                        except BrokenPipeError:
                            view = view[len(view) :]
                        if not view:
                            selector.unregister(process.stdin)
                            _close_quietly(process.stdin)
                        continue
                    part = os.read(process.stdout.fileno(), _READ_BYTES)
                    if not part:
                        return bytes(read)
                    read += part
                    count, (_, mark, rest) = part.count(b"\n"), part.rpartition(b"\n")
                    open_line = len(rest) if mark else open_line + len(part)
                    if count:
                        done, last = done + count, time.monotonic()
                        report(min(done, lines))
                    if open_line > self._max_line_bytes or len(read) > limit:
                        raise RewriterError(
                            f"the program wrote more than {self._max_line_bytes:,} bytes for a line, or {limit:,} in "
                            "all: it must write exactly one line for each line that it reads"
                        )
                    if done > lines:
                        raise _make_line_error(f"more than {lines:,}", lines)
                if time.monotonic() - last > self._timeout:
                    raise RewriterError(
                        f"the program wrote no line for {self._timeout:g} seconds after line {done:,} of {lines:,}: "
                        "let it write each line at once, or raise --timeout-seconds"
                    )

    def _wait(self, process: "subprocess.Popen[bytes]") -> int:
        try:
            return process.wait(self._timeout)
        except subprocess.TimeoutExpired:
            raise RewriterError(
                "the program closed its output and kept running: make it exit when its input ends"
            ) from None

    @staticmethod
    def _split_lines(written: bytes, lines: int, status: int) -> list[str]:
        if status:
            how = f"by signal {-status}" if status < 0 else f"with exit status {status}"
            raise RewriterError(
                f"the program ended {how} after {written.count(10):,} of {lines:,} lines: run it to see why{_NO_SHELL}"
            )
        try:
            found = written.decode("utf-8").split("\n")
        except UnicodeDecodeError:
            raise RewriterError("the program wrote bytes that are not UTF-8: set its output encoding") from None
        if found and not found[-1]:
            found.pop()
        if len(found) != lines:
            raise _make_line_error(f"{len(found):,}", lines)
        return [line.removesuffix("\r") for line in found]


def _make_line_error(written: str, lines: int) -> RewriterError:
    return RewriterError(f"the program wrote {written} lines for {lines:,}: one line of text must give one line")


def _close_quietly(stream: Any) -> None:
    with contextlib.suppress(OSError):
        stream.close()


def _end_process_group(process: "subprocess.Popen[bytes]") -> None:
    """Kill a process and its children, and close the pipes."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        process.kill()
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            _close_quietly(stream)
    process.wait()


def parse_outputs(outputs: Sequence[Any], dimension: int | None = None) -> Outputs:
    """Convert outputs to texts, or to vectors if all of them are numbers or vectors of one dimension.

    A text counts as a vector if it is a JSON number, a JSON list of numbers, or a JSON object with such a list under
    ``vector``, the format of ``textveil encode --json``.

    Args:
        outputs: The outputs.
        dimension: Dimension of earlier outputs, which these outputs must have too; 0 for texts; ``None`` for the first
            outputs.

    Returns:
        Texts, or an array of shape ``(n, dimension)``.

    Raises:
        RewriterError: Vectors have several dimensions or values that are not finite, or are mixed with texts; or values
            have another type, such as ``None``.

    Example:
        >>> parse_outputs(["[1, 2]", "[3, 4.5]"]).tolist()
        [[1.0, 2.0], [3.0, 4.5]]
        >>> parse_outputs(["one", "two"])
        ['one', 'two']
    """
    if dimension == 0 and all(isinstance(one, str) for one in outputs):
        return [str(one) for one in outputs]  # also texts that look like numbers
    if isinstance(outputs, np.ndarray) and outputs.ndim in (1, 2) and outputs.dtype.kind in "iuf":
        vectors: Any = outputs.reshape(len(outputs), -1)
    else:
        rows = [_parse_vector(one) for one in outputs]
        vectors = [row for row in rows if row is not None]
        if any(row is None and not isinstance(one, str) for row, one in zip(rows, outputs, strict=True)):
            raise RewriterError(
                "an output is neither a text nor a number nor a list of numbers: return one of these for each text"
            )
    if dimension is None and not len(vectors):
        return [str(one) for one in outputs]
    if dimension is None and len(vectors) < len(outputs) and all(isinstance(one, str) for one in outputs):
        return list(outputs)  # texts, some of which are numbers
    wanted = len(vectors[0]) if dimension is None else dimension  # 0 for texts
    if len(vectors) < len(outputs) or {len(row) for row in vectors} != {wanted}:
        raise RewriterError("the outputs differ in type or dimension: all must be texts, or vectors of one dimension")
    found = np.array(vectors, np.float64)
    if not np.isfinite(found).all():
        raise RewriterError("a vector has a value that is not a finite number: return finite numbers only")
    return found


def _parse_vector(output: Any) -> list[float] | None:
    if isinstance(output, str):
        if not output or output[0] not in "[{-0123456789":
            return None
        try:
            output = json.loads(output)
        except (ValueError, RecursionError):
            return None
        if isinstance(output, dict):
            output = output.get("vector")
    if isinstance(output, bool) or output is None:
        return None
    if isinstance(output, (int, float, np.integer, np.floating)):
        return [_convert_number(output)]
    if isinstance(output, (list, tuple, np.ndarray)) and len(output):
        if isinstance(output, np.ndarray):
            return output.ravel().astype(np.float64).tolist() if output.dtype.kind in "iuf" else None
        if all(isinstance(one, (int, float, np.integer, np.floating)) and not isinstance(one, bool) for one in output):
            return [_convert_number(one) for one in output]
    return None


def _convert_number(value: Any) -> float:
    """Convert a number to a float; a number that is too large for a float becomes infinity."""
    return float(value) if abs(value) <= 1e300 else math.inf
