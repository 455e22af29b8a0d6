"""The desk: what waits is read and judged in a row, and no page suffers from another."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from types import SimpleNamespace
from typing import Any

import pytest

from treasure.middlewares import desk
from treasure.middlewares.desk import Breath, Desk

Steps = list[str]


async def page(name: str, steps: Steps, *, broken: bool = False) -> AsyncIterator[str]:
    """Read a page: yield its links, then its item."""
    steps.append(f"read {name}")
    await asyncio.sleep(0)
    if broken:
        raise ValueError(name)
    yield f"links {name}"
    steps.append(f"rest {name}")
    yield f"item {name}"


def make(steps: Steps) -> Desk:
    def judge(output: Any) -> None:
        steps.append(f"judge {output}")
        if "unjudgeable" in output:
            raise RuntimeError(output)

    return Desk(Breath(), judge)


async def decide(outputs: AsyncIterator[Any]) -> AsyncIterator[Any]:
    async for output in outputs:
        if "undecidable" in output:
            raise LookupError(output)
        yield output.upper()


def test_what_waits_is_done_step_by_step_and_decided_one_by_one() -> None:
    steps: Steps = []

    async def crawl() -> list[list[str]]:
        table = make(steps)
        return await asyncio.gather(*(table.decided(page(name, steps), decide) for name in "abc"))

    assert asyncio.run(crawl()) == [[f"LINKS {n}", f"ITEM {n}"] for n in "ABC"]
    expected = [f"read {n}" for n in "abc"] + [f"judge links {n}" for n in "abc"]
    assert steps == expected + [f"rest {n}" for n in "abc"]


def test_a_page_that_comes_alone_is_done_as_it_comes() -> None:
    steps: Steps = []

    async def crawl() -> None:
        table = make(steps)
        for name in "ab":
            await table.decided(page(name, steps), decide)

    asyncio.run(crawl())
    assert steps == ["read a", "judge links a", "rest a", "read b", "judge links b", "rest b"]


def test_no_more_than_so_many_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(desk, "TOGETHER", 2)
    steps: Steps = []

    async def crawl() -> None:
        table = make(steps)
        await asyncio.gather(*(table.decided(page(name, steps), decide) for name in "abc"))

    asyncio.run(crawl())
    assert steps.index("rest b") < steps.index("read c")


def test_what_fails_is_told_to_its_own_page_alone() -> None:
    steps: Steps = []
    names = ["a", "broken", "unjudgeable", "undecidable", "z"]

    async def crawl() -> list[Any]:
        table = make(steps)
        pages = [page(name, steps, broken=name == "broken") for name in names]
        waiting = (table.decided(outputs, decide) for outputs in pages)
        found = await asyncio.gather(*waiting, return_exceptions=True)
        assert await table.decided(page("later", steps), decide)
        return found

    first, *failed, last = asyncio.run(crawl())
    assert first == ["LINKS A", "ITEM A"]
    assert [type(error) for error in failed] == [ValueError, RuntimeError, LookupError]
    assert last == ["LINKS Z", "ITEM Z"]


def test_a_callback_may_yield_nothing() -> None:
    async def nothing() -> AsyncIterator[Any]:
        return
        yield

    async def crawl() -> list[Any]:
        return await make([]).decided(nothing(), decide)

    assert asyncio.run(crawl()) == []


def test_who_went_away_holds_up_nobody() -> None:
    steps: Steps = []

    async def crawl() -> list[Any]:
        table = make(steps)
        gone = asyncio.ensure_future(table.decided(page("gone", steps), decide))
        stays = asyncio.ensure_future(table.decided(page("stays", steps), decide))
        await asyncio.sleep(0)
        gone.cancel()
        return await stays

    assert asyncio.run(crawl()) == ["LINKS STAYS", "ITEM STAYS"]
    assert "rest gone" not in steps


def test_others_who_need_the_learners_come_in_between(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(desk, "TOGETHER", 1)
    steps: Steps = []

    async def crawl() -> None:
        table = make(steps)

        async def keep() -> None:
            async with table.turn:
                steps.append("keep")

        pages = [asyncio.ensure_future(table.decided(page(n, steps), decide)) for n in "abc"]
        await asyncio.sleep(0)
        await asyncio.gather(keep(), *pages)

    asyncio.run(crawl())
    assert steps.index("rest a") < steps.index("keep") < steps.index("read c")


def test_long_work_lets_others_run_and_short_work_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [100.0]
    monkeypatch.setattr(desk, "time", SimpleNamespace(monotonic=lambda: clock[0]))

    async def turns(seconds: float) -> int:
        breath, others = Breath(), 0

        async def count() -> None:
            nonlocal others
            while True:
                others += 1
                await asyncio.sleep(0)

        counting = asyncio.ensure_future(count())
        await breath.take()
        before = others
        for _ in range(5):
            clock[0] += seconds
            await breath.take()
        counting.cancel()
        return others - before

    assert asyncio.run(turns(0.1 * desk.WORK_SECONDS)) == 0
    assert asyncio.run(turns(2 * desk.WORK_SECONDS)) == 5
