"""Threads that rewrite and restore, so that the event loop never does; and the bounds of what waits for them.

Work waits in one of three queues by its size, each with threads of its own, so a long text never delays a short one by
more than its share of the interpreter. Work whose client has left, or whose time is over, stops at its next check.
"""

import asyncio
import time
import traceback
from collections import deque
from collections.abc import Callable
from http import HTTPStatus
from queue import SimpleQueue
from threading import Thread
from typing import Any

from textveil.errors import WorkStopped
from textveil.work_limits import limit_work

from textveil_cli.serve.access import Refusal

#: Characters up to which work is short, and up to which it is medium.
SHORT, MEDIUM = 1 << 14, 1 << 18
#: Requests, and bytes of their bodies, that are worked on or wait at a time.
_MOST_REQUESTS, _MOST_BYTES = 1 << 10, 1 << 26


def busy(message: str) -> Refusal:
    """Return the refusal of a request that came at a bad time: its client may ask again soon."""
    return Refusal(HTTPStatus.SERVICE_UNAVAILABLE, "busy", message)


class _Job:
    """One piece of work: whoever claims it first, a thread or the request that gave up on it, has it."""

    __slots__ = ("_claims", "_seconds", "_until", "_work", "ended", "error", "future", "given_up", "queued", "result")

    def __init__(self, work: Callable[[], Any], seconds: float, future: "asyncio.Future[Any]") -> None:
        self._work, self._seconds, self._until, self._claims = work, seconds, 0.0, [None]
        self.future, self.ended = future, False
        self.given_up, self.queued = False, time.monotonic()
        self.result: Any = None
        self.error: BaseException | None = None

    def claim(self) -> bool:
        try:
            self._claims.pop()  # atomic: one thread gets it
        except IndexError:
            return False
        return True

    def check(self) -> None:
        if self.given_up:
            raise WorkStopped("nobody waits for it any more")
        if time.monotonic() > self._until:
            raise WorkStopped(f"not finished within {self._seconds:g} seconds: send less at a time")

    def execute(self) -> None:
        started = time.monotonic()
        self._until = started + self._seconds
        try:
            if started - self.queued > self._seconds:
                raise busy("too much work waits: ask again later")
            with limit_work(self.check):
                self.result = self._work()
        except BaseException as error:
            traceback.clear_frames(error.__traceback__)  # they hold what was read, which else the event loop would free
            self.error = error


class Workers:
    """The threads.

    Args:
        seconds: How long work may wait, and again how long it may take.
        threads: How many of them do short work at a time. More than one is of use where work waits for a disk.
    """

    def __init__(self, seconds: float, threads: int = 1) -> None:
        self._seconds, self._counts = seconds, (threads, 1, 1)
        self._queues: tuple[SimpleQueue[_Job | None], ...] = (SimpleQueue(), SimpleQueue(), SimpleQueue())
        self._done: deque[_Job] = deque()
        self._threads: list[Thread] = []
        self._loop: asyncio.AbstractEventLoop | None = None
        self._is_waking = self._is_stopped = False

    def start(self) -> None:
        """Start the threads, for the running event loop."""
        self._loop = asyncio.get_running_loop()
        for queue, count in zip(self._queues, self._counts, strict=True):
            for _ in range(count):
                self._threads.append(Thread(target=self._serve, args=(queue,), name="textveil", daemon=True))
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """End the threads after the work that waits; its clients are gone or were answered by now.

        Work that comes later, such as of a request that is canceled now, is refused: nobody would ever do it.
        """
        self._is_stopped = True
        for queue, count in zip(self._queues, self._counts, strict=True):
            for _ in range(count):
                queue.put(None)
        for thread in self._threads:
            thread.join()

    async def run(self, work: Callable[..., Any], *arguments: Any, size: int = 0, seconds: float | None = None) -> Any:
        """Run some work in a thread, and return its result.

        When the caller is canceled, this returns only after the thread has let go of the work, so whatever the caller
        holds for it, such as the lock of a conversation, is free to take. The thread stops at its next check.

        Args:
            work: The function.
            arguments: Its arguments.
            size: About how many characters it goes through.
            seconds: How long it may take, if not as long as other work.

        Raises:
            Refusal: It waited for too long, or the threads have ended.
            WorkStopped: It took too long.
        """
        assert self._loop is not None
        if self._is_stopped:
            raise busy("the gateway ends: ask again later")
        job = _Job(lambda: work(*arguments), seconds or self._seconds, self._loop.create_future())
        self._queues[(size > SHORT) + (size > MEDIUM)].put(job)
        try:
            return await job.future
        except asyncio.CancelledError:
            job.given_up = True
            if not job.claim():
                await self._until_ended(job)
            raise

    def free(self, owned: list[Any]) -> None:
        """Empty a list in a thread: to free what is in it may take long."""
        assert self._loop is not None
        self._queues[-1].put(_Job(owned.clear, self._seconds, self._loop.create_future()))

    async def _until_ended(self, job: _Job) -> None:
        assert self._loop is not None
        if not job.ended:
            job.future = self._loop.create_future()
        while not job.ended:
            try:
                await asyncio.wait([job.future])
            except asyncio.CancelledError:  # the caller raises it once the work has ended
                continue

    def _serve(self, queue: "SimpleQueue[_Job | None]") -> None:
        while (job := queue.get()) is not None:
            if job.claim():
                job.execute()
                self._done.append(job)
                if not self._is_waking:  # one call wakes the loop for all that is done until it looks
                    self._is_waking = True
                    assert self._loop is not None
                    self._loop.call_soon_threadsafe(self._deliver)
            del job  # it holds a text

    def _deliver(self) -> None:
        self._is_waking = False  # before looking: what is done from here on wakes the loop again
        while self._done:
            job = self._done.popleft()
            job.ended = True
            if job.future.done():
                continue
            if job.given_up or job.error is None:
                job.future.set_result(job.result)
            else:
                job.future.set_exception(job.error)


class Admission:
    """Bounds what is under way: above it a request is refused at once, before anything of it is kept.

    Args:
        requests: The most requests.
        bytes: The most bytes of their bodies, together. A single body is always let in.
    """

    def __init__(self, requests: int = _MOST_REQUESTS, bytes: int = _MOST_BYTES) -> None:
        self._most_requests, self._most_bytes = requests, bytes
        self._requests = self._bytes = 0

    def enter(self, size: int) -> None:
        """Let a request with a body of a size in.

        Raises:
            Refusal: Too much is under way.
        """
        if self._requests >= self._most_requests or (self._requests and self._bytes + size > self._most_bytes):
            raise busy("too many requests are under way: ask again soon")
        self._requests += 1
        self._bytes += size

    def resize(self, size: int, to: int) -> None:
        """Count a body as it turned out, where its size was announced wrongly or not at all."""
        self._bytes += to - size

    def leave(self, size: int) -> None:
        """Forget a request that was let in."""
        self._requests -= 1
        self._bytes -= size
