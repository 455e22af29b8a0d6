"""Desk: pages that have arrived are read, judged and decided about; those that wait, in a row.

Pages are decided about one after the other, since each is learned from before the next. But what
needs no more than the page itself is done for all that wait first: all are read, then all are
judged. The same work once more takes much less time than after everything else that a page needs,
since code and tables are still in the processor's caches. Where pages come one by one, as in a
polite crawl of a few hosts, none waits, and each is done as it comes.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import Any

from treasure.interpreter import tidy

TOGETHER = 16
"""Pages done in a row at most; Scrapy lets about a dozen wait."""
WORK_SECONDS = 0.003
"""How long we keep the event loop before others have their turn."""

Outputs = AsyncIterator[Any]


class Breath:
    """Lets others have the event loop when we have had it for long enough."""

    def __init__(self) -> None:
        self._since = 0.0

    async def take(self) -> None:
        """Return now, or when all others had their turn."""
        if time.monotonic() - self._since > WORK_SECONDS:
            await asyncio.sleep(0)
            self._since = time.monotonic()


class _Case:
    """The outputs of the callback of one page."""

    def __init__(self, outputs: Outputs, decide: Callable[[Outputs], Outputs]) -> None:
        self.outputs = outputs
        self.decide = decide
        self.first: list[Any] = []
        """The first output, once it is made."""
        self.decided: asyncio.Future[list[Any]] = asyncio.get_running_loop().create_future()

    async def all(self) -> Outputs:
        """Yield the outputs from the first on."""
        for output in self.first:
            yield output
        async for output in self.outputs:
            yield output


class Desk:
    """Decides about pages in the order in which they come."""

    def __init__(self, breath: Breath, judge: Callable[[Any], None]) -> None:
        self.turn = asyncio.Lock()
        """Held while pages are decided about, by all who need the learners to themselves."""
        self._breath = breath
        self._judge_output = judge
        self._waiting: list[_Case] = []
        self._work: asyncio.Task[None] | None = None

    async def decided(self, outputs: Outputs, decide: Callable[[Outputs], Outputs]) -> list[Any]:
        """Return what *decide* makes of the *outputs* of a callback, when it is their turn.

        The callback reads its page before it yields the first of them.
        """
        case = _Case(outputs, decide)
        self._waiting.append(case)
        if self._work is None:
            self._work = asyncio.ensure_future(self._decide_about_all())
        return await case.decided

    async def _decide_about_all(self) -> None:
        try:
            while self._waiting:
                async with self.turn:
                    tidy()  # now, when few pages are in hand
                    cases = self._waiting[:TOGETHER]
                    del self._waiting[:TOGETHER]
                    for step in (self._read, self._judge, self._decide):
                        await self._each(step, cases)
        finally:
            self._work = None

    async def _each(self, step: Callable[[_Case], Awaitable[None]], cases: Sequence[_Case]) -> None:
        """Take a step with each page; one that fails is told so, the others go on."""
        for case in cases:
            if not case.decided.done():
                try:
                    await step(case)
                except Exception as error:
                    if not case.decided.done():
                        case.decided.set_exception(error)
                await self._breath.take()

    async def _read(self, case: _Case) -> None:
        async for output in case.outputs:
            case.first.append(output)
            break

    async def _judge(self, case: _Case) -> None:
        for output in case.first:
            self._judge_output(output)

    async def _decide(self, case: _Case) -> None:
        decided = [output async for output in case.decide(case.all())]
        if not case.decided.done():  # who asked may be gone
            case.decided.set_result(decided)
