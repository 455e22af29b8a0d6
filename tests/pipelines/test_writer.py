"""The writer of the repository: how it ends."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from treasure.config import TreasureConfig
from treasure.pipelines.writer import RepositoryWriter


@pytest.mark.timeout(20)
def test_it_closes_in_the_very_turn_in_which_a_batch_was_written() -> None:
    """The batch is done, but the writer has not been told yet: to wait for it must let it hear."""

    async def written() -> None:
        pass

    async def close() -> None:
        writer: Any = RepositoryWriter.__new__(RepositoryWriter)
        writer.bench = SimpleNamespace(config=TreasureConfig())
        writer._waiting, writer._broken, writer._timer = [], False, None
        writer._task = asyncio.ensure_future(written())
        writer._task.add_done_callback(writer._written)
        await asyncio.sleep(0)
        assert writer._task.done()
        await writer.close()
        assert writer._task is None

    asyncio.run(close())
